//! Building the listing index of a revision: every file is read, checked and planned once.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use super::entry::{category, entry};
use super::nested::{FlowNames, Nesting, Within};
use super::problems::{Problems, of_findings, problem, unreadable};
use super::{INDEX, Opened};
use crate::app::failure::code_of;
use crate::app::{Code, Error};
use crate::cache::RecordFile;
use crate::discover::{Category, FileProblem, FlowIndex, FlowRow, IndexRows, TemplateRow, TemplateTitle};
use crate::model::{Directory, Listed, Lookup, NodeKind, Shelf, Template};
use crate::names::CatalogPath;
use crate::plan::Plan;
use crate::source::{Files, Problem, Snapshot, SourceError, Text};
use crate::validate::{self, Finding, Guidance, GuidanceReferences, Known, Options, Parsed, Severity};

type Bytes = Result<Arc<[u8]>, SourceError>;

/// Opens a revision: from the kept index, else by reading every file.
pub(super) async fn open(snapshot: Arc<Snapshot>, revision: String, lenient: bool) -> Result<Arc<Opened>, Error> {
    let name = if lenient { format!("{INDEX}-lenient") } else { INDEX.to_owned() };
    if let Some(index) = snapshot.derived(&name).await.and_then(on_disk) {
        return Ok(opened(revision, index, None));
    }
    let building = build(&snapshot, lenient).await?;
    let whole = building.whole;
    let problems = snapshot.problems().await?;
    let texts = nested_texts(&snapshot, &building).await;
    let built = tokio::task::spawn_blocking(move || building.finish(&texts, &problems).records()).await;
    let records = built.map_err(stopped)?;
    // What is on disk need not stay in memory.
    let kept = if whole { snapshot.keep_derived(&name, records).await } else { Err(records) };
    let index = kept
        .map_or_else(FlowIndex::in_memory, on_disk)
        .ok_or_else(|| Error::new(Code::InternalError, "the listing index could not be read back"))?;
    Ok(opened(revision, index, (!whole).then(|| Arc::downgrade(&snapshot))))
}

fn stopped<E>(_: E) -> Error {
    Error::new(Code::InternalError, "reading the catalog was stopped by an internal error")
}

/// Reads every file once, a few at a time: while some are checked the next ones are read.
async fn build(snapshot: &Snapshot, lenient: bool) -> Result<Building, Error> {
    // What flows name is known before the first of them is checked.
    let mut reading = snapshot.reading(|path| !in_folder(path, "flows")).await?;
    let mut building = Building::new(snapshot.files().await?, lenient);
    let mut batch = reading.next().await?;
    while let Some(texts) = batch {
        let check = tokio::task::spawn_blocking(move || {
            building.take(texts);
            building
        });
        let (checked, next) = tokio::join!(check, reading.next());
        building = checked.map_err(stopped)?;
        batch = next?;
    }
    Ok(building)
}

/// The files whose flows go through other flows, and those of the flows that they go through, by number.
async fn nested_texts(snapshot: &Snapshot, building: &Building) -> BTreeMap<usize, Text> {
    let mut texts = BTreeMap::new();
    let mut files: Vec<usize> = building.nested.iter().map(|(file, _)| *file).collect();
    if files.is_empty() {
        return texts;
    }
    let names = building.names();
    while let Some(file) = files.pop() {
        let Some(path) = building.flow_files.get(file).filter(|_| !texts.contains_key(&file)) else { continue };
        let bytes = snapshot.read(path).await;
        if let Ok(bytes) = &bytes {
            let uses = validate::flow_references(&validate::parse(path, bytes));
            files.extend(uses.iter().flatten().filter_map(|name| names.place(name)).map(|(file, _)| file));
        }
        texts.insert(file, (path.clone(), bytes));
    }
    texts
}

/// An index as it is kept: a start or a page reads of it what they need.
fn on_disk(kept: RecordFile) -> Option<FlowIndex> {
    FlowIndex::open(move |number| kept.read(number))
}

fn opened(revision: String, index: FlowIndex, lacking: Option<Weak<Snapshot>>) -> Arc<Opened> {
    Arc::new(Opened {
        revision,
        lacking,
        index,
        directory: OnceLock::new(),
        ready: Mutex::default(),
        problems: OnceLock::new(),
        pages: Mutex::default(),
        templates: Mutex::default(),
        offered: crate::app::prompts::Offered::default(),
        exposure: OnceLock::new(),
    })
}

/// A template file, as look-ups want it.
pub(super) fn listed(file: &TemplateRow) -> Listed {
    Listed {
        entries: file.titles.iter().map(|title| (title.id.clone(), title.title.clone())).collect(),
        file: file.file.clone(),
        stem: file.stem.clone(),
    }
}

/// A file's name without folders and extension.
pub(crate) fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// An index in the making, of one batch of files after the other: all flows come after all that is no flow.
struct Building {
    files: Arc<Files>,
    lenient: bool,
    /// Whether every file could be read.
    whole: bool,
    problems: Problems,
    templates: Vec<TemplateRow>,
    read: BTreeMap<String, TemplateRead>,
    guidance: Guidance,
    /// Made of the templates when the first flow comes.
    directory: OnceLock<Directory>,
    flows: Vec<FlowRow>,
    /// The number of each flow's file.
    file_of: Vec<usize>,
    flow_files: Vec<CatalogPath>,
    categories: Vec<Category>,
    /// Files whose flows go through other flows, by number, each with its flows.
    nested: Vec<(usize, Range<usize>)>,
}

impl Building {
    fn new(files: Arc<Files>, lenient: bool) -> Self {
        let flows = files.iter().filter(|(path, _)| in_folder(path, "flows")).count();
        Self {
            files,
            lenient,
            whole: true,
            problems: Problems::default(),
            templates: Vec::new(),
            read: BTreeMap::new(),
            guidance: Guidance::default(),
            directory: OnceLock::new(),
            // Of thousands of files nothing is held twice.
            flows: Vec::with_capacity(flows),
            file_of: Vec::with_capacity(flows),
            flow_files: Vec::with_capacity(flows),
            categories: Vec::new(),
            nested: Vec::new(),
        }
    }

    fn take(&mut self, texts: Vec<Text>) {
        for (path, bytes) in texts {
            self.whole &= bytes.is_ok();
            if in_folder(&path, "flows") {
                self.take_flows(path, &bytes);
            } else if in_folder(&path, "templates") {
                let one = read_templates(&path, &bytes, oid(&self.files, &path));
                self.problems.note_all(one.problems);
                self.read.insert(one.entry.file.clone(), one.outcome);
                self.templates.push(one.entry);
            } else {
                take_guidance(&mut self.guidance, &path, &bytes);
            }
        }
    }

    fn take_flows(&mut self, path: CatalogPath, bytes: &Bytes) {
        let shelves = self.shelves();
        let check = |parsed: &Parsed| shelves.check(&path, parsed, &Within::default());
        let one = read_flows(&path, bytes, check, &oid(&self.files, &path));
        let (number, begin) = (self.flow_files.len(), self.flows.len());
        self.flow_files.push(path);
        self.flows.extend(one.flows);
        self.file_of.resize(self.flows.len(), number);
        self.categories.extend(one.category);
        if one.nests {
            self.nested.push((number, begin..self.flows.len()));
        } else {
            self.problems.note_all(one.problems);
        }
    }

    fn shelves(&self) -> Shelves<'_> {
        let directory = self.directory.get_or_init(|| Directory::new(self.templates.iter().map(listed).collect()));
        Shelves { directory, read: &self.read, guidance: &self.guidance, lenient: self.lenient }
    }

    /// What its flows go by.
    fn names(&self) -> FlowNames {
        let mut names = FlowNames::default();
        for (flow, file) in self.flows.iter().zip(&self.file_of) {
            let stem = stem(&flow.file);
            let names_of = [Some(flow.name.as_str()), Some(stem), flow.meta_name.as_deref(), flow.flow_id.as_deref()];
            names.note_names((*file, flow.place_in_file), &flow.file, names_of);
        }
        names
    }

    /// The index, now that all flows are known; `texts` are the files that flows within flows lead to.
    fn finish(mut self, texts: &BTreeMap<usize, Text>, left_out: &[Problem]) -> IndexRows {
        left_out.iter().filter_map(problem).for_each(|problem| self.problems.note(problem));
        let read_again = self.nest(texts);
        for ((_, place), one) in std::mem::take(&mut self.nested).into_iter().zip(read_again) {
            self.problems.note_all(one.problems);
            self.flows.get_mut(place).into_iter().flatten().zip(one.flows).for_each(|(before, now)| *before = now);
        }
        self.problems.note_twins(&self.flows);
        IndexRows::new(self.flows, self.templates, self.problems.all, self.categories)
    }

    /// Reads files again whose flows go through other flows.
    fn nest(&self, texts: &BTreeMap<usize, Text>) -> Vec<FlowsOfFile> {
        if self.nested.is_empty() {
            return Vec::new();
        }
        let (names, shelves) = (self.names(), self.shelves());
        let load =
            |file: usize| texts.get(&file).and_then(|(path, bytes)| Some(validate::parse(path, bytes.as_ref().ok()?)));
        let find = |name: &str| names.find(name);
        let empty = || validate::FileCheck { findings: Vec::new(), flows: Vec::new() };
        let check = |file: usize, parsed: &Parsed, within: &Within| {
            self.flow_files.get(file).map_or_else(empty, |path| shelves.check(path, parsed, within).check)
        };
        let nesting = Nesting::new(&load, &find, &check);
        let again = self.nested.iter().map(|(file, _)| {
            let Some((path, bytes)) = texts.get(file) else { return FlowsOfFile::default() };
            let within = nesting.within(*file, None);
            read_flows(path, bytes, |parsed| shelves.check(path, parsed, &within), &oid(&self.files, path))
        });
        again.collect()
    }
}

/// A file's id where it has one.
fn oid(files: &Files, path: &CatalogPath) -> String {
    files.get(path).and_then(|file| file.oid.as_ref()).map(ToString::to_string).unwrap_or_default()
}

/// A template file, read.
struct TemplatesOfFile {
    entry: TemplateRow,
    /// Its templates, or what is wrong with it.
    outcome: TemplateRead,
    problems: Vec<FileProblem>,
}

fn read_templates(path: &CatalogPath, bytes: &Bytes, oid: String) -> TemplatesOfFile {
    let mut problems = Vec::new();
    let mut entry = TemplateRow { file: path.to_string(), stem: path.stem().to_owned(), oid, ..TemplateRow::default() };
    let outcome = match bytes {
        Err(error) => {
            problems.push(unreadable(path, error));
            TemplateRead::Broken { code: code_of(error), message: error.to_string() }
        }
        Ok(bytes) => {
            let check = validate::template_file(path, &validate::parse(path, bytes));
            problems.extend(of_findings(&check.findings));
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
        Checked { plans: plans.collect(), check }
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
                        Lookup::Broken { file: listed.file.clone(), code: *code, message: message.clone() }
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
pub(crate) fn guidance<'t>(
    texts: impl Iterator<Item = (&'t CatalogPath, &'t Result<Arc<[u8]>, SourceError>)>,
) -> Guidance {
    let mut guidance = Guidance::default();
    texts.for_each(|(path, bytes)| take_guidance(&mut guidance, path, bytes));
    guidance
}

/// Takes a file in, where it is a persona or a contract.
fn take_guidance(guidance: &mut Guidance, path: &CatalogPath, bytes: &Bytes) {
    match bytes {
        _ if !Guidance::is_guidance(path) => {}
        Ok(bytes) => guidance.read(path, bytes),
        Err(error) => guidance.unreadable(path, code_of(error), &error.to_string()),
    }
}

/// A file of flows, or of what a category is, read.
#[derive(Default)]
struct FlowsOfFile {
    flows: Vec<FlowRow>,
    category: Option<Category>,
    problems: Vec<FileProblem>,
    /// Whether its flows go through other flows, which were not known when it was read.
    nests: bool,
}

/// A flow file that was checked, with the plans of its flows.
struct Checked {
    check: validate::FileCheck,
    plans: Vec<Option<Plan>>,
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
                code: Code::ParseError,
                message: problem.message.clone(),
                line: Some(problem.position.line),
                column: Some(problem.position.column),
                unnamed: 0,
            }),
        }
        return read;
    }
    let Checked { check, plans } = check(&parsed);
    read.problems.extend(of_findings(&check.findings));
    // What is let go of leaves gaps between what stays: among thousands of files the larger, the more is lost.
    read.flows.reserve_exact(check.flows.len());
    for (flow, plan) in check.flows.into_iter().zip(plans) {
        read.problems.extend(of_findings(&flow.findings));
        read.nests |= flow.flow.nodes.iter().any(|node| matches!(node.kind, NodeKind::Flow(_)));
        let broken = flow.findings.iter().any(|finding| finding.severity == Severity::Error);
        read.flows.push(FlowRow { broken, ..entry(&flow.flow, plan.as_ref(), oid.to_owned()) });
    }
    read
}

enum TemplateRead {
    Whole(Vec<Arc<Template>>),
    Broken { code: Code, message: String },
}

impl TemplateRead {
    fn broken(finding: &Finding) -> Self {
        let (code, message) = broken(finding);
        Self::Broken { code, message }
    }
}

/// A template file's first error, as the code and message of the steps that need it.
pub(crate) fn broken(finding: &Finding) -> (Code, String) {
    let message = format!(
        "{} at line {}, column {}: {}",
        finding.file, finding.position.line, finding.position.column, finding.message
    );
    (finding.code, message)
}

/// Whether a path lies below a top folder. What is no file of a catalog never gets here: the source
/// leaves it out.
pub(super) fn in_folder(path: &CatalogPath, folder: &str) -> bool {
    path.as_str().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}
