//! `duplicate-node`: edges and names could mean either node.

use std::collections::HashMap;

use crate::document::Place;
use crate::names::quoted;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "duplicate-node",
    summary: "No two nodes have the same id.",
    ..Rule::error(Reach::Flow, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let mut first: HashMap<&str, usize> = HashMap::new();
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        let Some(earlier) = first.get(node.id.as_str()).copied() else {
            first.insert(&node.id, number);
            continue;
        };
        let same = |a: usize, b: usize| {
            let [a, b] = [a, b].map(|number| subject.flow.nodes.get(number));
            a.zip(b).is_some_and(|(a, b)| a.kind == b.kind && a.label == b.label && a.description == b.description)
        };
        let place = |number: usize| Place::value(subject.flow.node_pointer(number).key("id"));
        let caption = |number: usize| subject.flow.nodes.get(number).map_or("", |node| node.caption());
        let pointer = |number: usize| {
            if subject.in_markdown() { String::new() } else { format!(" ({})", subject.flow.node_pointer(number)) }
        };
        let (earlier_index, index) = (pointer(earlier), pointer(number));
        drafts
            .find(
                place(number),
                format!(
                    "{} id {} is used twice: by {}{earlier_index} and by {}{index}",
                    subject.in_form("node", "step"),
                    quoted(&node.id),
                    quoted(caption(earlier)),
                    quoted(caption(number))
                ),
            )
            .related(&place(earlier), "first used here")
            .node(&node.id)
            .hint(if same(earlier, number) {
                subject.in_form("the two are the same: remove one of them", "the two steps are the same: remove one")
            } else {
                subject.in_form(
                    "give one of the two another id, and fix the edges that mean it",
                    "give one of the two another id in its heading",
                )
            });
    }
}
