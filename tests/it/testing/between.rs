//! The tests of the later of two states of a catalog, run in both.

use serde_json::json;

use super::{TRIP, trip};
use crate::support::github::{Fault, GitHub};
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

#[test]
fn a_step_that_can_not_run_any_more_is_told_and_files_with_findings_are_not_unreadable() {
    let before = "---\nname: Boat\nversion: 1.0.0\nresults:\n  Mast: sail\n  Rope: moor\n---\n## Sail {#sail}\nSail.\n\
                  ## Moor {#moor}\nMoor.\n";
    let outer = "---\nname: Trip\nversion: 1.0.0\n---\n## Boat {#boat}\n```yaml\nflow: Boat\n```\n\n\
                 ## Tell {#tell}\nTell {boat_result.Mast}.\n";
    let catalog = Sandbox::new()
        .file("before/flows/Boat.flow.md", before)
        .file("before/flows/Trip.flow.md", outer)
        .file("flows/Boat.flow.md", before.replace("Mast", "Oar"))
        .file("flows/Trip.flow.md", outer);
    let told = catalog.run(["diff", "./before", "--json"]).json();
    assert_eq!(told.get("unreadable"), None, "{told:#}");
    let trip = told["flows"].as_array().unwrap().iter().find(|flow| flow["name"] == "Trip").unwrap();
    assert_eq!(trip["steps"][0]["nodeId"], "tell", "{told:#}");
    let said = catalog.run(["diff", "./before"]);
    assert!(said.out.starts_with("## Flows: `./before` → `the working copy`\n"), "{}", said.out);
    assert!(said.out.contains("can't run any more"), "{}", said.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_repository_the_commit_is_named_and_the_newest_one_is_asked_for() {
    let tea = "---\nname: Tea\nversion: 1.0.0\n---\n## Brew {#brew}\nBrew.\n";
    let github = GitHub::serving([("flows/Tea.flow.md", tea)]).await;
    let sandbox = Sandbox::new()
        .variable("GITHUB_API_URL", &github.url())
        .variable("RETRY_ATTEMPTS", "1")
        .file("flows/Tea.flow.md", tea);
    let arguments = ["diff", "acme/flows@trunk", "--exit-code"];
    let said = sandbox.run(arguments);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains(&format!("`acme/flows@trunk ({})`", &github.head()[..7])), "{}", said.out);
    github.put("flows/Tea.flow.md", Some(tea.replace("Brew.", "Brew it.").as_bytes()));
    let said = sandbox.run(arguments.into_iter().chain(["--refresh"]));
    assert_eq!(said.code, 1, "{said:?}");
    github.fault(Fault::status("", 503));
    let said = sandbox.run(arguments.into_iter().chain(["--refresh"]));
    assert!(said.out.contains("an older copy: "), "{said:?}");
}
