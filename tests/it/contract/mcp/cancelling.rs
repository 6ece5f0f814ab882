//! Cancelled calls stop their work, and nobody else's.

use serde_json::json;

use crate::support::github::{Fault, GitHub};
use crate::support::mcp::{Bench, flow, template};

fn files() -> Vec<(String, String)> {
    vec![flow("Tea", &[("n1", "Tea_Text")], &[]), template("Tea_Text", "Tea")]
}

/// Waits until the stand-in was asked for this; the server asks of its own accord.
async fn asked(github: &GitHub, part: &str) {
    while github.count(part) == 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_cancelled_call_gets_no_reply_and_asks_for_nothing_more() {
    let github = GitHub::serving(files()).await;
    for tool in ["flows_execute", "flows_list", "flows_show"] {
        github.forget();
        github.fault(Fault::hang("graphql"));
        let bench = Bench::github(&github);
        let mut session = bench.session().await;
        let arguments = if tool == "flows_list" { json!({}) } else { json!({"name": "Tea"}) };
        let id = session.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        asked(&github, "graphql").await;
        let before = github.hits().len();
        let params = json!({"requestId": id, "reason": "the user pressed stop"});
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
        // The next call is answered at once, although the first one hung.
        let other = session.ok("flows_status", json!({})).await;
        assert_eq!(other["total"], json!(0), "{tool}");
        github.heal();
        assert!(session.heard.iter().all(|message| message["id"] != json!(id)), "{tool}: {:?}", session.heard);
        assert_eq!(github.hits().len(), before, "{tool}");
        let done = session.ok("flows_execute", json!({"name": "Tea"})).await;
        assert_eq!(done["finalResult"], json!("Tea"), "{tool}");
        session.shut().await;
        let (_, rest) = session.end().await;
        assert!(rest.iter().all(|message| message["id"] != json!(id)), "{tool}: {rest:?}");
    }
}

#[tokio::test]
async fn a_call_that_waits_for_the_same_fetch_is_not_cancelled_with_another() {
    let github = GitHub::serving(files()).await;
    github.fault(Fault::delay("graphql", std::time::Duration::from_millis(300)).times(1));
    let mut session = Bench::github(&github).session().await;
    let first = session.ask("tools/call", json!({"name": "flows_list", "arguments": {}})).await;
    let second = session.ask("tools/call", json!({"name": "flows_list", "arguments": {}})).await;
    asked(&github, "graphql").await;
    let params = json!({"requestId": first});
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})).await;
    let answer = session.answer_to(second).await;
    assert_eq!(answer["result"]["structuredContent"]["total"], json!(1), "{answer}");
    assert_eq!(github.count("graphql"), 1);
    assert!(session.heard.is_empty(), "{:?}", session.heard);
}

#[tokio::test]
async fn progress_grows_ends_with_the_last_step_and_comes_only_when_asked_for() {
    let nodes: Vec<(String, String)> = (0..200).map(|n| (format!("n{n}"), "T".to_owned())).collect();
    let nodes: Vec<(&str, &str)> = nodes.iter().map(|(id, text)| (id.as_str(), text.as_str())).collect();
    let edges: Vec<(&str, &str)> = nodes.windows(2).map(|pair| (pair[0].0, pair[1].0)).collect();
    let bench = Bench::folder([flow("Long", &nodes, &edges), template("T", "x")]);
    let mut session = bench.session().await;
    session.ok("flows_execute", json!({"flowName": "Long", "detail": "final"})).await;
    assert!(session.heard.is_empty(), "{:?}", session.heard);
    let params = json!({"name": "flows_execute", "arguments": {"flowName": "Long", "detail": "final"},
                        "_meta": {"progressToken": "mine"}});
    let answer = session.request("tools/call", params).await;
    assert_eq!(answer["result"]["isError"], json!(false));
    let told: Vec<f64> = session
        .heard
        .iter()
        .map(|note| {
            assert_eq!(
                (&note["method"], &note["params"]["progressToken"]),
                (&json!("notifications/progress"), &json!("mine"))
            );
            assert_eq!(note["params"]["total"].as_f64(), Some(200.0));
            note["params"]["progress"].as_f64().unwrap()
        })
        .collect();
    assert!(told.windows(2).all(|pair| pair[0] < pair[1]) && told.last() == Some(&200.0), "{told:?}");
    assert!(told.len() < 100, "{} notifications", told.len());
    let message = session.heard.last().unwrap()["params"]["message"].as_str().unwrap();
    assert_eq!(message, "200 of 200 steps: Step n199");
}
