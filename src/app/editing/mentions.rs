//! Where a file says a name, and what the name stands for there: what going to a definition, finding references
//! and renaming are made of.

use std::collections::BTreeSet;
use std::ops::Range;

use serde_json::Value;

use crate::catalog::FlowReading;
use crate::document::{Document, Locator, Place, Pointer, Span};
use crate::model::wire::locator;
use crate::model::{NodeKind, Syntax, Template, VariableSet};
use crate::names::nfc;
use crate::render::placeholders;
use crate::validate::{Body, ReadSource, StepScope, parse};

/// What a name stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    /// A variable, in NFC.
    Variable(String),
    /// What a step gives, by the step's node.
    Output(usize),
    /// An input of another flow.
    InputOf {
        /// The flow, as it is named.
        flow: String,
        /// The input, in NFC.
        input: String,
    },
    /// A template, as it is named.
    Template(String),
    /// A flow, as it is named.
    Flow(String),
    /// A persona, as it is named.
    Persona(String),
    /// A contract, as it is named.
    Contract(String),
    /// A node, by its id.
    Node(String),
}

/// A name that a file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Mention {
    /// The bytes of the name.
    pub(super) bytes: Range<usize>,
    /// What it stands for.
    pub(super) subject: Subject,
    /// Whether this is where it is declared.
    pub(super) declares: bool,
    /// The node to which it belongs, where it belongs to one.
    pub(super) node: Option<usize>,
}

/// A file whose mentions are collected.
struct Collector<'a> {
    document: &'a Document,
    locator: Locator<'a>,
    node: Option<usize>,
    found: Vec<Mention>,
}

/// What one flow of a file says.
pub(super) fn of_flow(reading: &FlowReading) -> Vec<Mention> {
    let (flow, document) = (&reading.flow, &reading.document);
    let mut all = Collector::of(document);
    let declared = |name: &str| Subject::Variable(nfc(name));
    for refinement in &flow.inputs {
        all.name(&refinement.pointer, &refinement.name, declared(&refinement.name), true);
    }
    for (number, node) in flow.nodes.iter().enumerate() {
        all.node = Some(number);
        let (at, data) = (flow.node_pointer(number), flow.node_pointer(number).key("data"));
        let step = reading.scope.step_of(number);
        let own_text = !matches!(step.map(|step| &step.body), Some(Body::Text { template: Some(_), .. }));
        all.text(&at.key("id"), Subject::Node(node.id.clone()), true);
        match &node.kind {
            NodeKind::Input(input) => {
                for variable in &input.variables {
                    all.name(&variable.pointer, &variable.name, declared(&variable.name), true);
                }
            }
            NodeKind::Template(spec) => {
                let text = |all: &mut Collector<'_>, key: &str, name: Option<&str>, make: fn(String) -> Subject| {
                    if let Some(name) = name {
                        all.text(&data.key(key), make(name.to_owned()), false);
                    }
                };
                text(&mut all, "selectedTemplateId", spec.selected.as_deref(), Subject::Template);
                text(&mut all, "persona", spec.persona.as_deref(), Subject::Persona);
                text(&mut all, "contract", spec.contract.as_deref().and_then(Value::as_str), Subject::Contract);
                for variable in &spec.variables {
                    all.name(&variable.pointer, &variable.name, declared(&variable.name), true);
                }
                all.sets(&spec.sets);
                if let Some(text) = spec.text.as_ref().filter(|_| own_text) {
                    let text = Value::String(text.clone());
                    all.reads(&data.key("template"), &text, Syntax::Single, &spec.literal, step);
                }
            }
            NodeKind::Tool(tool) => {
                all.reads(&data.key("args"), &Value::Object(tool.args.clone()), Syntax::Double, &[], step);
                for (name, _) in &tool.set {
                    all.key(&data.key("set").key(name), declared(name), true);
                }
                for (number, name) in tool.requires.iter().enumerate() {
                    let name = name.split('.').next().unwrap_or(name);
                    let source = step.and_then(|step| step.read(&nfc(name))).map(|read| &read.source);
                    all.part(&data.key("requires").item(number), 0..name.len(), subject_of(source, &nfc(name)));
                }
            }
            NodeKind::Flow(link) => {
                all.reads(&data.key("variables"), &Value::Object(link.variables.clone()), Syntax::Single, &[], step);
                if let Some(name) = &link.flow {
                    all.text(&data.key("flow"), Subject::Flow(name.clone()), false);
                    for input in link.variables.keys() {
                        let subject = Subject::InputOf { flow: name.clone(), input: nfc(input) };
                        all.key(&data.key("variables").key(input), subject, false);
                    }
                }
            }
            NodeKind::Result | NodeKind::Other(_) => {}
        }
    }
    all.node = None;
    for (number, edge) in flow.edges.iter().enumerate() {
        let at = flow.edge_pointer(number);
        all.text(&at.key("source"), Subject::Node(edge.from.clone()), false);
        all.text(&at.key("target"), Subject::Node(edge.to.clone()), false);
        if let Some(handle) = &edge.target_handle {
            let reads = |step: &&StepScope| flow.nodes.get(step.node).is_some_and(|node| node.id == edge.to);
            if reading.scope.steps.iter().find(reads).is_some_and(|step| step.read(&nfc(handle)).is_some()) {
                all.text(&at.key("targetHandle"), declared(handle), false);
            }
        }
        for (target, source) in &edge.mapping {
            let mapping = at.key("data").key("mapping").key(target);
            all.key(&mapping, declared(target), false);
            if reading.scope.inputs.contains_key(&nfc(source)) {
                all.text(&mapping, declared(source), false);
            } else if let Some(from) = flow.place_of(&edge.from) {
                all.text(&mapping, Subject::Output(from), false);
            }
        }
    }
    all.finish()
}

/// What one template says; none where its file can't be read.
pub(super) fn of_template(template: &Template) -> Vec<Mention> {
    let Ok(document) = parse(&template.file, template.file_text.as_bytes()) else { return Vec::new() };
    let mut all = Collector::of(&document);
    let base = template.text_pointer.as_str().strip_suffix("/template").map_or_else(Pointer::root, Pointer::spelt);
    for (key, name) in [("id", &template.id), ("title", &template.title)] {
        if let Some(name) = name {
            all.text(&base.key(key), Subject::Template(name.clone()), true);
        }
    }
    for variable in &template.variables {
        all.name(&variable.pointer, &variable.name, Subject::Variable(nfc(&variable.name)), true);
    }
    all.sets(&template.sets);
    if template.text_whole {
        let literal: BTreeSet<String> = template.literal.iter().map(|name| nfc(name)).collect();
        let text = template.text();
        for placeholder in placeholders(&text, template.syntax) {
            if !literal.contains(&placeholder.name) {
                let name = name_within(&text, &placeholder.range);
                all.part(&template.text_pointer, name, Subject::Variable(placeholder.name));
            }
        }
    }
    all.finish()
}

impl<'a> Collector<'a> {
    fn of(document: &'a Document) -> Self {
        Self { document, locator: locator(&document.path, &document.text), node: None, found: Vec::new() }
    }

    fn finish(mut self) -> Vec<Mention> {
        self.found.sort_by_key(|mention| (mention.bytes.start, mention.bytes.end, !mention.declares));
        self.found.dedup_by(|a, b| a.bytes == b.bytes && a.subject == b.subject);
        self.found
    }

    fn push(&mut self, span: Span, subject: Subject, declares: bool) {
        if span.start < span.end {
            self.found.push(Mention { bytes: span.start..span.end, subject, declares, node: self.node });
        }
    }

    /// A text that is a name.
    fn text(&mut self, at: &Pointer, subject: Subject, declares: bool) {
        if let Some(Value::String(text)) = self.document.value.pointer(at.as_str()) {
            let span = self.locator.span(&Place::within(at.clone(), 0..text.len()));
            self.push(span, subject, declares);
        }
    }

    /// A bit of a text.
    fn part(&mut self, at: &Pointer, bytes: Range<usize>, subject: Subject) {
        if self.document.value.pointer(at.as_str()).is_some_and(Value::is_string) {
            let span = self.locator.span(&Place::within(at.clone(), bytes));
            self.push(span, subject, false);
        }
    }

    /// A key that is a name.
    fn key(&mut self, at: &Pointer, subject: Subject, declares: bool) {
        if self.document.value.pointer(at.as_str()).is_none() {
            return;
        }
        let Span { mut start, mut end } = self.locator.span(&Place::key(at.clone()));
        let written = self.document.text.get(start..end).unwrap_or_default();
        let quoted = |mark: char| written.len() > 1 && written.starts_with(mark) && written.ends_with(mark);
        if quoted('"') || quoted('\'') {
            (start, end) = (start + 1, end - 1);
        }
        self.push(Span { start, end }, subject, declares);
    }

    /// A variable in a list or an object of variables.
    fn name(&mut self, at: &Pointer, name: &str, subject: Subject, declares: bool) {
        let above = at.as_str().rsplit_once('/').map(|(above, _)| above).unwrap_or_default();
        if self.document.value.pointer(above).is_some_and(Value::is_object) {
            return self.key(at, subject, declares);
        }
        match self.document.value.pointer(at.as_str()) {
            Some(Value::Object(object)) => {
                let said = |key: &&str| object.get(*key).and_then(Value::as_str) == Some(name);
                if let Some(key) = ["name", "key"].iter().find(|key| said(key)) {
                    self.text(&at.key(key), subject, declares);
                }
            }
            _ => self.text(at, subject, declares),
        }
    }

    fn sets(&mut self, sets: &[VariableSet]) {
        for set in sets {
            for (name, _) in &set.values {
                self.key(&set.pointer.key("values").key(name), Subject::Variable(nfc(name)), false);
            }
        }
    }

    /// What the texts of a value read, each with the same braces; `literal` names stay text.
    fn reads(&mut self, at: &Pointer, value: &Value, syntax: Syntax, literal: &[String], step: Option<&StepScope>) {
        match value {
            Value::String(text) => {
                for placeholder in placeholders(text, syntax) {
                    if literal.iter().any(|name| nfc(name) == placeholder.name) {
                        continue;
                    }
                    let source = step.and_then(|step| step.read(&placeholder.name)).map(|read| &read.source);
                    self.part(at, name_within(text, &placeholder.range), subject_of(source, &placeholder.name));
                }
            }
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    self.reads(&at.item(place), item, syntax, literal, step);
                }
            }
            Value::Object(members) => {
                for (key, member) in members {
                    self.reads(&at.key(key), member, syntax, literal, step);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// What a name that is read stands for.
pub(super) fn subject_of(source: Option<&ReadSource>, name: &str) -> Subject {
    match source {
        Some(ReadSource::Output { node, .. } | ReadSource::Unreachable { node }) => Subject::Output(*node),
        _ => Subject::Variable(name.to_owned()),
    }
}

/// The bytes of the name in a placeholder, without braces, blanks, dot path and default.
pub(super) fn name_within(text: &str, range: &Range<usize>) -> Range<usize> {
    let written = text.get(range.clone()).unwrap_or_default();
    let inside = written.trim_start_matches(|c: char| c == '{' || c.is_whitespace());
    let start = range.start + written.len() - inside.len();
    let ends = |c: char| matches!(c, '.' | '|' | '}') || c.is_whitespace();
    start..start + inside.find(ends).unwrap_or(inside.len())
}
