//! `differing-defaults`: which default counts depends on the drawing.

use crate::document::Place;
use crate::model::{NodeKind, text_of};
use crate::names::quoted;
use crate::validate::{Check, Drafts, FlowSubject, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "differing-defaults",
    summary: "Input nodes that declare one variable give it one default.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for (name, input) in &subject.scope.inputs {
        let decided = input
            .refinement
            .and_then(|place| subject.flow.inputs.get(place))
            .is_some_and(|refinement| refinement.default.is_some());
        let mut defaults = input
            .nodes
            .iter()
            .filter_map(|(node, place, default)| default.as_ref().map(|default| (*node, *place, default)));
        let Some((first_node, first_place, first)) = defaults.next() else { continue };
        if decided {
            continue;
        }
        for (node, place, other) in defaults {
            if text_of(other) == text_of(first) {
                continue;
            }
            let at = |node: usize, place: usize| {
                subject.flow.nodes.get(node).and_then(|node| match &node.kind {
                    NodeKind::Input(input) => {
                        input.variables.get(place).map(|variable| Place::value(variable.pointer.clone()))
                    }
                    _ => None,
                })
            };
            if let (Some(here), Some(there)) = (at(node, place), at(first_node, first_place)) {
                drafts
                    .find(here, format!("input {} has the default {} here and {} in node {}", quoted(name), quoted(&text_of(other)), quoted(&text_of(first)), quoted(subject.id(first_node))))
                    .related(&there, "the other default")
                    .node(subject.id(node))
                    .hint("a step takes the default of the input node that has an edge to it, else the first in the file; set one under `inputs` to decide");
            }
        }
    }
}
