//! A source's files at one revision, as flows: the listing index, look-ups, and flows made ready.

mod build;
mod calls;
mod check;
mod desk;
mod entry;
mod error;
mod findable;
mod inputs;
mod kept_check;
mod names;
mod nested;
mod prepare;
mod problems;
mod side_by_side;
mod stock;
mod templates;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, Weak};

use crate::cache::Flights;
use crate::config::Settings;
use crate::discover::{DamagedIndex, Figures, FileProblem, FlowIndex, NameMatch, Page, Selection, TemplateRow, page};
use crate::document::Position;
use crate::lock::lock;
use crate::model::wire::is_markdown;
use crate::model::{Directory, Listed, Lookup, Toolbox, Unusable};
use crate::names::{CatalogPath, Comparisons, ItemName, MOST_NAMED, file_stem, folded, quoted, shown};
use crate::source::{Snapshot, View};

pub use calls::calls_of;
pub use check::{CatalogCheck, CheckOptions, FileFacts, ReportedFile, check, in_order, sifted, texts};
pub use desk::{Desk, FlowReading};
pub use error::{Candidate, CatalogError, ItemKind, code_of, is_passing};
pub use inputs::{Variable, in_sets, named_in, normal, taken_by, variables};
pub use names::near;
use names::near_within;
pub use prepare::Prepared;
pub(crate) use problems::{instead_of, too_large};

/// Under which name the index is kept beside a revision. The number is part of the name: another
/// version of the program builds its own.
const INDEX: &str = concat!("index-", env!("CARGO_PKG_VERSION"));
/// How many revisions are kept open.
const OPEN_CATALOGS: usize = 8;
/// Beyond so many flows in all, only the last two revisions are: each push of a large repository opens one.
const OPEN_FLOWS: usize = 10_000;
/// How many pages of a listing are kept for each revision: clients ask for the same one again and again.
const KEPT_PAGES: usize = 8;
/// How many flows are kept ready for each revision.
const READY_FLOWS: usize = 128;

/// Where an answer comes from, and how current that is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Branch, tag or commit that was read; none for a folder.
    pub git_ref: Option<String>,
    /// The commit; none for a folder.
    pub commit: Option<String>,
    /// What a cursor is pinned to: the commit, or a hash of a folder's state.
    pub revision: String,
    /// Whether this is a copy that was kept: nobody was asked, or in vain.
    pub cached: bool,
    /// How old the answer is, in whole seconds.
    pub age_seconds: u64,
    /// Why an older state is served, where it is.
    pub stale: Option<String>,
    /// How much longer the answer is fresh, in milliseconds.
    pub fresh_for_ms: u64,
    /// A ref that was asked for and that the source can't have.
    pub ignored_ref: Option<IgnoredRef>,
    /// The flow that was taken for a name that is spelt otherwise.
    pub inexact_name: Option<InexactName>,
}

/// A flow that differs from the name that was asked for in case, blanks, `-` and `_` alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InexactName {
    /// What was asked for.
    pub asked: String,
    /// The flow's own name.
    pub used: String,
    /// The file, where that was asked for by the name within it.
    pub file: Option<String>,
}

impl std::fmt::Display for InexactName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.file {
            Some(file) => {
                let (asked, file, used) = (quoted(&self.asked), shown(file, 200), quoted(&self.used));
                write!(f, "{asked} is the name within {file}; the flow is listed as {used}")
            }
            None => write!(f, "no flow is spelt {}; flow {} is used", quoted(&self.asked), quoted(&self.used)),
        }
    }
}

/// A branch, tag or commit that was asked of a source without any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredRef {
    /// What was asked for.
    pub git_ref: String,
    /// The source in words.
    pub source: String,
}

impl std::fmt::Display for IgnoredRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the ref {} is not used: there are no versions of {}", quoted(&self.git_ref), self.source)
    }
}

/// One revision's flows; beside them stands `K`, what a room above works out of them.
pub struct Catalog<K> {
    snapshot: Arc<Snapshot>,
    origin: Origin,
    shared: Arc<OpenedRevision<K>>,
    lenient: bool,
    /// What is known of external tools at this moment.
    tools: Arc<Toolbox>,
}

/// What is worked out once for a revision.
struct OpenedRevision<K> {
    revision: String,
    /// The snapshot that lacked files which should be there: it stands for that one alone, because
    /// another of the same revision may have them.
    lacking: Option<Weak<Snapshot>>,
    index: FlowIndex,
    directory: OnceLock<Directory>,
    ready: Mutex<VecDeque<(String, usize, Arc<Prepared>)>>,
    problems: OnceLock<Vec<FileProblem>>,
    pages: Mutex<VecDeque<(Selection, Arc<Page>)>>,
    /// The templates as listings show them.
    templates: Mutex<Option<FlowIndex>>,
    beside: K,
}

/// The revisions that are open.
pub struct Catalogs<K> {
    open: Mutex<VecDeque<Arc<OpenedRevision<K>>>>,
    flights: Flights<String, Result<Arc<OpenedRevision<K>>, CatalogError>>,
}

impl<K: Default + Send + Sync + 'static> Catalogs<K> {
    /// None is open.
    pub(crate) fn new() -> Self {
        Self { open: Mutex::new(VecDeque::new()), flights: Flights::new() }
    }

    /// The flows of a view, from memory, from the kept index, or by reading every file.
    ///
    /// # Errors
    /// When the source does not answer.
    pub async fn of(
        &self,
        view: View,
        ignored_ref: Option<IgnoredRef>,
        settings: &Settings,
        tools: Arc<Toolbox>,
    ) -> Result<Arc<Catalog<K>>, CatalogError> {
        let origin = Origin { ignored_ref, ..origin(&view) };
        let lenient = settings.lenient;
        let key = format!("{}{}", origin.revision, if lenient { " lenient" } else { "" });
        let shared = match self.kept(&key, &view.snapshot) {
            Some(shared) => shared,
            None => {
                // However many ask for a new revision at once, its files are read once.
                let snapshot = view.snapshot.clone();
                let flight = self.flights.join(key.clone(), move || build::open(snapshot, key, lenient)).await;
                let opened = flight.unwrap_or(Err(CatalogError::Stopped))?;
                let mut open = lock(&self.open);
                open.retain(|other| other.revision != opened.revision);
                open.push_back(opened.clone());
                let too_many = |open: &VecDeque<Arc<OpenedRevision<K>>>| {
                    let flows: usize = open.iter().map(|one| one.index.len()).sum();
                    open.len() > OPEN_CATALOGS || (open.len() > 2 && flows > OPEN_FLOWS)
                };
                while too_many(&open) {
                    open.pop_front();
                }
                opened
            }
        };
        Ok(Arc::new(Catalog { snapshot: view.snapshot, origin, shared, lenient, tools }))
    }

    fn kept(&self, key: &str, snapshot: &Arc<Snapshot>) -> Option<Arc<OpenedRevision<K>>> {
        let open = lock(&self.open);
        open.iter().find(|opened| opened.revision == key && opened.stands_for(snapshot)).cloned()
    }
}

impl<K: Default> OpenedRevision<K> {
    fn new(revision: String, index: FlowIndex, lacking: Option<Weak<Snapshot>>) -> Self {
        Self {
            revision,
            lacking,
            index,
            directory: OnceLock::new(),
            ready: Mutex::default(),
            problems: OnceLock::new(),
            pages: Mutex::default(),
            templates: Mutex::default(),
            beside: K::default(),
        }
    }
}

impl<K> OpenedRevision<K> {
    fn stands_for(&self, snapshot: &Arc<Snapshot>) -> bool {
        !self.index.is_damaged()
            && self.lacking.as_ref().is_none_or(|lacking| std::ptr::eq(lacking.as_ptr(), Arc::as_ptr(snapshot)))
    }
}

/// Where a view's answers come from.
pub fn origin(view: &View) -> Origin {
    Origin {
        git_ref: view.snapshot.git_ref().map(ToString::to_string),
        commit: view.snapshot.commit().map(ToString::to_string),
        revision: view.snapshot.revision().to_owned(),
        // An older copy is one that was kept, also when somebody was asked in vain.
        cached: view.cached || view.stale.is_some(),
        age_seconds: view.age.as_secs(),
        stale: view.stale.as_ref().map(|stale| stale.reason.to_string()),
        fresh_for_ms: u64::try_from(view.fresh_for.as_millis()).unwrap_or(u64::MAX),
        ignored_ref: None,
        inexact_name: None,
    }
}

/// Whether a path lies below a top folder. What is no file of a catalog never gets here: the source
/// leaves it out.
fn in_folder(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether a file says what a folder of flows is, instead of holding any.
fn is_category(path: &CatalogPath) -> bool {
    path.stem() == "_category" && !is_markdown(path.as_str())
}

impl<K: Send + Sync> Catalog<K> {
    /// Where its answers come from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The files that it is of.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Where a flow comes from that was asked for by a name.
    pub fn origin_of(&self, flow: &Prepared, asked: &str) -> Origin {
        let entry = &flow.entry;
        // The name within a file may be any; whoever uses it is told of the one that listings show.
        let within = Some(asked) == entry.meta_name.as_deref() && folded(asked) != folded(&entry.name);
        let file = within.then(|| entry.file.clone());
        let inexact = || InexactName { asked: asked.to_owned(), used: entry.name.clone(), file };
        Origin { inexact_name: (within || !entry.goes_by(asked)).then(inexact), ..self.origin.clone() }
    }

    /// The listing index.
    pub fn index(&self) -> &FlowIndex {
        &self.shared.index
    }

    /// What is known of external tools.
    pub fn tools(&self) -> &Arc<Toolbox> {
        &self.tools
    }

    /// What a room above worked out of this revision.
    pub fn beside(&self) -> &K {
        &self.shared.beside
    }

    /// Files with errors.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn problems(&self) -> Result<&[FileProblem], DamagedIndex> {
        if let Some(problems) = self.shared.problems.get() {
            return Ok(problems);
        }
        let problems = self.index().problems()?;
        Ok(self.shared.problems.get_or_init(|| problems))
    }

    /// One page of the listing of an index of this catalog, from memory where it is.
    ///
    /// # Errors
    /// When the selection can't be understood, or the index is damaged.
    pub fn page(
        &self,
        index: &FlowIndex,
        selection: &Selection,
        figures: &Figures<'_>,
    ) -> Result<Arc<Page>, CatalogError> {
        let pages = || lock(&self.shared.pages);
        if let Some((_, page)) = pages().iter().find(|(other, _)| other == selection) {
            return Ok(page.clone());
        }
        let page = Arc::new(page(index, selection, &self.origin.revision, figures)?);
        if selection.goes_by_usage() {
            return Ok(page);
        }
        let mut pages = pages();
        pages.push_back((selection.clone(), page.clone()));
        while pages.len() > KEPT_PAGES {
            pages.pop_front();
        }
        Ok(page)
    }

    /// The templates by the names they go by.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn directory(&self) -> Result<&Directory, DamagedIndex> {
        if let Some(directory) = self.shared.directory.get() {
            return Ok(directory);
        }
        let templates = self.index().templates()?;
        Ok(self.shared.directory.get_or_init(|| Directory::new(templates.iter().map(listed).collect())))
    }

    /// The place of a flow in the index. Where nothing is spelt as the name is, the only flow that differs in
    /// case, blanks, `-` and `_` alone is meant.
    ///
    /// # Errors
    /// A forbidden name, no flow of that name, or several.
    pub fn find(&self, name: &str) -> Result<usize, CatalogError> {
        self.find_within(name, &Comparisons::default())
    }

    /// The same, with what may be compared for the nearest names.
    fn find_within(&self, name: &str, comparisons: &Comparisons) -> Result<usize, CatalogError> {
        let kind = ItemKind::Flow;
        ItemName::new(name).map_err(|why| CatalogError::ForbiddenName { kind, why })?;
        match self.index().find(name)? {
            NameMatch::One(row) => Ok(row),
            NameMatch::Several(rows) => Err(self.ambiguous(name, &rows)?),
            NameMatch::Nothing => self.find_inexact(name, comparisons),
        }
    }

    /// The place of the flow that is meant by a name that no flow has.
    fn find_inexact(&self, name: &str, comparisons: &Comparisons) -> Result<usize, CatalogError> {
        if let Some(unusable) = self.unusable(name)? {
            return Err(CatalogError::Unusable(unusable));
        }
        let is_template = || CatalogError::IsTemplate { name: name.to_owned() };
        let templates = self.directory()?;
        if templates.has(name) {
            return Err(is_template());
        }
        match self.index().find_alike(name)? {
            NameMatch::One(row) => Ok(row),
            NameMatch::Several(rows) => Err(self.ambiguous(name, &rows)?),
            NameMatch::Nothing if !matches!(templates.resolve(name), Err(Lookup::Missing { .. })) => Err(is_template()),
            NameMatch::Nothing => {
                let nearest = near_within(name, self.index().names()?, comparisons);
                Err(CatalogError::NotFound { kind: ItemKind::Flow, name: name.to_owned(), nearest, misplaced: None })
            }
        }
    }

    /// The file of that stem that lists no flow because it can't be used: asked for, it says why.
    fn unusable(&self, name: &str) -> Result<Option<Unusable>, DamagedIndex> {
        let names_it = |problem: &&FileProblem| in_folder(&problem.file, "flows") && file_stem(&problem.file) == name;
        let Some(problem) = self.problems()?.iter().find(names_it) else { return Ok(None) };
        let at = problem.line.zip(problem.column).map(|(line, column)| Position { line, column });
        let (file, message) = (problem.file.clone(), problem.message.clone());
        Ok(Some(Unusable { file, code: problem.code, message, at, hints: vec![problem.hint.clone()] }))
    }

    /// Several flows go by a name.
    fn ambiguous(&self, name: &str, rows: &[usize]) -> Result<CatalogError, DamagedIndex> {
        let mut candidates = Vec::new();
        for row in rows.iter().take(MOST_NAMED) {
            let flow = self.index().row(*row)?;
            let stem = flow.stem().to_owned();
            let names = [Some(flow.name.clone()), Some(stem), flow.meta_name, flow.flow_id].into_iter().flatten();
            let other_name = names.into_iter().find(|other| self.index().find(other) == Ok(NameMatch::One(*row)));
            candidates.push(Candidate { name: flow.name, file: flow.file, other_name });
        }
        let more = rows.len() - candidates.len();
        Ok(CatalogError::AmbiguousFlow { name: name.to_owned(), candidates, more })
    }
}

/// A template file, as look-ups want it.
fn listed(file: &TemplateRow) -> Listed {
    Listed {
        entries: file.titles.iter().map(|title| (title.id.clone(), title.title.clone())).collect(),
        file: file.file.clone(),
        stem: file.stem.clone(),
    }
}
