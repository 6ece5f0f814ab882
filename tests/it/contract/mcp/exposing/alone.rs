//! `--only-exposed`: clients are offered flows and nothing else.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{TwoTools, calling, marked, marked_for, names, only_all};
use crate::support::mcp::{Bench, Program, Session, flow, handshake, stateless, template};

async fn error(session: &mut Session, method: &str, params: Value) -> Value {
    let answer = session.request(method, params).await;
    assert!(answer["error"].is_object(), "{method}: {answer}");
    answer["error"].clone()
}

fn two() -> Bench {
    let files = [
        marked("Tea", &[("n", "Tea_Text")]),
        template("Tea_Text", "Tea for {who}"),
        flow("Secret", &[("n", "T")], &[]),
        template("T", "text"),
    ];
    Bench::folder(files).with(|settings| {
        marked_for(&["Tea"])(settings);
        settings.only_exposed = true;
    })
}

#[tokio::test]
async fn nothing_but_the_exposed_flows_is_listed_or_answered() {
    let mut session = two().session().await;
    let listed = session.request("tools/list", json!({})).await["result"]["tools"].clone();
    assert_eq!(names(listed.as_array().unwrap()), ["flow_Tea"]);
    assert_eq!(session.ok("flow_Tea", json!({"who": "Kim"})).await["finalResult"], json!("Tea for Kim"));
    for tool in ["flows_list", "flows_execute", "flows/list", "flows.show", "flows-status"] {
        let refused = error(&mut session, "tools/call", json!({"name": tool, "arguments": {}})).await;
        let message = refused["message"].as_str().unwrap();
        assert_eq!(refused["code"], json!(-32602), "{tool}");
        assert!(message.contains("flow_Tea") && !message.contains("flow_Secret"), "{message}");
    }
    for tool in ["flow_Secret", "Secret"] {
        let refused = error(&mut session, "tools/call", json!({"name": tool, "arguments": {}})).await;
        assert_eq!(refused["code"], json!(-32602), "{refused}");
    }
    for method in ["flows/list", "flows/execute"] {
        let refused = error(&mut session, method, json!({"flowName": "Secret"})).await;
        assert_eq!(refused["code"], json!(-32601), "{method}");
        assert!(!refused["message"].as_str().unwrap().contains("flows_"), "{refused}");
    }
}

#[tokio::test]
async fn no_list_and_no_address_leads_to_another_flow() {
    let bench = two();
    // Somebody else's execution of another flow, on the same machine.
    let others = bench.again().with(|settings| settings.only_exposed = false);
    let mut other = others.session().await;
    other.ok("flows_begin", json!({"flowName": "Secret"})).await;
    let mut session = bench.session().await;
    let id = session.ok("flow_Tea", json!({"who": "Kim"})).await["executionId"].as_str().unwrap().to_owned();
    let listed = session.request("resources/list", json!({})).await["result"]["resources"].clone();
    let addresses: Vec<&str> = listed.as_array().unwrap().iter().map(|one| one["uri"].as_str().unwrap()).collect();
    assert_eq!(addresses, [format!("execution://{id}")]);
    for uri in [addresses[0].to_owned(), format!("execution://{id}/n"), format!("execution://{id}/result")] {
        let text =
            session.request("resources/read", json!({"uri": uri})).await["result"]["contents"][0]["text"].clone();
        assert!(text.as_str().unwrap().contains("Tea for Kim") && !text.as_str().unwrap().contains("flows_"), "{text}");
    }
    let patterns = session.request("resources/templates/list", json!({})).await["result"]["resourceTemplates"].clone();
    let patterns: Vec<&str> =
        patterns.as_array().unwrap().iter().map(|one| one["uriTemplate"].as_str().unwrap()).collect();
    assert!(patterns.len() >= 3 && patterns.iter().all(|pattern| pattern.starts_with("execution://")), "{patterns:?}");
    for uri in ["flow://list", "flow://metadata/Secret", "flow://schema/Tea", "template://T"] {
        let refused = error(&mut session, "resources/read", json!({"uri": uri})).await;
        assert_eq!(refused["code"], json!(-32002), "{refused}");
    }
    assert_eq!(session.request("prompts/list", json!({})).await["result"]["prompts"], json!([]));
    error(&mut session, "prompts/get", json!({"name": "flow_Secret"})).await;
    let reference = json!({"type": "ref/resource", "uri": "flow://metadata/{name}"});
    let params = json!({"ref": reference, "argument": {"name": "name", "value": "S"}});
    assert_eq!(session.request("completion/complete", params).await["result"]["completion"]["values"], json!([]));
}

#[tokio::test]
async fn what_a_tool_gave_is_shown_and_read() {
    let bench = Bench::folder([calling("Look", "look")]).with(only_all).calling(Arc::new(TwoTools));
    let mut session = bench.session().await;
    let answer = session.call("flow_Look", json!({})).await;
    assert_eq!(answer["content"][1]["mimeType"], json!("image/png"), "{answer}");
    let id = answer["structuredContent"]["executionId"].as_str().unwrap();
    let read = session.request("resources/read", json!({"uri": format!("execution://{id}/n/files/1")})).await;
    assert_eq!(read["result"]["contents"][0]["mimeType"], json!("image/png"), "{read}");
}

#[tokio::test]
async fn what_is_said_at_first_fits_what_there_is() {
    let mut session = Session::raw(two().app.clone());
    let hello = session.request("initialize", handshake("2025-11-25")).await["result"].clone();
    assert!(!hello["instructions"].as_str().unwrap().contains("flows_"), "{hello}");
    let capabilities = hello["capabilities"].clone();
    assert_eq!(capabilities["tools"], json!({"listChanged": true}));
    assert!(
        ["prompts", "completions", "extensions"].iter().all(|one| capabilities.get(one).is_none()),
        "{capabilities}"
    );
}

#[tokio::test]
async fn no_answer_sends_a_model_to_a_tool_that_is_not_there() {
    // What fails here is no error of the file: with one it would be no tool.
    let half = json!({
        "metadata": {"name": "Half", "version": "1.0.0", "inputs": {"row": {"type": "object", "default": {"a": 1}}}},
        "nodes": [
            {"id": "in", "type": "multi_input", "data": {"variables": ["topic"]}},
            {"id": "good", "type": "template", "data": {"template": "About {topic}"}},
            {"id": "bad", "type": "template", "data": {"template": "{row.gone}"}},
        ],
        "edges": [{"source": "in", "target": "good"}],
    });
    let bench = Bench::folder([("flows/Half.json", half.to_string())]).with(only_all);
    let mut session = bench.session().await;
    let failed = session.failed("flow_Half", json!({"topic": "rain"})).await;
    assert_eq!(failed["code"], json!("EXECUTION_ERROR"));
    let id = failed["executionId"].as_str().unwrap();
    assert!(failed["nextStep"].as_str().unwrap().contains(&format!("execution://{id}")), "{failed}");
    assert!(!failed.to_string().contains("flows_"), "{failed}");
    // An answer that is cut names where the whole of it is.
    let cut = session.failed("flow_Half", json!({"topic": "rain ".repeat(20_000)})).await;
    assert!(cut.to_string().contains("truncated") && !cut.to_string().contains("flows_"), "{cut}");
    let mut session = Bench::examples().with(only_all).session().await;
    let done = session.ok("flow_Feature_Development", json!({"feature": "F", "codebase": "C"})).await;
    assert!(done.get("hint").is_none(), "{done}");
}

#[tokio::test]
async fn without_sessions_it_is_the_same() {
    let bench = two();
    let mut session = Session::raw(bench.app.clone());
    let listed = session.request("tools/list", json!({"_meta": stateless()})).await["result"].clone();
    assert_eq!(names(listed["tools"].as_array().unwrap()), ["flow_Tea"]);
    assert_eq!(listed["cacheScope"], json!("private"));
    let params = json!({"name": "flow_Tea", "arguments": {"who": "K"}, "_meta": stateless()});
    let done = session.request("tools/call", params).await["result"].clone();
    assert_eq!((&done["resultType"], &done["isError"]), (&json!("complete"), &json!(false)), "{done}");
}

#[test]
fn where_nothing_is_exposed_the_list_is_empty_and_the_log_says_why() {
    let mut program = Program::serving(&[("FLOWY_ONLY_EXPOSED", "true")]);
    program.shake_hands("2025-11-25");
    assert_eq!(program.request(1, "tools/list", &json!({}))["result"]["tools"], json!([]));
    let refused = program.request(2, "tools/call", &json!({"name": "flows_list", "arguments": {}}))["error"].clone();
    assert_eq!(refused["code"], json!(-32602), "{refused}");
    program.close_input();
    let (code, _, errors) = program.end();
    assert_eq!(code, Some(0));
    assert!(errors.contains("WARN") && errors.contains("--only-exposed"), "{errors}");
}
