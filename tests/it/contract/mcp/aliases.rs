//! The contract's own names: as unlisted tools, and as JSON-RPC methods.

use serde_json::json;

use super::{EXECUTE_FAILURE, EXECUTE_RESPONSE, LIST_FAILURE, LIST_RESPONSE, as_published};
use crate::support::github::{Fault, GitHub};
use crate::support::mcp::{Bench, FIXED_TOOLS, Session, flow, stateless, template};

const VALUES: &str = r#"{"company": "T", "market": "AI", "budget": 1}"#;

#[tokio::test]
async fn the_tools_answer_to_the_contracts_names_without_listing_them() {
    let mut session = Bench::examples().session().await;
    let tools = session.request("tools/list", json!({})).await["result"]["tools"].clone();
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, FIXED_TOOLS);
    for name in ["flows/show", "flows.show"] {
        assert_eq!(session.ok(name, json!({"name": "Blog_Article"})).await["name"], json!("Blog_Article"));
    }
    for name in ["flows/status", "flows.status"] {
        assert_eq!(session.ok(name, json!({})).await["total"], json!(0));
    }
    let listed = session.ok("flows.list", json!({})).await;
    assert_eq!(listed["mode"], json!("compact"));
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error_with_the_nearest_name() {
    let mut session = Bench::examples().session().await;
    for name in ["flows_lst", "flows/nothing", "health_check", ""] {
        let answer = session.request("tools/call", json!({"name": name, "arguments": {}})).await;
        assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
    }
    let answer = session.request("tools/call", json!({"name": "flows_lst"})).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("flows_list"), "{answer}");
}

#[tokio::test]
async fn under_the_contracts_name_a_mode_may_still_be_asked_for() {
    let mut session = Bench::examples().session().await;
    let contract = session.ok("flows/list", json!({})).await;
    assert!(contract.get("mode").is_none() && contract["flows"][0]["nodeCount"].is_number());
    let compact = session.ok("flows/list", json!({"mode": "compact"})).await;
    as_published(LIST_RESPONSE, &compact);
    assert_eq!(compact["mode"], json!("compact"));
}

#[tokio::test]
async fn the_methods_answer_with_the_bare_object() {
    let mut session = Bench::examples().session().await;
    let listed = session.request("flows/list", json!({})).await["result"].clone();
    as_published(LIST_RESPONSE, &listed);
    assert_eq!(listed["flows"].as_array().unwrap().len(), 13);
    let params = json!({"flowName": "Marketing_Strategy", "initialVariables": VALUES});
    let done = session.request("flows/execute", params).await["result"].clone();
    as_published(EXECUTE_RESPONSE, &done);
    assert!(done.get("content").is_none() && done["finalResult"].is_string());
}

#[tokio::test]
async fn a_failing_method_is_an_error_that_carries_ours() {
    let github = GitHub::serving([flow("Gap", &[("a", "T"), ("b", "No")], &[("a", "b")]), template("T", "x")]).await;
    let mut session = Bench::github(&github).session().await;
    let failed = session.request("flows/execute", json!({"flowName": "Gap"})).await["error"].clone();
    assert_eq!(failed["code"], json!(-32000));
    as_published(EXECUTE_FAILURE, &failed["data"]);
    assert_eq!((&failed["message"], &failed["data"]["failedAt"]["nodeId"]), (&failed["data"]["message"], &json!("b")));
    let unknown = session.request("flows/execute", json!({"flowName": "Gap", "flowNane": 1})).await["error"].clone();
    assert_eq!((&unknown["code"], &unknown["data"]["code"]), (&json!(-32000), &json!("INVALID_REQUEST")));
    github.fault(Fault::status("/repos/", 500));
    let failed = session.request("flows/list", json!({"refresh": true, "ref": "other"})).await["error"].clone();
    as_published(LIST_FAILURE, &failed["data"]);
    let answer = session.request("flows/show", json!({"name": "Gap"})).await;
    assert_eq!(answer["error"]["code"], json!(-32601));
}

#[tokio::test]
async fn the_methods_work_as_a_stateless_clients_first_word() {
    let bench = Bench::examples();
    let mut session = Session::raw(bench.app.clone());
    let listed = session.request("flows/list", json!({"_meta": stateless(), "limit": 2})).await["result"].clone();
    as_published(LIST_RESPONSE, &listed);
    assert_eq!((&listed["resultType"], listed["flows"].as_array().unwrap().len()), (&json!("complete"), 2));
}

#[tokio::test]
async fn the_extension_is_announced() {
    let bench = Bench::examples();
    let mut session = Session::raw(bench.app.clone());
    let answer = session.request("initialize", crate::support::mcp::handshake("2025-11-25")).await;
    let capabilities = &answer["result"]["capabilities"];
    assert_eq!(
        capabilities["extensions"]["io.github.flowy-mcp/flows"]["methods"],
        json!(["flows/execute", "flows/list"])
    );
    let others: Vec<_> = capabilities.as_object().unwrap().keys().filter(|key| *key != "extensions").collect();
    assert_eq!(others, ["completions", "prompts", "resources", "tools"], "nothing is announced that is not there");
}
