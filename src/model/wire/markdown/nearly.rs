//! What nearly is a step, and is none: told where something else in the file shows that it was
//! meant.

use std::collections::HashSet;
use std::ops::Range;

use super::scan::{is_settings, unlisted};
use crate::document::{Note, NoteKind, Span};
use crate::names::{quoted, shown, unseen, variable_char};

/// Headings that were meant to begin a step: the file names a step that is not there and is called as such a heading
/// is, a step reads its own output below one, or it is made like one. `steps` are the ids, and where their texts stand.
pub(super) fn steps<'t>(
    text: &'t str,
    headings: &[Span],
    steps: &[(&str, Range<usize>)],
    named: impl Iterator<Item = &'t str>,
) -> Vec<Note> {
    if headings.is_empty() {
        return Vec::new();
    }
    let known: HashSet<String> = steps.iter().map(|(id, _)| key(id)).collect();
    let read = outputs(text);
    let mut missing: HashSet<String> = named.map(key).chain(read.iter().map(|(name, _)| key(name))).collect();
    missing.retain(|name| !known.contains(name));
    // The texts of steps in the order of the file, and where each reads its own output last.
    let own = |(id, part): &(&str, Range<usize>)| {
        let first = read.partition_point(|(_, at)| *at < part.start);
        let within = read.iter().skip(first).take_while(|(_, at)| *at < part.end);
        let last = within.filter(|(name, _)| key(name) == key(id)).last().map_or(part.start, |(_, at)| *at);
        (part.start, last)
    };
    let own: Vec<(usize, usize)> = steps.iter().map(own).collect();
    let mut notes = Vec::new();
    for heading in headings {
        let whole = text.get(heading.start..heading.end).unwrap_or_default();
        let seen = as_seen(whole);
        let line = seen.as_str();
        let above = own.partition_point(|(start, _)| *start <= heading.start).checked_sub(1);
        let between = above.and_then(|place| own.get(place)).is_some_and(|(_, last)| heading.start < *last);
        let meant = called(line).find(|name| missing.contains(&key(name)));
        let after = text.get(heading.end..).unwrap_or_default();
        // Where nothing is a step, a heading with an id was to be one.
        let only = steps.is_empty() && written_id(line).is_some();
        let sure = meant.is_some() || between || only || is_made_like_a_step(line, after);
        // A prompt may have headings with anchors; with one mark too many or too few a step is as likely.
        let level = line.chars().take_while(|c| *c == '#').count();
        if !sure && (written_id(line).is_none() || ![1, 3].contains(&level)) {
            continue;
        }
        let words = words_of(line);
        let id = meant.or_else(|| nearly_id(line).map(str::to_owned));
        let id = id.or_else(|| called(line).next().filter(|_| !words.is_empty())).unwrap_or_else(|| "id".to_owned());
        let odd = whole.chars().find(|c| !line.contains(*c));
        let odd = odd.map(|c| format!(": U+{:04X} stands in it", u32::from(c))).unwrap_or_default();
        let message = format!("{} begins no step{odd}", quoted(&shown(line, 80)));
        let hint = format!(
            "a step begins with two # at the beginning of a line and ends in its id: `## {} {{#{id}}}`",
            shown(words, 60)
        );
        let kind = if sure { NoteKind::LostStep } else { NoteKind::Misspelt };
        notes.push(Note::new(kind, *heading, message, hint));
    }
    notes
}

/// Whether a heading with an id can only have been meant to begin a step: the blank after its marks is missing, which
/// makes it no heading at all, a step's block follows, or it is that of a step but for what makes it a heading: it is
/// indented, in a list, or underlined.
fn is_made_like_a_step(line: &str, after: &str) -> bool {
    let no_blank = line.trim_start_matches('#').chars().next().is_some_and(|first| !first.is_whitespace());
    let inner = unlisted(line.trim_start());
    let moved = inner.len() < line.len() && inner.starts_with("## ");
    let underlined = !inner.starts_with('#');
    let block = || after.trim_start().lines().next().and_then(|line| line.strip_prefix("```")).is_some_and(is_settings);
    let two = line.strip_prefix("##").is_some_and(|rest| rest.starts_with(char::is_whitespace));
    (two && nearly_id(line).is_some()) || (written_id(line).is_some() && (no_blank || moved || underlined || block()))
}

/// A line as a reader sees it: without invisible characters, and with the signs that keyboards of wide letters type as
/// those of ASCII.
fn as_seen(line: &str) -> String {
    line.chars()
        .filter(|c| !unseen(*c))
        .map(|c| match c {
            '｛' => '{',
            '｝' => '}',
            '＃' => '#',
            '：' => ':',
            c if c.is_whitespace() => ' ',
            c => c,
        })
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// The id in a pair of brackets: `#id`, with blanks or a colon before it.
fn id_within(inner: &str) -> Option<&str> {
    let id = inner.trim().trim_start_matches(':').trim_start().strip_prefix('#').map(str::trim);
    id.filter(|id| is_id(id))
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.chars().all(variable_char)
}

/// The id that a heading of two marks was to end with: in other brackets, with blanks or a colon within them, without
/// the last one, before its words, or with something behind it.
fn nearly_id(line: &str) -> Option<&str> {
    let line =
        line.rfind("<!--").filter(|_| line.ends_with("-->")).map_or(line, |at| line.get(..at).unwrap_or_default());
    let line = line.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '.' | ',' | ':' | ';'));
    let last = |open: char, close: char| line.strip_suffix(close)?.rsplit_once(open);
    let first = line.trim_start_matches('#').trim_start().strip_prefix('{').and_then(|rest| rest.split_once('}'));
    let round = last('(', ')').filter(|(words, _)| !words.ends_with(']')).or_else(|| last('[', ']'));
    let number = |id: &&str| !id.chars().all(|c| c.is_ascii_digit());
    let open = line.rsplit_once("{#").filter(|(_, id)| !id.contains('}')).map(|(_, id)| id.trim());
    let braces = last('{', '}').and_then(|(_, inner)| id_within(inner));
    braces
        .or_else(|| first.and_then(|(inner, _)| id_within(inner)))
        .or_else(|| round.and_then(|(_, inner)| id_within(inner)).filter(number))
        .or_else(|| open.filter(|id| is_id(id)))
}

/// The id with which a heading ends.
fn written_id(line: &str) -> Option<&str> {
    let (_, id) = line.trim_end().strip_suffix('}')?.rsplit_once("{#")?;
    is_id(id).then_some(id)
}

/// The words of a heading.
fn words_of(line: &str) -> &str {
    let plain = unlisted(line.trim_start()).trim_start_matches('#');
    plain.split('{').next().unwrap_or_default().trim()
}

/// A name without what variables' names leave out.
fn key(name: &str) -> String {
    name.replace('-', "").to_lowercase()
}

/// The steps whose outputs a text reads, and where.
fn outputs(text: &str) -> Vec<(&str, usize)> {
    let groups = text.match_indices('{').filter_map(|(at, _)| {
        let rest = text.get(at + 1..)?;
        let name = rest.get(..rest.find(['}', '\n', '{'])?)?.split('.').next()?.trim();
        let step = name.strip_suffix("_result").or_else(|| name.strip_suffix("_template"))?;
        Some((step, at))
    });
    groups.collect()
}

/// Whatever stands between a brace and `_result`: the ids whose outputs a text reads, or begins to.
pub(super) fn begun_outputs(text: &str) -> HashSet<&str> {
    let (mut from, mut brace) = (0, None);
    let ends = text.match_indices("_result").filter_map(|(at, _)| {
        let last = text.get(from..at).and_then(|between| between.rfind('{')).map(|place| from + place + 1);
        (from, brace) = (at, last.or(brace));
        // An id is much shorter than a line may be.
        text.get(brace?..at).filter(|id| !id.contains('\n'))
    });
    ends.collect()
}

/// Whether a text reads the output of one of these steps.
pub(super) fn reads_one_of(text: &str, ids: &[&str]) -> bool {
    let ids: HashSet<String> = ids.iter().map(|id| key(id)).collect();
    outputs(text).iter().any(|(name, _)| ids.contains(&key(name)))
}

/// The ids that a heading may have been meant to have: what stands in braces, its words together, and each of them.
fn called(line: &str) -> impl Iterator<Item = String> + '_ {
    let written = line.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    let written = written.map(|(id, _)| id.trim_start_matches('#').trim().to_owned());
    let words: Vec<String> = words_of(line)
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let whole = [words.join("_"), words.concat()];
    written.chain(whole).chain(words)
}
