//! What is to be listed: kind, mode, filters and how much.

use super::cursor::Mark;
use super::mode::Mode;
use super::rank::{Query, QueryFault};
use crate::names::words;

words! {
    /// What is listed.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum ListKind {
        /// Flows.
        #[default]
        Flows = "flows",
        /// Templates, each as a flow with neither steps nor results would be.
        Templates = "templates",
    }
}

impl ListKind {
    /// One of them, in words.
    pub fn noun(self) -> &'static str {
        match self {
            Self::Flows => "flow",
            Self::Templates => "template",
        }
    }
}

/// What is to be listed, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// What is listed.
    pub kind: ListKind,
    /// How much of each flow is shown.
    pub mode: Mode,
    /// What is looked for, in one or several phrasings; empty: no query, and the order is by name.
    pub query: Vec<String>,
    /// Whether the page says why each flow answers the query.
    pub explain: bool,
    /// A flow must have all of these, spelt exactly so; empty: every flow.
    pub tags: Vec<String>,
    /// A flow must be in this category, spelt exactly so.
    pub category: Option<String>,
    /// A flow must have this complexity, spelt exactly so.
    pub complexity: Option<String>,
    /// Only these flows, each looked up as [`FlowIndex::find`](super::FlowIndex::find) does; empty: every flow.
    pub names: Vec<String>,
    /// A flow must not take longer than this on average, in milliseconds; one whose time is not known does not.
    pub max_latency_ms: Option<i64>,
    /// The most entries on the page, as the caller wrote it; `None`: the mode's own.
    pub limit: Option<i64>,
    /// Where to go on: the `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// The budget of the reply in estimated tokens, as the caller wrote it; `None`: the mode's own.
    pub max_tokens: Option<i64>,
    /// False leaves `created` and `updated` out of every mode that has them.
    pub include_metadata: bool,
    /// What the reply spends around its entries, in estimated tokens; it comes out of the budget.
    pub envelope_tokens: usize,
}

impl Selection {
    /// Everything, in a mode, with that mode's limit and budget.
    pub fn all(mode: Mode) -> Self {
        Self {
            kind: ListKind::default(),
            mode,
            query: Vec::new(),
            explain: false,
            tags: Vec::new(),
            category: None,
            complexity: None,
            names: Vec::new(),
            max_latency_ms: None,
            limit: None,
            cursor: None,
            max_tokens: None,
            include_metadata: true,
            envelope_tokens: 0,
        }
    }

    /// The query, where there is one.
    ///
    /// # Errors
    /// [`QueryFault`].
    pub fn asked(&self) -> Result<Option<Query>, QueryFault> {
        if self.query.is_empty() { Ok(None) } else { Query::new(&self.query).map(Some) }
    }

    pub(super) fn mark(&self, revision: &str) -> Mark {
        // The order of phrasings decides nothing, but the cursor of a query that is spelt differently isn't worth taking.
        let query = self.query.iter().fold(Mark::new(), |mark, phrasing| mark.with("query").with(phrasing));
        query
            .with(revision)
            .with(self.mode.word())
            .with(if self.include_metadata { "dates" } else { "no dates" })
            .with_all(&self.tags)
            .with_maybe(self.category.as_deref())
            .with_maybe(self.complexity.as_deref())
            .with_all(&self.names)
            .with(self.kind.word())
            .with_maybe(self.max_latency_ms.map(|most| most.to_string()).as_deref())
    }

    pub(super) fn filters_rows(&self) -> bool {
        !self.tags.is_empty() || self.category.is_some() || self.complexity.is_some() || self.max_latency_ms.is_some()
    }

    /// Whether the page depends on usage, and is old when something was executed.
    pub fn goes_by_usage(&self) -> bool {
        self.mode.goes_by_usage() || self.max_latency_ms.is_some()
    }
}
