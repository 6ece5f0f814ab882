//! Calls to tools that misbehave: such tools exist in tests only.

use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{CallToolResult, ClientConfig};
use rmcp::service::RunningService;
use rmcp::{RoleClient, ServiceExt as _};
use tokio::sync::Notify;

use super::*;
use crate::app::EXAMPLES;
use crate::clock::ManualClock;
use crate::config::{Environment, Settings};
use crate::mcp::definition::{CallPlace, FailureShape, Hint};
use crate::source::{Pace, SourceSpec};

static AT_WORK: AtomicUsize = AtomicUsize::new(0);
static MOST_AT_WORK: AtomicUsize = AtomicUsize::new(0);
static GO_ON: Notify = Notify::const_new();

const fn tool(name: &'static str, run: crate::mcp::definition::ToolRun) -> Definition {
    Definition {
        name,
        title: "Test",
        description: "Test",
        hints: &[Hint::Idempotent, Hint::ReadOnly],
        steps: crate::mcp::definition::StepWork::None,
        place: CallPlace::Reading,
        parameters: &[],
        failure: FailureShape::Error,
        run,
    }
}

static TOOLS: [Definition; 4] = [
    tool("panics", |_, _| async { panic!("the reason, for the log only") }.boxed()),
    tool("waits", |_, _| {
        async {
            let at_work = AT_WORK.fetch_add(1, Ordering::SeqCst) + 1;
            MOST_AT_WORK.fetch_max(at_work, Ordering::SeqCst);
            GO_ON.notified().await;
            AT_WORK.fetch_sub(1, Ordering::SeqCst);
            Ok(Reply::of(&json!({"done": true})))
        }
        .boxed()
    }),
    Definition {
        place: CallPlace::None,
        ..tool("tells", |_, _| async { Ok(Reply::of(&json!({"done": true}))) }.boxed())
    },
    tool("works", |_, _| async { Ok(Reply::of(&json!({"done": true}))) }.boxed()),
];

async fn client(at_once: usize) -> RunningService<RoleClient, ClientConfig> {
    let mut settings = Settings::defaults(&Environment::of([("HOME", "/nowhere")]));
    settings.max_concurrent_requests = at_once;
    let clock = ManualClock::at("2026-01-05T09:00:00Z".parse().expect("a time"));
    let app = App::open_at(SourceSpec::Examples(EXAMPLES), settings, clock, Pace::Hurried).expect("an app");
    let server = McpServer::with_tools(Arc::new(app), Ends::default(), &TOOLS);
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    tokio::spawn(async move { server.serve(theirs).await.expect("a session").waiting().await });
    ClientConfig::default().serve(ours).await.expect("a session")
}

async fn call(client: &RunningService<RoleClient, ClientConfig>, tool: &'static str) -> CallToolResult {
    client.call_tool(CallToolRequestParams::new(tool)).await.expect("an answer")
}

#[tokio::test]
async fn a_panic_is_an_answer_with_an_id_and_harms_no_other_call() {
    let client = client(1).await;
    for _ in 0..3 {
        let failed = call(&client, "panics").await;
        let object = failed.structured_content.expect("an object");
        assert_eq!((failed.is_error, &object["code"]), (Some(true), &json!("INTERNAL_ERROR")));
        let id = object["details"]["id"].as_str().expect("an id");
        assert!(object["message"].as_str().is_some_and(|message| message.contains(id)));
        assert!(!object.to_string().contains("the reason"), "what panicked is for the log");
    }
    assert_eq!(call(&client, "works").await.is_error, Some(false));
}

#[tokio::test]
async fn no_more_calls_work_at_once_than_are_allowed() {
    let client = Arc::new(client(3).await);
    let calls: Vec<_> = (0..10)
        .map(|_| {
            let client = client.clone();
            tokio::spawn(async move { call(&client, "waits").await })
        })
        .collect();
    while AT_WORK.load(Ordering::SeqCst) < 3 {
        tokio::task::yield_now().await;
    }
    // Who asks how it stands does not wait for them.
    assert_eq!(call(&client, "tells").await.is_error, Some(false));
    let mut ended = 0;
    for answer in calls {
        while !answer.is_finished() {
            GO_ON.notify_one();
            tokio::task::yield_now().await;
        }
        assert_eq!(answer.await.expect("no panic").is_error, Some(false));
        ended += 1;
    }
    assert_eq!((ended, MOST_AT_WORK.load(Ordering::SeqCst)), (10, 3));
}
