//! Positions and addresses: lines and characters as an editor counts them, and files by their `file:` address.

use std::ops::Range;
use std::path::{Path, PathBuf};

use gen_lsp_types::{Position, PositionEncodingKind, Range as LspRange, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use crate::app::UNSAVED;

/// What a `file:` address leaves as it is.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// How an editor counts within a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16, which every editor understands.
    Utf16,
}

impl Encoding {
    /// Bytes, where the editor offers them.
    pub(super) fn among(offered: &[&str]) -> Self {
        if offered.contains(&"utf-8") { Self::Utf8 } else { Self::Utf16 }
    }

    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Self::Utf8 => PositionEncodingKind::UTF8,
            Self::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    fn length(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
        }
    }
}

/// A text by its lines.
pub(super) struct Lines<'t> {
    text: &'t str,
    /// Where each line begins.
    starts: Vec<usize>,
    encoding: Encoding,
}

impl<'t> Lines<'t> {
    pub(super) fn of(text: &'t str, encoding: Encoding) -> Self {
        let bytes = text.as_bytes();
        let ends = |at: usize, byte: u8| byte == b'\n' || byte == b'\r' && bytes.get(at + 1) != Some(&b'\n');
        let starts = bytes.iter().enumerate().filter(|(at, byte)| ends(*at, **byte)).map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(starts).collect(), encoding }
    }

    /// The position of a byte; within a character its beginning, past the end the end.
    pub(super) fn position(&self, offset: usize) -> Position {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or_default();
        let characters: usize = before.chars().map(|c| self.encoding.length(c)).sum();
        Position { line: number(line), character: number(characters) }
    }

    pub(super) fn range(&self, bytes: &Range<usize>) -> LspRange {
        LspRange { start: self.position(bytes.start), end: self.position(bytes.end) }
    }

    /// The byte of a position; past the end of its line the end of that line.
    pub(super) fn offset(&self, position: Position) -> usize {
        let line = usize::try_from(position.line).unwrap_or(usize::MAX);
        let Some(start) = self.starts.get(line).copied() else { return self.text.len() };
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r']);
        let wanted = usize::try_from(position.character).unwrap_or(usize::MAX);
        let mut counted = 0;
        for (at, c) in line.char_indices() {
            counted += self.encoding.length(c);
            // Within a character its beginning is meant.
            if counted > wanted {
                return start + at;
            }
        }
        start + line.len()
    }

    pub(super) fn bytes(&self, range: LspRange) -> Range<usize> {
        let (start, end) = (self.offset(range.start), self.offset(range.end));
        start..end.max(start)
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The file of an address, or the address of a text that was never saved; none where it is neither.
pub(super) fn path_of(uri: &Uri) -> Option<PathBuf> {
    if uri.0.starts_with(UNSAVED) {
        return Some(PathBuf::from(&uri.0));
    }
    let rest = uri.0.strip_prefix("file://")?;
    // Between the slashes stands the machine, which is this one.
    let path = rest.get(rest.find('/')?..)?;
    let path = percent_decode_str(path).decode_utf8().ok()?;
    // On Windows a drive follows the first slash.
    let drive = path.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if drive { path.get(1..)? } else { &path }))
}

/// The address of a file.
pub(super) fn uri_of(path: &Path) -> Uri {
    let text = path.to_string_lossy().replace('\\', "/");
    let slash = if text.starts_with('/') { "" } else { "/" };
    Uri(format!("file://{slash}{}", utf8_percent_encode(&text, KEPT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_bytes_or_utf_16_and_come_back() {
        let text = "a\u{1F600}é{x}\r\nsecond\rthird\n";
        for (encoding, character) in [(Encoding::Utf8, 7), (Encoding::Utf16, 4)] {
            let lines = Lines::of(text, encoding);
            let brace = text.find('{').expect("there");
            let position = lines.position(brace);
            assert_eq!((position.line, position.character), (0, character));
            for (offset, _) in
                text.char_indices().filter(|(at, _)| !text[..*at].ends_with('\r') || !text[*at..].starts_with('\n'))
            {
                assert_eq!(lines.offset(lines.position(offset)), offset, "{offset}");
            }
            let at = |line, character| lines.offset(Position { line, character });
            assert_eq!((at(1, 0), at(2, 0), at(3, 0), at(9, 9)), (12, 19, 25, text.len()));
            assert_eq!(at(0, 99), text.find('\r').expect("there"));
        }
        assert_eq!(Lines::of(text, Encoding::Utf16).offset(Position { line: 0, character: 2 }), 1);
    }

    #[test]
    fn a_file_has_one_address_and_comes_back_from_it() {
        for path in ["/a/b c/Größe & 日.json", "/tmp/x#y?.flow.md"] {
            assert_eq!(path_of(&uri_of(Path::new(path))).as_deref(), Some(Path::new(path)));
        }
        assert_eq!(path_of(&Uri("file:///c%3A/x.json".to_owned())), Some(PathBuf::from("c:/x.json")));
        assert_eq!(path_of(&Uri("git:/a/b.json".to_owned())), None);
    }
}
