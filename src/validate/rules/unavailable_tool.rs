//! `unavailable-tool`: a tool whose server is switched off.

use crate::validate::doing::FaultKind;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "unavailable-tool",
    severity: Severity::Error,
    reach: Reach::Step,
    also: &[],
    summary: "The server of the tool that a node calls is switched on.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::SwitchedOff),
        "the operator switches it on in the servers file, in `disabled`",
    );
}
