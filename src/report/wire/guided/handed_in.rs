//! What steps of a guided execution handed in besides their output: artifacts and findings.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::id_of;
use crate::model::text_or_json;
use crate::names::cut;
use crate::run::Guided;

/// How much of an artifact is shown, in characters; a status with its `ref` pages the whole.
const SHOWN: usize = 4_000;
/// Severities of findings, the worst first.
const SEVERITIES: [&str; 5] = ["critical", "high", "medium", "low", "info"];

/// An artifact: a file, a document, data.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ArtifactAnswer {
    /// Id of the step.
    node_id: String,
    /// As nodeId of `flows_status` it pages the whole content.
    #[serde(rename = "ref")]
    address: String,
    /// The fields that the step gave.
    #[serde(flatten)]
    fields: Map<String, Value>,
    /// Length of the whole content in characters; where it was cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    content_length: Option<usize>,
}

/// A finding: something that a step noticed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NoticedAnswer {
    /// Id of the step.
    node_id: String,
    /// The fields that the step gave.
    #[serde(flatten)]
    fields: Map<String, Value>,
}

/// What every step handed in under a name: the step, the place in its list, the fields.
fn handed_in(guided: &Guided, key: &str) -> Vec<(String, usize, Map<String, Value>)> {
    let mut all = Vec::new();
    for step in 0..guided.run().plan().steps().len() {
        let items = guided.closing(step).and_then(|closing| closing.output.get(key)).and_then(Value::as_array);
        for (place, item) in items.into_iter().flatten().enumerate() {
            if let Value::Object(fields) = item {
                all.push((id_of(guided, step), place, fields.clone()));
            }
        }
    }
    all
}

impl ArtifactAnswer {
    pub(super) fn all(guided: &Guided) -> Vec<Self> {
        handed_in(guided, "artifacts").into_iter().map(Self::of).collect()
    }

    fn of((step, place, mut fields): (String, usize, Map<String, Value>)) -> Self {
        let mut content_length = None;
        if let Some(content) = fields.get_mut("content") {
            let text = text_or_json(content).into_owned();
            let length = text.chars().count();
            if length > SHOWN {
                *content = Value::String(cut(&text, SHOWN));
                content_length = Some(length);
            }
        }
        // What we say of it stands, whatever the step gave under these names.
        for ours in ["nodeId", "ref", "contentLength"] {
            fields.shift_remove(ours);
        }
        Self { address: format!("{step}/artifacts/{place}"), node_id: step, fields, content_length }
    }
}

impl NoticedAnswer {
    pub(super) fn all(guided: &Guided) -> Vec<Self> {
        let mut all = handed_in(guided, "findings");
        all.sort_by_key(|(_, _, fields)| {
            let word = fields.get("severity").and_then(Value::as_str);
            SEVERITIES.iter().position(|severity| Some(*severity) == word).unwrap_or(SEVERITIES.len())
        });
        let shown = all.into_iter().map(|(node_id, _, mut fields)| {
            fields.shift_remove("nodeId");
            Self { node_id, fields }
        });
        shown.collect()
    }
}
