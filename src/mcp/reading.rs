//! What a client's line says: a message, fixed where it is plain what is meant, or why it can't be
//! read, for the request that it was.

use rmcp::RoleServer;
use rmcp::model::{ClientRequest, ErrorCode, JsonRpcMessage};
use rmcp::service::RxJsonRpcMessage;
use serde_json::{Map, Value, json};

use crate::names::{quoted, shown};
use crate::rpc::{exponents_back, exponents_marked, halves_replaced, id_of, repeated_key, request_in};

/// What some programs begin their texts with (RFC 8259, section 8.1, allows to ignore it).
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";
/// The longest method that is named in an error, in characters.
const NAMED: usize = 100;
/// What `initialize` can't do without, and what each of it is.
const BEGINNING: [(&[&str], &str); 5] = [
    (&["protocolVersion"], "a text"),
    (&["capabilities"], "an object"),
    (&["clientInfo"], "an object"),
    (&["clientInfo", "name"], "a text"),
    (&["clientInfo", "version"], "a text"),
];

/// What a line says.
pub enum ReadLine {
    /// A message.
    Message(Box<RxJsonRpcMessage<RoleServer>>),
    /// It can't be read; this is to be said to it.
    Refused(Value),
    /// It can't be read, and nobody waits for an answer.
    Nothing,
}

/// Reads a line.
pub fn read(line: &[u8]) -> ReadLine {
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii();
    match read_once(line) {
        ReadLine::Message(message) if matches!(*message, JsonRpcMessage::Request(_)) => match repeated_key(line) {
            None => ReadLine::Message(message),
            // Of two values one would be lost without a word.
            Some(key) => {
                let why = format!("{} stands twice in one object of this message: send it once", quoted(&key));
                // If it is the id, the last one counts, as with every key.
                let id = serde_json::from_slice(line).ok().and_then(|message| id_of(&message));
                let id = id.or_else(|| request_in(line, line)).unwrap_or_default();
                ReadLine::Refused(refusal(ErrorCode::INVALID_PARAMS, &why, &id))
            }
        },
        read => read,
    }
}

fn read_once(line: &[u8]) -> ReadLine {
    if line.is_empty() {
        return ReadLine::Nothing;
    }
    if let Some(message) = std::str::from_utf8(line).ok().and_then(with_exponents) {
        return ReadLine::Message(Box::new(message));
    }
    match serde_json::from_slice::<RxJsonRpcMessage<RoleServer>>(line) {
        Ok(message) if loose(&message).is_none() => return ReadLine::Message(Box::new(message)),
        _ => {}
    }
    let value = match serde_json::from_slice::<Value>(line) {
        Ok(value) => Ok(value),
        // Half of an emoji is all that may be wrong.
        Err(error) => match std::str::from_utf8(line).ok().and_then(halves_replaced) {
            Some(fixed) => serde_json::from_str(&fixed),
            None => Err(error),
        },
    };
    match value {
        Ok(mut value) => {
            fix(&mut value);
            match serde_json::from_str::<RxJsonRpcMessage<RoleServer>>(&value.to_string()) {
                Ok(message) if loose(&message) != Some("initialize") => ReadLine::Message(Box::new(message)),
                Ok(_) => no_beginning(&value),
                Err(error) => misshapen(&value, &error),
            }
        }
        Err(error) => {
            let why = format!("the line is not JSON: {error}");
            ReadLine::Refused(refusal(ErrorCode::PARSE_ERROR, &why, &request_in(line, line).unwrap_or_default()))
        }
    }
}

/// A request whose values have numbers with an exponent, which keep their digits.
fn with_exponents(line: &str) -> Option<RxJsonRpcMessage<RoleServer>> {
    let mut message = serde_json::from_str(&exponents_marked(line)?).ok().filter(|message| loose(message).is_none())?;
    if let JsonRpcMessage::Request(request) = &mut message {
        let values: Vec<&mut Value> = match &mut request.request {
            ClientRequest::CallToolRequest(call) => {
                call.params.arguments.iter_mut().flat_map(Map::values_mut).collect()
            }
            ClientRequest::CustomRequest(custom) => custom.params.iter_mut().collect(),
            _ => return None,
        };
        values.into_iter().for_each(exponents_back);
    }
    Some(message)
}

/// Methods whose parameters may be fixed.
const MENDED: [&str; 3] = ["initialize", "tools/call", "prompts/get"];

/// The known method of a request whose parameters are not what the protocol says: rmcp takes it for a
/// method of somebody's own.
fn loose(message: &RxJsonRpcMessage<RoleServer>) -> Option<&str> {
    let JsonRpcMessage::Request(request) = message else { return None };
    let ClientRequest::CustomRequest(custom) = &request.request else { return None };
    Some(custom.method.as_str()).filter(|method| MENDED.contains(method))
}

/// Brings an answer to one of our requests into JSON-RPC's shape: an error of null is none, and one of any
/// other shape is one all the same.
fn fix_answer(object: &mut Map<String, Value>) {
    if object.contains_key("method") {
        return;
    }
    let Some(error) = object.remove("error") else { return };
    if error.is_null() && object.contains_key("result") {
        return;
    }
    object.remove("result");
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let is_one = code.is_some() && error.get("message").is_some_and(Value::is_string);
    let told = || json!({"code": ErrorCode::INTERNAL_ERROR.0, "message": error.to_string()});
    let fixed = if is_one { error.clone() } else { told() };
    object.insert("error".to_owned(), fixed);
}

/// PHP writes `[]` for an object without members.
fn fix(message: &mut Value) {
    let Some(object) = message.as_object_mut() else { return };
    fix_answer(object);
    empty_is_object(object, "params");
    let Some(params) = object.get_mut("params").and_then(Value::as_object_mut) else { return };
    for key in ["arguments", "_meta", "capabilities"] {
        empty_is_object(params, key);
    }
    let capabilities = params.get_mut("capabilities").and_then(Value::as_object_mut);
    for capability in capabilities.into_iter().flat_map(Map::values_mut) {
        if capability.as_array().is_some_and(Vec::is_empty) {
            *capability = json!({});
        }
    }
}

fn empty_is_object(object: &mut Map<String, Value>, key: &str) {
    if let Some(value) = object.get_mut(key).filter(|value| value.as_array().is_some_and(Vec::is_empty)) {
        *value = json!({});
    }
}

/// What an `initialize` lacks.
fn no_beginning(message: &Value) -> ReadLine {
    let params = message.get("params").unwrap_or(&Value::Null);
    let lacking = BEGINNING.iter().filter_map(|(path, due)| {
        let value = path.iter().try_fold(params, |value, key| value.get(key));
        let above = path.split_last().map_or(&[][..], |(_, above)| above);
        let whole = above.iter().try_fold(params, |value, key| value.get(key)).is_some_and(Value::is_object);
        match value {
            // What is missing as a whole is not told again for its parts.
            None if !above.is_empty() && !whole => None,
            None => Some(format!("params.{} is missing", path.join("."))),
            Some(value) if *due == "a text" && !value.is_string() || *due == "an object" && !value.is_object() => {
                Some(format!("params.{} is not {due}", path.join(".")))
            }
            Some(_) => None,
        }
    });
    let lacking: Vec<String> = lacking.collect();
    let what = if lacking.is_empty() {
        "params have another shape than the protocol's".to_owned()
    } else {
        lacking.join("; ")
    };
    let why = format!("this initialize can't be read: {what}");
    ReadLine::Refused(refusal(ErrorCode::INVALID_PARAMS, &why, &id_of(message).unwrap_or_default()))
}

/// JSON that is no message. Source of the codes: JSON-RPC 2.0, section 5.1.
fn misshapen(value: &Value, error: &serde_json::Error) -> ReadLine {
    let Value::Object(object) = value else {
        let why = "a message is one JSON object a line; there are no batches";
        return ReadLine::Refused(refusal(ErrorCode::INVALID_REQUEST, why, &Value::Null));
    };
    let id = object.get("id");
    let method = object.get("method");
    // Nobody waits for an answer to an answer, or to a notification.
    let answer = method.is_none() && (object.contains_key("result") || object.contains_key("error"));
    if answer || (id.is_none() && method.is_some_and(Value::is_string)) {
        tracing::debug!(%error, "a message that wants no answer can't be read");
        return ReadLine::Nothing;
    }
    let known = id_of(value).unwrap_or_default();
    let invalid = |why: &str| ReadLine::Refused(refusal(ErrorCode::INVALID_REQUEST, why, &known));
    let Some(method) = method.and_then(Value::as_str) else { return invalid("method is not a text") };
    if object.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return invalid("jsonrpc is not \"2.0\"");
    }
    if known.is_null() {
        return invalid("id is neither a text nor a number");
    }
    if object.get("params").is_some_and(|params| !params.is_object()) {
        let why = format!("params of {} is not an object", shown(method, NAMED));
        return ReadLine::Refused(refusal(ErrorCode::INVALID_PARAMS, &why, &known));
    }
    invalid(&format!("this {} can't be read: {error}", shown(method, NAMED)))
}

/// An error as it is sent.
pub(super) fn refusal(code: ErrorCode, why: &str, id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code.0, "message": why}})
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The id and the code of what is said to a line; none to a message.
    fn refused(line: &[u8]) -> Option<(Value, i64, String)> {
        match read(line) {
            ReadLine::Message(_) => None,
            ReadLine::Refused(error) => Some((
                error["id"].clone(),
                error["error"]["code"].as_i64().expect("a code"),
                error["error"]["message"].as_str().expect("a text").to_owned(),
            )),
            ReadLine::Nothing => panic!("nothing is said"),
        }
    }

    #[test]
    fn what_is_not_json_is_answered_under_its_own_id() {
        for (line, id) in [
            (
                &br#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x","arguments":{"a":NaN}}}"#[..],
                json!(2),
            ),
            (br#"{"method":"ping","params":{"a":NaN},"jsonrpc":"2.0","id":"b"}"#, json!("b")),
            (b"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"ping\",\"params\":{\"a\":\"caf\xe9\"}}", json!(4)),
            (b"nonsense", Value::Null),
        ] {
            let (told, code, _) = refused(line).expect("refused");
            assert_eq!((told, code), (id, -32_700), "{}", String::from_utf8_lossy(line));
        }
        assert!(refused(br#"{"jsonrpc":"2.0","id":2,"method":"ping","params":{"a":"cut \ud83d"}}"#).is_none());
    }

    #[test]
    fn of_two_values_for_one_key_none_is_chosen() {
        let line = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x","arguments":{"v":{"a":"1","a":"2"}}}}"#;
        let (id, code, why) = refused(line).expect("refused");
        assert_eq!((id, code), (json!(7), -32_602));
        assert!(why.starts_with("\"a\" stands twice"), "{why}");
    }

    #[test]
    fn an_initialize_names_each_field_that_it_lacks() {
        for (params, due) in [
            (
                json!({}),
                "params.protocolVersion is missing; params.capabilities is missing; params.clientInfo is missing",
            ),
            (
                json!({"protocolVersion": 5, "capabilities": {}, "clientInfo": {"name": "x"}}),
                "params.protocolVersion is not a text; params.clientInfo.version is missing",
            ),
            (
                json!({"protocolVersion": "1", "capabilities": 1, "clientInfo": "x"}),
                "params.capabilities is not an object; params.clientInfo is not an object",
            ),
        ] {
            let line = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string();
            let (id, code, why) = refused(line.as_bytes()).expect("refused");
            assert_eq!((id, code, why), (json!(1), -32_602, format!("this initialize can't be read: {due}")));
        }
    }

    #[test]
    fn empty_lists_are_objects_where_an_object_is_due() {
        for line in [
            json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "x", "arguments": [], "_meta": []}}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}),
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
                "capabilities": {"roots": []}, "clientInfo": {"name": "x", "version": "1"}, "_meta": []}}),
        ] {
            assert!(refused(line.to_string().as_bytes()).is_none(), "{line}");
        }
    }
}
