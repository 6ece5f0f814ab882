//! The texts of an entry: cut descriptions, input summaries and index lines.
//!
//! Lengths are characters (Unicode scalar values), never bytes, so no cut lands inside a letter.

use std::fmt::Write as _;

use super::rows::PLAIN_KIND;
use super::{FlowInput, FlowRow};
use crate::names::shown;

/// Longest description in a compact entry, in characters, without the dots.
pub(super) const LONGEST_DESCRIPTION: usize = 150;
/// Longest description of a candidate for a query, in characters, without the dots.
const LONGEST_BRIEF: usize = 80;
/// How long the inputs of a candidate for a query may be, in characters, before those left over are only counted.
const LONGEST_NAMES: usize = 60;
/// How long an index line may be, in characters, before purpose and tags give way.
const LONGEST_LINE: usize = 80;
/// Longest purpose in an index line, in characters, without the dots.
const LONGEST_PURPOSE: usize = 40;
/// What the tags of an index line may take from the purpose, in characters.
const LONGEST_TAGS: usize = 28;
/// The dash before a purpose and its blanks, in characters.
const DASH: usize = 3;
/// What stands for whatever has no room in an index line.
const CUT: char = '…';
/// What a purpose keeps however long name and inputs are, in characters.
const SHORTEST_PURPOSE: usize = 24;

/// A text cut to `longest` characters and marked with `...`; a text no longer than that is unchanged.
///
/// The cut goes back to the last space if at least half of the allowed length stays, so that words
/// stay whole, and is hard otherwise (scripts without spaces, one early space). White space before
/// the dots is trimmed.
pub fn truncated(text: &str, longest: usize) -> String {
    kept_words(text, longest).map_or_else(|| text.to_owned(), |kept| format!("{kept}..."))
}

/// The beginning that stays of a text which is longer than `longest` characters.
fn kept_words(text: &str, longest: usize) -> Option<&str> {
    // No text has more characters than bytes, so most need no counting.
    let (end, _) = if text.len() <= longest { None } else { text.char_indices().nth(longest) }?;
    let first = text.get(..end).unwrap_or(text);
    let kept = match first.rfind(' ').and_then(|space| first.get(..space)) {
        Some(words) if 2 * words.chars().count() >= longest => words,
        _ => first,
    };
    Some(kept.trim_end())
}

/// Everything a caller may give, by name: `name (type, required|required, or from a set|optional)`, joined by comma and
/// blank, or `No inputs required`. An input without a type reads `string`. Of a flow with errors
/// whose inputs can't be read, that is said.
pub fn input_summary(flow: &FlowRow) -> String {
    if flow.inputs.is_empty() {
        return if flow.inputs_unknown { "Not known: the flow has errors" } else { "No inputs required" }.to_owned();
    }
    let mut out = String::with_capacity(32 * flow.inputs.len());
    for input in by_name(&flow.inputs) {
        let between = if out.is_empty() { "" } else { ", " };
        let kind = input.kind.as_deref().unwrap_or(PLAIN_KIND);
        let _ = write!(out, "{between}{} ({kind}, {})", input.name, input.needed());
    }
    out
}

/// An input's name behind those before it, with a mark where it may be left out.
fn put_name(out: &mut String, place: usize, input: &FlowInput) {
    out.push_str(if place > 0 { ", " } else { "" });
    out.push_str(&input.name);
    out.push_str(if input.is_needed() { "" } else { "?" });
}

fn by_name(inputs: &[FlowInput]) -> Vec<&FlowInput> {
    let mut inputs: Vec<&FlowInput> = inputs.iter().collect();
    inputs.sort_unstable_by_key(|input| &input.name);
    inputs
}

/// `name(inputs, optional?) – purpose [tags]`: one line, also for texts with line breaks.
///
/// Name and inputs, sorted by name, always stay whole: they are what a call needs. The purpose is
/// the description's first sentence, cut to 40 characters. Where the line would pass 80 characters,
/// the purpose gives way first, down to 24 characters, then tags (`…` stands for them); the first
/// tag always stays, so such a line may be somewhat longer. A flow without inputs reads `name()`,
/// one whose inputs are not known `name(…)`; without a description or tags, that part and its mark
/// are absent.
pub fn index_line(flow: &FlowRow) -> String {
    let mut out = shown(&flow.name, usize::MAX / 8);
    out.push('(');
    for (place, input) in by_name(&flow.inputs).into_iter().enumerate() {
        put_name(&mut out, place, input);
    }
    out.push_str(if flow.inputs_unknown { "…)" } else { ")" });
    let left = LONGEST_LINE.saturating_sub(out.chars().count());
    let sentence = first_sentence(&flow.description);
    // What the purpose takes with a dash and its blanks, when it has the room it would like, and
    // when it has given way.
    let purpose =
        |longest: usize| kept_words(&sentence, longest).map_or_else(|| sentence.clone(), |kept| format!("{kept}{CUT}"));
    let takes = |longest: usize| match purpose(longest).chars().count() {
        0 => 0,
        length => length + DASH,
    };
    let room =
        left.saturating_sub(takes(LONGEST_PURPOSE)).max(left.saturating_sub(takes(SHORTEST_PURPOSE)).min(LONGEST_TAGS));
    let tags = bracketed(&flow.tags, room);
    if !sentence.is_empty() {
        let left = left.saturating_sub(tags.chars().count() + DASH + 1);
        out.push_str(" – ");
        out.push_str(&purpose(left.clamp(SHORTEST_PURPOSE, LONGEST_PURPOSE)));
    }
    out.push_str(&tags);
    if flow.guided {
        out.push_str(" (guided)");
    }
    out
}

/// The names of the inputs, the required ones first and `?` behind the optional ones: `topic, tone?`.
///
/// Past 60 characters the rest is only counted: `topic, tone?, 4 more`; the first always stays. None at all reads
/// `No inputs required`.
pub fn brief_inputs(flow: &FlowRow) -> String {
    if flow.inputs.is_empty() {
        return input_summary(flow);
    }
    let mut inputs: Vec<&FlowInput> = flow.inputs.iter().collect();
    inputs.sort_unstable_by_key(|input| (!input.is_needed(), &input.name));
    let mut out = String::new();
    for (place, input) in inputs.iter().enumerate() {
        let length = out.chars().count() + 2 + input.name.chars().count();
        if place > 0 && length > LONGEST_NAMES {
            let _ = write!(out, ", {} more", inputs.len() - place);
            break;
        }
        put_name(&mut out, place, input);
    }
    out
}

/// A description as short as a candidate for a query needs it: its first sentence, cut.
pub(super) fn brief(description: &str) -> String {
    truncated(&first_sentence(description), LONGEST_BRIEF)
}

/// As many tags as there is room for, the first one in any case, in brackets behind a blank.
fn bracketed(tags: &[String], room: usize) -> String {
    let mut out = String::new();
    let mut length = 0;
    for (place, tag) in tags.iter().enumerate() {
        let tag = if place == 0 { shown(tag, LONGEST_TAGS) } else { shown(tag, LONGEST_LINE) };
        let last = place + 1 == tags.len();
        // Two characters before a tag, one for the bracket, three more for what may be left out.
        let needs = 3 + tag.chars().count() + if last { 0 } else { 3 };
        if place > 0 && length + needs > room {
            out.push_str(", …");
            break;
        }
        out.push_str(if place > 0 { ", " } else { " [" });
        out.push_str(&tag);
        length += 2 + tag.chars().count();
    }
    if !out.is_empty() {
        out.push(']');
    }
    out
}

/// The first sentence of a text, on one line and without its full stop.
fn first_sentence(text: &str) -> String {
    let flat = flat(text);
    let end = sentence_end(&flat, 0).map_or(flat.len(), |(stop, _)| stop);
    flat.get(..end).unwrap_or(&flat).trim_end().to_owned()
}

/// The first sentences of a text, on one line, with their full stops.
pub(super) fn sentences(text: &str, most: usize) -> String {
    let flat = flat(text);
    let mut end = 0;
    for _ in 0..most {
        match sentence_end(&flat, end) {
            Some((_, after)) => end = after,
            None => return flat,
        }
    }
    flat.get(..end).unwrap_or(&flat).trim_end().to_owned()
}

/// A few sentences' worth is enough to look at, however long the description is.
fn flat(text: &str) -> String {
    shown(text.trim_start(), 4 * LONGEST_DESCRIPTION)
}

/// Where the sentence ends that begins at `begin`: at and behind its full stop.
fn sentence_end(flat: &str, begin: usize) -> Option<(usize, usize)> {
    let mut chars = flat.get(begin..)?.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let stops = match c {
            '。' | '！' | '？' | '।' => true,
            '.' | '!' | '?' | '؟' => chars.peek().is_none_or(|(_, next)| next.is_whitespace()),
            _ => false,
        };
        if stops {
            return Some((begin + at, begin + at + c.len_utf8()));
        }
    }
    None
}

/// The index line of an entry that alone would pass the budget: `name – purpose`.
pub(super) fn short_line(name: &str, description: &str) -> String {
    let purpose = first_sentence(description);
    let name = shown(name, usize::MAX / 8);
    if purpose.is_empty() { name } else { format!("{name} – {}", truncated(&purpose, LONGEST_PURPOSE)) }
}
