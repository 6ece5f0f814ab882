//! `unknown-variable-set`: a variable set that another flow does not have.

use crate::code::Code;
use crate::validate::doing::FaultKind;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "unknown-variable-set",
    code: Code::InvalidRequest,
    summary: "The variable set that a node chooses is one of the flow that it goes through.",
    ..Rule::error(Reach::Step, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::UnknownSet),
        "name in `_variableSet` a set that a step of that flow has",
    );
}
