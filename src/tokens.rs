//! Estimating how many o200k tokens a text is, without carrying the tokenizer.
//!
//! The tokenizer needs every token's bytes and rank: megabytes of program and a slow first call. A budget needs neither,
//! so this room keeps 16 bits per token (`vocabulary.rs`, half a megabyte) and cuts texts into the same pieces
//! as the tokenizer does, by script, case, digits, signs and white space (`pieces.rs`). It
//! knows nothing of flows, JSON or budgets.
//!
//! How good it is: pieces that are one token, which is most of English, code and JSON, are counted as they are.
//! Pieces that are split (long or rare words, scripts without blanks) are split by longest match, which differs from
//! the tokenizer's merges by a few per cent either way; an allowance by script lifts the estimate above that. Texts of
//! 100 tokens and more in the scripts of the tests are 0–15 % above the true count; of interface texts in
//! twenty-three languages one excerpt of some 120 tokens in two hundred left that band, and of 50 tokens one or two in a
//! hundred, by a few per cent, most often in Finnish, Turkish and German, whose words are the longest. Made-up words,
//! random letters and base64 may be a fifth off. Other vocabularies than o200k count differently.

mod pieces;
mod vocabulary;

/// Of the tokens of split words in Latin script, signs and digits, one in this many is added.
const LATIN_SHARE: usize = 8;
/// Of the tokens of split pieces in all other scripts, one in this many is added.
const OTHER_SHARE: usize = 10;

/// How many o200k tokens a text is, estimated: the same for equal texts, in time linear in its length.
///
/// Meant to be 0–15 % above the true count for realistic text of 20 tokens and more; the module's
/// page says where that can't be kept. An empty text is 0, any other at least 1. The estimates of parts
/// add up to no less than their whole's, but for a few tokens where a word is cut in two.
pub fn estimate(text: &str) -> usize {
    up_to(text, usize::MAX)
}

/// The estimate where it is at most `most`, else any number above that: of a text that is too long
/// no more is read than it takes to know.
pub fn up_to(text: &str, most: usize) -> usize {
    let mut rest = text;
    let (mut whole, mut latin, mut other): (usize, usize, usize) = (0, 0, 0);
    let mut so_far = 0;
    while !rest.is_empty() && so_far <= most {
        let (piece, after) = pieces::first(rest);
        rest = after;
        match vocabulary::tokens(piece.as_bytes(), most) {
            1 => whole += 1,
            several if is_latin(piece) => latin += several,
            several => other += several,
        }
        so_far = whole + latin + latin.div_ceil(LATIN_SHARE) + other + other.div_ceil(OTHER_SHARE);
    }
    so_far
}

/// Whether a piece is in Latin script or has no letters: told by its second byte, because the first may be a blank.
fn is_latin(piece: &str) -> bool {
    // U+024F, the last letter of Latin Extended-B, begins with 0xC9.
    piece.as_bytes().get(1).is_none_or(|&byte| byte <= 0xC9)
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
