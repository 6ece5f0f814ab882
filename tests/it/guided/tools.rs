//! Tool steps of guided executions: the server does them between the model's.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use flowy::execute::{Calling, OnToolProgress, ToolFailure, Tools};
use flowy::model::{KnownTool, ServerStanding, ToolAnswer, ToolCall, ToolFile, Toolbox};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::support::mcp::Bench;

/// `web:get` answers with what it was asked for, `web:stuck` and `web:safe` once they are let go,
/// `web:bad` not at all.
#[derive(Default)]
struct Web {
    calls: AtomicUsize,
    begun: Notify,
    go: Notify,
}

impl Tools for Web {
    fn toolbox(&self) -> Arc<Toolbox> {
        let tool = |name: &str, read_only: bool| {
            let known = KnownTool {
                name: name.to_owned(),
                description: None,
                input: flowy::model::Contract::stored(None, json!({"type": "object"})),
                allowed: true,
                read_only,
                idempotent: false,
            };
            (name.to_owned(), Arc::new(known))
        };
        let tools = [tool("get", false), tool("stuck", false), tool("safe", true), tool("bad", false)];
        let server =
            flowy::model::KnownServer { standing: ServerStanding::Ready, tools: Some(tools.into_iter().collect()) };
        Arc::new(Toolbox { servers: [("web".to_owned(), server)].into_iter().collect(), revision: 1 })
    }

    fn call(&self, call: ToolCall, _progress: Option<OnToolProgress>) -> Calling<'_> {
        Box::pin(async move {
            self.calls.fetch_add(1, Ordering::SeqCst);
            self.begun.notify_one();
            match call.address.tool.as_str() {
                "bad" => {
                    Err(ToolFailure { code: "TOOL_UNAVAILABLE", message: "nobody is there".to_owned(), again: true })
                }
                "get" => {
                    let file =
                        ToolFile { media_type: "image/png".to_owned(), name: None, bytes: Arc::from(*b"\x00\xffpng") };
                    Ok(ToolAnswer {
                        text: Some(format!("got {}", Value::Object(call.arguments))),
                        structured: Some(json!({"n": 1.5})),
                        files: vec![file],
                        ..ToolAnswer::default()
                    })
                }
                _ => {
                    self.go.notified().await;
                    Ok(ToolAnswer { text: Some("at last".to_owned()), ..ToolAnswer::default() })
                }
            }
        })
    }
}

fn tool(id: &str, data: Value) -> Value {
    json!({"id": id, "type": "tool", "data": data})
}

fn step(id: &str, text: &str) -> Value {
    json!({"id": id, "type": "template", "data": {"template": text}})
}

fn bench(nodes: Value, chain: &[(&str, &str)], tools: Arc<dyn Tools>) -> Bench {
    let edges: Vec<Value> = chain.iter().map(|(from, to)| json!({"source": from, "target": to})).collect();
    let file = json!({"metadata": {"name": "Work", "version": "1.0.0"}, "nodes": nodes, "edges": edges});
    Bench::folder([("flows/Work.json", file.to_string())]).calling(tools)
}

fn ids(steps: &Value) -> Vec<(&str, &str)> {
    steps.as_array().unwrap().iter().map(|s| (s["id"].as_str().unwrap(), s["status"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn tool_steps_are_done_between_the_models_and_told() {
    let web = Arc::new(Web::default());
    let nodes = json!([
        tool("first", json!({"call": "web:get", "args": {"page": "{{ page }}"}})),
        step("think", "Read {first_result} ({first_result.n})"),
        tool("second", json!({"call": "web:get", "args": {"said": "{{ think_result }}"}})),
        tool("bad", json!({"call": "web:bad", "onError": "continue"})),
        tool("rare", json!({"call": "web:get", "requires": ["more"], "args": {"x": "{{ more }}"}})),
        step("end", "{second_result} {bad_result.error.code}"),
    ]);
    let chain = [
        ("first", "think"),
        ("think", "second"),
        ("think", "bad"),
        ("think", "rare"),
        ("second", "end"),
        ("bad", "end"),
        ("rare", "end"),
    ];
    let bench = bench(nodes, &chain, web.clone());
    let mut session = bench.session().await;
    let begun = session.ok("flows_begin", json!({"flowName": "Work", "initialVariables": {"page": "p"}})).await;
    assert_eq!(ids(&begun["autoSteps"]), [("first", "done")]);
    assert_eq!(begun["step"]["prompt"], "Read got {\"page\":\"p\"} (1.5)");
    assert_eq!((&begun["step"]["index"], &begun["step"]["of"]), (&json!(2), &json!(6)));
    let id = begun["executionId"].clone();
    let closing = json!({"executionId": id, "stepToken": begun["stepToken"], "output": "thought"});
    let next = session.ok("flows_complete_step", closing.clone()).await;
    assert_eq!(ids(&next["autoSteps"]), [("second", "done"), ("bad", "done"), ("rare", "omitted")]);
    assert_eq!(next["step"]["prompt"], "got {\"said\":\"thought\"} TOOL_UNAVAILABLE");
    assert_eq!(next["toolCalls"], 3);
    // The same call again is answered alike, and nothing is called again.
    assert_eq!(session.ok("flows_complete_step", closing).await, next);
    assert_eq!(web.calls.load(Ordering::SeqCst), 3);
    let closing = json!({"executionId": id, "stepToken": next["stepToken"], "output": "done"});
    let done = session.ok("flows_complete_step", closing).await;
    assert_eq!((&done["state"], &done["finalResult"]), (&json!("completed"), &json!("done")));

    // Another process reads all of it from the log, files included.
    let mut other = bench.again().session().await;
    let uri = &begun["autoSteps"][0]["files"][0]["uri"];
    let read = other.request("resources/read", json!({"uri": uri})).await;
    assert_eq!(read["result"]["contents"][0]["blob"], "AP9wbmc=");
    let status = other.ok("flows_status", json!({"executionId": id, "include": ["steps", "events"]})).await;
    assert_eq!(status["steps"][0]["result"]["structuredContent"]["n"].to_string(), "1.5");
    assert_eq!(status["state"], "completed");
}

#[tokio::test]
async fn a_flow_of_tools_alone_is_done_at_once() {
    let nodes = json!([tool("a", json!({"call": "web:get"})), tool("b", json!({"call": "web:bad"}))]);
    let bench = bench(nodes, &[("a", "b")], Arc::new(Web::default()));
    let mut session = bench.session().await;
    let begun = session.ok("flows_begin", json!({"flowName": "Work"})).await;
    assert_eq!(ids(&begun["autoSteps"]), [("a", "done"), ("b", "failed")]);
    assert_eq!((&begun["state"], &begun["finalResult"]), (&json!("completed"), &Value::Null));
    assert_eq!(begun["failures"][0]["error"]["details"]["tool"], "web:bad");
}

#[tokio::test]
async fn cancelling_ends_the_call() {
    let web = Arc::new(Web::default());
    let bench =
        bench(json!([tool("a", json!({"call": "web:stuck"})), step("b", "{a_result}")]), &[("a", "b")], web.clone());
    let mut session = bench.session().await;
    let begin = session.ask("tools/call", json!({"name": "flows_begin", "arguments": {"flowName": "Work"}})).await;
    web.begun.notified().await;
    let listed = session.ok("flows_status", json!({})).await;
    let id = listed["executions"][0]["executionId"].clone();
    let status = session.ok("flows_status", json!({"executionId": id})).await;
    assert_eq!((&status["toolStep"]["call"], &status["state"]), (&json!("web:stuck"), &json!("running")));
    assert!(status["nextStep"].as_str().unwrap().contains("is calling web:stuck"), "{status}");
    session.ok("flows_cancel", json!({"executionId": id})).await;
    let begun = session.answer_to(begin).await;
    assert!(begun["result"]["structuredContent"].is_object(), "{begun}");
    let status = session.ok("flows_status", json!({"executionId": id})).await;
    assert_eq!(status["state"], "cancelled");
    assert_eq!(web.calls.load(Ordering::SeqCst), 1);
}

/// A bench whose process is gone in the middle of a call of this tool, and the execution's id.
async fn interrupted(tool_name: &str) -> (Bench, Value) {
    let web = Arc::new(Web::default());
    let nodes = json!([tool("a", json!({"call": format!("web:{tool_name}")})), step("b", "Read {a_result}")]);
    let bench = bench(nodes, &[("a", "b")], web.clone());
    let mut session = bench.session().await;
    session.ask("tools/call", json!({"name": "flows_begin", "arguments": {"flowName": "Work"}})).await;
    web.begun.notified().await;
    let id = session.ok("flows_status", json!({})).await["executions"][0]["executionId"].clone();
    // While that process is there, another one leaves the call alone.
    let other = Arc::new(Web::default());
    let status =
        bench.again().calling(other.clone()).session().await.ok("flows_status", json!({"executionId": id})).await;
    assert_eq!((&status["state"], other.calls.load(Ordering::SeqCst)), (&json!("running"), 0));
    // It ends as a crash ends it: its locks are let go of.
    let folder = bench.store().parent().unwrap().join("processes");
    for lock in std::fs::read_dir(&folder).unwrap() {
        std::fs::remove_file(lock.unwrap().path()).unwrap();
    }
    (bench, id)
}

#[tokio::test]
async fn a_call_that_does_no_harm_is_made_again_by_another_process() {
    let (bench, id) = interrupted("safe").await;
    let web = Arc::new(Web::default());
    let mut session = bench.again().calling(web.clone()).session().await;
    session.ok("flows_status", json!({"executionId": id})).await;
    web.begun.notified().await;
    web.go.notify_one();
    let status = loop {
        let status = session.ok("flows_status", json!({"executionId": id})).await;
        if status["step"].is_object() {
            break status;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(status["step"]["prompt"], "Read at last");
}

#[tokio::test]
async fn of_any_other_call_a_person_decides_what_becomes() {
    for (answers, prompt) in [
        (json!({"decision": "repeat"}), Some("Read at last")),
        (json!("Fail."), None),
        (json!({"result": "it was 7"}), Some("Read it was 7")),
    ] {
        let (bench, id) = interrupted("stuck").await;
        let web = Arc::new(Web::default());
        web.go.notify_one();
        let mut session = bench.again().calling(web.clone()).session().await;
        let status = session.ok("flows_status", json!({"executionId": id})).await;
        assert_eq!(status["state"], "awaiting_human");
        assert!(status["escalation"]["questions"][0].as_str().unwrap().contains("web:stuck"), "{status}");
        let asked = &status["escalation"]["escalationId"];
        let unclear = session.failed("flows_resume", json!({"executionId": id, "answers": "hm"})).await;
        assert_eq!(unclear["code"], "INVALID_REQUEST");
        let resumed =
            session.ok("flows_resume", json!({"executionId": id, "escalationId": asked, "answers": answers})).await;
        match prompt {
            Some(prompt) => assert_eq!(resumed["step"]["prompt"], prompt, "{answers}"),
            None => assert_eq!(resumed["state"], "failed", "{answers}"),
        }
        assert_eq!(web.calls.load(Ordering::SeqCst), usize::from(answers["decision"] == "repeat"));
        let again = json!({"executionId": id, "escalationId": asked, "answers": answers});
        let again = session.ok("flows_resume", again).await;
        assert_eq!(again, resumed, "{answers}");
    }
}
