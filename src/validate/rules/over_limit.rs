//! `over-limit`: more than the server takes on.

use crate::code::Code;
use crate::document::Place;
use crate::model::{Flow, UnfoldedSize};
use crate::names::{LONGEST_NODE_ID, NameError, NodeId, grouped};
use crate::validate::{Body, Check, Drafts, FlowSubject, Options, Reach, Rule, Severity, StepScope, Verdict};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "over-limit",
    also: &[Verdict {
        severity: Severity::Error,
        reach: Reach::Step,
        when: "the steps up to one declare, read and set too many names, or a flow within the flow goes too deep",
    }],
    summary: "A flow has at most 1,000 nodes and 5,000 edges, its ids at most 50 characters, and with the flows within it at most 10,000 steps and 100,000 names.",
    ..Rule::error(Reach::Flow, Check::Flow(check))
};

/// The most steps of a flow with every flow within it unfolded.
pub const MAX_STEPS: usize = 10_000;
/// The most names that the steps of a flow may declare, read and set, all together and those of flows within
/// it included.
pub(in crate::validate) const MAX_NAMES: usize = 100_000;

/// The same of the placeholders of its texts.
pub(in crate::validate) const MAX_GROUPS: usize = 1_000_000;
/// The most bytes of texts that its steps may have, all together, and of what is copied with every step of a
/// flow within it. What an execution may write is far less.
pub(in crate::validate) const MAX_BYTES: usize = 50_000_000;

/// The most steps of a flow that are each told to be over a limit.
const MOST_TOLD: usize = 20;

/// Whether a flow is not worth looking at: it will be refused for its size alone.
pub(in crate::validate) fn too_large(flow: &Flow, options: Options) -> bool {
    flow.nodes.len() > options.max_nodes || flow.edges.len() > options.max_edges
}

/// How large the flow is with every flow within it unfolded, before any is.
fn unfolded(subject: &FlowSubject<'_>) -> UnfoldedSize {
    let of_step = |step: &StepScope| {
        let own = UnfoldedSize { steps: 1, names: step.outline.names.len(), ..UnfoldedSize::default() };
        if let Body::Link { flow, .. } = &step.body { own.and(flow.size) } else { own }
    };
    subject.scope.steps.iter().map(of_step).fold(UnfoldedSize::default(), UnfoldedSize::and)
}

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let size = unfolded(subject);
    let nested = subject.scope.steps.iter().any(|step| matches!(step.body, Body::Link { .. }));
    for (what, count, limit) in [
        ("steps", size.steps, MAX_STEPS),
        ("names", size.names, MAX_NAMES),
        ("placeholders", size.groups, MAX_GROUPS),
        ("bytes of labels, descriptions and contracts", size.bytes, MAX_BYTES),
    ] {
        if nested && count > limit {
            let (count, limit) = (grouped(count), grouped(limit));
            let message = format!("with the flows within it, the flow has {count} {what}, and {limit} are allowed");
            let draft = drafts.find(Place::key(subject.flow.base.key("nodes")), message).code(Code::LimitExceeded);
            draft.hint(subject.in_form(
                "let fewer nodes go through the larger flows, or split the flow",
                "let fewer steps go through the larger flows, or split the flow",
            ));
        }
    }
    let options = subject.known.options;
    let nodes = subject.in_form("nodes", "steps and results");
    let edges = subject.in_form("edges", "steps that wait for others, each counted");
    for (what, words, count, limit) in [
        ("nodes", nodes, subject.flow.nodes.len(), options.max_nodes),
        ("edges", edges, subject.flow.edges.len(), options.max_edges),
    ] {
        if count > limit {
            drafts
                .find(
                    Place::key(subject.flow.base.key(what)),
                    match what {
                        // Of a file in Markdown no more are read.
                        "edges" if subject.in_markdown() => format!("the flow has more than {limit} {words}"),
                        _ => format!("the flow has {count} {words}, and {limit} are allowed"),
                    },
                )
                .hint("split it into several flows");
        }
    }
    let (mut told, mut unlisted) = (0, None);
    for step in &subject.scope.steps {
        if let Body::Faulty { code, message, .. } = &step.body
            && *code == Code::LimitExceeded
        {
            // Flows that go through each other go too deep in all of their steps.
            told += 1;
            if told > MOST_TOLD {
                unlisted.get_or_insert(step.node);
                continue;
            }
            let place = Place::value(subject.flow.node_pointer(step.node).key("id"));
            let id = subject.id(step.node);
            let hint = if step.fault.is_some() {
                "take a flow out of the chain, or put the steps of one into another"
            } else {
                "split the flow: its texts are longer, or name more values, than those of one flow may"
            };
            let draft =
                drafts.find(place, format!("{}: {message}", subject.called(step.node))).error(Reach::Step).node(id);
            draft.code(*code).hint(hint);
        }
    }
    if let Some(node) = unlisted {
        let message = format!("{} more steps are over a limit and are not listed", grouped(told - MOST_TOLD));
        let draft = drafts.find(Place::value(subject.flow.node_pointer(node).key("id")), message).error(Reach::Step);
        draft.code(Code::LimitExceeded).hint("mend those that are listed, and check again");
    }
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        // That an id is empty the schema says.
        if let Some(error) = NodeId::new(&node.id).err().filter(|_| !node.id.is_empty()) {
            let place = Place::value(subject.flow.node_pointer(number).key("id"));
            let error = NameError { what: subject.in_form(error.what, "step id"), ..error };
            let hint = if node.id.chars().count() > LONGEST_NODE_ID {
                subject.in_form("give the node a shorter id", "give the step a shorter id")
            } else {
                "type the id anew: letters, digits, _ and -"
            };
            drafts.find(place, error.to_string()).node(&node.id).hint(hint);
        }
    }
}
