//! The port behind which external tools are: who calls them is no business of this room.

use std::pin::Pin;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use tokio::sync::watch;

use crate::code::Code;
use crate::model::{ToolAnswer, ToolCall, Toolbox};

/// What a running call says of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolProgress {
    /// How far it is.
    pub progress: f64,
    /// How far it goes, where that is known.
    pub total: Option<f64>,
    /// What it is at.
    pub message: Option<String>,
    /// Until when nothing happens, where it waits for a limit.
    pub until: Option<DateTime<Utc>>,
}

/// Told how a call goes.
pub type OnToolProgress = Arc<dyn Fn(ToolProgress) + Send + Sync>;

/// Why a call gave no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailure {
    /// The error's code: `TOOL_NOT_FOUND`, `TOOL_NOT_ALLOWED`, `TOOL_UNAVAILABLE`, `TOOL_ERROR`,
    /// `TIMEOUT`, `LIMIT_EXCEEDED` or `INVALID_REQUEST` (arguments that don't fit the tool's schema).
    pub code: Code,
    /// The fact, with the tool's address in it.
    pub message: String,
    /// How often the call was on its way to its server: none where the server could not be reached.
    pub sent: u32,
    /// Whether a person may say that the call is made all the same.
    pub needs_word: bool,
    /// Whether the call may have changed something: it was sent, and nobody knows what became of it.
    pub in_doubt: bool,
}

impl ToolFailure {
    /// A failure of a call that was never sent.
    pub fn unsent(code: Code, message: String) -> Self {
        Self { code, message, sent: 0, needs_word: false, in_doubt: false }
    }
}

/// A call that is under way. Dropping it cancels the call at the server.
pub type Calling<'a> = Pin<Box<dyn Future<Output = Result<ToolAnswer, ToolFailure>> + Send + 'a>>;

/// Somebody who can call external tools.
pub trait Tools: Send + Sync {
    /// What is known of them now, without asking any server.
    fn toolbox(&self) -> Arc<Toolbox>;

    /// The toolbox's revision from now on; none where it never changes.
    fn revisions(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Whether the pauses that nodes ask for are made: before calls, and before new tries.
    fn pauses(&self) -> bool {
        true
    }

    /// Calls one: allowed tools alone, with arguments that fit its schema. An answer that the tool
    /// itself calls an error is an answer.
    fn call(&self, call: ToolCall, progress: Option<OnToolProgress>) -> Calling<'_>;
}

/// Nobody: no server is configured.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTools;

impl Tools for NoTools {
    fn toolbox(&self) -> Arc<Toolbox> {
        Arc::default()
    }

    fn call(&self, call: ToolCall, _progress: Option<OnToolProgress>) -> Calling<'_> {
        Box::pin(async move {
            let message = format!("{}: no external server is configured", call.address);
            Err(ToolFailure::unsent(Code::ToolNotFound, message))
        })
    }
}
