//! What may stand at a place: names of templates, flows, personas, contracts, nodes and variables, and the fields
//! of what a step gives.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::path::Path;

use super::{Place, Workbench};
use crate::catalog::{Desk, FlowReading};
use crate::document::Part;
use crate::graph::Graph;
use crate::model::wire::{is_markdown, locator};
use crate::model::{Flow, Leads, Lookup, NodeKind, OutputShape, Template};
use crate::names::{FLOW_ENDING, nfc};
use crate::validate::{Body, ParsedFlows, StepScope, output_names};

/// What may stand at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// What it is called.
    pub label: String,
    /// What it is.
    pub kind: OfferKind,
    /// What there is to say of it, in one line.
    pub detail: String,
    /// The bytes that it takes the place of.
    pub bytes: Range<usize>,
}

/// The kinds of what is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OfferKind {
    /// A template, a persona or a contract.
    File,
    /// Another flow.
    Flow,
    /// A node or a type of nodes.
    Node,
    /// A variable.
    Variable,
    /// A field of a step's output.
    Field,
}

/// The longest name that is looked for before the cursor, in bytes.
const LONGEST: usize = 1_000;

impl Workbench {
    /// What may stand at a byte of a file.
    pub fn offers(&self, path: &Path, offset: usize) -> Vec<Offer> {
        let (Some(place), Some(text)) = (self.place(path), self.text(path)) else { return Vec::new() };
        let Some(before) = text.get(..offset) else { return Vec::new() };
        let markdown = is_markdown(place.path.as_str());
        let mut offers = match open_brace(before, markdown) {
            Some(written) => self.in_braces(&place, path, &text, (written, offset)),
            None => self.by_key(&place, path, &text, (markdown, offset)),
        };
        offers.sort_by(|a, b| a.label.cmp(&b.label));
        offers.dedup_by(|a, b| a.label == b.label);
        offers
    }

    /// Names, and fields after a dot.
    fn in_braces(&self, place: &Place<'_>, path: &Path, text: &str, (from, to): (usize, usize)) -> Vec<Offer> {
        let written = text.get(from..to).unwrap_or_default();
        let after = text.get(to..).unwrap_or_default();
        let rest = after.find(|c: char| !crate::names::variable_char(c)).unwrap_or(after.len());
        let contexts = self.contexts(place, path, text, to);
        if let Some((name, fields)) = written.split_once('.') {
            let steps: Vec<String> = fields.split('.').map(str::to_owned).collect();
            let (last, above) = steps.split_last().map_or((0, &[][..]), |(last, above)| (last.len(), above));
            let bytes = to - last..to + rest;
            let fields = contexts.iter().flat_map(|(reading, _)| fields_of(reading, &nfc(name), above));
            let offer =
                |label: String| Offer { label, kind: OfferKind::Field, detail: String::new(), bytes: bytes.clone() };
            return fields.collect::<BTreeSet<_>>().into_iter().map(offer).collect();
        }
        let mut names: BTreeMap<String, String> = BTreeMap::new();
        for template in self.templates_in(path) {
            for variable in &template.variables {
                names.entry(nfc(&variable.name)).or_insert_with(|| "declared by the template".to_owned());
            }
        }
        for (reading, node) in &contexts {
            for (name, detail) in names_at(reading, *node) {
                names.entry(name).or_insert(detail);
            }
        }
        let bytes = from..to + rest;
        let offer = |(label, detail)| Offer { label, kind: OfferKind::Variable, detail, bytes: bytes.clone() };
        names.into_iter().map(offer).collect()
    }

    /// The flows, each with the step, in which a place has its meaning.
    fn contexts(&self, place: &Place<'_>, path: &Path, text: &str, offset: usize) -> Vec<(FlowReading, Option<usize>)> {
        if !self.templates_in(path).is_empty() || place.path.as_str().starts_with("templates/") {
            let users = self.users(path).into_iter();
            return users
                .flat_map(|(reading, steps)| {
                    steps.into_iter().map(|node| (reading.clone(), Some(node))).collect::<Vec<_>>()
                })
                .collect();
        }
        let (mut readings, mut at) = (self.readings(path), locator(&place.path, text).at(offset));
        if readings.is_empty()
            && let (Some(before), Some(after)) = (text.get(..offset), text.get(offset..))
        {
            // A text that is being written is mostly not closed yet.
            let closed = format!("{before}\"{after}");
            let file = ParsedFlows::read(&place.path, closed.as_bytes());
            readings = place.desk.readings_of(&file, self.settings.lenient);
            at = locator(&place.path, &closed).at(offset);
        }
        let node_at = |reading: &FlowReading| {
            let (pointer, _) = at.as_ref()?;
            let within = |node: usize| {
                let node = reading.flow.node_pointer(node);
                pointer
                    .as_str()
                    .strip_prefix(node.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            (0..reading.flow.nodes.len()).find(|node| within(*node))
        };
        let of_flow = |reading: &FlowReading| {
            let base = reading.flow.base.as_str();
            at.as_ref().is_none_or(|(pointer, _)| pointer.as_str().starts_with(base))
        };
        let readings = readings.into_iter().filter(of_flow);
        readings
            .map(|reading| {
                let node = node_at(&reading);
                (reading, node)
            })
            .collect()
    }

    /// What the key asks for whose value is being written.
    fn by_key(&self, place: &Place<'_>, path: &Path, text: &str, (markdown, offset): (bool, usize)) -> Vec<Offer> {
        let before = text.get(..offset).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        let found = locator(&place.path, text).at(offset);
        let written = if markdown { yaml_key(line) } else { json_key(line) };
        let in_list = found.as_ref().and_then(|(pointer, _)| {
            let steps: Vec<String> = pointer.steps().collect();
            let above = steps.len().checked_sub(2).and_then(|at| steps.get(at)).cloned();
            above.filter(|key| key == "requires" || key == "after")
        });
        if let Some((pointer, Part::Key)) = &found
            && let Some(offers) = self.keys_of_flow(place, path, pointer, before)
        {
            return offers;
        }
        let (key, value) = match (written, in_list) {
            (Some(found), _) => found,
            (None, Some(key)) => (key, last_word(line)),
            (None, None) => return Vec::new(),
        };
        let from = offset.saturating_sub(value.len());
        let after = text.get(offset..).unwrap_or_default();
        let ends = |c: char| matches!(c, '"' | '\n' | '\r') || markdown && matches!(c, ',' | ']' | '}');
        let bytes = from..offset + after.find(ends).unwrap_or(after.len()).min(LONGEST);
        let desk = place.desk;
        let of = |kind: OfferKind, label: &str, detail: &str| Offer {
            label: label.to_owned(),
            kind,
            detail: detail.to_owned(),
            bytes: bytes.clone(),
        };
        let is_flow = place.path.as_str().starts_with("flows/");
        let nodes = || -> Vec<(String, String)> {
            let of_flow = |reading: FlowReading| {
                reading.flow.nodes.iter().map(|node| (node.id.clone(), node.caption().to_owned())).collect::<Vec<_>>()
            };
            self.contexts(place, path, text, offset).into_iter().flat_map(|(reading, _)| of_flow(reading)).collect()
        };
        match key.as_str() {
            "selectedTemplateId" | "template" if is_flow && (markdown || key != "template") => {
                let label = |template: &Template| template_name(desk, template);
                let detail = |template: &Template| {
                    template.description.clone().or_else(|| template.title.clone()).unwrap_or_default()
                };
                desk.templates().map(|template| of(OfferKind::File, &label(template), &detail(template))).collect()
            }
            "flow" if is_flow => {
                let flows = desk.flow_files().flat_map(ParsedFlows::flows);
                let others = flows.filter(|(flow, _)| flow.file != place.path);
                let detail = |flow: &Flow| flow.description.clone().unwrap_or_default();
                others.map(|(flow, _)| of(OfferKind::Flow, flow.name.as_str(), &detail(flow))).collect()
            }
            "persona" if is_flow => {
                desk.guidance().personas().map(|path| of(OfferKind::File, path.stem(), path.as_str())).collect()
            }
            "contract" if is_flow => {
                desk.guidance().contracts().map(|path| of(OfferKind::File, path.stem(), path.as_str())).collect()
            }
            "source" | "target" | "after" if is_flow => {
                nodes().iter().map(|(id, label)| of(OfferKind::Node, id, label)).collect()
            }
            "type" if is_flow && !markdown => {
                NodeKind::types(false).map(|word| of(OfferKind::Node, word, "a type of nodes")).collect()
            }
            "requires" if is_flow => {
                let contexts = self.contexts(place, path, text, offset);
                let names = contexts.iter().flat_map(|(reading, node)| names_at(reading, *node));
                names.map(|(name, detail)| of(OfferKind::Variable, &name, &detail)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The inputs of the flow to whose inputs a key belongs.
    fn keys_of_flow(
        &self,
        place: &Place<'_>,
        path: &Path,
        pointer: &crate::document::Pointer,
        before: &str,
    ) -> Option<Vec<Offer>> {
        let readings = self.readings(path);
        let named = readings.iter().find_map(|reading| {
            let inside = |(number, node): (usize, &crate::model::Node)| {
                let at = reading.flow.node_pointer(number).key("data").key("variables");
                let within = pointer.as_str().strip_prefix(at.as_str()).is_some_and(|rest| rest.starts_with('/'));
                if let (true, NodeKind::Flow(link)) = (within, &node.kind) { link.flow.clone() } else { None }
            };
            reading.flow.nodes.iter().enumerate().find_map(inside)
        })?;
        let reading = self.reading_of(place, &named)?;
        let from = before.len() - before.rsplit('"').next().unwrap_or_default().len();
        let offer = |label: &String| Offer {
            label: label.clone(),
            kind: OfferKind::Variable,
            detail: format!("an input of {}", reading.flow.name),
            bytes: from..before.len(),
        };
        Some(reading.scope.inputs.keys().map(offer).collect())
    }
}

/// The name by which a template is asked for: its file's stem, where that means it.
fn template_name(desk: &Desk, template: &Template) -> String {
    let stem = template.file.stem();
    let meant = desk.template(stem).is_some_and(|found| found.text_pointer == template.text_pointer);
    let other = template.id.clone().or_else(|| template.title.clone());
    if meant { stem.to_owned() } else { other.unwrap_or_else(|| stem.to_owned()) }
}

/// The names that a step may read, each with where it comes from.
fn names_at(reading: &FlowReading, node: Option<usize>) -> Vec<(String, String)> {
    let mut names = Vec::new();
    let flow = &reading.flow;
    let step = node.and_then(|node| reading.scope.step_of(node));
    for name in reading.scope.inputs.keys() {
        let about = flow.inputs.iter().find(|refinement| nfc(&refinement.name) == *name);
        let about = about.and_then(|about| about.description.clone());
        names.push((name.clone(), about.unwrap_or_else(|| "an input of the flow".to_owned())));
    }
    for declared in step.map(|step| step.declared.as_slice()).unwrap_or_default() {
        names.push((declared.name.clone(), "declared by the step".to_owned()));
    }
    let before = node.map(|node| ancestors(flow, node));
    let mut set: BTreeMap<usize, BTreeSet<&String>> = BTreeMap::new();
    #[allow(clippy::iter_over_hash_type, reason = "the names of each step are sorted")]
    for (name, givers) in &reading.scope.set {
        for (giver, _) in givers {
            set.entry(*giver).or_default().insert(name);
        }
    }
    // In Markdown a text that reads an output is what draws the edge.
    let drawn = flow.file.as_str().ends_with(FLOW_ENDING);
    for step in &reading.scope.steps {
        if Some(step.node) == node || !drawn && before.as_ref().is_some_and(|before| !before.contains(&step.node)) {
            continue;
        }
        let Some(spec) = flow.nodes.get(step.node) else { continue };
        let detail = format!("the output of {}", spec.caption());
        names.extend(output_names(&spec.id).into_iter().next().map(|(name, _)| (name, detail.clone())));
        let set = set.remove(&step.node).unwrap_or_default();
        names.extend(set.into_iter().map(|name| (name.clone(), format!("set by {}", spec.caption()))));
    }
    names
}

/// The nodes from which edges lead to a node.
fn ancestors(flow: &Flow, node: usize) -> HashSet<usize> {
    let numbers: BTreeMap<&str, usize> =
        flow.nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
    let number = |id: &str| numbers.get(id).copied();
    let edges = flow.edges.iter().filter_map(|edge| Some((number(&edge.from)?, number(&edge.to)?)));
    let graph = Graph::new(flow.nodes.len(), edges);
    let (mut found, mut open) = (HashSet::new(), vec![node]);
    while let Some(next) = open.pop() {
        open.extend(graph.before(next).into_iter().filter(|from| found.insert(*from)));
    }
    found
}

/// The fields below a path of what a name stands for.
fn fields_of(reading: &FlowReading, name: &str, above: &[String]) -> Vec<String> {
    let giver = reading.scope.givers(name).next();
    let Some(step) = giver.and_then(|node| reading.scope.step_of(node)) else { return Vec::new() };
    let shape = shape_of(step);
    // A step that no field has, so that the answer names those there are.
    let path: Vec<String> = above.iter().cloned().chain([String::from("\u{0}")]).collect();
    match shape.leads(&path) {
        Leads::Maybe(part) | Leads::Unsaid(part) | Leads::Nowhere(part) if part.depth == above.len() => part.fields,
        Leads::Several { labels } => labels,
        Leads::Somewhere | Leads::Maybe(_) | Leads::Unsaid(_) | Leads::Nowhere(_) => Vec::new(),
    }
}

/// What a step gives, as far as the files say.
fn shape_of(step: &StepScope) -> OutputShape {
    match (&step.contract, &step.body) {
        (Some(Lookup::Found(contract)), _) => OutputShape::Contract(contract.clone()),
        (_, Body::Link { flow, .. }) => flow.output.clone(),
        _ => OutputShape::Unknown,
    }
}

/// Where the name begins that is written after an open brace before the cursor; none where no brace is open.
fn open_brace(before: &str, markdown: bool) -> Option<usize> {
    let from = before.ceil_char_boundary(before.len().saturating_sub(LONGEST));
    let near = before.get(from..)?;
    for (at, c) in near.char_indices().rev() {
        match c {
            '{' => {
                let start = from + at + 1;
                // A brace of JSON itself stands outside of texts.
                let in_text = markdown || in_json_text(before.get(..from + at)?);
                let inside = before.get(start..)?;
                return in_text.then(|| start + inside.len() - inside.trim_start().len());
            }
            c if crate::names::variable_char(c) || c == '.' || c == ' ' => {}
            _ => return None,
        }
    }
    None
}

/// Whether the end of a piece of JSON lies within a text: texts hold no line breaks.
fn in_json_text(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    let (mut inside, mut escaped) = (false, false);
    for c in line.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => inside = !inside,
            _ => {}
        }
    }
    inside
}

/// The key and the beginning of its value at the end of a line of JSON.
fn json_key(line: &str) -> Option<(String, &str)> {
    if !in_json_text(line) {
        return None;
    }
    let (rest, value) = line.rsplit_once('"')?;
    let rest = rest.trim_end().strip_suffix(':')?.trim_end().strip_suffix('"')?;
    let (_, key) = rest.rsplit_once('"')?;
    Some((key.to_owned(), value))
}

/// The same of a line of YAML.
fn yaml_key(line: &str) -> Option<(String, &str)> {
    let (key, value) = line.rsplit_once(": ").or_else(|| line.strip_suffix(':').map(|key| (key, "")))?;
    let key = key.rsplit(['{', ',']).next().unwrap_or(key).trim().trim_start_matches("- ");
    let plain = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    plain.then(|| (key.to_owned(), last_word(value)))
}

/// What is being written behind the last opening sign of a list or a text.
fn last_word(value: &str) -> &str {
    value.rsplit(['[', ',', '"', '\'']).next().unwrap_or(value).trim_start()
}
