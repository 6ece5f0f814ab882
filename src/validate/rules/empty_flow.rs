//! `empty-flow`: nothing of the flow can run.

use std::collections::BTreeSet;

use crate::document::{NoteKind, Place};
use crate::model::NodeKind;
use crate::model::wire::UnreadKind;
use crate::names::{quoted, shown};
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "empty-flow",
    summary: "A flow has at least one step, and an export at least one flow.",
    ..Rule::error(Reach::Flow, Check::Flow(check))
};

/// The most types that a message names.
const MOST_KINDS: usize = 5;

/// How a step begins in Markdown.
const STEP: &str =
    "a step begins with a line such as `## Collect the facts {#facts}`: two #, a blank, and the id in braces";

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    // A heading that was to begin a step is told, and why it begins none.
    if subject.document.notes.iter().any(|note| note.kind == NoteKind::LostStep) {
        return;
    }
    let mut empty = false;
    for unread in subject.unread.iter().filter(|unread| unread.what == UnreadKind::EmptyFlow) {
        drafts
            .find(unread.place.clone(), unread.message.clone())
            .hint(subject.in_form("add at least one template node", STEP));
        empty = true;
    }
    // A node that could not be read may be a step; the schema says what is wrong with it.
    if empty || subject.has_steps() || subject.some_nodes_unread() {
        return;
    }
    let name = quoted(subject.flow.name.as_str());
    let others: Vec<(usize, &str)> = subject
        .flow
        .nodes
        .iter()
        .enumerate()
        .filter_map(|(number, node)| match &node.kind {
            NodeKind::Other(kind) => Some((number, kind.as_str())),
            _ => None,
        })
        .collect();
    let Some((first, kind)) = others.first() else {
        drafts
            .find(Place::key(subject.flow.base.key("nodes")), format!("flow {name} has no step, so nothing runs"))
            .hint(subject.in_form("add at least one template node", STEP));
        return;
    };
    let kinds: BTreeSet<&str> = others.iter().map(|(_, kind)| *kind).collect();
    let mut listed: Vec<String> = kinds.iter().take(MOST_KINDS).map(|kind| shown(&quoted(kind), 60)).collect();
    if kinds.len() > listed.len() {
        listed.push(format!("{} more", kinds.len() - listed.len()));
    }
    let types = if listed.len() == 1 { "the type" } else { "the types" };
    let place = Place::value(subject.flow.node_pointer(*first).key("type"));
    drafts
        .find(place, format!("flow {name} has no step: nothing runs at a node of {types} {}", listed.join(", ")))
        .node(subject.id(*first))
        .hint(match NodeKind::meant(kind) {
            Some(meant) => format!("did you mean {}?", quoted(meant)),
            None => "a step is a node of type `template`, `tool` or `flow`".to_owned(),
        });
}
