//! What a tool is: a name and texts for the model, a table of arguments, and a function.
//!
//! The table is both what clients are shown and what arguments are checked against, so the two
//! can't differ.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::arguments::Arguments;
use super::reply::{Reply, ToolCall};
use crate::app::Error;

/// What an argument's value is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// A text.
    Text,
    /// A whole number from the first to the second.
    Count(i64, i64),
    /// Seconds, perhaps with a fraction, from 0 to this.
    Seconds(u32),
    /// True or false.
    Flag,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A list of these words.
    Words(&'static [&'static str]),
    /// An object of anything, which is never looked into.
    Values,
    /// Usually an object, but whatever it is, it is taken as it is.
    Anything,
}

/// One argument of a tool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameter {
    /// Its name, in camelCase.
    pub(super) name: &'static str,
    /// What its value is.
    pub(super) kind: Kind,
    /// What it does, for the model.
    pub(super) description: &'static str,
    /// What holds without it, as JSON; empty when the description says it or nothing holds.
    pub(super) default: &'static str,
    /// Whether the tool does nothing without it.
    pub(super) required: bool,
    /// Other names it goes by, besides its own in `snake_case`.
    pub(super) also: &'static [&'static str],
    /// What to use instead, when it is on its way out; such a one is not listed.
    pub(super) replaced_by: Option<&'static str>,
    /// Whether clients are shown it.
    pub(super) listed: bool,
    /// Words of answers that can't be asked for, each with what to do instead.
    pub(super) elsewhere: &'static [(&'static str, &'static str)],
}

impl Parameter {
    /// An optional argument without a default.
    pub(super) const fn new(name: &'static str, kind: Kind, description: &'static str) -> Self {
        Self {
            name,
            kind,
            description,
            default: "",
            required: false,
            also: &[],
            replaced_by: None,
            listed: true,
            elsewhere: &[],
        }
    }

    pub(super) const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    pub(super) const fn default(mut self, json: &'static str) -> Self {
        self.default = json;
        self
    }

    pub(super) const fn also(mut self, names: &'static [&'static str]) -> Self {
        self.also = names;
        self
    }

    /// Words that answers use and nobody can ask for, each with what to do instead.
    pub(super) const fn elsewhere(mut self, words: &'static [(&'static str, &'static str)]) -> Self {
        self.elsewhere = words;
        self
    }

    pub(super) const fn unlisted(mut self) -> Self {
        self.listed = false;
        self
    }

    pub(super) const fn replaced_by(mut self, what: &'static str) -> Self {
        self.replaced_by = Some(what);
        self.listed = false;
        self
    }

    fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text => json!({"type": "string"}),
            Kind::Count(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            Kind::Seconds(most) => json!({"type": "number", "minimum": 0, "maximum": most}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Word(words) => json!({"type": "string", "enum": words}),
            Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Kind::Words(words) => json!({"type": "array", "items": {"type": "string", "enum": words}}),
            // Models that are told "an object" give one; that others are taken too need not cost tokens. Several
            // clients close an object that does not say that it is open.
            Kind::Values | Kind::Anything => json!({"type": "object", "additionalProperties": true}),
        };
        if let Value::Object(object) = &mut schema {
            // That a switch is off and values are none goes without saying.
            let said = serde_json::from_str::<Value>(self.default).ok();
            if let Some(default) = said.filter(|default| *default != json!(false) && *default != json!({})) {
                object.insert("default".to_owned(), default);
            }
            object.insert("description".to_owned(), json!(self.description));
        }
        schema
    }
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
#[allow(clippy::struct_excessive_bools, reason = "the protocol asks for these four")]
pub(super) struct Definition {
    /// Its name, in `snake_case`.
    pub(super) name: &'static str,
    /// The name its errors carry.
    pub(super) source: &'static str,
    /// Its name for people.
    pub(super) title: &'static str,
    /// When to use it and what comes next.
    pub(super) description: &'static str,
    /// Whether it reaches outside this machine.
    pub(super) open_world: bool,
    /// Whether the same call again changes nothing more.
    pub(super) idempotent: bool,
    /// Whether it changes nothing at all.
    pub(super) read_only: bool,
    /// Whether it does something that can't be undone.
    pub(super) destructive: bool,
    /// Whether it does steps of flows, which may call external tools where servers are configured.
    pub(super) does_steps: bool,
    /// Its arguments, in the order in which they are shown.
    pub(super) parameters: &'static [Parameter],
    /// How it fails.
    pub(super) failure: FailureShape,
    /// What it does.
    pub(super) run: ToolRun,
}

impl Definition {
    /// The tool as clients are shown it. Where flows may call external tools that change things
    /// (`changing`), whatever does their steps may do so.
    pub(super) fn tool(&self, changing: bool) -> Tool {
        let anything = changing && self.does_steps;
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
        let annotations = ToolAnnotations::from_raw(
            None,
            Some(self.read_only && !anything),
            Some(self.destructive || anything),
            // What would only be idempotent for changing nothing is so no more.
            Some(self.idempotent && !(anything && self.read_only)),
            Some(self.open_world),
        );
        Tool::new(self.name, self.description, Arc::new(schema)).with_title(self.title).with_annotations(annotations)
    }

    /// The argument of this name or former name, however its words are joined.
    pub(super) fn parameter(&self, name: &str) -> Option<&'static Parameter> {
        let wanted = joined(name);
        self.parameters.iter().find(|parameter| {
            joined(parameter.name) == wanted || parameter.also.iter().any(|other| joined(other) == wanted)
        })
    }
}

/// `flow_name`, `flow-name` and `FlowName` are one.
fn joined(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}
