//! What a tool is: a name and texts for the model, a table of arguments, and a function.
//!
//! The table is both what clients are shown and what arguments are checked against, so the two
//! can't differ.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
pub(super) use super::parameter::{Kind, Parameter};
use super::reply::{Reply, ToolCall};
use crate::app::Error;

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hint {
    /// It reaches outside this machine.
    OpenWorld,
    /// The same call again changes nothing more.
    Idempotent,
    /// It changes nothing at all.
    ReadOnly,
    /// It does something that can't be undone.
    Destructive,
}

/// How a tool writes down that nothing came of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailureShape {
    /// `{code, message, source, …}`.
    Error,
    /// The shape of a failed execution.
    Execution,
}

/// The function behind a tool.
pub(super) type ToolRun = for<'a> fn(&'a ToolCall, &'a Arguments) -> BoxFuture<'a, Result<Reply, Error>>;

/// One tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Definition {
    /// Its name, in `snake_case`.
    pub(super) name: &'static str,
    /// Its name for people.
    pub(super) title: &'static str,
    /// When to use it and what comes next.
    pub(super) description: &'static str,
    /// What a client is told of what it does to the world.
    pub(super) hints: &'static [Hint],
    /// What it does of the steps of flows.
    pub(super) steps: StepWork,
    /// Among which calls it takes one of the places that there are.
    pub(super) place: CallPlace,
    /// Its arguments, in the order in which they are shown.
    pub(super) parameters: &'static [Parameter],
    /// How it fails.
    pub(super) failure: FailureShape,
    /// What it does.
    pub(super) run: ToolRun,
}

/// Among which calls a call takes its place: each kind has as many places as the operator allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CallPlace {
    /// It needs none: it ends waiting, or tells of it, and is heard while all places are taken.
    None,
    /// Those that read the catalog.
    Reading,
    /// Those that do steps, and may wait for a tool, a model or a person.
    Steps,
}

/// What a tool does of the steps of flows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StepWork {
    /// Nothing.
    None,
    /// It does again what another process left in the middle: a call that does no harm, or a question to a model.
    Repeats,
    /// It does steps, which may call external tools where servers are configured.
    Does,
}

/// What steps of flows may do to the world, by what the operator configured.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StepsMay {
    /// Call external tools that change things.
    pub(super) change: bool,
    /// Ask models, which costs tokens, and never gives quite the same again.
    pub(super) spend: bool,
}

impl Definition {
    /// The tool as clients are shown it. Where flows may call external tools that change things, or models that
    /// cost something, whatever does their steps may do so.
    pub(super) fn tool(&self, may: StepsMay) -> Tool {
        let anything = may.change && self.steps == StepWork::Does;
        let more = anything || (may.spend && self.steps != StepWork::None);
        let listed = || self.parameters.iter().filter(|parameter| parameter.listed);
        let properties: Map<String, Value> =
            listed().map(|parameter| (parameter.name.to_owned(), parameter.schema())).collect();
        let mut schema = JsonObject::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        let required: Vec<&str> =
            listed().filter(|parameter| parameter.required).map(|parameter| parameter.name).collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        let is = |hint| self.hints.contains(&hint);
        let annotations = ToolAnnotations::from_raw(
            None,
            Some(is(Hint::ReadOnly) && !more),
            Some(is(Hint::Destructive) || anything),
            // What would only be idempotent for changing nothing is so no more.
            Some(is(Hint::Idempotent) && !(more && is(Hint::ReadOnly))),
            Some(is(Hint::OpenWorld)),
        );
        Tool::new(self.name, self.description, Arc::new(schema)).with_title(self.title).with_annotations(annotations)
    }
}
