//! Where the parts of a file in Markdown stand: front matter, steps, their blocks and texts. It reads lines,
//! no Markdown: a step begins where anybody sees it begin, whatever the lines around mean.

use std::ops::Range;

use super::BadYaml;
use crate::document::{Note, NoteKind, Span, SyntaxKind, YamlProblem};

/// A step as it stands in a file.
pub(super) struct Section<'t> {
    /// The line that it begins with.
    pub(super) heading: Span,
    /// The words of that line.
    pub(super) label: Span,
    /// The id in it.
    pub(super) id: Span,
    /// Its first fenced block, where that comes first.
    pub(super) block: Option<Block<'t>>,
    /// What follows heading and block, without blank lines around it.
    pub(super) text: Range<usize>,
    /// What follows the heading, without blank lines around it: the text where the block is none of ours.
    pub(super) all: Range<usize>,
}

/// A fenced block.
pub(super) struct Block<'t> {
    /// The first word behind the fence.
    pub(super) language: &'t str,
    /// The line that it begins with.
    pub(super) fence: Span,
    /// What stands between its fences.
    pub(super) inside: Range<usize>,
    /// Whether it ends before its part does.
    pub(super) closed: bool,
}

impl Block<'_> {
    /// Whether it is marked as the settings of a step.
    pub(super) fn is_settings(&self) -> bool {
        is_settings(self.language)
    }
}

/// Whether a fence with that mark holds the settings of a step.
pub(super) fn is_settings(mark: &str) -> bool {
    mark.eq_ignore_ascii_case("yaml")
}

/// A file without its front matter.
pub(super) struct Body<'t> {
    pub(super) sections: Vec<Section<'t>>,
    /// Headings that begin no step.
    pub(super) headings: Vec<Span>,
    /// Comments of HTML, in which a reader of the page sees nothing.
    pub(super) comments: Vec<Span>,
    pub(super) notes: Vec<Note>,
}

/// Where a front matter stands, and where what follows it begins.
type Front = (Option<Range<usize>>, usize);

/// The front matter of a file.
pub(super) fn front_matter(text: &str) -> Result<Front, BadYaml> {
    let mut lines = lines(text, 0..text.len());
    let Some((first, line)) = lines.next().filter(|(_, line)| line.trim_end() == "---") else { return Ok((None, 0)) };
    let begin = first + line.len();
    for (start, line) in lines {
        if line.trim_end() == "---" {
            return Ok((Some(begin..start), start + line.len()));
        }
    }
    let message = "the front matter that begins with --- has no closing line of ---".to_owned();
    let hint = "write --- alone on the line after it, or let the file begin with something else";
    Err((SyntaxKind::FrontMatter, YamlProblem { message, hint, span: Span { start: 0, end: 3 } }))
}

/// The lines of a part of a text, with their ends, and where each begins.
pub(super) fn lines(text: &str, part: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
    let mut at = part.start;
    text.get(part).unwrap_or_default().split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line)
    })
}

/// A fence that is open.
#[derive(Clone, Copy)]
pub(super) struct Fence {
    mark: char,
    length: usize,
    /// The line that opens it.
    pub(super) at: Span,
}

impl Fence {
    /// The fence that a line opens, and the words behind it.
    pub(super) fn opened(start: usize, line: &str) -> Option<(Self, &str)> {
        let plain = line.trim_end();
        let marks = plain.trim_start_matches(' ');
        let mark = marks.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let rest = marks.trim_start_matches(mark);
        let length = marks.len() - rest.len();
        let usual = plain.len() - marks.len() <= 3 && length >= 3 && !(mark == '`' && rest.contains('`'));
        usual.then_some((Self { mark, length, at: Span { start, end: start + plain.len() } }, rest.trim()))
    }

    /// Whether a line opens a block, named by a word, that could not stand within this one.
    fn is_opened_again_by(&self, start: usize, line: &str) -> bool {
        Self::opened(start, line)
            .is_some_and(|(inner, info)| inner.mark == self.mark && inner.length >= self.length && !info.is_empty())
    }

    pub(super) fn closed_by(&self, line: &str) -> bool {
        let plain = line.trim_end();
        let marks = plain.trim_start_matches(' ');
        plain.len() - marks.len() <= 3 && marks.len() >= self.length && marks.chars().all(|c| c == self.mark)
    }
}

/// The steps of a text from a byte on.
pub(super) fn body(text: &str, from: usize) -> Body<'_> {
    let mut body = Body { sections: Vec::new(), headings: Vec::new(), comments: Vec::new(), notes: Vec::new() };
    let mut headings: Vec<(Span, Span, Span, usize)> = Vec::new();
    let (mut fence, mut hides): (Option<Fence>, Option<Span>) = (None, None);
    let mut comment = false;
    let may_comment = text.contains("<!--");
    // Where a comment ends next. Headings end comments for us, so this is kept for all that begin before it.
    let mut next_end = if may_comment { text.find("-->") } else { None };
    let mut above: Option<Span> = None;
    // Where a step's first paragraph may begin, until it ends.
    let mut first: Option<usize> = None;
    for (start, line) in lines(text, from..text.len()) {
        let own = Span { start, end: start + line.trim_end().len() };
        let above = std::mem::replace(&mut above, Some(own).filter(|own| own.start < own.end));
        if own.start == own.end {
            // As long as no other line has come, it begins behind the blank ones.
            first = first.filter(|begin| *begin == start).map(|_| start + line.len());
        }
        // A line that begins with a letter is no heading, and opens and closes nothing.
        if !may_comment && line.starts_with(|c: char| c.is_ascii_alphabetic()) {
            continue;
        }
        if let Some(open) = fence {
            if open.closed_by(line) {
                (fence, hides) = (None, None);
            } else if let Some(hidden) = hides.filter(|_| open.is_opened_again_by(start, line)) {
                // A block within a block has fewer marks than the one around it: the first was never closed.
                body.notes.push(unclosed(text, &open, hidden));
                (fence, hides) = (Fence::opened(start, line).map(|(fence, _)| fence), None);
            } else if let Some((heading, ..)) = heading(start, line) {
                hides.get_or_insert(heading);
            }
        } else if let Some((open, mark)) = Fence::opened(start, line) {
            // Behind settings whose own fence is missing, a line of marks ends them.
            let ends =
                first.take().is_some_and(|begin| mark.is_empty() && super::step::are_settings(text, begin..start));
            fence = Some(open).filter(|_| !ends);
        } else if let Some((heading, label, id)) = heading(start, line) {
            first = Some(start + line.len());
            headings.push((heading, label, id, start + line.len()));
            comment = false;
        } else if is_like_a_heading(line) {
            body.headings.push(own);
        } else if let Some(above) = above.filter(|above| underlines(line) && !is_step(text, *above)) {
            body.headings.push(above);
        } else if comment {
            comment = !line.contains("-->");
        } else if let Some(at) = comment_in(line) {
            let begin = start + at;
            if next_end.is_some_and(|end| end < begin) {
                next_end = text.get(begin..).and_then(|rest| rest.find("-->")).map(|end| begin + end);
            }
            body.comments.push(Span { start: begin, end: next_end.map_or(own.end, |end| end + 3) });
            comment = !line.get(at..).unwrap_or_default().contains("-->");
        }
    }
    if let (Some(open), Some(hidden)) = (fence, hides) {
        body.notes.push(unclosed(text, &open, hidden));
    }
    let ends: Vec<usize> = headings.iter().skip(1).map(|(heading, ..)| heading.start).chain([text.len()]).collect();
    for ((heading, label, id, begin), end) in headings.into_iter().zip(ends) {
        let all = without_blank_lines(text, begin..end);
        let (block, text) = match first_block(text, all.clone()) {
            Some((block, after)) => (Some(block), without_blank_lines(text, after..end)),
            None => (None, all.clone()),
        };
        body.sections.push(Section { heading, label, id, block, text, all });
    }
    body
}

fn unclosed(text: &str, open: &Fence, hidden: Span) -> Note {
    let words = text.get(hidden.start..hidden.end).unwrap_or_default();
    let message = format!("this fence is never closed, and hides the step {}", crate::names::quoted(words));
    let fence = open.mark.to_string().repeat(open.length);
    let hint = format!("write {fence} alone on the line where the block ends");
    Note::new(NoteKind::UnclosedFence, open.at, message, hint)
}

/// Whether a text opens a fence that it does not close.
pub(super) fn ends_in_fence(text: &str) -> bool {
    let mut fence: Option<Fence> = None;
    for (start, line) in lines(text, 0..text.len()) {
        match fence {
            Some(open) if open.closed_by(line) => fence = None,
            Some(_) => {}
            None => fence = Fence::opened(start, line).map(|(open, _)| open),
        }
    }
    fence.is_some()
}

/// Whether a text begins with a block that would be read as a step's settings, or looks like one.
pub(super) fn begins_like_a_block(text: &str) -> bool {
    let marks =
        |block: &Block<'_>| ["yaml", "yml", "json"].iter().any(|mark| block.language.eq_ignore_ascii_case(mark));
    first_block(text, 0..text.len()).is_some_and(|(block, _)| marks(&block))
}

/// Whether a line is a heading, or was to be one: a step's that is indented or an item of a list.
fn is_like_a_heading(line: &str) -> bool {
    let inner = line.trim_start_matches(' ');
    // What nobody sees, or the wide form of the sign, makes no heading.
    let seen = line.trim_start_matches(|c: char| !c.is_ascii() && !c.is_alphanumeric() && c != '＃');
    seen.starts_with(['#', '＃']) || (line.len() - inner.len() <= 3 && unlisted(inner).starts_with("## "))
}

/// Whether a step begins there.
fn is_step(text: &str, at: Span) -> bool {
    text.get(at.start..at.end).is_some_and(|line| heading(at.start, line).is_some())
}

/// Whether a line makes a heading of the one above.
fn underlines(line: &str) -> bool {
    let plain = line.trim_end();
    plain.len() >= 2 && ['-', '='].iter().any(|mark| plain.trim_start_matches(*mark).is_empty())
}

/// A line without the mark of an item of a list.
pub(super) fn unlisted(line: &str) -> &str {
    let unnumbered = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = if unnumbered.len() < line.len() {
        unnumbered.strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '+'])
    };
    rest.filter(|rest| rest.starts_with(' ')).map_or(line, str::trim_start)
}

/// The line with which a step begins: its place, that of its words, and that of its id.
pub(super) fn heading(start: usize, line: &str) -> Option<(Span, Span, Span)> {
    let line = line.trim_end();
    let inner = line.strip_prefix("## ")?.strip_suffix('}')?;
    let from = inner.rfind("{#")?;
    let (label, id) = (inner.get(..from)?, inner.get(from + 2..)?);
    if id.is_empty() || id.trim() != id || id.contains('}') {
        return None;
    }
    let words = label.trim();
    let label_at = start + 3 + (label.len() - label.trim_start().len());
    let id_at = start + 3 + from + 2;
    Some((
        Span { start, end: start + line.len() },
        Span { start: label_at, end: label_at + words.len() },
        Span { start: id_at, end: id_at + id.len() },
    ))
}

/// Where a comment of HTML begins in a line, unless it is code.
fn comment_in(line: &str) -> Option<usize> {
    let at = line.find("<!--")?;
    let ticks = line.get(..at)?.matches('`').count();
    (ticks % 2 == 0 && !line.starts_with("    ")).then_some(at)
}

/// The fenced block that a part begins with, and where what follows it begins.
fn first_block(text: &str, part: Range<usize>) -> Option<(Block<'_>, usize)> {
    let mut lines = lines(text, part.clone());
    let (start, first) = lines.next()?;
    let (fence, info) = Fence::opened(start, first)?;
    let language = info.split(|c: char| c.is_whitespace() || c == '{').next().unwrap_or_default();
    let begin = start + first.len();
    let end = lines.find(|(_, line)| fence.closed_by(line));
    let closed = end.is_some();
    let (end, after) = end.map_or((part.end, part.end), |(start, line)| (start, start + line.len()));
    Some((Block { language, fence: fence.at, inside: begin..end, closed }, after))
}

/// Whether a part has the heading of a step.
pub(super) fn holds_a_step(text: &str, part: Range<usize>) -> bool {
    lines(text, part).any(|(start, line)| heading(start, line).is_some())
}

/// The fenced blocks of a part that are marked as YAML.
pub(super) fn yaml_blocks(text: &str, part: Range<usize>) -> Vec<Block<'_>> {
    let (mut found, mut at) = (Vec::new(), part.start);
    if !text.get(part.clone()).is_some_and(|part| part.contains("```") || part.contains("~~~")) {
        return found;
    }
    while at < part.end {
        let length = text.get(at..part.end).map_or(0, |rest| rest.split_inclusive('\n').next().map_or(0, str::len));
        match first_block(text, at..part.end) {
            Some((block, after)) => {
                found.extend(Some(block).filter(Block::is_settings));
                at = after.max(at + 1);
            }
            None => at += length.max(1),
        }
    }
    found
}

/// A part of a text without the blank lines at its beginning and its end, and without its last line end.
pub(super) fn without_blank_lines(text: &str, part: Range<usize>) -> Range<usize> {
    let whole = text.get(part.clone()).unwrap_or_default();
    let (written, from) = (whole.trim_end().len(), whole.len() - whole.trim_start().len());
    if written == 0 {
        return part.start..part.start;
    }
    let start = whole.get(..from).and_then(|blank| blank.rfind('\n')).map_or(0, |end| end + 1);
    let end = whole.get(written..).and_then(|rest| rest.find('\n')).map_or(whole.len(), |end| written + end);
    let last = whole.get(start..end).unwrap_or_default().trim_end_matches('\r');
    part.start + start..part.start + start + last.len()
}
