//! What changed since a commit: findings of it alone, and what behaves otherwise.

use std::process::Command;

use serde_json::{Value, json};

use super::{FINE, MIXED};
use crate::support::program::Sandbox;

/// Runs git in the sandbox's folder, as somebody without settings.
fn git(catalog: &Sandbox, arguments: &[&str]) {
    let identity = [
        "-c",
        "user.name=Kim",
        "-c",
        "user.email=kim@example.com",
        "-c",
        "commit.gpgsign=false",
        "-c",
        "init.defaultBranch=main",
    ];
    let answer = Command::new("git").arg("-C").arg(catalog.here()).args(identity).args(arguments).output().unwrap();
    assert!(answer.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&answer.stderr));
}

/// A sandbox whose files are committed, and that finds programs.
fn committed(catalog: Sandbox) -> Sandbox {
    let catalog = catalog.variable("PATH", &path());
    git(&catalog, &["init", "-q"]);
    git(&catalog, &["add", "-A"]);
    git(&catalog, &["commit", "-q", "-m", "all"]);
    catalog
}

#[allow(clippy::disallowed_methods, reason = "the program has to find git where the test finds it")]
fn path() -> String {
    std::env::var("PATH").unwrap()
}

/// Rules by file.
fn found(json: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let files = json["files"].as_array().unwrap_or_else(|| panic!("{json}")).clone();
    let of = |file: Value| {
        file["findings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|finding| (text(&file["file"]), text(&finding["rule"])))
            .collect::<Vec<_>>()
    };
    files.into_iter().flat_map(of).collect()
}

const GREETING: &str = r#"{"title":"Greeting","template":"Hello {name}","variables":["name"]}"#;

fn greeter() -> String {
    FINE.replace("\"template\":\"Fine\"", "\"selectedTemplateId\":\"Greeting\"").replace("Fine", "Greeter")
}

#[test]
fn only_changed_files_and_what_they_break_elsewhere_are_told() {
    let catalog = Sandbox::new()
        .file("flows/Old.json", MIXED)
        .file("flows/Fine.json", FINE)
        .file("flows/Greeter.json", greeter())
        .file("templates/Greeting.json", GREETING);
    let catalog = committed(catalog);
    let json = catalog.run(["validate", "--since", "HEAD", "--json"]).json();
    assert_eq!((found(&json), &json["since"]["changedFiles"]), (Vec::new(), &json!(0)));
    // A file changes, another comes, and a template goes that an unchanged flow needs.
    std::fs::remove_file(catalog.here().join("templates/Greeting.json")).unwrap();
    let catalog = catalog
        .file("flows/Fine.json", FINE.replace("1.0.0", "eins"))
        .file("flows/New.json", FINE.replace("\"edges\":[]", "\"edges\":[{\"source\":\"say\",\"target\":\"say\"}]"));
    let said = catalog.run(["validate", "--since", "main", "--json"]);
    let json = said.json();
    let expected = [
        ("flows/Fine.json", "bad-version"),
        ("flows/Greeter.json", "missing-template"),
        ("flows/New.json", "self-edge"),
    ];
    assert_eq!(found(&json), expected.map(|(file, rule)| (file.to_owned(), rule.to_owned())), "{json:#}");
    assert_eq!((said.code, &json["since"]["changedFiles"]), (1, &json!(3)));
    assert!(catalog.run(["validate", "--since", "main"]).out.contains("since main ("));
}

#[test]
fn nothing_of_a_repository_is_run_and_unknown_commits_are_refused() {
    let catalog = committed(Sandbox::new().file("flows/Fine.json", FINE));
    let trap = catalog.here().join("trap.sh");
    std::fs::write(&trap, format!("#!/bin/sh\ntouch {}\n", catalog.here().join("trapped").display())).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(&trap, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let trap = trap.to_str().unwrap();
    for setting in ["core.fsmonitor", "diff.external", "core.pager", "filter.x.smudge", "core.sshCommand"] {
        git(&catalog, &["config", setting, trap]);
    }
    std::fs::write(catalog.here().join(".gitattributes"), "* filter=x diff=x\n").unwrap();
    git(&catalog, &["config", "diff.x.textconv", trap]);
    let _ = std::fs::remove_file(catalog.here().join("trapped"));
    assert_eq!(catalog.run(["validate", "--since", "HEAD"]).code, 0);
    assert_eq!(catalog.run(["diff", "HEAD"]).code, 0);
    assert!(!catalog.here().join("trapped").exists());
    for name in ["nowhere", "--output=x", "a b"] {
        let said = catalog.run(["validate".to_owned(), format!("--since={name}")]);
        assert_eq!((said.code, said.err.contains("no branch, tag or commit")), (2, true), "{}", said.err);
    }
    let (catalog, said) = (&catalog, catalog.run(["diff", "origin/main"]));
    assert_eq!(
        (said.code, said.err.contains("no branch, tag or commit")),
        (2, true),
        "GitHub is not asked: {}",
        said.err
    );
    assert!(!catalog.here().join("x").exists());
    let outside = Sandbox::new().file("flows/Fine.json", FINE).variable("PATH", &path());
    assert_eq!(outside.run(["validate", "--since", "HEAD"]).code, 2);
    let without = Sandbox::new().file("flows/Fine.json", FINE).variable("PATH", "/nowhere");
    assert!(without.run(["validate", "--since", "HEAD"]).err.contains("git can't be started"));
}

const BEFORE: &str = r#"{"metadata":{"name":"Tea","version":"1.0.0"},
"nodes":[{"id":"in","type":"input","data":{"variables":["cup"]}},
{"id":"boil","type":"template","data":{"label":"Boil","template":"Boil water for {cup} and wait"}},
{"id":"pour","type":"template","data":{"label":"Pour","template":"Pour after {boil_result}"}},
{"id":"out","type":"result","data":{"label":"Tea"}}],
"edges":[{"source":"in","target":"boil"},{"source":"boil","target":"pour"},{"source":"pour","target":"out"}]}"#;

#[test]
fn a_pull_request_is_told_by_what_behaves_otherwise() {
    let catalog = Sandbox::new()
        .file("flows/Tea.json", BEFORE)
        .file("flows/Fine.json", FINE)
        .file("flows/Greeter.json", greeter())
        .file("templates/Greeting.json", GREETING);
    let catalog = committed(
        catalog
            .file("flows/Gone.json", FINE.replace("Fine", "Gone"))
            .file("flows/Was.json", FINE.replace("Fine", "Unlike others")),
    );
    let said = catalog.run(["diff", "main", "--exit-code"]);
    assert_eq!((said.code, said.out.contains("Nothing changes.")), (0, true), "{}{}", said.out, said.err);
    let after = BEFORE
        .replace("[\"cup\"]", "[\"cup\", \"herb\"]")
        .replace("Boil water for {cup}", "Boil fresh water for {cup} with {herb}")
        .replace("{\"id\":\"out\"", "{\"id\":\"stir\",\"type\":\"template\",\"data\":{\"label\":\"Stir\",\"template\":\"Stir {pour_result}\"}},\n{\"id\":\"out\"")
        .replace("{\"source\":\"pour\",\"target\":\"out\"}", "{\"source\":\"pour\",\"target\":\"stir\"},{\"source\":\"stir\",\"target\":\"out\"}");
    std::fs::remove_file(catalog.here().join("flows/Gone.json")).unwrap();
    std::fs::rename(catalog.here().join("flows/Was.json"), catalog.here().join("flows/Is.json")).unwrap();
    let catalog = catalog
        .file("flows/Tea.json", after)
        .file("flows/New.json", FINE.replace("Fine", "New"))
        .file("templates/Greeting.json", GREETING.replace("Hello", "Good day,"));
    let said = catalog.run(["diff", "main", "--exit-code"]);
    assert_eq!(said.code, 1, "{}", said.err);
    for line in [
        "2 changed, 1 added, 1 removed, 1 renamed.",
        "### `Is`: renamed, it was `Was`",
        "- input `herb` is new and **required**: calls without it fail",
        "- step `Stir` (`stir`) is new",
        "- result `Tea` is new, or comes from another step",
        "Boil {+fresh +}water for {cup} {+with {herb} +}and wait",
        "- it uses the changed template `templates/Greeting.json`",
    ] {
        assert!(said.out.contains(line), "{line}\n{}", said.out);
    }
    let json = catalog.run(["diff", "main", "HEAD", "--format", "json"]).json();
    assert_eq!(json["flows"], json!([]));
    let json = catalog.run(["diff", "HEAD", "--json"]).json();
    let kinds: Vec<(&str, &str)> = json["flows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|flow| (flow["name"].as_str().unwrap(), flow["change"].as_str().unwrap()))
        .collect();
    assert_eq!(
        kinds,
        [("Gone", "removed"), ("Greeter", "changed"), ("Is", "renamed"), ("New", "added"), ("Tea", "changed")]
    );
}

#[test]
fn folders_are_compared_and_what_is_no_state_is_refused() {
    let catalog = Sandbox::new().file("a/flows/Tea.json", BEFORE).file(
        "b/flows/Tea.json",
        BEFORE.replace("{\"source\":\"boil\",\"target\":\"pour\"}", "{\"source\":\"boil\",\"target\":\"nowhere\"}"),
    );
    let said = catalog.run(["diff", "a", "b"]);
    assert!(said.out.contains("**it can't be executed any more**"), "{}{}", said.out, said.err);
    for (from, to) in [("a", "c"), ("a", "x y")] {
        let said = catalog.run(["diff", from, to]);
        assert_eq!(said.code, 2);
        assert!(said.err.contains(&format!("there is no folder \"{to}\", and ")), "{}", said.err);
    }
    assert_eq!(catalog.run(["diff", "a"]).code, 2);
}

#[test]
fn what_a_change_does_to_other_flows_and_to_each_step_is_told() {
    let inner = |text: &str, persona: &str| {
        json!({"metadata": {"name": "Inner", "version": "1.0.0", "inputs": {"x": {}}},
            "nodes": [{"id": "one", "type": "template", "data": {"template": text, "persona": persona}}], "edges": []})
        .to_string()
    };
    let outer = json!({"metadata": {"name": "Outer", "version": "1.0.0", "inputs": {"a": {}}},
        "nodes": [{"id": "go", "type": "flow", "data": {"label": "Go", "flow": "Inner", "variables": {"x": "{a}"}}}],
        "edges": []})
    .to_string();
    let catalog = Sandbox::new()
        .file("a/flows/Inner.json", inner("Say {x}", "calm"))
        .file("a/flows/Outer.json", &outer)
        .file("a/flows/Tea.json", BEFORE)
        .file("a/personas/calm.md", "Be calm.\n")
        .file("b/flows/Inner.json", inner("Say {x} and {y}", "loud"))
        .file("b/flows/Outer.json", &outer)
        .file("b/flows/Tea.json", BEFORE.replace("]}", ""))
        .file("b/personas/loud.md", "Be loud.\n");
    let said = catalog.run(["diff", "a", "b"]);
    for line in [
        "3 changed.",
        "- step `one` changes: persona",
        "- step `Go` (`go`) **can't run any more**; `flowy validate` says why",
        "- it goes through the changed flow `Inner`",
        "### `Tea`\n\n`flows/Tea.json`\n\n- **it can't be executed any more**",
    ] {
        assert!(said.out.contains(line), "{line}\n{}{}", said.out, said.err);
    }
    let json = catalog.run(["diff", "b", "a", "--json"]).json();
    let of = |name: &str| json["flows"].as_array().unwrap().iter().find(|flow| flow["name"] == name).cloned().unwrap();
    assert_eq!((&of("Tea")["change"], &of("Tea")["runsNow"]), (&json!("changed"), &json!(true)));
    assert_eq!((&of("Outer")["steps"][0]["change"], &of("Outer")["flows"]), (&json!("runs"), &json!(["Inner"])));
    let tools = |call: &str| {
        json!({"metadata": {"name": "T", "version": "1.0.0"},
            "nodes": [{"id": "t", "type": "tool", "data": {"call": call}}], "edges": []})
        .to_string()
    };
    let catalog = Sandbox::new()
        .file("a/flows/One.json", tools("sea:sail").replace("\"T\"", "\"One\""))
        .file("a/flows/Two.json", tools("sea:moor").replace("\"T\"", "\"Two\""))
        .file("b/flows/Three.json", tools("sea:moor").replace("\"T\"", "\"Three\""));
    let json = catalog.run(["diff", "a", "b", "--json"]).json();
    let kinds: Vec<_> = json["flows"].as_array().unwrap().iter().map(|flow| (&flow["name"], &flow["change"])).collect();
    assert_eq!(kinds, [(&json!("One"), &json!("removed")), (&json!("Three"), &json!("renamed"))], "the call decides");
}

#[test]
fn a_commit_with_which_the_current_one_has_nothing_in_common_is_refused() {
    let catalog = committed(Sandbox::new().file("flows/Fine.json", FINE));
    git(&catalog, &["checkout", "-q", "--orphan", "other"]);
    git(&catalog, &["commit", "-q", "-m", "all again"]);
    let said = catalog.run(["validate", "--since", "main"]);
    assert!(said.code != 0 && said.err.contains("no commit in common"), "{}{}", said.out, said.err);
}

#[test]
fn a_file_that_is_too_large_at_a_commit_is_there() {
    let large = FINE.replace("\"template\":\"Fine\"", &format!("\"template\":\"{}\"", "x".repeat(2_000)));
    let catalog = committed(Sandbox::new().variable("MAX_FILE_SIZE", "1000").file("flows/Fine.json", large));
    let catalog = catalog.file("flows/Fine.json", FINE);
    let json = catalog.run(["diff", "HEAD", "--json"]).json();
    let flows: Vec<_> = json["flows"].as_array().unwrap().iter().map(|flow| (&flow["name"], &flow["change"])).collect();
    assert_eq!(flows, [(&json!("Fine"), &json!("changed"))], "{json:#}");
}
