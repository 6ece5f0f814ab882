//! The program as a bench's client sees it: a process, its pipes, its times.

#![allow(dead_code, reason = "each bench uses its part of it")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// The program to be measured: the first argument, else the release build.
pub(crate) fn program() -> PathBuf {
    std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'))
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("target/release/flowy"), PathBuf::from)
}

pub(crate) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    id: u64,
}

impl Server {
    pub(crate) fn spawn(command: &mut Command, home: &Path) -> Self {
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
        // Large enough for a whole reply: what is measured is the server, not this reader.
        let output = BufReader::with_capacity(1 << 20, child.stdout.take().unwrap());
        let mut server = Self { child, input, output, id: 0 };
        server.request("initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}));
        server.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
        server
    }

    /// Writes one line at once, as clients do: in pieces it would wake the server at every one.
    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(line.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// One request and the line that answers it, with the time between the two: what the client makes
    /// and reads is its own time.
    pub(crate) fn request(&mut self, method: &str, params: &Value) -> (String, Duration) {
        self.id += 1;
        let id = self.id;
        let request = format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let answers = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},");
        let mut line = String::new();
        let begun = Instant::now();
        self.send(&request);
        loop {
            line.clear();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server ended");
            // Only the beginning is looked at: searching long replies would be measured too.
            if line.starts_with(&answers) {
                return (line, begun.elapsed());
            }
        }
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Duration {
        let (reply, took) = self.request("tools/call", &json!({"name": tool, "arguments": arguments}));
        // Looked for at the end alone: a long search would let the machine fall asleep between two
        // calls, and its waking would be measured.
        let end = &reply.as_bytes()[reply.len().saturating_sub(60)..];
        let fine = b"\"isError\":false";
        assert!(end.windows(fine.len()).any(|part| part == fine), "{}", &reply[..reply.len().min(500)]);
        took
    }

    pub(crate) fn list(&mut self) -> Duration {
        self.call("flows_list", &json!({}))
    }

    pub(crate) fn resident_mb(&self) -> f64 {
        resident_mb(&self.child.id().to_string())
    }
}

/// How much memory a process, or `self`, holds.
pub(crate) fn resident_mb(process: &str) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1024.0
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.input.take());
        self.child.wait().unwrap();
    }
}

pub(crate) struct Figures(Vec<Duration>);

impl Figures {
    pub(crate) fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    pub(crate) fn at(&self, share: f64) -> f64 {
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

pub(crate) fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
