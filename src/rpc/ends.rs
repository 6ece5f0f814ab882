//! The id of a message that can't be read or is not kept: it stands near one of its ends, whatever is
//! between them.

use serde_json::Value;

/// How much of a message's beginning and end is looked at.
pub(super) const ENDS: usize = 256;

/// The id of the request that a message answers, from its beginning and its end. `None` for what
/// can't be told, and for what answers nothing.
pub fn answered_by(head: &[u8], tail: &[u8]) -> Option<Value> {
    let (head, tail) = ends(head, tail);
    match at_the_beginning(&head) {
        MessageStart::Id(id) => Some(id),
        MessageStart::Asks => None,
        MessageStart::Else => at_the_end(&tail),
    }
}

/// The id of a request, from its beginning and its end.
pub fn request_in(head: &[u8], tail: &[u8]) -> Option<Value> {
    let (head, tail) = ends(head, tail);
    match at_the_beginning(&head) {
        MessageStart::Id(id) => Some(id),
        MessageStart::Asks | MessageStart::Else => at_the_end(&tail),
    }
}

/// The id in a message that is JSON: a number or a text.
pub fn id_of(message: &Value) -> Option<Value> {
    message.get("id").filter(|id| id.is_string() || id.is_number()).cloned()
}

fn ends(head: &[u8], tail: &[u8]) -> (String, String) {
    let head = head.get(..ENDS).unwrap_or(head);
    let tail = tail.get(tail.len().saturating_sub(ENDS)..).unwrap_or(tail);
    (String::from_utf8_lossy(head).into_owned(), String::from_utf8_lossy(tail).into_owned())
}

enum MessageStart {
    Id(Value),
    /// A request or a notification whose id is not at the beginning.
    Asks,
    Else,
}

/// Goes through the members of an object until one is no plain value.
fn at_the_beginning(text: &str) -> MessageStart {
    let Some(mut rest) = text.trim_start().strip_prefix('{') else { return MessageStart::Else };
    let mut asks = false;
    while let Some((key, value, after)) = member(rest) {
        match key {
            "id" => return id(value).map_or(MessageStart::Else, MessageStart::Id),
            "method" => asks = true,
            _ => {}
        }
        match after.trim_start().strip_prefix(',') {
            Some(more) => rest = more,
            None => break,
        }
    }
    if asks { MessageStart::Asks } else { MessageStart::Else }
}

/// A member of an object whose value is a text or stands alone, and what comes after it.
fn member(text: &str) -> Option<(&str, &str, &str)> {
    let (key, after) = text.trim_start().strip_prefix('"')?.split_once('"')?;
    let value = after.trim_start().strip_prefix(':')?.trim_start();
    let end = match value.strip_prefix('"') {
        Some(text) => text.find('"')? + 2,
        None => value.find([',', '}', '{', '['])?,
    };
    let (value, after) = value.split_at_checked(end)?;
    Some((key, value, after))
}

/// The last member of the outermost object, or the last but one before the protocol's name.
fn at_the_end(text: &str) -> Option<Value> {
    let mut inside = text.trim_end().strip_suffix('}')?.trim_end();
    if let Some(before) = inside.strip_suffix("\"2.0\"") {
        let before = before.trim_end().strip_suffix(':')?.trim_end().strip_suffix("\"jsonrpc\"")?;
        inside = before.trim_end().strip_suffix(',')?.trim_end();
    }
    let (before, value) = inside.rsplit_once(':')?;
    before.trim_end().strip_suffix("\"id\"")?;
    id(value)
}

fn id(text: &str) -> Option<Value> {
    let value: Value = serde_json::from_str(text.trim()).ok()?;
    (value.is_string() || value.is_number()).then_some(value)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_id_of_an_answer_is_found_at_either_end() {
        for (head, tail, due) in [
            (r#"{"jsonrpc":"2.0","id":12,"result":{"#, "", Some(json!(12))),
            (r#" { "id" : 3 , "result" : ["#, "", Some(json!(3))),
            (r#"{"id":"text","result":["#, "]}", Some(json!("text"))),
            (r#"{"result":{"id":5,"#, r#""}]},"id":6,"jsonrpc":"2.0"}"#, Some(json!(6))),
            (r#"{"result":{"id":5,"#, r#""}]},"jsonrpc": "2.0", "id": "é" }"#, Some(json!("é"))),
            (r#"{"result":{"id":5,"#, r#"{"id":8}}"#, None),
            (r#"{"jsonrpc":"2.0","method":"a","params":{"#, r#"},"id":5}"#, None),
            (r#"{"id":nul,"result":["#, "]}", None),
            ("no json", "at all", None),
            ("", "", None),
        ] {
            assert_eq!(answered_by(head.as_bytes(), tail.as_bytes()), due, "{head} {tail}");
        }
    }

    #[test]
    fn the_id_of_a_request_is_found_wherever_its_method_stands() {
        for (text, due) in [
            (r#"{"jsonrpc":"2.0","id":2,"method":"a","params":{"n":NaN}}"#, Some(json!(2))),
            (r#"{"method":"a","params":{"n":NaN},"jsonrpc":"2.0","id":"b"}"#, Some(json!("b"))),
            (r#"{"method":"a","id":7,"params":{"n":NaN}}"#, Some(json!(7))),
            (r#"{"method":"a","params":{"n":NaN}}"#, None),
        ] {
            assert_eq!(request_in(text.as_bytes(), text.as_bytes()), due, "{text}");
        }
    }
}
