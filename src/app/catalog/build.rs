//! Building the listing index of a revision: every file is read, checked and planned once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use serde_json::Value;

use super::nested::{FlowNames, Nesting, Within};
use super::problems::{Problems, code_in_flow, code_of_finding, of_findings, problem, unreadable};
use super::{INDEX, Opened};
use crate::app::failure::code_of;
use crate::app::prompts::in_sets;
use crate::app::{Code, Error};
use crate::discover::{Category, Entry, FileProblem, Index, Input, Output, Packed, TemplateEntry, TemplateTitle};
use crate::document::Document;
use crate::model::{Directory, Flow, Listed, Lookup, NodeKind, Shelf, Template, ToolAddress};
use crate::names::{CatalogPath, VariableName};
use crate::plan::Plan;
use crate::source::{Files, Problem, Snapshot, SourceError};
use crate::validate::{self, Finding, Guidance, GuidanceReferences, Known, Options, Parsed, Severity};

/// A file's bytes, or why they can't be had.
type Text = (CatalogPath, Bytes);
type Bytes = Result<Arc<[u8]>, SourceError>;

/// Opens a revision: from the kept index, else by reading every file.
pub(super) async fn open(snapshot: Arc<Snapshot>, revision: String, lenient: bool) -> Result<Arc<Opened>, Error> {
    let name = if lenient { format!("{INDEX}-lenient") } else { INDEX.to_owned() };
    if let Some(packed) = snapshot.derived(&name).await.and_then(Packed::open) {
        return Ok(opened(revision, packed, None));
    }
    let files = snapshot.files().await?;
    let mut texts: Vec<Text> = Vec::with_capacity(files.len());
    snapshot.read_each(|path, bytes| texts.push((path.clone(), bytes))).await?;
    let whole = texts.iter().all(|(_, bytes)| bytes.is_ok());
    let problems = snapshot.problems().await?;
    let built = tokio::task::spawn_blocking(move || {
        let index = build(&files, &texts, &problems, lenient);
        // What was read makes room for what is made of it.
        drop((files, texts, problems));
        index.pack()
    })
    .await;
    let bytes =
        built.map_err(|_| Error::new(Code::InternalError, "reading the catalog was stopped by an internal error"))?;
    if whole {
        snapshot.keep_derived(&name, bytes.clone()).await;
    }
    let packed = Packed::open(Arc::from(bytes))
        .ok_or_else(|| Error::new(Code::InternalError, "the listing index could not be read back"))?;
    Ok(opened(revision, packed, (!whole).then(|| Arc::downgrade(&snapshot))))
}

fn opened(revision: String, packed: Packed, lacking: Option<Weak<Snapshot>>) -> Arc<Opened> {
    Arc::new(Opened {
        revision,
        lacking,
        packed,
        directory: OnceLock::new(),
        ready: Mutex::default(),
        problems: OnceLock::new(),
        pages: Mutex::default(),
        templates: Mutex::default(),
        offered: crate::app::prompts::Offered::default(),
        exposure: OnceLock::new(),
    })
}

/// Every template file of an index, as look-ups want it.
pub(super) fn listed(packed: &Packed) -> Vec<Listed> {
    packed
        .templates()
        .into_iter()
        .map(|entry| Listed {
            entries: entry.titles.into_iter().map(|title| (title.id, title.title)).collect(),
            file: entry.file,
            stem: entry.stem,
        })
        .collect()
}

/// A file's name without folders and extension.
pub(in crate::app) fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn build(files: &Files, texts: &[Text], left_out: &[Problem], lenient: bool) -> Index {
    let mut problems = Problems::default();
    left_out.iter().filter_map(problem).for_each(|problem| problems.note(problem));
    let oid = |path: &CatalogPath| {
        files.get(path).and_then(|file| file.oid.as_ref()).map(ToString::to_string).unwrap_or_default()
    };
    let below = |folder: &'static str| texts.iter().filter(move |(path, _)| in_folder(path, folder));
    let (mut templates, mut read) = (Vec::new(), BTreeMap::new());
    for (path, bytes) in below("templates") {
        let one = read_templates(path, bytes, oid(path));
        problems.note_all(one.problems);
        read.insert(one.entry.file.clone(), one.outcome);
        templates.push(one.entry);
    }
    let directory = Directory::new(
        templates
            .iter()
            .map(|entry: &TemplateEntry| Listed {
                file: entry.file.clone(),
                stem: entry.stem.clone(),
                entries: entry.titles.iter().map(|title| (title.id.clone(), title.title.clone())).collect(),
            })
            .collect(),
    );
    let guidance = guidance(texts.iter().map(|(path, bytes)| (path, bytes)));
    let shelves = Shelves { directory: &directory, read: &read, guidance: &guidance, lenient };
    let of_flows: Vec<&Text> = below("flows").collect();
    // Of thousands of files nothing is held twice.
    let (mut flows, mut categories) = (Vec::with_capacity(of_flows.len()), Vec::new());
    let (mut file_of, mut nested) = (Vec::with_capacity(of_flows.len()), Vec::new());
    for (number, (path, bytes)) in of_flows.iter().enumerate() {
        let one = read_flows(path, bytes, |parsed| shelves.check(path, parsed, &Within::default()), &oid(path));
        let begin = flows.len();
        flows.extend(one.flows);
        file_of.resize(flows.len(), number);
        categories.extend(one.category);
        if one.nests {
            nested.push((number, begin..flows.len()));
        } else {
            problems.note_all(one.problems);
        }
    }
    let files: Vec<usize> = nested.iter().map(|(file, _)| *file).collect();
    let read_again = nest(&of_flows, flows.iter().zip(file_of), &files, &shelves, &oid);
    for ((_, place), one) in nested.into_iter().zip(read_again) {
        problems.note_all(one.problems);
        flows.get_mut(place).into_iter().flatten().zip(one.flows).for_each(|(before, now)| *before = now);
    }
    problems.note_twins(&flows);
    Index::new(flows, templates, problems.all, categories)
}

/// A template file, read.
struct TemplatesOfFile {
    entry: TemplateEntry,
    /// Its templates, or what is wrong with it.
    outcome: TemplateRead,
    problems: Vec<FileProblem>,
}

fn read_templates(path: &CatalogPath, bytes: &Bytes, oid: String) -> TemplatesOfFile {
    let mut problems = Vec::new();
    let mut entry =
        TemplateEntry { file: path.to_string(), stem: path.stem().to_owned(), oid, ..TemplateEntry::default() };
    let outcome = match bytes {
        Err(error) => {
            problems.push(unreadable(path, error));
            TemplateRead::Broken { code: code_of(error).word().to_owned(), message: error.to_string() }
        }
        Ok(bytes) => {
            let check = validate::template_file(path, &validate::parse(path, bytes));
            problems.extend(of_findings(&check.findings, code_of_finding));
            entry.titles = check
                .templates
                .iter()
                .map(|template| TemplateTitle { id: template.id.clone(), title: template.title.clone() })
                .collect();
            for variable in check.templates.iter().flat_map(|template| &template.variables) {
                if !entry.variables.contains(&variable.name) {
                    entry.variables.push(variable.name.clone());
                }
            }
            match check.findings.iter().find(|finding| finding.severity == Severity::Error) {
                Some(finding) if check.templates.is_empty() => TemplateRead::broken(finding),
                _ => TemplateRead::Whole(check.templates),
            }
        }
    };
    TemplatesOfFile { entry, outcome, problems }
}

/// What flows look up what they name in.
struct Shelves<'a> {
    directory: &'a Directory,
    read: &'a BTreeMap<String, TemplateRead>,
    guidance: &'a Guidance,
    lenient: bool,
}

impl Shelves<'_> {
    /// Checks a flow file, told of the flows within its flows.
    fn check(&self, path: &CatalogPath, parsed: &Parsed, within: &Within) -> Checked {
        let mut shelf = self.shelf(&validate::template_references(parsed));
        self.guidance.put_on(&mut shelf, &GuidanceReferences::of(parsed));
        within.put_on(&mut shelf);
        let known = Known {
            shelf: &shelf,
            twins: &[],
            strays: &[],
            tools: None,
            options: Options { lenient: self.lenient, ..Options::default() },
        };
        let check = validate::flow_file(path, parsed, known);
        let plans = check.flows.iter().map(|flow| flow.checked.as_ref().map(|flow| Plan::of(flow, &within.plans)));
        Checked { plans: plans.collect(), check, shelf }
    }

    fn shelf(&self, references: &[String]) -> Shelf {
        let mut shelf = Shelf::default();
        for reference in references {
            let lookup = match self.directory.resolve(reference) {
                Err(lookup) => lookup,
                Ok((listed, place)) => match self.read.get(&listed.file) {
                    Some(TemplateRead::Whole(templates)) => templates
                        .get(place)
                        .map_or(Lookup::Missing { nearest: Vec::new() }, |template| Lookup::Found(template.clone())),
                    Some(TemplateRead::Broken { code, message }) => {
                        Lookup::Broken { file: listed.file.clone(), code: code.clone(), message: message.clone() }
                    }
                    None => Lookup::Missing { nearest: Vec::new() },
                },
            };
            shelf.put(reference, lookup);
        }
        shelf
    }
}

/// Reads the personas and contracts among the files.
pub(in crate::app) fn guidance<'t>(
    texts: impl Iterator<Item = (&'t CatalogPath, &'t Result<Arc<[u8]>, SourceError>)>,
) -> Guidance {
    let mut guidance = Guidance::default();
    for (path, bytes) in texts.filter(|(path, _)| Guidance::is_guidance(path)) {
        match bytes {
            Ok(bytes) => guidance.read(path, bytes),
            Err(error) => guidance.unreadable(path, code_of(error).word(), &error.to_string()),
        }
    }
    guidance
}

/// A file of flows, or of what a category is, read.
#[derive(Default)]
struct FlowsOfFile {
    flows: Vec<Entry>,
    category: Option<Category>,
    problems: Vec<FileProblem>,
    /// Whether its flows go through other flows, which were not known when it was read.
    nests: bool,
}

/// A flow file that was checked, with the plans of its flows.
struct Checked {
    check: validate::FileCheck,
    plans: Vec<Option<Plan>>,
    shelf: Shelf,
}

/// Reads files again whose flows go through other flows, now that all flows are known, each with the
/// number of its file.
fn nest<'f>(
    texts: &[&Text],
    flows: impl Iterator<Item = (&'f Entry, usize)>,
    files: &[usize],
    shelves: &Shelves<'_>,
    oid: &dyn Fn(&CatalogPath) -> String,
) -> Vec<FlowsOfFile> {
    if files.is_empty() {
        return Vec::new();
    }
    let mut names = FlowNames::default();
    for (flow, file) in flows {
        let stem = stem(&flow.file);
        let names_of = [Some(flow.name.as_str()), Some(stem), flow.meta_name.as_deref(), flow.flow_id.as_deref()];
        names.note_names((file, flow.place_in_file), &flow.file, names_of);
    }
    let load =
        |file: usize| texts.get(file).and_then(|(path, bytes)| Some(validate::parse(path, bytes.as_ref().ok()?)));
    let find = |name: &str| names.find(name);
    let path_of = |file: usize| texts.get(file).map(|(path, _)| path);
    let empty = || validate::FileCheck { findings: Vec::new(), flows: Vec::new() };
    let check = |file: usize, parsed: &Parsed, within: &Within| {
        path_of(file).map_or_else(empty, |path| shelves.check(path, parsed, within).check)
    };
    let nesting = Nesting::new(&load, &find, &check);
    let again = files.iter().filter_map(|file| {
        let (path, bytes) = texts.get(*file)?;
        let within = nesting.within(*file, None);
        Some(read_flows(path, bytes, |parsed| shelves.check(path, parsed, &within), &oid(path)))
    });
    again.collect()
}

fn read_flows(path: &CatalogPath, bytes: &Bytes, check: impl Fn(&Parsed) -> Checked, oid: &str) -> FlowsOfFile {
    let mut read = FlowsOfFile::default();
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(error) => {
            read.problems.push(unreadable(path, error));
            return read;
        }
    };
    let parsed = validate::parse(path, bytes);
    if path.stem() == "_category" {
        match &parsed {
            Ok(document) => read.category = category(path, document),
            Err(problem) => read.problems.push(FileProblem {
                file: path.to_string(),
                code: Code::ParseError.word().to_owned(),
                message: problem.message.clone(),
                line: Some(problem.position.line),
                column: Some(problem.position.column),
            }),
        }
        return read;
    }
    let Checked { check, plans, shelf } = check(&parsed);
    read.problems.extend(of_findings(&check.findings, code_of_finding));
    // What is let go of leaves gaps between what stays: among thousands of files the larger, the more is lost.
    read.flows.reserve_exact(check.flows.len());
    for (flow, plan) in check.flows.into_iter().zip(plans) {
        read.problems.extend(of_findings(&flow.findings, |finding| code_in_flow(finding, &flow.flow, &shelf)));
        read.nests |= flow.flow.nodes.iter().any(|node| matches!(node.kind, NodeKind::Flow(_)));
        let broken = flow.findings.iter().any(|finding| finding.severity == Severity::Error);
        read.flows.push(Entry { broken, ..entry(&flow.flow, plan.as_ref(), oid.to_owned()) });
    }
    read
}

enum TemplateRead {
    Whole(Vec<Arc<Template>>),
    Broken { code: String, message: String },
}

impl TemplateRead {
    fn broken(finding: &Finding) -> Self {
        let (code, message) = broken(finding);
        Self::Broken { code, message }
    }
}

/// A template file's first error, as the code and message of the steps that need it.
pub(in crate::app) fn broken(finding: &Finding) -> (String, String) {
    let code = if finding.rule == "syntax" { Code::ParseError } else { Code::ValidationError };
    let message = format!(
        "{} at line {}, column {}: {}",
        finding.file, finding.position.line, finding.position.column, finding.message
    );
    (code.word().to_owned(), message)
}

/// Whether a path lies below a top folder. What is no file of a catalog never gets here: the source
/// leaves it out.
pub(super) fn in_folder(path: &CatalogPath, folder: &str) -> bool {
    path.as_str().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// What a flow's listing entry shows: from its plan, or from the file alone where there is none.
pub(in crate::app) fn entry(flow: &Flow, plan: Option<&Plan>, oid: String) -> Entry {
    let inputs = plan.map(Plan::inputs).unwrap_or_default();
    let steps = match plan {
        Some(plan) => plan.steps().iter().map(|step| step.label.clone()).collect(),
        None => flow.nodes.iter().filter(|node| node.runnable()).map(|node| node.caption().to_owned()).collect(),
    };
    let outputs = plan.map(Plan::results).unwrap_or_default().iter().filter_map(|mark| {
        let step = plan?.step(mark.step?)?;
        Some(Output { label: mark.label.clone(), node: step.id.clone() })
    });
    let in_sets = plan.map(in_sets).unwrap_or_default();
    let inputs = match plan {
        Some(_) => inputs.iter().map(|one| Input { in_sets: in_sets.contains(&one.name), ..input(one) }).collect(),
        None => declared_inputs(flow),
    };
    let (calls, uses) = called(flow);
    Entry {
        inputs_unknown: plan.is_none() && inputs.is_empty(),
        name: flow.name.to_string(),
        description: flow.description.clone().unwrap_or_default(),
        tags: flow.tags.clone(),
        category: flow.category.clone(),
        complexity: flow.complexity.clone(),
        author: flow.author.clone(),
        version: flow.version.clone(),
        node_count: flow.nodes.len(),
        created: flow.created.clone(),
        updated: flow.updated.clone(),
        steps,
        inputs,
        outputs: outputs.collect(),
        examples: flow.examples.clone(),
        sets: plan.map(|plan| plan.sets().to_vec()).unwrap_or_default(),
        expose: flow.expose,
        calls,
        uses,
        broken: plan.is_none(),
        file: flow.file.to_string(),
        flow_id: flow.id.clone(),
        meta_name: flow.given_name.clone(),
        place_in_file: flow.place_in_file,
        oid,
    }
}

fn input(input: &crate::plan::Input) -> Input {
    Input {
        name: input.name.clone(),
        kind: input.kind.map(|kind| kind.name().to_owned()),
        description: input.description.clone(),
        required: input.required,
        default: input.default.clone(),
        choices: input.choices.clone(),
        ..Input::default()
    }
}

/// The tools that a flow's steps call and the flows that are steps of it, each sorted and once. A
/// call that names no tool is never made.
fn called(flow: &Flow) -> (Vec<String>, Vec<String>) {
    let (mut calls, mut uses) = (BTreeSet::new(), BTreeSet::new());
    for node in &flow.nodes {
        match &node.kind {
            NodeKind::Tool(tool) => {
                let address = tool.call.as_deref().and_then(|call| ToolAddress::read(call).ok());
                calls.extend(address.map(|address| address.to_string()));
            }
            NodeKind::Flow(other) => uses.extend(other.flow.clone()),
            _ => {}
        }
    }
    (calls.into_iter().collect(), uses.into_iter().collect())
}

/// The inputs of a flow that can't be planned: what its input nodes and `inputs` say.
fn declared_inputs(flow: &Flow) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    let place = |inputs: &mut Vec<Input>, name: &str| {
        let name = VariableName::normal(name).ok()?.as_str().to_owned();
        Some(inputs.iter().position(|input| input.name == name).unwrap_or_else(|| {
            inputs.push(Input { name, required: true, ..Input::default() });
            inputs.len() - 1
        }))
    };
    for node in &flow.nodes {
        let NodeKind::Input(node) = &node.kind else { continue };
        for variable in &node.variables {
            let Some(input) = place(&mut inputs, &variable.name).and_then(|at| inputs.get_mut(at)) else { continue };
            input.default = input.default.take().or_else(|| variable.default.clone());
        }
    }
    for said in &flow.inputs {
        let Some(input) = place(&mut inputs, &said.name).and_then(|at| inputs.get_mut(at)) else { continue };
        input.kind = said.kind.map(|kind| kind.name().to_owned());
        input.description.clone_from(&said.description);
        input.default = said.default.clone().or(input.default.take());
        if let Some(kind) = said.kind {
            input.default = input.default.take().map(|default| kind.typed(default));
            input.choices = said.choices.iter().cloned().map(|choice| kind.typed(choice)).collect();
        } else {
            input.choices.clone_from(&said.choices);
        }
        input.required = said.required.unwrap_or(true);
    }
    for input in &mut inputs {
        input.required &= input.default.is_none();
    }
    inputs
}

fn category(path: &CatalogPath, document: &Document) -> Option<Category> {
    let object = document.value.as_object()?;
    let text = |key: &str| object.get(key).and_then(Value::as_str).map(str::to_owned);
    Some(Category {
        name: path.folder()?.to_owned(),
        display_name: text("displayName"),
        description: text("description"),
        sort_order: object.get("sortOrder").and_then(Value::as_i64),
    })
}
