//! What the core costs in process: reading, checking, planning, executing, listing.
//!
//! Run with `cargo bench --bench engine`; docs/performance.md says how the figures are read.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a bench fails by panicking"
)]

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use divan::Bencher;
use flowy::internals::clock::SystemClock;
use flowy::internals::discover::rank::{Document, Query};
use flowy::internals::discover::{Figures, FlowIndex, FlowInput, FlowRow, IndexRows, Mode, Selection, page};
use flowy::internals::execute::{Options, Rendered, Workers, execute};
use flowy::internals::model::Shelf;
use flowy::internals::names::CatalogPath;
use flowy::internals::plan::Plan;
use flowy::internals::run::Given;
use flowy::internals::validate::{self, Known, ParsedFlows};
use tokio_util::sync::CancellationToken;

fn main() {
    divan::main();
}

/// A chain of `steps` steps with inline texts, each reading the one before; every step but the first
/// also has edges to the two steps after its successor, as far as there are any.
fn flow_text(steps: usize, edges_each: usize) -> String {
    let mut text = String::from(
        r#"{"metadata":{"name":"Bench","version":"1.0.0"},"nodes":[{"id":"in","type":"multi_input","data":{"variables":["topic"]}}"#,
    );
    for n in 0..steps {
        let reads = if n == 0 { "{topic}".to_owned() } else { format!("{{topic}} after step {}", n - 1) };
        write!(text, r#",{{"id":"s{n}","type":"template","data":{{"label":"Step {n}","template":"Write about {reads}, briefly.","variables":["topic"]}}}}"#).unwrap();
    }
    text.push_str(r#"],"edges":[{"source":"in","target":"s0"}"#);
    for n in 0..steps {
        for ahead in 1..=edges_each {
            if n + ahead < steps {
                write!(text, r#",{{"source":"s{n}","target":"s{}"}}"#, n + ahead).unwrap();
            }
        }
    }
    text.push_str("]}");
    text
}

fn parsed(text: &str) -> ParsedFlows {
    ParsedFlows::read(&CatalogPath::new("flows/Bench.json").unwrap(), text.as_bytes())
}

fn checked(parsed: &ParsedFlows, nodes: usize) -> validate::FlowCheck {
    let shelf = Shelf::default();
    let options =
        validate::Options { lenient: false, max_nodes: nodes + 10, max_edges: nodes * 4, unchecked_calls: false };
    let mut check =
        validate::flow_file(parsed, Known { shelf: &shelf, twins: None, strays: &[], tools: None, options });
    check.flows.remove(0)
}

fn plan(steps: usize, edges_each: usize) -> Arc<Plan> {
    let check = checked(&parsed(&flow_text(steps, edges_each)), steps);
    Arc::new(Plan::of(check.checked.as_ref().expect("no finding reaches the flow"), &HashMap::new()))
}

fn given() -> Given {
    let variables = serde_json::json!({"topic": "tea"});
    Given::read(variables.as_object().unwrap()).unwrap()
}

#[divan::bench(args = [3, 100, 10_000])]
fn read_json(bencher: Bencher<'_, '_>, steps: usize) {
    let text = flow_text(steps, 3);
    bencher.counter(divan::counter::BytesCount::new(text.len())).bench(|| parsed(&text));
}

#[divan::bench(args = [3, 100, 10_000])]
fn check(bencher: Bencher<'_, '_>, steps: usize) {
    let parsed = parsed(&flow_text(steps, 3));
    bencher.bench(|| checked(&parsed, steps));
}

#[divan::bench(args = [3, 100, 10_000])]
fn make_plan(bencher: Bencher<'_, '_>, steps: usize) {
    let check = checked(&parsed(&flow_text(steps, 3)), steps);
    let checked = check.checked.expect("no finding reaches the flow");
    bencher.bench(|| Plan::of(&checked, &HashMap::new()));
}

#[divan::bench(args = [3, 100, 10_000])]
fn execute_steps(bencher: Bencher<'_, '_>, steps: usize) {
    let plan = plan(steps, 1);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    bencher.counter(divan::counter::ItemsCount::new(steps)).bench(|| {
        runtime
            .block_on(execute(
                plan.clone(),
                given(),
                &Options::default(),
                Workers::of_texts(&Rendered),
                &SystemClock,
                &CancellationToken::new(),
                |_, _| {},
            ))
            .unwrap()
    });
}

fn rows(flows: usize) -> IndexRows {
    let entries = (0..flows).map(|n| FlowRow {
        name: format!("Market_Research_Flow_{n:05}"),
        description: "Collects what is known of a market, compares the competitors and writes a short brief for the team that has to decide.".to_owned(),
        tags: vec!["research".to_owned(), "market".to_owned()],
        node_count: 5,
        steps: vec!["Collect".to_owned(), "Compare".to_owned(), "Brief".to_owned()],
        inputs: ["topic", "audience", "tone"].map(|name| FlowInput { name: name.to_owned(), required: name == "topic", ..FlowInput::default() }).to_vec(),
        file: format!("flows/Market_Research_Flow_{n:05}.json"),
        ..FlowRow::default()
    });
    IndexRows::new(entries.collect(), Vec::new(), Vec::new(), Vec::new())
}

#[divan::bench(args = [80, 10_000])]
fn open_index_and_list(bencher: Bencher<'_, '_>, flows: usize) {
    let records = Arc::new(rows(flows).records());
    let selection = Selection::all(Mode::Compact);
    bencher.bench(|| {
        let records = records.clone();
        let index = FlowIndex::open(move |number| records.get(number).cloned()).unwrap();
        page(&index, &selection, "revision", &Figures::default()).unwrap()
    });
}

#[divan::bench(args = [80, 10_000], sample_count = 10)]
fn write_index(bencher: Bencher<'_, '_>, flows: usize) {
    let rows = rows(flows);
    bencher.with_inputs(|| rows.clone()).bench_values(IndexRows::records);
}

/// Flows in 40 subjects and 50 actions, with words of their own beside the common ones.
fn varied(flows: usize) -> Vec<FlowRow> {
    let word = |seed: usize| {
        let syllables = ["ba", "ke", "lo", "mi", "nu", "ra", "se", "ti", "vo", "zan"];
        (0..4).map(|place| syllables[seed / 10_usize.pow(place) % 10]).collect::<String>()
    };
    let entry = |n: usize| FlowRow {
        name: format!("{}_{}_{n:05}", word(n % 40), word(n % 50 + 100)),
        description: format!(
            "Collects what is known of the {} and writes a short brief on {} for the team that has to decide about {}.",
            word(n % 997),
            word(n % 3_001),
            word(n)
        ),
        tags: vec![word(n % 30), "research".to_owned()],
        category: Some(word(n % 12)),
        inputs: ["topic", "audience", "tone"]
            .map(|name| FlowInput {
                name: name.to_owned(),
                description: Some(format!("The {name} of the {}", word(n % 500))),
                ..FlowInput::default()
            })
            .to_vec(),
        examples: vec![format!("write me a brief about {}", word(n)), format!("{} 보고서를 써줘", word(n % 700))],
        file: format!("flows/{n}.json"),
        ..FlowRow::default()
    };
    (0..flows).map(entry).collect()
}

#[divan::bench(args = [80, 10_000], sample_count = 10)]
fn build_ranks(bencher: Bencher<'_, '_>, flows: usize) {
    let flows = varied(flows);
    bencher.bench(|| flowy::internals::discover::rank::SearchIndex::build(flows.iter().map(Document::of_flow)));
}

#[divan::bench(args = ["write a brief about bakelomi", "reserch team breif kelomina", "보고서를 써줘", "nothing of this is known here at all"], sample_count = 1_000)]
fn search_10_000(bencher: Bencher<'_, '_>, asked: &str) {
    let flows = varied(10_000);
    let index = flowy::internals::discover::rank::SearchIndex::build(flows.iter().map(Document::of_flow));
    let query = Query::new(&[asked]).unwrap();
    bencher.bench(|| index.search(&query, 5, false, |_| true));
}

#[divan::bench(sample_count = 1_000)]
fn search_10_000_in_eight_phrasings(bencher: Bencher<'_, '_>) {
    let flows = varied(10_000);
    let index = flowy::internals::discover::rank::SearchIndex::build(flows.iter().map(Document::of_flow));
    let asked: Vec<String> = (0..8).map(|n| format!("{} {}", flows[n * 1_000].description, flows[n].name)).collect();
    let query = Query::new(&asked).unwrap();
    bencher.bench(|| index.search(&query, 5, false, |_| true));
}
