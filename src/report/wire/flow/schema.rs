//! The JSON Schema of what a caller gives to a flow.

use serde_json::{Map, Value, json};

use crate::discover::{property, set_property};
use crate::plan::Plan;

/// The JSON Schema (2020-12) of what a caller gives to a flow.
pub fn input_schema(plan: &Plan) -> Value {
    let mut properties = Map::new();
    let mut required: Vec<Value> = Vec::new();
    for input in plan.inputs() {
        let kind = input.kind.map_or("string", crate::model::ValueType::name);
        let property = property(kind, input.description.as_deref(), &input.choices, input.default.as_ref());
        properties.insert(input.name.clone(), property);
        if input.required {
            required.push(json!(input.name));
        }
    }
    if !plan.sets().is_empty() {
        properties.insert("_variableSet".to_owned(), set_property(plan.sets()));
    }
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
    schema.insert("title".to_owned(), json!(plan.flow().name.as_str()));
    if let Some(description) = &plan.flow().description {
        schema.insert("description".to_owned(), json!(description));
    }
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::Array(required));
    }
    Value::Object(schema)
}
