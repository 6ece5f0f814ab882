//! Replies stay small; what was cut can be read in full.

use serde_json::{Value, json};

use super::{EXECUTE_FAILURE, EXECUTE_RESPONSE, as_published};
use crate::support::github::GitHub;
use crate::support::mcp::{Bench, Session, flow, template};

/// Eight steps of growing texts, the last of them a fifth of a megabyte.
fn long() -> Bench {
    let names: Vec<String> = (1..=8).map(|n| format!("n{n}")).collect();
    let templates: Vec<String> = (1..=8).map(|n| format!("G{n}")).collect();
    let nodes: Vec<(&str, &str)> =
        names.iter().zip(&templates).map(|(id, name)| (id.as_str(), name.as_str())).collect();
    let edges: Vec<(&str, &str)> = names.windows(2).map(|pair| (pair[0].as_str(), pair[1].as_str())).collect();
    let mut files = vec![flow("Long", &nodes, &edges)];
    let block = "Größe „sieben“ \"quoted\" \\ and a line\n".repeat(45);
    files.push(template("G1", &block));
    for n in 2..=8 {
        files.push(template(&format!("G{n}"), &format!("{n}{{n{}_result}}{{n{}_result}}", n - 1, n - 1)));
    }
    Bench::folder(files)
}

/// A step's whole text, page by page.
async fn whole_text(session: &mut Session, id: &Value, node: &str) -> String {
    let (mut text, mut cursor) = (String::new(), json!(null));
    loop {
        let page = session.ok("flows_status", json!({"executionId": id, "nodeId": node, "cursor": cursor})).await;
        text.push_str(page["text"].as_str().unwrap());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            assert_eq!(page["total"], json!(text.chars().count()));
            return text;
        }
    }
}

#[tokio::test]
async fn a_long_execution_is_cut_and_the_rest_can_be_paged() {
    let bench = long();
    let mut session = bench.session().await;
    let done = session.ok("flows_execute", json!({"flowName": "Long", "detail": "full"})).await;
    as_published(EXECUTE_RESPONSE, &done);
    assert_eq!((&done["status"], &done["truncated"]), (&json!("success"), &json!(true)));
    assert!(done.to_string().len() < 100_000, "{} bytes", done.to_string().len());
    let rest = done["hint"].as_str().unwrap();
    assert!(rest.contains("flows_status") && rest.contains(done["executionId"].as_str().unwrap()), "{rest}");
    let last = done["intermediateResults"][7].clone();
    let whole = whole_text(&mut session, &done["executionId"], "n8").await;
    assert_eq!(last["outputLength"], json!(whole.chars().count()));
    assert!(whole.chars().count() > 200_000 && whole.starts_with("8765432"));
    assert_eq!(whole_text(&mut session, &done["executionId"], "result").await, whole);
    let kept = done["finalResult"].as_str().unwrap();
    let kept = kept.rsplit_once("… [cut: ").unwrap().0;
    assert!(whole.starts_with(kept) && kept.len() > 1_000, "{}", kept.len());
}

#[tokio::test]
async fn a_large_budget_still_leaves_a_message_that_clients_take() {
    let bench = long();
    let mut session = bench.session().await;
    let params =
        json!({"name": "flows_execute", "arguments": {"flowName": "Long", "maxTokens": 1_000_000, "detail": "full"}});
    let answer = session.request("tools/call", params).await;
    assert_eq!(answer["result"]["structuredContent"]["truncated"], json!(true));
    let bytes = answer.to_string().len();
    assert!(bytes < 1_000_000 && bytes > 500_000, "{bytes}");
    let small = session.ok("flows_execute", json!({"flowName": "Long", "maxTokens": 2_000})).await;
    assert!(small.to_string().len() < 10_000, "{}", small.to_string().len());
}

#[tokio::test]
async fn a_page_of_text_is_as_large_as_a_message_may_be() {
    let bench = Bench::folder([flow("Odd", &[("n1", "T")], &[]), template("T", &"\u{1}".repeat(150_000))]);
    let mut session = bench.session().await;
    let done = session.ok("flows_execute", json!({"flowName": "Odd", "detail": "final"})).await;
    let page = json!({"executionId": done["executionId"], "nodeId": "n1", "limit": 100_000});
    let page = session.ok("flows_status", page).await;
    let length = page["length"].as_u64().unwrap();
    assert!((10_000..100_000).contains(&length) && page["nextCursor"].is_string(), "{length}");
    assert_eq!(whole_text(&mut session, &done["executionId"], "n1").await.chars().count(), 150_000);
}

#[tokio::test]
async fn a_failure_stays_short_and_keeps_its_beginning() {
    let nodes = [("n1", "Long"), ("n2", "Gone")];
    let bench = Bench::folder([flow("Fails", &nodes, &[("n1", "n2")]), template("Long", &"long ".repeat(20_000))]);
    let mut session = bench.session().await;
    let failed = session.failed("flows_execute", json!({"flowName": "Fails"})).await;
    as_published(EXECUTE_FAILURE, &failed);
    assert!(failed.to_string().chars().count() <= 10_000);
    assert_eq!((&failed["failedAt"]["nodeId"], &failed["truncated"]), (&json!("n2"), &json!(true)));
    assert_eq!(whole_text(&mut session, &failed["executionId"], "n1").await.len(), 100_000);
}

#[tokio::test]
async fn a_flow_with_a_thousand_faults_is_refused_briefly() {
    let names: Vec<String> = (0..400).map(|n| format!("node {n}")).collect();
    let nodes: Vec<(&str, &str)> = names.iter().map(|id| (id.as_str(), "T")).collect();
    let nowhere: Vec<String> = (0..400).map(|n| format!("nowhere {n}")).collect();
    let edges: Vec<(&str, &str)> = nowhere.iter().zip(&names).map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let bench = Bench::folder([flow("Faulty", &nodes, &edges), template("T", "x")]);
    let failed = bench.session().await.failed("flows_execute", json!({"flowName": "Faulty"})).await;
    as_published(EXECUTE_FAILURE, &failed);
    assert!(failed.to_string().chars().count() <= 10_000, "{}", failed.to_string().len());
    assert!(failed["details"]["findingsLeftOut"].as_u64().unwrap() > 100, "{failed}");
}

#[tokio::test]
async fn a_contract_list_that_no_client_would_take_goes_on_by_cursor() {
    let describe = |n: usize| {
        let text = json!({"metadata": {"name": format!("F{n}"), "version": "1.0.0", "description": "\"d\" ".repeat(2_000)},
                          "nodes": [{"id": "a", "type": "template", "data": {"template": "x"}}], "edges": []});
        (format!("flows/F{n:03}.json"), text.to_string())
    };
    let bench = Bench::folder((0..150).map(describe));
    let mut session = bench.session().await;
    let (mut names, mut cursor, mut pages) = (Vec::new(), json!(null), 0);
    loop {
        let page = session.ok("flows/list", json!({"cursor": cursor})).await;
        names.extend(page["flows"].as_array().unwrap().iter().map(|flow| flow["name"].as_str().unwrap().to_owned()));
        cursor = page["nextCursor"].clone();
        pages += 1;
        if cursor.is_null() {
            break;
        }
        assert!(page["nextStep"].is_string(), "{}", page["truncatedBy"]);
    }
    names.dedup();
    assert_eq!(names.len(), 150);
    assert!(pages > 2, "{pages}");
}

fn two_thousand() -> Vec<(String, String)> {
    let describe = |n: usize| {
        let description = format!(
            "Flow number {n}: turns a brief of a few lines into a plan that a team can follow, with owners and dates."
        );
        let text = json!({"metadata": {"name": format!("Flow_Number_{n:04}"), "version": "1.0.0", "description": description,
                                       "created": "2026-01-02T09:00:00.000Z", "updated": "2026-01-03T09:00:00.000Z"},
                          "nodes": [{"id": "a", "type": "template", "data": {"template": "x"}}], "edges": []});
        (format!("flows/F{n:04}.json"), text.to_string())
    };
    (0..2_000).map(describe).collect()
}

#[tokio::test]
async fn two_thousand_flows_come_whole_by_the_contracts_method() {
    let github = GitHub::serving(two_thousand()).await;
    let mut session = Bench::github(&github).session().await;
    let answer = session.request("flows/list", json!({})).await;
    let listed = &answer["result"];
    assert_eq!((listed["flows"].as_array().unwrap().len(), &listed["total"]), (2_000, &json!(2_000)));
    assert!(listed.get("truncatedBy").is_none() && listed.get("nextCursor").is_none());
    assert!((300_000..1_000_000).contains(&answer.to_string().len()), "{}", answer.to_string().len());
    // A tool's answer holds its JSON twice: as much as a message holds, and a cursor for the rest.
    let page = session.ok("flows/list", json!({})).await;
    let first = page["flows"].as_array().unwrap().len();
    assert_eq!((&page["truncatedBy"], &page["total"]), (&json!("budget"), &json!(2_000)));
    assert!((1_500..2_000).contains(&first) && page["nextStep"].is_string(), "{first}");
    let rest = session.ok("flows/list", json!({"cursor": page["nextCursor"]})).await;
    assert_eq!(first + rest["flows"].as_array().unwrap().len(), 2_000);
    assert!(rest.get("truncatedBy").is_none());
}

#[tokio::test]
async fn a_flow_that_no_message_holds_comes_in_its_shortest_form() {
    let huge = json!({"metadata": {"name": "Huge", "description": "d ".repeat(300_000)},
                      "nodes": [{"id": "a", "type": "template", "data": {"template": "x"}}], "edges": []});
    let bench = Bench::folder([("flows/Huge.json".to_owned(), huge.to_string()), flow("Small", &[("n1", "T")], &[])]);
    let page = bench.session().await.ok("flows/list", json!({})).await;
    assert_eq!((&page["flows"][0]["name"], &page["flows"][0]["shortened"]), (&json!("Huge"), &json!(true)));
}

#[tokio::test]
async fn a_small_limit_is_kept_and_the_final_result_goes_last() {
    let bench = long();
    let mut session = bench.session().await;
    for most in [150, 400, 1_000, 5_000] {
        let done = session.ok("flows_execute", json!({"flowName": "Long", "maxTokens": most, "detail": "full"})).await;
        as_published(EXECUTE_RESPONSE, &done);
        let tokens = tiktoken_rs::o200k_base().unwrap().encode_ordinary(&done.to_string()).len();
        let said = done["nextStep"].as_str().unwrap();
        assert!(tokens <= most || said.contains("larger maxTokens"), "{tokens} of {most}: {done}");
        let rest = done["hint"].as_str().unwrap();
        assert!(rest.contains("flows_status") && done["truncated"] == json!(true));
        if most >= 400 {
            assert!(tokens <= most, "{tokens} of {most}: {done}");
        }
        let kept = |step: &Value| step["output"].as_str().map_or(0, |text| text.chars().count());
        let longest = done["intermediateResults"].as_array().unwrap().iter().map(kept).max().unwrap();
        assert!(longest <= 120, "outputs are at their shortest before the final result is cut: {longest}");
    }
}

/// A flow of so many steps that one more joins.
fn wide(steps: usize) -> (String, String) {
    let mut nodes: Vec<Value> = (0..steps)
        .map(|n| json!({"id": format!("s{n}"), "type": "template", "data": {"label": format!("Step {n}"), "template": "x"}}))
        .collect();
    let joined = (0..steps).map(|n| format!("{{s{n}_result}}")).collect::<Vec<_>>().join(" ");
    nodes.push(json!({"id": "join", "type": "template", "data": {"label": "Join", "template": joined}}));
    let edges: Vec<Value> = (0..steps).map(|n| json!({"source": format!("s{n}"), "target": "join"})).collect();
    let file = json!({"metadata": {"name": "Wide", "version": "1.0.0"}, "nodes": nodes, "edges": edges});
    ("flows/Wide.json".to_owned(), file.to_string())
}

#[tokio::test]
async fn a_refusal_of_any_size_of_flow_stays_short() {
    let names = (0..3_000).map(|n| format!("{{n{n}}}")).collect::<Vec<_>>().join(" ");
    let ring: Vec<String> = (0..900).map(|n| format!("s{n}")).collect();
    let nodes: Vec<(&str, &str)> = ring.iter().map(|id| (id.as_str(), "T")).collect();
    let edges: Vec<(&str, &str)> =
        (0..ring.len()).map(|n| (ring[n].as_str(), ring[(n + 1) % ring.len()].as_str())).collect();
    let files = [flow("Many", &[("n1", "Names")], &[]), template("Names", &names), flow("Ring", &nodes, &edges)];
    let mut session = Bench::folder(files.into_iter().chain([template("T", "x")])).session().await;
    for name in ["Many", "Ring"] {
        for tool in ["flows_execute", "flows_begin"] {
            let failed = session.failed(tool, json!({"flowName": name})).await;
            assert!(failed.to_string().chars().count() <= 10_000, "{name}: {}", failed.to_string().len());
            assert!(failed["details"]["leftOut"].is_object(), "{failed}");
        }
    }
    let failed = session.failed("flows_execute", json!({"flowName": "Many"})).await;
    as_published(EXECUTE_FAILURE, &failed);
    assert!(failed["message"].as_str().unwrap().ends_with("and 2,980 more"), "{failed}");
}

#[tokio::test]
async fn a_flow_is_shown_within_the_size_of_a_reply() {
    let files = [wide(900), flow("Long", &[("n1", "Long")], &[]), template("Long", &"long ".repeat(180_000))];
    let mut session = Bench::folder(files).session().await;
    for request in
        [json!({"name": "Wide"}), json!({"name": "Long", "detail": "full"}), json!({"name": "templates/Long.json"})]
    {
        let shown = session.call("flows_show", request.clone()).await["structuredContent"].clone();
        assert!(shown.to_string().len() < 90_000, "{request}: {}", shown.to_string().len());
        if shown["code"].is_null() {
            assert_eq!(shown["truncated"], json!(true), "{request}");
        }
    }
    let shown = session.ok("flows_show", json!({"name": "Wide"})).await;
    assert!(shown["steps"].as_array().unwrap().len() > 100, "{}", shown["leftOut"]);
    let more = session.ok("flows_show", json!({"name": "Wide", "maxTokens": 200_000})).await;
    assert_eq!(more["steps"].as_array().unwrap().len(), 901);
}

#[tokio::test]
async fn who_asks_for_a_finished_execution_gets_its_result() {
    let bench = Bench::folder([wide(300)]);
    let mut session = bench.session().await;
    let begun = session.ok("flows_execute", json!({"flowName": "Wide", "waitSeconds": 0})).await;
    assert!(begun["nextStep"].as_str().unwrap().contains("flows_status"), "{begun}");
    loop {
        let stands = session.ok("flows_status", json!({"executionId": begun["executionId"]})).await;
        if stands["state"] == "completed" {
            assert!(stands["finalResult"].as_str().unwrap().starts_with("x x"), "{stands}");
            assert!(stands["nextStep"].as_str().unwrap().contains("finalResult"), "{stands}");
            break;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_prompt_that_is_cut_says_so_in_its_text_and_first_in_what_comes_next() {
    let files = [flow("Long", &[("n1", "Long")], &[]), template("Long", &"long ".repeat(20_000))];
    let mut session = Bench::folder(files).session().await;
    let begun = session.ok("flows_begin", json!({"flowName": "Long"})).await;
    assert!(begun["step"]["prompt"].as_str().unwrap().ends_with("… [cut: 100000 characters in all]"), "{begun}");
    let next = begun["nextStep"].as_str().unwrap();
    assert!(next.starts_with("the prompt is cut: read all of it first, flows_status"), "{next}");
}
