//! `flow-ring`: flows that go through each other without end.

use crate::code::Code;
use crate::document::Place;
use crate::model::NodeKind;
use crate::names::quoted;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "flow-ring",
    code: Code::CircularDependency,
    summary: "No flow goes through itself, directly or by way of other flows.",
    ..Rule::error(Reach::Flow, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        let NodeKind::Flow(link) = &node.kind else { continue };
        let Some(name) = &link.flow else { continue };
        let Some(ring) = subject.known.shelf.ring(subject.flow.place_in_file, name) else { continue };
        let words: Vec<String> = ring.iter().map(|name| quoted(name)).collect();
        let place = Place::value(subject.flow.node_pointer(number).key("data").key("flow"));
        drafts
            .find(place, format!("{}: the flows form a ring: {}", subject.called(number), words.join(" → ")))
            .node(&node.id)
            .ring(ring.iter().skip(1).cloned().collect())
            .hint(subject.in_form("remove one `flow` node of the ring", "remove one step of the ring that has `flow`"));
    }
}
