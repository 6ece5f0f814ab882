//! What an output must hold: its contract, whatever shape that has, and what later steps read of it.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]

use serde_json::{Value, json};

use super::{begun, begun_on_bench, completing, status, until};
use crate::support::mcp::{Bench, Session};

/// A flow in which `report` reads fields of what `judge` gives.
fn judged(contract: Value, text: &str) -> Bench {
    let file = json!({"metadata": {"name": "Judged", "version": "1.0.0"}, "nodes": [
        {"id": "judge", "type": "template", "data": {"template": "Judge.", "contract": contract}},
        {"id": "report", "type": "template", "data": {"template": text}}],
        "edges": [{"source": "judge", "target": "report"}]});
    Bench::folder([("flows/Judged.json", file.to_string())])
}

async fn opened(bench: &Bench) -> (Session, Value) {
    let mut session = bench.session().await;
    let begun = session.ok("flows_begin", json!({"flowName": "Judged"})).await;
    (session, begun)
}

#[tokio::test]
async fn an_output_that_lacks_what_a_later_step_reads_is_refused_naming_the_reader() {
    let contract = json!({"type": "object", "required": ["text"], "properties": {"severity": {"type": "string"}}});
    let (mut session, begun) = opened(&judged(contract, "{judge_result.severity}: {judge_result.text}")).await;
    assert_eq!(begun["step"]["contract"]["required"], json!(["text", "severity"]));
    let refused = session.failed("flows_complete_step", completing(&begun, json!({"text": "Bad."}))).await;
    assert_eq!((&refused["code"], &refused["details"]["attempts"]), (&json!("CONTRACT_VIOLATION"), &json!(1)));
    let issues = refused["details"]["issues"].as_array().unwrap();
    assert_eq!((issues.len(), &issues[0]["path"]), (1, &json!("output.severity")));
    assert!(issues[0]["message"].as_str().unwrap().contains("\"report\""), "{refused}");
    let next = session.ok("flows_complete_step", completing(&begun, json!({"text": "Bad.", "severity": "high"}))).await;
    assert_eq!(next["step"]["prompt"], "high: Bad.");
}

#[tokio::test]
async fn an_output_that_is_the_example_is_taken_with_a_warning() {
    let object = json!({"type": "object", "required": ["verdict", "why"], "properties": {
        "verdict": {"enum": ["pass", "fail"]}, "why": {"type": "string", "examples": ["It holds."]}}});
    let choice =
        json!({"type": "object", "required": ["verdict"], "properties": {"verdict": {"enum": ["pass", "fail"]}}});
    // A word that only could be chosen is no copy.
    for (contract, copied) in [(Value::Null, true), (object.clone(), true), (choice, false)] {
        let (mut session, begun) = opened(&judged(contract, "{judge_result}")).await;
        let output = begun["step"]["example"].clone();
        let next = session.ok("flows_complete_step", completing(&begun, output.clone())).await;
        assert_eq!(next["stepCompleted"], "judge");
        let code = if copied { json!("COPIED_EXAMPLE") } else { Value::Null };
        assert_eq!(next["warnings"][0]["code"], code, "{output}: {next}");
        assert_eq!(session.ok("flows_complete_step", completing(&begun, output)).await, next);
        let told = status(&mut session, &begun, &["steps"]).await;
        assert_eq!(told["steps"][0]["warnings"][0]["code"], code, "{told}");
    }
    let (mut session, begun) = opened(&judged(object, "{judge_result}")).await;
    let own = json!({"verdict": "pass", "why": "The sum is right."});
    let next = session.ok("flows_complete_step", completing(&begun, own)).await;
    assert_eq!(next.get("warnings"), None, "{next}");
}

#[tokio::test]
async fn fields_that_are_read_of_a_step_without_a_contract_belong_to_its_result() {
    let (mut session, begun) = opened(&judged(Value::Null, "{judge_result.severity}")).await;
    for output in [json!("Plain."), json!({"summary": "s", "severity": "high"}), json!({"result": {"text": "x"}})] {
        let refused = session.failed("flows_complete_step", completing(&begun, output)).await;
        assert_eq!(refused["details"]["issues"][0]["path"], "output.result.severity", "{refused}");
        let asked = &refused["details"]["expectedSchema"]["properties"]["result"];
        assert_eq!(asked["required"], json!(["severity"]), "{refused}");
    }
    let next = session.ok("flows_complete_step", completing(&begun, json!({"result": {"severity": "high"}}))).await;
    assert_eq!(next["step"]["prompt"], "high");
}

#[tokio::test]
async fn a_contract_that_is_no_object_is_met_by_the_value_and_by_its_result() {
    for (kind, fit, misfit) in [
        ("array", json!([1, 2]), json!(7)),
        ("string", json!("text"), json!([1])),
        ("number", json!(7), json!("seven")),
        ("boolean", json!(true), json!("maybe")),
    ] {
        for output in [fit.clone(), json!({"result": fit}), json!(json!({"result": fit}).to_string())] {
            if kind == "string" && output.is_string() && output != fit {
                continue;
            }
            let (mut session, begun) = opened(&judged(json!({"type": kind}), "{judge_result}")).await;
            assert_eq!(begun["step"]["example"].as_object().map(|example| example.contains_key("result")), Some(true));
            let refused = session.failed("flows_complete_step", completing(&begun, json!({"result": misfit}))).await;
            assert_eq!(refused["details"]["issues"][0]["path"], "output", "{kind}: {refused}");
            let next = session.ok("flows_complete_step", completing(&begun, output)).await;
            let shown = fit.as_str().map_or_else(|| fit.to_string(), str::to_owned);
            assert_eq!(next["step"]["prompt"], json!(shown), "{kind}");
        }
    }
}

#[tokio::test]
async fn a_field_with_blanks_is_asked_for_under_its_own_name() {
    let closed = json!({"type": "object", "additionalProperties": false, "properties": {"a b": {"type": "string"}}});
    let open = json!({"type": "object", "properties": {"a b": {"type": "string"}}});
    for contract in [closed, open] {
        let (mut session, begun) = opened(&judged(contract, "{judge_result.a_b}")).await;
        assert_eq!(begun["step"]["contract"]["required"], json!(["a b"]));
        let example = begun["step"]["example"].clone();
        let refused = session.failed("flows_complete_step", completing(&begun, json!({}))).await;
        assert_eq!(refused["details"]["issues"][0]["path"], "output.a b", "{refused}");
        assert_eq!(refused["details"]["example"], example);
        let next = session.ok("flows_complete_step", completing(&begun, example.clone())).await;
        assert_eq!(next["step"]["prompt"], example["a b"]);
    }
}

#[tokio::test]
async fn what_is_handed_out_asks_for_as_many_items_as_are_read() {
    let rows = json!({"type": "array", "items": {"type": "object", "required": ["name"],
        "properties": {"name": {"type": "string"}, "by": {"type": "string"}}}});
    let contract = json!({"type": "object", "required": ["rows"], "properties": {"rows": rows}});
    for (contract, text) in [(contract, "{judge_result.rows.1.by}"), (Value::Null, "{judge_result.rows.1.by}")] {
        let (mut session, begun) = opened(&judged(contract.clone(), text)).await;
        let asked = &begun["step"]["contract"];
        let asked = if contract.is_null() { &asked["properties"]["result"] } else { asked };
        assert_eq!(asked["properties"]["rows"]["minItems"], 2, "{asked}");
        let refused = session.failed("flows_complete_step", completing(&begun, json!({"result": {"rows": []}}))).await;
        assert_eq!(refused["code"], "CONTRACT_VIOLATION");
        let taken = session.ok("flows_complete_step", completing(&begun, begun["step"]["example"].clone())).await;
        assert_eq!(taken["step"]["id"], "report", "{taken}");
    }
}

#[tokio::test]
async fn a_contract_without_a_type_that_takes_no_object_is_met_by_its_example_and_null_where_it_allows_that() {
    for (contract, fit) in [
        (json!({"enum": ["yes", "no"]}), json!("yes")),
        (json!({"const": 3}), json!(3)),
        (json!({"anyOf": [{"type": "string"}, {"type": "array"}]}), json!(["x"])),
        (json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "boolean"}}}), json!(true)),
        (json!({"type": ["null", "string"]}), Value::Null),
    ] {
        let (mut session, begun) = opened(&judged(contract.clone(), "{judge_result}")).await;
        let example = begun["step"]["example"].clone();
        assert!(example.as_object().is_some_and(|example| example.contains_key("result")), "{contract}: {example}");
        let refused = session.failed("flows_complete_step", completing(&begun, json!({"result": {"a": 1}}))).await;
        assert_eq!(refused["details"]["example"], example, "{refused}");
        let told = refused["details"]["issues"].to_string();
        assert!(!told.contains("result"), "{told}");
        for output in [json!({"result": fit}), example] {
            let (mut session, begun) = opened(&judged(contract.clone(), "{judge_result}")).await;
            let next = session.ok("flows_complete_step", completing(&begun, output)).await;
            assert_eq!(next["step"]["id"], "report", "{contract}");
        }
    }
}

#[tokio::test]
async fn an_output_with_neither_result_nor_summary_is_told_that_either_would_do() {
    let (mut session, begun) = begun().await;
    let refused = session.failed("flows_complete_step", completing(&begun, json!({"steps": "S"}))).await;
    let issues = refused["details"]["issues"].as_array().unwrap();
    assert_eq!((issues.len(), &issues[0]["path"]), (1, &json!("output.result")), "{refused}");
    assert!(issues[0]["message"].as_str().unwrap().contains("summary"), "{refused}");
}

#[tokio::test]
async fn without_a_contract_a_result_alone_is_enough_and_nothing_is_not() {
    let (mut session, begun) = begun().await;
    for empty in [json!({}), json!({"result": null}), json!({"result": " "}), json!({"artifacts": []})] {
        let refused = session.failed("flows_complete_step", completing(&begun, empty.clone())).await;
        assert_eq!(refused["code"], "CONTRACT_VIOLATION", "{empty}: {refused}");
    }
    let next = session.ok("flows_complete_step", completing(&begun, json!({"result": "THE PLAN"}))).await;
    assert!(next["step"]["prompt"].as_str().unwrap().contains("THE PLAN"), "{next}");
    // The usual contract is sent in short.
    assert!(begun["step"]["contract"].to_string().len() < 600, "{}", begun["step"]["contract"]);
}

#[tokio::test]
async fn a_new_process_a_resume_and_a_status_tell_the_persona_and_the_rules_again() {
    let (bench, mut session, begun) = begun_on_bench().await;
    let code = until(&mut session, begun, "code").await;
    let told = |answer: &Value| (answer["step"]["persona"]["instructions"].is_string(), answer["rules"].is_string());
    let docs = session.ok("flows_complete_step", completing(&code, super::output("code"))).await;
    assert_eq!(
        (&docs["step"]["id"], told(&docs)),
        (&json!("docs"), (false, false)),
        "the same persona, the same process"
    );
    assert_eq!(told(&status(&mut session, &docs, &[]).await), (true, true));
    let asks =
        json!({"executionId": docs["executionId"], "stepToken": docs["stepToken"], "reason": "r", "questions": ["q"]});
    session.ok("flows_escalate", asks).await;
    let answers = json!({"executionId": docs["executionId"], "answers": "so"});
    let resumed = session.ok("flows_resume", answers).await;
    assert_eq!(told(&resumed), (true, true));
    let mut other = bench.again().session().await;
    let review = other.ok("flows_complete_step", completing(&resumed, super::output("docs"))).await;
    assert_eq!(told(&review), (true, true));
    let fix = other.ok("flows_complete_step", completing(&review, super::output("review"))).await;
    assert!(fix["rules"].is_null());
}
