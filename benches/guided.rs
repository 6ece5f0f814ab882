//! What a guided execution costs: each call against one bare durable commit on the same disk, a page
//! of many stored executions, several processes at once, and the same flow executed directly.
//!
//! Run with `cargo build --release && cargo bench --profile dev --bench guided`; docs/performance.md
//! says how the figures are read. It measures the program at `target/release/flowy`, or the one that
//! the first argument names.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a bench fails by panicking and prints its figures"
)]
#![allow(clippy::disallowed_methods, clippy::cast_precision_loss, reason = "a bench measures real time")]

#[allow(dead_code, unreachable_pub, reason = "the tests use more of it")]
#[path = "../tests/it/support/github.rs"]
mod github;

mod driver;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use driver::{Figures, Server, ms};
use github::GitHub;
use rusqlite::Connection;
use serde_json::{Value, json};

/// How often each call is measured.
const TIMES: usize = 300;
/// How many executions a page is asked of.
const STORED: usize = 10_000;
/// How many executions are interleaved, by how many processes.
const INTERLEAVED: usize = 100;
const PROCESSES: usize = 4;

fn main() {
    let program = driver::program();
    let home = tempfile::tempdir_in(".").expect("a folder on this disk");
    let bare = Bare::at(home.path());
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let github = runtime.block_on(GitHub::serving(examples()));
    let mut command = Command::new(&program);
    command.args(["--source", "acme/flows", "--api-url", &github.url()]).env("GITHUB_PAT", "token-of-the-bench");
    println!("from a kept copy of GitHub's");
    measure(&bare, &mut Server::spawn(&mut command, home.path()));
    let mut server = start(&program, home.path());
    println!("from a folder");
    measure(&bare, &mut server);
    let variables = json!({"flowName": "Marketing_Strategy", "initialVariables": values(), "detail": "full"});
    let direct = (0..TIMES).map(|_| server.call("flows_execute", &variables)).collect();
    println!("flows_execute, the same flow  {}", Figures::of(direct));
    let (direct, _) = answer(&mut server, "flows_execute", &variables);
    let lived = carried_out(&mut server);
    let order: Vec<&Value> =
        direct["intermediateResults"].as_array().unwrap().iter().map(|step| &step["nodeId"]).collect();
    assert_eq!(lived["completedSteps"].as_array().unwrap().iter().collect::<Vec<_>>(), order, "one order");
    drop(server);

    multiply(home.path());
    let mut server = start(&program, home.path());
    let page = json!({"limit": 20});
    answer(&mut server, "flows_status", &page);
    let pages = (0..TIMES).map(|_| server.call("flows_status", &page)).collect();
    println!("a page of {STORED} executions     {}", Figures::of(pages));
    drop(server);

    let begun = Instant::now();
    let completed = interleaved(&program, home.path());
    println!(
        "{INTERLEAVED} executions, {PROCESSES} processes   {completed} completed in {:.0} ms, no update lost",
        ms(begun.elapsed())
    );
}

/// Times of both calls, over a bare commit.
fn measure(bare: &Bare, server: &mut Server) {
    answer(server, "flows_begin", &begin());
    let (mut commits, mut begins, mut completes) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..TIMES {
        // In turn with the calls: the disk is not equally fast at all times.
        commits.push(bare.commit(n));
        let (begun, took) = answer(server, "flows_begin", &begin());
        begins.push(took);
        let (_, took) = answer(server, "flows_complete_step", &complete(&begun));
        completes.push(took);
    }
    let commits = Figures::of(commits);
    println!("  bare durable commit         {commits}");
    for (call, times) in [("flows_begin        ", begins), ("flows_complete_step", completes)] {
        let times = Figures::of(times);
        println!("  {call}         {times}, {:.3} ms over the bare commit", times.at(0.5) - commits.at(0.5));
    }
}

/// The files of the example catalog.
fn examples() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["flows", "templates", "personas", "contracts"];
    let files = folders.into_iter().flat_map(|folder| walk(&root.join(folder)));
    files
        .map(|file| {
            let path = file.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            (path, std::fs::read_to_string(file).unwrap())
        })
        .collect()
}

/// A file of its own on the same disk, as durable as ours.
struct Bare(Connection);

impl Bare {
    fn at(folder: &Path) -> Self {
        let connection = Connection::open(folder.join("bare.db")).unwrap();
        connection.pragma_update(None, "journal_mode", "WAL").unwrap();
        connection.pragma_update(None, "synchronous", "FULL").unwrap();
        connection.execute_batch("CREATE TABLE t (a INTEGER, b TEXT)").unwrap();
        Self(connection)
    }

    /// One row in one transaction.
    fn commit(&self, n: usize) -> Duration {
        let text = "x".repeat(2_000);
        let begun = Instant::now();
        self.0.execute("INSERT INTO t VALUES (?1, ?2)", (i64::try_from(n).unwrap(), &text)).unwrap();
        begun.elapsed()
    }
}

fn start(program: &Path, home: &Path) -> Server {
    Server::spawn(Command::new(program).arg("--source").arg(env!("CARGO_MANIFEST_DIR")), home)
}

fn answer(server: &mut Server, tool: &str, arguments: &Value) -> (Value, Duration) {
    let (reply, took) = server.request("tools/call", &json!({"name": tool, "arguments": arguments}));
    let reply: Value = serde_json::from_str(&reply).unwrap();
    assert_eq!(reply["result"]["isError"], false, "{reply}");
    (reply["result"]["structuredContent"].clone(), took)
}

fn values() -> Value {
    json!({"company": "TechCorp", "market": "AI", "budget": "100K"})
}

fn begin() -> Value {
    json!({"flowName": "Marketing_Strategy", "initialVariables": values()})
}

fn complete(answer: &Value) -> Value {
    let output = json!({"summary": "done", "result": "what came of it ".repeat(50)});
    json!({"executionId": answer["executionId"], "stepToken": answer["stepToken"], "output": output})
}

fn carried_out(server: &mut Server) -> Value {
    let (mut last, _) = answer(server, "flows_begin", &begin());
    while last.get("stepToken").is_some() {
        (last, _) = answer(server, "flows_complete_step", &complete(&last));
    }
    last
}

/// Makes the stored executions many, by copying rows.
fn multiply(home: &Path) {
    let file = walk(home).into_iter().find(|path| path.extension().is_some_and(|ending| ending == "db")).unwrap();
    let connection = Connection::open(file).unwrap();
    let columns =
        "flow, task, state, current, begun_at, updated_at, steps, ended, done, closed, breaches, escalations, last_seq";
    let stored: i64 = connection.query_row("SELECT count(*) FROM executions", [], |row| row.get(0)).unwrap();
    connection
        .execute_batch(&format!(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {})
             INSERT INTO executions (id, {columns}) SELECT id || '_' || i, {columns} FROM n, (SELECT * FROM executions LIMIT 1)",
            i64::try_from(STORED).unwrap() - stored
        ))
        .unwrap();
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        } else if !path.ends_with("bare.db") {
            found.push(path);
        }
    }
    found
}

/// Every process hands in steps of every execution, in turn; how many were carried to their end.
fn interleaved(program: &Path, home: &Path) -> usize {
    let mut servers: Vec<Server> = (0..PROCESSES).map(|_| start(program, home)).collect();
    let mut open: Vec<Value> =
        (0..INTERLEAVED).map(|n| answer(&mut servers[n % PROCESSES], "flows_begin", &begin()).0).collect();
    let (mut turn, mut completed) = (0, 0);
    while !open.is_empty() {
        let mut next = Vec::new();
        for last in open {
            turn += 1;
            let (now, _) = answer(&mut servers[turn % PROCESSES], "flows_complete_step", &complete(&last));
            if now.get("stepToken").is_some() {
                next.push(now);
            } else {
                assert_eq!(now["stepsDone"], now["stepsTotal"]);
                completed += 1;
            }
        }
        open = next;
    }
    completed
}
