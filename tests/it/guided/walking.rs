//! The way from begin to the final result.

use serde_json::{Value, json};

use super::{begin, begun, bench, catalog, complete, completing, output, status, until};
use crate::support::github::GitHub;
use crate::support::mcp::Session;
use crate::support::mcp::{Bench, stateless};

#[tokio::test]
async fn a_flow_is_walked_from_its_first_step_to_its_final_result() {
    let (mut session, begun) = begun().await;
    let step = &begun["step"];
    assert_eq!((&step["id"], &step["index"], &step["of"]), (&json!("design"), &json!(1), &json!(6)));
    assert_eq!((&step["label"], &step["task"]), (&json!("Design"), &json!("Add login.")));
    assert_eq!(step["prompt"], "Design login.");
    assert_eq!(step["context"], json!({"inputs": {"feature": "login"}, "answers": []}));
    assert_eq!(step["persona"]["instructions"], "You are an architect. Decide little, and say why.");
    assert_eq!(step["contract"]["anyOf"], json!([{"required": ["summary"]}, {"required": ["result"]}]));
    assert!(step["example"]["summary"].is_string() && step["attempt"] == json!(1), "{step}");
    assert_eq!((&begun["ready"], &begun["progress"], &begun["state"]), (&json!([]), &json!("0%"), &json!("running")));
    assert!(begun["rules"].as_str().unwrap().contains("flows_complete_step"));
    assert!(begun["nextStep"].as_str().unwrap().contains(begun["executionId"].as_str().unwrap()));

    let code = complete(&mut session, &begun).await;
    assert_eq!((&code["stepCompleted"], &code["validation"]), (&json!("design"), &json!({"status": "passed"})));
    assert_eq!(code["step"]["prompt"], "Code: THE PLAN");
    assert_eq!(code["step"]["previousOutput"]["design"]["summary"], "A plan.");
    assert_eq!(code["step"]["contract"]["required"], json!(["title", "files"]));
    assert_eq!((&code["ready"], &code["completedSteps"]), (&json!(["docs"]), &json!(["design"])));

    let docs = complete(&mut session, &code).await;
    // The join waits for both branches, and the role is the one the model had.
    assert_eq!((&docs["step"]["id"], &docs["ready"]), (&json!("docs"), &json!([])));
    assert_eq!(docs["step"]["persona"]["name"], "implementer");
    assert_eq!(docs["step"]["persona"].get("instructions"), None);
    assert_eq!(docs["step"]["persona"]["hash"], code["step"]["persona"]["hash"]);

    let review = complete(&mut session, &docs).await;
    assert_eq!(review["step"]["prompt"], "Review THE CHANGE and Documented.");
    assert_eq!(review["step"]["persona"]["instructions"], "You are a reviewer. Find what is wrong.");
    let fix = complete(&mut session, &review).await;
    assert_eq!((&fix["step"]["prompt"], fix["step"].get("persona")), (&json!("Fix Looks fine."), None));
    let sum = complete(&mut session, &fix).await;
    let done = complete(&mut session, &sum).await;
    assert_eq!((&done["status"], &done["state"]), (&json!("completed"), &json!("completed")));
    assert_eq!((&done["finalResult"], done.get("results")), (&json!("THE END"), None));
    assert_eq!((&done["progress"], done.get("step"), done.get("stepToken")), (&json!("100%"), None, None));
    assert_eq!(done["completedSteps"], json!(["design", "code", "docs", "review", "fix", "sum"]));

    let told = status(&mut session, &begun, &["steps", "artifacts", "prompts", "events"]).await;
    assert_eq!(told["artifacts"][0]["nodeId"], "fix");
    assert_eq!(told["prompts"].as_array().unwrap().len(), 6);
    assert_eq!(told["events"][0]["event"], "begun");
    let text = json!({"executionId": begun["executionId"], "nodeId": "fix/artifacts/0"});
    assert_eq!(session.ok("flows_status", text).await["text"], "fn a() {}");
}

#[tokio::test]
async fn both_kinds_of_execution_take_the_steps_in_the_same_order() {
    let mut session = bench().session().await;
    let mut answer = begin(&mut session).await;
    let mut handed = Vec::new();
    while let Some(step) = answer["step"]["id"].as_str() {
        handed.push(json!(step));
        answer = complete(&mut session, &answer).await;
    }
    let request = json!({"flowName": "Feature", "initialVariables": {"feature": "login"}, "detail": "outputs"});
    let direct = session.ok("flows_execute", request).await;
    let done: Vec<Value> =
        direct["intermediateResults"].as_array().unwrap().iter().map(|step| step["nodeId"].clone()).collect();
    assert_eq!(handed, done);
    // Its steps ask for a model that there is not; the answer says who has one.
    assert!(direct["nextStep"].as_str().unwrap().contains("flows_begin"), "{direct}");
    let listed = session.ok("flows_status", json!({})).await;
    assert_eq!((&listed["total"], listed["executions"].as_array().unwrap().len()), (&json!(2), 2));
    let awaited = session.ok("flows_status", json!({"state": ["awaiting_human"]})).await;
    assert_eq!(awaited["total"], json!(0));
}

#[tokio::test]
async fn the_model_may_choose_among_the_ready_steps() {
    let (mut session, begun) = begun().await;
    let mut closing = completing(&begun, output("design"));
    closing["next"] = json!("review");
    let refused = session.failed("flows_complete_step", closing.clone()).await;
    assert_eq!((&refused["code"], &refused["details"]["ready"]), (&json!("INVALID_REQUEST"), &json!(["code", "docs"])));
    closing["next"] = json!("docs");
    let docs = session.ok("flows_complete_step", closing).await;
    assert_eq!((&docs["step"]["id"], &docs["ready"]), (&json!("docs"), &json!(["code"])));
    let code = complete(&mut session, &docs).await;
    assert_eq!(code["step"]["id"], "code");
    assert_eq!(complete(&mut session, &code).await["step"]["id"], "review");
}

#[tokio::test]
async fn a_failed_step_takes_along_what_depends_on_it_and_the_others_go_on() {
    let (mut session, begun) = begun().await;
    let code = until(&mut session, begun, "code").await;
    let mut closing = completing(&code, json!({"reason": "The compiler is broken."}));
    closing["outcome"] = json!("failed");
    let docs = session.ok("flows_complete_step", closing).await;
    assert_eq!((&docs["stepCompleted"], &docs["outcome"]), (&json!("code"), &json!("failed")));
    assert_eq!(docs["step"]["id"], "docs");
    assert_eq!(docs["failures"][0]["error"]["message"], "The compiler is broken.");
    let ended = complete(&mut session, &docs).await;
    assert_eq!((&ended["state"], &ended["finalResult"]), (&json!("failed"), &Value::Null));
    assert_eq!(ended["skipped"][0], json!({"nodeId": "review", "because": "code"}));
    assert_eq!(ended["completedSteps"], json!(["design", "docs"]));
}

#[tokio::test]
async fn nothing_there_at_the_end_is_a_failed_execution() {
    let (mut session, begun) = begun().await;
    let mut closing = completing(&begun, json!({}));
    closing["outcome"] = json!("failed");
    // Whoever ends an execution says why.
    let refused = session.failed("flows_complete_step", closing.clone()).await;
    assert_eq!(
        (&refused["code"], &refused["details"]["argument"]),
        (&json!("INVALID_REQUEST"), &json!("output.reason"))
    );
    closing["output"] = json!("No idea.");
    let ended = session.ok("flows_complete_step", closing).await;
    assert_eq!((&ended["state"], &ended["progress"]), (&json!("failed"), &json!("0%")));
    let listed = session.ok("flows_status", json!({"state": ["failed"]})).await;
    assert_eq!(listed["executions"][0]["executionId"], begun["executionId"]);
    // A list is asked for as loosely as a flow is.
    let name = begun["flowName"].as_str().unwrap();
    let loosely = name.replace('_', " ").to_lowercase();
    let listed = session.ok("flows_status", json!({"flowName": loosely})).await;
    assert_eq!(listed["executions"][0]["executionId"], begun["executionId"], "{listed}");
    let listed = session.ok("flows_status", json!({"flowName": name.replacen('e', "", 1)})).await;
    assert_eq!(listed["total"], 0);
    assert!(listed["nextStep"].as_str().unwrap().contains(name), "{listed}");
}

#[tokio::test]
async fn only_an_optional_step_may_be_left_out_and_what_reads_it_goes_along() {
    let (mut session, begun) = begun().await;
    let mut closing = completing(&begun, json!({"reason": "Boring."}));
    closing["outcome"] = json!("skipped");
    assert_eq!(session.failed("flows_complete_step", closing).await["code"], "INVALID_REQUEST");
    let docs = until(&mut session, begun, "docs").await;
    assert_eq!(docs["step"]["optional"], json!(true));
    for silent in [Value::Null, json!(""), json!({"reason": " "}), json!({})] {
        let mut closing = completing(&docs, silent);
        closing["outcome"] = json!("skipped");
        let refused = session.failed("flows_complete_step", closing).await;
        assert_eq!(refused["details"]["argument"], json!("output.reason"), "{refused}");
    }
    let mut closing = completing(&docs, json!({"reason": "Nobody reads it."}));
    closing["outcome"] = json!("skipped");
    let ended = session.ok("flows_complete_step", closing).await;
    // The review reads the documentation, and everything after reads the review.
    assert_eq!(ended["omitted"][0], json!({"nodeId": "docs", "because": "docs", "reason": "Nobody reads it."}));
    assert_eq!((&ended["state"], ended["omitted"].as_array().unwrap().len()), (&json!("failed"), 4));
    let next = ended["nextStep"].as_str().unwrap();
    assert!(next.contains("\"docs\", which was left out") && !next.contains("failures"), "{next}");
    assert_eq!(ended.get("failures"), None);
}

#[tokio::test]
async fn a_push_in_the_middle_changes_nothing_for_what_has_begun() {
    let github = GitHub::serving(catalog()).await;
    let bench = Bench::github(&github);
    let mut session = bench.session().await;
    let begun = begin(&mut session).await;
    assert_eq!(begun["commit"], json!(github.head()));
    for gone in ["flows/Feature.json", "contracts/change.json", "personas/reviewer.md"] {
        github.put(gone, None);
    }
    let mut session = bench.again().session().await;
    assert_eq!(session.ok("flows_list", json!({"refresh": true})).await["total"], json!(0));
    let review = until(&mut session, begun.clone(), "review").await;
    assert_eq!(review["step"]["persona"]["instructions"], "You are a reviewer. Find what is wrong.");
    let mut answer = review;
    while answer.get("step").is_some() {
        answer = complete(&mut session, &answer).await;
    }
    assert_eq!(answer["finalResult"], "THE END");
    let refused =
        session.failed("flows_begin", json!({"flowName": "Feature", "initialVariables": {"feature": "x"}})).await;
    assert_eq!(refused["code"], "FLOW_NOT_FOUND");
}

#[tokio::test]
async fn what_has_errors_does_not_begin_and_leaves_nothing_behind() {
    let one = |node: &str| format!(r#"{{"metadata":{{"name":"X","version":"1.0.0"}},"nodes":[{node}],"edges":[]}}"#);
    let bad = [
        (
            "Roleless",
            one(r#"{"id":"a","type":"template","data":{"label":"A","template":"A","persona":"nobody"}}"#),
            "nobody",
        ),
        (
            "Shapeless",
            one(r#"{"id":"a","type":"template","data":{"label":"A","template":"A","contract":{"type":"shape"}}}"#),
            "contract",
        ),
        (
            "Remote",
            one(
                r#"{"id":"a","type":"template","data":{"label":"A","template":"A","contract":{"$ref":"https://example.com/x.json"}}}"#,
            ),
            "contract",
        ),
        (
            "Cursed",
            one(r#"{"id":"a","type":"template","data":{"label":"A","template":"A","persona":"cursed"}}"#),
            "U+001B",
        ),
        ("Tooled", one(r#"{"id":"a","type":"tool","data":{"label":"A","call":"x:y"}}"#), "tool"),
    ];
    let mut files: Vec<(String, String)> =
        bad.iter().map(|(name, text, _)| (format!("flows/{name}.json"), text.clone())).collect();
    files.push(("personas/cursed.md".to_owned(), "You \u{1b}[31mare red.".to_owned()));
    let bench = Bench::folder(files);
    let mut session = bench.session().await;
    for (name, _, word) in bad {
        let refused = session.failed("flows_begin", json!({"flowName": name})).await;
        assert_eq!(refused["code"], refused["details"]["findings"][0]["code"], "{refused}");
        let findings = refused["details"]["findings"].to_string();
        assert!(findings.contains(word) && !findings.contains('\u{1b}'), "{name}: {refused}");
        assert!(refused["nextStep"].is_string());
    }
    let missing = session.failed("flows_begin", json!({"flowName": "None"})).await;
    assert_eq!(missing["code"], "FLOW_NOT_FOUND");
    assert!(!bench.store().exists(), "nothing began");
}

#[tokio::test]
async fn missing_values_are_all_named_before_anything_begins() {
    let bench = bench();
    let mut session = bench.session().await;
    let refused = session.failed("flows_begin", json!({"flowName": "Feature"})).await;
    assert_eq!((&refused["code"], &refused["details"]["missing"]), (&json!("MISSING_VARIABLES"), &json!(["feature"])));
    assert!(!bench.store().exists());
}

#[tokio::test]
async fn clients_without_sessions_are_handed_the_same() {
    let bench = bench();
    let mut session = Session::raw(bench.app.clone());
    let arguments = json!({"flowName": "Feature", "initialVariables": {"feature": "login"}});
    let asked = json!({"name": "flows_begin", "arguments": arguments, "_meta": stateless()});
    let answer = session.request("tools/call", asked).await;
    assert_eq!(answer["result"]["structuredContent"]["step"]["id"], "design", "{answer}");
}

#[tokio::test]
async fn both_kinds_put_the_same_values_into_the_same_texts() {
    let mut session = Bench::examples().session().await;
    let given = json!({"product": "Kettle", "launch_date": "1 May", "notes": "It boils {fast}."});
    let request = json!({"flowName": "Launch_Brief", "initialVariables": given});
    let direct = session.ok("flows/execute", request.clone()).await;
    let mut answer = session.ok("flows_begin", request).await;
    // Whoever hands in the prompt itself does what the direct execution does.
    for step in direct["intermediateResults"].as_array().unwrap() {
        assert_eq!((&answer["step"]["id"], &answer["step"]["prompt"]), (&step["nodeId"], &step["output"]));
        let output = answer["step"]["prompt"].clone();
        let token = &answer["stepToken"];
        let complete = json!({"executionId": answer["executionId"], "stepToken": token, "output": output});
        answer = session.ok("flows_complete_step", complete).await;
    }
    assert_eq!((&answer["state"], &answer["finalResult"]), (&json!("completed"), &direct["finalResult"]));
}
