//! Direct executions of this process, kept for a while so that long texts can be paged and long
//! waits answered later: the newest 100, 64 MB of text, one hour.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::watch;

use crate::app::{Error, Origin};
use crate::clock::Clock;
use crate::execute::{Executed, StepEnd};
use crate::lock::lock;
use crate::names::{counted, shown};
use crate::run::GuidedState;

/// The most executions kept.
pub(super) const MOST: usize = 100;
/// The most text kept, in bytes.
pub(super) const MOST_BYTES: usize = 64 << 20;
/// How long an execution is kept, in minutes.
pub(super) const KEPT_MINUTES: i64 = 60;

/// A step that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepDone {
    /// Steps that have ended.
    pub ended: usize,
    /// All steps.
    pub steps: usize,
    /// The label of the step that ended last.
    pub label: String,
    /// How that step ended.
    pub end: StepEnd,
    /// How many of the ended steps were skipped, because a step failed.
    pub skipped: usize,
    /// What a call of an external tool says of itself, where that is the news.
    pub call: Option<CallNews>,
}

impl StepDone {
    /// How far it is and what is the news, in one line; labels and a tool's words are cut to so many
    /// characters.
    pub fn words(&self, label: usize, said: usize) -> String {
        let far = format!("{} of {}", self.ended, counted(self.steps, "step", "steps"));
        if let Some(call) = &self.call {
            let words = call.message.as_deref().map(|words| format!(": {}", shown(words, said))).unwrap_or_default();
            return format!("{far}: {}{words}{}", shown(&call.label, label), self.skipped_words());
        }
        let end = match self.end {
            StepEnd::Done => "",
            StepEnd::Failed => " failed",
            StepEnd::WentOn => " failed, the flow goes on",
            StepEnd::LeftOut => " was skipped",
        };
        format!("{far}: {}{end}{}", shown(&self.label, label), self.skipped_words())
    }

    fn skipped_words(&self) -> String {
        if self.skipped > 0 { format!(" ({} skipped)", self.skipped) } else { String::new() }
    }
}

/// What a running call of an external tool says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallNews {
    /// The label of the step that calls.
    pub label: String,
    /// How much of it is done, in thousandths; none where the tool doesn't say how far it goes.
    pub thousandths: Option<u16>,
    /// What it is at, in the tool's words.
    pub message: Option<String>,
}

/// How an execution stands when the caller is answered.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// It has ended.
    Finished {
        /// Its id.
        id: String,
        /// The flow's name.
        flow: String,
        /// When it began.
        begun: DateTime<Utc>,
        /// How.
        finished: Finished,
    },
    /// It goes on; ask again with its id.
    Running(Pending),
}

impl Outcome {
    /// The execution's id.
    pub fn id(&self) -> &str {
        match self {
            Self::Finished { id, .. } => id,
            Self::Running(pending) => &pending.id,
        }
    }
}

/// An execution that goes on.
#[derive(Debug, Clone)]
pub struct Pending {
    /// Its id.
    pub id: String,
    /// The flow's name.
    pub flow: String,
    /// When it began.
    pub begun: DateTime<Utc>,
    /// Until when it can be asked for.
    pub kept_until: DateTime<Utc>,
    /// How many steps it has.
    pub steps: usize,
    /// The last step that ended.
    pub progress: Option<StepDone>,
    /// When the limit is over that all of it waits for.
    pub resumes_at: Option<DateTime<Utc>>,
}

impl Pending {
    /// How it stands, in a word.
    pub fn state(&self) -> &'static str {
        if self.resumes_at.is_some() { GuidedState::Waiting.word() } else { GuidedState::Running.word() }
    }
}

/// How an execution ended.
#[derive(Debug, Clone)]
pub enum Finished {
    /// It ran, whatever became of its steps.
    Ran(Arc<Recorded>),
    /// A bug ended it; the log tells of the error's id.
    Broke(Arc<Error>),
}

/// An execution that ran, with where its flow came from.
#[derive(Debug)]
pub struct Recorded {
    /// What it left behind.
    pub executed: Executed,
    /// Where the flow came from.
    pub origin: Origin,
    /// What was noticed about the flow itself.
    pub findings: Vec<crate::validate::Finding>,
    /// Whether it can be gone on with.
    pub rest: Rest,
}

/// Whether an execution can be gone on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rest {
    /// It has ended.
    Ended,
    /// It had ended before it was to be gone on with: nothing was tried.
    EndedBefore,
    /// It stopped before its end, is stored, and can be gone on with; where limits stopped it, from this time on.
    Interrupted(Option<DateTime<Utc>>),
    /// Somebody else cancelled or deleted it, as these words say.
    CalledOff(String),
}

/// One execution in memory.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Its id.
    pub id: String,
    /// The flow's name, as asked for.
    pub flow: String,
    /// When it began.
    pub begun: DateTime<Utc>,
    /// How it ended; none while it goes on.
    pub finished: watch::Receiver<Option<Finished>>,
    /// How many steps it has.
    pub steps: usize,
    /// The last step that ended.
    pub progress: watch::Receiver<Option<StepDone>>,
    /// Until when it can be asked for, where it is stored; else it is in memory alone.
    pub stored_until: Option<DateTime<Utc>>,
}

impl Kept {
    /// Until when it can be asked for.
    pub fn kept_until(&self) -> DateTime<Utc> {
        self.stored_until.unwrap_or(self.begun + TimeDelta::minutes(KEPT_MINUTES))
    }

    /// How it ended, or that it goes on.
    pub fn outcome(&self) -> Outcome {
        let finished = self.finished.borrow().clone();
        match finished {
            Some(finished) => {
                Outcome::Finished { id: self.id.clone(), flow: self.flow.clone(), begun: self.begun, finished }
            }
            None => Outcome::Running(Pending {
                id: self.id.clone(),
                flow: self.flow.clone(),
                begun: self.begun,
                kept_until: self.kept_until(),
                steps: self.steps,
                progress: self.progress.borrow().clone(),
                resumes_at: None,
            }),
        }
    }
}

/// The executions of this process.
pub struct Memory {
    clock: Arc<dyn Clock>,
    kept: Mutex<VecDeque<Kept>>,
}

impl Memory {
    /// Nothing is kept yet.
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, kept: Mutex::new(VecDeque::new()) }
    }

    /// Keeps an execution that has begun.
    pub fn keep(&self, execution: Kept) {
        lock(&self.kept).push_front(execution);
        self.tidy();
    }

    /// Lets go of what is too old or too much; what still goes on stays.
    pub fn tidy(&self) {
        let oldest = self.clock.now() - TimeDelta::minutes(KEPT_MINUTES);
        let (mut bytes, mut number) = (0_usize, 0_usize);
        let mut kept = lock(&self.kept);
        kept.retain(|execution| {
            let finished = execution.finished.borrow();
            let running = finished.is_none();
            if !running && execution.begun <= oldest {
                return false;
            }
            if let Some(Finished::Ran(recorded)) = &*finished {
                bytes = bytes.saturating_add(recorded.executed.run.kept());
            }
            number += 1;
            running || (number <= MOST && (bytes <= MOST_BYTES || number == 1))
        });
    }

    /// One execution.
    pub fn get(&self, id: &str) -> Option<Kept> {
        self.tidy();
        lock(&self.kept).iter().find(|execution| execution.id == id).cloned()
    }

    /// All of them, the newest first.
    pub fn all(&self) -> Vec<Kept> {
        self.tidy();
        lock(&self.kept).iter().cloned().collect()
    }
}
