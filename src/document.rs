//! A file's text with positions: JSON that remembers where everything stands.
//!
//! This room turns bytes into a [`Document`] (strict JSON, a depth limit, repeated keys found,
//! numbers with their digits) and turns a [`Place`] ("the `target` of this edge") into a byte
//! range and a line and column. It does not know what a flow is.

mod json;
mod pointer;
mod slips;
mod span;

pub use json::{Document, Duplicate, Hidden, MAX_NESTING, SyntaxProblem};
pub use pointer::{Part, Place, Pointer};
pub use slips::merge_line;
pub use span::{Locator, Position, STRICT, Span};
