//! Annotations of a GitHub workflow, and the Markdown of its step's summary.

use std::fmt::Write as _;
use std::path::Path;

use super::{Told, everything};
use crate::app::{Checkup, Severity};
use crate::names::counted;

/// The most annotations of one kind that GitHub shows of a step.
const MOST_OF_A_KIND: usize = 10;
/// How much of a summary GitHub takes, in bytes, with room for the last line.
const LARGEST_SUMMARY: usize = 1_000_000;

/// Commands that annotate files: ten of each kind, the worst first.
pub fn annotations(checkup: &Checkup, here: &Path) -> String {
    let mut text = String::new();
    let told = reported(checkup, here);
    for (severity, command) in KINDS {
        let of_kind = || told.iter().filter(|one| one.severity == severity);
        for one in of_kind().take(MOST_OF_A_KIND) {
            let mut properties = format!("file={},line={}", property(&one.file), one.from.line);
            let _ = write!(properties, ",endLine={}", one.to.line);
            // GitHub refuses columns of several lines.
            if one.from.line == one.to.line {
                let _ = write!(properties, ",col={},endColumn={}", one.from.column, one.to.column);
            }
            let title = property(&format!("flowy: {}", one.rule));
            let _ = writeln!(text, "::{command} {properties},title={title}::{}", escaped(&one.whole_message()));
        }
    }
    let left = left_over(&told);
    if left > 0 {
        let more = counted(left, "finding has", "findings have");
        let _ = writeln!(
            text,
            "{more} no annotation, because GitHub shows {MOST_OF_A_KIND} of each kind; the step's summary lists all"
        );
    }
    text
}

const KINDS: [(Severity, &str); 3] =
    [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "notice")];

fn reported<'c>(checkup: &'c Checkup, here: &Path) -> Vec<Told<'c>> {
    let mut told = everything(checkup, here);
    told.retain(|one| one.suppressed.is_none());
    told
}

fn left_over(told: &[Told<'_>]) -> usize {
    let of = |severity| told.iter().filter(|one| one.severity == severity).count().saturating_sub(MOST_OF_A_KIND);
    KINDS.iter().map(|(severity, _)| of(*severity)).sum()
}

/// A message as a command takes it.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}

/// All findings as Markdown, the worst first.
pub fn summary(checkup: &Checkup, here: &Path) -> String {
    let mut told = reported(checkup, here);
    told.sort_by_key(|one| one.severity);
    let counts = [
        counted(checkup.count(Severity::Error), "error", "errors"),
        counted(checkup.count(Severity::Warning), "warning", "warnings"),
        counted(checkup.count(Severity::Info), "remark", "remarks"),
    ];
    let mut text =
        format!("## flowy validate\n\n{} in {}", counts.join(", "), counted(checkup.files.len(), "file", "files"));
    if checkup.suppressed() > 0 {
        let _ = write!(text, "; {} suppressed", checkup.suppressed());
    }
    text.push('\n');
    if told.is_empty() {
        return text;
    }
    text.push_str("\n| | place | rule | finding |\n|---|---|---|---|\n");
    for (number, one) in told.iter().enumerate() {
        let hints = one.hints.iter().fold(String::new(), |text, hint| text + "<br>" + &cell(hint));
        let place = format!("{}:{}:{}", one.file, one.from.line, one.from.column);
        let row = format!("| {} | {} | {} | {}{hints} |\n", one.severity, cell(&place), one.rule, cell(&one.message));
        if text.len() + row.len() > LARGEST_SUMMARY {
            let _ = writeln!(text, "\n{} more.", told.len() - number);
            break;
        }
        text.push_str(&row);
    }
    text
}

/// Untrusted text within a cell of a table: nothing in it is Markdown or HTML.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' | '~' | '@' | '#' | '!' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
