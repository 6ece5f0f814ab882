//! Changing a JSON text where something is meant, and nowhere else: every other byte stays.

use std::collections::BTreeMap;
use std::ops::Range;

use jsonc_parser::ast::{Object, Value as Ast};
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::span::{STRICT, parse_ast};
use super::{Pointer, Span};

/// One change of a document, said by what it changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Edit {
    /// Another value in the place of a value.
    Set(Pointer, Value),
    /// A member of an object or an item of a list goes, with its comma.
    Remove(Pointer),
    /// A text becomes the first member of an object.
    Insert(Pointer, String, String),
}

/// What one change does to a text: the bytes that go, and what comes in their place.
pub fn change(text: &str, edit: &Edit) -> Option<(Range<usize>, String)> {
    changes(text, std::slice::from_ref(edit))?.into_iter().next()
}

/// A text with changes; none where it is no JSON, or one of them means nothing in it.
pub fn edited(text: &str, edits: &[Edit]) -> Option<String> {
    spliced(text, changes(text, edits)?)
}

/// A text in which bytes are replaced; the changes are in the order of the text.
pub fn spliced(text: &str, changes: Vec<(Range<usize>, String)>) -> Option<String> {
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (range, new) in changes {
        // Within what goes as a whole nothing is changed.
        if range.start < at {
            continue;
        }
        out.push_str(text.get(at..range.start)?);
        out.push_str(&new);
        at = range.end;
    }
    out.push_str(text.get(at..)?);
    Some(out)
}

/// The bytes that go and what comes in their place, in the order of the text.
fn changes(text: &str, edits: &[Edit]) -> Option<Vec<(Range<usize>, String)>> {
    let ast = parse_ast(text).ok().flatten()?;
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    // What goes from one object or list goes together: its commas are shared.
    let mut gone: BTreeMap<usize, (Vec<Range<usize>>, Vec<usize>)> = BTreeMap::new();
    for edit in edits {
        match edit {
            Edit::Set(pointer, value) => {
                let found = find(&ast, pointer)?;
                changes.push((found.value.start()..found.value.end(), value.to_string()));
            }
            Edit::Remove(pointer) => {
                let (start, items, place) = find(&ast, pointer)?.place?;
                gone.entry(start).or_insert_with(|| (items, Vec::new())).1.push(place);
            }
            Edit::Insert(pointer, key, value) => {
                let Ast::Object(object) = find(&ast, pointer)?.value else { return None };
                changes.push(insertion(text, object, key, value));
            }
        }
    }
    for (items, mut places) in gone.into_values() {
        places.sort_unstable();
        places.dedup();
        changes.extend(removals(&items, &places).into_iter().map(|range| (range, String::new())));
    }
    changes.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
    Some(changes)
}

/// A value that was found: itself, and where it stands among its neighbours.
struct Found<'a, 't> {
    value: &'a Ast<'t>,
    /// Where the object or list begins, all that it holds, and the place in it.
    place: Option<(usize, Vec<Range<usize>>, usize)>,
}

fn find<'a, 't>(root: &'a Ast<'t>, pointer: &Pointer) -> Option<Found<'a, 't>> {
    let mut found = Found { value: root, place: None };
    for step in pointer.steps() {
        found = match found.value {
            Ast::Object(object) => {
                let whole =
                    |place: usize| object.properties.get(place).map(|member| member.name.start()..member.value.end());
                let items: Vec<Range<usize>> = (0..object.properties.len()).filter_map(whole).collect();
                let place = object.properties.iter().rposition(|member| member.name.as_str() == step)?;
                let member = object.properties.get(place)?;
                Found { value: &member.value, place: Some((object.start(), items, place)) }
            }
            Ast::Array(array) => {
                let items = array.elements.iter().map(|item| item.start()..item.end()).collect();
                let place = step.parse().ok()?;
                let value = array.elements.get(place)?;
                Found { value, place: Some((array.start(), items, place)) }
            }
            _ => return None,
        };
    }
    Some(found)
}

/// The bytes that go with some of the items: each run takes the comma behind it, or the one before it at the end.
fn removals(items: &[Range<usize>], places: &[usize]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(first) = places.get(at).copied() {
        let mut last = first;
        while places.get(at + 1) == Some(&(last + 1)) {
            (at, last) = (at + 1, last + 1);
        }
        at += 1;
        let (Some(begin), Some(end)) = (items.get(first), items.get(last)) else { continue };
        let before = first.checked_sub(1).and_then(|place| items.get(place));
        ranges.push(match (items.get(last + 1), before) {
            (Some(next), _) => begin.start..next.start,
            (None, Some(before)) => before.end..end.end,
            (None, None) => begin.start..end.end,
        });
    }
    ranges
}

fn insertion(text: &str, object: &Object<'_>, key: &str, value: &str) -> (Range<usize>, String) {
    let member = format!("{}: {}", quoted(key), quoted(value));
    let Some(first) = object.properties.first() else { return (object.start() + 1..object.start() + 1, member) };
    let at = first.name.start();
    let blanks = text.get(object.start() + 1..at).unwrap_or_default();
    let blanks = if blanks.contains('\n') { blanks } else { " " };
    (at..at, format!("{member},{blanks}"))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A text without the commas that have nothing behind them, and where those were; none where it has none, or is
/// no JSON for other reasons, too.
pub fn without_trailing_commas(text: &str) -> Option<(String, Vec<Span>)> {
    let lax = ParseOptions { allow_trailing_commas: true, ..STRICT };
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    parse_to_ast(text, &collect, &lax).ok()?;
    let (mut spans, mut comma, mut in_text, mut escaped) = (Vec::new(), None, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => (in_text, comma) = (!in_text, None),
            _ if in_text => {}
            b',' => comma = Some(at),
            b']' | b'}' => spans.extend(comma.take().map(|at| Span { start: at, end: at + 1 })),
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in &spans {
        out.push_str(text.get(at..span.start)?);
        at = span.end;
    }
    out.push_str(text.get(at..)?);
    (!spans.is_empty() && parse_ast(&out).is_ok()).then_some((out, spans))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Pointer {
        Pointer::spelt(text)
    }

    #[test]
    fn what_goes_takes_its_comma_and_nothing_else() {
        let text = "{\n  \"a\": [1,  2, 3 ],\n  \"b\": 4\n}";
        let without = |pointers: &[&str]| {
            let edits: Vec<Edit> = pointers.iter().map(|pointer| Edit::Remove(at(pointer))).collect();
            edited(text, &edits).unwrap()
        };
        assert_eq!(without(&["/a/0"]), text.replace("1,  ", ""));
        assert_eq!(without(&["/a/1", "/a/2"]), text.replace(",  2, 3", ""));
        assert_eq!(without(&["/a/2", "/a/0", "/a/1"]), text.replace("1,  2, 3", ""));
        assert_eq!(without(&["/a/0", "/a/2"]), text.replace("1,  2, 3", "2"));
        assert_eq!(without(&["/b"]), text.replace(",\n  \"b\": 4", ""));
        assert_eq!(without(&["/a/1", "/a"]), text.replace("\"a\": [1,  2, 3 ],\n  ", ""));
        assert_eq!(edited(text, &[Edit::Remove(at("/c"))]), None);
    }

    #[test]
    fn values_and_first_members_are_written_as_json() {
        let text = "{\"a\": {\n\t\"x\" : 1.10}, \"b\":{}}";
        let set = edited(text, &[Edit::Set(at("/a/x"), "\"\n".into())]);
        assert_eq!(set.unwrap(), "{\"a\": {\n\t\"x\" : \"\\\"\\n\"}, \"b\":{}}");
        let put = |pointer| edited(text, &[Edit::Insert(at(pointer), "id".to_owned(), "e".to_owned())]).unwrap();
        assert_eq!(put("/a"), "{\"a\": {\n\t\"id\": \"e\",\n\t\"x\" : 1.10}, \"b\":{}}");
        assert_eq!(put("/b"), "{\"a\": {\n\t\"x\" : 1.10}, \"b\":{\"id\": \"e\"}}");
    }

    #[test]
    fn only_commas_with_nothing_behind_them_go() {
        let text = "{\"a\": [1, 2,\n ], \"b\": \",]\",}";
        let (mended, spans) = without_trailing_commas(text).unwrap();
        assert_eq!((mended.as_str(), spans.len()), ("{\"a\": [1, 2\n ], \"b\": \",]\"}", 2));
        assert_eq!(without_trailing_commas("{\"a\": [1,,]}"), None);
        assert_eq!(without_trailing_commas("{}"), None);
    }
}
