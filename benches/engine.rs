//! What the core costs in process: reading, checking, planning, executing, listing.
//!
//! Run with `cargo bench --bench engine`; docs/performance.md says how the figures are read.

#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs, reason = "a bench fails by panicking")]

use std::fmt::Write as _;
use std::sync::Arc;

use divan::Bencher;
use flowy::clock::SystemClock;
use flowy::discover::{Entry, Index, Input, Mode, Packed, Selection, page};
use flowy::execute::{Options, Rendered, execute};
use flowy::model::Shelf;
use flowy::names::CatalogPath;
use flowy::plan::Plan;
use flowy::run::Given;
use flowy::validate::{self, Known, Parsed};
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

fn parsed(text: &str) -> Parsed {
    validate::parse(&CatalogPath::new("flows/Bench.json").unwrap(), text.as_bytes())
}

fn checked(parsed: &Parsed, nodes: usize) -> validate::FlowCheck {
    let shelf = Shelf::default();
    let options = validate::Options { lenient: false, max_nodes: nodes + 10, max_edges: nodes * 4 };
    let path = CatalogPath::new("flows/Bench.json").unwrap();
    let mut check = validate::flow_file(&path, parsed, Known { shelf: &shelf, twins: &[], options });
    check.flows.remove(0)
}

fn plan(steps: usize, edges_each: usize) -> Arc<Plan> {
    let check = checked(&parsed(&flow_text(steps, edges_each)), steps);
    Arc::new(Plan::of(check.checked.as_ref().expect("no finding reaches the flow")))
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
    bencher.bench(|| Plan::of(&checked));
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
                &Rendered,
                &SystemClock,
                &CancellationToken::new(),
                |_, _| {},
            ))
            .unwrap()
    });
}

fn index(flows: usize) -> Index {
    let entries = (0..flows).map(|n| Entry {
        name: format!("Market_Research_Flow_{n:05}"),
        description: "Collects what is known of a market, compares the competitors and writes a short brief for the team that has to decide.".to_owned(),
        tags: vec!["research".to_owned(), "market".to_owned()],
        node_count: 5,
        steps: vec!["Collect".to_owned(), "Compare".to_owned(), "Brief".to_owned()],
        inputs: ["topic", "audience", "tone"].map(|name| Input { name: name.to_owned(), required: name == "topic", ..Input::default() }).to_vec(),
        file: format!("flows/Market_Research_Flow_{n:05}.json"),
        ..Entry::default()
    });
    Index::new(entries.collect(), Vec::new(), Vec::new(), Vec::new())
}

#[divan::bench(args = [80, 10_000])]
fn open_index_and_list(bencher: Bencher<'_, '_>, flows: usize) {
    let bytes: Arc<[u8]> = Arc::from(index(flows).pack());
    let selection = Selection::all(Mode::Compact);
    bencher.bench(|| page(&Packed::open(bytes.clone()).unwrap(), &selection, "revision").unwrap());
}

#[divan::bench(args = [80, 10_000], sample_count = 10)]
fn pack_index(bencher: Bencher<'_, '_>, flows: usize) {
    let index = index(flows);
    bencher.bench(|| index.pack());
}
