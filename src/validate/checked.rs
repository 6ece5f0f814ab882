//! A flow that passed: the only thing a plan can be made of.

use std::sync::Arc;

use crate::graph::{Graph, Order};
use crate::model::{Flow, Node, Shape};
use crate::validate::rules::misspelt_field;
use crate::validate::rules::over_limit::too_large;
use crate::validate::{Body, Finding, Intent, Known, Mending, Reach, Scope, StepScope};

mod reading;

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
    /// The flow; one in Markdown with the edges that its texts make.
    pub(super) flow: Arc<Flow>,
    pub(super) graph: Graph,
    pub(super) order: Option<Order>,
    pub(super) scope: Scope,
}

/// A flow's edges as a graph.
struct Drawn {
    /// The ends of each edge; none where one names no node.
    ends: Vec<Option<(usize, usize)>>,
    graph: Graph,
    order: Option<Order>,
}

impl Drawn {
    fn of(flow: &Flow) -> Self {
        let ends = flow.ends();
        let graph = Graph::new(flow.nodes.len(), ends.iter().flatten().copied().filter(|(from, to)| from != to));
        let runnable: Vec<bool> = flow.nodes.iter().map(Node::runnable).collect();
        let order = graph.order(&runnable);
        Self { ends, graph, order }
    }
}

impl CheckedView {
    pub(super) fn of(flow: &Arc<Flow>, known: Known<'_>) -> Self {
        if too_large(flow, known.options) {
            return Self::too_large(flow.clone());
        }
        let drawn = Drawn::of(flow);
        if flow.shape != Shape::Markdown {
            let scope = Scope::of(flow, &drawn.graph, drawn.order.as_ref(), &drawn.ends, known);
            return Self { flow: flow.clone(), graph: drawn.graph, order: drawn.order, scope };
        }
        // Which steps come before is not known yet, so that no output is out of reach.
        let mut scope = Scope::of(flow, &drawn.graph, None, &drawn.ends, known);
        let added = reading::edges(flow, &drawn, &scope);
        if added.is_empty() {
            reading::settle(&mut scope, drawn.order.as_ref());
            return Self { flow: flow.clone(), graph: drawn.graph, order: drawn.order, scope };
        }
        let mut flow = Flow::clone(flow);
        flow.edges.extend(added);
        if too_large(&flow, known.options) {
            return Self::too_large(Arc::new(flow));
        }
        let Drawn { graph, order, .. } = Drawn::of(&flow);
        reading::settle(&mut scope, order.as_ref());
        Self { flow: Arc::new(flow), graph, order, scope }
    }

    /// Of a flow that is refused for its size alone.
    fn too_large(flow: Arc<Flow>) -> Self {
        Self { flow, graph: Graph::default(), order: None, scope: Scope::default() }
    }

    /// The checked flow; a step that can't be done says what its finding says of mending it.
    pub(super) fn into_checked(self, findings: &[Finding]) -> Option<CheckedFlow> {
        let (flow, mut scope) = (self.flow, self.scope);
        for step in &mut scope.steps {
            let node = flow.nodes.get(step.node);
            let id = node.map(|node| &node.id);
            let mut found = findings.iter().filter(|f| f.reach == Reach::Step && f.node.as_ref() == id);
            if let (Body::Faulty { mending, .. }, Some(finding)) = (&mut step.body, found.clone().next()) {
                *mending = Mending::of(finding);
            } else if let Some(finding) = found.find(|finding| finding.rule == misspelt_field::RULE.id) {
                // A setting that is lost may be the one that says when the step must not be done.
                let body = Body::Faulty {
                    code: finding.code,
                    message: finding.message.clone(),
                    meant: node.map(Intent::of).unwrap_or_default(),
                    mending: Mending::of(finding),
                };
                *step = StepScope::without_text(step.node, body);
            }
        }
        Some(CheckedFlow { flow, graph: self.graph, order: self.order?, scope })
    }
}
