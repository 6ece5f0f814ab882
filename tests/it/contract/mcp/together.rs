//! Many calls at once.

use serde_json::json;

use crate::support::github::GitHub;
use crate::support::mcp::{Bench, flow, template};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_calls_at_once_fetch_every_file_once_and_lose_nothing() {
    let mut files = vec![flow("Two", &[("n1", "A"), ("n2", "B")], &[("n1", "n2")])];
    files.extend([template("A", "A {number}"), template("B", "B {n1_result}")]);
    let github = GitHub::serving(files).await;
    // Without a token every file is read by its path.
    let mut session = Bench::github_with(&github, |settings| settings.token = None).session().await;
    let mut asked = Vec::new();
    for number in 0..20 {
        let arguments = json!({"flowName": "Two", "initialVariables": {"number": number}});
        asked.push((number, session.ask("tools/call", json!({"name": "flows_execute", "arguments": arguments})).await));
    }
    let mut ids = std::collections::BTreeSet::new();
    for (number, id) in asked {
        let done = session.answer_to(id).await["result"]["structuredContent"].clone();
        assert_eq!(done["finalResult"], json!(format!("B A {number}")));
        ids.insert(done["executionId"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 20);
    let mut paths: Vec<String> = github.hits().into_iter().map(|hit| hit.path).collect();
    let all = paths.len();
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), all, "something was fetched twice: {:?}", github.hits());
    assert_eq!(session.ok("flows_status", json!({})).await["total"], json!(20));
}
