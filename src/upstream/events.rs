//! A bound on the size of one event of an HTTP answer that is a stream of them.

use futures_util::{Stream, StreamExt as _};
use tokio_util::bytes::Bytes;

/// Why a stream of events ends before its time.
#[derive(Debug, thiserror::Error)]
pub(super) enum Broken {
    /// An event has more bytes than are taken.
    #[error("an event has more than {most} bytes")]
    TooLarge { most: usize },
    /// The stream broke off.
    #[error(transparent)]
    Stream(Box<dyn std::error::Error + Send + Sync>),
}

/// The bytes, with an error where one event has more than `most`.
pub(super) fn bounded<E: std::error::Error + Send + Sync + 'static>(
    bytes: impl Stream<Item = Result<Bytes, E>> + Send + 'static,
    most: usize,
) -> impl Stream<Item = Result<Bytes, Broken>> + Send + 'static {
    let mut size = EventSize::default();
    bytes.map(move |part| match part {
        Ok(part) if size.largest_in(&part) > most => Err(Broken::TooLarge { most }),
        Ok(part) => Ok(part),
        Err(error) => Err(Broken::Stream(Box::new(error))),
    })
}

/// How large the event is that is being read.
#[derive(Default)]
struct EventSize {
    /// Its whole lines; comments are not kept.
    lines: usize,
    /// The line so far.
    line: usize,
    is_comment: bool,
}

impl EventSize {
    /// Goes through more bytes; how large an event was at most meanwhile.
    fn largest_in(&mut self, bytes: &[u8]) -> usize {
        let mut largest = 0;
        for byte in bytes {
            match byte {
                b'\n' => {
                    // A line without anything in it ends the event.
                    self.lines = match (self.line, self.is_comment) {
                        (0, _) => 0,
                        (_, true) => self.lines,
                        (line, false) => self.lines.saturating_add(line),
                    };
                    (self.line, self.is_comment) = (0, false);
                }
                b'\r' => {}
                _ => {
                    self.is_comment |= self.line == 0 && *byte == b':';
                    self.line = self.line.saturating_add(1);
                    largest = largest.max(self.lines.saturating_add(self.line));
                }
            }
        }
        largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_as_large_as_its_lines_and_comments_count_alone() {
        for (text, due) in [
            ("data: aa\n\ndata: b\n\n", 8),
            ("data: aa\r\ndata: b\r\n\r\n", 15),
            (": ping ping ping\n: ping\ndata: a\n", 16),
            ("data: aaaaaaaaaaaa", 18),
            ("", 0),
        ] {
            for piece in [1, 3, 100] {
                let mut size = EventSize::default();
                let largest = text.as_bytes().chunks(piece).map(|part| size.largest_in(part)).max();
                assert_eq!(largest.unwrap_or(0), due, "{text:?} {piece}");
            }
        }
    }
}
