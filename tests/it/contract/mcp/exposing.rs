//! Flows that are tools of their own, over the wire.

mod alone;
mod calling;
mod changing;
mod choosing;

use std::sync::Arc;

use flowy::internals::config::{Expose, ExposeList, Settings};
use flowy::internals::execute::{Calling, OnToolProgress, Tools};
use flowy::internals::model::{Contract, KnownServer, KnownTool, ToolAnswer, ToolCall, ToolFile, Toolbox};
use serde_json::{Value, json};

use crate::support::mcp::{FIXED_TOOLS, Session, flow};

/// A flow file that asks to be a tool.
fn marked(name: &str, nodes: &[(&str, &str)]) -> (String, String) {
    let (path, text) = flow(name, nodes, &[]);
    let mut file: Value = serde_json::from_str(&text).unwrap();
    file["metadata"]["expose"] = json!(true);
    (path, file.to_string())
}

fn marked_for(list: &[&str]) -> impl FnOnce(&mut Settings) {
    let list = list.iter().map(|name| (*name).to_owned()).collect();
    move |settings| {
        settings.expose = Expose::Marked;
        settings.expose_list = ExposeList::Named(list);
    }
}

fn every_marked(settings: &mut Settings) {
    settings.expose = Expose::Marked;
    settings.expose_list = ExposeList::Every;
}

fn all(settings: &mut Settings) {
    settings.expose = Expose::All;
}

fn only_all(settings: &mut Settings) {
    all(settings);
    settings.only_exposed = true;
}

/// The tools that flows are; they are listed behind the fixed ones.
async fn flow_tools(session: &mut Session) -> Vec<Value> {
    behind_the_fixed(&session.request("tools/list", json!({})).await["result"]["tools"])
}

fn behind_the_fixed(listed: &Value) -> Vec<Value> {
    let (fixed, rest) = listed.as_array().unwrap().split_at(FIXED_TOOLS.len());
    assert_eq!(names(fixed), FIXED_TOOLS);
    rest.to_vec()
}

async fn exposed(session: &mut Session) -> Vec<String> {
    let tools = flow_tools(session).await;
    let names = names(&tools);
    assert!(names.is_sorted(), "{names:?}");
    names.into_iter().map(str::to_owned).collect()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// Two tools, one of which says that it only reads; both answer with their name, and that one with a file.
struct TwoTools;

impl Tools for TwoTools {
    fn toolbox(&self) -> Arc<Toolbox> {
        let known = |name: &str, read_only: bool| {
            let input = Contract::stored(None, json!({"type": "object"}));
            let tool = KnownTool {
                name: name.to_owned(),
                description: None,
                input,
                allowed: true,
                read_only,
                idempotent: false,
            };
            (name.to_owned(), Arc::new(tool))
        };
        let tools = Some([known("look", true), known("press", false)].into());
        let servers = [("page".to_owned(), KnownServer { tools, ..KnownServer::default() })].into();
        Arc::new(Toolbox { servers, revision: 1, ..Toolbox::default() })
    }

    fn call(&self, call: ToolCall, _progress: Option<OnToolProgress>) -> Calling<'_> {
        let file = ToolFile { media_type: "image/png".to_owned(), name: None, bytes: Arc::from([7; 30]) };
        let files = if call.address.tool == "look" { vec![file] } else { Vec::new() };
        Box::pin(async move { Ok(ToolAnswer { text: Some(call.address.to_string()), files, ..ToolAnswer::default() }) })
    }
}

/// A flow of one step that calls one of them.
fn calling(name: &str, tool: &str) -> (String, String) {
    let node = json!({"id": "n", "type": "tool", "data": {"label": "Step", "call": format!("page:{tool}")}});
    let file = json!({"metadata": {"name": name, "version": "1.0.0"}, "nodes": [node], "edges": []});
    (format!("flows/{name}.json"), file.to_string())
}
