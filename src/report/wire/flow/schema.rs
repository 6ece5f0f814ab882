//! The JSON Schema of what a caller gives to a flow.

use serde_json::{Map, Value, json};

use crate::app::in_sets;
use crate::discover::{property, set_property};
use crate::model::{Flow, ValueType, text_of};
use crate::plan::{Input, Plan};

/// The JSON Schema (2020-12) of what a caller gives to a flow: it takes what executing takes.
pub fn input_schema(flow: &Flow, plan: &Plan) -> Value {
    let mut properties = Map::new();
    let mut required: Vec<Value> = Vec::new();
    let in_sets = in_sets(plan);
    for input in plan.inputs() {
        let kind = input.kind.map_or("string", crate::model::ValueType::name);
        let mut property = property(kind, input.description.as_deref(), &input.choices, input.default.as_deref());
        if let Value::Object(property) = &mut property {
            as_executing_takes_it(property, input);
        }
        properties.insert(input.name.clone(), property);
        if input.required && !in_sets.contains(&input.name) {
            required.push(json!(input.name));
        }
    }
    if !plan.sets().is_empty() {
        properties.insert("_variableSet".to_owned(), set_property(plan.sets()));
    }
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!(flow.name.as_str()));
    if let Some(description) = &flow.description {
        schema.insert("description".to_owned(), json!(description));
    }
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::Array(required));
    }
    Value::Object(schema)
}

/// Widens the type of a property to every value that executing takes: a number, a list or an object may come as its
/// text, a text may be a number, and what has no declared type may be anything.
fn as_executing_takes_it(property: &mut Map<String, Value>, input: &Input) {
    const NUMBER: &str = r"^\s*-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\s*$";
    let (types, pattern) = match input.held_to {
        None => {
            property.remove("type");
            property.remove("additionalProperties");
            return as_texts(property, &input.choices);
        }
        Some(ValueType::String) => (json!(["string", "number", "boolean"]), None),
        Some(ValueType::Number) => (json!(["number", "string"]), Some(NUMBER)),
        Some(ValueType::Integer) => (json!(["integer", "string"]), Some(NUMBER)),
        Some(ValueType::Boolean) => (json!(["boolean", "string"]), Some(r"^\s*(true|false)\s*$")),
        Some(ValueType::Array) => (json!(["array", "string"]), Some(r"^\s*\[")),
        Some(ValueType::Object) => (json!(["object", "string"]), Some(r"^\s*\{")),
    };
    if let Some(pattern) = pattern {
        property.insert("pattern".to_owned(), json!(pattern));
    }
    property.insert("type".to_owned(), types);
    as_texts(property, &input.choices);
}

/// Choices are compared as texts: the number 1 and the text "1" are one.
fn as_texts(property: &mut Map<String, Value>, choices: &[Value]) {
    let texts =
        choices.iter().filter(|choice| !choice.is_string()).map(|choice| Value::String(text_of(choice).into_owned()));
    let mut all: Vec<Value> = choices.to_vec();
    for text in texts {
        if !all.contains(&text) {
            all.push(text);
        }
    }
    if !all.is_empty() {
        property.insert("enum".to_owned(), Value::Array(all));
    }
}
