//! Byte ranges, lines and columns: the one place where a symbolic place becomes a range.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;

use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde::{Deserialize, Serialize};

use super::tree::{Style, Tree, pieces};
use super::{Part, Place, Pointer};
use crate::names::{hidden, legible};

/// JSON as it is defined, none of the parser's extensions.
pub const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Reads a text strictly; `None` for a blank one.
pub(super) fn parse_ast(text: &str) -> Result<Option<Ast<'_>>, jsonc_parser::errors::ParseError> {
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    parse_to_ast(text, &collect, &STRICT).map(|result| result.value)
}

/// Reads a text as far as that goes without guessing.
pub(super) fn lax_ast(text: &str) -> Option<Ast<'_>> {
    const LAX: ParseOptions = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_missing_commas: true,
        allow_single_quoted_strings: true,
        ..STRICT
    };
    let collect = CollectOptions { comments: CommentCollectionStrategy::Off, tokens: false };
    parse_to_ast(text, &collect, &LAX).ok()?.value
}

/// The byte at which the nesting limit is first passed. Looked at before parsing, because
/// parsers recurse and a few thousand brackets would end the process.
pub(super) fn too_deep(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (start, between) in between_texts(text) {
        for (at, byte) in between.bytes().enumerate() {
            match byte {
                b'{' | b'[' => {
                    depth += 1;
                    if depth > super::MAX_NESTING {
                        return Some(start + at);
                    }
                }
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
    }
    None
}

/// What stands between the texts of a JSON text, each with where it begins.
pub(super) fn between_texts(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next.take()?;
        let rest = text.get(start..)?;
        let Some((between, _)) = rest.split_once('"') else { return Some((start, rest)) };
        let mut end = start + between.len() + 1;
        while let Some((inside, _)) = text.get(end..).and_then(|rest| rest.split_once('"')) {
            end += inside.len() + 1;
            let slashes = inside.bytes().rev().take_while(|byte| *byte == b'\\').count();
            if slashes % 2 == 0 {
                next = Some(end);
                break;
            }
        }
        Some((start, between))
    })
}

/// A half-open byte range in a document's text (byte-order mark not counted).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// Line and column, both from 1; the column counts characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

impl Position {
    /// Where byte `offset` of `text` stands; past the end counts as the end.
    pub fn of(text: &str, offset: usize) -> Self {
        let before = text.get(..text.floor_char_boundary(offset)).unwrap_or_default();
        let line = before.bytes().filter(|b| *b == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before.get(start..).unwrap_or_default().chars().count() + 1;
        Self { line, column }
    }
}

/// Resolves places of one document; parses the text once for any number of places, and not at all
/// where none is asked for, as in most files.
pub struct Locator<'a> {
    text: &'a str,
    /// What reads a text that is not JSON.
    read: Option<fn(&str) -> Option<Tree>>,
    root: OnceCell<Option<SpanNode>>,
    /// Where each line begins, so that a position costs no walk through the file.
    lines: OnceCell<Vec<usize>>,
    /// The last column worked out: line start, offset, characters between. Places mostly come in
    /// order, and a file of one long line would be walked from its start for each of them.
    column: Cell<(usize, usize, usize)>,
    /// The last place within a text: literal, byte in it, decoded bytes before.
    within: Cell<(usize, usize, usize)>,
    /// The last text in which hidden characters were looked for: where its literal begins, and where
    /// they stand.
    hidden: RefCell<(usize, Vec<(usize, usize)>)>,
    /// The last text that is not JSON's in which a place was looked for: where it begins, and its stretches.
    pieces: RefCell<Option<(usize, Stretches)>>,
}

/// Where a text is written as it reads: pairs of bytes of what it reads and of what is written.
type Stretches = Vec<(usize, usize)>;

/// A value as far as places need it. Unlike the parser's own, it borrows nothing from the text.
pub(super) struct SpanNode {
    pub(super) span: Span,
    pub(super) kind: SpanNodeKind,
}

pub(super) enum SpanNodeKind {
    /// The place of its name, and the value, of each member. The last of several equal keys is the one
    /// whose value counts.
    Object(BTreeMap<String, (Span, SpanNode)>),
    Array(Vec<SpanNode>),
    /// A text of JSON.
    Text,
    /// A text that is written otherwise: what it reads, and how it is written.
    Written(String, Style),
    Other,
}

impl SpanNode {
    /// Documents that are read are nested [`MAX_NESTING`](super::MAX_NESTING) levels deep at the most.
    fn of(ast: &Ast<'_>) -> Self {
        let kind = match ast {
            Ast::Object(object) => SpanNodeKind::Object(
                object
                    .properties
                    .iter()
                    .map(|member| {
                        let name = Span { start: member.name.start(), end: member.name.end() };
                        (legible(member.name.as_str()).into_owned(), (name, Self::of(&member.value)))
                    })
                    .collect(),
            ),
            Ast::Array(array) => SpanNodeKind::Array(array.elements.iter().map(Self::of).collect()),
            Ast::StringLit(_) => SpanNodeKind::Text,
            _ => SpanNodeKind::Other,
        };
        Self { span: Span { start: ast.start(), end: ast.end() }, kind }
    }
}

impl<'a> Locator<'a> {
    /// Reads `text` for positions. A text that is not JSON gives ranges at its start.
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            read: None,
            root: OnceCell::new(),
            lines: OnceCell::new(),
            column: Cell::default(),
            within: Cell::default(),
            hidden: RefCell::default(),
            pieces: RefCell::default(),
        }
    }

    /// The same for a text that is not JSON, and what reads it.
    pub fn reading(text: &'a str, read: fn(&str) -> Option<Tree>) -> Self {
        Self { read: Some(read), ..Self::new(text) }
    }

    /// Where byte `offset` stands; past the end counts as the end.
    pub fn position(&self, offset: usize) -> Position {
        let offset = self.text.floor_char_boundary(offset);
        let lines = self.lines.get_or_init(|| {
            let breaks = self.text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
            std::iter::once(0).chain(breaks).collect()
        });
        let line = lines.partition_point(|start| *start <= offset);
        let start = lines.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let (of_start, from, counted) = match self.column.get() {
            (of_start, from, counted) if of_start == start && from <= offset && from >= start => {
                (of_start, from, counted)
            }
            _ => (start, start, 0),
        };
        let counted = counted + self.text.get(from..offset).unwrap_or_default().chars().count();
        self.column.set((of_start, offset, counted));
        Position { line, column: counted + 1 }
    }

    fn root(&self) -> Option<&SpanNode> {
        let root = self.root.get_or_init(|| {
            if let Some(read) = self.read {
                return read(self.text).map(Tree::into_spans);
            }
            let ast = parse_ast(self.text).ok().flatten();
            // What could only be read laxly has its places, too.
            ast.or_else(|| if too_deep(self.text).is_some() { None } else { lax_ast(self.text) })
                .as_ref()
                .map(SpanNode::of)
        });
        root.as_ref()
    }

    /// The bytes of a place; a member that is not there gives its nearest parent that is.
    pub fn span(&self, place: &Place) -> Span {
        let Some(root) = self.root() else { return Span::default() };
        let mut here = root;
        let mut key: Option<Span> = None;
        let mut whole = true;
        for step in place.pointer.steps() {
            let next = match &here.kind {
                SpanNodeKind::Object(members) => members.get(&*step).map(|(key, value)| (value, Some(*key))),
                SpanNodeKind::Array(items) => {
                    step.parse::<usize>().ok().and_then(|index| items.get(index)).map(|value| (value, None))
                }
                SpanNodeKind::Text | SpanNodeKind::Written(..) | SpanNodeKind::Other => None,
            };
            let Some((value, found)) = next else {
                whole = false;
                break;
            };
            here = value;
            key = found;
        }
        if whole
            && place.part == Part::Key
            && let Some(key) = key
        {
            return key;
        }
        let Span { start, end } = here.span;
        if let (true, Some(within), SpanNodeKind::Written(text, style)) = (whole, place.within, &here.kind) {
            return self.within_written(here.span, (text, *style), within);
        }
        if let (true, Some((from, to)), SpanNodeKind::Text) = (whole, place.within, &here.kind) {
            let raw = self.text.get(start..end).unwrap_or_default();
            let (from, to) = self.with_hidden(start, raw, (from, to));
            let known = match self.within.get() {
                (of, at, decoded) if of == start && at > 0 && decoded <= from => (at, decoded),
                _ => (1, 0),
            };
            let first = raw_offset(raw, from, known);
            self.within.set((start, first.0, first.1));
            let (end, _) = raw_offset(raw, to, first);
            return Span { start: start + first.0, end: start + end };
        }
        here.span
    }

    /// What is written at a byte: the innermost value around it, or the key of one. None outside everything.
    pub fn at(&self, offset: usize) -> Option<(Pointer, Part)> {
        let mut found = None;
        // What is written otherwise than as JSON may have its parts beside it, not within.
        innermost(self.root()?, offset, self.read.is_some(), &mut Vec::new(), &mut found);
        found.map(|(_, pointer, part)| (pointer, part))
    }

    /// The place in a text that is not written as JSON's are.
    fn within_written(&self, Span { start, end }: Span, (text, style): (&str, Style), within: (usize, usize)) -> Span {
        let mut last = self.pieces.borrow_mut();
        let known = last.take().filter(|(of, _)| *of == start).map(|(_, stretches)| stretches);
        let stretches = known.unwrap_or_else(|| pieces(self.text.get(start..end).unwrap_or_default(), text, style));
        let written = |at: usize| {
            let number = stretches.partition_point(|(read, _)| *read <= at).saturating_sub(1);
            stretches.get(number).map_or(start, |(read, raw)| start + raw + at.saturating_sub(*read))
        };
        let (from, to) = within;
        // The end of a stretch is not the beginning of the next one.
        let past = if to > from { written(to - 1) + 1 } else { written(to) };
        let mut past = past.min(end);
        while !self.text.is_char_boundary(past) {
            past += 1;
        }
        let found = Span { start: written(from).min(end), end: past };
        *last = Some((start, stretches));
        found
    }

    /// The place in a text as it was read, counted in the text as it is written: hidden characters are
    /// not read.
    fn with_hidden(&self, start: usize, raw: &str, (from, to): (usize, usize)) -> (usize, usize) {
        let mut last = self.hidden.borrow_mut();
        if last.0 != start {
            let plain = raw.is_ascii() && !raw.contains("\\u");
            // A control character is as long as the blank that JSON allows in its place.
            let strict = || raw.replace(|c: char| c.is_ascii_control(), " ");
            let text = if plain { None } else { serde_json::from_str::<String>(&strict()).ok() };
            let mut before = 0;
            let place = |range: Range<usize>| {
                let read = range.start - before;
                before += range.len();
                (read, before)
            };
            *last = (start, text.map(|text| hidden(&text)).unwrap_or_default().into_iter().map(place).collect());
        }
        let written = |read: usize, past: bool| {
            let count = last.1.partition_point(|(at, _)| *at < read || (*at == read && !past));
            read + count.checked_sub(1).and_then(|place| last.1.get(place)).map_or(0, |(_, hidden)| *hidden)
        };
        (written(from, false), written(to, true))
    }
}

/// A place with the length of what is written there.
type Found = (usize, Pointer, Part);

/// Looks for the shortest thing around a byte; of two as short, the deeper one.
fn innermost<'n>(
    node: &'n SpanNode,
    offset: usize,
    anywhere: bool,
    steps: &mut Vec<Cow<'n, str>>,
    found: &mut Option<Found>,
) {
    let around = |span: Span| span.start <= offset && offset <= span.end;
    let mut note = |span: Span, part: Part, steps: &[Cow<'n, str>]| {
        let length = span.end - span.start;
        if around(span) && found.as_ref().is_none_or(|(least, ..)| length <= *least) {
            let pointer = steps.iter().fold(Pointer::root(), |pointer, step| pointer.key(step));
            *found = Some((length, pointer, part));
        }
    };
    note(node.span, Part::Value, steps);
    let mut below: Vec<(Cow<'n, str>, &'n SpanNode)> = Vec::new();
    match &node.kind {
        SpanNodeKind::Object(members) => {
            for (key, (at, value)) in members {
                steps.push(Cow::Borrowed(key));
                note(*at, Part::Key, steps);
                steps.pop();
                below.push((Cow::Borrowed(key), value));
            }
        }
        SpanNodeKind::Array(items) => {
            below.extend(items.iter().enumerate().map(|(place, value)| (Cow::Owned(place.to_string()), value)));
        }
        SpanNodeKind::Text | SpanNodeKind::Written(..) | SpanNodeKind::Other => {}
    }
    for (step, value) in below.into_iter().filter(|(_, value)| anywhere || around(value.span)) {
        steps.push(step);
        innermost(value, offset, anywhere, steps, found);
        steps.pop();
    }
}

/// Where byte `wanted` of the decoded text stands in the raw literal (quotation mark included), and
/// how many decoded bytes are before that; `known` is such a pair from which to go on.
fn raw_offset(raw: &str, wanted: usize, known: (usize, usize)) -> (usize, usize) {
    let bytes = raw.as_bytes();
    let (mut at, mut decoded) = known;
    let end = raw.len().saturating_sub(1).max(1);
    while at < end && decoded < wanted {
        let (step, gives) = match (bytes.get(at), bytes.get(at + 1)) {
            (Some(b'\\'), Some(b'u')) => match unicode_escape(raw, at) {
                Some(high @ 0xD800..=0xDBFF) => {
                    let low = unicode_escape(raw, at + 6).unwrap_or(0xDC00);
                    let joined = 0x1_0000 + ((high - 0xD800) << 10) + (low.saturating_sub(0xDC00) & 0x3FF);
                    (12, char::from_u32(joined).map_or(3, char::len_utf8))
                }
                Some(code) => (6, char::from_u32(code).map_or(3, char::len_utf8)),
                None => (2, 1),
            },
            (Some(b'\\'), _) => (2, 1),
            _ => (1, 1),
        };
        at += step;
        decoded += gives;
    }
    (at.min(end), decoded)
}

fn unicode_escape(raw: &str, at: usize) -> Option<u32> {
    let digits = raw.get(at..at + 6)?.strip_prefix("\\u")?;
    u32::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str, place: &Place) -> String {
        let span = Locator::new(text).span(place);
        text[span.start..span.end].to_owned()
    }

    #[test]
    fn a_place_is_resolved_to_key_value_or_a_bit_of_a_text() {
        let text = r#"{"a": [1, {"b": "x\n{y} \u00e9{z} \ud83d\ude00!"}], "a/b": 2}"#;
        let b = Pointer::root().key("a").item(1).key("b");
        assert_eq!(cut(text, &Place::key(b.clone())), "\"b\"");
        assert_eq!(cut(text, &Place::value(Pointer::root().key("a/b"))), "2");
        let decoded = "x\n{y} é{z} 😀!";
        for bit in ["{y}", "{z}", "!", "x"] {
            let at = decoded.find(bit).expect("there");
            assert_eq!(cut(text, &Place::within(b.clone(), at..at + bit.len())), bit);
        }
    }

    #[test]
    fn the_innermost_thing_around_a_byte_is_found() {
        let text = r#"{"a": [1, {"bc": "x{y}"}], "d": 2}"#;
        let at = |bit: &str| Locator::new(text).at(text.find(bit).expect("there") + 1).expect("something");
        let item = Pointer::root().key("a").item(1);
        assert_eq!(at("x{y}"), (item.key("bc"), Part::Value));
        assert_eq!(at("bc"), (item.key("bc"), Part::Key));
        assert_eq!(at("1, "), (Pointer::root().key("a").item(0), Part::Value));
        assert_eq!(at(", {"), (Pointer::root().key("a"), Part::Value));
        assert_eq!(Locator::new("nothing").at(3), None);
    }

    #[test]
    fn places_in_any_order_are_the_same_places() {
        let text = r#"{"a": "\u00e9{x} \n{y}é", "b": "{z}"}"#;
        let locator = Locator::new(text);
        let root = Pointer::root();
        let within = |key: &str, bytes| Place::within(root.key(key), bytes);
        // "é{x} \n{y}é", of which é takes two bytes.
        for (place, expected) in [
            (within("a", 7..10), "{y}"),
            (within("a", 2..5), "{x}"),
            (within("b", 0..3), "{z}"),
            (within("a", 7..10), "{y}"),
            (within("a", 10..12), "é"),
            (within("a", 0..2), "\\u00e9"),
        ] {
            let span = locator.span(&place);
            assert_eq!(&text[span.start..span.end], expected);
            assert_eq!(locator.position(span.start), Position::of(text, span.start));
        }
    }

    #[test]
    fn a_place_after_hidden_characters_is_where_it_is_written() {
        let (tag, joiners) = ("\u{E0061}", "\u{200D}\u{200D}\u{200D}");
        let text = format!(r#"{{"a{tag}": "x{tag}{{y}} \udb40\udc61{{z}}{joiners}!"}}"#);
        for (bit, at) in [("{y}", 1), ("{z}", 5), ("!", 8)] {
            assert_eq!(cut(&text, &Place::within(Pointer::root().key("a"), at..at + bit.len())), bit);
        }
    }

    #[test]
    fn what_is_missing_points_at_the_nearest_parent() {
        let text = r#"{"a": {"b": 1}}"#;
        let place = Place::value(Pointer::root().key("a").key("gone").key("deeper"));
        assert_eq!(cut(text, &place), r#"{"b": 1}"#);
    }

    #[test]
    fn columns_count_characters_and_never_split_one() {
        let text = "é\nüx";
        assert_eq!(Position::of(text, 5), Position { line: 2, column: 2 });
        assert_eq!(Position::of(text, 1), Position { line: 1, column: 1 });
        assert_eq!(Position::of(text, 99), Position { line: 2, column: 3 });
        let locator = Locator::new(text);
        for offset in 0..=text.len() + 1 {
            assert_eq!(locator.position(offset), Position::of(text, offset), "{offset}");
        }
    }
}
