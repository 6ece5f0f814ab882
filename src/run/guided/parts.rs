//! What a guided execution tells of itself: the open step, escalations, tickets, how it stands.

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::names::words;
use crate::run::{EscalationId, Outcome, Ticket};

/// The step that is handed out.
#[derive(Debug, Clone, PartialEq)]
pub struct Handed {
    /// The step.
    pub step: usize,
    /// Its valid ticket.
    pub ticket: Ticket,
    /// When it was first handed out.
    pub since: DateTime<Utc>,
    /// How many outputs were refused.
    pub breaches: u32,
    /// The escalation that waits for a person.
    pub asks: Option<EscalationId>,
    /// Whether its persona is another than that of the step handed out before.
    pub new_role: bool,
}

impl Handed {
    /// Which attempt this is, from 1: outputs that were refused count.
    pub fn attempt(&self) -> u32 {
        self.breaches.saturating_add(1)
    }
}

/// A tool that the server calls for a step, or a model that it asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolAtWork {
    /// The step.
    pub step: usize,
    /// Which process does it.
    pub owner: String,
    /// When it began.
    pub since: DateTime<Utc>,
    /// The step that whoever does the others wants to go on with afterwards.
    pub next: Option<usize>,
    /// The escalation that waits for a person, because nobody knows what became of the call.
    pub asks: Option<EscalationId>,
    /// Whether a person wants it to be called again.
    pub again: bool,
    /// Until when it waits for a model's limit: nothing is under way until then.
    pub waits: Option<DateTime<Utc>>,
}

/// A step that was handed to a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Escalation {
    /// Its id.
    pub id: EscalationId,
    /// The step.
    pub step: usize,
    /// The ticket it was asked with; an empty one where it is about a tool's call.
    pub ticket: Ticket,
    /// Why.
    pub reason: String,
    /// What the person is asked.
    pub questions: Vec<String>,
    /// What the person should know; of a call that needs a person's word, its arguments.
    pub context: Option<Value>,
    /// When.
    pub at: DateTime<Utc>,
    /// The answers, when, and the number of the entry that holds them.
    pub answer: Option<(Value, DateTime<Utc>, usize)>,
    /// The number of the entry that asked.
    pub entry: usize,
}

impl Escalation {
    /// Whether a call is asked about that may not be made without a person's word.
    pub fn needs_word(&self) -> bool {
        self.of_call() && self.context.is_some()
    }

    /// Whether it is about what the server does, and not about the open step.
    pub fn of_call(&self) -> bool {
        self.ticket == Ticket::named("")
    }
}

/// What a step's ticket is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The step is open.
    Open,
    /// The step was closed with it, by this entry (from 1).
    Closed {
        /// The step.
        step: usize,
        /// The entry's number.
        entry: usize,
    },
    /// A newer ticket took its place.
    Replaced {
        /// The step.
        step: usize,
    },
    /// The execution was cancelled.
    Void {
        /// The step.
        step: usize,
    },
}

/// What a step was closed with.
#[derive(Debug, Clone, PartialEq)]
pub struct Closing {
    /// How.
    pub outcome: Outcome,
    /// What was handed in.
    pub output: Value,
    /// When.
    pub at: DateTime<Utc>,
    /// Which attempt it was.
    pub attempt: u32,
}

/// That an execution was cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancelled {
    /// Why, where it was said.
    pub reason: Option<String>,
}

words! {
    /// How a stored execution stands.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum GuidedState {
        /// A step is open, or the server does the steps.
        Running = "running",
        /// Every step that the server is at waits for a model's limit; it goes on by itself.
        Waiting = "waiting",
        /// The server did the steps and stopped before the end; somebody may go on.
        Interrupted = "interrupted",
        /// A person is awaited.
        AwaitingHuman = "awaiting_human",
        /// Everything has ended and the final result is there; of a direct one, no step failed.
        Completed = "completed",
        /// Of a direct one: steps failed, and others gave their output.
        Partial = "partial",
        /// Everything has ended and the final result is not there.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

impl GuidedState {
    /// Whether nothing more will happen.
    pub fn ended(self) -> bool {
        matches!(self, Self::Completed | Self::Partial | Self::Failed | Self::Cancelled)
    }
}
