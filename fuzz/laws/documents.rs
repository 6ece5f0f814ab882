//! Files of a catalog: read, checked, planned and executed.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use chrono::DateTime;
use flowy::internals::clock::ManualClock;
use flowy::internals::document::{Document, Locator, Place, Pointer, Position, Span};
use flowy::internals::execute::{Options, Rendered, Workers, execute};
use flowy::internals::model::{Contract, Lookup, Persona, Shelf, wire};
use flowy::internals::names::{CatalogPath, unprintable};
use flowy::internals::plan::{Plan, PlanRecord};
use flowy::internals::run::{Given, Limits};
use flowy::internals::validate::{self, Finding, Known, ParsedFlows};
use serde_json::{Map, Number, Value};
use tokio_util::sync::CancellationToken;

use super::parts;

/// The most that a step and an execution of these laws may write, in bytes.
const STEP: usize = 20_000;
const WHOLE: usize = 50_000;

fn path(of: &str) -> CatalogPath {
    CatalogPath::new(of).unwrap()
}

fn same<T: Debug>(make: impl Fn() -> T) -> T {
    let (made, again) = (make(), make());
    assert_eq!(format!("{made:?}"), format!("{again:?}"), "equal bytes, equal answers");
    made
}

/// Whether two values are one, however their numbers are spelt.
fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let spelt = |number: &Number| number.to_string().to_lowercase().replace("e+", "e");
            spelt(one) == spelt(other)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| alike(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| alike(value, other)))
        }
        (one, other) => one == other,
    }
}

fn in_text(text: &str, span: Span, position: Position) {
    assert!(span.start <= span.end && span.end <= text.len(), "{span:?} of {}", text.len());
    assert!(text.is_char_boundary(span.start) && text.is_char_boundary(span.end), "{span:?}");
    assert_eq!(position, Position::of(text, span.start));
}

/// A file's bytes as a document, a flow file, a template file, a contract and a persona.
pub fn reader(bytes: &[u8]) {
    match same(|| Document::parse(path("flows/F.json"), bytes)) {
        Ok(document) => {
            let text = std::str::from_utf8(bytes).unwrap();
            assert_eq!(&*document.text, text.strip_prefix('\u{feff}').unwrap_or(text));
            let value: Value = serde_json::from_str(&document.text).unwrap();
            if document.hidden.is_empty() {
                assert!(alike(&document.value, &value), "{} is not {value}", document.value);
            }
            let locator = Locator::new(&document.text);
            if document.duplicates.is_empty() && document.hidden.is_empty() {
                each_stands_where_it_is_said(&document.text, &locator, &document.value, &Pointer::root());
            }
            same(|| wire::read_flows(&document));
            same(|| wire::read_templates(&document));
            if let Ok(contract) = same(|| Contract::compile(None, document.value.clone())) {
                if let Some(example) = contract.example() {
                    assert!(contract.breaches(example).is_empty(), "a contract takes its own example: {example}");
                }
                same(|| contract.breaches(&document.value));
            }
        }
        Err(problem) => {
            if let Ok(text) = std::str::from_utf8(bytes) {
                let text = text.strip_prefix('\u{feff}').unwrap_or(text);
                assert!(problem.span.start <= problem.span.end, "{problem:?}");
                assert_eq!(problem.position, Position::of(text, problem.span.start), "{problem:?}");
            }
        }
    }
    let _ = same(|| Persona::read(path("personas/P.md"), bytes));
}

fn each_stands_where_it_is_said(text: &str, locator: &Locator<'_>, value: &Value, at: &Pointer) {
    let span = locator.span(&Place::value(at.clone()));
    let written: Value = serde_json::from_str(&text[span.start..span.end]).unwrap();
    assert!(alike(&written, value), "{at:?}: {written} is not {value}");
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, value)| each_stands_where_it_is_said(text, locator, value, &at.key(key)));
        }
        Value::Array(items) => items
            .iter()
            .enumerate()
            .for_each(|(place, item)| each_stands_where_it_is_said(text, locator, item, &at.item(place))),
        _ => {}
    }
}

/// A flow file, and a template file after a NUL: checked; and what passes is planned and executed.
pub fn checker(bytes: &[u8]) {
    let mut parts = parts(bytes);
    let (flows, templates) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let (flow_file, template_file) = (path("flows/F.json"), path("templates/T.json"));
    let templates = validate::template_file(&template_file, &validate::parse(&template_file, templates));
    all_in_their_text(&templates.findings);
    let file = ParsedFlows::read(&flow_file, flows);
    let mut shelf = Shelf::default();
    for name in file.flows().iter().flat_map(|(_, names)| &names.templates) {
        let found = templates.templates.first().cloned();
        shelf.put(name, found.map_or_else(|| Lookup::Missing { nearest: Vec::new() }, Lookup::Found));
    }
    let options = validate::Options { unchecked_calls: true, ..validate::Options::default() };
    let known = Known { shelf: &shelf, twins: None, strays: &[], tools: None, options };
    let (check, again) = (validate::flow_file(&file, known), validate::flow_file(&file, known));
    assert_eq!(check.findings, again.findings, "equal bytes, equal findings");
    all_in_their_text(&check.findings);
    for (flow, again) in check.flows.into_iter().zip(again.flows) {
        assert_eq!(flow.findings, again.findings, "equal bytes, equal findings");
        all_in_their_text(&flow.findings);
        let Some(checked) = &flow.checked else { continue };
        let plan = Plan::of(checked, &HashMap::new());
        assert_eq!(plan, Plan::of(checked, &HashMap::new()));
        let mut walked: Vec<usize> = plan.waves().concat();
        walked.sort_unstable();
        assert_eq!(walked, (0..plan.steps().len()).collect::<Vec<_>>(), "waves hold every step once");
        if let Ok(record) = PlanRecord::of(&plan) {
            let stored = serde_json::to_string(&record).unwrap();
            let back: PlanRecord = serde_json::from_str(&stored).unwrap();
            assert_eq!(back.plan().unwrap(), plan, "a plan that is kept is the plan");
        }
        execute_it(&Arc::new(plan));
    }
}

fn all_in_their_text(findings: &[Finding]) {
    for finding in findings {
        // Of bytes that are no text nothing can be shown.
        if !finding.text.is_empty() {
            in_text(&finding.text, finding.span, finding.position);
        }
        let shown = [&finding.message].into_iter().chain(&finding.hints);
        for text in shown {
            assert!(!text.is_empty() && !text.chars().any(unprintable), "{text:?}");
        }
    }
}

/// With a value for every input; every step comes to an end, and no text is longer than it may be.
fn execute_it(plan: &Arc<Plan>) {
    let value = |input: &flowy::internals::plan::Input| {
        input.choices.first().cloned().unwrap_or_else(|| Value::from("{name} is {not} filled again"))
    };
    let given: Map<String, Value> = plan.inputs().iter().map(|input| (input.name.clone(), value(input))).collect();
    let Ok(given) = Given::read(&given) else { return };
    let options = Options { limits: Limits { step: STEP, whole: WHOLE }, ..Options::default() };
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (clock, cancel) = (ManualClock::at(DateTime::default()), CancellationToken::new());
        let workers = Workers::of_texts(&Rendered);
        let done = execute(plan.clone(), given.clone(), &options, workers, clock.as_ref(), &cancel, |_, _| ());
        runtime.block_on(done).map(|executed| executed.run)
    };
    let Ok(run_once) = run() else { return };
    assert_eq!(run().as_ref(), Ok(&run_once), "equal values, equal outputs");
    let run = run_once;
    assert!(run.ended());
    for step in 0..plan.steps().len() {
        if let Some(output) = run.output_of(step) {
            assert!(output.text.len() <= STEP, "{} bytes", output.text.len());
        }
    }
}
