//! Listing a catalog's flows.

use std::sync::Arc;

use crate::app::{App, Code, Error, Origin, UsageByFlow};
use crate::discover::{DiscoverError, Figures, FileProblem, ListKind, Page, Selection};
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
}

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
        let problems: Vec<FileProblem> = problems.take(MOST_PROBLEMS).cloned().collect();
        let mut selection = request.selection;
        selection.envelope_tokens = ENVELOPE_TOKENS + problems.iter().map(told).sum::<usize>();
        // Refused before anything is ranked; the first query of a revision reads all its texts, off the runtime.
        let asked = selection.asked().map_err(|fault| DiscoverError::InvalidQuery { fault })?;
        let index = match selection.kind {
            ListKind::Flows => catalog.index().clone(),
            ListKind::Templates => catalog.template_index().await?,
        };
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
        let took = self.clock.reading().saturating_sub(begun);
        tracing::info!(
            mode = page.mode.as_str(),
            entries = page.returned,
            total = page.total,
            tokens = page.estimated_tokens,
            ms = crate::discover::millis(took),
            "listed"
        );
        Ok(Listing { page, selection, origin: catalog.origin().clone(), problems, problem_count, unavailable_count })
    }
}

/// A source as an entry names it: `owner/repo`, a folder's name, `built-in examples`.
fn short(key: &str) -> &str {
    match key.strip_prefix("github.com/") {
        Some(repository) => repository,
        None => key.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(key),
    }
}
