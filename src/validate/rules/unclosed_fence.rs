//! `unclosed-fence`: a fenced block in Markdown is never closed, so that the steps behind it are part of it.

use crate::code::Code;
use crate::document::NoteKind;
use crate::validate::{Check, Drafts, FileSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "unclosed-fence",
    severity: Severity::Error,
    reach: Reach::Flow,
    code: Code::ValidationError,
    warning: None,
    also: &[],
    summary: "No fenced block hides a step because it is never closed.",
    check: Check::File(check),
};

fn check(subject: &FileSubject<'_>, drafts: &mut Drafts<'_>) {
    for note in subject.notes(|kind| matches!(kind, NoteKind::UnclosedFence)) {
        drafts.note(note);
    }
}
