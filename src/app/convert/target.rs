//! One flow or template in its new form.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::names::Names;
use super::{ConvertedPart, Form};
use crate::app::{Code, Error};
use crate::catalog::ReportedFile;
use crate::graph::Graph;
use crate::model::wire::{self, MappedFrom, StepWords};
use crate::model::{Flow, Node, NodeKind};
use crate::names::{CatalogPath, file_stem, quoted, shown};
use crate::plan::{Plan, Source};

/// A file to be written.
pub(super) struct Written {
    pub(super) bytes: Vec<u8>,
    pub(super) told: ConvertedPart,
    pub(super) is_flow: bool,
    /// Its place in the source file.
    pub(super) place: usize,
}

impl Written {
    /// What it is made of, for the set of flows whose edges are spelt out.
    pub(super) fn key(&self) -> String {
        format!("{}#{}", self.told.from, self.place)
    }
}

/// The results of one file.
pub(super) fn write(
    file: &ReportedFile,
    bytes: &[u8],
    to: Form,
    names: &Names,
    spelt_out: &BTreeSet<String>,
    old: Option<&Value>,
) -> Result<Vec<Written>, Error> {
    let path = CatalogPath::new(&file.file).map_err(|error| Error::invalid(error.to_string()))?;
    let document = wire::parse(&path, bytes)
        .map_err(|problem| Error::new(Code::ParseError, format!("{}: {problem}", shown(&file.file, 300))))?;
    let mut written = Vec::new();
    for (place, flow) in file.flows.iter().enumerate() {
        let Some(plan) = super::plan_of(file, place) else { continue };
        let raw = document.value.pointer(flow.base.as_str()).unwrap_or(&document.value);
        let spelt = spelt_out.contains(&format!("{}#{place}", file.file));
        let (text, lost) = match to {
            Form::Markdown => in_markdown(raw, flow, plan, names, spelt)
                .map_err(|why| Error::invalid(format!("{}: {why}", shown(&file.file, 300))))?,
            Form::Json => {
                let (text, mut lost) = in_json(raw, flow, plan, names, old, text_before_steps(&document.text));
                lost.extend(wire::only_here(&document.text));
                (text, lost)
            }
        };
        written.extend(made(file, place, text, lost, names, true));
    }
    for (place, template) in file.templates.iter().enumerate() {
        let parent = template.text_pointer.as_str().strip_suffix("/template");
        let raw = parent.and_then(|parent| document.value.pointer(parent)).unwrap_or(&document.value);
        let (text, lost) = match to {
            Form::Markdown => {
                let markdown = wire::write_template(raw, template);
                (markdown.text, markdown.lost)
            }
            Form::Json => (pretty(raw), wire::only_here(&document.text)),
        };
        written.extend(made(file, place, text, lost, names, false));
    }
    Ok(written)
}

fn made(
    file: &ReportedFile,
    place: usize,
    text: String,
    lost: Vec<String>,
    names: &Names,
    is_flow: bool,
) -> Option<Written> {
    let path = names.result(&file.file, place)?.to_owned();
    let name = match file.flows.get(place) {
        Some(flow) => flow.name.to_string(),
        None if file.templates.len() > 1 => file.templates.get(place)?.title.clone().unwrap_or_default(),
        None => file_stem(&file.file).to_owned(),
    };
    let renamed = (file_stem(&path) != name).then_some(name);
    let told = ConvertedPart { from: file.file.clone(), to: path, renamed, lost };
    Some(Written { bytes: text.into_bytes(), told, is_flow, place })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Whether a file in Markdown says something before its first step, for readers.
fn text_before_steps(text: &str) -> bool {
    let body = text.strip_prefix("---").and_then(|rest| rest.split_once("\n---")).map_or(text, |(_, body)| body);
    let preface = body.split("\n## ").next().unwrap_or_default();
    !preface.trim_matches(['-', '\n', '\r', ' ']).is_empty() && !preface.starts_with("## ")
}

/// The steps right before each node, through notes and results.
fn parents(flow: &Flow) -> Vec<Vec<usize>> {
    let ends = flow.ends().into_iter().flatten().filter(|(from, to)| from != to);
    let graph = Graph::new(flow.nodes.len(), ends);
    let runnable: Vec<bool> = flow.nodes.iter().map(Node::runnable).collect();
    graph.order(&runnable).map(|order| order.parents).unwrap_or_default()
}

fn in_markdown(
    raw: &Value,
    flow: &Flow,
    plan: &Plan,
    names: &Names,
    spelt: bool,
) -> Result<(String, Vec<String>), String> {
    let parents = parents(flow);
    let words = |number: usize| {
        let Some(node) = flow.nodes.get(number) else { return StepWords::default() };
        let slots = plan.steps().iter().filter(|step| step.id == node.id).flat_map(|step| step.work.slots());
        let giver = |step: usize| plan.step(step).map(|step| step.id.clone());
        let (mut map, mut read) = (Vec::<(String, MappedFrom)>::new(), BTreeSet::new());
        let (mut declared, mut takes) = (Vec::<String>::new(), false);
        for slot in slots {
            if let Source::Open(open) = &slot.source {
                declared.extend(Some(slot.name.clone()).filter(|name| open.declared && !declared.contains(name)));
                takes |= open.auto.is_some();
            }
            let from = match &slot.source {
                Source::Step { step, by: Some(_), path, .. } => {
                    giver(*step).map(|step| MappedFrom::Step(step, path.join(".")))
                }
                Source::Step { step, .. } => {
                    read.extend(giver(*step));
                    None
                }
                Source::Open(open) if open.mapped => Some(MappedFrom::Input(open.input.clone())),
                Source::Open(_) | Source::Passed(_) => None,
            };
            if let Some(from) = from.filter(|_| !map.iter().any(|(name, _)| *name == slot.name)) {
                map.push((slot.name.clone(), from));
            }
        }
        let mapped = |id: &String| map.iter().any(|(_, from)| matches!(from, MappedFrom::Step(step, _) if step == id));
        let before = parents.get(number).into_iter().flatten().filter_map(|node| flow.nodes.get(*node));
        let after =
            before.map(|node| node.id.clone()).filter(|id| spelt || !mapped(id) && !read.contains(id)).collect();
        let (named, own_text) = match &node.kind {
            NodeKind::Template(step) => match step.selected.as_deref() {
                Some(selected) => match names.template(selected) {
                    Some(name) => (Some(name), false),
                    None => (Some(selected.to_owned()), own_text(plan, &node.id)),
                },
                None => (None, true),
            },
            NodeKind::Flow(link) => (link.flow.as_deref().map(|name| names.flow(name)), false),
            NodeKind::Input(_) | NodeKind::Tool(_) | NodeKind::Result | NodeKind::Other(_) => (None, false),
        };
        // In Markdown a name that takes the output of the step before has to be one that the step declares.
        let declared = if takes && own_text { declared } else { Vec::new() };
        StepWords { after, map, named, own_text, declared }
    };
    let mut lost: Vec<String> = flow.nodes.iter().filter_map(|node| without_template(node, plan, names)).collect();
    let inputs = inputs_of(raw, flow, plan, &mut lost);
    lost.extend(
        flow.nodes
            .iter()
            .filter(|node| only_drawn_to(flow, node, plan, &inputs))
            .map(|node| format!("the edge from the inputs to step {}, which reads none of them", quoted(&node.id))),
    );
    let results = results_of(flow, plan);
    let mut markdown = wire::write_flow(raw, flow, &words, &inputs, &results)?;
    lost.append(&mut markdown.lost);
    Ok((markdown.text, lost))
}

/// What is said of a step whose template is not there: the name stays, and a text beside it has no place.
fn without_template(node: &Node, plan: &Plan, names: &Names) -> Option<String> {
    let NodeKind::Template(step) = &node.kind else { return None };
    let selected = step.selected.as_deref().filter(|selected| names.template(selected).is_none())?;
    if own_text(plan, &node.id) {
        return None;
    }
    let text = step.text.as_deref().is_some_and(|text| !text.trim().is_empty());
    let beside = if text { ", and the text that stands beside it is left out" } else { "" };
    Some(format!("step {}: no template goes by {}{beside}", quoted(&node.id), quoted(selected)))
}

/// Whether nothing but an edge from inputs that it does not read leads to a step or from it: in Markdown it stands
/// alone.
fn only_drawn_to(flow: &Flow, node: &Node, plan: &Plan, inputs: &[(String, Map<String, Value>)]) -> bool {
    let is_input = |id: &str| flow.nodes.iter().any(|node| node.id == id && matches!(node.kind, NodeKind::Input(_)));
    let mut slots = plan.steps().iter().filter(|step| step.id == node.id).flat_map(|step| step.work.slots());
    let reads = slots
        .any(|slot| matches!(&slot.source, Source::Open(open) if inputs.iter().any(|(name, _)| *name == open.input)));
    let mut edges = flow.edges.iter().filter(|edge| edge.from == node.id || edge.to == node.id).peekable();
    node.runnable() && !reads && edges.peek().is_some() && edges.all(|edge| is_input(&edge.from))
}

/// Whether a step has a text though the template that it names is not there.
fn own_text(plan: &Plan, id: &str) -> bool {
    let step = plan.steps().iter().find(|step| step.id == id);
    step.is_some_and(|step| matches!(step.work, crate::plan::Work::Render(_)))
}

/// The names that callers may give, and what is said of each.
fn inputs_of(raw: &Value, flow: &Flow, plan: &Plan, lost: &mut Vec<String>) -> Vec<(String, Map<String, Value>)> {
    let meta = raw.get("meta").or_else(|| raw.get("metadata"));
    let refined = meta.and_then(|meta| meta.get("inputs")).and_then(Value::as_object);
    let mut inputs: Vec<(String, Map<String, Value>)> = Vec::new();
    for node in &flow.nodes {
        let NodeKind::Input(node) = &node.kind else { continue };
        for variable in &node.variables {
            let place = inputs.iter().position(|(name, _)| *name == variable.name).unwrap_or_else(|| {
                inputs.push((variable.name.clone(), Map::new()));
                inputs.len() - 1
            });
            let (Some((name, said)), Some(default)) = (inputs.get_mut(place), &variable.default) else { continue };
            match said.get("default") {
                None => drop(said.insert("default".to_owned(), Value::clone(default))),
                Some(other) if *other != **default => {
                    lost.push(format!("a second default of input {}", quoted(name)));
                }
                Some(_) => {}
            }
        }
    }
    for (name, said) in refined.into_iter().flatten() {
        let said = said.as_object().cloned().unwrap_or_default();
        if let Some((_, known)) = inputs.iter_mut().find(|(known, _)| known == name) {
            let default = known.remove("default");
            known.extend(said);
            if let Some(default) = default
                && known.get("default").is_none_or(Value::is_null)
            {
                known.insert("default".to_owned(), default);
            }
            continue;
        }
        let needed = plan.inputs().iter().any(|input| input.name == *name && input.required);
        let mut said = said;
        // An input of Markdown is needed unless that is said.
        if !needed && !said.contains_key("required") && said.get("default").is_none_or(Value::is_null) {
            said.insert("required".to_owned(), Value::Bool(false));
        }
        inputs.push((name.clone(), said));
    }
    inputs
}

/// The results, and the steps that give each.
fn results_of(flow: &Flow, plan: &Plan) -> Vec<(String, Vec<String>)> {
    let result = |mark: &crate::plan::ResultMark| {
        let id = &flow.nodes.get(mark.node)?.id;
        let runs = |name: &str| flow.nodes.iter().any(|node| node.id == name && node.runnable());
        let mut feeders: Vec<String> =
            flow.edges.iter().filter(|edge| edge.to == *id && runs(&edge.from)).map(|edge| edge.from.clone()).collect();
        feeders.dedup();
        if feeders.is_empty() {
            feeders.extend(mark.step.and_then(|step| plan.step(step)).map(|step| step.id.clone()));
        }
        (!feeders.is_empty()).then_some((mark.label.clone(), feeders))
    };
    plan.results().iter().filter_map(result).collect()
}

fn in_json(
    raw: &Value,
    flow: &Flow,
    plan: &Plan,
    names: &Names,
    old: Option<&Value>,
    preface: bool,
) -> (String, Vec<String>) {
    let canvas = old.map(|old| canvas_of(old, flow)).unwrap_or_default();
    let waves: BTreeMap<&str, usize> = plan.steps().iter().map(|step| (step.id.as_str(), step.wave)).collect();
    let mut rows: BTreeMap<usize, usize> = BTreeMap::new();
    let last = waves.values().max().copied().unwrap_or(0);
    let mut out = raw.as_object().cloned().unwrap_or_default();
    if let Some(nodes) = out.get_mut("nodes").and_then(Value::as_array_mut) {
        for node in nodes.iter_mut().filter_map(Value::as_object_mut) {
            let text = |key: &str| node.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
            let (id, kind) = (text("id"), text("type"));
            let column = match kind.as_str() {
                "multi_input" => 0,
                "result" => last + 2,
                _ => waves.get(id.as_str()).copied().unwrap_or(0) + 1,
            };
            let row = rows.entry(column).or_default();
            let label = node.get("data").and_then(|data| data.get("label")).and_then(Value::as_str);
            let key = if kind == "template" || kind == "tool" || kind == "flow" {
                format!("#{id}")
            } else {
                format!("{kind}:{}", label.unwrap_or_default())
            };
            match canvas.get(&key) {
                Some(kept) => node.extend(kept.clone()),
                None => drop(node.insert("position".to_owned(), json!({"x": column * 340, "y": *row * 200}))),
            }
            *row += 1;
            if let Some(data) = node.get_mut("data").and_then(Value::as_object_mut) {
                for (key, flows) in [("selectedTemplateId", false), ("flow", true)] {
                    let Some(name) = data.get(key).and_then(Value::as_str) else { continue };
                    let now = if flows { Some(names.flow(name)) } else { names.template(name) };
                    data.extend(now.map(|now| (key.to_owned(), Value::from(now))));
                }
            }
        }
    }
    let edges = flow.edges.iter().enumerate().map(|(number, edge)| {
        let written = json!({"id": format!("e{}", number + 1), "source": edge.from, "target": edge.to});
        let Value::Object(mut written) = written else { return written };
        if !edge.mapping.is_empty() {
            let mapping: Map<String, Value> =
                edge.mapping.iter().map(|(to, from)| (to.clone(), Value::from(from.as_str()))).collect();
            written.insert("data".to_owned(), json!({"mapping": mapping}));
        }
        Value::Object(written)
    });
    out.insert("edges".to_owned(), edges.collect());
    let lost = if preface { vec!["the text before the first step".to_owned()] } else { Vec::new() };
    (pretty(&Value::Object(out)), lost)
}

/// What a flow in JSON says of its nodes beside what they do: by id, and of inputs and results by label.
fn canvas_of(old: &Value, flow: &Flow) -> BTreeMap<String, Map<String, Value>> {
    let flows = old.get("flows").and_then(Value::as_array);
    let named = |one: &&Value| {
        let name = one.pointer("/meta/name").and_then(Value::as_str);
        name.is_some() && (name == flow.given_name.as_deref() || name == Some(flow.name.as_str()))
    };
    let one = match flows {
        Some(flows) => flows.iter().find(named).or(flows.first().filter(|_| flows.len() == 1)),
        None => Some(old),
    };
    let nodes = one.and_then(|one| one.get("nodes")).and_then(Value::as_array).into_iter().flatten();
    let mut found = BTreeMap::new();
    for node in nodes.filter_map(Value::as_object) {
        let text = |key: &str| node.get(key).and_then(Value::as_str).unwrap_or_default();
        let label = node.get("data").and_then(|data| data.get("label")).and_then(Value::as_str).unwrap_or_default();
        let key = match text("type") {
            "multi_input" | "input" => "multi_input:".to_owned(),
            "result" => format!("result:{label}"),
            _ => format!("#{}", text("id")),
        };
        let kept = node.iter().filter(|(key, _)| !["id", "type", "data"].contains(&key.as_str()));
        found.entry(key).or_insert_with(|| kept.map(|(key, value)| (key.clone(), value.clone())).collect());
    }
    found
}
