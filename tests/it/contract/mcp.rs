//! The promises of the tools, over MCP: what is listed, executed, refused, cut and cancelled.

mod aliases;
mod arguments;
mod cancelling;
mod completion;
mod drafts;
mod ending;
mod eras;
mod executing;
mod exposing;
mod fields;
mod files;
mod listing;
mod malformed;
mod naming;
mod prompts;
mod refusals;
mod resources;
mod searching;
mod sizes;
mod slips;
mod tiers;
mod together;

use jsonschema::Validator;
use serde_json::Value;

/// A published schema.
fn schema(text: &str) -> Validator {
    let schema: Value = serde_json::from_str(text).expect("JSON");
    jsonschema::validator_for(&schema).expect("a schema")
}

/// Asserts that a reply is as published.
fn as_published(text: &str, reply: &Value) {
    let errors: Vec<String> =
        schema(text).iter_errors(reply).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(errors.is_empty(), "{}\n{reply}", errors.join("\n"));
}

const LIST_RESPONSE: &str = include_str!("../../../schemas/flows-list.response.schema.json");
const LIST_FAILURE: &str = include_str!("../../../schemas/flows-list.failure.schema.json");
const EXECUTE_RESPONSE: &str = include_str!("../../../schemas/flows-execute.response.schema.json");
const EXECUTE_FAILURE: &str = include_str!("../../../schemas/flows-execute.failure.schema.json");
