//! `misfit-arguments`: arguments that the tool can't take.

use crate::validate::doing::FaultKind;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "misfit-arguments",
    summary: "The fixed arguments of a call fit the tool's schema, and fixed values for a flow fit its inputs.",
    ..Rule::error(Reach::Step, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::Misfit),
        "`flowy servers tools ALIAS --schema` shows what the tool takes",
    );
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::UnfitInput),
        "fix the value, or what `inputs` of that flow says of it",
    );
}
