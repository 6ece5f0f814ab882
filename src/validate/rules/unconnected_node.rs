//! `unconnected-node`: a step that stands alone, often a forgotten draft.

use std::collections::HashSet;

use crate::code::Code;
use crate::document::Place;
use crate::model::NodeKind;
use crate::names::quoted;
use crate::validate::rule::{AFTER, EDGES};
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "unconnected-node",
    severity: Severity::Warning,
    reach: Reach::None,
    code: Code::ValidationError,
    warning: None,
    also: &[],
    summary: "In a flow of several steps, each step has an edge, and a step feeds each result.",
    check: Check::Flow(check),
};

/// How a result is written in Markdown.
const RESULTS: &str = "name the step that gives it: `results: {Label: id}`";

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    // Where nothing runs, or an edge leads nowhere, that is the trouble.
    if !subject.has_steps() || subject.edges_in_doubt() || subject.nodes_in_doubt() {
        return;
    }
    if subject.lacks_edges() {
        if !subject.reads_without_edges() {
            drafts
                .find(subject.place_of_edges(), subject.in_form("the flow has no edges: nothing says in which order its steps run, or which of them gives the result",
                    "nothing says in which order the steps run, or which of them gives the result"))
                .hint(subject.in_form(EDGES, AFTER));
        }
        return;
    }
    let steps = subject.flow.nodes.iter().filter(|node| node.runnable()).count();
    let mut seen: HashSet<&str> = HashSet::with_capacity(subject.flow.nodes.len());
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        // The edges of a repeated id lead to its first node; that it is repeated is told elsewhere.
        if !seen.insert(node.id.as_str()) {
            continue;
        }
        let connected = subject.graph.connected(number);
        let what = match &node.kind {
            NodeKind::Result if !connected => "has no edge: no step leads to it, so it marks nothing",
            NodeKind::Result if !subject.is_fed(number) => "is fed by no step, so it marks nothing",
            NodeKind::Template(_) | NodeKind::Tool(_) | NodeKind::Flow(_) if !connected && steps > 1 => {
                "has no edge: it runs, but nothing comes before or after it"
            }
            NodeKind::Template(_)
            | NodeKind::Tool(_)
            | NodeKind::Flow(_)
            | NodeKind::Result
            | NodeKind::Input(_)
            | NodeKind::Other(_) => continue,
        };
        drafts
            .find(
                Place::value(subject.flow.node_pointer(number).key("id")),
                format!("node {} {what}", quoted(&node.id)),
            )
            .node(&node.id)
            .hint(subject.in_form("connect it, or remove it", if node.runnable() { AFTER } else { RESULTS }));
    }
}
