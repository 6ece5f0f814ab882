//! What models hand in, and what is wrong with it.

use serde_json::{Value, json};

use super::{begun, begun_on_bench, complete, completing, entries, output, status, until};
use crate::support::mcp::Bench;

#[tokio::test]
async fn a_breach_names_every_place_and_the_token_stays_good() {
    let (mut session, begun) = begun().await;
    let code = until(&mut session, begun, "code").await;
    let wrong = json!({"title": "", "files": ["a.rs", 7], "risk": "some"});
    let refused = session.failed("flows_complete_step", completing(&code, wrong)).await;
    assert_eq!((&refused["code"], &refused["details"]["attempts"]), (&json!("CONTRACT_VIOLATION"), &json!(1)));
    let paths: Vec<&str> =
        refused["details"]["issues"].as_array().unwrap().iter().map(|issue| issue["path"].as_str().unwrap()).collect();
    assert_eq!(paths, ["output.title", "output.files[1]", "output.risk"]);
    assert_eq!(refused["details"]["expectedSchema"]["required"], json!(["title", "files"]));
    assert!(refused["nextStep"].as_str().unwrap().contains("same stepToken"));
    // The example is an output that is taken.
    let example = refused["details"]["example"].clone();
    let next = session.ok("flows_complete_step", completing(&code, example)).await;
    assert_eq!(next["stepCompleted"], "code");
    let told = status(&mut session, &code, &["events", "steps"]).await;
    assert_eq!(told["events"].as_array().unwrap().iter().filter(|event| event["event"] == "breached").count(), 1);
    assert_eq!(told["steps"][1]["attempts"], json!(2));
}

#[tokio::test]
async fn every_sentence_about_a_breach_reads_after_its_path() {
    let (mut session, begun) = begun().await;
    let wrong = json!({"confidence": 3, "summary": 1, "findings": [{"severity": "bad"}], "artifacts": "none"});
    let refused = session.failed("flows_complete_step", completing(&begun, wrong)).await;
    let issues = refused["details"]["issues"].as_array().unwrap();
    assert!(issues.len() >= 5, "{refused}");
    for issue in issues {
        let message = issue["message"].as_str().unwrap();
        assert!(message.starts_with("is ") || message.starts_with("has ") || message.starts_with("must "), "{issue}");
    }
}

#[tokio::test]
async fn after_the_last_attempt_the_advice_is_to_ask_a_person() {
    let (mut session, begun) = begun().await;
    for attempt in 1..=6 {
        let refused = session.failed("flows_complete_step", completing(&begun, json!({"sumary": "x"}))).await;
        assert_eq!((&refused["details"]["attempts"], &refused["details"]["maxAttempts"]), (&json!(attempt), &json!(5)));
        assert_eq!(refused["nextStep"].as_str().unwrap().contains("flows_escalate"), attempt >= 5, "{refused}");
    }
    assert!(status(&mut session, &begun, &[]).await["nextStep"].as_str().unwrap().contains("flows_escalate"));
    // It is advice; a good output is still taken.
    assert_eq!(complete(&mut session, &begun).await["stepCompleted"], "design");
}

#[tokio::test]
async fn plain_text_is_fine_unless_a_contract_of_the_step_wants_an_object() {
    let (mut session, begun) = begun().await;
    let code = session.ok("flows_complete_step", completing(&begun, json!("Just do it."))).await;
    assert_eq!(code["step"]["prompt"], "Code: Just do it.");
    let refused = session.failed("flows_complete_step", completing(&code, json!("Done."))).await;
    assert_eq!(refused["code"], "CONTRACT_VIOLATION");
    assert_eq!(refused["details"]["issues"][0]["path"], "output");
    // A text that holds the object is meant as the object.
    let text = json!(output("code").to_string());
    assert_eq!(session.ok("flows_complete_step", completing(&code, text)).await["stepCompleted"], "code");
}

#[tokio::test]
async fn what_is_too_large_too_deep_or_nothing_is_refused_and_not_kept() {
    let (mut session, begun) = begun().await;
    let kept = entries(&mut session, &begun).await;
    let large = json!({"summary": "s", "result": "x".repeat(10_000_000)});
    let refused = session.failed("flows_complete_step", completing(&begun, large)).await;
    assert_eq!(refused["code"], "LIMIT_EXCEEDED", "{}", refused["message"]);
    assert!(refused.to_string().len() < 10_000);
    for nothing in [Value::Null, json!("")] {
        let refused = session.failed("flows_complete_step", completing(&begun, nothing)).await;
        assert!(["INVALID_REQUEST", "CONTRACT_VIOLATION"].contains(&refused["code"].as_str().unwrap()), "{refused}");
    }
    assert_eq!(entries(&mut session, &begun).await, kept);
    let mut deep = json!(1);
    for _ in 0..110 {
        deep = json!([deep]);
    }
    let refused =
        session.failed("flows_complete_step", completing(&begun, json!({"summary": "s", "result": deep}))).await;
    assert!(refused["message"].as_str().unwrap().contains("nested"), "{refused}");
    assert_eq!(complete(&mut session, &begun).await["stepCompleted"], "design");
}

#[tokio::test]
async fn numbers_keep_their_digits_and_objects_their_order() {
    let (bench, mut session, begun) = begun_on_bench().await;
    let exact = r#"{"z": 1.10, "a": 123456789012345678901234567890, "m": 0}"#;
    let exact: Value = serde_json::from_str(exact).unwrap();
    let closing = completing(&begun, json!({"summary": "s", "result": exact}));
    let code = session.ok("flows_complete_step", closing).await;
    let text = r#"{"z":1.10,"a":123456789012345678901234567890,"m":0}"#;
    assert_eq!(code["step"]["prompt"], json!(format!("Code: {text}")));
    let mut other = bench.again().session().await;
    assert_eq!(status(&mut other, &begun, &[]).await["step"]["prompt"], code["step"]["prompt"]);
}

#[tokio::test]
async fn a_long_prompt_is_cut_in_the_reply_and_paged_whole() {
    let flow = r#"{"metadata":{"name":"Feature","version":"1.0.0"},"nodes":[{"id":"design","type":"template","data":{"label":"D","template":"{feature}"}}],"edges":[]}"#;
    let bench = Bench::folder([("flows/Feature.json", flow)]);
    let mut session = bench.session().await;
    let long = (0..60_000).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
    let given = json!({"flowName": "Feature", "initialVariables": {"feature": long.clone()}});
    let begun = session.ok("flows_begin", given).await;
    assert_eq!(begun["step"]["promptLength"], json!(long.chars().count()));
    assert!(begun["step"]["restOfPrompt"].as_str().unwrap().contains("flows_status"));
    let (mut whole, mut cursor) = (String::new(), Value::Null);
    loop {
        let page = json!({"executionId": begun["executionId"], "nodeId": "design", "limit": 100_000, "cursor": cursor});
        let page = session.ok("flows_status", page).await;
        whole.push_str(page["text"].as_str().unwrap());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert!(whole == long, "the pages are not the prompt");
}

#[tokio::test]
async fn findings_name_their_step_and_the_worst_come_first() {
    let (mut session, begun) = begun().await;
    let finding = |severity: &str| json!({"severity": severity, "description": format!("A {severity} one.")});
    let handed = json!({"summary": "s", "findings": [finding("low"), finding("critical"), finding("info")]});
    let code = session.ok("flows_complete_step", completing(&begun, handed)).await;
    let docs = complete(&mut session, &code).await;
    let handed = json!({"summary": "s", "findings": [finding("high")]});
    session.ok("flows_complete_step", completing(&docs, handed)).await;
    let told = status(&mut session, &begun, &["findings"]).await;
    let shown: Vec<(&str, &str)> = told["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|finding| (finding["severity"].as_str().unwrap(), finding["nodeId"].as_str().unwrap()))
        .collect();
    assert_eq!(shown, [("critical", "design"), ("high", "docs"), ("low", "design"), ("info", "design")]);
}
