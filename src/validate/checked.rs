//! A flow that passed: the only thing a plan can be made of.

use std::collections::HashMap;
use std::sync::Arc;

use crate::graph::{Graph, Order};
use crate::model::{Flow, Node};
use crate::validate::rules::over_limit::too_large;
use crate::validate::{Body, Finding, Known, Mending, Reach, Scope};

/// A flow that no finding reaches. Made by the checker alone, so that an unchecked flow can't be
/// executed: that doesn't compile.
#[derive(Debug, Clone)]
pub struct CheckedFlow {
    flow: Arc<Flow>,
    graph: Graph,
    order: Order,
    scope: Scope,
}

impl CheckedFlow {
    /// The flow as read.
    pub fn flow(&self) -> &Arc<Flow> {
        &self.flow
    }

    /// Its graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The order of its steps.
    pub fn order(&self) -> &Order {
        &self.order
    }

    /// Who declares, reads and provides what.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }
}

/// What is worked out of a flow before the rules look at it.
pub(super) struct CheckedView {
    pub(super) graph: Graph,
    pub(super) order: Option<Order>,
    pub(super) scope: Scope,
}

impl CheckedView {
    pub(super) fn of(flow: &Flow, known: Known<'_>) -> Self {
        if too_large(flow, known.options) {
            return Self { graph: Graph::default(), order: None, scope: Scope::default() };
        }
        let mut numbers: HashMap<&str, usize> = HashMap::with_capacity(flow.nodes.len());
        for (number, node) in flow.nodes.iter().enumerate() {
            numbers.entry(node.id.as_str()).or_insert(number);
        }
        let ends =
            |edge: &crate::model::Edge| Some((*numbers.get(edge.from.as_str())?, *numbers.get(edge.to.as_str())?));
        let edges: Vec<Option<(usize, usize)>> = flow.edges.iter().map(ends).collect();
        let graph = Graph::new(flow.nodes.len(), edges.iter().flatten().copied().filter(|(from, to)| from != to));
        let runnable: Vec<bool> = flow.nodes.iter().map(Node::runnable).collect();
        let order = graph.order(&runnable);
        let scope = Scope::of(flow, &graph, order.as_ref(), &edges, known);
        Self { graph, order, scope }
    }

    /// The checked flow; a step that can't be done says what its finding says of mending it.
    pub(super) fn into_checked(self, flow: Arc<Flow>, findings: &[Finding]) -> Option<CheckedFlow> {
        let mut scope = self.scope;
        for step in &mut scope.steps {
            let Body::Faulty { mending, .. } = &mut step.body else { continue };
            let id = flow.nodes.get(step.node).map(|node| &node.id);
            let found = findings.iter().find(|finding| finding.reach == Reach::Step && finding.node.as_ref() == id);
            if let Some(finding) = found {
                *mending = Mending::of(finding);
            }
        }
        Some(CheckedFlow { flow, graph: self.graph, order: self.order?, scope })
    }
}
