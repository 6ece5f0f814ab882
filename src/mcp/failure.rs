//! How failures leave the server: as a tool's result, or as the error of a JSON-RPC method.

use rmcp::ErrorData;
use rmcp::model::ErrorCode;
use serde_json::Value;

use super::aliases;
use super::definition::{Definition, FailureShape};
use super::reply::Reply;
use super::tools::ALL;
use crate::app::{Code, Error};
use crate::names::{nearest, quoted, shown};
use crate::report::wire::{self, ErrorAnswer};

/// The methods of MCP that this server answers.
pub(super) const MCP: [&str; 12] = [
    "completion/complete",
    "initialize",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "server/discover",
    "subscriptions/listen",
    "tools/call",
    "tools/list",
];

/// The JSON-RPC code of a failure of our own methods: the first that is free for servers.
///
/// Source: JSON-RPC 2.0, section 5.1, -32000 to -32099.
const SERVER_ERROR: ErrorCode = ErrorCode(-32_000);
/// The longest address that is repeated, in characters.
const LONGEST_ADDRESS: usize = 2_000;
/// How many tools one sentence names.
const NAMED: usize = 20;

/// The failure of a tool, in the tool's shape. `flow` is the flow it was about.
pub(super) fn reply(tool: &Definition, error: &Error, flow: Option<&str>) -> Reply {
    // The contract's own name for it.
    let source = tool.name.replacen('_', "/", 1);
    Reply::failure(match tool.failure {
        FailureShape::Error => wire::value(&ErrorAnswer::of(error, &source)),
        FailureShape::Execution => wire::value(&wire::refusal(error, flow, &source)),
    })
}

/// A failure of one of our own JSON-RPC methods: our error object is the `data`.
pub(super) fn method_error(failed: Value) -> ErrorData {
    let message = failed.get("message").and_then(Value::as_str).unwrap_or("failed").to_owned();
    ErrorData::new(SERVER_ERROR, message, Some(failed))
}

/// Nothing can be read there, or it can't be read now. rmcp writes the code that the client's
/// version has for a resource that isn't there: -32002, since 2026-07-28 -32602.
pub(super) fn resource(error: &Error, uri: &str) -> ErrorData {
    let mut data = wire::value(&ErrorAnswer::of(error, "resources/read"));
    if let Value::Object(data) = &mut data {
        // The protocol wants the address there.
        data.insert("uri".to_owned(), Value::String(shown(uri, LONGEST_ADDRESS)));
    }
    let (code, message, data) = (of(error), error.message.clone(), Some(data));
    // What the caller asks for is an address, so what is wrong with that is that nothing is there.
    if code == ErrorCode::INVALID_PARAMS {
        return ErrorData::resource_not_found(message, data);
    }
    ErrorData::new(code, message, data)
}

/// A failure of one of the protocol's own methods.
pub(super) fn protocol(error: &Error, method: &'static str) -> ErrorData {
    ErrorData::new(of(error), error.message.clone(), Some(wire::value(&ErrorAnswer::of(error, method))))
}

/// What is the caller's to fix, what is a bug, and what is neither.
fn of(error: &Error) -> ErrorCode {
    match error.code {
        Code::InvalidRequest
        | Code::InvalidCursor
        | Code::AmbiguousName
        | Code::FlowNotFound
        | Code::TemplateNotFound
        | Code::ExecutionNotFound
        | Code::MissingVariables => ErrorCode::INVALID_PARAMS,
        Code::InternalError => ErrorCode::INTERNAL_ERROR,
        _ => SERVER_ERROR,
    }
}

/// What requests can't do without, each with params that can be read.
const NEEDED: [(&str, &[&str], &str); 3] = [
    (
        "completion/complete",
        &["ref", "argument"],
        r#"{"ref": {"type": "ref/prompt", "name": "…"}, "argument": {"name": "…", "value": "…"}}"#,
    ),
    ("prompts/get", &["name"], r#"{"name": "…", "arguments": {"topic": "…"}}"#),
    ("resources/read", &["uri"], r#"{"uri": "flow://list"}"#),
];

/// The params of one of the protocol's own methods can't be read.
pub(super) fn unreadable(method: &str, params: Option<&Value>) -> ErrorData {
    let mut message = format!("the params of {method} can't be read");
    if let Some((_, names, sample)) = NEEDED.iter().find(|(name, ..)| *name == method) {
        let lacks = |name: &&&str| params.and_then(|params| params.get(**name)).is_none();
        for name in names.iter().filter(lacks) {
            message = format!("{message}: `{name}` is missing");
        }
        message = format!("{message}; send them as in {sample}");
    }
    ErrorData::invalid_params(message, None)
}

/// There is no such tool among these; `alone` where they are flows and nothing else.
pub(super) fn unknown_tool(called: &str, names: &[String], alone: bool) -> ErrorData {
    let fixed = ALL.iter().any(|tool| tool.name == aliases::tool(called).0);
    let fact = if alone && fixed {
        format!("the tool {} is not offered here, where flows are the only tools", quoted(called))
    } else {
        format!("there is no tool {}", quoted(called))
    };
    let near = nearest(called, names.iter().map(String::as_str), 1);
    let hint = near.first().map_or_else(|| the_tools(names), |near| format!("did you mean {near}?"));
    ErrorData::invalid_params(format!("{fact}; {hint}"), None)
}

/// The names of the tools in a sentence, as many as one holds.
fn the_tools(names: &[String]) -> String {
    let more = names.len().saturating_sub(NAMED);
    match (names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", "), more) {
        (named, _) if named.is_empty() => "there are no tools".to_owned(),
        (named, 0) => format!("the tools are {named}"),
        (named, more) => format!("the tools are {named} and {more} more"),
    }
}

/// There is no such method. `tools` are the tools that calls can be made to; `alone` where they are
/// flows and nothing else.
pub(super) fn unknown_method(method: &str, tools: &[String], alone: bool) -> ErrorData {
    let (tool, _) = aliases::tool(method);
    let what = quoted(method);
    let message = if tools.contains(&tool) {
        format!("{what} is no method but a tool: send tools/call with name {tool}")
    } else {
        let own: &[&str] = if alone { &[] } else { &aliases::METHODS };
        let methods = MCP.iter().chain(own).copied().filter(|name| *name != method);
        let methods = methods.collect::<Vec<_>>().join(", ");
        format!("there is no method {what}; {}, and this server answers {methods}", the_tools(tools))
    };
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None)
}
