//! The edges that are drawn: doubled ones once, each with what goes along it.

use std::collections::{BTreeSet, HashMap};

use super::{LONGEST_LABEL, Picture};
use crate::model::{Flow, Node, NodeKind};
use crate::names::{shown, words};
use crate::plan::{MappedBy, Plan, Slot, Source, Step};

words! {
    /// What an edge is for.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(super) enum EdgeLook {
        /// Nothing is known of what goes along: the flow has no plan.
        Plain = "plain",
        /// One step after another: nothing goes along.
        Order = "order",
        /// The one reads by name what the other gives.
        Value = "value",
        /// The edge's `mapping` says what goes along.
        Mapping = "mapping",
        /// The edge's `targetHandle` says what goes along.
        Handle = "handle",
    }
}

/// One edge between two nodes, by their places in the file.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The variables that a mapping fills; empty without one.
    pub(super) carries: String,
    pub(super) look: EdgeLook,
    /// What is written at it: the variables that a mapping or a handle fills.
    pub(super) label: String,
}

/// The number of each node by its id; of several of one id that of the first.
pub(super) fn numbers(flow: &Flow) -> HashMap<&str, usize> {
    let mut numbers = HashMap::new();
    for (number, node) in flow.nodes.iter().enumerate() {
        numbers.entry(node.id.as_str()).or_insert(number);
    }
    numbers
}

/// Edges whose ends are there, doubled ones once.
pub(super) fn edges(picture: &Picture<'_>) -> Vec<Drawn> {
    let numbers = numbers(picture.flow);
    let mut place_of: HashMap<(usize, usize), usize> = HashMap::new();
    let mut drawn: Vec<Drawn> = Vec::new();
    for edge in &picture.flow.edges {
        let (Some(from), Some(to)) = (numbers.get(edge.from.as_str()), numbers.get(edge.to.as_str())) else { continue };
        let carries: Vec<&str> = edge.mapping.iter().map(|(target, _)| target.as_str()).collect();
        let carries = shown(&carries.join(", "), LONGEST_LABEL);
        match place_of.get(&(*from, *to)).and_then(|place| drawn.get_mut(*place)) {
            Some(other) if other.carries.is_empty() => other.carries = carries,
            Some(_) => {}
            None => {
                place_of.insert((*from, *to), drawn.len());
                let look = if picture.plan.is_some() { EdgeLook::Order } else { EdgeLook::Plain };
                let label = String::new();
                drawn.push(Drawn { from: *from, to: *to, carries, look, label });
            }
        }
    }
    let steps = picture.plan.map(Plan::steps).unwrap_or_default();
    let step_of: HashMap<usize, usize> = steps.iter().enumerate().map(|(number, step)| (step.node, number)).collect();
    for edge in &mut drawn {
        if !edge.carries.is_empty() {
            (edge.look, edge.label) = (EdgeLook::Mapping, edge.carries.clone());
            continue;
        }
        let Some(giver) = picture.flow.nodes.get(edge.from) else { continue };
        let reader = step_of.get(&edge.to).and_then(|number| steps.get(*number));
        let handled: BTreeSet<&str> =
            reader.map(|reader| by_handle(reader, step_of.get(&edge.from))).unwrap_or_default();
        if !handled.is_empty() {
            let handled = handled.into_iter().collect::<Vec<_>>().join(", ");
            (edge.look, edge.label) = (EdgeLook::Handle, shown(&handled, LONGEST_LABEL));
        } else if let Some(reader) = reader {
            if reader.work.slots().iter().any(|slot| reads(slot, giver, step_of.get(&edge.from))) {
                edge.look = EdgeLook::Value;
            }
        } else if marks(picture, edge, step_of.get(&edge.from)) {
            edge.look = EdgeLook::Value;
        }
    }
    drawn
}

/// The variables of a step that a `targetHandle` fills with another step's output.
fn by_handle<'s>(reader: &'s Step, giver: Option<&usize>) -> BTreeSet<&'s str> {
    let slots = reader.work.slots().iter().filter(|slot| match &slot.source {
        Source::Step { step, by: Some(MappedBy::Handle), .. } => Some(step) == giver,
        Source::Step { .. } | Source::Open(_) | Source::Passed(_) => false,
    });
    slots.map(|slot| slot.name.as_str()).collect()
}

/// Whether a value that is read is what a node gives.
fn reads(slot: &Slot, giver: &Node, step: Option<&usize>) -> bool {
    match &slot.source {
        Source::Step { step: read, .. } => Some(read) == step,
        Source::Passed(_) => false,
        Source::Open(open) => open.places().any(|open| match &giver.kind {
            NodeKind::Input(input) => input.variables.iter().any(|variable| variable.name == open.input),
            NodeKind::Template(_) | NodeKind::Tool(_) | NodeKind::Flow(_) => {
                step.is_some() && open.auto.as_ref() == step
            }
            NodeKind::Result | NodeKind::Other(_) => false,
        }),
    }
}

/// Whether the edge hands a step's output to a result.
fn marks(picture: &Picture<'_>, edge: &Drawn, step: Option<&usize>) -> bool {
    let mut marks = picture.plan.into_iter().flat_map(Plan::results);
    step.is_some() && marks.any(|mark| mark.node == edge.to && mark.step.as_ref() == step)
}
