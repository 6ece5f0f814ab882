//! Brace groups that another template language would fill, and this one does not.

use std::collections::HashSet;
use std::ops::Range;

use super::{Group, LONGEST_GROUP, groups, named};
use crate::names::{unseen, variable_char};

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LookalikeKind {
    /// `{{name}}`: the value comes out in one pair of braces.
    Doubled,
    /// `{{ name }}`: it stays as it is.
    DoubledApart,
    /// `{ name }`: it stays as it is.
    Apart,
    /// `{name.two words}`: it stays as it is.
    Label,
    /// `${name}`: the value comes out behind the sign.
    Dollar,
    /// `{{name|upper}}`, `{name!r}`, `{{#name}}`, `{% if name %}`: it stays as it is.
    Directed,
    /// `{name` without a brace behind it: it stays as it is.
    Unclosed,
    /// Blanks that nobody sees within, or braces of another width: it stays as it is.
    Disguised,
    /// `$name` and `%name%`: it stays as it is.
    Signed,
    /// `[name]` and `<name>`: it stays as it is.
    Bracketed,
}

/// Elements of HTML whose names an input may have, too.
const ELEMENTS: [&str; 48] = [
    "a", "abbr", "address", "article", "aside", "b", "body", "button", "caption", "cite", "code", "col", "data",
    "details", "figure", "footer", "form", "head", "header", "i", "input", "label", "link", "main", "map", "mark",
    "menu", "meta", "object", "option", "output", "p", "picture", "q", "s", "script", "section", "select", "source",
    "style", "summary", "table", "template", "text", "time", "title", "u", "video",
];

/// Names between or behind signs with which other languages mark them, in order; links, elements of HTML, formulas
/// and places in lists are none.
pub fn signed(text: &str) -> Vec<Lookalike> {
    let name = |at: usize| text.get(at + 2..)?.split(|c: char| !variable_char(c)).next();
    let closed: HashSet<&str> = text.match_indices("</").filter_map(|(at, _)| name(at)).collect();
    let signs = text.match_indices(['$', '%', '[', '<']);
    let mut found: Vec<Lookalike> = signs.filter_map(|sign| of_sign(text, sign, &closed)).collect();
    let single = found.len();
    for (open, close, kind) in PAIRS {
        found.extend(text.match_indices(open).filter_map(|(start, _)| of_pair(text, start, (open, close, kind))));
    }
    if found.len() > single {
        found.sort_by_key(|one| one.range.start);
    }
    found
}

/// Signs of two characters or more around a name: Python's, those of pages that hold code, and guillemets of plain text.
const PAIRS: [(&str, &str, LookalikeKind); 3] =
    [("%(", ")s", LookalikeKind::Signed), ("<%=", "%>", LookalikeKind::Signed), ("<<", ">>", LookalikeKind::Bracketed)];

fn of_pair(text: &str, start: usize, (open, close, kind): (&str, &str, LookalikeKind)) -> Option<Lookalike> {
    let inside = text.get(start + open.len()..)?.trim_start_matches(' ');
    let end = inside.find(|c: char| !variable_char(c) && c != '.')?;
    let behind = inside.get(end..)?.trim_start_matches(' ').strip_prefix(close)?;
    let (name, path) = named(inside.get(..end)?)?;
    Some(Lookalike { range: start..text.len() - behind.len(), name, path, kind })
}

fn of_sign(text: &str, (start, sign): (usize, &str), closed: &HashSet<&str>) -> Option<Lookalike> {
    let inside = text.get(start + sign.len()..)?;
    let end = inside.find(|c: char| !variable_char(c) && c != '.').unwrap_or(inside.len());
    let written = inside.get(..end)?.trim_end_matches('.');
    let behind = inside.get(written.len()..)?;
    let before = text.get(..start)?.chars().next_back().unwrap_or(' ');
    let (name, path) = named(written).filter(|(name, _)| !name.starts_with(|c: char| c.is_numeric()))?;
    if before.is_alphanumeric() || matches!(before, '_' | '\\' | '$' | '%' | '[' | '<' | ']' | ')' | '!') {
        return None;
    }
    let (close, kind) = match sign {
        "$" => ("", LookalikeKind::Signed),
        "%" => ("%", LookalikeKind::Signed),
        "[" => ("]", LookalikeKind::Bracketed),
        _ => (">", LookalikeKind::Bracketed),
    };
    let next = behind.strip_prefix(close)?.chars().next().unwrap_or(' ');
    let fine = match sign {
        "$" => !matches!(next, '$' | '(' | '[' | '{' | '%'),
        "%" => !next.is_alphanumeric(),
        "[" => !matches!(next, '(' | '[' | ':' | '=') && name != "x" && name != "X",
        _ => !ELEMENTS.contains(&name.to_ascii_lowercase().as_str()) && !closed.contains(written),
    };
    let range = start..start + sign.len() + written.len() + close.len();
    fine.then_some(Lookalike { range, name, path, kind })
}

/// The lookalikes of a text, in order.
pub fn lookalikes(text: &str) -> Vec<Lookalike> {
    let mut found: Vec<Lookalike> = groups(text).flat_map(|group| of_group(text, group)).collect();
    let braced = found.len();
    found.extend(unclosed(text));
    found.extend(wide(text));
    if found.len() > braced {
        found.sort_by_key(|one| one.range.start);
    }
    found
}

fn of_group(text: &str, group: Group<'_>) -> Vec<Lookalike> {
    let plain = group.inside.trim_matches([' ', '\t']);
    let one = |range: Range<usize>, kind: LookalikeKind, written: &str| {
        named(written).map(|(name, path)| Lookalike { range, name, path, kind })
    };
    let range = group.range;
    let kind = match (group.doubled, plain.len() < group.inside.len()) {
        (true, false) => LookalikeKind::Doubled,
        (true, true) => LookalikeKind::DoubledApart,
        (false, true) => LookalikeKind::Apart,
        (false, false) => LookalikeKind::Dollar,
    };
    let before = text.get(..range.start).unwrap_or_default();
    if kind == LookalikeKind::Dollar && !plain.contains(blank_or_unseen) {
        if let Some(before) = before.strip_suffix('$').filter(|before| !before.ends_with(['\\', '$'])) {
            return one(before.len()..range.end, kind, plain).into_iter().collect();
        }
    } else if let Some(found) = one(range.clone(), kind, plain) {
        return vec![found];
    }
    if plain.len() > LONGEST_GROUP {
        return Vec::new();
    }
    if plain.contains(blank_or_unseen) {
        let written: String = plain.chars().filter(|c| !blank_or_unseen(*c)).collect();
        return one(range, LookalikeKind::Disguised, written.trim()).into_iter().collect();
    }
    let names = directed(plain, group.doubled).into_iter();
    let found: Vec<Lookalike> = names.filter_map(|name| one(range.clone(), LookalikeKind::Directed, name)).collect();
    // A name and a path are taken by now.
    if found.is_empty() && kind == LookalikeKind::Dollar { label(range, plain).into_iter().collect() } else { found }
}

/// The names in a group that tells another language what to do with them.
fn directed(plain: &str, doubled: bool) -> Vec<&str> {
    let statement = plain.len() > 2 && plain.starts_with('%') && plain.ends_with('%');
    if statement || doubled && plain.starts_with(['#', '/', '^', '&', '~', '>']) {
        let words = plain.split(|c: char| !variable_char(c) && c != '.');
        return words.map(|word| word.trim_matches('-')).filter(|word| !word.is_empty()).collect();
    }
    let end = plain.find(|c: char| !variable_char(c) && c != '.').unwrap_or(plain.len());
    let (Some(name), Some(rest)) = (plain.get(..end), plain.get(end..)) else { return Vec::new() };
    let behind = rest.trim_start();
    let conversion = rest.strip_prefix('!').is_some_and(|rest| rest.chars().count() <= 1 && rest.is_ascii());
    let optional = rest == "?";
    let filter = behind.starts_with('|') && !behind.starts_with("||");
    let called = doubled && behind.starts_with(['|', ':', '?', '(']);
    let otherwise = doubled && ["or ", "if ", "and "].iter().any(|word| behind.starts_with(word));
    if !name.is_empty() && (conversion || optional || filter || called || otherwise) { vec![name] } else { Vec::new() }
}

/// A character that looks like nothing, or like a blank that it is not.
fn blank_or_unseen(c: char) -> bool {
    unseen(c) || (!c.is_ascii() && c.is_whitespace())
}

/// Braces that open before a name and that no other brace follows.
fn unclosed(text: &str) -> impl Iterator<Item = Lookalike> + '_ {
    text.match_indices('{').filter_map(move |(start, _)| {
        let rest = text.get(start + 1..)?;
        let end = rest.find(|c: char| !variable_char(c) && c != '.').unwrap_or(rest.len());
        let written = rest.get(..end)?.trim_end_matches('.');
        let behind = rest.get(end..)?;
        let next = behind.chars().next().unwrap_or('\n');
        let ends = next.is_whitespace() || matches!(next, ')' | ']' | ',' | ';' | '!' | '?' | '\u{FF5D}' | '>');
        let until = behind.find(['{', '}', '\n']).and_then(|at| behind.get(at..));
        let open = ends && !until.is_some_and(|brace| brace.starts_with('}'));
        let (name, path) = named(written).filter(|_| open)?;
        Some(Lookalike { range: start..start + 1 + written.len(), name, path, kind: LookalikeKind::Unclosed })
    })
}

/// Names between braces of full width.
fn wide(text: &str) -> impl Iterator<Item = Lookalike> + '_ {
    text.match_indices('\u{FF5B}').filter_map(move |(start, brace)| {
        let rest = text.get(start + brace.len()..)?;
        let end = rest.find(|c: char| !variable_char(c) && c != '.' && c != ' ')?;
        let close = rest.get(end..)?.chars().next().filter(|c| matches!(c, '}' | '\u{FF5D}'))?;
        let (name, path) = named(rest.get(..end)?.trim())?;
        let range = start..start + brace.len() + end + close.len_utf8();
        Some(Lookalike { range, name, path, kind: LookalikeKind::Disguised })
    })
}

/// A name with a path that is spelt as a label is: with blanks and signs.
fn label(range: Range<usize>, inside: &str) -> Option<Lookalike> {
    let (name, label) = inside.split_once('.')?;
    let begins = label.starts_with(|c: char| c.is_alphanumeric() || c == '_');
    if !begins || label.contains('\n') || named(inside).is_some() {
        return None;
    }
    let (name, _) = named(name)?;
    Some(Lookalike { range, name, path: vec![label.to_owned()], kind: LookalikeKind::Label })
}

#[cfg(test)]
mod tests {
    use super::LookalikeKind::{Directed, Disguised, Dollar, Unclosed};
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
        let text = "${a} \\${b} {{c|upper}} {d|x} {e!r} {p?} {{#f}} {{g or 'x'}} {h\u{200B}} \u{FF5B}i\u{FF5D} {j) {k: 1} {l,m} {n:1} {o";
        let found = lookalikes(text);
        let told: Vec<_> = found.iter().map(|one| (&*one.name, one.kind)).collect();
        let directed = ["c", "d", "e", "p", "f", "g"].map(|name| (name, Directed));
        let expected =
            [&[("a", Dollar)][..], &directed, &[("h", Disguised), ("i", Disguised), ("j", Unclosed), ("o", Unclosed)]];
        assert_eq!(told, expected.concat());
        let jinja = lookalikes("{% for one in rows %}");
        assert!(jinja.iter().any(|one| one.name == "rows") && jinja.iter().all(|one| one.kind == Directed));
    }
}
