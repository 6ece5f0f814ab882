//! Logs as earlier forms of stored plans wrote them: each is read as it was meant, and can be finished.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};

use super::storage::{of_version, statements};
use super::{completing, status};
use crate::support::mcp::{Bench, Session};
use crate::support::tools::Web;

/// Plans of version 2, which held the flow's nodes and edges, and beginnings without a version of the rules.
const WHOLE_FLOWS: &str = "tests/fixtures/store/whole-flows.sql";

/// A flow with everything that a plan can hold: personas, contracts, variable sets, a mapped edge, a tool, a flow
/// within the flow, an optional step and two results.
fn catalog() -> Vec<(String, String)> {
    let verdict = json!({"type": "object", "required": ["text"], "properties": {"text": {"type": "string"},
                         "severity": {"enum": ["low", "high"]}}, "additionalProperties": false});
    let step = |id: &str, data: Value| json!({"id": id, "type": "template", "data": data});
    let whole = json!({"metadata": {"name": "Whole", "version": "1.0.0", "description": "All of it.",
            "inputs": {"topic": {"type": "string"}, "depth": {"type": "number", "default": 1.5}}},
        "nodes": [
            {"id": "in", "type": "multi_input", "data": {"label": "In", "variables": ["topic"]}},
            step("brief", json!({"template": "Brief {topic} at {depth} for {audience}.", "persona": "editor",
                "variables": ["topic", "depth", "audience"],
                "variableValueSets": [{"name": "lay", "values": {"audience": "everybody"}},
                                      {"name": "expert", "values": {"audience": "experts"}}]})),
            {"id": "look", "type": "tool", "data": {"call": "web:get", "args": {"page": "{{ topic }}"}}},
            {"id": "inner", "type": "flow", "data": {"flow": "Inner", "variables": {"subject": "{brief_result}, {look_result.n}"}}},
            step("judge", json!({"label": "Judge", "template": "Judge {inner_result.Text}", "persona": "critic", "contract": "verdict"})),
            step("extra", json!({"template": "More on {judge_result.text}", "optional": true})),
            step("report", json!({"template": "{judge_result.severity}: {inner_result.Summary}, {given}", "variables": ["given"]})),
            {"id": "out", "type": "result", "data": {"label": "Report"}},
            {"id": "more", "type": "result", "data": {"label": "More"}}],
        "edges": [{"source": "in", "target": "brief"}, {"source": "in", "target": "look"},
                  {"source": "brief", "target": "inner"}, {"source": "look", "target": "inner"},
                  {"source": "inner", "target": "judge"}, {"source": "judge", "target": "extra"},
                  {"source": "judge", "target": "report", "data": {"mapping": {"given": "text"}}},
                  {"source": "report", "target": "out"}, {"source": "extra", "target": "more"}]});
    let inner = json!({"metadata": {"name": "Inner", "version": "1.0.0"}, "nodes": [
            {"id": "in", "type": "multi_input", "data": {"variables": ["subject"]}},
            step("draft", json!({"template": "Draft on {subject}."})),
            step("polish", json!({"template": "Polish {draft_result}", "persona": "editor"})),
            {"id": "a", "type": "result", "data": {"label": "Summary"}},
            {"id": "b", "type": "result", "data": {"label": "Text"}}],
        "edges": [{"source": "in", "target": "draft"}, {"source": "draft", "target": "polish"},
                  {"source": "draft", "target": "a"}, {"source": "polish", "target": "b"}]});
    let role = |name: &str| (format!("personas/{name}.md"), format!("---\nname: {name}\n---\nYou are the {name}.\n"));
    vec![
        ("flows/Whole.json".to_owned(), whole.to_string()),
        ("flows/Inner.json".to_owned(), inner.to_string()),
        ("contracts/verdict.json".to_owned(), verdict.to_string()),
        role("editor"),
        role("critic"),
    ]
}

/// What is handed in for the open step.
fn output(answer: &Value) -> Value {
    match answer["step"]["id"].as_str().unwrap() {
        "judge" => json!({"text": "THE JUDGEMENT", "severity": "low"}),
        id => json!({"summary": "In short.", "result": format!("THE {}", id.to_uppercase())}),
    }
}

async fn complete(session: &mut Session, answer: &Value) -> Value {
    session.ok("flows_complete_step", completing(answer, output(answer))).await
}

async fn fail(session: &mut Session, answer: &Value) -> Value {
    let mut closing = completing(answer, json!({"reason": "it can't be done"}));
    closing["outcome"] = json!("failed");
    session.ok("flows_complete_step", closing).await
}

/// Executions in every stage, each with its stage as its task.
async fn lived() -> Bench {
    let bench = Bench::folder(catalog()).calling(Arc::new(Web::default()));
    let mut session = bench.session().await;
    for stage in ["begun", "half", "refused", "asked", "answered", "failed", "unfed", "unread", "skipped", "cancelled"]
    {
        let given = json!({"topic": "tea", "_variableSet": "expert"});
        let begin = json!({"flowName": "Whole", "task": stage, "initialVariables": given});
        let mut open = session.ok("flows_begin", begin).await;
        let until = match stage {
            "begun" | "failed" | "cancelled" => "brief",
            "half" => "inner/polish",
            "unfed" => "report",
            "skipped" => "extra",
            _ => "judge",
        };
        while open["step"]["id"] != until {
            let mut closing = completing(&open, output(&open));
            if open["step"]["id"] == "judge" && until == "report" {
                closing["next"] = json!("report");
            }
            open = session.ok("flows_complete_step", closing).await;
        }
        let asks = json!({"executionId": open["executionId"], "stepToken": open["stepToken"],
                          "reason": "Unclear.", "questions": ["How?"], "context": {"n": 1}});
        match stage {
            "refused" => drop(session.failed("flows_complete_step", completing(&open, json!({"severity": 1}))).await),
            "asked" => drop(session.ok("flows_escalate", asks).await),
            "answered" => {
                session.ok("flows_escalate", asks).await;
                let answers = json!({"executionId": open["executionId"], "answers": {"How?": "So."}});
                session.ok("flows_resume", answers).await;
            }
            "failed" => drop(fail(&mut session, &open).await),
            "unfed" => {
                let extra = fail(&mut session, &open).await;
                complete(&mut session, &extra).await;
            }
            "unread" => {
                // What `report` reads is not there: it was found only when that step's turn came.
                let extra =
                    session.ok("flows_complete_step", completing(&open, json!({"text": "THE JUDGEMENT"}))).await;
                complete(&mut session, &extra).await;
            }
            "skipped" => {
                let mut closing = completing(&open, json!({"reason": "not needed"}));
                closing["outcome"] = json!("skipped");
                let report = session.ok("flows_complete_step", closing).await;
                complete(&mut session, &report).await;
            }
            "cancelled" => {
                let why = json!({"executionId": open["executionId"], "reason": "changed"});
                session.ok("flows_cancel", why).await;
            }
            _ => {}
        }
    }
    bench
}

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "a fixture is made once, when who starts the test says so")]
async fn executions_whose_plans_hold_whole_flows_are_finished_and_keep_their_ends() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(WHOLE_FLOWS);
    if std::env::var_os("MAKE_STORE_FIXTURE").is_some() && !fixture.exists() {
        fs::write(&fixture, statements(&lived().await.store())).unwrap();
    }
    // The catalog is another one by now, and so is the process.
    let bench = Bench::folder([("flows/Else.json", "{}")]).again().calling(Arc::new(Web::default()));
    of_version(&bench, &fs::read_to_string(&fixture).unwrap());
    let mut session = bench.session().await;
    let listed = session.ok("flows_status", json!({})).await["executions"].as_array().unwrap().clone();
    let mut seen = BTreeMap::new();
    for execution in &listed {
        let mut answer = status(&mut session, execution, &["steps", "events"]).await;
        assert_eq!(answer["flowName"], "Whole");
        let mut told = vec![answer["state"].as_str().unwrap().to_owned()];
        if answer["state"] == "awaiting_human" {
            let answers = json!({"executionId": execution["executionId"], "answers": {"How?": "So."}});
            answer = session.ok("flows_resume", answers).await;
        }
        while answer["step"].is_object() {
            told.push(answer["step"]["id"].as_str().unwrap().to_owned());
            answer = complete(&mut session, &answer).await;
        }
        told.push(answer["state"].as_str().unwrap().to_owned());
        told.push(answer["finalResult"].to_string());
        seen.insert(execution["task"].as_str().unwrap().to_owned(), told.join(" "));
    }
    let expected = [
        ("answered", "running judge extra report completed \"THE REPORT\""),
        ("asked", "awaiting_human judge extra report completed \"THE REPORT\""),
        ("begun", "running brief inner/draft inner/polish judge extra report completed \"THE REPORT\""),
        ("cancelled", "cancelled cancelled null"),
        // By the rules of then an execution of which something is there has come to its end.
        ("failed", "completed completed null"),
        ("half", "running inner/polish judge extra report completed \"THE REPORT\""),
        ("refused", "running judge extra report completed \"THE REPORT\""),
        ("skipped", "completed completed \"THE REPORT\""),
        ("unfed", "completed completed null"),
        ("unread", "completed completed null"),
    ];
    let expected: BTreeMap<String, String> =
        expected.map(|(stage, told)| (stage.to_owned(), told.to_owned())).into_iter().collect();
    assert_eq!(seen, expected);
}
