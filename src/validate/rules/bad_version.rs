//! `bad-version`: a version that tools can't compare.

use crate::code::Code;
use crate::model::wire::UnreadKind;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "bad-version",
    severity: Severity::Warning,
    reach: Reach::None,
    code: Code::ValidationError,
    warning: None,
    also: &[],
    summary: "A version is written as semantic versioning has it (https://semver.org).",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for unread in subject.unread.iter().filter(|unread| unread.what == UnreadKind::BadVersion) {
        drafts
            .find(unread.place.clone(), unread.message.clone())
            .hint("write it as three numbers, for example \"1.0.0\"");
    }
}
