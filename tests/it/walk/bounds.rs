//! Small files that ask for much: refused before the work, and told in messages of a bounded length.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]

use serde_json::{Value, json};

use crate::support::mcp::Bench;
use crate::support::program::Sandbox;

fn file(name: &str, nodes: Vec<Value>, inputs: Value) -> String {
    json!({"metadata": {"name": name, "version": "1.0.0", "inputs": inputs}, "nodes": nodes, "edges": []}).to_string()
}

fn steps(count: usize, text: &str) -> Vec<Value> {
    (0..count).map(|n| json!({"id": format!("n{n}"), "type": "template", "data": {"template": text}})).collect()
}

fn links(count: usize, flow: &str) -> Vec<Value> {
    (0..count).map(|n| json!({"id": format!("n{n}"), "type": "flow", "data": {"flow": flow}})).collect()
}

#[tokio::test]
async fn a_flow_that_unfolds_to_too_many_steps_or_names_is_refused_and_a_smaller_one_runs() {
    let names = (0..2_000).map(|n| format!("{{v{n}}}")).collect::<Vec<_>>().concat();
    let defaults: serde_json::Map<String, Value> =
        (0..2_000).map(|n| (format!("v{n}"), json!({"default": ""}))).collect();
    let mut session = Bench::folder([
        ("flows/Inner.json", file("Inner", steps(500, "t"), json!({}))),
        ("flows/Few.json", file("Few", links(2, "Inner"), json!({}))),
        ("flows/Many.json", file("Many", links(20, "Inner"), json!({}))),
        ("flows/Around.json", file("Around", links(1, "Many"), json!({}))),
        ("flows/Wide.json", file("Wide", steps(1, &names), Value::Object(defaults))),
        ("flows/Names.json", file("Names", links(30, "Wide"), json!({}))),
    ])
    .session()
    .await;
    let few = session.ok("flows_execute", json!({"flowName": "Few"})).await;
    assert_eq!((&few["finalResult"], &few["counts"]["steps"]), (&json!("t"), &json!(1_000)));
    for (flow, what) in [("Many", "10,020 steps, and 10,000 are allowed"), ("Names", "names, and 100,000 are allowed")]
    {
        let refused = session.failed("flows_execute", json!({"flowName": flow})).await;
        assert_eq!((&refused["code"], &refused["failedAt"]), (&json!("LIMIT_EXCEEDED"), &Value::Null), "{refused}");
        assert!(refused["message"].as_str().unwrap().contains(what), "{refused}");
    }
    let around = session.failed("flows_execute", json!({"flowName": "Around"})).await;
    assert_eq!((&around["code"], &around["failedAt"]["nodeId"]), (&json!("LIMIT_EXCEEDED"), &json!("n0")), "{around}");
    let listed = session.ok("flows_list", json!({})).await;
    let over: Vec<_> = listed["errors"].as_array().unwrap().iter().map(|e| (&e["file"], &e["rule"])).collect();
    assert!(over.contains(&(&json!("flows/Many.json"), &json!("over-limit"))), "{over:?}");
}

#[test]
fn thousands_of_nodes_are_not_looked_through_once_they_are_too_many() {
    let sandbox = Sandbox::new().file("c/flows/X.json", file("X", steps(1_001, "{gone_result}"), json!({})));
    let said = sandbox.run(["validate", "--source", "c", "--json"]).json();
    let rules: Vec<_> = said["files"][0]["findings"].as_array().unwrap().iter().map(|f| &f["rule"]).collect();
    assert_eq!(rules, ["over-limit"]);
}

#[tokio::test]
async fn of_many_flows_and_templates_of_one_name_a_few_are_named_and_the_others_counted() {
    let flows = (0..60).map(|n| (format!("flows/d{n:02}/Twin.json"), file("Twin", steps(1, "t"), json!({}))));
    let title = |n| (format!("templates/t{n:02}.json"), json!({"title": "Same", "template": "x"}).to_string());
    let uses = json!([{"id": "a", "type": "template", "data": {"selectedTemplateId": "Same"}}]);
    let uses = json!({"metadata": {"name": "Uses", "version": "1.0.0"}, "nodes": uses, "edges": []}).to_string();
    let through = file("Through", links(1, "Twin"), json!({}));
    let own = [("flows/Uses.json".to_owned(), uses), ("flows/Through.json".to_owned(), through)];
    let mut session = Bench::folder(flows.chain((0..60).map(title)).chain(own)).session().await;
    for (tool, arguments) in [
        ("flows_show", json!({"name": "Twin"})),
        ("flows_execute", json!({"flowName": "Uses"})),
        ("flows_execute", json!({"flowName": "Through"})),
    ] {
        let failed = session.failed(tool, arguments.clone()).await;
        assert!(failed.to_string().contains(" and 40 more"), "{arguments}: {failed}");
        assert!(!["/d59/", "/t59."].iter().any(|last| failed.to_string().contains(last)), "{arguments}: {failed}");
    }
    let twin = session.failed("flows_show", json!({"name": "Twin"})).await;
    assert_eq!(twin["details"]["candidates"].as_array().unwrap().len(), 20, "{twin}");
}

#[tokio::test]
async fn of_many_choices_a_few_are_named() {
    let choices: Vec<String> = (0..50).map(|n| format!("c{n}")).collect();
    let flow = file("X", steps(1, "{x}"), json!({"x": {"enum": choices}}));
    let mut session = Bench::folder([("flows/X.json", flow)]).session().await;
    let failed = session.failed("flows_execute", json!({"flowName": "X", "initialVariables": {"x": "d"}})).await;
    assert_eq!(failed["code"], "INVALID_REQUEST");
    assert!(failed["message"].as_str().unwrap().contains("\"c19\" and 30 more are allowed"), "{failed}");
}

#[test]
fn keys_that_are_too_long_to_name_places_by_are_refused_where_they_stand() {
    let long = "k".repeat(2_001);
    let flow = json!({"metadata": {"name": "X", long: 1}, "nodes": steps(1, "t"), "edges": []}).to_string();
    let sandbox = Sandbox::new().file("c/flows/X.json", flow);
    let said = sandbox.run(["validate", "--source", "c", "--json"]).json();
    let finding = &said["files"][0]["findings"][0];
    assert_eq!(finding["rule"], "syntax", "{said}");
    assert!(finding["message"].as_str().unwrap().contains("longer than 2000 bytes"), "{finding}");
}

#[test]
fn a_key_that_stands_many_times_is_told_once_and_told_to_who_executes() {
    let data = ["\"template\": \"t\""; 5].join(",");
    let flow = format!(
        "{{\"metadata\": {{\"name\": \"X\", \"version\": \"1.0.0\"}}, \"nodes\": [{{\"id\": \"a\", \"type\": \"template\", \
         \"data\": {{{data}, \"template\": \"last\"}}}}], \"edges\": []}}"
    );
    let sandbox = Sandbox::new().file("c/flows/X.json", flow);
    let said = sandbox.run(["validate", "--source", "c", "--json"]).json();
    let findings = said["files"][0]["findings"].as_array().unwrap();
    assert_eq!(findings.len(), 1, "{said}");
    assert!(findings[0]["message"].as_str().unwrap().contains("stands 6 times"), "{said}");
    let done = sandbox.run(["run", "X", "--source", "c", "--json"]).json();
    assert_eq!((&done["finalResult"], &done["warnings"][0]["code"]), (&json!("last"), &json!("DUPLICATE_KEY")));
}
