//! The operator's models with what is remembered of them, and the worker that lets them answer steps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::answering::{self, StepAsk};
use super::budget::{DayBook, Purse};
use super::choosing::{Answerer, ModelChoice, who};
use super::gate::Gate;
use super::port::{Generator, Prompt, Shape, Speaker, Turn};
use super::trying::AnswerBook;
use crate::clock::Clock;
use crate::code::Code;
use crate::config::{ModelSpec, Settings};
use crate::execute::{StepTask, Worked, Worker, Working};
use crate::lock::lock;
use crate::model::{Contract, Cost, ModelUse, ModelWish};
use crate::names::{did_you_mean, nearest, quoted};
use crate::plan::{Plan, Rendering, Work};
use crate::run::{Output, Run, StepError};

/// A piece of an answer as it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamPiece<'a> {
    /// More text.
    Text(&'a str),
    /// What came so far is void: the answer is begun anew.
    Restart,
}

/// Told every piece of the final step's answer.
pub type OnPiece = Arc<dyn Fn(StreamPiece<'_>) + Send + Sync>;

/// The operator's models.
pub struct Models {
    specs: BTreeMap<String, Arc<ModelSpec>>,
    usual: Option<String>,
    currency: String,
    generator: Arc<dyn Generator>,
    gates: BTreeMap<String, Gate>,
    /// By address and the provider's name of the model: the first shape that it does not refuse.
    shapes: Mutex<BTreeMap<(String, String), Shape>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) day: Option<Arc<dyn DayBook>>,
    pub(super) answers: Option<Arc<dyn AnswerBook>>,
}

/// What a model would take for a step at most, before anything is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Priced {
    /// The operator's name for the model.
    pub model: String,
    /// Estimated tokens of the prompt, where the answers before it are as long as they may be.
    pub input: u64,
    /// The most tokens of the answer.
    pub output: u64,
    /// The most that it costs; none where no price is set.
    pub cost: Option<Cost>,
}

/// What models would take for a whole flow at most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PricedTotal {
    /// How many steps they would answer.
    pub steps: usize,
    /// Estimated tokens of all prompts.
    pub input: u64,
    /// The most tokens of all answers.
    pub output: u64,
    /// The most that those cost whose models have a price; none where none has.
    pub cost: Option<Cost>,
    /// How many of the steps have no price.
    pub unpriced: usize,
}

impl PricedTotal {
    /// The sum of these; none where nobody would answer anything.
    pub fn of<'p>(all: impl IntoIterator<Item = &'p Priced>) -> Option<Self> {
        let mut total = Self { steps: 0, input: 0, output: 0, cost: None, unpriced: 0 };
        for priced in all {
            total.steps += 1;
            total.input = total.input.saturating_add(priced.input);
            total.output = total.output.saturating_add(priced.output);
            match (&mut total.cost, &priced.cost) {
                (_, None) => total.unpriced += 1,
                (Some(sum), Some(cost)) => sum.millionths = sum.millionths.saturating_add(cost.millionths),
                (sum @ None, Some(cost)) => *sum = Some(cost.clone()),
            }
        }
        (total.steps > 0).then_some(total)
    }
}

impl Models {
    /// The models of these settings, asked through this port.
    pub fn of(settings: &Settings, generator: Arc<dyn Generator>, clock: Arc<dyn Clock>) -> Self {
        let specs: BTreeMap<_, _> = settings.models.iter().map(|spec| (spec.name.clone(), spec.clone())).collect();
        Self {
            gates: specs.iter().map(|(name, spec)| (name.clone(), Gate::of(spec.parallel))).collect(),
            specs,
            usual: settings.default_model.clone(),
            currency: settings.currency.clone(),
            generator,
            shapes: Mutex::default(),
            clock,
            day: None,
            answers: None,
        }
    }

    /// The same, which keep within what a day may take.
    #[must_use]
    pub fn within(self, day: Arc<dyn DayBook>) -> Self {
        Self { day: Some(day), ..self }
    }

    /// The same, which may take answers that are stored.
    #[must_use]
    pub fn remembering(self, answers: Arc<dyn AnswerBook>) -> Self {
        Self { answers: Some(answers), ..self }
    }

    /// Whether there are any.
    pub fn any(&self) -> bool {
        !self.specs.is_empty()
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Option<&Arc<ModelSpec>> {
        self.specs.get(name)
    }

    /// What prices are in.
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// A caller's choice as it stands for the whole of an execution, whatever the operator says later.
    #[must_use]
    pub fn settled(&self, choice: ModelChoice) -> ModelChoice {
        ModelChoice { usual: choice.usual.or_else(|| self.usual.clone()), ..choice }
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.specs.keys().map(String::as_str)
    }

    /// The first name that a caller wants to replace and nobody has, neither a plan nor the operator, with the nearest
    /// ones.
    pub fn names_nobody<'c>(&self, choice: &'c ModelChoice, plan: &Plan) -> Option<(&'c str, Vec<String>)> {
        if choice.instead.is_empty() || !self.any() {
            return None;
        }
        let mut known: BTreeSet<&str> = self.names().collect();
        wished(plan, &mut known);
        let name = choice.instead.iter().map(|(old, _)| old.as_str()).find(|old| !known.contains(old))?;
        Some((name, nearest(name, known, 2).into_iter().map(str::to_owned).collect()))
    }

    /// The first name of a caller's choice that is none of theirs, with the nearest ones.
    pub fn lack<'c>(&self, choice: &'c ModelChoice) -> Option<(&'c str, Vec<String>)> {
        let name = choice.named().find(|name| !self.specs.contains_key(*name))?;
        let near = nearest(name, self.specs.keys().map(String::as_str), 2).into_iter().map(str::to_owned).collect();
        Some((name, near))
    }

    /// Who asks them.
    pub fn generator(&self) -> &dyn Generator {
        &*self.generator
    }

    /// Who answers a step.
    pub fn answerer(&self, rendering: &Rendering, choice: &ModelChoice) -> Answerer {
        let known: Vec<&str> = self.specs.keys().map(String::as_str).collect();
        who(rendering.asks.wish.as_ref(), choice, self.usual.as_deref(), &known)
    }

    /// Whether a model answers a step also where a client's model does the others: its own node names one.
    pub fn answer_own(&self, rendering: &Rendering) -> bool {
        let named = matches!(&rendering.asks.wish, Some(ModelWish::Model(model)) if model.name.is_some());
        rendering.asks.own && named && self.answerer(rendering, &ModelChoice::default()) != Answerer::Nobody
    }

    /// Whether any step of a plan is for a model, one that is not there included.
    pub fn answer_any(&self, plan: &Plan, choice: &ModelChoice) -> bool {
        self.any()
            && plan.steps().iter().any(|step| match &step.work {
                Work::Render(rendering) => self.answerer(rendering, choice) != Answerer::Nobody,
                Work::Flow(linked) => self.answer_any(&linked.of.plan, choice),
                Work::Call(_) | Work::Gather(_) | Work::Faulty { .. } => false,
            })
    }

    /// What the answer to a text would take at most, where answers before it add so many tokens; none where nobody
    /// would answer.
    pub fn priced(&self, rendering: &Rendering, text: &str, choice: &ModelChoice, before: u64) -> Option<Priced> {
        let Answerer::Model(name) = self.answerer(rendering, choice) else { return None };
        let spec = self.specs.get(&name)?;
        let turns = [Turn { speaker: Speaker::User, text: Arc::from(text) }];
        let system: Vec<Arc<str>> = rendering.role.iter().map(|role| role.text.clone()).collect();
        let input = u64::try_from(Prompt::estimated(&system, &turns)).unwrap_or(u64::MAX).saturating_add(before);
        let output = u64::from(most_output(spec, &use_of(rendering)));
        let cost = spec.cost(input, output).map(|millionths| Cost { millionths, currency: self.currency.clone() });
        Some(Priced { model: name, input, output, cost })
    }

    pub(super) fn gate(&self, spec: &ModelSpec) -> Option<&Gate> {
        self.gates.get(&spec.name)
    }

    pub(super) fn shape_of(&self, spec: &ModelSpec) -> Shape {
        let shapes = lock(&self.shapes);
        shapes.get(&(spec.base_url.clone(), spec.model.clone())).copied().unwrap_or(Shape::Schema)
    }

    /// Remembers that an address refuses what asks for more than this.
    pub(super) fn note_shape(&self, spec: &ModelSpec, shape: Shape) {
        let mut shapes = lock(&self.shapes);
        shapes.insert((spec.base_url.clone(), spec.model.clone()), shape);
    }
}

/// Adds the models that a plan's steps name.
fn wished<'p>(plan: &'p Plan, names: &mut BTreeSet<&'p str>) {
    for step in plan.steps() {
        match &step.work {
            Work::Render(rendering) => {
                if let Some(ModelWish::Model(model)) = &rendering.asks.wish {
                    names.extend(model.name.as_deref());
                }
            }
            Work::Flow(linked) => wished(&linked.of.plan, names),
            Work::Call(_) | Work::Gather(_) | Work::Faulty { .. } => {}
        }
    }
}

/// How a node wants its model to be asked.
pub(super) fn use_of(rendering: &Rendering) -> ModelUse {
    match &rendering.asks.wish {
        Some(ModelWish::Model(model)) => model.clone(),
        Some(ModelWish::Nobody) | None => ModelUse::default(),
    }
}

/// A node may only lower the operator's limit.
pub(super) fn most_output(spec: &ModelSpec, wanted: &ModelUse) -> u32 {
    wanted.max_output_tokens.map_or(spec.max_output_tokens, |most| most.min(spec.max_output_tokens))
}

/// Lets models answer the steps of one execution.
pub struct ModelWorker {
    pub(super) models: Arc<Models>,
    pub(super) choice: ModelChoice,
    /// When the execution must have ended, by the clock's reading.
    pub(super) ends: Option<Duration>,
    pub(super) purse: Purse,
    /// The step whose answer is told as it comes, and who is told.
    pub(super) stream: Option<(usize, OnPiece)>,
    /// Nothing is asked: a step for a model gives what stands for an answer.
    rehearsing: bool,
}

impl ModelWorker {
    /// Answers the steps of one execution that must have ended at a time, by the clock's reading.
    pub fn new(models: Arc<Models>, choice: ModelChoice, ends: Option<Duration>) -> Self {
        Self { models, choice, ends, purse: Purse::default(), stream: None, rehearsing: false }
    }

    /// Answers nothing: what a model would answer is not there yet.
    pub fn rehearsing(models: Arc<Models>, choice: ModelChoice) -> Self {
        Self { rehearsing: true, ..Self::new(models, choice, None) }
    }

    /// The same, whose budget knows what the steps of a run took before.
    #[must_use]
    pub fn having_done(self, run: &Run) -> Self {
        for generated in run.generated().into_iter().map(|(_, generated)| generated).chain(run.spent_before()) {
            self.purse.note(&generated.model, generated.usage.all());
        }
        self
    }

    /// The same, which tells the answer of one step as it comes.
    #[must_use]
    pub fn telling(self, stream: Option<(usize, OnPiece)>) -> Self {
        Self { stream, ..self }
    }
}

/// A step that asks for a model which is not there.
fn no_model(name: &str, near: &[String]) -> StepError {
    let near = did_you_mean(near.first()).map(|asked| format!("; {asked}")).unwrap_or_default();
    StepError::new(Code::ModelNotFound, format!("no model {} is configured{near}", quoted(name)))
}

impl Worker for ModelWorker {
    fn work<'a>(&'a self, task: StepTask<'_, 'a>) -> Result<Working<'a>, String> {
        let Work::Render(rendering) = &task.step.work else { return Err(task.text) };
        let spec = match self.models.answerer(rendering, &self.choice) {
            Answerer::Nobody => return Err(task.text),
            Answerer::Unknown { name, near } => Err(no_model(&name, &near)),
            Answerer::Model(name) => self.models.get(&name).cloned().ok_or_else(|| no_model(&name, &[])),
        };
        let spec = match spec {
            Ok(spec) => spec,
            Err(error) => {
                let worked = answering::ended(rendering, &task.step.id, Err(error));
                return Ok(Box::pin(std::future::ready(worked)));
            }
        };
        if self.rehearsing {
            // What would be sent is shown in the place of what is not there yet.
            let output = Output { pending: true, ..Output::text(task.text) };
            return Ok(Box::pin(std::future::ready(Worked::from(Ok(output)))));
        }
        let fields = task.run.fields_read(task.number);
        let contract = contract_of(rendering, &fields);
        let stream = self.stream.as_ref().filter(|(step, _)| *step == task.number && contract.is_none());
        let ask = StepAsk {
            worker: self,
            step: task.step,
            rendering,
            spec,
            text: Arc::from(task.text),
            contract,
            told: task.told,
            stream: stream.map(|(_, on_piece)| on_piece.clone()),
        };
        Ok(Box::pin(answering::answer(ask)))
    }
}

/// What an answer must meet: the step's contract, with the fields that later steps read of it.
fn contract_of(rendering: &Rendering, fields: &[Vec<String>]) -> Option<Arc<Contract>> {
    let mut first: Vec<String> = Vec::new();
    for field in fields.iter().filter_map(|path| path.first()) {
        if !first.contains(field) {
            first.push(field.clone());
        }
    }
    if let Some(terms) = &rendering.terms {
        // What lies deeper is not asked for: schemas that say it are more than servers' own checks know.
        let first: Vec<Vec<String>> = first.into_iter().map(|field| vec![field]).collect();
        return Some(terms.requiring(&first));
    }
    if first.is_empty() {
        return None;
    }
    let properties: serde_json::Map<String, Value> = first.iter().map(|field| (field.clone(), json!({}))).collect();
    Some(Arc::new(Contract::stored(None, json!({"type": "object", "properties": properties, "required": first}))))
}
