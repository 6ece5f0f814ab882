//! How the parts of a flow are called in the file that it stands in: Markdown has steps, results and inputs where
//! JSON has nodes and edges. Rules ask here, so that a finding speaks of what its reader sees.

use jsonschema::JsonType;
use jsonschema::error::TypeKind;
use serde_json::Value;

use crate::document::{Document, Pointer};
use crate::model::wire::is_markdown;
use crate::model::{Edge, Node, NodeKind, Shape};
use crate::names::{quoted, shown};
use crate::validate::{Body, FileSubject, FlowSubject, StepScope};

impl FlowSubject<'_> {
    /// Whether the flow is written in Markdown.
    pub(in crate::validate) fn in_markdown(&self) -> bool {
        self.flow.shape == Shape::Markdown
    }

    /// One of two hints: for a file in JSON, or for one in Markdown.
    pub(in crate::validate) fn in_form<'h>(&self, json: &'h str, markdown: &'h str) -> &'h str {
        if self.in_markdown() { markdown } else { json }
    }

    /// A node by its number, as the file has it.
    pub(in crate::validate) fn called(&self, node: usize) -> String {
        match self.flow.nodes.get(node) {
            Some(node) if self.in_markdown() => part(node),
            Some(node) => format!("node {}", quoted(&node.id)),
            None => String::new(),
        }
    }

    /// What an edge takes from where; in Markdown the step's `map` says so.
    pub(in crate::validate) fn taken(&self, edge: &Edge, to: usize, target: &str, source: &str) -> String {
        let target = quoted(target);
        if !self.in_markdown() {
            return format!("edge {} takes {target} from {}", quoted(&edge.caption()), quoted(source));
        }
        let step = self.called(to);
        match source.strip_prefix("result.") {
            Some(path) => format!("{step} maps {target} from {} of step {}", quoted(path), quoted(&edge.from)),
            None => format!("{step} maps {target} from the input {}", quoted(source)),
        }
    }

    /// How a name is listed as text, in the file that holds a step's text.
    pub(in crate::validate) fn literal(&self, step: &StepScope, name: &str) -> String {
        let file = match &step.body {
            Body::Text { template: Some(template), .. } => &template.file,
            _ => &self.flow.file,
        };
        let name = quoted(name);
        if is_markdown(file.as_str()) { format!("`literal: [{name}]`") } else { format!("\"literal\": [{name}]") }
    }
}

impl FileSubject<'_> {
    /// Whether the file is written in Markdown.
    pub(in crate::validate) fn in_markdown(&self) -> bool {
        is_markdown(self.document.path.as_str())
    }

    /// A node by its id, as the file has it.
    pub(in crate::validate) fn called(&self, id: &str) -> String {
        format!("{} {}", if self.in_markdown() { "step" } else { "node" }, quoted(id))
    }
}

/// A node of a flow in Markdown.
fn part(node: &Node) -> String {
    match node.kind {
        NodeKind::Result => format!("result {}", quoted(node.caption())),
        NodeKind::Input(_) => "`inputs`".to_owned(),
        NodeKind::Template(_) | NodeKind::Tool(_) | NodeKind::Flow(_) | NodeKind::Other(_) => {
            format!("step {}", quoted(&node.id))
        }
    }
}

/// What stands at a place of a file in Markdown, in words, and the step in which it lies.
pub(in crate::validate) fn place_in_markdown<'d>(
    document: &'d Document,
    steps: &[String],
) -> (String, Option<&'d str>) {
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    let value = &document.value;
    match steps.as_slice() {
        [] | ["metadata"] => ("the front matter".to_owned(), None),
        ["metadata", "inputs", name, rest @ ..] => (within(&format!("input {}", quoted(name)), rest), None),
        ["metadata", rest @ ..] => (within("", rest), None),
        ["nodes", number, rest @ ..] => {
            let node = number.parse::<usize>().ok().and_then(|number| value.get("nodes")?.get(number));
            let id = node.and_then(|node| node.get("id")).and_then(Value::as_str).unwrap_or_default();
            let step = format!("step {}", quoted(id));
            match (rest, node.and_then(|node| node.get("data"))) {
                (["data", rest @ ..], Some(data)) => (of_fields(&step, data, rest), Some(id)),
                (rest, _) => (within(&step, rest), Some(id)),
            }
        }
        rest => (of_fields("", value, rest), None),
    }
}

/// How what a front matter says of inputs is written, where that is none of the schema.
pub(in crate::validate) fn help_in_markdown(document: &Document, pointer: &Pointer) -> Option<String> {
    let steps: Vec<String> = pointer.steps().collect();
    match steps.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        _ if !is_markdown(document.path.as_str()) => None,
        ["metadata", "inputs"] => Some(
            "write the names as a list, `inputs: [topic, day]`, or `topic: { description: … }` below it".to_owned(),
        ),
        ["metadata", "inputs", name] => Some(format!("write `{}: {{ description: … }}`", shown(name, 60))),
        _ => None,
    }
}

/// What stands below the fields of a step or a template, which lists variables and sets where their file maps names.
fn of_fields(of: &str, fields: &Value, rest: &[&str]) -> String {
    match rest {
        [key @ ("variables" | "variableValueSets"), number, rest @ ..] => {
            let item = number.parse::<usize>().ok().and_then(|number| fields.get(*key)?.get(number));
            let Some(name) = item.and_then(|item| item.get("name")?.as_str()) else {
                return within(of, &[if *key == "variables" { key } else { "sets" }]);
            };
            let what = if *key == "variables" { "variable" } else { "set" };
            let before = if of.is_empty() { String::new() } else { format!("{of}: ") };
            let rest = if let ["values", rest @ ..] = rest { rest } else { rest };
            within(&format!("{before}{what} {}", quoted(name)), rest)
        }
        ["selectedTemplateId", ..] => within(of, &["template"]),
        ["template", ..] => within(of, &["text"]),
        ["variableValueSets"] => within(of, &["sets"]),
        rest => within(of, rest),
    }
}

/// A field within something, both in words.
fn within(of: &str, rest: &[&str]) -> String {
    let field = rest.join(".");
    match (of.is_empty(), field.is_empty()) {
        (_, true) => of.to_owned(),
        (true, false) => format!("`{}`", shown(&field, 200)),
        (false, false) => format!("{of}: `{}`", shown(&field, 200)),
    }
}

/// A value of YAML, in words.
pub(in crate::validate) fn words_for(value: &Value) -> String {
    match value {
        Value::Object(_) => "a mapping".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        scalar => shown(&scalar.to_string(), 60),
    }
}

/// What a schema wants in a place, in words.
pub(in crate::validate) fn due(kind: &TypeKind, markdown: bool) -> String {
    let word = |kind: JsonType| match kind {
        JsonType::String => "a text",
        JsonType::Number => "a number",
        JsonType::Integer => "a whole number",
        JsonType::Boolean => "`true` or `false`",
        JsonType::Array => "a list",
        JsonType::Object if markdown => "a mapping (`key: value`)",
        JsonType::Object => "an object",
        JsonType::Null => "nothing",
    };
    match kind {
        TypeKind::Single(kind) => word(*kind).to_owned(),
        // That nothing may stand there helps nobody.
        TypeKind::Multiple(kinds) => {
            kinds.iter().filter(|kind| *kind != JsonType::Null).map(word).collect::<Vec<_>>().join(" or ")
        }
    }
}
