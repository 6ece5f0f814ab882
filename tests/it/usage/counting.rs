//! What counts, and what does not.

use std::sync::Arc;
use std::time::Duration;

use flowy::internals::app::{Caller, ExecuteRequest, ModelChoice, OnFailure, StatsRequest, state_of};
use flowy::internals::report::{human, wire};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{TEA, TORN, bench, end, stats, tea};
use crate::support::github::GitHub;
use crate::support::mcp::{Bench, Program, flow, template};
use crate::support::program::Sandbox;

#[test]
fn what_a_client_executes_and_lists_is_seen_by_the_command() {
    let home = Arc::new(TempDir::new().unwrap());
    let sandbox = Sandbox::new().file("flows/Tea.json", TEA);
    let (here, state) = (sandbox.here(), sandbox.home().join("state"));
    let arguments = ["--source", here.to_str().unwrap(), "--state-dir", state.to_str().unwrap()];
    let mut program = Program::serving_at(home, &arguments, &[]);
    program.shake_hands("2025-11-25");
    for id in 1..=2 {
        program.request(id, "tools/call", &json!({"name": "flows_execute", "arguments": tea()}));
    }
    let listed = program.request(3, "tools/call", &json!({"name": "flows_list", "arguments": {"tier": "index"}}));
    program.close_input();
    assert_eq!(program.end().0, Some(0));
    let said = sandbox.run(["stats", "--json", "--state-dir", state.to_str().unwrap()]);
    let told = said.json();
    let flow = &told["flows"][0];
    assert_eq!(
        (&flow["name"], &flow["uses"], &flow["successRate"]),
        (&json!("Tea"), &json!(2), &json!(100.0)),
        "{told}"
    );
    assert_eq!((&flow["usesIn7Days"], &flow["popularity"]), (&json!(2), &json!("warm")));
    assert!(flow["avgLatencyMs"].as_f64().is_some() && flow["p95LatencyMs"].as_f64().is_some(), "{flow}");
    let listing = &told["listings"][0];
    let text = listed["result"]["structuredContent"].to_string();
    assert_eq!(
        (&listing["mode"], &listing["calls"], &listing["entries"], &listing["deprecatedUses"]),
        (&json!("index"), &json!(1), &json!(1), &json!(1))
    );
    assert_eq!(listing["characters"], json!(text.chars().count()));
    assert_eq!(listing["estimatedTokens"], listed["result"]["structuredContent"]["estimatedTokens"]);
    let shown = sandbox.run(["stats", "--state-dir", state.to_str().unwrap()]);
    assert!(shown.out.contains("folder [HERE]") && shown.out.contains("100 %"), "{}", shown.out);
    assert!(!shown.out.contains('·'), "{}", shown.out);
}

#[test]
fn a_run_and_a_listing_of_the_command_line_count_too() {
    let sandbox = Sandbox::new().file("flows/Tea.json", TEA).file("flows/Torn.json", TORN);
    assert_eq!(sandbox.run(["run", "Tea", "--var", "who=two"]).code, 0);
    assert_eq!(sandbox.run(["run", "Torn"]).code, 1);
    let listed = sandbox.run(["list", "--mode", "index"]);
    let told = sandbox.run(["stats", "--json"]).json();
    let uses: Vec<Value> = told["flows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|flow| json!([flow["name"], flow["uses"], flow["successRate"]]))
        .collect();
    assert_eq!(json!(uses), json!([["Tea", 1, 100.0], ["Torn", 1, 0.0]]), "{told}");
    assert_eq!(told["listings"][0]["characters"], json!(listed.out.chars().count()));
    let one = sandbox.run(["stats", "--json", "--flow", "Torn"]).json();
    assert_eq!(one["listings"], json!([]));
    assert_eq!((one["flows"].as_array().unwrap().len(), &one["flows"][0]["name"]), (1, &json!("Torn")));
}

#[tokio::test]
async fn rehearsals_refusals_and_cancelled_executions_do_not_count() {
    let bench = bench();
    let mut session = bench.session().await;
    let mut rehearsed = tea();
    rehearsed["dryRun"] = json!(true);
    session.ok("flows_execute", rehearsed).await;
    session.failed("flows_execute", json!({"flowName": "Tea"})).await;
    session.failed("flows_execute", json!({"flowName": "Te"})).await;
    let begun = session.ok("flows_begin", tea()).await;
    session.ok("flows_cancel", json!({"executionId": begun["executionId"]})).await;
    end(session).await;
    assert_eq!(stats(&bench).await["flows"], json!([]));
}

/// Longer than an execution goes on before it looks whether it is still wanted.
#[tokio::test]
async fn an_execution_that_is_cancelled_on_its_way_does_not_count() {
    let steps: Vec<String> = (0..300).map(|step| format!("n{step}")).collect();
    let nodes: Vec<(&str, &str)> = steps.iter().map(|id| (id.as_str(), "T")).collect();
    let bench = Bench::folder([flow("Long", &nodes, &[]), template("T", "Tea")]).counting();
    let request = ExecuteRequest {
        flow: "Long".to_owned(),
        variables: serde_json::Map::new(),
        git_ref: None,
        refresh: false,
        on_failure: OnFailure::Continue,
        wait: None,
        models: ModelChoice::default(),
    };
    let mut caller = Caller::default();
    bench.app.execute(request.clone(), &caller).await.unwrap();
    let cancel = caller.cancel.clone();
    caller.progress = Some(Arc::new(move |_| cancel.cancel()));
    let outcome = bench.app.execute(request, &caller).await.unwrap();
    assert_eq!(state_of(&outcome), "cancelled", "what had finished is answered all the same");
    bench.app.finish_counting(Duration::from_secs(10));
    let told = stats(&bench).await;
    assert_eq!((&told["flows"][0]["uses"], &told["flows"][0]["successes"]), (&json!(1), &json!(1)), "{told}");
}

#[tokio::test]
async fn a_guided_execution_counts_once_when_it_ends_and_its_time_does_not() {
    let bench = bench();
    let mut session = bench.session().await;
    let begun = session.ok("flows_begin", tea()).await;
    let complete =
        json!({"executionId": begun["executionId"], "stepToken": begun["stepToken"], "output": {"summary": "Done."}});
    bench.clock.advance(Duration::from_hours(1));
    let first = session.ok("flows_complete_step", complete.clone()).await;
    assert_eq!(session.ok("flows_complete_step", complete).await, first, "the same reply again");
    end(session).await;
    let told = stats(&bench).await;
    let flow = &told["flows"][0];
    assert_eq!((&flow["uses"], &flow["successes"]), (&json!(1), &json!(1)), "{told}");
    assert_eq!((&flow["avgLatencyMs"], &flow["p95LatencyMs"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn a_guided_execution_that_fails_counts_as_a_use_without_success() {
    let bench = bench();
    let mut session = bench.session().await;
    let begun = session.ok("flows_begin", tea()).await;
    let failed = json!({"executionId": begun["executionId"], "stepToken": begun["stepToken"], "outcome": "failed", "output": {"reason": "No."}});
    session.ok("flows_complete_step", failed).await;
    end(session).await;
    let told = stats(&bench).await;
    assert_eq!((&told["flows"][0]["uses"], &told["flows"][0]["successes"]), (&json!(1), &json!(0)), "{told}");
}

#[tokio::test]
async fn every_way_to_list_counts_by_its_mode() {
    let bench = bench();
    let mut session = bench.session().await;
    let compact = session.ok("flows_list", json!({})).await;
    session.ok("flows_list", json!({})).await;
    session.ok("flows_list", json!({"detailed": true})).await;
    session.ok("flows/list", json!({})).await;
    session.request("flows/list", json!({})).await;
    session.failed("flows_list", json!({"limit": 0})).await;
    // What is read as a resource is no listing that somebody asked for.
    session.request("resources/list", json!({})).await;
    end(session).await;
    let told = stats(&bench).await;
    let rows: Vec<Value> = told["listings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| json!([row["mode"], row["calls"], row["entries"], row["deprecatedUses"]]))
        .collect();
    assert_eq!(json!(rows), json!([["compact", 2, 4, 0], ["contract", 2, 4, 0], ["detailed", 1, 2, 1]]), "{told}");
    assert_eq!(told["listings"][0]["characters"], json!(2 * compact.to_string().chars().count()));
}

#[tokio::test]
async fn use_is_counted_by_day_and_gets_old() {
    let bench = bench();
    let mut session = bench.session().await;
    session.ok("flows_execute", tea()).await;
    session.ok("flows_execute", tea()).await;
    bench.clock.advance(Duration::from_hours(24 * 8));
    session.ok("flows_execute", tea()).await;
    end(session).await;
    let flow = stats(&bench).await["flows"][0].clone();
    assert_eq!((&flow["uses"], &flow["usesIn7Days"], &flow["usesIn30Days"]), (&json!(3), &json!(1), &json!(3)));
    assert_eq!(flow["usesByDay"], json!([{"day": "2026-01-05", "uses": 2}, {"day": "2026-01-13", "uses": 1}]));
    assert_eq!(flow["score"], json!(0.53));
    let week = bench.app.stats(&StatsRequest { days: Some(7), flow: None }).await.unwrap();
    let told = wire::value(&wire::stats(&week));
    assert_eq!((&told["flows"][0]["uses"], &told["flows"][0]["score"]), (&json!(1), &json!(0.53)), "{told}");
    let look = human::Look { terminal: true, width: Some(120), ..human::Look::default() };
    let shown = human::stats(&week, look);
    assert!(shown.contains(", last 7 days\n") && shown.contains("·············█"), "{shown}");
    bench.clock.advance(Duration::from_hours(24 * 23));
    let flow = stats(&bench).await["flows"][0].clone();
    assert_eq!((&flow["usesIn7Days"], &flow["usesIn30Days"]), (&json!(0), &json!(1)));
}

#[tokio::test]
async fn a_source_is_the_same_after_a_push_and_at_every_ref_and_two_do_not_mix() {
    let github = GitHub::serving([flow("Tea", &[("n1", "T")], &[]), template("T", "Tea")]).await;
    let bench = Bench::github(&github).counting();
    let mut session = bench.session().await;
    session.ok("flows_execute", json!({"flowName": "Tea"})).await;
    github.put("templates/T.json", Some(template("T", "Other tea").1.as_bytes()));
    session.ok("flows_list", json!({"refresh": true})).await;
    session.ok("flows_execute", json!({"flowName": "Tea"})).await;
    end(session).await;
    let told = stats(&bench).await;
    assert_eq!((&told["flows"][0]["uses"], told["flows"].as_array().unwrap().len()), (&json!(2), 1), "{told}");
    assert!(told["source"].as_str().unwrap().ends_with("/acme/flows"), "{told}");
    let whole = std::fs::read(bench.store()).unwrap();
    let token = crate::support::github::TOKEN.as_bytes();
    assert!(!whole.windows(token.len()).any(|part| part == token));
}

#[test]
fn two_catalogs_do_not_mix_and_each_names_the_other() {
    let sandbox = Sandbox::new().file("one/flows/Tea.json", TEA).file("two/flows/Tea.json", TEA);
    assert_eq!(sandbox.run(["run", "Tea", "--var", "who=a", "--source", "one"]).code, 0);
    let other = sandbox.run(["stats", "--json", "--source", "two"]).json();
    assert_eq!((&other["flows"], &other["otherSources"][0]), (&json!([]), &json!(format!("folder [HERE]/one"))));
    let said = sandbox.run(["stats", "--source", "two"]);
    insta::assert_snapshot!("stats-of-another-catalog", said.whole());
    // Whatever way leads there, it is the same folder.
    let same = sandbox.run(["stats", "--json", "--source", "two/../one/"]).json();
    assert_eq!(same["flows"][0]["uses"], json!(1));
}

#[tokio::test]
async fn usage_is_read_once_for_some_seconds() {
    let bench = bench();
    assert!(bench.app.usage().await.is_empty());
    let other = bench.again();
    let mut session = other.session().await;
    session.ok("flows_execute", tea()).await;
    end(session).await;
    assert!(bench.app.usage().await.is_empty(), "still what was read before");
    bench.clock.advance(Duration::from_secs(6));
    let usage = bench.app.usage().await;
    let [used, unused] = ["Tea", "Torn"].map(|flow| usage.get(flow).cloned().unwrap_or_default());
    assert_eq!((used.uses, unused.uses), (1, 0));
}
