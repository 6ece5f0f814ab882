//! Every field of an answer is published, and every answer is as it is published.

use std::collections::BTreeSet;
use std::sync::Arc;

use flowy::internals::app::{App, EXAMPLES, StatsRequest};
use flowy::internals::report::wire::{self, STATUSES};
use flowy::internals::source::{Pace, SourceSpec};
use serde_json::{Value, json};

use super::{EXECUTE_FAILURE, EXECUTE_RESPONSE, LIST_RESPONSE, as_published};
use crate::support::mcp::{Bench, Session, flow, template};
use crate::support::peer::entry;
use crate::support::program::Sandbox;
use crate::support::tools::Web;

const SHOW: &str = include_str!("../../../../schemas/flows-show.response.schema.json");
const GUIDED: &str = include_str!("../../../../schemas/flows-guided.response.schema.json");
const STATUS: &str = include_str!("../../../../schemas/flows-status.response.schema.json");
const SERVERS: &str = include_str!("../../../../schemas/servers.response.schema.json");
const STATS: &str = include_str!("../../../../schemas/stats.response.schema.json");

fn files() -> Vec<(String, String)> {
    let broken = r#"{"metadata":{"name":"Ring","version":"1.0.0","inputs":{"topic":{"type":"string","enum":["a"],"default":"a","description":"d"}}},"nodes":[{"id":"a","type":"template","data":{"label":"A","template":"x"}},{"id":"b","type":"template","data":{"label":"B","template":"y"}}],"edges":[{"source":"a","target":"b"},{"source":"b","target":"a"}]}"#;
    let full = r#"{"metadata":{"name":"Full","version":"1.0.0","tags":["x"],"description":"D","category":"c","complexity":"simple","inputs":{"words":{"type":"number","default":"80"}}},
      "nodes":[{"id":"in","type":"input","data":{"variables":[{"name":"words"},{"name":"who"}]}},{"id":"a","type":"template","data":{"label":"A","template":"{words} {who} {loose}","personaId":"P"}},{"id":"b","type":"template","data":{"label":"B","template":"{a_result} {text}","variables":["text"]}},{"id":"r","type":"result","data":{"label":"R"}},{"id":"t","type":"tool","data":{"label":"T","call":"x:y"}}],
      "edges":[{"source":"in","target":"a"},{"id":"e","source":"a","target":"b"},{"source":"b","target":"r"},{"source":"b","target":"t"}]}"#;
    vec![
        flow("Two", &[("node-1", "First"), ("node-2", "Second")], &[("node-1", "node-2")]),
        flow(
            "Half",
            &[("node-1", "First"), ("node-2", "Gone"), ("node-3", "Second")],
            &[("node-1", "node-2"), ("node-2", "node-3")],
        ),
        template("First", "First for {company}"),
        template("Second", "Second after [{node1_result}]"),
        ("flows/Ring.json".to_owned(), broken.to_owned()),
        ("flows/Full.json".to_owned(), full.to_owned()),
        ("flows/Bad.json".to_owned(), "{".to_owned()),
    ]
}

async fn session() -> (Bench, Session) {
    let bench = Bench::folder(files());
    let session = bench.session().await;
    (bench, session)
}

#[tokio::test]
async fn every_field_of_a_listing_is_published() {
    let (_bench, mut session) = session().await;
    for mode in ["compact", "index", "standard", "detailed"] {
        let arguments =
            json!({"mode": mode, "ref": "v2", "limit": 2, "names": ["Two", "Ring", "Full", "Nope"], "tier": mode});
        let listed = session.ok("flows_list", arguments).await;
        as_published(LIST_RESPONSE, &listed);
        let short = session.ok("flows_list", json!({"mode": mode, "maxTokens": 250})).await;
        as_published(LIST_RESPONSE, &short);
    }
    let contract = session.ok("flows/list", json!({"ref": "v2"})).await;
    as_published(LIST_RESPONSE, &contract);
}

#[tokio::test]
async fn every_field_of_a_flow_and_of_a_template_is_published() {
    let (_bench, mut session) = session().await;
    for name in ["Two", "Half", "Ring", "Full"] {
        for detail in ["summary", "full"] {
            let shown = session.ok("flows_show", json!({"name": name, "detail": detail, "ref": "v2"})).await;
            as_published(SHOW, &shown);
        }
    }
    let shown = session.ok("flows_show", json!({"name": "First"})).await;
    as_published(SHOW, &shown);
}

#[tokio::test]
async fn every_field_of_an_execution_and_of_its_status_is_published() {
    let (_bench, mut session) = session().await;
    let values = json!({"company": "TechCorp", "who": "you", "text": "t", "loose": "l", "compny": 1});
    for detail in ["full", "outputs", "final"] {
        let run = json!({"flowName": "Two", "initialVariables": values, "detail": detail, "ref": "v2"});
        let done = session.ok("flows_execute", run).await;
        as_published(EXECUTE_RESPONSE, &done);
    }
    let short = json!({"flowName": "Two", "initialVariables": {"company": "x ".repeat(3_000)}, "maxTokens": 600});
    let cut = session.ok("flows_execute", short).await;
    assert_eq!(cut["truncated"], json!(true));
    for (name, values, status) in [
        ("Half", json!({}), "missing_variables"),
        ("Half", values.clone(), "would_fail"),
        ("Full", values.clone(), "would_fail"),
        ("Two", values.clone(), "ready"),
    ] {
        let rehearsed =
            session.ok("flows_execute", json!({"flowName": name, "initialVariables": values, "dryRun": true})).await;
        as_published(EXECUTE_RESPONSE, &rehearsed);
        assert_eq!(rehearsed["status"], json!(status), "{name}: {}", rehearsed["missing"]);
    }
    for arguments in [
        json!({"flowName": "Half", "initialVariables": values}),
        json!({"flowName": "Two"}),
        json!({"flowName": "Ring"}),
        json!({"flowName": "Tow"}),
    ] {
        let failed = session.failed("flows_execute", arguments).await;
        as_published(EXECUTE_FAILURE, &failed);
    }
    let list = session.ok("flows_status", json!({"limit": 2})).await;
    as_published(STATUS, &list);
    for execution in list["executions"].as_array().unwrap() {
        let id = &execution["executionId"];
        for arguments in [json!({"executionId": id}), json!({"executionId": id, "include": ["steps"]})] {
            let one = session.ok("flows_status", arguments).await;
            as_published(STATUS, &one);
        }
        let page = session.ok("flows_status", json!({"executionId": id, "nodeId": "node-1", "limit": 3})).await;
        as_published(STATUS, &page);
    }
}

#[tokio::test]
async fn every_field_about_a_guided_execution_is_published() {
    let mut files = files();
    let flow = r#"{"metadata":{"name":"Led","version":"1.0.0"},"nodes":[
      {"id":"a","type":"template","data":{"label":"A","description":"First.","template":"A {who}","persona":"p"}},
      {"id":"b","type":"template","data":{"label":"B","template":"B {a_result}","optional":true}},
      {"id":"c","type":"template","data":{"label":"C","template":"C {a_result}"}},{"id":"d","type":"template","data":{"label":"D","template":"D {c_result}"}},
      {"id":"r1","type":"result","data":{"label":"R1"}},{"id":"r2","type":"result","data":{"label":"R2"}}],
      "edges":[{"source":"a","target":"b"},{"source":"a","target":"c"},{"source":"c","target":"d"},{"source":"b","target":"r1"},{"source":"d","target":"r2"}]}"#;
    files.extend([
        ("flows/Led.json".to_owned(), flow.to_owned()),
        ("personas/p.md".to_owned(), "You are P.".to_owned()),
    ]);
    let bench = Bench::folder(files);
    let mut session = bench.session().await;
    let published = |answer: &Value| as_published(if answer.get("kind").is_some() { STATUS } else { GUIDED }, answer);
    let all = json!(["steps", "artifacts", "findings", "prompts", "events"]);
    let given = json!({"flowName": "Led", "task": "T", "initialVariables": {"who": "x ".repeat(80_000), "extra": 1}, "ref": "v2"});
    let begun = session.ok("flows_begin", given).await;
    published(&begun);
    assert_eq!((&begun["step"]["truncated"], begun["warnings"].is_array()), (&json!(true), true));
    let id = begun["executionId"].clone();
    let given = json!({"flowName": "Led", "task": "T", "initialVariables": {"who": "x"}});
    let begun = session.ok("flows_begin", given).await;
    let token = |answer: &Value| json!({"executionId": answer["executionId"], "stepToken": answer["stepToken"]});
    let mut asking = token(&begun);
    (asking["reason"], asking["questions"], asking["context"]) = (json!("r"), json!(["q"]), json!({"c": 1}));
    let asked = session.ok("flows_escalate", asking).await;
    published(&asked);
    published(&session.ok("flows_status", json!({"executionId": begun["executionId"], "include": all})).await);
    let answers = json!({"executionId": begun["executionId"], "answers": {"q": "yes"}});
    let mut open = session.ok("flows_resume", answers).await;
    published(&open);
    let full = json!({"summary": "s", "result": "r", "confidence": 0.5, "decisions": ["d"], "nextSteps": ["n"], "blockers": ["b"],
        "references": ["r"], "artifacts": [{"type": "file", "title": "t", "content": "c ".repeat(3_000)}],
        "findings": [{"severity": "low", "description": "d", "location": "l"}]});
    for (outcome, output) in [
        ("done", full),
        ("skipped", json!({"reason": "no"})),
        ("done", json!("c")),
        ("failed", json!({"reason": "no"})),
    ] {
        let mut closing = token(&open);
        (closing["outcome"], closing["output"]) = (json!(outcome), output);
        open = session.ok("flows_complete_step", closing).await;
        published(&open);
    }
    let told = session.ok("flows_status", json!({"executionId": begun["executionId"], "include": all})).await;
    published(&told);
    assert!(told["failures"].is_array() && told["omitted"].is_array() && told["results"].is_object(), "{told}");
    let cancelled = session.ok("flows_cancel", json!({"executionId": id, "reason": "enough"})).await;
    published(&cancelled);
    let list = session.ok("flows_status", json!({})).await;
    as_published(STATUS, &list);
    as_published(STATUS, &told);
}

#[tokio::test]
async fn every_field_about_tool_steps_of_a_guided_execution_is_published() {
    let flow = r#"{"metadata":{"name":"Calls","version":"1.0.0"},"nodes":[
      {"id":"a","type":"tool","data":{"call":"web:get"}},{"id":"b","type":"tool","data":{"call":"web:bad"}},
      {"id":"c","type":"tool","data":{"call":"web:bad","onError":"continue","retry":{"times":1,"backoffMs":1}}},
      {"id":"d","type":"tool","data":{"call":"web:get","requires":["more"]}},
      {"id":"e","type":"template","data":{"template":"{a_result} {c_result}"}},
      {"id":"f","type":"tool","data":{"call":"web:stuck","args":{"of":"{{ e_result }}"}}}],
      "edges":[{"source":"a","target":"e"},{"source":"c","target":"e"},{"source":"e","target":"f"}]}"#;
    let web = Arc::new(Web::default());
    let bench = Bench::folder([("flows/Calls.json", flow)]).calling(web.clone());
    let mut session = bench.session().await;
    let published = |answer: &Value| as_published(if answer.get("kind").is_some() { STATUS } else { GUIDED }, answer);
    let begun = session.ok("flows_begin", json!({"flowName": "Calls"})).await;
    published(&begun);
    let statuses: Vec<&Value> = begun["autoSteps"].as_array().unwrap().iter().map(|step| &step["status"]).collect();
    assert_eq!(statuses, ["done", "failed", "done", "omitted"]);
    assert_eq!((&begun["toolCalls"], &begun["retries"]), (&json!(4), &json!(1)));
    let id = &begun["executionId"];
    let closing = json!({"executionId": id, "stepToken": begun["stepToken"], "output": "e"});
    let closing = session.ask("tools/call", json!({"name": "flows_complete_step", "arguments": closing})).await;
    web.go.notify_one();
    published(&session.answer_to(closing).await["result"]["structuredContent"]);
    let all = json!(["steps", "artifacts", "findings", "prompts", "events"]);
    let told = session.ok("flows_status", json!({"executionId": id, "include": all})).await;
    published(&told);
    as_published(STATUS, &told);
    // In the middle of a call, too.
    let open = session.ok("flows_begin", json!({"flowName": "Calls"})).await;
    let closing = json!({"executionId": open["executionId"], "stepToken": open["stepToken"], "output": "e"});
    session.ask("tools/call", json!({"name": "flows_complete_step", "arguments": closing})).await;
    let told = loop {
        let told = session.ok("flows_status", json!({"executionId": open["executionId"], "include": all})).await;
        if told["toolStep"].is_object() {
            break told;
        }
    };
    published(&told);
    assert_eq!(told["steps"][5]["state"], "running");
}

#[tokio::test]
async fn every_field_about_steps_that_do_things_is_published() {
    let inner = r#"{"metadata":{"name":"Inner","version":"1.0.0"},"nodes":[{"id":"in","type":"multi_input","data":{"variables":["of"]}},
      {"id":"p","type":"tool","data":{"call":"web:get","args":{"of":"{{ of }}"}}},{"id":"q","type":"template","data":{"template":"q {p_result.n}"}}],
      "edges":[{"source":"in","target":"p"},{"source":"p","target":"q"}]}"#;
    let does = r#"{"metadata":{"name":"Does","version":"1.0.0"},"nodes":[
      {"id":"a","type":"tool","data":{"call":"web:get","args":{"k":"{{ word | one }}"}}},
      {"id":"c","type":"tool","data":{"call":"web:bad","onError":"continue","retry":{"times":1,"backoffMs":1}}},
      {"id":"d","type":"tool","data":{"call":"web:get","requires":["more"]}},
      {"id":"i","type":"flow","data":{"flow":"Inner","variables":{"of":"{a_result}"}}},
      {"id":"e","type":"template","data":{"template":"{a_result} {a_result.files.0.uri} {c_result} {i_result}"}}],
      "edges":[{"source":"a","target":"i"},{"source":"a","target":"e"},{"source":"c","target":"e"},{"source":"i","target":"e"}]}"#;
    let fails = r#"{"metadata":{"name":"Fails","version":"1.0.0"},"nodes":[
      {"id":"a","type":"tool","data":{"call":"web:get"}},{"id":"b","type":"tool","data":{"call":"web:bad"}},
      {"id":"e","type":"template","data":{"template":"{a_result} {b_result}"}}],
      "edges":[{"source":"a","target":"e"},{"source":"b","target":"e"}]}"#;
    let files = [("flows/Inner.json", inner), ("flows/Does.json", does), ("flows/Fails.json", fails)];
    let bench = Bench::folder(files).calling(Arc::new(Web::default()));
    let mut session = bench.session().await;
    for detail in ["full", "outputs", "final"] {
        let done = session.ok("flows_execute", json!({"flowName": "Does", "detail": detail})).await;
        as_published(EXECUTE_RESPONSE, &done);
        assert_eq!(done["counts"]["retries"], json!(1), "{done}");
    }
    for name in ["Does", "Fails"] {
        let rehearsed = session.ok("flows_execute", json!({"flowName": name, "dryRun": true})).await;
        as_published(EXECUTE_RESPONSE, &rehearsed);
        for detail in ["summary", "full"] {
            let shown = session.ok("flows_show", json!({"name": name, "detail": detail})).await;
            as_published(SHOW, &shown);
        }
    }
    let failed = session.failed("flows_execute", json!({"flowName": "Fails"})).await;
    assert_eq!(failed["failedAt"]["error"]["code"], json!("TOOL_UNAVAILABLE"), "{failed}");
    as_published(EXECUTE_FAILURE, &failed);
    let list = session.ok("flows_status", json!({})).await;
    for execution in list["executions"].as_array().unwrap() {
        let arguments = json!({"executionId": execution["executionId"], "include": ["steps"]});
        let one = session.ok("flows_status", arguments).await;
        as_published(STATUS, &one);
    }
}

#[tokio::test]
async fn every_field_of_statistics_is_published() {
    let bench = Bench::folder(files()).counting();
    let mut session = bench.session().await;
    session.ok("flows_execute", json!({"flowName": "Two", "initialVariables": {"company": "x"}})).await;
    session.failed("flows_execute", json!({"flowName": "Half", "initialVariables": {"company": "x"}})).await;
    let begun = session.ok("flows_begin", json!({"flowName": "Two", "initialVariables": {"company": "x"}})).await;
    let failed = json!({"executionId": begun["executionId"], "stepToken": begun["stepToken"], "outcome": "failed", "output": {"reason": "r"}});
    session.ok("flows_complete_step", failed).await;
    for mode in ["compact", "index"] {
        session.ok("flows_list", json!({"tier": mode})).await;
    }
    session.shut().await;
    session.end().await;
    for (days, flow) in [(None, None), (Some(1), Some("Two".to_owned())), (None, Some("Nope".to_owned()))] {
        let stats = bench.app.stats(&StatsRequest { flow, days }).await.unwrap();
        let told = wire::value(&wire::stats(&stats));
        as_published(STATS, &told);
    }
    let stats = bench.app.stats(&StatsRequest::default()).await.unwrap();
    let told = wire::value(&wire::stats(&stats));
    assert_eq!((told["flows"].as_array().unwrap().len(), told["listings"].as_array().unwrap().len()), (2, 2), "{told}");
    let unread =
        App::open_at(SourceSpec::Examples(EXAMPLES), bench.app.settings().clone(), bench.clock.clone(), Pace::Hurried);
    let none = wire::value(&wire::stats(&unread.unwrap().stats(&StatsRequest::default()).await.unwrap()));
    as_published(STATS, &none);
    assert_eq!((&none["flows"], none["otherSources"].as_array().unwrap().len()), (&json!([]), 1), "{none}");
}

#[test]
fn every_field_about_external_servers_is_published() {
    let notes = tempfile::TempDir::new().unwrap();
    let flaky = entry("flaky", &notes.path().join("notes"));
    let servers = json!({"mcpServers": {"p": flaky, "off": {"command": "x", "disabled": true, "allow": "readonly"}}});
    let sandbox = Sandbox::new().file("servers.json", servers.to_string());
    let ask = |arguments: &[&str]| sandbox.run(arguments.iter().chain(&["--servers", "servers.json", "--json"]));
    assert_eq!(ask(&["servers", "tools", "p"]).code, 1);
    let tools = ask(&["servers", "tools", "p", "--schema"]).json();
    // What was known before, told because it can't be asked.
    std::fs::write(notes.path().join("notes"), "").unwrap();
    let kept = ask(&["servers", "tools", "p"]).json();
    assert!(kept["trouble"].is_string() && kept["hint"].is_string(), "{kept}");
    for told in [ask(&["servers", "list"]).json(), tools, kept] {
        as_published(SERVERS, &told);
    }
}

#[tokio::test]
async fn a_step_that_an_execution_does_not_have_is_answered_with_those_it_has() {
    let (_bench, mut session) = session().await;
    let done = session.ok("flows_execute", json!({"flowName": "Two", "initialVariables": {"company": "x"}})).await;
    let failed = session.failed("flows_status", json!({"executionId": done["executionId"], "nodeId": "node-9"})).await;
    let next = failed["nextStep"].as_str().unwrap();
    assert!(next.contains("node-1, node-2") && !next.contains("flows_list"), "{failed}");
    assert_eq!(failed["details"]["steps"], json!(["node-1", "node-2"]));
}

/// Every word that a field of this name may be, anywhere in a schema.
fn words(schema: &Value, name: &str, found: &mut BTreeSet<String>) {
    if let Some(field) = schema.pointer(&format!("/properties/{name}")) {
        let several = field.get("enum").and_then(Value::as_array).into_iter().flatten();
        found.extend(several.chain(field.get("const")).filter_map(Value::as_str).map(str::to_owned));
    }
    match schema {
        Value::Object(fields) => fields.values().for_each(|field| words(field, name, found)),
        Value::Array(items) => items.iter().for_each(|item| words(item, name, found)),
        _ => {}
    }
}

#[test]
fn the_words_for_a_status_are_the_published_ones() {
    let mut published = BTreeSet::new();
    for schema in [EXECUTE_RESPONSE, EXECUTE_FAILURE] {
        words(&serde_json::from_str(schema).unwrap(), "status", &mut published);
    }
    let told: BTreeSet<String> = STATUSES.iter().map(|(word, ..)| (*word).to_owned()).collect();
    assert_eq!(told, published);
}
