//! What is not reported, and what has to be.

use serde_json::Value;

use super::{FINE, MIXED};
use crate::support::program::Sandbox;

fn with_ignore(entries: &str) -> String {
    MIXED.replace("\"edges\": [", &format!("\"x-flowy-ignore\": {entries},\n  \"edges\": ["))
}

/// The rules that are reported, and those that are suppressed with what suppresses them.
fn told(json: &Value) -> (Vec<String>, Vec<String>) {
    let files = json["files"].as_array().unwrap_or_else(|| panic!("{json}"));
    let list = |key: &str| {
        files.iter().flat_map(move |file| file[key].as_array().cloned().unwrap_or_default()).collect::<Vec<_>>()
    };
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let reported = list("findings").iter().map(|finding| text(&finding["rule"])).collect();
    let suppressed =
        list("suppressed").into_iter().map(|one| format!("{} {}", text(&one["by"]), text(&one["finding"]["rule"])));
    (reported, suppressed.collect())
}

fn check(catalog: &Sandbox) -> (Vec<String>, Vec<String>) {
    told(&catalog.run(["validate", "--json"]).json())
}

#[test]
fn a_flow_and_a_node_leave_findings_unsaid_which_count_nowhere() {
    let text = with_ignore(r#"{"unused-variable": "they come later"}"#).replace(
        "\"sticky\", \"data\": {}",
        "\"sticky\", \"data\": {}, \"x-flowy-ignore\": {\"unknown-node-kind\": \"a remark\"}",
    );
    let text = text.replace(", {\"source\": \"say\", \"target\": \"gone\"}", "");
    let catalog = Sandbox::new().file("flows/Hafen.json", text);
    let (reported, suppressed) = check(&catalog);
    assert_eq!((reported.len(), suppressed.len()), (0, 3), "{reported:?} {suppressed:?}");
    let said = catalog.run(["validate", "--strict"]);
    assert_eq!((said.code, said.out.contains("nothing found; 3 suppressed")), (0, true), "{}", said.out);
}

#[test]
fn what_stops_a_flow_and_what_nobody_can_see_is_told_all_the_same() {
    let text = with_ignore(r#"{"dangling-edge": "no", "hidden-text": "no", "syntax": "no"}"#)
        .replace("Im {ort}", "Im {ort}\u{E0061}");
    let (reported, suppressed) = check(&Sandbox::new().file("flows/Hafen.json", text));
    assert_eq!(suppressed, Vec::<String>::new());
    let count = |rule: &str| reported.iter().filter(|other| *other == rule).count();
    assert_eq!((count("dangling-edge"), count("hidden-text"), count("useless-ignore")), (1, 1, 3), "{reported:?}");
    // Neither settings nor a baseline hide it.
    let catalog = Sandbox::new()
        .file("flows/Hafen.json", MIXED)
        .file("flowy.toml", "[[validate.ignore]]\nrule = \"dangling-edge\"\nreason = \"no\"\n");
    assert!(check(&catalog).0.contains(&"dangling-edge".to_owned()));
    assert_eq!(catalog.run(["validate", "--baseline", "write"]).code, 1);
}

#[test]
fn a_baseline_says_how_many_findings_can_not_stand_in_it_and_why() {
    let text = MIXED.replace("Im {ort}", "Im {ort}\u{E0061}");
    let catalog = Sandbox::new().file("flows/Hafen.json", &text);
    let said = catalog.run(["validate", "--baseline", "write"]).out;
    let note = said.lines().find(|line| line.contains("written")).unwrap();
    assert!(note.contains("; 1 left out") && note.contains("suppressed"), "{note}");
    assert!(note.contains("stops a whole flow") == said.contains("dangling-edge"), "{said}");
    let fine = Sandbox::new().file("flows/Fine.json", super::FINE).run(["validate", "--baseline", "write"]).out;
    assert!(fine.contains("0 findings written\n"), "{fine}");
}

#[test]
fn a_suppression_changes_nothing_of_what_executes_or_is_listed() {
    let text = with_ignore(r#"{"missing-template": "it comes later"}"#)
        .replace(", {\"source\": \"say\", \"target\": \"gone\"}", "")
        .replace("\"template\": \"Im {ort}\"", "\"selectedTemplateId\": \"Gone\"");
    let catalog = Sandbox::new().file("flows/Hafen.json", text);
    let (reported, suppressed) = check(&catalog);
    assert!(!reported.contains(&"missing-template".to_owned()), "{reported:?}");
    assert!(suppressed.contains(&"flow missing-template".to_owned()), "{suppressed:?}");
    let listed = catalog.run(["list", "--json"]).json();
    assert_eq!(listed["errors"][0]["rule"], "missing-template", "{listed:#}");
    let said = catalog.run(["run", "Hafen", "--var", "ort=A", "--var", "zeit=B", "--var", "boot=C"]);
    assert_eq!(said.code, 1, "{}", said.err);
}

#[test]
fn an_entry_is_called_unused_only_where_its_rule_was_looked_at() {
    let text = FINE.replace(
        "\"edges\"",
        "\"x-flowy-ignore\":{\"stray-example\":\"a\",\"unknown-tool\":\"b\",\"missing-template\":\"c\"},\"edges\"",
    );
    let catalog = Sandbox::new().file("flows/Fine.json", &text).file("flows/Other.json", FINE.replace("Fine", "Other"));
    assert_eq!(check(&catalog).0, ["useless-ignore", "useless-ignore"]);
    let part = told(&catalog.run(["validate", "flows/Fine.json", "--json"]).json()).0;
    assert_eq!(part, ["useless-ignore"]);
    let alone = told(&Sandbox::new().file("Fine.json", text).run(["validate", "Fine.json", "--json"]).json()).0;
    assert_eq!(alone, Vec::<String>::new());
}

#[test]
fn a_catalog_suppresses_rules_for_paths_and_its_unused_entries_are_found() {
    let settings = "source = 5\n[[validate.ignore]]\nrule = \"unused-variable\"\npaths = [\"flows/old/*\"]\nreason = \"old\"\n\n[[validate.ignore]]\nrule = \"bad-version\"\nreason = \"never met\"\n";
    let catalog = Sandbox::new()
        .file("cat/flows/old/Hafen.json", MIXED)
        .file("cat/flows/new/Hafen2.json", MIXED)
        .file("cat/flowy.toml", settings);
    let (reported, suppressed) = told(&catalog.run(["validate", "cat", "--json"]).json());
    let count = |rule: &str| reported.iter().filter(|other| *other == rule).count();
    assert_eq!((count("unused-variable"), count("useless-ignore")), (2, 1), "{reported:?}");
    assert_eq!(suppressed, ["settings unused-variable", "settings unused-variable"]);
    let said = catalog.run(["validate", "cat", "--quiet"]).out;
    assert!(said.contains("cat/flowy.toml:8:8: warning[useless-ignore]"), "{said}");
    let broken = Sandbox::new().file("cat/flows/Fine.json", FINE).file("cat/flowy.toml", "[validate]\nignored = 1\n");
    let said = broken.run(["validate", "cat"]);
    assert_eq!((said.code, said.err.contains("flowy.toml")), (2, true), "{}", said.err);
}

#[test]
fn a_baseline_leaves_unsaid_what_was_there_and_tells_what_is_new_and_what_is_gone() {
    let old = MIXED.replace(", {\"source\": \"say\", \"target\": \"gone\"}", "");
    let catalog = Sandbox::new().file("flows/Hafen.json", &old);
    assert_eq!(catalog.run(["validate", "--baseline", "use"]).code, 2);
    let said = catalog.run(["validate", "--baseline", "write", "--strict"]);
    assert_eq!((said.code, said.out.contains("3 findings written")), (0, true), "{}", said.out);
    assert_eq!(catalog.run(["validate", "--strict"]).code, 1);
    assert_eq!(catalog.run(["validate", "--strict", "--baseline", "use"]).code, 0);
    // Lines move, one finding goes, a new one comes.
    let new = old.replacen('{', "{\n\n", 1).replace(", \"boot\"", "").replace("1.0.0", "one");
    let catalog = catalog.file("flows/Hafen.json", new);
    let said = catalog.run(["validate", "--baseline", "use", "--json"]);
    let (reported, suppressed) = told(&said.json());
    assert_eq!((reported, suppressed.len()), (vec!["bad-version".to_owned()], 2));
    let said = catalog.run(["validate", "--baseline", "use"]).out;
    assert!(said.contains("1 finding is no longer there"), "{said}");
    assert_eq!(catalog.run(["validate", "flows/Hafen.json", "--baseline", "write"]).code, 2);
    assert_eq!(Sandbox::new().run(["validate", "--source", "examples", "--baseline", "use"]).code, 2);
}

#[test]
fn a_type_that_is_like_none_is_told_with_the_types_and_how_it_may_stay() {
    let catalog = Sandbox::new().file("flows/Hafen.json", MIXED);
    let json = catalog.run(["validate", "--json"]).json();
    let findings = json["files"][0]["findings"].as_array().unwrap().iter();
    let sticky: Vec<&Value> = findings.filter(|finding| finding["rule"] == "unknown-node-kind").collect();
    let hints = sticky[0]["hints"].to_string();
    assert!(hints.contains("flow-link") && hints.contains("x-flowy-ignore"), "{hints}");
}
