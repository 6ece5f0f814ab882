//! What nearly is a front matter or a step, and is none: told where something else in the file shows that it was
//! meant.

use std::collections::HashSet;
use std::ops::Range;

use super::BadYaml;
use crate::document::{Note, NoteKind, Span, SyntaxKind, YamlProblem};
use crate::names::{quoted, shown};

/// Refuses a front matter that does not begin in the first line.
pub(super) fn front_matter(text: &str) -> Result<(), BadYaml> {
    if text.trim_start().starts_with('{') && text.trim_end().ends_with('}') {
        let message = "the file holds JSON, and its name says that it is Markdown".to_owned();
        let span = Span { start: 0, end: 1 };
        let hint = "give it the ending .json in place of .flow.md";
        return Err((SyntaxKind::FrontMatter, YamlProblem { message, hint, span }));
    }
    let mut lines = text.lines();
    let key_follows = |line: &str| line.split_once(':').is_some_and(|(key, _)| key.chars().all(char::is_alphanumeric));
    let first = lines.next().map(str::trim_end).unwrap_or_default();
    let dashes = first.len() >= 2 && first.chars().all(|c| c == '-');
    let key = lines.next().unwrap_or_default();
    let span = Span { start: 0, end: first.len() };
    if dashes && key_follows(key) {
        let message = format!("the front matter begins with {} dashes, so that it is text", first.len());
        let hint = "write three: `---`";
        return Err((SyntaxKind::FrontMatter, YamlProblem { message, hint, span }));
    }
    if first == "+++" && key.contains('=') {
        let message = "a front matter in TOML is not read".to_owned();
        let hint = "write it in YAML, between two lines of `---`: `name: Launch_Brief`";
        return Err((SyntaxKind::FrontMatter, YamlProblem { message, hint, span }));
    }
    let start = text.len() - text.trim_start().len();
    let first = text.get(start..).and_then(|text| text.lines().next()).unwrap_or_default();
    if start == 0 || first.trim_end() != "---" {
        return Ok(());
    }
    let message = "the front matter does not begin in the first line, so that it is text".to_owned();
    let hint = "delete the empty lines before it";
    Err((SyntaxKind::FrontMatter, YamlProblem { message, hint, span: Span { start, end: start + 3 } }))
}

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
    // Where a step's text reads its own output.
    let own: Vec<(usize, usize)> = steps
        .iter()
        .flat_map(|(id, part)| {
            let own = read.iter().filter(|(name, at)| part.contains(at) && key(name) == key(id));
            own.map(|(_, at)| (part.start, *at))
        })
        .collect();
    let mut notes = Vec::new();
    for heading in headings {
        let line = text.get(heading.start..heading.end).unwrap_or_default();
        let between = own.iter().any(|(start, at)| (*start..*at).contains(&heading.start));
        let meant = called(line).find(|name| missing.contains(&key(name)));
        if meant.is_none() && !between && !is_made_like_a_step(line, text.get(heading.end..).unwrap_or_default()) {
            continue;
        }
        let words = line.trim_start_matches('#').split('{').next().unwrap_or_default().trim();
        let id = meant.or_else(|| called(line).next().filter(|_| !words.is_empty())).unwrap_or_else(|| "id".to_owned());
        let message = format!("{} begins no step", quoted(&shown(line, 80)));
        let hint = format!("a step begins with two # and ends in its id: `## {} {{#{id}}}`", shown(words, 60));
        notes.push(Note::new(NoteKind::LostStep, *heading, message, hint));
    }
    notes
}

/// Whether a heading with an id can only have been meant to begin a step: the blank after its marks is missing, which
/// makes it no heading at all, or a step's block follows.
fn is_made_like_a_step(line: &str, after: &str) -> bool {
    let plain = line.trim_end();
    let has_id = plain.ends_with('}') && plain.contains("{#");
    let no_blank = plain.trim_start_matches('#').chars().next().is_some_and(|first| !first.is_whitespace());
    has_id && (no_blank || after.trim_start().starts_with("```yaml"))
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

/// Whether a text reads the output of one of these steps.
pub(super) fn reads_one_of(text: &str, ids: &[&str]) -> bool {
    outputs(text).iter().any(|(name, _)| ids.iter().any(|id| key(id) == key(name)))
}

/// The ids that a heading may have been meant to have: what stands in braces, its words together, and each of them.
fn called(line: &str) -> impl Iterator<Item = String> + '_ {
    let written = line.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    let written = written.map(|(id, _)| id.trim_start_matches('#').trim().to_owned());
    let plain = line.trim_start_matches('#').split('{').next().unwrap_or_default();
    let words: Vec<String> =
        plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    let whole = [words.join("_"), words.concat()];
    written.chain(whole).chain(words)
}
