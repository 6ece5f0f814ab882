//! `bad-call`: a `call` that names no tool, and a `requires` that names no value.

use crate::validate::doing::FaultKind;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "bad-call",
    summary: "A call is written `alias:tool`, with exactly one colon, and `requires` holds names of values.",
    ..Rule::error(Reach::Step, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::BadCall),
        "write `alias:tool`: the server's name in the operator's file, then the tool's",
    );
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::BadGuard),
        "write the name alone, with dots into its value: `go`, `check_result.ok`",
    );
}
