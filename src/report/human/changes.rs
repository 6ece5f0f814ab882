//! Files whose text is to be another: their differences, and what was done.

use std::fmt::Write as _;

use similar::ChangeTag;

use super::comparing::by_lines;
use super::{BAD, FAINT, GOOD, HEADING, Look, count, hanging, hint, safe_block};
use crate::app::{ChangedFile, FormatReport};
use crate::names::shown;

/// How many lines around a change are shown.
const AROUND: usize = 3;
/// That mending changes no file.
const NOTHING: &str = "nothing can be fixed automatically";

/// The differences in the form that `patch` and `git apply` read.
pub fn differences(changed: &[ChangedFile], look: Look) -> String {
    let mut text = String::new();
    for file in changed {
        let name = shown(&file.shown, 4_096);
        let name = name.strip_prefix("./").unwrap_or(&name);
        let heads = format!("--- a/{name}\n+++ b/{name}");
        let _ = writeln!(text, "{}", look.paint(HEADING, &heads));
        let diff = by_lines(&file.before, &file.after);
        for hunk in diff.unified_diff().context_radius(AROUND).iter_hunks() {
            let _ = writeln!(text, "{}", look.paint(FAINT, &hunk.header().to_string()));
            for change in hunk.iter_changes() {
                let line = format!("{}{}", change.tag(), change.value().trim_end_matches('\n'));
                // What a terminal would obey is left out there, and kept for programs.
                let line = if look.terminal { safe_block(&line) } else { line };
                let _ = writeln!(text, "{}", painted(change.tag(), &line, look));
                if change.missing_newline() {
                    text.push_str("\\ No newline at end of file\n");
                }
            }
        }
    }
    text
}

/// A line of a difference in its colour.
pub(super) fn painted(tag: ChangeTag, line: &str, look: Look) -> String {
    match tag {
        ChangeTag::Delete => look.paint(BAD, line),
        ChangeTag::Insert => look.paint(GOOD, line),
        ChangeTag::Equal => line.to_owned(),
    }
}

/// What mending would write.
pub fn to_be_mended(changed: &[ChangedFile]) -> String {
    let files = count(changed.len(), "file", "files");
    if changed.is_empty() {
        NOTHING.to_owned()
    } else {
        format!("{files} would be fixed; without --diff, --fix writes")
    }
}

/// What mending wrote.
pub fn mended(changed: &[ChangedFile]) -> String {
    if changed.is_empty() {
        return NOTHING.to_owned();
    }
    let names: Vec<String> = changed.iter().map(|file| shown(&file.shown, 300)).collect();
    format!("fixed {}: {}", count(changed.len(), "file", "files"), names.join(", "))
}

/// What laying files out did, or with `check` would do.
pub fn laid_out(report: &FormatReport, check: bool, look: Look) -> String {
    let mut text = String::new();
    for (file, error) in &report.refused {
        let head = format!("{}:", look.paint(HEADING, &shown(file, 300)));
        text.push_str(&hanging(&head, &format!(" {}", shown(&error.message, 300)), 2, look));
    }
    if !report.refused.is_empty() {
        let files = count(report.refused.len(), "file", "files");
        let them = if report.refused.len() == 1 { "it" } else { "them" };
        text.push_str(&hint(
            &format!("{files} can't be laid out: fix {them} first; `flowy validate` shows the places"),
            look,
        ));
    }
    for file in &report.changed {
        let _ = writeln!(text, "{}", shown(&file.shown, 300));
    }
    let (changed, all) = (report.changed.len(), count(report.looked_at, "file", "files"));
    let what = if check { "to be laid out; `flowy fmt` does it" } else { "laid out" };
    let _ = match changed {
        0 => writeln!(text, "{all} looked at, nothing to lay out"),
        _ => writeln!(text, "{changed} of {all} {what}"),
    };
    text
}
