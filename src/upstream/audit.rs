//! One line in the log for each call: which tool, how much, how long, and how it went. Arguments may
//! be private, so only their hash is written.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use sha1::{Digest as _, Sha1};
use tracing::Level;

use super::answer::size;
use crate::clock::Clock;
use crate::execute::ToolFailure;
use crate::model::{ToolAddress, ToolAnswer};
use crate::names::{hex, shown};

/// How many digits of a hash tell calls apart.
const DIGITS: usize = 12;

/// What is written of a call when it has ended, also when its caller went away.
pub(super) struct AuditEntry {
    tool: String,
    arguments: String,
    sent_bytes: usize,
    bytes: usize,
    outcome: &'static str,
    clock: Arc<dyn Clock>,
    begun: Duration,
}

impl AuditEntry {
    /// A call that begins; `None` where nobody reads such lines.
    pub(super) fn begin(address: &ToolAddress, arguments: &Map<String, Value>, clock: &Arc<dyn Clock>) -> Option<Self> {
        if !tracing::enabled!(Level::DEBUG) {
            return None;
        }
        let text = serde_json::to_vec(arguments).unwrap_or_default();
        let mut hash = hex(&Sha1::digest(&text));
        hash.truncate(DIGITS);
        Some(Self {
            tool: shown(&address.to_string(), 200),
            arguments: hash,
            sent_bytes: text.len(),
            bytes: 0,
            outcome: "cancelled",
            clock: clock.clone(),
            begun: clock.reading(),
        })
    }

    /// The call has ended.
    pub(super) fn end(mut self, outcome: &Result<ToolAnswer, ToolFailure>) {
        (self.outcome, self.bytes) = match outcome {
            Ok(answer) if answer.is_error => ("error", size(answer)),
            Ok(answer) => ("ok", size(answer)),
            Err(failure) => (failure.code.word(), 0),
        };
    }
}

impl Drop for AuditEntry {
    fn drop(&mut self) {
        let Self { tool, arguments, sent_bytes, bytes, outcome, .. } = self;
        let ms = self.clock.reading().saturating_sub(self.begun).as_millis();
        tracing::debug!(%tool, %arguments, sent_bytes, bytes, ms, outcome, "external call");
    }
}
