//! GitHub can't be asked: every command says that it shows an older copy, and the log does, once.

use serde_json::{Value, json};

use crate::support::github::{Fault, GitHub};
use crate::support::mcp::{Program, flow, template};
use crate::support::program::{Said, Sandbox};

const TOKEN: &str = "ghp_0123456789abcdefghijklmnopqrstuvwxyzAB";

async fn tea() -> GitHub {
    GitHub::serving([flow("Tea", &[("n1", "Text")], &[]), template("Text", "Hello {who}")]).await
}

fn commands(github: &GitHub) -> Sandbox {
    Sandbox::new()
        .variable("GITHUB_REPO_URL", "acme/flows")
        .variable("GITHUB_API_URL", &github.url())
        .variable("GITHUB_PAT", TOKEN)
        .variable("CACHE_TTL_MS", "1")
        .variable("RETRY_ATTEMPTS", "1")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_says_that_it_shows_an_older_copy() {
    let github = tea().await;
    let sandbox = commands(&github);
    assert_eq!(sandbox.run(["list"]).code, 0);
    let old = |said: &Said| said.err.contains("warning: this is an older copy");
    assert!(!old(&sandbox.run(["validate"])));
    github.fault(Fault::status("", 503));
    let lines: [&[&str]; 7] = [
        &["list"],
        &["show", "Tea"],
        &["run", "Tea", "--dry-run"],
        &["graph", "Tea"],
        &["schema", "Tea"],
        &["validate"],
        &["validate", "--quiet"],
    ];
    for line in lines {
        let said = sandbox.run(line);
        assert_eq!(said.code, 0, "{line:?}: {}", said.err);
        assert_eq!(old(&said), !line.contains(&"--quiet"), "{line:?}: {}", said.err);
    }
    assert!(sandbox.run(["run", "Tea", "--var", "who=me"]).err.contains("older copy"));
    let checked = sandbox.run(["validate", "--json"]).json();
    assert_eq!((&checked["stale"], &checked["commit"]), (&json!(true), &json!(github.head())));
    assert_eq!((&checked["warnings"], &checked["errors"]), (&json!(1), &json!(0)));
    let strict = sandbox.run(["validate", "--strict"]);
    assert_eq!(strict.code, 1, "what was checked may not be what was pushed: {}", strict.out);
    github.heal();
    let checked = sandbox.run(["validate", "--json", "--strict"]);
    assert_eq!((checked.code, checked.json().get("stale")), (0, None), "{}", checked.out);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_is_in_the_log_once_and_so_is_its_end() {
    let github = tea().await;
    let url = github.url();
    let home = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let variables = [("GITHUB_PAT", TOKEN), ("RETRY_ATTEMPTS", "1"), ("CACHE_TTL_MS", "1")];
    let arguments = ["--source", "acme/flows", "--api-url", &url];
    let mut program = Program::serving_at(home.clone(), &arguments, &variables);
    program.shake_hands("2025-11-25");
    let mut id = 0;
    let mut list = |program: &mut Program| -> Value {
        id += 1;
        let arguments = json!({"name": "flows_list", "arguments": {"refresh": true}});
        program.request(id, "tools/call", &arguments)["result"]["structuredContent"].clone()
    };
    assert_eq!(list(&mut program)["stale"], Value::Null);
    github.fault(Fault::status("", 503));
    for _ in 0..3 {
        assert_eq!(list(&mut program)["stale"], json!(true));
    }
    program.close_input();
    let (code, _, _) = program.end();
    assert_eq!(code, Some(0));
    let log = std::fs::read_to_string(home.path().join(".local/state/flowy/flowy.log")).unwrap();
    assert_eq!(log.matches("an older copy is served").count(), 1, "{log}");
    assert!(log.contains("503") && log.contains("WARN"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_index_is_told_with_an_id_that_the_log_has_too() {
    let github = tea().await;
    let sandbox = commands(&github);
    assert_eq!(sandbox.run(["list"]).code, 0);
    let repository = std::fs::read_dir(sandbox.home().join(".cache/flowy/v1")).unwrap().next().unwrap().unwrap().path();
    let index = std::fs::read_dir(repository.join("derived")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&index).unwrap();
    // The last record is the row of the only flow.
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&index, bytes).unwrap();
    let said = sandbox.run(["list", "--json"]);
    let error = said.json();
    assert_eq!((said.code, &error["code"]), (1, &json!("INTERNAL_ERROR")), "{said:?}");
    let id = error["details"]["id"].as_str().unwrap();
    assert!(id.len() == 16 && error["message"].as_str().unwrap().contains(id), "{error}");
    let log = said.err.lines().find(|line| line.contains("ERROR")).unwrap();
    assert!(log.contains(id), "{}", said.err);
    assert_eq!(sandbox.run(["list"]).code, 0, "it is made anew");
}
