//! What a client is shown of a flow that is a tool: description and schema, fit for every client.
//!
//! Clients are stricter than JSON Schema: one property whose name they do not take, and some of
//! them send nothing any more. A name that is not taken gets another one here, and its own as title.

use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::{ExposedArgument, ExposedFlow};
use crate::app::prompts::SET_ARGUMENT;
use crate::app::slug;
use crate::discover::{FlowInput, FlowRow, property, set_property, truncated};
use crate::model::{ToolAddress, text_of};
use crate::names::{shown, unprintable};

/// The longest description, in characters: some clients refuse more than 1,024, others cut at 2 KB.
const LONGEST_DESCRIPTION: usize = 1_000;
/// The longest description of an argument, in characters.
const LONGEST_OF_ARGUMENT: usize = 300;
/// The longest name of a property, in characters.
///
/// Source: the error of the Messages API, "Property keys should match pattern
/// `^[a-zA-Z0-9_.-]{1,64}$`", after which it takes no request that carries the tool.
const LONGEST_KEY: usize = 64;
/// What the dots of a cut take.
const DOTS: usize = 3;

/// A flow as a tool of this name.
pub(super) fn exposed(tool: String, entry: &FlowRow, calls: Vec<ToolAddress>) -> ExposedFlow {
    let (mut properties, mut required, mut arguments) = (Map::new(), Vec::new(), Vec::new());
    let mut taken: HashSet<&str> = entry.inputs.iter().map(|input| input.name.as_str()).collect();
    taken.insert(SET_ARGUMENT);
    for input in &entry.inputs {
        let key = key(&input.name, &taken, &properties);
        properties.insert(key.clone(), of_input(input, &key));
        // What a variable set may give, a client must not insist on.
        if input.required && !input.in_sets {
            required.push(json!(key));
        }
        arguments.push(ExposedArgument { key, name: input.name.clone() });
    }
    let sets: Vec<String> = entry.sets.iter().filter(|set| !set.contains(unprintable)).cloned().collect();
    if !sets.is_empty() {
        properties.insert(SET_ARGUMENT.to_owned(), set_property(&sets));
        let (key, name) = (SET_ARGUMENT.to_owned(), SET_ARGUMENT.to_owned());
        arguments.push(ExposedArgument { key, name });
    }
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    schema.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".to_owned(), Value::Array(required));
    }
    ExposedFlow { tool, flow: entry.name.clone(), description: description(entry), schema, arguments, calls }
}

/// How much of a conversation a tool takes, in bytes.
pub(super) fn size(flow: &ExposedFlow) -> usize {
    flow.tool.len() + flow.flow.len() + flow.description.len() + Value::Object(flow.schema.clone()).to_string().len()
}

/// The flow's description in one line; where there is none, its steps.
fn description(entry: &FlowRow) -> String {
    let said = plain(&entry.description, LONGEST_DESCRIPTION);
    if !said.is_empty() {
        return said;
    }
    let steps: Vec<&str> = entry.steps.iter().map(|step| step.trim()).filter(|step| !step.is_empty()).collect();
    if steps.is_empty() {
        return plain(&format!("Runs the flow {}.", entry.name), LONGEST_DESCRIPTION);
    }
    plain(&format!("Runs these steps: {}.", steps.join(", ")), LONGEST_DESCRIPTION)
}

/// A text in one line, without what changes how it is shown, cut.
fn plain(text: &str, longest: usize) -> String {
    let line = shown(text, usize::MAX);
    let words: Vec<&str> = line.split_whitespace().collect();
    let line = words.join(" ");
    if line.chars().count() <= longest { line } else { truncated(&line, longest - DOTS) }
}

/// The name of an input's property: its own where clients take it.
fn key(name: &str, taken: &HashSet<&str>, before: &Map<String, Value>) -> String {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if name.len() <= LONGEST_KEY && name.chars().all(fine) {
        return name.to_owned();
    }
    let mut key = slug::alone(name, LONGEST_KEY);
    // Another input has that very name: a letter that is lost makes another suffix.
    while taken.contains(key.as_str()) || before.contains_key(&key) {
        key = slug::alone(&format!("{key}é"), LONGEST_KEY);
    }
    key
}

fn of_input(input: &FlowInput, key: &str) -> Value {
    let description = input.description.as_deref().map(|text| plain(text, LONGEST_OF_ARGUMENT));
    let hidden = |value: &Value| text_of(value).contains(unprintable);
    // A choice must come back as it was shown: where one can't be shown as it is, none is.
    let choices = if input.choices.iter().any(hidden) { &[] } else { input.choices.as_slice() };
    let default = input.default.as_ref().filter(|default| !hidden(default));
    let kind = input.kind.as_deref().unwrap_or("string");
    let mut property = property(kind, description.as_deref().filter(|text| !text.is_empty()), choices, default);
    if let Value::Object(property) = &mut property {
        if key != input.name {
            property.insert("title".to_owned(), json!(input.name));
        }
        if kind == "array" {
            // Some clients refuse a list whose items nobody describes.
            property.insert("items".to_owned(), json!({}));
        }
    }
    property
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(entry: &FlowRow) -> ExposedFlow {
        exposed("flow_x".to_owned(), entry, Vec::new())
    }

    #[test]
    fn without_a_description_the_steps_say_what_it_does() {
        let steps = vec!["Facts".to_owned(), " ".to_owned(), "Brief".to_owned()];
        let made = tool(&FlowRow { steps, description: " \n".to_owned(), ..FlowRow::default() });
        assert_eq!(made.description, "Runs these steps: Facts, Brief.");
        assert_eq!(tool(&FlowRow { name: "A".to_owned(), ..FlowRow::default() }).description, "Runs the flow A.");
    }

    #[test]
    fn names_that_clients_do_not_take_get_others_and_keep_their_own_as_title() {
        let long = "x".repeat(70);
        let other = slug::alone("회사", LONGEST_KEY);
        let names = ["회사", "max_words", long.as_str(), "예산", other.as_str()];
        let inputs = names.map(|name| FlowInput { name: name.to_owned(), required: true, ..FlowInput::default() });
        let made = tool(&FlowRow { inputs: inputs.to_vec(), ..FlowRow::default() });
        let properties = made.schema["properties"].as_object().unwrap();
        assert_eq!(properties.len(), names.len());
        for argument in &made.arguments {
            let key = argument.key.as_str();
            assert!(key.len() <= 64 && key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-.".contains(&b)), "{key}");
            let title = properties[key].get("title").and_then(Value::as_str);
            assert_eq!(title.unwrap_or(key), argument.name);
        }
        assert_eq!(made.schema["required"].as_array().unwrap().len(), names.len());
    }

    #[test]
    fn what_cannot_be_shown_as_it_is_is_left_out() {
        let input = FlowInput {
            name: "a".to_owned(),
            choices: vec![json!("x"), json!("y\u{202E}")],
            default: Some(json!("y\u{202E}")),
            ..FlowInput::default()
        };
        let sets = vec!["one".to_owned(), "t\u{202E}wo".to_owned()];
        let made = tool(&FlowRow { inputs: vec![input], sets, ..FlowRow::default() });
        assert_eq!(made.schema["properties"]["a"], json!({"type": "string"}));
        assert_eq!(made.schema["properties"][SET_ARGUMENT]["enum"], json!(["one"]));
    }
}
