//! Lines of a stream, none without a bound.

use std::io;

use tokio_util::bytes::{Buf as _, BytesMut};
use tokio_util::codec::Decoder;

use super::ends::ENDS;

/// Cuts a stream into lines, and keeps no more of one than is allowed; the last may lack its end.
#[derive(Debug)]
pub struct Split {
    longest: usize,
    /// How much of the buffer is known to hold no line's end.
    searched: usize,
    /// Of a line that is too long: its beginning, its end so far, and its bytes.
    over: Option<(Vec<u8>, Vec<u8>, usize)>,
    ended: bool,
}

/// A line of a stream.
#[derive(Debug)]
pub enum Line {
    /// All of it, its end included.
    Whole(BytesMut),
    /// One that is too long.
    TooLong {
        /// Its beginning.
        head: Vec<u8>,
        /// Its end.
        tail: Vec<u8>,
        /// How long it is, its end included.
        bytes: usize,
    },
}

impl Split {
    /// For lines of at most so many bytes, their ends included.
    pub fn of(longest: usize) -> Self {
        Self { longest, searched: 0, over: None, ended: false }
    }

    /// Whether the stream has ended: what it gives now was there before.
    pub fn ended(&self) -> bool {
        self.ended
    }

    /// The beginning of a line that is too long and has no end yet.
    pub fn over(&self) -> Option<&[u8]> {
        self.over.as_ref().map(|(head, ..)| head.as_slice())
    }

    fn too_long(&mut self, end: usize) -> Option<Line> {
        self.over.take().map(|(head, tail, bytes)| Line::TooLong { head, tail, bytes: bytes + end })
    }

    /// Takes bytes of a line that is too long out of the buffer.
    fn skip(&mut self, buffer: &mut BytesMut, count: usize) {
        let part = buffer.get(..count).unwrap_or_default();
        let (_, tail, bytes) =
            self.over.get_or_insert_with(|| (part.get(..ENDS).unwrap_or(part).to_vec(), Vec::new(), 0));
        tail.extend_from_slice(part.get(part.len().saturating_sub(ENDS)..).unwrap_or(part));
        tail.drain(..tail.len().saturating_sub(ENDS));
        *bytes += part.len();
        buffer.advance(count);
        self.searched = 0;
    }
}

impl Decoder for Split {
    type Item = Line;
    type Error = io::Error;

    fn decode(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        let unsearched = buffer.get(self.searched..).unwrap_or_default();
        let Some(end) = unsearched.iter().position(|byte| *byte == b'\n').map(|place| self.searched + place) else {
            if self.over.is_some() || buffer.len() > self.longest {
                self.skip(buffer, buffer.len());
            }
            self.searched = buffer.len();
            return Ok(None);
        };
        if self.over.is_none() && end < self.longest {
            self.searched = 0;
            return Ok(Some(Line::Whole(buffer.split_to(end + 1))));
        }
        self.skip(buffer, end);
        buffer.advance(1);
        Ok(self.too_long(1))
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> io::Result<Option<Line>> {
        self.ended = true;
        let line = self.decode(buffer)?;
        let line = line.or_else(|| self.too_long(0));
        self.searched = 0;
        Ok(line.or_else(|| (!buffer.is_empty()).then(|| Line::Whole(buffer.split()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(longest: usize, parts: &[&[u8]]) -> Vec<Result<String, usize>> {
        let (mut split, mut buffer, mut found) = (Split::of(longest), BytesMut::new(), Vec::new());
        let said = |line| match line {
            Line::Whole(line) => Ok(String::from_utf8_lossy(&line).into_owned()),
            Line::TooLong { bytes, .. } => Err(bytes),
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
        let due = ["one\n", "\n", "two"].map(|line| Ok(line.to_owned()));
        assert_eq!(lines(100, &[b"one\n\ntwo"]), due);
        assert_eq!(lines(100, &[b"o", b"n", b"e\n\nt", b"w", b"o"]), due);
    }

    #[test]
    fn a_line_that_is_too_long_is_told_once_and_the_next_one_is_read() {
        let long = [b'x'; 60];
        let next = || Ok("next\n".to_owned());
        assert_eq!(lines(100, &[&long, &long, &long, b"x\nnext\n"]), [Err(182), next()]);
        assert_eq!(lines(100, &[&[&long[..], &long, b"\nnext\n"].concat()]), [Err(121), next()]);
        assert_eq!(lines(100, &[&[&long[..39], &long, b"\nnext\n"].concat()]), [Ok("x".repeat(99) + "\n"), next()]);
        assert_eq!(lines(100, &[&[&long[..40], &long, b"\nnext\n"].concat()]), [Err(101), next()]);
        assert_eq!(lines(100, &[&long, &long]), [Err(120)]);
    }

    #[test]
    fn the_ends_of_a_line_that_is_too_long_are_kept() {
        let mut split = Split::of(10);
        let text = [&b"begin"[..], &[b'x'; 1_000], b"end\n"].concat();
        for piece in [1, 7, 5_000] {
            let (mut buffer, mut told) = (BytesMut::new(), None);
            for part in text.chunks(piece) {
                buffer.extend_from_slice(part);
                told = split.decode(&mut buffer).expect("no I/O");
            }
            let Some(Line::TooLong { head, tail, bytes }) = told else { panic!("{piece}") };
            assert!(head.starts_with(b"begin") && tail.ends_with(b"xend") && bytes == text.len(), "{piece}");
        }
    }
}
