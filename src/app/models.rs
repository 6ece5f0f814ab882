//! The operator's models: what is configured, trying one, and what is kept of them on this machine.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};

use crate::app::execute::no_such_model;
use crate::app::{Code, Error};
use crate::clock::Clock;
use crate::config::{ModelKey, ModelSpec, Provider, Settings};
use crate::execute::Worker;
use crate::generate::{
    AnswerBook, DayBook, Generator, ModelChoice, ModelWorker, Models, Prompt, Reply, Shape, Speaker, TroubleKind, Turn,
    of_trouble,
};
use crate::guide::ModelSteps;
use crate::model::{Finish, TokenUsage};
use crate::names::hex;
use crate::plan::Rendering;
use crate::provider::Providers;
use crate::run::Run;
use crate::store::{ModelBook, NotReserved, day_of};

/// The most tokens of the answer by which a model is tried: some spend a few before they say anything.
const TRIAL_TOKENS: u32 = 16;

/// A model as it is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelRow {
    /// Its settings.
    pub spec: Arc<ModelSpec>,
    /// Whether it answers where nobody names one.
    pub usual: bool,
}

impl ModelRow {
    /// Why it has no key although one is configured.
    pub fn lacks_key(&self) -> Option<&str> {
        match &self.spec.key {
            ModelKey::Missing(why) => Some(why),
            ModelKey::None | ModelKey::Known(_) => None,
        }
    }
}

/// Lets models answer the steps of guided executions whose nodes name them.
pub(super) struct GuidedModels {
    pub(super) models: Arc<Models>,
    pub(super) clock: Arc<dyn Clock>,
    /// How long limits are waited for, for one step.
    pub(super) longest: Duration,
}

impl ModelSteps for GuidedModels {
    fn answers(&self, rendering: &Rendering) -> bool {
        self.models.answer_own(rendering)
    }

    fn worker(&self, run: &Run) -> Box<dyn Worker> {
        let ends = self.clock.reading().saturating_add(self.longest);
        let worker = ModelWorker::new(self.models.clone(), ModelChoice::default(), Some(ends));
        Box::new(worker.having_done(run))
    }
}

/// What became of trying a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelTrial {
    /// The operator's name for it.
    pub model: String,
    /// What its server counted.
    pub usage: TokenUsage,
    /// How long it took.
    pub took: Duration,
}

/// The models that are configured, by name.
pub fn list_models(settings: &Settings) -> Vec<ModelRow> {
    let usual = |spec: &ModelSpec| settings.default_model.as_ref() == Some(&spec.name);
    settings.models.iter().map(|spec| ModelRow { usual: usual(spec), spec: spec.clone() }).collect()
}

/// Asks a model for a word.
///
/// # Errors
/// When there is no such model, or it gives no answer.
pub async fn check_model(settings: &Settings, clock: Arc<dyn Clock>, name: &str) -> Result<ModelTrial, Error> {
    let providers = Arc::new(Providers::new(clock.clone(), settings.web_fault.clone()));
    let models = Models::of(settings, providers.clone(), clock.clone());
    let Some(spec) = models.get(name).cloned() else {
        let choice = ModelChoice { usual: Some(name.to_owned()), ..ModelChoice::default() };
        let near = models.lack(&choice).map(|(_, near)| near).unwrap_or_default();
        return Err(no_such_model(name, &near, &models));
    };
    let turns = vec![Turn { speaker: Speaker::User, text: Arc::from("Say OK.") }];
    let prompt = Prompt {
        estimate: Prompt::estimated(&[], &turns),
        system: Vec::new(),
        turns,
        shape: Shape::Text,
        contract: None,
        max_output_tokens: spec.max_output_tokens.min(TRIAL_TOKENS),
        temperature: spec.temperature,
        model: spec.clone(),
    };
    let begun = clock.reading();
    let asked = tokio::time::timeout(spec.timeout, providers.generate(&prompt, &|_| {})).await;
    let took = clock.reading().saturating_sub(begun);
    match asked {
        Ok(Ok(Reply { usage, .. })) => Ok(ModelTrial { model: spec.name.clone(), usage, took }),
        Ok(Err(trouble)) => {
            let (code, fact) = of_trouble(&trouble);
            let message = format!("model {} gives no answer: {fact}", crate::names::quoted(&spec.name));
            Err(Error::new(code, message).next(what_helps(trouble.kind, &spec)))
        }
        Err(_) => {
            let ms = spec.timeout.as_millis();
            let message = format!("model {} gives no answer within {ms} ms", crate::names::quoted(&spec.name));
            Err(Error::new(Code::Timeout, message).next("look whether its server runs, or raise timeout_ms"))
        }
    }
}

fn what_helps(kind: TroubleKind, spec: &ModelSpec) -> String {
    match kind {
        TroubleKind::Unauthorized | TroubleKind::NoKey => {
            let place = spec.key_place.as_deref().unwrap_or("key_env or key_file of its section in flowy.toml");
            let alone = if place.starts_with("the file") { ", and let nobody else read it (chmod 600)" } else { "" };
            format!("put the provider's key into {place}{alone}")
        }
        TroubleKind::NoModel if spec.provider == Provider::Ollama => {
            format!("`ollama pull {}` fetches it, unless models.{}.model should be another", spec.model, spec.name)
        }
        TroubleKind::NoModel => format!("write the provider's name for the model in models.{}.model", spec.name),
        TroubleKind::NoQuota => "top up the account at the provider".to_owned(),
        TroubleKind::Limited | TroubleKind::Overloaded | TroubleKind::Server | TroubleKind::Broken => {
            "try again later".to_owned()
        }
        TroubleKind::TooLong
        | TroubleKind::Filtered
        | TroubleKind::Format
        | TroubleKind::Refused
        | TroubleKind::Transport
        | TroubleKind::TimedOut
        | TroubleKind::Odd => format!("look at models.{}.base_url, and whether its server runs", spec.name),
    }
}

/// What is kept of models in the state folder.
pub(super) struct KeptModels {
    book: ModelBook,
    clock: Arc<dyn Clock>,
}

/// A stored answer as it is written.
#[derive(Serialize, Deserialize)]
struct StoredAnswer {
    text: String,
    usage: TokenUsage,
    finish: Finish,
}

impl KeptModels {
    pub(super) fn of(settings: &Settings, clock: Arc<dyn Clock>) -> Self {
        Self { book: ModelBook::at(&settings.state_dir), clock }
    }

    fn today(&self) -> i64 {
        day_of(self.clock.now())
    }
}

impl DayBook for KeptModels {
    fn reserve(&self, model: &str, tokens: u64, most: u64) -> Result<i64, Option<u64>> {
        let day = self.today();
        self.book.reserve(model, day, tokens, most).map(|()| day).map_err(|why| match why {
            NotReserved::TooFew(before) => Some(before),
            NotReserved::Unknown(error) => {
                tracing::warn!(%error, "what models took today can't be read");
                None
            }
        })
    }

    fn settle(&self, model: &str, day: i64, reserved: u64, taken: u64) {
        if let Err(error) = self.book.settle(model, day, reserved, taken) {
            tracing::warn!(%error, "what a model took can't be written; what was set aside counts as taken");
        }
    }
}

impl AnswerBook for KeptModels {
    fn find(&self, prompt: &Prompt) -> Option<Reply> {
        let body = self.book.answer(&key_of(prompt), self.today()).unwrap_or_else(|error| {
            tracing::warn!(%error, "stored answers can't be read");
            None
        })?;
        match serde_json::from_str(&body) {
            Ok(StoredAnswer { text, usage, finish }) => Some(Reply { text, usage, finish }),
            Err(error) => {
                tracing::warn!(%error, "a stored answer can't be read, and the model is asked again");
                None
            }
        }
    }

    fn keep(&self, prompt: &Prompt, reply: &Reply) {
        let answer = StoredAnswer { text: reply.text.clone(), usage: reply.usage, finish: reply.finish };
        let Ok(body) = serde_json::to_string(&answer) else { return };
        if let Err(error) = self.book.keep_answer(&key_of(prompt), &body, self.today()) {
            tracing::warn!(%error, "an answer can't be stored");
        }
    }
}

/// What tells a call from every other: address, model, every parameter, every text, the schema.
fn key_of(prompt: &Prompt) -> String {
    let turns: Vec<(bool, &str)> =
        prompt.turns.iter().map(|turn| (turn.speaker == Speaker::User, &*turn.text)).collect();
    let system: Vec<&str> = prompt.system.iter().map(|part| &**part).collect();
    let schema = prompt.contract.as_ref().map(|contract| contract.schema());
    let spec = &prompt.model;
    let whole = serde_json::json!([
        spec.provider.word(),
        spec.base_url,
        spec.model,
        prompt.max_output_tokens,
        prompt.temperature,
        prompt.shape as u8,
        system,
        turns,
        schema,
    ]);
    let whole = whole.to_string();
    format!("{}-{}", hex(&Sha1::digest(&whole)), whole.len())
}
