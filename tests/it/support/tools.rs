//! Somebody who calls tools, in this process: each tool goes its own way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use flowy::internals::code::Code;
use flowy::internals::execute::{Calling, OnToolProgress, ToolFailure, ToolProgress, Tools};
use flowy::internals::model::{
    Contract, KnownServer, KnownTool, ServerStanding, ToolAnswer, ToolCall, ToolFile, Toolbox,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// Longer than anything here takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for what comes about soon, or never.
pub(crate) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.expect("it came about in time")
}

/// The server `web`. `get` answers with what it was asked for, and a file; `stuck` and `safe` (which
/// only reads) once they are let go, after saying how it goes; of what `half` gave some is left out; `bad`
/// loses its connection; `away` is sent nothing before its server is up; `huge` says more than an execution
/// may keep; `fall` breaks who calls it.
#[derive(Default)]
pub(crate) struct Web {
    calls: AtomicUsize,
    /// Told of every call that begins.
    pub(crate) begun: Notify,
    /// Lets one go that waits.
    pub(crate) go: Notify,
    /// Told of every call that waited, when it ends, also when it is broken off.
    pub(crate) over: Arc<Notify>,
    /// Whether the server of `away` can be reached.
    pub(crate) up: AtomicBool,
}

impl Web {
    /// How many calls there were.
    pub(crate) fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }
}

/// Tells when it goes away.
struct Tells(Arc<Notify>);

impl Drop for Tells {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

fn said(text: impl Into<String>) -> ToolAnswer {
    ToolAnswer { text: Some(text.into()), ..ToolAnswer::default() }
}

impl Tools for Web {
    fn toolbox(&self) -> Arc<Toolbox> {
        let tool = |name: &str| {
            let known = KnownTool {
                name: name.to_owned(),
                description: None,
                input: Contract::stored(None, json!({"type": "object"})),
                allowed: true,
                read_only: name == "safe",
                idempotent: false,
            };
            (name.to_owned(), Arc::new(known))
        };
        let tools = ["get", "half", "stuck", "safe", "bad", "away", "huge", "fall"].map(tool);
        let server = KnownServer {
            standing: ServerStanding::Ready,
            tools: Some(tools.into_iter().collect()),
            ..KnownServer::default()
        };
        Arc::new(Toolbox { servers: [("web".to_owned(), server)].into(), revision: 1, ..Toolbox::default() })
    }

    fn call(&self, call: ToolCall, progress: Option<OnToolProgress>) -> Calling<'_> {
        Box::pin(async move {
            self.calls.fetch_add(1, Ordering::SeqCst);
            self.begun.notify_one();
            match call.address.tool.as_str() {
                "bad" => Err(ToolFailure {
                    code: Code::ToolUnavailable,
                    message: "nobody is there".to_owned(),
                    sent: 1,
                    needs_word: false,
                    in_doubt: false,
                }),
                "away" if self.up.load(Ordering::SeqCst) => Ok(said("back again")),
                "away" => Err(ToolFailure::unsent(Code::ToolUnavailable, "connection refused".to_owned())),
                "get" => {
                    let file =
                        ToolFile { media_type: "image/png".to_owned(), name: None, bytes: Arc::from(*b"\x00\xffpng") };
                    let structured: Value =
                        serde_json::from_str(r#"{"n": 1.50, "id": 12345678901234567890123}"#).unwrap();
                    Ok(ToolAnswer {
                        structured: Some(structured),
                        files: vec![file],
                        ..said(format!("got {}", Value::Object(call.arguments)))
                    })
                }
                "half" => Ok(ToolAnswer { left_out: vec!["its sound is not known".to_owned()], ..said("half") }),
                "huge" => Ok(said("x".repeat(2 << 20))),
                "fall" => panic!("nobody expects this"),
                _ => {
                    let _tells = Tells(self.over.clone());
                    if let Some(progress) = progress {
                        progress(ToolProgress {
                            progress: 1.0,
                            total: Some(4.0),
                            message: Some("at it".to_owned()),
                            until: None,
                        });
                    }
                    self.go.notified().await;
                    Ok(said("at last"))
                }
            }
        })
    }
}
