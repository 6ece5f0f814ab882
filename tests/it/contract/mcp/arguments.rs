//! What clients really send as arguments.

use serde_json::{Value, json};

use crate::support::mcp::{Bench, flow, template};

fn tea() -> Bench {
    Bench::folder([flow("Tea", &[("n1", "Tea_Text")], &[]), template("Tea_Text", "Tea for {who} {n}")])
}

#[tokio::test]
async fn what_can_only_mean_one_thing_is_put_right() {
    let mut session = tea().session().await;
    let values = json!({"who": "Kim", "n": 1});
    for arguments in [
        json!({"flowName": "Tea", "initialVariables": values}),
        json!({"flowName": "Tea", "initialVariables": values.to_string()}),
        json!({"flow_name": "Tea", "initial_variables": values}),
        json!({"name": "Tea", "variables": values.to_string()}),
        json!({"flowName": "Tea", "name": "Tea", "variables": values, "initialVariables": values.to_string()}),
        json!({"flowName": "Tea", "initialVariables": values, "ref": null, "detail": "", "dryRun": null, "extra": null}),
        json!({"flowName": "Tea", "initialVariables": values, "dryRun": "false", "waitSeconds": "5", "maxTokens": 500.0}),
    ] {
        let done = session.ok("flows_execute", arguments.clone()).await;
        assert_eq!(done["finalResult"], json!("Tea for Kim 1"), "{arguments}");
    }
}

#[tokio::test]
async fn arguments_sent_as_one_json_text_are_read() {
    let mut session = tea().session().await;
    let arguments = json!({"name": "Tea", "variables": {"who": "Kim", "n": 2}}).to_string();
    let result = session.call("flows_execute", json!(arguments)).await;
    assert_eq!(result["structuredContent"]["finalResult"], json!("Tea for Kim 2"), "{result}");
    assert!(result.get("resultType").is_none(), "that belongs to another protocol version: {result}");
    for params in [json!({"name": "flows_execute", "arguments": "no JSON"}), json!({"name": 7})] {
        let answer = session.request("tools/call", params.clone()).await;
        assert_eq!(answer["error"]["code"], json!(-32602), "{params}: {answer}");
    }
}

#[tokio::test]
async fn values_are_never_touched() {
    let mut session = tea().session().await;
    let values = json!({"who": "{\"a\": \"null\"}", "n": ""});
    let done = session.ok("flows_execute", json!({"flowName": "Tea", "initialVariables": values})).await;
    assert_eq!(done["finalResult"], json!("Tea for {\"a\": \"null\"} "));
    let text = r#"{"name": "Tea", "initialVariables": {"who": 12345678901234567890123.10, "n": 1.50}}"#;
    let digits: Value = serde_json::from_str(text).unwrap();
    let done = session.ok("flows_execute", digits).await;
    assert_eq!(done["finalResult"], json!("Tea for 12345678901234567890123.10 1.50"));
}

#[tokio::test]
async fn what_is_wrong_is_refused_with_what_would_be_right() {
    let mut session = tea().session().await;
    let cases: [(&str, Value, &[&str]); 14] = [
        ("flows_execute", json!({}), &["`flowName` is missing"]),
        ("flows_execute", json!({"flowName": ""}), &["`flowName` is missing"]),
        ("flows_execute", json!({"flowName": "Tea", "name": "Other"}), &["`flowName`", "twice"]),
        (
            "flows_execute",
            json!({"flowName": "Tea", "initialVariables": [1]}),
            &["`initialVariables`", "a list", "an object"],
        ),
        ("flows_execute", json!({"flowName": "Tea", "initialVariables": "who=Kim"}), &["not a JSON object"]),
        (
            "flows_execute",
            json!({"flowName": "Tea", "initialVariabels": {}}),
            &["initialVariabels", "`initialVariables`"],
        ),
        ("flows_execute", json!({"flowName": "Tea", "onFailure": "halt"}), &["\"halt\"", "continue, stop"]),
        ("flows_execute", json!({"flowName": "Tea", "waitSeconds": -1}), &["`waitSeconds`", "from 0"]),
        ("flows_execute", json!({"flowName": ["Tea"]}), &["`flowName` is a list, not a text"]),
        ("flows_list", json!({"mode": "compakt"}), &["compact, index, standard, detailed", "did you mean \"compact\""]),
        ("flows_list", json!({"mode": "brief"}), &["is not one of", "give `query`", "can't be requested"]),
        ("flows_list", json!({"limit": 0}), &["limit", "0", "from 1"]),
        ("flows_list", json!({"limit": 2.5}), &["`limit` is 2.5, not a whole number from 1"]),
        (
            "flows_status",
            json!({"state": ["done"]}),
            &["\"done\"", "running, waiting, interrupted, awaiting_human, completed, partial, failed, cancelled"],
        ),
    ];
    for (tool, arguments, parts) in cases {
        let failed = session.failed(tool, arguments.clone()).await;
        assert_eq!(failed["code"], json!("INVALID_REQUEST"), "{arguments}");
        assert_eq!(failed["source"], json!(tool.replace('_', "/")));
        let said = format!("{} {}", failed["message"].as_str().unwrap(), failed["nextStep"].as_str().unwrap());
        for part in parts {
            assert!(said.contains(part), "{arguments}: {part:?} in {said:?}");
        }
    }
}

#[tokio::test]
async fn lists_come_as_lists_as_texts_of_lists_or_as_their_only_item() {
    let mut session = Bench::examples().session().await;
    for tags in [json!(["marketing"]), json!("[\"marketing\"]"), json!("marketing")] {
        let listed = session.ok("flows_list", json!({"tags": tags, "limit": "5"})).await;
        assert_eq!(listed["filter"], json!({"tags": ["marketing"]}), "{tags}");
    }
}
