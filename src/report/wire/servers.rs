//! External servers and their tools.

use chrono::SecondsFormat;
use serde_json::{Map, Value, json};

use crate::app::{ServerList, ServerRow, ServerStanding, ServerTools};

/// What `flowy servers list` answers.
pub fn servers(list: &ServerList) -> Value {
    let servers: Vec<Value> = list.rows.iter().map(|row| Value::Object(server(row))).collect();
    json!({"file": list.place, "servers": servers, "warnings": list.notices})
}

/// What `flowy servers tools` answers; with the schemas of arguments where they are wanted.
pub fn server_tools(asked: &ServerTools, schemas: bool) -> Value {
    let mut object = server(&asked.row);
    if let Some(trouble) = &asked.trouble {
        object.insert("trouble".to_owned(), json!(trouble));
    }
    if let Some(hint) = &asked.hint {
        object.insert("hint".to_owned(), json!(hint));
    }
    let tools = asked.tools.iter().map(|tool| {
        let mut told = Map::new();
        told.insert("call".to_owned(), json!(format!("{}:{}", asked.row.alias, tool.name)));
        if let Some(description) = &tool.description {
            told.insert("description".to_owned(), json!(description));
        }
        told.insert("allowed".to_owned(), json!(tool.allowed));
        told.insert("readOnly".to_owned(), json!(tool.read_only));
        told.insert("idempotent".to_owned(), json!(tool.idempotent));
        if schemas {
            told.insert("inputSchema".to_owned(), tool.input.schema().clone());
        }
        Value::Object(told)
    });
    object.insert("toolList".to_owned(), tools.collect());
    object.insert("warnings".to_owned(), json!(asked.notices));
    Value::Object(object)
}

fn server(row: &ServerRow) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("alias".to_owned(), json!(row.alias));
    object.insert("transport".to_owned(), json!(row.transport));
    object.insert("standing".to_owned(), json!(standing_word(&row.standing)));
    if let ServerStanding::Unavailable(why) = &row.standing {
        object.insert("trouble".to_owned(), json!(why));
    }
    object.insert("tools".to_owned(), json!(row.tools));
    object.insert("allowedTools".to_owned(), json!(row.allowed));
    let since = row.known_since.map(|time| time.to_rfc3339_opts(SecondsFormat::Millis, true));
    object.insert("toolsReadAt".to_owned(), json!(since));
    object
}

/// How a server stands, in one word.
fn standing_word(standing: &ServerStanding) -> &'static str {
    match standing {
        ServerStanding::Idle => "idle",
        ServerStanding::Ready => "ready",
        ServerStanding::Unavailable(_) => "unavailable",
        ServerStanding::Disabled => "disabled",
    }
}
