//! `self-edge`: a step would wait for itself.

use crate::document::Place;
use crate::model::Shape;
use crate::names::quoted;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "self-edge",
    summary: "No edge leads from a node to itself.",
    ..Rule::error(Reach::Flow, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    // Where ids stand for several steps, texts draw edges to the wrong one.
    if subject.flow.shape == Shape::Markdown && subject.ids_in_doubt() {
        return;
    }
    for (number, edge) in subject.flow.edges.iter().enumerate() {
        if edge.from == edge.to {
            drafts
                .find(
                    Place::value(subject.flow.edge_pointer(number).key("target")),
                    if let (true, Some((name, _))) = (subject.in_markdown(), edge.mapping.first()) {
                        format!("step {} maps {} from itself", quoted(&edge.from), quoted(name))
                    } else if subject.in_markdown() {
                        format!("step {} waits for itself", quoted(&edge.from))
                    } else {
                        format!("edge {} leads from node {} to itself", quoted(&edge.caption()), quoted(&edge.from))
                    },
                )
                .node(&edge.from)
                .hint(subject.in_form(
                    "remove the edge: a step can't wait for itself",
                    "name another step there: a step can't wait for itself or read its own output",
                ));
        }
    }
}
