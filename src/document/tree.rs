//! A value with the places of all its parts, for files that are written otherwise than as JSON.
//!
//! What reads such a file makes a tree of the shape that JSON would have; the value comes of it, and so do
//! the places that a [`Locator`](super::Locator) looks up.

use serde_json::{Map, Value};

use super::Span;
use super::span::{SpanNode, SpanNodeKind};

/// A value and where it is written.
#[derive(Debug, Clone)]
pub struct Tree {
    /// Where.
    pub span: Span,
    /// What.
    pub kind: TreeKind,
}

/// What a [`Tree`] is.
#[derive(Debug, Clone)]
pub enum TreeKind {
    /// An object; of members with one key the last counts.
    Map(Vec<Member>),
    /// A list.
    List(Vec<Tree>),
    /// Anything else, and how it is written.
    Scalar(Value, Style),
}

/// A member of an object.
#[derive(Debug, Clone)]
pub struct Member {
    /// Its key.
    pub key: String,
    /// Where the key is written.
    pub at: Span,
    /// Its value.
    pub tree: Tree,
}

/// How a text is written, which says where its parts stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// Nothing is written there: the value is absent.
    Empty,
    /// As it is, but for line ends and hidden characters; in YAML, lines that are joined by a blank.
    Plain,
    /// YAML's single quotation marks.
    Single,
    /// YAML's double quotation marks, with escapes.
    Double,
    /// YAML's blocks of indented lines.
    Block,
    /// The tree is made of something else than a written value.
    Made,
}

impl Tree {
    /// An object.
    pub fn map(span: Span, members: Vec<Member>) -> Self {
        Self { span, kind: TreeKind::Map(members) }
    }

    /// A list.
    pub fn list(span: Span, items: Vec<Self>) -> Self {
        Self { span, kind: TreeKind::List(items) }
    }

    /// A text that stands as it is.
    pub fn text(span: Span, text: impl Into<String>) -> Self {
        Self { span, kind: TreeKind::Scalar(Value::String(text.into()), Style::Plain) }
    }

    /// A text that is not written anywhere; the place is what it is made of.
    pub fn made(span: Span, text: impl Into<String>) -> Self {
        Self { span, kind: TreeKind::Scalar(Value::String(text.into()), Style::Made) }
    }

    /// Whether nothing is written there.
    pub fn is_empty(&self) -> bool {
        matches!(self.kind, TreeKind::Scalar(_, Style::Empty))
    }

    /// The text, where it is one.
    pub fn as_text(&self) -> Option<&str> {
        match &self.kind {
            TreeKind::Scalar(value, _) => value.as_str(),
            TreeKind::Map(_) | TreeKind::List(_) => None,
        }
    }

    /// The value.
    pub fn into_value(self) -> Value {
        match self.kind {
            TreeKind::Scalar(value, _) => value,
            TreeKind::List(items) => Value::Array(items.into_iter().map(Self::into_value).collect()),
            TreeKind::Map(members) => {
                let mut map = Map::with_capacity(members.len());
                for member in members {
                    map.insert(member.key, member.tree.into_value());
                }
                Value::Object(map)
            }
        }
    }

    /// The places alone.
    pub(super) fn into_spans(self) -> SpanNode {
        let kind = match self.kind {
            TreeKind::Map(members) => SpanNodeKind::Object(
                members.into_iter().map(|member| (member.key, (member.at, member.tree.into_spans()))).collect(),
            ),
            TreeKind::List(items) => SpanNodeKind::Array(items.into_iter().map(Self::into_spans).collect()),
            TreeKind::Scalar(Value::String(text), style) if style != Style::Made => SpanNodeKind::Written(text, style),
            TreeKind::Scalar(..) => SpanNodeKind::Other,
        };
        SpanNode { span: self.span, kind }
    }
}

impl Member {
    /// A member whose key and value are made of one place.
    pub fn new(key: &str, at: Span, tree: Tree) -> Self {
        Self { key: key.to_owned(), at, tree }
    }
}

/// Where the characters of a text stand in what is written: pairs of bytes of both, each where a stretch
/// begins that is written as it reads. The text may lack what is written (hidden characters, line ends).
pub(super) fn pieces(raw: &str, text: &str, style: Style) -> Vec<(usize, usize)> {
    let bytes = raw.as_bytes();
    let indent = if style == Style::Block { indentation(raw) } else { 0 };
    let mut found = Vec::new();
    let (mut at, mut expected) = (usize::from(matches!(style, Style::Single | Style::Double)), usize::MAX);
    let mut read = 0;
    for c in text.chars() {
        let written = loop {
            let Some(rest) = raw.get(at..).filter(|rest| !rest.is_empty()) else { break None };
            if style == Style::Double && rest.starts_with('\\') {
                let length = match bytes.get(at + 1) {
                    Some(b'x') => 4,
                    Some(b'u') => 6,
                    Some(b'U') => 10,
                    // A line break that is escaped is none.
                    Some(b'\n' | b'\r') => {
                        at += 1 + rest.get(1..).map_or(0, |rest| rest.len() - rest.trim_start().len());
                        continue;
                    }
                    _ => 2,
                };
                break Some((at, length));
            }
            if style == Style::Single && rest.starts_with("''") {
                break Some((at, 2));
            }
            let next = rest.chars().next().unwrap_or_default();
            let line_end = next == '\n' && (c == '\n' || c == ' ' && style != Style::Made);
            if next == c || line_end {
                break Some((at, next.len_utf8()));
            }
            at += next.len_utf8();
        };
        let Some((start, length)) = written else { break };
        if start != expected {
            found.push((read, start));
        }
        at = start + length;
        // Only what is as long as it reads goes on the stretch.
        expected = if length == c.len_utf8() { at } else { usize::MAX };
        read += c.len_utf8();
        if bytes.get(at.wrapping_sub(1)) == Some(&b'\n') && style == Style::Block {
            let blanks = raw.get(at..).map_or(0, |rest| rest.len() - rest.trim_start_matches(' ').len());
            at += blanks.min(indent);
        } else if c == ' ' && bytes.get(start) == Some(&b'\n') {
            at += raw.get(at..).map_or(0, |rest| rest.len() - rest.trim_start().len());
        }
    }
    found.push((read, at.min(raw.len())));
    found
}

/// How far the lines after the first are indented; what is written of the first begins behind that.
fn indentation(raw: &str) -> usize {
    let later = raw.lines().skip(1).filter(|line| !line.trim().is_empty());
    later.map(|line| line.len() - line.trim_start_matches(' ').len()).min().unwrap_or(0)
}
