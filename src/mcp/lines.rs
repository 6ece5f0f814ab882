//! One JSON-RPC message a line, both ways; a line that can't be read is answered, not dropped.
//!
//! What messages mean is rmcp's business and the server's. rmcp's own transport leaves out the id
//! of a request it can't read, and says nothing to what is no JSON, so a client would wait for ever.
//! A client that writes and does not read is not listened to until it does.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex as StdMutex};

use futures_util::{FutureExt as _, StreamExt as _};
use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;
use tokio_util::bytes::{Buf as _, Bytes};
use tokio_util::codec::FramedRead;
use tokio_util::sync::CancellationToken;

use super::backlog::{Backlog, OnItsWay};
use super::outbox::Outbox;
use super::reading::{ReadLine, read, refusal};
use crate::lock::lock;
use crate::rpc::{Line, Split, answered_by, request_in};

/// What every request has in it, and no answer.
const METHOD: &[u8] = b"\"method\"";
/// The longest line that is read, in bytes.
const LONGEST: usize = 16 * 1024 * 1024;

type PendingAnswers = Arc<StdMutex<VecDeque<(Bytes, OnItsWay)>>>;

/// A client at the other end of two streams.
pub(super) struct ClientLines<R, W> {
    reader: FramedRead<R, Split>,
    writer: Arc<Mutex<Option<Writer<W>>>>,
    /// What is to be said to lines that can't be read, in their order.
    said: PendingAnswers,
    outbox: Outbox,
    backlog: Backlog,
    /// What the client was asked and has not answered.
    questions: Vec<RequestId>,
    begun: bool,
    ended: CancellationToken,
}

impl<R, W> ClientLines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    /// Over two streams; `ended` is cancelled when nothing more can be read. Replies that wait in
    /// `outbox` go out with their messages.
    pub(super) fn new(reader: R, writer: W, ended: CancellationToken, outbox: Outbox) -> Self {
        Self {
            reader: FramedRead::new(reader, Split::of(LONGEST)),
            writer: Arc::new(Mutex::new(Some(Writer { stream: writer, waiting: VecDeque::new() }))),
            said: Arc::default(),
            outbox,
            backlog: Backlog::default(),
            questions: Vec::new(),
            begun: false,
            ended,
        }
    }

    /// What can't be read and would be the answer to a question of ours is an answer that says no: whoever
    /// asked must not wait for another one.
    fn or_answer(&self, read: ReadLine, line: &[u8]) -> ReadLine {
        let ReadLine::Refused(refusal) = &read else { return read };
        if line.windows(METHOD.len()).any(|part| part == METHOD) {
            return read;
        }
        let told = answered_by(line, line).filter(|_| refusal["id"].is_null());
        let told = told.as_ref().unwrap_or(&refusal["id"]);
        let Some(id) = self.questions.iter().find(|id| json!(id) == *told) else { return read };
        let error = ErrorData::new(ErrorCode::PARSE_ERROR, "the answer can't be read", None);
        ReadLine::Message(Box::new(JsonRpcMessage::error(error, Some(id.clone()))))
    }

    /// Says to a client what can't be read. It goes out by itself: who reads on must not wait for a
    /// client that does not.
    fn answer(&self, answer: &Value) {
        tracing::debug!(%answer, "a message can't be read");
        let line = Bytes::from(format!("{answer}\n"));
        let on_its_way = self.backlog.add(line.len());
        lock(&self.said).push_back((line, on_its_way));
        // As a rule there is room, and what comes next is answered after it.
        if say(self.said.clone(), self.writer.clone()).now_or_never().is_none() {
            tokio::spawn(say(self.said.clone(), self.writer.clone()));
        }
    }
}

/// Writes what is to be said, one after the other.
async fn say<W: AsyncWrite + Unpin>(said: PendingAnswers, writer: Arc<Mutex<Option<Writer<W>>>>) {
    let mut writer = writer.lock().await;
    let Some(writer) = writer.as_mut() else { return };
    loop {
        let next = lock(&said).pop_front();
        let Some((line, on_its_way)) = next else { return };
        // Whether the client is still there shows when it is read from.
        let _ = writer.send(line).await;
        drop(on_its_way);
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

/// Says to a request that comes before the handshake, and doesn't say what one would, what to do.
fn with_advice(mut message: TxJsonRpcMessage<RoleServer>) -> TxJsonRpcMessage<RoleServer> {
    if let JsonRpcMessage::Error(error) = &mut message
        && let Some(lacks) =
            error.error.message.strip_prefix("request _meta is missing or has malformed required fields: ")
    {
        error.error.message = format!(
            "send initialize first; a request of protocol 2026-07-28, which needs none, has in its _meta: {lacks}"
        )
        .into();
    }
    message
}

/// The request that a message answers.
fn answers(message: &TxJsonRpcMessage<RoleServer>) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

impl<R, W> Transport<RoleServer> for ClientLines<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let message = with_advice(message);
        if let JsonRpcMessage::Request(request) = &message {
            self.questions.push(request.id.clone());
        }
        let (writer, outbox) = (self.writer.clone(), self.outbox.clone());
        let written = outbox.of(&message);
        let line = outbox.line(&message, written.as_ref());
        let on_its_way = self.backlog.add(line.as_ref().map_or(0, Vec::len));
        if let Some(id) = answers(&message) {
            self.backlog.answered(id);
        }
        async move {
            let sent = writer.lock().await.as_mut().ok_or_else(closed)?.send(Bytes::from(line?)).await;
            drop(on_its_way);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.backlog.has_room().await;
            let next = self.reader.next().await;
            // The last line may lack its end, and whoever serves should know that no more comes.
            if self.reader.decoder().ended() {
                self.ended.cancel();
            }
            let read = match next {
                Some(Ok(Line::Whole(line))) => self.or_answer(read(&line), &line),
                Some(Ok(Line::TooLong { head, tail, .. })) => {
                    let why = format!("the message is longer than {LONGEST} bytes");
                    let id = request_in(&head, &tail).unwrap_or_default();
                    ReadLine::Refused(refusal(ErrorCode::INVALID_REQUEST, &why, &id))
                }
                other => {
                    if let Some(Err(error)) = other {
                        tracing::error!(%error, "the connection to the client broke");
                    }
                    self.ended.cancel();
                    say(self.said.clone(), self.writer.clone()).await;
                    return None;
                }
            };
            match read {
                ReadLine::Message(message) => {
                    match &*message {
                        JsonRpcMessage::Request(request) => self.backlog.asked(request.id.clone()),
                        JsonRpcMessage::Notification(told) => {
                            if let ClientNotification::CancelledNotification(cancelled) = &told.notification
                                && let Some(id) = &cancelled.params.request_id
                            {
                                self.backlog.answered(id);
                            }
                        }
                        JsonRpcMessage::Response(response) => self.questions.retain(|id| *id != response.id),
                        JsonRpcMessage::Error(error) => self.questions.retain(|id| Some(id) != error.id.as_ref()),
                    }
                    // rmcp ends the session when it begins with anything but a request; a stray
                    // notification is no reason for that.
                    self.begun |= matches!(*message, JsonRpcMessage::Request(_));
                    if self.begun {
                        return Some(*message);
                    }
                    tracing::debug!("a message before the first request was skipped");
                }
                ReadLine::Refused(answer) => self.answer(&answer),
                ReadLine::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        drop(self.writer.lock().await.take());
        Ok(())
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
}
