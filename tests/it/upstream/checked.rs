//! What is said of calls before they are made, and of those that failed: by checks, dry runs, listings and
//! executions of the real program.

use serde_json::{Value, json};

use super::Ground;
use crate::support::program::{Said, Sandbox};

/// A flow of one call, whose output a text reads.
fn asking(data: &Value) -> String {
    json!({
        "metadata": {"name": "Ask", "version": "1.0.0"},
        "nodes": [
            {"id": "ask", "type": "tool", "data": data},
            {"id": "write", "type": "template", "data": {"label": "Write", "template": "It said: {ask_result}"}},
        ],
        "edges": [{"source": "ask", "target": "write"}],
    })
    .to_string()
}

fn sandbox(servers: &Value, data: &Value) -> Sandbox {
    Sandbox::new().file("servers.json", json!({"mcpServers": servers}).to_string()).file("flows/Ask.json", asking(data))
}

fn with_servers(sandbox: &Sandbox, arguments: &[&str]) -> Said {
    sandbox.run(arguments.iter().copied().chain(["--servers", "servers.json"]))
}

fn echo() -> Value {
    json!({"label": "Ask", "call": "p:echo", "args": {"text": "hi"}})
}

#[test]
fn a_call_whose_server_can_not_be_asked_is_found_and_no_error() {
    let sandbox = sandbox(&json!({"p": {"command": "no-such-program-anywhere", "allow": "*"}}), &echo());
    let said = with_servers(&sandbox, &["validate"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let due = "node \"ask\": the tools of server \"p\" are not known: ";
    assert!(said.out.contains("warning[unavailable-tool]") && said.out.contains(due), "{}", said.out);
    assert_eq!(with_servers(&sandbox, &["validate", "--strict"]).code, 1);
    // The same of a file that stands alone, and in JSON.
    let json = with_servers(&sandbox, &["validate", "--json"]).json();
    let finding = &json["files"][0]["findings"][0];
    assert_eq!((&finding["rule"], &finding["severity"]), (&json!("unavailable-tool"), &json!("warning")), "{json}");
    let alone = sandbox.file("Alone.json", asking(&echo()));
    let said = with_servers(&alone, &["validate", "Alone.json"]);
    assert!(said.code == 0 && said.out.contains(due), "{}{}", said.out, said.err);
}

#[test]
fn a_check_says_against_how_old_lists_it_went_and_that_calls_were_left() {
    let ground = Ground::new();
    let sandbox = sandbox(&json!({"p": ground.peer("", json!({})), "q": ground.peer("", json!({}))}), &echo());
    let left = sandbox.run(["validate"]);
    insta::assert_snapshot!("calls-not-looked-up", left.whole());
    insta::assert_snapshot!("calls-looked-up", with_servers(&sandbox, &["validate"]).whole());
    let again = with_servers(&sandbox, &["validate"]);
    assert!(again.out.contains("server \"p\"") && !again.out.contains("\"q\""), "nothing calls q: {}", again.out);
    let json = with_servers(&sandbox, &["validate", "--json"]).json();
    assert_eq!((&json["keptTools"][0]["server"], &json["callsNotLookedUp"]), (&json!("p"), &json!(0)), "{json}");
    assert!(json["keptTools"][0]["ageSeconds"].is_u64() && json["keptTools"].as_array().unwrap().len() == 1, "{json}");
}

#[test]
fn what_only_servers_can_tell_is_shown_by_a_check_that_names_them() {
    let ground = Ground::new();
    let sandbox = sandbox(&json!({"p": ground.peer("", json!({"allow": "slow"}))}), &echo());
    assert_eq!(with_servers(&sandbox, &["servers", "tools", "p"]).code, 0);
    insta::assert_snapshot!("call-not-allowed-shown", with_servers(&sandbox, &["show", "Ask"]).whole());
    insta::assert_snapshot!("call-not-allowed-run", with_servers(&sandbox, &["run", "Ask"]).whole());
}

#[test]
fn a_server_that_is_switched_off_is_no_error_in_the_files() {
    let ground = Ground::new();
    let sandbox = sandbox(&json!({"p": ground.peer("", json!({"disabled": true}))}), &echo());
    insta::assert_snapshot!("server-switched-off", with_servers(&sandbox, &["list"]).whole());
    let broken = sandbox.file("flows/Bad.json", "{");
    insta::assert_snapshot!("server-switched-off-and-a-bad-file", with_servers(&broken, &["list"]).whole());
}

#[test]
fn a_run_of_a_misspelt_call_names_the_nearest_and_the_command() {
    let ground = Ground::new();
    let servers = json!({"web": ground.peer("", json!({}))});
    for (call, due) in [
        ("web:ecko", "server \"web\" has no tool \"ecko\"; did you mean \"echo\"?"),
        ("wep:echo", "no external server is called \"wep\"; did you mean \"web\"?"),
    ] {
        let sandbox = sandbox(&servers, &json!({"label": "Ask", "call": call}));
        assert_eq!(with_servers(&sandbox, &["servers", "tools", "web"]).code, 0);
        let run = with_servers(&sandbox, &["run", "Ask"]);
        assert!(run.code == 1 && run.err.contains(due), "{}", run.err);
        let alias = call.split(':').next().unwrap();
        assert!(run.err.contains("flowy servers ") && run.err.contains(alias), "{}", run.err);
        let shown = with_servers(&sandbox, &["show", "Ask"]);
        assert!(shown.out.contains(&format!("calls {call}")) && shown.out.contains(due), "{}", shown.out);
        let json = with_servers(&sandbox, &["show", "Ask", "--json"]).json();
        let step = &json["steps"][0];
        assert_eq!((&step["call"], &step["faulty"]["code"]), (&json!(call), &json!("TOOL_NOT_FOUND")), "{json}");
        let failed = with_servers(&sandbox, &["run", "Ask", "--json"]).json();
        assert_eq!(failed["failedAt"]["error"]["details"]["tool"], json!(call), "{failed}");
    }
}

#[test]
fn a_dry_run_lists_what_would_fail_and_calls_nothing() {
    let ground = Ground::new();
    let servers = json!({"p": ground.peer("", json!({"allow": ["echo"]}))});
    for (data, code, due) in [
        (json!({"label": "Ask", "call": "p:echo", "args": {"text": 5}}), "VALIDATION_ERROR", "args.text"),
        (json!({"label": "Ask", "call": "p:slow"}), "TOOL_NOT_ALLOWED", "not allowed"),
        (json!({"label": "Ask", "call": "p:gone"}), "TOOL_NOT_FOUND", "no tool"),
        (json!({"label": "Ask", "call": "p:echo", "args": {"text": "{{ text }}"}}), "INVALID_REQUEST", "args.text"),
    ] {
        let sandbox = sandbox(&servers, &data);
        assert_eq!(with_servers(&sandbox, &["servers", "tools", "p"]).code, 0);
        let dry = ["run", "Ask", "--dry-run", "--var-json", "text=[1]"];
        let said = with_servers(&sandbox, &dry);
        assert_eq!(said.code, 1, "{}", said.err);
        assert!(said.out.contains(due), "{}{}", said.out, said.err);
        let json = with_servers(&sandbox, &[&dry[..], &["--json"]].concat()).json();
        assert_eq!(json["status"], json!("would_fail"), "{json}");
        assert_eq!(
            (json["failures"][0]["error"]["code"].as_str(), json["skipped"][0]["nodeId"].as_str()),
            (Some(code), Some("write")),
            "{json}"
        );
    }
    assert!(ground.noted("called").is_empty());
}

#[test]
fn a_step_that_failed_and_let_the_flow_go_on_is_not_ticked() {
    let ground = Ground::new();
    let data = json!({"label": "Ask", "call": "p:failing", "onError": "continue"});
    let sandbox = sandbox(&json!({"p": ground.peer("", json!({}))}), &data);
    let said = with_servers(&sandbox, &["run", "Ask", "--steps"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let line = said.err.lines().find(|line| line.contains("1 of 2")).unwrap();
    assert!(line.starts_with("! ") && line.contains("TOOL_ERROR"), "{line}");
    assert!(said.err.lines().any(|line| line.starts_with("✓ 2 ")), "{}", said.err);
}
