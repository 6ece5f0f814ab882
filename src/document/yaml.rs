//! YAML as far as front matter and the blocks of steps need it: mappings, lists and scalars, with places.
//!
//! A plain scalar is what it would be in JSON (`null`, `true`, `false`, a number with its digits), and a
//! text otherwise: no date, no `yes`, no octal number. Anchors, tags, merges and directives are refused, so
//! that a file is never larger in memory than on disk.

mod words;

use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{Event, Parser, ScalarStyle};
use serde_json::{Number, Value};

use super::tree::{Member, Style, Tree, TreeKind};
use super::{Duplicate, MAX_NESTING, Pointer, Span};
use crate::names::{legible, quoted};

/// The most values and keys of one piece of YAML: what a person writes has a few hundred.
const MOST_EVENTS: usize = 20_000;

/// Keys whose values are mappings in all files that are read.
const MAPPINGS: [&str; 8] = ["inputs", "results", "outputs", "map", "sets", "args", "retry", "set"];

/// What is said of a tab.
const TAB: (&str, &str) = ("a tab before the words; YAML is indented by blanks", "write blanks instead");

/// Why a piece of YAML can't be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlProblem {
    /// The fact.
    pub message: String,
    /// What to do about it.
    pub hint: &'static str,
    /// Where, in bytes of the file.
    pub span: Span,
}

/// A piece of YAML that was read.
#[derive(Debug, Clone)]
pub struct Yaml {
    /// Its value; none where nothing is written.
    pub tree: Option<Tree>,
    /// Keys that stand twice in one mapping.
    pub duplicates: Vec<Duplicate>,
}

/// The keys of a mapping: where each stands first, and which of the duplicates it has.
type SeenKeys = HashMap<String, (Span, Option<usize>)>;

/// A collection whose parts are being read.
enum Open {
    Map { start: usize, members: Vec<Member>, key: Option<(String, Span)>, seen: SeenKeys },
    List { start: usize, items: Vec<Tree> },
}

impl Yaml {
    /// Reads the bytes of a file's text that are YAML.
    ///
    /// # Errors
    /// When they are no YAML, nested deeper than [`MAX_NESTING`], or use what is not read.
    pub fn read(text: &str, range: Range<usize>) -> Result<Self, YamlProblem> {
        let base = range.start;
        let source = text.get(range).unwrap_or_default();
        let options = granit_parser::options! {
            flow_nesting_limit: MAX_NESTING,
            block_nesting_limit: MAX_NESTING,
            disallow_directives: true,
        };
        let mut reading = Reading { source, base, open: Vec::new(), root: None, duplicates: Vec::new() };
        let mut parser = Parser::new_from_str_with_options(source, options);
        let mut events = 0_usize;
        while let Some(next) = parser.next_event() {
            let (event, span) = next.map_err(|error| reading.in_words(&error))?;
            let place = span.byte_range().unwrap_or_default();
            events += 1;
            if events > MOST_EVENTS {
                return Err(reading.problem(
                    place,
                    format!("more than {MOST_EVENTS} values"),
                    "move what is not needed out of the file",
                ));
            }
            reading.take(event, place)?;
        }
        Ok(Self { tree: reading.root, duplicates: reading.duplicates })
    }
}

struct Reading<'t> {
    source: &'t str,
    base: usize,
    open: Vec<Open>,
    root: Option<Tree>,
    duplicates: Vec<Duplicate>,
}

impl Reading<'_> {
    fn span(&self, place: &Range<usize>) -> Span {
        Span { start: self.base + place.start, end: self.base + place.end.max(place.start) }
    }

    fn problem(&self, place: Range<usize>, message: impl Into<String>, hint: &'static str) -> YamlProblem {
        YamlProblem { message: message.into(), hint, span: self.span(&place) }
    }

    fn take(&mut self, event: Event<'_>, place: Range<usize>) -> Result<(), YamlProblem> {
        match event {
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                Err(self.problem(place, "an alias, which is not read here", "write the value out, or quote the text"))
            }
            Event::Scalar(_, _, 1.., _) | Event::SequenceStart(_, 1.., _) | Event::MappingStart(_, 1.., _) => {
                Err(self.problem(place, "an anchor, which is not read here", "remove the &name, or quote the text"))
            }
            Event::Scalar(_, _, _, Some(_))
            | Event::SequenceStart(_, _, Some(_))
            | Event::MappingStart(_, _, Some(_)) => {
                Err(self.problem(place, "a tag, which is not read here", "remove the !tag, or quote the text"))
            }
            Event::Scalar(text, style, ..) => self.scalar(&text, style, place),
            Event::SequenceStart(..) => {
                self.no_key(&place)?;
                self.open.push(Open::List { start: place.start, items: Vec::new() });
                Ok(())
            }
            Event::MappingStart(..) => {
                self.no_key(&place)?;
                let (members, key, seen) = (Vec::new(), None, HashMap::new());
                self.open.push(Open::Map { start: place.start, members, key, seen });
                Ok(())
            }
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Open::List { start, items }) => {
                    let tree = Tree::list(self.whole(start, &place), items);
                    self.put(tree, &place)
                }
                Some(Open::Map { start, members, .. }) => {
                    let tree = Tree::map(self.whole(start, &place), members);
                    self.put(tree, &place)
                }
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// A collection without the line breaks and blanks behind it.
    fn whole(&self, start: usize, end: &Range<usize>) -> Span {
        let written = self.source.get(start..end.end).unwrap_or_default().trim_end();
        Span { start: self.base + start, end: self.base + start + written.len() }
    }

    /// A collection can't be a key; where one seems to be, a placeholder is not quoted.
    fn no_key(&self, place: &Range<usize>) -> Result<(), YamlProblem> {
        if let Some(Open::Map { key: None, start, .. }) = self.open.last() {
            let line = self.line(*start);
            return Err(self.unquoted(line.clone()).unwrap_or_else(|| {
                self.problem(place.clone(), "a key that is no text", "a key is a word, or a text in quotation marks")
            }));
        }
        Ok(())
    }

    /// The key of the line before, where no blank stands behind its colon.
    fn line_without_blank(&self, begin: usize) -> Option<Range<usize>> {
        let above = self.source.get(..begin)?.trim_end();
        let start = above.rfind('\n').map_or(0, |end| end + 1);
        let line = above.get(start..)?;
        let (key, value) = line.trim_start().split_once(':')?;
        let word = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        (word && value.starts_with(|c: char| c.is_alphanumeric())).then_some(start..above.len())
    }

    /// The first value above a line that begins with a quotation mark which is open at the end of its own line, where
    /// that line holds another mark, or nothing closes it.
    fn open_quote(&self, begin: usize, at: usize) -> Option<Range<usize>> {
        let mut start = 0;
        let here = self.source.get(self.line(begin)).unwrap_or_default();
        let at_end = self.source.get(at..).is_none_or(|rest| rest.trim().is_empty());
        for line in self.source.split_inclusive('\n') {
            if start >= begin {
                return None;
            }
            let plain = line.trim_end();
            let value = plain.split_once(": ").map_or("", |(_, value)| value.trim_start());
            let open = ['"', '\''].into_iter().any(|mark| {
                let marks = value.replace("\\\"", "").matches(mark).count();
                value.starts_with(mark) && marks % 2 == 1 && (here.contains(mark) || at_end)
            });
            if open {
                return Some(start + plain.len() - value.len()..start + plain.len());
            }
            start += line.len();
        }
        None
    }

    /// The first line from a byte on that begins with a tab.
    fn line_with_tab(&self, begin: usize) -> Option<Range<usize>> {
        let rest = self.source.get(begin..)?;
        let tab = |line: &&str| line.trim_start_matches(' ').starts_with('\t');
        let line = rest.lines().find(tab)?;
        let start = begin + rest.find(line)?;
        Some(start..start + line.len())
    }

    /// The line above, where it has no colon and is no item of a list.
    fn line_without_colon(&self, begin: usize) -> Option<Range<usize>> {
        let above = self.source.get(..begin)?.trim_end();
        let start = above.rfind('\n').map_or(0, |end| end + 1);
        let line = above.get(start..)?;
        (!line.contains(':') && !line.is_empty() && !line.starts_with([' ', '-', '#'])).then_some(start..above.len())
    }

    /// The last value above a line that begins with a bracket and is open at that line, which begins a key.
    fn open_bracket(&self, begin: usize) -> Option<Range<usize>> {
        let here = self.source.get(self.line(begin)).unwrap_or_default();
        let key = here.split_once(':').map_or("", |(key, _)| key);
        if !here.is_empty() && (key.is_empty() || key.contains([' ', ',', '{', '['])) {
            return None;
        }
        let above = self.source.get(..begin)?;
        let mut start = 0;
        let mut found = None;
        for line in above.split_inclusive('\n') {
            let plain = line.trim_end();
            let value = plain.split_once(": ").map_or("", |(_, value)| value.trim_start());
            if value.starts_with(['[', '{']) {
                found = Some(start + plain.len() - value.len()..start + plain.len());
            }
            start += line.len();
        }
        let text = above.get(found.clone()?.start..)?;
        let count = |signs: [char; 2]| text.matches(signs).count();
        found.filter(|_| count(['[', '{']) > count([']', '}']))
    }

    /// The words of a line with a key whose column is another than that of the key above, which has its value.
    fn other_column(&self, line: &Range<usize>) -> Option<Range<usize>> {
        let column = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let text = self.source.get(line.clone())?;
        let above = self.source.get(..line.start)?.lines().rev().find(|line| !line.trim().is_empty())?;
        let is_key = |line: &str| {
            let key = line.trim_start().split_once(':').map_or("", |(key, _)| key);
            !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '$'))
        };
        let has_value = above.split_once(':').is_some_and(|(_, value)| !value.trim().is_empty());
        let other = is_key(text) && is_key(above) && has_value && column(text) > column(above);
        other.then(|| line.start + column(text)..line.start + text.trim_end().len())
    }

    /// The line in which a byte stands, from there on.
    fn line(&self, at: usize) -> Range<usize> {
        let length = self.source.get(at..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
        at..at + length
    }

    /// What is said of a line with a placeholder in double braces that stands in no quotation marks.
    fn unquoted(&self, line: Range<usize>) -> Option<YamlProblem> {
        let text = self.source.get(line.clone())?;
        let from = text.find("{{")?;
        let value = text.get(from..)?.split_inclusive("}}").next().unwrap_or_default();
        let shown = quoted(value);
        let message = format!("a value that begins with {{{{ has to stand in quotation marks: {shown}");
        Some(self.problem(line.start + from..line.start + from + value.len(), message, "quote it: \"{{ … }}\""))
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, place: Range<usize>) -> Result<(), YamlProblem> {
        let written = self.source.get(place.clone()).unwrap_or_default();
        if let Some(Open::Map { key: key @ None, seen, .. }) = self.open.last_mut() {
            let name = if style == ScalarStyle::Plain { written } else { text };
            let name = legible(name).into_owned();
            let span = Span { start: self.base + place.start, end: self.base + place.end };
            if style == ScalarStyle::Plain && name == "<<" {
                return Err(self.problem(place, "a merge key, which is not read here", "write the members out"));
            }
            if let Some((first, number)) = seen.get_mut(&name) {
                match number.and_then(|number: usize| self.duplicates.get_mut(number)) {
                    Some(known) => known.times += 1,
                    None => {
                        let pointer = Pointer::root().key(&name);
                        *number = Some(self.duplicates.len());
                        self.duplicates.push(Duplicate { pointer, first: *first, again: span, times: 2 });
                    }
                }
            } else {
                seen.insert(name.clone(), (span, None));
            }
            *key = Some((name, span));
            return Ok(());
        }
        let (value, style) = match style {
            ScalarStyle::Plain if written.is_empty() => (Value::Null, Style::Empty),
            ScalarStyle::Plain => (plain(text), Style::Plain),
            ScalarStyle::SingleQuoted => (Value::String(legible(text).into_owned()), Style::Single),
            ScalarStyle::DoubleQuoted => (Value::String(legible(text).into_owned()), Style::Double),
            ScalarStyle::Literal | ScalarStyle::Folded => (Value::String(legible(text).into_owned()), Style::Block),
        };
        let span = if style == Style::Block { self.whole(place.start, &place) } else { self.span(&place) };
        self.put(Tree { span, kind: TreeKind::Scalar(value, style) }, &place)
    }

    fn put(&mut self, tree: Tree, place: &Range<usize>) -> Result<(), YamlProblem> {
        match self.open.last_mut() {
            None if self.root.is_some() => {
                return Err(self.problem(place.clone(), "a second document", "remove the line of --- or ..."));
            }
            // Nothing but comments.
            None if tree.is_empty() => {}
            None => self.root = Some(tree),
            Some(Open::List { items, .. }) => items.push(tree),
            Some(Open::Map { members, key, .. }) => {
                if let Some((key, at)) = key.take() {
                    members.push(Member { key, at, tree });
                }
            }
        }
        Ok(())
    }

    /// A parser's error, in words for somebody who wrote a few lines.
    fn in_words(&self, error: &granit_parser::ScanError) -> YamlProblem {
        let at = error.marker().byte_offset().unwrap_or(0).min(self.source.len());
        if matches!(error.kind(), granit_parser::ErrorKind::RecursionLimitExceeded) {
            let hint = "flatten the data; no field that is read lies that deep";
            return self.problem(at..at + 1, format!("nested deeper than {MAX_NESTING} levels"), hint);
        }
        let begin = self.source.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
        let line = self.line(begin);
        let text = self.source.get(line.clone()).unwrap_or_default();
        if super::merge_line(text.trim_end()) {
            let (message, hint) = super::unfinished_merge(text.trim_end());
            return self.problem(line, message, hint);
        }
        if text.contains(": {{")
            && let Some(problem) = self.unquoted(line.clone())
        {
            return problem;
        }
        if text.trim_start_matches(' ').starts_with('\t') || text.starts_with('\t') {
            return self.problem(line, TAB.0, TAB.1);
        }
        if let Some(open) = self.open_quote(begin, at) {
            let message = "the quotation mark that begins this value is not closed on its line";
            return self.problem(open, message, "close the quotation mark where the value ends");
        }
        let (before, after) = text.split_once(": ").unwrap_or((text, ""));
        if after.contains(": ") && !after.starts_with(['"', '\'', '{', '[']) {
            let from = line.start + before.len() + 2;
            if MAPPINGS.contains(&before.trim()) {
                let message = format!("`{}` takes names with what belongs to each", before.trim());
                let hint = "write them between braces, `{ name: value }`, or each on a line of its own below it";
                return self.problem(from..line.end, message, hint);
            }
            let message = "a value with a colon and a blank in it has to stand in quotation marks";
            return self.problem(from..line.end, message, "put the whole value in quotation marks");
        }
        if matches!(after.chars().next(), Some('@' | '`' | '%' | '*' | '&' | '!' | '|' | '>' | ',')) && after.len() > 1
        {
            let from = line.start + before.len() + 2;
            let message = format!(
                "a value that begins with {} has to stand in quotation marks",
                quoted(after.get(..1).unwrap_or_default())
            );
            return self.problem(from..line.end, message, "put the whole value in quotation marks");
        }
        let closed = match after.chars().next() {
            Some('{') => after.find('}'),
            Some('[') => after.find(']'),
            _ => None,
        };
        let from = line.start + before.len() + 2;
        if closed.is_some_and(|end| {
            let more = after.get(end + 1..).unwrap_or_default();
            at > from + end && more.trim_start().starts_with(char::is_alphanumeric)
        }) {
            let message = "more words stand behind the bracket that closes the value";
            return self.problem(from..line.end, message, "put the whole value in quotation marks");
        }
        if let Some(line) = self.line_without_blank(begin) {
            return self.problem(line, "there is no blank behind the colon", "write `key: value`");
        }
        if let Some(line) = self.other_column(&line) {
            let message = "this key begins in another column than those around it";
            return self.problem(line, message, "let keys that belong together begin in one column");
        }
        if words::in_brackets(error.kind())
            && let Some(open) = self.open_bracket(begin)
        {
            let message = "the bracket that begins this value is not closed";
            return self.problem(open, message, "close it, or put the whole value in quotation marks");
        }
        if matches!(error.kind(), granit_parser::ErrorKind::MappingValueNotAllowed)
            && let Some(line) = self.line_without_colon(begin)
        {
            return self.problem(line, words::NO_COLON.0, words::NO_COLON.1);
        }
        let (message, hint) = words::told(error.kind());
        if message == TAB.0
            && let Some(line) = self.line_with_tab(begin)
        {
            return self.problem(line, message, hint);
        }
        self.problem(at..at + 1, message, hint)
    }
}

/// What a plain scalar is: what JSON would make of it, else a text.
fn plain(text: &str) -> Value {
    match text {
        "null" => Value::Null,
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        // The digits stay as they were written.
        _ if is_number(text) => Value::Number(Number::from_string_unchecked(text.to_owned())),
        _ => Value::String(legible(text).into_owned()),
    }
}

/// Whether a text is a number of JSON.
fn is_number(text: &str) -> bool {
    let begins = text.strip_prefix('-').unwrap_or(text).starts_with(|c: char| c.is_ascii_digit());
    begins && serde_json::from_str::<Number>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Value, YamlProblem> {
        Yaml::read(text, 0..text.len()).map(|yaml| yaml.tree.map_or(Value::Null, Tree::into_value))
    }

    #[test]
    fn plain_scalars_are_what_they_are_in_json_and_text_otherwise() {
        for (written, expected) in [
            ("a: 1.10", r#"{"a":1.10}"#),
            ("a: -0.5e3", r#"{"a":-0.5e3}"#),
            (
                "a: [true, yes, null, ~, 010, 0x1f, .5, 2026-05-04, '1']",
                r#"{"a":[true,"yes",null,"~","010","0x1f",".5","2026-05-04","1"]}"#,
            ),
            ("a: |\n  x\n   y\nb: >-\n  x\n  y", r#"{"a":"x\n y\n","b":"x y"}"#),
            ("1: 2\ntrue: x", r#"{"1":2,"true":"x"}"#),
        ] {
            assert_eq!(read(written).expect(written).to_string(), expected);
        }
    }

    #[test]
    fn what_could_grow_or_run_is_refused_where_it_stands() {
        for (written, words) in [
            ("a: &x 1", "anchor"),
            ("a: *x", "quotation marks"),
            ("a: &x 1\nb: [*x]", "anchor"),
            ("a: !!str 1", "tag"),
            ("<<: 1", "merge"),
            ("a: {{ email }}", "quotation marks"),
            ("a: {{ email }} and more", "quotation marks"),
            ("a: b: c", "quotation marks"),
            ("a: 1\n---\nb: 2", "second document"),
            ("%YAML 1.2\n---\na: 1", "directive"),
            ("a:\n\tb: 1", "tab"),
        ] {
            let problem = read(written).expect_err(written);
            assert!(problem.message.contains(words), "{written}: {problem:?}");
        }
        let deep = format!("a: {}", "[".repeat(100_000));
        assert!(read(&deep).expect_err("deep").message.contains("64"));
        assert!(read(&format!("a: [{}]", "x,".repeat(300_000))).expect_err("long").message.contains("20000"));
    }
}
