//! How often the right flow is found, and for how many tokens.
//!
//! `cargo bench --bench discovery` reads the labelled set in `benches/discovery/` and prints tables: flows written like
//! those of a company's catalog, and requests in the words of people who have not read them. A third of the flows,
//! chosen by a hash of their names, is held out with all their requests: nothing is tuned on it. `-- --plot FILE.svg`
//! draws the picture of docs/discovery.md; `-- --tuning` leaves the held-out part alone, for whoever tunes, and
//! `-- --misses` names what went wrong in the other part.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::too_many_lines,
    clippy::needless_for_each,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "a bench fails by panicking and prints what it measured"
)]

#[path = "discovery/cost.rs"]
mod cost;
#[path = "discovery/plot.rs"]
mod plot;
#[path = "discovery/set.rs"]
mod set;
#[path = "discovery/ways.rs"]
mod ways;

use std::collections::BTreeMap;
use std::path::Path;

use flowy::internals::discover::rank::{Document, Query, SearchIndex};
use flowy::internals::discover::{FlowRow, Mode};

use cost::Tokens;
use plot::{Bar, Point};
use set::{Asked, Request, Set};
use ways::{Plain, ours, shown, substring};

/// A way to find flows: for each request the places of the flows it names, best first.
type Finder<'a> = Box<dyn Fn(&[String]) -> Vec<usize> + 'a>;

#[derive(Default, Clone, Copy)]
struct Tally {
    asked: u32,
    first: u32,
    third: u32,
    fifth: u32,
    nothing_asked: u32,
    nothing_found: u32,
    refused: u32,
}

impl Tally {
    fn count(&mut self, request: &Request, found: &[usize]) {
        match request.flow {
            Some(flow) => {
                self.asked += 1;
                self.first += u32::from(found.first() == Some(&flow));
                self.third += u32::from(found.iter().take(3).any(|other| *other == flow));
                self.fifth += u32::from(found.iter().take(5).any(|other| *other == flow));
                self.refused += u32::from(found.is_empty());
            }
            None => {
                self.nothing_asked += 1;
                self.nothing_found += u32::from(found.is_empty());
            }
        }
    }

    fn row(&self) -> String {
        format!(
            "{:.3} | {:.3} | {:.3} | {:.3} | {:.3}",
            share(self.first, self.asked),
            share(self.third, self.asked),
            share(self.fifth, self.asked),
            share(self.nothing_found, self.nothing_asked),
            share(self.refused, self.asked)
        )
    }
}

fn share(part: u32, all: u32) -> f64 {
    f64::from(part) / f64::from(all.max(1))
}

/// Which requests a table is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Tuned,
    HeldOut,
    Whole,
}

impl Part {
    fn as_str(self) -> &'static str {
        match self {
            Self::Tuned => "the two thirds",
            Self::HeldOut => "the held-out third",
            Self::Whole => "the whole set",
        }
    }

    fn of(self, set: &Set) -> impl Iterator<Item = &Request> {
        set.requests.iter().filter(move |request| self == Self::Whole || request.held_out == (self == Self::HeldOut))
    }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    let plot = arguments.iter().position(|argument| argument == "--plot").and_then(|at| arguments.get(at + 1));
    let set = set::read(Path::new("benches/discovery"));
    let bare: Vec<FlowRow> = set.flows.iter().map(|flow| FlowRow { examples: Vec::new(), ..flow.clone() }).collect();
    let ranked = SearchIndex::build(set.flows.iter().map(Document::of_flow));
    let ranked_bare = SearchIndex::build(bare.iter().map(Document::of_flow));
    let (plain, plain_bare) = (Plain::build(&set.flows), Plain::build(&bare));
    let (stemmed, stemmed_bare) = (Plain::stemmed(&set.flows), Plain::stemmed(&bare));
    let finders: [(&str, Finder<'_>); 9] = [
        ("substring", Box::new(|asked| substring(&set.flows, asked))),
        ("plain BM25, without examples", Box::new(|asked| plain_bare.find(asked))),
        ("plain BM25", Box::new(|asked| plain.find(asked))),
        ("BM25 with stems, pairs and typos, without examples", Box::new(|asked| stemmed_bare.find(asked))),
        ("BM25 with stems, pairs and typos", Box::new(|asked| stemmed.find(asked))),
        ("ours, without examples", Box::new(|asked| ours(&ranked_bare, asked))),
        ("ours", Box::new(|asked| ours(&ranked, asked))),
        ("ours with the nearest, without examples", Box::new(|asked| shown(&ranked_bare, asked))),
        ("ours with the nearest", Box::new(|asked| shown(&ranked, asked))),
    ];
    let parts: &[Part] = if given("--tuning") { &[Part::Tuned] } else { &[Part::Tuned, Part::HeldOut, Part::Whole] };
    for &part in parts {
        let (with, none): (Vec<&Request>, Vec<&Request>) = part.of(&set).partition(|request| request.flow.is_some());
        println!("## {}: {} requests for a flow, {} that nothing fits\n", part.as_str(), with.len(), none.len());
        for asked in Asked::ALL {
            println!("{}\n", asked.as_str());
            println!(
                "| way | recall@1 | recall@3 | recall@5 | nothing fits found | refused wrongly |\n|---|---|---|---|---|---|"
            );
            for (name, finder) in &finders {
                let mut tally = Tally::default();
                part.of(&set).for_each(|request| tally.count(request, &finder(&request.said(asked))));
                println!("| {name} | {} |", tally.row());
            }
            println!();
        }
        let mut by_language: BTreeMap<&str, Tally> = BTreeMap::new();
        for request in part.of(&set) {
            let found = ours(&ranked, &request.said(Asked::Phrasings));
            by_language.entry(&request.language).or_default().count(request, &found);
        }
        println!(
            "| language of the person (ours, phrasings) | requests | recall@1 | recall@3 | recall@5 | nothing fits found | refused wrongly |\n|---|---|---|---|---|---|---|"
        );
        for (language, tally) in by_language {
            println!("| {language} | {} | {} |", tally.asked + tally.nothing_asked, tally.row());
        }
        println!();
    }
    trade_off(&set, &[("", &ranked), (", without examples", &ranked_bare)]);
    if given("--misses") {
        misses(&set, &ranked);
    }
    let tokens = Tokens::new();
    cost::print_tokens(&set, &ranked, &tokens);
    if let Some(file) = plot {
        draw(Path::new(file), &set, &finders, &tokens);
    }
    cost::print_times(&set);
}

/// What a stricter or laxer decision that nothing fits would do, on the part that may be tuned on.
fn trade_off(set: &Set, indexes: &[(&str, &SearchIndex)]) {
    println!("| strictness, and the query | right flow among the first 3 | nothing fits found |\n|---|---|---|");
    for asked in [Asked::Phrasings, Asked::First] {
        for (name, index) in indexes {
            for strictness in [0.0, 0.6, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5] {
                let mut tally = Tally::default();
                for request in Part::Tuned.of(set) {
                    let (fit, hits) = index.judged(&Query::new(&request.said(asked)).unwrap());
                    let places: Vec<usize> = hits.iter().map(|hit| hit.position).collect();
                    tally.count(request, if fit < strictness { &[] } else { &places });
                }
                println!(
                    "| {strictness}, {}{name} | {:.3} | {:.3} |",
                    asked.as_str(),
                    share(tally.third, tally.asked),
                    share(tally.nothing_found, tally.nothing_asked)
                );
            }
        }
    }
    println!();
}

fn misses(set: &Set, index: &SearchIndex) {
    for request in Part::Tuned.of(set) {
        let said = request.said(Asked::Phrasings);
        let found: Vec<&str> = ours(index, &said).iter().take(3).map(|at| set.flows[*at].name.as_str()).collect();
        match request.flow.map(|flow| set.flows[flow].name.as_str()) {
            Some(wanted) if !found.contains(&wanted) => println!("{said:?}\n  wanted {wanted}, got {found:?}"),
            None if !found.is_empty() => println!("{said:?}\n  wanted nothing, got {found:?}"),
            _ => {}
        }
    }
    println!();
}

/// Draws how often an answer holds the right flow against what it costs, on the held-out third.
fn draw(file: &Path, set: &Set, finders: &[(&str, Finder<'_>)], tokens: &Tokens) {
    // What the tables have beside these would only crowd the picture.
    let finders = || finders.iter().filter(|(name, _)| !name.contains("nearest") && !name.contains("stems"));
    let all = |name: &str, text: &str| Point {
        name: name.to_owned(),
        tokens: tokens.of(text) as f64,
        holds: 1.0,
        ours: false,
    };
    let mut points = vec![
        all("every flow", &cost::entries(set.flows.clone(), Mode::Compact)),
        all("every name", &cost::names(&set.flows)),
    ];
    for (name, finder) in finders() {
        let (mut cost, mut asked, mut holds) = (0, 0_u32, 0_u32);
        for request in Part::HeldOut.of(set) {
            let Some(flow) = request.flow else { continue };
            let found: Vec<usize> = finder(&request.said(Asked::Phrasings)).into_iter().take(5).collect();
            asked += 1;
            holds += u32::from(found.contains(&flow));
            let five = found.iter().map(|at| set.flows[*at].clone()).collect();
            cost += tokens.of(&cost::entries(five, Mode::Brief));
        }
        points.push(Point {
            name: (*name).to_owned(),
            tokens: f64::from(u32::try_from(cost).unwrap()) / f64::from(asked),
            holds: share(holds, asked),
            ours: name.starts_with("ours"),
        });
    }
    let title = format!("How often the answer holds the right flow of {}, and what it costs", set.flows.len());
    let (mut bars, mut none) = (Vec::new(), 0);
    for (name, finder) in finders() {
        let mut tally = Tally::default();
        for request in Part::HeldOut.of(set).filter(|request| request.flow.is_none()) {
            tally.count(request, &finder(&request.said(Asked::Phrasings)));
        }
        none = tally.nothing_asked;
        let says_so = share(tally.nothing_found, tally.nothing_asked);
        bars.push(Bar { name: (*name).to_owned(), says_so, ours: name.starts_with("ours") });
    }
    let below = format!("How often a request that nothing fits is answered so (of {none})");
    plot::write(file, (&title, &points), (&below, &bars));
}
