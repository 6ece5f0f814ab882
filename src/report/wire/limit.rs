//! How large a reply may be, and how large it is: in tokens, in characters, and in bytes of its message.

use serde::Serialize;

use crate::tokens;

/// How many estimated tokens a reply may have unless the caller says otherwise.
pub const MAX_TOKENS: usize = 20_000;
/// How many characters a failure may have unless the caller says otherwise: some clients cut
/// error results near 11,000.
pub const FAILURE_CHARACTERS: usize = 10_000;
/// The largest message to a client, in bytes: some refuse results from 1 MiB on.
pub const LARGEST_FRAME: usize = 1_000_000;
/// What a message has around its result, in bytes; ids and names of it are short.
const AROUND: usize = 4_096;

/// How often a reply travels in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Travels {
    /// As JSON: the result of a JSON-RPC method.
    Once,
    /// As JSON and as a text of that JSON: the result of a tool.
    Twice,
}

impl Travels {
    /// The bytes that a text of JSON takes in a message.
    pub fn bytes(self, json: &str) -> usize {
        match self {
            Self::Once => json.len(),
            Self::Twice => bytes_twice(json),
        }
    }

    /// How many bytes a reply may take.
    pub const fn room() -> usize {
        LARGEST_FRAME - AROUND
    }
}

/// How many bytes a reply takes as a tool's result.
pub(super) fn bytes_of(value: &impl Serialize) -> usize {
    JsonLength::of(value).twice()
}

/// Whether a reply can be sent as a tool's result.
pub fn frame_fits(value: &impl Serialize) -> bool {
    bytes_of(value) <= Travels::room()
}

/// Whether a text can be sent that travels once in its message, quoted: as a resource or a prompt.
pub fn text_fits(text: &str) -> bool {
    // Control characters take up to six bytes in JSON; everything else takes one more at most.
    let more: usize = text
        .bytes()
        .map(|byte| match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 1,
            0..0x20 => 5,
            _ => 0,
        })
        .sum();
    text.len().saturating_add(more) <= Travels::room()
}

fn bytes_twice(json: &str) -> usize {
    // In a text, quotation marks and backslashes take one byte more; nothing else is left to escape.
    let escapes = json.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count();
    json.len().saturating_mul(2).saturating_add(escapes)
}

/// What a reply may be at the most. The message that carries it is bounded in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(Size);

impl Limit {
    /// What a message may be, and nothing less.
    pub const FRAME: Self = Self(Size { characters: usize::MAX, bytes: Travels::room(), tokens: usize::MAX });

    /// So many estimated tokens.
    pub fn tokens(most: usize) -> Self {
        Self(Size { tokens: most, ..Self::FRAME.0 })
    }

    /// So many characters.
    pub fn characters(most: usize) -> Self {
        Self(Size { characters: most, ..Self::FRAME.0 })
    }

    /// How large a piece of JSON is, as far as this limit asks; tokens beyond it are not counted.
    pub(super) fn measure(&self, json: &str) -> Size {
        Size {
            characters: if self.0.characters == usize::MAX { 0 } else { json.chars().count() },
            bytes: bytes_twice(json),
            tokens: if self.0.tokens == usize::MAX { 0 } else { tokens::up_to(json, self.0.tokens) },
        }
    }

    pub(super) fn holds(&self, size: Size) -> bool {
        size.characters <= self.0.characters && size.bytes <= self.0.bytes && size.tokens <= self.0.tokens
    }

    pub(super) fn fits(&self, value: &impl Serialize) -> bool {
        self.fits_at_once(JsonLength::of(value)) || self.holds(self.measure(&json_of(value)))
    }

    /// Whether it is plain that a piece of JSON is within it: neither a token nor a character is
    /// shorter than a byte, so most replies need no more counting.
    fn fits_at_once(&self, counted: JsonLength) -> bool {
        counted.bytes <= self.0.tokens.min(self.0.characters) && counted.twice() <= self.0.bytes
    }
}

/// A value as JSON.
pub fn json_of(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// How long a value is as JSON, counted without writing it.
#[derive(Debug, Clone, Copy, Default)]
struct JsonLength {
    bytes: usize,
    /// Quotation marks and backslashes, which take one byte more in a text.
    escapes: usize,
}

impl JsonLength {
    fn of(value: &impl Serialize) -> Self {
        let mut counted = Self::default();
        // Neither the value nor the counter can refuse.
        let _ = serde_json::to_writer(&mut counted, value);
        counted
    }

    fn twice(self) -> usize {
        self.bytes.saturating_mul(2).saturating_add(self.escapes)
    }
}

impl std::io::Write for JsonLength {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes += bytes.len();
        self.escapes += bytes.iter().filter(|byte| matches!(byte, b'"' | b'\\')).count();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// How large a piece of a reply is, in each measure that a limit may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) characters: usize,
    pub(super) bytes: usize,
    pub(super) tokens: usize,
}

impl Size {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            characters: self.characters.saturating_add(other.characters),
            bytes: self.bytes.saturating_add(other.bytes),
            tokens: self.tokens.saturating_add(other.tokens),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_counted_is_what_is_written() {
        let deep =
            json!({"a \"b\" \\": [1.50, null, true, {"é": "\u{1}\n\u{1f600}"}], "n": 12_345_678_901_234_567_890_u64});
        for value in [json!(null), json!(""), json!("\"\\"), json!([]), deep] {
            let json = value.to_string();
            assert_eq!(json_of(&value), json);
            assert_eq!((JsonLength::of(&value).bytes, bytes_of(&value)), (json.len(), bytes_twice(&json)), "{json}");
        }
    }
}
