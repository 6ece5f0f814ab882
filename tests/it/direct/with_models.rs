//! Stored executions whose steps a model answers: killed, gone on with, and never paid for twice.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Stdio;
use std::time::Duration;

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::{RESULT, killed};
use crate::support::home::Home;
use crate::support::model::{Act, Speaks, StandIn};

/// Two branches of model steps that are joined, each of which reads what came before.
fn branches() -> [(&'static str, String); 1] {
    let text = |id: &str, text: &str| json!({"id": id, "type": "template", "data": {"template": text}});
    let edge = |from: &str, to: &str| json!({"source": from, "target": to});
    let flow = json!({"metadata": {"name": "Branches", "version": "1.0.0"}, "nodes": [
        text("a", "Alpha of {{ topic }}"),
        text("b", "Beta of {a_result}"),
        text("c", "Gamma of {a_result}"),
        text("d", "Delta of {b_result} and {c_result}"),
        text("e", "Epsilon of {d_result}"),
    ], "edges": [edge("a", "b"), edge("a", "c"), edge("b", "d"), edge("c", "d"), edge("d", "e")]});
    [("flows/Branches.json", flow.to_string().replace("{{ topic }}", "{topic}"))]
}

fn settings(home: &Home, text: &str) {
    let folder = home.root.path().join(".config/flowy");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("flowy.toml"), text).unwrap();
}

fn writer(url: &str, more: &str) -> String {
    format!(
        "default_model = \"writer\"\n[models.writer]\nprovider = \"openai-compatible\"\nmodel = \"m\"\nbase_url = \"{url}\"\n{more}\n"
    )
}

/// What the last step gives when nothing goes wrong.
fn due(topic: &str) -> String {
    let answered = |text: String| format!("<{text}>");
    let a = answered(format!("Alpha of {topic}"));
    let d =
        answered(format!("Delta of {} and {}", answered(format!("Beta of {a}")), answered(format!("Gamma of {a}"))));
    answered(format!("Epsilon of {d}"))
}

/// How often each prompt was asked.
fn counts(stand_in: &StandIn) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for asked in stand_in.asked() {
        *counts.entry(asked.prompt()).or_default() += 1;
    }
    counts
}

/// The steps of a stored execution that are done, and how it stands.
fn standing(home: &Home, id: &str) -> (BTreeSet<String>, String) {
    let (code, out, told) = home.run(&["executions", "show", id, "--json"]);
    assert_eq!(code, Some(0), "{told}");
    let shown: Value = serde_json::from_str(&out).unwrap();
    let events = shown["events"].as_array().cloned().unwrap_or_default();
    let done = events.iter().filter(|event| event["event"] == "step_ended" && event["error"].is_null());
    (
        done.map(|event| event["nodeId"].as_str().unwrap().to_owned()).collect(),
        shown["state"].as_str().unwrap().to_owned(),
    )
}

/// Executes the flow so often, each killed up to three times after random pauses, and goes on until its end.
fn kills(executions: usize) {
    let stand_in = StandIn::by(Speaks::OpenAi, |number, asked| {
        std::thread::park_timeout(Duration::from_millis(3));
        if number % 11 == 7 {
            return Act::Refuse(
                429,
                vec![("retry-after-ms", "5".to_owned())],
                json!({"error": {"message": "slow down"}}),
            );
        }
        Act::Answer(format!("<{}>", asked.prompt()))
    });
    let home = Home::of(branches(), false);
    settings(&home, &writer(&stand_in.url, "max_output_tokens = 500"));
    let mut runner = TestRunner::deterministic();
    let (mut killed, mut resumed) = (0, 0);
    for number in 0..executions {
        let topic = format!("topic {number}");
        let mut id: Option<String> = None;
        let mut paid: BTreeMap<String, usize> = BTreeMap::new();
        for attempt in 0.. {
            let given = format!("topic={topic}");
            let source = home.root.path().join("catalog");
            let source = source.to_str().unwrap();
            let arguments = match &id {
                Some(id) => vec!["run", "--resume", id, "--source", source, "--json"],
                None => vec!["run", "Branches", "--var", &given, "--source", source, "--json"],
            };
            resumed += usize::from(id.is_some());
            let mut child = home.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            if attempt < 3 {
                // Somewhere between two requests, or during one.
                let more = (0_usize..4).new_tree(&mut runner).unwrap().current();
                let pause = (0_u64..8).new_tree(&mut runner).unwrap().current();
                let due = stand_in.asked().len() + more;
                while stand_in.asked().len() < due && child.try_wait().unwrap().is_none() {
                    std::thread::park_timeout(Duration::from_millis(1));
                }
                std::thread::park_timeout(Duration::from_millis(pause));
                killed += usize::from(child.kill().is_ok());
            }
            let output = child.wait_with_output().unwrap();
            if output.status.success() {
                let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
                assert_eq!(answer["finalResult"], json!(due(&topic)), "{answer}");
                break;
            }
            assert!(attempt < 3, "it ends when nobody kills it: {}", String::from_utf8_lossy(&output.stderr));
            // What was acknowledged is found by whoever looks.
            let (_, listed, _) = home.run(&["executions", "list", "--json"]);
            let listed: Value = serde_json::from_str(&listed).unwrap();
            let newest = listed["executions"].as_array().and_then(|all| all.first()).cloned().unwrap_or_default();
            if id.is_none() && newest["state"] == "interrupted" {
                id = newest["executionId"].as_str().map(str::to_owned);
            }
            let Some(id) = &id else { continue };
            let (done, state) = standing(&home, id);
            if state == "completed" {
                continue;
            }
            let asked = counts(&stand_in);
            let letter = |id: &str| match id {
                "a" => "Alpha",
                "b" => "Beta",
                "c" => "Gamma",
                "d" => "Delta",
                _ => "Epsilon",
            };
            for step in &done {
                let of_step = |(prompt, _): &(&String, &usize)| {
                    prompt.starts_with(letter(step)) && prompt.contains(&format!("{topic}>")) | prompt.ends_with(&topic)
                };
                let times = asked.iter().filter(of_step).map(|(_, times)| times).sum();
                if let Some(before) = paid.insert(step.clone(), times) {
                    assert_eq!(before, times, "a finished step is never paid for twice: {step} of {topic}");
                }
            }
        }
    }
    let repeated = counts(&stand_in).values().filter(|times| **times > 1).count();
    #[allow(clippy::print_stderr, reason = "figures of a long test")]
    {
        eprintln!("{executions} executions, {killed} kills, {resumed} resumed, {repeated} prompts asked twice or more");
    }
    assert!(resumed > 0, "no kill came in between");
}

#[test]
fn after_any_kill_an_execution_with_model_steps_ends_as_it_would_have_and_pays_for_no_finished_step_again() {
    kills(12);
}

#[test]
#[ignore = "long: .ci/long runs it"]
fn hundreds_of_killed_executions_end_as_they_would_have() {
    kills(500);
}

#[test]
fn an_execution_that_was_begun_without_a_model_goes_on_without_one() {
    let (home, id) = killed("once_reading");
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    settings(&home, &writer(&stand_in.url, ""));
    let (code, out, told) = home.run(&["run", "--resume", &id]);
    assert_eq!((code, out.trim_end()), (Some(0), RESULT), "{told}");
    assert_eq!(stand_in.asked().len(), 0);
}

#[test]
fn what_an_execution_spent_before_it_was_interrupted_counts_when_it_goes_on() {
    let stand_in = StandIn::by(Speaks::OpenAi, |number, asked| {
        // The third call is the first after the interruption.
        if number == 2 { Act::Hang } else { Act::Ended(format!("<{}>", asked.prompt()), "stop", 400) }
    });
    let home = Home::of(branches(), false);
    settings(&home, &writer(&stand_in.url, "max_output_tokens = 100\nper_execution_tokens = 1200\nparallel = 1"));
    let source = home.root.path().join("catalog");
    let arguments = ["run", "Branches", "--var", "topic=tea", "--source", source.to_str().unwrap()];
    let mut child = home.command(&arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while stand_in.asked().is_empty() {
        std::thread::park_timeout(Duration::from_millis(2));
    }
    let (mut id, mut done) = (String::new(), BTreeSet::new());
    while done.len() < 2 {
        let (_, listed, _) = home.run(&["executions", "list", "--json"]);
        let listed: Value = serde_json::from_str(&listed).unwrap();
        let Some(newest) = listed["executions"][0]["executionId"].as_str() else { continue };
        newest.clone_into(&mut id);
        done = standing(&home, &id).0;
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (_, out, told) = home.run(&["run", "--resume", &id, "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{told}"));
    assert_eq!(answer["code"], "BUDGET_EXCEEDED", "{answer}");
}

#[test]
fn what_a_step_spent_before_a_limit_counts_when_it_goes_on() {
    let far = Act::Refuse(429, vec![("retry-after", "7200".to_owned())], json!({"error": {"message": "slow"}}));
    let bad = || Act::Ended("no JSON".to_owned(), "stop", 400);
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![bad(), far, bad()]);
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    let nodes = json!([{"id": "a", "type": "template", "data": {"template": "Say so.", "contract": schema}}]);
    let flow = json!({"metadata": {"name": "One", "version": "1.0.0"}, "nodes": nodes, "edges": []});
    let home = Home::of([("flows/One.json", flow.to_string())], false);
    settings(&home, &writer(&stand_in.url, "max_output_tokens = 100\nper_execution_tokens = 900"));
    let (_, out, told) = home.run(&["run", "One", "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{told}"));
    assert_eq!((&answer["code"], stand_in.asked().len()), (&json!("MODEL_RATE_LIMITED"), 2), "{answer}");
    let (_, out, told) = home.run(&["run", "--resume", answer["executionId"].as_str().unwrap(), "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{told}"));
    // The first call fits into what is left, its correction does not.
    assert_eq!((&answer["code"], stand_in.asked().len()), (&json!("BUDGET_EXCEEDED"), 3), "{answer}");
}

/// A home in which the third call hangs, once, and what executes the flow there.
fn hanging(more: &str) -> (Home, StandIn, Vec<String>) {
    let stand_in =
        StandIn::by(
            Speaks::OpenAi,
            |number, asked| {
                if number == 2 { Act::Hang } else { Act::Answer(format!("<{}>", asked.prompt())) }
            },
        );
    let home = Home::of(branches(), false);
    settings(&home, &format!("{more}\n{}", writer(&stand_in.url, "")));
    let source = home.root.path().join("catalog").to_str().unwrap().to_owned();
    let line = ["run", "Branches", "--var", "topic=tea", "--json", "--source", &source].map(str::to_owned).to_vec();
    (home, stand_in, line)
}

/// The only execution's id; it must be interrupted, and goes on to its end.
fn goes_on(home: &Home, stand_in: &StandIn) {
    let (_, listed, _) = home.run(&["executions", "list", "--json"]);
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let only = &listed["executions"][0];
    assert_eq!((&listed["total"], &only["state"]), (&json!(1), &json!("interrupted")), "{listed}");
    let asked = stand_in.asked().len();
    let (code, out, told) = home.run(&["run", "--resume", only["executionId"].as_str().unwrap()]);
    assert_eq!((code, out.trim_end()), (Some(0), due("tea").as_str()), "{told}");
    assert!(stand_in.asked().len() - asked <= 4, "the first step was done");
}

#[cfg(unix)]
#[test]
fn a_program_that_is_told_to_end_interrupts_its_execution() {
    use rustix::process::{Pid, Signal, kill_process};
    let (home, stand_in, line) = hanging("");
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let mut child = home.command(&line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while stand_in.asked().len() < 3 {
        std::thread::park_timeout(Duration::from_millis(2));
    }
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    child.wait().unwrap();
    goes_on(&home, &stand_in);
}

#[test]
fn an_execution_whose_time_is_up_keeps_what_is_done_and_can_go_on() {
    let (home, stand_in, line) = hanging("execution_timeout_ms = 1500");
    let line: Vec<&str> = line.iter().map(String::as_str).collect();
    let output = home.command(&line).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["code"], "TIMEOUT", "{answer}");
    goes_on(&home, &stand_in);
}
