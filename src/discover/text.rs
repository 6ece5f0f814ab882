//! The texts of an entry: cut descriptions, input summaries and index lines.
//!
//! Lengths are characters (Unicode scalar values), never bytes, so no cut lands inside a letter.

use crate::names::shown;

/// Longest description in a compact entry, in characters, without the dots.
pub(super) const LONGEST_DESCRIPTION: usize = 150;
/// How long an index line may be, in characters, before tags and purpose give way.
const LONGEST_LINE: usize = 80;
/// Longest purpose in an index line, in characters, without the dots.
const LONGEST_PURPOSE: usize = 40;
/// What a purpose keeps however long name and inputs are, in characters.
const SHORTEST_PURPOSE: usize = 24;

/// A text cut to `longest` characters and marked with `...`; a text no longer than that is unchanged.
///
/// The cut goes back to the last space if at least half of the allowed length stays, so that words
/// stay whole, and is hard otherwise (scripts without spaces, one early space). White space before
/// the dots is trimmed.
pub fn truncated(text: &str, longest: usize) -> String {
    // No text has more characters than bytes, so most need no counting.
    let cut = if text.len() <= longest { None } else { text.char_indices().nth(longest) };
    let Some((end, _)) = cut else { return text.to_owned() };
    let first = text.get(..end).unwrap_or(text);
    let kept = match first.rfind(' ').and_then(|space| first.get(..space)) {
        Some(words) if 2 * words.chars().count() >= longest => words,
        _ => first,
    };
    format!("{}...", kept.trim_end())
}

/// An input as the texts need it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Named<'a> {
    pub(super) name: &'a str,
    pub(super) kind: Option<&'a str>,
    pub(super) required: bool,
}

/// Everything a caller may give, by name: `name (type, required|optional)`, joined by comma and
/// blank, or `No inputs required`. An input without a type reads `string`.
pub fn input_summary(inputs: &[super::Input]) -> String {
    summary(inputs.iter().map(named).collect())
}

/// `name(inputs, optional?) – purpose [tags]`: one line, also for texts with line breaks.
///
/// Name and inputs, sorted by name, always stay whole: they are what a call needs. The purpose is
/// the description's first sentence, cut to 40 characters. Where the line would pass 80 characters, tags but the
/// first give way (`…` stands for them), then the purpose, down to 24 characters, then the first tag. A flow without inputs reads `name()`;
/// without a description or tags, that part and its mark are absent.
pub fn index_line(name: &str, description: &str, tags: &[&str], inputs: &[super::Input]) -> String {
    line(name, description, tags, inputs.iter().map(named).collect())
}

pub(super) fn named(input: &super::Input) -> Named<'_> {
    Named { name: &input.name, kind: input.kind.as_deref(), required: input.required }
}

pub(super) fn summary(mut inputs: Vec<Named<'_>>) -> String {
    if inputs.is_empty() {
        return "No inputs required".to_owned();
    }
    inputs.sort_unstable();
    let mut out = String::with_capacity(32 * inputs.len());
    for input in inputs {
        if !out.is_empty() {
            out.push_str(", ");
        }
        out.push_str(input.name);
        out.push_str(" (");
        out.push_str(input.kind.unwrap_or("string"));
        out.push_str(if input.required { ", required)" } else { ", optional)" });
    }
    out
}

pub(super) fn line(name: &str, description: &str, tags: &[&str], mut inputs: Vec<Named<'_>>) -> String {
    inputs.sort_unstable();
    let mut out = shown(name, usize::MAX / 8);
    out.push('(');
    for (place, input) in inputs.iter().enumerate() {
        if place > 0 {
            out.push_str(", ");
        }
        out.push_str(input.name);
        if !input.required {
            out.push('?');
        }
    }
    out.push(')');
    let mut length = out.chars().count();
    let purpose = first_sentence(description);
    if !purpose.is_empty() {
        // Three characters for the dash and its blanks, three for the dots of a cut.
        let most = LONGEST_LINE.saturating_sub(length + 6);
        let left = most.saturating_sub(for_tags(tags, most)).clamp(SHORTEST_PURPOSE, LONGEST_PURPOSE);
        let purpose = truncated(&purpose, left);
        length += 3 + purpose.chars().count();
        out.push_str(" – ");
        out.push_str(&purpose);
    }
    push_tags(&mut out, length, tags);
    out
}

/// How much of the room a purpose leaves to tags, in characters: what the first one takes, if the
/// shortest purpose has room beside it.
fn for_tags(tags: &[&str], room: usize) -> usize {
    let Some(first) = tags.first() else { return 0 };
    let needs = 3 + first.chars().count() + if tags.len() > 1 { 3 } else { 0 };
    if SHORTEST_PURPOSE + needs <= room { needs } else { 0 }
}

fn push_tags(out: &mut String, mut length: usize, tags: &[&str]) {
    let mut opened = false;
    for (place, tag) in tags.iter().enumerate() {
        let tag = shown(tag, LONGEST_LINE);
        let last = place + 1 == tags.len();
        // Two characters before a tag, one for the bracket, three more for what may be left out.
        let needs = 3 + tag.chars().count() + if last { 0 } else { 3 };
        if length + needs > LONGEST_LINE {
            if opened {
                out.push_str(", …");
            }
            break;
        }
        out.push_str(if opened { ", " } else { " [" });
        out.push_str(&tag);
        length += 2 + tag.chars().count();
        opened = true;
    }
    if opened {
        out.push(']');
    }
}

/// The first sentence of a text, on one line and without its full stop.
fn first_sentence(text: &str) -> String {
    // A few sentences' worth is enough to look at, however long the description is.
    let flat = shown(text.trim_start(), 4 * LONGEST_DESCRIPTION);
    let mut end = flat.len();
    let mut chars = flat.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let stops = match c {
            '。' | '！' | '？' | '।' => true,
            '.' | '!' | '?' | '؟' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if stops {
            end = at;
            break;
        }
    }
    flat.get(..end).unwrap_or(&flat).trim_end().to_owned()
}

/// The index line of an entry that alone would pass the budget: `name – purpose`.
pub(super) fn short_line(name: &str, description: &str) -> String {
    let purpose = first_sentence(description);
    let name = shown(name, usize::MAX / 8);
    if purpose.is_empty() { name } else { format!("{name} – {}", truncated(&purpose, LONGEST_PURPOSE)) }
}
