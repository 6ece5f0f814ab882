//! What an operator sees of servers that don't work: one message with its place, once, with what helps.

use std::process::Stdio;

use serde_json::{Value, json};

use super::Ground;
use crate::support::program::{Said, Sandbox};

const FILE: &[&str] = &["--servers", "servers.json"];

fn sandbox(servers: &Value) -> Sandbox {
    Sandbox::new().file("servers.json", serde_json::to_string_pretty(&json!({"mcpServers": servers})).unwrap())
}

fn with_file(sandbox: &Sandbox, arguments: &[&str]) -> Said {
    sandbox.run(arguments.iter().chain(FILE))
}

fn flow(name: &str, call: Option<&str>) -> String {
    let step = match call {
        Some(call) => json!({"id": "a", "type": "tool", "data": {"call": call, "args": {"text": "x"}}}),
        None => json!({"id": "a", "type": "template", "data": {"template": "fine"}}),
    };
    json!({"metadata": {"name": name, "version": "1.0.0"}, "nodes": [step], "edges": []}).to_string()
}

fn log_of(sandbox: &Sandbox) -> String {
    std::fs::read_to_string(sandbox.home().join(".local/state/flowy/flowy.log")).unwrap_or_default()
}

#[test]
fn a_variable_that_is_not_set_troubles_the_flows_of_its_server_and_nobody_else() {
    let ground = Ground::new();
    let mut lacking = ground.peer("", json!({}));
    lacking["env"]["TOKEN"] = "${NOT_SET}".into();
    let sandbox = sandbox(&json!({"lacking": lacking, "well": ground.peer("", json!({}))}))
        .file("flows/Fine.json", flow("Fine", None))
        .file("flows/Well.json", flow("Well", Some("well:echo")))
        .file("flows/Lacking.json", flow("Lacking", Some("lacking:echo")));
    let place = "[HERE]/servers.json:13:9: env.TOKEN of the server \"lacking\" needs NOT_SET, which is not set in the environment";
    for command in [&["validate"][..], &["serve", "--strict"]] {
        let said = with_file(&sandbox, command);
        assert!(said.code == 2 && said.err.contains(place), "{command:?}: {} {}", said.code, said.err);
        assert!(said.err.contains("[unset-variable]"), "{}", said.err);
    }
    for (command, out) in
        [(&["list"][..], "Fine"), (&["show", "Well"], "well:echo"), (&["run", "Fine"], "fine"), (&["run", "Well"], "")]
    {
        let said = with_file(&sandbox, command);
        assert!(said.code == 0 && said.out.contains(out), "{command:?}: {}{}", said.out, said.err);
        let raw = said.err.lines().filter(|line| line.contains("WARN")).count();
        assert_eq!(raw, 0, "{command:?}: {}", said.err);
    }
    let servers = with_file(&sandbox, &["servers", "list", "--json"]);
    assert_eq!((servers.code, servers.json()["servers"].as_array().unwrap().len()), (0, 2), "{}", servers.err);
    assert_eq!(
        with_file(&sandbox, &["servers", "tools", "well"]).code,
        0,
        "another server's variable is its own affair"
    );
    let lacking = with_file(&sandbox, &["servers", "tools", "lacking"]);
    assert!(lacking.code == 1 && lacking.err.contains(place), "{} {}", lacking.code, lacking.err);
    let failed = with_file(&sandbox, &["run", "Lacking", "--json"]);
    assert_eq!(failed.code, 1);
    assert!(failed.out.contains("TOOL_UNAVAILABLE") && failed.out.contains("NOT_SET"), "{}", failed.out);
    let listed = with_file(&sandbox, &["list", "--json"]).json();
    assert!(listed["errors"][0]["message"].as_str().unwrap().ends_with(place), "{}", listed["errors"]);
    // Its program is never started, and a client is served.
    let started = ground.noted("started").len();
    let mut command = sandbox.command(["serve", "--warm", "--servers", "servers.json"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success());
    assert!(log_of(&sandbox).contains("NOT_SET"), "{}", log_of(&sandbox));
    assert!(ground.noted("started").len() <= started + 1);
}

#[test]
fn an_entry_that_can_not_be_understood_troubles_the_flows_of_its_server_and_nobody_else() {
    let ground = Ground::new();
    for (bad, word, off) in [
        (json!({"type": "sse", "url": "https://tools.example/sse"}), "old-transport", false),
        (json!({"args": ["x.py"]}), "no-transport", false),
        (json!("oops"), "not-an-entry", false),
        (json!({"command": "x", "env": {"T": "${input:token}"}}), "bad-variable", false),
        (json!({"command": "x", "args": [5]}), "wrong-kind", false),
        (json!({"command": "x", "args": [5], "disabled": true}), "", true),
    ] {
        let sandbox = sandbox(&json!({"bad": bad, "well": ground.peer("", json!({}))}))
            .file("flows/Fine.json", flow("Fine", None))
            .file("flows/Well.json", flow("Well", Some("well:echo")))
            .file("flows/Bad.json", flow("Bad", Some("bad:echo")));
        for command in [&["list"][..], &["run", "Fine"], &["run", "Well"]] {
            let said = with_file(&sandbox, command);
            assert_eq!(said.code, 0, "{bad} {command:?}: {}", said.err);
        }
        let failed = with_file(&sandbox, &["run", "Bad", "--json"]);
        assert_eq!((failed.code, &failed.json()["code"]), (1, &json!("TOOL_UNAVAILABLE")), "{bad}");
        let listed = with_file(&sandbox, &["servers", "list"]);
        assert_eq!((listed.code, listed.err.contains(&format!("[{word}]"))), (0, !off), "{bad}: {}", listed.err);
        for command in [&["validate"][..], &["serve", "--strict"]] {
            let said = with_file(&sandbox, command);
            assert_eq!((said.code == 2, said.err.contains(&format!("[{word}]"))), (!off, !off), "{bad}: {}", said.err);
        }
        let output = sandbox.command(["serve", "--servers", "servers.json"]).stdin(Stdio::null()).output().unwrap();
        assert!(output.status.success(), "{bad}");
    }
}

#[test]
fn the_entry_for_a_client_names_the_variables_that_servers_need() {
    let sandbox = sandbox(&json!({
        "a": {"command": "x", "env": {"T": "${A_TOKEN}", "U": "${HOME}", "V": "${V:-v}"}},
        "b": {"url": "https://h/", "headers": {"Authorization": "Bearer ${B_TOKEN}"}},
    }))
    .variable("A_TOKEN", "s3cr3t-value");
    let said = with_file(&sandbox, &["config", "claude-code", "--write"]);
    insta::assert_snapshot!("variables-that-servers-need", said.whole());
}

#[test]
fn why_serving_does_not_begin_stands_in_the_log_too() {
    let broken = || sandbox(&json!({"a:b": {"command": "x"}, "c": {"url": "h"}}));
    let dead = || {
        sandbox(&json!({"p": {"command": "/nowhere/at/all"}, "q": {"command": "/nowhere/else"}}))
            .file("flows/Fine.json", flow("Fine", None))
    };
    let cases: [(Sandbox, &[&str], &[&str]); 4] = [
        (broken(), &["--strict", "--servers", "servers.json"], &["a call is alias:tool [bad-alias]", "[bad-url]"]),
        (broken(), &["--cache-ttl-ms", "soon"], &["the flag --cache-ttl-ms is \"soon\""]),
        (
            dead(),
            &["--strict", "--servers", "servers.json"],
            &["server p: there is no program", "server q: there is no program"],
        ),
        (dead(), &["--no-such-flag"], &["--no-such-flag"]),
    ];
    for (sandbox, arguments, words) in cases {
        let said = sandbox.run(["serve"].iter().chain(arguments));
        assert!(said.code > 0 && said.out.is_empty(), "{arguments:?} {}", said.err);
        for words in words {
            assert!(said.err.contains(words) && log_of(&sandbox).contains(words), "{}\n{}", said.err, log_of(&sandbox));
            // Each reason stands in a line of its own, and once.
            let lines = said.err.lines().filter(|line| line.contains(words)).count();
            assert_eq!(lines, 1, "{}", said.err);
        }
    }
}

/// An address where nobody is.
fn nobody() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}/mcp", listener.local_addr().unwrap())
}

#[test]
fn what_went_wrong_is_told_once_in_our_own_words_with_what_helps() {
    let plain = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = plain.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in plain.incoming() {
            let page = "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\nContent-Length: 44\r\nConnection: close\r\n\r\n<!doctype html><html><body>nothing here</ht>";
            let mut stream = stream.unwrap();
            drop(std::io::Read::read(&mut stream, &mut [0; 4096]));
            drop(std::io::Write::write_all(&mut stream, page.as_bytes()));
        }
    });
    let servers = json!({
        "closed": {"url": nobody()},
        "page": {"url": format!("http://127.0.0.1:{port}/mcp")},
        "tls": {"url": format!("https://127.0.0.1:{port}/mcp")},
        "name": {"url": "http://no-such-host.invalid/mcp"},
        "gone": {"command": "/nowhere/at/all"},
        "line": {"command": "npx -y some-server"},
        "off": {"command": "x", "disabled": true},
        "cat": {"command": "cat", "connectTimeout": "400ms"},
        "chat": {"command": "/bin/sh", "args": ["-c", "echo 'usage: chat FILE with s3cr3t-key'; echo 'I am chat' >&2; exec sleep 60"], "env": {"K": "s3cr3t-key"}, "connectTimeout": "400ms"},
    });
    let sandbox = sandbox(&servers).variable("PATH", "/usr/bin:/bin");
    let listen = "--log-level debug shows what it says";
    for (alias, fact, hint) in [
        ("closed", "it can't be reached", "check that it runs"),
        ("page", "it answers with status 404; is the address right?", "check the path of its url"),
        ("tls", "it does not speak TLS at that address", "write http://"),
        ("name", "it can't be reached", "check the host's name"),
        ("gone", "there is no program \"/nowhere/at/all\"", "correct the path in command"),
        ("line", "there is no program \"npx -y some-server\"", "put the words after the first into args"),
        ("off", "the operator switched it off", "take disabled out"),
        ("cat", "it does not", listen),
        (
            "chat",
            "it does not answer within 400 ms; what it writes is not the protocol: \"usage: chat FILE with [redacted]\"",
            listen,
        ),
    ] {
        let said = with_file(&sandbox, &["servers", "tools", alias]);
        assert_eq!(said.code, 1, "{alias}: {}", said.err);
        assert_eq!(said.err.lines().count(), 2, "{alias}: {}", said.err);
        assert!(said.err.contains(&format!("\"{alias}\"")) && said.err.contains(fact), "{alias}: {}", said.err);
        assert!(said.err.contains(hint), "{alias}: {}", said.err);
        assert_eq!(said.err.contains(listen), hint == listen, "{alias}: {}", said.err);
        assert!(!said.err.contains("os error") && !said.err.contains("doctype"), "{alias}: {}", said.err);
    }
    let close = with_file(&sandbox, &["servers", "tools", "chat", "--log-level", "debug"]).err;
    assert!(close.contains(": I am chat") && close.contains(": usage: chat FILE"), "{close}");
    assert!(!close.contains("s3cr3t"), "{close}");
}

#[test]
fn serving_logs_a_dead_server_in_one_line_of_our_own() {
    let sandbox = sandbox(&json!({"closed": {"url": nobody()}, "cat": {"command": "cat", "connectTimeout": "400ms"}}))
        .file("flows/Fine.json", flow("Fine", None))
        .variable("PATH", "/usr/bin:/bin");
    let refused = with_file(&sandbox, &["serve", "--strict"]);
    assert_eq!(refused.code, 1, "{}", refused.err);
    let log = log_of(&sandbox);
    assert!(log.contains("WARN") && !log.contains("rmcp") && !refused.err.contains("rmcp"), "{log}");
}

#[test]
fn what_is_allowed_and_no_server_has_is_told_with_what_is_meant() {
    let ground = Ground::new();
    let sandbox = sandbox(&json!({
        "p": ground.peer("", json!({"allow": ["ecko", "Read-Only", "slow*", "zzz"], "alow": 1})),
        "q": ground.peer("browser", json!({"allow": "readonly"})),
    }))
    .file("flows/Ask.json", flow("Ask", Some("p:echo")));
    let nearly = "allow of the server \"q\" holds \"readonly\", which fits no tool of it; did you mean \"readOnly\"?";
    let listed = with_file(&sandbox, &["servers", "list"]);
    assert!(listed.code == 0 && listed.err.contains(nearly) && !listed.err.contains("ecko"), "{}", listed.err);
    let asked = with_file(&sandbox, &["servers", "tools", "p"]);
    for due in [
        "[HERE]/servers.json:14:7: allow of the server \"p\" holds \"ecko\", which fits no tool of it; did you mean \"echo\"?",
        "holds \"Read-Only\", which fits no tool of it; did you mean \"readOnly\"?",
        "holds \"zzz\", which fits no tool of it\n",
        "[HERE]/servers.json:20:7: the key \"alow\" of the server \"p\" is not known here; did you mean allow?",
    ] {
        assert!(asked.err.contains(due), "{}", asked.err);
    }
    assert!(!asked.err.contains("slow") && !asked.err.contains("\"q\""), "{}", asked.err);
    let json = with_file(&sandbox, &["servers", "list", "--json"]).json();
    assert_eq!(json["warnings"].as_array().unwrap().len(), 6, "{}", json["warnings"]);
    // A check is about the servers that its flows call.
    let checked = with_file(&sandbox, &["validate"]);
    assert!(checked.err.contains("\"ecko\"") && !checked.err.contains("\"q\""), "{}", checked.err);
    assert!(ground.noted("started").len() == 1, "the other one was never asked");
}

#[test]
fn a_check_says_which_calls_it_could_not_look_at() {
    let sandbox = sandbox(&json!({"dead": {"command": "/nowhere/at/all"}, "other": {"command": "/nowhere/else"}}))
        .file("flows/Ask.json", flow("Ask", Some("dead:echo")));
    let said = with_file(&sandbox, &["validate"]);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let told = format!("{}{}", said.out, said.err);
    assert!(told.contains("[unavailable-tool]") && told.contains("/nowhere/at/all"), "{told}");
    assert!(!told.contains("other") && !told.contains("WARN"), "{told}");
    assert_eq!(with_file(&sandbox, &["validate", "--strict"]).code, 1);
}

#[test]
fn lines_in_a_pipe_keep_names_whole() {
    let ground = Ground::new();
    let sandbox = sandbox(&json!({"with-a-rather-long-alias": ground.peer("browser", json!({"allow": "readOnly"}))}));
    let said = with_file(&sandbox, &["servers", "tools", "with-a-rather-long-alias"]);
    let lines: Vec<Vec<&str>> = said.out.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0], ["with-a-rather-long-alias:console_messages", "allowed, read-only", ""]);
    assert_eq!(lines[1][..2], ["with-a-rather-long-alias:navigate", "not allowed"]);
}

#[test]
fn asking_for_a_server_without_a_file_says_how_to_make_one() {
    let said = Sandbox::new().run(["servers", "tools", "files"]);
    assert_eq!(said.code, 1);
    let file = "the servers file [HOME]/.config/flowy/flowy.servers.json does not exist";
    assert!(said.err.contains(file) && said.err.contains("{\"mcpServers\":{\"files\":{\"command\""), "{}", said.err);
    let named = Sandbox::new().run(["list", "--servers", "nope.json"]);
    insta::assert_snapshot!("named-servers-file-is-not-there", named.whole());
}

#[test]
fn a_file_with_several_mistakes_is_told_whole_to_people_and_programs() {
    let sandbox = sandbox(&json!({"a:b": {"command": "x"}, "c": {"url": "h"}}));
    let said = with_file(&sandbox, &["servers", "list"]);
    insta::assert_snapshot!("servers-file-with-two-mistakes", said.whole());
    let json = with_file(&sandbox, &["validate", "--json"]).json();
    let details = &json["details"];
    assert_eq!((&json["code"], &details["fault"]), (&json!("INVALID_REQUEST"), &json!("bad-alias")), "{json}");
    assert_eq!(details["faults"][1]["fault"], "bad-url", "{json}");
    assert_eq!(details["faults"][1]["line"], 7, "{json}");
}

#[test]
fn help_offers_servers_what_means_something_there() {
    for command in [&["servers", "tools", "--help"][..], &["servers", "list", "--help"], &["servers", "--help"]] {
        let help = Sandbox::new().run(command).out;
        for hidden in ["--source", "--ref", "--lenient", "--expose", "--refresh", "--no-usage", "--state-dir"] {
            assert!(!help.contains(hidden), "{command:?} {hidden}: {help}");
        }
        assert!(help.contains("--servers") && help.contains("--log-level") && help.contains("--json"), "{help}");
    }
}

#[test]
fn a_file_that_nobody_named_and_that_is_broken_troubles_calls_of_tools_and_nothing_else() {
    let sandbox = Sandbox::new()
        .file("flows/Fine.json", flow("Fine", None))
        .file("flows/Calls.json", flow("Calls", Some("notes:get")));
    let folder = sandbox.home().join(".config/flowy");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("flowy.servers.json"), "{\"mcpServers\": {").unwrap();
    let place = "[HOME]/.config/flowy/flowy.servers.json:1:";
    for command in [&["list"][..], &["show", "Fine"], &["run", "Fine"]] {
        let said = sandbox.run(command);
        assert_eq!(said.code, 0, "{command:?}: {}", said.err);
        assert!(said.err.starts_with(&format!("warning: {place}")), "{command:?}: {}", said.err);
        assert!(said.err.contains("no external server can be used"), "{}", said.err);
    }
    let failed = sandbox.run(["run", "Calls", "--json"]).json();
    assert_eq!(failed["code"], "TOOL_UNAVAILABLE", "{failed}");
    assert!(failed["message"].as_str().unwrap().contains(place), "{failed}");
    for command in [&["servers", "list"][..], &["servers", "tools", "notes"], &["serve", "--strict"]] {
        let said = sandbox.run(command);
        assert!(said.code == 2 && said.err.contains("[not-json]"), "{command:?}: {} {}", said.code, said.err);
    }
    let output = sandbox.command(["serve"]).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success() && log_of(&sandbox).contains("no external server can be used"));
}

#[test]
fn a_bad_entry_is_told_by_its_fact_and_everything_else_is_checked() {
    let ground = Ground::new();
    let servers = json!({
        "web": {"url": "https://tools.example/mcp", "headers": {"Authorization": "Bearer ${WEB_TOKN}"}},
        "odd": {"comand": "x"},
        "shy": ground.peer("", json!({"allow": ["slow"], "alow": ["echo"]})),
        "well": ground.peer("", json!({})),
    });
    let sandbox = sandbox(&servers)
        .file("flows/Shy.json", flow("Shy", Some("shy:echo")))
        .file("flows/Web.json", flow("Web", Some("web:get")))
        .file("flows/Well.json", flow("Well", Some("well:gone")));
    let listed = sandbox.on_terminal(80, ["servers", "list", "--servers", "servers.json"]);
    let row = |alias: &str| {
        let lines = listed.lines().skip_while(|line| !(line.contains(alias) && line.contains('✗'))).skip(1);
        lines.take_while(|line| line.starts_with("    ")).map(str::trim).collect::<Vec<_>>().join(" ")
    };
    assert!(row("web").contains("needs WEB_TOKN, which is not set"), "{listed}");
    assert!(row("odd").contains("has neither command nor url, but \"comand\""), "{listed}");
    let ran = with_file(&sandbox, &["servers", "tools", "odd"]);
    assert!(ran.err.contains("but \"comand\": did you mean command?"), "{}", ran.err);
    let shy = with_file(&sandbox, &["run", "Shy"]);
    assert!(shy.code == 1 && shy.err.contains("TOOL_NOT_ALLOWED"), "{}", shy.err);
    assert!(
        shy.err.contains("the key \"alow\" of the server \"shy\" is not known here; did you mean allow?"),
        "{}",
        shy.err
    );
    let checked = with_file(&sandbox, &["validate", "--json"]);
    assert!(checked.code == 2 && checked.err.contains("[unset-variable]"), "{}", checked.err);
    let findings = checked.json().to_string();
    assert!(findings.contains("unknown-tool") && findings.contains("unavailable-tool"), "{findings}");
}
