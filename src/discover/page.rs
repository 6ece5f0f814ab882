//! One page: which flows a selection means, how many of them fit, and how to go on.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::answer::{Answer, Excluded, NoMatch, Reason};
use super::cursor::CursorFault;
use super::flow_index::{DamagedIndex, FlowIndex};
use super::list_entry::{EntriesJson, ListEntry};
use super::mode::{MOST_NAMES, Mode};
use super::rank::{LONGEST_QUERY_BYTES, MOST_PHRASINGS, QueryFault};
use super::rows::{FlowKey, same_word};
use super::selection::{ListKind, Selection};
use super::tiers::{Figures, categories};
use crate::names::{Comparisons, did_you_mean, nearest, quoted, words};
use crate::next_step::{NextStep, Word};

/// The most entries on a page of an offered mode; asking for more is refused.
pub const LARGEST_LIMIT: i64 = 1_000;
/// The largest budget that can be asked for, in tokens; asking for more is refused.
pub const LARGEST_BUDGET: i64 = 1_000_000;
/// The most flows on a page that answers a query, where no limit is given: what is further down is seldom meant.
pub const QUERY_LIMIT: usize = 5;
/// How many tags a next step names.
const MOST_TAGS: usize = 20;
/// How many shortened flows a next step names.
const NAMED: usize = 3;

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
    /// A query that is empty or too large.
    #[error("{fault}: give a text, or up to {MOST_PHRASINGS} phrasings, of at most {LONGEST_QUERY_BYTES} bytes in all")]
    InvalidQuery {
        /// What is wrong with it.
        fault: QueryFault,
    },
    /// A number of names that [`Mode::Full`] does not take.
    #[error("mode full shows 1 to {MOST_NAMES} flows by their names, and {given} are named")]
    InvalidNames {
        /// How many were given.
        given: usize,
    },
    /// A time that is no time.
    #[error("maxLatencyMs {given} is not allowed: it is a number of milliseconds from 0")]
    InvalidLatency {
        /// What was asked for.
        given: i64,
    },
    /// A cursor that doesn't go on with this listing. Without a cursor the listing begins anew.
    #[error("the cursor can't be used: {fault}")]
    InvalidCursor {
        /// What is wrong with it.
        fault: CursorFault,
    },
    /// The index can't be read.
    #[error(transparent)]
    Damaged(#[from] DamagedIndex),
}

words! {
    /// What ended a page before the last flow.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum TruncatedBy {
        /// The budget.
        Budget = "budget",
        /// The limit.
        Limit = "limit",
    }
}

/// One page of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// The entries, in order.
    pub entries: Vec<ListEntry>,
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
    pub next_step: Option<NextStep>,
    /// The envelope and the entries together, in estimated tokens.
    pub estimated_tokens: usize,
    /// Names asked for that no flow answers to, as written.
    pub unknown_names: Vec<String>,
    /// Flows that come in their shortest form because each alone would pass the budget.
    pub shortened: Vec<String>,
    /// That no flow is what the query asks for.
    pub no_match: Option<NoMatch>,
    /// That flows fit the query and the filters let none of them through.
    pub excluded: Option<Excluded>,
    /// How well each entry answers the query, and why; in the order of the entries, empty unless asked for.
    pub reasons: Vec<Reason>,
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
/// [`Mode::Contract`] has no largest limit, since without one it lists everything. An entry that alone
/// would pass the budget comes as [`ListEntry::Shortened`] (in index mode: without inputs and tags),
/// wherever it stands, and a page with anything left to show is never empty: so every cursor moves.
///
/// # Errors
/// [`DiscoverError`], whose variants say what a selection may not be, and that the index is damaged.
pub fn page(
    index: &FlowIndex,
    selection: &Selection,
    revision: &str,
    figures: &Figures<'_>,
) -> Result<Page, DiscoverError> {
    let mut mode = selection.mode;
    let limit = allowed_limit(selection)?;
    let budget = allowed_budget(selection)?;
    allowed_names(selection)?;
    if let Some(given) = selection.max_latency_ms.filter(|most| *most < 0) {
        return Err(DiscoverError::InvalidLatency { given });
    }
    let mut mark = selection.mark(revision);
    let query = selection.asked().map_err(|fault| DiscoverError::InvalidQuery { fault })?;
    let (mut rows, unknown_names) = Rows::of(index, selection, figures)?;
    let mut answer = Answer::default();
    if let Some(query) = &query {
        answer = Answer::of(index, query, selection, figures, |row| rows.holds(row))?;
        rows = Rows::Ranked(answer.hits.iter().map(|hit| hit.position).collect());
        if answer.no_match.is_some() {
            mode = mode.briefly();
        }
    } else if mode.is_by_score() {
        let mut by_score: Vec<usize> = (0..rows.len()).filter_map(|place| rows.at(place)).collect();
        figures.best_first(index.keys()?, &mut by_score);
        // Once other flows are used more, a page goes on with another order: that is another listing.
        mark = by_score.iter().fold(mark.with("by score"), |mark, row| mark.with_number(*row));
        rows = Rows::Ranked(by_score);
    }
    let mut grouped = Vec::new();
    if mode == Mode::Categories {
        let members: Vec<usize> = (0..rows.len()).filter_map(|place| rows.at(place)).collect();
        grouped = categories(index.keys()?, &index.categories()?, &members, figures);
        rows = Rows::All(grouped.len());
    }
    let begin = match &selection.cursor {
        Some(cursor) => mark.row(cursor).map_err(|fault| DiscoverError::InvalidCursor { fault })?,
        None => 0,
    };
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
        no_match: answer.no_match,
        excluded: answer.excluded,
        reasons: Vec::new(),
        written: OnceLock::new(),
    };
    let room = budget.saturating_sub(page.estimated_tokens);
    let mut reached = before;
    for place in before..total {
        let Some(row) = rows.at(place) else { break };
        let chosen = match grouped.get(place) {
            Some(category) => PricedEntry::category(category),
            None => PricedEntry::fitting(index, row, mode, selection.include_metadata, figures, room)?,
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
                page.next_cursor = Some(mark.cursor(rows.mark(place, row)));
                break;
            }
        }
        page.estimated_tokens = page.estimated_tokens.saturating_add(chosen.tokens);
        page.shortened.extend(chosen.shortened);
        page.entries.push(chosen.entry);
        if selection.explain
            && mode != Mode::Categories
            && let Some(hit) = answer.hits.get(place)
        {
            let name = index.keys()?.get(row).map(|key| key.name.clone()).unwrap_or_default();
            page.reasons.push(Reason { name, score: hit.score, why: hit.why.clone() });
        }
        reached = place + 1;
    }
    page.returned = page.entries.len();
    page.next_step = next_step(&page, index, selection, before..reached)?;
    Ok(page)
}

/// The rows a selection means, in order.
enum Rows {
    All(usize),
    Some(Vec<usize>),
    /// In the order of a ranking; a cursor holds the place in it.
    Ranked(Vec<usize>),
}

impl Rows {
    /// The rows, and the names that mean none.
    fn of(
        index: &FlowIndex,
        selection: &Selection,
        figures: &Figures<'_>,
    ) -> Result<(Self, Vec<String>), DamagedIndex> {
        if selection.names.is_empty() && !selection.filters_rows() {
            return Ok((Self::All(index.len()), Vec::new()));
        }
        let (mut rows, unknown) = match selection.names.as_slice() {
            [] => ((0..index.len()).collect(), Vec::new()),
            names => index.named(names)?,
        };
        rows.sort_unstable();
        rows.dedup();
        if selection.filters_rows() {
            let Selection { tags, category, complexity, .. } = selection;
            let keys = index.keys()?;
            rows.retain(|&row| {
                keys.get(row).is_some_and(|key| {
                    key.fits(tags, category.as_deref(), complexity.as_deref())
                        && selection.max_latency_ms.is_none_or(|most| figures.within(&key.name, most))
                })
            });
        }
        Ok((Self::Some(rows), unknown))
    }

    fn len(&self) -> usize {
        match self {
            Self::All(count) => *count,
            Self::Some(rows) | Self::Ranked(rows) => rows.len(),
        }
    }

    /// Whether a row is one of these, which are in the order of rows.
    fn holds(&self, row: usize) -> bool {
        match self {
            Self::All(count) => row < *count,
            Self::Some(rows) | Self::Ranked(rows) => rows.binary_search(&row).is_ok(),
        }
    }

    /// What a cursor holds of the row at a place.
    fn mark(&self, place: usize, row: usize) -> usize {
        if matches!(self, Self::Ranked(_)) { place } else { row }
    }

    /// How many of the rows stand before `row`.
    fn before(&self, row: usize) -> usize {
        match self {
            Self::All(_) | Self::Ranked(_) => row,
            Self::Some(rows) => rows.partition_point(|&other| other < row),
        }
    }

    fn at(&self, place: usize) -> Option<usize> {
        match self {
            Self::All(count) => (place < *count).then_some(place),
            Self::Some(rows) | Self::Ranked(rows) => rows.get(place).copied(),
        }
    }
}

/// An entry in the form in which it comes, with what it costs.
struct PricedEntry {
    entry: ListEntry,
    tokens: usize,
    shortened: Option<String>,
}

impl PricedEntry {
    /// A category, which has no shorter form.
    fn category(entry: &super::tiers::CategoryEntry) -> Self {
        let entry = ListEntry::Category(entry.clone());
        Self { tokens: entry.tokens(), entry, shortened: None }
    }

    /// The mode's entry, or the shortest form where that alone has no room.
    fn fitting(
        index: &FlowIndex,
        row: usize,
        mode: Mode,
        dates: bool,
        figures: &Figures<'_>,
        room: usize,
    ) -> Result<Self, DamagedIndex> {
        let flow = index.row(row)?;
        let counted = index.compact_tokens(row).filter(|_| mode == Mode::Compact);
        let entry = ListEntry::of(flow.clone(), mode, dates, figures);
        let tokens = counted.unwrap_or_else(|| entry.tokens());
        if tokens <= room {
            return Ok(Self { entry, tokens, shortened: None });
        }
        let entry = ListEntry::shortest(&flow, mode);
        Ok(Self { tokens: entry.tokens(), entry, shortened: Some(flow.name) })
    }
}

fn next_step(
    page: &Page,
    index: &FlowIndex,
    selection: &Selection,
    shown: std::ops::Range<usize>,
) -> Result<Option<NextStep>, DamagedIndex> {
    if index.is_empty() {
        // No words and no filter would find anything.
        let noun = selection.kind.noun();
        let files = match selection.kind {
            ListKind::Flows => "flows/NAME.flow.md (in Markdown) or flows/NAME.json",
            ListKind::Templates => "templates/NAME.md (in Markdown) or templates/NAME.json",
        };
        let add = format!("no {noun} was found in the source: add a file {files}");
        return Ok(Some(format!("{add}, or name the repository or folder that holds flows/ as the source").into()));
    }
    let mut says = Vec::new();
    says.extend(page.no_match.as_ref().map(NoMatch::next_step));
    says.extend(page.excluded.as_ref().map(Excluded::next_step));
    if page.next_cursor.is_some() {
        let total = page.total;
        let seen = if shown.start == 0 {
            format!("{} of {total} shown", page.returned)
        } else {
            format!("{} to {} of {total} shown", shown.start + 1, shown.end)
        };
        let step = if selection.query.is_empty() {
            format!("{seen}; narrow by tags or category, or go on with nextCursor")
        } else {
            format!("{seen}, best first; if none is meant, ask in other words or go on with nextCursor")
        };
        says.push(step.into());
    }
    if says.is_empty() && !selection.query.is_empty() && page.returned > 0 && selection.kind == ListKind::Flows {
        says.push(Word::Show + " with the name that fits gives its inputs; if none fits, ask in other words");
    }
    if !page.shortened.is_empty() {
        let named = page.shortened.iter().take(NAMED).map(|name| quoted(name));
        let mut named = named.collect::<Vec<_>>().join(", ");
        if page.shortened.len() > NAMED {
            named.push_str(" and others");
        }
        let shortened = NextStep::from(format!("shortened to fit the budget: {named}; "));
        says.push(shortened + Word::Show + " shows a flow whole");
    }
    if !page.unknown_names.is_empty() {
        says.extend(near_names(index, &page.unknown_names)?.map(NextStep::from));
    }
    if page.total == 0 && selection.filters_rows() {
        says.extend(unknown_words(index.keys()?, selection).map(NextStep::from));
        if says.is_empty() {
            let noun = selection.kind.noun();
            says.push(format!("no {noun} passes all of these filters together; leave one of them out").into());
        }
    }
    Ok(says.into_iter().reduce(|all, one| all + ". " + one))
}

/// The names that are spelt like those that nothing goes by.
fn near_names(index: &FlowIndex, unknown: &[String]) -> Result<Option<String>, DamagedIndex> {
    let comparisons = Comparisons::default();
    let mut near: Vec<String> = Vec::new();
    for name in unknown.iter().take(NAMED) {
        let found = comparisons.nearest(name, index.names()?, 1);
        near.extend(found.first().map(|found| format!("{} for {}", quoted(found), quoted(name))));
    }
    Ok((!near.is_empty()).then(|| format!("did you mean {}?", near.join(", "))))
}

/// What to do about the first tag, category or complexity that no flow has.
fn unknown_words<'k>(keys: &'k [FlowKey], selection: &Selection) -> Option<String> {
    let tags = selection.tags.iter().map(|tag| ("tag", "tags", tag));
    let category = selection.category.iter().map(|category| ("category", "categories", category));
    let complexity = selection.complexity.iter().map(|complexity| ("complexity", "complexities", complexity));
    let known = |what: &str| -> BTreeSet<&'k str> {
        let words = |key: &'k FlowKey| match what {
            "tag" => key.tags.as_slice(),
            "category" => key.category.as_slice(),
            _ => key.complexity.as_slice(),
        };
        keys.iter().flat_map(words).map(String::as_str).collect()
    };
    let mut wanted = tags.chain(category).chain(complexity).map(|(what, all, word)| (what, all, word, known(what)));
    let unknown = |known: &BTreeSet<&str>, word: &str| !known.iter().any(|own| same_word(own, word));
    let (what, all, word, known) = wanted.find(|(.., word, known)| unknown(known, word))?;
    let (noun, word) = (selection.kind.noun(), word.as_str());
    let none = format!("no {noun} has the {what} {}", quoted(word));
    Some(if known.is_empty() {
        format!("no {noun} has a {what} at all: leave it out")
    } else if let Some(asked) = did_you_mean(nearest(word, known.iter().copied(), NAMED)) {
        format!("{none}: {asked}")
    } else {
        let more = if known.len() > MOST_TAGS { " and others" } else { "" };
        let listed: Vec<String> = known.iter().take(MOST_TAGS).map(|word| quoted(word)).collect();
        format!("{none}: the {all} are {}{more}", listed.join(", "))
    })
}

fn allowed_limit(selection: &Selection) -> Result<usize, DiscoverError> {
    let most = if selection.mode == Mode::Contract { i64::MAX } else { LARGEST_LIMIT };
    match selection.limit {
        None if !selection.query.is_empty() && selection.mode != Mode::Contract => Ok(QUERY_LIMIT),
        None => Ok(selection.mode.default_limit().unwrap_or(usize::MAX)),
        Some(given) => allowed(given, most).ok_or(DiscoverError::InvalidLimit { given }),
    }
}

fn allowed_names(selection: &Selection) -> Result<(), DiscoverError> {
    let given = selection.names.len();
    if selection.mode == Mode::Full && !(1..=MOST_NAMES).contains(&given) {
        return Err(DiscoverError::InvalidNames { given });
    }
    Ok(())
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
