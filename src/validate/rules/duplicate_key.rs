//! `duplicate-key`: an object holds a key twice, and readers differ in which one counts.

use crate::code::WarningCode;
use crate::document::Place;
use crate::names::{grouped, quoted};
use crate::validate::{Check, Drafts, FileSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "duplicate-key",
    warning: Some(WarningCode::DuplicateKey),
    summary: "No object holds the same key twice (the last one counts).",
    ..Rule::error(Reach::None, Check::File(check))
};

fn check(subject: &FileSubject<'_>, drafts: &mut Drafts<'_>) {
    let here = if subject.in_markdown() { "here" } else { "in this object" };
    for duplicate in &subject.document.duplicates {
        let key = duplicate.pointer.steps().last().unwrap_or_default();
        let (times, hint) = match duplicate.times {
            2 => ("twice".to_owned(), "remove one of the two"),
            times => (format!("{} times", grouped(times)), "keep one of them"),
        };
        drafts
            .find_at(
                Place::key(duplicate.pointer.clone()),
                duplicate.again,
                format!("key {} stands {times} {here}; the last one counts", quoted(&key)),
            )
            .related_at(duplicate.first, "first here")
            .hint(hint);
    }
}
