//! Lists of tools and answers that are not what the protocol says, read part by part: what is known
//! of them is used, and the rest is named.

use rmcp::model::{CallToolResult, ContentBlock, Tool};
use serde_json::{Map, Value, json};

use super::message::drop_if_list;
use crate::names::{quoted, shown};

/// One page of a list of tools.
#[derive(Default)]
pub(super) struct LoosePage {
    pub(super) tools: Vec<Tool>,
    /// What is no tool: its name, and why.
    pub(super) unusable: Vec<(String, &'static str)>,
    pub(super) next: Option<String>,
}

/// A page whose tools are read one by one; `None` where it holds no list of tools.
pub(super) fn page(value: Value) -> Option<LoosePage> {
    let Value::Object(mut members) = value else { return None };
    let Some(Value::Array(listed)) = members.remove("tools") else { return None };
    let next = members.remove("nextCursor").and_then(|next| match next {
        Value::String(next) => Some(next),
        Value::Number(next) => Some(next.to_string()),
        _ => None,
    });
    let mut page = LoosePage { next, ..LoosePage::default() };
    for (place, tool) in listed.into_iter().enumerate() {
        let name = match tool.get("name") {
            Some(Value::String(name)) => name.clone(),
            Some(other) => other.to_string(),
            None => format!("number {}", place + 1),
        };
        match tool_of(tool) {
            Ok(tool) => page.tools.push(tool),
            Err(why) => page.unusable.push((name, why)),
        }
    }
    Some(page)
}

fn tool_of(tool: Value) -> Result<Tool, &'static str> {
    let Value::Object(mut members) = tool else { return Err("it is not an object") };
    for key in ["annotations", "_meta", "outputSchema", "execution"] {
        drop_if_list(&mut members, key);
    }
    if !members.get("name").is_some_and(Value::is_string) {
        return Err("its name is not a text");
    }
    match members.get_mut("inputSchema") {
        Some(Value::Object(_)) => {}
        Some(Value::Array(list)) if list.is_empty() => {
            members.insert("inputSchema".to_owned(), json!({"type": "object"}));
        }
        None => return Err("it has no inputSchema"),
        Some(_) => return Err("its inputSchema is not an object"),
    }
    let whole = Value::Object(members.clone());
    // What only tells about a tool is no reason to do without it.
    let bare = || {
        let known = ["name", "description", "inputSchema"];
        members.retain(|key, value| known.contains(&key.as_str()) && !value.is_null());
        serde_json::from_value(Value::Object(members))
    };
    serde_json::from_value(whole).or_else(|_| bare()).map_err(|_| "it has another shape than a tool's")
}

/// A schema with PHP's `[]` turned into the object without members that is meant.
pub(super) fn mend_schema(schema: &mut Value) {
    match schema {
        Value::Array(list) if list.is_empty() => *schema = json!({}),
        Value::Object(members) => members.iter_mut().for_each(|(key, value)| mend_member(key, value)),
        _ => {}
    }
}

fn mend_member(key: &str, value: &mut Value) {
    match (key, value) {
        ("properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas", value) => {
            if value.as_array().is_some_and(Vec::is_empty) {
                *value = json!({});
            }
            value.as_object_mut().into_iter().flat_map(Map::values_mut).for_each(mend_schema);
        }
        ("items" | "additionalProperties" | "not" | "contains" | "if" | "then" | "else", value) => mend_schema(value),
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
            schemas.iter_mut().for_each(mend_schema);
        }
        _ => {}
    }
}

/// Whether an answer says nothing at all, not even that it has no content.
pub(super) fn is_bare(value: &Value) -> bool {
    let Value::Object(members) = value else { return false };
    members.contains_key("content") && members.iter().all(|(key, value)| value.is_null() || key == "_meta")
}

/// An answer whose blocks are read one by one, and what of it is not known here; `None` where it is
/// no tool's answer.
pub(super) fn answer(value: Value) -> Option<(CallToolResult, Vec<String>)> {
    let Value::Object(mut members) = value else { return None };
    if !["content", "structuredContent", "isError"].iter().any(|key| members.contains_key(*key)) {
        return None;
    }
    let mut left_out = Vec::new();
    let blocks = match members.remove("content") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(blocks)) => blocks,
        // Some programs leave out the list, some the block around a text.
        Some(one) => vec![one],
    };
    let mut content = Vec::new();
    for (place, block) in blocks.into_iter().enumerate() {
        let mut leave_out = |what| left_out.push(format!("its content number {} {what}", place + 1));
        match block_of(block) {
            Ok((block, dropped)) => {
                content.push(block);
                dropped.into_iter().for_each(leave_out);
            }
            Err(what) => leave_out(what),
        }
    }
    let failed = members.get("isError").is_some_and(|said| {
        says_yes(said).unwrap_or_else(|| {
            // Taken for a success, an error would be handed on as a result.
            left_out.push(format!("its isError is {}, neither true nor false, and counts as true", brief(said)));
            true
        })
    });
    let mut result = if failed { CallToolResult::error(content) } else { CallToolResult::success(content) };
    result.structured_content = members.remove("structuredContent").filter(|structured| !structured.is_null());
    Some((result, left_out))
}

/// What stands for true or false where programs write it as a text or a number; none where it stands for neither.
fn says_yes(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(said) => Some(*said),
        Value::Null => Some(false),
        Value::Number(number) => match number.as_f64()? {
            0.0 => Some(false),
            1.0 => Some(true),
            _ => None,
        },
        Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
            "true" | "1" | "yes" => Some(true),
            "false" | "0" | "no" | "" => Some(false),
            _ => None,
        },
        Value::Array(_) | Value::Object(_) => None,
    }
}

fn brief(value: &Value) -> String {
    shown(&value.to_string(), 60)
}

/// A block, and what is dropped of it.
fn block_of(block: Value) -> Result<(ContentBlock, Option<String>), String> {
    let mut members = match block {
        Value::Object(members) => members,
        Value::String(text) => return Ok((ContentBlock::text(text), None)),
        _ => return Err("is not an object".to_owned()),
    };
    for key in ["annotations", "_meta"] {
        drop_if_list(&mut members, key);
    }
    let kind = match members.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(_) => return Err("has a type that is not a text".to_owned()),
        None => return Err("has no type".to_owned()),
    };
    if kind == "resource" {
        let inside = |key: &str| members.get("resource").and_then(|resource| resource.get(key)).and_then(Value::as_str);
        match (inside("uri"), inside("text"), inside("blob")) {
            // What it says is there; where it is from is not.
            (None, Some(text), _) => return Ok((ContentBlock::text(text), None)),
            (None, None, _) => return Err("is a resource without a uri".to_owned()),
            (Some(_), None, None) => return Err("is a resource with neither a text nor a blob".to_owned()),
            (Some(_), ..) => {}
        }
    }
    let known = ["text", "image", "audio", "resource", "resource_link"].contains(&kind.as_str());
    if !known {
        return Err(format!("is of the type {}, which is not known here", quoted(&kind)));
    }
    let whole = Value::Object(members.clone());
    let error = match serde_json::from_value(whole) {
        Ok(block) => return Ok((block, None)),
        Err(error) => error,
    };
    // What only tells about a block is no reason to do without it.
    keep_content(&mut members);
    members.get_mut("resource").and_then(Value::as_object_mut).into_iter().for_each(keep_content);
    match serde_json::from_value(Value::Object(members)) {
        Ok(block) => {
            Ok((block, Some("is kept without its annotations and other details, which can't be read".to_owned())))
        }
        Err(_) => Err(format!("is not what the type {} should be: {error}", quoted(&kind))),
    }
}

fn keep_content(members: &mut Map<String, Value>) {
    let content = ["type", "text", "data", "blob", "uri", "name", "resource"];
    members.retain(|key, value| content.contains(&key.as_str()) || (key == "mimeType" && value.is_string()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_read_one_by_one_and_those_that_are_none_are_named() {
        let page = page(json!({"nextCursor": 7, "tools": [
            {"name": "good", "inputSchema": {"type": "object"}, "annotations": [], "_meta": [], "outputSchema": []},
            {"name": "empty", "inputSchema": []},
            {"name": "odd", "inputSchema": {}, "title": 5, "icons": "x", "annotations": {"readOnlyHint": "yes"}},
            {"name": "none"}, {"name": "null", "inputSchema": null}, {"name": "text", "inputSchema": "{}"},
            {"name": 5, "inputSchema": {}}, {"inputSchema": {}}, "words",
        ]}))
        .expect("a page");
        let names: Vec<&str> = page.tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!((names, page.next.as_deref()), (vec!["good", "empty", "odd"], Some("7")));
        let unusable: Vec<&str> = page.unusable.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(unusable, ["none", "null", "text", "5", "number 8", "number 9"]);
        assert!(super::page(json!({"tools": {}})).is_none() && super::page(json!([])).is_none());
    }

    #[test]
    fn empty_lists_in_a_schema_are_objects_where_an_object_is_due() {
        let mut schema = json!({"type": "object", "required": [], "properties": [], "$defs": {"a": {"properties": []}},
            "items": [], "anyOf": [{"properties": {"b": []}}], "enum": [], "default": []});
        mend_schema(&mut schema);
        assert_eq!(
            schema,
            json!({"type": "object", "required": [], "properties": {}, "$defs": {"a": {"properties": {}}},
                "items": {}, "anyOf": [{"properties": {"b": {}}}], "enum": [], "default": []})
        );
    }

    #[test]
    fn what_is_known_of_an_answer_is_kept_and_the_rest_is_named() {
        let (result, left_out) = answer(json!({"_meta": [], "isError": "no", "content": [
            {"type": "chart", "series": [1]}, {"type": "text", "text": "got", "annotations": []},
            "bare", {"text": "x"}, {"type": "image"}, 5,
        ]}))
        .expect("an answer");
        let texts: Vec<&str> =
            result.content.iter().filter_map(|block| block.as_text()).map(|text| text.text.as_str()).collect();
        assert_eq!((texts, result.is_error), (vec!["got", "bare"], Some(false)));
        assert_eq!(left_out.len(), 4);
        assert!(left_out[0].starts_with("its content number 1 ") && left_out[0].contains("\"chart\""), "{left_out:?}");
        let (one, _) = answer(json!({"content": {"type": "text", "text": "one"}, "isError": true})).expect("an answer");
        assert_eq!((one.content.len(), one.is_error), (1, Some(true)));
        for (said, failed, noted) in [
            (json!("true"), true, 0),
            (json!(" True"), true, 0),
            (json!(1), true, 0),
            (json!(1.0), true, 0),
            (json!("false"), false, 0),
            (json!(0), false, 0),
            (json!(null), false, 0),
            (json!("quota"), true, 1),
            (json!({"code": 3}), true, 1),
            (json!(2), true, 1),
        ] {
            let (one, left_out) = answer(json!({"content": "one", "isError": said})).expect("an answer");
            assert_eq!((one.is_error, left_out.len()), (Some(failed), noted), "{said}");
        }
        let of =
            |resource: Value| answer(json!({"content": [{"type": "resource", "resource": resource}]})).expect("one");
        assert_eq!(of(json!({"text": "said"})).0.content.len(), 1);
        for (resource, word) in [(json!({"blob": "aGk="}), "uri"), (json!({"uri": "a:b"}), "blob"), (json!(5), "uri")] {
            assert!(of(resource.clone()).1[0].contains(word), "{resource}");
        }
        assert!(answer(json!({"result": 1})).is_none() && answer(json!([])).is_none());
    }
}
