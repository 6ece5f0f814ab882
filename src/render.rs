//! Placeholders and filling them, in one pass.
//!
//! A placeholder is `{name}`, innermost braces only; a dot path may follow the name. There are no
//! escapes: a brace group that nobody fills is text, byte for byte, and what is put in is never
//! looked at again. This room knows texts, not where a value comes from.

mod lookalike;
mod stencil;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use serde_json::Value;

use crate::model::{Syntax, Template, member_of};
use crate::names::{nfc, variable_char};

pub use lookalike::{Lookalike, LookalikeKind, lookalikes, signed};
pub use stencil::{Filling, Hole, Stencil};

/// The longest text inside a pair of braces that is taken for a name, in bytes.
const LONGEST_GROUP: usize = 1024;

/// A brace group that may be filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder {
    /// The bytes it takes in the text, braces included.
    pub range: Range<usize>,
    /// The name, in NFC.
    pub name: String,
    /// The dot path after the name; empty when there is none.
    pub path: Vec<String>,
}

impl Placeholder {
    /// Whether the group reads as a part of code rather than as a name that is to be filled in: `{0}`,
    /// `${HOME}`, the arguments of a LaTeX command. Nobody is warned of one that stays.
    pub fn is_code(&self, text: &str) -> bool {
        let start = self.range.start;
        // As far back as a command may be long, so that a text of nothing but groups stays cheap.
        let from = text.ceil_char_boundary(start.saturating_sub(200));
        let before = text.get(from..start).unwrap_or_default();
        let word = before.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '}' || c == '{');
        !self.name.starts_with(|c: char| c == '_' || c.is_alphabetic())
            || before.ends_with('$')
            || (word.ends_with('\\') && word.len() < before.len())
    }

    /// The name and path as written between the braces.
    pub fn spelt(&self) -> String {
        let mut text = self.name.clone();
        for step in &self.path {
            text.push('.');
            text.push_str(step);
        }
        text
    }
}

/// A pair of braces with no brace between them.
struct Group<'t> {
    /// The bytes it takes in the text, braces included; where another pair stands right around it, that one's.
    range: Range<usize>,
    /// Whether another pair stands right around it.
    doubled: bool,
    /// What stands between.
    inside: &'t str,
}

impl Group<'_> {
    /// The bytes of the inner pair.
    fn inner(&self) -> Range<usize> {
        if self.doubled { self.range.start + 1..self.range.end - 1 } else { self.range.clone() }
    }
}

/// Every innermost pair of braces of a text, in order.
fn groups(text: &str) -> impl Iterator<Item = Group<'_>> {
    let bytes = text.as_bytes();
    let mut done = 0;
    text.match_indices('}').filter_map(move |(at, _)| {
        let from = std::mem::replace(&mut done, at + 1);
        let start = from + text.get(from..at)?.rfind('{')?;
        let doubled = start > 0 && bytes.get(start - 1) == Some(&b'{') && bytes.get(at + 1) == Some(&b'}');
        let range = if doubled { start - 1..at + 2 } else { start..at + 1 };
        Some(Group { range, doubled, inside: text.get(start + 1..at).unwrap_or_default() })
    })
}

/// Every brace group of a text that is spelt like a placeholder, in order.
pub fn placeholders(text: &str, syntax: Syntax) -> Vec<Placeholder> {
    let of = |group: Group<'_>| {
        let (range, inside) = match syntax {
            Syntax::Single => (group.inner(), group.inside),
            Syntax::Double if group.doubled => (group.range, group.inside.trim()),
            Syntax::Double => return None,
        };
        named(inside).map(|(name, path)| Placeholder { range, name, path })
    };
    groups(text).filter_map(of).collect()
}

/// The brace groups of a text, and the distinct names among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// The brace groups, in order.
    pub placeholders: Vec<Placeholder>,
    /// For each brace group, the number of its name.
    pub name_of: Vec<usize>,
    /// The distinct names, in order of appearance, each as the first brace group that has it.
    pub names: Vec<usize>,
    numbers: HashMap<String, usize>,
}

impl Outline {
    /// Looks through a text once.
    pub fn of(text: &str, syntax: Syntax) -> Self {
        Self::made_of(placeholders(text, syntax))
    }

    /// The same of a text of which some names stay text.
    pub fn without(text: &str, syntax: Syntax, literal: &[String]) -> Self {
        let literal: HashSet<String> = literal.iter().map(|name| nfc(name)).collect();
        let groups = placeholders(text, syntax).into_iter();
        Self::made_of(groups.filter(|group| !literal.contains(&group.name)).collect())
    }

    /// A template's.
    pub fn of_template(template: &Template) -> Self {
        Self::without(&template.text(), template.syntax, &template.literal)
    }

    /// From brace groups that were found before.
    pub fn made_of(placeholders: Vec<Placeholder>) -> Self {
        let mut outline = Self { placeholders, ..Self::default() };
        for (place, placeholder) in outline.placeholders.iter().enumerate() {
            let number = match outline.numbers.get(placeholder.name.as_str()) {
                Some(number) => *number,
                None => {
                    let number = outline.names.len();
                    outline.names.push(place);
                    outline.numbers.insert(placeholder.name.clone(), number);
                    number
                }
            };
            outline.name_of.push(number);
        }
        outline
    }

    /// The number of a name (in NFC), where the text reads it.
    pub fn number(&self, name: &str) -> Option<usize> {
        self.numbers.get(name).copied()
    }
}

fn named(inside: &str) -> Option<(String, Vec<String>)> {
    if inside.is_empty() || inside.len() > LONGEST_GROUP {
        return None;
    }
    let mut parts = inside.split('.');
    let name = parts.next().filter(|name| !name.is_empty() && name.chars().all(variable_char))?;
    let path: Vec<String> = parts.map(str::to_owned).collect();
    // What an output holds may be called by a label, in which people write blanks; what else is in braces is code.
    let blanks = name.ends_with("_result");
    let spelt = |step: &String| step.chars().all(|c| variable_char(c) || blanks && c == ' ') && step.trim() == step;
    if path.iter().any(|step| step.is_empty() || !spelt(step)) {
        return None;
    }
    let name = if name.is_ascii() { name.to_owned() } else { nfc(name) };
    Some((name, path))
}

/// A text that grew past what it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the text would be longer than {limit} bytes")]
pub struct TooLong {
    /// The limit, in bytes.
    pub limit: usize,
}

/// Fills a text's placeholders in one pass: `fill` gives the text for the placeholder of that
/// number, or `None` to leave it as it stands.
///
/// # Errors
/// [`TooLong`] before more than `limit` bytes are put together.
pub fn fill<'v, F>(text: &str, placeholders: &[Placeholder], limit: usize, mut fill: F) -> Result<String, TooLong>
where
    F: FnMut(usize) -> Option<Cow<'v, str>>,
{
    let mut out = String::with_capacity(text.len().min(limit) + 64);
    let mut done = 0;
    let push = |out: &mut String, more: &str| {
        if out.len() + more.len() > limit {
            return Err(TooLong { limit });
        }
        out.push_str(more);
        Ok(())
    };
    for (number, placeholder) in placeholders.iter().enumerate() {
        if let Some(value) = fill(number) {
            push(&mut out, text.get(done..placeholder.range.start).unwrap_or_default())?;
            push(&mut out, &value)?;
            done = placeholder.range.end;
        }
    }
    push(&mut out, text.get(done..).unwrap_or_default())?;
    Ok(out)
}

/// What a dot path leads to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Walked<'v> {
    /// A value.
    Value(&'v Value),
    /// The value is a text, a number or the like: it has no inside.
    NoInside,
    /// The value has an inside, but not this.
    Absent,
}

/// Follows a dot path into a value: own keys of objects (`_` stands for a blank where no key is spelt
/// so), digits for items of lists.
pub fn walk<'v>(value: &'v Value, path: &[String]) -> Walked<'v> {
    let mut here = value;
    for (depth, step) in path.iter().enumerate() {
        let next = match here {
            Value::Object(object) => member_of(object, step),
            Value::Array(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
            _ if depth == 0 => return Walked::NoInside,
            _ => None,
        };
        match next {
            Some(value) => here = value,
            None => return Walked::Absent,
        }
    }
    Walked::Value(here)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn render(text: &str, values: &[(&str, &str)]) -> String {
        let values: HashMap<&str, &str> = values.iter().copied().collect();
        let found = placeholders(text, Syntax::Single);
        fill(text, &found, 1 << 20, |number| values.get(found[number].name.as_str()).map(|text| Cow::Borrowed(*text)))
            .expect("short")
    }

    #[test]
    fn only_names_in_innermost_braces_are_filled() {
        let city = [("place", "Oslo"), ("item", "tea")];
        assert_eq!(
            render("{\n \"city\": \"{place}\", \"tags\": [], \"extra\": {}\n}", &city),
            "{\n \"city\": \"Oslo\", \"tags\": [], \"extra\": {}\n}"
        );
        assert_eq!(
            render("5} per {item}, set {1; 2; 3}, open { end, empty {}, {item}", &city),
            "5} per tea, set {1; 2; 3}, open { end, empty {}, tea"
        );
        assert_eq!(render("{{item}} and {{{item}}}", &city), "{tea} and {{tea}}");
        assert_eq!(render("\\frac{1}{2} { item } {item", &city), "\\frac{1}{2} { item } {item");
    }

    #[test]
    fn what_is_put_in_is_never_looked_at_again() {
        assert_eq!(render("{a}{b}", &[("a", "{b}$&\\1"), ("b", "{a}")]), "{b}$&\\1{a}");
    }

    #[test]
    fn names_are_told_apart_by_every_letter_and_compared_in_nfc() {
        let values = [
            ("name", "Ada"),
            ("name_full", "Ada L"),
            ("names", "her"),
            ("Role", "chief"),
            ("role", "admin"),
            ("caf\u{e9}", "x"),
        ];
        assert_eq!(
            render("{name}/{name_full}/{names}/{Role}/{role}/{cafe\u{301}}", &values),
            "Ada/Ada L/her/chief/admin/x"
        );
    }

    #[test]
    fn the_old_shape_takes_double_braces_only() {
        let text = "{{name}} {{ name }} {name} {{{name}}} {{x y}}";
        let found: Vec<_> = placeholders(text, Syntax::Double).iter().map(|p| &text[p.range.clone()]).collect();
        assert_eq!(found, ["{{name}}", "{{ name }}", "{{name}}"]);
    }

    #[test]
    fn a_path_walks_objects_and_lists_and_says_why_it_ends() {
        let value = json!({"rows": [{"id": 7}], "t": "x"});
        let path = |text: &str| text.split('.').map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(walk(&value, &path("rows.0.id")), Walked::Value(&json!(7)));
        assert_eq!(walk(&json!({"Open questions": 1}), &path("Open_questions")), Walked::Value(&json!(1)));
        assert_eq!(walk(&json!({"a b_c": 1, "a_b c": 2}), &path("a_b_c")), Walked::Absent);
        assert_eq!(walk(&value, &path("rows.9.id")), Walked::Absent);
        assert_eq!(walk(&value, &path("t.x")), Walked::Absent);
        assert_eq!(walk(&json!("text"), &path("x")), Walked::NoInside);
    }

    #[test]
    fn a_text_stops_growing_at_its_limit() {
        let found = placeholders("{a}{a}", Syntax::Single);
        let long = "x".repeat(60);
        assert_eq!(fill("{a}{a}", &found, 100, |_| Some(Cow::Borrowed(long.as_str()))), Err(TooLong { limit: 100 }));
        assert!(fill("{a}{a}", &found, 120, |_| Some(Cow::Borrowed(long.as_str()))).is_ok());
    }

    proptest! {
        #[test]
        fn any_text_survives_when_nothing_is_filled(text in "[a-c{}\\.$ \\n\u{e9}\u{1F600}-]{0,60}") {
            let found = placeholders(&text, Syntax::Single);
            prop_assert_eq!(fill(&text, &found, 1 << 20, |_| None).expect("short"), text);
        }

        #[test]
        fn a_value_with_braces_is_inserted_as_it_is(value in "[{}a-b$\\\\]{0,30}", before in "[^{}]{0,10}") {
            let text = format!("{before}{{a}}{{b}}");
            let rendered = render(&text, &[("a", &value), ("b", "!")]);
            prop_assert_eq!(rendered, format!("{before}{value}!"));
        }

        #[test]
        fn placeholders_never_overlap_and_are_in_order(text in "[a-b{}\\.]{0,60}") {
            for syntax in [Syntax::Single, Syntax::Double] {
                let mut end = 0;
                for placeholder in placeholders(&text, syntax) {
                    prop_assert!(placeholder.range.start >= end && placeholder.range.end <= text.len());
                    end = placeholder.range.end;
                }
            }
        }
    }
}
