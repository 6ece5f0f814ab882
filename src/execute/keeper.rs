//! The port behind which a run is kept while it is driven: where, is no business of this room.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::run::{Output, StepError, Warning};

/// What happens in a run that is driven.
#[derive(Debug, Clone, Copy)]
pub enum Happening<'a> {
    /// Work on a step begins that reaches outside the program.
    Started {
        /// The step.
        step: usize,
    },
    /// A step came to its end.
    Ended {
        /// The step.
        step: usize,
        /// What it gave, or why it failed.
        result: &'a Result<Output, StepError>,
        /// What was noticed on the way.
        warnings: &'a [Warning],
        /// How long it took.
        took: Duration,
        /// How many calls of external tools it took, new tries included.
        calls: u32,
        /// How many of them were new tries.
        retries: u32,
    },
    /// A step is not done now, because a model's limit lasts longer than the run may.
    PutOff {
        /// The step.
        step: usize,
        /// Until when.
        until: DateTime<Utc>,
        /// Why, with what a model took before.
        error: &'a StepError,
    },
    /// A step is left out.
    LeftOut {
        /// The step.
        step: usize,
        /// Why.
        why: &'a str,
    },
    /// The run is stopped before its end.
    Stopped {
        /// Why.
        error: &'a StepError,
    },
}

/// What was kept of a run before it was taken up.
#[derive(Debug, Clone, Default)]
pub struct Carried {
    /// What was noticed, step by step.
    pub noticed: BTreeMap<usize, Vec<Warning>>,
    /// How long it was driven.
    pub took: Duration,
    /// How many calls of external tools were made, new tries included.
    pub calls: u32,
    /// How many of them were new tries.
    pub retries: u32,
}

/// A future that says whether everything is kept, or why the run must not go on.
pub type Keeping<'a> = Pin<Box<dyn Future<Output = Result<(), StepError>> + Send + 'a>>;

/// Somebody who keeps what happens in a run, so that it can be gone on with when this process is gone.
pub trait Keeper: Send + Sync {
    /// Why an output can't be kept, if so: then its step fails.
    fn unkeepable(&self, output: &Output) -> Option<StepError>;

    /// Takes in what happens, in order.
    fn note(&self, happening: Happening<'_>);

    /// Waits until all that was noted is kept. What is under way when this is dropped is still done.
    fn kept(&self) -> Keeping<'_>;
}
