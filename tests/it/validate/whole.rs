//! What is found where all files of a catalog are known: in a bad catalog by its rule alone, in a good one not at all.

use flowy::internals::validate::{Check, REGISTRY};
use serde_json::{Value, json};

use crate::support::program::Sandbox;

pub(crate) const FLOW: &str = r#"{"metadata":{"name":"Tea","version":"1.0.0"},"edges":[],
"nodes":[{"id":"say","type":"template","data":{"label":"Say","template":"Tea is ready"}}]}"#;
const TEMPLATE: &str = r#"{"title":"Cake","template":"Cake is ready"}"#;
const BAD_CONTRACT: &str = "{\n  \"type\": \"object\",\n  \"required\": \"title\"\n}";

const USED: &str = r#"{
  "metadata": {"name": "Cake", "version": "1.0.0"},
  "nodes": [
    {"id": "bake", "type": "template", "data": {"label": "Bake", "template": "Bake it"}},
    {
      "id": "remark", "type": "sticky", "data": {},
      "x-flowy-ignore": {"unknown-node-kind": "a remark for the editor"}
    }
  ],
  "edges": []
}"#;
const UNUSED: &str = r#"{
  "metadata": {
    "name": "Cake", "version": "1.0.0",
    "x-flowy-ignore": {"bad-version": "the editor writes it"}
  },
  "nodes": [{"id": "bake", "type": "template", "data": {"label": "Bake", "template": "Bake it"}}],
  "edges": []
}"#;
const REASONLESS: &str = r#"{
  "metadata": {"name": "Cake", "version": "1.0.0"},
  "x-flowy-ignore": {"bad-version": " "},
  "nodes": [{"id": "bake", "type": "template", "data": {"label": "Bake", "template": "Bake it"}}],
  "edges": []
}"#;
const MISSPELT: &str = r#"{
  "metadata": {
    "name": "Cake", "version": "1.0.0",
    "x-flowy-ignore": {"bad-versoin": "the editor writes it"}
  },
  "nodes": [{"id": "bake", "type": "template", "data": {"label": "Bake", "template": "Bake it"}}],
  "edges": []
}"#;

const TEST: &str =
    r#"{"flow": "Tea", "expect": {"finalResult": "Tea is ready", "steps": {"say": {"contains": "ready"}}}}"#;
const BAD_STEP: &str = "{\"flow\": \"Tea\",\n \"expect\": {\"steps\": {\n  \"sya\": \"Tea\"}}}";
const BAD_PATTERN: &str = "{\"flow\": \"Tea\",\n \"expect\": {\"finalResult\": {\n  \"matches\": \"(Tea\"}}}";
const BAD_RULE: &str = "{\"flow\": \"Tea\",\n \"expect\": {\"findings\": [\n  \"cylce\"]}}";
const BAD_RESULT: &str = "{\"flow\": \"Tea\",\n \"expect\": {\"results\": {\n  \"Tea\": \"Tea\"}}}";
const BAD_CODE: &str = "{\"flow\": \"Tea\",\n \"expect\": {\"steps\": {\"say\": {\n  \"error\": \"TOOL_EROR\"}}}}";

/// The findings of a catalog with a flow and these files, as (rule, severity, file, line).
fn found(files: &[(&str, &str)]) -> Vec<(String, String, String, Value)> {
    let catalog = Sandbox::new().file("flows/Tea.json", FLOW);
    let catalog = files.iter().fold(catalog, |catalog, (path, text)| catalog.file(path, text));
    let json = catalog.run(["validate", "--source", ".", "--json"]).json();
    let files = json["files"].as_array().unwrap_or_else(|| panic!("{json}")).clone();
    let findings = files.iter().flat_map(|file| file["findings"].as_array().unwrap().clone());
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_else(|| panic!("{finding}")).to_owned();
    let told = |finding: Value| {
        (text(&finding, "rule"), text(&finding, "severity"), text(&finding, "file"), finding["line"].clone())
    };
    findings.map(told).collect()
}

/// The files that give a rule its finding, where it looks, and files that are like them and fine.
pub(crate) type Example = (Vec<(&'static str, &'static str)>, (&'static str, u64), Vec<(&'static str, &'static str)>);

pub(crate) fn examples(rule: &str) -> Vec<Example> {
    let fine = vec![("flows/notes.md", "Notes"), ("templates/Cake.json", TEMPLATE), ("docs/flow.json", FLOW)];
    match rule {
        "misplaced-file" => vec![
            (vec![("flow/Cake.json", FLOW)], ("flow/Cake.json", 1), fine),
            (vec![("flows/Cake.yaml", "a: b"), ("flows/Pie.yaml", "a: b")], ("flows/Cake.yaml", 1), Vec::new()),
            (vec![("Templates/Cake.json", TEMPLATE)], ("Templates/Cake.json", 1), Vec::new()),
            (vec![("persona/clerk.md", "You are a clerk.")], ("persona/clerk.md", 1), Vec::new()),
            (vec![("contracts/form.yml", "type: object")], ("contracts/form.yml", 1), Vec::new()),
        ],
        "twin-files" => vec![
            (
                vec![("templates/Cake.json", TEMPLATE), ("templates/cake.json", TEMPLATE)],
                ("templates/Cake.json", 1),
                vec![("templates/Cake.json", TEMPLATE), ("templates/sweet/Cake_2.json", TEMPLATE)],
            ),
            (
                vec![("templates/R\u{E9}.json", TEMPLATE), ("templates/Re\u{301}.json", TEMPLATE)],
                ("templates/Re\u{301}.json", 1),
                vec![("templates/Re.json", TEMPLATE), ("templates/R\u{E9}.json", TEMPLATE)],
            ),
        ],
        "unusable-file" => vec![
            (
                vec![("contracts/form.json", BAD_CONTRACT)],
                ("contracts/form.json", 3),
                vec![("contracts/form.json", r#"{"type": "object"}"#), ("personas/clerk.md", "You are a clerk.")],
            ),
            (vec![("contracts/form.json", "{\n]")], ("contracts/form.json", 2), Vec::new()),
            (vec![("personas/clerk.md", "---\nname: Clerk\n")], ("personas/clerk.md", 1), Vec::new()),
            (vec![("personas/clerk.md", "You are\na \u{1B}clerk.\n")], ("personas/clerk.md", 2), Vec::new()),
        ],
        "bad-test" => vec![
            (
                vec![(
                    "tests/Tea.flowtest.json",
                    "{\n  \"flow\": \"Tae\",\n  \"expect\": {\"finalResult\": \"Tea is ready\"}\n}",
                )],
                ("tests/Tea.flowtest.json", 2),
                vec![("tests/Tea.flowtest.json", TEST), ("tests/notes.json", "[1, 2"), ("tests/README.md", "Notes")],
            ),
            (vec![("tests/a.flowtest.json", BAD_STEP)], ("tests/a.flowtest.json", 3), Vec::new()),
            (vec![("tests/a.flowtest.json", BAD_PATTERN)], ("tests/a.flowtest.json", 3), Vec::new()),
            (vec![("tests/a.flowtest.json", BAD_RULE)], ("tests/a.flowtest.json", 3), Vec::new()),
            (vec![("tests/deep/a.flowtest.json", BAD_RESULT)], ("tests/deep/a.flowtest.json", 3), Vec::new()),
            (vec![("tests/a.flowtest.json", BAD_CODE)], ("tests/a.flowtest.json", 3), Vec::new()),
        ],
        "useless-ignore" => vec![
            (vec![("flows/Cake.json", UNUSED)], ("flows/Cake.json", 4), vec![("flows/Cake.json", USED)]),
            (vec![("flows/Cake.json", REASONLESS)], ("flows/Cake.json", 3), Vec::new()),
            (vec![("flows/Cake.json", MISSPELT)], ("flows/Cake.json", 4), Vec::new()),
        ],
        other => panic!("{other} has no example"),
    }
}

#[test]
fn what_a_rule_of_whole_catalogs_looks_for_is_found_once_and_nothing_else_is() {
    for rule in REGISTRY.iter().filter(|rule| matches!(rule.check, Check::Catalog)) {
        for (bad, (file, line), good) in examples(rule.id) {
            let expected = (rule.id.to_owned(), rule.severity.to_string(), file.to_owned(), json!(line));
            assert_eq!(found(&bad), [expected], "{bad:?}");
            assert_eq!(found(&good), [], "{good:?}");
        }
    }
}

#[test]
fn a_template_among_flows_and_a_flow_among_templates_are_told_where_they_belong() {
    for (path, text, folder) in [("flows/Cake.json", TEMPLATE, "templates/"), ("templates/Pie.json", FLOW, "flows/")] {
        let catalog = Sandbox::new().file("flows/Tea.json", FLOW).file(path, text);
        let json = catalog.run(["validate", "--source", ".", "--json"]).json();
        let findings: Vec<&Value> =
            json["files"].as_array().unwrap().iter().flat_map(|file| file["findings"].as_array().unwrap()).collect();
        assert_eq!(findings.len(), 1, "{json}");
        assert_eq!((&findings[0]["rule"], &findings[0]["file"]), (&json!("schema"), &json!(path)));
        assert!(findings[0]["hints"].to_string().contains(folder), "{json}");
    }
}

#[test]
fn a_bad_contract_that_a_flow_names_is_told_once_with_its_own_line() {
    let flow = FLOW.replace("\"label\"", "\"contract\":\"form\",\"label\"");
    let catalog = Sandbox::new().file("flows/Tea.json", flow).file("contracts/form.json", BAD_CONTRACT);
    let said = catalog.run(["validate", "--source", "."]);
    assert_eq!(said.code, 1, "{}", said.out);
    assert!(said.out.contains("contracts/form.json") && said.out.contains("line 3"), "{}", said.out);
    assert!(!said.out.contains("unusable-file"), "{}", said.out);
}

#[test]
fn a_contract_that_is_asked_about_alone_is_judged_as_in_its_catalog() {
    let flow = "---\nname: Note\nversion: 1.0.0\n---\n\n## Write {#write}\n\n```yaml\ncontract: note\n```\n\nWrite.\n";
    let good = Sandbox::new().file("flows/Note.flow.md", flow).file("contracts/note.json", r#"{"type": "object"}"#);
    let said = good.run(["validate", "contracts/note.json", "--json"]);
    assert_eq!((said.code, &said.json()["files"][0]["findings"]), (0, &json!([])), "{}", said.out);
    let bad = good.file("contracts/note.json", r#"{"type": "objekt"}"#);
    let said = bad.run(["validate", "contracts/note.json", "--json"]);
    let json = said.json();
    assert_eq!((said.code, &json["files"][0]["file"]), (1, &json!("contracts/note.json")), "{json:#}");
    assert_eq!(json["files"][0]["findings"].as_array().map(Vec::len), Some(1), "{json:#}");
    // In the whole catalog, it is told once, with the flow that names it.
    let whole = bad.run(["validate", "--json"]).json();
    let findings: Vec<&Value> =
        whole["files"].as_array().unwrap().iter().flat_map(|file| file["findings"].as_array().unwrap()).collect();
    assert_eq!(findings.len(), 1, "{whole:#}");
}
