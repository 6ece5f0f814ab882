//! What later steps read of an output that was handed in.

use std::sync::Arc;

use serde_json::Value;

use crate::model::text_of;
use crate::names::{unprintable, unseen};
use crate::run::Output;

/// What later steps read of an output that was handed in. Under the usual contract that is its
/// `result`, else its `summary`, and a plain text is read as it is; with a contract of the node's
/// own it is the whole, whose fields dot paths lead to.
pub fn read_output(output: &Value, usual: bool) -> Output {
    let read = output.as_object().filter(|_| usual).map_or(output, |fields| {
        let result = fields.get("result").filter(|result| !result.is_null());
        result.or_else(|| fields.get("summary")).unwrap_or(&Value::Null)
    });
    let fields = matches!(read, Value::Object(_) | Value::Array(_)).then(|| read.clone());
    Output { value: fields.map(Arc::new), ..Output::text(text_of(read).as_ref()) }
}

/// Why a step failed or was left out, as whoever closed it says.
pub(super) fn reason_of(output: &Value) -> String {
    said(output).unwrap_or_else(|| "no reason was given".to_owned())
}

/// Whether an output says why its step failed or was left out.
pub fn gives_reason(output: &Value) -> bool {
    said(output).is_some()
}

/// Whether an answer of a person holds no word, number or choice: blank texts, null, and lists and objects of these,
/// also written as a JSON text.
pub fn says_nothing(answer: &Value) -> bool {
    let blank = |c: char| c.is_whitespace() || unprintable(c) || unseen(c);
    match answer {
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => false,
        Value::String(text) => {
            text.chars().all(blank) || serde_json::from_str(text).is_ok_and(|read: Value| says_nothing(&read))
        }
        Value::Array(items) => items.iter().all(says_nothing),
        Value::Object(fields) => fields.values().all(says_nothing),
    }
}

fn said(output: &Value) -> Option<String> {
    let said = match output {
        Value::Object(fields) => fields.get("reason").or_else(|| fields.get("summary")).map(text_of),
        Value::Null => None,
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => Some(text_of(output)),
    };
    said.map(|reason| reason.trim().to_owned()).filter(|reason| !reason.is_empty())
}
