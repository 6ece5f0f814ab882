//! `empty-flow`: nothing is in the flow.

use crate::code::Code;
use crate::model::wire::UnreadKind;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "empty-flow",
    severity: Severity::Error,
    reach: Reach::Flow,
    code: Code::ValidationError,
    warning: None,
    also: &[],
    summary: "A flow has at least one node, and an export at least one flow.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for unread in subject.unread.iter().filter(|unread| unread.what == UnreadKind::EmptyFlow) {
        drafts.find(unread.place.clone(), unread.message.clone()).hint("add at least one template node");
    }
}
