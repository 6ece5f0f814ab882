//! `tool-not-allowed`: a tool that the operator does not allow.

use crate::code::Code;
use crate::validate::doing::FaultKind;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "tool-not-allowed",
    code: Code::ToolNotAllowed,
    summary: "The tool that a node calls is one that the operator allows.",
    ..Rule::error(Reach::Step, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::NotAllowed),
        "the operator allows tools in the servers file, in `allow`",
    );
}
