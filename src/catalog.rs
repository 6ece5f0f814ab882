//! A source's files at one revision, as flows: the listing index, look-ups, and flows made ready.

mod build;
mod calls;
mod entry;
mod nested;
mod prepare;
mod problems;
mod templates;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use crate::app::expose::Exposure;
use crate::app::prompts::Offered;
use crate::app::{Code, Error};
use crate::cache::Flights;
use crate::config::Settings;
use crate::discover::{DamagedIndex, Figures, FileProblem, FlowIndex, NameMatch, Page, Selection, page};
use crate::model::{Directory, Listed, Toolbox};
use crate::names::{CatalogPath, ItemName, quoted};
use crate::source::{Snapshot, View};

pub(crate) use build::{broken, guidance, stem};
pub(crate) use calls::calls_of;
pub(crate) use entry::entry;
pub(crate) use nested::{FlowNames, Nesting, Within};
pub use prepare::Prepared;
pub(crate) use problems::problem as left_out;

/// Under which name the index is kept beside a revision. The number is part of the name: another
/// version of the program builds its own.
const INDEX: &str = concat!("index-", env!("CARGO_PKG_VERSION"));
/// How many revisions are kept open.
const OPEN_CATALOGS: usize = 8;
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

/// One revision's flows.
pub struct Catalog {
    snapshot: Arc<Snapshot>,
    origin: Origin,
    shared: Arc<Opened>,
    lenient: bool,
    /// What is known of external tools at this moment.
    tools: Arc<Toolbox>,
}

/// What is worked out once for a revision.
struct Opened {
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
    offered: Offered,
    exposure: OnceLock<Arc<Exposure>>,
}

/// The revisions that are open.
pub(crate) struct Catalogs {
    open: Mutex<VecDeque<Arc<Opened>>>,
    flights: Flights<String, Result<Arc<Opened>, Error>>,
}

impl Catalogs {
    pub(crate) fn new() -> Self {
        Self { open: Mutex::new(VecDeque::new()), flights: Flights::new() }
    }

    /// The flows of a view, from memory, from the kept index, or by reading every file.
    pub(crate) async fn of(
        &self,
        view: View,
        ignored_ref: Option<IgnoredRef>,
        settings: &Settings,
        tools: Arc<Toolbox>,
    ) -> Result<Arc<Catalog>, Error> {
        let origin = Origin { ignored_ref, ..origin(&view) };
        let lenient = settings.lenient;
        let key = format!("{}{}", origin.revision, if lenient { " lenient" } else { "" });
        let shared = match self.kept(&key, &view.snapshot) {
            Some(shared) => shared,
            None => {
                // However many ask for a new revision at once, its files are read once.
                let snapshot = view.snapshot.clone();
                let flight = self.flights.join(key.clone(), move || build::open(snapshot, key, lenient)).await;
                let opened = flight.unwrap_or_else(|| {
                    Err(Error::new(Code::InternalError, "reading the catalog was stopped by an internal error"))
                })?;
                let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
                open.retain(|other| other.revision != opened.revision);
                open.push_back(opened.clone());
                while open.len() > OPEN_CATALOGS {
                    open.pop_front();
                }
                opened
            }
        };
        Ok(Arc::new(Catalog { snapshot: view.snapshot, origin, shared, lenient, tools }))
    }

    fn kept(&self, key: &str, snapshot: &Arc<Snapshot>) -> Option<Arc<Opened>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.iter().find(|opened| opened.revision == key && opened.stands_for(snapshot)).cloned()
    }
}

impl Opened {
    fn stands_for(&self, snapshot: &Arc<Snapshot>) -> bool {
        !self.index.is_damaged()
            && self.lacking.as_ref().is_none_or(|lacking| std::ptr::eq(lacking.as_ptr(), Arc::as_ptr(snapshot)))
    }
}

/// Where a view's answers come from.
pub(crate) fn origin(view: &View) -> Origin {
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
    }
}

impl Catalog {
    /// Whether a path lies below one of a catalog's folders.
    pub fn holds(path: &CatalogPath, folder: &str) -> bool {
        build::in_folder(path, folder)
    }

    /// Where its answers come from.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The listing index.
    pub fn index(&self) -> &FlowIndex {
        &self.shared.index
    }

    /// What is known of external tools.
    pub fn tools(&self) -> &Arc<Toolbox> {
        &self.tools
    }

    /// What it offers as prompts, once somebody asked.
    pub(crate) fn offered(&self) -> &Offered {
        &self.shared.offered
    }

    /// What it offers as tools, once somebody asked.
    pub(crate) fn exposure(&self) -> &OnceLock<Arc<Exposure>> {
        &self.shared.exposure
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
    pub fn page(&self, index: &FlowIndex, selection: &Selection, figures: &Figures<'_>) -> Result<Arc<Page>, Error> {
        let pages = || self.shared.pages.lock().unwrap_or_else(PoisonError::into_inner);
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
        Ok(self.shared.directory.get_or_init(|| Directory::new(templates.iter().map(build::listed).collect())))
    }

    /// The template file that a name means, as a caller asks for it.
    ///
    /// # Errors
    /// When the index is damaged.
    pub fn template_file(&self, name: &str) -> Result<Option<(&Listed, usize)>, DamagedIndex> {
        Ok(self.directory()?.resolve(name).ok())
    }

    /// The place of a flow in the index.
    ///
    /// # Errors
    /// A forbidden name, no flow of that name, or several; a damaged index.
    pub fn find(&self, name: &str) -> Result<usize, Error> {
        ItemName::new(name).map_err(|error| {
            Error::new(Code::InvalidRequest, error.to_string()).next("ask for a flow by the name that flows_list shows")
        })?;
        match self.index().find(name)? {
            NameMatch::One(row) => Ok(row),
            NameMatch::Several(rows) => Err(self.ambiguous(name, &rows)?),
            NameMatch::Nothing => {
                // A file that can't be read lists no flow; asked for by its stem it says why.
                if let Some(problem) = self
                    .problems()?
                    .iter()
                    .find(|problem| problem.file.starts_with("flows/") && build::stem(&problem.file) == name)
                {
                    let code = problem.code;
                    let mut error = Error::about_file(code, format!("{}: {}", problem.file, problem.message))
                        .detail("file", problem.file.clone().into());
                    if let (Some(line), Some(column)) = (problem.line, problem.column) {
                        error.message = format!("{} (line {line}, column {column})", error.message);
                        error = error.detail("line", line.into()).detail("column", column.into());
                    }
                    return Err(error);
                }
                if self.template_file(name)?.is_some() {
                    let message = format!("{} is a template, not a flow", quoted(name));
                    return Err(Error::new(Code::FlowNotFound, message).next(
                        "call flows_show with that name: it shows the text, and in usedBy the flows to execute",
                    ));
                }
                Err(Error::not_found(Code::FlowNotFound, "flow", name, self.index().names()?))
            }
        }
    }

    /// Several flows go by a name: the advice names only what would find one of them.
    fn ambiguous(&self, name: &str, rows: &[usize]) -> Result<Error, DamagedIndex> {
        let (mut files, mut ways) = (Vec::new(), Vec::new());
        for row in rows {
            let flow = self.index().row(*row)?;
            files.push(format!("{} in {}", quoted(&flow.name), flow.file));
            let stem = flow.stem().to_owned();
            let names = [Some(flow.name), Some(stem), flow.meta_name, flow.flow_id].into_iter().flatten();
            let way = names.into_iter().find(|other| self.index().find(other) == Ok(NameMatch::One(*row)));
            ways.extend(way.map(|way| format!("{} ({})", quoted(&way), flow.file)));
        }
        let next = if ways.is_empty() {
            "no other name tells them apart: give one of the files another name or `meta.id`".to_owned()
        } else {
            format!("ask for one of them as {}", ways.join(" or "))
        };
        let candidates = files.iter().map(|file| serde_json::Value::String(file.clone())).collect();
        let message = format!("several flows go by {}: {}", quoted(name), files.join(", "));
        Ok(Error::new(Code::AmbiguousName, message).next(next).detail("candidates", candidates))
    }
}
