//! One step: asked of its model, then of those that stand in, until there is an answer that meets the
//! contract; and what is said where there is none.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::models::{ModelWorker, OnPiece, StreamPiece, most_output, use_of};
use super::port::{Prompt, Reply, Shape, Speaker, Trouble, TroubleKind, Turn};
use super::reading;
use super::trying::{self, Teller};
use crate::code::{Code, WarningCode};
use crate::config::{ModelSpec, Provider};
use crate::execute::{OnToolProgress, Worked};
use crate::model::{Breach, Contract, Cost, Finish, Generated, TokenUsage};
use crate::names::{cut, grouped, quoted, shown};
use crate::plan::{Rendering, Step};
use crate::run::{Output, StepError, Warning, read_output};

/// The longest part of an answer that is no output which is kept, in characters.
const LONGEST_CAME: usize = 20_000;
/// The fewest tokens that are asked for in an answer.
const LEAST_ROOM: u32 = 64;
/// How many breaches are told.
const TOLD_BREACHES: usize = 8;

/// A step that is to be answered.
pub(super) struct StepAsk<'a> {
    pub(super) worker: &'a ModelWorker,
    pub(super) step: &'a Step,
    pub(super) rendering: &'a Rendering,
    pub(super) spec: Arc<ModelSpec>,
    pub(super) text: Arc<str>,
    pub(super) contract: Option<Arc<Contract>>,
    pub(super) told: Option<OnToolProgress>,
    pub(super) stream: Option<OnPiece>,
}

/// What the calls for a step took together.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) usage: TokenUsage,
    pub(super) attempts: u32,
    pub(super) cost: Option<u64>,
    pub(super) finish: Option<Finish>,
    pub(super) stored: bool,
    pub(super) came: Option<String>,
    warnings: Vec<Warning>,
}

impl Tally {
    /// Adds what a call took.
    pub(super) fn add(&mut self, spec: &ModelSpec, reply: &Reply) {
        self.usage = self.usage.and(reply.usage);
        self.finish = Some(if reply.finish == Finish::Context { Finish::Length } else { reply.finish });
        if let Some(cost) = spec.cost(reply.usage.input, reply.usage.output) {
            self.cost = Some(self.cost.unwrap_or(0).saturating_add(cost));
        }
    }
}

/// Why a model gave no output.
pub(super) enum Fault {
    /// The call failed.
    Call(Trouble),
    /// The budget is spent, and when it is there again.
    Budget(String, Option<DateTime<Utc>>),
    /// The answer does not meet the contract.
    Contract(Vec<Breach>),
    /// The answer was cut off.
    Cut(u32),
}

/// Asks for an answer to a step.
pub(super) async fn answer(ask: StepAsk<'_>) -> Worked {
    let mut tally = Tally::default();
    let mut told: Vec<String> = Vec::new();
    let mut code = None;
    let mut spec = ask.spec.clone();
    let mut put_off = None;
    let mut others = ask.spec.fallback.iter().filter_map(|name| ask.worker.models.get(name).cloned());
    let result = loop {
        match ask.one_model(&spec, &mut tally).await {
            Ok(output) => break Ok(output),
            Err(fault) => {
                let (failed, words) = in_words(&spec, &fault);
                told.push(words);
                code.get_or_insert(failed);
                // Such a limit lasts longer than the execution may.
                if let Fault::Call(Trouble { kind, pause: Some(pause), .. }) = &fault
                    && kind.is_wait()
                {
                    let opens = trying::after(*pause, &*ask.worker.models.clock);
                    put_off = put_off.into_iter().chain(opens).min();
                }
                if let Fault::Budget(_, Some(tomorrow)) = &fault {
                    put_off = put_off.into_iter().chain([*tomorrow]).min();
                }
                match others.find(|next| may_stand_in(&fault, &spec, next)) {
                    Some(next) => {
                        // What came of the one before is void.
                        if let Some(stream) = &ask.stream {
                            stream(StreamPiece::Restart);
                        }
                        spec = next;
                    }
                    None => break Err(StepError::new(code.unwrap_or(failed), told.join("; instead of it, "))),
                }
            }
        }
    };
    let generated = Arc::new(Generated {
        model: spec.name.clone(),
        instead_of: (spec.name != ask.spec.name).then(|| ask.spec.name.clone()),
        usage: tally.usage,
        finish: tally.finish,
        attempts: tally.attempts,
        stored: tally.stored,
        cost: tally.cost.map(|millionths| Cost { millionths, currency: ask.worker.models.currency().to_owned() }),
        came: tally.came.take().filter(|_| result.is_err()).map(|came| cut(&came, LONGEST_CAME)),
    });
    let result = match result {
        Ok(output) => Ok(Output { generated: Some(generated), ..output }),
        Err(error) => Err(StepError { generated: Some(generated), ..error }),
    };
    let mut worked = ended(ask.rendering, &ask.step.id, result);
    worked.warnings.splice(0..0, tally.warnings);
    worked.put_off = put_off.filter(|_| worked.result.is_err());
    worked
}

/// What becomes of a step: where its node goes on after failures, a failure is an output.
pub fn ended(rendering: &Rendering, id: &str, result: Result<Output, StepError>) -> Worked {
    match result {
        Err(error) if rendering.asks.goes_on => {
            let message = format!("{}; the flow goes on, as the node says", error.message);
            let warnings = vec![Warning::of(WarningCode::WentOn, id, message)];
            Worked { warnings, ..Worked::from(Ok(Output::of_failure(&error))) }
        }
        result => Worked::from(result),
    }
}

impl StepAsk<'_> {
    /// Asks one model, and once more where its answer does not meet the contract.
    async fn one_model(&self, spec: &Arc<ModelSpec>, tally: &mut Tally) -> Result<Output, Fault> {
        let models = &self.worker.models;
        let wanted = use_of(self.rendering);
        let mut shape = if self.contract.is_some() { first_shape(spec, models.shape_of(spec)) } else { Shape::Text };
        let mut turns = vec![Turn { speaker: Speaker::User, text: self.text.clone() }];
        let teller = Teller::new(&spec.name, self.told.clone(), self.stream.clone(), models.clock.clone());
        let (mut repaired, mut reuse) = (false, true);
        loop {
            let system = self.system(shape);
            let estimate = Prompt::estimated(&system, &turns);
            let most = most_output(spec, &wanted);
            let prompt = Prompt {
                model: spec.clone(),
                estimate,
                system,
                turns: turns.clone(),
                shape,
                contract: self.contract.clone(),
                max_output_tokens: spec.context_tokens.map_or(most, |context| most.min(room(estimate, context))),
                temperature: wanted.temperature.or(spec.temperature),
            };
            if let Some(context) = spec.context_tokens.filter(|context| surely_too_long(&prompt, *context)) {
                return Err(Fault::Call(too_long(&prompt, context)));
            }
            let stored = if reuse { trying::stored(self.worker, &prompt, tally, &teller).await } else { None };
            let called = match stored {
                Some(reply) => Ok(reply),
                None => trying::call(self.worker, &prompt, tally, &teller).await,
            };
            let reply = match called {
                Ok(reply) => reply,
                Err(Fault::Call(trouble)) if trouble.kind == TroubleKind::Format && shape != Shape::Text => {
                    shape = next_shape(spec, shape);
                    models.note_shape(spec, shape);
                    tracing::info!(model = spec.name, ?shape, "the response format is refused; less is asked for");
                    continue;
                }
                Err(fault) => return Err(fault),
            };
            self.notice_cut_prompt(spec, &prompt, &reply, tally);
            tally.came = Some(reply.text.clone());
            match reply.finish {
                Finish::Filter => {
                    let said = "its filter broke the answer off";
                    return Err(Fault::Call(Trouble::new(TroubleKind::Filtered, said)));
                }
                Finish::Length | Finish::Context if !wanted.keep_cut => {
                    // A lower limit than the one that is configured is what the prompt left of the context.
                    let full = reply.finish == Finish::Context || prompt.max_output_tokens < most;
                    return Err(if full {
                        let said = format!("the answer was cut off after {} tokens", grouped(reply.usage.output));
                        Fault::Call(Trouble::new(TroubleKind::TooLong, said))
                    } else {
                        Fault::Cut(most)
                    });
                }
                Finish::Length | Finish::Context => {
                    let most = grouped(prompt.max_output_tokens);
                    let message = format!("the answer was cut off at {most} tokens, and is kept as the node says");
                    tally.warnings.push(Warning::of(WarningCode::AnswerCutOff, &self.step.id, message));
                }
                Finish::Stop | Finish::Other => {}
            }
            let read = match &self.contract {
                _ if reply.text.trim().is_empty() => {
                    Err(Fault::Call(Trouble::new(TroubleKind::Odd, "the answer is empty")))
                }
                None => Ok(Output::text(reply.text.as_str())),
                Some(contract) => match reading::read(&reply.text, contract) {
                    Ok(value) => {
                        if contract.is_copied(&value) {
                            let message = "the model's answer is the example of the contract word for word";
                            tally.warnings.push(Warning::of(WarningCode::CopiedExample, &self.step.id, message));
                        }
                        Ok(read_output(&value, false))
                    }
                    Err(breaches) => Err(Fault::Contract(breaches)),
                },
            };
            match (read, &self.contract) {
                (Ok(output), _) => {
                    if !tally.stored {
                        // Where it was asked for once more, it is the answer to what was asked at first.
                        turns.truncate(1);
                        trying::keep(self.worker, &Prompt { turns, ..prompt }, &reply).await;
                    }
                    return Ok(output);
                }
                // Answers were stored before it was known whether their steps take them.
                (Err(_), _) if tally.stored => {
                    reuse = false;
                    (tally.stored, tally.usage, tally.finish) = (false, TokenUsage::default(), None);
                }
                (Err(Fault::Contract(breaches)), Some(contract)) if !repaired => {
                    (repaired, reuse) = (true, false);
                    turns.push(Turn { speaker: Speaker::Model, text: Arc::from(reply.text) });
                    turns.push(Turn { speaker: Speaker::User, text: Arc::from(repair(contract, &breaches)) });
                }
                (Err(fault), _) => return Err(fault),
            }
        }
    }

    /// The parts of the system prompt: the persona, and the schema where the request does not hold it.
    fn system(&self, shape: Shape) -> Vec<Arc<str>> {
        let persona = self.rendering.role.iter().map(|role| role.text.clone());
        let schema = self.contract.iter().filter(|_| shape != Shape::Schema).map(|contract| {
            let asked = "Answer with one JSON value that meets this JSON Schema, and with nothing else:";
            Arc::from(format!("{asked}\n{}", contract.schema()))
        });
        persona.chain(schema).collect()
    }

    /// A server that counts far fewer tokens than there are has not read the whole prompt.
    fn notice_cut_prompt(&self, spec: &ModelSpec, prompt: &Prompt, reply: &Reply, tally: &mut Tally) {
        let (counted, estimate) = (reply.usage.input, u64::try_from(prompt.estimate).unwrap_or(u64::MAX));
        if counted == 0 || estimate < 256 || counted.saturating_mul(2) >= estimate || tally.stored {
            return;
        }
        let message = format!(
            "the model {} counted {} tokens of a prompt of about {}: its server seems to have cut the prompt off; give \
             it more context, or set context_tokens",
            quoted(&spec.name),
            grouped(counted),
            grouped(estimate),
        );
        tally.warnings.push(Warning::of(WarningCode::PromptCutOff, &self.step.id, message));
    }
}

/// The first shape that a provider has of those that ask for no more than this one.
fn first_shape(spec: &ModelSpec, shape: Shape) -> Shape {
    match (spec.provider, shape) {
        (Provider::Anthropic, Shape::Json) => Shape::Text,
        (_, shape) => shape,
    }
}

fn next_shape(spec: &ModelSpec, shape: Shape) -> Shape {
    first_shape(spec, if shape == Shape::Schema { Shape::Json } else { Shape::Text })
}

/// What a model is told of an answer that does not meet the contract.
fn repair(contract: &Contract, breaches: &[Breach]) -> String {
    format!(
        "That answer does not meet the JSON Schema:\n{}\n\nAnswer again, with one JSON value that meets this schema and \
         with nothing else:\n{}",
        listed(breaches, "\n"),
        contract.schema()
    )
}

fn listed(breaches: &[Breach], between: &str) -> String {
    let lines: Vec<String> =
        breaches.iter().take(TOLD_BREACHES).map(|breach| format!("{} {}", breach.path, breach.message)).collect();
    lines.join(between)
}

/// How many tokens a prompt leaves of a context for the answer. Estimates lie a little above what servers count, so
/// a few are asked for where none seem to be left.
fn room(estimate: usize, context: u32) -> u32 {
    context.saturating_sub(u32::try_from(estimate).unwrap_or(u32::MAX)).max(LEAST_ROOM)
}

/// Estimates lie a little above what servers count, so only what is far too long is known to be.
fn surely_too_long(prompt: &Prompt, context: u32) -> bool {
    let context = usize::try_from(context).unwrap_or(usize::MAX);
    prompt.estimate.saturating_mul(4) / 5 >= context
}

fn too_long(prompt: &Prompt, context: u32) -> Trouble {
    let said = format!(
        "the prompt is about {} tokens, and the model takes {} (context_tokens)",
        grouped(prompt.estimate),
        grouped(context)
    );
    Trouble::new(TroubleKind::TooLong, said)
}

/// Whether another model may be asked after a failure: where the failure is the server's or a limit's, or where
/// the prompt is too long, unless it is known that the other one takes no more.
fn may_stand_in(fault: &Fault, spec: &ModelSpec, next: &ModelSpec) -> bool {
    let Fault::Call(trouble) = fault else { return false };
    match trouble.kind {
        TroubleKind::Limited
        | TroubleKind::Overloaded
        | TroubleKind::NoQuota
        | TroubleKind::Server
        | TroubleKind::Transport
        | TroubleKind::Broken
        | TroubleKind::TimedOut => true,
        TroubleKind::TooLong => next.context_tokens.is_none_or(|next| spec.context_tokens.is_none_or(|own| next > own)),
        TroubleKind::Unauthorized
        | TroubleKind::NoKey
        | TroubleKind::NoModel
        | TroubleKind::Filtered
        | TroubleKind::Format
        | TroubleKind::Refused
        | TroubleKind::Odd => false,
    }
}

/// The code of a failure, and the fact with the model's name.
fn in_words(spec: &ModelSpec, fault: &Fault) -> (Code, String) {
    let model = format!("model {} ({} {})", quoted(&spec.name), spec.provider, shown(&spec.model, 80));
    let (code, fact) = match fault {
        Fault::Call(Trouble { kind: TroubleKind::Unauthorized, said, .. }) => {
            let place = spec.key_place.as_deref().unwrap_or("no key is configured");
            (Code::ModelUnauthorized, format!("it does not accept the key ({place}): {said}"))
        }
        Fault::Call(trouble) => of_trouble(trouble),
        Fault::Budget(why, _) => (Code::BudgetExceeded, why.clone()),
        Fault::Contract(breaches) => {
            let told = listed(breaches, "; ");
            (Code::ContractViolation, format!("its answer does not meet the contract, also when asked again: {told}"))
        }
        Fault::Cut(most) => {
            let most = grouped(*most);
            (Code::LimitExceeded, format!("its answer was cut off at {most} tokens (max_output_tokens)"))
        }
    };
    (code, format!("{model}: {fact}"))
}

/// The code of a call's trouble, and the fact in words.
pub fn of_trouble(trouble: &Trouble) -> (Code, String) {
    let said = &trouble.said;
    match trouble.kind {
        TroubleKind::Unauthorized => (Code::ModelUnauthorized, format!("it does not accept the key: {said}")),
        TroubleKind::NoKey => (Code::ModelUnauthorized, format!("there is no key for it: {said}")),
        TroubleKind::NoModel => (Code::ModelNotFound, format!("its server has no such model: {said}")),
        TroubleKind::Limited => (Code::ModelRateLimited, format!("its limit is reached: {said}")),
        TroubleKind::Overloaded => (Code::ModelOverloaded, format!("it is overloaded: {said}")),
        TroubleKind::NoQuota => (Code::ModelNoQuota, format!("its account has no quota left: {said}")),
        TroubleKind::TooLong => {
            (Code::ContextTooLong, format!("prompt and answer are too long together for its context: {said}"))
        }
        TroubleKind::Filtered => (Code::ContentFiltered, format!("a content filter refuses it: {said}")),
        TroubleKind::TimedOut => (Code::Timeout, said.clone()),
        TroubleKind::Format | TroubleKind::Refused => (Code::ModelError, format!("it refuses the request: {said}")),
        TroubleKind::Server | TroubleKind::Transport | TroubleKind::Broken | TroubleKind::Odd => {
            (Code::ModelError, said.clone())
        }
    }
}
