//! External servers and their tools.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::common::Stamp;
use crate::app::{ServerList, ServerRow, ServerStanding, ServerTools};

/// What `flowy servers list --json` and `flowy servers tools ALIAS --json` print.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "flowy servers")]
pub enum ServersAnswer {
    /// The servers that are configured, with what is known of each.
    List(ServerListAnswer),
    /// The tools of one server.
    Tools(Box<ServerToolsAnswer>),
}

/// The external MCP servers that are configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ServerListAnswer {
    /// The servers file, which need not be there.
    file: String,
    /// The servers, by alias. None of them is asked.
    servers: Vec<ServerAnswer>,
    /// What is doubtful, each with its place in the servers file: keys that are not known, headers sent without
    /// encryption, and what `allow` names and no server has.
    warnings: Vec<String>,
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerAnswer {
    /// The name that flows call it by.
    alias: String,
    /// `stdio` for a program, `http` for an address.
    #[schemars(extend("enum" = ["stdio", "http"]))]
    transport: &'static str,
    /// How it stands for the process that answers: `idle` (not connected; nobody needed it, which is the rule for a
    /// command that has just begun), `ready` (connected), `unavailable` (it could not be reached) or `disabled` (the
    /// operator switched it off).
    #[schemars(extend("enum" = ["idle", "ready", "unavailable", "disabled"]))]
    standing: &'static str,
    /// Why it could not be reached, and the tools are those that were known from before; absent where it could, or
    /// nobody tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
    /// How many tools it has; null while its list was never read.
    tools: Option<usize>,
    /// How many of them flows may call.
    allowed_tools: usize,
    /// When its list was read, also by another process; null while it never was.
    tools_read_at: Option<Stamp>,
}

/// One server's tools, asked now.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerToolsAnswer {
    #[serde(flatten)]
    server: ServerAnswer,
    /// What helps against that, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<String>,
    /// Its tools, by name.
    tool_list: Vec<ToolAnswer>,
    /// What is doubtful, each with its place in the servers file: keys that are not known, headers sent without
    /// encryption, and what `allow` names and no server has.
    warnings: Vec<String>,
}

/// A tool of a server.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolAnswer {
    /// What a flow writes to call it: alias:tool.
    call: String,
    /// What it is for, in the server's words; absent where it says nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// Whether flows may call it.
    allowed: bool,
    /// Whether the server says that it changes nothing.
    read_only: bool,
    /// Whether the server says that repeating it does no harm.
    idempotent: bool,
    /// The JSON Schema of its arguments, with --schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("type" = ["object", "boolean"]))]
    input_schema: Option<Value>,
}

/// What `flowy servers list` answers.
pub fn servers(list: &ServerList) -> ServersAnswer {
    ServersAnswer::List(ServerListAnswer {
        file: list.place.clone(),
        servers: list.rows.iter().map(ServerAnswer::from).collect(),
        warnings: list.notices.clone(),
    })
}

/// What `flowy servers tools` answers; with the schemas of arguments where they are wanted.
pub fn server_tools(asked: &ServerTools, schemas: bool) -> ServersAnswer {
    let mut server = ServerAnswer::from(&asked.row);
    if let Some(trouble) = &asked.trouble {
        server.trouble = Some(trouble.clone());
    }
    let tools = asked.tools.iter().map(|tool| ToolAnswer {
        call: format!("{}:{}", asked.row.alias, tool.name),
        description: tool.description.clone(),
        allowed: tool.allowed,
        read_only: tool.read_only,
        idempotent: tool.idempotent,
        input_schema: schemas.then(|| tool.input.schema().clone()),
    });
    ServersAnswer::Tools(Box::new(ServerToolsAnswer {
        server,
        hint: asked.hint.clone(),
        tool_list: tools.collect(),
        warnings: asked.notices.clone(),
    }))
}

impl From<&ServerRow> for ServerAnswer {
    fn from(row: &ServerRow) -> Self {
        let (standing, trouble) = match &row.standing {
            ServerStanding::Idle => ("idle", None),
            ServerStanding::Ready => ("ready", None),
            ServerStanding::Unavailable(why) => ("unavailable", Some(why.clone())),
            ServerStanding::Disabled => ("disabled", None),
        };
        Self {
            alias: row.alias.clone(),
            transport: row.transport,
            standing,
            trouble,
            tools: row.tools,
            allowed_tools: row.allowed,
            tools_read_at: row.known_since.map(Stamp::millis),
        }
    }
}
