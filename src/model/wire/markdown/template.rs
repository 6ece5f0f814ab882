//! `templates/*.md`: a text, with a front matter where there is something to say of it.

use super::{
    BadYaml, Written, as_text, as_texts, commas, cut_off, mapping, misspelt, scan, sets, slips_in_braces, variables,
};
use crate::document::{Member, Note, NoteKind, Span, SyntaxKind, Tree};
use crate::names::legible;

/// The keys of a template's front matter, in the order in which they are laid out.
pub(super) const KEYS: [&str; 11] = [
    "$schema",
    "id",
    "title",
    "description",
    "tags",
    "version",
    "variables",
    "sets",
    "literal",
    "x-flowy-ignore",
    "text",
];

/// Those of them that no other front matter has.
pub(super) const OWN: [&str; 4] = ["variables", "sets", "literal", "x-flowy-ignore"];

/// Reads a template.
pub(super) fn read(text: &str) -> Result<Written, BadYaml> {
    let (front, body) = scan::front_matter(text)?;
    let (mut duplicates, mut notes, mut members) = (Vec::new(), Vec::new(), Vec::new());
    let mut own_text = None;
    if let Some(front) = front {
        for member in mapping(SyntaxKind::FrontMatter, text, front, &mut duplicates)? {
            let Member { key, at, tree } = member;
            if tree.is_empty() {
                continue;
            }
            if key != "x-flowy-ignore" {
                slips_in_braces(text, &tree, false, &mut notes);
            }
            let new = |name: &str, tree: Tree| Member::new(name, at, tree);
            match key.as_str() {
                "id" | "title" | "description" | "version" => {
                    let member = new(&key, as_text(text, tree));
                    notes.extend(cut_off(text, &member));
                    members.push(member);
                }
                "tags" | "literal" => {
                    notes.extend(commas(&key, &tree));
                    members.push(new(&key, as_texts(text, tree)));
                }
                "variables" => members.push(new("variables", variables(text, tree))),
                "sets" => members.push(new("variableValueSets", sets(tree))),
                "text" => own_text = Some(new("template", as_text(text, tree))),
                "x-flowy-ignore" => members.push(new(&key, tree)),
                "$schema" => {}
                _ => notes.push(misspelt(&new(&key, tree), &KEYS, "")),
            }
        }
    }
    let end = text.len();
    let content = text.get(body..end).unwrap_or_default();
    let end = if own_text.is_some() { body } else { body + without_last_line_end(content).len() };
    if let Some(member) = own_text {
        if !content.trim().is_empty() {
            let span = scan::without_blank_lines(text, body..text.len());
            let first = text.get(span.clone()).and_then(|text| text.lines().next()).map_or(0, str::len);
            let message = "nobody reads the text after the front matter: `text` stands for it".to_owned();
            let hint = "keep one of the two".to_owned();
            let span = Span { start: span.start, end: span.start + first };
            notes.push(Note::new(NoteKind::Misspelt, span, message, hint));
        }
        members.push(member);
    } else {
        if content.contains("<!--") {
            notes.extend(comments(&scan::body(text, body).comments, 0, text.len()));
        }
        let span = Span { start: body, end };
        let content = text.get(body..end).unwrap_or_default();
        members.push(Member::new("template", span, Tree::text(span, read_as(content))));
    }
    Ok(Written { tree: Tree::map(Span { start: 0, end: text.len() }, members), duplicates, notes })
}

/// A text as it is read: plain line ends, no hidden characters.
pub(super) fn read_as(text: &str) -> String {
    let text = legible(text);
    if text.contains('\r') { text.replace("\r\n", "\n") } else { text.into_owned() }
}

fn without_last_line_end(text: &str) -> &str {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.strip_suffix('\r').unwrap_or(text)
}

/// What is said of comments of HTML in a text: the page does not show them, and a model reads them.
pub(super) fn comments(found: &[Span], from: usize, to: usize) -> impl Iterator<Item = Note> {
    let first = found.partition_point(|span| span.start < from);
    let begun = found.iter().skip(first).take_while(move |span| span.start < to);
    begun.filter(move |span| span.end <= to).map(|span| {
        let message = "a comment of HTML is part of the text: a page does not show it, and a model reads it";
        let hint = "delete it, or write it before the first step";
        Note::new(NoteKind::Comment, *span, message.to_owned(), hint.to_owned())
    })
}
