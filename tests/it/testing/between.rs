//! The tests of the later of two states of a catalog, run in both.

use serde_json::json;

use super::{TRIP, trip};
use crate::support::program::Sandbox;

#[test]
fn a_difference_tells_which_tests_fail_in_one_of_two_states() {
    let tests = r#"[
      {"name": "same", "flow": "Trip", "inputs": {"port": "Oban"}, "expect": {"status": "success"}},
      {"name": "new", "flow": "Trip", "inputs": {"port": "Oban"}, "expect": {"steps": {"sail": {"contains": "Row to"}}}},
      {"name": "old", "flow": "Trip", "inputs": {"port": "Oban"}, "expect": {"steps": {"sail": "Sail to Oban.\nPack."}}}
    ]"#;
    let catalog =
        trip(tests).file("before/flows/Trip.json", TRIP).file("flows/Trip.json", TRIP.replace("Sail to", "Row to"));
    let json = catalog.run(["diff", "./before", "--json"]).json();
    let told: Vec<_> = json["tests"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (&one["name"], &one["passedBefore"], &one["passesNow"]))
        .collect();
    assert_eq!(told, [(&json!("new"), &json!(false), &json!(true)), (&json!("old"), &json!(true), &json!(false))]);
    assert_eq!(json["testsRun"], 3);
    let text = catalog.run(["diff", "./before"]).out;
    assert!(text.contains("- `old` (`tests/Trip.flowtest.json`): passed before and **fails now**"), "{text}");
    assert!(text.contains("    - Sail to Oban.\n"), "{text}");
    let same = trip(tests).file("before/flows/Trip.json", TRIP);
    assert!(same.run(["diff", "./before"]).out.starts_with("## Flows"), "{}", same.run(["diff", "./before"]).out);
}

#[test]
fn folders_are_named_as_they_were_given_and_hints_name_commands() {
    let test = r#"{"flow": "Trip", "inputs": {"port": "Oban"}, "expect": {"status": "success"}}"#;
    let trip =
        Sandbox::new().file("a/flows/Tea.flow.md", "## Brew {#brew}\n\nBrew.\n").file("b/flows/Trip.json", super::TRIP);
    let said = trip.file("b/tests/Trip.flowtest.json", test).file("c/x", "").run(["diff", "c/../b", "./a/."]);
    assert!(said.out.starts_with("## Flows: `c/../b` → `./a/.`\n"), "{}", said.out);
    let said = Sandbox::new()
        .file("flows/Tea.flow.md", "## Brew {#brew}\n\nBrew.\n")
        .file("tests/Trip.flowtest.json", test)
        .run(["test"]);
    assert!(said.out.contains("FLOW_NOT_FOUND") && !said.out.contains("flows_list"), "{}", said.out);
}
