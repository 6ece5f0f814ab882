//! Warnings as they are written: what a caller should know although the answer stands.

use serde_json::{Map, Value, json};

use crate::app::Origin;
use crate::code::WarningCode;
use crate::run;

/// A warning as it is written: `{code, message}`.
pub fn warning(code: WarningCode, message: &str) -> Value {
    json!({"code": code.word(), "message": message})
}

/// A warning of a run: `{code, message, nodeId?}`.
pub(super) fn of_run(warning: &run::Warning) -> Value {
    about(warning.code, &warning.message, warning.node.as_deref())
}

/// A warning about a node, where it is about one.
pub(super) fn about(code: WarningCode, message: &str, node: Option<&str>) -> Value {
    let mut object = Map::new();
    object.insert("code".to_owned(), json!(code.word()));
    object.insert("message".to_owned(), json!(message));
    if let Some(node) = node {
        object.insert("nodeId".to_owned(), json!(node));
    }
    Value::Object(object)
}

/// What there is to warn of in where an answer comes from, whatever the answer is.
pub(super) fn of_origin(origin: &Origin) -> Option<Value> {
    origin.ignored_ref.as_ref().map(|ignored| warning(WarningCode::RefIgnored, &ignored.to_string()))
}
