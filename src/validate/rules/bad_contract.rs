//! `bad-contract`: what a step's output must meet is no schema, or isn't there.

use serde_json::{Map, Value, json};

use super::missing_persona::not_to_be_had;
use crate::document::{Place, Pointer};
use crate::model::{Lookup, NodeKind};
use crate::names::{nearly_same, quoted};
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity, Verdict};

/// The rule. A direct execution holds no output to a contract; a guided one does not begin on an
/// error.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "bad-contract",
    also: &[Verdict {
        severity: Severity::Warning,
        reach: Reach::None,
        when: "a keyword is misspelt, and checks nothing",
    }],
    summary: "The contract of a node is a JSON Schema that refers to nothing outside of itself and that an output can meet.",
    ..Rule::error(Reach::None, Check::Flow(check))
};

/// What a schema asks for and forbids at once.
enum Contradiction {
    /// It requires a property and allows only others, which are these.
    Closed { name: String, near: Vec<String> },
    /// It requires a property that nothing meets.
    Never { name: String },
    /// The least that it asks for is more than the most.
    Bounds { least: &'static str, most: &'static str },
    /// It allows nothing at all.
    Nothing { keyword: &'static str },
    /// Nothing of what it allows is of its type.
    OtherType { keyword: &'static str },
}

/// Keywords of the least and of the most, whether nothing is left where they are the same, and the types of what they
/// are about.
const BOUNDS: [(&str, &str, bool, &[&str]); 7] = [
    ("minimum", "maximum", false, NUMBERS),
    ("exclusiveMinimum", "maximum", true, NUMBERS),
    ("minimum", "exclusiveMaximum", true, NUMBERS),
    ("exclusiveMinimum", "exclusiveMaximum", true, NUMBERS),
    ("minLength", "maxLength", false, &["string"]),
    ("minItems", "maxItems", false, &["array"]),
    ("minProperties", "maxProperties", false, &["object"]),
];
const NUMBERS: &[&str] = &["number", "integer"];

/// What a schema asks for and forbids at once, as a misspelt property is. Only what holds for every value is looked
/// at, and only along properties and items. With where that stands.
fn unmeetable(at: Pointer, schema: &Value) -> Option<(Pointer, Contradiction)> {
    let empty = Map::new();
    let mut next = vec![(at, schema, true)];
    while let Some((at, schema, needed)) = next.pop() {
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let closed = schema.get("additionalProperties") == Some(&Value::Bool(false))
            && schema.get("patternProperties").and_then(Value::as_object).is_none_or(Map::is_empty)
            && schema.get("type").is_none_or(|kind| kind == "object");
        let required = schema.get("required").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (place, name) in required.iter().enumerate() {
            let Some(name) = name.as_str() else { continue };
            let why = match properties.get(name) {
                None if closed => {
                    Contradiction::Closed { name: name.to_owned(), near: properties.keys().cloned().collect() }
                }
                Some(Value::Bool(false)) => Contradiction::Never { name: name.to_owned() },
                _ => continue,
            };
            return Some((at.key("required").item(place), why));
        }
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        for (least, most, excluded, kinds) in BOUNDS {
            let concerned = schema.get("type").is_none_or(|kind| kinds.iter().any(|one| kind == one));
            let none = |(least, most): (f64, f64)| least > most || excluded && least >= most;
            if concerned && number(least).zip(number(most)).is_some_and(none) {
                return Some((at.key(least), Contradiction::Bounds { least, most }));
            }
        }
        let choices = schema.get("enum").and_then(Value::as_array);
        let all = |schema: &Value| *schema == Value::Bool(true) || schema.as_object().is_some_and(Map::is_empty);
        let nothing = [("enum", choices.is_some_and(Vec::is_empty)), ("not", schema.get("not").is_some_and(all))];
        if let Some((keyword, _)) = nothing.into_iter().find(|(_, nothing)| *nothing) {
            // Of a property that nobody needs it says that there must be none.
            if !needed {
                continue;
            }
            return Some((at.key(keyword), Contradiction::Nothing { keyword }));
        }
        let listed = choices.map(|choices| ("enum", choices.as_slice()));
        let only = schema.get("const").map(|only| ("const", std::slice::from_ref(only)));
        for (keyword, values) in listed.into_iter().chain(only) {
            let kind = schema.get("type").map(|kind| json!({"type": kind}));
            let kind = kind.and_then(|kind| jsonschema::draft202012::new(&kind).ok());
            let of_type = |value: &Value| kind.as_ref().is_none_or(|kind| kind.is_valid(value));
            if !values.iter().any(of_type) {
                return Some((at.key(keyword), Contradiction::OtherType { keyword }));
            }
        }
        next.extend(schema.get("items").map(|items| (at.key("items"), items, false)));
        next.extend(properties.iter().map(|(name, property)| {
            let needed = needed && required.iter().any(|one| one == name);
            (at.key("properties").key(name), property, needed)
        }));
    }
    None
}

/// The keywords of JSON Schema that contracts are written with.
const KEYWORDS: [&str; 24] = [
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "const",
    "additionalProperties",
    "patternProperties",
    "pattern",
    "format",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minimum",
    "maximum",
    "minProperties",
    "maxProperties",
    "oneOf",
    "anyOf",
    "allOf",
    "description",
    "default",
];

/// What people write for a keyword that is called otherwise.
const OTHERWISE: [(&str, &str); 5] = [
    ("property", "properties"),
    ("propertys", "properties"),
    ("props", "properties"),
    ("choices", "enum"),
    ("options", "enum"),
];

/// A key of a schema that is all but one of its keywords: where it stands, and what is meant.
fn misspelt_keyword(at: Pointer, schema: &Value) -> Option<(Pointer, &str, &'static str)> {
    let mut next = vec![(at, schema)];
    while let Some((at, schema)) = next.pop() {
        let Some(schema) = schema.as_object() else { continue };
        for key in schema.keys().filter(|key| !KEYWORDS.contains(&key.as_str())) {
            let meant = KEYWORDS
                .into_iter()
                .find(|keyword| nearly_same(key, keyword))
                .or_else(|| OTHERWISE.into_iter().find(|(written, _)| written == key).map(|(_, meant)| meant));
            let meant = meant.filter(|meant| !schema.contains_key(*meant));
            if let Some(meant) = meant {
                return Some((at.key(key), key, meant));
            }
        }
        let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
        next.extend(properties.map(|(name, property)| (at.key("properties").key(name), property)));
        next.extend(schema.get("items").map(|items| (at.key("items"), items)));
    }
    None
}

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for step in &subject.scope.steps {
        let Some(lookup) = &step.contract else { continue };
        let Some(NodeKind::Template(node)) = subject.flow.nodes.get(step.node).map(|node| &node.kind) else { continue };
        let place = Place::value(subject.flow.node_pointer(step.node).key("data").key("contract"));
        let id = subject.id(step.node);
        let name = node.contract.as_deref().and_then(serde_json::Value::as_str);
        let named = match name {
            Some(name) => format!("{} names contract {}", subject.called(step.node), quoted(name)),
            None => format!("the contract of {}", subject.called(step.node)),
        };
        match lookup {
            Lookup::Broken(unusable) if name.is_none() => {
                drafts
                    .find(place, format!("{named} is no schema: {}", unusable.message))
                    .node(id)
                    .hint("write a JSON Schema (2020-12) that stands alone");
            }
            Lookup::Found(contract) => {
                let base = place.pointer.clone();
                // What stands in a file of its own is told where it is named.
                let here = |at: Place| if name.is_some() { place.clone() } else { at };
                let that = if name.is_some() { ", which" } else { "" };
                if let Some((at, key, keyword)) = misspelt_keyword(base.clone(), contract.schema()) {
                    let message = format!("{named}{that} has {}, which checks nothing", quoted(key));
                    let draft = drafts.find(here(Place::key(at)), message);
                    draft.node(id).hint(format!("did you mean {}?", quoted(keyword))).only_warn();
                }
                let Some((at, why)) = unmeetable(base, contract.schema()) else { continue };
                let place = here(Place::value(at));
                let say = |what: String| format!("{named}{that} {what}: nothing can meet that");
                let list = "list it under `properties`, or take it out of `required`";
                match why {
                    Contradiction::Closed { name, near } => {
                        let message = say(format!("requires {} and allows only other properties", quoted(&name)));
                        let draft = drafts.find(place, message).node(id);
                        draft.did_you_mean(&name, near.iter().map(String::as_str)).hint(list);
                    }
                    Contradiction::Never { name } => {
                        let message = say(format!("requires {}, which its schema `false` forbids", quoted(&name)));
                        let hint = "say what it is in place of `false`, or take it out of `required`";
                        drafts.find(place, message).node(id).hint(hint);
                    }
                    Contradiction::Bounds { least, most } => {
                        let message = say(format!("has no value between its `{least}` and its `{most}`"));
                        drafts.find(place, message).node(id).hint("correct one of the two numbers");
                    }
                    Contradiction::Nothing { keyword } => {
                        let message = say(format!("allows no value, because of its `{keyword}`"));
                        drafts
                            .find(place, message)
                            .node(id)
                            .hint(format!("say under `{keyword}` what is meant, or remove it"));
                    }
                    Contradiction::OtherType { keyword } => {
                        let message = say(format!("holds under `{keyword}` no value of its `type`"));
                        let hint = format!("correct `type`, or what `{keyword}` holds");
                        drafts.find(place, message).node(id).hint(hint);
                    }
                }
            }
            lookup => {
                let hint = subject.in_form(
                    "add it to contracts/, write the schema into the node, or fix the name",
                    "add it to contracts/, write the schema into the block as `contract`, or fix the name",
                );
                let name = name.unwrap_or_default();
                not_to_be_had(subject, (step.node, name), lookup, ("contract", "file name", hint), drafts);
            }
        }
    }
}
