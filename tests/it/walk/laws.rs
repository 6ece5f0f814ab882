//! Laws that hold for any flow: what passes the checker plans and executes, every step is
//! accounted for, order respects edges, and equal inputs give equal bytes on any number of threads.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::Arc;

use flowy::internals::code::Code;
use flowy::internals::execute::{Options, Rendered, StepTask, Worker, Workers, Working, execute, working};
use flowy::internals::plan::Plan;
use flowy::internals::run::{Given, Limits, OnFailure, Output, State, StepError};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::support::checking::{Entry, check_with, findings};
use crate::support::walking::clock;

/// A worker that lets other steps go first, answers some steps with fields, and fails some.
struct Moody;

impl Worker for Moody {
    fn work<'a>(&'a self, task: StepTask<'_, 'a>) -> Result<Working<'a>, String> {
        let StepTask { step, text, .. } = task;
        let mood = step.id.bytes().map(usize::from).sum::<usize>() % 5;
        if mood == 0 {
            return Err(text);
        }
        Ok(working(async move {
            for _ in 0..mood {
                tokio::task::yield_now().await;
            }
            match mood {
                1 => Err(StepError::new(Code::ExecutionError, "no answer")),
                2 => Ok(Output::with_fields(text, json!({"title": "T", "rows": [1, 2]}))),
                _ => Ok(Output::text(text)),
            }
        }))
    }
}

/// Everything a run says, but for times.
fn story(plan: &Arc<Plan>, given: &Given, options: &Options, worker: &dyn Worker, threads: usize) -> String {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_time().build().unwrap();
    let (clock, cancel) = (clock(), CancellationToken::new());
    let mut progress = 0;
    let told = runtime.block_on(execute(
        plan.clone(),
        given.clone(),
        options,
        Workers::of_texts(worker),
        clock.as_ref(),
        &cancel,
        |_, now| {
            progress = now.ended;
        },
    ));
    let executed = match told {
        Ok(executed) => executed,
        Err(refusal) => return format!("{refusal:?}"),
    };
    let run = &executed.run;
    let mut story = format!("{:?} {:?}\n", run.status(), run.mappings());
    let mut ended = 0;
    for number in 0..plan.steps().len() {
        let state = run.state(number).unwrap();
        assert!(
            matches!(state, State::Done { .. } | State::Failed { .. } | State::Skipped { .. }),
            "step {number} is not accounted for: {state:?}"
        );
        ended += 1;
        writeln!(story, "{number} {state:?}").unwrap();
    }
    assert!(run.ended() && run.counts().ended == ended && (ended == 0 || progress == ended));
    for warning in &executed.warnings {
        writeln!(story, "{warning:?}").unwrap();
    }
    story
}

/// Ids that clash now and then once hyphens are removed, and one that is not an id.
fn id() -> impl Strategy<Value = String> {
    prop_oneof![
        12 => (0_usize..9).prop_map(|number| format!("n{number}")),
        3 => (0_usize..9).prop_map(|number| format!("n-{number}")),
        1 => Just("📄 1".to_owned()),
        1 => Just("1767868200011".to_owned()),
    ]
}

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(vec!["a", "b", "c", "é", "_x", "_variableSet", "bad name"]).prop_map(str::to_owned),
        1 => id().prop_map(|id| format!("{}_result", id.replace('-', ""))),
        1 => id().prop_map(|id| format!("{id}_template")),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => word().prop_map(|word| format!("{{{word}}}")),
        1 => word().prop_map(|word| format!("{{{word}.title}}")),
        1 => word().prop_map(|word| format!("{{{word}.rows.1}}")),
        1 => word().prop_map(|word| format!("{{{{{word}}}}}")),
        2 => "[{}a-c. \\\\$]{0,6}",
    ];
    prop::collection::vec(piece, 0..5).prop_map(|pieces| format!(".{}", pieces.concat()))
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!("")),
        Just(json!(0)),
        Just(json!({"title": "x", "rows": [{"id": 1}]})),
        "[{}a-c]{0,5}".prop_map(Value::from),
    ]
}

fn variables() -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((word(), value()), 0..4).prop_map(|pairs| pairs.into_iter().collect())
}

fn node() -> impl Strategy<Value = Value> {
    let declares = prop_oneof![
        Just(Value::Null),
        prop::collection::vec(word(), 0..3).prop_map(Value::from),
        prop::collection::vec((word(), any::<bool>()), 0..3).prop_map(|list| list
            .into_iter()
            .map(|(name, required)| json!({"name": name, "required": required}))
            .collect()),
    ];
    let saved = prop::sample::select(vec!["", "", "", "T", "Deep Sea", "17", "Gone", "Broken"]);
    let step = (id(), text(), declares, saved, variables()).prop_map(|(id, text, declares, saved, values)| {
        let sets = json!([{"name": "s", "values": values}]);
        let data =
            json!({"template": text, "variables": declares, "selectedTemplateId": saved, "variableValueSets": sets});
        json!({"id": id, "type": "template", "data": data})
    });
    let input = (id(), variables())
        .prop_map(|(id, values)| json!({"id": id, "type": "multi_input", "data": {"variables": values}}));
    let other = (id(), prop::sample::select(vec!["result", "note", "tool", "flow"]))
        .prop_map(|(id, kind)| json!({"id": id, "type": kind, "data": {"label": id, "call": "a:b", "flow": "F"}}));
    prop_oneof![6 => step, 2 => input, 2 => other]
}

fn edge() -> impl Strategy<Value = Value> {
    let source = prop::sample::select(vec!["result", "result.title", "title", "rows.9", "a", "gone"]);
    (id(), id(), word(), source, 0_usize..6).prop_map(|(from, to, name, source, kind)| match kind {
        0 => json!({"source": from, "target": to, "data": {"mapping": {name: source}}}),
        1 => json!({"source": from, "target": to, "targetHandle": name}),
        2 => json!({"source": from, "target": to, "id": format!("{from}-{to}")}),
        _ => json!({"source": from, "target": to}),
    })
}

/// Any flow, good or bad. Edges mostly lead from a smaller id to a larger one, so that a good part
/// of the flows have no ring.
pub(crate) fn file() -> impl Strategy<Value = (Value, bool)> {
    let inputs = prop::collection::vec((word(), any::<bool>(), value()), 0..2);
    (prop::collection::vec(node(), 0..14), prop::collection::vec(edge(), 0..30), inputs, 0_usize..8, any::<bool>())
        .prop_map(|(mut nodes, mut edges, inputs, wild, lenient)| {
            if wild > 0 {
                let mut seen = std::collections::HashSet::new();
                nodes.retain(|node| seen.insert(node["id"].to_string()));
                edges.retain(|edge| {
                    let ends = (edge["source"].to_string(), edge["target"].to_string());
                    ends.0 < ends.1 && seen.contains(&ends.0) && seen.contains(&ends.1)
                });
                for edge in &mut edges {
                    edge.as_object_mut().unwrap().remove("id");
                }
            }
            let inputs: Map<String, Value> = inputs
                .into_iter()
                .map(|(name, required, default)| (name, json!({"required": required, "default": default})))
                .collect();
            let meta = json!({"name": "Law", "version": "1.0.0", "inputs": inputs});
            (json!({"metadata": meta, "nodes": nodes, "edges": edges}), lenient)
        })
}

pub(crate) fn templates() -> Vec<Entry> {
    let saved = json!({"templates": [
        {"id": "17", "title": "T", "template": "{a} {n1_result} {b.title}", "variables": ["a", "bad name"]},
        {"id": "18", "title": "Deep Sea", "template": "{c} {{a}}", "variableValueSets": [{"name": "s", "values": {"c": 1}}]},
    ]});
    vec![
        ("templates/T.json".to_owned(), json!({"title": "t", "template": "{a}{b}"}).to_string().into_bytes()),
        ("templates/Two.json".to_owned(), saved.to_string().into_bytes()),
        ("templates/Broken.json".to_owned(), b"{".to_vec()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(256) })]

    #[test]
    fn what_passes_the_checker_plans_and_executes_with_every_step_accounted_for(
        (file, lenient) in file(), variables in variables(), set in any::<bool>(), stop in any::<bool>(), small in any::<bool>()
    ) {
        let entry: Entry = ("flows/Law.json".to_owned(), file.to_string().into_bytes());
        let options = flowy::internals::validate::Options { lenient, ..Default::default() };
        let check = check_with(&entry, &templates(), &[], options);
        let found = findings(&check);
        for finding in &found {
            prop_assert!(finding.span.start <= finding.span.end && finding.span.end <= finding.text.len());
            prop_assert!(finding.text.get(finding.span.start..finding.span.end).is_some());
        }
        let flow = &check.flows[0];
        let refused = flow.findings.iter().any(|finding| finding.reach == flowy::internals::validate::Reach::Flow);
        prop_assert_eq!(flow.checked.is_some(), !refused, "{:?}", found);
        let Some(checked) = &flow.checked else { return Ok(()) };

        let plan = Arc::new(Plan::of(checked, &HashMap::new()));
        prop_assert_eq!(format!("{plan:?}"), format!("{:?}", Plan::of(checked, &HashMap::new())));
        let place = |id: &str| plan.steps().iter().position(|step| step.id == id);
        let runnable = flow.flow.nodes.iter().filter(|node| node.runnable()).count();
        prop_assert_eq!(plan.steps().len(), runnable);
        for edge in &flow.flow.edges {
            if let (Some(from), Some(to)) = (place(&edge.from), place(&edge.to)) {
                prop_assert!(from < to && plan.steps()[from].wave < plan.steps()[to].wave);
            }
        }
        prop_assert!(plan.steps().iter().enumerate().all(|(number, step)| step.parents.iter().all(|parent| *parent < number)));

        // Whatever is missing besides is given too, so that most flows get to run.
        let mut variables = variables;
        for input in plan.inputs().iter().filter(|input| input.required) {
            variables.entry(input.name.clone()).or_insert_with(|| json!("given"));
        }
        if set && !plan.sets().is_empty() {
            variables.insert("_variableSet".to_owned(), json!("s"));
        }
        let Ok(given) = Given::read(&variables) else { return Ok(()) };
        let on_failure = if stop { OnFailure::Stop } else { OnFailure::Continue };
        let limits = if small { Limits { step: 8, whole: 20 } } else { Limits::default() };
        let options = Options { on_failure, limits, ..Options::default() };
        let told = story(&plan, &given, &options, &Rendered, 1);
        prop_assert_eq!(&told, &story(&plan, &given, &options, &Rendered, 2));
        let moody = Options { on_failure: OnFailure::Continue, limits: Limits::default(), ..options };
        let told = story(&plan, &given, &moody, &Moody, 1);
        for (threads, side_by_side) in [(1, 1), (2, 8), (8, 3)] {
            let options = Options { side_by_side, ..moody.clone() };
            prop_assert_eq!(&told, &story(&plan, &given, &options, &Moody, threads));
        }
    }

    #[test]
    fn any_bytes_give_findings_or_a_flow_and_never_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), json_like in "[\\[\\]{}\":,a-c0-9 .\\\\u-]{0,60}") {
        for bytes in [bytes, json_like.into_bytes()] {
            let check = check_with(&("flows/Law.json".to_owned(), bytes), &[], &[], flowy::internals::validate::Options::default());
            prop_assert!(!findings(&check).is_empty());
        }
    }
}
