//! Which variables an entry can't do without, as it is written: nothing is looked up.

use serde_json::Value;

use super::expand::without_default;
use crate::config::environment::goes_to_children;

/// Keys in whose values variables are filled in.
const FILLED: [&str; 6] = ["command", "args", "env", "cwd", "url", "headers"];

/// The variables without which an entry can't be used, as they are written.
pub(super) fn needed(entry: &Value) -> Vec<String> {
    let Some(object) = entry.as_object().filter(|object| object.get("disabled") != Some(&Value::Bool(true))) else {
        return Vec::new();
    };
    let mut texts = Vec::new();
    for value in FILLED.iter().filter_map(|key| object.get(*key)) {
        texts_in(value, &mut texts);
    }
    texts.into_iter().flat_map(without_default).filter(|name| !goes_to_children(name)).collect()
}

fn texts_in<'v>(value: &'v Value, texts: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts_in(item, texts)),
        Value::Object(members) => members.values().for_each(|item| texts_in(item, texts)),
        _ => {}
    }
}
