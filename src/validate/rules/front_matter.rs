//! `front-matter`: what stands between the lines of `---` at the beginning of a file can't be read, or reads
//! otherwise than it looks.

use crate::code::Code;
use crate::document::NoteKind;
use crate::validate::{Check, Drafts, FileSubject, Reach, Rule, Severity, Verdict};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "front-matter",
    code: Code::ParseError,
    also: &[Verdict { severity: Severity::Warning, reach: Reach::None, when: "a comment cuts off a text" }],
    summary: "The front matter of a file in Markdown is closed, and is a mapping in YAML without anchors, tags and merges.",
    ..Rule::error(Reach::Flow, Check::File(check))
};

fn check(subject: &FileSubject<'_>, drafts: &mut Drafts<'_>) {
    for note in subject.notes(|kind| matches!(kind, NoteKind::FrontMatter)) {
        drafts.note(note).only_warn();
    }
}
