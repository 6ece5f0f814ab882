//! `missing-flow`: another flow that isn't there, or can't be gone through.

use crate::code::Code;
use crate::validate::doing::FaultKind;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "missing-flow",
    code: Code::FlowNotFound,
    summary: "The flow that a node goes through is in the catalog, and can be executed.",
    ..Rule::error(Reach::Step, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::NoFlow | FaultKind::BrokenFlow(_)),
        subject.in_form(
            "name a flow of this catalog in `data.flow`, and fix what keeps it from running",
            "name a flow of this catalog in `flow`, and fix what keeps it from running",
        ),
    );
}
