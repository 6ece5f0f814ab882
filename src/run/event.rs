//! What can happen to a step.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;

/// What a step gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The output as text.
    pub text: Arc<str>,
    /// The output as a value with fields, where it has any.
    pub value: Option<Value>,
}

impl Output {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self { text: text.into(), value: None }
    }
}

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct StepError {
    /// The error's code, as callers see it.
    pub code: String,
    /// The fact.
    pub message: String,
}

impl StepError {
    /// An error of this code.
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Self { code: code.to_owned(), message: message.into() }
    }
}

/// When a step ended, and how long it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// When it ended.
    pub at: DateTime<Utc>,
    /// How long it took.
    pub took: Duration,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A driver took a step up.
    Started {
        /// The step.
        step: usize,
    },
    /// A step gave its output.
    Done {
        /// The step.
        step: usize,
        /// Its output.
        output: Output,
        /// When, and how long it took.
        timing: Timing,
    },
    /// A step failed.
    Failed {
        /// The step.
        step: usize,
        /// Why.
        error: StepError,
        /// When, and how long it took.
        timing: Timing,
    },
    /// A step is left out, although nothing failed: so are the steps that read its output, and the
    /// others go on.
    Omitted {
        /// The step.
        step: usize,
        /// Why.
        why: String,
    },
    /// Nothing more is to begin: the caller cancelled, or the time is up.
    Stopped {
        /// Why, as the error of every step that was under way or next.
        error: StepError,
        /// When.
        at: DateTime<Utc>,
    },
}
