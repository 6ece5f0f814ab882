//! `[models.NAME]`: the models that may answer steps, as the operator's own settings file lists them.
//!
//! A file that merely lies in the current folder may not hold such a section: it could send what a
//! caller gives to a stranger. How a provider is spoken to is not known here.

mod entry;

use std::time::Duration;

use super::secret::Secret;
use crate::names::words;

pub(super) use entry::{did_you_mean, read};

/// The section of a settings file that holds the models.
pub(super) const SECTION: &str = "models";
/// What stands for "no model" where a model may be named.
pub const NO_MODEL: &str = "none";
words! {
    /// Whose shape of requests and answers an address speaks.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Provider {
        /// Anthropic's Messages API.
        Anthropic = "anthropic",
        /// `OpenAI`'s Chat Completions API.
        OpenAi = "openai",
        /// Google's Gemini API.
        Gemini = "gemini",
        /// Mistral's API, in `OpenAI`'s shape.
        Mistral = "mistral",
        /// Anything else in `OpenAI`'s shape: `vLLM`, llama.cpp, LM Studio, gateways.
        OpenAiCompatible = "openai-compatible",
        /// Ollama's own API.
        Ollama = "ollama",
    }
}

impl Provider {
    /// Where it is, unless `base_url` says otherwise.
    fn usual_address(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("https://api.anthropic.com"),
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::Mistral => Some("https://api.mistral.ai/v1"),
            Self::OpenAiCompatible => None,
            Self::Ollama => Some("http://127.0.0.1:11434"),
        }
    }
}

/// The key that a model's address wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelKey {
    /// None is sent.
    None,
    /// This one.
    Known(Secret),
    /// One is configured and can't be had, and why, without the key.
    Missing(String),
}

/// A model that the operator configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSpec {
    /// What flows and callers call it.
    pub name: String,
    /// Whose shape its address speaks.
    pub provider: Provider,
    /// The provider's name for it.
    pub model: String,
    /// The address, without a slash at its end.
    pub base_url: String,
    /// Whether that address is on this machine or in a private network.
    pub local: bool,
    /// The key that is sent there.
    pub key: ModelKey,
    /// Where the key comes from, in words; none where none is sent.
    pub key_place: Option<String>,
    /// The most tokens of one answer.
    pub max_output_tokens: u32,
    /// The temperature in thousandths; not sent unless it is set.
    pub temperature: Option<u32>,
    /// How many tokens prompt and answer may have together, where that is known.
    pub context_tokens: Option<u32>,
    /// Models that stand in where this one can't answer, in this order.
    pub fallback: Vec<String>,
    /// How many calls are made at once.
    pub parallel: usize,
    /// The longest that one call may take.
    pub timeout: Duration,
    /// How many tokens one execution may spend on it.
    pub per_execution_tokens: u64,
    /// How many tokens a day (UTC) may spend on it.
    pub per_day_tokens: Option<u64>,
    /// The price of a million tokens of prompts, in millionths of the currency.
    pub price_in: Option<u64>,
    /// The price of a million tokens of answers, in millionths of the currency.
    pub price_out: Option<u64>,
    /// What is done with stored answers unless a call says otherwise; none for what the temperature says.
    pub answers: Option<Answers>,
}

words! {
    /// What is done with answers that are stored on this machine.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Answers {
        /// An equal call takes the stored answer, and new ones are stored.
        Reuse = "reuse",
        /// Every call is made, and its answer stored.
        Fresh = "fresh",
        /// Nothing is read or stored.
        Off = "off",
    }
}

impl ModelSpec {
    /// What so many tokens cost, in millionths of the currency; none where no price is set.
    pub fn cost(&self, input: u64, output: u64) -> Option<u64> {
        let part = |tokens: u64, price: Option<u64>| {
            u64::try_from(u128::from(tokens) * u128::from(price.unwrap_or(0)) / 1_000_000).unwrap_or(u64::MAX)
        };
        (self.price_in.is_some() || self.price_out.is_some())
            .then(|| part(input, self.price_in).saturating_add(part(output, self.price_out)))
    }
}
