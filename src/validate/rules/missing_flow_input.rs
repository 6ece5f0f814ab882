//! `missing-flow-input`: an input that another flow needs and isn't given.

use crate::code::Code;
use crate::validate::doing::FaultKind;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "missing-flow-input",
    severity: Severity::Error,
    reach: Reach::Step,
    code: Code::MissingVariables,
    warning: None,
    also: &[],
    summary: "A node gives the flow it goes through every input that it needs.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    subject.find_faults(
        drafts,
        |kind| matches!(kind, FaultKind::LacksInput),
        subject.in_form(
            "add the names to `data.variables`, each with a text",
            "add the names to `variables` of the step's block, each with a text",
        ),
    );
}
