//! A catalog's files, read once and kept: checked as often as somebody asks, while single files change.
//!
//! A check reads no file again. What is not asked about is not judged, unless what is asked about uses it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use super::build::not_among;
use super::check::{FoundInFlows, beside_flows, check_tests, of_paths, report, tested};
use super::entry::entry;
use super::findable::stray_examples;
use super::names::FlowNames;
use super::nested::{FlowPlace, Nesting};
use super::problems::{left_out, unreadable};
use super::side_by_side::side_by_side;
use super::stock::{Judge, JudgedFlow, Manner, Stock, TemplatesOfFile};
use super::{CatalogCheck, CatalogError, CheckOptions, in_folder, is_category};
use crate::document::Document;
use crate::model::wire::is_among_tests;
use crate::model::{Directory, Flow, Template, Unusable};
use crate::names::{CatalogPath, Comparisons};
use crate::plan::Plan;
use crate::source::{Problem, ProblemKind, Snapshot};
use crate::validate::{Finding, Guidance, ParsedFlows, Scope, Twins};

/// The flow files of a catalog, by number, sorted.
pub(super) type FlowFiles = Vec<(CatalogPath, Result<ParsedFlows, Unusable>)>;

/// A file's bytes, or why they can't be used.
pub(super) type FileText = (CatalogPath, Result<Arc<[u8]>, Unusable>);

pub(super) fn read_flows(path: &CatalogPath, bytes: &Result<Arc<[u8]>, Unusable>) -> Result<ParsedFlows, Unusable> {
    bytes.as_ref().map(|bytes| ParsedFlows::read(path, bytes)).map_err(Clone::clone)
}

/// A catalog's files.
#[derive(Debug, Default)]
pub struct Desk {
    flow_files: FlowFiles,
    stock: Stock,
    /// The texts of personas and contracts.
    guidance: BTreeMap<CatalogPath, Arc<[u8]>>,
    /// All paths of its files.
    paths: BTreeSet<CatalogPath>,
    /// What is not among its files, and why.
    left_out: Vec<Unusable>,
    /// The files that are not read for where they lie or how they end, each with the path under which it would be.
    overlooked: Vec<(String, String)>,
    doubtful: Vec<(String, String)>,
    /// By what flows and templates go; made again when that changes.
    index: OnceLock<DeskIndex>,
}

#[derive(Debug)]
struct DeskIndex {
    names: FlowNames,
    twins: Twins,
    directory: Directory,
    /// What is found in paths alone.
    of_paths: Vec<Finding>,
}

/// A flow with what its names mean, also where it can't be executed.
#[derive(Debug, Clone)]
pub struct FlowReading {
    /// The flow; one in Markdown with the edges that its texts make.
    pub flow: Arc<Flow>,
    /// Who declares, reads and provides which name.
    pub scope: Arc<Scope>,
    /// Its plan, where nothing reaches it.
    pub plan: Option<Arc<Plan>>,
    /// The file it stands in.
    pub document: Arc<Document>,
}

impl Desk {
    /// Reads every file of a revision; `instead` has files whose texts are others than the source's, or which
    /// the source doesn't have.
    ///
    /// # Errors
    /// When the source does not answer.
    pub async fn read(snapshot: &Snapshot, instead: &BTreeMap<CatalogPath, Arc<[u8]>>) -> Result<Self, CatalogError> {
        let texts = snapshot.read_all().await?;
        let (files, problems) = (snapshot.files().await?, snapshot.problems().await?);
        let mut desk = Self { overlooked: overlooked(&problems), doubtful: doubtful(&problems), ..Self::default() };
        desk.left_out = not_among(&files, &problems).map(left_out).collect();
        for unusable in &desk.left_out {
            if let Ok(path) = CatalogPath::new(&unusable.file)
                && !in_folder(path.as_str(), "flows")
            {
                desk.stock.take(&path, Err(unusable.clone()));
            }
        }
        let as_they_are = texts.into_iter().filter(|(path, _)| !instead.contains_key(path));
        let mut texts: Vec<FileText> = as_they_are
            .map(|(path, bytes)| {
                let bytes = bytes.map_err(|error| unreadable(path.as_str(), &error));
                (path, bytes)
            })
            .collect();
        let others = instead.iter().filter(|(path, _)| !is_among_tests(path.as_str()));
        texts.extend(others.map(|(path, bytes)| (path.clone(), Ok(bytes.clone()))));
        let read = tokio::task::spawn_blocking(move || {
            let flows = side_by_side(&texts, |(path, bytes)| {
                in_folder(path.as_str(), "flows").then(|| read_flows(path, bytes))
            });
            for ((path, bytes), flows) in texts.iter().zip(flows) {
                desk.take(path, bytes, flows);
            }
            desk
        });
        read.await.map_err(|_| CatalogError::Stopped)
    }

    /// Takes a file's new text.
    pub fn put(&mut self, path: &CatalogPath, bytes: Arc<[u8]>) {
        // Tests are looked at when somebody asks about them, and by nobody else.
        if is_among_tests(path.as_str()) {
            return;
        }
        let before = self.known_by(path);
        self.forget(path);
        let bytes = Ok(bytes);
        let flows = in_folder(path.as_str(), "flows").then(|| read_flows(path, &bytes));
        self.take(path, &bytes, flows);
        // A file that can't be used is asked for by its stem, and says why.
        if before.is_none() || before != self.known_by(path) {
            self.index = OnceLock::new();
        }
    }

    /// Takes a file out.
    pub fn remove(&mut self, path: &CatalogPath) {
        self.forget(path);
        self.index = OnceLock::new();
    }

    /// Takes a file in; `flows` is what was read of it, where it lies among flows.
    fn take(
        &mut self,
        path: &CatalogPath,
        bytes: &Result<Arc<[u8]>, Unusable>,
        flows: Option<Result<ParsedFlows, Unusable>>,
    ) {
        self.paths.insert(path.clone());
        let Some(file) = flows else {
            if let Ok(bytes) = bytes
                && Guidance::is_guidance(path)
            {
                self.guidance.insert(path.clone(), bytes.clone());
            }
            return self.stock.take(path, bytes.as_deref().map_err(Clone::clone));
        };
        match self.flow_files.binary_search_by(|(other, _)| other.cmp(path)) {
            Ok(place) => {
                if let Some(slot) = self.flow_files.get_mut(place) {
                    slot.1 = file;
                }
            }
            Err(place) => self.flow_files.insert(place, (path.clone(), file)),
        }
    }

    fn forget(&mut self, path: &CatalogPath) {
        self.paths.remove(path);
        self.guidance.remove(path);
        self.stock.forget(path);
        if let Ok(place) = self.flow_files.binary_search_by(|(other, _)| other.cmp(path)) {
            drop(self.flow_files.remove(place));
        }
    }

    /// What a file's flows or templates go by.
    fn known_by(&self, path: &CatalogPath) -> Option<Vec<[Option<String>; 3]>> {
        if let Some(templates) = self.stock.templates.get(path.as_str()) {
            let of = |template: &Arc<Template>| [template.id.clone(), template.title.clone(), None];
            return templates.templates.is_ok().then(|| templates.all().iter().map(of).collect());
        }
        let of = |flow: &Flow| [Some(flow.name.to_string()), flow.given_name.clone(), flow.id.clone()];
        let flows = self.flow_file(path)?.flows();
        (!flows.is_empty()).then(|| flows.iter().map(|(flow, _)| of(flow)).collect())
    }

    fn index(&self) -> &DeskIndex {
        self.index.get_or_init(|| {
            let mut names = FlowNames::default();
            for unusable in &self.left_out {
                names.note_unusable(unusable);
            }
            note_names(&mut names, &self.flow_files);
            let twins = names.twins();
            let of_paths = of_paths(&self.overlooked, self.paths.iter());
            DeskIndex { names, twins, directory: self.stock.directory(), of_paths }
        })
    }

    /// Checks the files that are asked about.
    pub fn check(&self, options: CheckOptions<'_>) -> CatalogCheck {
        let DeskIndex { names, twins, directory, of_paths } = self.index();
        let manner = Manner {
            lenient: options.lenient,
            unchecked_calls: true,
            tools: options.tools.map(|tools| &**tools),
            twins: Some(twins),
        };
        let judge = Judge { directory, stock: &self.stock, manner };
        let (by_number, by_name) =
            (|file: usize| self.by_number(file), |name: &str, comparisons: &Comparisons| names.find(name, comparisons));
        let nesting = Nesting::new(&by_number, &by_name, judge);
        let judged = self.judged(&nesting, judge, options);
        // An editor asks about one file of thousands: of the others only those are looked at that it concerns.
        let concerned = |(path, file): &(CatalogPath, Result<_, _>), judged: &[_]| {
            !judged.is_empty() || file.is_err() || (options.wanted)(path)
        };
        let files = self.flow_files.iter().zip(&judged).filter(|(file, judged)| concerned(file, judged));
        let found: Vec<FoundInFlows> =
            files.map(|((path, file), judged)| FoundInFlows::of(path, file, judged, options)).collect();
        let beside = beside_flows(of_paths.clone(), &self.doubtful, &self.guidance, &found);
        let mut checked = report(found, &self.stock, &self.left_out, beside, options);
        let comparisons = Comparisons::default();
        let find = |name: &str| tested(&nesting, names.find(name, &comparisons)?);
        checked.files.extend(check_tests(options, &find));
        checked
    }

    /// The flows of each file, checked; none where nobody asks about the file or about what it uses.
    fn judged(&self, nesting: &Nesting<'_>, judge: Judge<'_>, options: CheckOptions<'_>) -> Vec<Vec<Arc<JudgedFlow>>> {
        let concerned = self.concerned(options);
        let flows = |(number, (path, _)): (usize, &(CatalogPath, _))| {
            if is_category(path) || !concerned(number) { Vec::new() } else { nesting.flows(number) }
        };
        let mut judged: Vec<Vec<Arc<JudgedFlow>>> = self.flow_files.iter().enumerate().map(flows).collect();
        if options.whole {
            // What an example finds is known when every flow is; the few flows with one that strays are checked again.
            let listed =
                judged.iter().enumerate().flat_map(|(number, flows)| flows.iter().map(move |one| (number, one)));
            let (numbers, rows): (Vec<usize>, Vec<_>) =
                listed.map(|(number, one)| (number, entry(&one.flow, one.plan.as_deref(), String::new()))).unzip();
            for ((number, place), strays) in stray_examples(&numbers, &rows) {
                let Some((_, Ok(file))) = self.flow_files.get(number) else { continue };
                let within = nesting.within((number, place));
                let again = judge.flow(file, &file.checker(), place, &within, &strays);
                if let (Some(flow), Some(again)) =
                    (judged.get_mut(number).and_then(|flows| flows.get_mut(place)), again)
                {
                    *flow = Arc::new(again);
                }
            }
        }
        judged
    }

    fn by_number(&self, file: usize) -> Option<&Result<ParsedFlows, Unusable>> {
        self.flow_files.get(file).map(|(_, file)| file)
    }

    /// Whether a file's flows are to be judged: they are asked about, or use what is asked about, in which
    /// something may be found then.
    fn concerned<'s>(&'s self, options: CheckOptions<'s>) -> impl Fn(usize) -> bool + 's {
        let guidance = self.guidance.keys().any(|path| (options.wanted)(path));
        let template = self.stock.templates.keys().any(options.wanted);
        move |number| {
            let Some((path, file)) = self.flow_files.get(number) else { return false };
            if options.whole || (options.wanted)(path) {
                return true;
            }
            let flows = file.as_ref().map(ParsedFlows::flows).unwrap_or_default();
            let uses = |name: &String| {
                let file = self.index().directory.resolve(name).ok().map(|(listed, _)| listed.file.as_str());
                let path = file.and_then(|file| self.stock.templates.get_key_value(file));
                path.is_some_and(|(path, _)| (options.wanted)(path))
            };
            flows
                .iter()
                .any(|(_, names)| guidance && names.has_guidance() || template && names.templates.iter().any(uses))
        }
    }

    /// A file of flows, where it is one and could be read.
    pub fn flow_file(&self, path: &CatalogPath) -> Option<&ParsedFlows> {
        let place = self.flow_files.binary_search_by(|(other, _)| other.cmp(path)).ok()?;
        self.flow_files.get(place)?.1.as_ref().ok()
    }

    /// The files of flows that could be read.
    pub fn flow_files(&self) -> impl Iterator<Item = &ParsedFlows> {
        self.flow_files.iter().filter(|(path, _)| !is_category(path)).filter_map(|(_, file)| file.as_ref().ok())
    }

    /// The templates of all files.
    pub fn templates(&self) -> impl Iterator<Item = &Arc<Template>> {
        self.stock.templates.values().flat_map(TemplatesOfFile::all)
    }

    /// The template that a name means.
    pub fn template(&self, name: &str) -> Option<&Arc<Template>> {
        let (listed, place) = self.index().directory.resolve(name).ok()?;
        self.stock.templates.get(listed.file.as_str())?.all().get(place)
    }

    /// The flow that a name means.
    pub fn flow(&self, name: &str) -> Option<&Arc<Flow>> {
        let (file, place) = self.index().names.find(name, &Comparisons::none()).ok()?;
        self.by_number(file)?.as_ref().ok()?.flows().get(place).map(|(flow, _)| flow)
    }

    /// The personas and contracts.
    pub fn guidance(&self) -> &Guidance {
        self.stock.guidance()
    }

    /// What the names of a file's flows mean. Of a file that is no JSON, what can be read of it.
    pub fn readings(&self, path: &CatalogPath, lenient: bool) -> Vec<FlowReading> {
        self.flow_file(path).map(|file| self.readings_of(file, lenient)).unwrap_or_default()
    }

    /// The same of a file that stands in the place of one of the catalog's.
    pub fn readings_of(&self, file: &ParsedFlows, lenient: bool) -> Vec<FlowReading> {
        let found = self.flow_files.binary_search_by(|(other, _)| other.cmp(file.path()));
        let Ok(number) = found else { return Vec::new() };
        let DeskIndex { names, twins, directory, .. } = self.index();
        let manner = Manner { lenient, unchecked_calls: true, tools: None, twins: Some(twins) };
        let judge = Judge { directory, stock: &self.stock, manner };
        let lax = if file.document().is_none() { file.lax() } else { None };
        let is_lax = lax.is_some();
        let this = Ok(lax.unwrap_or_else(|| file.clone()));
        let by_number = |at: usize| if at == number { Some(&this) } else { self.by_number(at) };
        let find = |name: &str, comparisons: &Comparisons| names.find(name, comparisons);
        let nesting = Nesting::new(&by_number, &find, judge);
        let Ok(file) = &this else { return Vec::new() };
        let of = |place: usize| {
            let at: FlowPlace = (number, place);
            let (flow, scope) = judge.names(file, place, &nesting.within(at))?;
            let plan = if is_lax { None } else { nesting.flow(at).and_then(|judged| judged.plan.clone()) };
            Some(FlowReading { flow, scope: Arc::new(scope), plan, document: file.document()?.clone() })
        };
        (0..file.flows().len()).filter_map(of).collect()
    }
}

/// The files that are not read for where they lie or how they end, each with the path under which it would be.
pub(super) fn overlooked(problems: &[Problem]) -> Vec<(String, String)> {
    let meant = |problem: &Problem| match &problem.kind {
        ProblemKind::Overlooked { meant } => Some((problem.path.clone(), meant.clone())),
        _ => None,
    };
    problems.iter().filter_map(meant).collect()
}

/// The same of files that are overlooked only if a flow asks for what they may be.
pub(super) fn doubtful(problems: &[Problem]) -> Vec<(String, String)> {
    let meant = |problem: &Problem| match &problem.kind {
        ProblemKind::Doubtful { meant } => Some((problem.path.clone(), meant.clone())),
        _ => None,
    };
    problems.iter().filter_map(meant).collect()
}

fn note_names(names: &mut FlowNames, files: &FlowFiles) {
    for (number, (path, file)) in files.iter().enumerate().filter(|(_, (path, _))| !is_category(path)) {
        match file {
            Err(unusable) => names.note_unusable(unusable),
            Ok(file) => {
                for (flow, _) in file.flows() {
                    let (name, stem) = (Some(flow.name.as_str()), Some(path.stem()));
                    let names_of = [name, stem, flow.given_name.as_deref(), flow.id.as_deref()];
                    names.note((number, flow.place_in_file), path.as_str(), names_of);
                }
                if let Some(unusable) = file.unusable() {
                    names.note_unusable(&unusable);
                }
            }
        }
    }
}
