//! What a tool is handed and what it hands back.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, InputRequiredResult};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::asking::Person;
use crate::app::{App, Code, Error, OnStep};
use crate::report::wire::{Travels, Written};

/// A call, as far as a tool needs to know it.
pub(super) struct Call {
    /// The product.
    pub(super) app: Arc<App>,
    /// Cancelled when nobody wants the answer any more.
    pub(super) cancel: CancellationToken,
    /// To be told after every step, when the client asked for that.
    pub(super) progress: Option<OnStep>,
    /// Whether the contract's own name was called: its shape and defaults hold.
    pub(super) contract: bool,
    /// How often the answer travels in its message.
    pub(super) travels: Travels,
    /// How the person at the client is reached, where that is possible.
    pub(super) person: Option<Person>,
}

impl Call {
    /// Waits for an answer, and lets go of the work when nobody wants it any more.
    ///
    /// # Errors
    /// The work's own, or `CANCELLED`.
    pub(super) async fn unless_cancelled<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.cancel.run_until_cancelled(work).await.unwrap_or_else(|| Err(cancelled()))
    }
}

/// What is said to nobody, or to a client whose server is ending.
pub(super) fn cancelled() -> Error {
    Error::new(Code::Cancelled, "the call was cancelled").next("call again when you want the answer")
}

/// What a tool answers.
#[derive(Debug, Clone)]
pub(super) struct Reply {
    /// For programs.
    pub(super) value: Value,
    /// Whether the model is to take it as a failure.
    pub(super) failed: bool,
    /// A text that stands alone, instead of the value.
    pub(super) text: Option<String>,
    /// The value, where it is written already; `value` is null then.
    pub(super) written: Option<Written>,
    /// What the client is to ask a person first, before it calls again.
    pub(super) asks: Option<Box<InputRequiredResult>>,
}

impl Reply {
    /// A success.
    pub(super) fn of(value: Value) -> Self {
        Self { value, failed: false, text: None, written: None, asks: None }
    }

    /// A failure.
    pub(super) fn failure(value: Value) -> Self {
        Self { value, failed: true, text: None, written: None, asks: None }
    }

    /// A text and nothing else.
    pub(super) fn text(text: String) -> Self {
        Self { value: Value::Null, failed: false, text: Some(text), written: None, asks: None }
    }

    /// A success that is written already.
    pub(super) fn written(written: Written) -> Self {
        Self { value: Value::Null, failed: false, text: None, written: Some(written), asks: None }
    }

    /// The value, written.
    pub(super) fn into_written(self) -> Written {
        self.written.unwrap_or_else(|| Written::of(&self.value))
    }

    /// As a tool's result: the value, and the same JSON as text, for clients that show the model
    /// only one of the two.
    pub(super) fn into_result(self) -> CallToolResult {
        let value = self.written.map_or(self.value, |written| written.value());
        match (self.text, self.failed) {
            (Some(text), _) => CallToolResult::success(vec![ContentBlock::text(text)]),
            (None, false) => CallToolResult::structured(value),
            (None, true) => CallToolResult::structured_error(value),
        }
    }
}
