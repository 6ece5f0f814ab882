//! Files of tests among the files that are checked, and nowhere else.

use serde_json::{Value, json};

use super::{TRIP, ends, trip};
use crate::support::program::Sandbox;

const GOOD: &str = r#"{"flow": "Trip", "inputs": {"port": "Oban"}, "expect": {"status": "success"}}"#;

#[test]
fn a_pattern_that_is_huge_when_it_is_compiled_is_none() {
    let matches = |pattern: &str| {
        trip(
            &json!({"flow": "Trip", "inputs": {"port": "Oban"}, "expect": {"finalResult": {"matches": pattern}}})
                .to_string(),
        )
    };
    let said = matches("a{500}{500}").run(["validate", "--json"]);
    assert!(said.out.contains("it is too large"), "{}", said.out);
    assert_eq!(matches(r"(?s)Sail.{1,500}[\w ]{3,30}\.").run(["test"]).code, 0);
}

/// Rule, reach and place of everything that is found.
fn found(json: &Value) -> Vec<String> {
    let files = json["files"].as_array().unwrap_or_else(|| panic!("{json:#}")).iter();
    let all = files.flat_map(|file| file["findings"].as_array().unwrap());
    let text = |finding: &Value, key: &str| finding[key].as_str().unwrap_or_default().to_owned();
    all.map(|one| {
        format!("{} {} {}:{}:{}", text(one, "rule"), text(one, "reach"), text(one, "file"), one["line"], one["column"])
    })
    .collect()
}

#[test]
fn files_of_tests_are_checked_with_their_catalog_alone_and_from_stdin() {
    let catalog = trip(GOOD);
    let json = catalog.run(["validate", "--json"]).json();
    assert_eq!((found(&json), &json["tests"]), (Vec::new(), &json!(1)), "{json:#}");
    let bad = "{\"flow\": \"Trip\",\n \"expects\": {\"status\": \"well\"},\n \"expect\": {\"status\": \"well\"}}";
    let catalog =
        catalog.file("tests/bad.flowtest.json", bad).file("tests/worse.flowtest.json", "{\"flow\": \"Trip\",}");
    let due = [
        "schema none tests/bad.flowtest.json:2:2",
        "schema none tests/bad.flowtest.json:3:23",
        "syntax none tests/worse.flowtest.json:1:16",
    ];
    assert_eq!(found(&catalog.run(["validate", "--json"]).json()), due);
    assert_eq!(found(&catalog.run(["validate", "--json", "tests"]).json()), due);
    assert_eq!(found(&catalog.run(["validate", "--json", "tests/bad.flowtest.json"]).json()), due[..2]);
    assert_eq!(found(&catalog.run(["validate", "--json", "flows"]).json()), [""; 0]);
    let typed = trip(GOOD).stdin(GOOD.replace("Trip", "Tripp"));
    let json = typed.run(["validate", "--json", "-", "--stdin-filename", "tests/new.flowtest.json"]).json();
    assert_eq!(found(&json), ["bad-test none tests/new.flowtest.json:1:10"]);
    // Outside of a catalog, names can't be looked up.
    let alone = Sandbox::new().file("x.flowtest.json", GOOD.replace("status", "state"));
    assert_eq!(found(&alone.run(["validate", "--json", "x.flowtest.json"]).json()).len(), 1);
}

#[test]
fn broken_files_of_tests_fail_the_run_with_their_place_and_hide_no_other() {
    let catalog = trip(GOOD).file("tests/Bad.flowtest.json", "[\n]");
    let said = catalog.run(["test"]);
    assert_eq!(said.code, 1);
    assert!(said.out.contains("tests/Bad.flowtest.json:1:1") && said.out.contains("1 passed"), "{}", said.out);
    // Where another flow's tests are asked for, they don't matter.
    assert_eq!(catalog.run(["test", "Trip"]).code, 0);
    assert_eq!(catalog.run(["test", "Bad"]).code, 1);
    let large = catalog.run(["test", "--max-file-size-bytes", "60", "--json"]);
    assert_eq!(large.json()["broken"].as_array().map(Vec::len), Some(2), "{}", large.out);
}

#[test]
fn a_test_that_can_not_be_read_hides_no_other_of_its_list() {
    let good = |name: &str| GOOD.replacen('{', &format!("{{\"name\": \"{name}\", "), 1);
    for bad in ["{\"name\": \"bad\", \"flow\": \"Trip\", \"expects\": {}}", "{\"flow\": 7, \"expect\": {}}", "7"] {
        let unnamed = GOOD;
        let catalog = trip(&format!("[\n{},\n{bad},\n{},\n{unnamed}]", good("one"), good("two")));
        let said = catalog.run(["test", "--json"]);
        let passed = ["one", "two", "Trip #4"].map(|name| (name.to_owned(), "passed".to_owned()));
        assert_eq!((said.code, ends(&said)), (1, passed.to_vec()), "{}", said.out);
        assert_eq!(said.json()["broken"][0]["findings"][0]["line"], 3, "{}", said.out);
        let told = catalog.run(["test"]).out;
        assert!(
            told.contains("tests/Trip.flowtest.json:3:") && told.contains("3 passed, 0 failed, 1 file with errors"),
            "{told}"
        );
        assert_eq!(catalog.run(["test", "two"]).code, 0);
        assert_eq!(catalog.run(["test", "bad"]).code, if bad.contains("bad") { 1 } else { 2 });
        assert_eq!(catalog.run(["validate", "--json"]).json()["tests"], 3);
    }
}

#[test]
fn tests_are_no_part_of_what_is_served() {
    let with = trip(GOOD).run(["list", "--json"]).json();
    let without = Sandbox::new().file("flows/Trip.json", TRIP).run(["list", "--json"]).json();
    assert_eq!((&with["flows"], &with["errors"]), (&without["flows"], &without["errors"]));
    let broken = trip("{]").run(["list", "--json"]).json();
    assert_eq!(broken["errors"], without["errors"]);
}

#[test]
fn tests_name_flows_in_any_form_and_a_file_is_fixed_like_any_other() {
    let markdown = "---\nname: Tea\nversion: 1.0.0\ninputs: [who]\n---\n\n## Say {#say}\n\nHello {who}\n";
    let test = "{\"flow\": \"Tea\", \"inputs\": {\"who\": \"Kim\"}, \"expect\": {\"finalResult\": \"Hello Kim\",}}\n";
    let catalog = Sandbox::new().file("flows/Tea.flow.md", markdown).file("tests/Tea.flowtest.json", test);
    assert_eq!(catalog.run(["test"]).code, 1);
    assert_eq!(catalog.run(["validate", "--fix"]).code, 0);
    let said = catalog.run(["test", "--json"]);
    assert_eq!(ends(&said), [("Tea".to_owned(), "passed".to_owned())], "{}", said.out);
    let fixed = std::fs::read_to_string(catalog.here().join("tests/Tea.flowtest.json")).unwrap();
    assert_eq!(fixed, test.replace(",}", "}"));
}

#[test]
fn the_schema_of_files_of_tests_is_printed_and_takes_what_is_run() {
    let said = Sandbox::new().run(["schema", "--file", "flowtest"]);
    let schema: Value = said.json();
    assert_eq!(schema["$id"], "urn:flowy:schema:flowtest:1");
    let schema = jsonschema::validator_for(&schema).unwrap();
    assert!(schema.is_valid(&serde_json::from_str(GOOD).unwrap()));
    assert!(!schema.is_valid(&json!([])) && !schema.is_valid(&json!({"flow": "Trip"})));
}

/// A flow with one input that has a default, and a set that gives the other.
const CARD: &str = r#"{"metadata": {"name": "Card", "version": "1.0.0", "inputs": {"tone": {"default": "kind"}}},
  "nodes": [{"id": "write", "type": "template", "data": {"label": "Write", "template": "{tone} {occasion} {person}",
    "variableValueSets": [{"id": "1", "name": "birthday", "values": {"occasion": "A birthday"}}]}}], "edges": []}"#;

/// What is said and what helps against it, of everything that is found.
fn told(json: &Value) -> Vec<String> {
    let files = json["files"].as_array().unwrap_or_else(|| panic!("{json:#}")).iter();
    let all = files.flat_map(|file| file["findings"].as_array().unwrap());
    all.map(|one| format!("{} | {}", one["message"], one["hints"])).collect()
}

#[test]
fn a_test_that_gives_what_its_flow_does_not_have_is_found_and_fails() {
    for (inputs, place, says) in [
        (json!({"occasion": "o", "person": "Kim", "tonne": "x"}), "tonne", ["\\\"tonne\\\"", "\\\"tone\\\""]),
        (json!({"person": "Kim", "_variableSet": "bday"}), "_variableSet", ["\\\"bday\\\"", "\\\"birthday\\\""]),
    ] {
        let test = json!({"flow": "Card", "inputs": inputs, "expect": {"status": "success"}});
        let catalog = Sandbox::new().file("flows/Card.json", CARD).file("tests/Card.flowtest.json", test.to_string());
        let json = catalog.run(["validate", "--json"]).json();
        let told = told(&json);
        assert_eq!(found(&json).len(), 1, "{json:#}");
        assert!(found(&json)[0].starts_with("bad-test none tests/Card.flowtest.json:"), "{json:#}");
        assert!(says.iter().all(|word| told[0].contains(word)), "{place}: {told:?}");
        let said = catalog.run(["test", "--json"]);
        let mismatches = super::mismatches(&said);
        assert_eq!((said.code, mismatches.len(), mismatches[0].0.as_str()), (1, 1, "inputs"), "{}", said.out);
        let named = |word: &&str| mismatches[0].1.contains(word.trim_matches(['\\', '"']));
        assert!(says.iter().all(named), "{place}: {mismatches:?}");
    }
    // What a set gives, and a name that only a text has, are fine.
    for inputs in [json!({"_variableSet": "birthday", "person": "Kim"}), json!({"occasion": 1, "person": "Kim"})] {
        let test = json!({"flow": "Card", "inputs": inputs, "expect": {"status": "success"}});
        let catalog = Sandbox::new().file("flows/Card.json", CARD).file("tests/Card.flowtest.json", test.to_string());
        assert_eq!(catalog.run(["validate", "--strict"]).code, 0, "{}", catalog.run(["validate"]).out);
        assert_eq!(catalog.run(["test"]).code, 0, "{}", catalog.run(["test"]).out);
    }
}

#[test]
fn a_misspelt_name_is_told_before_the_value_that_is_missing_for_want_of_it() {
    let test = json!({"flow": "Trip", "inputs": {"porrt": "Oban"}, "expect": {"status": "success"}});
    let said = trip(&test.to_string()).run(["test", "--json"]);
    let mismatches = super::mismatches(&said);
    assert!(mismatches[0].1.contains("porrt") && mismatches[1].1.contains("missing"), "{mismatches:?}");
}

#[test]
fn a_misspelt_field_of_a_test_is_told_once_with_the_field_that_is_meant() {
    let whole = json!([
        {"flow": "Trip", "input": {"port": "Oban"}, "expect": {"finalResult": {"contain": "x"}}},
        {"flow": "Trip", "expects": {"status": "success"}}]);
    let json = trip(&whole.to_string()).run(["validate", "--json"]).json();
    assert_eq!(
        told(&json),
        [
            r#""test 1: input: there is no such field" | ["did you mean \"inputs\"?"]"#,
            r#""test 1: expect.finalResult.contain: there is no such field" | ["did you mean \"contains\"?"]"#,
            r#""test 2: expects: nobody reads the field \"expects\", and \"expect\" is missing" | ["did you mean \"expect\"?"]"#,
        ]
    );
}
