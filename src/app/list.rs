//! Listing a catalog's flows.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Catalog;
use crate::app::{App, Code, Error, Origin, UsageByFlow};
use crate::discover::{DamagedIndex, DiscoverError, Figures, FileProblem, ListKind, NameMatch, Page, Selection};
use crate::names::{counted, few, shown};
use crate::next_step::{NextStep, Word};
use crate::run::GuidedState;
use crate::store::Filter;
use crate::tokens;

/// What is to be listed.
#[derive(Debug, Clone)]
pub struct ListRequest {
    /// Filters, mode, limit, budget, cursor.
    pub selection: Selection,
    /// Branch, tag or commit; none for the source's own.
    pub git_ref: Option<String>,
    /// Ask for the newest state even while a copy is fresh.
    pub refresh: bool,
    /// Say how many errors each flow of the page has.
    pub count_errors: bool,
}

/// A page of flows, and what could not be listed as it should.
#[derive(Debug, Clone)]
pub struct Listing {
    /// The page.
    pub page: Arc<Page>,
    /// What was asked for.
    pub selection: Selection,
    /// Where it comes from.
    pub origin: Origin,
    /// Files with errors, the first of them; they hide nothing else.
    pub problems: Vec<FileProblem>,
    /// How many there are in all: errors in files, and tools that are unavailable.
    pub problem_count: usize,
    /// How many of them are calls of tools that are unavailable now, which no file is to blame for.
    pub unavailable_count: usize,
    /// How many errors the flows of the page have that have any, by name; empty unless asked for.
    pub errors: BTreeMap<String, usize>,
    /// Whether the catalog has no flow at all.
    pub is_empty: bool,
    /// Files that are not read and look as if they were meant, each with the path under which it would be read.
    pub overlooked: Vec<(String, String)>,
    /// Whether these are the built-in examples because nobody named a source.
    pub unasked_examples: bool,
    /// How many guided executions go on, where no flow fits the query: one of them may be meant.
    pub open_executions: usize,
}

/// What is said where the built-in examples are served although nobody asked for them.
pub const UNASKED_EXAMPLES: &str = "no source is set, so these are the built-in examples; set --source or GITHUB_REPO_URL, \
                                    or --source examples if they are wanted";

impl Listing {
    /// What to do next, where there is something: what was begun may be meant, too.
    pub fn next_step(&self) -> Option<String> {
        let step = self.advice()?;
        let step = step.for_tools();
        if self.open_executions == 0 {
            return Some(step.to_owned());
        }
        let open = counted(self.open_executions, "execution is open", "executions are open");
        Some(format!("{open}, of this catalog or another: to go on with what was begun, call flows_status; {step}"))
    }

    /// What helps to find a flow, where something does.
    pub fn advice(&self) -> Option<NextStep> {
        if self.is_empty && self.problem_count > 0 && self.selection.kind == ListKind::Flows {
            let names_each = Word::Either("`errors` names", "`flowy validate` shows");
            return Some("no file of flows/ can be used as a flow; " + names_each + " each with its reason");
        }
        self.page.next_step.clone()
    }

    /// The files that are not read, where there are any.
    pub fn not_read(&self) -> Option<String> {
        let meant = self.overlooked.iter().map(|(path, meant)| {
            format!("{} (it would be read as {})", shown(path, LONGEST_PATH), shown(meant, LONGEST_PATH))
        });
        (!self.overlooked.is_empty()).then(|| format!("not read: {}", few(meant)))
    }
}

/// The longest path in a warning, in characters.
const LONGEST_PATH: usize = 200;

/// The most problems that one listing names.
const MOST_PROBLEMS: usize = 20;

/// What a listing spends around its entries, in estimated tokens: mode, counts, cursor, next step,
/// ref, commit and revision.
const ENVELOPE_TOKENS: usize = 220;

/// What naming one problem costs, in estimated tokens.
fn told(problem: &FileProblem) -> usize {
    20 + tokens::estimate(&problem.file) + tokens::estimate(&problem.message)
}

impl App {
    /// Lists the flows of the catalog.
    ///
    /// # Errors
    /// When the catalog can't be reached, or the request can't be understood.
    pub async fn list(&self, request: ListRequest) -> Result<Listing, Error> {
        let begun = self.clock.reading();
        let catalog = self.catalog(request.git_ref.as_deref(), request.refresh).await?;
        let unavailable = catalog.unavailable()?;
        let unavailable_count = unavailable.len();
        let problem_count = FileProblem::count(catalog.problems()?) + unavailable_count;
        let problems = unavailable.iter().chain(catalog.problems()?);
        let mut selection = request.selection;
        // A caller with little room sees flows, too: half of it at the most goes to what is wrong, but for the first.
        let mut room =
            selection.max_tokens.and_then(|most| usize::try_from(most).ok()).map_or(usize::MAX, |most| most / 2);
        let fitting = problems.take(MOST_PROBLEMS).enumerate().take_while(|(number, problem)| {
            let left = room.checked_sub(told(problem));
            room = left.unwrap_or_default();
            left.is_some() || *number == 0
        });
        let problems: Vec<FileProblem> = fitting.map(|(_, problem)| problem.clone()).collect();
        selection.envelope_tokens = ENVELOPE_TOKENS + problems.iter().map(told).sum::<usize>();
        // Refused before anything is ranked; the first query of a revision reads all its texts, off the runtime.
        let asked = selection.asked().map_err(|fault| DiscoverError::InvalidQuery { fault })?;
        let (index, folder) = match selection.kind {
            ListKind::Flows => (catalog.index().clone(), "flows/"),
            ListKind::Templates => (catalog.template_index().await?, "templates/"),
        };
        // What only may be meant is told where nothing else is there.
        let overlooked = catalog.index().overlooked()?.into_iter();
        let overlooked =
            overlooked.filter(|file| file.meant.starts_with(folder) && (!file.doubtful || index.is_empty()));
        let overlooked: Vec<(String, String)> = overlooked.map(|file| (file.path, file.meant)).collect();
        let named = overlooked.iter().take(MOST_PROBLEMS);
        selection.envelope_tokens +=
            named.map(|(path, meant)| 10 + tokens::estimate(path) + tokens::estimate(meant)).sum::<usize>();
        if asked.is_some() && !index.is_searchable() {
            let index = index.clone();
            let made = tokio::task::spawn_blocking(move || index.search().map(|_| ())).await;
            made.map_err(|_| Error::new(Code::InternalError, "ranking the catalog was stopped by an internal error"))??;
        }
        // What a template is used for is counted under its flows.
        let counted = selection.goes_by_usage() && selection.kind == ListKind::Flows;
        let usage = if counted { self.usage().await } else { UsageByFlow::default() };
        let key = self.source.key();
        let figures = Figures { source: short(&key), usage: Some(&usage) };
        let page = catalog.page(&index, &selection, &figures)?;
        let errors = if request.count_errors { errors_of(&page, &catalog)? } else { BTreeMap::new() };
        let open_executions = if page.no_match.is_some() { self.open_executions().await } else { 0 };
        let took = self.clock.reading().saturating_sub(begun);
        tracing::info!(
            mode = page.mode.word(),
            entries = page.returned,
            total = page.total,
            tokens = page.estimated_tokens,
            ms = crate::discover::millis(took),
            "listed"
        );
        Ok(Listing {
            page,
            selection,
            origin: catalog.origin().clone(),
            problems,
            problem_count,
            unavailable_count,
            errors,
            is_empty: catalog.index().is_empty(),
            overlooked,
            unasked_examples: self.unasked_examples,
            open_executions,
        })
    }

    /// How many guided executions go on; none where they can't be read, which is told to who asks for them.
    async fn open_executions(&self) -> usize {
        let states = vec![GuidedState::Running, GuidedState::Waiting, GuidedState::AwaitingHuman];
        let open = self.guide.store().page(Filter { states, ..Filter::default() }, 0).await;
        open.map_or(0, |page| page.total)
    }
}

/// How many errors the flows of a page have: those of their files.
fn errors_of(page: &Page, catalog: &Catalog) -> Result<BTreeMap<String, usize>, DamagedIndex> {
    let mut of_files: BTreeMap<&str, usize> = BTreeMap::new();
    for problem in catalog.problems()? {
        *of_files.entry(problem.file.as_str()).or_default() += FileProblem::count(std::slice::from_ref(problem));
    }
    let mut errors = BTreeMap::new();
    if of_files.is_empty() {
        return Ok(errors);
    }
    let index = catalog.index();
    for entry in &page.entries {
        let Some(name) = entry.name() else { continue };
        if let NameMatch::One(row) = index.find(name)? {
            let row = index.row(row)?;
            if row.broken {
                errors.insert(name.to_owned(), of_files.get(row.file.as_str()).copied().unwrap_or(1));
            }
        }
    }
    Ok(errors)
}

/// A source as an entry names it: `owner/repo`, a folder's name, `built-in examples`.
fn short(key: &str) -> &str {
    match key.strip_prefix("github.com/") {
        Some(repository) => repository,
        None => key.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(key),
    }
}
