//! What a tool is handed and what it hands back.

use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use rmcp::model::{CallToolResult, ContentBlock, InputRequiredResult, Resource};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::asking::Person;
use crate::app::{App, Error, Guided, OnStep};
use crate::names::shown;
use crate::report::wire::{self, Attached, Travels, Written};

/// A call, as far as a tool needs to know it.
pub(super) struct ToolCall {
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

impl ToolCall {
    /// Waits for an answer, and lets go of the work when nobody wants it any more.
    ///
    /// # Errors
    /// The work's own, or `CANCELLED`.
    pub(super) async fn unless_cancelled<T>(&self, work: impl Future<Output = Result<T, Error>>) -> Result<T, Error> {
        self.cancel.run_until_cancelled(work).await.unwrap_or_else(|| Err(Error::cancelled()))
    }
}

/// What a tool answers.
#[derive(Debug, Clone, Default)]
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
    /// What stands beside the value: files that tools gave.
    pub(super) beside: Vec<ContentBlock>,
}

impl Reply {
    /// A success.
    pub(super) fn of(answer: &impl Serialize) -> Self {
        Self { value: wire::value(answer), ..Self::default() }
    }

    /// How a guided execution stands, with the files that its tools gave since the call before.
    pub(super) fn of_guided(answer: &impl Serialize, guided: &Guided) -> Self {
        let reply = Self::of(answer);
        let files = wire::attached_to(guided, &reply.value);
        reply.with_files(&files)
    }

    /// A failure.
    pub(super) fn failure(value: Value) -> Self {
        Self { value, failed: true, ..Self::default() }
    }

    /// The same with files beside it, for a result that has content.
    pub(super) fn with_files(mut self, files: &[Attached]) -> Self {
        self.beside = files.iter().map(block).collect();
        self
    }

    /// A text and nothing else.
    pub(super) fn text(text: String) -> Self {
        Self { text: Some(text), ..Self::default() }
    }

    /// A success that is written already.
    pub(super) fn written(written: Written) -> Self {
        Self { written: Some(written), ..Self::default() }
    }

    /// The value, written.
    pub(super) fn into_written(self) -> Written {
        self.written.unwrap_or_else(|| Written::of(&self.value))
    }

    /// As a tool's result: the value, and the same JSON as text, for clients that show the model
    /// only one of the two.
    pub(super) fn into_result(self) -> CallToolResult {
        let value = self.written.map_or(self.value, |written| written.value());
        let mut result = match (self.text, self.failed) {
            (Some(text), _) => CallToolResult::success(vec![ContentBlock::text(text)]),
            (None, false) => CallToolResult::structured(value),
            (None, true) => CallToolResult::structured_error(value),
        };
        result.content.extend(self.beside);
        result
    }
}

/// A file as a client is given it: shown where it can be, else named.
fn block(attached: &Attached) -> ContentBlock {
    let (file, kind) = (&attached.file, attached.file.media_type.clone());
    match (attached.shown, kind.starts_with("audio/")) {
        (true, false) => ContentBlock::image(BASE64_STANDARD.encode(&file.bytes), kind),
        (true, true) => ContentBlock::audio(BASE64_STANDARD.encode(&file.bytes), kind),
        (false, _) => {
            let size = u64::try_from(file.bytes.len()).unwrap_or(u64::MAX);
            let name = shown(&attached.name, 100);
            ContentBlock::resource_link(Resource::new(&attached.address, name).with_mime_type(kind).with_size(size))
        }
    }
}
