//! Putting the program into a client's configuration.

use std::fs;

use serde_json::{Value, json};

use crate::support::program::Sandbox;

#[test]
fn the_entry_is_printed_alone_and_where_it_belongs_beside_it() {
    let sandbox = Sandbox::new();
    let said = sandbox.run(["config", "claude-desktop", "--source", "acme/flows"]);
    assert_eq!(said.code, 0);
    assert_eq!(
        said.json(),
        json!({"mcpServers": {"flowy": {"command": "[PROGRAM]", "args": ["serve", "--source", "acme/flows"]}}})
    );
    insta::assert_snapshot!("config-shown", said.err);
    assert!(!sandbox.home().join(".config").exists());
}

#[test]
fn writing_the_entry_keeps_the_rest_of_the_file_and_a_copy() {
    let sandbox = Sandbox::new().variable("GITHUB_PAT", "github_pat_0123456789abcdefghijABCDEFGHIJ");
    let folder = sandbox.home().join(".config/Claude");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("claude_desktop_config.json");
    let before = r#"{"theme": "dark", "mcpServers": {"other": {"command": "/bin/other"}}}"#;
    fs::write(&file, before).unwrap();
    let line = ["config", "claude-desktop", "--source", "acme/flows", "--ref", "v2", "--lenient", "--write"];
    let said = sandbox.run(line);
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{}", said.err);
    // The copy's name has the time of day in it.
    let (before_time, rest) = said.err.split_once(".json.2").unwrap();
    let (_, after_time) = rest.split_once(".bak").unwrap();
    insta::assert_snapshot!("config-written", format!("{before_time}.json.[TIME].bak{after_time}"));
    let text = fs::read_to_string(&file).unwrap();
    assert!(!text.contains("github_pat_") && !said.err.contains("github_pat_"));
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&written["theme"], &written["mcpServers"]["other"]["command"]), (&json!("dark"), &json!("/bin/other")));
    assert_eq!(
        written["mcpServers"]["flowy"]["args"],
        json!(["serve", "--source", "acme/flows", "--ref", "v2", "--lenient"])
    );
    let copies: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| *path != file)
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    assert_eq!(copies, [before]);
    let again = sandbox.run(line);
    insta::assert_snapshot!("config-unchanged", again.err);
    assert_eq!(sandbox.run(line.into_iter().chain(["--json"])).json()["change"], "unchanged");
}

#[test]
fn claude_code_gets_a_file_in_the_project() {
    let sandbox = Sandbox::new().file("flows/.keep", "");
    let said = sandbox.run(["config", "claude-code", "--write"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let written: Value = serde_json::from_str(&fs::read_to_string(sandbox.here().join(".mcp.json")).unwrap()).unwrap();
    assert_eq!(written["mcpServers"]["flowy"], json!({"command": "flowy", "args": ["serve", "--source", "."]}));
    let other = sandbox.run(["config", "claude-code", "--write", "--source", "acme/flows"]);
    assert_eq!(other.code, 2, "{}", other.err);
    let beside = sandbox.run(["config", "claude-code", "--write", "--source", "acme/flows", "--name", "acme"]);
    assert_eq!(beside.code, 0, "{}", beside.err);
    let replaced = sandbox.run(["config", "claude-code", "--write", "--source", "acme/flows", "--replace", "--json"]);
    assert_eq!((replaced.json()["change"].as_str(), &replaced.json()["backup"]), (Some("merged"), &Value::Null));
}

#[test]
fn a_client_that_is_not_known_gets_the_usual_entry() {
    let sandbox = Sandbox::new();
    let said = sandbox.run(["config", "cursor", "--source", "acme/flows"]);
    assert_eq!((said.code, &said.json()["mcpServers"]["flowy"]["args"][2]), (0, &json!("acme/flows")));
    let said = sandbox.run(["config", "claude-desktp", "--json"]);
    assert_eq!((said.code, &said.json()["file"]), (0, &Value::Null));
    assert!(said.err.contains("claude-desktop"), "{}", said.err);
    assert_eq!(sandbox.run(["config", "cursor", "--write"]).code, 2);
}

#[test]
fn a_file_that_the_client_would_not_accept_is_left_alone() {
    let sandbox = Sandbox::new().file(".mcp.json", "{ not json");
    let said = sandbox.run(["config", "claude-code", "--write"]);
    assert_eq!(said.code, 1);
    assert!(said.err.contains(".mcp.json") && said.err.contains("left alone"), "{}", said.err);
    assert_eq!(fs::read_to_string(sandbox.here().join(".mcp.json")).unwrap(), "{ not json");
}

#[test]
fn entries_that_are_written_at_the_same_time_are_all_there() {
    let sandbox = Sandbox::new();
    let names: Vec<String> = (0..8).map(|number| format!("flows{number}")).collect();
    std::thread::scope(|scope| {
        for name in &names {
            let sandbox = &sandbox;
            scope.spawn(move || {
                let said = sandbox.run(["config", "claude-code", "--write", "--source", "examples", "--name", name]);
                assert_eq!(said.code, 0, "{}", said.err);
            });
        }
    });
    let text = std::fs::read_to_string(sandbox.here().join(".mcp.json")).unwrap();
    for name in &names {
        assert!(text.contains(&format!("\"{name}\"")), "{name}: {text}");
    }
}
