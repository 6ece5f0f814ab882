//! What holds for any bytes, one function for each law. Fuzzing looks for bytes that break one;
//! `cargo test` runs the same functions over the bytes that are kept in `fuzz/kept`.
//!
//! That nothing panics is the least of it: equal bytes give equal answers, places lie in the text they
//! are about, what is written can be read again, and what is damaged is an error.

#![allow(dead_code, reason = "a target uses one law, and the tests use all")]

mod documents;
mod lists;
mod logs;
mod streams;
mod texts;

pub use documents::{checker, reader};
pub use lists::cursors;
pub use logs::entries;
pub use streams::lines;
pub use texts::rendering;

/// Parts of an input, which a NUL byte keeps apart: it stands in no text that is worth a try.
fn parts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0)
}
