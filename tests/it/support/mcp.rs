//! MCP sessions for tests: JSON lines to a server in this process, or to the real program.

use std::io::{BufRead as _, BufReader as StdBufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use flowy::internals::app::{App, EXAMPLES};
use flowy::internals::clock::ManualClock;
use flowy::internals::config::{Environment, Settings};
use flowy::internals::mcp::{End, ServeError, serve_on};
use flowy::internals::source::{Pace, SourceSpec, slug};
use rmcp::model::{CallToolRequestParams, CallToolResult, ClientConfig, ProtocolVersion};
use rmcp::service::ClientLifecycleMode;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::github::GitHub;

/// Longer than anything here takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(20);

/// The product over a source, with a clock that stands still and folders of its own.
pub(crate) struct Bench {
    pub(crate) app: Arc<App>,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) folder: Arc<TempDir>,
    spec: SourceSpec,
    settings: Settings,
}

impl Bench {
    /// Over the built-in examples.
    pub(crate) fn examples() -> Self {
        Self::at(
            |_| SourceSpec::Examples(EXAMPLES),
            |folder| {
                let environment = Environment::of([("HOME", folder.path().to_str().unwrap())]);
                Settings::defaults(&environment)
            },
        )
    }

    /// Over a folder of these files.
    pub(crate) fn folder<P: AsRef<str>, B: AsRef<[u8]>>(files: impl IntoIterator<Item = (P, B)>) -> Self {
        let files: Vec<_> = files.into_iter().collect();
        Self::at(
            |folder| {
                for (path, bytes) in &files {
                    let place = folder.path().join("catalog").join(path.as_ref());
                    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                    std::fs::write(place, bytes).unwrap();
                }
                SourceSpec::Folder(folder.path().join("catalog"))
            },
            |folder| {
                let environment = Environment::of([("HOME", folder.path().to_str().unwrap())]);
                Settings::defaults(&environment)
            },
        )
    }

    /// Over a stand-in GitHub.
    pub(crate) fn github(github: &GitHub) -> Self {
        Self::github_with(github, |_| {})
    }

    /// Over a stand-in GitHub, with settings changed.
    pub(crate) fn github_with(github: &GitHub, change: impl FnOnce(&mut Settings)) -> Self {
        Self::at(
            |_| slug::parse("acme/flows", &github.url()).unwrap(),
            |folder| {
                let mut settings = github.settings(folder.path());
                change(&mut settings);
                settings
            },
        )
    }

    fn at(spec: impl FnOnce(&TempDir) -> SourceSpec, settings: impl FnOnce(&TempDir) -> Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = ManualClock::at("2026-01-05T09:00:00Z".parse().unwrap());
        let (spec, mut settings) = (spec(&folder), settings(&folder));
        settings.no_usage = true;
        let app = App::open_at(spec.clone(), settings.clone(), clock.clone(), Pace::Hurried).unwrap();
        Self { app: Arc::new(app), clock, folder: Arc::new(folder), spec, settings }
    }

    /// The same with settings changed.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(&mut self.settings);
        self.again()
    }

    /// The same, counting what is used; without it nothing is written behind a test's back.
    pub(crate) fn counting(mut self) -> Self {
        self.settings.no_usage = false;
        self.again()
    }

    /// Another process over the same folders: everything that is only remembered is forgotten.
    pub(crate) fn again(&self) -> Self {
        let (spec, settings) = (self.spec.clone(), self.settings.clone());
        let app = App::open_at(spec.clone(), settings.clone(), self.clock.clone(), Pace::Hurried).unwrap();
        Self { app: Arc::new(app), clock: self.clock.clone(), folder: self.folder.clone(), spec, settings }
    }

    /// The same with somebody who calls external tools.
    pub(crate) fn calling(self, tools: Arc<dyn flowy::internals::execute::Tools>) -> Self {
        let (spec, settings) = (self.spec.clone(), self.settings.clone());
        let app = App::open_at(spec, settings, self.clock.clone(), Pace::Hurried).unwrap().with_tools(tools);
        Self { app: Arc::new(app), ..self }
    }

    /// Where guided executions are kept.
    pub(crate) fn store(&self) -> std::path::PathBuf {
        self.settings.state_dir.join("flowy.db")
    }

    /// Where what was read is kept.
    pub(crate) fn cache(&self) -> &std::path::Path {
        &self.settings.cache_dir
    }

    /// A session that has shaken hands.
    pub(crate) async fn session(&self) -> Session {
        self.session_of(json!({})).await
    }

    /// The same, of a client that can do these things.
    pub(crate) async fn session_of(&self, capabilities: Value) -> Session {
        let mut session = Session::raw(self.app.clone());
        session.folder = Some(self.folder.clone());
        let mut hello = handshake("2025-11-25");
        hello["capabilities"] = capabilities;
        let answer = session.request("initialize", hello).await;
        assert!(answer["result"]["serverInfo"].is_object(), "{answer}");
        session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        session
    }
}

/// What a client says first.
/// The tools that are there whatever the catalog holds, sorted by name.
pub(crate) const FIXED_TOOLS: [&str; 10] = [
    "flows_begin",
    "flows_cancel",
    "flows_check",
    "flows_complete_step",
    "flows_escalate",
    "flows_execute",
    "flows_list",
    "flows_resume",
    "flows_show",
    "flows_status",
];

pub(crate) fn handshake(version: &str) -> Value {
    json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}})
}

/// What a client without sessions says with every request.
pub(crate) fn stateless() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
    })
}

/// A session with a server in this process.
pub(crate) struct Session {
    writer: Option<WriteHalf<DuplexStream>>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    served: JoinHandle<Result<End, ServeError>>,
    pub(crate) stop: CancellationToken,
    last_id: i64,
    // The files stay as long as somebody may ask for them.
    folder: Option<Arc<TempDir>>,
    /// Everything that came besides answers.
    pub(crate) heard: Vec<Value>,
}

impl Session {
    /// Before any word is said.
    pub(crate) fn raw(app: Arc<App>) -> Self {
        let (ours, theirs) = tokio::io::duplex(4 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let stop = CancellationToken::new();
        let served = tokio::spawn(serve_on(app, reader, writer, stop.clone().cancelled_owned()));
        let (reader, writer) = tokio::io::split(ours);
        Self {
            writer: Some(writer),
            lines: BufReader::new(reader).lines(),
            served,
            stop,
            last_id: 0,
            folder: None,
            heard: vec![],
        }
    }

    pub(crate) async fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes()).await;
    }

    pub(crate) async fn send_bytes(&mut self, bytes: &[u8]) {
        self.writer.as_mut().unwrap().write_all(bytes).await.unwrap();
    }

    /// Sends a request without waiting for its answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> i64 {
        self.last_id += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})).await;
        self.last_id
    }

    /// The next message; `None` when the server has gone.
    pub(crate) async fn receive(&mut self) -> Option<Value> {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await.expect("a message in time").unwrap();
        line.map(|line| serde_json::from_str(&line).expect("every line is a message"))
    }

    /// The answer to a request that was sent.
    pub(crate) async fn answer_to(&mut self, id: i64) -> Value {
        if let Some(place) = self.heard.iter().position(|message| message["id"] == json!(id)) {
            return self.heard.remove(place);
        }
        loop {
            let message = self.receive().await.expect("an answer");
            if message["id"] == json!(id) && message.get("method").is_none() {
                return message;
            }
            self.heard.push(message);
        }
    }

    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        self.answer_to(id).await
    }

    /// The result of a tool's call.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.request("tools/call", json!({"name": tool, "arguments": arguments})).await;
        answer.get("result").cloned().unwrap_or_else(|| panic!("{answer}"))
    }

    /// What a call answers that must work.
    pub(crate) async fn ok(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], json!(false), "{result}");
        told_twice(&result)
    }

    /// What a call answers that must fail.
    pub(crate) async fn failed(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], json!(true), "{result}");
        told_twice(&result)
    }

    /// Ends our side, and waits for theirs.
    pub(crate) async fn end(mut self) -> (End, Vec<Value>) {
        drop(self.writer.take());
        let mut rest = std::mem::take(&mut self.heard);
        // Half a duplex pipe stays open as long as the other half: shutting down is what ends it.
        while let Some(message) = self.receive().await {
            rest.push(message);
        }
        (self.served.await.unwrap().unwrap(), rest)
    }

    pub(crate) async fn shut(&mut self) {
        if let Some(writer) = &mut self.writer {
            writer.shutdown().await.unwrap();
        }
    }
}

/// The same JSON stands in `structuredContent` and as text in `content`.
fn told_twice(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().expect("a text");
    assert_eq!(text, result["structuredContent"].to_string());
    assert!(result.to_string().len() < 1_000_000, "a frame of {}", result.to_string().len());
    result["structuredContent"].clone()
}

/// The real program, serving.
pub(crate) struct Program {
    child: Child,
    input: Option<ChildStdin>,
    output: Receiver<String>,
    errors: Receiver<String>,
    pub(crate) home: Arc<TempDir>,
}

impl Program {
    /// `flowy serve` with an empty environment besides these variables.
    pub(crate) fn serving(variables: &[(&str, &str)]) -> Self {
        Self::serving_at(Arc::new(tempfile::tempdir().unwrap()), &[], variables)
    }

    /// The same with arguments, in a home that others may share.
    pub(crate) fn serving_at(home: Arc<TempDir>, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_flowy"));
        command.arg("serve").args(arguments).env_clear().envs(variables.iter().copied());
        Self::of(command, home)
    }

    /// What a command starts, in a home that others may share.
    pub(crate) fn of(mut command: Command, home: Arc<TempDir>) -> Self {
        command.env("HOME", home.path()).current_dir(home.path());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = lines_of(child.stdout.take().unwrap());
        let errors = lines_of(child.stderr.take().unwrap());
        let input = child.stdin.take();
        Self { child, input, output, errors, home }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(format!("{message}\n").as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Shakes hands in the given version.
    pub(crate) fn shake_hands(&mut self, version: &str) -> Value {
        let answer = self.request(0, "initialize", &handshake(version));
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        answer
    }

    pub(crate) fn ask(&mut self, id: i64, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    pub(crate) fn request(&mut self, id: i64, method: &str, params: &Value) -> Value {
        self.ask(id, method, params);
        loop {
            let message = self.receive();
            if message["id"] == json!(id) {
                return message;
            }
        }
    }

    pub(crate) fn receive(&self) -> Value {
        let line = self.output.recv_timeout(PATIENCE).expect("a message in time");
        serde_json::from_str(&line).expect("every line is a message")
    }

    /// The answer to a request, or `None` where the program goes away before it is read.
    pub(crate) fn try_request(&mut self, id: i64, method: &str, params: &Value) -> Option<Value> {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.input.as_mut()?.write_all(format!("{request}\n").as_bytes()).ok()?;
        loop {
            match self.output.recv_timeout(PATIENCE) {
                // A last line may be cut off.
                Ok(line) => match serde_json::from_str::<Value>(&line) {
                    Ok(message) if message["id"] == json!(id) => return Some(message),
                    Ok(_) => {}
                    Err(_) => return None,
                },
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) => panic!("no answer in time"),
            }
        }
    }

    /// Ends the program at once, wherever it is (SIGKILL).
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn close_input(&mut self) {
        drop(self.input.take());
    }

    /// The process's number, to send it signals.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// The exit code, what was still said, and everything from standard error.
    pub(crate) fn end(mut self) -> (Option<i32>, Vec<Value>, String) {
        let rest = self.output.iter().map(|line| serde_json::from_str(&line).expect("every line is a message"));
        let rest: Vec<Value> = rest.collect();
        let errors: Vec<String> = self.errors.iter().collect();
        (self.child.wait().unwrap().code(), rest, errors.join("\n"))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines_of(stream: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in StdBufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// A flow file of template nodes, each `(id, template)`, and edges between them.
pub(crate) fn flow(name: &str, nodes: &[(&str, &str)], edges: &[(&str, &str)]) -> (String, String) {
    let nodes: Vec<Value> = nodes
        .iter()
        .map(|(id, template)| {
            json!({"id": id, "type": "template", "position": {"x": 0, "y": 0},
                   "data": {"label": format!("Step {id}"), "selectedTemplateId": template, "variables": []}})
        })
        .collect();
    let edges: Vec<Value> =
        edges.iter().map(|(from, to)| json!({"id": format!("{from}-{to}"), "source": from, "target": to})).collect();
    let file = json!({
        "metadata": {"name": name, "version": "1.0.0", "description": format!("The flow {name}."),
                     "created": "2026-01-02T09:00:00.000Z", "updated": "2026-01-03T09:00:00.000Z"},
        "nodes": nodes, "edges": edges,
    });
    (format!("flows/{name}.json"), file.to_string())
}

/// A template file.
pub(crate) fn template(name: &str, text: &str) -> (String, String) {
    (format!("templates/{name}.json"), json!({"title": name, "template": text}).to_string())
}

/// Lists the tools and calls one with the SDK's own client, once in each generation of the protocol.
pub(crate) async fn in_both_eras(app: &Arc<App>, call: CallToolRequestParams) -> [(Value, CallToolResult); 2] {
    let newest = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let one = async |mode| {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let served = tokio::spawn(flowy::internals::mcp::serve_on(app.clone(), reader, writer, std::future::pending()));
        let client = rmcp::serve_client_with_lifecycle(ClientConfig::default(), ours, mode).await.unwrap();
        let tools = client.list_all_tools().await.unwrap();
        let result = client.call_tool(call.clone()).await.unwrap();
        client.cancel().await.unwrap();
        assert_eq!(served.await.unwrap().unwrap(), End::InputEnded);
        (serde_json::to_value(tools).unwrap(), result)
    };
    [one(ClientLifecycleMode::Initialize).await, one(newest).await]
}
