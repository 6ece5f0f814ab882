//! Estimating how many o200k tokens a text is, by script.

/// The estimate, in tokens.
pub fn estimate(text: &str) -> usize {
    text.len().div_ceil(4)
}
