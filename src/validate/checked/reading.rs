//! The edges of a flow in Markdown that its texts make: from the input node to each step that reads an input,
//! and from each step whose output another one reads, unless it comes before that one anyway.

use std::collections::HashSet;

use super::Drawn;
use crate::graph::{Ancestors, Order};
use crate::model::{Edge, Flow, NodeKind, Syntax};
use crate::names::VariableName;
use crate::render::Stencil;
use crate::validate::{Body, ReadSource, Scope, StepScope};

/// The edges that a flow lacks so that every text gets what it reads, in file order.
pub(super) fn edges(flow: &Flow, drawn: &Drawn, scope: &Scope) -> Vec<Edge> {
    let count = flow.nodes.len();
    let mut pairs: HashSet<(usize, usize)> = drawn.ends.iter().flatten().copied().collect();
    let mut before: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, to) in drawn.ends.iter().flatten() {
        if let Some(list) = before.get_mut(*to) {
            list.push(*from);
        }
    }
    let inputs = flow.nodes.iter().position(|node| matches!(node.kind, NodeKind::Input(_)));
    let mut added = Vec::new();
    for step in &scope.steps {
        // Which nodes come before the step, by any number of edges.
        let mut above = vec![false; count];
        climb(&before, step.node, &mut above);
        let read = step.reads.iter().filter_map(|read| match &read.source {
            ReadSource::Output { node, .. } | ReadSource::Set { node, .. } => Some(*node),
            ReadSource::Open { input: true, .. } => inputs,
            _ => None,
        });
        for from in read.chain(undone(flow, step, scope, inputs)) {
            let is_input = Some(from) == inputs;
            let comes_before = |above: &[bool]| above.get(from).is_some_and(|above| *above);
            if from == step.node || !is_input && comes_before(&above) || !pairs.insert((from, step.node)) {
                continue;
            }
            if let Some(list) = before.get_mut(step.node) {
                list.push(from);
            }
            climb(&before, step.node, &mut above);
            let id = |node: usize| flow.nodes.get(node).map(|node| node.id.clone()).unwrap_or_default();
            added.push(Edge {
                id: None,
                index: flow.edges.len() + added.len(),
                from: id(from),
                to: id(step.node),
                kind: None,
                target_handle: None,
                mapping: Vec::new(),
            });
        }
    }
    added
}

/// What a step would read that can't be done, as one whose tool nobody knows here: the graph is that of the flow, not
/// of the servers that somebody has.
fn undone(flow: &Flow, step: &StepScope, scope: &Scope, inputs: Option<usize>) -> Vec<usize> {
    let kind = flow.nodes.get(step.node).map(|node| &node.kind).filter(|_| matches!(step.body, Body::Faulty { .. }));
    let (stencil, requires) = match kind {
        Some(NodeKind::Tool(tool)) => (Stencil::of(&tool.args), tool.requires.as_slice()),
        Some(NodeKind::Flow(link)) => (Stencil::spelt(&link.variables, Syntax::Single), &[][..]),
        _ => return Vec::new(),
    };
    let required = requires.iter().filter_map(|path| VariableName::normal(path.split('.').next()?).ok());
    let names =
        stencil.holes().iter().map(|hole| hole.name.clone()).chain(required.map(|name| name.as_str().to_owned()));
    names
        .filter_map(|name| {
            let givers: HashSet<usize> = scope.givers(&name).collect();
            match givers.len() {
                0 => inputs.filter(|_| scope.inputs.contains_key(&name)),
                1 => givers.into_iter().next(),
                _ => None,
            }
        })
        .collect()
}

/// Takes out of reach what an order puts behind its readers, where names were worked out without one.
pub(super) fn settle(scope: &mut Scope, order: Option<&Order>) {
    let Some(ancestors) = order.map(Ancestors::of) else { return };
    for step in &mut scope.steps {
        for read in &mut step.reads {
            if let ReadSource::Output { node, .. } | ReadSource::Set { node, .. } = read.source
                && !ancestors.reaches(node, step.node)
            {
                read.source = ReadSource::Unreachable { node };
            }
        }
    }
}

/// Marks what comes before a node, by any number of edges; above what is marked already, all is.
fn climb(before: &[Vec<usize>], node: usize, above: &mut [bool]) {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        for parent in before.get(node).into_iter().flatten() {
            if let Some(above @ false) = above.get_mut(*parent) {
                *above = true;
                open.push(*parent);
            }
        }
    }
}
