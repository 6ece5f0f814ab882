//! The JSON Schemas of the answers, as they are published.

use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Value, json};

use super::convert::ConversionAnswer;
use super::difference::DiffAnswer;
use super::doctor::DoctorAnswer;
use super::draft::DraftAnswer;
use super::error::ErrorAnswer;
use super::execution::{ExecuteAnswer, FailedAnswer};
use super::finding::CheckupAnswer;
use super::flow::ShownAnswer;
use super::listing::ListAnswer;
use super::models::ModelsAnswer;
use super::servers::ServersAnswer;
use super::testing::TestAnswer;
use super::usage::StatsAnswer;
use super::{GuidedAnswer, StatusReply};

/// Every published schema: the beginning of its file's name, and what it says.
pub fn schemas() -> Vec<(&'static str, Value)> {
    let mut all = vec![
        ("convert.response", of::<ConversionAnswer>()),
        ("diff.response", of::<DiffAnswer>()),
        ("doctor.response", of::<DoctorAnswer>()),
        ("flows-check.response", of::<DraftAnswer>()),
        ("flows-execute.failure", of::<FailedAnswer>()),
        ("flows-execute.response", of::<ExecuteAnswer>()),
        ("flows-guided.response", of::<GuidedAnswer>()),
        ("flows-list.failure", of::<ErrorAnswer>()),
        ("flows-list.response", of::<ListAnswer>()),
        ("flows-show.response", of::<ShownAnswer>()),
        ("flows-status.response", of::<StatusReply>()),
        ("models.response", of::<ModelsAnswer>()),
        ("servers.response", of::<ServersAnswer>()),
        ("stats.response", of::<StatsAnswer>()),
        ("test.response", of::<TestAnswer>()),
        ("validate.response", of::<CheckupAnswer>()),
    ];
    for (name, schema) in &mut all {
        let Some(members) = schema.as_object_mut() else { continue };
        let rest = std::mem::take(members);
        let mut rest = rest.into_iter();
        // Behind `$schema`, as in the schemas that are written by hand.
        members.extend(rest.next());
        members.insert("$id".to_owned(), json!(format!("urn:flowy:schema:{name}:1")));
        members.extend(rest);
    }
    all
}

fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12()
        .for_serialize()
        .with_transform(RecursiveTransform(without_widths))
        .with_transform(RecursiveTransform(absent_is_not_null));
    settings.into_generator().into_root_schema_for::<T>().to_value()
}

/// What need not be there is absent and never null: `skip_serializing_if` sees to that.
fn absent_is_not_null(schema: &mut Schema) {
    let required: Vec<String> = schema.get("required").map(|names| texts(names).collect()).unwrap_or_default();
    let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
    for (_, property) in properties.iter_mut().filter(|(name, _)| !required.contains(name)) {
        let Some(property) = property.as_object_mut() else { continue };
        if let Some(types) = property.get_mut("type").filter(|types| types.is_array()) {
            let left: Vec<String> = texts(types).filter(|kind| kind != "null").collect();
            *types = if let [kind] = left.as_slice() { json!(kind) } else { json!(left) };
        }
        let choices = property.get_mut("anyOf").and_then(Value::as_array_mut);
        let left = choices.map(|choices| {
            choices.retain(|choice| choice.get("type") != Some(&json!("null")));
            choices.clone()
        });
        if let Some([Value::Object(only)]) = left.as_deref() {
            property.remove("anyOf");
            property.extend(only.clone());
        }
    }
}

/// The texts of a list.
fn texts(list: &Value) -> impl Iterator<Item = String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)
}

/// How many bits a number has is the program's own business.
fn without_widths(schema: &mut Schema) {
    let width = |format: &Value| {
        let format = format.as_str().unwrap_or_default();
        ["uint", "int", "float", "double"].iter().any(|width| format.starts_with(width))
    };
    if schema.get("format").is_some_and(width) {
        schema.remove("format");
    }
}
