//! Pictures of a flow's graph: Mermaid and Graphviz DOT.
//!
//! Labels are untrusted text: what could end a label or begin markup is replaced, control and
//! bidirectional characters are dropped, and ids never appear outside quotation marks.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::model::{Flow, Node, NodeKind};
use crate::names::shown;

/// The longest label that is drawn, in characters.
const LONGEST_LABEL: usize = 60;

/// The graph as a Mermaid flowchart.
pub fn mermaid(flow: &Flow) -> String {
    let mut out = String::from("flowchart TD\n");
    let numbers = numbers(flow);
    for (number, node) in flow.nodes.iter().enumerate() {
        let text = mermaid_text(&label(node));
        let _ = match node.kind {
            NodeKind::Input(_) => writeln!(out, "    n{number}[/\"{text}\"/]"),
            NodeKind::Template(_) => writeln!(out, "    n{number}[\"{text}\"]"),
            NodeKind::Tool(_) => writeln!(out, "    n{number}[[\"{text}\"]]"),
            NodeKind::Flow(_) => writeln!(out, "    n{number}{{{{\"{text}\"}}}}"),
            NodeKind::Result => writeln!(out, "    n{number}([\"{text}\"])"),
            NodeKind::Other(_) => writeln!(out, "    n{number}>\"{text}\"]"),
        };
    }
    for edge in edges(flow, &numbers) {
        let _ = if edge.carries.is_empty() {
            writeln!(out, "    n{} --> n{}", edge.from, edge.to)
        } else {
            writeln!(out, "    n{} -- \"{}\" --> n{}", edge.from, mermaid_text(&edge.carries), edge.to)
        };
    }
    out
}

/// The graph as Graphviz DOT.
pub fn dot(flow: &Flow) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "digraph \"{}\" {{\n    rankdir=TB;\n    node [fontname=\"sans-serif\"];",
        dot_text(flow.name.as_str())
    );
    let numbers = numbers(flow);
    for (number, node) in flow.nodes.iter().enumerate() {
        let shape = match node.kind {
            NodeKind::Input(_) => "parallelogram",
            NodeKind::Template(_) => "box",
            NodeKind::Tool(_) => "component",
            NodeKind::Flow(_) => "hexagon",
            NodeKind::Result => "ellipse",
            NodeKind::Other(_) => "note",
        };
        let _ = writeln!(out, "    n{number} [shape={shape}, label=\"{}\"];", dot_text(&label(node)));
    }
    for edge in edges(flow, &numbers) {
        let _ = if edge.carries.is_empty() {
            writeln!(out, "    n{} -> n{};", edge.from, edge.to)
        } else {
            writeln!(out, "    n{} -> n{} [label=\"{}\"];", edge.from, edge.to, dot_text(&edge.carries))
        };
    }
    out.push_str("}\n");
    out
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
    fn every_node_and_edge_is_drawn_and_labels_cannot_break_out() {
        let flow = flow(
            r#"{"metadata":{"name":"x"},"nodes":[{"id":"i","type":"input","data":{"label":"In","variables":["a","b"]}},{"id":"t","type":"template","data":{"label":"say \"hi\" <b>"}},{"id":"r","type":"result","data":{}}],"edges":[{"source":"i","target":"t","data":{"mapping":{"x":"a"}}},{"source":"t","target":"r"},{"source":"t","target":"r"},{"source":"gone","target":"r"}]}"#,
        );
        assert_eq!(
            mermaid(&flow),
            "flowchart TD\n    n0[/\"In: a, b\"/]\n    n1[\"say #quot;hi#quot; #lt;b#gt;\"]\n    n2([\"r\"])\n    n0 -- \"x\" --> n1\n    n1 --> n2\n"
        );
        let dot = dot(&flow);
        assert!(
            dot.contains("n1 [shape=box, label=\"say \\\"hi\\\" <b>\"];") && dot.contains("n0 -> n1 [label=\"x\"];"),
            "{dot}"
        );
    }
}
