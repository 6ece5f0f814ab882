//! What is wrong with a file in Markdown as a whole: lines of an unfinished merge, a fence around everything, a front
//! matter that does not begin in the first line. Reading it all the same would drop parts of it, or take them for text.

use super::scan::{self, Fence};
use crate::document::{Span, YamlProblem, merge_line_in_text, unfinished_merge};

/// What a file holds, as far as that decides what can only have been meant as its front matter.
pub(in crate::model) struct Holds<'f> {
    /// The keys of its front matter.
    pub(in crate::model) keys: &'f [&'f str],
    /// Those that no other program's front matter has.
    pub(in crate::model) own: &'f [&'f str],
    /// Whether it holds steps, so that what stands before the first of them is for readers.
    pub(in crate::model) steps: bool,
    /// Its name without its ending.
    pub(in crate::model) stem: &'f str,
}

/// What of a file can't be right.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::model) enum Wrong {
    /// Its front matter.
    Front(YamlProblem),
    /// What is around or within its parts.
    Around(YamlProblem),
}

/// The first thing that is wrong with a file as a whole. `has_front` says that it begins with a front matter.
pub(in crate::model) fn wrong(text: &str, has_front: bool, holds: &Holds<'_>) -> Option<Wrong> {
    if let Some(problem) = merge(text) {
        return Some(Wrong::Around(problem));
    }
    if let Some(at) = text.find('\r').filter(|_| !text.contains('\n')) {
        let message = "the lines end with carriage returns alone, so that the file is one line".to_owned();
        let hint = "save the file with line feeds at the ends of its lines";
        return Some(Wrong::Around(YamlProblem { message, hint, span: Span { start: at, end: at + 1 } }));
    }
    if has_front {
        return None;
    }
    if holds.steps && text.trim_start().starts_with('{') && text.trim_end().ends_with('}') {
        let message = "the file holds JSON, and its name says that it is Markdown".to_owned();
        let hint = "give it the ending .json in place of .flow.md";
        return Some(Wrong::Front(YamlProblem { message, hint, span: Span { start: 0, end: 1 } }));
    }
    let fenced = || fence(text, holds).map(|span| fence_problem(text, span));
    fenced().map(Wrong::Around).or_else(|| front(text, holds).map(Wrong::Front))
}

/// The first line that git left of a merge, outside of code.
fn merge(text: &str) -> Option<YamlProblem> {
    let span = merge_mark(text)?;
    let (message, hint) = unfinished_merge(text.get(span.start..span.end)?);
    Some(YamlProblem { message, hint, span })
}

/// Where that line stands. A fence may hold a prompt about git, unless it holds the settings of a step.
pub(super) fn merge_mark(text: &str) -> Option<Span> {
    if !["<<<<<<<", "|||||||", ">>>>>>>"].into_iter().any(|mark| text.contains(mark)) {
        return None;
    }
    let mut code: Option<(Fence, bool)> = None;
    let mut below_heading = false;
    let mut lines = scan::lines(text, 0..text.len()).peekable();
    let mut above_quotes = false;
    while let Some((start, line)) = lines.next() {
        let plain = line.trim_end();
        let quotes = plain.starts_with('>');
        // Mail that was answered seven times has the same signs, and lines of quotes beside it.
        let mail = quotes && (above_quotes || lines.peek().is_some_and(|(_, below)| below.starts_with('>')));
        above_quotes = quotes;
        if merge_line_in_text(plain) && !mail && code.is_none_or(|(_, settings)| settings) {
            return Some(Span { start, end: start + plain.len() });
        }
        match (code, Fence::opened(start, line)) {
            (Some((open, _)), _) if open.closed_by(line) => code = None,
            (None, Some((open, mark))) => code = Some((open, below_heading && scan::is_settings(mark))),
            (None, None) if plain.is_empty() => continue,
            (Some(_), _) | (None, None) => {}
        }
        below_heading = scan::heading(start, line).is_some();
    }
    None
}

/// The most lines of prose before a fence that holds the whole file, as chats write them.
const MOST_PROSE: usize = 3;

/// The line that opens a fence around the whole file.
fn fence(text: &str, holds: &Holds<'_>) -> Option<Span> {
    let mut lines = scan::lines(text, 0..text.len()).filter(|(_, line)| !line.trim().is_empty());
    let mut prose = 0;
    let (open, mark) = loop {
        let (start, line) = lines.next()?;
        match Fence::opened(start, line) {
            Some(fence) => break fence,
            None if line.starts_with('#') || prose == MOST_PROSE => return None,
            None => prose += 1,
        }
    };
    let (first, line) = lines.next()?;
    let begins = block_at(text, first, false, holds).is_some_and(|block| block.known * 2 >= block.keys);
    let ends = || text.lines().rev().find(|line| !line.trim().is_empty()).is_some_and(|line| open.closed_by(line));
    let of_text = matches!(&*mark.to_ascii_lowercase(), "" | "markdown" | "md");
    let whole = match (holds.steps, prose) {
        (true, 0) => begins || scan::heading(first, line).is_some(),
        (true, _) => begins && of_text,
        (false, _) => begins && prose == 0 && ends(),
    };
    whole.then_some(open.at)
}

fn fence_problem(text: &str, span: Span) -> YamlProblem {
    let marks = text.get(span.start..span.end).unwrap_or_default();
    let message = "a fence of Markdown around the whole file, so that all of it is code".to_owned();
    let hint = if marks.trim_start().starts_with('~') {
        "remove the line that begins with ~~~, and the line of ~~~ at the end"
    } else {
        "remove the line that begins with ```, and the line of ``` at the end"
    };
    YamlProblem { message, hint, span }
}

/// A text without the fence around it; none where it is not as a whole in one.
pub fn unfenced(text: &str, at: Span) -> Option<String> {
    let (open, _) = Fence::opened(at.start, text.get(at.start..at.end)?)?;
    let from = at.end + text.get(at.end..)?.find('\n')? + 1;
    let inside = text.get(from..)?.trim_end();
    let last = inside.rfind('\n').map_or(0, |end| end + 1);
    let alone = text.get(..at.start)?.trim().is_empty() && open.closed_by(inside.get(last..)?);
    alone.then(|| inside.get(..last).map(str::to_owned))?
}

/// Lines of keys and values between two marks.
struct Block<'t> {
    /// The line that opens it.
    mark: &'t str,
    at: Span,
    /// How many keys begin a line, and how many of them the format knows.
    keys: usize,
    known: usize,
    /// Whether one of them says that it can only be this file's.
    sure: bool,
    closed: bool,
}

/// A front matter that does not begin in the first line, or not with three hyphens.
fn front(text: &str, holds: &Holds<'_>) -> Option<YamlProblem> {
    if let Some(problem) = unopened(text, holds) {
        return Some(problem);
    }
    let mut fence: Option<Fence> = None;
    // What stands before: nothing, headings and comments, or prose.
    let (mut blank, mut titled) = (true, true);
    for (start, line) in scan::lines(text, 0..text.len()) {
        if let Some(open) = fence {
            fence = Some(open).filter(|open| !open.closed_by(line));
            continue;
        }
        if holds.steps && scan::heading(start, line).is_some() {
            return None;
        }
        if let Some(block) = block_at(text, start, blank, holds) {
            let mostly = block.known * 2 >= block.keys;
            let meant = match () {
                () if !block.closed => holds.steps && blank && block.known > 0,
                () if holds.steps && blank => mostly,
                () if block.mark.starts_with('`') => block.known == block.keys && block.sure,
                () if holds.steps || blank => mostly,
                () if titled => block.known == block.keys,
                () => mostly && block.sure,
            };
            if meant {
                return Some(problem(&block, blank));
            }
        }
        fence = Fence::opened(start, line).map(|(open, _)| open);
        if !line.trim().is_empty() {
            blank = false;
            titled &= line.starts_with('#') || line.starts_with("<!--");
        }
    }
    None
}

/// A front matter that ends with its line of hyphens and does not begin with one.
fn unopened(text: &str, holds: &Holds<'_>) -> Option<YamlProblem> {
    let (start, line) = scan::lines(text, 0..text.len()).find(|(_, line)| !line.trim().is_empty())?;
    let at = Span { start, end: start + line.trim_end().len() };
    let block = Block { mark: "", at, keys: 0, known: 0, sure: false, closed: false };
    let block = block.with(scan::lines(text, start..text.len()), holds)?;
    let mut marks = scan::lines(text, start..text.len()).filter(|(_, line)| is_mark(line));
    let ends = block.closed && marks.next().is_some_and(|(_, line)| line.trim_end() == "---");
    // A line below another makes a heading of it in Markdown: in a text, all has to say what only such lines say.
    let sure = block.known == block.keys && block.sure;
    let (message, hint) = match () {
        () if ends && (sure || holds.steps && block.known * 2 >= block.keys) => (
            "the front matter lacks its first line of ---, so that it is text",
            "write --- alone on the line before it",
        ),
        () if holds.steps && !block.closed && sure => (
            "the front matter lacks its lines of ---, so that it is text",
            "write --- alone on the line before it, and on the line behind it",
        ),
        () => return None,
    };
    Some(YamlProblem { message: message.to_owned(), hint, span: at })
}

fn problem(block: &Block<'_>, blank: bool) -> YamlProblem {
    let mark = block.mark.trim();
    let (message, hint) = match () {
        () if mark.starts_with(UNSEEN) => (
            "characters that nobody sees stand before the --- of the front matter, so that it is text".to_owned(),
            "delete the first line, and type `---` anew",
        ),
        () if mark != "---" => (
            format!("the front matter begins with {mark}, so that it is text"),
            "write it between two lines of three hyphens, `---`, as lines of `key: value`",
        ),
        () if block.mark.starts_with([' ', '\t']) => (
            "blanks stand before the --- of the front matter, so that it is text".to_owned(),
            "let the file begin with `---`, without blanks before it",
        ),
        () => (
            "the front matter does not begin in the first line, so that it is text".to_owned(),
            if blank { "delete the empty lines before it" } else { "move it to the beginning of the file" },
        ),
    };
    YamlProblem { message, hint, span: block.at }
}

/// What editors and converters leave before a first line, seen by nobody.
const UNSEEN: [char; 3] = ['\u{200b}', '\u{2060}', '\u{feff}'];

/// Whether a line was to begin or end a front matter.
fn is_mark(line: &str) -> bool {
    let plain = line.trim().trim_start_matches(UNSEEN);
    let indented = line.starts_with("    ") || line.starts_with('\t');
    let hyphens = plain.len() >= 2 && plain.trim_start_matches('-').is_empty();
    let dashes = !plain.is_empty() && plain.trim_start_matches(['\u{2013}', '\u{2014}']).is_empty();
    let language = plain.strip_prefix("---").is_some_and(is_language);
    !indented && (hyphens || dashes || language || matches!(plain, "+++" | ";;;"))
}

/// The language of a front matter, as other programs have it behind their marks.
fn is_language(word: &str) -> bool {
    matches!(word.trim(), "yaml" | "yml" | "toml" | "json")
}

/// The block that a line opens, where its lines are keys and values.
fn block_at<'t>(text: &'t str, start: usize, first: bool, holds: &Holds<'_>) -> Option<Block<'t>> {
    let fence = |line: &str| first && line.strip_prefix("```").is_some_and(is_language);
    let mut lines = scan::lines(text, start..text.len());
    let (_, first) = lines.next().filter(|(_, line)| is_mark(line) || fence(line))?;
    let mark = first.trim_end();
    let at = Span { start: start + mark.len() - mark.trim_start().len(), end: start + mark.len() };
    Block { mark, at, keys: 0, known: 0, sure: false, closed: false }.with(lines, holds)
}

impl<'t> Block<'t> {
    /// It with the keys of its lines; none where a line is no key with a value, or no key is known.
    fn with(mut self, lines: impl Iterator<Item = (usize, &'t str)>, holds: &Holds<'_>) -> Option<Self> {
        let mut indent = None;
        for (start, line) in lines {
            let plain = line.trim();
            if is_mark(line) || plain == "```" {
                self.closed = true;
                break;
            }
            if scan::heading(start, line).is_some() {
                break;
            }
            let depth = line.len() - line.trim_start().len();
            if plain.is_empty() || plain.starts_with(['#', '}', ']', '[']) || plain.starts_with("- ") {
                continue;
            }
            if depth > *indent.get_or_insert(depth) {
                continue;
            }
            let (key, value) = key_and_value(plain)?;
            self.keys += 1;
            self.known += usize::from(holds.keys.contains(&key));
            let named = matches!(key, "name" | "id" | "title") && value.trim_matches(['"', '\'']) == holds.stem;
            self.sure |= named || holds.own.contains(&key);
        }
        (self.known > 0).then_some(self)
    }
}

/// A line such as `key: value`; TOML has an equals sign in it.
fn key_and_value(line: &str) -> Option<(&str, &str)> {
    let end = line.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '$')))?;
    let (key, rest) = (line.get(..end)?, line.get(end..)?.trim_start());
    let value = rest.strip_prefix([':', '='])?;
    (!key.is_empty()).then_some((key, value.trim()))
}
