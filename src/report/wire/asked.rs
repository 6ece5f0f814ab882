//! What models would take, before any is asked.

use schemars::JsonSchema;
use serde::Serialize;

use super::common::CostAnswer;
use crate::app::{Priced, PricedTotal};

/// What a model would take for a step at most, asked once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelAsked {
    /// The operator's name for the model.
    name: String,
    /// Estimated tokens of the prompt, with its persona; answers before it count with the most that they may have.
    input_tokens: u64,
    /// The most tokens of the answer.
    max_output_tokens: u64,
    /// The most that it costs, where the operator set prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_cost: Option<CostAnswer>,
}

/// What models would take for a whole flow at most, each asked once for a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelsAsked {
    /// How many steps they would answer.
    steps: usize,
    /// Estimated tokens of all prompts.
    input_tokens: u64,
    /// The most tokens of all answers.
    max_output_tokens: u64,
    /// The most that those cost whose models have a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_cost: Option<CostAnswer>,
    /// How many of these steps have no price; absent where all have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    unpriced_steps: Option<usize>,
}

impl From<&Priced> for ModelAsked {
    fn from(priced: &Priced) -> Self {
        Self {
            name: priced.model.clone(),
            input_tokens: priced.input,
            max_output_tokens: priced.output,
            max_cost: priced.cost.as_ref().map(CostAnswer::from),
        }
    }
}

impl ModelsAsked {
    /// The sum of these; none where nobody would answer anything.
    pub(super) fn of<'p>(all: impl IntoIterator<Item = &'p Priced>) -> Option<Self> {
        let total = PricedTotal::of(all)?;
        Some(Self {
            steps: total.steps,
            input_tokens: total.input,
            max_output_tokens: total.output,
            max_cost: total.cost.as_ref().map(CostAnswer::from),
            unpriced_steps: (total.unpriced > 0).then_some(total.unpriced),
        })
    }
}
