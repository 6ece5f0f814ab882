//! `unclosed-fence`: a fenced block in Markdown is never closed, so that the steps behind it are part of it.

use crate::document::NoteKind;
use crate::validate::{Check, Drafts, FileSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "unclosed-fence",
    summary: "No fenced block hides a step because it is never closed.",
    ..Rule::error(Reach::Flow, Check::File(check))
};

fn check(subject: &FileSubject<'_>, drafts: &mut Drafts<'_>) {
    for note in subject.notes(|kind| matches!(kind, NoteKind::UnclosedFence)) {
        drafts.note(note);
    }
}
