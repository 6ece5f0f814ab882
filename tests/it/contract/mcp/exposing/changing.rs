//! Pushes change which flows are tools, and clients are told.

use serde_json::{Value, json};

use super::{behind_the_fixed, every_marked, exposed, marked, names};
use crate::support::github::{Fault, GitHub};
use crate::support::mcp::{Bench, Session, flow, handshake, stateless, template};

const TOOLS: &str = "notifications/tools/list_changed";

fn told(messages: &[Value]) -> Vec<&str> {
    let mut told: Vec<&str> = messages.iter().filter_map(|message| message["method"].as_str()).collect();
    told.sort_unstable();
    told
}

/// Waits for so many notifications in all.
async fn hear(session: &mut Session, count: usize) {
    while told(&session.heard).len() < count {
        let message = session.receive().await.unwrap();
        session.heard.push(message);
    }
}

fn put(github: &GitHub, (path, text): &(String, String)) {
    github.put(path, Some(text.as_bytes()));
}

#[tokio::test]
async fn a_push_that_changes_the_tools_is_told_once_and_one_that_does_not_is_not() {
    let github = GitHub::serving([marked("One", &[("n", "T")]), template("T", "Hi")]).await;
    let mut session = Bench::github_with(&github, every_marked).session().await;
    assert_eq!(exposed(&mut session).await, ["flow_One"]);
    // Another flow that is no tool: the other lists change, the tools don't.
    put(&github, &flow("Two", &[("n", "T")], &[]));
    session.ok("flows_list", json!({"refresh": true})).await;
    hear(&mut session, 2).await;
    put(&github, &marked("Three", &[("n", "T")]));
    session.ok("flows_list", json!({"refresh": true})).await;
    hear(&mut session, 5).await;
    session.ok("flows_list", json!({"refresh": true})).await;
    assert_eq!(told(&session.heard).iter().filter(|method| **method == TOOLS).count(), 1, "{:?}", session.heard);
    assert_eq!(exposed(&mut session).await, ["flow_One", "flow_Three"]);
    assert_eq!(session.ok("flow_Three", json!({})).await["finalResult"], json!("Hi"));
    // What is gone is an unknown tool.
    github.put("flows/One.json", None);
    session.ok("flows_list", json!({"refresh": true})).await;
    let answer = session.request("tools/call", json!({"name": "flow_One", "arguments": {}})).await;
    assert_eq!(answer["error"]["code"], json!(-32602), "{answer}");
}

#[tokio::test]
async fn a_client_that_listens_is_told_of_tools_too() {
    let github = GitHub::serving([marked("One", &[("n", "T")]), template("T", "Hi")]).await;
    let mut session = Session::raw(Bench::github_with(&github, every_marked).app.clone());
    let listed = session.request("tools/list", json!({"_meta": stateless()})).await["result"].clone();
    assert_eq!(names(&behind_the_fixed(&listed["tools"])), ["flow_One"]);
    assert_eq!((&listed["ttlMs"], &listed["cacheScope"]), (&json!(15 * 60_000), &json!("private")));
    let filter = json!({"toolsListChanged": true});
    let id = session.ask("subscriptions/listen", json!({"notifications": filter, "_meta": stateless()})).await;
    let hello = session.receive().await.unwrap();
    assert_eq!(hello["params"]["notifications"], filter, "{hello}");
    put(&github, &marked("Two", &[("n", "T")]));
    let params = json!({"name": "flows_list", "arguments": {"refresh": true}, "_meta": stateless()});
    session.request("tools/call", params).await;
    hear(&mut session, 1).await;
    let [message] = session.heard.as_slice() else { panic!("{:?}", session.heard) };
    assert_eq!(message["method"], json!(TOOLS));
    assert_eq!(message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], json!(id));
}

#[tokio::test]
async fn a_client_that_saw_a_list_without_the_catalog_is_told_when_it_is_there() {
    let github = GitHub::serving([marked("One", &[("n", "T")]), template("T", "Hi")]).await;
    github.fault(Fault::status("/repos/", 500));
    let bench = Bench::github_with(&github, every_marked);
    let mut session = bench.session().await;
    assert_eq!(exposed(&mut session).await, [""; 0], "the fixed tools are listed all the same");
    github.heal();
    bench.clock.advance(std::time::Duration::from_mins(16));
    session.ok("flows_list", json!({"refresh": true})).await;
    hear(&mut session, 3).await;
    assert!(told(&session.heard).contains(&TOOLS), "{:?}", session.heard);
    assert_eq!(exposed(&mut session).await, ["flow_One"]);
}

#[tokio::test]
async fn the_introduction_names_such_tools_where_there_are_any_and_stays_short() {
    let files = || vec![marked("One", &[("n", "T")]), template("T", "Hi")];
    let hello = async |bench: &Bench| {
        let mut session = Session::raw(bench.app.clone());
        session.request("initialize", handshake("2025-11-25")).await["result"].clone()
    };
    let usual = hello(&Bench::folder(files())).await;
    let exposing = hello(&Bench::folder(files()).with(every_marked)).await;
    let said = exposing["instructions"].as_str().unwrap();
    assert!(said.starts_with(usual["instructions"].as_str().unwrap()) && said.contains("flow_*"), "{said}");
    assert!(said.len() <= 2_048 && crate::support::tokens(said) <= 300, "{}", crate::support::tokens(said));
    assert_eq!(exposing["capabilities"]["tools"], json!({"listChanged": true}));
    assert_eq!(usual["capabilities"]["tools"], json!({}));
    let none = hello(&Bench::folder(vec![template("T", "Hi")]).with(every_marked)).await;
    assert_eq!(none["instructions"], usual["instructions"]);
}
