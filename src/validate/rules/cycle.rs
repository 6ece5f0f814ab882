//! `cycle`: no step of a ring could go first.

use crate::code::Code;
use crate::document::Place;
use crate::model::Shape;
use crate::names::shown;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "cycle",
    severity: Severity::Error,
    reach: Reach::Flow,
    code: Code::CircularDependency,
    warning: None,
    also: &[],
    summary: "The edges form no ring.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for ring in subject.graph.rings() {
        let ids: Vec<&str> = ring.iter().map(|node| subject.id(*node)).collect();
        let Some((first, last)) = ids.first().zip(ids.last()) else { continue };
        let closing = subject.flow.edges.iter().position(|edge| edge.from == *last && edge.to == *first);
        let place = match closing {
            // A text may have made the edge.
            _ if subject.flow.shape == Shape::Markdown => {
                subject.flow.node_pointer(ring.first().copied().unwrap_or_default()).key("id")
            }
            Some(edge) => subject.flow.edge_pointer(edge).key("target"),
            None => subject.flow.base.key("edges"),
        };
        let path: Vec<String> = ids.iter().chain([first]).map(|id| shown(id, 60)).collect();
        drafts
            .find(
                Place::value(place),
                format!("the {} form a ring: {}", subject.in_form("edges", "steps"), path.join(" → ")),
            )
            .node(first)
            .ring(ids.iter().map(|id| (*id).to_owned()).collect())
            .hint(subject.in_form(
                "remove one edge of the ring",
                "let one of these steps not read the output of the one before it, or remove its `after`",
            ));
    }
}
