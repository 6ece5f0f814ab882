//! JSON with placeholders in its texts: the arguments of an external tool, and what a step hands to
//! another flow.
//!
//! Braces are common in arguments, so the placeholder is `{{ name }}` or `{{ name | default }}` there;
//! what is handed to a flow has `{name}`, as texts have. A
//! text that is exactly one placeholder takes the value with its type; inside a longer text it is
//! text. Nothing is guessed, keys are left alone, and what is put in is never looked at again.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{named, placeholders};
use crate::document::Pointer;
use crate::model::{Syntax, text_of};

/// One placeholder of a stencil.
#[derive(Debug, Clone, PartialEq)]
pub struct Hole {
    /// The name, in NFC.
    pub name: String,
    /// The dot path after the name; empty when there is none.
    pub path: Vec<String>,
    /// What stands in when nobody gives the name.
    pub default: Option<Value>,
    /// Where its text stands, below the whole.
    pub at: Pointer,
    /// Whether the text is nothing but this placeholder.
    pub alone: bool,
    /// The placeholder as it is written, braces included.
    pub written: String,
}

impl Hole {
    /// The name and path as written.
    pub fn spelt(&self) -> String {
        std::iter::once(&self.name).chain(&self.path).map(String::as_str).collect::<Vec<_>>().join(".")
    }
}

/// JSON with placeholders, taken apart once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stencil {
    written: Map<String, Value>,
    members: Vec<(String, StencilPart)>,
    holes: Vec<Hole>,
}

#[derive(Debug, Clone, PartialEq)]
enum StencilPart {
    Fixed(Value),
    Text(Vec<Piece>),
    List(Vec<StencilPart>),
    Object(Vec<(String, StencilPart)>),
}

#[derive(Debug, Clone, PartialEq)]
enum Piece {
    Text(String),
    Hole(usize),
}

/// What fills a hole.
#[derive(Debug, Clone, PartialEq)]
pub enum Filling<'v> {
    /// A value, with its type.
    Value(Cow<'v, Value>),
    /// A text.
    Text(Cow<'v, str>),
    /// Nobody gives it: its default, else the member of which it is all is left out, and inside a
    /// longer text it is empty.
    Nothing,
    /// The placeholder stays as it is written.
    Left,
}

/// Gives what fills the hole of that number.
type Fill<'f, 'v, E> = &'f mut dyn FnMut(usize, &'v Hole) -> Result<Filling<'v>, E>;

impl Stencil {
    /// Takes arguments apart.
    pub fn of(arguments: &Map<String, Value>) -> Self {
        Self::spelt(arguments, Syntax::Double)
    }

    /// Takes values apart whose placeholders are spelt this way.
    pub fn spelt(arguments: &Map<String, Value>, syntax: Syntax) -> Self {
        let mut holes = Vec::new();
        let root = Pointer::root();
        let members = arguments
            .iter()
            .map(|(key, value)| (key.clone(), part(value, &root.key(key), syntax, &mut holes)))
            .collect();
        Self { written: arguments.clone(), members, holes }
    }

    /// As they are written.
    pub fn written(&self) -> &Map<String, Value> {
        &self.written
    }

    /// The placeholders, in the order in which they are written.
    pub fn holes(&self) -> &[Hole] {
        &self.holes
    }

    /// Puts values in: `fill` gives what fills the hole of that number.
    ///
    /// # Errors
    /// Whatever `fill` says.
    pub fn fill<'v, E>(
        &'v self,
        mut fill: impl FnMut(usize, &'v Hole) -> Result<Filling<'v>, E>,
    ) -> Result<Map<String, Value>, E> {
        self.members_of(&self.members, &mut fill)
    }

    fn members_of<'v, E>(
        &'v self,
        members: &'v [(String, StencilPart)],
        fill: Fill<'_, 'v, E>,
    ) -> Result<Map<String, Value>, E> {
        let mut object = Map::new();
        for (key, part) in members {
            if let Some(value) = self.value_of(part, fill)? {
                object.insert(key.clone(), value);
            }
        }
        Ok(object)
    }

    /// A part filled; none where it is one hole that nothing fills.
    fn value_of<'v, E>(&'v self, part: &'v StencilPart, fill: Fill<'_, 'v, E>) -> Result<Option<Value>, E> {
        Ok(Some(match part {
            StencilPart::Fixed(value) => value.clone(),
            StencilPart::List(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    list.extend(self.value_of(item, fill)?);
                }
                Value::Array(list)
            }
            StencilPart::Object(members) => Value::Object(self.members_of(members, fill)?),
            StencilPart::Text(pieces) => match pieces.as_slice() {
                [Piece::Hole(number)] => {
                    let Some(hole) = self.holes.get(*number) else { return Ok(None) };
                    match fill(*number, hole)? {
                        Filling::Value(value) => value.into_owned(),
                        Filling::Text(text) => Value::String(text.into_owned()),
                        Filling::Nothing => return Ok(hole.default.clone()),
                        Filling::Left => Value::String(hole.written.clone()),
                    }
                }
                pieces => {
                    let mut text = String::new();
                    for piece in pieces {
                        match piece {
                            Piece::Text(more) => text.push_str(more),
                            Piece::Hole(number) => {
                                let Some(hole) = self.holes.get(*number) else { continue };
                                match fill(*number, hole)? {
                                    Filling::Value(value) => text.push_str(&text_of(&value)),
                                    Filling::Text(more) => text.push_str(&more),
                                    Filling::Nothing => {
                                        text.push_str(&hole.default.as_ref().map(text_of).unwrap_or_default());
                                    }
                                    Filling::Left => text.push_str(&hole.written),
                                }
                            }
                        }
                    }
                    Value::String(text)
                }
            },
        }))
    }
}

fn part(value: &Value, at: &Pointer, syntax: Syntax, holes: &mut Vec<Hole>) -> StencilPart {
    let before = holes.len();
    let part = match value {
        Value::String(text) => StencilPart::Text(match syntax {
            Syntax::Single => single_pieces(text, at, holes),
            Syntax::Double => pieces(text, at, holes),
        }),
        Value::Array(items) => StencilPart::List(
            items.iter().enumerate().map(|(place, item)| part(item, &at.item(place), syntax, holes)).collect(),
        ),
        Value::Object(members) => {
            let member = |(key, value): (&String, &Value)| (key.clone(), part(value, &at.key(key), syntax, holes));
            StencilPart::Object(members.iter().map(member).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => return StencilPart::Fixed(value.clone()),
    };
    // What has no hole is kept whole.
    if holes.len() == before { StencilPart::Fixed(value.clone()) } else { part }
}

fn pieces(text: &str, at: &Pointer, holes: &mut Vec<Hole>) -> Vec<Piece> {
    let (mut pieces, mut plain) = (Vec::new(), String::new());
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        let (before, opened) = rest.split_at(start);
        plain.push_str(before);
        let inside = opened.get(2..).unwrap_or_default();
        if let Some((name, path, default, after)) = hole(inside) {
            if !plain.is_empty() {
                pieces.push(Piece::Text(std::mem::take(&mut plain)));
            }
            pieces.push(Piece::Hole(holes.len()));
            let written = opened.get(..opened.len() - after.len()).unwrap_or_default().to_owned();
            holes.push(Hole { name, path, default, at: at.clone(), alone: false, written });
            rest = after;
        } else {
            // One brace further, so that `{{{ name }}` finds its placeholder too.
            plain.push('{');
            rest = opened.get(1..).unwrap_or_default();
        }
    }
    plain.push_str(rest);
    if !plain.is_empty() {
        pieces.push(Piece::Text(plain));
    }
    if let [Piece::Hole(number)] = pieces.as_slice()
        && let Some(hole) = holes.get_mut(*number)
    {
        hole.alone = true;
    }
    pieces
}

/// The same for placeholders in single braces.
fn single_pieces(text: &str, at: &Pointer, holes: &mut Vec<Hole>) -> Vec<Piece> {
    let (mut pieces, mut end) = (Vec::new(), 0);
    for placeholder in placeholders(text, Syntax::Single) {
        let range = placeholder.range;
        if let Some(before) = text.get(end..range.start).filter(|before| !before.is_empty()) {
            pieces.push(Piece::Text(before.to_owned()));
        }
        pieces.push(Piece::Hole(holes.len()));
        holes.push(Hole {
            name: placeholder.name,
            path: placeholder.path,
            default: None,
            at: at.clone(),
            alone: range == (0..text.len()),
            written: text.get(range.clone()).unwrap_or_default().to_owned(),
        });
        end = range.end;
    }
    if let Some(rest) = text.get(end..).filter(|rest| !rest.is_empty()) {
        pieces.push(Piece::Text(rest.to_owned()));
    }
    pieces
}

type FoundHole<'t> = (String, Vec<String>, Option<Value>, &'t str);

/// Reads what follows `{{`: name and path, perhaps a default, and the text after `}}`.
///
/// No search goes beyond the next `{`, where the next placeholder may begin, so all of them together look
/// at a text once or twice, however many braces it has.
fn hole(inside: &str) -> Option<FoundHole<'_>> {
    let end = inside.find(['{', '}', '|'])?;
    let (spelt, rest) = inside.split_at(end);
    let (name, path) = named(spelt.trim())?;
    if let Some(after) = rest.strip_prefix("}}") {
        return Some((name, path, None, after));
    }
    let rest = rest.strip_prefix('|')?.trim_start();
    // A JSON literal may hold braces of its own, so it is read as JSON and not up to the next `}}`.
    let mut literals = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
    if let Some(Ok(default)) = literals.next()
        && let Some(after) = rest.get(literals.byte_offset()..).map(str::trim_start)
        && let Some(after) = after.strip_prefix("}}")
    {
        return Some((name, path, Some(default), after));
    }
    let (word, after) = rest.split_at(rest.find(['{', '}', '"', '|'])?);
    let (word, after) = (word.trim(), after.strip_prefix("}}")?);
    (!word.is_empty()).then(|| (name, path, Some(Value::String(word.to_owned())), after))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use serde_json::json;

    use super::*;

    #[allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]
    fn filled(arguments: Value, values: Value) -> Value {
        let stencil = Stencil::of(arguments.as_object().expect("an object"));
        let fill = |_: usize, hole: &Hole| -> Result<Filling<'_>, Infallible> {
            Ok(match values.get(&hole.name) {
                Some(Value::String(text)) => Filling::Text(Cow::Borrowed(text)),
                Some(value) => Filling::Value(Cow::Borrowed(value)),
                None => Filling::Nothing,
            })
        };
        Value::Object(stencil.fill(fill).expect("never fails"))
    }

    #[test]
    fn a_text_that_is_one_placeholder_takes_the_value_with_its_type() {
        let arguments = json!({"count": "{{ n }}", "say": "n is {{n}}", "deep": [{"list": "{{ items }}"}]});
        let values = json!({"n": 42, "items": [1, "two"]});
        assert_eq!(filled(arguments, values), json!({"count": 42, "say": "n is 42", "deep": [{"list": [1, "two"]}]}));
    }

    #[test]
    fn nothing_is_guessed_and_nothing_is_looked_at_again() {
        let arguments = json!({"a": "{{ a }}", "b": "{{ b }}{{ a }}", "42": "42", "{{ a }}": true});
        let values = json!({"a": "42", "b": "{{ a }}"});
        assert_eq!(filled(arguments, values), json!({"a": "42", "b": "{{ a }}42", "42": "42", "{{ a }}": true}));
    }

    #[test]
    fn defaults_are_json_literals_or_bare_words() {
        let arguments = json!({
            "number": "{{ a | 7 }}", "word": "{{ a | full page }}", "text": "{{ a | \"7\" }}", "none": "{{ a | null }}",
            "object": "{{ a | {\"x\": {\"y\": []}} }}", "within": "is {{ a | 7 }}!", "given": "{{ b | 7 }}",
        });
        assert_eq!(
            filled(arguments, json!({"b": false})),
            json!({"number": 7, "word": "full page", "text": "7", "none": null, "object": {"x": {"y": []}},
                   "within": "is 7!", "given": false})
        );
    }

    #[test]
    fn a_member_that_nobody_gives_is_left_out_and_a_text_around_it_stays() {
        assert_eq!(
            filled(json!({"a": "{{ a }}", "b": ["{{ a }}", 1], "c": "x{{ a }}y"}), json!({})),
            json!({"b": [1], "c": "xy"})
        );
    }

    #[test]
    fn what_is_spelt_like_no_placeholder_is_text() {
        for text in ["{ a }", "{{ a b }}", "{{}}", "{{ a", "{{ a }", "{{ a | }}", "{{ a | {b }}", "{% a %}", "}}{{"] {
            assert_eq!(filled(json!({"t": text}), json!({"a": 1})), json!({"t": text}), "{text}");
        }
        assert_eq!(filled(json!({"t": "{{{ a }}}"}), json!({"a": 1})), json!({"t": "{1}"}));
    }

    #[test]
    fn a_text_of_a_megabyte_of_braces_takes_no_longer_than_one_of_words() {
        // Quadratic searching takes minutes for each of them, which no run of the tests survives.
        for (piece, holes) in [
            ("{", false),
            ("{{a|", false),
            ("{{a|[\"", false),
            ("{{a|\\\"", false),
            ("{{a}", false),
            ("{{a | b c ", false),
            ("{{a}}", true),
            ("{{a|b}}", true),
        ] {
            let count = (1 << 20) / piece.len();
            let arguments = json!({"t": piece.repeat(count)});
            let stencil = Stencil::of(arguments.as_object().expect("an object"));
            assert_eq!(stencil.holes().len(), if holes { count } else { 0 }, "{piece}");
        }
    }

    #[test]
    fn holes_know_where_they_stand() {
        let stencil = Stencil::of(json!({"a/b": [0, "{{ x.y.0 }} and {{ z }}"]}).as_object().expect("an object"));
        let told: Vec<_> =
            stencil.holes().iter().map(|hole| (hole.spelt(), hole.at.as_str().to_owned(), hole.alone)).collect();
        assert_eq!(
            told,
            [("x.y.0".to_owned(), "/a~1b/1".to_owned(), false), ("z".to_owned(), "/a~1b/1".to_owned(), false)]
        );
    }
}
