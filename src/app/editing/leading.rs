//! Where a name leads: its declaration, and every place that says it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::mentions::{Mention, Subject, of_flow, of_template, subject_of};
use super::{Place as FilePlace, Workbench};
use crate::catalog::{Desk, FlowReading};
use crate::document::{Place, Span};
use crate::model::wire::locator;
use crate::model::{Flow, NodeKind, Template};
use crate::names::CatalogPath;
use crate::validate::Body;

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The file.
    pub path: PathBuf,
    /// The bytes of its text.
    pub span: Span,
}

/// A name under the cursor, and the flow in which it has its meaning; none in a template's file.
pub(super) struct Pointed {
    pub(super) mention: Mention,
    pub(super) reading: Option<FlowReading>,
}

impl Workbench {
    /// The flows of a file with what their names mean.
    pub(super) fn readings(&self, path: &Path) -> Vec<FlowReading> {
        let place = self.place(path);
        place.map(|place| place.desk.readings(&place.path, self.settings.lenient)).unwrap_or_default()
    }

    /// The flow that a name means, with what its names mean.
    pub(super) fn reading_of(&self, place: &FilePlace<'_>, name: &str) -> Option<FlowReading> {
        let flow = place.desk.flow(name)?;
        let readings = place.desk.readings(&flow.file, self.settings.lenient);
        readings.into_iter().find(|reading| reading.flow.place_in_file == flow.place_in_file)
    }

    /// The templates of a file.
    pub(super) fn templates_in<'w>(&'w self, path: &Path) -> Vec<&'w Arc<Template>> {
        let Some(place) = self.place(path) else { return Vec::new() };
        place.desk.templates().filter(|template| template.file == place.path).collect()
    }

    /// The name at a byte of a file.
    pub(super) fn pointed(&self, path: &Path, offset: usize) -> Option<Pointed> {
        let around = |mention: &Mention| mention.bytes.start <= offset && offset <= mention.bytes.end;
        // Of a mapping that begins where another name ends, the shorter one is meant.
        let best =
            |mentions: Vec<Mention>| mentions.into_iter().filter(around).min_by_key(|mention| mention.bytes.len());
        for reading in self.readings(path) {
            if let Some(mention) = best(of_flow(&reading)) {
                return Some(Pointed { mention, reading: Some(reading) });
            }
        }
        let mentions = self.templates_in(path).into_iter().find_map(|template| best(of_template(template)));
        mentions.map(|mention| Pointed { mention, reading: None })
    }

    /// The flows that use one of a file's templates, each with its steps that do.
    pub(super) fn users(&self, path: &Path) -> Vec<(FlowReading, Vec<usize>)> {
        let Some(place) = self.place(path) else { return Vec::new() };
        let uses = |name: &String| place.desk.template(name).is_some_and(|template| template.file == place.path);
        let mut users = Vec::new();
        for file in place.desk.flow_files() {
            if !file.flows().iter().any(|(_, names)| names.templates.iter().any(uses)) {
                continue;
            }
            for reading in place.desk.readings(file.path(), self.settings.lenient) {
                let of_file = |body: &Body| matches!(body, Body::Text { template: Some(template), .. } if template.file == place.path);
                let steps = reading.scope.steps.iter().filter(|step| of_file(&step.body));
                let steps: Vec<usize> = steps.map(|step| step.node).collect();
                if !steps.is_empty() {
                    users.push((reading, steps));
                }
            }
        }
        users
    }

    /// Where the name at a byte is declared, or what it names stands.
    pub fn definitions(&self, path: &Path, offset: usize) -> Vec<Spot> {
        let (Some(place), Some(Pointed { mention, reading })) = (self.place(path), self.pointed(path, offset)) else {
            return Vec::new();
        };
        let at = |file: &CatalogPath, bytes: Range<usize>| spot(place.file(file), &bytes);
        let declared = |reading: &FlowReading, name: &str| -> Vec<Spot> {
            let wanted = Subject::Variable(name.to_owned());
            let mentions = of_flow(reading).into_iter().filter(|mention| mention.declares && mention.subject == wanted);
            let mut found: Vec<Mention> = mentions.collect();
            // Inputs are declared for the whole flow; what a step declares is for the step.
            let of_flow = |mention: &Mention| {
                let node = mention.node.and_then(|node| reading.flow.nodes.get(node));
                node.is_none_or(|node| !matches!(node.kind, NodeKind::Template(_)))
            };
            if found.iter().any(of_flow) {
                found.retain(of_flow);
            }
            found.into_iter().map(|mention| at(&reading.flow.file, mention.bytes)).collect()
        };
        let own = |place: &FilePlace<'_>, name: &str| -> Vec<Spot> {
            let templates = self.templates_in(path);
            let mentions = templates.iter().flat_map(|template| of_template(template));
            let wanted = Subject::Variable(name.to_owned());
            let declares = mentions.filter(|mention| mention.declares && mention.subject == wanted);
            declares.map(|mention| at(&place.path, mention.bytes)).collect()
        };
        let found = match (&mention.subject, reading) {
            (Subject::Variable(name), Some(reading)) => return declared(&reading, name),
            (Subject::Variable(name), None) => {
                let mut found = Vec::new();
                for (reading, steps) in self.users(path) {
                    let source = steps.iter().find_map(|node| {
                        let read = reading.scope.step_of(*node)?.read(name);
                        Some(subject_of(read.map(|read| &read.source), name))
                    });
                    match source {
                        Some(Subject::Output(node)) => {
                            found.extend(node_spot(&reading, node).map(|bytes| at(&reading.flow.file, bytes)));
                        }
                        _ => found.extend(declared(&reading, name)),
                    }
                }
                return if found.is_empty() { own(&place, name) } else { found };
            }
            (Subject::InputOf { flow, input }, _) => {
                let reading = self.reading_of(&place, flow);
                return reading.map(|reading| declared(&reading, input)).unwrap_or_default();
            }
            (Subject::Output(node), Some(reading)) => {
                node_spot(&reading, *node).map(|bytes| at(&reading.flow.file, bytes))
            }
            (Subject::Node(id), Some(reading)) => {
                let bytes = reading.flow.place_of(id).and_then(|node| node_spot(&reading, node));
                bytes.map(|bytes| at(&reading.flow.file, bytes))
            }
            (Subject::Template(name), _) => {
                place.desk.template(name).map(|template| at(&template.file, text_spot(template)))
            }
            (Subject::Flow(name), _) => place.desk.flow(name).map(|flow| at(&flow.file, flow_spot(place.desk, flow))),
            (Subject::Persona(name), _) => place.desk.guidance().persona(name).map(|file| at(file, 0..0)),
            (Subject::Contract(name), _) => place.desk.guidance().contract(name).map(|file| at(file, 0..0)),
            (Subject::Output(_) | Subject::Node(_), None) => None,
        };
        found.into_iter().collect()
    }

    /// Every place that says what the name at a byte stands for; `declared`: also where it is declared.
    pub fn references(&self, path: &Path, offset: usize, declared: bool) -> Vec<Spot> {
        let (Some(place), Some(Pointed { mention, reading })) = (self.place(path), self.pointed(path, offset)) else {
            return Vec::new();
        };
        let mut spots: BTreeSet<Spot> = BTreeSet::new();
        let at = |file: &CatalogPath, bytes: Range<usize>| spot(place.file(file), &bytes);
        match (&mention.subject, reading) {
            (Subject::Variable(_) | Subject::InputOf { .. }, _) => {
                for (file, mention) in self.connected(path, offset) {
                    if declared || !mention.declares {
                        spots.insert(spot(file, &mention.bytes));
                    }
                }
            }
            (Subject::Output(_) | Subject::Node(_), Some(reading)) => {
                let node = match &mention.subject {
                    Subject::Output(node) => Some(*node),
                    Subject::Node(id) => reading.flow.place_of(id),
                    Subject::Variable(_)
                    | Subject::InputOf { .. }
                    | Subject::Template(_)
                    | Subject::Flow(_)
                    | Subject::Persona(_)
                    | Subject::Contract(_) => None,
                };
                let id = node.and_then(|node| reading.flow.nodes.get(node)).map(|node| Subject::Node(node.id.clone()));
                let wanted = [node.map(Subject::Output), id];
                for mention in of_flow(&reading) {
                    if wanted.contains(&Some(mention.subject)) && (declared || !mention.declares) {
                        spots.insert(at(&reading.flow.file, mention.bytes));
                    }
                }
            }
            (subject, _) => {
                let meant = Self::meant(&place, subject);
                for file in place.desk.flow_files() {
                    for reading in place.desk.readings(file.path(), self.settings.lenient) {
                        for other in of_flow(&reading) {
                            if meant.is_some() && Self::meant(&place, &other.subject) == meant {
                                spots.insert(at(&reading.flow.file, other.bytes));
                            }
                        }
                    }
                }
            }
        }
        spots.into_iter().collect()
    }

    /// What a name leads to outside its own file, so that two spellings of it are one.
    fn meant(place: &FilePlace<'_>, subject: &Subject) -> Option<(CatalogPath, String)> {
        match subject {
            Subject::Template(name) => {
                place.desk.template(name).map(|template| (template.file.clone(), template.text_pointer.to_string()))
            }
            Subject::Flow(name) => place.desk.flow(name).map(|flow| (flow.file.clone(), flow.base.to_string())),
            Subject::Persona(name) => place.desk.guidance().persona(name).map(|file| (file.clone(), String::new())),
            Subject::Contract(name) => place.desk.guidance().contract(name).map(|file| (file.clone(), String::new())),
            Subject::Variable(_) | Subject::Output(_) | Subject::InputOf { .. } | Subject::Node(_) => None,
        }
    }
}

fn spot(path: PathBuf, bytes: &Range<usize>) -> Spot {
    Spot { path, span: Span { start: bytes.start, end: bytes.end } }
}

/// Where a node's id stands.
fn node_spot(reading: &FlowReading, node: usize) -> Option<Range<usize>> {
    let id = Subject::Node(reading.flow.nodes.get(node)?.id.clone());
    of_flow(reading).into_iter().find(|mention| mention.declares && mention.subject == id).map(|mention| mention.bytes)
}

/// Where a template's text begins.
fn text_spot(template: &Template) -> Range<usize> {
    let span = locator(&template.file, &template.file_text).span(&Place::value(template.text_pointer.clone()));
    span.start..span.start
}

/// Where a flow begins.
fn flow_spot(desk: &Desk, flow: &Flow) -> Range<usize> {
    let text = desk.flow_file(&flow.file).map(|file| file.text().clone()).unwrap_or_default();
    let span = locator(&flow.file, &text).span(&Place::value(flow.base.clone()));
    span.start..span.start
}
