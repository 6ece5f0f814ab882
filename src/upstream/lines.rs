//! What a server writes, with a bound on the length of a line.
//!
//! rmcp leaves a line that is too long aside, and whoever waits for it would wait in vain. So the
//! bytes are watched on their way: behind such a line an error is put in that answers the request
//! the line was for. Nothing is held back and nothing is copied twice.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// The code of the error that stands in for an answer that is too long; our own, outside of what
/// JSON-RPC and MCP define.
pub(super) const TOO_LONG: i32 = -32_950;
/// How much of a line's beginning and end is kept, to find out what it answers.
const KEPT: usize = 256;
/// How much is kept of a line that is not the protocol's: more than is shown of it, so that nothing
/// secret in it is cut in two before it is masked.
const KEPT_WORDS: usize = 8 << 10;

/// A reader whose lines are watched.
pub(super) struct Lines<R> {
    inner: R,
    longest: usize,
    /// Bytes of the line so far, without its end.
    length: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
    /// An error that is to be read before anything else.
    error: Vec<u8>,
    /// What was read behind the line that the error stands in for.
    rest: Vec<u8>,
    /// Nothing more is read: nobody could be told what was lost.
    over: bool,
    /// Told of lines that are not the protocol's.
    tell: Option<Tell>,
}

/// Told of a line that is not the protocol's.
pub(super) type Tell = Box<dyn Fn(&[u8]) + Send>;

impl<R> Lines<R> {
    /// Watches a reader; a line, its end included, may have `longest` bytes.
    pub(super) fn of(inner: R, longest: usize) -> Self {
        let (head, tail, error, rest) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { inner, longest, length: 0, head, tail, error, rest, over: false, tell: None }
    }

    /// Tells of lines that are not the protocol's, and are read by nobody.
    pub(super) fn telling(self, tell: Tell) -> Self {
        Self { tell: Some(tell), ..self }
    }

    /// Looks at bytes on their way; how many may pass before something has to be said.
    fn pass(&mut self, bytes: &[u8]) -> usize {
        let mut passed = 0;
        while let Some(rest) = bytes.get(passed..).filter(|rest| !rest.is_empty()) {
            let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
                self.note(rest);
                return bytes.len();
            };
            self.note(rest.get(..end).unwrap_or_default());
            passed += end + 1;
            let length = std::mem::take(&mut self.length) + 1;
            if length > self.longest {
                match request_of(&self.head, &self.tail) {
                    Some(id) => self.error = stand_in(&id, length),
                    None => self.over = true,
                }
            }
            if let Some(tell) = self.tell.as_ref().filter(|_| !is_of_the_protocol(&self.head, length)) {
                tell(&self.head);
            }
            self.head.clear();
            self.tail.clear();
            if length > self.longest {
                break;
            }
        }
        passed
    }

    fn note(&mut self, part: &[u8]) {
        let first = self.head.first().or(part.first());
        let kept = if self.tell.is_none() || first == Some(&b'{') { KEPT } else { KEPT_WORDS };
        self.head.extend(part.iter().take(kept.saturating_sub(self.head.len())));
        self.length = self.length.saturating_add(part.len());
        if self.length > self.longest {
            self.tail.extend_from_slice(part.get(part.len().saturating_sub(KEPT)..).unwrap_or(part));
            let over = self.tail.len().saturating_sub(KEPT);
            self.tail.drain(..over);
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if !this.error.is_empty() {
            let part = this.error.len().min(buf.remaining());
            buf.put_slice(&this.error.drain(..part).collect::<Vec<u8>>());
            return Poll::Ready(Ok(()));
        }
        if this.over {
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        if this.rest.is_empty() {
            ready!(Pin::new(&mut this.inner).poll_read(cx, buf))?;
        } else {
            let part = this.rest.len().min(buf.remaining());
            buf.put_slice(&this.rest.drain(..part).collect::<Vec<u8>>());
        }
        let new = buf.filled().get(before..).unwrap_or_default();
        let passed = this.pass(new);
        if let Some(back) = new.get(passed..).filter(|back| !back.is_empty()) {
            this.rest.splice(..0, back.iter().copied());
            buf.set_filled(before + passed);
        }
        Poll::Ready(Ok(()))
    }
}

/// Whether a line is a message, as far as its beginning says. A short one that is JSON and no
/// message is some program's log.
fn is_of_the_protocol(head: &[u8], length: usize) -> bool {
    let text = head.trim_ascii();
    match text.first() {
        None => true,
        Some(b'{') if length > head.len() + 1 => true,
        Some(b'{' | b'[') => serde_json::from_slice::<serde_json::Value>(text).is_ok_and(|value| {
            let one = |value: &serde_json::Value| value.get("jsonrpc").is_some();
            one(&value) || value.as_array().is_some_and(|all| all.iter().any(one))
        }),
        Some(_) => false,
    }
}

/// The error that answers a request whose answer is too long, as a line.
fn stand_in(id: &str, length: usize) -> Vec<u8> {
    let error = format!(r#"{{"code":{TOO_LONG},"message":"the answer is too long","data":{{"bytes":{length}}}}}"#);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n").into_bytes()
}

/// The id of the request that a line answers, from its beginning and its end alone: ours are
/// numbers. `None` for what can't be told, and for what answers nothing.
fn request_of(head: &[u8], tail: &[u8]) -> Option<String> {
    at_the_beginning(&String::from_utf8_lossy(head)).or_else(|| at_the_end(&String::from_utf8_lossy(tail)))
}

/// Goes through the members of an object until one is no plain value.
fn at_the_beginning(text: &str) -> Option<String> {
    let mut rest = text.trim_start().strip_prefix('{')?;
    loop {
        let (key, after) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
        let value = after.trim_start().strip_prefix(':')?.trim_start();
        let (value, after) = match value.strip_prefix('"') {
            Some(text) => text.split_once('"')?,
            None => value.split_at(value.find([',', '}', '{', '['])?),
        };
        match key {
            "id" => return number(value),
            // A request of the server's own, or one more notification.
            "method" => return None,
            _ => rest = after.trim_start().strip_prefix(',')?,
        }
    }
}

/// The last member of the outermost object, or the last but one before the protocol's name.
fn at_the_end(text: &str) -> Option<String> {
    let mut inside = text.trim_end().strip_suffix('}')?.trim_end();
    if let Some(before) = inside.strip_suffix("\"2.0\"") {
        let before = before.trim_end().strip_suffix(':')?.trim_end().strip_suffix("\"jsonrpc\"")?;
        inside = before.trim_end().strip_suffix(',')?.trim_end();
    }
    let (before, id) = inside.rsplit_once(':')?;
    before.trim_end().strip_suffix("\"id\"")?;
    number(id)
}

fn number(text: &str) -> Option<String> {
    let digits = text.trim();
    (!digits.is_empty() && digits.len() < 20 && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| digits.to_owned())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use tokio::io::AsyncReadExt as _;

    use super::*;

    /// Hands out bytes in pieces of a few.
    struct Pieces<'a>(&'a [u8], usize);

    impl AsyncRead for Pieces<'_> {
        fn poll_read(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
            let part = self.1.min(self.0.len()).min(buf.remaining());
            let (now, later) = self.0.split_at(part);
            buf.put_slice(now);
            self.0 = later;
            Poll::Ready(Ok(()))
        }
    }

    async fn read(text: &str, longest: usize, piece: usize) -> String {
        let mut out = String::new();
        Lines::of(Pieces(text.as_bytes(), piece), longest).read_to_string(&mut out).await.expect("read");
        out
    }

    fn answer(id: u32, length: usize) -> String {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":\"{}\"}}\n", "x".repeat(length))
    }

    #[tokio::test]
    async fn lines_within_the_bound_pass_as_they_are() {
        let text = format!("{}\n\n{}no end", answer(1, 10), answer(2, 40));
        for piece in [1, 3, 7, 1_000] {
            assert_eq!(read(&text, 100, piece).await, text, "{piece}");
        }
    }

    #[tokio::test]
    async fn behind_a_line_that_is_too_long_its_request_is_answered_with_an_error() {
        let long = answer(7, 500);
        let text = format!("{}{long}{}{}", answer(6, 1), answer(8, 400), answer(9, 2));
        for piece in [1, 10, 100, 5_000] {
            let got = read(&text, 100, piece).await;
            let lines: Vec<&str> = got.lines().collect();
            assert_eq!(lines.len(), 6, "{piece}: {got}");
            let error: serde_json::Value = serde_json::from_str(lines[2]).expect("JSON");
            assert_eq!((&error["id"], &error["error"]["code"]), (&7.into(), &TOO_LONG.into()));
            assert_eq!(error["error"]["data"]["bytes"], long.len());
            assert!(lines[4].contains("\"id\":8,\"error\"") && lines[5].contains("\"id\":9,\"result\""), "{got}");
        }
    }

    #[tokio::test]
    async fn what_is_no_message_is_told_and_what_is_one_is_not() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let noted = told.clone();
        let tell = move |line: &[u8]| {
            noted.lock().expect("lines").push(String::from_utf8_lossy(line).into_owned());
        };
        let words = "w".repeat(1_000);
        let text = format!("Welcome\n\n{{\"level\":30}}\n{}[1]\n{words}\n{}", answer(1, 10), answer(2, 500));
        let mut out = String::new();
        let mut lines = Lines::of(Pieces(text.as_bytes(), 7), 10_000).telling(Box::new(tell));
        lines.read_to_string(&mut out).await.expect("read");
        assert_eq!(out, text);
        assert_eq!(*told.lock().expect("lines"), ["Welcome", "{\"level\":30}", "[1]", &words]);
    }

    #[tokio::test]
    async fn where_nobody_can_be_told_nothing_more_is_read() {
        let text = format!("{{\"method\":\"x\",\"params\":\"{}\"}}\n{}", "y".repeat(500), answer(1, 1));
        assert!(!read(&text, 100, 50).await.contains("\"id\":1"));
    }

    #[test]
    fn the_request_is_found_at_either_end() {
        for (head, tail, due) in [
            (r#"{"jsonrpc":"2.0","id":12,"result":{"#, "", Some("12")),
            (r#" { "id" : 3 , "result" : ["#, "", Some("3")),
            (r#"{"result":{"id":5,"#, r#""}]},"id":6,"jsonrpc":"2.0"}"#, Some("6")),
            (r#"{"result":{"id":5,"#, r#""}]},"jsonrpc": "2.0", "id": 7 }"#, Some("7")),
            (r#"{"result":{"id":5,"#, r#"{"id":8}}"#, None),
            (r#"{"jsonrpc":"2.0","method":"a","id":5,"params":{"#, "}", None),
            (r#"{"id":"text","result":["#, "]}", None),
            ("no json", "at all", None),
            ("", "", None),
        ] {
            assert_eq!(request_of(head.as_bytes(), tail.as_bytes()).as_deref(), due, "{head} {tail}");
        }
    }
}
