//! Prompts in the forms of other programs: read into a flow of one step. What such a flow can't say is named with
//! its line, and stays in the text as it is.

use serde_json::{Map, Value, json};

use super::ForeignKind;
use crate::document::{Yaml, YamlProblem};
use crate::model::Syntax;
use crate::names::{quoted, shown};
use crate::render::placeholders;

mod body;

pub(super) use body::Filled;

/// A prompt that was read.
pub(super) struct ForeignPrompt {
    /// The name of its flow.
    pub(super) name: String,
    /// The flow, as JSON has it.
    pub(super) flow: Value,
    /// What could not be carried, in words.
    pub(super) lost: Vec<String>,
}

/// The front matter of a file, and what follows it.
struct File<'t> {
    front: Vec<(String, Value)>,
    body: &'t str,
    /// The line that the body begins with, from 1.
    line: usize,
}

/// Reads a prompt; `stem` is its name where it has none.
pub(super) fn read(kind: ForeignKind, text: &str, stem: &str) -> ForeignPrompt {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text).replace("\r\n", "\n");
    let file = opened(&text);
    let mut draft = Draft::new(stem);
    match kind {
        ForeignKind::Prompty => draft.prompty(&file),
        ForeignKind::ClaudeCommand | ForeignKind::Skill => draft.claude(kind, &file),
    }
    draft.finished()
}

fn opened(text: &str) -> File<'_> {
    let whole = File { front: Vec::new(), body: text, line: 1 };
    let Some(rest) = text.strip_prefix("---").and_then(|rest| rest.trim_start_matches([' ', '\t']).strip_prefix('\n'))
    else {
        return whole;
    };
    let start = text.len() - rest.len();
    let mut at = start;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            let body = text.get(at + line.len()..).unwrap_or_default();
            let number = text.get(..text.len() - body.len()).unwrap_or_default().matches('\n').count() + 1;
            return File { front: front(text, start, at), body, line: number };
        }
        at += line.len();
    }
    whole
}

/// Keys and values. Where the whole is no YAML, as with a colon in a description or an `argument-hint` of several
/// brackets, each key is read by itself, and what is none even then is text.
fn front(text: &str, start: usize, end: usize) -> Vec<(String, Value)> {
    if let Some(all) = mapping(text, start, end) {
        return all;
    }
    let mut begins: Vec<usize> = Vec::new();
    let mut at = start;
    for line in text.get(start..end).unwrap_or_default().split_inclusive('\n') {
        if !line.starts_with([' ', '\t', '-', '#']) && line.contains(':') {
            begins.push(at);
        }
        at += line.len();
    }
    let ends = begins.iter().skip(1).copied().chain([end]);
    let mut found = Vec::new();
    for (from, to) in begins.iter().copied().zip(ends) {
        match mapping(text, from, to) {
            Some(read) => found.extend(read),
            None => found.extend(text.get(from..to).and_then(as_text)),
        }
    }
    found
}

/// What YAML says of a part of a text, where it is a mapping.
fn mapping(text: &str, start: usize, end: usize) -> Option<Vec<(String, Value)>> {
    let read: Result<Yaml, YamlProblem> = Yaml::read(text, start..end);
    match read.ok()?.tree.map(crate::document::Tree::into_value)? {
        Value::Object(map) => Some(map.into_iter().collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
    }
}

/// A key, and what stands behind it up to the next one.
fn as_text(written: &str) -> Option<(String, Value)> {
    let (key, value) = written.split_once(':')?;
    let lines: Vec<&str> = value.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let value = lines.join(" ");
    Some((key.trim().to_owned(), Value::from(value.trim_matches(['"', '\'']))))
}

/// A flow in the making.
struct Draft {
    name: String,
    meta: Map<String, Value>,
    inputs: Map<String, Value>,
    sets: Vec<Value>,
    text: String,
    lost: Vec<String>,
}

impl Draft {
    fn new(stem: &str) -> Self {
        Self {
            name: stem.to_owned(),
            meta: Map::new(),
            inputs: Map::new(),
            sets: Vec::new(),
            text: String::new(),
            lost: Vec::new(),
        }
    }

    /// A slash command or a skill of Claude Code.
    fn claude(&mut self, kind: ForeignKind, file: &File<'_>) {
        let (mut hint, mut named) = (None, Vec::new());
        for (key, value) in &file.front {
            match key.as_str() {
                "name" => self.name = words(value),
                "description" => drop(self.meta.insert("description".to_owned(), words(value).into())),
                "argument-hint" => hint = Some(words(value)),
                "arguments" => named = names(value),
                _ => self.field(key),
            }
        }
        let filled = body::claude(file.body, file.line, &named, kind == ForeignKind::Skill);
        self.take(filled);
        if let (Some(hint), Some(Value::Object(said))) = (&hint, self.inputs.get_mut("arguments")) {
            said.insert("description".to_owned(), hint.as_str().into());
        } else if let Some(hint) = hint.filter(|_| self.inputs.is_empty()) {
            self.lost.push(format!("arguments ({}): no place in the text takes them", shown(&hint, 100)));
        }
    }

    /// A file of Prompty.
    fn prompty(&mut self, file: &File<'_>) {
        for (key, value) in &file.front {
            match key.as_str() {
                "name" => self.name = words(value),
                "description" | "version" => drop(self.meta.insert(key.clone(), words(value).into())),
                "tags" => self.tags(value),
                "authors" | "author" => drop(self.meta.insert("author".to_owned(), list(value).join(", ").into())),
                "metadata" => self.described(value),
                "inputs" => self.declared(value),
                "sample" => self.sample(value),
                "$schema" => {}
                "template" if is_jinja(value) => {}
                _ => self.field(key),
            }
        }
        let filled = body::prompty(file.body, file.line);
        self.take(filled);
    }

    fn tags(&mut self, value: &Value) {
        drop(self.meta.insert("tags".to_owned(), list(value).into()));
    }

    /// `metadata` of the newer form.
    fn described(&mut self, value: &Value) {
        for (key, value) in value.as_object().into_iter().flatten() {
            match key.as_str() {
                "tags" => self.tags(value),
                "authors" | "author" => drop(self.meta.insert("author".to_owned(), list(value).join(", ").into())),
                "version" => drop(self.meta.insert(key.clone(), words(value).into())),
                _ => self.lost.push(format!("front matter: {}", quoted(&format!("metadata.{key}")))),
            }
        }
    }

    /// `inputs`: name → type, sample or description, or a list of such.
    fn declared(&mut self, value: &Value) {
        let mut all: Vec<(String, &Value)> = Vec::new();
        match value {
            Value::Object(map) => all.extend(map.iter().map(|(name, said)| (name.clone(), said))),
            Value::Array(items) => {
                all.extend(items.iter().filter_map(|item| Some((item.get("name")?.as_str()?.to_owned(), item))));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => self.field("inputs"),
        }
        let mut sample = Map::new();
        for (name, value) in all {
            let mut said = Map::new();
            let kind = value.get("type").or_else(|| value.get("kind")).unwrap_or(value);
            if let Some(kind) = kind.as_str().filter(|kind| TYPES.contains(kind)) {
                said.insert("type".to_owned(), kind.into());
            } else if !value.is_object() && !value.is_null() {
                sample.insert(name.clone(), value.clone());
            }
            for (key, value) in value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
                match key.as_str() {
                    "description" | "default" | "required" | "enum" => drop(said.insert(key.clone(), value.clone())),
                    "sample" | "example" => drop(sample.insert(name.clone(), value.clone())),
                    "name" | "type" | "kind" => {}
                    _ => self.lost.push(format!("input {}: {}", quoted(&name), quoted(key))),
                }
            }
            self.inputs.insert(name, Value::Object(said));
        }
        if !sample.is_empty() {
            self.sample(&Value::Object(sample));
        }
    }

    /// `sample`: values that the author tried, a variable set here.
    fn sample(&mut self, value: &Value) {
        match value {
            Value::Object(values) if self.sets.is_empty() => {
                self.sets.push(json!({"id": "sample", "name": "sample", "values": values}));
            }
            Value::Object(more) => {
                let known = self.sets.first_mut().and_then(|set| set.get_mut("values")).and_then(Value::as_object_mut);
                if let Some(known) = known {
                    known.extend(more.clone());
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                self.lost.push(format!("sample values: {}", quoted(&words(value))));
            }
        }
    }

    fn field(&mut self, key: &str) {
        self.lost.push(format!("front matter: {}", quoted(key)));
    }

    /// The text, and the inputs that it reads.
    fn take(&mut self, filled: Filled) {
        for name in filled.names {
            self.inputs.entry(name).or_insert_with(|| Value::Object(Map::new()));
        }
        self.lost.extend(filled.lost);
        filled.text.trim_matches('\n').clone_into(&mut self.text);
    }

    fn finished(mut self) -> ForeignPrompt {
        self.meta.entry("version").or_insert_with(|| "1.0.0".into());
        // What is spelt like a placeholder and was none stays text.
        let spelt = placeholders(&self.text, Syntax::Single).into_iter().map(|group| group.name);
        let names = spelt.filter(|name| !name.starts_with(|c: char| c.is_ascii_digit()));
        let mut literal: Vec<String> = names.filter(|name| !self.inputs.contains_key(name)).collect();
        literal.sort();
        literal.dedup();
        let mut data = Map::new();
        data.insert("label".to_owned(), "Prompt".into());
        data.insert("template".to_owned(), self.text.into());
        if !literal.is_empty() {
            data.insert("literal".to_owned(), literal.into());
        }
        if !self.sets.is_empty() {
            data.insert("variableValueSets".to_owned(), self.sets.into());
        }
        let mut meta = Map::new();
        meta.insert("name".to_owned(), self.name.as_str().into());
        meta.extend(self.meta);
        let mut nodes = Vec::new();
        let mut edges = Vec::new();
        if !self.inputs.is_empty() {
            let names: Vec<&String> = self.inputs.keys().collect();
            nodes.push(json!({"id": "inputs", "type": "multi_input", "data": {"variables": names}}));
            edges.push(json!({"source": "inputs", "target": "prompt"}));
        }
        nodes.push(json!({"id": "prompt", "type": "template", "data": data}));
        meta.insert("inputs".to_owned(), Value::Object(self.inputs));
        let flow = json!({"metadata": meta, "nodes": nodes, "edges": edges});
        ForeignPrompt { name: self.name, flow, lost: self.lost }
    }
}

/// The types that an input may have; both sides name them as JSON Schema does.
const TYPES: [&str; 6] = ["string", "number", "integer", "boolean", "array", "object"];

/// Whether a template engine is the one that Prompty uses unless it is told otherwise.
fn is_jinja(value: &Value) -> bool {
    let named = value.get("format").and_then(|format| format.get("kind").or(Some(format))).unwrap_or(value);
    named.as_str().is_some_and(|name| name.eq_ignore_ascii_case("jinja2"))
}

/// A value as one text.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Array(_) => list(value).join(" "),
        Value::Bool(_) | Value::Number(_) | Value::Object(_) => value.to_string(),
    }
}

/// A value as texts.
fn list(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().map(words).collect(),
        Value::Null => Vec::new(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => vec![words(value)],
    }
}

/// Names in a list, or between blanks.
fn names(value: &Value) -> Vec<String> {
    list(value).iter().flat_map(|text| text.split_whitespace()).map(str::to_owned).collect()
}
