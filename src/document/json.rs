//! Strict JSON into a value, with everything a maintainer should hear of when it is not strict.
//!
//! `serde_json` reads a file of which nothing is to be told. Any other is read by `jsonc-parser`, which keeps places
//! and whose errors say what was expected; `serde_json` has the last word on what is JSON, because that one lets
//! raw control characters in texts pass.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged as _;
use jsonc_parser::errors::ParseErrorKind;
use serde_json::{Map, Number, Value};

use super::slips::slip;
use super::span::{between_texts, lax_ast, parse_ast, too_deep};
use super::{Note, Place, Pointer, Position, Span, YamlProblem};
use crate::names::{CatalogPath, hidden, legible, spelt_in_tags};

/// The deepest nesting of arrays and objects that is read.
pub const MAX_NESTING: usize = 64;
/// How long the keys that lead to a value may be, all together, in bytes.
pub const MAX_PATH: usize = 2_000;

/// A JSON file, read.
#[derive(Debug, Clone)]
pub struct Document {
    /// Where it stands in the catalog.
    pub path: CatalogPath,
    /// Its text, without a byte-order mark; spans count bytes of it.
    pub text: Arc<str>,
    /// Its value; of repeated keys the last counts.
    pub value: Value,
    /// Keys that stand several times in one object, each once.
    pub duplicates: Vec<Duplicate>,
    /// Texts and keys that held hidden characters, which are not in the value.
    pub hidden: Vec<Hidden>,
    /// What reading a file that is not JSON noticed.
    pub notes: Vec<Note>,
}

/// A text or a key that held characters which nobody sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hidden {
    /// Where.
    pub place: Place,
    /// How many.
    pub count: usize,
    /// What the tag characters among them spell.
    pub spelt: String,
}

/// A key that an object holds several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Duplicate {
    /// The member.
    pub pointer: Pointer,
    /// The first key.
    pub first: Span,
    /// The repeated key, where it stands for the second time.
    pub again: Span,
    /// How often it stands there.
    pub times: usize,
}

/// What of a file can't be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxKind {
    /// It is not JSON.
    Json,
    /// The front matter of a file in Markdown.
    FrontMatter,
    /// A block of YAML within Markdown.
    Yaml,
}

/// Why a file can't be read, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct SyntaxProblem {
    /// What of it.
    pub kind: SyntaxKind,
    /// The fact, without the place.
    pub message: String,
    /// What to do about it.
    pub hint: Option<&'static str>,
    /// The offending bytes.
    pub span: Span,
    /// The same as line and column.
    pub position: Position,
    /// The text as far as it can be shown (empty when it is not UTF-8).
    pub text: Arc<str>,
}

impl SyntaxProblem {
    /// One in a piece of YAML.
    pub fn of_yaml(kind: SyntaxKind, problem: YamlProblem, text: &str) -> Self {
        let YamlProblem { message, hint, span } = problem;
        let position = Position::of(text, span.start);
        Self { kind, message, hint: Some(hint), span, position, text: Arc::from(text) }
    }
}

impl Document {
    /// A file's text, without a byte-order mark.
    ///
    /// # Errors
    /// When it is not UTF-8.
    pub fn decode(bytes: &[u8]) -> Result<&str, SyntaxProblem> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.strip_prefix('\u{FEFF}').unwrap_or(text)),
            Err(error) => Err(not_utf8(bytes, error.valid_up_to())),
        }
    }

    /// Reads a file's bytes.
    ///
    /// # Errors
    /// When the bytes are not UTF-8, not strict JSON, or nested deeper than [`MAX_NESTING`], or when
    /// keys are longer than [`MAX_PATH`].
    pub fn parse(path: CatalogPath, bytes: &[u8]) -> Result<Self, SyntaxProblem> {
        let text = Self::decode(bytes)?;
        match plain_value(text) {
            Some(value) => {
                let (duplicates, hidden, notes) = (Vec::new(), Vec::new(), Vec::new());
                Ok(Self { path, text: Arc::from(text), value, duplicates, hidden, notes })
            }
            None => Self::with_places(path, text),
        }
    }

    /// Reads a text of which something is to be told.
    fn with_places(path: CatalogPath, text: &str) -> Result<Self, SyntaxProblem> {
        // Places of parsers are bytes, and may lie within a character.
        let problem = |message: String, hint, start: usize, end: usize| {
            let start = text.floor_char_boundary(start);
            SyntaxProblem {
                kind: SyntaxKind::Json,
                message,
                hint,
                span: Span { start, end: text.ceil_char_boundary(end.max(start)) },
                position: Position::of(text, start),
                text: Arc::from(text),
            }
        };
        let slipped = |at: usize| {
            slip(text, at).map(|slip| problem(slip.message, Some(slip.hint), slip.span.start, slip.span.end))
        };
        if let Some(at) = too_deep(text) {
            return Err(problem(
                format!("nested deeper than {MAX_NESTING} levels"),
                Some("flatten the data; no field that is read lies that deep"),
                at,
                at + 1,
            ));
        }
        let ast = match parse_ast(text) {
            Ok(Some(ast)) => ast,
            Ok(None) => {
                return Err(problem(
                    "the file is empty".to_owned(),
                    Some("the file has to hold one JSON object"),
                    0,
                    0,
                ));
            }
            Err(error) => {
                let range = error.range();
                if let Some(slipped) = slipped(range.start) {
                    return Err(slipped);
                }
                let (message, hint) = in_words(error.kind(), text, range.start, range.end);
                return Err(problem(message, hint, range.start, range.end));
            }
        };
        if let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text) {
            let start = offset_of(text, error.line(), error.column());
            // Of a line break it is the character before that is told.
            let control = |at: &usize| text.as_bytes().get(*at).is_some_and(u8::is_ascii_control);
            let start = (start..=start + 1).find(control).unwrap_or(start);
            if let Some(slipped) = slipped(start) {
                return Err(slipped);
            }
            let message = error.to_string();
            let (message, hint) = within_text(message.split(" at line ").next().unwrap_or(&message), text, start);
            return Err(problem(message, hint, start, start + 1));
        }
        if let Some(key) = too_far(&ast, 0) {
            return Err(problem(
                format!("the keys that lead here are longer than {MAX_PATH} bytes together"),
                Some("shorten the keys; no field that is read has such a name"),
                key.start,
                key.end,
            ));
        }
        let mut noted = Noted::default();
        let value = value_of(&ast, &Pointer::root(), &mut noted);
        let Noted { duplicates, hidden, .. } = noted;
        Ok(Self { path, text: Arc::from(text), value, duplicates, hidden, notes: Vec::new() })
    }
}

impl Document {
    /// What can be read of a file that is no strict JSON: with comments, with commas too many or too few, and with
    /// texts in single quotation marks. Nothing that comes of it executes.
    pub fn lax(path: CatalogPath, text: &Arc<str>) -> Option<Self> {
        if too_deep(text).is_some() {
            return None;
        }
        let ast = lax_ast(text)?;
        let mut noted = Noted::default();
        let value = value_of(&ast, &Pointer::root(), &mut noted);
        let Noted { duplicates, hidden, .. } = noted;
        Some(Self { path, text: text.clone(), value, duplicates, hidden, notes: Vec::new() })
    }
}

/// A strict JSON text that is no file of a catalog as a value: digits as written, hidden characters kept.
/// None where it is not JSON, or nested deeper than files may be.
pub fn value_as_written(text: &str) -> Option<Value> {
    if too_deep(text).is_some() {
        return None;
    }
    let ast = parse_ast(text).ok().flatten()?;
    Some(value_of(&ast, &Pointer::root(), &mut Noted { keeps_hidden: true, ..Noted::default() }))
}

/// The value of a text of which nothing is to be told, as nearly all files are; none where a key is repeated or too
/// long, a text holds hidden characters, something is nested too deep, or it is no JSON. Finding out where such a
/// thing stands takes a parser that keeps places, and several times as long.
fn plain_value(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text).ok()?;
    let colons = between_texts(text).map(|(_, between)| between.bytes().filter(|byte| *byte == b':').count());
    // A repeated key has its colon and is no second member.
    (plain_members(&value, 0, 0)? == colons.sum::<usize>()).then_some(value)
}

/// How many members the objects of a value have that lies so deep and below keys of that length together.
fn plain_members(value: &Value, depth: usize, before: usize) -> Option<usize> {
    if depth == MAX_NESTING && (value.is_array() || value.is_object()) {
        return None;
    }
    match value {
        Value::Null | Value::Bool(_) => Some(0),
        // Digits stay as they were written, but for those of an exponent.
        Value::Number(number) => (!number.as_str().contains('e')).then_some(0),
        Value::String(text) => hidden(text).is_empty().then_some(0),
        Value::Array(items) => items.iter().map(|item| plain_members(item, depth + 1, before)).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| {
                let length = before + key.len();
                let plain = length <= MAX_PATH && hidden(key).is_empty();
                Some(1 + plain_members(value, depth + 1, length).filter(|_| plain)?)
            })
            .sum(),
    }
}

/// The key with which the keys that lead to a value are longer than they may be. Places are told by
/// these keys, and a file may have tens of thousands of places below one key.
fn too_far(ast: &Ast<'_>, before: usize) -> Option<Span> {
    match ast {
        Ast::Object(object) => object.properties.iter().find_map(|property| {
            let length = before + property.name.as_str().len();
            let key = || Span { start: property.name.start(), end: property.name.end() };
            if length > MAX_PATH { Some(key()) } else { too_far(&property.value, length) }
        }),
        Ast::Array(array) => array.elements.iter().find_map(|item| too_far(item, before)),
        _ => None,
    }
}

/// What is noticed while the value is made.
#[derive(Default)]
struct Noted {
    duplicates: Vec<Duplicate>,
    hidden: Vec<Hidden>,
    /// Whether hidden characters stay in the value.
    keeps_hidden: bool,
}

impl Noted {
    /// A text without hidden characters; what it held of them is noted.
    fn legible(&mut self, text: &str, place: impl FnOnce() -> Place) -> String {
        let ranges = hidden(text);
        if self.keeps_hidden || ranges.is_empty() {
            return text.to_owned();
        }
        let taken: String = ranges.into_iter().filter_map(|range| text.get(range)).collect();
        self.hidden.push(Hidden { place: place(), count: taken.chars().count(), spelt: spelt_in_tags(&taken) });
        legible(text).into_owned()
    }
}

fn value_of(ast: &Ast<'_>, pointer: &Pointer, noted: &mut Noted) -> Value {
    match ast {
        Ast::StringLit(text) => Value::String(noted.legible(&text.value, || Place::value(pointer.clone()))),
        // The digits stay as they were written: 1.10 is not 1.1 to somebody who wrote a version.
        Ast::NumberLit(number) => Value::Number(Number::from_string_unchecked(number.value.to_owned())),
        Ast::BooleanLit(truth) => Value::Bool(truth.value),
        Ast::NullKeyword(_) => Value::Null,
        Ast::Array(array) => Value::Array(
            array
                .elements
                .iter()
                .enumerate()
                .map(|(index, item)| value_of(item, &below(item, pointer, |pointer| pointer.item(index)), noted))
                .collect(),
        ),
        Ast::Object(object) => {
            let mut map = Map::with_capacity(object.properties.len());
            // The first of each key, and which of the duplicates it has.
            let mut seen: HashMap<&str, (Span, Option<usize>)> = HashMap::with_capacity(object.properties.len());
            for property in &object.properties {
                let key = property.name.as_str();
                let again = Span { start: property.name.start(), end: property.name.end() };
                match seen.entry(key) {
                    Entry::Vacant(place) => {
                        place.insert((again, None));
                    }
                    Entry::Occupied(mut known) => {
                        let (first, number) = *known.get();
                        match number.and_then(|number| noted.duplicates.get_mut(number)) {
                            Some(duplicate) => duplicate.times += 1,
                            None => {
                                known.insert((first, Some(noted.duplicates.len())));
                                noted.duplicates.push(Duplicate { pointer: pointer.key(key), first, again, times: 2 });
                            }
                        }
                    }
                }
                let name = noted.legible(key, || Place::key(pointer.key(&legible(key))));
                let inner = below(&property.value, pointer, |pointer| pointer.key(&name));
                let value = value_of(&property.value, &inner, noted);
                map.insert(name, value);
            }
            Value::Object(map)
        }
    }
}

/// The pointer to a part: only spelt out where it, or something below it, could need one.
fn below<'p>(part: &Ast<'_>, pointer: &'p Pointer, spell: impl FnOnce(&Pointer) -> Pointer) -> Cow<'p, Pointer> {
    match part {
        Ast::Object(_) | Ast::Array(_) => Cow::Owned(spell(pointer)),
        Ast::StringLit(text) if !text.value.is_ascii() => Cow::Owned(spell(pointer)),
        _ => Cow::Borrowed(pointer),
    }
}

fn not_utf8(bytes: &[u8], at: usize) -> SyntaxProblem {
    let before = String::from_utf8_lossy(bytes.get(..at).unwrap_or_default()).into_owned();
    let looks_utf16 = bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]);
    SyntaxProblem {
        kind: SyntaxKind::Json,
        message: format!("byte {at} is not UTF-8"),
        hint: Some(if looks_utf16 { "the file looks like UTF-16: save it as UTF-8" } else { "save the file as UTF-8" }),
        span: Span { start: at, end: at },
        position: Position::of(&before, before.len()),
        text: Arc::from(before),
    }
}

fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let mut start = 0;
    for _ in 1..line {
        match text.get(start..).and_then(|rest| rest.find('\n')) {
            Some(at) => start += at + 1,
            None => break,
        }
    }
    (start + column.saturating_sub(1)).min(text.len())
}

fn in_words(kind: &ParseErrorKind, text: &str, start: usize, end: usize) -> (String, Option<&'static str>) {
    let found = text.get(start..end.max(start + 1).min(text.len())).unwrap_or_default();
    let word = found.trim_start_matches('-');
    if matches!(kind, ParseErrorKind::NonFiniteNumbersNotAllowed) || ["NaN", "Infinity", "undefined"].contains(&word) {
        return (format!("{} is not JSON", crate::names::shown(found, 20)), Some("write a number or null"));
    }
    match kind {
        ParseErrorKind::CommentsNotAllowed => {
            ("a comment; JSON has none".to_owned(), Some("remove it, or put the remark into a description"))
        }
        ParseErrorKind::TrailingCommasNotAllowed => {
            ("a comma with nothing after it".to_owned(), Some("remove the comma before the closing bracket"))
        }
        ParseErrorKind::ExpectedComma => {
            let next = text.get(start..).unwrap_or_default().trim_start();
            let token = match next.strip_prefix('"').and_then(|rest| rest.split_once('"')) {
                Some((text, _)) => format!("\"{text}\""),
                None => {
                    next.split(|c: char| c.is_whitespace() || ",:]}".contains(c)).next().unwrap_or_default().to_owned()
                }
            };
            (format!("a comma is missing before {}", crate::names::shown(&token, 40)), None)
        }
        ParseErrorKind::MultipleRootJsonValues => (
            "extra text after the end of the JSON value".to_owned(),
            Some("a file holds one JSON object; put the second flow into a file of its own or into `flows`"),
        ),
        ParseErrorKind::SingleQuotedStringsNotAllowed => {
            ("a text in single quotation marks".to_owned(), Some("write \"…\""))
        }
        ParseErrorKind::UnterminatedObject => {
            ("this object is never closed".to_owned(), Some("the file may have been cut off; add the missing }"))
        }
        ParseErrorKind::UnterminatedArray => {
            ("this list is never closed".to_owned(), Some("the file may have been cut off; add the missing ]"))
        }
        ParseErrorKind::String(_) if text.get(start + 1..).is_some_and(|rest| !rest.contains('"')) => (
            "this text is never closed".to_owned(),
            Some("close it with a quotation mark; if the file has been cut off, add what is missing"),
        ),
        kind if !matches!(kind, ParseErrorKind::String(_)) && after_a_text(text, start) => {
            ("a text ends before this".to_owned(), Some("a quotation mark within a text is written \\\""))
        }
        other => {
            let words = other.to_string();
            let mut letters = words.chars();
            let lower =
                letters.next().map(|first| first.to_lowercase().chain(letters).collect::<String>()).unwrap_or_default();
            within_text(&lower, text, start)
        }
    }
}

/// Whether a word follows a quotation mark at once: most likely the mark was to stand within the text.
fn after_a_text(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let next = text.get(start..).and_then(|rest| rest.chars().next());
    before.ends_with('"') && next.is_some_and(|next| !matches!(next, ',' | ':' | '}' | ']') && !next.is_whitespace())
}

/// What is wrong within a text, else the parser's own words.
fn within_text(words: &str, text: &str, start: usize) -> (String, Option<&'static str>) {
    if words.starts_with("control character") {
        return match text.as_bytes().get(start) {
            Some(b'\n' | b'\r') => {
                ("a line break within a text".to_owned(), Some("write \\n where the text has a new line"))
            }
            Some(b'\t') => ("a tab within a text".to_owned(), Some("write \\t, or blanks")),
            _ => {
                ("a control character within a text".to_owned(), Some("remove it, or write it as \\u and four digits"))
            }
        };
    }
    if words == "invalid escape" {
        let hint = "write \\\\ for a backslash; after one there may stand \" \\ / b f n r t or u and four digits";
        return ("a backslash before something that it does not go with".to_owned(), Some(hint));
    }
    (words.to_owned(), None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(bytes: &[u8]) -> Result<Document, SyntaxProblem> {
        Document::parse(CatalogPath::new("flows/x.json").expect("fine"), bytes)
    }

    #[test]
    fn a_mark_and_windows_line_ends_are_fine_and_digits_stay() {
        let document =
            parse(b"\xEF\xBB\xBF{\r\n \"b\": 1.10, \"a\": [12345678901234567890123, 1E5]}\r\n").expect("fine");
        assert_eq!(document.value.to_string(), r#"{"b":1.10,"a":[12345678901234567890123,1E5]}"#);
    }

    #[test]
    fn a_text_of_which_nothing_is_told_has_the_value_that_the_parser_with_places_gives_it() {
        let path = || CatalogPath::new("flows/x.json").expect("fine");
        for text in [
            r#"{"a": [1, -0, -0.0, 1.10, 12345678901234567890123, true, null], "b": {"a": "\"\\\u00e9:\n/\/"}}"#,
            r#" [{"b:\"c": "\\", "a": ":", "": {}}] "#,
            r#""x""#,
        ] {
            let read = Document::with_places(path(), text).expect(text);
            let plain = plain_value(text).expect(text);
            assert_eq!((plain.to_string(), &plain), (read.value.to_string(), &read.value));
        }
        for text in [
            r#"{"a": 1, "\u0061": 2}"#,
            r#"{"a": [{"b": 1, "b": 1}]}"#,
            r#"{"a": "x\u206ay"}"#,
            r#"{"x\u206ay": 1}"#,
            r#"{"a": 1E5}"#,
            r#"{"$serde_json::private::Number": "1"}"#,
            &format!("{}1{}", "[".repeat(MAX_NESTING + 1), "]".repeat(MAX_NESTING + 1)),
            &format!("{{\"{}\": {{\"{0}\": 1}}}}", "x".repeat(MAX_PATH / 2 + 1)),
            "{} {}",
            "",
        ] {
            assert_eq!(plain_value(text), None, "{text}");
        }
        assert!(plain_value(&format!("{}1{}", "[".repeat(MAX_NESTING), "]".repeat(MAX_NESTING))).is_some());
    }

    #[test]
    fn what_is_not_json_is_refused_with_its_place() {
        for (text, line, column, words) in [
            ("{\"a\": NaN}", 1, 7, "NaN"),
            ("{\"a\": 1,}", 1, 8, "comma"),
            ("{\"a\": 1 // x\n}", 1, 9, "comment"),
            ("{}\n{}", 2, 1, "extra text"),
            ("{\"a\": 'x'}", 1, 7, "single"),
            ("{\"a\": [1, 2}", 1, 12, ""),
            ("{\"a\": \"x", 1, 7, ""),
            ("", 1, 1, "empty"),
            ("  \n", 1, 1, "empty"),
            ("{\"a\" 1}", 1, 6, "colon"),
            ("{\"a\": 01}", 1, 7, ""),
            ("{\"a\": \"x\ny\"}", 1, 9, "a line break within a text"),
            ("{\"a\": \"x\r\ny\"}", 1, 9, "a line break within a text"),
            ("{\"a\": \"x\ty\"}", 1, 9, "a tab within a text"),
            ("{\"a\": \"x\u{1}y\"}", 1, 9, "a control character within a text"),
            ("{\"a\": \"C:\\x\"}", 1, 11, "a backslash"),
            ("{\"a\": \"\\u12\"}", 1, 8, "four hex digits"),
            ("{\"a\":\n<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> other\n}", 2, 1, "merge"),
            ("<<<<<<< HEAD\n{}\n||||||| base\n{}\n=======\n{}\n>>>>>>> other\n", 1, 1, "merge"),
            ("<<<<<<< HEAD\n{}\n", 1, 1, "merge"),
            ("{\"a\": 1\n=======\n}", 2, 1, "merge"),
            ("{\"a\": 1}\n>>>>>>> other\n", 2, 1, "merge"),
            ("{\"a\": 1\r\n=======\r\n\"b\": 2\r\n>>>>>>> other\r\n}", 2, 1, "merge"),
            ("{\u{201C}a\u{201D}: 1}", 1, 2, "U+201C"),
            ("{\"a\": \"x\u{201D},\n\"b\": 1}", 1, 9, "U+201D"),
            ("{\"a\": \"a \u{201C}b\u{201D},\n\"b\": 1}", 1, 7, "not closed"),
            ("{\"a\"\u{FF1A} 1}", 1, 5, "colon"),
            ("{\"a\": 1\u{FF0C} \"b\": 2}", 1, 8, "comma"),
            ("{\u{A0}\"a\": 1}", 1, 2, "U+00A0"),
            ("{\"a\": True}", 1, 7, "True"),
        ] {
            let problem = parse(text.as_bytes()).expect_err(text);
            assert_eq!(problem.position.line, line, "{text}: {problem:?}");
            assert!(problem.position.column.abs_diff(column) <= 1, "{text}: {problem:?}");
            assert!(problem.message.contains(words), "{text}: {problem:?}");
        }
    }

    #[test]
    fn a_bad_byte_is_named_with_its_place() {
        let problem = parse(b"{\"a\":\n \"x\xFFy\"}").expect_err("not UTF-8");
        assert_eq!((problem.position.line, problem.position.column), (2, 4));
    }

    #[test]
    fn thousands_of_brackets_are_refused_and_sixty_four_are_not() {
        assert!(parse("[".repeat(100_000).as_bytes()).expect_err("deep").message.contains("64"));
        let fine = format!("{}{}", "[".repeat(64), "]".repeat(64));
        assert!(parse(fine.as_bytes()).is_ok());
        assert!(parse(format!("[\"{}\"]", "[".repeat(100)).as_bytes()).is_ok());
    }

    #[test]
    fn hidden_characters_are_noted_where_they_stand_and_not_read() {
        let text = "{\"a\u{E0061}\": [1, \"x\u{E0062}\u{E0063}\"], \"b\": \"\\udb40\\udc64\"}";
        let document = parse(text.as_bytes()).expect("fine");
        assert_eq!(document.value.to_string(), r#"{"a":[1,"x"],"b":""}"#);
        let noted: Vec<_> =
            document.hidden.iter().map(|h| (h.place.pointer.as_str(), h.count, h.spelt.as_str())).collect();
        assert_eq!(noted, [("/a", 1, "a"), ("/a/1", 2, "bc"), ("/b", 1, "d")]);
    }

    #[test]
    fn repeated_keys_are_found_at_any_depth() {
        let document = parse(br#"{"a": 1, "b": [{"c": {"d": 1, "d": 2}}], "a": 3}"#).expect("fine");
        let pointers: Vec<_> = document.duplicates.iter().map(|d| d.pointer.as_str().to_owned()).collect();
        assert_eq!(pointers, ["/b/0/c/d", "/a"]);
        assert_eq!(document.value["a"].to_string(), "3");
    }
}
