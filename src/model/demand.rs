//! A contract that asks for more: what later steps read of an output, written into its schema.
//!
//! What is handed out is what is demanded, so names are those of the contract, and nothing is asked for that the
//! contract rules out. What it says besides stays as it is.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::model::Contract;
use crate::model::fields::spelt;

/// The number of the last item of a list that is described by itself where a path goes on in it.
const LAST_ITEM: usize = 7;

impl Contract {
    /// The same, which asks as well for what these dot paths lead to; a path that leads nowhere is left out.
    pub fn requiring(self: &Arc<Self>, paths: &[Vec<String>]) -> Arc<Self> {
        if !self.takes_objects() && !self.takes("array") {
            return self.clone();
        }
        let mut schema = self.schema().clone();
        for path in paths {
            if let Some(path) = spelt(self.schema(), path) {
                ask(&mut schema, &path);
            }
        }
        if schema == *self.schema() {
            self.clone()
        } else {
            Arc::new(Self::stored(self.name().map(str::to_owned), schema))
        }
    }

    /// A path as the contract spells its fields: a step with `_` may mean a field with blanks.
    pub fn spelt(&self, path: &[String]) -> Vec<String> {
        spelt(self.schema(), path).unwrap_or_else(|| path.to_vec())
    }
}

/// Writes into a schema that a path leads somewhere.
fn ask(schema: &mut Value, path: &[String]) {
    let Some((step, rest)) = path.split_first() else { return };
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Some(object) = schema.as_object_mut() else { return };
    match step.parse::<usize>() {
        Ok(index) if narrowed(object, "array") => ask_for_item(object, index, rest),
        _ if narrowed(object, "object") => ask_for_member(object, step, rest),
        _ => {}
    }
}

/// Narrows a schema's type to the one whose parts are read; false where it rules that type out.
fn narrowed(schema: &mut Map<String, Value>, kind: &str) -> bool {
    match schema.get("type") {
        // What else it says of the type (a reference, choices) holds beside it.
        None => {}
        Some(Value::String(only)) => return only == kind,
        Some(Value::Array(kinds)) if kinds.iter().any(|one| one == kind) => {}
        Some(_) => return false,
    }
    if kind == "array" && !schema.contains_key("type") && schema.contains_key("properties") {
        return false;
    }
    schema.insert("type".to_owned(), json!(kind));
    true
}

fn ask_for_item(schema: &mut Map<String, Value>, index: usize, rest: &[String]) {
    let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
    let due = u64::try_from(index).unwrap_or(u64::MAX).saturating_add(1);
    if least < due {
        schema.insert("minItems".to_owned(), json!(due));
    }
    if rest.is_empty() || index > LAST_ITEM {
        return;
    }
    let items = schema.get("items").cloned().unwrap_or(Value::Bool(true));
    let before = schema.get("prefixItems").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut first: Vec<Value> = before.clone();
    first.extend(std::iter::repeat_n(items, index.saturating_add(1).saturating_sub(before.len())));
    if let Some(item) = first.get_mut(index) {
        let said = item.clone();
        ask(item, rest);
        if *item != said {
            schema.insert("prefixItems".to_owned(), Value::Array(first));
        }
    }
}

fn ask_for_member(schema: &mut Map<String, Value>, step: &str, rest: &[String]) {
    let required = schema.entry("required").or_insert_with(|| Value::Array(Vec::new()));
    if let Some(required) = required.as_array_mut().filter(|required| !required.iter().any(|name| name == step)) {
        required.push(json!(step));
    }
    if rest.is_empty() {
        return;
    }
    let further = schema.get("additionalProperties").cloned().unwrap_or_else(|| json!({}));
    let by_pattern = schema.contains_key("patternProperties");
    let properties = schema.entry("properties").or_insert_with(|| json!({}));
    let Some(properties) = properties.as_object_mut() else { return };
    // A field that only a pattern speaks of stays with its pattern.
    if by_pattern && !properties.contains_key(step) {
        return;
    }
    ask(properties.entry(step).or_insert(further), rest);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(schema: Value, paths: &[&str]) -> Value {
        let paths: Vec<Vec<String>> = paths.iter().map(|path| path.split('.').map(str::to_owned).collect()).collect();
        let asking = Arc::new(Contract::compile(None, schema).expect("a schema")).requiring(&paths);
        assert_eq!(asking.trouble(), None, "{}", asking.schema());
        asking.schema().clone()
    }

    #[test]
    fn what_is_read_is_asked_for_under_the_name_and_at_the_depth_that_the_contract_has() {
        for (schema, path, due) in [
            (
                json!({"type": "object", "additionalProperties": false, "properties": {"a b": {"type": "string"}}}),
                "a_b",
                json!({"type": "object", "additionalProperties": false, "properties": {"a b": {"type": "string"}},
                       "required": ["a b"]}),
            ),
            (
                json!({"properties": {"a": {"type": ["object", "null"], "properties": {"b c": true}}}}),
                "a.b_c",
                json!({"properties": {"a": {"type": "object", "properties": {"b c": true}, "required": ["b c"]}},
                       "type": "object", "required": ["a"]}),
            ),
            (
                json!({"type": "object", "properties": {"rows": {"type": "array", "items": {"type": "object",
                       "required": ["name"]}}}}),
                "rows.1.name",
                json!({"type": "object", "properties": {"rows": {"type": "array", "minItems": 2, "items":
                       {"type": "object", "required": ["name"]}}}, "required": ["rows"]}),
            ),
            (
                json!({"type": "array", "items": {"type": "object"}}),
                "0.name",
                json!({"type": "array", "items": {"type": "object"}, "minItems": 1,
                       "prefixItems": [{"type": "object", "required": ["name"]}]}),
            ),
        ] {
            assert_eq!(asked(schema.clone(), &[path]), due, "{schema} {path}");
        }
    }

    #[test]
    fn what_a_contract_rules_out_is_not_asked_for_and_what_it_says_already_changes_nothing() {
        for (schema, path) in [
            (json!({"additionalProperties": false, "properties": {"a": true}}), "b"),
            (json!({"properties": {"a b": true, "a_ b": true, "a _b": true}, "additionalProperties": false}), "a__b"),
            (json!({"type": "object", "properties": {"a": {"type": "array", "maxItems": 1}}}), "a.1"),
            (json!({"type": "string"}), "a"),
            (json!({"type": "object", "required": ["a"]}), "a"),
        ] {
            assert_eq!(asked(schema.clone(), &[path]), schema, "{path}");
        }
    }

    #[test]
    fn what_asks_for_more_has_an_example_that_meets_it() {
        let name = json!({"type": "object", "properties": {"name": {"type": "integer"}}});
        for (schema, path) in [
            (json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": name}}), "a.name"),
            (json!({"anyOf": [name, {"type": "string"}]}), "name"),
            (json!({"allOf": [name]}), "name"),
            (json!({"type": "array", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": name}}), "1.name"),
            (json!({"type": ["object", "string"]}), "x"),
        ] {
            let path: Vec<String> = path.split('.').map(str::to_owned).collect();
            let asking = Arc::new(Contract::compile(None, schema).expect("a schema")).requiring(&[path]);
            assert!(asking.example().is_some(), "{}", asking.schema());
        }
    }
}
