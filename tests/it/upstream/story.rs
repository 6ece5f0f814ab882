//! A flow over external servers, as a client sees it: through the real program, and with nothing but the
//! flow in sight.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;

use super::Ground;
use crate::support::checking::repository;
use crate::support::mcp::Program;
use crate::support::peer::process_of;
use crate::support::program::Sandbox;

/// Reads from one server and takes a picture with the other; made to be exposed.
fn gather() -> Value {
    json!({
        "metadata": {"name": "Gather", "version": "1.0.0", "description": "Gathers what two servers know.", "expose": true,
                     "inputs": {"word": {"type": "string", "required": true}}},
        "nodes": [
            {"id": "in", "type": "multi_input", "data": {"variables": ["word"]}},
            {"id": "said", "type": "tool", "data": {"call": "talk:echo", "args": {"text": "{{ word }}"}}},
            {"id": "shot", "type": "tool", "data": {"call": "browser:screenshot"}},
            {"id": "sum", "type": "template", "data": {"template": "{said_result} ({said_result.echo}), {shot_result}"}}
        ],
        "edges": [{"source": "in", "target": "said"}, {"source": "said", "target": "sum"}, {"source": "shot", "target": "sum"}]
    })
}

fn catalog(home: &Path, files: &[(&str, &Value)]) {
    std::fs::create_dir_all(home.join("flows")).unwrap();
    for (name, file) in files {
        std::fs::write(home.join("flows").join(name), file.to_string()).unwrap();
    }
}

fn served(ground: &Ground, arguments: &[&str]) -> Program {
    let home = Arc::new(TempDir::new().unwrap());
    catalog(home.path(), &[("Gather.json", &gather())]);
    let servers =
        json!({"mcpServers": {"talk": ground.peer("echo", json!({})), "browser": ground.peer("browser", json!({}))}});
    std::fs::write(home.path().join("servers.json"), servers.to_string()).unwrap();
    let mut all = vec!["--servers", "servers.json"];
    all.extend(arguments);
    Program::serving_at(home, &all, &[("PATH", "/usr/bin:/bin")])
}

/// Whether a tool is announced as changing nothing, as able to destroy, and as safe to repeat.
fn hints(listed: &Value, name: &str) -> [bool; 3] {
    let tool = listed["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
    ["readOnlyHint", "destructiveHint", "idempotentHint"].map(|hint| tool["annotations"][hint] == true)
}

#[test]
fn what_does_steps_is_announced_as_harmless_only_where_no_step_can_do_harm() {
    for (allow, execute, complete) in [
        (json!("*"), [false, true, false], [false, true, true]),
        (json!(["readOnly", "echo"]), [false, true, false], [false, true, true]),
        (json!("readOnly"), [true, false, true], [false, false, true]),
        (json!([]), [true, false, true], [false, false, true]),
    ] {
        let (ground, home) = (Ground::new(), Arc::new(TempDir::new().unwrap()));
        let servers = json!({"mcpServers": {"p": ground.peer("", json!({"allow": allow}))}});
        std::fs::write(home.path().join("servers.json"), servers.to_string()).unwrap();
        let mut program = Program::serving_at(home, &["--servers", "servers.json"], &[]);
        program.shake_hands("2025-11-25");
        let listed = program.request(1, "tools/list", &json!({}));
        assert_eq!(hints(&listed, "flows_execute"), execute, "{allow}");
        assert_eq!(hints(&listed, "flows_complete_step"), complete, "{allow}");
        assert_eq!(hints(&listed, "flows_list"), [true, false, true], "{allow}");
    }
}

#[test]
fn a_client_is_told_when_a_server_changes_what_a_flow_does() {
    let (ground, home) = (Ground::new(), Arc::new(TempDir::new().unwrap()));
    let calling = |name: &str, tool: &str| json!({"metadata": {"name": name, "version": "1.0.0"}, "nodes": [{"id": "n", "type": "tool", "data": {"call": tool}}], "edges": []});
    catalog(home.path(), &[("Grow.json", &calling("Grow", "p:grow")), ("Use.json", &calling("Use", "p:grown"))]);
    let servers = json!({"mcpServers": {"p": ground.peer("", json!({}))}});
    std::fs::write(home.path().join("servers.json"), servers.to_string()).unwrap();
    let mut program = Program::serving_at(home, &["--servers", "servers.json", "--expose", "all"], &[]);
    program.shake_hands("2025-11-25");
    let listed = program.request(1, "tools/list", &json!({}));
    assert_eq!(hints(&listed, "flow_Use"), [false, true, false], "nobody knows what it calls");
    program.ask(2, "tools/call", &json!({"name": "flow_Grow", "arguments": {}}));
    let (mut answered, mut told) = (false, Vec::new());
    while !answered || told.is_empty() {
        let message = program.receive();
        answered = answered || message["id"] == json!(2);
        told.extend(message["method"].as_str().map(str::to_owned));
    }
    assert_eq!(told, ["notifications/tools/list_changed"], "the other lists are as they were");
    let listed = program.request(3, "tools/list", &json!({}));
    assert_eq!(hints(&listed, "flow_Use"), [true, false, true], "{listed}");
    let used = program.request(4, "tools/call", &json!({"name": "flow_Use", "arguments": {}}));
    assert_eq!(used["result"]["structuredContent"]["finalResult"], json!("here"), "{used}");
}

#[test]
fn a_client_sees_the_fixed_tools_and_one_flow_and_gets_what_two_servers_gave_though_one_was_killed() {
    let ground = Ground::new();
    let mut program = served(&ground, &["--expose", "marked", "--expose-list", "*"]);
    program.shake_hands("2025-11-25");
    let listed = program.request(1, "tools/list", &json!({}));
    let names: Vec<_> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names.last(), Some(&"flow_Gather"));
    assert!(names.iter().all(|name| name.starts_with("flow")), "{names:?}");
    let call = json!({"name": "flow_Gather", "arguments": {"word": "hello"}});
    let mut number = 1;
    let mut gather = |program: &mut Program| {
        number += 1;
        let answer = program.request(number, "tools/call", &call);
        let result = &answer["result"];
        assert_eq!(result["isError"], json!(false), "{answer}");
        let done = &result["structuredContent"];
        assert!(done["finalResult"].as_str().unwrap().starts_with("hello (hello), image/png: execution://"), "{done}");
        assert_eq!(result["content"][1]["mimeType"], "image/png");
        assert_eq!(done["intermediateResults"][0]["result"]["structuredContent"], json!({"echo": "hello"}));
        assert_eq!(done["counts"]["toolCalls"], 2);
    };
    gather(&mut program);
    let started = ground.noted("started");
    assert_eq!(started.len(), 2, "{started:?}");
    for note in &started {
        let pid = process_of(note).to_string();
        assert!(std::process::Command::new("kill").args(["-9", &pid]).status().unwrap().success());
    }
    // What was killed is started again by the next call, or by the one after it.
    let again = program.request(90, "tools/call", &call);
    if again["result"]["isError"] == json!(true) {
        assert_eq!(again["result"]["structuredContent"]["code"], "TOOL_UNAVAILABLE", "{again}");
    }
    gather(&mut program);
    assert_eq!(ground.noted("started").len(), 4);
    program.close_input();
    let (code, _, _) = program.end();
    assert_eq!(code, Some(0));
}

#[test]
fn the_three_flows_of_a_browser_are_all_that_is_seen_and_a_picture_comes_back() {
    let ground = Ground::new();
    let home = Arc::new(TempDir::new().unwrap());
    let servers = json!({"mcpServers": {"browser": ground.peer("browser", json!({}))}});
    std::fs::write(home.path().join("servers.json"), servers.to_string()).unwrap();
    let browser = repository().join("tests/fixtures/browser");
    let source = browser.to_str().unwrap();
    let arguments = [
        "--servers",
        "servers.json",
        "--source",
        source,
        "--expose",
        "all",
        "--expose-prefix",
        "none",
        "--only-exposed",
    ];
    let mut program = Program::serving_at(home, &arguments, &[("PATH", "/usr/bin:/bin")]);
    program.shake_hands("2025-11-25");
    let listed = program.request(1, "tools/list", &json!({}));
    let names: Vec<_> =
        listed["result"]["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["frontend_debugger", "take_screenshot", "ui_components_maintenance"]);
    for (name, arguments) in [
        ("take_screenshot", json!({"url": "http://127.0.0.1:1/"})),
        ("frontend_debugger", json!({"url": "http://127.0.0.1:1/", "full_page": false})),
        ("ui_components_maintenance", json!({"component": "button"})),
    ] {
        let answer = program.request(2, "tools/call", &json!({"name": name, "arguments": arguments}));
        let (content, done) = (&answer["result"]["content"], &answer["result"]["structuredContent"]);
        assert_eq!(done["status"], "success", "{done}");
        assert_eq!((&content[1]["type"], &content[1]["mimeType"]), (&json!("image"), &json!("image/png")), "{name}");
    }
    assert!(program.request(3, "tools/call", &json!({"name": "navigate", "arguments": {}}))["error"].is_object());
}

#[test]
fn a_check_against_servers_tells_what_can_not_work_and_a_strict_start_refuses() {
    let ground = Ground::new();
    let mut wrong = gather();
    wrong["nodes"][1]["data"] = json!({"call": "talk:ecko", "args": {"text": 7}});
    wrong["nodes"][2]["data"] = json!({"call": "talk:echo", "args": {"txet": "x"}});
    let servers = json!({"mcpServers": {"talk": ground.peer("echo", json!({}))}});
    let sandbox = Sandbox::new().file("flows/Gather.json", wrong.to_string()).file("servers.json", servers.to_string());
    let said = sandbox.run(["validate", "--servers", "servers.json"]);
    assert_eq!(said.code, 1);
    insta::assert_snapshot!("calls-that-can-not-work", said.whole());
    assert_eq!(sandbox.run(["validate"]).code, 0, "without servers, calls are not looked at");
    let refused = sandbox.stdin("").run(["serve", "--strict", "--servers", "servers.json"]);
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("talk:ecko") && refused.err.contains("without --strict"), "{}", refused.err);
}

#[test]
fn a_server_that_can_not_be_reached_is_told_where_it_is_needed_and_the_rest_works() {
    let ground = Ground::new();
    let home = Arc::new(TempDir::new().unwrap());
    let fine = json!({"metadata": {"name": "Fine", "version": "1.0.0"},
        "nodes": [{"id": "a", "type": "template", "data": {"template": "fine"}}], "edges": []});
    catalog(home.path(), &[("Gather.json", &gather()), ("Fine.json", &fine)]);
    let servers = json!({"mcpServers": {"talk": {"command": "/nowhere/at/all", "allow": "*"}, "browser": ground.peer("browser", json!({}))}});
    std::fs::write(home.path().join("servers.json"), servers.to_string()).unwrap();
    let mut program = Program::serving_at(home, &["--servers", "servers.json"], &[("PATH", "/usr/bin:/bin")]);
    program.shake_hands("2025-11-25");
    let mut call = |id: i64, tool: &str, arguments: Value| {
        program.request(id, "tools/call", &json!({"name": tool, "arguments": arguments}))["result"]["structuredContent"]
            .clone()
    };
    let failed = call(1, "flows_execute", json!({"flowName": "Gather", "initialVariables": {"word": "w"}}));
    assert_eq!((&failed["code"], &failed["status"]), (&json!("TOOL_UNAVAILABLE"), &json!("partial")), "{failed}");
    assert_eq!(failed["details"], json!({"tool": "talk:echo", "nodeId": "said", "step": 1, "of": 3}));
    assert_eq!(failed["partialResults"][0]["nodeId"], "shot");
    assert_eq!(call(2, "flows_execute", json!({"flowName": "Fine"}))["finalResult"], "fine");
    let listed = call(3, "flows_list", json!({}));
    assert_eq!(
        (&listed["returned"], &listed["errors"][0]["code"]),
        (&json!(2), &json!("TOOL_UNAVAILABLE")),
        "{listed}"
    );
    let shown = call(4, "flows_show", json!({"name": "Gather"}));
    assert!(shown["steps"][0]["unavailable"].is_string(), "{shown}");
}

/// The reference servers, where they are installed; where they must be, their absence is a failure.
#[allow(clippy::disallowed_methods, reason = "CI says in its environment that they must be there")]
fn reference_servers() -> Option<PathBuf> {
    let folder = repository().join("tests/peers/node_modules/@modelcontextprotocol");
    if folder.join("server-filesystem").is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("FLOWY_REFERENCE_SERVERS").is_none(), "npm ci --prefix tests/peers installs them");
    None
}

#[test]
fn on_the_command_line_files_are_told_of_and_kept_where_one_asks_for_it() {
    let ground = Ground::new();
    let shot = json!({"metadata": {"name": "Shot", "version": "1.0.0"}, "edges": [{"source": "shot", "target": "say"}], "nodes": [
        {"id": "shot", "type": "tool", "data": {"call": "browser:screenshot"}},
        {"id": "say", "type": "template", "data": {"template": "Done."}}
    ]});
    let servers = json!({"mcpServers": {"browser": ground.peer("browser", json!({}))}});
    let sandbox = Sandbox::new().file("flows/Shot.json", shot.to_string()).file("servers.json", servers.to_string());
    let plain = sandbox.run(["run", "Shot", "--servers", "servers.json"]);
    assert_eq!((plain.code, plain.out.trim()), (0, "Done."), "{}", plain.err);
    let note = "1 file from tools: shot-1.png (image/png, 70 bytes); --files FOLDER keeps them";
    assert!(plain.err.contains(note), "{}", plain.err);
    let kept = sandbox.run(["run", "Shot", "--servers", "servers.json", "--files", "pictures/today"]);
    let place = sandbox.here().join("pictures/today/shot-1.png");
    assert!(std::fs::read(&place).unwrap().starts_with(b"\x89PNG"), "{}", kept.err);
    assert!(kept.err.contains("pictures/today/shot-1.png") && !kept.err.contains(note), "{}", kept.err);
    let refused = sandbox.run(["run", "Shot", "--servers", "servers.json", "--files", "servers.json"]);
    assert_eq!(refused.out.trim(), "Done.", "what was done is there all the same");
    assert!(refused.code != 0 && refused.err.contains("servers.json"), "{}", refused.err);
}

#[test]
fn the_example_reads_a_folder_by_the_reference_file_server() {
    let Some(servers) = reference_servers() else { return };
    let sandbox = Sandbox::new().file("project/main.rs", "fn main() {}\n").file("project/notes.txt", "later");
    let project = sandbox.here().canonicalize().unwrap().join("project");
    let index = |name: &str| servers.join(name).join("dist/index.js").display().to_string();
    let file = json!({"mcpServers": {
        "files": {"command": "node", "args": [index("server-filesystem"), project.to_str().unwrap()], "allow": "readOnly"},
        "all": {"command": "node", "args": [index("server-everything"), "stdio"], "allow": ["echo", "get-*"]},
    }});
    let sandbox = sandbox.file("servers.json", file.to_string());
    let folder = format!("folder={}", project.display());
    let sandbox = sandbox.variable("PATH", "/usr/local/bin:/usr/bin:/bin");
    let said = sandbox.run([
        "run",
        "Folder_Review",
        "--source",
        "examples",
        "--servers",
        "servers.json",
        "--var",
        folder.as_str(),
        "--var",
        "file=main.rs",
        "--json",
    ]);
    let done = said.json();
    assert_eq!(said.code, 0, "{}", said.err);
    let text = done["finalResult"].as_str().unwrap();
    assert!(text.contains("fn main() {}") && text.contains("notes.txt"), "{text}");
    let refused = sandbox.run(["servers", "tools", "files", "--servers", "servers.json", "--json"]).json();
    let writes =
        refused["toolList"].as_array().unwrap().iter().find(|tool| tool["call"] == "files:write_file").unwrap();
    assert_eq!(writes["allowed"], false);
    let tools = sandbox.run(["servers", "tools", "all", "--servers", "servers.json", "--json"]).json();
    assert!(tools["toolList"].as_array().unwrap().iter().any(|tool| tool["call"] == "all:echo"), "{tools}");
}
