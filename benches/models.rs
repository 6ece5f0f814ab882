//! What a step that a model answers costs beyond the provider's own time, what executions that wait for a limit
//! hold in memory, and whether rendered executions are as fast where models are configured.
//!
//! Run with `cargo build --release && cargo bench --profile dev --bench models`; docs/performance.md says how the
//! figures are read. It measures the program at `target/release/flowy`, or the one that the first argument names.

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
#[path = "../tests/it/support/model.rs"]
mod model;

mod driver;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use driver::{Figures, Server, ms};
use model::{Act, Speaks, StandIn};
use rusqlite::Connection;
use serde_json::{Value, json};

/// How often each thing is measured.
const TIMES: usize = 200;
/// Steps of the flow that a model answers, one after the other.
const STEPS: usize = 10;
/// Executions that wait for a limit at once.
const WAITING: usize = 100;

fn main() {
    let program = driver::program();
    let home = tempfile::tempdir_in(".").expect("a folder on this disk");
    catalog(home.path());

    let echo = StandIn::echoing(Speaks::OpenAi);
    configure(home.path(), &echo.url);
    let mut server = start(&program, home.path());
    let chain = json!({"flowName": "Chain", "initialVariables": {"topic": "tea"}, "model": "writer"});
    server.call("flows_execute", &chain);
    let bare = Bare::at(home.path());
    let (mut steps, mut calls, mut commits) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..TIMES {
        // In turn: neither the disk nor the machine is equally fast at all times.
        calls.push((0..STEPS).map(|_| exchange(&echo.url)).sum());
        commits.push(bare.commit(n));
        steps.push(server.call("flows_execute", &chain));
    }
    let [steps, calls, commits] = [steps, calls, commits].map(Figures::of);
    println!("{STEPS} model steps, one after the other   {steps}");
    println!("{STEPS} bare exchanges with the stand-in   {calls}");
    println!("one bare durable commit              {commits}");
    let over = (steps.at(0.5) - calls.at(0.5)) / STEPS as f64;
    println!("a step, over the bare exchange       {over:>11.3} ms");
    println!("a step, over exchange and commit     {:>11.3} ms", over - commits.at(0.5));
    println!("resident                             {:>11.1} MB", server.resident_mb());
    let rendered = json!({"flowName": "Chain", "initialVariables": {"topic": "tea"}, "model": "none"});
    let with = Figures::of((0..TIMES * 5).map(|_| server.call("flows_execute", &rendered)).collect());
    drop(server);
    std::fs::remove_dir_all(home.path().join(".config")).unwrap();
    let mut server = start(&program, home.path());
    let plain = json!({"flowName": "Chain", "initialVariables": {"topic": "tea"}});
    let without = Figures::of((0..TIMES * 5).map(|_| server.call("flows_execute", &plain)).collect());
    drop(server);
    println!("rendered, models configured          {with}");
    println!("rendered, none configured            {without}");

    let limit = vec![("retry-after", "1800".to_owned())];
    let limited = StandIn::doing(Speaks::OpenAi, vec![Act::Refuse(429, limit, json!({"error": {"message": "slow"}}))]);
    configure(home.path(), &limited.url);
    let mut server = start(&program, home.path());
    server.list();
    let before = server.resident_mb();
    let begun = Instant::now();
    for _ in 0..WAITING {
        server.call(
            "flows_execute",
            &json!({"flowName": "Chain", "initialVariables": {"topic": "tea"}, "model": "writer", "waitSeconds": 0}),
        );
    }
    let took = begun.elapsed();
    while waiting(&mut server) < WAITING {
        std::thread::sleep(Duration::from_millis(20));
    }
    println!(
        "{WAITING} executions that wait   {:.1} MB resident, {before:.1} MB before; begun in {:.0} ms",
        server.resident_mb(),
        ms(took)
    );
}

/// How many executions wait for a limit.
fn waiting(server: &mut Server) -> usize {
    let listed = server
        .request("tools/call", &json!({"name": "flows_status", "arguments": {"state": ["waiting"], "limit": 1}}))
        .0;
    let listed: Value = serde_json::from_str(&listed).unwrap();
    usize::try_from(listed["result"]["structuredContent"]["total"].as_u64().unwrap()).unwrap()
}

fn catalog(home: &Path) {
    let node = |number: usize| {
        let text = match number {
            0 => "Step 0 on {topic}".to_owned(),
            // An answer holds its prompt: reading all of it would grow with every step.
            _ => format!("Step {number} of {STEPS}, after one that gave an answer"),
        };
        json!({"id": format!("s{number}"), "type": "template", "data": {"template": text}})
    };
    let nodes: Vec<Value> = (0..STEPS).map(node).collect();
    let edge = |n: usize| json!({"source": format!("s{}", n - 1), "target": format!("s{n}")});
    let edges: Vec<Value> = (1..STEPS).map(edge).collect();
    let flow = json!({"metadata": {"name": "Chain", "version": "1.0.0"}, "nodes": nodes, "edges": edges});
    std::fs::create_dir_all(home.join("catalog/flows")).unwrap();
    std::fs::write(home.join("catalog/flows/Chain.json"), flow.to_string()).unwrap();
}

/// The operator's own settings: a model at this address.
fn configure(home: &Path, url: &str) {
    let folder = home.join(".config/flowy");
    std::fs::create_dir_all(&folder).unwrap();
    let settings = format!(
        "[models.writer]\nprovider = \"openai-compatible\"\nmodel = \"m\"\nbase_url = \"{url}\"\nparallel = 64\n"
    );
    std::fs::write(folder.join("flowy.toml"), settings).unwrap();
}

fn start(program: &Path, home: &Path) -> Server {
    Server::spawn(Command::new(program).arg("--source").arg(home.join("catalog")), home)
}

/// A request such as the program makes, and all of its answer, by nothing but a socket.
fn exchange(url: &str) -> Duration {
    let body = json!({
        "model": "m", "messages": [{"role": "user", "content": "Step 5 of 10, after one that gave an answer"}],
        "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 4096,
    })
    .to_string();
    let at = url.trim_start_matches("http://");
    let begun = Instant::now();
    let mut stream = TcpStream::connect(at).unwrap();
    let head = format!("POST /chat/completions HTTP/1.1\r\nhost: {at}\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    begun.elapsed()
}

/// A database like the program's, with nothing but one durable commit at a time.
struct Bare(Connection);

impl Bare {
    fn at(folder: &Path) -> Self {
        let connection = Connection::open(folder.join("bare.db")).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (n INTEGER, body TEXT);",
            )
            .unwrap();
        Self(connection)
    }

    fn commit(&self, n: usize) -> Duration {
        let body = "x".repeat(500);
        let begun = Instant::now();
        self.0.execute("INSERT INTO rows VALUES (?1, ?2)", (i64::try_from(n).unwrap(), &body)).unwrap();
        begun.elapsed()
    }
}
