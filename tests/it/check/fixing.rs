//! Mending and laying out: what changes, and that nothing else does.

use std::collections::HashMap;
use std::fs;

use flowy::internals::names::CatalogPath;
use flowy::internals::plan::{Plan, PlanRecord};
use flowy::internals::validate::{Options, formatted, mended};
use serde_json::Value;

use super::{FINE, MIXED};
use crate::support::checking::{check_against, findings, repository};
use crate::support::program::Sandbox;

fn text_of(catalog: &Sandbox, file: &str) -> String {
    fs::read_to_string(catalog.here().join(file)).unwrap()
}

#[test]
fn what_is_safe_is_mended_and_every_other_byte_stays() {
    let bad = "\u{FEFF}{\r\n  \"metadata\": {\"name\": \"Tea\", \"version\": \"v1.2\", \"x\": 1.10},\r\n  \"nodes\": [\r\n    {\"id\": \"a\", \"type\": \"template\", \"data\": {\"template\": \"A \\u00e9\"}},\r\n    {\"id\": \"b\", \"type\": \"template\", \"data\": {\"template\": \"B\"}},\r\n  ],\r\n  \"edges\": [\r\n    {\"id\": \"e\", \"source\": \"a\", \"target\": \"b\"},\r\n    {\"id\": \"e\", \"source\": \"a\", \"target\": \"b\", \"data\": {}},\r\n    {\"source\": \"a\", \"target\": \"b\"},\r\n    {\"id\": \"gone\", \"source\": \"a\", \"target\": \"nowhere at all\"}\r\n  ]\r\n}";
    let good = "{\r\n  \"metadata\": {\"name\": \"Tea\", \"version\": \"1.2.0\", \"x\": 1.10},\r\n  \"nodes\": [\r\n    {\"id\": \"a\", \"type\": \"template\", \"data\": {\"template\": \"A \\u00e9\"}},\r\n    {\"id\": \"b\", \"type\": \"template\", \"data\": {\"template\": \"B\"}}\r\n  ],\r\n  \"edges\": [\r\n    {\"id\": \"e\", \"source\": \"a\", \"target\": \"b\"},\r\n    {\"id\": \"a-b\", \"source\": \"a\", \"target\": \"b\", \"data\": {}}\r\n  ]\r\n}";
    let catalog = Sandbox::new().file("flows/Tea.json", bad).file("flows/Fine.json", FINE);
    let said = catalog.run(["validate", "--fix", "--diff"]);
    assert_eq!((said.code, text_of(&catalog, "flows/Tea.json").as_str()), (1, bad), "{}", said.out);
    assert!(said.out.starts_with("--- a/flows/Tea.json\n+++ b/flows/Tea.json\n@@ "), "{}", said.out);
    let said = catalog.run(["validate", "--fix"]);
    assert_eq!((said.code, said.err.trim()), (0, "fixed 1 file: flows/Tea.json"), "{}", said.out);
    assert_eq!(text_of(&catalog, "flows/Tea.json"), good);
    assert_eq!(text_of(&catalog, "flows/Fine.json"), FINE);
    // Once is enough.
    assert_eq!(catalog.run(["validate", "--fix", "--diff"]).code, 0);
}

#[test]
fn renames_and_declarations_are_changed_only_where_that_is_asked_for() {
    let near = MIXED.replace("\"target\": \"gone\"", "\"id\": \"x\", \"target\": \"sya\"");
    let near = near.replace("{\"source\": \"in\"", "{\"id\": \"y\", \"source\": \"in\"");
    let catalog = Sandbox::new().file("flows/Hafen.json", &near);
    assert_eq!(catalog.run(["validate", "--fix"]).code, 1);
    assert_eq!(text_of(&catalog, "flows/Hafen.json"), near);
    catalog.run(["validate", "--fix=unsafe"]);
    let mended =
        near.replace("\"ort\", \"zeit\", \"boot\"", "\"ort\"").replace("\"target\": \"sya\"", "\"target\": \"say\"");
    assert_eq!(text_of(&catalog, "flows/Hafen.json"), mended);
}

/// A catalog in which a flow misspells a template, a flow and a persona, in JSON and in Markdown.
fn misspelt() -> Sandbox {
    let flow = r#"{"metadata": {"name": "Tea", "version": "1.0.0"}, "nodes": [
  {"id": "a", "type": "template", "data": {"selectedTemplateId": "Greetin", "persona": "edittor"}},
  {"id": "b", "type": "flow", "data": {"flow": "Iner", "variables": {}}}],
 "edges": [{"id": "e", "source": "a", "target": "b"}]}"#;
    let markdown = "---\nname: Cake\nversion: 1.0.0\n---\n\n## A {#a}\n\n```yaml\ntemplate: Greetin\npersona: edittor\n```\n\n\
                    ## B {#b}\n\n```yaml\nflow: Iner\nafter: a\n```\n";
    let inner = r#"{"metadata": {"name": "Inner", "version": "1.0.0"}, "nodes": [{"id": "x", "type": "template", "data": {"template": "X"}}], "edges": []}"#;
    Sandbox::new()
        .file("flows/Tea.json", flow)
        .file("flows/Cake.flow.md", markdown)
        .file("flows/Inner.json", inner)
        .file("templates/Greeting.md", "Hello.\n")
        .file("personas/editor.md", "---\nname: editor\n---\nYou edit.\n")
}

#[test]
fn misspelt_names_of_templates_flows_and_personas_are_mended_in_both_forms_where_one_is_meant() {
    let catalog = misspelt();
    let before = text_of(&catalog, "flows/Tea.json");
    let told = catalog.run(["validate"]).out;
    assert!(told.lines().last().unwrap().starts_with("`flowy validate --fix=unsafe` mends 6 findings"), "{told}");
    assert_eq!(catalog.run(["validate", "--fix"]).code, 1);
    assert_eq!(text_of(&catalog, "flows/Tea.json"), before);
    let said = catalog.run(["validate", "--fix=unsafe"]);
    assert_eq!(said.code, 0, "{}\n{}", said.out, text_of(&catalog, "flows/Cake.flow.md"));
    let mended = before.replace("Greetin\"", "Greeting\"").replace("edittor", "editor").replace("Iner", "Inner");
    assert_eq!(text_of(&catalog, "flows/Tea.json"), mended);
    let cake = text_of(&catalog, "flows/Cake.flow.md");
    assert!(
        ["template: Greeting\n", "persona: editor\n", "flow: Inner\n"].iter().all(|line| cake.contains(line)),
        "{cake}"
    );
    // Where two names are alike, nobody knows which is meant.
    let catalog = misspelt().file("templates/Greeting2.md", "Hi.\n").file("templates/Greetings.md", "Hi.\n");
    catalog.run(["validate", "--fix=unsafe"]);
    assert!(text_of(&catalog, "flows/Tea.json").contains("\"Greetin\""));
}

#[test]
fn what_can_be_mended_is_told_at_the_end_and_in_each_finding() {
    let comma = FINE.replace("}]}", "}],}");
    for (text, last, fixes) in [
        (FINE.to_owned(), "ok", vec![]),
        (comma, "`flowy validate --fix` mends 1 finding", vec![true]),
        (FINE.replace("\"nodes\"", "\"nodse\""), "", vec![]),
    ] {
        let catalog = Sandbox::new().file("flows/Fine.json", &text);
        let told = catalog.run(["validate"]).out;
        assert!(told.lines().last().unwrap().starts_with(last), "{told}");
        assert_eq!(told.contains("--fix"), !fixes.is_empty(), "{told}");
        let json = catalog.run(["validate", "--json"]).json();
        let findings = json["files"][0]["findings"].as_array().unwrap().iter();
        let safe: Vec<bool> = findings.filter_map(|finding| finding["fix"]["safe"].as_bool()).collect();
        assert_eq!(safe, fixes, "{json:#}");
    }
}

#[test]
fn a_file_that_repeats_a_key_or_is_no_json_is_not_touched() {
    for bad in [
        FINE.replace("\"edges\":[]", "\"edges\":[],\"edges\":[{\"source\":\"say\",\"target\":\"x\"}]"),
        FINE.replace('}', ""),
    ] {
        let catalog = Sandbox::new().file("flows/Fine.json", &bad);
        assert_eq!(catalog.run(["validate", "--fix=unsafe"]).code, 1);
        let said = catalog.run(["fmt", "--json"]);
        let json = said.json();
        assert_eq!(
            (said.code, &json["changed"], &json["refused"][0]["file"]),
            (1, &Value::Array(vec![]), &"flows/Fine.json".into())
        );
        assert_eq!(text_of(&catalog, "flows/Fine.json"), bad);
    }
}

#[test]
fn files_are_laid_out_once_and_checked_without_being_written() {
    let catalog = Sandbox::new()
        .file("flows/Fine.json", FINE)
        .file("templates/T.json", "{\"template\":\"T {x}\",\"title\":\"T\"}\n")
        .file("notes.json", "{}");
    let said = catalog.run(["fmt", "--check"]);
    assert_eq!((said.code, text_of(&catalog, "flows/Fine.json").as_str()), (1, FINE), "{}", said.out);
    assert_eq!(said.out, "flows/Fine.json\ntemplates/T.json\n2 of 2 files to be laid out; `flowy fmt` does it\n");
    assert_eq!(catalog.run(["fmt"]).out, "flows/Fine.json\ntemplates/T.json\n2 of 2 files laid out\n");
    assert_eq!(text_of(&catalog, "templates/T.json"), "{\n  \"title\": \"T\",\n  \"template\": \"T {x}\"\n}\n");
    assert_eq!(catalog.run(["fmt", "--check"]).code, 0);
    assert_eq!(text_of(&catalog, "notes.json"), "{}");
    assert_eq!(Sandbox::new().run(["fmt"]).code, 2);
    assert_eq!(catalog.run(["fmt", "flows/Gone.json"]).code, 2);
}

/// Every flow file of this repository and of the fixtures, as path and text.
pub(super) fn flow_files() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in ["flows", "tests/fixtures/flows/ok", "tests/fixtures/flows/err"] {
        for (path, bytes) in crate::support::checking::entries(&repository().join(folder), "flows") {
            let beside = ["/templates/", "/personas/", "/contracts/"].iter().any(|part| path.contains(part));
            if let (false, true, Ok(text)) =
                (beside, std::path::Path::new(&path).extension() == Some("json".as_ref()), String::from_utf8(bytes))
            {
                let name = path.trim_start_matches("flows/").replace('/', "-");
                files.push((format!("flows/{name}"), text));
            }
        }
    }
    files.sort();
    files
}

/// What executes of a file: each flow that runs with its plan, required inputs and outputs in it.
fn plans(path: &str, text: &str) -> Vec<Option<String>> {
    let templates = crate::support::checking::entries(&repository().join("templates"), "templates");
    let check = check_against((path, text.as_bytes()), &templates, &Value::Null, &[], Options::default());
    let of = |flow: &flowy::internals::validate::FlowCheck| {
        let plan = Plan::of(flow.checked.as_ref()?, &HashMap::new());
        let record = PlanRecord::of(&plan).ok()?;
        Some(serde_json::to_string(&record).unwrap())
    };
    check.flows.iter().map(of).collect()
}

#[test]
fn mending_and_laying_out_keep_what_executes_and_are_done_once() {
    let (mut changed, mut ran) = (0, 0);
    for (path, text) in flow_files() {
        let place = CatalogPath::new(&path).unwrap();
        let before = plans(&path, &text);
        let mut versions = Vec::new();
        if let Ok(laid) = formatted(&place, text.as_bytes()) {
            assert_eq!(formatted(&place, laid.as_bytes()).as_ref(), Ok(&laid), "{path}");
            versions.push(laid);
        }
        let mut now = text.clone();
        for round in 0.. {
            assert!(round < 5, "{path} is mended again and again");
            let check = check_against((&path, now.as_bytes()), &[], &Value::Null, &[], Options::default());
            let Some(next) = mended(&place, now.as_bytes(), &findings(&check), false) else { break };
            now = next;
        }
        changed += usize::from(now != text);
        versions.push(now);
        for version in versions {
            let after = plans(&path, &version);
            for (before, after) in before.iter().zip(&after).filter(|(before, _)| before.is_some()) {
                assert_eq!(before, after, "{path}");
                ran += 1;
            }
        }
    }
    assert!(changed > 10 && ran > 40, "{changed} {ran}");
}

#[test]
#[cfg(unix)]
fn nothing_is_written_through_a_link_that_waits_beside_a_file_or_in_its_place() {
    use std::os::unix::fs::symlink;

    let bad = FINE.replace("1.0.0", "v1.0");
    let catalog = Sandbox::new().file("flows/Fine.json", &bad).file("mine", "mine");
    let mine = catalog.here().join("mine");
    symlink(&mine, catalog.here().join("flows/Fine.flowy-new")).unwrap();
    let said = catalog.run(["validate", "--fix"]);
    assert_eq!((said.code, text_of(&catalog, "mine").as_str()), (0, "mine"), "{}{}", said.out, said.err);
    assert!(text_of(&catalog, "flows/Fine.json").contains("1.0.0"));
    assert!(!catalog.here().join("flows/Fine.json").is_symlink());

    symlink(&mine, catalog.here().join("flowy-baseline.json")).unwrap();
    let said = catalog.run(["validate", "--baseline", "write"]);
    assert!(said.code != 0 && said.err.contains("it is a link"), "{}{}", said.out, said.err);
    assert_eq!(text_of(&catalog, "mine"), "mine");
}

#[test]
fn a_file_that_was_given_twice_or_within_a_folder_is_checked_once() {
    let catalog = Sandbox::new().file("flows/a/Fine.json", FINE).file("beside.json", FINE.replace("Fine", "Beside"));
    let json = catalog.run(["validate", "--json", "flows", "flows/a/Fine.json", "beside.json", "./beside.json"]).json();
    assert_eq!(json["flows"], serde_json::json!(2), "{json:#}");
}
