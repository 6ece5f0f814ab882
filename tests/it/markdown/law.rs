//! The law of `flowy convert`: from JSON to Markdown and back, whatever a catalog holds, the plan, every output and
//! every silence of the checker stay.

mod drafts;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use flowy::internals::app::{ConvertRequest, Form, convert};
use flowy::internals::catalog::{CheckOptions, check};
use flowy::internals::code::Code;
use flowy::internals::config::{Environment, Settings};
use flowy::internals::execute::{Options, Rendered, StepTask, Worker, Workers, Working, execute, working};
use flowy::internals::names::CatalogPath;
use flowy::internals::plan::{Plan, Work};
use flowy::internals::run::{Given, Output, StepError};
use flowy::internals::source::Snapshot;
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::support::walking::clock;
use drafts::{SETS, Tape, catalog};

/// Files of a catalog by path.
type Files = BTreeMap<String, Vec<u8>>;

/// A worker that gives fields, texts and failures.
struct Moody;

impl Worker for Moody {
    fn work<'a>(&'a self, task: StepTask<'_, 'a>) -> Result<Working<'a>, String> {
        let StepTask { step, text, .. } = task;
        let mood = step.id.bytes().map(usize::from).sum::<usize>() % 4;
        Ok(working(async move {
            match mood {
                0 => Err(StepError::new(Code::ExecutionError, "no answer")),
                1 => Ok(Output::with_fields(text, json!({"title": "T", "rows": [1, {"a": 2}]}))),
                _ => Ok(Output::text(text)),
            }
        }))
    }
}

/// What an execution of a plan comes to.
fn story(runtime: &Runtime, plan: &Arc<Plan>, set: Option<&str>, worker: &dyn Worker) -> Value {
    let mut variables = Map::new();
    for input in plan.inputs().iter().filter(|input| input.required) {
        variables.insert(input.name.clone(), format!("<{}>", input.name).into());
    }
    variables.extend(
        set.filter(|set| plan.sets().iter().any(|known| known == set))
            .map(|set| ("_variableSet".to_owned(), set.into())),
    );
    let given = Given::read(&variables).unwrap();
    let cancel = CancellationToken::new();
    let clock = clock();
    let told = runtime.block_on(execute(
        plan.clone(),
        given,
        &Options::default(),
        Workers::of_texts(worker),
        clock.as_ref(),
        &cancel,
        |_, _| {},
    ));
    match told {
        // Files are called otherwise.
        Err(refusal) => json!(format!("{refusal:?}")),
        Ok(executed) => {
            let states = (0..plan.steps().len()).map(|number| format!("{:?}", executed.run.state(number)));
            // What nothing fills stays as it is written: Markdown has one pair of braces where the old shape has two.
            let states =
                states.map(|state| state.replace("{{ ", "{").replace(" }}", "}").replace("{{", "{").replace("}}", "}"));
            json!([format!("{:?}", executed.run.status()), states.collect::<Vec<_>>()])
        }
    }
}

/// Everything of a plan that people notice: steps, order, waves, parents, bindings, inputs and results.
fn told(plan: &Plan) -> Value {
    let id = |step: &usize| plan.step(*step).map(|step| step.id.clone());
    let steps = plan.steps().iter().map(|step| {
        let kind = match &step.work {
            Work::Render(_) => "text",
            Work::Call(_) => "call",
            Work::Flow(_) => "flow",
            Work::Gather(_) => "gather",
            Work::Faulty { .. } => "faulty",
        };
        let mut slots = serde_json::to_value(step.work.slots()).unwrap();
        without_ways(&mut slots);
        json!([step.id, step.label, kind, step.wave, step.parents.iter().map(id).collect::<Vec<_>>(), slots])
    });
    let inputs: BTreeMap<&str, Value> = plan
        .inputs()
        .iter()
        .map(|input| (input.name.as_str(), json!([input.required, input.default, input.description, input.choices])))
        .collect();
    let results: Vec<Value> =
        plan.results().iter().map(|mark| json!([mark.label, mark.step.as_ref().and_then(id)])).collect();
    json!({"steps": steps.collect::<Vec<_>>(), "inputs": inputs, "results": results, "sets": plan.sets(), "final": plan.last().as_ref().and_then(id)})
}

/// A handle may become a mapping.
fn without_ways(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.remove("by");
            map.values_mut().for_each(without_ways);
        }
        Value::Array(items) => items.iter_mut().for_each(without_ways),
        _ => {}
    }
}

/// A flow as it was checked.
struct Checked {
    plan: Option<Arc<Plan>>,
    rules: Vec<&'static str>,
}

/// The flows of a catalog by name.
fn checked(runtime: &Runtime, files: &Files) -> BTreeMap<String, Checked> {
    let texts = files.iter().map(|(path, bytes)| (CatalogPath::new(path).unwrap(), Arc::from(&**bytes)));
    let snapshot = Snapshot::of_texts(texts, Vec::new());
    let instead = BTreeMap::new();
    let options = CheckOptions {
        wanted: &|_| true,
        whole: false,
        contents: true,
        lenient: false,
        tools: None,
        instead: &instead,
    };
    let found = runtime.block_on(check(&snapshot, options)).unwrap();
    let mut flows = BTreeMap::new();
    for file in &found.files {
        for (flow, plan) in file.flows.iter().zip(&file.plans) {
            let rules = file.findings.iter().filter(|finding| finding.flow.as_deref() == Some(flow.name.as_str()));
            flows.insert(
                flow.name.to_string(),
                Checked { plan: plan.clone(), rules: rules.map(|one| one.rule).collect() },
            );
        }
    }
    flows
}

/// The file of a flow, for who has to see why a law does not hold.
fn shown(files: &Files, name: &str) -> String {
    let of_flow = files.iter().filter(|(path, bytes)| {
        path.starts_with("flows/") && (path.contains(name) || String::from_utf8_lossy(bytes).contains(name))
    });
    let told = of_flow.map(|(path, bytes)| format!("{path}\n{}\n", String::from_utf8_lossy(bytes)));
    told.collect::<Vec<_>>().concat()
}

/// Converts every flow and template of a folder into a folder; the results, or what was said against it.
fn converted(
    runtime: &Runtime,
    root: &Path,
    (from, to): (&str, &str),
    form: Form,
    files: &Files,
) -> Result<Files, String> {
    for (path, bytes) in files {
        let place = root.join(from).join(path);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, bytes).unwrap();
    }
    let wanted = files.keys().filter(|path| !path.starts_with("personas/"));
    let environment = Environment::of([("HOME", root.to_str().unwrap())]);
    let request = ConvertRequest {
        files: wanted.map(|path| root.join(from).join(path)).collect(),
        to: form,
        out: Some(root.join(to)),
        onto: None,
        force: false,
    };
    let settings = Settings::defaults(&environment);
    match runtime.block_on(convert(&request, &settings, &environment, clock())) {
        Ok(conversion) => {
            let mut results: Files = files
                .iter()
                .filter(|(path, _)| path.starts_with("personas/"))
                .map(|(path, bytes)| (path.clone(), bytes.clone()))
                .collect();
            for part in conversion.parts {
                let bytes = std::fs::read(root.join(to).join(&part.to)).unwrap();
                results.insert(part.to, bytes);
            }
            Ok(results)
        }
        Err(error) => {
            assert!(!root.join(to).exists(), "something was written: {error:?}");
            Err(error.message)
        }
    }
}

/// Holds one catalog to the law; why it can't be said in Markdown, where it can't.
fn holds(runtime: &Runtime, tape: &[u8]) -> Result<Option<String>, TestCaseError> {
    let mut files = catalog(&mut Tape { bytes: tape.iter() });
    // What can't be planned is not converted.
    loop {
        let flows = checked(runtime, &files);
        let broken: Vec<&String> = flows.iter().filter(|(_, flow)| flow.plan.is_none()).map(|(name, _)| name).collect();
        if broken.is_empty() {
            break;
        }
        let before = files.len();
        files.retain(|path, bytes| {
            let text = String::from_utf8_lossy(bytes);
            !path.starts_with("flows/") || !broken.iter().any(|name| text.contains(&format!("\"name\":\"{name}\"")))
        });
        prop_assert!(files.len() < before, "{broken:?}");
    }
    let root = tempfile::tempdir().unwrap();
    let there = checked(runtime, &files);
    let markdown = match converted(runtime, root.path(), ("there", "markdown"), Form::Markdown, &files) {
        Ok(markdown) => markdown,
        Err(why) => {
            prop_assert!(why.contains("can't"), "{why}");
            return Ok(Some(why));
        }
    };
    let again = converted(runtime, root.path(), ("written", "again"), Form::Json, &markdown);
    let again = again.map_err(|why| TestCaseError::fail(format!("not back: {why}")))?;
    let originals = &files;
    for (form, files) in [("markdown", &markdown), ("json", &again)] {
        let now = checked(runtime, files);
        prop_assert_eq!(now.keys().collect::<Vec<_>>(), there.keys().collect::<Vec<_>>(), "{}", form);
        for (name, before) in &there {
            let (Some(old), Some(new)) = (&before.plan, &now[name].plan) else {
                return Err(TestCaseError::fail(format!("{form}: {name} can't be planned: {:?}", now[name].rules)));
            };
            prop_assert_eq!(told(old), told(new), "{} {}", form, name);
            for set in [None, Some(SETS[0]), Some(SETS[1])] {
                for worker in [&Rendered as &dyn Worker, &Moody] {
                    let (old, new) = (story(runtime, old, set, worker), story(runtime, new, set, worker));
                    prop_assert_eq!(old, new, "{} {} {:?}", form, name, set);
                }
            }
            // What is found afterwards was found before. That a step stands alone, to which nothing but an edge from
            // inputs led that it does not read, is told by the conversion; a step without edges that reads inputs is
            // connected in Markdown, and only unread.
            // An id that no placeholder can name is told in Markdown, where it is written for texts to read it.
            let alone = before.rules.contains(&"unconnected-node");
            // A name that a conversion writes out, because its step declares none, is known from then on, and told in
            // double braces.
            let text = shown(originals, name);
            let named_now =
                text.contains("{{") && (text.contains("\"variables\":[]") || !text.contains("\"variables\":"));
            let odd_id = old.steps().iter().any(|step| !step.id.chars().all(|c| c.is_alphanumeric() || c == '_'));
            let other = |rule: &&str| match *rule {
                "unconnected-node" => true,
                "unread-output" => alone,
                "foreign-placeholder" => named_now,
                "misspelt-field" => form == "markdown" && odd_id,
                _ => false,
            };
            let fresh = now[name].rules.iter().copied().filter(|rule| !before.rules.contains(rule));
            let fresh: Vec<&str> = fresh.filter(|rule| !other(rule)).collect();
            prop_assert!(fresh.is_empty(), "{form} {name}: {fresh:?}\n{}", shown(files, name));
        }
    }
    Ok(None)
}

/// Holds so many catalogs to the law; how many went there and back, and how often the others were refused for what.
fn hold(cases: u32) -> (u32, BTreeMap<String, u32>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let told = std::cell::RefCell::new((0, BTreeMap::new()));
    let tape = prop::collection::vec(any::<u8>(), 0..400);
    let held = runner.run(&tape, |tape| {
        let why = holds(&runtime, &tape)?;
        let (said, unsaid) = &mut *told.borrow_mut();
        match why.as_deref().and_then(|why| why.rsplit(": ").next()) {
            None => *said += 1,
            Some(why) => *unsaid.entry(why.to_owned()).or_default() += 1,
        }
        Ok(())
    });
    held.unwrap_or_else(|error| panic!("{error}"));
    told.into_inner()
}

#[test]
fn any_catalog_goes_to_markdown_and_back_with_its_plans_outputs_and_silences() {
    let (said, unsaid) = hold(80);
    assert!(said > 40, "{said} catalogs were converted, and others were not: {unsaid:#?}");
}

#[test]
#[ignore = "long: .ci/long runs it"]
fn thousands_of_catalogs_go_to_markdown_and_back_with_their_plans_outputs_and_silences() {
    let (said, unsaid) = hold(3_000);
    println!("{said} catalogs went there and back, the others were refused: {unsaid:#?}");
    assert!(said > 1_500);
}
