//! Graphs as text that other programs lay out: Mermaid and Graphviz DOT.

use std::collections::HashSet;
use std::fmt::Write as _;

use super::drawing::took;
use super::edges::edges;
use super::ran::StepState;
use super::{LONGEST_LABEL, NodeShape, Paint, Picture, ids};
use crate::model::Node;
use crate::names::{counted, shown};
use crate::validate::Severity;

/// A language that other programs lay out.
#[derive(Debug, Clone, Copy)]
enum Notation {
    Mermaid,
    Dot,
}

impl Notation {
    /// A text within quotation marks.
    fn text(self, text: &str) -> String {
        match self {
            Self::Mermaid => mermaid_text(text),
            Self::Dot => dot_text(text),
        }
    }

    /// A node whose text has these lines; `marked` is the colour of what is bad about it.
    fn node(self, id: &str, shape: NodeShape, lines: &[String], marked: Option<&'static str>) -> Vec<String> {
        let Paint { shape: dot_shape, fill, line, .. } = shape.look();
        let lines: Vec<String> = lines.iter().map(|line| self.text(line)).collect();
        if let Self::Dot = self {
            let (line, wide) = marked.map_or((line, ""), |marked| (marked, ", penwidth=3"));
            let text = lines.join("\\n");
            return vec![format!(
                "{id} [shape={dot_shape}, fillcolor=\"{fill}\", color=\"{line}\"{wide}, label=\"{text}\"];"
            )];
        }
        let (begin, end) = match shape {
            NodeShape::Input => ("[/", "/]"),
            NodeShape::Template => ("[", "]"),
            NodeShape::Tool => ("[[", "]]"),
            NodeShape::Flow => ("{{", "}}"),
            NodeShape::Result => ("([", "])"),
            NodeShape::Other => (">", "]"),
        };
        let node = format!("{id}{begin}\"{}\"{end}:::{}", lines.join("<br/>"), shape.word());
        let style = marked.map(|line| format!("style {id} stroke:{line},stroke-width:3px"));
        std::iter::once(node).chain(style).collect()
    }
}

impl Picture<'_> {
    /// The graph as a Mermaid flowchart.
    pub fn mermaid(&self) -> String {
        let mut out = String::from("flowchart TD\n");
        self.put(Notation::Mermaid, "", 1, &mut out);
        for kind in NodeShape::ALL {
            let Paint { fill, line, .. } = kind.look();
            let _ = writeln!(out, "    classDef {} fill:{fill},stroke:{line},color:#1c2024", kind.word());
        }
        out
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
        self.put(Notation::Dot, "", 1, &mut out);
        out.push_str("}\n");
        out
    }

    fn put(&self, notation: Notation, prefix: &str, depth: usize, out: &mut String) {
        let indent = "    ".repeat(depth);
        let ids = ids(self.flow, prefix);
        for (number, node) in self.flow.nodes.iter().enumerate() {
            let Some(id) = ids.get(number) else { continue };
            let (marks, marked) = self.marks(node);
            let lines: Vec<String> = self.lines(number, node).into_iter().chain(marks).collect();
            for line in notation.node(id, NodeShape::of(node), &lines, marked) {
                let _ = writeln!(out, "{indent}{line}");
            }
            let Some(inner) = self.within(number) else { continue };
            let (below, name) = (format!("{id}__"), notation.text(&shown(inner.flow.name.as_str(), LONGEST_LABEL)));
            let (begin, end, arrow, behind) = match notation {
                Notation::Mermaid => (format!("subgraph {below}flow[\"{name}\"]"), "end", "-.->", ""),
                Notation::Dot => {
                    let begin = format!("subgraph cluster_{id} {{\n{indent}    label=\"{name}\";");
                    (begin, "}", "->", " [style=dotted];")
                }
            };
            let _ = writeln!(out, "{indent}{begin}");
            inner.put(notation, &below, depth + 1, out);
            let _ = writeln!(out, "{indent}{end}");
            for first in inner.first(&below) {
                let _ = writeln!(out, "{indent}{id} {arrow} {first}{behind}");
            }
        }
        for edge in edges(self) {
            let (Some(from), Some(to)) = (ids.get(edge.from), ids.get(edge.to)) else { continue };
            let carries = notation.text(&edge.carries);
            let _ = match (notation, edge.carries.is_empty()) {
                (Notation::Mermaid, true) => writeln!(out, "{indent}{from} --> {to}"),
                (Notation::Mermaid, false) => writeln!(out, "{indent}{from} -- \"{carries}\" --> {to}"),
                (Notation::Dot, true) => writeln!(out, "{indent}{from} -> {to};"),
                (Notation::Dot, false) => writeln!(out, "{indent}{from} -> {to} [label=\"{carries}\"];"),
            };
        }
    }

    /// What the checker noticed of a node and how it ran, in lines; and the colour of what is bad.
    fn marks(&self, node: &Node) -> (Vec<String>, Option<&'static str>) {
        let own =
            self.findings.iter().filter(|found| found.file == self.flow.file && found.node.as_ref() == Some(&node.id));
        let count = |severity| own.clone().filter(|found| found.severity == severity).count();
        let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
        let ran = self.ran.filter(|_| node.runnable()).and_then(|ran| ran.steps.get(&node.id));
        let noticed = [(errors, "error", "errors"), (warnings, "warning", "warnings")];
        let mut lines: Vec<String> = noticed
            .into_iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, one, many)| counted(count, one, many))
            .collect();
        lines.extend(ran.map(|ran| {
            let time = ran.millis.map(|millis| format!(", {}", took(millis))).unwrap_or_default();
            format!("{}{time}", ran.state.word())
        }));
        let failed = errors > 0 || ran.is_some_and(|ran| ran.state == StepState::Failed);
        (lines, if failed { Some("#b3261e") } else { (warnings > 0).then_some("#9a6700") })
    }

    /// The nodes to which no edge leads, by their ids in the picture.
    fn first(&self, prefix: &str) -> Vec<String> {
        let led_to: HashSet<&str> = self.flow.edges.iter().map(|edge| edge.to.as_str()).collect();
        let nodes = self.flow.nodes.iter().zip(ids(self.flow, prefix));
        nodes.filter(|(node, _)| !led_to.contains(node.id.as_str())).map(|(_, id)| id).collect()
    }
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
    use crate::model::Flow;
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
}
