//! Reading every file of a revision, a few at a time, checking and planning its flows: for the listing index, and
//! for a check of the whole catalog.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock, Weak};

use super::check::{FoundInFlows, beside_flows, check_tests, of_paths, report, tested};
use super::desk::{FileText, doubtful, overlooked, read_flows};
use super::entry::{category, entry};
use super::findable::stray_examples;
use super::inputs::taken_by;
use super::names::FlowNames;
use super::nested::{FlowPlace, Nesting};
use super::problems::{Problems, left_out, unreadable};
use super::side_by_side::side_by_side;
use super::stock::{Judge, JudgedFlow, Manner, Stock, Within};
use super::{CatalogCheck, CatalogError, CheckOptions, INDEX, OpenedRevision, in_folder, is_category};
use crate::cache::RecordFile;
use crate::code::Code;
use crate::discover::{Category, FlowIndex, FlowRow, IndexRows, OverlookedFile, TemplateRow, TemplateTitle};
use crate::model::wire::{is_among_tests, read_tests};
use crate::model::{Directory, Toolbox, Unusable};
use crate::names::{CatalogPath, Comparisons, file_stem};
use crate::source::{Files, Problem, ProblemKind, Snapshot, Text};
use crate::validate::{Finding, Guidance, ParsedFlows, Reach, Severity, StrayExample, Twins, parse};

/// Files of flows that were read again, by number.
type Again = BTreeMap<usize, Result<ParsedFlows, Unusable>>;

/// Opens a revision: from the kept index, else by reading every file.
pub(super) async fn open<K: Default>(
    snapshot: Arc<Snapshot>,
    revision: String,
    lenient: bool,
) -> Result<Arc<OpenedRevision<K>>, CatalogError> {
    let name = if lenient { format!("{INDEX}-lenient") } else { INDEX.to_owned() };
    if let Some(index) = snapshot.derived(&name).await.and_then(on_disk) {
        return Ok(Arc::new(OpenedRevision::new(revision, index, None)));
    }
    let building = build(&snapshot, Building::new(snapshot.files().await?, lenient)).await?;
    let names = building.names();
    let again = building.read_again(&snapshot, &names, Vec::new()).await;
    let whole = building.whole && again.values().all(Result::is_ok);
    let built = tokio::task::spawn_blocking(move || building.finish(&again, &names).records()).await;
    let records = built.map_err(stopped)?;
    // What is on disk need not stay in memory.
    let kept = if whole { snapshot.keep_derived(&name, records).await } else { Err(records) };
    let index = kept.map_or_else(FlowIndex::in_memory, on_disk).ok_or(CatalogError::IndexUnreadable)?;
    let lacking: Option<Weak<Snapshot>> = (!whole).then(|| Arc::downgrade(&snapshot));
    Ok(Arc::new(OpenedRevision::new(revision, index, lacking)))
}

fn stopped<E>(_: E) -> CatalogError {
    CatalogError::Stopped
}

/// Checks all flows of a revision, with few files in memory at a time. Of the contents nothing is kept.
///
/// # Errors
/// When the source does not answer.
pub(super) async fn whole(snapshot: &Snapshot, options: CheckOptions<'_>) -> Result<CatalogCheck, CatalogError> {
    let files = snapshot.files().await?;
    let checking = Checking { tools: options.tools.cloned(), found: BTreeMap::new(), guidance: BTreeMap::new() };
    let building = Building { checking: Some(checking), ..Building::new(files.clone(), options.lenient) };
    let building = build(snapshot, building).await?;
    let names = building.names();
    // What tests are about is looked at again.
    let tests = options.instead.iter().filter(|(path, _)| is_among_tests(path.as_str()));
    // Those of a file with faults are looked at, too.
    let tested_flows = tests.filter_map(|(path, bytes)| parse(path, bytes).ok()).flat_map(|file| read_tests(&file));
    let about = tested_flows.filter_map(|test| Some(names.find(&test.flow, &Comparisons::none()).ok()?.0)).collect();
    let mut again = building.read_again(snapshot, &names, about).await;
    let settled = tokio::task::spawn_blocking(move || {
        let mut building = building;
        building.settle(&again, &names);
        let strays = stray_examples(&building.file_of, &building.flows);
        (building, again, names, strays)
    });
    let (mut building, names, strays);
    (building, again, names, strays) = settled.await.map_err(stopped)?;
    building.read_more(snapshot, strays.keys().map(|(number, _)| *number).collect(), &mut again).await;
    let finished = tokio::task::spawn_blocking(move || {
        building.note_strays(&again, &names, &strays);
        (building, again, names)
    });
    let (building, again, names) = finished.await.map_err(stopped)?;
    let problems = snapshot.problems().await?;
    let tests = {
        let twins = names.twins();
        let (files, by_name) =
            (|file: usize| again.get(&file), |name: &str, comparisons: &Comparisons| names.find(name, comparisons));
        let nesting = Nesting::new(&files, &by_name, building.judge(Some(&twins)));
        let comparisons = Comparisons::default();
        let find = |name: &str| tested(&nesting, names.find(name, &comparisons)?);
        check_tests(options, &find)
    };
    let Some(checking) = building.checking else { return Ok(CatalogCheck::default()) };
    let in_flows: Vec<FoundInFlows> = checking.found.into_values().collect();
    let of_paths = of_paths(&overlooked(&problems), files.iter().map(|(path, _)| path));
    let beside = beside_flows(of_paths, &doubtful(&problems), &checking.guidance, &in_flows);
    let mut checked = report(in_flows, &building.stock, &building.left_out, beside, options);
    checked.files.extend(tests);
    Ok(checked)
}

/// Reads every file once, a few at a time: while some are checked the next ones are read.
async fn build(snapshot: &Snapshot, mut building: Building) -> Result<Building, CatalogError> {
    // What flows name is known before the first of them is checked.
    let mut reading = snapshot.reading(|path| !in_folder(path.as_str(), "flows")).await?;
    building.leave_out(&snapshot.problems().await?);
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

/// An index as it is kept: a start or a page reads of it what they need.
fn on_disk(kept: RecordFile) -> Option<FlowIndex> {
    FlowIndex::open(move |number| kept.read(number))
}

/// The entries of a catalog that are not among its files; a file that could not be had is, and comes
/// with its error when it is read.
pub(super) fn not_among<'p>(files: &Files, problems: &'p [Problem]) -> impl Iterator<Item = &'p Problem> {
    let is_file = |path: &str| CatalogPath::new(path).is_ok_and(|path| files.get(&path).is_some());
    problems.iter().filter(move |problem| match &problem.kind {
        ProblemKind::Failed(_) => !is_file(&problem.path),
        // Nothing is read there.
        ProblemKind::Overlooked { .. } | ProblemKind::Doubtful { .. } => false,
        _ => true,
    })
}

/// An index in the making, of one batch of files after the other: all flows come after all that is no flow.
struct Building {
    files: Arc<Files>,
    lenient: bool,
    /// Whether every file could be read.
    whole: bool,
    problems: Problems,
    stock: Stock,
    /// Made of the templates when the first flow comes.
    directory: OnceLock<Directory>,
    flows: Vec<FlowRow>,
    /// The number of each flow's file.
    file_of: Vec<usize>,
    flow_files: Vec<CatalogPath>,
    /// Files of flows that can't be used.
    unusable: Vec<Unusable>,
    /// What is not among the files, and why.
    overlooked: Vec<OverlookedFile>,
    left_out: Vec<Unusable>,
    categories: Vec<Category>,
    /// Files whose flows go through other flows, by number, each with its flows.
    nested: BTreeMap<usize, Range<usize>>,
    /// What a check of the catalog finds, where that is wanted.
    checking: Option<Checking>,
}

/// A check in the making.
struct Checking {
    tools: Option<Arc<Toolbox>>,
    /// By the number of the file.
    found: BTreeMap<usize, FoundInFlows>,
    /// The texts of personas and contracts.
    guidance: BTreeMap<CatalogPath, Arc<[u8]>>,
}

/// What was read of a file of flows.
struct ReadFile {
    entries: Vec<FlowRow>,
    findings: Vec<Finding>,
    unusable: Option<Unusable>,
    category: Option<Category>,
    /// Whether its flows go through others, so that they are checked when all names are known.
    nests: bool,
    found: Option<FoundInFlows>,
}

impl Building {
    fn new(files: Arc<Files>, lenient: bool) -> Self {
        let flows = files.iter().filter(|(path, _)| in_folder(path.as_str(), "flows")).count();
        Self {
            files,
            lenient,
            whole: true,
            problems: Problems::default(),
            stock: Stock::default(),
            directory: OnceLock::new(),
            // Of thousands of files nothing is held twice.
            flows: Vec::with_capacity(flows),
            file_of: Vec::with_capacity(flows),
            flow_files: Vec::with_capacity(flows),
            unusable: Vec::new(),
            left_out: Vec::new(),
            overlooked: Vec::new(),
            categories: Vec::new(),
            nested: BTreeMap::new(),
            checking: None,
        }
    }

    /// Notes what is not among the files: whoever names it is told why it can't be used.
    fn leave_out(&mut self, problems: &[Problem]) {
        let of = |files: Vec<(String, String)>, doubtful: bool| {
            files.into_iter().map(move |(path, meant)| OverlookedFile { path, meant, doubtful })
        };
        self.overlooked = of(overlooked(problems), false).chain(of(doubtful(problems), true)).collect();
        let files = self.files.clone();
        for unusable in not_among(&files, problems).map(left_out) {
            self.problems.note_unreadable(&unusable);
            match CatalogPath::new(&unusable.file) {
                Ok(path) if !in_folder(path.as_str(), "flows") => self.stock.take(&path, Err(unusable.clone())),
                _ => self.unusable.push(unusable.clone()),
            }
            self.left_out.push(unusable);
        }
    }

    fn take(&mut self, texts: Vec<Text>) {
        let mut of_flows: Vec<FileText> = Vec::new();
        let mut others: Vec<FileText> = Vec::new();
        for (path, bytes) in texts {
            self.whole &= bytes.is_ok();
            let bytes = bytes.map_err(|error| unreadable(path.as_str(), &error));
            if let Err(unusable) = &bytes
                && !is_guidance(&path)
            {
                self.problems.note_unreadable(unusable);
            }
            if in_folder(path.as_str(), "flows") { of_flows.push((path, bytes)) } else { others.push((path, bytes)) }
        }
        self.stock.take_all(&others);
        for (path, bytes) in others {
            if let Some(templates) = self.stock.templates.get(path.as_str()) {
                self.problems.note_errors(&templates.findings);
            }
            if let (Some(checking), Ok(bytes), true) = (&mut self.checking, bytes, Guidance::is_guidance(&path)) {
                checking.guidance.insert(path, bytes);
            }
        }
        let read = side_by_side(&of_flows, |(path, bytes)| self.read(path, bytes));
        for ((path, _), read) in of_flows.into_iter().zip(read) {
            self.note(path, read);
        }
    }

    fn note(&mut self, path: CatalogPath, read: ReadFile) {
        let (number, begin) = (self.flow_files.len(), self.flows.len());
        self.flows.extend(read.entries);
        self.problems.note_errors(&read.findings);
        self.unusable.extend(read.unusable);
        self.categories.extend(read.category);
        if read.nests {
            self.nested.insert(number, begin..self.flows.len());
        }
        if let (Some(checking), Some(found)) = (&mut self.checking, read.found) {
            checking.found.insert(number, found);
        }
        self.flow_files.push(path);
        self.file_of.resize(self.flows.len(), number);
    }

    /// Reads a file of flows; checks these unless they go through others.
    fn read(&self, path: &CatalogPath, bytes: &Result<Arc<[u8]>, Unusable>) -> ReadFile {
        let read = read_flows(path, bytes);
        let nothing = ReadFile {
            entries: Vec::new(),
            findings: Vec::new(),
            unusable: None,
            category: None,
            nests: false,
            found: None,
        };
        let file = match &read {
            Err(unusable) => {
                let found = self.found(path, &read, &[]);
                return ReadFile { unusable: Some(unusable.clone()), found, ..nothing };
            }
            Ok(file) if is_category(path) => {
                let category = file.document().and_then(|document| category(path, document));
                let findings = if file.document().is_none() { file.findings() } else { Vec::new() };
                return ReadFile { findings, category, found: self.found(path, &read, &[]), ..nothing };
            }
            Ok(file) => file,
        };
        let unusable = file.unusable();
        if file.flows().iter().any(|(_, names)| !names.flows.is_empty()) {
            // They are checked when all names are known; now their own are noted.
            let plain = |(flow, _): &(Arc<_>, _)| entry(flow, None, self.oid(path));
            return ReadFile { entries: file.flows().iter().map(plain).collect(), unusable, nests: true, ..nothing };
        }
        let (judge, checker) = (self.judge(None), file.checker());
        let places = 0..file.flows().len();
        let flows = places.filter_map(|place| judge.flow(file, &checker, place, &Within::default(), &[]));
        let flows: Vec<Arc<JudgedFlow>> = flows.map(Arc::new).collect();
        let entries = flows.iter().map(|judged| listed(judged, self.oid(path))).collect();
        let found = self.found(path, &read, &flows);
        let of_flows = flows.iter().flat_map(|judged| judged.findings.iter().cloned());
        let findings = file.findings().into_iter().chain(of_flows).collect();
        ReadFile { entries, findings, unusable, found, ..nothing }
    }

    /// What a check finds in a file, where one is made.
    fn found(
        &self,
        path: &CatalogPath,
        file: &Result<ParsedFlows, Unusable>,
        flows: &[Arc<JudgedFlow>],
    ) -> Option<FoundInFlows> {
        let checking = self.checking.as_ref()?;
        let (tools, instead) = (checking.tools.as_ref(), &BTreeMap::new());
        let lenient = self.lenient;
        let options = CheckOptions { wanted: &|_| true, whole: true, contents: false, lenient, tools, instead };
        Some(FoundInFlows::of(path, file, flows, options))
    }

    fn judge<'a>(&'a self, twins: Option<&'a Twins>) -> Judge<'a> {
        let directory = self.directory.get_or_init(|| self.stock.directory());
        let tools = self.checking.as_ref().and_then(|checking| checking.tools.as_deref());
        let unchecked_calls = self.checking.is_some();
        let manner = Manner { lenient: self.lenient, unchecked_calls, tools, twins };
        Judge { directory, stock: &self.stock, manner }
    }

    /// A file's id where it has one.
    fn oid(&self, path: &CatalogPath) -> String {
        self.files.get(path).and_then(|file| file.oid.as_ref()).map(ToString::to_string).unwrap_or_default()
    }

    /// What its flows go by.
    fn names(&self) -> FlowNames {
        let mut names = FlowNames::default();
        for (flow, file) in self.flows.iter().zip(&self.file_of) {
            let stem = file_stem(&flow.file);
            let names_of = [Some(flow.name.as_str()), Some(stem), flow.meta_name.as_deref(), flow.flow_id.as_deref()];
            names.note((*file, flow.place_in_file), &flow.file, names_of);
        }
        for unusable in &self.unusable {
            names.note_unusable(unusable);
        }
        names
    }

    /// Reads the files again whose flows go through other flows, those of the flows that they go
    /// through, those whose flows share a name, and some others.
    async fn read_again(&self, snapshot: &Snapshot, names: &FlowNames, others: Vec<usize>) -> Again {
        let mut again = Again::new();
        let mut files: Vec<usize> = self.nested.keys().copied().chain(names.files_of_twins()).chain(others).collect();
        while let Some(number) = files.pop() {
            if again.contains_key(&number) {
                continue;
            }
            self.read_more(snapshot, vec![number], &mut again).await;
            if let Some(Ok(file)) = again.get(&number) {
                let uses = file.flows().iter().flat_map(|(_, names)| &names.flows);
                files.extend(uses.filter_map(|name| names.find(name, &Comparisons::none()).ok()).map(|(file, _)| file));
            }
        }
        again
    }

    /// Reads files again that were not.
    async fn read_more(&self, snapshot: &Snapshot, numbers: Vec<usize>, again: &mut Again) {
        for number in numbers {
            let Some(path) = self.flow_files.get(number).filter(|_| !again.contains_key(&number)) else { continue };
            let read = snapshot.read(path).await.map_err(|error| unreadable(path.as_str(), &error));
            again.insert(number, read_flows(path, &read));
        }
    }

    /// Checks what was read again, now that all flows are known.
    fn settle(&mut self, again: &Again, names: &FlowNames) {
        let twins = names.twins();
        let (mut entries, mut findings, mut found) = (Vec::new(), Vec::new(), Vec::new());
        {
            let (files, find) =
                (|file: usize| again.get(&file), |name: &str, comparisons: &Comparisons| names.find(name, comparisons));
            let nesting = Nesting::new(&files, &find, self.judge(Some(&twins)));
            let shared: BTreeSet<usize> = names.files_of_twins().collect();
            for (number, read) in again {
                let nests = self.nested.get(number);
                if nests.is_none() && !shared.contains(number) {
                    continue;
                }
                let Some(path) = self.flow_files.get(*number) else { continue };
                let flows = nesting.flows(*number);
                found.extend(self.found(path, read, &flows).map(|found| (*number, found)));
                let Ok(file) = read else { continue };
                findings.extend(file.findings());
                findings.extend(flows.iter().flat_map(|judged| judged.findings.iter().cloned()));
                if let Some(place) = nests {
                    let now = flows.iter().map(|judged| listed(judged, self.oid(path)));
                    entries.extend(place.clone().zip(now));
                }
            }
        }
        self.problems.note_errors(&findings);
        for (place, now) in entries {
            if let Some(entry) = self.flows.get_mut(place) {
                *entry = now;
            }
        }
        if let Some(checking) = &mut self.checking {
            checking.found.extend(found);
        }
    }

    /// Checks the flows again that have examples which find others; what those are is known when every flow is.
    fn note_strays(&mut self, again: &Again, names: &FlowNames, strays: &BTreeMap<FlowPlace, Vec<StrayExample>>) {
        let twins = names.twins();
        let mut found = Vec::new();
        {
            let (files, find) =
                (|file: usize| again.get(&file), |name: &str, comparisons: &Comparisons| names.find(name, comparisons));
            let judge = self.judge(Some(&twins));
            let nesting = Nesting::new(&files, &find, judge);
            let numbers: BTreeSet<usize> = strays.keys().map(|(number, _)| *number).collect();
            for number in numbers {
                let (Some(path), Some(read @ Ok(file))) = (self.flow_files.get(number), again.get(&number)) else {
                    continue;
                };
                let checker = file.checker();
                let with_strays = |place: usize| {
                    let within = nesting.within((number, place));
                    let strays = strays.get(&(number, place)).map(Vec::as_slice).unwrap_or_default();
                    judge.flow(file, &checker, place, &within, strays).map(Arc::new)
                };
                let flows: Vec<Arc<JudgedFlow>> = (0..file.flows().len()).filter_map(with_strays).collect();
                found.extend(self.found(path, read, &flows).map(|found| (number, found)));
            }
        }
        if let Some(checking) = &mut self.checking {
            checking.found.extend(found);
        }
    }

    /// The index, now that all flows are known.
    fn finish(mut self, again: &Again, names: &FlowNames) -> IndexRows {
        self.settle(again, names);
        let templates = self.template_entries();
        IndexRows::new(self.flows, templates, self.problems.all, self.categories).overlooking(self.overlooked)
    }

    fn template_entries(&self) -> Vec<TemplateRow> {
        let entry = |(path, read): (&CatalogPath, &super::stock::TemplatesOfFile)| {
            let titles = read.all().iter().map(|one| TemplateTitle { id: one.id.clone(), title: one.title.clone() });
            let mut seen: HashSet<String> = HashSet::new();
            let names = read.all().iter().flat_map(|template| taken_by(template));
            let variables = names.filter(|name| seen.insert(name.clone())).collect();
            TemplateRow {
                file: path.to_string(),
                stem: path.stem().to_owned(),
                oid: self.oid(path),
                titles: titles.collect(),
                variables,
            }
        };
        self.stock.templates.iter().map(entry).collect()
    }
}

/// A persona or a contract that can't be read is told by the flows that name it.
fn is_guidance(path: &CatalogPath) -> bool {
    !in_folder(path.as_str(), "flows") && !in_folder(path.as_str(), "templates")
}

/// The entry of a flow that was checked. That others have its name too is no error of its own.
fn listed(judged: &JudgedFlow, oid: String) -> FlowRow {
    let shared = |finding: &Finding| finding.reach == Reach::None && finding.code == Code::AmbiguousName;
    let broken = judged.findings.iter().any(|finding| finding.severity == Severity::Error && !shared(finding));
    FlowRow { broken, ..entry(&judged.flow, judged.plan.as_deref(), oid) }
}
