//! Executions that wait for a model's limit: seen from elsewhere, gone on with by themselves or by somebody.

use std::time::Duration;

use serde_json::{Value, json};

use super::guided::{begin, complete, home, text, until};
use super::model;
use crate::support::home::{Home, ok, settled};
use crate::support::mcp::Program;
use crate::support::model::{Act, Speaks, StandIn};

fn limit(header: &'static str, value: &str) -> Act {
    Act::Refuse(429, vec![(header, value.to_owned())], json!({"error": {"message": "slow down"}}))
}

/// Two steps; a model answers both where the usual one does.
fn steps() -> [Value; 2] {
    [text("plan", "Plan.", &json!({})), text("write", "Write by: {plan_result}", &json!({}))]
}

/// Asks for an execution of these steps, and gives its id once the model was asked so often.
fn executing(program: &mut Program, stand_in: &StandIn, calls: usize) -> Value {
    let request = json!({"flowName": "Work", "waitSeconds": 0});
    let begun = ok(program, "flows_execute", &request);
    assert_eq!(begun["status"], "running", "{begun}");
    until(|| stand_in.asked().len() >= calls);
    begun["executionId"].clone()
}

/// How an execution stands, once it is in this state.
fn in_state(program: &mut Program, id: &Value, state: &str) -> Value {
    let mut status = Value::Null;
    for _ in 0..4_000 {
        status = ok(program, "flows_status", &json!({"executionId": id, "include": ["events"]}));
        if status["state"] == state {
            return status;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    panic!("it is never {state}: {status}");
}

fn listed(home: &Home, state: &str) -> Vec<Value> {
    let (code, out, told) = home.run(&["executions", "list", "--json", "--state", state]);
    assert_eq!(code, Some(0), "{told}");
    serde_json::from_str::<Value>(&out).unwrap()["executions"].as_array().unwrap().clone()
}

#[test]
fn while_all_of_it_waits_for_a_limit_everybody_is_told_so_and_until_when() {
    let acts = vec![Act::Answer("plan".to_owned()), limit("retry-after", "1800")];
    let stand_in = StandIn::doing(Speaks::OpenAi, acts);
    let home = home(&model("openai-compatible", &stand_in.url, ""), &steps(), None);
    let mut program = home.serve();
    let id = executing(&mut program, &stand_in, 2);
    let status = in_state(&mut program, &id, "waiting");
    let resumes = status["resumesAt"].as_str().unwrap().to_owned();
    let times = [&status["startedAt"], &status["resumesAt"]].map(|time| time.as_str().unwrap().parse().unwrap());
    let [began, ends]: [chrono::DateTime<chrono::Utc>; 2] = times;
    assert!((1_800..1_950).contains(&(ends - began).num_seconds()), "{status}");
    assert_eq!((&status["completedSteps"], &status["begunSteps"][0]["id"]), (&json!(["plan"]), &json!("write")));
    assert!(status["nextStep"].as_str().unwrap().contains("resumesAt"), "{status}");
    assert_eq!(status["events"].as_array().unwrap().last().unwrap()["resumesAt"], resumes.as_str());
    // So is who asks with a filter, another process, and a person.
    let waiting = ok(&mut program, "flows_status", &json!({"state": ["waiting"]}));
    assert_eq!((&waiting["total"], &waiting["executions"][0]["resumesAt"]), (&json!(1), &json!(resumes)));
    assert_eq!(ok(&mut program, "flows_status", &json!({"state": ["running"]}))["total"], 0);
    assert_eq!(listed(&home, "waiting")[0]["resumesAt"], resumes.as_str());
    let name = id.as_str().unwrap();
    let (_, shown, _) = home.run(&["executions", "show", name]);
    assert!(shown.contains("waits for a limit") && shown.contains("resumes"), "{shown}");
    let (_, page, _) = home.run(&["executions", "show", name, "--html"]);
    assert!(page.contains("limit is waited for until"), "{page}");
    let (code, _, told) = home.run(&["run", "--resume", name]);
    assert!(code == Some(2) && told.contains("another process does the steps"), "{told}");
    // Another execution in the same process knows of the limit without asking.
    let second = ok(&mut program, "flows_execute", &json!({"flowName": "Work", "waitSeconds": 1}));
    assert_eq!((&second["status"], &second["state"]), (&json!("running"), &json!("waiting")), "{second}");
    assert!(second["resumesAt"].is_string() && second["nextStep"].as_str().unwrap().contains("resumesAt"), "{second}");
    ok(&mut program, "flows_cancel", &json!({"executionId": second["executionId"]}));
    // It can be cancelled, and then nothing is waited for.
    program.kill();
    assert!(listed(&home, "waiting").is_empty());
    let interrupted = listed(&home, "interrupted");
    assert_eq!((interrupted.len(), &interrupted[0]["executionId"]), (1, &id));
    let (_, _, _) = home.run(&["executions", "cancel", name]);
    let (_, shown, _) = home.run(&["executions", "show", name, "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!((&shown["state"], shown.get("resumesAt")), (&json!("cancelled"), None));
    assert_eq!(stand_in.asked().len(), 2);
}

#[test]
fn what_waited_goes_on_by_itself() {
    let acts = vec![Act::Answer("plan".to_owned()), limit("retry-after-ms", "1100"), Act::Answer("done".to_owned())];
    let stand_in = StandIn::doing(Speaks::OpenAi, acts);
    let home = home(&model("openai-compatible", &stand_in.url, ""), &steps(), None);
    let mut program = home.serve();
    let id = executing(&mut program, &stand_in, 2);
    in_state(&mut program, &id, "waiting");
    let done = in_state(&mut program, &id, "completed");
    assert_eq!((&done["finalResult"], done.get("resumesAt")), (&json!("done"), None), "{done}");
    let events = done["events"].as_array().unwrap();
    let told: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    let of_second = ["step_started", "waits", "goes_on", "step_ended"];
    assert_eq!(told[told.len() - 4..], of_second, "{done}");
}

#[test]
fn what_a_limit_beyond_the_deadline_puts_off_is_partial_and_gone_on_with_later() {
    let stand_in = StandIn::by(Speaks::OpenAi, |number, asked| match number {
        // The second branch is answered, whichever comes first.
        0..2 if asked.prompt().contains("first") => limit("retry-after", "7200"),
        _ => Act::Answer(format!("<{}>", asked.prompt())),
    });
    let nodes = [
        text("a", "The first.", &json!({})),
        text("b", "The other.", &json!({})),
        text("c", "{a_result}{b_result}", &json!({})),
    ];
    let edge = |from: &str| json!({"source": from, "target": "c"});
    let flow =
        json!({"metadata": {"name": "Work", "version": "1.0.0"}, "nodes": nodes, "edges": [edge("a"), edge("b")]});
    let home = home(&model("openai-compatible", &stand_in.url, ""), &nodes, None);
    std::fs::write(home.root.path().join("catalog/flows/Work.json"), flow.to_string()).unwrap();
    let (code, out, told) = home.run(&["run", "Work", "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{told}"));
    assert_eq!((code, &answer["status"], &answer["code"]), (Some(1), &json!("partial"), &json!("MODEL_RATE_LIMITED")));
    assert_eq!((&answer["failures"][0]["nodeId"], &answer["skipped"][0]["nodeId"]), (&json!("a"), &json!("c")));
    assert!(answer["nextStep"].as_str().unwrap().contains("flowy run --resume"), "{answer}");
    let kept = listed(&home, "interrupted");
    assert_eq!((kept.len(), &kept[0]["executionId"]), (1, &answer["executionId"]));
    assert!(kept[0]["resumesAt"].is_string(), "{kept:?}");
    let before = stand_in.asked().len();
    let (code, out, told) = home.run(&["run", "--resume", answer["executionId"].as_str().unwrap(), "--json"]);
    let answer: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{told}"));
    assert_eq!((code, &answer["finalResult"]), (Some(0), &json!("<<The first.><The other.>>")), "{answer}");
    // Nothing was under way, so nothing is told to have been asked again.
    assert_eq!((&answer["warnings"], stand_in.asked().len() - before), (&json!([]), 2));
}

#[test]
fn a_guided_step_whose_model_is_limited_waits_and_beyond_that_a_person_is_asked() {
    let own = json!({"model": "writer"});
    let nodes = [text("draft", "Draft.", &own), text("mine", "Mine {draft_result}", &json!({}))];
    let stand_in =
        StandIn::doing(Speaks::OpenAi, vec![limit("retry-after-ms", "1100"), Act::Answer("done".to_owned())]);
    let at = home(&model("openai-compatible", &stand_in.url, ""), &nodes, None);
    let mut program = at.serve();
    program.ask(9, "tools/call", &json!({"name": "flows_begin", "arguments": {"flowName": "Work"}}));
    until(|| stand_in.asked().len() == 1);
    let id = ok(&mut program, "flows_status", &json!({}))["executions"][0]["executionId"].clone();
    let waits = in_state(&mut program, &id, "waiting");
    assert_eq!((&waits["step"], &waits["toolStep"]["model"]), (&Value::Null, &json!("writer")), "{waits}");
    assert!(waits["resumesAt"].is_string() && waits["nextStep"].as_str().unwrap().contains("resumesAt"), "{waits}");
    let open = settled(|| ok(&mut program, "flows_status", &json!({"executionId": id})));
    assert_eq!(
        (&open["step"]["prompt"], open["autoSteps"][0].get("again"), open.get("resumesAt")),
        (&json!("Mine done"), None, None)
    );

    let stand_in = StandIn::doing(Speaks::OpenAi, vec![limit("retry-after", "7200"), Act::Answer("done".to_owned())]);
    let at = home(&model("openai-compatible", &stand_in.url, ""), &nodes, None);
    let mut program = at.serve();
    let asked = begin(&mut program);
    assert_eq!((&asked["state"], &asked["toolStep"]["model"]), (&json!("awaiting_human"), &json!("writer")), "{asked}");
    assert!(asked["escalation"]["reason"].as_str().unwrap().contains("can be asked again at"), "{asked}");
    let answers = json!({"executionId": asked["executionId"], "answers": {"decision": "repeat"}});
    // The limit is this process's to keep: another one has not met it.
    let open = ok(&mut at.serve(), "flows_resume", &answers);
    assert_eq!(open["step"]["prompt"], "Mine done", "{open}");
    assert_eq!(complete(&mut program, &open, "MINE")["state"], "completed");
}

/// What a client hears of while a model writes slowly.
fn heard(pause: Duration) -> Vec<String> {
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![Act::Slowly("a long answer".to_owned(), pause)]);
    let nodes = [text("plan", "Plan.", &json!({}))];
    let home = home(&model("openai-compatible", &stand_in.url, ""), &nodes, None);
    let mut program = home.serve();
    let arguments = json!({"flowName": "Work", "waitSeconds": 240});
    let request = json!({"name": "flows_execute", "arguments": arguments, "_meta": {"progressToken": "p"}});
    program.ask(9, "tools/call", &request);
    let mut heard = Vec::new();
    loop {
        let message = program.receive();
        if message["id"] == 9 {
            assert_eq!(message["result"]["structuredContent"]["finalResult"], "a long answer", "{message}");
            return heard;
        }
        heard.extend(message["params"]["message"].as_str().map(str::to_owned));
    }
}

#[test]
fn while_a_model_writes_its_client_hears_how_far_it_is() {
    let heard = heard(Duration::from_millis(550));
    let at = |words: &str| heard.iter().position(|told| told.contains(words));
    let (asks, first, whole) = (at("asks \"writer\""), at("6 characters"), at("13 characters"));
    assert!(asks.is_some() && asks < first && first < whole, "{heard:?}");
}

#[test]
#[ignore = "long: .ci/long runs it"]
fn a_model_that_says_nothing_for_long_is_heard_of_all_the_same() {
    // Six pieces, 25 seconds before each: news come at least every 20 seconds.
    let heard = heard(Duration::from_secs(25));
    assert!(heard.len() >= 6 * 25 / 20, "{heard:?}");
}
