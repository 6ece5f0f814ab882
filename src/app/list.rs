//! Listing a catalog's flows.

use crate::app::{App, Error, Origin};
use crate::discover::{FileProblem, Page, Selection, page};

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
    pub page: Page,
    /// What was asked for.
    pub selection: Selection,
    /// Where it comes from.
    pub origin: Origin,
    /// Files with errors, the first of them; they hide nothing else.
    pub problems: Vec<FileProblem>,
    /// How many files with errors there are in all.
    pub problem_count: usize,
}

/// The most problems that one listing names.
const MOST_PROBLEMS: usize = 20;

impl App {
    /// Lists the flows of the catalog.
    ///
    /// # Errors
    /// When the catalog can't be reached, or the request can't be understood.
    pub async fn list(&self, request: ListRequest) -> Result<Listing, Error> {
        let begun = self.clock.reading();
        let catalog = self.catalog(request.git_ref.as_deref(), request.refresh).await?;
        let page = page(catalog.index(), &request.selection, &catalog.origin().revision)?;
        let mut problems = catalog.index().problems();
        let problem_count = problems.len();
        problems.truncate(MOST_PROBLEMS);
        let took = self.clock.reading().saturating_sub(begun);
        tracing::info!(
            mode = page.mode.as_str(),
            entries = page.returned,
            total = page.total,
            tokens = page.estimated_tokens,
            ms = took.as_secs_f64() * 1000.0,
            "listed"
        );
        Ok(Listing { page, selection: request.selection, origin: catalog.origin().clone(), problems, problem_count })
    }
}
