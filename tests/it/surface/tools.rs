//! What a model is shown of each tool: one snapshot per tool, and what all of them must have.

use serde_json::{Value, json};

use crate::support::mcp::{Bench, Session, handshake};
use crate::support::tokens;

async fn hello(bench: &Bench) -> (Value, Value) {
    let mut session = Session::raw(bench.app.clone());
    let hello = session.request("initialize", handshake("2025-11-25")).await["result"].clone();
    (hello, session.request("tools/list", json!({})).await["result"].clone())
}

#[tokio::test]
async fn each_tool_is_as_reviewed() {
    let (_, listed) = hello(&Bench::examples()).await;
    insta::with_settings!({snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true}, {
        for tool in listed["tools"].as_array().unwrap() {
            let shown = serde_json::to_string_pretty(tool).unwrap();
            insta::assert_snapshot!(tool["name"].as_str().unwrap(), shown);
        }
    });
}

#[tokio::test]
async fn a_flow_that_is_a_tool_is_as_reviewed() {
    let bench = Bench::examples().with(|settings| settings.expose = flowy::internals::config::Expose::All);
    let (_, listed) = hello(&bench).await;
    let tool = listed["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == json!("flow_Weekly_Status"));
    insta::with_settings!({snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("flow_Weekly_Status", serde_json::to_string_pretty(tool.unwrap()).unwrap());
    });
}

#[tokio::test]
async fn the_introduction_is_as_reviewed_and_short() {
    let (hello, _) = hello(&Bench::examples()).await;
    let instructions = hello["instructions"].as_str().unwrap();
    assert!(tokens(instructions) <= 300, "{}", tokens(instructions));
    assert!(instructions.len() <= 2_048);
    let place = |tool: &str| instructions.find(tool).unwrap();
    assert!(place("flows_list") < place("flows_show") && place("flows_show") < place("flows_execute"));
    insta::with_settings!({snapshot_path => "snapshots", prepend_module_to_snapshot => false, omit_expression => true}, {
        insta::assert_snapshot!("instructions", instructions);
    });
}

#[tokio::test]
async fn every_tool_has_what_clients_need() {
    let (_, listed) = hello(&Bench::examples()).await;
    let tools = listed["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted() && !names.is_empty(), "{names:?}");
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        assert!((1..=40).contains(&name.len()), "{name}");
        assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')), "{name}");
        assert!(tool["title"].as_str().is_some_and(|title| !title.is_empty()), "{name}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name} {hint}");
        }
        let description = tool["description"].as_str().unwrap();
        assert!(description.len() <= 2_048, "{name}");
        assert!(description.contains("Use it") && description.contains("Next:"), "{name}: when, and what then?");
        assert!(tool.get("outputSchema").is_none(), "{name}");
        let schema = &tool["inputSchema"];
        assert_eq!(schema["type"], json!("object"), "{name}");
        for (parameter, schema) in schema["properties"].as_object().unwrap() {
            assert!(schema["description"].as_str().is_some_and(|text| text.len() > 10), "{name} {parameter}");
            assert!(schema["type"].is_string(), "{name} {parameter}");
            assert_eq!(schema["minimum"].is_number(), schema["maximum"].is_number(), "{name} {parameter}");
            let open = (schema["type"] == json!("object")).then_some(&json!(true));
            assert_eq!(schema.get("additionalProperties"), open, "{name} {parameter}");
        }
        jsonschema::validator_for(schema).unwrap();
    }
}

#[tokio::test]
async fn the_whole_list_costs_a_model_little() {
    let (_, listed) = hello(&Bench::examples()).await;
    let count = tokens(&listed["tools"].to_string());
    assert!(count <= 2_350, "{count} tokens");
}

#[tokio::test]
async fn the_list_is_the_same_whatever_the_catalog_holds() {
    let (_, examples) = hello(&Bench::examples()).await;
    let nothing = Bench::folder([("flows/Broken.json", "{")]);
    assert_eq!(hello(&nothing).await.1.to_string(), examples.to_string());
}
