//! Lists of tools: read to their end, kept on disk, and read again when they change.

use flowy::internals::execute::Tools as _;
use flowy::internals::model::{ServerStanding, ToolAddress, ToolLookup};
use serde_json::json;

use super::{ENDING, Ground, call, echo, failed, no_arguments};
use crate::support::peer::{Address, until};

#[tokio::test]
async fn a_long_list_is_read_to_its_end() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"many": ground.peer("many", json!({"allow": ["tool_00?", "tool_299"]}))}));
    assert_eq!(registry.refresh("many").await, Some(Ok(())));
    let row = &registry.list()[0];
    assert_eq!((row.tools, row.allowed, row.transport), (Some(300), 11, "stdio"));
    assert_eq!(ground.noted("tools were listed").len(), 3);
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_list_without_an_end_is_given_up_and_what_came_is_kept() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": ground.peer("endless", json!({}))}));
    assert_eq!(registry.refresh("p").await, Some(Ok(())));
    assert_eq!(registry.list()[0].tools, Some(17));
    // 2,000 tools, of which each page brings 17.
    assert_eq!(ground.noted("tools were listed").len(), 2_000 / 17 + 1);
    let (code, message) = failed(call(&registry, "p:nothing", no_arguments()).await);
    assert_eq!(code, "TOOL_NOT_FOUND");
    assert!(message.ends_with("flowy keeps the first 2000 tools of its list, and no more"), "{message}");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn what_is_known_survives_a_restart_and_nothing_is_started_for_it() {
    let ground = Ground::new();
    let servers = json!({"p": ground.peer("", json!({})), "other": ground.peer("browser", json!({}))});
    let registry = ground.registry(&servers);
    assert_eq!(registry.toolbox().servers["p"].tools.as_ref().map(std::collections::BTreeMap::len), None);
    registry.refresh("p").await.unwrap().unwrap();
    let known = registry.toolbox();
    registry.shut_down(ENDING).await;

    let started = ground.noted("started").len();
    let registry = ground.registry(&servers);
    let toolbox = registry.toolbox();
    assert_eq!(toolbox.servers["p"].standing, ServerStanding::Idle);
    let (before, after) = (known.servers["p"].tools.as_ref().unwrap(), toolbox.servers["p"].tools.as_ref().unwrap());
    assert_eq!(before.keys().collect::<Vec<_>>(), after.keys().collect::<Vec<_>>());
    assert_eq!(before["echo"].input.schema(), after["echo"].input.schema());
    assert!(after["echo"].read_only && after["echo"].description.as_deref() == Some("Says it again"));
    assert!(toolbox.servers["other"].tools.is_none());
    assert_eq!(ground.noted("started").len(), started);

    // Another program under the same alias is another server.
    let mut moved = servers;
    moved["p"]["args"].as_array_mut().unwrap().push("--other".into());
    assert!(ground.registry(&moved).toolbox().servers["p"].tools.is_none());
}

#[tokio::test]
async fn the_toolbox_stays_the_same_until_something_changes() {
    let (_ground, registry) = Ground::with_peer();
    let first = registry.toolbox();
    assert!(std::sync::Arc::ptr_eq(&first, &registry.toolbox()));
    echo(&registry, "p").await.unwrap();
    let second = registry.toolbox();
    assert!(second.revision > first.revision && second.servers["p"].standing == ServerStanding::Ready);
    assert!(matches!(second.find(&ToolAddress::read("p:echo").unwrap()), ToolLookup::Found(_)));
    // The same list again is no change of what is known of any tool.
    registry.refresh("p").await.unwrap().unwrap();
    assert_eq!(registry.toolbox().revision, second.revision);
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_list_that_changes_is_read_again_in_both_generations_of_the_protocol() {
    for era in ["initialize", "discover"] {
        let ground = Ground::new();
        let address = Address::serve("").await;
        let registry = ground.registry(&json!({
            "program": ground.peer("", json!({"era": era})),
            "address": super::with(address.entry(), json!({"era": era})),
        }));
        for alias in ["program", "address"] {
            let grown = ToolAddress { server: alias.to_owned(), tool: "grown".to_owned() };
            assert!(echo(&registry, alias).await.is_ok(), "{era} {alias}");
            assert!(matches!(registry.toolbox().find(&grown), ToolLookup::NoTool { .. }));
            call(&registry, &format!("{alias}:grow"), no_arguments()).await.unwrap();
            until(&format!("{era} {alias}"), || matches!(registry.toolbox().find(&grown), ToolLookup::Found(_))).await;
        }
        registry.shut_down(ENDING).await;
    }
}

#[tokio::test]
async fn lists_that_were_never_read_are_read_where_nobody_waits() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({
        "a": ground.peer("", json!({})),
        "b": ground.peer("browser", json!({})),
        "dead": {"command": "/bin/false"},
    }));
    registry.read_unknown(|_| true).await;
    let toolbox = registry.toolbox();
    assert!(toolbox.servers["a"].tools.is_some() && toolbox.servers["b"].tools.is_some());
    assert_eq!(toolbox.trouble("dead"), Some("it ended with code 1"));
    let started = ground.noted("started").len();
    registry.read_unknown(|_| true).await;
    assert_eq!(ground.noted("started").len(), started);
    registry.shut_down(ENDING).await;
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_kept_is_the_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (ground, registry) = Ground::with_peer();
    registry.refresh("p").await.unwrap().unwrap();
    let folder = ground.folder().join("cache/tools/v1");
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap()).collect();
    assert_eq!(files.len(), 1);
    assert_eq!(files[0].metadata().unwrap().permissions().mode() & 0o777, 0o600);
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_list_that_can_not_be_read_again_is_told_and_the_one_before_stays() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": ground.peer("silent later", json!({}))}));
    assert_eq!(registry.refresh("p").await, Some(Ok(())));
    let before = registry.list()[0].tools;
    let trouble = registry.refresh("p").await.unwrap().unwrap_err();
    assert!(trouble.why.contains("no list today"), "{trouble:?}");
    assert_eq!(registry.list()[0].tools, before);
    registry.shut_down(ENDING).await;
}
