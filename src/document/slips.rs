//! Slips that make a file no JSON, and that no parser has words for: the lines of an unfinished merge,
//! typographic signs, words of other languages.

use super::Span;
use crate::names::unseen;

/// What somebody did, and how to undo it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slip {
    pub(super) message: String,
    pub(super) hint: &'static str,
    pub(super) span: Span,
}

/// The slip that a parser stumbled over at a byte of a text, where it is one of these.
pub(super) fn slip(text: &str, at: usize) -> Option<Slip> {
    merge(text, at)
        .or_else(|| not_shown(text, at))
        .or_else(|| markdown(text, at))
        .or_else(|| fence(text, at))
        .or_else(|| other_form(text, at))
        .or_else(|| open_text(text, at))
        .or_else(|| typographic(text, at))
        .or_else(|| foreign_word(text, at))
}

/// A character that no editor shows, outside of a text.
fn not_shown(text: &str, at: usize) -> Option<Slip> {
    let found = text.get(at..)?.chars().next()?;
    let line = text.get(..at)?.rsplit('\n').next()?;
    if still_open(line).is_some() {
        return None;
    }
    let beginning = text.bytes().take(200);
    let hint = if found == '\0' && beginning.clone().filter(|byte| *byte == 0).count() * 3 > beginning.count() {
        "the file looks like UTF-16: save it as UTF-8"
    } else {
        "delete it; an editor that shows invisible characters helps to find it"
    };
    let what = match found {
        '\u{FEFF}' => "a byte-order mark",
        '\0' => "a NUL character",
        '\u{1A}' => "the mark that ends a file in DOS",
        c if unseen(c) => "an invisible character",
        c if c.is_control() && !c.is_whitespace() => "a control character",
        _ => return None,
    };
    let message = format!("{what} (U+{:04X}) stands here; editors don't show it", u32::from(found));
    Some(Slip { message, hint, span: Span { start: at, end: at + found.len_utf8() } })
}

/// A text in Markdown, as flows and templates may be written, under a name that ends in `.json`.
fn markdown(text: &str, at: usize) -> Option<Slip> {
    let first = text.lines().next()?.trim_end();
    let begins = first == "---" || first.trim_start_matches('#').starts_with(' ') && first.starts_with('#');
    (begins && at <= first.len()).then(|| Slip {
        message: "the file holds Markdown, and its name says that it is JSON".to_owned(),
        hint: "give it another ending: .flow.md for a flow, .md for a template",
        span: Span { start: 0, end: first.len() },
    })
}

/// A fence of Markdown around the JSON, as chats write it.
fn fence(text: &str, at: usize) -> Option<Slip> {
    let line = text.get(at..)?.lines().next()?.trim_end();
    line.starts_with("```").then(|| Slip {
        message: "a fence of Markdown; a file holds the JSON alone".to_owned(),
        hint: "remove the lines that begin with ```",
        span: Span { start: at, end: at + line.len() },
    })
}

/// A file that begins as one of another kind does, and a comment as YAML has it.
fn other_form(text: &str, at: usize) -> Option<Slip> {
    let line = text.get(at..)?.lines().next()?.trim_end();
    let first = text.get(..at)?.trim().is_empty();
    let key = line.split_once(':').is_some_and(|(key, _)| !key.is_empty() && key.chars().all(char::is_alphanumeric));
    let (message, hint) = match () {
        () if first && line.starts_with('<') => {
            ("a page of HTML, not JSON", "save the file itself, not the page that shows it")
        }
        () if first && (key || line.starts_with("---") || line.starts_with("# ")) => {
            ("YAML or Markdown, not JSON", "a flow in Markdown is a file that ends in .flow.md, a template one in .md")
        }
        () if line.starts_with('#') => ("a comment, and JSON has none", "delete it"),
        () => return None,
    };
    Some(Slip { message: message.to_owned(), hint, span: Span { start: at, end: at + line.len() } })
}

/// The first line that git wrote around a conflict. A text in JSON holds no line break, so no line of a
/// text is taken for one. One alone counts where the parser stumbles over it.
fn merge(text: &str, at: usize) -> Option<Slip> {
    let mut start = 0;
    let mut first: Option<(Span, &str)> = None;
    for line in text.split_inclusive('\n') {
        let plain = line.trim_end();
        if merge_line(plain) {
            let (span, shown) = *first.get_or_insert((Span { start, end: start + plain.len() }, plain));
            if span.start != start || (start..start + plain.len()).contains(&at) {
                let (message, hint) = unfinished_merge(shown);
                return Some(Slip { message, hint, span });
            }
        }
        start += line.len();
    }
    None
}

/// What is said of a line that git left of a merge, and what to do.
pub fn unfinished_merge(line: &str) -> (String, &'static str) {
    let message = format!("an unfinished merge: git left the line {} here", crate::names::quoted(line));
    (message, "keep one of the two sides, and delete the lines that begin with <<<<<<<, |||||||, ======= or >>>>>>>")
}

/// Whether such a line stands in a text in Markdown. There, equals signs make a heading of the line above, a `>`
/// quotes, and a `|` parts the cells of a table.
pub fn merge_line_in_text(line: &str) -> bool {
    let named = line.get(8..).is_some_and(|rest| !rest.trim().is_empty() && !rest.contains('|'));
    merge_line(line) && !line.starts_with('=') && (named || line.starts_with('<'))
}

/// Whether git writes such a line around the sides of a conflict.
pub fn merge_line(line: &str) -> bool {
    ["<<<<<<<", "|||||||", "=======", ">>>>>>>"]
        .iter()
        .any(|mark| line.strip_prefix(mark).is_some_and(|rest| rest.is_empty() || rest.starts_with(' ')))
}

/// Signs that look like one of JSON's, what stands in JSON instead, and what they are called.
const SIGNS: [(&[char], &str, &str); 7] = [
    (&['\u{201C}', '\u{201D}', '\u{201E}', '\u{201F}', '\u{00AB}', '\u{00BB}', '\u{FF02}'], "\"", "quotation mark"),
    (&['\u{2018}', '\u{2019}', '\u{201A}', '`', '\u{00B4}'], "\"", "quotation mark"),
    (&['\u{FF1A}'], ":", "colon"),
    (&['\u{FF0C}', '\u{3001}'], ",", "comma"),
    (&['\u{FF5B}', '\u{FF5D}', '\u{FF3B}', '\u{FF3D}'], "{ } [ ]", "bracket"),
    (&['\u{2212}', '\u{2013}', '\u{2014}'], "-", "minus"),
    (&['\u{00A0}', '\u{3000}', '\u{2003}', '\u{202F}'], "a plain blank", "blank"),
];

fn typographic(text: &str, at: usize) -> Option<Slip> {
    let found = text.get(at..)?.chars().next()?;
    let (instead, what) = sign(found)?;
    let code = u32::from(found);
    let shown = if found.is_whitespace() { String::new() } else { format!("{found}, ") };
    Some(Slip {
        message: format!("a typographic {what} ({shown}U+{code:04X}); JSON has {instead}"),
        hint: "switch off smart punctuation in the editor, and replace such signs outside of texts",
        span: Span { start: at, end: at + found.len_utf8() },
    })
}

fn sign(c: char) -> Option<(&'static str, &'static str)> {
    SIGNS.iter().find(|(signs, ..)| signs.contains(&c)).map(|(_, instead, what)| (*instead, *what))
}

/// The first text that runs on to the end of its line, which none in JSON does. A typographic mark at its
/// end was to close it.
fn open_text(text: &str, at: usize) -> Option<Slip> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if start > at {
            return None;
        }
        let Some(opened) = still_open(line) else {
            start += line.len();
            continue;
        };
        let written = line.get(opened..)?.trim_end().trim_end_matches([',', '}', ']', ' ', '\t']);
        let count = |mark: char| written.chars().filter(|c| *c == mark).count();
        // Where the marks come in pairs, they belong to the text.
        if written.ends_with(['\u{201C}', '\u{201D}']) && count('\u{201C}') != count('\u{201D}') {
            return typographic(text, start + opened + written.len() - '\u{201D}'.len_utf8());
        }
        // What the parser meets on the same line it tells better itself.
        return (start + line.len() <= at).then(|| Slip {
            message: "a text that is not closed on its line".to_owned(),
            hint: "close it with a quotation mark; \\n stands for a new line within it",
            span: Span { start: start + opened, end: start + opened + written.len() },
        });
    }
    None
}

/// Where the text begins that a line leaves open.
fn still_open(line: &str) -> Option<usize> {
    let (mut opened, mut escaped) = (None, false);
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if opened.is_some() => escaped = true,
            b'"' => opened = if opened.is_some() { None } else { Some(at) },
            _ => {}
        }
    }
    opened
}

/// `True`, `None` and the like.
fn foreign_word(text: &str, at: usize) -> Option<Slip> {
    let rest = text.get(at..)?;
    let end = rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len());
    let word = rest.get(..end)?;
    let (_, hint) = [
        ("True", "write true"),
        ("TRUE", "write true"),
        ("False", "write false"),
        ("FALSE", "write false"),
        ("None", "write null"),
        ("NULL", "write null"),
        ("Null", "write null"),
        ("nil", "write null"),
    ]
    .into_iter()
    .find(|(foreign, _)| *foreign == word)?;
    Some(Slip { message: format!("{word} is not JSON"), hint, span: Span { start: at, end: at + end } })
}
