//! Files of other programs that end up in a catalog, told by their marks.
//!
//! A mark is a field that the other program always writes and a flow file has no use for. Whoever put
//! such a file here is helped more by its program's name than by what is wrong with it as a flow.

use serde_json::{Map, Value};

/// What another program's file is, in words that follow "it seems to be".
pub(super) fn seems_to_be(value: &Value) -> Option<&'static str> {
    let object = match value {
        Value::Array(items) => return list(items),
        Value::Object(object) => object,
        _ => return None,
    };
    let marks: [(&'static str, bool); 17] = [
        ("a workflow of n8n", n8n(object)),
        (
            "a chatflow of Flowise",
            nodes_have(object, &["/data/inputParams", "/data/inputAnchors", "/data/baseClasses"]),
        ),
        ("a flow of Langflow", has(object, "/data/nodes") || nodes_have(object, &["/data/node/template"])),
        ("an app of Dify", has(object, "/workflow/graph") || (has(object, "/app/mode") && has(object, "/kind"))),
        ("a workflow of ComfyUI", comfy(object)),
        ("a flow of ChainForge", has(object, "/flow/nodes") && has(object, "/cache")),
        ("a blueprint of Make", has(object, "/flow/0/module")),
        ("a flow of Power Automate", has(object, "/properties/definition") || has(object, "/definition/triggers")),
        ("a flow of Activepieces", has(object, "/template/trigger") || has(object, "/trigger/nextAction")),
        ("a state machine of AWS Step Functions", has(object, "/StartAt") && has(object, "/States")),
        ("a canvas of Obsidian", edges_have(object, &["fromNode", "toNode"])),
        ("a drawing of Excalidraw", object.get("type").and_then(Value::as_str) == Some("excalidraw")),
        ("an object saved by LangChain", object.get("lc").is_some_and(Value::is_number)),
        ("a project of Rivet", has(object, "/data/graphs")),
        ("a collection of Postman", has(object, "/info/schema") && has(object, "/item")),
        ("an OpenAPI description", object.contains_key("openapi") || object.contains_key("swagger")),
        ("a package.json", object.contains_key("dependencies") && object.contains_key("version")),
    ];
    marks.into_iter().find(|(_, fits)| *fits).map(|(name, _)| name)
}

fn has(object: &Map<String, Value>, pointer: &str) -> bool {
    let Some((first, rest)) = pointer.strip_prefix('/').map(|path| path.split_once('/').unwrap_or((path, ""))) else {
        return false;
    };
    let below = object.get(first);
    if rest.is_empty() { below.is_some() } else { below.and_then(|value| value.pointer(&format!("/{rest}"))).is_some() }
}

fn items<'v>(object: &'v Map<String, Value>, key: &str) -> &'v [Value] {
    object.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Whether a node has one of these fields.
fn nodes_have(object: &Map<String, Value>, pointers: &[&str]) -> bool {
    items(object, "nodes").iter().any(|node| pointers.iter().any(|pointer| node.pointer(pointer).is_some()))
}

/// Whether an edge has all of these fields.
fn edges_have(object: &Map<String, Value>, keys: &[&str]) -> bool {
    items(object, "edges").iter().any(|edge| keys.iter().all(|key| edge.get(key).is_some()))
}

fn n8n(object: &Map<String, Value>) -> bool {
    object.get("connections").is_some_and(Value::is_object) && items(object, "nodes").iter().all(Value::is_object)
        || nodes_have(object, &["/typeVersion"])
}

/// What `ComfyUI` saves, or sends to its server.
fn comfy(object: &Map<String, Value>) -> bool {
    let saved = object.contains_key("last_node_id") && object.contains_key("links");
    saved || (!object.is_empty() && object.values().all(|node| node.get("class_type").is_some()))
}

/// Programs whose files are lists.
fn list(items: &[Value]) -> Option<&'static str> {
    let all =
        |keys: &[&str]| !items.is_empty() && items.iter().all(|item| keys.iter().all(|key| item.get(key).is_some()));
    if items.iter().any(|item| item.get("wires").is_some()) && all(&["id", "type"]) {
        Some("a flow of Node-RED")
    } else if all(&["mapping", "title"]) {
        Some("conversations exported from ChatGPT")
    } else {
        None
    }
}
