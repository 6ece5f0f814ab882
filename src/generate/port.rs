//! The port behind which models are: one call, its answer, and what can go wrong with it.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use crate::config::ModelSpec;
use crate::model::{Contract, Finish, TokenUsage};
use crate::tokens;

/// Who said something in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker {
    /// Whoever asks.
    User,
    /// The model.
    Model,
}

/// One thing that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Who said it.
    pub speaker: Speaker,
    /// What.
    pub text: Arc<str>,
}

/// In which shape an answer is asked for; the later ones ask for less of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shape {
    /// JSON that meets the schema, which is part of the request.
    Schema,
    /// Any JSON; the schema is in the prompt.
    Json,
    /// Text; a schema, if there is one, is in the prompt.
    Text,
}

/// One call to a model.
#[derive(Debug, Clone)]
pub struct Prompt {
    /// Which model.
    pub model: Arc<ModelSpec>,
    /// The parts of the system prompt.
    pub system: Vec<Arc<str>>,
    /// The conversation; the last turn is the user's.
    pub turns: Vec<Turn>,
    /// In which shape the answer is asked for.
    pub shape: Shape,
    /// What the answer must meet, where that is a schema.
    pub contract: Option<Arc<Contract>>,
    /// The most tokens of the answer.
    pub max_output_tokens: u32,
    /// The temperature in thousandths; the server's own where there is none.
    pub temperature: Option<u32>,
    /// How many tokens it is, by our own estimate.
    pub estimate: usize,
}

impl Prompt {
    /// How many tokens these texts are, by our own estimate; each turn costs a few more than its text.
    pub fn estimated(system: &[Arc<str>], turns: &[Turn]) -> usize {
        let texts = system.iter().chain(turns.iter().map(|turn| &turn.text));
        texts.map(|text| tokens::estimate(text).saturating_add(4)).fold(0, usize::saturating_add)
    }

    /// The most tokens that prompt and answer may take together.
    pub fn most_tokens(&self) -> u64 {
        u64::try_from(self.estimate).unwrap_or(u64::MAX).saturating_add(u64::from(self.max_output_tokens))
    }
}

/// What a model answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Its text.
    pub text: String,
    /// What its server counted; nothing where it did not.
    pub usage: TokenUsage,
    /// How it ended.
    pub finish: Finish,
}

/// What went wrong with a call, by what helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TroubleKind {
    /// No key, or one that is refused.
    Unauthorized,
    /// There is no key to be sent, although one is configured.
    NoKey,
    /// The server has no such model.
    NoModel,
    /// Too many calls or tokens for now.
    Limited,
    /// The server has too much to do.
    Overloaded,
    /// The account has no money or quota left.
    NoQuota,
    /// The prompt is longer than the model takes.
    TooLong,
    /// A filter of the provider's refuses the prompt or the answer.
    Filtered,
    /// The server does not know the response format that was asked for.
    Format,
    /// The server refuses the request for another reason.
    Refused,
    /// The server's own trouble.
    Server,
    /// The server could not be reached, or the connection was lost before it answered.
    Transport,
    /// The answer broke off.
    Broken,
    /// It took longer than it may.
    TimedOut,
    /// The answer can't be understood, or is too large.
    Odd,
}

impl TroubleKind {
    /// Whether it is a limit, which waiting helps against.
    pub fn is_wait(self) -> bool {
        matches!(self, Self::Limited | Self::Overloaded)
    }

    /// Whether the same call may work a moment later.
    pub fn may_pass(self) -> bool {
        matches!(self, Self::Server | Self::Transport | Self::Broken)
    }
}

/// Why a call gave no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What kind it is.
    pub kind: TroubleKind,
    /// The fact, with the provider's own words, safe to show.
    pub said: String,
    /// The pause that the server asks for.
    pub pause: Option<Duration>,
}

impl Trouble {
    /// A trouble without a pause.
    pub fn new(kind: TroubleKind, said: impl Into<String>) -> Self {
        Self { kind, said: said.into(), pause: None }
    }
}

/// Told every piece of an answer as it comes.
pub type OnText<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// A call that is under way. Dropping it gives it up.
pub type Generating<'a> = Pin<Box<dyn Future<Output = Result<Reply, Trouble>> + Send + 'a>>;

/// Somebody who can ask models.
pub trait Generator: Send + Sync {
    /// Asks one, once: no tries, no waits.
    fn generate<'a>(&'a self, prompt: &'a Prompt, on_text: OnText<'a>) -> Generating<'a>;
}
