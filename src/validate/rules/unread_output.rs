//! `unread-output`: a step whose text nobody reads and no result shows.

use std::cell::LazyCell;
use std::collections::HashSet;

use crate::document::Place;
use crate::model::NodeKind;
use crate::names::{quoted, unreadable_id};
use crate::validate::{Body, Check, Drafts, FlowSubject, ReadSource, Rule, StepScope};

/// The rule. Where a model carries the steps out, each of them may matter by itself, so flows with personas or
/// contracts are left alone; so are tools and other flows, which may act.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "unread-output",
    summary: "The output of a step is read by another step or shown as a result.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let Some(order) = subject.order.filter(|_| subject.scope.steps.len() > 1 && !subject.lacks_edges()) else { return };
    // Once the edges lead somewhere, one may lead to a reader.
    if subject.edges_in_doubt() || subject.nodes_in_doubt() || subject.reads_in_doubt() {
        return;
    }
    let guided = subject.flow.nodes.iter().any(|node| match &node.kind {
        NodeKind::Template(step) => step.persona.is_some() || step.contract.is_some() || step.optional,
        NodeKind::Input(_) | NodeKind::Tool(_) | NodeKind::Flow(_) | NodeKind::Result | NodeKind::Other(_) => false,
    });
    // Without a result node every step may be what the author wants to see.
    let has_result = subject.flow.nodes.iter().enumerate().any(|(number, node)| {
        matches!(node.kind, NodeKind::Result) && order.parents.get(number).is_some_and(|parents| !parents.is_empty())
    });
    if guided || !has_result {
        return;
    }
    let shown: HashSet<usize> = subject.shown_steps().into_iter().collect();
    let mut read: HashSet<usize> = HashSet::new();
    for step in &subject.scope.steps {
        let parents = order.parents.get(step.node).map(Vec::as_slice).unwrap_or_default();
        // A name that is open may take the output of the step before; a text that is elsewhere may read anything.
        if open(step) {
            read.extend(parents);
        }
        read.extend(step.givers());
        // Where a text reads it in vain, that is told there.
        read.extend(step.reads.iter().filter_map(|read| match read.source {
            ReadSource::Unreachable { node } => Some(node),
            _ => None,
        }));
    }
    let misread: LazyCell<HashSet<usize>, _> =
        LazyCell::new(|| subject.misread().iter().flat_map(|one| subject.scope.givers(one.meant)).collect());
    for step in &subject.scope.steps {
        let node = step.node;
        let text = matches!(step.body, Body::Text { .. });
        if !text || shown.contains(&node) || read.contains(&node) || !subject.graph.connected(node) {
            continue;
        }
        let id = subject.id(node);
        // That no text can read it is told at its id, where one was to.
        if misread.contains(&node) || unreadable_id(id).is_some() {
            continue;
        }
        let feeds = subject.flow.nodes.iter().enumerate().find(|(number, node_of)| {
            let parents = order.parents.get(*number).map(Vec::as_slice).unwrap_or_default();
            matches!(node_of.kind, NodeKind::Result) && parents.contains(&node)
        });
        let (why, hint) = match feeds {
            Some((_, result)) => (
                format!(
                    "result {} shows a later step, and no step reads the output of this one",
                    quoted(result.caption())
                ),
                subject
                    .in_form(
                        "give it a result of its own, or read it",
                        "name it under `results` by a label, or read it",
                    )
                    .to_owned(),
            ),
            None => (
                "no step reads its output, and no result shows it".to_owned(),
                format!(
                    "read it as {{{}_result}} in a later text, or {}",
                    plain(id),
                    subject.in_form("draw an edge from it to a result", "name it under `results` of the front matter")
                ),
            ),
        };
        drafts
            .find(Place::value(subject.flow.node_pointer(node).key("id")), format!("{}: {why}", subject.called(node)))
            .node(id)
            .hint(hint);
    }
}

fn open(step: &StepScope) -> bool {
    let elsewhere = matches!(step.body, Body::Faulty { .. } | Body::Elsewhere);
    elsewhere || step.reads.iter().any(|read| matches!(read.source, ReadSource::Open { declared: true, input: false }))
}

fn plain(id: &str) -> String {
    id.chars().filter(|c| *c != '-').collect()
}
