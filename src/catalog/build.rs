//! Building the listing index of a revision: every file is read, and its flows are checked and planned.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::{Arc, OnceLock, Weak};

use super::entry::{category, entry};
use super::inputs::taken_by;
use super::names::FlowNames;
use super::nested::Nesting;
use super::problems::{Problems, left_out, unreadable};
use super::stock::{Judge, JudgedFlow, Manner, Stock, Within};
use super::{CatalogError, INDEX, OpenedRevision, in_folder, is_category};
use crate::cache::RecordFile;
use crate::code::Code;
use crate::discover::{Category, FlowIndex, FlowRow, IndexRows, TemplateRow, TemplateTitle};
use crate::model::{Directory, Unusable};
use crate::names::{CatalogPath, file_stem};
use crate::source::{Files, Problem, ProblemKind, Snapshot, Text};
use crate::validate::{Finding, ParsedFlows, Reach, Severity, Twins};

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
    let building = build(&snapshot, lenient).await?;
    let names = building.names();
    let again = building.read_again(&snapshot, &names).await;
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

/// Reads every file once, a few at a time: while some are checked the next ones are read.
async fn build(snapshot: &Snapshot, lenient: bool) -> Result<Building, CatalogError> {
    // What flows name is known before the first of them is checked.
    let mut reading = snapshot.reading(|path| !in_folder(path.as_str(), "flows")).await?;
    let mut building = Building::new(snapshot.files().await?, lenient);
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
        ProblemKind::Overlooked { .. } => false,
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
    categories: Vec<Category>,
    /// Files whose flows go through other flows, by number, each with its flows.
    nested: BTreeMap<usize, Range<usize>>,
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
            categories: Vec::new(),
            nested: BTreeMap::new(),
        }
    }

    /// Notes what is not among the files: whoever names it is told why it can't be used.
    fn leave_out(&mut self, problems: &[Problem]) {
        let files = self.files.clone();
        for unusable in not_among(&files, problems).map(left_out) {
            self.problems.note_unreadable(&unusable);
            match CatalogPath::new(&unusable.file) {
                Ok(path) if !in_folder(path.as_str(), "flows") => self.stock.take(&path, Err(unusable)),
                _ => self.unusable.push(unusable),
            }
        }
    }

    fn take(&mut self, texts: Vec<Text>) {
        for (path, bytes) in texts {
            self.whole &= bytes.is_ok();
            let bytes = bytes.map_err(|error| unreadable(path.as_str(), &error));
            if let Err(unusable) = &bytes
                && !is_guidance(&path)
            {
                self.problems.note_unreadable(unusable);
            }
            if in_folder(path.as_str(), "flows") {
                self.take_flows(path, bytes.as_deref().map_err(Clone::clone));
            } else {
                self.stock.take(&path, bytes.as_deref().map_err(Clone::clone));
                if let Some(templates) = self.stock.templates.get(path.as_str()) {
                    self.problems.note_errors(&templates.findings);
                }
            }
        }
    }

    fn take_flows(&mut self, path: CatalogPath, bytes: Result<&[u8], Unusable>) {
        let (number, begin) = (self.flow_files.len(), self.flows.len());
        match bytes.map(|bytes| ParsedFlows::read(&path, bytes)) {
            Err(unusable) => self.unusable.push(unusable),
            Ok(file) if is_category(&path) => self.take_category(&file),
            Ok(file) => {
                let nests = file.flows().iter().any(|(_, names)| !names.flows.is_empty());
                let (entries, findings) = if nests {
                    // They are checked when all names are known; now their own are noted.
                    let plain = |(flow, _): &(Arc<_>, _)| entry(flow, None, self.oid(&path));
                    (file.flows().iter().map(plain).collect(), Vec::new())
                } else {
                    self.judged(&file)
                };
                self.unusable.extend(file.unusable());
                self.flows.extend::<Vec<FlowRow>>(entries);
                self.problems.note_errors(&findings);
                if nests {
                    self.nested.insert(number, begin..self.flows.len());
                }
            }
        }
        self.flow_files.push(path);
        self.file_of.resize(self.flows.len(), number);
    }

    fn take_category(&mut self, file: &ParsedFlows) {
        match file.document() {
            Some(document) => self.categories.extend(category(file.path(), document)),
            None => self.problems.note_errors(&file.findings()),
        }
    }

    /// The entries of a file whose flows go through no others, and what was found in them.
    fn judged(&self, file: &ParsedFlows) -> (Vec<FlowRow>, Vec<Finding>) {
        let (judge, checker) = (self.judge(None), file.checker());
        let places = 0..file.flows().len();
        let flows: Vec<JudgedFlow> =
            places.filter_map(|place| judge.flow(file, &checker, place, &Within::default(), &[])).collect();
        let entries = flows.iter().map(|judged| listed(judged, self.oid(file.path()))).collect();
        let of_flows = flows.into_iter().flat_map(|judged| judged.findings);
        (entries, file.findings().into_iter().chain(of_flows).collect())
    }

    fn judge<'a>(&'a self, twins: Option<&'a Twins>) -> Judge<'a> {
        let directory = self.directory.get_or_init(|| self.stock.directory());
        let manner = Manner { lenient: self.lenient, twins, ..Manner::default() };
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
    /// through, and those whose flows share a name.
    async fn read_again(&self, snapshot: &Snapshot, names: &FlowNames) -> Again {
        let mut again = Again::new();
        let mut files: Vec<usize> = self.nested.keys().copied().chain(names.files_of_twins()).collect();
        while let Some(number) = files.pop() {
            let Some(path) = self.flow_files.get(number).filter(|_| !again.contains_key(&number)) else { continue };
            let read = snapshot.read(path).await.map_err(|error| unreadable(path.as_str(), &error));
            let file = read.map(|bytes| ParsedFlows::read(path, &bytes));
            if let Ok(file) = &file {
                let uses = file.flows().iter().flat_map(|(_, names)| &names.flows);
                files.extend(uses.filter_map(|name| names.find(name).ok()).map(|(file, _)| file));
            }
            again.insert(number, file);
        }
        again
    }

    /// The index, now that all flows are known.
    fn finish(mut self, again: &Again, names: &FlowNames) -> IndexRows {
        let twins = names.twins();
        let (mut entries, mut findings) = (Vec::new(), Vec::new());
        {
            let (files, find) = (|file: usize| again.get(&file), |name: &str| names.find(name));
            let nesting = Nesting::new(&files, &find, self.judge(Some(&twins)));
            let shared: BTreeSet<usize> = names.files_of_twins().collect();
            for (number, file) in again.iter().filter_map(|(number, file)| Some((*number, file.as_ref().ok()?))) {
                let nests = self.nested.get(&number);
                if nests.is_none() && !shared.contains(&number) {
                    continue;
                }
                let flows = nesting.flows(number);
                findings.extend(file.findings());
                findings.extend(flows.iter().flat_map(|judged| judged.findings.iter().cloned()));
                if let Some(place) = nests {
                    let now = flows.iter().map(|judged| listed(judged, self.oid(file.path())));
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
        let templates = self.template_entries();
        IndexRows::new(self.flows, templates, self.problems.all, self.categories)
    }

    fn template_entries(&self) -> Vec<TemplateRow> {
        let entry = |(file, read): (&String, &super::stock::TemplatesOfFile)| {
            let titles = read.all().iter().map(|one| TemplateTitle { id: one.id.clone(), title: one.title.clone() });
            let mut seen: HashSet<String> = HashSet::new();
            let names = read.all().iter().flat_map(|template| taken_by(template));
            let variables = names.filter(|name| seen.insert(name.clone())).collect();
            let oid = CatalogPath::new(file).map(|path| self.oid(&path)).unwrap_or_default();
            TemplateRow {
                file: file.clone(),
                stem: file_stem(file).to_owned(),
                oid,
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
