//! Where the next page begins, in a form that only the listing it came from accepts.
//!
//! A cursor is a row's place and a mark over everything that decides what the pages hold: the revision,
//! the mode, the filter and the order. It holds no names and can't be aimed at another
//! listing by mistake; it isn't a secret.

/// Why a cursor was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum CursorFault {
    /// It isn't one of ours, or was cut or changed on the way.
    #[error("it is not a cursor of this server, or it was changed")]
    Malformed,
    /// It belongs to another revision, mode, filter or order.
    #[error("it belongs to a listing with another revision, mode, filter or order")]
    Foreign,
}

/// Digits of the mark, of the place, and of the check over both.
const LENGTHS: (usize, usize, usize) = (16, 8, 4);

/// Collects what a listing is, one part after the other.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark(u64);

impl Mark {
    /// Changes when pages are cut or ordered differently, so that older cursors are refused.
    const ORDER: &'static str = "by name 1";

    pub(super) fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325).with(Self::ORDER)
    }

    /// Adds a part; parts don't run into each other. The hash is FNV-1a, 64 bits.
    pub(super) fn with(self, part: &str) -> Self {
        let length = (part.len() as u64).to_le_bytes();
        let bytes = length.iter().chain(part.as_bytes());
        Self(bytes.fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// Adds a number.
    pub(super) fn with_number(self, number: usize) -> Self {
        let bytes = (number as u64).to_le_bytes();
        Self(bytes.iter().fold(self.0, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)))
    }

    /// Adds a part that may be absent, which is not the same as an empty one.
    pub(super) fn with_maybe(self, part: Option<&str>) -> Self {
        match part {
            Some(part) => self.with("some").with(part),
            None => self.with("none"),
        }
    }

    /// Adds a list in which neither order nor repetition matters.
    pub(super) fn with_all(self, parts: &[String]) -> Self {
        let mut sorted: Vec<&str> = parts.iter().map(String::as_str).collect();
        sorted.sort_unstable();
        sorted.dedup();
        sorted.iter().fold(self.with(&sorted.len().to_string()), |mark, part| mark.with(part))
    }

    /// The cursor of a page that begins at `row`.
    pub(super) fn cursor(self, row: usize) -> String {
        let body = format!("{:016x}{row:08x}", self.0);
        format!("{body}{:04x}", check(&body))
    }

    /// The row at which a cursor of this listing begins.
    pub(super) fn row(self, cursor: &str) -> Result<usize, CursorFault> {
        let (mark, row, sum) = parts(cursor).ok_or(CursorFault::Malformed)?;
        if check(cursor.get(..LENGTHS.0 + LENGTHS.1).unwrap_or_default()) != sum {
            return Err(CursorFault::Malformed);
        }
        if mark == self.0 { Ok(row) } else { Err(CursorFault::Foreign) }
    }
}

fn parts(cursor: &str) -> Option<(u64, usize, u16)> {
    let (marks, rows, checks) = LENGTHS;
    let canonical = cursor.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
    if cursor.len() != marks + rows + checks || !canonical {
        return None;
    }
    let mark = u64::from_str_radix(cursor.get(..marks)?, 16).ok()?;
    let row = usize::from_str_radix(cursor.get(marks..marks + rows)?, 16).ok()?;
    let sum = u16::from_str_radix(cursor.get(marks + rows..)?, 16).ok()?;
    Some((mark, row, sum))
}

fn check(body: &str) -> u16 {
    let hash = Mark(0x6c62_272e_07bb_0142).with(body).0;
    ((hash ^ (hash >> 32)) & 0xFFFF) as u16
}
