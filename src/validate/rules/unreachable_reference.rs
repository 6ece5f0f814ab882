//! `unreachable-reference`: the output that a step reads can't be there yet.

use crate::graph::Ancestors;
use crate::model::Edge;
use crate::names::quoted;
use crate::validate::ReadSource;
use crate::validate::rule::EDGES;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "unreachable-reference",
    summary: "A step reads only the outputs of steps that come before it.",
    ..Rule::error(Reach::Flow, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    // Once the edges lead somewhere, one may lead to the reader.
    if subject.edges_in_doubt() || subject.nodes_in_doubt() {
        return;
    }
    if subject.lacks_edges() && subject.reads_without_edges() {
        if subject.steps_in_doubt() {
            return;
        }
        drafts
            .find(subject.place_of_edges(), "the flow has no edges, and its steps read each other's outputs")
            .hint(EDGES);
        return;
    }
    let ancestors = subject.order.map(Ancestors::of);
    for step in &subject.scope.steps {
        for read in &step.reads {
            let ReadSource::Unreachable { node } = read.source else { continue };
            let Some(placeholder) = step.placeholder(read) else { continue };
            let (reader, giver) = (subject.id(step.node), subject.id(node));
            let why = if step.node == node {
                "which is the step itself".to_owned()
            } else {
                format!("but no edge leads from {} to it", quoted(giver))
            };
            let message = format!(
                "{} reads {{{}}}, the output of {}, {why}",
                subject.called(step.node),
                placeholder.spelt(),
                subject.called(node)
            );
            let draft = subject.find_group(drafts, step, read.placeholder, message);
            let draft = draft.node(reader);
            if step.node == node {
                draft.hint("name another step, or remove the placeholder: no step reads its own output");
            } else if let Some(edge) = backwards(subject, reader, giver) {
                let edge = quoted(&edge.caption());
                let (giver, reader) = (quoted(giver), quoted(reader));
                draft.hint(format!("turn edge {edge} round, or remove the placeholder: {giver} comes after {reader}"));
            } else if ancestors.as_ref().is_some_and(|ancestors| ancestors.reaches(step.node, node)) {
                draft.hint(format!("remove the placeholder: {} comes after {}", quoted(giver), quoted(reader)));
            } else if !subject.in_markdown() {
                draft.hint(format!(
                    "draw an edge from {} to {}, or remove the placeholder",
                    quoted(giver),
                    quoted(reader)
                ));
            }
        }
    }
}

/// The edge that leads from the reader of an output to its giver.
fn backwards<'f>(subject: &FlowSubject<'f>, reader: &str, giver: &str) -> Option<&'f Edge> {
    subject.flow.edges.iter().find(|edge| !subject.in_markdown() && edge.from == reader && edge.to == giver)
}
