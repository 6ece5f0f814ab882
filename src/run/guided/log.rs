//! What the log of an execution is made of: entries, each a moment and its time.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, SubsecRound as _, Utc};
use serde_json::Value;

use crate::model::{Breach, Generated};
use crate::names::words;
use crate::plan::Plan;
use crate::run::{EscalationId, ExecutionId, Given, Limits, OnFailure, Output, StepError, Ticket, Warning};

/// Everything an execution needs to be finished, however the catalog changes: its first entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Beginning {
    /// The execution's id.
    pub id: ExecutionId,
    /// Who does its steps.
    pub way: Way,
    /// By which rules a guided one comes to its end.
    pub rules: Rules,
    /// The plan that is followed, with its texts, personas and contracts.
    pub plan: Arc<Plan>,
    /// What the caller gave.
    pub given: Given,
    /// What the whole is for, in the caller's words.
    pub task: Option<String>,
    /// How much may be written.
    pub limits: Limits,
    /// Branch, tag or commit the flow was read from; none for a folder.
    pub git_ref: Option<String>,
    /// The commit; none for a folder.
    pub commit: Option<String>,
    /// The catalog of the flow, by the name under which uses of it count; none where it was not kept yet.
    pub source: Option<String>,
    /// What the caller said of models, each as it is said: `NAME`, `none` or `OLD=NEW`.
    pub models: Vec<String>,
    /// What he said of stored answers.
    pub answers: Option<String>,
}

/// Who does the steps of an execution.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Way {
    /// The client's model, one at a time; the server does those that call tools.
    #[default]
    Guided,
    /// The server, side by side.
    Direct {
        /// What a failure does to the rest.
        on_failure: OnFailure,
    },
}

/// By which rules an execution comes to its end. Those of its beginning hold, whatever is ruled later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rules {
    /// It is completed where anything is there.
    Anything,
    /// It is completed where its final result is there.
    FinalResult,
}

impl Rules {
    /// Those by which executions begin now.
    pub const NEWEST: Self = Self::FinalResult;

    /// Their number in a log.
    pub fn number(self) -> u32 {
        match self {
            Self::Anything => 0,
            Self::FinalResult => 1,
        }
    }

    /// The rules of a number in a log.
    pub fn numbered(number: u32) -> Option<Self> {
        [Self::Anything, Self::FinalResult].into_iter().find(|rules| rules.number() == number)
    }
}

words! {
    /// How a step was closed by whoever did it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Outcome {
        /// It is done.
        Done = "done",
        /// It could not be done.
        Failed = "failed",
        /// It was left out, which only optional steps may be.
        Skipped = "skipped",
    }
}

/// One entry of an execution's log.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// When it happened.
    pub at: DateTime<Utc>,
    /// What happened.
    pub moment: Moment,
}

impl Entry {
    /// An entry of this time, in the microseconds that a log keeps.
    pub fn new(at: DateTime<Utc>, moment: Moment) -> Self {
        Self { at: at.trunc_subsecs(6), moment }
    }
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Moment {
    /// The execution began; always the first entry, and only that.
    Begun(Arc<Beginning>),
    /// A step was handed out.
    Opened {
        /// The step.
        step: usize,
        /// Its ticket.
        ticket: Ticket,
    },
    /// The open step was closed.
    Closed {
        /// Its ticket.
        ticket: Ticket,
        /// How.
        outcome: Outcome,
        /// What was handed in, as it was handed in.
        output: Value,
    },
    /// A step could not even be handed out.
    Broke {
        /// The step.
        step: usize,
        /// Why.
        error: StepError,
    },
    /// An output did not meet its contract; it is not kept.
    Breached {
        /// The open step's ticket.
        ticket: Ticket,
        /// In which ways.
        breaches: Vec<Breach>,
    },
    /// The open step was handed to a person.
    Escalated {
        /// The escalation's id.
        id: EscalationId,
        /// The open step's ticket.
        ticket: Ticket,
        /// Why.
        reason: String,
        /// What the person is asked.
        questions: Vec<String>,
        /// What the person should know.
        context: Option<Value>,
    },
    /// The person answered: the same step is open again, under a new ticket.
    Answered {
        /// The escalation's id.
        id: EscalationId,
        /// The answers.
        answers: Value,
        /// The step's new ticket.
        ticket: Ticket,
    },
    /// A tool is being called for a step, or one of the operator's models asked. Kept before that is done, so that
    /// of several processes one does it, and after a crash it is known that somebody did.
    ToolStarted {
        /// The step.
        step: usize,
        /// Which process does it.
        owner: String,
        /// The step that whoever does the others wants to go on with afterwards.
        next: Option<usize>,
    },
    /// The call came to its end.
    ToolEnded {
        /// The step.
        step: usize,
        /// How.
        end: StoredEnd,
    },
    /// A step that the server is at waits for a model's limit, or no longer does.
    Waits {
        /// The step.
        step: usize,
        /// Until when; none where the model is asked again.
        until: Option<DateTime<Utc>>,
        /// What the step took before it was put off until then.
        spent: Option<Arc<Generated>>,
    },
    /// A step was left out, because what it requires is not there.
    LeftOut {
        /// The step.
        step: usize,
        /// Why.
        why: String,
    },
    /// A person decides about a call: nobody knows what became of it, its server can't be reached, or it may not be
    /// made without a person's word.
    ToolAsked {
        /// The escalation's id.
        id: EscalationId,
        /// The step.
        step: usize,
        /// Why.
        reason: String,
        /// What the person is asked.
        questions: Vec<String>,
        /// What the call would be made with, where a person's word is needed for that.
        arguments: Option<Value>,
    },
    /// The person decided what becomes of the call.
    ToolDecided {
        /// The escalation's id.
        id: EscalationId,
        /// The answers.
        answers: Value,
    },
    /// A process does the steps from now on; what the one before had begun may begin again.
    Taken {
        /// Which process.
        driver: String,
    },
    /// Work on a step begins that reaches outside the program. Kept before it begins, so that after a
    /// crash it is known that it may have been done.
    StepStarted {
        /// The step.
        step: usize,
    },
    /// A step that the server does came to its end.
    StepEnded {
        /// The step.
        step: usize,
        /// How.
        end: StoredEnd,
    },
    /// The process that did the steps stopped before the end: somebody may go on.
    Interrupted {
        /// Why.
        error: StepError,
    },
    /// The execution was cancelled.
    Cancelled {
        /// Why, where it was said.
        reason: Option<String>,
    },
}

/// How a step ended that the server did.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredEnd {
    /// What it gave, or why it failed.
    pub result: Result<Output, StepError>,
    /// What was noticed on the way.
    pub warnings: Vec<Warning>,
    /// How long it took, in whole microseconds.
    pub took: Duration,
    /// How many calls it were, new tries included.
    pub calls: u32,
    /// How many of them were new tries.
    pub retries: u32,
}

/// Why an entry can't be part of a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {number} does not follow from the ones before: {why}")]
pub struct Misfit {
    /// The entry's number, from 1.
    pub number: usize,
    /// What does not fit.
    pub why: &'static str,
}
