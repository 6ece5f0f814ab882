//! `dangling-edge`: an edge leads to or from a node that isn't there.

use std::collections::HashSet;

use crate::code::{Code, WarningCode};
use crate::document::Place;
use crate::names::quoted;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity, Verdict};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "dangling-edge",
    severity: Severity::Error,
    reach: Reach::Flow,
    code: Code::ValidationError,
    warning: Some(WarningCode::DanglingEdge),
    also: &[Verdict { severity: Severity::Warning, reach: Reach::None, when: "with `lenient`" }],
    summary: "Both ends of an edge are nodes of the flow.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    // Once each node has an id of its own, the edge may lead to one of them.
    if subject.nodes_in_doubt() {
        return;
    }
    let known: HashSet<&str> = subject.flow.nodes.iter().map(|node| node.id.as_str()).collect();
    for (number, edge) in subject.flow.edges.iter().enumerate() {
        for (end, key) in [(&edge.from, "source"), (&edge.to, "target")] {
            if known.contains(end.as_str()) {
                continue;
            }
            let place = Place::value(subject.flow.edge_pointer(number).key(key));
            let draft = drafts
                .find(
                    place,
                    format!(
                        "edge {} names node {} as its {key}, and there is no such node",
                        quoted(&edge.caption()),
                        quoted(end)
                    ),
                )
                .did_you_mean(end, known_in_order(subject))
                .hint(if subject.known.options.lenient {
                    "the edge is ignored"
                } else {
                    "remove the edge, or add the node; `--lenient` ignores such edges"
                });
            if subject.known.options.lenient {
                draft.only_warn();
            }
        }
    }
}

fn known_in_order<'a>(subject: &FlowSubject<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    subject.flow.nodes.iter().map(|node| node.id.as_str())
}
