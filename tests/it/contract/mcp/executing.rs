//! `flows_execute`, and the contract's TC-FLOW-EXEC.

use serde_json::{Value, json};

use super::{EXECUTE_FAILURE, EXECUTE_RESPONSE, LIST_RESPONSE, as_published};
use crate::support::github::GitHub;
use crate::support::mcp::{Bench, Session, flow, template};
use crate::support::tools::{Web, soon};

async fn over(files: Vec<(String, String)>) -> (GitHub, Bench, Session) {
    let github = GitHub::serving(files).await;
    let bench = Bench::github(&github);
    let session = bench.session().await;
    (github, bench, session)
}

fn two() -> Vec<(String, String)> {
    vec![
        flow("Two", &[("node-1", "First"), ("node-2", "Second")], &[("node-1", "node-2")]),
        template("First", "First for {company}"),
        template("Second", "Second after [{node1_result}]"),
    ]
}

fn ids(steps: &Value) -> Vec<&str> {
    steps.as_array().unwrap().iter().map(|step| step["nodeId"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn tc_flow_exec_001_two_nodes_run_in_order() {
    let (_github, _bench, mut session) = over(two()).await;
    let run = json!({"flowName": "Two", "initialVariables": {"company": "TechCorp"}, "detail": "full"});
    let done = session.ok("flows_execute", run).await;
    as_published(EXECUTE_RESPONSE, &done);
    assert_eq!((&done["status"], ids(&done["intermediateResults"])), (&json!("success"), vec!["node-1", "node-2"]));
    assert_eq!(done["finalResult"], json!("Second after [First for TechCorp]"));
    assert_eq!(done["intermediateResults"][0]["templateName"], json!("First"));
}

#[tokio::test]
async fn tc_flow_exec_002_the_second_node_reads_the_first_ones_result() {
    let (_github, _bench, mut session) = over(two()).await;
    let run = json!({"flowName": "Two", "initialVariables": {"company": "TechCorp"}, "detail": "full"});
    let done = session.ok("flows_execute", run).await;
    let [first, second] = [0, 1].map(|step| done["intermediateResults"][step].clone());
    assert_eq!(second["inputVariables"]["node1_result"], first["output"]);
    assert_eq!(first["inputVariables"], json!({"company": "TechCorp"}));
}

#[tokio::test]
async fn tc_flow_exec_003_a_missing_variable_is_named_before_anything_runs() {
    let mut session = Bench::examples().session().await;
    let run = json!({"flowName": "Marketing_Strategy", "initialVariables": {"company": "TechCorp", "market": "AI"}});
    let failed = session.failed("flows_execute", run).await;
    as_published(EXECUTE_FAILURE, &failed);
    assert_eq!((&failed["code"], &failed["source"]), (&json!("MISSING_VARIABLES"), &json!("flows/execute")));
    assert_eq!(failed["details"]["missing"], json!(["budget"]));
    let wanted = &failed["details"]["inputs"][0];
    assert_eq!((&wanted["name"], &wanted["type"]), (&json!("budget"), &json!("string")));
    assert!(failed["nextStep"].as_str().unwrap().contains(r#"{"budget":"…"}"#), "{failed}");
    assert!(failed["message"].as_str().unwrap().contains("budget"));
    assert_eq!((&failed["partialResults"], &failed["failedAt"]), (&json!([]), &json!(null)));
}

#[tokio::test]
async fn tc_flow_exec_004_an_unknown_template_keeps_what_ran_before_it() {
    let files = vec![
        flow("Gap", &[("node-1", "First"), ("node-2", "Nowhere")], &[("node-1", "node-2")]),
        template("First", "First for {company}"),
    ];
    let (_github, _bench, mut session) = over(files).await;
    let failed =
        session.failed("flows_execute", json!({"flowName": "Gap", "initialVariables": {"company": "TechCorp"}})).await;
    as_published(EXECUTE_FAILURE, &failed);
    assert_eq!((&failed["code"], &failed["status"]), (&json!("TEMPLATE_NOT_FOUND"), &json!("partial")));
    assert_eq!(failed["partialResults"][0]["output"], json!("First for TechCorp"));
    assert_eq!(failed["failedAt"]["nodeId"], json!("node-2"));
    assert!(failed["message"].as_str().unwrap().contains("Nowhere"), "{failed}");
}

#[tokio::test]
async fn tc_flow_exec_005_a_cycle_of_three_is_refused_before_anything_runs() {
    let files = vec![
        flow("Ring", &[("a", "T"), ("b", "T"), ("c", "T")], &[("a", "b"), ("b", "c"), ("c", "a")]),
        template("T", "text"),
    ];
    let (_github, _bench, mut session) = over(files).await;
    let failed = session.failed("flows_execute", json!({"flowName": "Ring"})).await;
    as_published(EXECUTE_FAILURE, &failed);
    assert_eq!((&failed["code"], &failed["partialResults"]), (&json!("CIRCULAR_DEPENDENCY"), &json!([])));
    assert_eq!(failed["details"]["cycle"], json!(["a", "b", "c", "a"]));
}

#[tokio::test]
async fn tc_flow_exec_006_a_failure_in_the_middle_keeps_the_first_and_points_at_the_second() {
    let mut files = vec![
        flow("Three", &[("n1", "First"), ("n2", "Broken"), ("n3", "First")], &[("n1", "n2"), ("n2", "n3")]),
        template("First", "fine"),
    ];
    files.push(("templates/Broken.json".to_owned(), "{\"template\": ".to_owned()));
    let (_github, _bench, mut session) = over(files).await;
    let failed = session.failed("flows_execute", json!({"flowName": "Three"})).await;
    as_published(EXECUTE_FAILURE, &failed);
    assert_eq!(ids(&failed["partialResults"]), ["n1"]);
    assert_eq!((&failed["failedAt"]["nodeId"], &failed["failedAt"]["templateName"]), (&json!("n2"), &json!(null)));
    assert_eq!(failed["skipped"], json!([{"nodeId": "n3", "because": "n2"}]));
    assert_eq!((&failed["status"], &failed["finalResult"]), (&json!("partial"), &json!(null)));
}

#[tokio::test]
async fn tc_flow_exec_007_marketing_strategy_gives_both_results_and_the_second_is_final() {
    let files = ["flows/Marketing_Strategy.json", "templates/Brand_Positioning.json", "templates/Campaign_Plan.json"];
    let read = |path: &&str| (path.to_string(), std::fs::read_to_string(path).unwrap());
    let (_github, _bench, mut session) = over(files.iter().map(read).collect()).await;
    let values = json!({"company": "TechCorp", "market": "AI", "budget": "100K"});
    let run = json!({"flowName": "Marketing_Strategy", "initialVariables": values, "detail": "full"});
    for name in ["flows_execute", "flows/execute"] {
        let done = session.ok(name, run.clone()).await;
        as_published(EXECUTE_RESPONSE, &done);
        assert_eq!((&done["status"], ids(&done["intermediateResults"])), (&json!("success"), vec!["node-1", "node-2"]));
        let [first, second] =
            [0, 1].map(|step| done["intermediateResults"][step]["output"].as_str().unwrap().to_owned());
        assert_eq!(done["finalResult"], json!(second));
        assert!(first.contains("TechCorp") && second.contains("100K") && second.contains(&first), "{second}");
    }
}

#[tokio::test]
async fn a_dry_run_shows_what_is_missing_and_executes_nothing() {
    let mut session = Bench::examples().session().await;
    let shown = session
        .ok("flows_execute", json!({"flowName": "Marketing_Strategy", "dryRun": true, "variables": {"company": "X"}}))
        .await;
    as_published(EXECUTE_RESPONSE, &shown);
    let missing: Vec<_> = shown["missing"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(missing, [json!("market"), json!("budget")]);
    assert_eq!(session.ok("flows_status", json!({})).await["total"], json!(0));
}

#[tokio::test]
async fn details_leave_out_what_was_not_asked_for() {
    let (_github, _bench, mut session) = over(two()).await;
    let run = |detail: &str| json!({"flowName": "Two", "initialVariables": {"company": "T"}, "detail": detail});
    let outputs = session.ok("flows_execute", run("outputs")).await;
    as_published(EXECUTE_RESPONSE, &outputs);
    assert!(outputs["intermediateResults"][0].get("inputVariables").is_none());
    let last = session.ok("flows_execute", run("final")).await;
    as_published(EXECUTE_RESPONSE, &last);
    assert!(last.get("intermediateResults").is_none() && last["finalResult"].is_string());
}

#[tokio::test]
async fn every_answer_says_what_it_gave_and_the_steps_are_told_where_they_are_asked_for() {
    let (_github, _bench, mut session) = over(two()).await;
    let run = json!({"flowName": "Two", "initialVariables": {"company": "T"}});
    let by_tool = session.ok("flows_execute", run.clone()).await;
    assert_eq!((&by_tool["detail"], by_tool.get("intermediateResults")), (&json!("final"), None));
    assert!(by_tool["nextStep"].as_str().unwrap().contains("flows_begin"), "{by_tool}");
    for name in ["flows/execute"] {
        let by_contract = session.ok(name, run.clone()).await;
        assert_eq!((by_contract.get("detail"), ids(&by_contract["intermediateResults"]).len()), (None, 2));
    }
    let by_method = session.request("flows/execute", run).await["result"].clone();
    assert_eq!(ids(&by_method["intermediateResults"]).len(), 2);
}

#[tokio::test]
async fn a_flow_made_for_guided_execution_is_partial_and_says_what_is_left_open() {
    let led = r#"{"metadata":{"name":"Led","version":"1.0.0"},"nodes":[
      {"id":"a","type":"template","data":{"label":"A","template":"Find {what}"}},
      {"id":"b","type":"template","data":{"label":"B","template":"Judge {a_result.risks} of {what}"}}],
      "edges":[{"source":"a","target":"b"}]}"#;
    let bench = Bench::folder([("flows/Led.json", led)]);
    let mut session = bench.session().await;
    let run = json!({"flowName": "Led", "initialVariables": {"what": "x"}});
    let done = session.ok("flows_execute", run).await;
    as_published(EXECUTE_RESPONSE, &done);
    assert_eq!(done["status"], json!("partial"));
    assert_eq!(done["unfilled"], json!([{"nodeId": "b", "placeholder": "a_result.risks"}]));
    assert!(done["nextStep"].as_str().unwrap().contains("flows_begin"), "{done}");
    let status = session.ok("flows_status", json!({"executionId": done["executionId"]})).await;
    assert_eq!((&status["status"], &status["state"]), (&json!("partial"), &json!("completed")));
    for mode in ["compact", "index", "standard", "detailed", "hot", "summaries", "full"] {
        let listed = session.ok("flows_list", json!({"mode": mode, "names": ["Led"]})).await;
        as_published(LIST_RESPONSE, &listed);
        let entry = &listed["flows"][0];
        let marked = entry["guided"] == json!(true) || entry.as_str().is_some_and(|line| line.ends_with("(guided)"));
        assert_eq!(marked, mode != "compact", "{mode}: {entry}");
    }
    assert_eq!(session.ok("flows_list", json!({"query": "Led"})).await["flows"][0]["guided"], json!(true));
    assert_eq!(session.ok("flows_show", json!({"name": "Led"})).await["guided"], json!(true));
    // What a caller gives as a text has no fields either, and that is no output of a step.
    let plain = json!({"flowName": "Plain", "initialVariables": {"who": "x"}});
    let text = r#"{"metadata":{"name":"Plain","version":"1.0.0"},"nodes":[{"id":"a","type":"template","data":{"template":"Hi {who.name}"}}],"edges":[]}"#;
    let done = Bench::folder([("flows/Plain.json", text)]).session().await.ok("flows_execute", plain).await;
    assert_eq!((&done["status"], done.get("unfilled")), (&json!("success"), None));
}

#[tokio::test]
async fn missing_values_are_told_with_the_sets_that_give_them() {
    let flow = r#"{"metadata":{"name":"Sets","version":"1.0.0","inputs":{"tone":{"type":"string","enum":["dry","warm"],"description":"How it sounds."}}},
      "nodes":[{"id":"a","type":"template","data":{"label":"A","template":"{tone} {who}","variables":[{"name":"tone"},{"name":"who"}],
        "variableValueSets":[{"name":"short","values":{"tone":"dry"}},{"name":"other","values":{"spare":"x"}}]}}],"edges":[]}"#;
    let bench = Bench::folder([("flows/Sets.json", flow)]);
    let mut session = bench.session().await;
    let failed = session.failed("flows_execute", json!({"flowName": "Sets"})).await;
    let details = &failed["details"];
    assert_eq!(details["variableSets"], json!(["short"]), "{failed}");
    assert_eq!(
        details["inputs"][0],
        json!({"name": "tone", "type": "string", "description": "How it sounds.", "enum": ["dry", "warm"]})
    );
    let shown = session.ok("flows_show", json!({"name": "Sets"})).await;
    let required: Vec<_> =
        shown["inputs"].as_array().unwrap().iter().map(|one| (&one["name"], &one["required"])).collect();
    assert_eq!(required, [(&json!("tone"), &json!(false)), (&json!("who"), &json!(true))]);
    let listed = session.ok("flows_list", json!({})).await;
    assert_eq!(
        listed["flows"][0]["inputSummary"],
        json!("tone (string, required, or from a set), who (string, required)")
    );
    let schema = session.request("resources/read", json!({"uri": "flow://schema/Sets"})).await;
    let schema: Value = serde_json::from_str(schema["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(schema["required"], json!(["who"]));
    let wrong = session.failed("flows_execute", json!({"flowName": "Sets", "initialVariables": ["x"]})).await;
    assert!(wrong["nextStep"].as_str().unwrap().contains(r#"{"topic": "…"}"#), "{wrong}");
}

#[tokio::test]
async fn stopping_at_a_failure_leaves_other_branches_undone() {
    let files = || {
        let nodes = [("a", "Nowhere"), ("b", "T"), ("c", "T")];
        vec![flow("Fork", &nodes, &[("b", "c")]), template("T", "text")]
    };
    let (_github, _bench, mut session) = over(files()).await;
    let on = session.failed("flows_execute", json!({"flowName": "Fork", "onFailure": "continue"})).await;
    assert_eq!(ids(&on["partialResults"]), ["b", "c"]);
    let stopped = session.failed("flows_execute", json!({"flowName": "Fork", "onFailure": "stop"})).await;
    assert!(ids(&stopped["partialResults"]).len() < 2, "{stopped}");
}

#[tokio::test]
async fn an_execution_is_found_again_by_its_id() {
    let (_github, bench, mut session) = over(two()).await;
    let run = json!({"flowName": "Two", "initialVariables": {"company": "T"}});
    let done = session.ok("flows_execute", run).await;
    let id = done["executionId"].clone();
    let status = session.ok("flows_status", json!({"executionId": id, "include": ["steps"]})).await;
    assert_eq!((&status["state"], &status["progress"]), (&json!("completed"), &json!("100%")));
    assert_eq!(status["finalResult"], done["finalResult"]);
    let listed = session.ok("flows_status", json!({"flowName": "Two", "state": "completed"})).await;
    assert_eq!(listed["executions"][0]["executionId"], id);
    let text = session.ok("flows_status", json!({"executionId": id, "nodeId": "result"})).await;
    assert_eq!((&text["nodeId"], &text["text"]), (&json!("node-2"), &done["finalResult"]));
    bench.clock.advance(std::time::Duration::from_mins(61));
    let gone = session.failed("flows_status", json!({"executionId": id})).await;
    assert_eq!((&gone["code"], &gone["source"]), (&json!("EXECUTION_NOT_FOUND"), &json!("flows/status")));
}

#[tokio::test]
async fn what_is_not_waited_for_goes_on_and_is_found_again() {
    let nodes: Vec<String> = (0..300).map(|n| format!("n{n}")).collect();
    let all: Vec<(&str, &str)> = nodes.iter().map(|id| (id.as_str(), "T")).collect();
    let edges: Vec<(&str, &str)> = all.windows(2).map(|pair| (pair[0].0, pair[1].0)).collect();
    let bench = Bench::folder([flow("Long", &all, &edges), template("T", "x")]);
    let mut session = bench.session().await;
    let run = json!({"flowName": "Long", "waitSeconds": 0, "detail": "final"});
    let answered = session.ok("flows_execute", run).await;
    as_published(EXECUTE_RESPONSE, &answered);
    assert!(["running", "success"].contains(&answered["status"].as_str().unwrap()), "{answered}");
    let ask = json!({"executionId": answered["executionId"]});
    let mut status = session.ok("flows_status", ask.clone()).await;
    while status["state"] == json!("running") {
        tokio::task::yield_now().await;
        status = session.ok("flows_status", ask.clone()).await;
    }
    assert_eq!((&status["state"], &status["stepsDone"]), (&json!("completed"), &json!(300)));
}

#[tokio::test]
async fn an_execution_on_its_way_says_how_many_steps_it_has_and_one_whose_call_was_taken_back_says_so() {
    let stuck = r#"{"metadata":{"name":"Stuck","version":"1.0.0"},"nodes":[{"id":"a","type":"tool","data":{"call":"web:stuck"}},
      {"id":"b","type":"template","data":{"template":"{a_result}"}}],"edges":[{"source":"a","target":"b"}]}"#;
    let web = std::sync::Arc::new(Web::default());
    let bench = Bench::folder([("flows/Stuck.json", stuck)]).calling(web.clone());
    let mut session = bench.session().await;
    let begun = session.ok("flows_execute", json!({"flowName": "Stuck", "waitSeconds": 0})).await;
    assert_eq!((&begun["stepsDone"], &begun["stepsTotal"], &begun["progress"]), (&json!(0), &json!(2), &json!("0%")));
    web.go.notify_one();
    let arguments = json!({"name": "flows_execute", "arguments": {"flowName": "Stuck"}});
    let id = session.ask("tools/call", arguments).await;
    while web.calls() < 2 {
        tokio::task::yield_now().await;
    }
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}})).await;
    let states = soon(async {
        loop {
            let list = session.ok("flows_status", json!({})).await;
            let states: Vec<Value> =
                list["executions"].as_array().unwrap().iter().map(|one| one["state"].clone()).collect();
            if !states.contains(&json!("running")) {
                return states;
            }
        }
    });
    assert_eq!(states.await, [json!("interrupted"), json!("completed")]);
}

#[tokio::test]
async fn a_node_alone_says_that_an_execution_is_missing() {
    let mut session = Bench::examples().session().await;
    let failed = session.failed("flows_status", json!({"nodeId": "n1"})).await;
    assert_eq!((&failed["code"], &failed["details"]["argument"]), (&json!("INVALID_REQUEST"), &json!("executionId")));
}

#[tokio::test]
async fn a_flow_is_shown_as_it_would_run_or_as_a_drawing() {
    let mut session = Bench::examples().session().await;
    let shown = session.ok("flows_show", json!({"name": "Marketing_Strategy"})).await;
    let inputs: Vec<_> = shown["inputs"].as_array().unwrap().iter().map(|input| input["name"].clone()).collect();
    assert_eq!(inputs, [json!("company"), json!("market"), json!("budget")]);
    assert_eq!(shown["executable"], json!(true));
    let drawn = session.call("flows_show", json!({"flowName": "Marketing_Strategy", "format": "mermaid"})).await;
    assert!(drawn["content"][0]["text"].as_str().unwrap().starts_with("flowchart TD\n"), "{drawn}");
    assert!(drawn.get("structuredContent").is_none());
    let template = session.ok("flows_show", json!({"name": "Campaign_Plan"})).await;
    assert_eq!(template["kind"], json!("template"));
    let failed = session.failed("flows_show", json!({"name": "Campaign_Plan", "format": "mermaid"})).await;
    assert_eq!((&failed["code"], &failed["source"]), (&json!("INVALID_REQUEST"), &json!("flows/show")));
    let unknown = session.failed("flows_show", json!({"name": "Marketing_Strategi"})).await;
    assert_eq!(unknown["code"], json!("FLOW_NOT_FOUND"));
    assert!(unknown["nextStep"].as_str().unwrap().contains("Marketing_Strategy"), "{unknown}");
}
