//! What servers cost: nothing before they are called, nothing in our list of tools, and nothing
//! that stays after a thousand calls.

use flowy::internals::execute::Tools as _;
use serde_json::{Map, Value, json};

use super::{ENDING, Ground, call, echo, text};
use crate::support::mcp::Program;
use crate::support::peer::{Address, process_of, runs, until};

/// How many descriptors this process has open.
fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

#[tokio::test]
async fn a_thousand_calls_leave_no_process_and_no_descriptor() {
    let ground = Ground::new();
    let address = Address::serve("").await;
    let registry = ground.registry(&json!({"p": ground.peer("", json!({})), "h": address.entry()}));
    echo(&registry, "p").await.unwrap();
    echo(&registry, "h").await.unwrap();
    // Other tests run in this process; theirs come and go, and are fewer than those that a hundred calls would leave.
    let before = descriptors();
    for n in 0..1_000 {
        let alias = if n % 10 == 0 { "h" } else { "p" };
        let said = call(&registry, &format!("{alias}:echo"), json!({"text": n.to_string()})).await;
        assert_eq!(text(&said), n.to_string());
    }
    until("descriptors are as they were", || descriptors() <= before + 64).await;
    assert_eq!(ground.noted("started").len(), 1);
    let process = process_of(&ground.noted("started")[0]);
    registry.shut_down(ENDING).await;
    assert!(!runs(process));
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
