//! What is known of an answer that a model gave: which model, what it took, how it ended.

use serde::{Deserialize, Serialize};

/// Tokens as the model's server counted them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TokenUsage {
    /// Tokens of the prompts, cached ones included.
    pub input: u64,
    /// Tokens of the answers, those of reasoning included.
    pub output: u64,
    /// Tokens of the prompts that the server had kept.
    pub cached: u64,
    /// Tokens of the answers that were spent on reasoning.
    pub reasoning: u64,
}

impl TokenUsage {
    /// All of them.
    pub fn all(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cached: self.cached.saturating_add(other.cached),
            reasoning: self.reasoning.saturating_add(other.reasoning),
        }
    }
}

/// What something cost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cost {
    /// In millionths of the currency.
    pub millionths: u64,
    /// The currency, as the operator calls it.
    pub currency: String,
}

impl Cost {
    /// The amount, in the currency.
    pub fn amount(&self) -> f64 {
        #[allow(clippy::cast_precision_loss, reason = "nobody spends so much")]
        let millionths = self.millionths as f64;
        millionths / 1_000_000.0
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// It was complete.
    Stop,
    /// It reached the limit of its length.
    Length,
    /// The model's context is full; told, and stored, as `Length`.
    Context,
    /// A filter of the provider's broke it off.
    Filter,
    /// Anything else.
    Other,
}

impl Finish {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Length | Self::Context => "length",
            Self::Filter => "filter",
            Self::Other => "other",
        }
    }
}

/// How a step came by its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Generated {
    /// The operator's name for the model that answered, or was asked last.
    pub model: String,
    /// The model for which it stood in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    /// What all calls for the step took together.
    pub usage: TokenUsage,
    /// How the last answer ended; none where none came.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish: Option<Finish>,
    /// How many calls were made; waits for limits are not among them.
    pub attempts: u32,
    /// Whether the answer was taken from this machine's store; then `usage` is what it took once.
    #[serde(default)]
    pub stored: bool,
    /// What it cost; none where no price is set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// What came of an answer that is no output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came: Option<String>,
}
