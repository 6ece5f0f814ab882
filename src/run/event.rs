//! What can happen to a step.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::code::Code;
use crate::model::{Generated, ToolAnswer, ToolFile};
use crate::render::{Walked, walk};

/// What a step gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The output as text.
    pub text: Arc<str>,
    /// The output as a value with fields, where it has any.
    pub value: Option<Arc<Value>>,
    /// Files that an external tool gave.
    pub files: Vec<ToolFile>,
    /// What of the tool's answer could not be handed on, and why.
    pub left_out: Vec<String>,
    /// Whether an external tool gave it: then fields of its structured content, or of the JSON that
    /// its text is, are reached without saying so.
    pub of_tool: bool,
    /// Whether it stands for an output that is not there yet: what would read it stays as it is.
    pub pending: bool,
    /// Whether its step's failure would have been an output, too: what is read of that failure is empty then.
    pub may_fail: bool,
    /// How a model came to give it; none where no model did.
    pub generated: Option<Arc<Generated>>,
}

impl Output {
    /// A text.
    pub fn text(text: impl Into<Arc<str>>) -> Self {
        Self {
            text: text.into(),
            value: None,
            files: Vec::new(),
            left_out: Vec::new(),
            of_tool: false,
            pending: false,
            may_fail: false,
            generated: None,
        }
    }

    /// A text, and the value with fields behind it.
    pub fn with_fields(text: impl Into<Arc<str>>, value: Value) -> Self {
        Self { value: Some(Arc::new(value)), ..Self::text(text) }
    }

    /// What stands for the output of a call that is only rehearsed.
    pub fn pending() -> Self {
        Self { pending: true, ..Self::text("") }
    }

    /// What a tool answered, in one shape: `{text?, files?, json?, structuredContent?, links?}`. Files
    /// are named as `<place>/files/1` and so on.
    pub fn answered(answer: ToolAnswer, place: &str) -> Self {
        let mut value = Map::new();
        let ToolAnswer { text, files, json, structured, links, left_out, is_error: _ } = answer;
        if let Some(text) = &text {
            value.insert("text".to_owned(), json!(text));
        }
        if !files.is_empty() {
            let shown = files.iter().enumerate().map(|(number, file)| {
                let mut entry = Map::new();
                entry.insert("uri".to_owned(), json!(format!("{place}/files/{}", number + 1)));
                entry.insert("mediaType".to_owned(), json!(file.media_type));
                if let Some(name) = &file.name {
                    entry.insert("name".to_owned(), json!(name));
                }
                entry.insert("bytes".to_owned(), json!(file.bytes.len()));
                Value::Object(entry)
            });
            value.insert("files".to_owned(), shown.collect());
        }
        if let Some(json) = json {
            value.insert("json".to_owned(), json);
        }
        if let Some(structured) = structured {
            value.insert("structuredContent".to_owned(), structured);
        }
        if !links.is_empty() {
            let shown = links.iter().map(|link| {
                let mut entry = Map::new();
                entry.insert("uri".to_owned(), json!(link.uri));
                if let Some(name) = &link.name {
                    entry.insert("name".to_owned(), json!(name));
                }
                if let Some(kind) = &link.media_type {
                    entry.insert("mediaType".to_owned(), json!(kind));
                }
                Value::Object(entry)
            });
            value.insert("links".to_owned(), shown.collect());
        }
        let text = text.unwrap_or_else(|| without_text(&value));
        Self {
            text: Arc::from(text),
            value: Some(Arc::new(Value::Object(value))),
            files,
            left_out,
            of_tool: true,
            pending: false,
            may_fail: false,
            generated: None,
        }
    }

    /// The output of a failed call after which the flow goes on.
    pub fn of_failure(error: &StepError) -> Self {
        let value = json!({"text": error.message, "error": {"code": error.code, "message": error.message}});
        Self { of_tool: true, generated: error.generated.clone(), ..Self::with_fields(error.message.as_str(), value) }
    }

    /// Code and message of the failure after which the flow went on, where that is what this is: no
    /// answer of a tool has such a field.
    pub fn failure(&self) -> Option<(&str, &str)> {
        let error = self.value.as_deref().filter(|_| self.of_tool)?.get("error")?;
        Some((error.get("code")?.as_str()?, error.get("message")?.as_str()?))
    }

    /// What is read of the failure that this could have been, where the output itself has no such field: its text,
    /// and no `error`.
    pub fn unfailed(&self, path: &[String]) -> Option<&str> {
        let text = match path {
            [error, ..] if error == "error" => "",
            [text] if text == "text" => &self.text,
            _ => return None,
        };
        (self.may_fail && !matches!(self.walk(path), Walked::Value(_))).then_some(text)
    }

    /// Follows a dot path into the output.
    pub fn walk(&self, path: &[String]) -> Walked<'_> {
        let Some(value) = self.value.as_deref() else { return Walked::NoInside };
        match walk(value, path) {
            Walked::Absent if self.of_tool => {
                let inner = ["structuredContent", "json"].iter().filter_map(|key| value.get(key));
                inner
                    .map(|inner| walk(inner, path))
                    .find(|walked| matches!(walked, Walked::Value(_)))
                    .unwrap_or(Walked::Absent)
            }
            walked @ (Walked::Value(_) | Walked::NoInside | Walked::Absent) => walked,
        }
    }

    /// How many bytes its files hold.
    pub fn file_bytes(&self) -> usize {
        self.files.iter().map(|file| file.bytes.len()).fold(0, usize::saturating_add)
    }
}

/// What an answer without text reads like: its structured content, else what it holds.
fn without_text(value: &Map<String, Value>) -> String {
    if let Some(structured) = value.get("structuredContent").or_else(|| value.get("json")) {
        return structured.to_string();
    }
    let entries = ["files", "links"].iter().filter_map(|key| value.get(*key)?.as_array()).flatten();
    let lines = entries.map(|entry| {
        let said = |key: &str| entry.get(key).and_then(Value::as_str);
        match said("mediaType") {
            Some(kind) => format!("{kind}: {}", said("uri").unwrap_or_default()),
            None => said("uri").unwrap_or_default().to_owned(),
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct StepError {
    /// The error's code, as callers see it.
    pub code: Code,
    /// The fact.
    pub message: String,
    /// What a model that failed to give an output took, where one was asked.
    pub generated: Option<Arc<Generated>>,
    /// What of a failed call decides what comes next.
    pub call: Option<CallTrouble>,
}

/// What of a failed call decides what comes next, beyond its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallTrouble {
    /// It was sent, and nobody knows whether it did its work.
    InDoubt,
    /// It may only be made if a person says so.
    NeedsWord,
}

impl StepError {
    /// An error of this code.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), generated: None, call: None }
    }
}

/// When a step ended, and how long it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// When it ended.
    pub at: DateTime<Utc>,
    /// How long it took.
    pub took: Duration,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A driver took a step up.
    Started {
        /// The step.
        step: usize,
    },
    /// A driver laid a step down unfinished: it may begin again.
    LaidDown {
        /// The step.
        step: usize,
    },
    /// A step took tokens before it was put off, and came to no end.
    Spent {
        /// What it took.
        generated: Arc<Generated>,
    },
    /// A step gave its output.
    Done {
        /// The step.
        step: usize,
        /// Its output.
        output: Output,
        /// When, and how long it took.
        timing: Timing,
    },
    /// A step failed.
    Failed {
        /// The step.
        step: usize,
        /// Why.
        error: StepError,
        /// When, and how long it took.
        timing: Timing,
    },
    /// A step is left out, although nothing failed: so are the steps that read its output, and the
    /// others go on.
    Omitted {
        /// The step.
        step: usize,
        /// Why.
        why: String,
    },
    /// Nothing more is to begin: the caller cancelled, or the time is up.
    Stopped {
        /// Why, as the error of every step that was under way or next.
        error: StepError,
        /// When.
        at: DateTime<Utc>,
    },
}
