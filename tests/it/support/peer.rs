//! External MCP servers for tests: real ones, written with rmcp, as a program and as an address.
//!
//! As a program, the peer is this test binary itself, started once more: it is always built, and
//! always the same code. What the test harness prints would stand in the way of the protocol on
//! standard output, so a shell puts the protocol on another stream and the harness's words away.

use std::collections::BTreeSet;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ElicitRequestParams, ListToolsResult,
    PaginatedRequestParams, ProgressNotificationParam, ServerCapabilities, ServerConfig, SubscriptionFilter, Tool,
};
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Names the kind of peer that this process is to be.
const KIND: &str = "FLOWY_TEST_PEER";
/// Names the file that a peer writes down in what happened to it.
const NOTES: &str = "FLOWY_TEST_NOTES";
/// The smallest picture there is: one transparent pixel.
const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";

/// The entry of a servers file for a peer that is a program.
pub(crate) fn entry(kind: &str, notes: &Path) -> Value {
    let program = std::env::current_exe().unwrap();
    let start =
        "exec \"$0\" support::peer::this_process_is_a_peer_where_it_is_asked_to_be --exact --nocapture 3>&1 >/dev/null";
    json!({
        "command": "/bin/sh",
        "args": ["-c", start, program.to_str().unwrap()],
        "env": {KIND: kind, NOTES: notes.to_str().unwrap()},
        "allow": "*",
    })
}

/// Not a test: what a peer's process does. Everywhere else there is nothing to do.
#[test]
#[allow(clippy::disallowed_methods, reason = "a process that is to be a peer is told so by its environment")]
fn this_process_is_a_peer_where_it_is_asked_to_be() {
    let Ok(kind) = std::env::var(KIND) else { return };
    let notes = PathBuf::from(std::env::var(NOTES).unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(be(&kind, notes));
    std::process::exit(0);
}

#[allow(clippy::disallowed_methods, reason = "a peer that dies does so at once")]
async fn be(kind: &str, notes: PathBuf) {
    let peer = Peer::new(kind, Some(notes.clone()));
    peer.note(&format!("started {}", std::process::id()));
    match kind {
        "flaky" if peer.noted("started").len() == 1 => {
            complain("starting up");
            complain("Error: no luck today");
            std::process::exit(3);
        }
        "grandchild" => {
            #[allow(clippy::zombie_processes, reason = "it is to outlive whoever does not look after it")]
            let grandchild = Command::new("sleep").arg("1000").spawn().unwrap();
            peer.note(&format!("grandchild {}", grandchild.id()));
        }
        _ => {}
    }
    let out = tokio::fs::File::from_std(OpenOptions::new().write(true).open("/dev/fd/3").unwrap());
    let (input, _) = rmcp::transport::stdio_pipes();
    if let Ok(serving) = peer.serve((input, out)).await {
        let _ = serving.waiting().await;
    }
}

/// Says something where a program's complaints go.
#[allow(clippy::print_stderr, reason = "a program's complaints go there")]
fn complain(words: &str) {
    eprintln!("{words}");
}

/// A peer that is an address. Letting go of it ends it.
pub(crate) struct Address {
    pub(crate) url: String,
    pub(crate) peer: Peer,
    pub(crate) bound: SocketAddr,
    _stop: DropGuard,
}

impl Address {
    /// Serves on a free port.
    pub(crate) async fn serve(kind: &str) -> Self {
        Self::serve_at(kind, "127.0.0.1:0".parse().unwrap()).await
    }

    /// Serves where another one served before.
    pub(crate) async fn serve_at(kind: &str, at: SocketAddr) -> Self {
        let listener = TcpListener::bind(at).await.unwrap();
        let bound = listener.local_addr().unwrap();
        let peer = Peer::new(kind, None);
        let stop = CancellationToken::new();
        let made = peer.clone();
        let config = StreamableHttpServerConfig::default().with_cancellation_token(stop.child_token());
        let service =
            StreamableHttpService::new(move || Ok(made.clone()), Arc::new(LocalSessionManager::default()), config);
        let stopping = stop.clone();
        tokio::spawn(async move {
            loop {
                let stream = tokio::select! {
                    () = stopping.cancelled() => break,
                    accepted = listener.accept() => accepted.unwrap().0,
                };
                let (service, stopping) = (TowerToHyperService::new(service.clone()), stopping.clone());
                tokio::spawn(async move {
                    let serving =
                        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                    tokio::select! {
                        () = stopping.cancelled() => {}
                        _ = serving => {}
                    }
                });
            }
        });
        Self { url: format!("http://{bound}/mcp"), peer, bound, _stop: stop.drop_guard() }
    }

    /// The entry of a servers file for it.
    pub(crate) fn entry(&self) -> Value {
        json!({"url": self.url, "allow": "*"})
    }
}

/// A server with a tool for each way in which servers go wrong.
#[derive(Clone)]
pub(crate) struct Peer {
    kind: Arc<str>,
    /// What happened, for peers that share this process with the test.
    seen: Arc<Mutex<Vec<String>>>,
    notes: Option<PathBuf>,
    grown: Arc<Mutex<BTreeSet<String>>>,
}

impl Peer {
    fn new(kind: &str, notes: Option<PathBuf>) -> Self {
        Self { kind: Arc::from(kind), seen: Arc::default(), notes, grown: Arc::default() }
    }

    fn note(&self, what: &str) {
        self.seen.lock().unwrap().push(what.to_owned());
        if let Some(notes) = &self.notes {
            let mut file = OpenOptions::new().create(true).append(true).open(notes).unwrap();
            // In one piece: several peers may write to one file.
            file.write_all(format!("{what}\n").as_bytes()).unwrap();
        }
    }

    /// What happened that begins with these words.
    pub(crate) fn noted(&self, words: &str) -> Vec<String> {
        match &self.notes {
            Some(notes) => notes_of(notes, words),
            None => self.seen.lock().unwrap().iter().filter(|note| note.starts_with(words)).cloned().collect(),
        }
    }

    fn tools(&self) -> Vec<Tool> {
        let tool = |value: Value| serde_json::from_value::<Tool>(value).unwrap();
        let text = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"], "additionalProperties": false});
        let free = json!({"type": "object"});
        let reading = json!({"readOnlyHint": true});
        if &*self.kind == "many" {
            return (0..300)
                .map(|n| tool(json!({"name": format!("tool_{n:03}"), "description": "One of many. ".repeat(20), "inputSchema": text})))
                .collect();
        }
        if &*self.kind == "browser" {
            return vec![
                tool(
                    json!({"name": "navigate", "inputSchema": {"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]}}),
                ),
                tool(json!({"name": "console_messages", "inputSchema": free, "annotations": reading})),
                tool(json!({"name": "network_requests", "inputSchema": free, "annotations": reading})),
                tool(json!({"name": "screenshot", "inputSchema": free, "annotations": reading})),
            ];
        }
        if &*self.kind == "files" {
            return ["list_directory", "read_text_file"]
                .map(|name| tool(json!({"name": name, "inputSchema": free, "annotations": reading})))
                .to_vec();
        }
        if &*self.kind == "steady" {
            return vec![
                tool(json!({"name": "look", "inputSchema": free, "annotations": reading})),
                tool(json!({"name": "touch", "inputSchema": free})),
                tool(json!({"name": "once", "inputSchema": free})),
                tool(json!({"name": "once_reading", "inputSchema": free, "annotations": reading})),
            ];
        }
        let mut tools = vec![
            tool(
                json!({"name": "echo", "description": "Says it again\u{202E}", "inputSchema": text, "annotations": reading}),
            ),
            tool(json!({"name": "slow", "inputSchema": free})),
            tool(json!({"name": "slow_reading", "inputSchema": free, "annotations": reading})),
            tool(json!({"name": "progress", "inputSchema": free})),
            tool(json!({"name": "crash", "inputSchema": free})),
            tool(json!({"name": "crash_reading", "inputSchema": free, "annotations": reading})),
            tool(json!({"name": "liar", "description": "Lists one schema and demands another", "inputSchema": text})),
            tool(
                json!({"name": "misfit", "inputSchema": free, "outputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}),
            ),
            tool(json!({"name": "no_schema", "inputSchema": {"type": "no such type"}})),
            tool(
                json!({"name": "draft7", "inputSchema": {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
                "properties": {"pair": {"type": "array", "items": [{"type": "integer"}, {"type": "string"}]}}}}),
            ),
            tool(
                json!({"name": "huge", "inputSchema": {"type": "object", "properties": {"bytes": {"type": "integer"}}}}),
            ),
            tool(json!({"name": "asking", "inputSchema": free})),
            tool(json!({"name": "failing", "inputSchema": free})),
            tool(json!({"name": "surroundings", "inputSchema": free})),
            tool(json!({"name": "loud", "inputSchema": free})),
            tool(json!({"name": "bad_file", "inputSchema": free})),
            tool(json!({"name": "grow", "inputSchema": free})),
            tool(json!({"name": "bad:name", "inputSchema": free})),
        ];
        tools.extend(
            self.grown
                .lock()
                .unwrap()
                .iter()
                .map(|name| tool(json!({"name": name, "inputSchema": free, "annotations": reading}))),
        );
        tools
    }

    async fn answer(
        &self,
        name: &str,
        arguments: &Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let text = |text: String| CallToolResult::success(vec![ContentBlock::text(text)]);
        Ok(match name {
            "echo" => {
                let said = arguments["text"].as_str().unwrap_or_default().to_owned();
                let mut result = text(said.clone());
                result.structured_content = Some(json!({"echo": said}));
                result
            }
            "slow" | "slow_reading" => {
                self.note("slow began");
                context.ct.cancelled().await;
                self.note("slow was cancelled");
                text("too late".to_owned())
            }
            "progress" => {
                if let Some(token) = context.meta.get_progress_token() {
                    for step in 1..=3 {
                        let told = ProgressNotificationParam::new(token.clone(), f64::from(step))
                            .with_total(3.0)
                            .with_message(format!("step {step}"));
                        context.peer.notify_progress(told).await.unwrap();
                    }
                }
                text("done".to_owned())
            }
            "crash" | "crash_reading" => {
                complain("error: fell over");
                #[allow(clippy::disallowed_methods, reason = "this is what the tool is for")]
                std::process::exit(7);
            }
            "liar" => return Err(ErrorData::invalid_params("number is missing", None)),
            "misfit" => {
                let mut result = text("n".to_owned());
                result.structured_content = Some(json!({"n": "one"}));
                result
            }
            "no_schema" | "draft7" => text(arguments.to_string()),
            "huge" => text("x".repeat(usize::try_from(arguments["bytes"].as_u64().unwrap()).unwrap())),
            "asking" => {
                let question: ElicitRequestParams = serde_json::from_value(
                    json!({"mode": "form", "message": "Password?", "requestedSchema": {"type": "object", "properties": {}}}),
                )
                .unwrap();
                match context.peer.create_elicitation(question).await {
                    Ok(answer) => text(format!("they said {:?}", answer.action)),
                    Err(error) => text(format!("nobody could be asked: {error}")),
                }
            }
            "failing" => CallToolResult::error(vec![ContentBlock::text("the page is not there")]),
            "surroundings" => {
                #[allow(clippy::disallowed_methods, reason = "what a peer was given is what is looked at")]
                let names: BTreeSet<String> = std::env::vars().map(|(name, _)| name).collect();
                text(json!({"names": names, "folder": std::env::current_dir().unwrap()}).to_string())
            }
            "loud" => {
                complain("a key of mine is s3cr3t-key, and \u{1b}[31mred");
                text("said".to_owned())
            }
            "bad_file" => CallToolResult::success(vec![ContentBlock::image("not base64!", "image/png")]),
            "grow" => {
                self.grown.lock().unwrap().insert("grown".to_owned());
                // Where the newer protocol is spoken, subscriptions are told instead.
                if context.protocol_version().is_none_or(|version| version.has_initialize()) {
                    context.peer.notify_tool_list_changed().await.unwrap();
                }
                text("grown".to_owned())
            }
            "grown" => text("here".to_owned()),
            "look" | "touch" => {
                self.note(&format!("{name} {arguments}"));
                // Long enough to be interrupted by a test that kills whoever called.
                tokio::time::sleep(Duration::from_millis(50)).await;
                text(format!("{name}ed"))
            }
            "once" | "once_reading" => {
                self.note("once began");
                if self.noted("once began").len() == 1 {
                    context.ct.cancelled().await;
                }
                text("at last".to_owned())
            }
            "list_directory" => text("a.txt\nb.txt".to_owned()),
            "read_text_file" => text(format!("what is in {}", arguments["path"])),
            "navigate" => text(format!("went to {}", arguments["url"].as_str().unwrap())),
            "console_messages" => text(json!([{"level": "error", "text": "x is undefined"}]).to_string()),
            "network_requests" => text(json!({"requests": [{"url": "/api", "status": 500}]}).to_string()),
            "screenshot" => CallToolResult::success(vec![ContentBlock::image(PIXEL, "image/png")]),
            other => return Err(ErrorData::invalid_params(format!("unknown tool {other}"), None)),
        })
    }
}

impl ServerHandler for Peer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.note("tools were listed");
        let tools = self.tools();
        if &*self.kind == "endless" {
            let mut result = ListToolsResult::with_all_items(tools);
            result.next_cursor = Some("again".to_owned());
            return Ok(result);
        }
        if &*self.kind == "silent later" && self.noted("tools were listed").len() > 1 {
            return Err(ErrorData::internal_error("no list today", None));
        }
        if &*self.kind != "many" {
            return Ok(ListToolsResult::with_all_items(tools));
        }
        let from: usize = page.and_then(|page| page.cursor).map_or(0, |cursor| cursor.parse().unwrap());
        let mut result = ListToolsResult::with_all_items(tools[from..from + 100].to_vec());
        result.next_cursor = (from + 100 < tools.len()).then(|| (from + 100).to_string());
        Ok(result)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools().into_iter().find(|tool| tool.name == name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = Value::Object(request.arguments.unwrap_or_default());
        Ok(CallToolResponse::Complete(self.answer(&request.name, &arguments, &context).await?))
    }

    fn accepted_subscription_filter(&self, asked: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(asked.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        // What grew while nobody listened is told at once.
        let mut known = 0;
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                () = tokio::time::sleep(Duration::from_millis(5)) => {}
            }
            let now = self.grown.lock().unwrap().len();
            if now != known {
                known = now;
                let _ = context.sink().notify_tool_list_changed().await;
            }
        }
    }
}

/// The lines of a file of notes that begin with these words.
pub(crate) fn notes_of(notes: &Path, words: &str) -> Vec<String> {
    let text = std::fs::read_to_string(notes).unwrap_or_default();
    text.lines().filter(|line| line.starts_with(words)).map(str::to_owned).collect()
}

/// The number of a process that a note names.
pub(crate) fn process_of(note: &str) -> u32 {
    note.rsplit(' ').next().unwrap().parse().unwrap()
}

/// Whether a process still runs; one that has ended and waits for its parent does not.
pub(crate) fn runs(process: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) else { return false };
    !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with(['Z', 'X'])
}

/// Waits until something is so; longer than anything takes, on a busy machine too.
pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    for _ in 0..4_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("it never came about: {what}");
}
