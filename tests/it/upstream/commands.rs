//! `flowy servers`, and what a bad servers file does to the commands that need it.

use serde_json::{Value, json};

use super::Ground;
use crate::support::peer::{process_of, runs};
use crate::support::program::Sandbox;

fn sandbox(servers: &Value) -> Sandbox {
    Sandbox::new().file("servers.json", json!({"mcpServers": servers}).to_string())
}

#[test]
fn servers_are_listed_as_they_stand_and_none_is_asked() {
    let ground = Ground::new();
    let sandbox = sandbox(&json!({
        "web": ground.peer("browser", json!({"allow": "readOnly"})),
        "far": {"url": "https://example.com/mcp"},
        "off": {"command": "${NOT_SET}", "disabled": true},
    }));
    let said = sandbox.run(["servers", "list", "--servers", "servers.json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let lines: Vec<Vec<&str>> = said.out.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0], ["far", "http", "not connected", "not known yet", "–", "–"]);
    assert_eq!(lines[1][..3], ["off", "stdio", "disabled"]);
    assert_eq!(lines[2][..4], ["web", "stdio", "not connected", "not known yet"]);
    assert!(said.err.contains("[HERE]/servers.json"), "{}", said.err);
    assert!(ground.noted("started").is_empty());

    let asked = sandbox.run(["servers", "tools", "web", "--servers", "servers.json"]);
    assert_eq!(asked.code, 0, "{}", asked.err);
    assert!(
        asked.out.contains("web:navigate") && asked.err.contains("4 tools, 3 allowed"),
        "{}{}",
        asked.out,
        asked.err
    );
    let listed = sandbox.run(["servers", "list", "--servers", "servers.json", "--json"]).json();
    let web = &listed["servers"][2];
    assert_eq!(
        (&web["alias"], &web["standing"], &web["tools"], &web["allowedTools"]),
        (&json!("web"), &json!("idle"), &json!(4), &json!(3))
    );
}

#[test]
fn tools_are_shown_with_their_schemas_where_they_are_wanted() {
    let ground = Ground::new();
    let sandbox = sandbox(&json!({"p": ground.peer("", json!({"allow": "echo"}))}));
    let json = sandbox.run(["servers", "tools", "p", "--schema", "--servers", "servers.json", "--json"]).json();
    let echo = json["toolList"].as_array().unwrap().iter().find(|tool| tool["call"] == "p:echo").unwrap();
    assert_eq!((&echo["allowed"], &echo["readOnly"]), (&json!(true), &json!(true)));
    assert_eq!(echo["inputSchema"]["required"], json!(["text"]));
    let text = sandbox.run(["servers", "tools", "p", "--schema", "--servers", "servers.json"]).out;
    assert!(text.contains("p:echo\nSays it again\n{") && text.contains("p:slow (not allowed)"), "{text}");
}

#[test]
fn a_server_that_can_not_be_asked_is_told_and_what_was_known_is_shown() {
    let ground = Ground::new();
    let sandbox = sandbox(&json!({"p": ground.peer("flaky", json!({}))}));
    let arguments = ["servers", "tools", "p", "--servers", "servers.json"];
    let said = sandbox.run(arguments);
    assert_eq!(said.code, 1);
    assert!(said.err.contains("\"p\"") && said.err.contains("no luck today"), "{}", said.err);
    assert_eq!(sandbox.run(arguments).code, 0);
    std::fs::write(ground.notes(), "").unwrap();
    let kept = sandbox.run(arguments);
    assert_eq!(kept.code, 0, "{}", kept.err);
    assert!(kept.out.contains("p:echo") && kept.err.contains("no luck today"), "{}", kept.err);
    let unknown = sandbox.run(["servers", "tools", "q", "--servers", "servers.json"]);
    insta::assert_snapshot!("no-such-server", unknown.whole());
}

#[test]
fn a_bad_servers_file_is_a_usage_error_of_the_commands_that_need_it() {
    let sandbox = Sandbox::new()
        .file("bad.json", "{\"mcpServers\": {\n  \"a:b\": {\"command\": \"x\"}}}")
        .file("flows/A.json", r#"{"metadata":{"name":"A","version":"1.0.0"},"nodes":[{"id":"n","type":"template","data":{"template":"x"}}],"edges":[]}"#);
    for (command, code) in [
        (&["servers", "list"][..], 0),
        (&["validate"], 2),
        (&["serve", "--strict"], 2),
        (&["run", "A"], 0),
        (&["list"], 0),
        (&["show", "A"], 0),
        (&["serve"], 0),
    ] {
        let said = sandbox.run(command.iter().copied().chain(["--servers", "bad.json"]));
        assert_eq!(said.code, code, "{command:?} {}", said.err);
        // Who needs no server is not told of one; whoever serves others is.
        let due = "[HERE]/bad.json:2:3: the alias \"a:b\" has a colon in it, and a call is alias:tool";
        let told = !["run", "list", "show"].contains(&command[0]);
        assert_eq!(said.err.contains(due), told, "{command:?} {}", said.err);
    }
    let unread = sandbox.file("no.json", "{\"mcpServers\": ");
    for command in [&["run", "A"][..], &["list"], &["show", "A"], &["serve"]] {
        assert_eq!(unread.run(command.iter().copied().chain(["--servers", "no.json"])).code, 2, "{command:?}");
    }
    let sandbox = unread;
    for command in [&["stats"][..], &["graph", "A"], &["completions", "bash"]] {
        let said = sandbox.run(command.iter().copied().chain(["--servers", "bad.json"]));
        assert_eq!(said.code, 0, "{command:?} {}", said.err);
    }
    let missing = sandbox.run(["list", "--servers", "none.json"]);
    insta::assert_snapshot!("no-servers-file", missing.whole());
    // Beside the user's settings it is read unasked: a bad one stops what needs it, and nothing else.
    assert_eq!(sandbox.run(["list"]).code, 0);
    let own = sandbox.home().join(".config/flowy");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("flowy.servers.json"), "{").unwrap();
    let (list, servers) = (sandbox.run(["list"]), sandbox.run(["servers", "list"]));
    assert_eq!((list.code, servers.code), (0, 2), "{} {}", list.err, servers.err);
}

#[test]
fn a_flow_that_calls_a_tool_runs_and_its_server_is_ended_with_it() {
    let ground = Ground::new();
    let flow = json!({
        "metadata": {"name": "Ask", "version": "1.0.0"},
        "nodes": [
            {"id": "in", "type": "multi_input", "data": {"variables": ["topic"]}},
            {"id": "ask", "type": "tool", "data": {"call": "p:echo", "args": {"text": "about {{ topic }}"}}},
            {"id": "write", "type": "template", "data": {"template": "It said: {ask_result}"}},
        ],
        "edges": [{"source": "in", "target": "ask"}, {"source": "ask", "target": "write"}],
    });
    let sandbox =
        sandbox(&json!({"p": ground.peer("", json!({"allow": "readOnly"}))})).file("flows/Ask.json", flow.to_string());
    let said = sandbox.run(["run", "Ask", "--var", "topic=tea", "--servers", "servers.json"]);
    assert_eq!((said.code, said.out.trim_end()), (0, "It said: about tea"), "{}", said.err);
    assert!(!runs(process_of(&ground.noted("started")[0])));
    let nobody = sandbox.run(["run", "Ask", "--var", "topic=tea"]);
    assert_eq!(nobody.code, 1, "{}", nobody.err);
}

#[test]
fn without_servers_nothing_is_said_but_that() {
    let said = Sandbox::new().run(["servers", "list"]);
    insta::assert_snapshot!("no-servers", said.whole());
    assert_eq!(Sandbox::new().run(["servers", "list", "--json"]).json()["servers"], json!([]));
}
