//! `bad-call`: a `call` that names no tool.

use crate::code::Code;
use crate::validate::doing::FaultKind;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "bad-call",
    severity: Severity::Error,
    reach: Reach::Step,
    code: Code::ValidationError,
    warning: None,
    also: &[],
    summary: "A call is written `alias:tool`, with exactly one colon.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::BadCall),
        "write `alias:tool`: the server's name in the operator's file, then the tool's",
    );
}
