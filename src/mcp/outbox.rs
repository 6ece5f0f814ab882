//! Replies on their way out: what is written already is put into its message as it stands.
//!
//! rmcp writes a tool's result from a value and from a text that holds the same JSON once more. Here
//! the result that rmcp sees holds a mark in both places, and the writer puts the written reply in
//! its stead. What surrounds it (ids, the fields of each protocol version) stays rmcp's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, JsonRpcMessage, RequestId, ServerResult};
use rmcp::service::TxJsonRpcMessage;
use serde_json::json;

use crate::lock::lock;
use crate::report::wire::Written;

/// What a message has around a reply, in bytes, as a rule.
const AROUND: usize = 512;

/// Written replies that wait for their message.
#[derive(Clone)]
pub(super) struct Outbox {
    mark: Arc<str>,
    waiting: Arc<Mutex<HashMap<RequestId, Written>>>,
}

impl Outbox {
    /// An empty one. `secret` makes the mark one that no client guesses: it must never stand in a
    /// message by itself.
    pub(super) fn new(secret: u64) -> Self {
        Self { mark: format!("written:{secret:016x}").into(), waiting: Arc::default() }
    }

    /// A tool's result that stands for a written reply, which waits here for its message.
    pub(super) fn keep(&self, id: RequestId, written: Written, failed: bool) -> CallToolResult {
        let mark = self.mark.to_string();
        lock(&self.waiting).insert(id, written);
        let content = vec![ContentBlock::text(mark.clone())];
        let mut result = if failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
        // An object: handshake clients may be given nothing else, and rmcp sees to that.
        result.structured_content = Some(json!({mark: null}));
        result
    }

    /// Takes a reply back: its request was cancelled, and perhaps no message will come.
    pub(super) fn take(&self, id: &RequestId) -> Option<Written> {
        lock(&self.waiting).remove(id)
    }

    /// The reply that waits for this message. To be asked for at once: a late cancellation takes it
    /// back, and the message is on its way already.
    pub(super) fn of(&self, message: &TxJsonRpcMessage<RoleServer>) -> Option<Written> {
        match message {
            JsonRpcMessage::Response(response) if matches!(response.result, ServerResult::CallToolResult(_)) => {
                self.take(&response.id)
            }
            _ => None,
        }
    }

    /// One message as a line, with the reply that waited for it.
    ///
    /// # Errors
    /// When it can't be written as JSON, which no message of ours is.
    pub(super) fn line(
        &self,
        message: &TxJsonRpcMessage<RoleServer>,
        written: Option<&Written>,
    ) -> Result<Vec<u8>, serde_json::Error> {
        let Some(written) = written else {
            let mut line = serde_json::to_vec(message)?;
            line.push(b'\n');
            return Ok(line);
        };
        let message = serde_json::to_string(message)?;
        let mut line = Vec::with_capacity(AROUND + written.len_twice());
        let mut rest = message.as_str();
        // The mark stands twice: as a text, where the reply is quoted, and as an object's only key,
        // where the whole object gives way to the reply.
        while let Some((before, after)) = rest.split_once(&*self.mark) {
            if let (Some(before), Some(after)) = (before.strip_suffix("{\""), after.strip_prefix("\":null}")) {
                line.extend_from_slice(before.as_bytes());
                written.put_plain(&mut line);
                rest = after;
            } else {
                line.extend_from_slice(before.as_bytes());
                written.put_quoted(&mut line);
                rest = after;
            }
        }
        line.extend_from_slice(rest.as_bytes());
        line.push(b'\n');
        Ok(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::NumberOrString;

    fn message(id: &RequestId, result: CallToolResult) -> TxJsonRpcMessage<RoleServer> {
        JsonRpcMessage::response(ServerResult::CallToolResult(result), id.clone())
    }

    #[test]
    fn a_written_reply_is_sent_as_rmcp_would_send_its_value() {
        let value = json!({"finalResult": "He said \"go\" \\ stop\n", "n": 12.50, "flows": [{"name": "é"}]});
        let outbox = Outbox::new(7);
        for (id, failed) in [(NumberOrString::Number(3), false), (NumberOrString::String("written:x".into()), true)] {
            let kept = outbox.keep(id.clone(), Written::of(&value), failed);
            let kept = message(&id, kept);
            let written = outbox.of(&kept);
            let sent = outbox.line(&kept, written.as_ref()).unwrap();
            let plain = if failed {
                CallToolResult::structured_error(value.clone())
            } else {
                CallToolResult::structured(value.clone())
            };
            let plain = serde_json::to_string(&message(&id, plain)).unwrap() + "\n";
            assert_eq!(String::from_utf8(sent).unwrap(), plain);
            assert!(lock(&outbox.waiting).is_empty());
        }
    }

    #[test]
    fn what_was_cancelled_is_let_go() {
        let outbox = Outbox::new(7);
        let id = NumberOrString::Number(3);
        drop(outbox.keep(id.clone(), Written::of(&json!({})), false));
        assert!(outbox.take(&id).is_some());
        assert!(lock(&outbox.waiting).is_empty());
    }
}
