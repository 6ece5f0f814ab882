//! The events of an HTTP answer that is a stream of them, each with a bound on its size. What the
//! rules for such streams (WHATWG's) give no meaning is passed over, and so is nothing else.

use futures_util::{Stream, StreamExt as _, stream};
use sse_stream::Sse;
use tokio_util::bytes::Bytes;

/// Why a stream of events ends before its time.
#[derive(Debug, thiserror::Error)]
pub enum Broken {
    /// An event has more bytes than are taken.
    #[error("an event has more than {most} bytes")]
    TooLarge {
        /// How many are.
        most: usize,
    },
    /// The stream broke off.
    #[error(transparent)]
    Stream(Box<dyn std::error::Error + Send + Sync>),
}

/// The events in the bytes, with an error where one has more than `most` of them. The last one may
/// lack the blank line that ends it.
pub fn events<E: std::error::Error + Send + Sync + 'static>(
    bytes: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    most: usize,
) -> impl Stream<Item = Result<Sse, Broken>> + Send + 'static {
    let mut reader = Reader { most, begins: true, ..Reader::default() };
    let end = stream::once(async { Ok(Bytes::from_static(b"\n\n")) });
    bytes.chain(end).flat_map(move |part| {
        stream::iter(match part {
            Ok(part) => reader.take(&part),
            Err(error) => vec![Err(Broken::Stream(Box::new(error)))],
        })
    })
}

/// The byte-order mark that programs of some systems write before their text.
const MARK: &[u8] = "\u{feff}".as_bytes();

#[derive(Default)]
struct Reader {
    most: usize,
    /// The line so far.
    line: Vec<u8>,
    /// The event so far.
    event: Sse,
    /// Whether no line has come yet.
    begins: bool,
    /// Whether the last line ended with a carriage return, to which a line feed may belong.
    returned: bool,
}

impl Reader {
    fn take(&mut self, bytes: &[u8]) -> Vec<Result<Sse, Broken>> {
        let mut events = Vec::new();
        for part in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (end, text) = match part.split_last() {
                Some((end @ (b'\n' | b'\r'), text)) => (Some(*end), text),
                _ => (None, part),
            };
            self.line.extend_from_slice(text);
            let held = self.event.data.as_ref().map_or(0, String::len);
            if held.saturating_add(self.line.len()) > self.most {
                (self.line, self.event) = (Vec::new(), Sse::default());
                events.push(Err(Broken::TooLarge { most: self.most }));
            }
            let Some(end) = end else { continue };
            let returned = std::mem::replace(&mut self.returned, end == b'\r');
            if !(returned && end == b'\n' && self.line.is_empty()) {
                events.extend(self.end_line().map(Ok));
            }
        }
        events
    }

    /// Takes the line in; the event, if the line ends one.
    fn end_line(&mut self) -> Option<Sse> {
        let line = std::mem::take(&mut self.line);
        let line = if std::mem::take(&mut self.begins) { line.strip_prefix(MARK).unwrap_or(&line) } else { &line };
        if line.is_empty() {
            return Some(std::mem::take(&mut self.event)).filter(|event| *event != Sse::default());
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match (field, &mut self.event.data) {
            ("data", Some(data)) => {
                data.push('\n');
                data.push_str(value);
            }
            ("data", data) => *data = Some(value.to_owned()),
            ("event", _) => self.event.event = Some(value.to_owned()).filter(|name| !name.is_empty()),
            ("id", _) if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            ("retry", _) if value.bytes().all(|byte| byte.is_ascii_digit()) => self.event.retry = value.parse().ok(),
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data of all events, however their bytes come.
    fn data_of(text: &str, most: usize) -> Vec<Option<String>> {
        let read = |piece| {
            let mut reader = Reader { most, begins: true, ..Reader::default() };
            let parts = text.as_bytes().chunks(piece).chain([&b"\n\n"[..]]);
            let events: Vec<_> = parts.flat_map(|part| reader.take(part)).collect();
            events.into_iter().map(|event| event.ok().and_then(|event| event.data)).collect::<Vec<_>>()
        };
        assert_eq!(read(1), read(1_000), "{text:?}");
        read(3)
    }

    #[test]
    fn what_the_rules_of_streams_do_not_know_is_passed_over() {
        let junk = [
            "retry: abc",
            "retry: 1.5",
            "retry:",
            "retry: -1",
            "retry: +1",
            "retry: 18446744073709551616",
            "foo: x",
            "Data: x",
            "data : x",
            "hello",
            "id",
            "id: a\0b",
            "event",
            "{\"a\":1}",
            ": ping",
            "\u{feff}: x",
            "event: a\nevent",
        ];
        for line in junk {
            for end in ["\n", "\r\n", "\r"] {
                let text = format!("{line}\ndata: one\ndata:two\n\n{line}\ndata: three\n\n").replace('\n', end);
                assert_eq!(data_of(&text, 100), [Some("one\ntwo".to_owned()), Some("three".to_owned())], "{text:?}");
            }
        }
        assert_eq!(data_of("data: without an end", 100), [Some("without an end".to_owned())]);
        assert_eq!(data_of("\n\n: nothing\n\n", 100), []);
    }

    #[test]
    fn an_event_is_as_large_as_its_data_and_the_line_that_is_read() {
        for (text, largest) in
            [("data: aa\n\ndata: b\n\n", 8), ("data: aa\r\ndata: b\r\n\r\n", 9), (": ping ping\n: ping\ndata: a\n", 11)]
        {
            assert!(data_of(text, largest).iter().all(Option::is_some), "{text:?}");
            assert!(data_of(text, largest - 1).iter().any(Option::is_none), "{text:?}");
        }
    }
}
