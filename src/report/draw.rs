//! Pictures of a flow's graph: Mermaid and Graphviz DOT, which other programs lay out, and SVG, which
//! is laid out here, alone or within a page.
//!
//! Labels are untrusted text: what could end a label or begin markup is replaced, control and
//! bidirectional characters are dropped. Of a node's id only letters, digits and `_` of ASCII appear
//! outside quotation marks.

mod drawing;
mod edges;
mod layout;
mod legend;
mod letters;
mod lines;
mod notation;
mod page;
mod placing;
mod ran;
mod rows;
mod svg;
mod told;

use std::collections::HashSet;

use crate::model::{Flow, InputNode, Node, NodeKind};
use crate::names::{shown, words};
use crate::plan::{Plan, Work};
use crate::validate::Finding;

pub use ran::{Ran, RanError};

/// The longest label that is drawn, in characters.
const LONGEST_LABEL: usize = 60;
/// The longest id that is drawn, in characters.
const LONGEST_ID: usize = 40;
/// The most inputs that one node names.
const MOST_INPUTS: usize = 12;
/// Words that Mermaid or DOT read as something else than an id.
const RESERVED: [&str; 14] = [
    "end",
    "graph",
    "subgraph",
    "flowchart",
    "style",
    "class",
    "classdef",
    "click",
    "default",
    "linkstyle",
    "node",
    "edge",
    "digraph",
    "strict",
];

/// What is drawn: a flow; with a plan the steps have their numbers. Findings and a run are marked.
#[derive(Clone, Copy)]
pub struct Picture<'a> {
    flow: &'a Flow,
    plan: Option<&'a Plan>,
    unfold: bool,
    findings: &'a [Finding],
    ran: Option<&'a Ran>,
}

/// How a picture is written down.
type Written = fn(&Picture<'_>) -> String;

/// The formats of pictures, by their words; the first is what is drawn unless another is asked for.
pub const FORMATS: [(&str, Written); 4] = [
    ("mermaid", |picture| picture.mermaid()),
    ("dot", |picture| picture.dot()),
    ("svg", |picture| picture.svg()),
    ("html", |picture| picture.html()),
];

impl<'a> Picture<'a> {
    /// The flow alone: another flow within it is one node.
    pub fn of(flow: &'a Flow, plan: Option<&'a Plan>) -> Self {
        Self { flow, plan, unfold: false, findings: &[], ran: None }
    }

    /// The flow with the flows within it, as far as it can be planned.
    pub fn unfolded(flow: &'a Flow, plan: Option<&'a Plan>) -> Self {
        Self { unfold: true, ..Self::of(flow, plan) }
    }

    /// With what the checker noticed marked.
    #[must_use]
    pub fn noticed(self, findings: &'a [Finding]) -> Self {
        Self { findings, ..self }
    }

    /// With how a run of it went.
    #[must_use]
    pub fn after(self, ran: Option<&'a Ran>) -> Self {
        Self { ran, ..self }
    }

    /// The flow that a node is, where that is to be drawn.
    fn within(&self, node: usize) -> Option<Picture<'a>> {
        let step = self.plan.filter(|_| self.unfold)?.steps().iter().find(|step| step.node == node)?;
        match &step.work {
            Work::Flow(linked) => Some(Picture::unfolded(&linked.of.flow, Some(&linked.of.plan))),
            Work::Render(_) | Work::Call(_) | Work::Gather(_) | Work::Faulty { .. } => None,
        }
    }

    /// What is written in a node: its number among the steps and its label; below it, what it does
    /// where the label doesn't say.
    fn lines(&self, number: usize, node: &Node) -> Vec<String> {
        let step = self.plan.and_then(|plan| plan.steps().iter().position(|step| step.node == number));
        let label = shown(node.caption(), LONGEST_LABEL);
        let head = step.map_or_else(|| label.clone(), |step| format!("{}. {label}", step + 1));
        let below = match &node.kind {
            NodeKind::Tool(tool) => tool.call.iter().map(|call| shown(call, LONGEST_LABEL)).collect(),
            NodeKind::Flow(link) => link.flow.iter().map(|flow| shown(flow, LONGEST_LABEL)).collect(),
            NodeKind::Input(input) => inputs(input),
            NodeKind::Template(_) | NodeKind::Result | NodeKind::Other(_) => Vec::new(),
        };
        let below = below.into_iter().filter(|line| !line.is_empty() && *line != label);
        std::iter::once(head).chain(below).collect()
    }
}

words! {
    /// The kinds of nodes, as far as they look different.
    #[derive(Debug, Clone, Copy)]
    enum NodeShape {
        Input = "input",
        Template = "template",
        Tool = "tool",
        Flow = "flow",
        Result = "result",
        Other = "other",
    }
}

/// How a kind of node looks: DOT's shape for it, and its colours in both languages; what explains the look, and what
/// such a node is called.
struct Paint {
    shape: &'static str,
    fill: &'static str,
    line: &'static str,
    words: &'static str,
    called: &'static str,
}

impl NodeShape {
    fn of(node: &Node) -> Self {
        match node.kind {
            NodeKind::Input(_) => Self::Input,
            NodeKind::Template(_) => Self::Template,
            NodeKind::Tool(_) => Self::Tool,
            NodeKind::Flow(_) => Self::Flow,
            NodeKind::Result => Self::Result,
            NodeKind::Other(_) => Self::Other,
        }
    }

    const fn look(self) -> Paint {
        let (shape, fill, line, words, called) = match self {
            Self::Input => ("parallelogram", "#eef2f7", "#8a94a3", "inputs", "input node"),
            Self::Template => ("box", "#e7f0ff", "#2f6fdb", "text", "text step"),
            Self::Tool => ("component", "#fff3dc", "#9a6700", "tool", "tool step"),
            Self::Flow => ("hexagon", "#f1e9ff", "#7a4fd1", "flow", "flow step"),
            Self::Result => ("ellipse", "#e4f6ec", "#18794e", "result", "result node"),
            Self::Other => ("note", "#f6f7f9", "#b3b8bf", "nothing runs", "node where nothing runs"),
        };
        Paint { shape, fill, line, words, called }
    }
}

/// The nodes' ids in the picture, in the order of the file: each once, whatever the file says.
fn ids(flow: &Flow, prefix: &str) -> Vec<String> {
    let mut taken = HashSet::new();
    let of = |(number, node): (usize, &Node)| {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let mut id: String = node.id.chars().take(LONGEST_ID).map(plain).collect();
        if !id.contains(|c: char| c.is_ascii_alphanumeric()) || id.starts_with(|c: char| c.is_ascii_digit()) {
            id = format!("n{number}_{id}");
        }
        if RESERVED.contains(&id.to_ascii_lowercase().as_str()) {
            id.push('_');
        }
        if !taken.insert(id.clone()) {
            id = format!("{id}_{number}");
            taken.insert(id.clone());
        }
        format!("{prefix}{id}")
    };
    flow.nodes.iter().enumerate().map(of).collect()
}

/// What a list holds at a place; nothing where it has no such place.
fn at<T: Copy + Default>(list: &[T], place: usize) -> T {
    list.get(place).copied().unwrap_or_default()
}

/// Puts a value at a place of a list that has it.
fn put<T>(list: &mut [T], place: usize, value: T) {
    if let Some(own) = list.get_mut(place) {
        *own = value;
    }
}

/// The names that an input node declares, a line each.
fn inputs(input: &InputNode) -> Vec<String> {
    let names = input.variables.iter().take(MOST_INPUTS).map(|variable| shown(&variable.name, LONGEST_LABEL));
    let left = input.variables.len().saturating_sub(MOST_INPUTS);
    names.chain((left > 0).then(|| format!("and {left} more"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;
    use crate::model::wire::read_flows;
    use crate::names::CatalogPath;

    fn flow(text: &str) -> Flow {
        let document = Document::parse(CatalogPath::new("flows/x.json").expect("fine"), text.as_bytes()).expect("json");
        read_flows(&document).flows.remove(0)
    }

    #[test]
    fn ids_are_the_nodes_own_and_never_markup() {
        let flow = flow(
            r#"{"metadata":{"name":"x"},"nodes":[{"id":"node-1","type":"result","data":{}},{"id":"node 1","type":"result","data":{}},{"id":"end","type":"result","data":{}},{"id":"7]; x","type":"result","data":{}},{"id":"日本","type":"result","data":{}}],"edges":[]}"#,
        );
        assert_eq!(ids(&flow, ""), ["node_1", "node_1_1", "end_", "n3_7___x", "n4___"]);
    }
}
