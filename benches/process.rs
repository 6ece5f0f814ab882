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

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use github::GitHub;
use serde_json::{Value, json};

fn main() {
    let program = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/release/flowy"), PathBuf::from);
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
        let mut server = Server::start(&program, home.path(), &github);
        server.list();
        println!("  cold: spawn → first page  {:>9.1} ms, {} requests", ms(begun.elapsed()), github.hits().len());
        github.forget();
        let list = Figures::of((0..2_000).map(|_| server.list()).collect());
        println!("  cached flows_list         {list}");
        let variables = json!({"flowName": "Flow_00007", "initialVariables": {"topic": "tea"}});
        server.call("flows_execute", &variables);
        let execute = Figures::of((0..2_000).map(|_| server.call("flows_execute", &variables)).collect());
        println!("  flows_execute, 3 steps    {execute}");
        println!("  resident                  {:>9.1} MB", server.resident_mb());
        drop(server);

        let mut starts = Vec::new();
        for _ in 0..20 {
            let begun = Instant::now();
            let mut server = Server::start(&program, home.path(), &github);
            server.list();
            starts.push(begun.elapsed());
        }
        println!("  warm: spawn → first page  {}", Figures::of(starts));
        println!("  requests of all of this   {:>9}", github.hits().len());
        let mut server = Server::start(&program, home.path(), &github);
        server.list();
        println!("  resident after a start    {:>9.1} MB", server.resident_mb());
    }
    let home = tempfile::tempdir().unwrap();
    let server = Server::spawn(&mut Command::new(&program), home.path());
    println!("\nidle, nothing asked: {:.1} MB resident", server.resident_mb());
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

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Server {
    fn start(program: &Path, home: &Path, github: &GitHub) -> Self {
        let mut command = Command::new(program);
        command.arg("--source").arg("acme/flows").arg("--api-url").arg(github.url());
        Self::spawn(command.env("GITHUB_PAT", "token-of-the-bench"), home)
    }

    fn spawn(command: &mut Command, home: &Path) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let token = command
            .get_envs()
            .find_map(|(name, value)| (name == "GITHUB_PAT").then(|| value.map(ToOwned::to_owned)))
            .flatten();
        command.env_clear().env("PATH", path).env("HOME", home).env("LOG_LEVEL", "error");
        // The stand-in may be slower than GitHub: the catalog of 10,000 flows must arrive whole.
        command.env("FLOWY_FETCH_DEADLINE_MS", "240000");
        if let Some(token) = token {
            command.env("GITHUB_PAT", token);
        }
        let mut child =
            command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { child, input, output, id: 0 };
        server.request("initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}));
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        server
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.id += 1;
        let id = self.id;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server ended");
            // Only the beginning is looked at: searching long replies would be measured too.
            if line.starts_with(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},")) {
                return Value::String(std::mem::take(&mut line));
            }
        }
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Duration {
        let begun = Instant::now();
        let Value::String(reply) = self.request("tools/call", &json!({"name": tool, "arguments": arguments})) else {
            unreachable!()
        };
        let took = begun.elapsed();
        assert!(reply.contains("\"isError\":false"), "{}", &reply[..reply.len().min(500)]);
        took
    }

    fn list(&mut self) -> Duration {
        self.call("flows_list", &json!({}))
    }

    fn resident_mb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
        line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        self.child.wait().unwrap();
    }
}

struct Figures(Vec<Duration>);

impl Figures {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    fn at(&self, share: f64) -> f64 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index of a list")]
        let place = ((self.0.len() - 1) as f64 * share) as usize;
        ms(self.0[place])
    }
}

impl std::fmt::Display for Figures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "p50 {:>7.3} ms  p99 {:>7.3} ms  least {:>7.3} ms", self.at(0.5), self.at(0.99), self.at(0.0))
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
