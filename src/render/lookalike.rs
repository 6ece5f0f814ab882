//! Brace groups that another template language would fill, and this one does not.

use std::ops::Range;

use super::{LONGEST_GROUP, named};

/// A brace group that looks like a placeholder and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookalike {
    /// The bytes it takes in the text, braces included.
    pub range: Range<usize>,
    /// Name and path between the braces, in NFC.
    pub name: String,
    /// The dot path after the name.
    pub path: Vec<String>,
    /// What it looks like.
    pub kind: LookalikeKind,
}

/// What such a brace group looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LookalikeKind {
    /// `{{name}}`: the value comes out in one pair of braces.
    Doubled,
    /// `{{ name }}`: it stays as it is.
    DoubledApart,
    /// `{ name }`: it stays as it is.
    Apart,
}

/// The lookalikes of a text, in order.
pub fn lookalikes(text: &str) -> Vec<Lookalike> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut open = None;
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'{' => open = Some(at),
            b'}' => {
                let Some(start) = open.take() else { continue };
                let inside = text.get(start + 1..at).unwrap_or_default();
                if inside.len() > LONGEST_GROUP {
                    continue;
                }
                let doubled = start > 0 && bytes.get(start - 1) == Some(&b'{') && bytes.get(at + 1) == Some(&b'}');
                let plain = inside.trim_matches([' ', '\t']);
                let kind = match (doubled, plain.len() < inside.len()) {
                    (true, false) => LookalikeKind::Doubled,
                    (true, true) => LookalikeKind::DoubledApart,
                    (false, true) => LookalikeKind::Apart,
                    (false, false) => continue,
                };
                let range = if doubled { start - 1..at + 2 } else { start..at + 1 };
                if let Some((name, path)) = named(plain) {
                    found.push(Lookalike { range, name, path, kind });
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_of_other_languages_are_found_and_placeholders_are_not() {
        let text = "{a} {{b}} {{ c.d }} { e } {{{f}}} { g h } {} {{}} {\n i }";
        let found = lookalikes(text);
        let told: Vec<_> = found.iter().map(|one| (&text[one.range.clone()], one.kind)).collect();
        assert_eq!(
            told,
            [
                ("{{b}}", LookalikeKind::Doubled),
                ("{{ c.d }}", LookalikeKind::DoubledApart),
                ("{ e }", LookalikeKind::Apart),
                ("{{f}}", LookalikeKind::Doubled),
            ]
        );
    }
}
