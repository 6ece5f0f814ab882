//! Files that tools give: named in results, shown beside them, and read by their address.

use std::sync::Arc;

use flowy::internals::execute::{Calling, OnToolProgress, ToolProgress, Tools};
use flowy::internals::model::{ToolAnswer, ToolCall, ToolFile, Toolbox};
use serde_json::{Value, json};

use crate::support::mcp::Bench;

/// Gives one file of the media type and size that the arguments name, and says how far it is.
struct Files;

impl Tools for Files {
    fn toolbox(&self) -> Arc<Toolbox> {
        let schema = json!({"files": {"tools": {"make": {"allowed": true, "schema": {"type": "object"}}}}});
        Arc::new(crate::support::checking::toolbox(&schema))
    }

    fn call(&self, call: ToolCall, progress: Option<OnToolProgress>) -> Calling<'_> {
        let said = |name: &str| call.arguments.get(name).cloned().unwrap_or_default();
        let (kind, size) = (said("kind"), said("size").as_u64().unwrap());
        let file = ToolFile {
            media_type: kind.as_str().unwrap().to_owned(),
            name: None,
            bytes: Arc::from(vec![7; usize::try_from(size).unwrap()]),
        };
        if let Some(progress) = progress {
            progress(ToolProgress {
                progress: 1.0,
                total: Some(2.0),
                message: Some("half way".to_owned()),
                until: None,
            });
        }
        Box::pin(async move { Ok(ToolAnswer { files: vec![file], ..ToolAnswer::default() }) })
    }
}

fn bench(shots: &[(&str, u64)]) -> Bench {
    let mut nodes: Vec<Value> = Vec::new();
    let mut edges: Vec<Value> = Vec::new();
    for (number, (kind, size)) in shots.iter().enumerate() {
        let (id, args) = (format!("shot {number}"), json!({"kind": kind, "size": size}));
        nodes.push(json!({"id": id, "type": "tool", "data": {"call": "files:make", "args": args}}));
        edges.push(json!({"source": id, "target": "say"}));
    }
    nodes.push(json!({"id": "say", "type": "template", "data": {"template": "done"}}));
    let file = json!({"metadata": {"name": "Shots", "version": "1.0.0"}, "nodes": nodes, "edges": edges});
    Bench::folder([("flows/Shots.json", file.to_string())]).calling(Arc::new(Files))
}

#[tokio::test]
async fn an_image_stands_beside_the_result_and_can_be_read_by_its_address() {
    let bench = bench(&[("image/png", 300), ("text/csv", 40)]);
    let mut session = bench.session().await;
    let answer =
        session.request("tools/call", json!({"name": "flows/execute", "arguments": {"flowName": "Shots"}})).await;
    let (content, done) = (&answer["result"]["content"], &answer["result"]["structuredContent"]);
    assert_eq!(content[0]["text"], done.to_string());
    assert_eq!((&content[1]["type"], &content[1]["mimeType"]), (&json!("image"), &json!("image/png")));
    assert_eq!(content[1]["data"].as_str().unwrap().len(), 400);
    let named = &done["intermediateResults"][1]["result"]["files"][0];
    assert_eq!((&content[2]["type"], &content[2]["uri"]), (&json!("resource_link"), &named["uri"]));
    assert_eq!((&content[2]["size"], &named["bytes"]), (&json!(40), &json!(40)));
    assert_eq!(done["counts"], json!({"steps": 3, "toolCalls": 2, "retries": 0}));

    let read = session.request("resources/read", json!({"uri": named["uri"]})).await;
    let contents = &read["result"]["contents"][0];
    assert_eq!((&contents["mimeType"], contents["blob"].as_str().unwrap().len()), (&json!("text/csv"), 56));
    for wrong in ["files/2", "files/0", "files/x"] {
        let uri = named["uri"].as_str().unwrap().replace("files/1", wrong);
        assert!(session.request("resources/read", json!({"uri": uri})).await["error"].is_object(), "{wrong}");
    }
    let last = session
        .request("tools/call", json!({"name": "flows_execute", "arguments": {"flowName": "Shots", "detail": "final"}}))
        .await;
    assert_eq!(last["result"]["content"].as_array().unwrap().len(), 1, "the final result has no file");
}

#[tokio::test]
async fn what_does_not_fit_into_a_message_is_named_and_not_shown() {
    let bench = bench(&[("image/png", 500_000), ("image/png", 300_000), ("image/png", 200_000)]);
    let mut session = bench.session().await;
    let answer =
        session.request("tools/call", json!({"name": "flows/execute", "arguments": {"flowName": "Shots"}})).await;
    let kinds: Vec<_> =
        answer["result"]["content"].as_array().unwrap().iter().map(|c| c["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["text", "image", "resource_link", "image"]);
    assert!(answer.to_string().len() < 1_000_000, "{}", answer.to_string().len());
    let uri = answer["result"]["content"][2]["uri"].clone();
    let read = session.request("resources/read", json!({"uri": uri})).await;
    assert_eq!(read["result"]["contents"][0]["blob"].as_str().unwrap().len(), 400_000);
}

#[tokio::test]
async fn progress_of_a_call_reaches_the_client() {
    let bench = bench(&[("image/png", 3)]);
    let mut session = bench.session().await;
    let arguments = json!({"name": "flows_execute", "arguments": {"flowName": "Shots"}, "_meta": {"progressToken": 5}});
    let id = session.ask("tools/call", arguments).await;
    let mut told: Vec<(f64, String)> = Vec::new();
    loop {
        let message = session.receive().await.unwrap();
        if message["id"] == id {
            break;
        }
        let params = &message["params"];
        told.push((params["progress"].as_f64().unwrap(), params["message"].as_str().unwrap().to_owned()));
    }
    assert!(told.windows(2).all(|pair| pair[0].0 < pair[1].0), "{told:?}");
    assert!(told.last().unwrap().0 > 1.99, "{told:?}");
}
