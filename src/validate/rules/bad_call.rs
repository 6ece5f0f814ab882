//! `bad-call`: a `call` that names no tool.

use crate::validate::doing::FaultKind;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "bad-call",
    summary: "A call is written `alias:tool`, with exactly one colon.",
    ..Rule::error(Reach::Step, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::BadCall),
        "write `alias:tool`: the server's name in the operator's file, then the tool's",
    );
}
