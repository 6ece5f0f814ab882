//! What servers cost: nothing before they are called, nothing in our list of tools, and nothing
//! that stays after a thousand calls.

use flowy::internals::execute::Tools as _;
use serde_json::{Map, Value, json};

use super::Ground;
use crate::support::mcp::Program;
use crate::support::peer::{Address, process_of, runs, until};

/// How many descriptors a process has open.
fn descriptors(process: u32) -> usize {
    std::fs::read_dir(format!("/proc/{process}/fd")).map_or(0, Iterator::count)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_calls_leave_no_process_and_no_descriptor() {
    const STEPS: usize = 100;
    let ground = Ground::new();
    let address = Address::serve("").await;
    let home = std::sync::Arc::new(tempfile::tempdir().unwrap());
    // A process of its own: in this one other tests come and go.
    let node = |n: usize| {
        let server = if n.is_multiple_of(10) { "h" } else { "p" };
        json!({"id": format!("n{n}"), "type": "tool", "data": {"call": format!("{server}:echo"), "args": {"text": n.to_string()}}})
    };
    let nodes: Vec<Value> = (0..STEPS).map(node).collect();
    let flow = json!({"metadata": {"name": "Many", "version": "1.0.0"}, "nodes": nodes, "edges": []});
    std::fs::create_dir(home.path().join("flows")).unwrap();
    std::fs::write(home.path().join("flows/Many.json"), flow.to_string()).unwrap();
    let servers = json!({"mcpServers": {"p": ground.peer("", json!({})), "h": address.entry()}});
    std::fs::write(home.path().join("servers.json"), servers.to_string()).unwrap();
    let mut program = Program::serving_at(home, &["--servers", "servers.json"], &[("PATH", "/usr/bin:/bin")]);
    program.shake_hands("2025-11-25");
    let mut run = |id: i64| {
        let call = json!({"name": "flows_execute", "arguments": {"flowName": "Many"}});
        let said = program.request(id, "tools/call", &call)["result"]["structuredContent"].clone();
        assert_eq!(said["status"], "success", "{said}");
        program.id()
    };
    let process = run(1);
    let before = descriptors(process);
    for id in 2..=10 {
        run(id);
    }
    // A few are the pool's and the counts'; of a hundred connections that stayed there would be more.
    until("descriptors are as they were", || descriptors(process) <= before + 16).await;
    let peer = process_of(&ground.noted("started")[0]);
    assert_eq!(ground.noted("started").len(), 1);
    program.close_input();
    assert_eq!(program.end().0, Some(0));
    until("the server has ended", || !runs(peer)).await;
}

#[tokio::test]
async fn three_hundred_external_tools_add_nothing_to_what_clients_are_shown() {
    let ground = Ground::new();
    let home = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let file = home.path().join("servers.json");
    let entry = ground.peer("many", json!({}));
    std::fs::write(&file, json!({"mcpServers": {"many": entry}}).to_string()).unwrap();
    let listed = |arguments: &[&str]| {
        let mut program = Program::serving_at(home.clone(), arguments, &[]);
        program.shake_hands("2025-11-25");
        let tools = program.request(7, "tools/list", &json!({}));
        (program, tools["result"]["tools"].to_string())
    };
    let (without, bare) = listed(&[]);
    drop(without);
    let (mut with, same) = listed(&["--warm", "--servers", file.to_str().unwrap()]);
    until("the tools are known", || ground.noted("tools were listed").len() == 3).await;
    let later = with.request(8, "tools/list", &json!({}))["result"]["tools"].to_string();
    assert!(same == later && same.len() <= bare.len(), "{} and {} bytes", bare.len(), same.len());
    // What is told besides, that flows may do things, is no text for a model.
    let unannotated = |tools: &str| {
        let mut tools: Value = serde_json::from_str(tools).unwrap();
        for tool in tools.as_array_mut().unwrap() {
            tool.as_object_mut().unwrap().remove("annotations");
        }
        tools
    };
    assert_eq!(unannotated(&bare), unannotated(&same));
}

#[test]
fn a_registry_of_twenty_servers_starts_nothing() {
    let ground = Ground::new();
    let servers: Map<String, Value> = (0..20).map(|n| (format!("s{n}"), ground.peer("", json!({})))).collect();
    // No runtime is there, so nothing could have been started.
    let registry = ground.registry(&Value::Object(servers));
    assert_eq!((registry.list().len(), registry.toolbox().servers.len()), (20, 20));
    assert!(ground.noted("started").is_empty());
}
