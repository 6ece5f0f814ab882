//! Symbolic places in a document: JSON Pointers (RFC 6901), and which part of the member is meant.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// A JSON Pointer (RFC 6901): `/flows/0/nodes/2/id`; the empty text is the whole document.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Pointer(String);

impl Pointer {
    /// The whole document.
    pub fn root() -> Self {
        Self::default()
    }

    /// A pointer that is already spelt as RFC 6901 wants it.
    pub fn spelt(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The member `key` of the object this points at.
    #[must_use]
    pub fn key(&self, key: &str) -> Self {
        let mut text = String::with_capacity(self.0.len() + key.len() + 1);
        text.push_str(&self.0);
        text.push('/');
        for c in key.chars() {
            match c {
                '~' => text.push_str("~0"),
                '/' => text.push_str("~1"),
                c => text.push(c),
            }
        }
        Self(text)
    }

    /// The item at `index` of the array this points at.
    #[must_use]
    pub fn item(&self, index: usize) -> Self {
        Self(format!("{}/{index}", self.0))
    }

    /// The pointer as RFC 6901 spells it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The steps from the root, unescaped.
    pub fn steps(&self) -> impl Iterator<Item = String> + '_ {
        self.0.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"))
    }
}

impl From<String> for Pointer {
    /// A pointer that is already spelt as RFC 6901 wants it.
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Which part of a member is meant.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Part {
    /// The value.
    #[default]
    Value,
    /// The key in front of the value; for what has no key, the value.
    Key,
}

/// A place in a document, said symbolically: rules make these, one function resolves them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// Which member.
    pub pointer: Pointer,
    /// Its key or its value.
    pub part: Part,
    /// Bytes within the decoded text, where the value is a text and only a bit of it is meant.
    pub within: Option<(usize, usize)>,
}

impl Place {
    /// The value at `pointer`.
    pub fn value(pointer: Pointer) -> Self {
        Self { pointer, part: Part::Value, within: None }
    }

    /// The key at `pointer`.
    pub fn key(pointer: Pointer) -> Self {
        Self { pointer, part: Part::Key, within: None }
    }

    /// A bit of the text at `pointer`, in bytes of the decoded text.
    pub fn within(pointer: Pointer, bytes: Range<usize>) -> Self {
        Self { pointer, part: Part::Value, within: Some((bytes.start, bytes.end)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_escaped_and_come_back() {
        let pointer = Pointer::root().key("a/b").key("c~d").item(3);
        assert_eq!(pointer.as_str(), "/a~1b/c~0d/3");
        assert_eq!(pointer.steps().collect::<Vec<_>>(), ["a/b", "c~d", "3"]);
    }
}
