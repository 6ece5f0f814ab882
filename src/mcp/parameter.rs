//! One argument of a tool: what its value is, and how clients are shown it.

use serde_json::{Value, json};

/// What an argument's value is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    /// A text.
    Text,
    /// The text of a file; one in JSON may come as the object that it holds.
    File,
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

    pub(super) fn schema(&self) -> Value {
        let mut schema = match self.kind {
            Kind::Text | Kind::File => json!({"type": "string"}),
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

/// The argument of this name or former name, however its words are joined.
pub(super) fn parameter_named(parameters: &'static [Parameter], name: &str) -> Option<&'static Parameter> {
    let wanted = joined(name);
    parameters.iter().find(|parameter| {
        joined(parameter.name) == wanted || parameter.also.iter().any(|other| joined(other) == wanted)
    })
}

/// `flow_name`, `flow-name` and `FlowName` are one.
fn joined(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
}
