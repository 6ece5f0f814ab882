//! Pictures of a flow's graph: Mermaid and Graphviz DOT.
//!
//! Labels are untrusted text: what could end a label or begin markup is replaced, control and
//! bidirectional characters are dropped. Of a node's id only letters, digits and `_` of ASCII appear
//! outside quotation marks.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use crate::model::{Flow, InputNode, Node, NodeKind};
use crate::names::shown;
use crate::plan::{Plan, Work};

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

/// What is drawn: a flow; with a plan the steps have their numbers.
#[derive(Clone, Copy)]
pub struct Picture<'a> {
    flow: &'a Flow,
    plan: Option<&'a Plan>,
    unfold: bool,
}

/// How a picture is written down.
type Written = fn(&Picture<'_>) -> String;

/// The formats of pictures, by their words; the first is what is drawn unless another is asked for.
pub const FORMATS: [(&str, Written); 2] = [("mermaid", |picture| picture.mermaid()), ("dot", |picture| picture.dot())];

impl<'a> Picture<'a> {
    /// The flow alone: another flow within it is one node.
    pub fn of(flow: &'a Flow, plan: Option<&'a Plan>) -> Self {
        Self { flow, plan, unfold: false }
    }

    /// The flow with the flows within it, as far as it can be planned.
    pub fn unfolded(flow: &'a Flow, plan: Option<&'a Plan>) -> Self {
        Self { flow, plan, unfold: true }
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

    /// The graph as a Mermaid flowchart.
    pub fn mermaid(&self) -> String {
        let mut out = String::from("flowchart TD\n");
        self.put_mermaid("", 1, &mut out);
        for kind in NodeShape::ALL {
            let Paint { fill, line, .. } = kind.look();
            let _ = writeln!(out, "    classDef {} fill:{fill},stroke:{line},color:#1c2024", kind.word());
        }
        out
    }

    fn put_mermaid(&self, prefix: &str, depth: usize, out: &mut String) {
        let indent = "    ".repeat(depth);
        let ids = ids(self.flow, prefix);
        for (number, node) in self.flow.nodes.iter().enumerate() {
            let Some(id) = ids.get(number) else { continue };
            let lines = self.lines(number, node);
            let text = lines.iter().map(|line| mermaid_text(line)).collect::<Vec<_>>().join("<br/>");
            let kind = NodeShape::of(node);
            let class = kind.word();
            let _ = match kind {
                NodeShape::Input => writeln!(out, "{indent}{id}[/\"{text}\"/]:::{class}"),
                NodeShape::Template => writeln!(out, "{indent}{id}[\"{text}\"]:::{class}"),
                NodeShape::Tool => writeln!(out, "{indent}{id}[[\"{text}\"]]:::{class}"),
                NodeShape::Flow => writeln!(out, "{indent}{id}{{{{\"{text}\"}}}}:::{class}"),
                NodeShape::Result => writeln!(out, "{indent}{id}([\"{text}\"]):::{class}"),
                NodeShape::Other => writeln!(out, "{indent}{id}>\"{text}\"]:::{class}"),
            };
            if let Some(inner) = self.within(number) {
                let name = mermaid_text(&shown(inner.flow.name.as_str(), LONGEST_LABEL));
                let below = format!("{id}__");
                let _ = writeln!(out, "{indent}subgraph {below}flow[\"{name}\"]");
                inner.put_mermaid(&below, depth + 1, out);
                let _ = writeln!(out, "{indent}end");
                for first in inner.first(&below) {
                    let _ = writeln!(out, "{indent}{id} -.-> {first}");
                }
            }
        }
        for edge in edges(self.flow) {
            let (Some(from), Some(to)) = (ids.get(edge.from), ids.get(edge.to)) else { continue };
            let _ = if edge.carries.is_empty() {
                writeln!(out, "{indent}{from} --> {to}")
            } else {
                writeln!(out, "{indent}{from} -- \"{}\" --> {to}", mermaid_text(&edge.carries))
            };
        }
    }

    /// The graph as Graphviz DOT.
    pub fn dot(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "digraph \"{}\" {{\n    rankdir=TB;\n    node [fontname=\"sans-serif\", style=\"rounded,filled\"];\n    \
             edge [fontname=\"sans-serif\"];",
            dot_text(self.flow.name.as_str())
        );
        self.put_dot("", 1, &mut out);
        out.push_str("}\n");
        out
    }

    fn put_dot(&self, prefix: &str, depth: usize, out: &mut String) {
        let indent = "    ".repeat(depth);
        let ids = ids(self.flow, prefix);
        for (number, node) in self.flow.nodes.iter().enumerate() {
            let Some(id) = ids.get(number) else { continue };
            let Paint { shape, fill, line } = NodeShape::of(node).look();
            let text = self.lines(number, node).iter().map(|line| dot_text(line)).collect::<Vec<_>>().join("\\n");
            let _ = writeln!(
                out,
                "{indent}{id} [shape={shape}, fillcolor=\"{fill}\", color=\"{line}\", label=\"{text}\"];"
            );
            if let Some(inner) = self.within(number) {
                let below = format!("{id}__");
                let name = dot_text(inner.flow.name.as_str());
                let _ = writeln!(out, "{indent}subgraph cluster_{id} {{\n{indent}    label=\"{name}\";");
                inner.put_dot(&below, depth + 1, out);
                let _ = writeln!(out, "{indent}}}");
                for first in inner.first(&below) {
                    let _ = writeln!(out, "{indent}{id} -> {first} [style=dotted];");
                }
            }
        }
        for edge in edges(self.flow) {
            let (Some(from), Some(to)) = (ids.get(edge.from), ids.get(edge.to)) else { continue };
            let _ = if edge.carries.is_empty() {
                writeln!(out, "{indent}{from} -> {to};")
            } else {
                writeln!(out, "{indent}{from} -> {to} [label=\"{}\"];", dot_text(&edge.carries))
            };
        }
    }

    /// The nodes to which no edge leads, by their ids in the picture.
    fn first(&self, prefix: &str) -> Vec<String> {
        let led_to: HashSet<&str> = self.flow.edges.iter().map(|edge| edge.to.as_str()).collect();
        let nodes = self.flow.nodes.iter().zip(ids(self.flow, prefix));
        nodes.filter(|(node, _)| !led_to.contains(node.id.as_str())).map(|(_, id)| id).collect()
    }
}

/// The kinds of nodes, as far as they look different.
#[derive(Debug, Clone, Copy)]
enum NodeShape {
    Input,
    Template,
    Tool,
    Flow,
    Result,
    Other,
}

/// How a kind of node looks: DOT's shape for it, and its colours in both languages.
struct Paint {
    shape: &'static str,
    fill: &'static str,
    line: &'static str,
}

impl NodeShape {
    const ALL: [Self; 6] = [Self::Input, Self::Template, Self::Tool, Self::Flow, Self::Result, Self::Other];

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

    const fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Template => "template",
            Self::Tool => "tool",
            Self::Flow => "flow",
            Self::Result => "result",
            Self::Other => "other",
        }
    }

    const fn look(self) -> Paint {
        let (shape, fill, line) = match self {
            Self::Input => ("parallelogram", "#eef2f7", "#8a94a3"),
            Self::Template => ("box", "#e7f0ff", "#2f6fdb"),
            Self::Tool => ("component", "#fff3dc", "#9a6700"),
            Self::Flow => ("hexagon", "#f1e9ff", "#7a4fd1"),
            Self::Result => ("ellipse", "#e4f6ec", "#18794e"),
            Self::Other => ("note", "#f6f7f9", "#b3b8bf"),
        };
        Paint { shape, fill, line }
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

/// The names that an input node declares, a line each.
fn inputs(input: &InputNode) -> Vec<String> {
    let names = input.variables.iter().take(MOST_INPUTS).map(|variable| shown(&variable.name, LONGEST_LABEL));
    let left = input.variables.len().saturating_sub(MOST_INPUTS);
    names.chain((left > 0).then(|| format!("and {left} more"))).collect()
}

struct Drawn {
    from: usize,
    to: usize,
    carries: String,
}

fn numbers(flow: &Flow) -> HashMap<&str, usize> {
    let mut numbers = HashMap::new();
    for (number, node) in flow.nodes.iter().enumerate() {
        numbers.entry(node.id.as_str()).or_insert(number);
    }
    numbers
}

/// Edges whose ends are there, doubled ones once.
fn edges(flow: &Flow) -> Vec<Drawn> {
    let numbers = numbers(flow);
    let mut drawn: Vec<Drawn> = Vec::new();
    for edge in &flow.edges {
        let (Some(from), Some(to)) = (numbers.get(edge.from.as_str()), numbers.get(edge.to.as_str())) else { continue };
        let carries: Vec<&str> = edge.mapping.iter().map(|(target, _)| target.as_str()).collect();
        let carries = shown(&carries.join(", "), LONGEST_LABEL);
        match drawn.iter_mut().find(|other| other.from == *from && other.to == *to) {
            Some(other) if other.carries.is_empty() => other.carries = carries,
            Some(_) => {}
            None => drawn.push(Drawn { from: *from, to: *to, carries }),
        }
    }
    drawn
}

/// Mermaid's own entity codes for what would end a label or begin markup in it.
fn mermaid_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' => out.push_str("#quot;"),
            '<' => out.push_str("#lt;"),
            '>' => out.push_str("#gt;"),
            '#' => out.push_str("#35;"),
            '&' => out.push_str("#amp;"),
            '`' => out.push_str("#96;"),
            '\\' => out.push_str("#92;"),
            c => out.push(c),
        }
    }
    out
}

fn dot_text(text: &str) -> String {
    shown(text, LONGEST_LABEL).replace('\\', "\\\\").replace('"', "\\\"")
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

    fn drawn(flow: &Flow) -> String {
        let mermaid = Picture::of(flow, None).mermaid();
        mermaid.lines().filter(|line| !line.contains("classDef")).fold(String::new(), |all, line| all + line + "\n")
    }

    #[test]
    fn what_a_step_calls_stands_below_its_label() {
        let flow = flow(
            r#"{"metadata":{"name":"x"},"nodes":[{"id":"t","type":"tool","data":{"label":"Look","call":"web:get\"]<b>"}},{"id":"f","type":"flow","data":{"flow":"Other"}},{"id":"Other","type":"flow","data":{"flow":"Other"}},{"id":"n","type":"tool","data":{}}],"edges":[]}"#,
        );
        assert_eq!(
            drawn(&flow),
            "flowchart TD\n    t[[\"Look<br/>web:get#quot;]#lt;b#gt;\"]]:::tool\n    f{{\"f<br/>Other\"}}:::flow\n    \
             Other{{\"Other\"}}:::flow\n    n[[\"n\"]]:::tool\n"
        );
        let dot = Picture::of(&flow, None).dot();
        assert!(dot.contains("t [shape=component, ") && dot.contains("label=\"Look\\nweb:get\\\"]<b>\"];"), "{dot}");
    }

    #[test]
    fn every_node_and_edge_is_drawn_and_labels_cannot_break_out() {
        let flow = flow(
            r#"{"metadata":{"name":"x"},"nodes":[{"id":"i","type":"input","data":{"label":"In","variables":["a","b"]}},{"id":"t","type":"template","data":{"label":"say \"hi\" <b>"}},{"id":"r","type":"result","data":{}}],"edges":[{"source":"i","target":"t","data":{"mapping":{"x":"a"}}},{"source":"t","target":"r"},{"source":"t","target":"r"},{"source":"gone","target":"r"}]}"#,
        );
        assert_eq!(
            drawn(&flow),
            "flowchart TD\n    i[/\"In<br/>a<br/>b\"/]:::input\n    t[\"say #quot;hi#quot; #lt;b#gt;\"]:::template\n    \
             r([\"r\"]):::result\n    i -- \"x\" --> t\n    t --> r\n"
        );
        let dot = Picture::of(&flow, None).dot();
        assert!(dot.contains("label=\"say \\\"hi\\\" <b>\"];") && dot.contains("i -> t [label=\"x\"];"), "{dot}");
    }

    #[test]
    fn ids_are_the_nodes_own_and_never_markup() {
        let flow = flow(
            r#"{"metadata":{"name":"x"},"nodes":[{"id":"node-1","type":"result","data":{}},{"id":"node 1","type":"result","data":{}},{"id":"end","type":"result","data":{}},{"id":"7]; x","type":"result","data":{}},{"id":"日本","type":"result","data":{}}],"edges":[]}"#,
        );
        assert_eq!(ids(&flow, ""), ["node_1", "node_1_1", "end_", "n3_7___x", "n4___"]);
    }
}
