//! What an external tool costs: one call through the registry, and one whole step of a flow, beside
//! the bare call of the same peer; and what configured servers add to the start and to the memory of
//! the program.
//!
//! Run with `cargo build --release && cargo bench --bench tools`. The peer is this bench itself,
//! started once more. It measures the program at `target/release/flowy`, or the one that the first
//! argument names.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::indexing_slicing,
    missing_docs,
    reason = "a bench fails by panicking and prints its figures"
)]
#![allow(clippy::disallowed_methods, clippy::cast_precision_loss, reason = "a bench measures real time")]

mod driver;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use driver::{Figures, Server, ms};
use flowy::internals::clock::SystemClock;
use flowy::internals::config::{Environment, ServersFile};
use flowy::internals::execute::{Options, Rendered, Tools as _, Workers, execute};
use flowy::internals::model::{Shelf, ToolAddress, ToolCall};
use flowy::internals::names::CatalogPath;
use flowy::internals::plan::Plan;
use flowy::internals::run::Given;
use flowy::internals::upstream::{Registry, Surroundings};
use flowy::internals::validate;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::TokioChildProcess;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// Tells this bench to be the peer.
const PEER: &str = "FLOWY_BENCH_PEER";
const CALLS: usize = 5_000;
const STARTS: usize = 30;

#[derive(Clone)]
struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = json!({"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]});
        let tool: Tool = serde_json::from_value(json!({"name": "echo", "inputSchema": schema})).unwrap();
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let text = request.arguments.unwrap_or_default()["text"].as_str().unwrap().to_owned();
        Ok(CallToolResponse::Complete(CallToolResult::success(vec![ContentBlock::text(text)])))
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    if std::env::var_os(PEER).is_some() {
        runtime.block_on(async {
            let serving = Echo.serve(rmcp::transport::stdio_pipes()).await.unwrap();
            serving.waiting().await.unwrap();
        });
        return;
    }
    runtime.block_on(calls());
    starts(&driver::program());
}

/// The servers file with so many servers, each of them this bench as a peer.
fn servers(count: usize) -> String {
    let program = std::env::current_exe().unwrap();
    let entry = json!({"command": program.to_str().unwrap(), "env": {PEER: "1"}, "allow": "*"});
    let servers: serde_json::Map<String, Value> = (0..count).map(|n| (format!("s{n:02}"), entry.clone())).collect();
    json!({"mcpServers": servers}).to_string()
}

/// A flow of one step, which sends its input to the peer.
fn plan() -> Arc<Plan> {
    let flow = json!({
        "metadata": {"name": "Echo", "version": "1.0.0"},
        "nodes": [
            {"id": "in", "type": "multi_input", "data": {"variables": ["text"]}},
            {"id": "said", "type": "tool", "data": {"call": "s00:echo", "args": {"text": "{{ text }}"}}}
        ],
        "edges": [{"source": "in", "target": "said"}]
    });
    let path = CatalogPath::new("flows/Echo.json").unwrap();
    let parsed = validate::ParsedFlows::read(&path, flow.to_string().as_bytes());
    let options = validate::Options { lenient: false, max_nodes: 10, max_edges: 10, unchecked_calls: false };
    let shelf = Shelf::default();
    let known = validate::Known { shelf: &shelf, twins: None, strays: &[], tools: None, options };
    let check = validate::flow_file(&parsed, known).flows.remove(0);
    Arc::new(Plan::of(check.checked.as_ref().expect("no finding reaches the flow"), &HashMap::new()))
}

async fn calls() {
    let file = ServersFile::parse(Path::new("/tmp/servers.json"), servers(1).as_bytes(), &Environment::of_process());
    let guard = driver::program().canonicalize().ok();
    println!("below a guard: {}", guard.is_some());
    let registry = Registry::new(
        file.unwrap(),
        Surroundings { guard, cache: None, web_fault: None, clock: SystemClock::shared() },
    );
    let mut bare_peer = tokio::process::Command::new(std::env::current_exe().unwrap());
    bare_peer.env(PEER, "1");
    let bare = ().serve(TokioChildProcess::new(bare_peer).unwrap()).await.unwrap();
    let arguments = json!({"text": "A sentence of a usual length, as a flow would send it."});
    let Value::Object(arguments) = arguments else { unreachable!() };

    let (plan, given) = (plan(), Given::read(&arguments).unwrap());
    let workers = Workers { tools: Some(&registry), execution: "bench", ..Workers::of_texts(&Rendered) };
    let step = async || {
        let (options, cancel) = (Options::default(), CancellationToken::new());
        let executed =
            execute(plan.clone(), given.clone(), &options, workers, &SystemClock, &cancel, |_, _| {}).await.unwrap();
        assert_eq!(executed.calls, 1);
    };

    let (mut bares, mut ours, mut steps) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..CALLS + 500 {
        let begun = Instant::now();
        let params = CallToolRequestParams::new("echo").with_arguments(arguments.clone());
        bare.call_tool(params).await.unwrap();
        let of_bare = begun.elapsed();
        let address = ToolAddress { server: "s00".to_owned(), tool: "echo".to_owned() };
        let begun = Instant::now();
        let call = ToolCall {
            step: String::new(),
            address,
            arguments: arguments.clone(),
            timeout: None,
            generated: false,
            insist: false,
        };
        registry.call(call, None).await.unwrap();
        let of_ours = begun.elapsed();
        let begun = Instant::now();
        step().await;
        let of_step = begun.elapsed();
        // The first ones connect, compile and warm up.
        if n >= 500 {
            bares.push(of_bare);
            ours.push(of_ours);
            steps.push(of_step);
        }
    }
    let (of_calls, of_steps) = (difference(&ours, &bares), difference(&steps, &bares));
    let (bares, ours, steps) = (Figures::of(bares), Figures::of(ours), Figures::of(steps));
    println!("one call, bare            {bares}");
    println!("one call, by the registry {ours}");
    println!("one step of a flow        {steps}");
    for (what, difference, times) in [("call", of_calls, &ours), ("step", of_steps, &steps)] {
        println!(
            "of pairs, {what} over bare call: half differ by less than {difference:.1} µs, {:.2} times (aim for a step: 150 µs)",
            times.at(0.5) / bares.at(0.5)
        );
    }
    let before = driver::resident_mb("self");
    for _ in 0..1_000 {
        step().await;
    }
    println!("resident: {before:.2} MB before 1,000 more steps, {:.2} MB after them", driver::resident_mb("self"));
    registry.shut_down(Duration::from_secs(5)).await;
    bare.cancel().await.unwrap();
}

/// The difference that half of the pairs stay below, in microseconds.
fn difference(times: &[Duration], bares: &[Duration]) -> f64 {
    let mut differences: Vec<f64> = times.iter().zip(bares).map(|(time, bare)| ms(*time) - ms(*bare)).collect();
    differences.sort_unstable_by(f64::total_cmp);
    differences[differences.len() / 2] * 1e3
}

fn starts(program: &Path) {
    if !program.exists() {
        println!("no program at {}: cargo build --release", program.display());
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let file: PathBuf = home.path().join("servers.json");
    std::fs::write(&file, servers(20)).unwrap();
    let (mut without, mut with) = (Vec::new(), Vec::new());
    // The lists are known from an earlier process, so nothing is started for them.
    let known = |command: &mut Command| {
        command.arg("--servers").arg(&file);
    };
    let mut command = Command::new(program);
    known(&mut command);
    let first = Server::spawn(&mut command, home.path());
    std::thread::sleep(Duration::from_secs(5));
    drop(first);
    let (mut memory_without, mut memory_with) = (0.0, 0.0);
    for _ in 0..STARTS {
        let begun = Instant::now();
        let server = Server::spawn(&mut Command::new(program), home.path());
        without.push(begun.elapsed());
        memory_without = server.resident_mb();
        drop(server);
        let mut command = Command::new(program);
        known(&mut command);
        let begun = Instant::now();
        let server = Server::spawn(&mut command, home.path());
        with.push(begun.elapsed());
        memory_with = server.resident_mb();
    }
    println!("spawn → initialized, no servers {}", Figures::of(without));
    println!("spawn → initialized, 20 servers {}  (aim: 20 ms)", Figures::of(with));
    println!("resident, idle: {memory_without:.1} MB without servers, {memory_with:.1} MB with 20");
}
