//! Brace groups that another template language would fill, and this one does not.

use std::ops::Range;

use super::{Group, groups, named};

/// A brace group that looks like a placeholder and is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookalike {
    /// The bytes it takes in the text, braces included.
    pub range: Range<usize>,
    /// Name and path between the braces, in NFC.
    pub name: String,
    /// The dot path after the name; of a label one piece, as it is written.
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
    /// `{name.two words}`: it stays as it is.
    Label,
}

/// The lookalikes of a text, in order.
pub fn lookalikes(text: &str) -> Vec<Lookalike> {
    let of = |group: Group<'_>| {
        let plain = group.inside.trim_matches([' ', '\t']);
        let kind = match (group.doubled, plain.len() < group.inside.len()) {
            (true, false) => LookalikeKind::Doubled,
            (true, true) => LookalikeKind::DoubledApart,
            (false, true) => LookalikeKind::Apart,
            (false, false) => return label(group),
        };
        named(plain).map(|(name, path)| Lookalike { range: group.range, name, path, kind })
    };
    groups(text).filter_map(of).collect()
}

/// A name with a path that is spelt as a label is: with blanks and signs.
fn label(group: Group<'_>) -> Option<Lookalike> {
    let (name, label) = group.inside.split_once('.')?;
    let begins = label.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if !begins || label.contains('\n') || named(group.inside).is_some() {
        return None;
    }
    let (name, _) = named(name)?;
    Some(Lookalike { range: group.range, name, path: vec![label.to_owned()], kind: LookalikeKind::Label })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_of_other_languages_are_found_and_placeholders_are_not() {
        let text = "{a} {{b}} {{ c.d }} { e } {{{f}}} { g h } {} {{}} {\n i } {j.two words} {k_result.two words}";
        let found = lookalikes(text);
        let told: Vec<_> = found.iter().map(|one| (&text[one.range.clone()], one.kind)).collect();
        assert_eq!(
            told,
            [
                ("{{b}}", LookalikeKind::Doubled),
                ("{{ c.d }}", LookalikeKind::DoubledApart),
                ("{ e }", LookalikeKind::Apart),
                ("{{f}}", LookalikeKind::Doubled),
                ("{j.two words}", LookalikeKind::Label),
            ]
        );
    }
}
