//! Making up a value that meets a schema, to show what one looks like.
//!
//! It is made from what the schema says (constants, examples, defaults, choices, types, lengths) and
//! knows nothing of conditions; whoever shows it checks it first.

use std::cell::Cell;

use serde_json::{Map, Number, Value};

use super::Contract;

/// How deep references and nesting are followed.
const DEEPEST: usize = 12;
/// How many values an example is made of at most: a few lines of schema can ask for millions.
const MOST: usize = 2_000;
/// How many texts of an example are tried, to learn whether others could stand there.
const MOST_TEXTS: usize = 8;

/// A value that probably meets a schema, small rather than complete: required fields, and those
/// whose value the schema itself gives.
pub(super) fn example_of(schema: &Value) -> Value {
    made(schema, &Root { schema, left: Cell::new(MOST) }, DEEPEST)
}

impl Contract {
    /// Whether an output is the example, although other texts could stand in it: it was probably copied.
    pub fn is_copied(&self, output: &Value) -> bool {
        let free = |place: usize| {
            let mut other = output.clone();
            texts_in(&mut other).into_iter().nth(place).is_some_and(|text| {
                text.push('x');
                true
            }) && self.breaches(&other).is_empty()
        };
        self.example() == Some(output) && (0..MOST_TEXTS).any(free)
    }
}

/// The texts in a value.
fn texts_in(value: &mut Value) -> Vec<&mut String> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter_mut().flat_map(texts_in).collect(),
        Value::Object(fields) => fields.values_mut().flat_map(texts_in).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// What a schema lists under a key.
fn list<'s>(schema: &'s Map<String, Value>, key: &str) -> &'s [Value] {
    schema.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// What an example is made from.
struct Root<'s> {
    schema: &'s Value,
    /// How many more values may be made.
    left: Cell<usize>,
}

fn made(schema: &Value, root: &Root<'_>, depth: usize) -> Value {
    let left = root.left.get();
    root.left.set(left.saturating_sub(1));
    let Some(schema) = schema.as_object().filter(|_| depth > 0 && left > 0) else { return Value::from("text") };
    if let Some(given) = given(schema) {
        let left = root.left.get();
        let weight = weight_of(given);
        root.left.set(left.saturating_sub(weight));
        return if weight <= left { given.clone() } else { Value::from("text") };
    }
    let referred = schema.get("$ref").and_then(Value::as_str).and_then(|to| referred(to, root.schema));
    let shape = list(schema, "anyOf").first().or_else(|| list(schema, "oneOf").first());
    let shape = shape.filter(|_| !schema.contains_key("properties"));
    if let Some(other) = referred.or(shape) {
        let mut made = made(other, root, depth - 1);
        // What is asked for beside it.
        if let (Value::Object(fields), true) = (&mut made, schema.contains_key("required")) {
            for (name, value) in object(schema, root, depth) {
                fields.entry(name).or_insert(value);
            }
        }
        return made;
    }
    match kind(schema) {
        "object" => Value::Object(object(schema, root, depth)),
        "array" => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).clamp(1, 20);
            let prefix = list(schema, "prefixItems");
            let any = Value::Bool(true);
            let items = schema.get("items").unwrap_or(&any);
            let count = usize::try_from(least).unwrap_or(1).max(prefix.len());
            (0..count).map(|place| made(prefix.get(place).unwrap_or(items), root, depth - 1)).collect()
        }
        kind @ ("number" | "integer") => number(schema, kind == "integer"),
        "boolean" => Value::Bool(true),
        "null" => Value::Null,
        _ => Value::String(text(schema)),
    }
}

/// For how many values a given one counts; long texts count for several.
fn weight_of(value: &Value) -> usize {
    match value {
        Value::String(text) => 1 + text.len() / 64,
        Value::Array(items) => 1 + items.iter().map(weight_of).sum::<usize>(),
        Value::Object(members) => {
            1 + members.iter().map(|(name, member)| name.len() / 64 + weight_of(member)).sum::<usize>()
        }
        _ => 1,
    }
}

/// A value that the schema itself gives.
fn given(schema: &Map<String, Value>) -> Option<&Value> {
    let first = |key: &str| list(schema, key).first();
    schema.get("const").or_else(|| first("examples")).or_else(|| schema.get("default")).or_else(|| first("enum"))
}

fn referred<'s>(reference: &str, root: &'s Value) -> Option<&'s Value> {
    if reference == "#" { Some(root) } else { root.pointer(reference.strip_prefix('#')?) }
}

fn kind(schema: &Map<String, Value>) -> &str {
    let said = match schema.get("type") {
        Some(Value::String(kind)) => Some(kind.as_str()),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        _ => None,
    };
    said.unwrap_or_else(|| {
        if schema.contains_key("properties") || schema.contains_key("required") || schema.contains_key("allOf") {
            "object"
        } else if schema.contains_key("items") || schema.contains_key("prefixItems") {
            "array"
        } else if schema.contains_key("minimum") || schema.contains_key("maximum") {
            "number"
        } else {
            "string"
        }
    })
}

fn object(schema: &Map<String, Value>, root: &Root<'_>, depth: usize) -> Map<String, Value> {
    let mut example = Map::new();
    for part in list(schema, "allOf") {
        if let Value::Object(fields) = made(part, root, depth - 1) {
            example.extend(fields);
        }
    }
    let required: Vec<&str> = list(schema, "required").iter().filter_map(Value::as_str).collect();
    for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        if required.contains(&name.as_str()) || property.as_object().is_some_and(|fields| given(fields).is_some()) {
            example.insert(name.clone(), made(property, root, depth - 1));
        }
    }
    for name in required {
        if !example.contains_key(name) {
            let any = Value::Bool(true);
            let other = property(schema, name, root, depth).or_else(|| schema.get("additionalProperties"));
            example.insert(name.to_owned(), made(other.unwrap_or(&any), root, depth - 1));
        }
    }
    example
}

/// What a schema, or one that it refers to or combines, says of a field.
fn property<'s>(schema: &'s Map<String, Value>, name: &str, root: &Root<'s>, depth: usize) -> Option<&'s Value> {
    let own = schema.get("properties").and_then(|properties| properties.get(name));
    let below = || {
        let referred = schema.get("$ref").and_then(Value::as_str).and_then(|to| referred(to, root.schema));
        let first = list(schema, "anyOf").first().or_else(|| list(schema, "oneOf").first());
        let mut parts = referred.into_iter().chain(first).chain(list(schema, "allOf")).filter_map(Value::as_object);
        parts.find_map(|part| property(part, name, root, depth.checked_sub(1)?))
    };
    own.or_else(below)
}

fn number(schema: &Map<String, Value>, whole: bool) -> Value {
    let limit = |key: &str| schema.get(key).and_then(Value::as_f64);
    let step = limit("multipleOf").filter(|step| *step > 0.0);
    let (least, most) =
        (limit("minimum").or(limit("exclusiveMinimum")), limit("maximum").or(limit("exclusiveMaximum")));
    let value = match (least, most) {
        (Some(least), Some(most)) => f64::midpoint(least, most),
        (Some(least), None) => least + 1.0,
        (None, Some(most)) => most - 1.0,
        (None, None) => 1.0,
    };
    let value = match step {
        Some(step) => (value / step).ceil() * step,
        None if whole => value.ceil(),
        None => value,
    };
    let written = format!("{value}");
    written.parse::<Number>().map_or_else(|_| Value::from(1), Value::Number)
}

fn text(schema: &Map<String, Value>) -> String {
    let fixed = match schema.get("format").and_then(Value::as_str) {
        Some("date-time") => Some("2026-01-31T09:00:00Z"),
        Some("date") => Some("2026-01-31"),
        Some("time") => Some("09:00:00Z"),
        Some("email") => Some("name@example.org"),
        Some("uri") => Some("https://example.org/"),
        Some("uuid") => Some("6f1f4a8e-3f0f-4c53-9a9e-0d2a4c1b7e55"),
        _ => None,
    };
    let length = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|length| usize::try_from(length).ok());
    let (least, most) = (length("minLength").unwrap_or(0).min(2_000), length("maxLength").unwrap_or(usize::MAX));
    let said = schema.get("description").and_then(Value::as_str).filter(|text| text.chars().count() <= 120);
    let mut text: String = fixed.or(said).unwrap_or("text").chars().take(most).collect();
    let length = text.chars().count();
    text.extend(std::iter::repeat_n('.', least.saturating_sub(length)));
    text
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use crate::model::Contract;

    #[test]
    fn an_example_meets_the_schema_it_is_made_from() {
        for schema in [
            json!({"type": "object", "required": ["a", "b"], "properties": {"a": {"type": "string", "minLength": 30, "description": "Why."}, "b": {"type": ["null", "integer"], "minimum": 3}, "c": {"type": "string"}}}),
            json!({"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"enum": ["red", "blue"]}}}),
            json!({"allOf": [{"required": ["a"], "properties": {"a": {"type": "boolean"}}}, {"required": ["b"], "properties": {"b": {"const": 7}}}]}),
            json!({"type": "object", "required": ["when", "share"], "properties": {"when": {"type": "string", "format": "date"}, "share": {"type": "number", "exclusiveMinimum": 0, "maximum": 1}}}),
            json!({"anyOf": [{"type": "string", "maxLength": 2}, {"type": "number"}]}),
            json!({"type": "object", "required": ["tree"], "properties": {"tree": {"$ref": "#/$defs/node"}}, "$defs": {"node": {"type": "object", "properties": {"child": {"$ref": "#/$defs/node"}}}}}),
            json!({"required": ["x"], "additionalProperties": {"type": "integer"}}),
        ] {
            let contract = Contract::compile(None, schema.clone()).expect("a schema");
            assert!(contract.example().is_some(), "{schema}: {}", super::example_of(&schema));
        }
    }

    #[test]
    fn an_example_is_small_whatever_the_schema_asks_for() {
        let wide: Vec<String> = (0..30).map(|n| format!("p{n}")).collect();
        let properties: Map<String, Value> = wide.iter().map(|name| (name.clone(), json!({"$ref": "#"}))).collect();
        let schema = json!({"required": wide, "properties": properties});
        let large = json!({"type": "array", "minItems": 20, "items": {"type": "array", "minItems": 20, "items": {"default": "x".repeat(10_000)}}});
        for schema in [schema, large] {
            assert!(super::example_of(&schema).to_string().len() < 1 << 20, "{schema}");
        }
    }

    #[test]
    fn where_none_can_be_made_up_there_is_none() {
        let endless = json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}});
        for schema in [json!({"type": "string", "pattern": "^[a-f]{9}$"}), endless] {
            assert_eq!(Contract::compile(None, schema).expect("a schema").example(), None);
        }
    }
}
