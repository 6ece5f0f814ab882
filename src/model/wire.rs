//! Reads flow, template and test files into the model; the only place that knows their JSON and their Markdown.
//!
//! Reading is forgiving: what has the wrong type is left out, because the published JSON Schema
//! names it with its place. What the schema can't say comes back as [`Unread`].

mod flow_tests;
mod flows;
mod foreign;
mod markdown;
mod templates;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::document::{Place, Pointer};
use crate::model::Declared;
use crate::model::ValueType;

pub use flow_tests::{is_among_tests, is_tests, read_tests};
pub use flows::{FlowFile, read_flows};
pub(super) use markdown::{Holds, Wrong, wrong};
pub use markdown::{
    MappedFrom, Markdown, StepWords, can_change, change, edited, has_steps, in_order, is_markdown, locator, only_here,
    parse, reads_like_a_flow, unfenced, write_flow, write_template,
};
pub use templates::{TemplateFile, read_templates};

/// Something a file says that could not be taken over into the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unread {
    /// What kind of trouble it is.
    pub what: UnreadKind,
    /// Where.
    pub place: Place,
    /// The fact, for a person.
    pub message: String,
}

/// The kinds of trouble that reading itself finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnreadKind {
    /// The file is neither an export nor a flat flow (or no template of any shape).
    UnknownShape,
    /// The file is another program's.
    Foreign,
    /// The file is a template among flows, or a flow among templates.
    Misplaced,
    /// A flow has no nodes.
    EmptyFlow,
    /// A flow has no usable name; the file's stem stands in.
    MissingName,
    /// A version that is neither semver nor a number.
    BadVersion,
}

/// A text member, when it is a text.
fn text(map: &Map<String, Value>, key: &str) -> Option<String> {
    map.get(key).and_then(Value::as_str).map(str::to_owned)
}

/// A text member that says something: blank counts as absent. The line break with which YAML ends a folded text is
/// no part of what it says.
fn said(map: &Map<String, Value>, key: &str) -> Option<String> {
    let mut text = text(map, key).filter(|text| !text.trim().is_empty())?;
    text.truncate(text.trim_end_matches('\n').len());
    Some(text)
}

/// The same, where a number does as well: its digits as written.
fn said_or_number(map: &Map<String, Value>, key: &str) -> Option<String> {
    said(map, key).or_else(|| map.get(key)?.as_number().map(ToString::to_string))
}

/// A list of texts; other items are left out.
fn texts(map: &Map<String, Value>, key: &str) -> Vec<String> {
    let items = map.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The variables a node or template declares: names, or objects with `name` or `key`.
fn declared(map: &Map<String, Value>, base: &Pointer) -> Vec<Declared> {
    let pointer = base.key("variables");
    match map.get("variables") {
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| match item {
                Value::String(name) => Some(plain(name, pointer.item(index))),
                Value::Object(object) => {
                    let name = text(object, "name").or_else(|| text(object, "key"))?;
                    Some(Declared {
                        required: object.get("required").and_then(Value::as_bool),
                        kind: text(object, "type").and_then(|kind| ValueType::named(&kind)),
                        default: written_default(object).cloned().map(Arc::new),
                        description: said(object, "description").map(Arc::from),
                        ..plain(&name, pointer.item(index))
                    })
                }
                _ => None,
            })
            .collect(),
        Some(Value::Object(object)) => object
            .iter()
            .map(|(name, value)| Declared {
                default: Some(value).filter(|value| given_default(value)).cloned().map(Arc::new),
                ..plain(name, pointer.key(name))
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn plain(name: &str, pointer: Pointer) -> Declared {
    Declared { name: name.to_owned(), required: None, kind: None, default: None, description: None, pointer }
}

/// The default of a variable that is declared as an object: whatever stands as `default` but null, else what
/// `value` gives. The web app writes an empty `value` where there is none.
fn written_default(object: &Map<String, Value>) -> Option<&Value> {
    let value = || object.get("value").filter(|value| given_default(value));
    object.get("default").filter(|default| !default.is_null()).or_else(value)
}

/// Whether a `value` is a default: zero and false are, null and an empty text are not.
fn given_default(value: &Value) -> bool {
    !matches!(value, Value::Null) && value.as_str() != Some("")
}

/// The variable sets of a node or template.
fn variable_sets(map: &Map<String, Value>, base: &Pointer) -> Vec<crate::model::VariableSet> {
    let pointer = base.key("variableValueSets");
    let items = map.get("variableValueSets").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| {
            let set = item.as_object()?;
            let name = said(set, "name")?;
            let values = set.get("values").and_then(Value::as_object).map(|values| {
                values
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect()
            });
            Some(crate::model::VariableSet { name, values: values.unwrap_or_default(), pointer: pointer.item(index) })
        })
        .collect()
}
