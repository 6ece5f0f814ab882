//! The edges of a flow in Markdown that its texts make: from the input node to each step that reads an input,
//! and from each step whose output another one reads, unless it comes before that one anyway.

use std::collections::HashSet;

use super::Drawn;
use crate::graph::{Ancestors, Order};
use crate::model::{Edge, Flow, NodeKind};
use crate::validate::{ReadSource, Scope};

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
        for read in &step.reads {
            let from = match &read.source {
                ReadSource::Output { node, .. } | ReadSource::Set { node, .. } => *node,
                ReadSource::Open { input: true, .. } => {
                    let Some(inputs) = inputs else { continue };
                    inputs
                }
                _ => continue,
            };
            let is_input = Some(from) == inputs;
            if from == step.node || pairs.contains(&(from, step.node)) || !is_input && leads(&before, from, step.node) {
                continue;
            }
            pairs.insert((from, step.node));
            if let Some(list) = before.get_mut(step.node) {
                list.push(from);
            }
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

/// Whether a node comes before another one, by any number of edges.
fn leads(before: &[Vec<usize>], from: usize, to: usize) -> bool {
    let (mut seen, mut open) = (HashSet::from([to]), vec![to]);
    while let Some(node) = open.pop() {
        for parent in before.get(node).into_iter().flatten() {
            if *parent == from {
                return true;
            }
            if seen.insert(*parent) {
                open.push(*parent);
            }
        }
    }
    false
}
