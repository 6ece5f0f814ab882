//! Changes of files in Markdown, and the order of the keys in their front matter and blocks. Every byte that is not
//! changed stays.

use std::ops::Range;

use serde_json::Value;

use super::{flow, is_flow, scan, step, template, write};
use crate::document::{Document, Edit, Locator, Member, Place, Pointer, SyntaxProblem, Tree, TreeKind, Yaml};

/// What one change does to a text; none where the text does not write it in a way that can be changed alone.
pub(super) fn change(document: &Document, locator: &Locator<'_>, edit: &Edit) -> Option<(Range<usize>, String)> {
    match edit {
        Edit::Set(pointer, new) => set(document, locator, pointer, new.as_str()?),
        Edit::Remove(pointer) => Some((gone(document, locator, pointer)?, String::new())),
        // No rule asks for a new member of what is written by hand.
        Edit::Insert(..) => None,
    }
}

/// A scalar that is written alone gets another text.
fn set(document: &Document, locator: &Locator<'_>, pointer: &Pointer, new: &str) -> Option<(Range<usize>, String)> {
    let span = locator.span(&Place::value(pointer.clone()));
    let raw = document.text.get(span.start..span.end)?;
    let now = match document.value.pointer(pointer.as_str())? {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let marks = raw.starts_with(['"', '\'']) && raw.len() > 1 && raw.chars().next() == raw.chars().next_back();
    // What is made of something else is written otherwise than it reads.
    if !marks && raw != now {
        return None;
    }
    let new = if marks { write::flow_style(&Value::from(new)) } else { write::scalar(new, true) };
    Some((span.start..span.end, new))
}

/// The bytes that go with an item of a list or with a name in a mapping: whole lines, or what stands between two
/// commas. None where something else stands in these lines.
fn gone(document: &Document, locator: &Locator<'_>, pointer: &Pointer) -> Option<Range<usize>> {
    let text = &*document.text;
    let span = locator.span(&Place::value(pointer.clone()));
    // A name in a mapping stands before what is said of it.
    let named = document.value.pointer(pointer.key("name").as_str()).is_some();
    let name = if named { locator.span(&Place::value(pointer.key("name"))) } else { span };
    let start = span.start.min(name.start);
    let line = text.get(..start)?.rfind('\n').map_or(0, |end| end + 1);
    let before = text.get(line..start)?.trim();
    // The only step that another waits for stands behind its key.
    if before.is_empty() || before == "-" || before == "after:" {
        return Some(line..lines_end(text, line));
    }
    let end = span.end.max(name.end);
    let rest = text.get(end..)?;
    let after = rest.trim_start_matches([' ', '\t']);
    if before.ends_with(['[', ',']) && after.starts_with([',', ']']) {
        return Some(match after.strip_prefix(',') {
            Some(next) => start..text.len() - next.trim_start_matches([' ', '\t']).len(),
            None => line + text.get(line..start)?.trim_end().trim_end_matches(',').trim_end().len()..end,
        });
    }
    None
}

/// The end of a line and of the lines below it that are indented further.
fn lines_end(text: &str, line: usize) -> usize {
    let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let mut lines = text.get(line..).unwrap_or_default().split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    let below = lines.take_while(|line| !line.trim().is_empty() && indent(line) > indent(first));
    line + first.len() + below.map(str::len).sum::<usize>()
}

/// A file whose front matter and blocks have their keys in the order of the format; what it does not name comes
/// last. Comments stay with the key that follows them.
pub(super) fn in_order(path: &str, text: &str) -> Result<String, SyntaxProblem> {
    let (front, body) =
        scan::front_matter(text).map_err(|(kind, problem)| SyntaxProblem::of_yaml(kind, problem, text))?;
    let keys = if is_flow(path) { &flow::KEYS[..] } else { &template::KEYS };
    let mut parts: Vec<(Range<usize>, &[&str])> = front.map(|front| (front, keys)).into_iter().collect();
    if is_flow(path) {
        let blocks = scan::body(text, body).sections.into_iter().filter_map(|section| section.block);
        parts.extend(blocks.filter(scan::Block::is_settings).map(|block| (block.inside, &step::ORDER[..])));
    }
    let (mut out, mut at) = (String::with_capacity(text.len()), 0);
    for (part, order) in parts {
        out.push_str(text.get(at..part.start).unwrap_or_default());
        match ordered(text, part.clone(), order) {
            Some(new) => out.push_str(&new),
            None => out.push_str(text.get(part.clone()).unwrap_or_default()),
        }
        at = part.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    Ok(out)
}

/// A mapping in the order of its keys; none where it is not written with each key at the beginning of a line.
fn ordered(text: &str, part: Range<usize>, order: &[&str]) -> Option<String> {
    let Tree { kind: TreeKind::Map(members), .. } = Yaml::read(text, part.clone()).ok()?.tree? else { return None };
    let whole = text.get(part.clone())?;
    let line_of =
        |member: &Member| text.get(..member.at.start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
    if members.iter().any(|member| line_of(member) != member.at.start) || !whole.ends_with('\n') {
        return None;
    }
    let starts: Vec<usize> = members.iter().map(|member| with_comments(text, part.start, member.at.start)).collect();
    let head = text.get(part.start..*starts.first()?)?;
    let ends = starts.iter().skip(1).copied().chain([part.end]);
    let mut chunks: Vec<(usize, &str)> = Vec::with_capacity(members.len());
    for ((member, start), end) in members.iter().zip(&starts).zip(ends) {
        let place = order.iter().position(|key| *key == member.key).unwrap_or(order.len());
        chunks.push((place, text.get(*start..end)?));
    }
    chunks.sort_by_key(|(place, _)| *place);
    Some(chunks.into_iter().fold(head.to_owned(), |out, (_, chunk)| out + chunk))
}

/// Where the comments begin that stand right above a key.
fn with_comments(text: &str, from: usize, key: usize) -> usize {
    let above = text.get(from..key).unwrap_or_default();
    let comments = above.lines().rev().take_while(|line| line.starts_with('#')).count();
    let mut start = key;
    for line in above.split_inclusive('\n').rev().take(comments) {
        start -= line.len();
    }
    start
}
