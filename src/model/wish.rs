//! What a step or a flow says of the model that answers: a name that the operator gives meaning to, or
//! that no model does. No file says where a model is: that is the operator's alone.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Who a step's author wants to answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelWish {
    /// `model: false`: nobody; the text is the output.
    Nobody,
    /// A model.
    Model(ModelUse),
}

/// A model, and how it is to be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelUse {
    /// The operator's name for it; none for whichever answers otherwise.
    pub name: Option<String>,
    /// The temperature in thousandths.
    pub temperature: Option<u32>,
    /// The most tokens of the answer; it never raises the operator's limit.
    pub max_output_tokens: Option<u32>,
    /// `onLength: keep`: an answer that was cut off is an answer.
    pub keep_cut: bool,
}

impl ModelWish {
    /// Reads `model` of a node or of a flow; what can't be read is for the checker to tell.
    pub fn read(value: &Value) -> Option<Self> {
        match value {
            Value::Bool(false) => Some(Self::Nobody),
            Value::String(name) if !name.trim().is_empty() => {
                Some(Self::Model(ModelUse { name: Some(name.trim().to_owned()), ..ModelUse::default() }))
            }
            Value::Object(said) => {
                let name = said.get("use").and_then(Value::as_str).map(str::trim).filter(|name| !name.is_empty());
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within bounds")]
                let thousandths = |number: f64| (number * 1_000.0).round() as u32;
                let temperature = said.get("temperature").and_then(Value::as_f64);
                Some(Self::Model(ModelUse {
                    name: name.map(str::to_owned),
                    temperature: temperature.filter(|number| (0.0..=2.0).contains(number)).map(thousandths),
                    max_output_tokens: said
                        .get("maxOutputTokens")
                        .and_then(Value::as_u64)
                        .and_then(|number| u32::try_from(number).ok())
                        .filter(|number| *number > 0),
                    keep_cut: said.get("onLength").and_then(Value::as_str) == Some("keep"),
                }))
            }
            _ => None,
        }
    }
}
