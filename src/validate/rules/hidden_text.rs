//! `hidden-text`: characters that no reader of a file sees, and a model reads.

use crate::code::Code;
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
        let characters = counted(hidden.count, "invisible character", "invisible characters");
        let spelt =
            if hidden.spelt.is_empty() { String::new() } else { format!(" that spell {}", quoted(&hidden.spelt)) };
        drafts
            .find(
                hidden.place.clone(),
                format!("this text holds {characters}{spelt}, which people can't see and flowy leaves out"),
            )
            .hint("retype the text, or delete them");
    }
}
