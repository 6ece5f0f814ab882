//! Flows that are asked for by a name that differs from theirs in case, blanks, `-` and `_` alone.

use serde_json::{Value, json};

use crate::support::mcp::{Bench, flow, template};

/// The warnings of an answer that tell which flow was used.
fn inexact(answer: &Value) -> Vec<&str> {
    let warnings = answer["warnings"].as_array().into_iter().flatten();
    let inexact = warnings.filter(|warning| warning["code"] == json!("INEXACT_NAME"));
    inexact.map(|warning| warning["message"].as_str().unwrap()).collect()
}

fn bench() -> Bench {
    let text = |name: &str| flow(name, &[("n1", "Text")], &[]);
    let outer = json!({"metadata": {"name": "Outer", "version": "1.0.0"}, "edges": [],
        "nodes": [{"id": "it", "type": "flow", "data": {"label": "It", "flow": "RELEASE notes"}}]});
    Bench::folder([
        text("Release Notes"),
        text("Cold-Email"),
        text("Tea"),
        text("tea"),
        text("Weekly Report"),
        template("Text", "Hello"),
        template("weekly_report", "A template"),
        ("flows/Outer.json".to_owned(), outer.to_string()),
        ("flows/broken_one.json".to_owned(), "{".to_owned()),
        text("Broken One"),
    ])
}

#[tokio::test]
async fn the_only_flow_of_such_a_name_is_used_and_named_in_a_warning() {
    let mut session = bench().session().await;
    for (asked, meant) in [("release_notes", "Release Notes"), ("cold email", "Cold-Email"), ("OUTER", "Outer")] {
        let shown = session.ok("flows_show", json!({"name": asked})).await;
        assert_eq!(shown["name"], json!(meant), "{shown}");
        let executed = session.ok("flows_execute", json!({"flowName": asked})).await;
        assert_eq!(executed["status"], json!("success"), "{executed}");
        let begun = session.ok("flows_begin", json!({"flowName": asked})).await;
        let rehearsed = session.ok("flows_execute", json!({"flowName": asked, "dryRun": true})).await;
        for answer in [&shown, &executed, &begun, &rehearsed] {
            let told = inexact(answer);
            assert!(told.first().is_some_and(|told| told.contains(&format!("\"{meant}\""))), "{answer}");
        }
        let prompt = session.request("prompts/get", json!({"name": asked})).await;
        let described = prompt["result"]["description"].as_str().unwrap_or_else(|| panic!("{prompt}"));
        assert!(described.contains(&format!("\"{meant}\"")), "{prompt}");
        let exact = session.ok("flows_execute", json!({"flowName": meant})).await;
        assert!(inexact(&exact).iter().all(|told| told.starts_with("node")), "{exact}");
    }
    let listed = session.ok("flows_list", json!({"names": ["release_notes"]})).await;
    assert_eq!(listed["flows"][0]["name"], json!("Release Notes"), "{listed}");
}

#[tokio::test]
async fn whoever_asks_by_the_name_within_a_file_is_told_the_listed_one() {
    let within = |stem: &str, name: &str| (format!("flows/{stem}.json"), flow(name, &[("n1", "Text")], &[]).1);
    let files = [within("Otherwise", "Something Else"), within("Tea_Time", "tea-time"), template("Text", "Hello")];
    let mut session = Bench::folder(files).session().await;
    for (asked, listed, told) in [
        ("Something Else", "Otherwise", Some("\"Something Else\" is the name within flows/Otherwise.json")),
        ("Otherwise", "Otherwise", None),
        ("tea-time", "Tea_Time", None),
    ] {
        let shown = session.ok("flows_show", json!({"name": asked})).await;
        assert_eq!(shown["name"], listed, "{shown}");
        assert_eq!(
            inexact(&shown).first().is_some_and(|one| told.is_some_and(|told| one.starts_with(told))),
            told.is_some()
        );
        assert_eq!(inexact(&shown).is_empty(), told.is_none(), "{shown}");
    }
}

#[tokio::test]
async fn a_flow_that_is_shown_names_the_steps_that_are_bound_to_fail() {
    let step = |id: &str, kind: &str, data: Value| json!({"id": id, "type": kind, "data": data});
    let file = json!({"metadata": {"name": "Tool", "version": "1.0.0"},
        "nodes": [step("read", "tool", json!({"call": "files:read"})), step("say", "template", json!({"template": "{read_result}"}))],
        "edges": [{"source": "read", "target": "say"}]});
    let mut session = Bench::folder([("flows/Tool.json", file.to_string())]).session().await;
    let shown = session.ok("flows_show", json!({"name": "Tool"})).await;
    assert_eq!((&shown["executable"], &shown["failingSteps"]), (&json!(true), &json!(["read"])), "{shown}");
    assert!(shown["nextStep"].as_str().unwrap().contains("\"read\""), "{shown}");
}

#[tokio::test]
async fn a_step_that_names_another_flow_so_goes_through_it_and_says_so() {
    let mut session = bench().session().await;
    let executed = session.ok("flows_execute", json!({"flowName": "Outer"})).await;
    assert_eq!(executed["finalResult"], json!("Hello"), "{executed}");
    assert_eq!((inexact(&executed).len(), &executed["warnings"][0]["nodeId"]), (1, &json!("it")), "{executed}");
    let shown = session.ok("flows_show", json!({"name": "Outer"})).await;
    assert_eq!(shown["findings"][0]["rule"], json!("inexact-name"), "{shown}");
}

#[tokio::test]
async fn one_of_several_a_misspelt_one_and_what_is_spelt_so_otherwise_are_not_taken_for_it() {
    let mut session = bench().session().await;
    for (asked, code) in [
        ("TEA", "AMBIGUOUS_NAME"),
        ("release_note", "FLOW_NOT_FOUND"),
        ("releasenotes", "FLOW_NOT_FOUND"),
        ("weekly_report", "FLOW_NOT_FOUND"),
        ("broken_one", "PARSE_ERROR"),
    ] {
        let failed = session.failed("flows_execute", json!({"flowName": asked})).await;
        assert_eq!(failed["code"], json!(code), "{failed}");
    }
    let failed = session.failed("flows_show", json!({"name": "TEA"})).await;
    let told = failed.to_string();
    assert!(told.contains("flows/Tea.json") && told.contains("flows/tea.json"), "{told}");
    let shown = session.ok("flows_show", json!({"name": "weekly_report"})).await;
    assert!(shown.to_string().contains("A template"), "{shown}");
}
