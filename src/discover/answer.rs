//! What a query comes to in a catalog: flows in order, no flow that fits, or none that the filters leave.

use super::flow_index::{DamagedIndex, FlowIndex};
use super::rank::{Hit, MOST_WEAK, Query, Ranking, Why};
use super::rows::FlowKey;
use super::selection::Selection;
use super::tiers::Figures;
use crate::next_step::{NextStep, Word};

/// The most flows that a ranking holds.
const LARGEST_RANKING: usize = 200;

/// Why a flow answers the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Reason {
    /// The flow's name.
    pub name: String,
    /// How well it does; comparable within one listing only.
    pub score: f64,
    /// By which words, most telling first.
    pub why: Vec<Why>,
}

/// No flow is what the query asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoMatch {
    /// Words of the catalog that are near to words of the query.
    pub nearest: Vec<String>,
    /// Whether the flows that are shown have a word of the query.
    pub near: bool,
}

impl NoMatch {
    /// What helps, where flows are shown that come nearest, or some of all.
    pub(super) fn next_step(&self) -> NextStep {
        let (fact, as_query) = if self.near {
            (
                "no flow fits; those shown only come nearest: execute one only if it is what was meant, else",
                " as `query`",
            )
        } else {
            ("no flow fits, and none comes near: any that are shown are only some of all;", "")
        };
        let phrasings = format!("several phrasings in other words and languages{as_query}, or list without query");
        let words = "--query in other words, several times, or list without it";
        NextStep::from(fact) + " ask again with " + Word::Either(&phrasings, words)
    }
}

/// Flows fit the query, and the filters let none of them through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excluded {
    /// How many flows fit the query.
    pub fitting: usize,
    /// How many of them each filter leaves out.
    pub by: Vec<(Word<'static>, usize)>,
}

impl Excluded {
    fn of(
        index: &FlowIndex,
        selection: &Selection,
        figures: &Figures<'_>,
        fitting: &[usize],
    ) -> Result<Self, DamagedIndex> {
        let (keys, named) = (index.keys()?, index.named(&selection.names)?.0);
        let Selection { names, tags, category, complexity, max_latency_ms, .. } = selection;
        let unnamed = |row: &&usize| !names.is_empty() && !named.contains(row);
        let left_out =
            |fits: &dyn Fn(&FlowKey) -> bool| fitting.iter().filter(|&&row| !keys.get(row).is_some_and(fits)).count();
        let in_time = |key: &FlowKey| max_latency_ms.is_none_or(|most| figures.within(&key.name, most));
        let mut by = vec![
            (Word::Argument("names", "--name"), fitting.iter().filter(unnamed).count()),
            (Word::Argument("tags", "--tag"), left_out(&|key| key.fits(tags, None, None))),
            (Word::Argument("category", "--category"), left_out(&|key| key.fits(&[], category.as_deref(), None))),
            (Word::Argument("complexity", "--complexity"), left_out(&|key| key.fits(&[], None, complexity.as_deref()))),
            (Word::Argument("maxLatencyMs", "--max-latency-ms"), left_out(&in_time)),
        ];
        by.retain(|(_, flows)| *flows > 0);
        Ok(Self { fitting: fitting.len(), by })
    }

    pub(super) fn next_step(&self) -> NextStep {
        let by = self.by.iter().map(|(filter, flows)| *filter + format!(" leaves out {flows}"));
        let by = by.reduce(|all, one| all + ", " + one).unwrap_or_default();
        let (fact, ask) = match self.fitting {
            1 => ("1 flow fits the query, and the filters leave it out: ".to_owned(), "; ask without that filter"),
            fitting => {
                let none = format!("{fitting} flows fit the query, and the filters leave none of them: ");
                (none, "; ask without one")
            }
        };
        NextStep::from(fact) + by + ask
    }
}

/// What a query comes to.
#[derive(Default)]
pub(super) struct Answer {
    /// The flows that fit, or come nearest where none does, and that the filters let through; best first.
    pub(super) hits: Vec<Hit>,
    pub(super) no_match: Option<NoMatch>,
    pub(super) excluded: Option<Excluded>,
}

impl Answer {
    pub(super) fn of(
        index: &FlowIndex,
        query: &Query,
        selection: &Selection,
        figures: &Figures<'_>,
        allowed: impl Fn(usize) -> bool,
    ) -> Result<Self, DamagedIndex> {
        Ok(match index.search()?.search(query, LARGEST_RANKING, selection.explain, &allowed) {
            Ranking::Hits(hits) => Self { hits, ..Self::default() },
            Ranking::Excluded { positions } => {
                Self { excluded: Some(Excluded::of(index, selection, figures, &positions)?), ..Self::default() }
            }
            Ranking::NoMatch { weak, nearest } => {
                let near = !weak.is_empty();
                // Who asks for anything at all, as with "*", is to see at least what kind of thing there is.
                let hits = if near { weak } else { first(index, figures, allowed)? };
                Self { hits, no_match: Some(NoMatch { nearest, near }), ..Self::default() }
            }
        })
    }
}

/// The flows that the filters let through and that are used most, as many as are shown where none fits.
fn first(index: &FlowIndex, figures: &Figures<'_>, allowed: impl Fn(usize) -> bool) -> Result<Vec<Hit>, DamagedIndex> {
    let mut rows: Vec<usize> = (0..index.len()).filter(|row| allowed(*row)).collect();
    figures.best_first(index.keys()?, &mut rows);
    let hits = rows.into_iter().take(MOST_WEAK).map(|position| Hit { position, score: 0.0, why: Vec::new() });
    Ok(hits.collect())
}
