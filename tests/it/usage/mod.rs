//! What is counted of executions and listings, and what becomes of it.

mod counting;
mod keeping;

use flowy::internals::report::wire;
use serde_json::{Value, json};

use crate::support::mcp::{Bench, Session};

/// A flow that works, and one in which a step fails.
const TEA: &str = r#"{"metadata":{"name":"Tea","version":"1.0.0"},
"nodes":[{"id":"a","type":"template","data":{"label":"A","template":"Tea for {who}"}}],"edges":[]}"#;
const TORN: &str = r#"{"metadata":{"name":"Torn","version":"1.0.0"},
"nodes":[{"id":"a","type":"template","data":{"label":"A","template":"A"}},
{"id":"b","type":"template","data":{"label":"B","selectedTemplateId":"Gone"}}],"edges":[{"source":"a","target":"b"}]}"#;

/// Where counts are kept below a home.
const FILE: &str = ".local/state/flowy/flowy.db";

fn bench() -> Bench {
    Bench::folder([("flows/Tea.json", TEA), ("flows/Torn.json", TORN)]).counting()
}

fn tea() -> Value {
    json!({"flowName": "Tea", "initialVariables": {"who": "two"}})
}

/// Ends a session, after which everything is counted.
async fn end(mut session: Session) {
    session.shut().await;
    session.end().await;
}

/// What is counted by now.
async fn stats(bench: &Bench) -> Value {
    let stats = bench.again().app.stats(&flowy::internals::app::StatsRequest::default()).await.unwrap();
    wire::value(&wire::stats(&stats))
}
