//! `unconnected-node`: a step that stands alone, often a forgotten draft.

use std::collections::HashSet;

use crate::code::Code;
use crate::document::Place;
use crate::model::NodeKind;
use crate::names::quoted;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "unconnected-node",
    severity: Severity::Warning,
    reach: Reach::None,
    code: Code::ValidationError,
    warning: None,
    also: &[],
    summary: "Where a flow has several steps, each step and each result has an edge.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let steps = subject.flow.nodes.iter().filter(|node| node.runnable()).count();
    let mut seen: HashSet<&str> = HashSet::with_capacity(subject.flow.nodes.len());
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        // The edges of a repeated id lead to its first node; that it is repeated is told elsewhere.
        let repeated = !seen.insert(node.id.as_str());
        let alone = !subject.graph.connected(number) && !repeated;
        let is_result = matches!(node.kind, NodeKind::Result);
        if !alone || !((node.runnable() && steps > 1) || is_result) {
            continue;
        }
        let what = if is_result {
            "no step leads to it, so it marks nothing"
        } else {
            "it runs, but nothing comes before or after it"
        };
        drafts
            .find(
                Place::value(subject.flow.node_pointer(number).key("id")),
                format!("node {} has no edge: {what}", quoted(&node.id)),
            )
            .node(&node.id)
            .hint("connect it, or remove it");
    }
}
