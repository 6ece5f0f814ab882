//! `cycle`: no step of a ring could go first.

use crate::code::Code;
use crate::document::Place;
use crate::model::Shape;
use crate::names::shown;
use crate::validate::{Body, Check, Drafts, FlowSubject, Reach, ReadSource, Rule, StepScope};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "cycle",
    code: Code::CircularDependency,
    summary: "The edges form no ring.",
    ..Rule::error(Reach::Flow, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    // Where ids stand for several steps, texts draw edges to the wrong one.
    if subject.flow.shape == Shape::Markdown && subject.ids_in_doubt() {
        return;
    }
    for ring in subject.graph.rings() {
        let ids: Vec<&str> = ring.iter().map(|node| subject.id(*node)).collect();
        let Some((first, last)) = ids.first().zip(ids.last()) else { continue };
        let closing = subject.flow.edges.iter().position(|edge| edge.from == *last && edge.to == *first);
        let path: Vec<String> = ids.iter().chain([first]).map(|id| shown(id, 60)).collect();
        let message = format!("the {} form a ring: {}", subject.in_form("edges", "steps"), path.join(" → "));
        let [begin, end] = [ring.first(), ring.last()].map(|node| node.copied().unwrap_or_default());
        let draft = match closing {
            Some(edge) if edge < subject.written_edges() => {
                let end = if subject.flow.shape == Shape::Markdown { "source" } else { "target" };
                drafts.find(Place::value(subject.flow.edge_pointer(edge).key(end)), message)
            }
            // A text made the edge.
            _ => match reading(subject, begin, end) {
                Some((step, placeholder)) => subject.find_group(drafts, step, placeholder, message),
                None if subject.flow.shape == Shape::Markdown => {
                    drafts.find(Place::value(subject.flow.node_pointer(begin).key("id")), message)
                }
                None => drafts.find(Place::value(subject.flow.base.key("edges")), message),
            },
        };
        draft.node(first).ring(ids.iter().map(|id| (*id).to_owned()).collect()).hint(subject.in_form(
            "remove one edge of the ring",
            "let one of these steps not read the output of the one before it, or remove its `after`",
        ));
    }
}

/// Where a text that stands in the flow's own file reads what another step gives.
fn reading<'s>(subject: &FlowSubject<'s>, reader: usize, giver: usize) -> Option<(&'s StepScope, usize)> {
    let step = subject.scope.step_of(reader)?;
    let gives = |source: &ReadSource| match source {
        ReadSource::Output { node, .. } | ReadSource::Set { node, .. } | ReadSource::Unreachable { node } => {
            *node == giver
        }
        _ => false,
    };
    let read = step.reads.iter().find(|read| gives(&read.source))?;
    let own = !matches!(step.body, Body::Text { template: Some(_), .. });
    own.then_some((step, read.placeholder))
}
