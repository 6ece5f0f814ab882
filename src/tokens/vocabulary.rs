//! Which byte strings are tokens: 16 bits of a hash for each, in `o200k.bin`.
//!
//! The file is a cuckoo filter: it answers "is this a token" with two looks at eight bytes each, and says yes where it
//! should say no about once in ten thousand times, which an estimate can bear. It is made from the published
//! o200k vocabulary (`tiktoken`, MIT licence); a test makes it again and compares.

/// [`BUCKETS`] buckets of four fingerprints, little-endian; zero is an empty place.
static TABLE: &[u8; 8 * BUCKETS] = include_bytes!("o200k.bin");

/// How many buckets there are: a power of two, so that three of four places are taken.
pub(super) const BUCKETS: usize = 1 << 16;
/// The longest token there is, in bytes: runs of one sign or blank.
pub(super) const LONGEST: usize = 128;
/// How far a text that isn't such a run is searched for its longest token, in bytes.
const LONGEST_WORD: usize = 32;
/// The same in a script of three bytes a letter.
const LONGEST_WIDE: usize = 24;

/// How many tokens a piece is: one where it is a token, else as many as the longest ones from its beginning
/// are, one after the other. A single byte always is one. Beyond `most` it is any number above that.
pub(super) fn tokens(piece: &[u8], most: usize) -> usize {
    if piece.len() <= LONGEST && is_token(piece) {
        return 1;
    }
    let mut rest = piece;
    let mut count = 0;
    // In a long run every place looks like the one before, and so does its token.
    let mut before: (&[u8], usize) = (&[], 0);
    while !rest.is_empty() && count <= most {
        let ahead = rest.get(..LONGEST).unwrap_or(rest);
        if before.0 != ahead {
            before = (ahead, longest(ahead));
        }
        rest = rest.get(before.1..).unwrap_or_default();
        count += 1;
    }
    count
}

fn is_token(bytes: &[u8]) -> bool {
    bytes.len() == 1 || holds(bytes.iter().fold(Hash::NEW, |hash, byte| hash.with(*byte)))
}

/// The length of the longest token that a text begins with.
///
/// Almost every token ends where a letter does, so only those ends are tried, and the ends within a
/// letter where none of them fits.
fn longest(bytes: &[u8]) -> usize {
    let most = match bytes {
        [lead, ..] if *lead >= 0xE0 => LONGEST_WIDE,
        [a, b, ..] if a == b => LONGEST,
        _ => LONGEST_WORD,
    };
    let bytes = bytes.get(..most).unwrap_or(bytes);
    longest_end(bytes, |next| !continues(next)).or_else(|| longest_end(bytes, continues)).unwrap_or(1)
}

/// The longest token of two bytes or more whose following byte is as asked; the end counts as a letter's.
fn longest_end(bytes: &[u8], wanted: impl Fn(u8) -> bool) -> Option<usize> {
    let mut hash = Hash::NEW;
    let mut found = None;
    let following = bytes.iter().skip(1).copied().chain([0]);
    for (place, (byte, next)) in bytes.iter().zip(following).enumerate() {
        hash = hash.with(*byte);
        if place > 0 && wanted(next) && holds(hash) {
            found = Some(place + 1);
        }
    }
    found
}

/// Whether a byte goes on with a letter that began before it.
fn continues(byte: u8) -> bool {
    byte & 0xC0 == 0x80
}

/// FNV-1a, spread over all bits at the end.
#[derive(Clone, Copy)]
pub(super) struct Hash(u64);

impl Hash {
    pub(super) const NEW: Self = Self(0xcbf2_9ce4_8422_2325);

    pub(super) fn with(self, byte: u8) -> Self {
        Self((self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }

    /// The first bucket a token may be in, and what is kept of it, which is never zero.
    pub(super) fn place(self) -> (usize, u16) {
        let spread = (self.0 ^ (self.0 >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let [a, b, c, d, ..] = spread.to_be_bytes();
        (usize::from(u16::from_be_bytes([a, b])), u16::from_be_bytes([c, d]).max(1))
    }
}

/// The other bucket a token may be in: the same step leads back.
pub(super) fn other(bucket: usize, fingerprint: u16) -> usize {
    bucket ^ usize::from(fingerprint.wrapping_mul(0x9E3B) | 1)
}

fn holds(hash: Hash) -> bool {
    let (bucket, fingerprint) = hash.place();
    bucket_holds(bucket, fingerprint) || bucket_holds(other(bucket, fingerprint), fingerprint)
}

fn bucket_holds(bucket: usize, fingerprint: u16) -> bool {
    let Some(eight) = TABLE.get(8 * bucket..).and_then(<[u8]>::first_chunk::<8>) else { return false };
    // All four places at once: a place that equals the fingerprint becomes zero, and only the lowest
    // zero's borrow can reach its own top bit.
    let differing = u64::from_le_bytes(*eight) ^ (u64::from(fingerprint) * 0x0001_0001_0001_0001);
    differing.wrapping_sub(0x0001_0001_0001_0001) & !differing & 0x8000_8000_8000_8000 != 0
}

/// The bytes as they are stored.
#[cfg(test)]
pub(super) fn table() -> &'static [u8] {
    TABLE
}
