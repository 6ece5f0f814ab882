//! The streams of a server that is a program: one message a line, and no line without a bound.
//!
//! rmcp leaves aside what it can't read, and whoever waits for that would wait in vain. Here such a
//! line is an error that answers the request the line was for; a message that is spread over several
//! lines is put together. What is no message is told to whoever listens.

use std::io;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::StreamExt as _;
use rmcp::RoleClient;
use rmcp::model::{ClientNotification, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::{AsyncRead, AsyncWrite, Empty, empty};
use tokio_util::codec::FramedRead;

use super::message::{NAMELESS, ReadMessage, foreign, read, too_long, unmarked};
use crate::lock::lock;
use crate::rpc::{Line, Split, answered_by};

/// How many bytes are told of a line without an end.
const LONGEST_BEGINNING: usize = 8 << 10;

/// Told of a line that is not the protocol's.
pub(super) type Tell = Box<dyn Fn(&[u8]) + Send>;

/// A server at the other end of two streams.
pub(super) struct Lines<R, W: AsyncWrite> {
    reader: FramedRead<R, Split>,
    /// Writing is rmcp's.
    writer: AsyncRwTransport<RoleClient, Empty, W>,
    /// The requests that are not answered yet.
    open: Arc<Mutex<Vec<RequestId>>>,
    /// The highest id of a request so far.
    newest: AtomicI64,
    /// The lines so far of a message that is spread over several.
    begun: Spread,
    alias: String,
    tell: Tell,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Over two streams; a line, its end included, may have `longest` bytes. Lines that are not the
    /// protocol's are told.
    pub(super) fn new(reader: R, writer: W, longest: usize, alias: &str, tell: Tell) -> Self {
        Self {
            reader: FramedRead::new(reader, Split::of(longest)),
            writer: AsyncRwTransport::new_client(empty(), writer),
            open: Arc::default(),
            newest: AtomicI64::new(i64::MIN),
            begun: Spread { longest, ..Spread::default() },
            alias: alias.to_owned(),
            tell,
        }
    }

    /// What a line says, if it says anything to us.
    fn take(&mut self, line: &[u8]) -> Option<ServerJsonRpcMessage> {
        let line = unmarked(line);
        if line.trim_ascii().is_empty() {
            return None;
        }
        let heard = read(line);
        let spread = match (&heard, self.begun.add(line, matches!(heard, ReadMessage::Message(..)))) {
            (_, FramePart::Alone(broken_off)) => {
                if let Some(broken_off) = broken_off {
                    (self.tell)(&broken_off);
                }
                None
            }
            (_, FramePart::Begun) => return None,
            (_, FramePart::Whole(whole)) => Some(whole),
        };
        match spread {
            Some(whole) => self.heard(read(&whole), &whole),
            None => self.heard(heard, line),
        }
    }

    fn heard(&self, heard: ReadMessage, bytes: &[u8]) -> Option<ServerJsonRpcMessage> {
        match heard {
            ReadMessage::Message(message, fixed) => {
                if let Some(fixed) = fixed {
                    tracing::warn!(server = self.alias, "one of its messages can be read after a repair: {fixed}");
                }
                self.settled(*message, bytes)
            }
            ReadMessage::Unreadable(id, error) if self.settle(&id) => Some(answer(error, id)),
            // Nothing that follows could be read either: whoever waits is told at once.
            ReadMessage::Stray(error) if foreign(bytes).is_some() => {
                (self.tell)(bytes);
                self.only_open().map(|id| answer(error, id))
            }
            ReadMessage::Unreadable(..) | ReadMessage::Stray(_) => {
                (self.tell)(bytes);
                None
            }
        }
    }

    /// A message, with its request no longer open. A result or an error that names no request is the
    /// answer of the only one there is.
    fn settled(&self, message: ServerJsonRpcMessage, bytes: &[u8]) -> Option<ServerJsonRpcMessage> {
        match message {
            JsonRpcMessage::Response(mut response) => {
                let nameless = response.id == RequestId::String(NAMELESS.into());
                if let Some(id) = nameless.then(|| self.only_open()).flatten() {
                    response.id = id;
                } else if !self.settle(&response.id) && !self.was_asked(&response.id) {
                    (self.tell)(bytes);
                }
                Some(JsonRpcMessage::Response(response))
            }
            JsonRpcMessage::Error(error) => match error.id {
                Some(id) => {
                    self.settle(&id);
                    Some(answer(error.error, id))
                }
                None => match self.only_open() {
                    Some(id) => Some(answer(error.error, id)),
                    None => {
                        (self.tell)(bytes);
                        None
                    }
                },
            },
            other => Some(other),
        }
    }

    /// Notes that a request is answered; whether it was open.
    fn settle(&self, id: &RequestId) -> bool {
        let mut open = lock(&self.open);
        let before = open.len();
        open.retain(|known| known != id);
        open.len() < before
    }

    /// Whether a request had this id; of one that was cancelled the answer may come late.
    fn was_asked(&self, id: &RequestId) -> bool {
        matches!(id, RequestId::Number(id) if *id <= self.newest.load(Ordering::Relaxed))
    }

    /// Takes the only open request.
    fn only_open(&self) -> Option<RequestId> {
        let mut open = lock(&self.open);
        if open.len() == 1 { open.pop() } else { None }
    }
}

/// What came without an end is told as well, such as a question to a person.
impl<R, W: AsyncWrite> Drop for Lines<R, W> {
    fn drop(&mut self) {
        let begun = self.reader.decoder().over().unwrap_or_else(|| self.reader.read_buffer());
        if !begun.trim_ascii().is_empty() {
            (self.tell)(begun.get(..LONGEST_BEGINNING).unwrap_or(begun));
        }
    }
}

fn answer(error: ErrorData, id: RequestId) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(error, Some(id))
}

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        match &message {
            JsonRpcMessage::Request(request) => {
                lock(&self.open).push(request.id.clone());
                if let RequestId::Number(id) = request.id {
                    self.newest.fetch_max(id, Ordering::Relaxed);
                }
            }
            JsonRpcMessage::Notification(told) => {
                if let ClientNotification::CancelledNotification(cancelled) = &told.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.settle(id);
                }
            }
            _ => {}
        }
        self.writer.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.reader.next().await? {
                Ok(Line::Whole(line)) => {
                    if let Some(message) = self.take(&line) {
                        return Some(message);
                    }
                }
                Ok(Line::TooLong { head, tail, bytes }) => {
                    let id = answered_by(&head, &tail).and_then(|id| id.as_i64()).map(RequestId::Number);
                    let id = id.filter(|id| self.settle(id)).or_else(|| self.only_open());
                    // Where nobody could be told what was lost, nothing more is read.
                    return Some(answer(too_long(Some(bytes)), id?));
                }
                Err(error) => {
                    tracing::debug!(server = self.alias, %error, "its output can't be read");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.writer.close().await
    }
}

/// A message whose lines come one by one, as programs write that indent their JSON.
#[derive(Default)]
struct Spread {
    longest: usize,
    lines: Vec<u8>,
    /// How many objects and lists are open.
    depth: usize,
}

enum FramePart {
    /// The line stands by itself; with what was begun and comes to nothing by that.
    Alone(Option<Vec<u8>>),
    /// A message is begun and not at its end.
    Begun,
    /// The whole of a message.
    Whole(Vec<u8>),
}

impl Spread {
    fn add(&mut self, line: &[u8], is_message: bool) -> FramePart {
        let text = line.trim_ascii();
        let begins = self.lines.is_empty();
        if is_message || (begins && text != b"{" && text != b"[") {
            self.depth = 0;
            let broken_off = std::mem::take(&mut self.lines);
            return FramePart::Alone((!broken_off.is_empty()).then_some(broken_off));
        }
        self.lines.extend_from_slice(line);
        self.count(text);
        if self.depth == 0 || self.lines.len() > self.longest {
            self.depth = 0;
            return FramePart::Whole(std::mem::take(&mut self.lines));
        }
        FramePart::Begun
    }

    /// Counts what a line opens and closes; a text ends in the line in which it begins.
    fn count(&mut self, line: &[u8]) {
        let (mut in_text, mut escaped) = (false, false);
        for byte in line {
            match byte {
                _ if escaped => escaped = false,
                b'\\' if in_text => escaped = true,
                b'"' => in_text = !in_text,
                b'{' | b'[' if !in_text => self.depth = self.depth.saturating_add(1),
                b'}' | b']' if !in_text => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::{ClientJsonRpcMessage, ClientRequest};
    use serde_json::{Value, json};
    use tokio::io::{AsyncWriteExt as _, DuplexStream, duplex, sink};

    use super::super::message::{TOO_LONG, UNREADABLE};
    use super::*;

    /// What comes of a text that is written in pieces of so many bytes while requests of these
    /// numbers are open, and what is told besides.
    async fn read_all(text: &str, longest: usize, piece: usize, open: &[i64]) -> (Vec<Value>, Vec<String>) {
        let told = Arc::new(Mutex::new(Vec::new()));
        let noted = told.clone();
        let tell: Tell = Box::new(move |line: &[u8]| lock(&noted).push(String::from_utf8_lossy(line).into_owned()));
        let (mut from, to) = duplex(piece);
        let mut lines: Lines<DuplexStream, _> = Lines::new(to, sink(), longest, "peer", tell);
        for id in open {
            let ping = ClientRequest::PingRequest(rmcp::model::PingRequest::default());
            lines.send(ClientJsonRpcMessage::request(ping, RequestId::Number(*id))).await.expect("sent");
        }
        let written = async {
            let _ = from.write_all(text.as_bytes()).await;
            drop(from);
        };
        let heard = async {
            let mut heard = Vec::new();
            while let Some(message) = lines.receive().await {
                heard.push(serde_json::to_value(&message).expect("JSON"));
            }
            drop(lines);
            heard
        };
        let ((), heard) = tokio::join!(written, heard);
        let told = lock(&told).clone();
        (heard, told)
    }

    fn result(id: u32, length: usize) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"text\":\"{}\"}}}}\n", "x".repeat(length))
    }

    fn told_in(heard: &[Value]) -> Vec<(i64, i64)> {
        let one = |value: &Value| (value["id"].as_i64().unwrap_or(-1), value["error"]["code"].as_i64().unwrap_or(0));
        heard.iter().map(one).collect()
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_answered_with_an_error_and_the_next_are_read() {
        let text = [result(6, 1), result(7, 500), result(8, 400), result(9, 2)].concat();
        for piece in [1, 10, 100, 5_000] {
            let (heard, told) = read_all(&text, 100, piece, &[6, 7, 8, 9]).await;
            assert_eq!(told_in(&heard), [(6, 0), (7, TOO_LONG.into()), (8, TOO_LONG.into()), (9, 0)], "{piece}");
            assert_eq!(heard[1]["error"]["data"]["bytes"], result(7, 500).len());
            assert!(told.is_empty(), "{told:?}");
        }
    }

    #[tokio::test]
    async fn where_nobody_can_be_told_nothing_more_is_read() {
        let text = format!("{{\"method\":\"x\",\"params\":\"{}\"}}\n{}", "y".repeat(500), result(1, 1));
        assert!(read_all(&text, 100, 50, &[1, 2]).await.0.is_empty());
    }

    #[tokio::test]
    async fn what_is_no_message_is_told_and_what_is_one_is_not() {
        let text =
            format!("Welcome\n\n{{\"level\":30}}\n{}[1]\n{{\n  \"level\": 31\n}}\n{{\n{}", result(1, 10), result(2, 1));
        let (heard, told) = read_all(&text, 10_000, 7, &[1, 2]).await;
        assert_eq!(told_in(&heard), [(1, 0), (2, 0)]);
        assert_eq!(told, ["Welcome\n", "{\"level\":30}\n", "[1]\n", "{\n  \"level\": 31\n}\n", "{\n"]);
    }

    #[tokio::test]
    async fn a_byte_order_mark_is_passed_over_and_other_framing_is_told_at_once() {
        let pretty = serde_json::to_string_pretty(&json!({"jsonrpc": "2.0", "id": 2, "result": {}})).expect("JSON");
        let (heard, told) = read_all(&format!("\u{feff}{}\u{feff}{pretty}\n", result(1, 3)), 10_000, 5, &[1, 2]).await;
        assert_eq!((told_in(&heard), told.len()), (vec![(1, 0), (2, 0)], 0));
        let body = result(1, 3);
        let wide: String = body.chars().flat_map(|c| [c, '\0']).collect();
        for text in [format!("Content-Length: {}\r\n\r\n{body}", body.len()), wide.clone(), format!("\0{wide}")] {
            let (heard, _) = read_all(&text, 10_000, 5, &[1]).await;
            assert_eq!(told_in(&heard).first(), Some(&(1, UNREADABLE.into())), "{text:?}");
        }
    }

    #[tokio::test]
    async fn answers_that_can_not_be_read_end_the_requests_they_are_for() {
        let spread = serde_json::to_string_pretty(&json!({"jsonrpc": "2.0", "id": 1, "result": {"text": "a } b"}}));
        let text = format!(
            "{}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"n\":NaN}}}}\n{{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{{\"te\n{}",
            spread.expect("JSON"),
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"no\"}}\n"
        );
        let (heard, told) = read_all(&text, 10_000, 9, &[1, 2, 3, 4]).await;
        assert_eq!(told_in(&heard), [(1, 0), (2, UNREADABLE.into()), (3, UNREADABLE.into()), (4, -32_700)]);
        assert_eq!(heard[0]["result"]["text"], "a } b");
        assert!(told.is_empty(), "{told:?}");
        // Of several open ones none is guessed.
        let nameless = "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"no\"}}\n";
        let (heard, told) = read_all(nameless, 10_000, 9, &[1, 2]).await;
        assert!(heard.is_empty() && told.len() == 1, "{heard:?} {told:?}");
    }
}
