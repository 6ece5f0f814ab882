//! A server's life: started when it is first needed, once; gone, back again, left alone for a
//! while; stopped when nobody calls it; and never outliving us.

use std::process::Stdio;
use std::time::Duration;

use flowy::internals::execute::Tools as _;
use flowy::internals::model::ServerStanding;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::{ENDING, Ground, call, echo, failed, manual, no_arguments, text};
use crate::support::peer::{notes_of, process_of, runs, until};
use crate::support::program::Sandbox;

fn kill(process: u32) {
    kill_process(Pid::from_raw(i32::try_from(process).unwrap()).unwrap(), Signal::KILL).unwrap();
}

#[tokio::test]
async fn callers_who_come_at_once_share_one_start() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": ground.peer("", json!({"maxParallel": 20}))}));
    let answers = futures_util::future::join_all((0..20).map(|_| echo(&registry, "p"))).await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    assert_eq!(ground.noted("started").len(), 1);
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_server_that_was_killed_between_calls_comes_back_with_the_next() {
    let (ground, registry) = Ground::with_peer();
    assert!(echo(&registry, "p").await.is_ok());
    kill(process_of(&ground.noted("started")[0]));
    until("it is noticed", || registry.list()[0].standing == ServerStanding::Idle).await;
    assert_eq!(text(&echo(&registry, "p").await), "hi");
    assert_eq!(ground.noted("started").len(), 2);
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_call_during_which_the_server_dies_says_so_with_its_last_words() {
    let ground = Ground::new();
    let clock = manual();
    let guard = Some(env!("CARGO_BIN_EXE_flowy").into());
    let registry = ground.registry_by(&json!({"p": ground.peer("", json!({}))}), clock, guard);
    assert!(echo(&registry, "p").await.is_ok());
    for tool in ["crash", "crash_reading"] {
        let (code, message) = failed(call(&registry, &format!("p:{tool}"), no_arguments()).await);
        assert_eq!(code, "TOOL_UNAVAILABLE", "{message}");
        let again = if tool == "crash" { "" } else { ", and again when it was called once more" };
        assert_eq!(
            message,
            format!("p:{tool}: its server was lost during the call{again}: it ended with code 7: error: fell over")
        );
        assert!(echo(&registry, "p").await.is_ok(), "it had answered before, and comes back at once");
    }
    registry.shut_down(ENDING).await;
}

/// The entry of a peer that greets whoever starts it.
fn greeting(ground: &Ground, kind: &str) -> Value {
    let mut entry = ground.peer(kind, json!({}));
    let start = entry["args"][1].as_str().unwrap().to_owned();
    entry["args"][1] = format!("echo 'Starting default (STDIO) server...' >&2; {start}").into();
    entry
}

#[tokio::test]
async fn a_call_right_after_its_server_was_killed_is_made_again_where_that_does_no_harm() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": greeting(&ground, "")}));
    for starts in 1..=5 {
        assert_eq!(text(&echo(&registry, "p").await), "hi");
        assert_eq!(ground.noted("started").len(), starts);
        kill(process_of(&ground.noted("started")[starts - 1]));
    }
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_call_that_is_under_way_when_its_server_is_killed_is_repeated_only_if_it_may_be() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": greeting(&ground, "steady")}));
    for (tool, due) in [("once_reading", Ok("at last")), ("once", Err("killed by a signal (9)"))] {
        call(&registry, "p:look", no_arguments()).await.unwrap();
        let address = format!("p:{tool}");
        let under_way = call(&registry, &address, no_arguments());
        tokio::pin!(under_way);
        tokio::select! {
            answer = &mut under_way => panic!("{answer:?}"),
            () = until("the call began", || !ground.noted("once began").is_empty()) => {}
        }
        kill(process_of(ground.noted("started").last().unwrap()));
        let answer = under_way.await;
        match due {
            Ok(due) => assert_eq!(text(&answer), due),
            Err(due) => {
                let (code, message) = failed(answer);
                assert_eq!(code, "TOOL_UNAVAILABLE");
                assert_eq!(message, format!("p:once: its server was lost during the call: it was {due}"));
            }
        }
        std::fs::write(ground.notes(), format!("{}\n", ground.noted("started").last().unwrap())).unwrap();
    }
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_call_that_does_no_harm_is_repeated_also_if_nothing_had_been_answered_before() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": ground.peer("steady", json!({}))}));
    let under_way = call(&registry, "p:once_reading", no_arguments());
    tokio::pin!(under_way);
    tokio::select! {
        answer = &mut under_way => panic!("{answer:?}"),
        () = until("the call began", || !ground.noted("once began").is_empty()) => {}
    }
    kill(process_of(ground.noted("started").last().unwrap()));
    assert_eq!(text(&under_way.await), "at last");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn after_a_failure_nobody_connects_for_a_while_and_longer_each_time() {
    let ground = Ground::new();
    let clock = manual();
    let guard = Some(env!("CARGO_BIN_EXE_flowy").into());
    let registry = ground.registry_by(&json!({"p": ground.peer("flaky", json!({}))}), clock.clone(), guard);
    let (code, message) = failed(echo(&registry, "p").await);
    assert_eq!(code, "TOOL_UNAVAILABLE");
    assert_eq!(message, "p:echo: it ended with code 3: Error: no luck today");
    let (_, message) = failed(echo(&registry, "p").await);
    assert_eq!(message, "p:echo: it ended with code 3: Error: no luck today; it is not tried again for 1000 ms");
    assert_eq!(ground.noted("started").len(), 1);
    assert_eq!(registry.toolbox().trouble("p"), Some("it ended with code 3: Error: no luck today"));
    clock.advance(Duration::from_millis(999));
    assert!(failed(echo(&registry, "p").await).1.ends_with("for 1 ms"));
    clock.advance(Duration::from_millis(1));
    assert_eq!(text(&echo(&registry, "p").await), "hi");
    assert_eq!(registry.toolbox().trouble("p"), None);
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn the_pause_doubles_up_to_a_minute() {
    let ground = Ground::new();
    let clock = manual();
    let registry =
        ground.registry_by(&json!({"p": {"command": "/bin/sh", "args": ["-c", "exit 5"]}}), clock.clone(), None);
    for due in [1, 2, 4, 8, 16, 32, 60, 60] {
        assert_eq!(failed(echo(&registry, "p").await).1, "p:echo: it ended with code 5");
        let waiting = failed(echo(&registry, "p").await).1;
        assert!(waiting.contains(&format!(" {due}000 ms")), "{waiting}");
        clock.advance(Duration::from_secs(due));
    }
    // Who insists is not made to wait.
    assert_eq!(failed(echo(&registry, "p").await).1, "p:echo: it ended with code 5");
    assert_eq!(registry.refresh("p").await.unwrap().unwrap_err().why, "it ended with code 5");
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_as_such_with_and_without_a_guard() {
    let ground = Ground::new();
    let servers = json!({
        "gone": {"command": "no-such-program-anywhere"},
        "folder": {"command": "/bin/sh", "cwd": "/no/such/folder"},
        "text": {"command": "./notes"},
    });
    std::fs::write(ground.notes(), "not a program").unwrap();
    for guard in [None, Some(env!("CARGO_BIN_EXE_flowy").into())] {
        let registry = ground.registry_by(&servers, manual(), guard.clone());
        for (alias, words) in
            [("gone", "program"), ("folder", "the folder \"/no/such/folder\" is not there"), ("text", "start")]
        {
            let (code, message) = failed(echo(&registry, alias).await);
            assert_eq!(code, "TOOL_UNAVAILABLE", "{message}");
            assert!(message.contains(words), "{guard:?}: {message}");
        }
    }
}

#[test]
fn a_guard_ends_with_the_code_of_its_program() {
    for (arguments, code) in [
        (&["/bin/sh", "-c", "exit 9"][..], 9),
        (&["/bin/sh", "-c", "kill -TERM $$"], 128 + 15),
        (&["no-such-program-anywhere"], 127),
        (&["/etc/hostname"], 126),
    ] {
        let guard = Sandbox::new().run(["__guard"].iter().chain(arguments));
        assert_eq!(guard.code, code, "{arguments:?} {}", guard.err);
    }
}

#[tokio::test]
async fn without_a_guard_that_can_be_started_servers_are_started_all_the_same() {
    let ground = Ground::new();
    let servers = json!({"p": ground.peer("", json!({}))});
    let registry = ground.registry_by(&servers, manual(), Some("/no/such/guard".into()));
    assert_eq!(text(&echo(&registry, "p").await), "hi");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up_in_time_and_ended() {
    let ground = Ground::new();
    let silent = json!({"command": "/bin/sh", "args": ["-c", "echo started $$ >> notes; exec sleep 1000"], "connectTimeout": "300ms"});
    let registry = ground.registry(&json!({"p": silent}));
    let (code, message) = failed(echo(&registry, "p").await);
    assert_eq!(code, "TOOL_UNAVAILABLE");
    assert_eq!(message, "p:echo: it does not answer within 300 ms");
    let process = process_of(&ground.noted("started")[0]);
    until("it is ended", || !runs(process)).await;
}

#[tokio::test]
async fn words_between_the_lines_of_the_protocol_do_no_harm() {
    let ground = Ground::new();
    let mut noisy = ground.peer("", json!({}));
    let start = noisy["args"][1].as_str().unwrap().to_owned();
    noisy["args"][1] = format!("echo 'Welcome to the server!'; echo; echo '{{\"level\": 30}}'; {start}").into();
    let registry = ground.registry(&json!({"p": noisy}));
    assert_eq!(text(&echo(&registry, "p").await), "hi");
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn both_generations_of_the_protocol_are_spoken_and_a_program_that_ends_at_the_new_one_is_asked_anew() {
    let ground = Ground::new();
    let old = json!({"era": "auto", "connectTimeout": "20s"});
    let mut dies = ground.peer("", old.clone());
    let start = dies["args"][1].as_str().unwrap().to_owned();
    // The first start ends at whatever it is asked first.
    dies["args"][1] = format!("if [ ! -e asked ]; then touch asked; read line; exit 1; fi; {start}").into();
    let registry = ground.registry(&json!({
        "new": ground.peer("", json!({"era": "discover"})),
        "auto": ground.peer("", old),
        "dies": dies,
    }));
    for alias in ["new", "auto", "dies"] {
        assert_eq!(text(&echo(&registry, alias).await), "hi", "{alias}");
    }
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn a_server_that_nobody_calls_is_stopped_and_started_again_when_it_is() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": ground.peer("", json!({"idleStop": "200ms"}))}));
    assert!(echo(&registry, "p").await.is_ok());
    let process = process_of(&ground.noted("started")[0]);
    until("it is stopped", || !runs(process)).await;
    assert_eq!(registry.list()[0].standing, ServerStanding::Idle);
    assert_eq!(registry.list()[0].tools, Some(17), "what is known of it stays known");
    assert!(echo(&registry, "p").await.is_ok());
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn what_a_call_takes_longer_than_does_not_stop_its_server() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": ground.peer("", json!({"idleStop": "50ms", "timeout": "500ms"}))}));
    assert_eq!(failed(call(&registry, "p:slow", no_arguments()).await).0, "TIMEOUT");
    assert_eq!(ground.noted("started").len(), 1);
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn shutting_down_ends_servers_and_all_that_they_started() {
    for guard in [None, Some(env!("CARGO_BIN_EXE_flowy").into())] {
        let ground = Ground::new();
        let servers = json!({"p": ground.peer("grandchild", json!({}))});
        let registry = ground.registry_by(&servers, flowy::internals::clock::SystemClock::shared(), guard);
        assert!(echo(&registry, "p").await.is_ok());
        let (child, grandchild) = (process_of(&ground.noted("started")[0]), process_of(&ground.noted("grandchild")[0]));
        assert!(runs(child) && runs(grandchild));
        registry.shut_down(ENDING).await;
        assert!(!runs(child));
        until("the grandchild is gone", || !runs(grandchild)).await;
        assert_eq!(failed(echo(&registry, "p").await).0, "TOOL_UNAVAILABLE");
    }
}

#[tokio::test]
async fn a_registry_that_is_let_go_of_leaves_nothing_behind() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": ground.peer("grandchild", json!({}))}));
    assert!(echo(&registry, "p").await.is_ok());
    let grandchild = process_of(&ground.noted("grandchild")[0]);
    drop(registry);
    until("the grandchild is gone", || !runs(grandchild)).await;
}

#[tokio::test]
async fn when_a_server_dies_what_it_started_goes_with_it() {
    let ground = Ground::new();
    let registry = ground.registry(&json!({"p": ground.peer("grandchild", json!({}))}));
    assert!(echo(&registry, "p").await.is_ok());
    kill(process_of(&ground.noted("started")[0]));
    let grandchild = process_of(&ground.noted("grandchild")[0]);
    until("the grandchild is gone", || !runs(grandchild)).await;
    registry.shut_down(ENDING).await;
}

#[tokio::test]
async fn when_we_are_killed_servers_and_all_that_they_started_are_gone() {
    let ground = Ground::new();
    let entry = ground.peer("grandchild", json!({}));
    let sandbox = Sandbox::new().file("servers.json", json!({"mcpServers": {"p": entry}}).to_string());
    let mut command = sandbox.command(["serve", "--warm", "--servers", "servers.json"]);
    let mut flowy = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    until("the server runs", || !ground.noted("tools were listed").is_empty()).await;
    let processes: Vec<u32> = notes_of(&ground.notes(), "started")
        .iter()
        .chain(&notes_of(&ground.notes(), "grandchild"))
        .map(|note| process_of(note))
        .collect();
    assert!(processes.len() == 2 && processes.iter().all(|process| runs(*process)), "{processes:?}");
    flowy.kill().unwrap();
    flowy.wait().unwrap();
    until("all are gone", || !processes.iter().any(|process| runs(*process))).await;
}

#[tokio::test]
async fn when_the_client_goes_servers_are_ended_before_we_are() {
    let ground = Ground::new();
    let entry = ground.peer("grandchild", json!({}));
    let sandbox = Sandbox::new().file("servers.json", json!({"mcpServers": {"p": entry}}).to_string());
    let mut command = sandbox.command(["serve", "--warm", "--servers", "servers.json"]);
    let mut flowy = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let shake = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    let mut input = flowy.stdin.take().unwrap();
    std::io::Write::write_all(&mut input, format!("{shake}\n").as_bytes()).unwrap();
    until("the server runs", || !ground.noted("tools were listed").is_empty()).await;
    drop(input);
    let output = tokio::task::spawn_blocking(move || flowy.wait_with_output().unwrap()).await.unwrap();
    assert!(output.status.success());
    // Nothing of a server is ever on our standard output.
    let lines: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 1);
    for note in ground.noted("started").iter().chain(&ground.noted("grandchild")) {
        let process = process_of(note);
        until("it is gone", || !runs(process)).await;
    }
}
