//! One JSON-RPC message a line, both ways; a line that can't be read is answered, not dropped.
//!
//! What messages mean is rmcp's business and the server's. rmcp's own transport leaves out the id
//! of a request it can't read, and says nothing to what is no JSON, so a client would wait for ever.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use futures_util::StreamExt as _;
use rmcp::RoleServer;
use rmcp::model::{ErrorCode, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;
use tokio_util::bytes::{Buf as _, Bytes, BytesMut};
use tokio_util::codec::{Decoder, FramedRead};
use tokio_util::sync::CancellationToken;

use super::outbox::Outbox;
use crate::names::shown;

/// The longest line that is read, in bytes.
const LONGEST: usize = 16 * 1024 * 1024;
/// What some programs begin their texts with (RFC 8259, section 8.1, allows to ignore it).
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// The longest method that is named in an error, in characters.
const NAMED: usize = 100;

/// A client at the other end of two streams.
pub(super) struct Lines<R, W> {
    reader: FramedRead<R, Split>,
    writer: Arc<Mutex<Option<Writer<W>>>>,
    /// What is to be said to a line that can't be read.
    answer: Answer,
    outbox: Outbox,
    begun: bool,
    ended: CancellationToken,
}

/// An answer of our own on its way. Receiving is given up and begun anew at any time, and neither
/// loses it nor says it twice.
enum Answer {
    None,
    Waiting(Bytes),
    Flushing,
}

impl<R, W> Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Over two streams; `ended` is cancelled when nothing more can be read. Replies that wait in
    /// `outbox` go out with their messages.
    pub(super) fn new(reader: R, writer: W, ended: CancellationToken, outbox: Outbox) -> Self {
        Self {
            reader: FramedRead::new(reader, Split::default()),
            writer: Arc::new(Mutex::new(Some(Writer { stream: writer, waiting: VecDeque::new() }))),
            answer: Answer::None,
            outbox,
            begun: false,
            ended,
        }
    }

    async fn say(&mut self) -> io::Result<()> {
        if matches!(self.answer, Answer::None) {
            return Ok(());
        }
        let mut writer = self.writer.lock().await;
        let writer = writer.as_mut().ok_or_else(closed)?;
        if let Answer::Waiting(bytes) = &self.answer {
            writer.waiting.push_back(bytes.clone());
            self.answer = Answer::Flushing;
        }
        writer.flush().await?;
        self.answer = Answer::None;
        Ok(())
    }
}

/// Lines on their way out. Whoever writes may be stopped at any byte: what is left of a line goes out
/// before the next one, whoever brings that.
struct Writer<W> {
    stream: W,
    waiting: VecDeque<Bytes>,
}

impl<W: AsyncWrite + Unpin> Writer<W> {
    async fn send(&mut self, line: Bytes) -> io::Result<()> {
        self.waiting.push_back(line);
        self.flush().await
    }

    async fn flush(&mut self) -> io::Result<()> {
        while let Some(line) = self.waiting.front_mut() {
            if line.has_remaining() && self.stream.write_buf(line).await? == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            if !line.has_remaining() {
                self.waiting.pop_front();
            }
        }
        self.stream.flush().await
    }
}

fn closed() -> io::Error {
    io::Error::new(io::ErrorKind::NotConnected, "the output is closed")
}

impl<R, W> Transport<RoleServer> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (writer, outbox) = (self.writer.clone(), self.outbox.clone());
        let written = outbox.of(&message);
        async move {
            let line = outbox.line(&message, written.as_ref())?;
            writer.lock().await.as_mut().ok_or_else(closed)?.send(Bytes::from(line)).await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let next = match self.say().await {
                Ok(()) => self.reader.next().await,
                Err(error) => Some(Err(error)),
            };
            let read = match next {
                Some(Ok(Line::Whole(line))) => read(&line),
                Some(Ok(Line::TooLong)) => {
                    let why = format!("the message is longer than {LONGEST} bytes");
                    Read::Refused(refusal(ErrorCode::INVALID_REQUEST, &why, &Value::Null))
                }
                other => {
                    if let Some(Err(error)) = other {
                        tracing::error!(%error, "the connection to the client broke");
                    }
                    self.ended.cancel();
                    return None;
                }
            };
            match read {
                Read::Message(message) => {
                    // rmcp ends the session when it begins with anything but a request; a stray
                    // notification is no reason for that.
                    self.begun |= matches!(*message, JsonRpcMessage::Request(_));
                    if self.begun {
                        return Some(*message);
                    }
                    tracing::debug!("a message before the first request was skipped");
                }
                Read::Refused(answer) => {
                    tracing::debug!(%answer, "a message can't be read");
                    self.answer = Answer::Waiting(Bytes::from(format!("{answer}\n")));
                }
                Read::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        drop(self.writer.lock().await.take());
        Ok(())
    }
}

/// What a line says.
enum Read {
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// It can't be read; this is to be said to it.
    Refused(Value),
    /// It can't be read, and nobody waits for an answer.
    Nothing,
}

fn read(line: &[u8]) -> Read {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Read::Nothing;
    }
    match serde_json::from_slice(line) {
        Ok(message) => Read::Message(Box::new(message)),
        Err(error) => match serde_json::from_slice(line) {
            Ok(value) => misshapen(&value, &error),
            Err(error) => {
                let why = format!("the line is not JSON: {error}");
                Read::Refused(refusal(ErrorCode::PARSE_ERROR, &why, &Value::Null))
            }
        },
    }
}

/// JSON that is no message. Source of the codes: JSON-RPC 2.0, section 5.1.
fn misshapen(value: &Value, error: &serde_json::Error) -> Read {
    let Value::Object(object) = value else {
        let why = "a message is one JSON object a line; there are no batches";
        return Read::Refused(refusal(ErrorCode::INVALID_REQUEST, why, &Value::Null));
    };
    let id = object.get("id");
    let method = object.get("method");
    // Nobody waits for an answer to an answer, or to a notification.
    let answer = method.is_none() && (object.contains_key("result") || object.contains_key("error"));
    if answer || (id.is_none() && method.is_some_and(Value::is_string)) {
        tracing::debug!(%error, "a message that wants no answer can't be read");
        return Read::Nothing;
    }
    let known = id.filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or_default();
    let invalid = |why: &str| Read::Refused(refusal(ErrorCode::INVALID_REQUEST, why, &known));
    let Some(method) = method.and_then(Value::as_str) else { return invalid("method is not a text") };
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("jsonrpc is not \"2.0\"");
    }
    if known.is_null() {
        return invalid("id is neither a text nor a number");
    }
    if object.get("params").is_some_and(|params| !params.is_object()) {
        let why = format!("params of {} is not an object", shown(method, NAMED));
        return Read::Refused(refusal(ErrorCode::INVALID_PARAMS, &why, &known));
    }
    invalid(&format!("this {} can't be read: {error}", shown(method, NAMED)))
}

fn refusal(code: ErrorCode, why: &str, id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code.0, "message": why}})
}

/// Cuts a stream into lines; the last one may lack its end.
#[derive(Default)]
struct Split {
    /// How much of the buffer is known to hold no line's end.
    searched: usize,
    /// The rest of a line that was too long is not kept.
    skipping: bool,
}

enum Line {
    Whole(BytesMut),
    TooLong,
}

impl Decoder for Split {
    type Item = Line;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        loop {
            let unsearched = buffer.get(self.searched..).unwrap_or_default();
            let end = unsearched.iter().position(|byte| *byte == b'\n').map(|place| self.searched + place);
            match end {
                Some(end) => {
                    self.searched = 0;
                    if !std::mem::take(&mut self.skipping) {
                        let line = buffer.split_to(end + 1);
                        return Ok(Some(if end > LONGEST { Line::TooLong } else { Line::Whole(line) }));
                    }
                    buffer.advance(end + 1);
                }
                None if self.skipping || buffer.len() > LONGEST => {
                    buffer.clear();
                    self.searched = 0;
                    return Ok((!std::mem::replace(&mut self.skipping, true)).then_some(Line::TooLong));
                }
                None => {
                    self.searched = buffer.len();
                    return Ok(None);
                }
            }
        }
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        let line = self.decode(buffer)?;
        Ok(line.or_else(|| (!buffer.is_empty()).then(|| Line::Whole(buffer.split()))))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn a_line_that_was_given_up_half_written_goes_out_whole_before_the_next() {
        let (stream, mut other) = tokio::io::duplex(4);
        let mut writer = Writer { stream, waiting: VecDeque::new() };
        let given_up = futures_util::FutureExt::now_or_never(writer.send(Bytes::from_static(b"the first line\n")));
        assert!(given_up.is_none(), "only four bytes have room");
        let mut read = String::new();
        let (sent, _) = tokio::join!(
            async {
                let sent = writer.send(Bytes::from_static(b"the second\n")).await;
                drop(writer);
                sent
            },
            other.read_to_string(&mut read)
        );
        sent.expect("the other end reads");
        assert_eq!(read, "the first line\nthe second\n");
    }

    fn lines(parts: &[&[u8]]) -> Vec<Option<Vec<u8>>> {
        let (mut split, mut buffer, mut found) = (Split::default(), BytesMut::new(), Vec::new());
        let said = |line| match line {
            Line::Whole(line) => Some(line.to_vec()),
            Line::TooLong => None,
        };
        for part in parts {
            buffer.extend_from_slice(part);
            while let Some(line) = split.decode(&mut buffer).expect("no I/O") {
                found.push(said(line));
            }
        }
        while let Some(line) = split.decode_eof(&mut buffer).expect("no I/O") {
            found.push(said(line));
        }
        found
    }

    #[test]
    fn lines_are_whole_however_they_arrive() {
        let wanted = [Some(b"one\n".to_vec()), Some(b"\n".to_vec()), Some(b"two".to_vec())];
        assert_eq!(lines(&[b"one\n\ntwo"]), wanted);
        assert_eq!(lines(&[b"o", b"n", b"e\n\nt", b"w", b"o"]), wanted);
    }

    #[test]
    fn a_line_that_is_too_long_is_told_once_and_the_next_one_is_read() {
        let long = vec![b'x'; LONGEST / 2 + 1];
        assert_eq!(lines(&[&long, &long, &long, b"x\nnext\n"]), [None, Some(b"next\n".to_vec())]);
        assert_eq!(lines(&[&[long.as_slice(), &long, b"\nnext\n"].concat()]), [None, Some(b"next\n".to_vec())]);
    }
}
