//! One page: which flows a selection means, how many of them fit, and how to go on.

use std::sync::OnceLock;

use super::cursor::{CursorFault, Mark};
use super::mode::Mode;
use super::packed::{Found, Packed};
use super::rows::{EntriesJson, cost};
use super::shown::Shown;

/// The most entries on a page of an offered mode; asking for more is refused.
pub const LARGEST_LIMIT: i64 = 1_000;
/// The largest budget that can be asked for, in tokens; asking for more is refused.
pub const LARGEST_BUDGET: i64 = 1_000_000;
/// How many tags a next step names.
const MOST_TAGS: usize = 20;
/// How many shortened flows a next step names.
const NAMED: usize = 3;

/// What is to be listed, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selection {
    /// How much of each flow is shown.
    pub mode: Mode,
    /// A flow must have all of these, spelt exactly so; empty: every flow.
    pub tags: Vec<String>,
    /// A flow must be in this category, spelt exactly so.
    pub category: Option<String>,
    /// A flow must have this complexity, spelt exactly so.
    pub complexity: Option<String>,
    /// Only these flows, each looked up as [`Packed::find`] does; empty: every flow.
    pub names: Vec<String>,
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
            mode,
            tags: Vec::new(),
            category: None,
            complexity: None,
            names: Vec::new(),
            limit: None,
            cursor: None,
            max_tokens: None,
            include_metadata: true,
            envelope_tokens: 0,
        }
    }

    fn mark(&self, revision: &str) -> Mark {
        Mark::new()
            .with(revision)
            .with(self.mode.as_str())
            .with(if self.include_metadata { "dates" } else { "no dates" })
            .with_all(&self.tags)
            .with_maybe(self.category.as_deref())
            .with_maybe(self.complexity.as_deref())
            .with_all(&self.names)
    }

    fn filters_rows(&self) -> bool {
        !self.tags.is_empty() || self.category.is_some() || self.complexity.is_some()
    }
}

/// Why there is no page.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DiscoverError {
    /// A limit that is not from 1 to [`LARGEST_LIMIT`].
    #[error("limit {given} is not allowed: it is a number from 1 to {LARGEST_LIMIT}")]
    InvalidLimit {
        /// What was asked for.
        given: i64,
    },
    /// A budget that is not from 1 to [`LARGEST_BUDGET`].
    #[error("maxTokens {given} is not allowed: it is a number from 1 to {LARGEST_BUDGET}")]
    InvalidBudget {
        /// What was asked for.
        given: i64,
    },
    /// A cursor that doesn't go on with this listing. Without a cursor the listing begins anew.
    #[error("the cursor can't be used: {fault}")]
    InvalidCursor {
        /// What is wrong with it.
        fault: CursorFault,
    },
}

/// What ended a page before the last flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TruncatedBy {
    /// The budget.
    Budget,
    /// The limit.
    Limit,
}

impl TruncatedBy {
    /// As it is written in a reply.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::Limit => "limit",
        }
    }
}

/// One page of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The entries, in order.
    pub entries: Vec<Shown>,
    /// The mode they are shown in.
    pub mode: Mode,
    /// How many flows the selection means, on all pages together.
    pub total: usize,
    /// How many are on this page.
    pub returned: usize,
    /// Where the next page begins; `None` on the last one.
    pub next_cursor: Option<String>,
    /// What ended the page; `None` on the last one.
    pub truncated_by: Option<TruncatedBy>,
    /// What to do to see the rest; `None` when nothing is left out.
    pub next_step: Option<String>,
    /// The envelope and the entries together, in estimated tokens.
    pub estimated_tokens: usize,
    /// Names asked for that no flow answers to, as written.
    pub unknown_names: Vec<String>,
    /// Flows that come in their shortest form because each alone would pass the budget.
    pub shortened: Vec<String>,
    written: OnceLock<EntriesJson>,
}

impl Page {
    /// The entries as a JSON array, written the first time they are asked for: a page is kept and
    /// sent many times.
    pub fn json(&self) -> &EntriesJson {
        self.written.get_or_init(|| EntriesJson::of(&self.entries))
    }
}

/// One page of what a selection means in a catalog at a revision.
///
/// [`Mode::Contract`] has no largest limit, since without one it lists everything. An entry that alone would pass the budget comes as [`Shown::Shortened`] (in index mode: without inputs and
/// tags), wherever it stands, and a page with anything left to show is never empty: so
/// every cursor moves. A row that can't be read is skipped.
///
/// # Errors
/// [`DiscoverError`], for a limit that is not from 1 to [`LARGEST_LIMIT`], a budget that is not from 1 to
/// [`LARGEST_BUDGET`], and a cursor of another listing.
pub fn page(packed: &Packed, selection: &Selection, revision: &str) -> Result<Page, DiscoverError> {
    let mode = selection.mode;
    let limit = allowed_limit(selection)?;
    let budget = allowed_budget(selection)?;
    let mark = selection.mark(revision);
    let begin = match &selection.cursor {
        Some(cursor) => mark.row(cursor).map_err(|fault| DiscoverError::InvalidCursor { fault })?,
        None => 0,
    };
    let (rows, unknown_names) = Rows::of(packed, selection);
    let total = rows.len();
    let before = rows.before(begin);
    if selection.cursor.is_some() && before >= total {
        return Err(DiscoverError::InvalidCursor { fault: CursorFault::Malformed });
    }

    let mut page = Page {
        entries: Vec::new(),
        mode,
        total,
        returned: 0,
        next_cursor: None,
        truncated_by: None,
        next_step: None,
        estimated_tokens: selection.envelope_tokens.saturating_add(1),
        unknown_names,
        shortened: Vec::new(),
        written: OnceLock::new(),
    };
    let room = budget.saturating_sub(page.estimated_tokens);
    let mut reached = before;
    for place in before..total {
        let Some(row) = rows.at(place) else { break };
        let Some(chosen) = Chosen::fitting(packed, row, selection, room) else {
            reached = place + 1;
            continue;
        };
        if !page.entries.is_empty() {
            let spent = page.estimated_tokens.saturating_add(chosen.tokens);
            let cut = if page.entries.len() >= limit {
                Some(TruncatedBy::Limit)
            } else if spent > budget {
                Some(TruncatedBy::Budget)
            } else {
                None
            };
            if cut.is_some() {
                page.truncated_by = cut;
                page.next_cursor = Some(mark.cursor(row));
                break;
            }
        }
        page.estimated_tokens = page.estimated_tokens.saturating_add(chosen.tokens);
        page.shortened.extend(chosen.shortened);
        page.entries.push(chosen.shown);
        reached = place + 1;
    }
    page.returned = page.entries.len();
    page.next_step = next_step(&page, before, reached).or_else(|| tags_that_fit(packed, selection, page.total));
    Ok(page)
}

/// The rows a selection means, in order.
enum Rows {
    All(usize),
    Some(Vec<usize>),
}

impl Rows {
    /// The rows, and the names that mean none.
    fn of(packed: &Packed, selection: &Selection) -> (Self, Vec<String>) {
        if selection.names.is_empty() && !selection.filters_rows() {
            return (Self::All(packed.len()), Vec::new());
        }
        let mut unknown = Vec::new();
        let mut rows: Vec<usize> = if selection.names.is_empty() {
            (0..packed.len()).collect()
        } else {
            let mut rows = Vec::new();
            for name in &selection.names {
                match packed.find(name) {
                    Found::Nothing if unknown.contains(name) => {}
                    Found::Nothing => unknown.push(name.clone()),
                    Found::One(row) => rows.push(row),
                    Found::Several(several) => rows.extend(several),
                }
            }
            rows.sort_unstable();
            rows.dedup();
            rows
        };
        if selection.filters_rows() {
            let Selection { tags, category, complexity, .. } = selection;
            rows.retain(|&row| packed.fits(row, tags, category.as_deref(), complexity.as_deref()));
        }
        (Self::Some(rows), unknown)
    }

    fn len(&self) -> usize {
        match self {
            Self::All(count) => *count,
            Self::Some(rows) => rows.len(),
        }
    }

    /// How many of the rows stand before `row`.
    fn before(&self, row: usize) -> usize {
        match self {
            Self::All(_) => row,
            Self::Some(rows) => rows.partition_point(|&other| other < row),
        }
    }

    fn at(&self, place: usize) -> Option<usize> {
        match self {
            Self::All(count) => (place < *count).then_some(place),
            Self::Some(rows) => rows.get(place).copied(),
        }
    }
}

/// An entry in the form in which it comes, with what it costs.
struct Chosen {
    shown: Shown,
    tokens: usize,
    shortened: Option<String>,
}

impl Chosen {
    /// The mode's entry, or the shortest form where that alone has no room.
    fn fitting(packed: &Packed, row: usize, selection: &Selection, room: usize) -> Option<Self> {
        let mode = selection.mode;
        let head = packed.head(row)?;
        let (name, description) = (head.name, head.description);
        let (shown, tokens) = match Shown::of_head(head, mode) {
            Some(shown) if mode == Mode::Compact => (shown, packed.compact_cost(row)?),
            Some(shown) => {
                let tokens = cost(&shown);
                (shown, tokens)
            }
            None => {
                let shown = Shown::of_entry(packed.entry(row)?, mode, selection.include_metadata);
                let tokens = cost(&shown);
                (shown, tokens)
            }
        };
        if tokens <= room {
            return Some(Self { shown, tokens, shortened: None });
        }
        let shown = Shown::shortest(name, description, mode);
        let tokens = cost(&shown);
        Some(Self { shown, tokens, shortened: Some(name.to_owned()) })
    }
}

fn next_step(page: &Page, before: usize, reached: usize) -> Option<String> {
    let mut says = Vec::new();
    if page.next_cursor.is_some() {
        let total = page.total;
        let seen = if before == 0 {
            format!("{} of {total} shown", page.returned)
        } else {
            format!("{} to {reached} of {total} shown", before + 1)
        };
        says.push(format!("{seen}; narrow by tags or category, or go on with nextCursor"));
    }
    if !page.shortened.is_empty() {
        let named = page.shortened.iter().take(NAMED).map(|name| crate::names::quoted(name));
        let mut named = named.collect::<Vec<_>>().join(", ");
        if page.shortened.len() > NAMED {
            named.push_str(" and others");
        }
        says.push(format!("shortened to fit the budget: {named}; flows_show shows a flow whole"));
    }
    (!says.is_empty()).then(|| says.join(". "))
}

/// What to do about tags that no flow has: the ones that are spelt alike, else those there are.
fn tags_that_fit(packed: &Packed, selection: &Selection, total: usize) -> Option<String> {
    if total > 0 || selection.tags.is_empty() {
        return None;
    }
    let known = packed.tags();
    let unknown: Vec<&String> = selection.tags.iter().filter(|tag| !known.contains(tag.as_str())).collect();
    let Some(first) = unknown.first() else {
        return Some(
            "each of these tags is known, and no flow has all of them with what else was asked for; leave `tags` out or name fewer".to_owned(),
        );
    };
    let near = crate::names::nearest(first, known.iter().copied(), NAMED);
    let quoted = |tag: &&str| crate::names::quoted(tag);
    let no_flow = format!("no flow has the tag {}", crate::names::quoted(first));
    Some(if known.is_empty() {
        format!("{no_flow}: no flow has any tag; leave `tags` out")
    } else if near.is_empty() {
        let some: Vec<String> = known.iter().take(MOST_TAGS).map(quoted).collect();
        let more = if known.len() > MOST_TAGS { " and others" } else { "" };
        format!("{no_flow}: the tags are {}{more}", some.join(", "))
    } else {
        format!("{no_flow}: did you mean {}?", near.iter().map(quoted).collect::<Vec<_>>().join(" or "))
    })
}

fn allowed_limit(selection: &Selection) -> Result<usize, DiscoverError> {
    let most = if selection.mode == Mode::Contract { i64::MAX } else { LARGEST_LIMIT };
    match selection.limit {
        None => Ok(selection.mode.default_limit().unwrap_or(usize::MAX)),
        Some(given) => allowed(given, most).ok_or(DiscoverError::InvalidLimit { given }),
    }
}

fn allowed_budget(selection: &Selection) -> Result<usize, DiscoverError> {
    match selection.max_tokens {
        None => Ok(selection.mode.default_budget().unwrap_or(usize::MAX)),
        Some(given) => allowed(given, LARGEST_BUDGET).ok_or(DiscoverError::InvalidBudget { given }),
    }
}

fn allowed(given: i64, most: i64) -> Option<usize> {
    (1..=most).contains(&given).then(|| usize::try_from(given).unwrap_or(usize::MAX))
}
