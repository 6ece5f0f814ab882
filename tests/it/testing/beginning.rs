//! What `flowy new` and `flowy init` write, and what a person is asked at a terminal.

use std::path::Path;

use serde_json::{Value, json};

use super::{TRIP, ends};
use crate::support::program::Sandbox;

/// Every file below the sandbox's folder.
fn files(sandbox: &Sandbox) -> Vec<String> {
    fn walk(folder: &Path, root: &Path, all: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                walk(&entry.path(), root, all);
            } else {
                all.push(entry.path().strip_prefix(root).unwrap().display().to_string());
            }
        }
    }
    let mut all = Vec::new();
    walk(&sandbox.here(), &sandbox.here(), &mut all);
    all.sort();
    all
}

/// Nothing is found in the catalog, not even a warning, and its tests pass.
fn is_fine(sandbox: &Sandbox, tests: usize) {
    let said = sandbox.run(["validate", "--fail-on", "info"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let said = sandbox.run(["test", "--json"]);
    assert_eq!((said.code, ends(&said).len()), (0, tests), "{}{}", said.out, said.err);
}

#[test]
fn a_new_flow_is_valid_at_once_in_both_forms_and_its_test_passes() {
    for (form, flow, template) in [
        (&[][..], "flows/Weekly.flow.md", "templates/Weekly_Draft.md"),
        (&["--json"], "flows/Weekly.json", "templates/Weekly_Draft.json"),
    ] {
        let sandbox = Sandbox::new();
        let said = sandbox.run([&["new", "Weekly", "--input", "team", "--input", "meeting"], form].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        assert_eq!(files(&sandbox), [flow, template, "tests/Weekly.flowtest.json"]);
        assert!(said.out.starts_with(&format!("{flow}\n{template}\ntests/Weekly.flowtest.json\n")), "{}", said.out);
        is_fine(&sandbox, 1);
        for path in files(&sandbox) {
            let text = std::fs::read_to_string(sandbox.here().join(&path)).unwrap();
            assert!(text.contains("urn:flowy:schema:"), "{path}: {text}");
        }
        // The command that it says runs, and gives what the test expects.
        let test = std::fs::read_to_string(sandbox.here().join("tests/Weekly.flowtest.json")).unwrap();
        let test: Value = serde_json::from_str(&test).unwrap();
        assert_eq!(test["inputs"], json!({"team": "example team", "meeting": "example meeting"}));
        let ran = sandbox.run(["run", "Weekly", "--var", "team=example team", "--var", "meeting=example meeting"]);
        assert_eq!(Some(ran.out.as_str()), test["expect"]["finalResult"].as_str());
        // A second time, nothing is touched.
        let before = files(&sandbox);
        let said = sandbox.run(["new", "weekly"]);
        assert_eq!((said.code, files(&sandbox)), (2, before), "{}", said.err);
    }
}

#[test]
fn a_new_flow_is_added_to_the_catalog_around_and_never_in_the_place_of_a_file() {
    let sandbox = Sandbox::new().file("flows/Trip.json", TRIP).file("flows/deep/x.txt", "x");
    let below = sandbox.here().join("flows/deep");
    let mut command = sandbox.command(["new", "Tea"]);
    assert!(command.current_dir(&below).output().unwrap().status.success());
    assert!(files(&sandbox).contains(&"flows/Tea.flow.md".to_owned()), "{:?}", files(&sandbox));
    for name in ["Trip", "a/b", "..", "what?", "_x", "-x", ""] {
        assert_eq!(sandbox.run(["new", "--", name]).code, 2, "{name}");
    }
    // A template of that name would make both ambiguous; a test would be lost.
    for (path, text) in
        [("templates/Cake_Draft.json", r#"{"title": "x", "template": "y"}"#), ("tests/Cake.flowtest.json", "[]")]
    {
        let sandbox = Sandbox::new().file("flows/Trip.json", TRIP).file(path, text);
        let before = files(&sandbox);
        let said = sandbox.run(["new", "Cake"]);
        assert_ne!(said.code, 0, "{path}");
        assert_eq!(files(&sandbox), before, "{path}: {}", said.err);
        assert_eq!(std::fs::read_to_string(sandbox.here().join(path)).unwrap(), text);
    }
    assert_eq!(sandbox.run(["new", "Tea2", "--source", "acme/flows"]).code, 2);
}

#[test]
fn every_example_can_be_begun_with() {
    let list = Sandbox::new().run(["list", "--json", "--limit", "100"]).json();
    let names: Vec<&str> =
        list["flows"].as_array().unwrap().iter().map(|flow| flow["name"].as_str().unwrap()).collect();
    assert!(names.len() > 10, "{names:?}");
    for (number, example) in names.into_iter().enumerate() {
        // Each in one of the two forms, and the first in both.
        let form: &[&str] = if number % 2 == 1 { &["--json"] } else { &[] };
        for form in [&[form][..], &[&["--json"]]].concat().into_iter().take(if number == 0 { 2 } else { 1 }) {
            let sandbox = Sandbox::new();
            let said = sandbox.run([&["new", "Ours", "--from", example], form].concat());
            assert_eq!(said.code, 0, "{example}: {}", said.err);
            let said = sandbox.run(["validate"]);
            assert_eq!(said.code, 0, "{example}: {}", said.out);
            let said = sandbox.run(["test", "Ours"]);
            assert_eq!(said.code, 0, "{example}: {}", said.out);
            assert!(!files(&sandbox).iter().any(|file| file.contains(&format!("/{example}."))), "{example}");
            // A second one from the same example uses the templates that are there.
            let said = sandbox.run([&["new", "Theirs", "--from", example], form].concat());
            assert_eq!(said.code, 0, "{example}: {}", said.err);
        }
    }
    let said = Sandbox::new().run(["new", "Ours", "--from", "Launch_Breif"]);
    assert_eq!((said.code, said.err.contains("Launch_Brief")), (1, true), "{}", said.err);
}

#[test]
fn a_new_catalog_has_all_that_it_needs_and_leaves_what_is_there() {
    for form in [&[][..], &["--json"]] {
        let sandbox = Sandbox::new().file("README.md", "Ours");
        let said = sandbox.run([&["init"], form].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(said.out.contains("README.md is there already"), "{}", said.out);
        is_fine(&sandbox, 1);
        let all = files(&sandbox);
        assert!(all.contains(&".github/workflows/flows.yml".to_owned()) && all.len() == 5, "{all:?}");
        assert_eq!(sandbox.run(["init"]).code, 2);
        // In a folder that is made.
        let said = sandbox.run([&["init", "sub/more"], form].concat());
        assert_eq!(said.code, 0, "{}", said.err);
        assert_eq!(sandbox.run(["test", "--source", "sub/more"]).code, 0);
        let readme = std::fs::read_to_string(sandbox.here().join("sub/more/README.md")).unwrap();
        assert!(readme.starts_with("# more\n"), "{readme}");
    }
}

#[cfg(unix)]
#[test]
fn a_person_at_a_terminal_is_asked_for_what_is_missing_and_nobody_else_is() {
    let typed = r#"{"metadata": {"name": "Trip", "version": "1.0.0", "inputs": {
          "port": {"description": "Where to"}, "days": {"type": "integer"}, "boat": {"enum": ["big", "small"]}}},
        "nodes": [{"id": "say", "type": "template", "data": {"label": "Say", "template": "{port} {days} {boat}"}}], "edges": []}"#;
    let sandbox = Sandbox::new().file("flows/Trip.json", typed);
    let (code, screen) = sandbox.typing(80, ["run", "Trip", "--color", "never"], Some("Oban\nmany\n3\nhuge\nsmall\n"));
    assert_eq!(code, 0, "{screen}");
    assert!(screen.contains("port (Where to): ") && screen.contains("a whole number"), "{screen}");
    assert!(screen.contains("boat [one of big, small]: ") && screen.contains("Oban 3 small"), "{screen}");
    // What is given is not asked for.
    let given = ["run", "Trip", "--color", "never", "--var", "port=Rome", "--var", "days=1", "--var", "boat=big"];
    let (code, screen) = sandbox.typing(80, given, Some(""));
    assert_eq!((code, screen.contains("port (")), (0, false), "{screen}");
    // The end of the input is the end of asking.
    let (code, screen) = sandbox.typing(80, ["run", "Trip", "--color", "never"], Some("\u{4}"));
    assert!(code == 1 && screen.contains("MISSING_VARIABLES"), "{code} {screen}");
    for quiet in [&["run", "Trip", "--json"][..], &["run", "Trip", "--quiet"], &["run", "Trip", "--dry-run"]] {
        let (_, screen) = sandbox.typing(80, quiet, Some(""));
        assert!(!screen.contains("(Where to): "), "{screen}");
    }
    let said = sandbox.run(["run", "Trip"]);
    assert!(said.code == 1 && !said.err.contains("(Where to): "), "{}", said.err);
}

#[cfg(unix)]
#[test]
fn a_new_flow_asks_what_it_is_for_at_a_terminal() {
    let sandbox = Sandbox::new();
    let (code, screen) =
        sandbox.typing(80, ["new", "Weekly", "--color", "never"], Some("Writes reports.\nteam, meeting notes\n"));
    assert_eq!(code, 0, "{screen}");
    let flow = std::fs::read_to_string(sandbox.here().join("flows/Weekly.flow.md")).unwrap();
    assert!(flow.contains("Writes reports.") && flow.contains("meeting_notes:"), "{flow}");
    is_fine(&sandbox, 1);
    let (code, _) = sandbox.typing(80, ["new", "Other"], Some("\u{4}"));
    assert_eq!((code, sandbox.here().join("flows/Other.flow.md").exists()), (2, false));
}
