//! What `flowy doctor` finds, on machines that have it or lack it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use wiremock::ResponseTemplate;

use crate::support::github::{Fault, GitHub};
use crate::support::program::{Said, Sandbox};

const TOKEN: &str = "ghp_0123456789abcdefghijABCDEFGHIJ012345";

/// What was found, by what it is about.
fn checks(said: &Said) -> BTreeMap<String, Value> {
    let json = said.json();
    let checks = json["checks"].as_array().unwrap().iter();
    checks.map(|check| (check["about"].as_str().unwrap().to_owned(), check.clone())).collect()
}

/// How each of these stands.
fn standings(said: &Said, wanted: &[&str]) -> Vec<String> {
    let checks = checks(said);
    wanted.iter().map(|about| checks[*about]["standing"].as_str().unwrap().to_owned()).collect()
}

async fn asked(sandbox: Sandbox, line: &'static [&'static str]) -> (Sandbox, Said) {
    tokio::task::spawn_blocking(move || {
        let said = sandbox.run(line);
        (sandbox, said)
    })
    .await
    .unwrap()
}

#[test]
fn a_machine_on_which_nothing_is_set_up_has_nothing_wrong() {
    let said = Sandbox::new().run(["doctor", "--json"]);
    assert_eq!((said.code, &said.json()["ok"]), (0, &json!(true)), "{}", said.out);
    let all = ["program", "cache folder", "state folder", "servers file", "models"];
    assert_eq!(standings(&said, &all), ["good"; 5], "{}", said.out);
    assert_eq!(standings(&said, &["Claude Desktop"]), ["absent"], "what is not there is not praised");
    assert_eq!(standings(&said, &["source"]), ["note"], "nobody named a catalog");
    let text = Sandbox::new().run(["doctor"]);
    assert!(text.code == 0 && text.out.ends_with("\nNothing is wrong.\n"), "{}", text.out);
}

#[cfg(unix)]
#[test]
fn its_lines_keep_to_a_terminal_of_80_columns() {
    let sandbox = Sandbox::new().file("flows/x.json", "{}").file(".mcp.json", "{\n  nonsense");
    let screen = sandbox.on_terminal(80, ["doctor", "--color", "never"]);
    let program = env!("CARGO_BIN_EXE_flowy");
    for line in screen.lines().filter(|line| {
        !line.contains("[HOME]") && !line.contains("[HERE]") && !line.contains("[PROGRAM]") && !line.contains(program)
    }) {
        assert!(line.chars().count() <= 80, "{line:?}");
    }
    assert!(screen.contains("fix: mend the JSON there"), "{screen}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_classic_token_may_do_too_much_is_told_and_the_token_is_not() {
    let github = GitHub::serving([("flows/A.json", "{}")]).await;
    let answer = ResponseTemplate::new(200)
        .set_body_json(json!({"full_name": "acme/flows"}))
        .insert_header("x-oauth-scopes", "repo, workflow")
        .insert_header("x-ratelimit-limit", "5000")
        .insert_header("x-ratelimit-remaining", "4321")
        .insert_header("date", "Tue, 01 Jan 2019 10:00:00 GMT");
    // The question about the repository itself comes first.
    github.fault(Fault::answer("/repos/acme/flows", answer).times(1));
    let sandbox = Sandbox::new().variable("GITHUB_API_URL", &github.url()).variable("GITHUB_PAT", TOKEN);
    let (sandbox, said) = asked(sandbox, &["doctor", "--source", "acme/flows", "--json"]).await;
    assert_eq!(
        standings(&said, &["source", "token", "quota", "clock"]),
        ["good", "note", "good", "wrong"],
        "{}",
        said.out
    );
    let checks = checks(&said);
    let found = |about: &str| checks[about]["found"].as_str().unwrap().to_owned();
    assert!(found("token").contains("(repo, workflow)") && found("token").contains("GITHUB_PAT"), "{}", found("token"));
    assert!(checks["token"]["fix"].as_str().unwrap().contains("Contents: read"));
    assert!(found("quota").starts_with("4,321 of 5,000 "), "{}", found("quota"));
    assert!(checks["clock"]["fix"].is_string() && said.code == 1);
    let (_, text) = asked(sandbox, &["doctor", "--source", "acme/flows"]).await;
    for told in [&said.out, &said.err, &text.out, &text.err] {
        assert!(!told.contains(TOKEN) && !told.contains(&TOKEN[4..]), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_a_fine_grained_token_nothing_is_claimed_and_a_refused_one_is_wrong() {
    let github = GitHub::serving([("flows/A.json", "{}")]).await;
    let fine = TOKEN.replace("ghp_", "github_pat_");
    let sandbox = Sandbox::new().variable("GITHUB_API_URL", &github.url()).variable("GITHUB_PAT", &fine);
    let (sandbox, said) = asked(sandbox, &["doctor", "--source", "acme/flows", "--json"]).await;
    assert_eq!(standings(&said, &["source", "token"]), ["good", "good"], "{}", said.out);
    assert!(checks(&said)["token"]["found"].as_str().unwrap().contains("does not tell"), "{}", said.out);
    github.fault(Fault::status("/repos/acme/flows", 401).times(9));
    let (_, said) = asked(sandbox, &["doctor", "--source", "acme/flows", "--json"]).await;
    assert_eq!(standings(&said, &["source", "quota", "clock"]), ["wrong", "unknown", "unknown"], "{}", said.out);
    assert!(said.code == 1 && checks(&said)["source"]["fix"].is_string(), "{}", said.out);
    assert!(!said.out.contains(&fine));
}

#[test]
fn what_lacks_on_this_machine_is_wrong_and_says_what_helps() {
    let sandbox = Sandbox::new()
        .file("blocked", "a file, not a folder")
        .file(
            "servers.json",
            r#"{"mcpServers": {"web": {"command": "x", "env": {"KEY": "${NOT_SET_ANYWHERE}"}, "allow": ["get"]}}}"#,
        )
        .file("models.toml", "[models.writer]\nprovider = \"openai\"\nmodel = \"m\"\nkey_env = \"NO_SUCH_KEY\"\n")
        .file(".mcp.json", r#"{"mcpServers": {"flowy": {"command": "/nowhere/flowy", "args": ["serve"]}}}"#);
    let said = sandbox.run([
        "doctor",
        "--json",
        "--cache-dir",
        "blocked/cache",
        "--servers",
        "servers.json",
        "--config",
        "models.toml",
        "--source",
        "examples",
    ]);
    let wanted = ["cache folder", "servers file", "models", "Claude Code"];
    assert_eq!(standings(&said, &wanted), ["wrong"; 4], "{}{}", said.out, said.err);
    let checks = checks(&said);
    for about in wanted {
        assert!(checks[about]["fix"].is_string(), "{about}: {}", said.out);
    }
    assert!(checks["Claude Code"]["found"].as_str().unwrap().contains("/nowhere/flowy"));
    assert_eq!(said.code, 1);
}

#[test]
fn a_client_that_starts_this_program_is_as_it_should_be_and_settings_that_are_not_are_told() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.run(["config", "claude-desktop", "--source", "examples", "--write"]).code, 0);
    let said = sandbox.run(["doctor", "--json"]);
    assert_eq!(standings(&said, &["Claude Desktop"]), ["good"], "{}", said.out);
    assert!(checks(&said)["Claude Desktop"]["found"].as_str().unwrap().contains("\"flowy\" starts this program"));
    let said = sandbox.variable("CACHE_TTL_MS", "soon").run(["doctor", "--json"]);
    assert_eq!((said.code, standings(&said, &["settings"])), (1, vec!["wrong".to_owned()]), "{}{}", said.out, said.err);
    assert_eq!(standings(&said, &["source", "servers file", "models"]), ["unknown"; 3], "nobody knows what was meant");
}

#[test]
fn what_can_be_read_and_not_used_is_wrong() {
    let sandbox = Sandbox::new()
        .file("state/flowy.db", "no database at all, and longer than its head. ".repeat(10))
        .file(
            "servers.json",
            r#"{"mcpServers": {"web": {"command": "no-such-program", "allow": ["get"]}, "two": {"command": "nor-this"}}}"#,
        )
        .file("fine.json", r#"{"mcpServers": {"web": {"url": "https://tools.example/mcp", "allow": ["get"]}}}"#);
    let said = sandbox.run(["doctor", "--json", "--state-dir", "state", "--servers", "servers.json"]);
    assert_eq!(standings(&said, &["state folder", "servers file"]), ["wrong"; 2], "{}{}", said.out, said.err);
    let found = checks(&said)["servers file"]["found"].as_str().unwrap().to_owned();
    assert!(found.contains("no-such-program") && found.contains("nor-this"), "{found}");
    let said = sandbox.run(["doctor", "--json", "--servers", "fine.json"]);
    let found = checks(&said)["servers file"]["found"].as_str().unwrap().to_owned();
    assert!(found.contains("none of them started; `flowy servers tools NAME` tries one"), "{found}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_token_in_a_file_that_others_can_read_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let github = GitHub::serving([("flows/x.json", "{}")]).await;
    let settings = format!("token = \"{TOKEN}\"\nsource = \"acme/flows\"\napi_url = \"{}\"\n", github.url());
    let sandbox = Sandbox::new().file("own.toml", settings);
    for (mode, open) in [(0o644, true), (0o600, false)] {
        let file = sandbox.here().join("own.toml");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        let said = sandbox.run(["doctor", "--json", "--config", "own.toml"]);
        let fix = checks(&said)["token"]["fix"].as_str().unwrap_or_default().to_owned();
        assert_eq!(fix.contains("chmod 600"), open, "{}", said.out);
        assert!(!said.out.contains(TOKEN));
    }
}
