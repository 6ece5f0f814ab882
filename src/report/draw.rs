//! Pictures of a flow's graph: Mermaid and Graphviz DOT.
//!
//! Labels are untrusted text: what could end a label or begin markup is replaced, control and
//! bidirectional characters are dropped, and ids never appear outside quotation marks.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use crate::model::{Flow, Node, NodeKind};
use crate::names::shown;
use crate::plan::{Plan, Work};

/// The longest label that is drawn, in characters.
const LONGEST_LABEL: usize = 60;

/// What is drawn: a flow, and with a plan the flows within it too.
#[derive(Clone, Copy)]
pub struct Picture<'a> {
    flow: &'a Flow,
    unfolded: Option<&'a Plan>,
}

impl<'a> Picture<'a> {
    /// The flow alone: another flow within it is one node.
    pub fn of(flow: &'a Flow) -> Self {
        Self { flow, unfolded: None }
    }

    /// The flow with the flows within it, as far as it can be planned.
    pub fn unfolded(flow: &'a Flow, plan: Option<&'a Plan>) -> Self {
        Self { flow, unfolded: plan }
    }

    /// The flow that a node is, where that is to be drawn.
    fn within(&self, node: usize) -> Option<Picture<'a>> {
        let step = self.unfolded?.steps().iter().find(|step| step.node == node)?;
        match &step.work {
            Work::Flow(linked) => Some(Picture { flow: linked.plan.flow(), unfolded: Some(&linked.plan) }),
            _ => None,
        }
    }

    /// The graph as a Mermaid flowchart.
    pub fn mermaid(&self) -> String {
        let mut out = String::from("flowchart TD\n");
        self.put_mermaid("n", 1, &mut out);
        out
    }

    fn put_mermaid(&self, prefix: &str, depth: usize, out: &mut String) {
        let indent = "    ".repeat(depth);
        let numbers = numbers(self.flow);
        for (number, node) in self.flow.nodes.iter().enumerate() {
            let text = lines(node).map(|line| mermaid_text(&line)).collect::<Vec<_>>().join("<br/>");
            let id = format!("{prefix}{number}");
            let _ = match node.kind {
                NodeKind::Input(_) => writeln!(out, "{indent}{id}[/\"{text}\"/]"),
                NodeKind::Template(_) => writeln!(out, "{indent}{id}[\"{text}\"]"),
                NodeKind::Tool(_) => writeln!(out, "{indent}{id}[[\"{text}\"]]"),
                NodeKind::Flow(_) => writeln!(out, "{indent}{id}{{{{\"{text}\"}}}}"),
                NodeKind::Result => writeln!(out, "{indent}{id}([\"{text}\"])"),
                NodeKind::Other(_) => writeln!(out, "{indent}{id}>\"{text}\"]"),
            };
            if let Some(inner) = self.within(number) {
                let name = mermaid_text(&shown(inner.flow.name.as_str(), LONGEST_LABEL));
                let below = format!("{id}_");
                let _ = writeln!(out, "{indent}subgraph {id}s[\"{name}\"]");
                inner.put_mermaid(&below, depth + 1, out);
                let _ = writeln!(out, "{indent}end");
                for first in inner.first() {
                    let _ = writeln!(out, "{indent}{id} -.-> {below}{first}");
                }
            }
        }
        for edge in edges(self.flow, &numbers) {
            let (from, to) = (edge.from, edge.to);
            let _ = if edge.carries.is_empty() {
                writeln!(out, "{indent}{prefix}{from} --> {prefix}{to}")
            } else {
                writeln!(out, "{indent}{prefix}{from} -- \"{}\" --> {prefix}{to}", mermaid_text(&edge.carries))
            };
        }
    }

    /// The graph as Graphviz DOT.
    pub fn dot(&self) -> String {
        let mut out = String::new();
        let _ = writeln!(
            out,
            "digraph \"{}\" {{\n    rankdir=TB;\n    node [fontname=\"sans-serif\"];",
            dot_text(self.flow.name.as_str())
        );
        self.put_dot("n", 1, &mut out);
        out.push_str("}\n");
        out
    }

    fn put_dot(&self, prefix: &str, depth: usize, out: &mut String) {
        let indent = "    ".repeat(depth);
        let numbers = numbers(self.flow);
        for (number, node) in self.flow.nodes.iter().enumerate() {
            let shape = match node.kind {
                NodeKind::Input(_) => "parallelogram",
                NodeKind::Template(_) => "box",
                NodeKind::Tool(_) => "component",
                NodeKind::Flow(_) => "hexagon",
                NodeKind::Result => "ellipse",
                NodeKind::Other(_) => "note",
            };
            let id = format!("{prefix}{number}");
            let text = lines(node).map(|line| dot_text(&line)).collect::<Vec<_>>().join("\\n");
            let _ = writeln!(out, "{indent}{id} [shape={shape}, label=\"{text}\"];");
            if let Some(inner) = self.within(number) {
                let below = format!("{id}_");
                let name = dot_text(inner.flow.name.as_str());
                let _ = writeln!(out, "{indent}subgraph cluster_{id} {{\n{indent}    label=\"{name}\";");
                inner.put_dot(&below, depth + 1, out);
                let _ = writeln!(out, "{indent}}}");
                for first in inner.first() {
                    let _ = writeln!(out, "{indent}{id} -> {below}{first} [style=dotted];");
                }
            }
        }
        for edge in edges(self.flow, &numbers) {
            let (from, to) = (edge.from, edge.to);
            let _ = if edge.carries.is_empty() {
                writeln!(out, "{indent}{prefix}{from} -> {prefix}{to};")
            } else {
                writeln!(out, "{indent}{prefix}{from} -> {prefix}{to} [label=\"{}\"];", dot_text(&edge.carries))
            };
        }
    }

    /// The nodes to which no edge leads.
    fn first(&self) -> Vec<usize> {
        let led_to: HashSet<&str> = self.flow.edges.iter().map(|edge| edge.to.as_str()).collect();
        let nodes = self.flow.nodes.iter().enumerate();
        nodes.filter(|(_, node)| !led_to.contains(node.id.as_str())).map(|(number, _)| number).collect()
    }
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
fn edges(flow: &Flow, numbers: &HashMap<&str, usize>) -> Vec<Drawn> {
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

/// What is written in a node: its label and, below it, what it does where the label doesn't say.
fn lines(node: &Node) -> impl Iterator<Item = String> {
    let done = match &node.kind {
        NodeKind::Tool(tool) => tool.call.as_deref(),
        NodeKind::Flow(link) => link.flow.as_deref(),
        _ => None,
    };
    let label = label(node);
    let done = done.map(|done| shown(done, LONGEST_LABEL)).filter(|done| !done.is_empty() && *done != label);
    std::iter::once(label).chain(done)
}

fn label(node: &Node) -> String {
    let caption = node.caption();
    let text = if let NodeKind::Input(input) = &node.kind {
        let names: Vec<&str> = input.variables.iter().map(|variable| variable.name.as_str()).collect();
        if names.is_empty() { caption.to_owned() } else { format!("{caption}: {}", names.join(", ")) }
    } else {
        caption.to_owned()
    };
    shown(&text, LONGEST_LABEL)
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

    #[test]
    fn what_a_step_calls_stands_below_its_label() {
        let flow = flow(
            r#"{"metadata":{"name":"x"},"nodes":[{"id":"t","type":"tool","data":{"label":"Look","call":"web:get\"]<b>"}},{"id":"f","type":"flow","data":{"flow":"Other"}},{"id":"Other","type":"flow","data":{"flow":"Other"}},{"id":"n","type":"tool","data":{}}],"edges":[]}"#,
        );
        assert_eq!(
            Picture::of(&flow).mermaid(),
            "flowchart TD\n    n0[[\"Look<br/>web:get#quot;]#lt;b#gt;\"]]\n    n1{{\"f<br/>Other\"}}\n    n2{{\"Other\"}}\n    n3[[\"n\"]]\n"
        );
        let dot = Picture::of(&flow).dot();
        assert!(dot.contains("n0 [shape=component, label=\"Look\\nweb:get\\\"]<b>\"];"), "{dot}");
    }

    #[test]
    fn every_node_and_edge_is_drawn_and_labels_cannot_break_out() {
        let flow = flow(
            r#"{"metadata":{"name":"x"},"nodes":[{"id":"i","type":"input","data":{"label":"In","variables":["a","b"]}},{"id":"t","type":"template","data":{"label":"say \"hi\" <b>"}},{"id":"r","type":"result","data":{}}],"edges":[{"source":"i","target":"t","data":{"mapping":{"x":"a"}}},{"source":"t","target":"r"},{"source":"t","target":"r"},{"source":"gone","target":"r"}]}"#,
        );
        assert_eq!(
            Picture::of(&flow).mermaid(),
            "flowchart TD\n    n0[/\"In: a, b\"/]\n    n1[\"say #quot;hi#quot; #lt;b#gt;\"]\n    n2([\"r\"])\n    n0 -- \"x\" --> n1\n    n1 --> n2\n"
        );
        let dot = Picture::of(&flow).dot();
        assert!(
            dot.contains("n1 [shape=box, label=\"say \\\"hi\\\" <b>\"];") && dot.contains("n0 -> n1 [label=\"x\"];"),
            "{dot}"
        );
    }
}
