//! What the program costs as a process: start, listing, executing, memory, over real pipes and a
//! stand-in GitHub on loopback.
//!
//! Run with `cargo build --release && cargo bench --profile dev --bench process`; docs/performance.md says how
//! the figures are read. It measures the program at `target/release/flowy`, or the one that the
//! first argument names.

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

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use driver::{Figures, Server, ms};
use github::GitHub;
use serde_json::json;

/// The word that makes this bench a peer which only answers lines with so many bytes.
const PEER: &str = "--answer";

fn main() {
    let mut arguments = std::env::args();
    if arguments.nth(1).as_deref() == Some(PEER) {
        return answer(arguments.next().and_then(|bytes| bytes.parse().ok()).unwrap());
    }
    let program = driver::program();
    println!(
        "{}: {:.1} MB",
        program.display(),
        std::fs::metadata(&program).expect("build it first: cargo build --release").len() as f64 / 1e6
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    for flows in [80, 10_000] {
        let files = catalog(flows);
        let size: usize = files.iter().map(|(_, text)| text.len()).sum();
        let github = runtime.block_on(GitHub::serving(files.iter().map(|(path, text)| (path.as_str(), text.as_str()))));
        let home = tempfile::tempdir().unwrap();
        println!("\n{flows} flows, {:.1} MB", size as f64 / 1e6);

        let begun = Instant::now();
        let mut server = start(&program, home.path(), &github);
        server.list();
        println!("  cold: spawn → first page  {:>9.1} ms, {} requests", ms(begun.elapsed()), github.hits().len());
        github.forget();
        let list = Figures::of((0..2_000).map(|_| server.list()).collect());
        println!("  cached flows_list         {list}");
        let size = server.request("tools/call", &json!({"name": "flows_list", "arguments": {}})).0.len();
        println!("  {size:>6} bytes and no work   {}", bare(size));
        let variables = json!({"flowName": "Flow_00007", "initialVariables": {"topic": "tea"}});
        server.call("flows_execute", &variables);
        let execute = Figures::of((0..2_000).map(|_| server.call("flows_execute", &variables)).collect());
        println!("  flows_execute, 3 steps    {execute}");
        println!("  resident                  {:>9.1} MB", server.resident_mb());
        drop(server);

        let mut starts = Vec::new();
        for _ in 0..20 {
            let begun = Instant::now();
            let mut server = start(&program, home.path(), &github);
            server.list();
            starts.push(begun.elapsed());
        }
        println!("  warm: spawn → first page  {}", Figures::of(starts));
        println!("  requests of all of this   {:>9}", github.hits().len());
        let mut server = start(&program, home.path(), &github);
        server.list();
        println!("  resident after a start    {:>9.1} MB", server.resident_mb());
    }
    let home = tempfile::tempdir().unwrap();
    let server = Server::spawn(&mut Command::new(&program), home.path());
    println!("\nidle, nothing asked: {:.1} MB resident", server.resident_mb());
}

/// Answers every line with a line of so many bytes, as a server would that has nothing to do.
fn answer(bytes: usize) {
    let mut line = vec![b'x'; bytes];
    line[bytes - 1] = b'\n';
    let mut output = std::io::stdout().lock();
    for _ in std::io::stdin().lock().lines() {
        output.write_all(&line).unwrap();
        output.flush().unwrap();
    }
}

/// What it takes to have a line of so many bytes from a process, whatever that does.
fn bare(bytes: usize) -> Figures {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let command = command.arg(PEER).arg(bytes.to_string()).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut peer = command.spawn().unwrap();
    let mut input = peer.stdin.take().unwrap();
    let mut output = BufReader::with_capacity(1 << 20, peer.stdout.take().unwrap());
    let mut line = String::new();
    let times = (0..2_000).map(|_| {
        line.clear();
        let begun = Instant::now();
        input.write_all(b"the length of a call to flows_list, which is about a hundred bytes with all that is around its name\n").unwrap();
        output.read_line(&mut line).unwrap();
        begun.elapsed()
    });
    let figures = Figures::of(times.collect());
    drop(input);
    peer.wait().unwrap();
    figures
}

/// Flows of three steps, about 2 kB each, with templates of their own.
fn catalog(flows: usize) -> Vec<(String, String)> {
    let prose =
        "Keep to what the sources say, name what is not known, and prefer short sentences over long ones. ".repeat(5);
    (0..flows)
        .map(|n| {
            let flow = json!({
                "metadata": {"name": format!("Flow {n}"), "version": "1.0.0", "description": format!("Collects what is known of a topic, compares views and writes brief number {n}."), "tags": ["research"]},
                "nodes": [
                    {"id": "in", "type": "multi_input", "data": {"label": "Inputs", "variables": ["topic", {"key": "tone", "value": "plain"}]}},
                    {"id": "a", "type": "template", "data": {"label": "Collect", "template": format!("Collect facts on {{topic}}. {prose}"), "variables": ["topic"]}},
                    {"id": "b", "type": "template", "data": {"label": "Compare", "template": format!("Compare, in a {{tone}} tone: {{a_result}} {prose}"), "variables": ["tone", "a_result"]}},
                    {"id": "c", "type": "template", "data": {"label": "Write", "template": "Write the brief from {b_result}", "variables": ["b_result"]}},
                    {"id": "r", "type": "result", "data": {"label": "Brief"}}
                ],
                "edges": [{"source": "in", "target": "a"}, {"source": "in", "target": "b"}, {"source": "a", "target": "b"}, {"source": "b", "target": "c"}, {"source": "c", "target": "r"}]
            });
            (format!("flows/Flow_{n:05}.json"), flow.to_string())
        })
        .collect()
}

fn start(program: &Path, home: &Path, github: &GitHub) -> Server {
    let mut command = Command::new(program);
    command.arg("--source").arg("acme/flows").arg("--api-url").arg(github.url());
    Server::spawn(command.env("GITHUB_PAT", "token-of-the-bench"), home)
}
