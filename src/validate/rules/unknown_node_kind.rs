//! `unknown-node-kind`: a node of a type that nothing is known of.

use crate::document::Place;
use crate::model::NodeKind;
use crate::names::quoted;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity, Verdict};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "unknown-node-kind",
    severity: Severity::Warning,
    reach: Reach::None,
    also: &[Verdict { severity: Severity::Error, reach: Reach::Step, when: "a tool or flow node" }],
    summary: "A node is of a type that is known and runs: multi_input, template or result.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        let place = Place::value(subject.flow.node_pointer(number).key("type"));
        match &node.kind {
            NodeKind::Other(kind) => {
                let what =
                    if kind.is_empty() { "has no type".to_owned() } else { format!("is of type {}", quoted(kind)) };
                drafts
                    .find(place, format!("node {} {what}: nothing runs there", quoted(&node.id)))
                    .did_you_mean(kind, ["multi_input", "input", "template", "result"])
                    .node(&node.id);
            }
            NodeKind::Tool(_) | NodeKind::Flow(_) => {
                let kind = if matches!(node.kind, NodeKind::Tool(_)) { "tool" } else { "flow" };
                drafts
                    .find(
                        place,
                        format!(
                            "node {} is of type {}: such steps can't be executed yet, so it fails when it is reached",
                            quoted(&node.id),
                            quoted(kind)
                        ),
                    )
                    .error(Reach::Step)
                    .node(&node.id);
            }
            _ => {}
        }
    }
}
