//! `self-edge`: a step would wait for itself.

use crate::code::Code;
use crate::document::Place;
use crate::names::quoted;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "self-edge",
    severity: Severity::Error,
    reach: Reach::Flow,
    code: Code::ValidationError,
    warning: None,
    also: &[],
    summary: "No edge leads from a node to itself.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for (number, edge) in subject.flow.edges.iter().enumerate() {
        if edge.from == edge.to {
            drafts
                .find(
                    Place::value(subject.flow.edge_pointer(number).key("target")),
                    format!("edge {} leads from node {} to itself", quoted(&edge.caption()), quoted(&edge.from)),
                )
                .node(&edge.from)
                .hint("remove the edge: a step can't wait for itself");
        }
    }
}
