//! Slips as authors make them: one finding each, whose hint leads to the fix, and no consequences beside it.

use serde_json::{Value, json};

use crate::support::checking::{check, findings};
use crate::support::program::Sandbox;

const FLOW: &str = r#"{
  "metadata": {"name": "Bug", "version": "1.0.0", "inputs": {"notes": {"type": "string"}}},
  "nodes": [
    {"id": "ask", "type": "multi_input", "data": {"label": "Ask", "variables": ["notes"]}},
    {"id": "report", "type": "template", "data": {"label": "Report", "template": "Report {notes}"}},
    {"id": "plan", "type": "template", "data": {"label": "Plan", "template": "Plan {report_result} for {part}", "variables": ["part"]}},
    {"id": "sum", "type": "template", "data": {"label": "Sum", "template": "Sum up {plan_result}"}},
    {"id": "out", "type": "result", "data": {"label": "Result"}}
  ],
  "edges": [
    {"source": "ask", "target": "report"},
    {"source": "report", "target": "plan", "data": {"mapping": {"part": "result"}}},
    {"source": "plan", "target": "sum"},
    {"source": "sum", "target": "out"}
  ]
}"#;

/// A change, the rule that tells of it, and the hint.
const SLIPS: [(&str, &str, &str, &str); 33] = [
    (
        r#"{"source": "sum", "target": "out"}"#,
        r#"{"source": "sum", "targt": "out"}"#,
        "schema",
        "did you mean \"target\"?",
    ),
    (r#"{"source": "sum", "target"#, r#"{"from": "sum", "target"#, "schema", "did you mean \"source\"?"),
    (r#""source": "report""#, r#""source": "Report""#, "dangling-edge", "did you mean \"report\"?"),
    (r#""source": "sum", "target": "out""#, r#""source": "sum", "target": "sum""#, "self-edge", "remove the edge"),
    (r#"{"id": "sum""#, r#"{"id": "plan""#, "duplicate-node", "give one of the two another id"),
    (r#"{"id": "plan", "#, "{", "schema", "what belongs there: Id of the node"),
    ("{plan_result}", "{paln_result}", "unbound-placeholder", "did you mean \"plan_result\""),
    ("{plan_result}", "{plan}", "unbound-placeholder", "did you mean \"plan_result\"?"),
    ("{notes}", "{inputs.notes}", "unbound-placeholder", "did you mean \"notes\"?"),
    ("{plan_result}", "{steps.plan.output}", "unbound-placeholder", "did you mean \"plan_result\"?"),
    (r#"{"part": "result"}"#, r#"{"prat": "result"}"#, "useless-mapping", "did you mean \"part\"?"),
    (r#"{"part": "result"}"#, r#"{"result": "part"}"#, "useless-mapping", "turn it round: {\"part\": \"result\"}"),
    (
        r#"{"source": "report", "target": "plan", "#,
        r#"{"source": "plan", "target": "report", "#,
        "unreachable-reference",
        "turn edge \"plan → report\" round",
    ),
    ("{\n", "\u{feff}\u{feff}{\n", "syntax", "delete it"),
    (r#""edges": ["#, r#""edge": ["#, "misspelt-field", "did you mean \"edges\"?"),
    (
        r#""template": "Sum up {plan_result}""#,
        r#""template": "Sum up {plan_result}", "selectedTemplateID": "Sum""#,
        "misspelt-field",
        "did you mean \"selectedTemplateId\"?",
    ),
    ("{\n", "```json\n{\n", "syntax", "remove the lines that begin with ```"),
    ("Sum up {", "Sum \"up\" {", "syntax", "a quotation mark within a text is written \\\""),
    (r#""label": "Result"}}"#, r#""label": "Result}}"#, "syntax", "close it with a quotation mark"),
    (
        r#"{"id": "sum", "type": "template", "#,
        r#"{"id": "sum", "type": "template", "personna": "guide", "#,
        "misspelt-field",
        "did you mean \"persona\"? It stands in `data`",
    ),
    (
        r#"{"id": "out", "type": "result", "data": {"label": "Result"}}"#,
        r#"{"id": "out", "type": "result", "data": {"label": "Result"}},
           {"id": "out", "type": "result", "data": {"label": "Result"}}"#,
        "duplicate-node",
        "the two are the same: remove one of them",
    ),
    (r#"  "edges": ["#, "=======\n  \"edges\": [", "syntax", "keep one of the two sides"),
    (r#""type": "string""#, r#""typ": "string""#, "misspelt-field", "did you mean \"type\"?"),
    (r#""sum", "type": "template""#, r#""sum", "type": "text""#, "unknown-node-kind", "did you mean \"template\"?"),
    (r#""sum", "type": "template""#, r#""sum", "type": "prompt""#, "unknown-node-kind", "did you mean \"template\"?"),
    (
        r#""plan", "type": "template""#,
        r#""plan", "type": "Template""#,
        "unknown-node-kind",
        "did you mean \"template\"?",
    ),
    (
        r#""report", "type": "template""#,
        r#""report", "type": "llm""#,
        "unknown-node-kind",
        "did you mean \"template\"?",
    ),
    (r#"{"id": "sum", "#, r#"{"id": "", "#, "schema", "what belongs there"),
    ("{plan_result}", "{plan_result}, {sum_result}", "unreachable-reference", "remove the placeholder"),
    ("Plan {report_result}", "Plan {report_result} {sum_result}", "unreachable-reference", "comes after \"plan\""),
    ("Report {notes}", "Report { notes }", "foreign-placeholder", "write {notes}"),
    (r#""label": "Result"}"#, r#""lable": "Result"}"#, "misspelt-field", "did you mean \"label\"?"),
    (
        r#""template": "Sum up"#,
        r#""retries": 2, "template": "Sum up"#,
        "misspelt-field",
        "did you mean \"maxAttempts\"?",
    ),
];

#[test]
fn a_slip_is_one_finding_that_leads_to_the_fix() {
    let told = |text: &str| {
        let found = findings(&check(&("flows/Bug.json".to_owned(), text.as_bytes().to_vec()), &[]));
        found.into_iter().map(|finding| (finding.rule, finding.hints.join("; "))).collect::<Vec<_>>()
    };
    assert_eq!(told(FLOW), []);
    for (before, after, rule, hint) in SLIPS {
        let slipped = FLOW.replacen(before, after, 1);
        assert_ne!(slipped, FLOW, "{before}");
        let told = told(&slipped);
        assert!(told.len() == 1 && told[0].0 == rule && told[0].1.contains(hint), "{after}: {told:?}");
    }
}

#[test]
fn an_item_that_a_list_may_lack_is_told_with_what_makes_the_list_long_enough() {
    let flow = |more: &str| {
        FLOW.replace("{report_result}", "{report_result.rows.1}").replace(
            r#""template": "Report {notes}""#,
            &format!(
                r#""template": "Report {{notes}}", "contract": {{"type": "object", "required": ["rows"],
                   "properties": {{"rows": {{"type": "array", {more} "items": {{"type": "string"}}}}}}}}"#
            ),
        )
    };
    let told = |text: &str| findings(&check(&("flows/Bug.json".to_owned(), text.as_bytes().to_vec()), &[]));
    let found = told(&flow(""));
    assert_eq!(found.iter().map(|found| found.rule).collect::<Vec<_>>(), ["unknown-output-field"]);
    assert!(found[0].hints[0].contains("\"minItems\": 2"), "{found:?}");
    assert_eq!(told(&flow(r#""minItems": 2,"#)).len(), 0);
}

#[test]
fn keys_of_markdown_in_a_node_of_json_are_told_with_what_json_has_instead() {
    for (key, value) in [("map", json!({"source": "one"})), ("after", json!("one"))] {
        let node = |id: &str, data: Value| json!({"id": id, "type": "template", "data": data});
        let mut data = json!({"template": "Read {one_result}."});
        data[key] = value;
        let flow = json!({"metadata": {"name": "T", "version": "1.0.0"},
            "nodes": [node("one", json!({"template": "Say so."})), node("two", data)],
            "edges": [{"id": "e", "source": "one", "target": "two"}]});
        let sandbox = Sandbox::new().file("flows/T.json", flow.to_string());
        let checked = sandbox.run(["validate", "--json"]).json();
        let findings = &checked["files"][0]["findings"];
        assert_eq!(findings.as_array().unwrap().len(), 1, "{checked}");
        assert_eq!(findings[0]["rule"], "misspelt-field");
        assert_eq!(findings[0]["pointer"], format!("/nodes/1/data/{key}"));
    }
}
