//! Tool steps of guided executions: the server does them between the model's.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]

use std::sync::Arc;

use flowy::internals::execute::Tools;
use flowy::internals::report::{human, timeline, wire};
use serde_json::{Value, json};

use crate::support::mcp::{Bench, Session};
use crate::support::tools::{Web, soon};

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

/// A session whose call has begun an execution and waits for its first step's tool, which is stuck.
async fn in_a_call() -> (Arc<Web>, Bench, Session, i64) {
    let web = Arc::new(Web::default());
    let bench =
        bench(json!([tool("a", json!({"call": "web:stuck"})), step("b", "{a_result}")]), &[("a", "b")], web.clone());
    let mut session = bench.session().await;
    let begin = session.ask("tools/call", json!({"name": "flows_begin", "arguments": {"flowName": "Work"}})).await;
    soon(web.begun.notified()).await;
    (web, bench, session, begin)
}

/// Asks how an execution stands until the model has something to do.
async fn until_open(session: &mut Session, id: &Value) -> Value {
    soon(async {
        loop {
            let status = session.ok("flows_status", json!({"executionId": id})).await;
            if status["step"].is_object() {
                return status;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

#[tokio::test]
async fn a_tool_that_changes_things_and_is_handed_a_whole_prompt_is_warned_of() {
    let nodes =
        |args: Value| json!([step("plan", "Plan {x}."), tool("keep", json!({"call": "web:get", "args": args}))]);
    for (args, warned) in [
        (json!({"text": "{{plan_result}}"}), true),
        (json!({"text": "Notes: {{plan_result}}"}), false),
        (json!({"text": "{{x}}"}), false),
    ] {
        let bench = bench(nodes(args.clone()), &[("plan", "keep")], Arc::new(Web::default()));
        let mut session = bench.session().await;
        for dry in [false, true] {
            let given = json!({"flowName": "Work", "initialVariables": {"x": "tea"}, "dryRun": dry});
            let done = session.ok("flows_execute", given).await;
            let codes = done["warnings"].as_array().into_iter().flatten().map(|one| &one["code"]);
            assert_eq!(
                codes.filter(|code| **code == json!("PROMPT_HANDED")).count(),
                usize::from(warned),
                "{args}: {done}"
            );
        }
        // What a model answered is no prompt.
        let begun = session.ok("flows_begin", json!({"flowName": "Work", "initialVariables": {"x": "tea"}})).await;
        let closing =
            json!({"executionId": begun["executionId"], "stepToken": begun["stepToken"], "output": "planned"});
        let done = session.ok("flows_complete_step", closing).await;
        assert!(!done.to_string().contains("PROMPT_HANDED"), "{done}");
    }
}

#[tokio::test]
async fn images_travel_beside_the_answer_that_tells_of_the_step() {
    let web = Arc::new(Web::default());
    let nodes = json!([
        tool("shot", json!({"call": "web:get"})),
        step("think", "Look at {shot_result.files.0.uri}"),
        step("more", "{think_result}"),
        tool("last", json!({"call": "web:get", "args": {"said": "{{ more_result }}"}})),
    ]);
    let bench = bench(nodes, &[("shot", "think"), ("think", "more"), ("more", "last")], web);
    let mut session = bench.session().await;
    let kinds = |result: &Value| -> Vec<String> {
        let content = result["content"].as_array().unwrap();
        content.iter().map(|block| block["type"].as_str().unwrap().to_owned()).collect()
    };
    let begun = session.call("flows_begin", json!({"flowName": "Work"})).await;
    assert_eq!(kinds(&begun), ["text", "image"]);
    assert_eq!(begun["content"][1], json!({"type": "image", "data": "AP9wbmc=", "mimeType": "image/png"}));
    let id = &begun["structuredContent"]["executionId"];
    let status = session.call("flows_status", json!({"executionId": id})).await;
    assert_eq!(kinds(&status), ["text", "image"], "it tells of the step, too");
    let close = |before: &Value| {
        let token = &before["structuredContent"]["stepToken"];
        json!({"executionId": id, "stepToken": token, "output": "seen"})
    };
    let next = session.call("flows_complete_step", close(&begun)).await;
    assert_eq!(kinds(&next), ["text"], "it was shown before");
    let end = session.call("flows_complete_step", close(&next)).await;
    assert_eq!(
        (kinds(&end), &end["structuredContent"]["state"]),
        (vec!["text".to_owned(), "image".to_owned()], &json!("completed"))
    );
}

#[tokio::test]
async fn what_of_a_tools_answer_could_not_be_handed_on_is_told_with_the_step_and_afterwards() {
    let nodes = json!([tool("a", json!({"call": "web:half"})), step("b", "{a_result}")]);
    let bench = bench(nodes, &[("a", "b")], Arc::new(Web::default()));
    let mut session = bench.session().await;
    let begun = session.ok("flows_begin", json!({"flowName": "Work"})).await;
    let left_out = json!(["its sound is not known"]);
    assert_eq!(begun["autoSteps"][0]["leftOut"], left_out);
    // Another process knows it from the store alone.
    let mut other = bench.again().session().await;
    let status = json!({"executionId": begun["executionId"], "include": ["steps"]});
    assert_eq!(other.ok("flows_status", status).await["steps"][0]["result"]["leftOut"], left_out);
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
    assert_eq!(begun["step"]["prompt"], "Read got {\"page\":\"p\"} (1.50)");
    assert_eq!((&begun["step"]["index"], &begun["step"]["of"]), (&json!(2), &json!(6)));
    let id = begun["executionId"].clone();
    let closing = json!({"executionId": id, "stepToken": begun["stepToken"], "output": "thought"});
    let next = session.ok("flows_complete_step", closing.clone()).await;
    assert_eq!(ids(&next["autoSteps"]), [("second", "done"), ("bad", "done"), ("rare", "omitted")]);
    assert_eq!(next["step"]["prompt"], "got {\"said\":\"thought\"} TOOL_UNAVAILABLE");
    assert_eq!((&next["toolCalls"], &next["autoSteps"][1]["error"]["code"]), (&json!(3), &json!("TOOL_UNAVAILABLE")));
    // The same call again is answered alike, and nothing is called again.
    assert_eq!(session.ok("flows_complete_step", closing).await, next);
    assert_eq!(web.calls(), 3);
    let closing = json!({"executionId": id, "stepToken": next["stepToken"], "output": "done"});
    let done = session.ok("flows_complete_step", closing).await;
    assert_eq!((&done["state"], &done["finalResult"]), (&json!("completed"), &json!("done")));

    // Another process reads all of it from the log, files included.
    let mut other = bench.again().session().await;
    let uri = &begun["autoSteps"][0]["files"][0]["uri"];
    let read = other.request("resources/read", json!({"uri": uri})).await;
    assert_eq!(read["result"]["contents"][0]["blob"], "AP9wbmc=");
    let status = other.ok("flows_status", json!({"executionId": id, "include": ["steps", "events"]})).await;
    assert_eq!(status["steps"][0]["result"]["structuredContent"]["n"].to_string(), "1.50");
    assert_eq!(status["state"], "completed");
}

#[tokio::test]
async fn a_flow_of_tools_alone_is_done_at_once() {
    let nodes = json!([tool("a", json!({"call": "web:get"})), tool("b", json!({"call": "web:bad"}))]);
    let bench = bench(nodes, &[("a", "b")], Arc::new(Web::default()));
    let mut session = bench.session().await;
    let begun = session.ok("flows_begin", json!({"flowName": "Work"})).await;
    assert_eq!(ids(&begun["autoSteps"]), [("a", "done"), ("b", "failed")]);
    assert_eq!((&begun["state"], &begun["finalResult"]), (&json!("failed"), &Value::Null));
    assert_eq!(begun["failures"][0]["error"]["details"]["tool"], "web:bad");
}

#[tokio::test]
async fn cancelling_ends_the_call() {
    let (web, _bench, mut session, begin) = in_a_call().await;
    let listed = session.ok("flows_status", json!({})).await;
    let id = listed["executions"][0]["executionId"].clone();
    let status = session.ok("flows_status", json!({"executionId": id})).await;
    assert_eq!((&status["toolStep"]["call"], &status["state"]), (&json!("web:stuck"), &json!("running")));
    session.ok("flows_cancel", json!({"executionId": id})).await;
    soon(web.over.notified()).await;
    let begun = session.answer_to(begin).await;
    assert_eq!(begun["result"]["structuredContent"]["state"], "cancelled", "{begun}");
    let status = session.ok("flows_status", json!({"executionId": id})).await;
    assert_eq!(status["state"], "cancelled");
    assert_eq!(web.calls(), 1);
}

/// A bench whose process is gone in the middle of a call of this tool, and the execution's id.
async fn interrupted(tool_name: &str) -> (Bench, Value) {
    let web = Arc::new(Web::default());
    let nodes = json!([tool("a", json!({"call": format!("web:{tool_name}")})), step("b", "Read {a_result}")]);
    let bench = bench(nodes, &[("a", "b")], web.clone());
    let mut session = bench.session().await;
    session.ask("tools/call", json!({"name": "flows_begin", "arguments": {"flowName": "Work"}})).await;
    soon(web.begun.notified()).await;
    let id = session.ok("flows_status", json!({})).await["executions"][0]["executionId"].clone();
    // While that process is there, another one leaves the call alone.
    let other = Arc::new(Web::default());
    let status =
        bench.again().calling(other.clone()).session().await.ok("flows_status", json!({"executionId": id})).await;
    assert_eq!((&status["state"], other.calls()), (&json!("running"), 0));
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
    soon(web.begun.notified()).await;
    web.go.notify_one();
    let status = until_open(&mut session, &id).await;
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
        assert_eq!(web.calls(), usize::from(answers["decision"] == "repeat"));
        let again = json!({"executionId": id, "escalationId": asked, "answers": answers});
        let again = session.ok("flows_resume", again).await;
        assert_eq!(again, resumed, "{answers}");
    }
}

#[tokio::test]
async fn a_server_that_is_down_ends_nothing_and_a_person_decides_what_becomes_of_the_call() {
    let nodes = json!([
        step("plan", "Plan."),
        tool("note", json!({"call": "web:away", "retry": {"times": 1, "backoffMs": 1}})),
        step("text", "Write {note_result}"),
    ]);
    for (answers, becomes) in [
        (json!({"decision": "repeat"}), Some("Write back again")),
        (json!({"result": "the note"}), Some("Write the note")),
        (json!({"decision": "fail"}), None),
    ] {
        let web = Arc::new(Web::default());
        let bench = bench(nodes.clone(), &[("plan", "note"), ("note", "text")], web.clone());
        let mut session = bench.session().await;
        let begun = session.ok("flows_begin", json!({"flowName": "Work"})).await;
        let id = begun["executionId"].clone();
        let closing = json!({"executionId": id, "stepToken": begun["stepToken"], "output": "planned"});
        let asked = session.ok("flows_complete_step", closing.clone()).await;
        assert_eq!((&asked["state"], &asked["stepCompleted"]), (&json!("awaiting_human"), &json!("plan")), "{asked}");
        assert!(asked["escalation"]["reason"].as_str().unwrap().contains("connection refused"), "{asked}");
        assert!(asked["escalation"]["questions"][0].as_str().unwrap().contains("`flowy servers tools web`"), "{asked}");
        assert!(asked["nextStep"].as_str().unwrap().contains("\"repeat\""), "{asked}");
        let tries = web.calls();
        assert_eq!(tries, 2, "what the node says is tried first");
        assert_eq!(session.ok("flows_complete_step", closing).await, asked);
        // While it is still down, repeating asks again.
        let escalation = &asked["escalation"]["escalationId"];
        let repeat = json!({"executionId": id, "escalationId": escalation, "answers": {"decision": "repeat"}});
        let asked = session.ok("flows_resume", repeat).await;
        assert_eq!((&asked["state"], web.calls()), (&json!("awaiting_human"), 2 * tries), "{asked}");
        assert_ne!(&asked["escalation"]["escalationId"], escalation);
        web.up.store(true, std::sync::atomic::Ordering::SeqCst);
        // Another process knows the question, too.
        let mut other = bench.again().calling(web.clone()).session().await;
        let status = other.ok("flows_status", json!({"executionId": id})).await;
        assert_eq!(status["escalation"]["escalationId"], asked["escalation"]["escalationId"]);
        let resumed = other.ok("flows_resume", json!({"executionId": id, "answers": answers})).await;
        match becomes {
            Some(prompt) => assert_eq!(resumed["step"]["prompt"], prompt, "{answers}"),
            None => {
                assert_eq!((&resumed["state"], &resumed["progress"]), (&json!("failed"), &json!("33%")), "{resumed}");
                assert!(resumed["nextStep"].as_str().unwrap().contains("flows_begin with flowName"), "{resumed}");
                let listed = other.ok("flows_status", json!({})).await;
                assert_eq!(listed["executions"][0]["progress"], "33%");
            }
        }
    }
}

#[tokio::test]
async fn a_server_that_is_down_at_the_beginning_is_a_question_unless_the_node_goes_on() {
    let nodes = json!([
        tool("soft", json!({"call": "web:away", "onError": "continue"})),
        tool("hard", json!({"call": "web:away"})),
        step("text", "{soft_result.error.code} {hard_result}"),
    ]);
    let web = Arc::new(Web::default());
    let bench = bench(nodes, &[("soft", "text"), ("hard", "text")], web.clone());
    let mut session = bench.session().await;
    let begun = session.ok("flows_begin", json!({"flowName": "Work"})).await;
    assert_eq!((&begun["state"], &begun["toolStep"]["id"]), (&json!("awaiting_human"), &json!("hard")), "{begun}");
    assert_eq!(begun["escalation"]["resumeWith"], "flows_resume");
    web.up.store(true, std::sync::atomic::Ordering::SeqCst);
    let resume = json!({"executionId": begun["executionId"], "answers": "repeat"});
    let resumed = session.ok("flows_resume", resume).await;
    assert_eq!(resumed["step"]["prompt"], "TOOL_UNAVAILABLE back again");
    assert_eq!(resumed["escalation"], Value::Null);
}

#[tokio::test]
async fn the_step_that_was_chosen_comes_after_the_tools_that_go_first() {
    let nodes = json!([
        step("a", "A."),
        step("b", "B."),
        step("c", "C."),
        tool("one", json!({"call": "web:get"})),
        tool("two", json!({"call": "web:get"})),
    ]);
    let bench = bench(nodes, &[("a", "b"), ("a", "c"), ("a", "one"), ("one", "two")], Arc::new(Web::default()));
    let mut session = bench.session().await;
    let begun = session.ok("flows_begin", json!({"flowName": "Work"})).await;
    let closing =
        json!({"executionId": begun["executionId"], "stepToken": begun["stepToken"], "output": "a", "next": "c"});
    let next = session.ok("flows_complete_step", closing).await;
    assert_eq!(ids(&next["autoSteps"]), [("one", "done"), ("two", "done")]);
    assert_eq!((&next["step"]["id"], &next["ready"]), (&json!("c"), &json!(["b"])));
}

#[tokio::test]
async fn who_waits_is_told_how_a_call_goes() {
    let web = Arc::new(Web::default());
    let nodes = json!([
        tool("a", json!({"call": "web:get"})),
        tool("b", json!({"call": "web:stuck", "label": "Look around"})),
        step("c", "{b_result}"),
    ]);
    let bench = bench(nodes, &[("a", "b"), ("b", "c")], web.clone());
    let mut session = bench.session().await;
    let params = json!({"name": "flows_begin", "arguments": {"flowName": "Work"}, "_meta": {"progressToken": "p"}});
    let begin = session.ask("tools/call", params).await;
    let told = loop {
        let message = session.receive().await.unwrap();
        assert_eq!(message["method"], "notifications/progress", "{message}");
        if message["params"]["message"].as_str().unwrap().ends_with("at it") {
            break message;
        }
    };
    assert_eq!(
        told["params"],
        json!({"progressToken": "p", "progress": 1.25, "total": 3.0, "message": "1 of 3 steps: Look around: at it"})
    );
    web.go.notify_one();
    let begun = session.answer_to(begin).await;
    assert_eq!(begun["result"]["structuredContent"]["step"]["id"], "c");
}

#[tokio::test]
async fn a_call_goes_on_when_the_client_no_longer_waits_for_it() {
    let (web, _bench, mut session, begin) = in_a_call().await;
    let cancelled = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": begin}});
    session.send(&cancelled).await;
    let id = session.ok("flows_status", json!({})).await["executions"][0]["executionId"].clone();
    web.go.notify_one();
    let status = until_open(&mut session, &id).await;
    assert_eq!((&status["step"]["prompt"], web.calls()), (&json!("at last"), 1));
}

#[tokio::test]
async fn people_and_programs_see_tool_steps_whole() {
    let nodes = json!([
        tool("a", json!({"call": "web:get"})),
        tool("b", json!({"call": "web:bad"})),
        tool("c", json!({"call": "web:get", "requires": ["more"]})),
        step("d", "{a_result}"),
    ]);
    let bench = bench(nodes, &[("a", "d")], Arc::new(Web::default()));
    let begun = bench.session().await.ok("flows_begin", json!({"flowName": "Work"})).await;
    let story = bench.app.story(begun["executionId"].as_str().unwrap()).await.unwrap();
    let exported = wire::value(&wire::exported(&story));
    let first = &exported["steps"][0];
    assert_eq!((&first["call"], &first["files"][0]["blob"]), (&json!("web:get"), &json!("AP9wbmc=")));
    assert_eq!((&first["output"], &first["executionTimeMs"]), (&json!("got {}"), &json!(0.0)));
    assert_eq!(first["result"]["structuredContent"]["id"].to_string(), "12345678901234567890123");
    let text = human::guided(&story, human::Look { color: false, terminal: false, width: None });
    for said in ["calls web:get · done", "calls web:bad · failed", "TOOL_UNAVAILABLE", "skipped"] {
        assert!(text.contains(said), "{said}: {text}");
    }
    let page = timeline::html(&story);
    for said in ["a: web:get answered", "b: web:bad failed", "c was skipped", "image/png, 5 bytes"] {
        assert!(page.contains(said), "{said}");
    }
}

#[tokio::test]
async fn a_flow_whose_call_is_not_there_is_mended_in_the_file_or_in_the_servers_file() {
    let nodes = json!([tool("a", json!({"call": "web:got"})), step("b", "{a_result}")]);
    let mut session = bench(nodes, &[("a", "b")], Arc::new(Web::default())).session().await;
    let refused = session.failed("flows_begin", json!({"flowName": "Work"})).await;
    insta::assert_json_snapshot!("call-of-no-tool", [&refused["code"], &refused["message"], &refused["nextStep"]]);

    let nodes = json!([tool("a", json!({"call": "no colon"})), step("b", "{a_result}")]);
    let mut session = bench(nodes, &[("a", "b")], Arc::new(Web::default())).session().await;
    let refused = session.failed("flows_begin", json!({"flowName": "Work"})).await;
    insta::assert_json_snapshot!("call-that-is-none", [&refused["code"], &refused["message"], &refused["nextStep"]]);
}
