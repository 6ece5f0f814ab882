//! The fields of what tools and commands answer, from the published JSON Schemas of the answers.

use serde_json::Value;

const LIST: &str = include_str!("../../../../schemas/flows-list.response.schema.json");
const SHOW: &str = include_str!("../../../../schemas/flows-show.response.schema.json");
const EXECUTE: &str = include_str!("../../../../schemas/flows-execute.response.schema.json");
const EXECUTE_FAILURE: &str = include_str!("../../../../schemas/flows-execute.failure.schema.json");
const GUIDED: &str = include_str!("../../../../schemas/flows-guided.response.schema.json");
const STATUS: &str = include_str!("../../../../schemas/flows-status.response.schema.json");
const STATS: &str = include_str!("../../../../schemas/stats.response.schema.json");
const SERVERS: &str = include_str!("../../../../schemas/servers.response.schema.json");

/// Every shape of an answer: the name of its block, its schema, and where in the schema it stands.
const SHAPES: [(&str, &str, &str); 12] = [
    ("result-list", LIST, ""),
    ("result-show-flow", SHOW, "/then"),
    ("result-show-template", SHOW, "/else"),
    ("result-execute", EXECUTE, ""),
    ("result-execute-failure", EXECUTE_FAILURE, ""),
    ("result-guided", GUIDED, ""),
    ("result-status", STATUS, "/$defs/one"),
    ("result-status-list", STATUS, "/then"),
    ("result-status-text", STATUS, "/else/then"),
    ("result-stats", STATS, ""),
    ("result-servers", SERVERS, "/then"),
    ("result-server-tools", SERVERS, "/else"),
];

/// One field: where it stands, what it holds, what it means.
pub(super) struct Field {
    pub(super) path: String,
    pub(super) kind: String,
    pub(super) meaning: String,
}

/// The fields of every shape. A list's entries are written `list[]`, the values of an object whose
/// keys are names `object.*`.
pub(super) fn shapes() -> Vec<(&'static str, Vec<Field>)> {
    let shape = |(name, text, place): (&'static str, &str, &str)| {
        let root: Value = serde_json::from_str(text).unwrap_or_default();
        let mut fields = Fields { root: &root, list: Vec::new() };
        if let Some(schema) = root.pointer(place) {
            fields.of_object(schema, "", 0);
        }
        // Templates are listed in the forms of flows, and are not described a second time.
        fields.list.retain(|field| !field.path.starts_with("templates[]"));
        (name, fields.list)
    };
    SHAPES.into_iter().map(shape).collect()
}

/// How deep a schema may refer to itself.
const DEEPEST: usize = 8;

struct Fields<'s> {
    root: &'s Value,
    list: Vec<Field>,
}

impl<'s> Fields<'s> {
    /// The schema that a reference means, and the name of an entry's form (`compactEntry`).
    fn resolved(&self, schema: &'s Value) -> (&'s Value, Option<&'s str>) {
        let Some(reference) = schema.get("$ref").and_then(Value::as_str) else { return (schema, None) };
        let target = self.root.pointer(reference.trim_start_matches('#')).unwrap_or(schema);
        (target, reference.rsplit('/').next().and_then(|name| name.strip_suffix("Entry")))
    }

    fn of_object(&mut self, schema: &'s Value, path: &str, depth: usize) {
        if depth > DEEPEST {
            return;
        }
        for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            self.field(field, &path, depth);
        }
        if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
            self.field(values, &format!("{path}.*"), depth);
        }
        let conditions = schema.get("allOf").and_then(Value::as_array).into_iter().flatten();
        for condition in conditions.chain([schema]) {
            for branch in ["then", "else"] {
                if let Some(branch) = condition.get(branch) {
                    self.of_object(branch, path, depth + 1);
                }
            }
        }
    }

    fn field(&mut self, field: &'s Value, path: &str, depth: usize) {
        let (field, _) = self.resolved(field);
        self.note(field, path);
        self.of_object(field, path, depth + 1);
        if let Some(items) = field.get("items") {
            let (items, form) = self.resolved(items);
            let path = form.map_or_else(|| format!("{path}[]"), |form| format!("{path}[] ({form})"));
            if form.is_some() && items.get("properties").is_none() {
                self.note(items, &path);
            }
            self.of_object(items, &path, depth + 1);
        }
    }

    fn note(&mut self, field: &Value, path: &str) {
        let Some(meaning) = field.get("description").and_then(Value::as_str) else { return };
        if self.list.iter().all(|other| other.path != path) {
            self.list.push(Field { path: path.to_owned(), kind: kind_of(field), meaning: meaning.to_owned() });
        }
    }
}

/// What a field holds, in words.
fn kind_of(field: &Value) -> String {
    let said = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    if let Some(words) = field.get("enum").and_then(Value::as_array) {
        return words.iter().map(said).collect::<Vec<_>>().join(", ");
    }
    if let Some(word) = field.get("const") {
        return said(word);
    }
    let word = |kind: &str| match kind {
        "string" => "text",
        "integer" => "whole number",
        "boolean" => "true or false",
        "array" => "list",
        "null" => "null",
        "number" => "number",
        _ => "object",
    };
    match field.get("type") {
        Some(Value::String(kind)) => word(kind).to_owned(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).map(word).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}
