//! Calls of flows that are tools: what `flows_execute` does, with the inputs as arguments.

use std::sync::Arc;

use flowy::internals::app::StatsRequest;
use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

use super::super::{EXECUTE_FAILURE, EXECUTE_RESPONSE, as_published};
use super::{TwoTools, all, calling, exposed, flow_tools, marked};
use crate::support::github::{Fault, GitHub};
use crate::support::mcp::{Bench, FIXED_TOOLS, flow, in_both_eras, template};

fn timeless(mut value: Value) -> Value {
    let object = value.as_object_mut().unwrap();
    object.remove("executionId");
    value
}

#[tokio::test]
async fn a_call_answers_what_executing_the_flow_answers() {
    let mut session = Bench::examples().with(all).session().await;
    let values = json!({"company": "TechCorp", "market": "AI", "budget": 100});
    let done = session.ok("flow_Marketing_Strategy", values.clone()).await;
    as_published(EXECUTE_RESPONSE, &done);
    let execute = json!({"flowName": "Marketing_Strategy", "initialVariables": values});
    assert_eq!(timeless(done), timeless(session.ok("flows/execute", execute).await));
}

#[tokio::test]
async fn what_is_missing_or_does_not_fit_is_refused_in_the_words_of_the_tool() {
    let mut session = Bench::examples().with(all).session().await;
    let failed = session.failed("flow_Marketing_Strategy", json!({"company": "T", "market": null})).await;
    as_published(EXECUTE_FAILURE, &failed);
    assert_eq!(
        (&failed["code"], &failed["flowName"], &failed["details"]["missing"]),
        (&json!("MISSING_VARIABLES"), &json!("Marketing_Strategy"), &json!(["market", "budget"]))
    );
    let values = json!({"team": "T", "week": "W", "notes": "N", "audience": "nobody"});
    let failed = session.failed("flow_Weekly_Status", values).await;
    as_published(EXECUTE_FAILURE, &failed);
    assert_eq!((&failed["code"], &failed["details"]["misfits"]), (&json!("INVALID_REQUEST"), &json!(["audience"])));
    assert!(failed["nextStep"].as_str().unwrap().contains("flow_Weekly_Status"), "{failed}");
}

#[tokio::test]
async fn a_name_that_the_flow_does_not_take_is_refused_with_the_nearest() {
    let mut session = Bench::examples().with(all).session().await;
    let failed = session.failed("flow_Marketing_Strategy", json!({"compny": "T", "market": "M"})).await;
    as_published(EXECUTE_FAILURE, &failed);
    assert_eq!((&failed["code"], &failed["details"]["unknown"]), (&json!("INVALID_REQUEST"), &json!(["compny"])));
    let next = failed["nextStep"].as_str().unwrap();
    assert!(["`company`", "market", "budget"].iter().all(|name| next.contains(name)), "{next}");
    let failed = session.failed("flow_Marketing_Strategy", json!({"initialVariables": {"company": "T"}})).await;
    assert!(failed["message"].as_str().unwrap().contains("\"initialVariables\""), "{failed}");
    let listed = session.request("tools/list", json!({})).await["result"]["tools"].clone();
    let tool = listed.as_array().unwrap().iter().find(|tool| tool["name"] == json!("flow_Marketing_Strategy")).unwrap();
    // A client drops all tools where one has a closed schema.
    assert_eq!(tool["inputSchema"].get("additionalProperties"), None);
}

#[tokio::test]
async fn inputs_go_by_the_schemas_names_and_by_their_own_and_lists_may_be_texts() {
    let file = json!({
        "metadata": {"name": "Plan", "version": "1.0.0", "inputs": {"tags": {"type": "array"}, "empty": {"required": false}}},
        "nodes": [{"id": "in", "type": "input", "data": {"variables": ["회사", "tags", "empty"]}},
                  {"id": "n", "type": "template", "data": {"template": "{회사}:{tags}:{empty}"}}],
        "edges": [{"source": "in", "target": "n"}]
    });
    let mut session = Bench::folder([("flows/Plan.json", file.to_string())]).with(all).session().await;
    let listed = flow_tools(&mut session).await;
    let properties = listed[0]["inputSchema"]["properties"].as_object().unwrap();
    let key = properties.iter().find(|(_, property)| property["title"] == json!("회사")).unwrap().0.clone();
    assert!(key.is_ascii() && properties.contains_key("tags"), "{listed:?}");
    for (sent, text) in [
        (json!({&key: "A", "tags": [1]}), "A:[1]:"),
        (json!({"회사": "A", "tags": "[1]", "empty": ""}), "A:[1]:"),
        (json!({&key: "[1]", "회사": "[1]", "tags": []}), "[1]:[]:"),
    ] {
        assert_eq!(session.ok("flow_Plan", sent.clone()).await["finalResult"], json!(text), "{sent}");
    }
    let twice = session.failed("flow_Plan", json!({&key: "A", "회사": "B", "tags": []})).await;
    assert!(twice["message"].as_str().unwrap().contains("given twice"), "{twice}");
    let missing = session.failed("flow_Plan", json!({"tags": []})).await;
    let example = json!({key.as_str(): "…"}).to_string();
    assert!(missing["nextStep"].as_str().unwrap().ends_with(&example), "by the name that the schema has: {missing}");
    let misfit = session.failed("flow_Plan", json!({&key: "A", "tags": "none"})).await;
    assert_eq!(misfit["details"]["misfits"], json!(["tags"]));
}

#[tokio::test]
async fn a_variable_set_is_an_argument_and_what_it_gives_is_not_insisted_on() {
    let node = json!({"id": "n", "type": "template", "data": {
        "template": "{who} at {place}", "variables": ["who", "place"],
        "variableValueSets": [{"name": "tea", "values": {"place": "home"}}]}});
    let file = json!({"metadata": {"name": "Card", "version": "1.0.0"}, "nodes": [node], "edges": []});
    let mut session = Bench::folder([("flows/Card.json", file.to_string())]).with(all).session().await;
    let schema = flow_tools(&mut session).await[0]["inputSchema"].clone();
    assert_eq!(
        (&schema["required"], &schema["properties"]["_variableSet"]["enum"]),
        (&json!(["who"]), &json!(["tea"]))
    );
    let done = session.ok("flow_Card", json!({"who": "Kim", "_variableSet": "tea"})).await;
    assert_eq!(done["finalResult"], json!("Kim at home"));
}

#[tokio::test]
async fn progress_is_told_and_use_is_counted() {
    let files = [flow("Two", &[("n1", "T"), ("n2", "T")], &[("n1", "n2")]), template("T", "text")];
    let bench = Bench::folder(files).with(all).counting();
    let mut session = bench.session().await;
    let params = json!({"name": "flow_Two", "arguments": {}, "_meta": {"progressToken": "mine"}});
    let done = session.request("tools/call", params).await["result"].clone();
    assert_eq!(done["isError"], json!(false), "{done}");
    let mut told = session.heard.iter().filter(|message| message["method"] == json!("notifications/progress"));
    assert_eq!(told.next_back().unwrap()["params"]["progress"], json!(2.0));
    session.shut().await;
    session.end().await;
    let stats = bench.app.stats(&StatsRequest::default()).await.unwrap();
    assert_eq!((stats.flows[0].name.as_str(), stats.flows[0].usage.uses), ("Two", 1));
}

#[tokio::test]
async fn a_cancelled_call_gets_no_reply() {
    let github = GitHub::serving([marked("Tea", &[("n", "T")]), template("T", "Tea")]).await;
    let bench = Bench::github_with(&github, all);
    let mut session = bench.session().await;
    assert_eq!(exposed(&mut session).await, ["flow_Tea"]);
    // A fresh look at the catalog is due, and it hangs.
    bench.clock.advance(std::time::Duration::from_mins(16));
    github.forget();
    github.fault(Fault::hang("/repos/"));
    let id = session.ask("tools/call", json!({"name": "flow_Tea", "arguments": {}})).await;
    while github.hits().is_empty() {
        tokio::task::yield_now().await;
    }
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})).await;
    session.ok("flows_status", json!({})).await;
    github.heal();
    assert_eq!(session.ok("flow_Tea", json!({})).await["finalResult"], json!("Tea"));
    assert!(session.heard.iter().all(|message| message["id"] != json!(id)), "{:?}", session.heard);
}

#[tokio::test]
async fn a_catalog_that_cannot_be_reached_is_said_and_is_no_unknown_tool() {
    let github = GitHub::serving([marked("Tea", &[("n", "T")]), template("T", "Tea")]).await;
    github.fault(Fault::status("/repos/", 500));
    let mut session = Bench::github_with(&github, all).session().await;
    let failed = session.failed("flow_Tea", json!({})).await;
    as_published(EXECUTE_FAILURE, &failed);
    assert_eq!(failed["code"], json!("GITHUB_ERROR"), "{failed}");
    let error = session.request("tools/call", json!({"name": "tea", "arguments": {}})).await["error"].clone();
    assert_eq!(error["code"], json!(-32602), "no flow's tool has such a name");
}

#[tokio::test]
async fn a_real_client_in_both_eras_lists_and_calls_the_same() {
    let bench = Bench::examples().with(all);
    let arguments = json!({"company": "T", "market": "AI", "budget": "1"}).as_object().unwrap().clone();
    let call = CallToolRequestParams::new("flow_Marketing_Strategy").with_arguments(arguments);
    let [first, second] = in_both_eras(&bench.app, call).await.map(|(tools, result)| {
        assert_eq!(result.is_error, Some(false));
        (tools, timeless(result.structured_content.unwrap()))
    });
    assert!(first.0.as_array().unwrap().len() > FIXED_TOOLS.len());
    assert_eq!(first, second);
}

#[tokio::test]
async fn a_flow_that_calls_tools_is_announced_as_what_they_are_and_calls_them() {
    let bench =
        Bench::folder([calling("Look", "look"), calling("Press", "press")]).with(all).calling(Arc::new(TwoTools));
    let mut session = bench.session().await;
    let listed = flow_tools(&mut session).await;
    let hints = |tool: &Value| {
        ["readOnlyHint", "destructiveHint", "openWorldHint"].map(|hint| tool["annotations"][hint].as_bool().unwrap())
    };
    assert_eq!((hints(&listed[0]), hints(&listed[1])), ([true, false, true], [false, true, true]), "{listed:?}");
    assert_eq!(session.ok("flow_Press", json!({})).await["finalResult"], json!("page:press"));
}
