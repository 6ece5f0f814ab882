//! Cutting a text into the pieces that no token crosses.
//!
//! The rules are those of the o200k split pattern: a word with at most one sign or blank before it
//! and a contraction behind it, up to three digits, a run of signs, a run of white space. A word ends
//! where lower case is followed by upper case. Letters without case (most scripts) go with both.

/// The first piece of a text that isn't empty, and what follows it.
pub(super) fn first(text: &str) -> (&str, &str) {
    let end = piece_end(text).max(1);
    text.split_at_checked(end).unwrap_or((text, ""))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceKind {
    Upper,
    Lower,
    Caseless,
    Number,
    LineEnd,
    Blank,
    Sign,
}

impl PieceKind {
    fn of(c: char) -> Self {
        // The letters of the most used scripts stand here, so that they need no table.
        match c {
            'a'..='z' | 'ß'..='ö' | '\u{3B1}'..='\u{3C9}' | '\u{430}'..='\u{45F}' => Self::Lower,
            'A'..='Z' | 'À'..='Ö' | '\u{400}'..='\u{42F}' => Self::Upper,
            '0'..='9' => Self::Number,
            '\r' | '\n' => Self::LineEnd,
            '\0'..='\x7F' => {
                if c.is_whitespace() {
                    Self::Blank
                } else {
                    Self::Sign
                }
            }
            '\u{4E00}'..='\u{9FFF}'
            | '\u{AC00}'..='\u{D7A3}'
            | '\u{3041}'..='\u{3096}'
            | '\u{30A1}'..='\u{30FA}'
            | '\u{620}'..='\u{65F}'
            | '\u{900}'..='\u{963}'
            | '\u{E01}'..='\u{E3A}'
            | '\u{E40}'..='\u{E4E}' => Self::Caseless,
            _ if c.is_whitespace() => Self::Blank,
            _ if c.is_numeric() => Self::Number,
            // What may continue an identifier and isn't a number is a letter or a mark, which is
            // what the pattern's classes are made of.
            _ if unicode_ident::is_xid_continue(c) => {
                if c.is_uppercase() {
                    Self::Upper
                } else if c.is_lowercase() {
                    Self::Lower
                } else {
                    Self::Caseless
                }
            }
            _ => Self::Sign,
        }
    }

    fn is_letter(self) -> bool {
        matches!(self, Self::Upper | Self::Lower | Self::Caseless)
    }
}

fn piece_end(text: &str) -> usize {
    let mut chars = text.chars();
    let Some(c) = chars.next() else { return 0 };
    let kind = PieceKind::of(c);
    let second = chars.next().map(PieceKind::of);
    if kind.is_letter() {
        return word_end(text, 0);
    }
    if kind == PieceKind::Number {
        return run_end(text, 0, 3, |kind| kind == PieceKind::Number);
    }
    let after = c.len_utf8();
    if kind != PieceKind::LineEnd && second.is_some_and(PieceKind::is_letter) {
        return word_end(text, after);
    }
    if kind == PieceKind::Sign || (c == ' ' && second == Some(PieceKind::Sign)) {
        let signs = run_end(text, after, usize::MAX, |kind| kind == PieceKind::Sign);
        return tail_end(text, signs);
    }
    blank_end(text)
}

/// The end of a word that begins at `start`, a contraction included.
fn word_end(text: &str, start: usize) -> usize {
    // Most words are a capital at most and small ASCII letters: their end needs no decoding.
    let bytes = text.as_bytes().get(start..).unwrap_or_default();
    let capital = usize::from(bytes.first().is_some_and(u8::is_ascii_uppercase));
    let small = bytes.iter().skip(capital).take_while(|byte| byte.is_ascii_lowercase()).count();
    let plain = start + capital + small;
    match bytes.get(capital + small) {
        Some(0x80..) => {}
        Some(b'\'') if small > 0 => return contraction_end(text, plain),
        _ if small > 0 => return plain,
        _ => {}
    }
    let mut end = start;
    let mut caseless_end = None;
    let mut lower = false;
    for (at, c) in text.get(start..).unwrap_or_default().char_indices() {
        match PieceKind::of(c) {
            // Upper case ends a word in which lower case has begun.
            PieceKind::Upper if lower => break,
            PieceKind::Upper => {}
            PieceKind::Lower => lower = true,
            PieceKind::Caseless => caseless_end = Some(start + at + c.len_utf8()),
            _ => break,
        }
        end = start + at + c.len_utf8();
    }
    // Upper case that no lower case follows is a piece of its own where caseless letters stand before it.
    if !lower {
        end = caseless_end.unwrap_or(end);
    }
    contraction_end(text, end)
}

fn contraction_end(text: &str, end: usize) -> usize {
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    let lower = |place: usize| rest.get(place).map_or(0, u8::to_ascii_lowercase);
    if rest.first() != Some(&b'\'') {
        return end;
    }
    match (lower(1), lower(2)) {
        (b's' | b't' | b'm' | b'd', _) => end + 2,
        (b'r' | b'v', b'e') | (b'l', b'l') => end + 3,
        _ => end,
    }
}

fn run_end(text: &str, start: usize, most: usize, belongs: impl Fn(PieceKind) -> bool) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    let run = rest.chars().take(most).take_while(|&c| belongs(PieceKind::of(c)));
    start + run.map(char::len_utf8).sum::<usize>()
}

/// Line ends and slashes that belong to a run of signs.
fn tail_end(text: &str, start: usize) -> usize {
    let rest = text.as_bytes().get(start..).unwrap_or_default();
    start + rest.iter().take_while(|byte| matches!(byte, b'\r' | b'\n' | b'/')).count()
}

/// A run of white space: up to its last line end if it has one, else without the last character where
/// something follows, which that character belongs to.
fn blank_end(text: &str) -> usize {
    let mut end = 0;
    let mut last = 0;
    let mut line_end = None;
    for (at, c) in text.char_indices() {
        match PieceKind::of(c) {
            PieceKind::LineEnd => line_end = Some(at + 1),
            PieceKind::Blank => {}
            _ => break,
        }
        last = at;
        end = at + c.len_utf8();
    }
    match line_end {
        Some(line_end) => line_end,
        None if end < text.len() && last > 0 => last,
        None => end,
    }
}
