//! What answers cost a model, and what a search costs this machine.

use std::time::Instant;

use flowy::internals::discover::rank::{Document, Query, SearchIndex};
use flowy::internals::discover::{Figures, FlowIndex, FlowRow, Mode, Selection, page};
use serde_json::Value;

use crate::set::{Asked, Set};

/// Counts tokens as o200k has them.
pub(crate) struct Tokens(tiktoken_rs::CoreBPE);

impl Tokens {
    pub(crate) fn new() -> Self {
        Self(tiktoken_rs::o200k_base().unwrap())
    }

    pub(crate) fn of(&self, text: &str) -> usize {
        self.0.encode_ordinary(text).len()
    }
}

fn index(flows: Vec<FlowRow>) -> FlowIndex {
    let rows = flowy::internals::discover::IndexRows::new(flows, Vec::new(), Vec::new(), Vec::new());
    FlowIndex::in_memory(rows.records()).unwrap()
}

/// The entries of flows in a mode, as JSON.
pub(crate) fn entries(flows: Vec<FlowRow>, mode: Mode) -> String {
    let mut selection = Selection::all(mode);
    (selection.limit, selection.max_tokens) = (Some(1_000), Some(1_000_000));
    let page = page(&index(flows), &selection, "", &Figures::default()).unwrap();
    serde_json::to_string(&page.entries).unwrap()
}

/// The names of flows, as JSON.
pub(crate) fn names(flows: &[FlowRow]) -> String {
    Value::from(flows.iter().map(|flow| flow.name.clone()).collect::<Vec<_>>()).to_string()
}

/// Prints what answers cost.
pub(crate) fn print_tokens(set: &Set, ours: &SearchIndex, tokens: &Tokens) {
    println!("| answer | tokens (o200k) |\n|---|---|");
    for mode in [Mode::Detailed, Mode::Compact, Mode::Index] {
        println!("| every flow, {} | {} |", mode.word(), tokens.of(&entries(set.flows.clone(), mode)));
    }
    println!("| every name | {} |", tokens.of(&names(&set.flows)));
    for mode in [Mode::Compact, Mode::Index, Mode::Brief] {
        let mut costs: Vec<usize> = Vec::new();
        for request in &set.requests {
            let (_, hits) = ours.judged(&Query::new(&request.said(Asked::Phrasings)).unwrap());
            if hits.len() >= 5 {
                let five = hits.iter().take(5).map(|hit| set.flows[hit.position].clone()).collect();
                costs.push(tokens.of(&entries(five, mode)));
            }
        }
        costs.sort_unstable();
        let at = |share: usize| costs[(costs.len() - 1) * share / 100];
        println!(
            "| five candidates, {}: median, 95th of 100, most | {}, {}, {} |",
            mode.word(),
            at(50),
            at(95),
            at(100)
        );
    }
    println!();
}

/// Prints what a search among 10,000 flows costs: the set's flows, each with parts of another one.
pub(crate) fn print_times(set: &Set) {
    let many: Vec<FlowRow> = (0..10_000)
        .map(|n| {
            let mut flow = set.flows[n % set.flows.len()].clone();
            let other = &set.flows[(n * 7 + n / set.flows.len()) % set.flows.len()];
            flow.name = format!("{}_{n}", flow.name);
            flow.description = format!("{} {}", flow.description, other.description);
            flow.examples.extend(other.examples.first().cloned());
            flow
        })
        .collect();
    let begun = Instant::now();
    let index = SearchIndex::build(many.iter().map(Document::of_flow));
    println!("10,000 flows: index built in {:.0} ms\n", begun.elapsed().as_secs_f64() * 1e3);
    println!("| query | half take | 99 of 100 take | all take |\n|---|---|---|---|");
    for (name, phrasings) in [("one phrasing", 1), ("eight phrasings", 8)] {
        let mut took: Vec<f64> = Vec::new();
        for request in &set.requests {
            let mut said = request.said(Asked::Both);
            let more: Vec<String> = said.iter().map(|text| format!("{text} please")).collect();
            said.extend(more);
            said.rotate_left(1);
            said.truncate(phrasings);
            let query = Query::new(&said).unwrap();
            // The best of three: whatever else the machine does is no part of a search.
            let once = || {
                let begun = Instant::now();
                std::hint::black_box(index.search(&query, 5, false, |_| true));
                begun.elapsed().as_secs_f64() * 1e3
            };
            took.push((0..3).map(|_| once()).fold(f64::MAX, f64::min));
        }
        took.sort_by(f64::total_cmp);
        let at = |share: usize| took[(took.len() - 1) * share / 100];
        println!("| {name} | {:.2} ms | {:.2} ms | {:.2} ms |", at(50), at(99), at(100));
    }
}
