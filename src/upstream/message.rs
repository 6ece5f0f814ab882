//! One message of a server's, read with what programs are known to get wrong: bytes that are not
//! UTF-8, halves of characters, a batch of one, errors in shapes of their own, PHP's `[]` for `{}`.
//! What can't be read still has an end: an error of ours answers the request that it was for.

use std::borrow::Cow;

use rmcp::model::{ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult};
use serde_json::{Map, Value, json};

use crate::rpc::{answered_by, exponents_back, exponents_marked, halves_replaced};

/// The code of the error that stands in for an answer that is too long. The codes here are our own,
/// outside of what JSON-RPC and MCP define.
pub(super) const TOO_LONG: i32 = -32_950;
/// The code of the error that stands in for an answer that can't be read.
pub(super) const UNREADABLE: i32 = -32_951;
/// The code of the error of a server that does not know our session.
pub(super) const FORGOTTEN: i32 = -32_952;

/// The id of a result that names no request.
pub(super) const NAMELESS: &str = "";

/// What says of a tool whether it is called as a task; the library's tools don't have it.
const TASKS: &[u8] = b"\"taskSupport\"";
/// Where that is kept in a tool's `_meta`.
pub(super) const NEEDS_TASKS: &str = "flowy/taskRequired";

/// How much is kept of what can't be read: more than is shown of it, so that nothing secret in it is
/// cut in two before it is masked.
const KEPT: usize = 8 << 10;

/// What bytes of a server's are.
pub(super) enum ReadMessage {
    /// A message, and what had to be fixed in it.
    Message(Box<ServerJsonRpcMessage>, Option<&'static str>),
    /// The answer to this request, which can't be read; the error says why.
    Unreadable(RequestId, ErrorData),
    /// Nothing of the protocol.
    Stray(ErrorData),
}

/// Bytes without the byte-order mark that programs of some systems write before their text.
pub(super) fn unmarked(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes)
}

/// Why a program whose output begins so will never write a message that can be read; none where it may.
pub(super) fn foreign(bytes: &[u8]) -> Option<&'static str> {
    // What begins a line of UTF-16 may be the rest of the line's end before it.
    let nulls = |even: bool| {
        bytes.iter().take(8).enumerate().filter(|(place, byte)| (place % 2 == 0) == even && **byte == 0).count()
    };
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) || nulls(true) == 4 || nulls(false) == 4 {
        return Some("it writes UTF-16, and the protocol is UTF-8");
    }
    let header = b"content-length:";
    let framed = bytes.get(..header.len()).is_some_and(|begins| begins.eq_ignore_ascii_case(header));
    framed.then_some("it writes a Content-Length header before each message, as language servers do, and the protocol has one message a line")
}

/// Reads one message.
pub(super) fn read(bytes: &[u8]) -> ReadMessage {
    let bytes = unmarked(bytes).trim_ascii();
    if let Some(message) = std::str::from_utf8(bytes).ok().and_then(with_exponents) {
        return ReadMessage::Message(Box::new(message), None);
    }
    if !bytes.windows(TASKS.len()).any(|part| part == TASKS)
        && let Ok(message) = serde_json::from_slice::<ServerJsonRpcMessage>(bytes)
        && !is_loose(&message)
    {
        return ReadMessage::Message(Box::new(message), None);
    }
    let text = String::from_utf8_lossy(bytes);
    let not_unicode = matches!(text, Cow::Owned(_)).then_some("bytes that are not UTF-8 became U+FFFD");
    let halves = halves_replaced(&text);
    let half = halves.is_some().then_some("halves of characters became U+FFFD");
    let why = match serde_json::from_str(halves.as_deref().unwrap_or(&text)).map(the_one) {
        Ok(Value::Object(mut object)) => {
            let fixed = fix(&mut object);
            let value = Value::Object(object);
            match serde_json::from_str(&value.to_string()) {
                Ok(message) => return ReadMessage::Message(Box::new(message), not_unicode.or(half).or(fixed)),
                Err(error) => match request_id(&value) {
                    Some(id) => return ReadMessage::Unreadable(id, unreadable(&error.to_string(), bytes)),
                    None => error.to_string(),
                },
            }
        }
        Ok(_) => "it is no object".to_owned(),
        Err(error) => {
            let why = foreign(bytes).map_or_else(|| format!("it is not JSON: {error}"), str::to_owned);
            match answered_by(bytes, bytes).and_then(|id| id.as_i64()) {
                Some(id) => return ReadMessage::Unreadable(RequestId::Number(id), unreadable(&why, bytes)),
                None => why,
            }
        }
    };
    ReadMessage::Stray(unreadable(&why, bytes))
}

/// The answer to a call whose values have numbers with an exponent, which keep their digits.
fn with_exponents(text: &str) -> Option<ServerJsonRpcMessage> {
    let mut message: ServerJsonRpcMessage = serde_json::from_str(&exponents_marked(text)?).ok()?;
    if is_loose(&message) {
        return None;
    }
    let JsonRpcMessage::Response(response) = &mut message else { return None };
    let ServerResult::CallToolResult(result) = &mut response.result else { return None };
    result.structured_content.iter_mut().for_each(exponents_back);
    Some(message)
}

/// The error that stands in for an answer that can't be read, with the beginning of what came.
pub(super) fn unreadable(why: &str, bytes: &[u8]) -> ErrorData {
    let begins = String::from_utf8_lossy(bytes.get(..KEPT).unwrap_or(bytes));
    ErrorData::new(ErrorCode(UNREADABLE), why.to_owned(), Some(json!({"begins": begins})))
}

/// The error that stands in for an answer of so many bytes, as far as they were counted.
pub(super) fn too_long(bytes: Option<usize>) -> ErrorData {
    ErrorData::new(ErrorCode(TOO_LONG), "the answer is too long", bytes.map(|bytes| json!({"bytes": bytes})))
}

/// Whether a server's words are about the session.
pub(super) fn about_session(words: &str) -> bool {
    words.to_ascii_lowercase().contains("session")
}

/// Whether an answer has none of the shapes that the protocol knows.
fn is_loose(message: &ServerJsonRpcMessage) -> bool {
    matches!(message, JsonRpcMessage::Response(response) if matches!(response.result, ServerResult::CustomResult(_)))
}

/// The answer in a batch; batches were in one version of the protocol.
fn the_one(value: Value) -> Value {
    match value {
        Value::Array(batch) => {
            let answer = batch.iter().position(|one| one.get("result").is_some() || one.get("error").is_some());
            batch.into_iter().nth(answer.unwrap_or(0)).unwrap_or_default()
        }
        other => other,
    }
}

fn request_id(value: &Value) -> Option<RequestId> {
    // An answer without either answers nothing, and its request has an end all the same.
    let bare = value.get("jsonrpc").is_some() && value.get("method").is_none();
    let answers = bare || value.get("result").is_some() || value.get("error").is_some();
    value.get("id").filter(|_| answers).and_then(Value::as_i64).map(RequestId::Number)
}

/// Brings an answer into the protocol's shape, as far as it is plain what is meant; says what that
/// changed, where somebody should know.
fn fix(object: &mut Map<String, Value>) -> Option<&'static str> {
    if !object.contains_key("result") && !object.contains_key("error") {
        return None;
    }
    object.insert("jsonrpc".to_owned(), json!("2.0"));
    // Ours are numbers.
    let id = object.get("id").and_then(Value::as_str).and_then(|id| id.parse::<i64>().ok());
    if let Some(id) = id {
        object.insert("id".to_owned(), json!(id));
    }
    match object.remove("error") {
        None | Some(Value::Null) => {}
        Some(error) => {
            object.remove("result");
            let is_one =
                error.get("code").is_some_and(|code| code.as_i64().is_some_and(|code| i32::try_from(code).is_ok()))
                    && error.get("message").is_some_and(Value::is_string);
            object.insert("error".to_owned(), if is_one { error } else { error_of(&error) });
        }
    }
    if object.contains_key("result") && object.get("id").is_none_or(Value::is_null) {
        object.insert("id".to_owned(), json!(NAMELESS));
    }
    object.get_mut("result").and_then(Value::as_object_mut).and_then(mend_result)
}

/// An error of another shape than the protocol's, with all that it says in its message.
fn error_of(error: &Value) -> Value {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let message = match error {
        Value::Object(members) => {
            let said = ["code", "message"].iter().filter_map(|key| members.get(*key)).map(text).collect::<Vec<_>>();
            if said.is_empty() { error.to_string() } else { said.join(": ") }
        }
        other => text(other),
    };
    json!({"code": ErrorCode::INTERNAL_ERROR.0, "message": message})
}

/// What stands around any result, and the result of `initialize`.
fn mend_result(result: &mut Map<String, Value>) -> Option<&'static str> {
    for tool in result.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
        if tool.pointer("/execution/taskSupport").is_some_and(|support| support == "required") {
            tool["_meta"] = json!({ NEEDS_TASKS: true });
        }
    }
    let before = result.clone();
    if result.get("_meta").is_some_and(|meta| !meta.is_object()) {
        result.remove("_meta");
    }
    if result.contains_key("protocolVersion") {
        let capabilities = result.entry("capabilities").or_insert_with(|| json!({}));
        match capabilities {
            Value::Object(known) => {
                known.retain(|_, capability| !matches!(capability, Value::Null | Value::Bool(false)));
                for capability in known.values_mut().filter(|capability| !capability.is_object()) {
                    *capability = json!({});
                }
            }
            other => *other = json!({}),
        }
        let us = result.entry("serverInfo").or_insert_with(|| json!({}));
        if !us.is_object() {
            *us = json!({});
        }
        for key in ["name", "version"] {
            if us.get(key).is_none_or(|text| !text.is_string()) {
                us[key] = json!("");
            }
        }
    }
    (before != *result).then_some("a part of it had another shape than the protocol's")
}

/// PHP writes `[]` for an object without members: what may be left out, is.
pub(super) fn drop_if_list(object: &mut Map<String, Value>, key: &str) {
    if object.get(key).is_some_and(Value::is_array) {
        object.remove(key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_in(text: &[u8]) -> (Option<RequestId>, i32, String) {
        match read(text) {
            ReadMessage::Message(message, _) => match *message {
                JsonRpcMessage::Error(error) => (error.id, error.error.code.0, error.error.message.into_owned()),
                other => panic!("{other:?}"),
            },
            ReadMessage::Unreadable(id, error) => (Some(id), error.code.0, error.message.into_owned()),
            ReadMessage::Stray(error) => (None, error.code.0, error.message.into_owned()),
        }
    }

    #[test]
    fn errors_of_any_shape_say_what_they_say() {
        for (error, due) in [
            (r#"{"code":-32000,"message":"no"}"#, "no"),
            (r#"{"code":"E_INPUT","message":"too short"}"#, "E_INPUT: too short"),
            (r#"{"code":-1.5,"message":{"a":1}}"#, "-1.5: {\"a\":1}"),
            (r#"{"message":"no"}"#, "no"),
            (r#"{"reason":"no"}"#, "{\"reason\":\"no\"}"),
            (r#""no""#, "no"),
            ("7", "7"),
        ] {
            for text in [
                format!(r#"{{"jsonrpc":"2.0","id":4,"error":{error}}}"#),
                format!(r#"{{"id":"4","result":null,"error":{error}}}"#),
                format!(r#"[{{"jsonrpc":"2.0","method":"x"}},{{"jsonrpc":"2.0","id":4,"error":{error}}}]"#),
            ] {
                let (id, _, message) = error_in(text.as_bytes());
                assert_eq!((id, message.as_str()), (Some(RequestId::Number(4)), due), "{text}");
            }
        }
    }

    #[test]
    fn what_can_be_mended_is_a_message_and_says_what_was_mended() {
        let result = |inside: &[u8]| {
            let text =
                [br#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":""#, inside, br#""}]}}"#]
                    .concat();
            match read(&text) {
                ReadMessage::Message(message, fixed) => {
                    (serde_json::to_value(&*message).expect("JSON"), fixed.is_some())
                }
                ReadMessage::Unreadable(_, error) | ReadMessage::Stray(error) => panic!("{error:?}"),
            }
        };
        for (inside, text, fixed) in [
            (&b"plain"[..], "plain", false),
            (b"caf\xe9", "caf\u{FFFD}", true),
            (b"cut \\ud83d here", "cut \u{FFFD} here", true),
        ] {
            let (value, was_fixed) = result(inside);
            assert_eq!((&value["result"]["content"][0]["text"], was_fixed), (&json!(text), fixed));
        }
    }

    #[test]
    fn what_can_not_be_read_names_its_request_where_that_stands_at_an_end() {
        let text = br#"{"jsonrpc":"2.0","id":3,"result":{"n":NaN}}"#;
        let (id, code, why) = error_in(text);
        assert_eq!((id, code), (Some(RequestId::Number(3)), UNREADABLE), "{why}");
        for stray in
            [&b"Welcome"[..], br#"{"level":30}"#, b"[1]", b"7", b"{", br#"{"jsonrpc":"2.0","method":5,"id":2}"#]
        {
            let (id, code, why) = error_in(stray);
            assert_eq!((id, code), (None, UNREADABLE), "{why}");
        }
    }

    #[test]
    fn a_session_begins_whatever_its_empty_objects_are() {
        for capabilities in ["[]", r#"{"tools":[]}"#, r#"{"tools":true,"resources":false,"logging":[]}"#] {
            let text = format!(
                r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-06-18","capabilities":{capabilities},"serverInfo":[],"_meta":[]}}}}"#
            );
            let ReadMessage::Message(message, fixed) = read(text.as_bytes()) else { panic!("{text}") };
            let JsonRpcMessage::Response(response) = *message else { panic!("{text}") };
            let ServerResult::InitializeResult(begun) = response.result else { panic!("{text}") };
            assert_eq!(begun.capabilities.tools.is_some(), capabilities.contains("tools"));
            assert!(begun.capabilities.resources.is_none() && fixed.is_some());
        }
    }
}
