//! The formats for services: each is what its reader takes, and points at the right place.

use serde_json::{Value, json};

use super::{FINE, MIXED};
use crate::support::program::{Sandbox, repository};

const SARIF: &str = include_str!("../../fixtures/sarif-2.1.0.schema.json");

fn catalog() -> Sandbox {
    Sandbox::new().file("flows/Ha fen.json", MIXED).file("flows/Fine.json", FINE)
}

#[track_caller]
fn meets_the_sarif_schema(log: &Value) {
    let mut schema: Value = serde_json::from_str(SARIF).unwrap();
    // A pattern of the published schema is no regular expression, in two places.
    for within in ["run", "toolComponent"] {
        schema["definitions"][within]["properties"]["language"].as_object_mut().unwrap().remove("pattern");
    }
    let faults: Vec<String> = jsonschema::validator_for(&schema)
        .unwrap()
        .iter_errors(log)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
}

/// The text that a region means: lines and characters from 1, the end excluded.
fn meant(text: &str, region: &Value) -> String {
    let number = |key: &str| usize::try_from(region[key].as_u64().unwrap()).unwrap();
    let lines: Vec<&str> = text.split('\n').collect();
    let (first, last) = (number("startLine") - 1, number("endLine") - 1);
    let cut = |line: usize, from: usize, to: usize| lines[line].chars().skip(from).take(to - from).collect::<String>();
    if first == last {
        return cut(first, number("startColumn") - 1, number("endColumn") - 1);
    }
    let mut text = cut(first, number("startColumn") - 1, usize::MAX);
    for line in lines.iter().take(last).skip(first + 1) {
        text = text + "\n" + line;
    }
    text + "\n" + &cut(last, 0, number("endColumn") - 1)
}

#[test]
fn a_sarif_log_meets_the_schema_and_its_regions_are_the_places_that_are_meant() {
    let said = catalog().run(["validate", "--format", "sarif", "--fail-on", "never"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let log = said.json();
    meets_the_sarif_schema(&log);
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "unicodeCodePoints");
    let results = run["results"].as_array().unwrap();
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let mut places = Vec::new();
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        for key in ["helpUri", "shortDescription", "help", "defaultConfiguration"] {
            assert!(!rule[key].is_null(), "{rule}");
        }
        let physical = &result["locations"][0]["physicalLocation"];
        let artifact = &physical["artifactLocation"];
        assert_eq!(artifact["uri"], "flows/Ha%20fen.json");
        assert!(!run["originalUriBaseIds"][artifact["uriBaseId"].as_str().unwrap()].is_null());
        places.push((result["ruleId"].as_str().unwrap().to_owned(), meant(MIXED, &physical["region"])));
    }
    let expected = [
        ("unused-variable", "\"zeit\""),
        ("unused-variable", "\"boot\""),
        ("unknown-node-kind", "\"sticky\""),
        ("dangling-edge", "\"gone\""),
    ];
    assert_eq!(places, expected.map(|(rule, text)| (rule.to_owned(), text.to_owned())));
}

#[test]
fn fingerprints_outlive_shifted_lines_and_tell_two_findings_of_one_line_apart() {
    let prints = |text: &str| {
        let log = Sandbox::new().file("flows/Hafen.json", text).run(["validate", "--format", "sarif"]).json();
        let of = |result: &Value| result["partialFingerprints"]["flowyFinding/v1"].as_str().unwrap().to_owned();
        log["runs"][0]["results"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    let before = prints(MIXED);
    assert_eq!(prints(&MIXED.replacen('{', "{\n\n", 1)), before);
    let mut different = before.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), 4, "{before:?}");
    // Two edges to nowhere that are spelt alike.
    let twice = MIXED.replace("\"edges\": [", "\"edges\": [{\"source\": \"say\", \"target\": \"gone\"}, ");
    let mut twice = prints(&twice);
    twice.sort();
    twice.dedup();
    assert_eq!(twice.len(), 5);
}

#[test]
fn files_that_cannot_be_read_and_suppressed_findings_are_in_a_valid_sarif_log() {
    let ignored = MIXED
        .replace("\"edges\": [", "\"x-flowy-ignore\": {\"unused-variable\": \"they come later\"},\n  \"edges\": [");
    let catalog = Sandbox::new()
        .file("flows/Hafen.json", ignored)
        .file("flows/Broken.json", "{]")
        .file("flows/Large.json", FINE.replace("Fine\"}}", &"x".repeat(2_000)));
    let log = catalog.run(["validate", "--format", "sarif", "--max-file-size-bytes", "1500"]).json();
    meets_the_sarif_schema(&log);
    let results = log["runs"][0]["results"].as_array().unwrap();
    let of = |rule: &str| results.iter().filter(|result| result["ruleId"] == rule).collect::<Vec<_>>();
    assert_eq!((of("syntax").len(), of("unreadable-file").len()), (1, 1), "{log:#}");
    for result in of("unused-variable") {
        assert_eq!(
            result["suppressions"][0],
            json!({"kind": "inSource", "status": "accepted", "justification": "they come later"})
        );
    }
}

#[test]
fn annotations_name_place_and_rule_ten_of_a_kind_and_the_summary_has_all() {
    let names: Vec<String> = (0..14).map(|number| format!("\"v{number}\"")).collect();
    let many = MIXED.replace("\"zeit\", \"boot\"", &names.join(", "));
    let catalog = Sandbox::new().file("flows/Ha,fen: 100%.json", many);
    let summary = catalog.here().join("summary.md");
    let catalog = catalog.variable("GITHUB_STEP_SUMMARY", summary.to_str().unwrap());
    let said = catalog.run(["validate", "--format", "github"]);
    assert_eq!(said.code, 1);
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines[0].starts_with("::error file=flows/Ha%2Cfen%3A 100%25.json,line=7,endLine=7,col=76,endColumn=82,title=flowy%3A dangling-edge::"), "{}", lines[0]);
    assert!(lines[0].contains("%0A"), "the hint is on a line of its own: {}", lines[0]);
    assert_eq!(lines.iter().filter(|line| line.starts_with("::warning ")).count(), 10, "{}", said.out);
    assert!(lines.last().unwrap().starts_with("5 findings have no annotation"), "{}", said.out);
    let text = std::fs::read_to_string(summary).unwrap();
    let rows: Vec<&str> =
        text.lines().filter(|line| line.starts_with("| error") || line.starts_with("| warning")).collect();
    assert_eq!((rows.len(), rows[0].starts_with("| error")), (16, true), "{text}");
}

#[test]
fn nothing_of_a_file_is_a_command_a_tag_or_markdown_in_what_ci_reads() {
    let hostile = FINE
        .replace("\"id\":\"say\"", "\"id\":\"<img src=x>|`\\n::set-env name=x::y\"")
        .replace("template\",\"data", "::sticky\",\"data");
    let catalog = Sandbox::new().file("flows/Bad.json", hostile).file("flows/Fine.json", FINE);
    let summary = catalog.here().join("summary.md");
    let catalog = catalog.variable("GITHUB_STEP_SUMMARY", summary.to_str().unwrap());
    let said = catalog.run(["validate", "--format", "github"]).out;
    assert!(said.lines().all(|line| !line.starts_with("::set-env")), "{said}");
    let text = std::fs::read_to_string(summary).unwrap();
    assert!(!text.contains("<img") && !text.contains("|`"), "{text}");
}

#[test]
fn code_quality_has_one_entry_for_each_finding() {
    let report = catalog().run(["validate", "--format", "gitlab"]).json();
    let entries = report.as_array().unwrap();
    assert_eq!(entries.len(), 4, "{report:#}");
    let last = &entries[3];
    assert_eq!((&last["check_name"], &last["severity"]), (&json!("dangling-edge"), &json!("major")));
    assert_eq!(last["location"], json!({"path": "flows/Ha fen.json", "lines": {"begin": 7, "end": 7}}));
}

#[test]
fn a_file_is_a_test_that_fails_where_the_check_fails() {
    let said = catalog().run(["validate", "--format", "junit"]).out;
    assert!(said.contains("<testsuite name=\"flowy validate\" tests=\"2\" failures=\"1\""), "{said}");
    assert!(said.contains("<failure type=\"dangling-edge\"") && said.contains("<system-out>"), "{said}");
    assert!(said.contains("name=\"flows/Fine.json\"/>"), "{said}");
    let warnings = MIXED.replace(", {\"source\": \"say\", \"target\": \"gone\"}", "");
    let catalog = Sandbox::new().file("flows/Hafen.json", warnings);
    assert!(catalog.run(["validate", "--format", "junit"]).out.contains("failures=\"0\""));
    assert!(catalog.run(["validate", "--format", "junit", "--strict"]).out.contains("failures=\"1\""));
}

#[test]
fn the_json_has_a_version_and_meets_its_published_schema() {
    let path = repository().join("schemas/validate.response.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for arguments in [vec!["validate", "--json"], vec!["validate", "--format", "json"]] {
        let json = catalog().run(arguments).json();
        assert_eq!(json["schemaVersion"], 1);
        let faults: Vec<String> = validator.iter_errors(&json).map(|error| error.to_string()).collect();
        assert!(faults.is_empty(), "{faults:?}");
    }
}

#[test]
fn which_findings_let_a_check_fail_is_chosen_and_the_other_exit_codes_stay() {
    let warnings = MIXED.replace(", {\"source\": \"say\", \"target\": \"gone\"}", "");
    let (errors, warnings) = (catalog(), Sandbox::new().file("flows/Hafen.json", warnings));
    for (fail_on, codes) in [("error", (1, 0)), ("warning", (1, 1)), ("info", (1, 1)), ("never", (0, 0))] {
        let code = |catalog: &Sandbox| catalog.run(["validate", "--fail-on", fail_on]).code;
        assert_eq!((code(&errors), code(&warnings)), codes, "{fail_on}");
    }
    assert_eq!(warnings.run(["validate", "--strict"]).code, 1);
    assert_eq!(Sandbox::new().run(["validate", "--fail-on", "never"]).code, 2);
    assert_eq!(errors.run(["validate", "--strict", "--fail-on", "error"]).code, 2);
    assert_eq!(errors.run(["validate", "--json", "--format", "sarif"]).code, 2);
}

#[test]
fn a_text_on_stdin_is_checked_in_the_place_of_its_file_with_the_catalog_around_it() {
    let template = r#"{"title":"Greeting","template":"Hello {name}"}"#;
    let flow = FINE.replace("\"template\":\"Fine\"", "\"selectedTemplateId\":\"Greeting\"");
    let catalog = Sandbox::new().file("flows/Fine.json", FINE).file("templates/Greeting.json", template);
    let catalog = catalog.stdin(&flow);
    let said = catalog.run(["validate", "-", "--stdin-filename", "flows/Fine.json"]);
    assert_eq!((said.code, said.out.contains("ok: 1 flow")), (0, true), "{}", said.out);
    let gone = catalog.stdin(flow.replace("Greeting", "Greting"));
    for name in ["flows/Fine.json", "flows/New.json"] {
        let said = gone.run(["validate", "-", "--stdin-filename", name, "--quiet"]);
        assert_eq!(said.code, 1);
        assert!(said.out.starts_with(&format!("{name}:2:")) && said.out.contains("missing-template"), "{}", said.out);
        assert_eq!(said.out.lines().count(), 1, "{}", said.out);
    }
    // Without a name it stands alone.
    let alone = Sandbox::new().stdin(&flow).run(["validate", "-"]);
    assert_eq!((alone.code, alone.out.contains("not checked")), (0, true), "{}", alone.out);
    assert_eq!(Sandbox::new().run(["validate", "--stdin-filename", "a.json"]).code, 2);
}
