//! A file's text with positions: JSON, and YAML within Markdown, that remember where everything stands.
//!
//! This room turns bytes into a [`Document`] (strict JSON, a depth limit, repeated keys found,
//! numbers with their digits) and turns a [`Place`] ("the `target` of this edge") into a byte
//! range and a line and column. It changes a text where something is meant, and leaves the rest. It does not know
//! what a flow is.

mod edit;
mod json;
mod layout;
mod note;
mod pointer;
mod slips;
mod span;
mod tree;
mod written;
mod yaml;

pub use edit::{Edit, change, edited, spliced, without_trailing_commas};
pub use json::{Document, Duplicate, Hidden, MAX_NESTING, SyntaxKind, SyntaxProblem, value_as_written};
pub use layout::laid_out;
pub use note::{Note, NoteKind};
pub use pointer::{Part, Place, Pointer};
pub use slips::{merge_line, merge_line_in_text, unfinished_merge};
pub use span::{Locator, Position, STRICT, Span};
pub use tree::{Member, Style, Tree, TreeKind};
pub use written::{ValuesError, kind_of, read_values};
pub use yaml::{Yaml, YamlProblem};
