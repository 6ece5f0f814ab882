//! What answers in the place of tools and models.

use serde_json::{Value, json};

use super::{ends, mismatches};
use crate::support::program::{Said, Sandbox};

/// A tool that waits and is tried again, a text that reads a field of its answer, and a flow around both.
const LOOK: &str = r#"{"metadata": {"name": "Look", "version": "1.0.0"},
  "nodes": [
    {"id": "find", "type": "tool", "data": {"label": "Find", "call": "web:search", "args": {"q": "tea"},
      "delayMs": 30000, "retry": {"times": 3, "backoffMs": 60000}}},
    {"id": "tell", "type": "template", "data": {"label": "Tell", "template": "Best: {find_result.rows.0.id}"}}],
  "edges": [{"source": "find", "target": "tell"}]}"#;
const AROUND: &str = r#"{"metadata": {"name": "Around", "version": "1.0.0"},
  "nodes": [
    {"id": "look", "type": "flow", "data": {"label": "Look", "flow": "Look"}},
    {"id": "say", "type": "template", "data": {"label": "Say", "template": "So: {look_result}"}}],
  "edges": [{"source": "look", "target": "say"}]}"#;
/// Each step is a model's; the second must be an object with a title.
const DRAFT: &str = r#"{"metadata": {"name": "Draft", "version": "1.0.0", "inputs": {"topic": {}}},
  "nodes": [
    {"id": "in", "type": "multi_input", "data": {"variables": ["topic"]}},
    {"id": "facts", "type": "template", "data": {"label": "Facts", "template": "Facts about {topic}?"}},
    {"id": "draft", "type": "template", "data": {"label": "Draft", "template": "Write from: {facts_result}",
      "contract": {"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}}},
    {"id": "check", "type": "template", "data": {"label": "Check", "template": "Check {draft_result.title}"}}],
  "edges": [{"source": "in", "target": "facts"}, {"source": "facts", "target": "draft"}, {"source": "draft", "target": "check"}]}"#;

fn run(test: &Value) -> Said {
    let catalog = Sandbox::new().file("flows/Look.json", LOOK).file("flows/Around.json", AROUND);
    catalog.file("flows/Draft.json", DRAFT).file("tests/a.flowtest.json", test.to_string()).run(["test", "--json"])
}

#[test]
fn a_tool_is_answered_by_the_test_at_once_and_never_called() {
    for (mock, expect) in [
        (
            json!({"json": {"rows": [{"id": 7}]}}),
            json!({"finalResult": "Best: 7", "steps": {"find": {"fields": {"rows.0.id": 7}}}}),
        ),
        (json!({"text": "{\"rows\": [{\"id\": \"a\"}]}"}), json!({"finalResult": "Best: a"})),
        (
            json!({"error": "too busy"}),
            json!({"status": "failed", "finalResult": null, "steps": {"find": {"error": "TOOL_ERROR"}}}),
        ),
    ] {
        let said = run(&json!({"flow": "Look", "mocks": {"find": mock}, "expect": expect}));
        assert_eq!(ends(&said)[0].1, "passed", "{mock}: {}", said.out);
    }
    let said = run(&json!({"flow": "Look", "mocks": {"find": {"json": {"rows": [{"id": 7}]}}},
        "expect": {"steps": {"find": {"fields": {"rows.0.id": 8}}}}}));
    let json = said.json();
    let told = &json["tests"][0]["mismatches"][0];
    assert_eq!(
        (&told["what"], &told["expected"], &told["actual"]),
        (&json!("steps.find.rows.0.id"), &json!("8"), &json!("7"))
    );
}

#[test]
fn a_call_without_an_answer_fails_its_test_whatever_is_expected() {
    let said = run(&json!({"flow": "Look", "expect": {"status": "failed"}}));
    assert_eq!((said.code, ends(&said)[0].1.as_str()), (1, "failed"));
    let (what, message) = mismatches(&said).remove(0);
    assert_eq!(what, "mocks.find");
    assert!(message.contains("web:search"), "{message}");
}

#[test]
fn steps_of_a_flow_within_the_flow_are_answered_and_compared_by_their_whole_ids() {
    let said = run(&json!({"flow": "Around", "mocks": {"look/find": {"json": {"rows": [{"id": 7}]}}},
        "expect": {"finalResult": "So: Best: 7", "steps": {"look/tell": "Best: 7", "look": "Best: 7"}}}));
    assert_eq!(ends(&said)[0].1, "passed", "{}", said.out);
}

#[test]
fn a_text_is_answered_by_a_model_where_the_test_says_so_and_later_steps_read_the_answer() {
    let mocks = json!({"facts": {"text": "Tea is hot."}, "draft": {"json": {"title": "Hot"}}});
    let expect = json!({"prompts": {"facts": "Facts about tea?", "draft": "Write from: Tea is hot."},
        "steps": {"facts": "Tea is hot.", "draft": {"fields": {"title": "Hot"}}}, "finalResult": "Check Hot"});
    let test = |mocks: &Value, guided: bool, expect: &Value| json!({"flow": "Draft", "inputs": {"topic": "tea"}, "mocks": mocks, "guided": guided, "expect": expect});
    let said = run(&test(&mocks, false, &expect));
    assert_eq!(ends(&said)[0].1, "passed", "{}", said.out);
    // Guided, a model answers every text: the last one lacks its answer.
    let said = run(&test(&mocks, true, &expect));
    assert_eq!(mismatches(&said)[0].0, "mocks.check", "{}", said.out);
    let mut all = mocks.clone();
    all["check"] = json!({"json": {"result": "Fine", "summary": "ok"}});
    let said = run(&test(&all, true, &json!({"finalResult": "Fine", "prompts": {"check": "Check Hot"}})));
    assert_eq!(ends(&said)[0].1, "passed", "{}", said.out);
}

#[test]
fn an_answer_that_breaks_the_contract_fails_the_step() {
    for mock in [json!({"json": {"name": "Hot"}}), json!({"text": "Hot"})] {
        let said = run(&json!({"flow": "Draft", "inputs": {"topic": "tea"}, "mocks": {"draft": mock},
            "expect": {"steps": {"draft": {"error": "CONTRACT_VIOLATION"}, "check": null}}}));
        assert_eq!(ends(&said)[0].1, "passed", "{}", said.out);
    }
    let said =
        run(&json!({"flow": "Draft", "inputs": {"topic": "tea"}, "mocks": {"draft": {"text": "{\"title\": \"T\"}"}},
        "expect": {"finalResult": "Check T"}}));
    assert_eq!(ends(&said)[0].1, "passed", "{}", said.out);
}

#[test]
fn a_step_that_asks_for_a_model_needs_an_answer_and_goes_on_after_a_failure_where_its_node_says_so() {
    let flow = |on_error: &str| {
        format!(
            r#"{{"metadata": {{"name": "Asks", "version": "1.0.0"}}, "nodes": [
            {{"id": "ask", "type": "template", "data": {{"label": "Ask", "template": "Tea?", "model": "fast"{on_error}}}}},
            {{"id": "say", "type": "template", "data": {{"label": "Say", "template": "So: {{ask_result}}"}}}}],
            "edges": [{{"source": "ask", "target": "say"}}]}}"#
        )
    };
    let run = |on_error: &str, test: &Value| {
        let catalog = Sandbox::new().file("flows/Asks.json", flow(on_error));
        catalog.file("tests/Asks.flowtest.json", test.to_string()).run(["test", "--json"])
    };
    let test = |mocks: Value, expect: Value| json!({"flow": "Asks", "mocks": mocks, "expect": expect});
    let said = run("", &test(json!({}), json!({"prompts": {"ask": "Tea?"}})));
    assert_eq!(mismatches(&said)[0].0, "mocks.ask", "{}", said.out);
    let said =
        run("", &test(json!({"ask": {"text": "Yes"}}), json!({"finalResult": "So: Yes", "prompts": {"ask": "Tea?"}})));
    assert_eq!(ends(&said)[0].1, "passed", "{}", said.out);
    let failing = json!({"ask": {"error": "busy"}});
    let said = run("", &test(failing.clone(), json!({"steps": {"ask": {"error": "MODEL_ERROR"}, "say": null}})));
    assert_eq!(ends(&said)[0].1, "passed", "{}", said.out);
    let said =
        run(", \"onError\": \"continue\"", &test(failing, json!({"finalResult": "So: busy", "status": "success"})));
    assert_eq!(ends(&said)[0].1, "passed", "{}", said.out);
}

#[test]
fn a_mock_that_breaks_the_contract_is_named_where_the_result_is_missing_for_want_of_it() {
    let mocks = json!({"facts": {"text": "x"}, "draft": {"json": {"titel": "Hot"}}, "check": {"text": "y"}});
    let test = json!({"flow": "Draft", "guided": true, "inputs": {"topic": "tea"}, "mocks": mocks,
        "expect": {"finalResult": "y"}});
    let (what, message) = mismatches(&run(&test)).remove(0);
    assert_eq!(what, "finalResult");
    assert!(
        message.contains("the mock of step \"draft\" breaks its contract") && message.contains("title"),
        "{message}"
    );
}
