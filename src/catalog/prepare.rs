//! One flow made ready: its file and its templates read, checked and planned.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError};

use super::build::{broken, guidance, in_folder};
use super::nested::{FlowPlace, Nesting, Within};
use super::{Catalog, READY_FLOWS};
use crate::app::failure::code_of;
use crate::app::{Code, Error};
use crate::discover::{DamagedIndex, FlowRow};
use crate::model::{Flow, KnownFlow, Lookup, NodeKind, Shelf, Template, Toolbox};
use crate::names::CatalogPath;
use crate::plan::Plan;
use crate::validate::{self, FileCheck, Finding, Guidance, GuidanceReferences, Known, Options, Parsed, Severity};

/// A flow with everything it needs.
#[derive(Debug)]
pub struct Prepared {
    /// Its listing entry.
    pub entry: FlowRow,
    /// The flow as read.
    pub flow: Arc<Flow>,
    /// What the checker found.
    pub findings: Vec<Finding>,
    /// The plan, where no finding reaches the flow.
    pub plan: Option<Arc<Plan>>,
    /// The state of what is known of external tools that it was checked against; none where neither
    /// the flow nor one within it calls any.
    pub tools: Option<u64>,
}

impl Prepared {
    /// The plan, or why the flow can't be executed.
    ///
    /// # Errors
    /// `PARSE_ERROR`, `CIRCULAR_DEPENDENCY` or `VALIDATION_ERROR`, with every finding.
    pub fn plan(&self) -> Result<&Arc<Plan>, Error> {
        self.plan.as_ref().ok_or_else(|| refusal(&self.flow, &self.findings))
    }
}

/// A flow file in hand, with what its nodes name.
struct File {
    path: CatalogPath,
    parsed: Option<Parsed>,
    shelf: Shelf,
}

/// A flow's file, and the files of every flow that it goes through.
struct FilesWithin {
    files: Vec<File>,
    numbers: HashMap<String, usize>,
    named: HashMap<String, Result<FlowPlace, Lookup<KnownFlow>>>,
    /// Whether all of them could be read.
    lasting: bool,
}

impl FilesWithin {
    /// Takes a file in; the names by which one of its flows asks for others.
    fn note(&mut self, file: File, place: usize) -> Vec<String> {
        self.numbers.insert(file.path.to_string(), self.files.len());
        self.files.push(file);
        self.uses_of((self.files.len() - 1, place))
    }

    fn uses_of(&self, (file, place): FlowPlace) -> Vec<String> {
        let parsed = self.files.get(file).and_then(|file| file.parsed.as_ref());
        parsed.and_then(|parsed| validate::flow_references(parsed).into_iter().nth(place)).unwrap_or_default()
    }

    /// What is known of the flows within one of the first file's flows.
    fn within(&self, place: usize, lenient: bool, tools: &Toolbox) -> Within {
        let load = |file: usize| self.files.get(file).and_then(|file| file.parsed.clone());
        let find =
            |name: &str| self.named.get(name).cloned().unwrap_or_else(|| Err(Lookup::Missing { nearest: Vec::new() }));
        let check = |file: usize, parsed: &Parsed, within: &Within| match self.files.get(file) {
            Some(file) => check_file(&file.path, parsed, &file.shelf, within, lenient, tools),
            None => FileCheck { findings: Vec::new(), flows: Vec::new() },
        };
        Nesting::new(&load, &find, &check).within(0, Some(place))
    }
}

/// Why there is no flow of a name, for the step that asks for it.
fn not_found(error: &Error) -> Lookup<KnownFlow> {
    let texts = |key: &str| {
        let list = error
            .details
            .as_ref()
            .and_then(|details| details.get(key))
            .and_then(serde_json::Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        list.iter().filter_map(|text| Some(text.as_str()?.to_owned())).collect::<Vec<_>>()
    };
    match error.code {
        Code::FlowNotFound => Lookup::Missing { nearest: texts("nearest") },
        Code::AmbiguousName => Lookup::Ambiguous { files: texts("files") },
        code => Lookup::Broken { file: String::new(), code, message: error.message.clone() },
    }
}

fn check_file(
    path: &CatalogPath,
    parsed: &Parsed,
    shelf: &Shelf,
    within: &Within,
    lenient: bool,
    tools: &Toolbox,
) -> FileCheck {
    let mut shelf = shelf.clone();
    within.put_on(&mut shelf);
    let options = Options { lenient, ..Options::default() };
    validate::flow_file(path, parsed, Known { shelf: &shelf, twins: &[], strays: &[], tools: Some(tools), options })
}

fn refusal(flow: &Flow, findings: &[Finding]) -> Error {
    let errors: Vec<&Finding> = findings.iter().filter(|finding| finding.reach == validate::Reach::Flow).collect();
    let first = |code: Code| errors.iter().find(|finding| finding.code == code);
    let ring = first(Code::CircularDependency);
    let worst = ring.or_else(|| first(Code::ParseError)).or(errors.first());
    let code = worst.map_or(Code::ValidationError, |finding| finding.code);
    let more = if errors.len() > 1 { format!(" (and {} more)", errors.len() - 1) } else { String::new() };
    let message = worst.map_or_else(
        || format!("flow {} can't be executed", crate::names::quoted(flow.name.as_str())),
        |finding| {
            format!(
                "flow {}: {} ({} line {}, column {}){more}",
                crate::names::quoted(flow.name.as_str()),
                finding.message,
                finding.file,
                finding.position.line,
                finding.position.column
            )
        },
    );
    let mut error =
        Error::new(code, message).next("mend the file; `flowy validate` shows every finding with its place");
    if let Some(ring) = ring {
        let closed =
            ring.ring.iter().chain(ring.ring.first()).map(|id| serde_json::Value::String(id.clone())).collect();
        error = error.detail("cycle", closed);
    }
    error.findings = findings.to_vec();
    error
}

impl Catalog {
    /// Makes a flow ready, from memory where it is.
    ///
    /// # Errors
    /// As [`Catalog::find`], or when the flow's file can't be read.
    pub async fn prepare(&self, name: &str) -> Result<Arc<Prepared>, Error> {
        let row = self.find(name)?;
        let entry = self.index().row(row)?;
        let (file, place) = (entry.file.clone(), entry.place_in_file);
        {
            let ready = self.shared.ready.lock().unwrap_or_else(PoisonError::into_inner);
            // Where a tool is called, what is known of tools belongs to it.
            let stands = |prepared: &Prepared| prepared.tools.is_none_or(|revision| revision == self.tools.revision);
            let found = ready.iter().find(|(other, at, prepared)| *other == file && *at == place && stands(prepared));
            if let Some((_, _, prepared)) = found {
                return Ok(prepared.clone());
            }
        }
        let (prepared, lasting) = self.read(entry).await?;
        let prepared = Arc::new(prepared);
        if lasting {
            let mut ready = self.shared.ready.lock().unwrap_or_else(PoisonError::into_inner);
            ready.retain(|(other, at, _)| *other != file || *at != place);
            ready.push_back((file, place, prepared.clone()));
            while ready.len() > READY_FLOWS {
                ready.pop_front();
            }
        }
        Ok(prepared)
    }

    /// Reads and checks a flow. The second value says whether that will stay so: a template that
    /// could not be fetched may be there next time.
    async fn read(&self, entry: FlowRow) -> Result<(Prepared, bool), Error> {
        let path = CatalogPath::new(&entry.file).map_err(|error| Error::new(Code::InternalError, error.to_string()))?;
        let bytes = self.snapshot.read(&path).await?;
        let parsed = validate::parse(&path, &bytes);
        let (shelf, mut lasting) = self.whole_shelf(&parsed).await?;
        let uses = validate::flow_references(&parsed);
        let within = if uses.get(entry.place_in_file).is_none_or(Vec::is_empty) {
            Within::default()
        } else {
            let home = File { path: path.clone(), parsed: Some(parsed.clone()), shelf: shelf.clone() };
            let files = self.files_within(home, entry.place_in_file).await?;
            lasting &= files.lasting;
            files.within(entry.place_in_file, self.lenient, &self.tools)
        };
        let mut check = check_file(&path, &parsed, &shelf, &within, self.lenient, &self.tools);
        if entry.place_in_file >= check.flows.len() {
            let finding = check.findings.first();
            let message = finding
                .map_or_else(|| "the file no longer holds this flow".to_owned(), |finding| finding.message.clone());
            return Err(Error::about_file(Code::ParseError, format!("{}: {message}", entry.file)));
        }
        let flow = check.flows.swap_remove(entry.place_in_file);
        let plan = flow.checked.as_ref().map(|checked| Arc::new(Plan::of(checked, &within.plans)));
        let calls = flow.flow.nodes.iter().any(|node| matches!(node.kind, NodeKind::Tool(_) | NodeKind::Flow(_)));
        let tools = calls.then_some(self.tools.revision);
        Ok((Prepared { entry, flow: flow.flow, findings: flow.findings, plan, tools }, lasting))
    }

    /// Everything that a file's nodes name, other flows left out; whether that will stay so.
    async fn whole_shelf(&self, parsed: &Parsed) -> Result<(Shelf, bool), Error> {
        let (mut shelf, mut lasting) = self.shelf(&validate::template_references(parsed)).await?;
        let names = GuidanceReferences::of(parsed);
        if !names.is_empty() {
            lasting &= self.put_guidance(&mut shelf, &names).await?;
        }
        Ok((shelf, lasting))
    }

    /// Reads the files of every flow that a flow goes through, and of those that these go through.
    async fn files_within(&self, home: File, place: usize) -> Result<FilesWithin, Error> {
        let mut files =
            FilesWithin { lasting: true, numbers: HashMap::new(), named: HashMap::new(), files: Vec::new() };
        let mut next = files.note(home, place);
        while let Some(name) = next.pop() {
            if files.named.contains_key(&name) {
                continue;
            }
            let entry = match self.find(&name) {
                Ok(row) => self.index().row(row)?,
                Err(error) if error.code == Code::InternalError => return Err(error),
                Err(error) => {
                    files.named.insert(name, Err(not_found(&error)));
                    continue;
                }
            };
            let number = match files.numbers.get(&entry.file).copied() {
                Some(number) => {
                    next.extend(files.uses_of((number, entry.place_in_file)));
                    number
                }
                None => {
                    let path = CatalogPath::new(&entry.file)
                        .map_err(|error| Error::new(Code::InternalError, error.to_string()))?;
                    let bytes = self.snapshot.read(&path).await;
                    files.lasting &= bytes.is_ok();
                    let parsed = bytes.ok().map(|bytes| validate::parse(&path, &bytes));
                    let shelf = match &parsed {
                        Some(parsed) => {
                            let (shelf, lasting) = self.whole_shelf(parsed).await?;
                            files.lasting &= lasting;
                            shelf
                        }
                        None => Shelf::default(),
                    };
                    let number = files.files.len();
                    next.extend(files.note(File { path, parsed, shelf }, entry.place_in_file));
                    number
                }
            };
            files.named.insert(name, Ok((number, entry.place_in_file)));
        }
        Ok(files)
    }

    /// Looks up and reads the templates of these names.
    async fn shelf(&self, references: &[String]) -> Result<(Shelf, bool), DamagedIndex> {
        let mut shelf = Shelf::default();
        let mut lasting = true;
        for reference in references {
            let lookup = match self.directory()?.resolve(reference) {
                Err(lookup) => lookup,
                Ok((listed, place)) => {
                    let (lookup, lasts) = self.template(&listed.file, place).await;
                    lasting &= lasts;
                    lookup
                }
            };
            shelf.put(reference, lookup);
        }
        Ok((shelf, lasting))
    }

    /// Looks up and reads the personas and contracts of these names; whether that will stay so.
    async fn put_guidance(&self, shelf: &mut Shelf, names: &GuidanceReferences) -> Result<bool, Error> {
        let files = self.snapshot.files().await?;
        let mut texts = Vec::new();
        for (path, _) in files.iter().filter(|(path, _)| Guidance::is_guidance(path)) {
            texts.push((path.clone(), self.snapshot.read(path).await));
        }
        guidance(texts.iter().map(|(path, bytes)| (path, bytes))).put_on(shelf, names);
        Ok(texts.iter().all(|(_, bytes)| bytes.is_ok()))
    }

    /// Reads one template of a file.
    pub(crate) async fn template(&self, file: &str, place: usize) -> (Lookup, bool) {
        let Ok(path) = CatalogPath::new(file) else { return (Lookup::Missing { nearest: Vec::new() }, true) };
        match self.snapshot.read(&path).await {
            Err(error) => {
                (Lookup::Broken { file: file.to_owned(), code: code_of(&error), message: error.to_string() }, false)
            }
            Ok(bytes) => {
                let check = validate::template_file(&path, &validate::parse(&path, &bytes));
                let found: Option<Arc<Template>> = check.templates.get(place).cloned();
                let lookup = match (found, check.findings.iter().find(|finding| finding.severity == Severity::Error)) {
                    (Some(template), _) => Lookup::Found(template),
                    (None, Some(finding)) => {
                        let (code, message) = broken(finding);
                        Lookup::Broken { file: file.to_owned(), code, message }
                    }
                    (None, None) => Lookup::Missing { nearest: Vec::new() },
                };
                (lookup, true)
            }
        }
    }

    /// The flows that use a template file, by name; from the flows' files.
    pub(crate) async fn users_of(&self, file: &str) -> Result<Vec<String>, Error> {
        let mut users = Vec::new();
        let directory = self.directory()?;
        let mut reading = self.snapshot.reading(|path| in_folder(path, "flows")).await?;
        while let Some(texts) = reading.next().await? {
            for (path, bytes) in &texts {
                let Ok(bytes) = bytes else { continue };
                if !in_folder(path, "flows") || path.stem() == "_category" {
                    continue;
                }
                let Ok(document) = validate::parse(path, bytes) else { continue };
                for flow in crate::model::wire::read_flows(&document).flows {
                    let uses = flow.nodes.iter().any(|node| match &node.kind {
                        crate::model::NodeKind::Template(step) => step.selected.as_deref().is_some_and(|selected| {
                            directory.resolve(selected).is_ok_and(|(listed, _)| listed.file == file)
                        }),
                        _ => false,
                    });
                    if uses {
                        users.push(flow.name.to_string());
                    }
                }
            }
        }
        users.sort_unstable();
        users.dedup();
        Ok(users)
    }
}
