//! The process ends when its client does.

use std::io::Write as _;
use std::process::Stdio;
use std::sync::Arc;

use flowy::internals::app::{Caller, ExecuteRequest, ModelChoice, OnFailure};
use flowy::internals::mcp::End;
use serde_json::{Value, json};

use crate::support::github::{Fault, GitHub};
use crate::support::mcp::{Bench, Program, Session, flow, handshake, template};

#[test]
fn an_input_that_is_closed_at_once_ends_the_program() {
    let mut program = Program::serving(&[]);
    program.close_input();
    let (code, rest, _) = program.end();
    assert_eq!((code, rest.len()), (Some(0), 0));
}

#[test]
fn calls_made_just_before_the_end_are_answered() {
    let mut program = Program::serving(&[]);
    program.shake_hands("2025-11-25");
    for id in 1..=30 {
        program.ask(id, "tools/call", &json!({"name": "flows_show", "arguments": {"name": "Blog_Article"}}));
    }
    program.close_input();
    let (code, rest, _) = program.end();
    assert_eq!((code, rest.len()), (Some(0), 30));
}

#[cfg(unix)]
#[test]
fn signals_end_the_program_with_zero_although_its_client_stays() {
    for signal in ["TERM", "INT", "HUP"] {
        let mut program = Program::serving(&[]);
        program.shake_hands("2025-11-25");
        program.request(1, "ping", &json!({}));
        let kill = std::process::Command::new("kill").args([format!("-{signal}"), program.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let (code, _, errors) = program.end();
        assert_eq!(code, Some(0), "{signal}: {errors}");
    }
}

#[test]
fn a_client_that_reads_nothing_and_goes_in_the_middle_of_a_line_ends_the_program() {
    let home = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_flowy"));
    command.arg("serve").env_clear().env("HOME", home.path()).current_dir(home.path());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut program = command.spawn().unwrap();
    let mut input = program.stdin.take().unwrap();
    let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": handshake("2025-11-25")});
    // More than a pipe holds, and a line that can't be read and has no end.
    let ask = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    let lines = format!("{hello}\n{}{{\"jsonrpc\":", format!("{ask}\n").repeat(20));
    input.write_all(lines.as_bytes()).unwrap();
    drop(input);
    assert_eq!(program.wait().unwrap().code(), Some(0));
}

#[test]
fn a_client_that_writes_much_before_it_reads_is_answered_in_full() {
    const ASKED: i64 = 5_000;
    let mut program = Program::serving(&[]);
    program.shake_hands("2025-11-25");
    for id in 1..=ASKED {
        program.ask(id, "ping", &json!({}));
    }
    program.close_input();
    let (code, rest, _) = program.end();
    let ids: std::collections::BTreeSet<i64> = rest.iter().filter_map(|answer| answer["id"].as_i64()).collect();
    assert_eq!((code, rest.len(), ids.len()), (Some(0), 5_000, 5_000));
}

#[cfg(unix)]
#[test]
fn logs_are_kept_for_their_owner_and_hold_no_token() {
    use std::os::unix::fs::PermissionsExt as _;
    const TOKEN: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    let mut program = Program::serving(&[("GITHUB_PAT", TOKEN), ("LOG_LEVEL", "trace")]);
    program.shake_hands("2025-11-25");
    program.request(1, "tools/call", &json!({"name": "flows_show", "arguments": {"name": TOKEN}}));
    program.close_input();
    let log = program.home.path().join(".local/state/flowy/flowy.log");
    let home = program.home.clone();
    let (_, _, errors) = program.end();
    let text = std::fs::read_to_string(&log).unwrap();
    assert!(text.contains("answered") && !text.contains(TOKEN) && !errors.contains(TOKEN));
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
    drop(home);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_github_refuses_is_logged_once_and_without_the_token() {
    const TOKEN: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";
    let github = GitHub::serving([flow("Tea", &[("n1", "T")], &[]), template("T", "Tea")]).await;
    github.fault(Fault::status("", 401).saying("Bad credentials"));
    let variables = [
        ("GITHUB_PAT", TOKEN),
        ("GITHUB_REPO_URL", "acme/flows"),
        ("GITHUB_API_URL", &github.url()),
        ("RETRY_ATTEMPTS", "1"),
    ];
    let mut program = Program::serving(&variables);
    program.shake_hands("2025-11-25");
    for id in 1..=3 {
        let refused = program.request(id, "tools/call", &json!({"name": "flows_list", "arguments": {}}));
        assert_eq!(refused["result"]["structuredContent"]["code"], "UNAUTHORIZED", "{refused}");
    }
    program.close_input();
    let log = program.home.path().join(".local/state/flowy/flowy.log");
    let home = program.home.clone();
    program.end();
    let text = std::fs::read_to_string(log).unwrap();
    let warned: Vec<&str> =
        text.lines().filter(|line| line.contains("WARN") && line.contains("refused the token")).collect();
    assert_eq!(warned.len(), 1, "{text}");
    assert!(warned[0].contains("acme/flows") && !text.contains(TOKEN), "{text}");
    drop(home);
}

async fn hanging() -> (GitHub, Bench, Session, i64) {
    hanging_in("tools/call", json!({"name": "flows_list", "arguments": {}})).await
}

async fn hanging_in(method: &str, params: Value) -> (GitHub, Bench, Session, i64) {
    let github = GitHub::serving([flow("Tea", &[("n1", "T")], &[]), template("T", "Tea")]).await;
    github.fault(Fault::hang("graphql"));
    let bench = Bench::github(&github);
    let mut session = bench.session().await;
    let id = session.ask(method, params).await;
    while github.count("graphql") == 0 {
        tokio::task::yield_now().await;
    }
    (github, bench, session, id)
}

#[tokio::test]
async fn a_call_that_hangs_does_not_hold_up_the_end_for_ever() {
    let (_github, _bench, mut session, id) = hanging().await;
    session.shut().await;
    let (end, rest) = session.end().await;
    assert_eq!(end, End::InputEnded);
    assert_eq!((&rest[0]["id"], &rest[0]["result"]["structuredContent"]["code"]), (&json!(id), &json!("CANCELLED")));
}

#[tokio::test]
async fn being_told_to_stop_cancels_what_hangs() {
    let (_github, _bench, session, id) = hanging().await;
    session.stop.cancel();
    let (end, rest) = session.end().await;
    assert_eq!(end, End::Stopped);
    let told = &rest[0]["result"]["structuredContent"];
    assert_eq!((&rest[0]["id"], &told["code"]), (&json!(id), &json!("CANCELLED")), "{rest:?}");
}

#[tokio::test]
async fn being_told_to_stop_cancels_reading_a_resource_too() {
    let (_github, _bench, session, id) = hanging_in("resources/read", json!({"uri": "flow://list"})).await;
    session.stop.cancel();
    let (end, rest) = session.end().await;
    assert_eq!(end, End::Stopped);
    assert_eq!((&rest[0]["id"], &rest[0]["error"]["data"]["code"]), (&json!(id), &json!("CANCELLED")), "{rest:?}");
}

#[tokio::test]
async fn a_stop_before_the_first_word_is_heard() {
    let session = Session::raw(Bench::examples().app.clone());
    session.stop.cancel();
    assert_eq!(session.end().await.0, End::Stopped);
}

#[tokio::test]
async fn an_execution_that_a_bug_ends_has_failed_and_does_not_go_on_for_ever() {
    let bench = Bench::folder([flow("Hi", &[("a", "T")], &[]), template("T", "Hi.")]);
    let request = ExecuteRequest {
        flow: "Hi".to_owned(),
        variables: serde_json::Map::new(),
        git_ref: None,
        refresh: false,
        on_failure: OnFailure::Continue,
        wait: None,
        models: ModelChoice::default(),
    };
    let caller = Caller { progress: Some(Arc::new(|_| panic!("the reason"))), ..Caller::default() };
    let outcome = bench.app.execute(request, &caller).await.unwrap();
    // Whoever asks later is told the same.
    let mut session = bench.session().await;
    let told = session.ok("flows_status", json!({"executionId": outcome.id()})).await;
    assert_eq!((&told["state"], &told["error"]["code"]), (&json!("failed"), &json!("INTERNAL_ERROR")));
    let id = told["error"]["details"]["id"].as_str().unwrap();
    assert!(told["error"]["message"].as_str().unwrap().contains(id), "{told}");
    assert!(!told.to_string().contains("the reason"), "what panicked is for the log");
    assert_eq!(session.ok("flows_status", json!({"state": ["running"]})).await["total"], json!(0));
}
