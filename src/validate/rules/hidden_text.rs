//! `hidden-text`: characters that no reader of a file sees, and a model reads.

use crate::code::Code;
use crate::document::{NoteKind, Place};
use crate::names::{counted, quoted};
use crate::validate::{Check, Drafts, FileSubject, Reach, Rule, Severity};

/// The rule. Such characters are not read, so that what it finds does nothing.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "hidden-text",
    severity: Severity::Warning,
    reach: Reach::None,
    code: Code::ValidationError,
    warning: None,
    also: &[],
    summary: "No text contains characters that people can't see and models can read.",
    check: Check::File(check),
};

fn check(subject: &FileSubject<'_>, drafts: &mut Drafts<'_>) {
    for hidden in &subject.document.hidden {
        drafts.find(hidden.place.clone(), message(hidden.count, &hidden.spelt)).hint(HINT);
    }
    for note in &subject.document.notes {
        match &note.kind {
            NoteKind::Hidden { count, spelt } => {
                drafts.find_at(Place::default(), note.span, message(*count, spelt)).hint(HINT);
            }
            NoteKind::Comment => {
                drafts.note(note);
            }
            _ => {}
        }
    }
}

const HINT: &str = "retype the text, or delete them";

fn message(count: usize, spelt: &str) -> String {
    let characters = counted(count, "invisible character", "invisible characters");
    let spelt = if spelt.is_empty() { String::new() } else { format!(" that spell {}", quoted(spelt)) };
    format!("this text holds {characters}{spelt}, which people can't see and flowy leaves out")
}
