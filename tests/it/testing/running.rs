//! What is compared, which tests are run, and what is told of them.

use serde_json::{Value, json};

use super::{ends, mismatches, trip};
use crate::support::program::{Sandbox, repository};

fn one(expect: &Value) -> String {
    json!({"flow": "Trip", "inputs": {"port": "Oban"}, "expect": expect}).to_string()
}

#[test]
fn what_a_test_says_is_compared_and_nothing_else() {
    let whole = "Sail to Oban.\nPack.\nEat in Oban.";
    for (expect, passes) in [
        (json!({"finalResult": whole}), true),
        (json!({"finalResult": format!("{whole}\n")}), false),
        (json!({"finalResult": {"contains": ["Pack.", "Eat in Oban"]}}), true),
        (json!({"finalResult": {"contains": ["Pack.", "Eat in Rome"]}}), false),
        (json!({"finalResult": {"matches": r"(?m)^Eat in \w+\.$"}}), true),
        (json!({"finalResult": {"matches": [r"^Sail", r"^Eat"]}}), false),
        (json!({"finalResult": null}), false),
        (json!({"steps": {"sail": "Sail to Oban.\nPack."}}), true),
        (json!({"steps": {"sail": {"error": "TOOL_ERROR"}}}), false),
        (json!({"steps": {"sail": {"fields": {"a.b": 1}}}}), false),
        (json!({"results": {"Way": {"contains": "Pack"}, "Meal": {"contains": "Eat"}}}), true),
        (json!({"results": {"Way": {"contains": "Eat"}}}), false),
        (json!({"prompts": {"eat": {"contains": "Eat"}}}), true),
        (json!({"status": "success", "missing": [], "findings": []}), true),
        (json!({"status": "partial"}), false),
        (json!({"findings": ["cycle"]}), false),
        (json!({"missing": ["port"]}), false),
    ] {
        let said = trip(&one(&expect)).run(["test", "--json"]);
        let status = if passes { "passed" } else { "failed" };
        assert_eq!(ends(&said), [("Trip".to_owned(), status.to_owned())], "{expect}\n{}", said.out);
        assert_eq!(said.code, i32::from(!passes), "{expect}");
    }
}

#[test]
fn missing_values_and_findings_are_exact_sets_and_nothing_runs_without_the_values() {
    let test = |expect: Value| json!({"flow": "Trip", "expect": expect}).to_string();
    let said = trip(&test(json!({"missing": ["port"], "findings": []}))).run(["test", "--json"]);
    assert_eq!(said.code, 0, "{}", said.out);
    let said = trip(&test(json!({"missing": []}))).run(["test", "--json"]);
    let json = said.json();
    let told = &json["tests"][0]["mismatches"][0];
    assert_eq!((&told["what"], &told["expected"], &told["actual"]), (&json!("missing"), &json!(""), &json!("port\n")));
    let said = trip(&test(json!({"finalResult": "x"}))).run(["test", "--json"]);
    assert_eq!(mismatches(&said)[0].0, "inputs");
    assert!(mismatches(&said)[0].1.contains("port"), "{}", said.out);
    // A flow that can't be executed may still be expected to have its findings.
    let ring =
        super::TRIP.replace("\"source\": \"in\", \"target\": \"sail\"", "\"source\": \"eat\", \"target\": \"sail\"");
    let broken = trip(&test(json!({"findings": ["cycle"]}))).file("flows/Trip.json", ring);
    assert_eq!(broken.run(["test"]).code, 0, "{}", broken.run(["test"]).out);
    let broken = broken.file("tests/Trip.flowtest.json", test(json!({"findings": ["cycle"], "status": "success"})));
    let said = broken.run(["test", "--json"]);
    assert!(mismatches(&said)[0].1.starts_with("CIRCULAR_DEPENDENCY"), "{}", said.out);
}

const THREE: &str = r#"[
  {"name": "by the sea", "flow": "Trip", "inputs": {"port": "Oban"}, "expect": {"status": "success"}},
  {"flow": "Trip", "inputs": {"port": "Rome"}, "expect": {"finalResult": "Rome"}},
  {"flow": "Other", "expect": {"finalResult": "Hello"}}
]"#;
const OTHER: &str = r#"{"metadata": {"name": "Other", "version": "1.0.0"}, "edges": [],
  "nodes": [{"id": "say", "type": "template", "data": {"label": "Say", "template": "Hello"}}]}"#;

fn three() -> Sandbox {
    trip(THREE)
        .file("flows/Other.json", OTHER)
        .file("tests/more/Other.flowtest.json", r#"{"flow": "Other", "expect": {"status": "success"}}"#)
}

#[test]
fn tests_are_chosen_by_flow_name_and_file_and_a_name_without_a_test_is_refused() {
    let names = |arguments: &[&str]| {
        let said = three().run([&["test", "--json", "--list"], arguments].concat());
        ends(&said).into_iter().map(|(name, status)| format!("{name} {status}")).collect::<Vec<_>>()
    };
    assert_eq!(names(&[]), ["by the sea listed", "Trip #2 listed", "Other #3 listed", "Other listed"]);
    assert_eq!(names(&["by the sea"]), ["by the sea listed"]);
    assert_eq!(names(&["other"]), ["Other #3 listed", "Other listed"]);
    assert_eq!(names(&["Other", "by the sea"]), ["by the sea listed", "Other #3 listed", "Other listed"]);
    assert_eq!(names(&["--shard", "1/3"]), ["by the sea listed", "Other listed"]);
    assert_eq!(names(&["--shard", "3/3"]), ["Other #3 listed"]);
    let said = three().run(["test", "Tripp"]);
    assert_eq!((said.code, said.err.contains("Trip")), (2, true), "{}", said.err);
    let said = three().run(["test", "bogus"]);
    assert_eq!(said.err.matches("\"Trip\"").count(), 1, "{}", said.err);
    assert_eq!(three().run(["test", "--shard", "4/3"]).code, 2);
    // Without tests, only a name is a fault.
    let none = Sandbox::new().file("flows/Other.json", OTHER);
    assert_eq!((none.run(["test"]).code, none.run(["test", "Other"]).code), (0, 2));
    let outside = Sandbox::new();
    assert_eq!(outside.run(["test"]).code, 2);
    assert_eq!(outside.run(["test", "--source", "examples"]).code, 2);
}

#[test]
fn what_differs_is_shown_line_by_line_and_what_passes_in_one_line() {
    let said = three().run(["test"]);
    assert_eq!(said.code, 1);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines[0], "ok      by the sea  tests/Trip.flowtest.json:2");
    assert_eq!(lines[1], "FAILED  Trip #2  tests/Trip.flowtest.json:3");
    assert!(said.out.contains("    - Rome\n    + Sail to Rome.\n    + Pack.\n    + Eat in Rome.\n"), "{}", said.out);
    assert!(said.out.contains("4 tests in ") && said.out.contains(" ms: 3 passed, 1 failed\n"), "{}", said.out);
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{}", said.out);
    let names = trip(&one(&json!({"findings": ["cycle"], "missing": ["port"]}))).run(["test"]).out;
    for line in ["  findings: expected, and not there: cycle\n", "  missing: expected, and not there: port\n"] {
        assert!(names.contains(line), "{names}");
    }
    let quiet = three().run(["test", "--quiet"]);
    assert!(quiet.out.starts_with("FAILED  Trip #2") && !quiet.out.contains("passed"), "{}", quiet.out);
    let junit = three().run(["test", "--format", "junit"]);
    assert_eq!(junit.code, 1);
    assert!(junit.out.contains("<testsuite name=\"flowy test\" tests=\"4\" failures=\"1\""), "{}", junit.out);
    assert_eq!(junit.out.matches("<testcase classname=\"flowy test\"").count(), 4);
    assert_eq!(three().run(["test", "--json", "--format", "junit"]).code, 2);
}

#[test]
fn update_writes_what_is_there_and_leaves_every_other_byte() {
    let before = "\u{FEFF}[\r\n  {\"flow\":\"Trip\",  \"inputs\": {\"port\": \"Oban\"}, \"mocks\": {\"gone\": {\"json\": 1.50}},\r\n   \"expect\": {\"finalResult\": \"old\",\r\n     \"missing\": [ \"port\" ], \"findings\": []}},\r\n  {\"flow\": \"Trip\", \"inputs\": {\"port\": \"R\"}, \"expect\": {\"results\": {\"Way\": \"x\"}, \"finalResult\": {\"contains\": \"y\"}}}\r\n]\r\n";
    let catalog = trip(before);
    let said = catalog.run(["test", "--update", "--json"]);
    assert_eq!(ends(&said).iter().map(|(_, status)| status.as_str()).collect::<Vec<_>>(), ["updated", "failed"]);
    assert_eq!((said.code, &said.json()["updated"]), (1, &json!(["tests/Trip.flowtest.json"])));
    let after = std::fs::read_to_string(catalog.here().join("tests/Trip.flowtest.json")).unwrap();
    let due = before
        .replace("\"old\"", r#""Sail to Oban.\nPack.\nEat in Oban.""#)
        .replace("[ \"port\" ]", "[]")
        .replace("\"x\"", r#""Sail to R.\nPack.""#);
    assert_eq!(after, due);
    // What can't be written is still told, and what was written passes now.
    let again = catalog.run(["test", "--json"]);
    assert_eq!(ends(&again).iter().map(|(_, status)| status.as_str()).collect::<Vec<_>>(), ["passed", "failed"]);
    assert_eq!(mismatches(&catalog.run(["test", "--json", "Trip"])), []);
}

#[test]
fn update_is_proposed_only_where_it_mends_something() {
    for (expect, told) in [
        (json!({"finalResult": "old"}), Some("writes what is there into")),
        (json!({"finalResult": {"contains": "old"}}), None),
        (json!({"finalResult": {"contains": "old"}, "status": "partial"}), Some("writes what is there into")),
    ] {
        let said = trip(&one(&expect)).run(["test"]).out;
        assert!(said.contains("1 failed") && said.contains("--update") == told.is_some(), "{said}");
        assert!(told.is_none_or(|told| said.contains(told)), "{said}");
    }
    let twice = one(&json!({"finalResult": {"contains": ["old", "older"]}}));
    let said = trip(&twice).run(["test"]).out;
    assert_eq!((said.matches("| Pack.").count(), said.matches("(the same text as above)").count()), (1, 1), "{said}");
    let mixed =
        format!("[{},{}]", one(&json!({"finalResult": "old"})), one(&json!({"finalResult": {"contains": "old"}})));
    let said = trip(&mixed).run(["test"]).out;
    assert!(said.contains("what is there of 1 of them into"), "{said}");
}

#[test]
fn what_lacks_an_answer_is_told_alone_and_nothing_is_written_of_it() {
    let flow = json!({"metadata": {"name": "Look", "version": "1.0.0"}, "edges": [],
        "nodes": [{"id": "find", "type": "tool", "data": {"call": "web:search"}}]});
    let test = r#"{"flow": "Look", "inputs": {}, "expect": {"status": "success", "finalResult": "seven"}}"#;
    let catalog = Sandbox::new().file("flows/Look.json", flow.to_string()).file("tests/Look.flowtest.json", test);
    let said = catalog.run(["test", "--update", "--json"]);
    let what: Vec<String> = mismatches(&said).into_iter().map(|(what, _)| what).collect();
    assert_eq!((said.code, what), (1, vec!["mocks.find".to_owned()]));
    assert_eq!(std::fs::read_to_string(catalog.here().join("tests/Look.flowtest.json")).unwrap(), test);
}

#[test]
fn a_file_of_tests_is_named_by_its_path_as_well() {
    let catalog = trip(r#"{"flow": "Trip", "inputs": {"port": "Oban"}, "expect": {"missing": []}}"#)
        .file("tests/more/Trip.flowtest.json", r#"{"flow": "Trip", "name": "More", "expect": {"missing": ["port"]}}"#);
    for (name, due) in [
        ("tests/Trip.flowtest.json", vec!["Trip"]),
        ("./tests/more/Trip.flowtest.json", vec!["More"]),
        ("Trip", vec!["Trip", "More"]),
    ] {
        let names: Vec<String> =
            ends(&catalog.run(["test", "--json", name])).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, due, "{name}");
    }
    assert_eq!(catalog.run(["test", "tests/Gone.flowtest.json"]).code, 2);
}

#[test]
fn the_tests_of_this_repository_pass() {
    let said = Sandbox::new().run(["test", "--source", repository().to_str().unwrap()]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    assert!(!said.out.contains("no tests"), "{}", said.out);
}

#[test]
fn the_answer_meets_its_published_schema() {
    let schema = std::fs::read_to_string(repository().join("schemas/test.response.schema.json")).unwrap();
    let schema = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    for catalog in [three(), three().file("tests/bad.flowtest.json", "{]")] {
        for arguments in [&["test", "--json"][..], &["test", "--json", "--list"], &["test", "--json", "--update"]] {
            let json = catalog.run(arguments).json();
            let errors: Vec<String> = schema.iter_errors(&json).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:?}\n{json:#}");
        }
    }
}

#[test]
fn the_example_of_the_page_about_testing_passes() {
    let page = std::fs::read_to_string(repository().join("docs/TESTING.md")).unwrap();
    let block = |kind: &str| {
        let text = page.split(&format!("\n````{kind}\n")).nth(1).unwrap();
        format!("{}\n", text.split("\n````").next().unwrap())
    };
    let catalog = Sandbox::new()
        .file("flows/Greeting.flow.md", block("markdown"))
        .file("tests/Greeting.flowtest.json", block("json"));
    assert_eq!(catalog.run(["validate", "--strict"]).code, 0, "{}", catalog.run(["validate", "--strict"]).out);
    let said = catalog.run(["test", "Greeting", "--json"]);
    assert_eq!((said.code, &said.json()["passed"]), (0, &json!(3)), "{}", said.out);
}

#[test]
fn tests_that_are_not_read_are_told_and_not_taken_for_none() {
    let fine = one(&json!({"status": "success"}));
    let catalog = trip(&fine).file("tests/a\u{1}b.flowtest.json", &fine);
    let said = catalog.run(["test"]);
    assert_eq!(said.code, 1, "{}{}", said.out, said.err);
    assert!(said.out.contains("is not read"), "{}{}", said.out, said.err);

    let broken = trip("{").file("before/flows/Trip.json", super::TRIP);
    let json = broken.run(["diff", "./before", "--json"]).json();
    assert_eq!(json["testsBroken"], json!(["tests/Trip.flowtest.json"]), "{json:#}");
    assert!(broken.run(["diff", "./before"]).out.contains("tests of these files can't be run"));
}

#[test]
fn the_text_that_lacks_several_things_is_shown_once() {
    let said = trip(
        r#"{"flow": "Trip", "inputs": {"port": "Oslo"},
            "expect": {"finalResult": {"contains": ["Rome", "Oslo", "Bergen"], "matches": ["^Eat"]}}}"#,
    )
    .run(["test", "--json"]);
    let text = "Sail to Oslo.\nPack.\nEat in Oslo.";
    let told: Vec<String> = mismatches(&said).into_iter().map(|(_, message)| message).collect();
    let due = [
        format!("\"Rome\" is not in it:\n{text}"),
        "\"Bergen\" is not in it:\n(the same text as above)".to_owned(),
        "nothing in it matches \"^Eat\":\n(the same text as above)".to_owned(),
    ];
    assert_eq!(told, due);
}
