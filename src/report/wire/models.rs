//! Models: what is configured, and what trying one came to.

use schemars::JsonSchema;
use serde::Serialize;

use super::common::UsageAnswer;
use crate::app::{ModelRow, ModelTrial};
use crate::discover::millis;

/// What `flowy models list --json` and `flowy models check NAME --json` print.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "flowy models")]
pub enum ModelsAnswer {
    /// The models that are configured.
    List(ModelListAnswer),
    /// That a model answers.
    Trial(ModelTrialAnswer),
}

/// The models that are configured; none of them is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ModelListAnswer {
    /// The models, by name.
    models: Vec<ModelAnswer>,
}

/// A model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelAnswer {
    /// What flows and callers call it.
    name: String,
    /// Whose API its address speaks.
    provider: &'static str,
    /// The provider's name for it.
    model: String,
    /// Its address.
    base_url: String,
    /// Whether it answers steps for which nobody names a model.
    default: bool,
    /// Where its key comes from; null where none is sent.
    #[schemars(required)]
    key: Option<String>,
    /// Why that key is not there; absent where it is, or none is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<String>,
    /// The longest answer, in tokens.
    max_output_tokens: u32,
    /// The models that stand in for it, in this order.
    fallback: Vec<String>,
}

/// That a model answered.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelTrialAnswer {
    /// What flows and callers call it.
    name: String,
    /// How long its answer took, in milliseconds.
    took_ms: f64,
    #[serde(flatten)]
    usage: UsageAnswer,
}

/// The models that are configured.
pub fn models(rows: &[ModelRow]) -> ModelsAnswer {
    let model = |row: &ModelRow| ModelAnswer {
        name: row.spec.name.clone(),
        provider: row.spec.provider.word(),
        model: row.spec.model.clone(),
        base_url: row.spec.base_url.clone(),
        default: row.usual,
        key: row.spec.key_place.clone(),
        trouble: row.lacks_key().map(str::to_owned),
        max_output_tokens: row.spec.max_output_tokens,
        fallback: row.spec.fallback.clone(),
    };
    ModelsAnswer::List(ModelListAnswer { models: rows.iter().map(model).collect() })
}

/// What trying a model came to.
pub fn model_trial(trial: &ModelTrial) -> ModelsAnswer {
    let usage = UsageAnswer::of(trial.usage, None);
    ModelsAnswer::Trial(ModelTrialAnswer { name: trial.model.clone(), took_ms: millis(trial.took), usage })
}
