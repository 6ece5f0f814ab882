//! The fields of what tools and commands answer, from the published JSON Schemas of the answers.

use serde_json::Value;

/// Every shape of an answer: the name of its block, its schema, and where in the schema it stands.
const SHAPES: [(&str, &str, &str); 15] = [
    ("result-list", "flows-list.response", ""),
    ("result-show-flow", "flows-show.response", "/$defs/ShownFlow"),
    ("result-show-template", "flows-show.response", "/$defs/ShownText"),
    ("result-execute", "flows-execute.response", ""),
    ("result-execute-failure", "flows-execute.failure", ""),
    ("result-guided", "flows-guided.response", ""),
    ("result-status", "flows-status.response", "/$defs/DirectAnswer"),
    ("result-status-guided", "flows-status.response", "/$defs/GuidedStatus"),
    ("result-status-list", "flows-status.response", "/$defs/ExecutionList"),
    ("result-status-text", "flows-status.response", "/$defs/TextAnswer"),
    ("result-stats", "stats.response", ""),
    ("result-models", "models.response", "/$defs/ModelListAnswer"),
    ("result-model-check", "models.response", "/$defs/ModelTrialAnswer"),
    ("result-servers", "servers.response", "/$defs/ServerListAnswer"),
    ("result-server-tools", "servers.response", "/$defs/ServerToolsAnswer"),
];

/// One field: where it stands, what it holds, what it means.
pub(super) struct Field {
    pub(super) path: String,
    words: Vec<String>,
    types: Vec<String>,
    pub(super) meaning: String,
}

/// The most words that are listed; of more, it is only said that it is a text.
const MOST_WORDS: usize = 12;

impl Field {
    /// What it holds, in words.
    pub(super) fn kind(&self) -> String {
        let mut kinds = self.types.clone();
        match self.words.len() {
            0 => {}
            1..=MOST_WORDS => kinds.insert(0, self.words.join(", ")),
            _ => kinds.insert(0, word("string").to_owned()),
        }
        if kinds.is_empty() { "any".to_owned() } else { kinds.join(" or ") }
    }
}

/// The fields of every shape. A list's entries are written `list[]`, the values of an object whose
/// keys are names `object.*`.
pub(super) fn shapes() -> Vec<(&'static str, Vec<Field>)> {
    let schemas = flowy::internals::report::wire::schemas();
    let shape = |(name, schema, place): (&'static str, &str, &str)| {
        let root = schemas.iter().find(|(of, _)| *of == schema).map_or(&Value::Null, |(_, schema)| schema);
        let mut fields = Fields { root, within: Vec::new(), list: Vec::new() };
        if let Some(schema) = root.pointer(place) {
            fields.of_object(schema, "");
        }
        // Templates are listed in the forms of flows, and are not described a second time.
        fields.list.retain(|field| !field.path.starts_with("templates[]"));
        (name, fields.list)
    };
    SHAPES.into_iter().map(shape).collect()
}

struct Fields<'s> {
    root: &'s Value,
    /// The definitions in which the walk is: one that holds itself is shown once.
    within: Vec<&'s str>,
    list: Vec<Field>,
}

/// The schemas of which one holds.
fn branches(schema: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    lists.chain(["then", "else"].into_iter().filter_map(|key| schema.get(key)))
}

impl<'s> Fields<'s> {
    /// The schema that a reference means.
    fn target(&self, schema: &'s Value) -> Option<(&'s str, &'s Value)> {
        let reference = schema.get("$ref")?.as_str()?;
        Some((reference, self.root.pointer(reference.trim_start_matches('#'))?))
    }

    fn of_object(&mut self, schema: &'s Value, path: &str) {
        if let Some((reference, target)) = self.target(schema)
            && !self.within.contains(&reference)
        {
            self.within.push(reference);
            self.of_object(target, path);
            self.within.pop();
        }
        for (name, field) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            self.field(field, &path);
        }
        if let Some(values) = schema.get("additionalProperties").filter(|values| values.is_object()) {
            self.field(values, &format!("{path}.*"));
        }
        for branch in branches(schema) {
            self.of_object(branch, path);
        }
        if let Some(items) = schema.get("items").filter(|_| !path.is_empty()) {
            self.of_items(items, path);
        }
    }

    /// The entries of a list; those that have several forms are told apart by the form's name.
    fn of_items(&mut self, items: &'s Value, path: &str) {
        if branches(items).next().is_some() {
            return branches(items).for_each(|form| self.of_items(form, path));
        }
        let form = items.get("$ref").and_then(Value::as_str).and_then(|reference| reference.rsplit('/').next());
        let form = form.and_then(|name| name.strip_suffix("Entry")).map(str::to_lowercase);
        let listed = form.as_ref().map_or_else(|| format!("{path}[]"), |form| format!("{path}[] ({form})"));
        if let Some((_, target)) = self.target(items)
            && form.is_some()
            && target.get("properties").is_none()
        {
            self.note(target, &listed);
        }
        self.of_object(items, &listed);
    }

    fn field(&mut self, field: &'s Value, path: &str) {
        self.note(field, path);
        self.of_object(field, path);
    }

    fn note(&mut self, field: &'s Value, path: &str) {
        let described = |schema: &'s Value| schema.get("description").and_then(Value::as_str);
        let meaning = described(field).or_else(|| described(self.target(field)?.1));
        let Some(meaning) = meaning else { return };
        let (mut words, mut types) = (Vec::new(), Vec::new());
        self.kinds(field, &mut words, &mut types);
        let meaning = meaning.replace('\n', " ");
        match self.list.iter_mut().find(|other| other.path == path) {
            Some(other) => {
                add(&mut other.words, words);
                add(&mut other.types, types);
            }
            None => self.list.push(Field { path: path.to_owned(), words, types, meaning }),
        }
    }

    /// The words and the types of what a field may hold.
    fn kinds(&self, field: &'s Value, words: &mut Vec<String>, types: &mut Vec<String>) {
        let said = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        if let Some(several) = field.get("enum").and_then(Value::as_array) {
            add(words, several.iter().map(said));
        } else if let Some(one) = field.get("const") {
            add(words, [said(one)]);
        } else if let Some(kinds) = field.get("type") {
            let several = kinds.as_array().into_iter().flatten().chain(Some(kinds));
            add(types, several.filter_map(Value::as_str).map(|kind| word(kind).to_owned()));
        } else {
            if let Some((_, target)) = self.target(field) {
                self.kinds(target, words, types);
            }
            for branch in branches(field) {
                self.kinds(branch, words, types);
            }
        }
    }
}

/// Adds what is not there yet.
fn add(list: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for one in more {
        if !list.contains(&one) {
            list.push(one);
        }
    }
}

/// The word for a type of JSON Schema.
fn word(kind: &str) -> &str {
    match kind {
        "string" => "text",
        "integer" => "whole number",
        "boolean" => "true or false",
        "array" => "list",
        "null" | "number" => kind,
        _ => "object",
    }
}
