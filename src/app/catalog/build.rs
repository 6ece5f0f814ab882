//! Building the listing index of a revision: every file is read, checked and planned once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use serde_json::Value;

use super::{INDEX, Opened};
use crate::app::failure::code_of;
use crate::app::{Code, Error};
use crate::discover::{Category, Entry, FileProblem, Index, Input, Output, Packed, TemplateEntry, TemplateTitle};
use crate::document::Document;
use crate::model::{Directory, Flow, Listed, Lookup, NodeKind, Shelf, Template};
use crate::names::CatalogPath;
use crate::plan::Plan;
use crate::source::{Files, Problem, ProblemKind, Snapshot, SourceError};
use crate::validate::{self, Finding, Known, Options, Severity};

/// A file's bytes, or why they can't be had.
type Text = (CatalogPath, Result<Arc<[u8]>, SourceError>);
type Texts = Vec<Text>;

/// Opens a revision: from the kept index, else by reading every file.
pub(super) async fn open(snapshot: Arc<Snapshot>, revision: String, lenient: bool) -> Result<Arc<Opened>, Error> {
    let name = if lenient { format!("{INDEX}-lenient") } else { INDEX.to_owned() };
    if let Some(packed) = snapshot.derived(&name).await.and_then(Packed::open) {
        return Ok(opened(revision, packed, None));
    }
    let files = snapshot.files().await?;
    let mut texts: Texts = Vec::with_capacity(files.len());
    snapshot.read_each(|path, bytes| texts.push((path.clone(), bytes))).await?;
    let whole = texts.iter().all(|(_, bytes)| bytes.is_ok());
    let problems = snapshot.problems().await?;
    let built = tokio::task::spawn_blocking(move || build(&files, &texts, &problems, lenient).pack()).await;
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
    let mut problems: Vec<FileProblem> = left_out.iter().filter_map(problem).collect();
    let oid = |path: &CatalogPath| {
        files.get(path).and_then(|file| file.oid.as_ref()).map(ToString::to_string).unwrap_or_default()
    };
    let (templates, read) = read_templates(texts, &mut problems, &oid);
    let directory = Directory::new(
        templates
            .iter()
            .map(|entry| Listed {
                file: entry.file.clone(),
                stem: entry.stem.clone(),
                entries: entry.titles.iter().map(|title| (title.id.clone(), title.title.clone())).collect(),
            })
            .collect(),
    );
    let mut flows: Vec<Entry> = Vec::new();
    let mut categories: Vec<Category> = Vec::new();
    for (path, bytes) in texts.iter().filter(|(path, _)| in_folder(path, "flows")) {
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => {
                note(&mut problems, unreadable(path, error));
                continue;
            }
        };
        let parsed = validate::parse(path, bytes);
        if path.stem() == "_category" {
            match &parsed {
                Ok(document) => categories.extend(category(path, document)),
                Err(problem) => note(
                    &mut problems,
                    FileProblem {
                        file: path.to_string(),
                        code: "PARSE_ERROR".to_owned(),
                        message: problem.message.clone(),
                        line: Some(problem.position.line),
                        column: Some(problem.position.column),
                    },
                ),
            }
            continue;
        }
        let mut shelf = Shelf::default();
        for reference in validate::template_references(&parsed) {
            let lookup = match directory.resolve(&reference) {
                Err(lookup) => lookup,
                Ok((listed, place)) => match read.get(&listed.file) {
                    Some(TemplateRead::Whole(templates)) => templates
                        .get(place)
                        .map_or(Lookup::Missing { nearest: Vec::new() }, |template| Lookup::Found(template.clone())),
                    Some(TemplateRead::Broken { code, message }) => {
                        Lookup::Broken { file: listed.file.clone(), code: code.clone(), message: message.clone() }
                    }
                    None => Lookup::Missing { nearest: Vec::new() },
                },
            };
            shelf.put(&reference, lookup);
        }
        let known = Known { shelf: &shelf, twins: &[], options: Options { lenient, ..Options::default() } };
        let check = validate::flow_file(path, &parsed, known);
        note_findings(&mut problems, &check.findings, code_of_finding);
        for flow in check.flows {
            note_findings(&mut problems, &flow.findings, |finding| code_in_flow(finding, &flow.flow, &shelf));
            let plan = flow.checked.as_ref().map(Plan::of);
            flows.push(entry(&flow.flow, plan.as_ref(), oid(path)));
        }
    }
    note_twins(&mut problems, &flows);
    Index::new(flows, templates, problems, categories)
}

/// Reads every template file: its listing entry, and its templates or what is wrong with it.
fn read_templates(
    texts: &[Text],
    problems: &mut Vec<FileProblem>,
    oid: &dyn Fn(&CatalogPath) -> String,
) -> (Vec<TemplateEntry>, BTreeMap<String, TemplateRead>) {
    let mut templates: Vec<TemplateEntry> = Vec::new();
    let mut read: BTreeMap<String, TemplateRead> = BTreeMap::new();
    for (path, bytes) in texts.iter().filter(|(path, _)| in_folder(path, "templates")) {
        let mut entry = TemplateEntry {
            file: path.to_string(),
            stem: path.stem().to_owned(),
            oid: oid(path),
            ..TemplateEntry::default()
        };
        let outcome = match bytes {
            Err(error) => {
                note(problems, unreadable(path, error));
                TemplateRead::Broken { code: code_of(error).word().to_owned(), message: error.to_string() }
            }
            Ok(bytes) => {
                let check = validate::template_file(path, &validate::parse(path, bytes));
                note_findings(problems, &check.findings, code_of_finding);
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
        read.insert(path.to_string(), outcome);
        templates.push(entry);
    }
    (templates, read)
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

/// Whether a path lies below a top folder.
pub(super) fn in_folder(path: &CatalogPath, folder: &str) -> bool {
    path.as_str().strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// What a flow's listing entry shows: from its plan, or from the file alone where there is none.
fn entry(flow: &Flow, plan: Option<&Plan>, oid: String) -> Entry {
    let inputs = plan.map(Plan::inputs).unwrap_or_default();
    let steps = match plan {
        Some(plan) => plan.steps().iter().map(|step| step.label.clone()).collect(),
        None => flow.nodes.iter().filter(|node| node.runnable()).map(|node| node.caption().to_owned()).collect(),
    };
    let outputs = plan.map(Plan::results).unwrap_or_default().iter().filter_map(|mark| {
        let step = plan?.step(mark.step?)?;
        Some(Output { label: mark.label.clone(), node: step.id.clone() })
    });
    Entry {
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
        inputs: if plan.is_some() { inputs.iter().map(input).collect() } else { declared_inputs(flow) },
        outputs: outputs.collect(),
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
    }
}

/// The inputs of a flow that can't be planned: what its input nodes say.
fn declared_inputs(flow: &Flow) -> Vec<Input> {
    let mut inputs: Vec<Input> = Vec::new();
    for node in &flow.nodes {
        let NodeKind::Input(node) = &node.kind else { continue };
        for variable in &node.variables {
            if !inputs.iter().any(|input| input.name == variable.name) {
                inputs.push(Input {
                    name: variable.name.clone(),
                    required: variable.default.is_none(),
                    default: variable.default.clone(),
                    ..Input::default()
                });
            }
        }
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

/// The most problems that one file may add: the first ones are the ones to mend.
const PROBLEMS_A_FILE: usize = 3;

fn note(problems: &mut Vec<FileProblem>, problem: FileProblem) {
    let of_file = problems.iter().filter(|other| other.file == problem.file).count();
    if of_file < PROBLEMS_A_FILE && !problems.contains(&problem) {
        problems.push(problem);
    }
}

fn note_findings(problems: &mut Vec<FileProblem>, findings: &[Finding], code: impl Fn(&Finding) -> Code) {
    for finding in findings.iter().filter(|finding| finding.severity == Severity::Error) {
        note(
            problems,
            FileProblem {
                file: finding.file.to_string(),
                code: code(finding).word().to_owned(),
                message: finding.message.clone(),
                line: Some(finding.position.line),
                column: Some(finding.position.column),
            },
        );
    }
}

/// The same for a finding of a flow: a template whose file can't be had or read is not one that isn't there.
fn code_in_flow(finding: &Finding, flow: &Flow, shelf: &Shelf) -> Code {
    let selected = |node: &crate::model::Node| match &node.kind {
        NodeKind::Template(step) if Some(&node.id) == finding.node.as_ref() => step.selected.clone(),
        _ => None,
    };
    let broken = flow.nodes.iter().find_map(selected).and_then(|selected| match shelf.get(&selected) {
        Lookup::Broken { code, .. } => Code::named(&code),
        _ => None,
    });
    broken.filter(|_| finding.rule == "missing-template").unwrap_or_else(|| code_of_finding(finding))
}

/// The error code that a finding of severity error stands for.
pub(super) fn code_of_finding(finding: &Finding) -> Code {
    match finding.rule {
        "syntax" => Code::ParseError,
        "cycle" => Code::CircularDependency,
        "missing-template" => Code::TemplateNotFound,
        "ambiguous-name" => Code::AmbiguousName,
        _ => Code::ValidationError,
    }
}

/// Names that flows of several files go by: asking for them can't tell them apart.
fn note_twins(problems: &mut Vec<FileProblem>, flows: &[Entry]) {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for flow in flows {
        files.entry(&flow.name).or_default().push(&flow.file);
    }
    for (name, files) in files.into_iter().filter(|(_, files)| files.len() > 1) {
        for file in &files {
            let others: Vec<&str> = files.iter().copied().filter(|other| other != file).collect();
            let also = if others.is_empty() {
                "twice in this file".to_owned()
            } else {
                format!("also in {}", others.join(", "))
            };
            let message = format!(
                "the name {} is used {also}: asking for it can't tell the flows apart",
                crate::names::quoted(name)
            );
            note(
                problems,
                FileProblem {
                    file: (*file).to_owned(),
                    code: "AMBIGUOUS_NAME".to_owned(),
                    message,
                    line: None,
                    column: None,
                },
            );
        }
    }
}

fn unreadable(path: &CatalogPath, error: &SourceError) -> FileProblem {
    FileProblem {
        file: path.to_string(),
        code: code_of(error).word().to_owned(),
        message: error.to_string(),
        line: None,
        column: None,
    }
}

pub(in crate::app) fn problem(left_out: &Problem) -> Option<FileProblem> {
    let (code, message) = match &left_out.kind {
        // It is among the files, and reading it says the same.
        ProblemKind::Failed(_) => return None,
        ProblemKind::TooLarge { size, limit } => {
            (Code::FileTooLarge, format!("the file is too large: {size} bytes, the limit is {limit}"))
        }
        ProblemKind::Symlink => (Code::InvalidRequest, "a symbolic link is not followed".to_owned()),
        ProblemKind::Submodule => (Code::InvalidRequest, "a submodule is not read".to_owned()),
        ProblemKind::LfsPointer => {
            (Code::InvalidRequest, "the file's content is in Git LFS, which is not read".to_owned())
        }
        ProblemKind::NotAFile => (Code::InvalidRequest, "not a regular file".to_owned()),
        ProblemKind::BadPath(why) => (Code::InvalidRequest, format!("the path is not read: {why}")),
        ProblemKind::ListingCutOff => {
            (Code::GithubError, "the listing was cut off here: there may be more files".to_owned())
        }
    };
    Some(FileProblem { file: left_out.path.clone(), code: code.word().to_owned(), message, line: None, column: None })
}
