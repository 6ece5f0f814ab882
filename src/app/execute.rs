//! Executing a flow, and rehearsing it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::app::carry::Undertaking;
use crate::app::failure::by_listed_name;
use crate::app::memory::{CallNews, Outcome, StepDone};
use crate::app::{App, Code, Error, Origin};
use crate::execute::{self, Carried, Executed, Options, ToolProgress, Workers};
use crate::generate::{ModelChoice, ModelWorker, Models, OnPiece, Priced};
use crate::model::{ValueType, is_among, text_or_json};
use crate::names::{ItemName, MOST_NAMED, did_you_mean, few, quoted, words};
use crate::next_step::{NextStep, Word};
use crate::plan::{Input, Plan, Work};
use crate::run::{Given, Limits, OnFailure, Refusal, Run};
use crate::validate::Finding;

/// What is to be executed.
#[derive(Debug, Clone)]
pub struct ExecuteRequest {
    /// The flow's name.
    pub flow: String,
    /// The values given.
    pub variables: Map<String, Value>,
    /// Branch, tag or commit; none for the source's own.
    pub git_ref: Option<String>,
    /// Ask for the newest state even while a copy is fresh.
    pub refresh: bool,
    /// What a failure does to the rest.
    pub on_failure: OnFailure,
    /// How long to wait for the end before answering that it goes on.
    pub wait: Option<Duration>,
    /// Who answers steps.
    pub models: ModelChoice,
}

words! {
    /// How much of an execution is answered.
    #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
    pub enum Detail {
        /// Everything.
        #[default]
        Full = "full",
        /// The outputs, without what went into them.
        Outputs = "outputs",
        /// The final result alone.
        Final = "final",
    }
}

/// Told after every step, and what calls of external tools say meanwhile.
pub type OnStep = Arc<dyn Fn(&StepDone) + Send + Sync>;

/// Told of every step that ended: the run as it stands, and the step.
pub type OnEnd = Arc<dyn Fn(&Run, usize) + Send + Sync>;

/// Who asked: may cancel, and may want to hear how it goes.
#[derive(Clone, Default)]
pub struct Caller {
    /// Cancelled when the caller no longer wants the answer.
    pub cancel: CancellationToken,
    /// Told after every step.
    pub progress: Option<OnStep>,
    /// Told of every step that ended, with all that is known of it.
    pub ended: Option<OnEnd>,
    /// Told the final step's answer as a model writes it, where that is a text.
    pub pieces: Option<OnPiece>,
}

/// What would happen: every text rendered as far as the values go, nothing counted as done.
#[derive(Debug, Clone)]
pub struct Rehearsal {
    /// The flow's name.
    pub flow: String,
    /// The rendered run.
    pub executed: Executed,
    /// Required names that nobody gave, each with the steps that need it.
    pub missing: Vec<(String, Vec<String>)>,
    /// Where the flow comes from.
    pub origin: Origin,
    /// What was noticed about the flow.
    pub findings: Vec<Finding>,
    /// What the answers of models would take at most, by step.
    pub priced: BTreeMap<usize, Priced>,
}

/// A value that a flow needs and nobody gave.
#[derive(Debug, Clone, PartialEq)]
pub struct MissingInput {
    /// Its name.
    pub name: String,
    /// Its type.
    kind: ValueType,
    /// What it is for.
    pub description: Option<String>,
    /// The only values allowed; empty where anything is.
    pub choices: Vec<Value>,
}

impl MissingInput {
    /// The name of its type.
    pub fn kind(&self) -> &'static str {
        self.kind.name()
    }

    /// What a person typed, as a value; none where it is not one of that type, or not one of the choices.
    pub fn read(&self, typed: &str) -> Option<Value> {
        let value = Value::from(typed);
        let chosen = self.choices.is_empty() || is_among(&self.choices, &value, Some(self.kind));
        (self.kind.fits(&value) && chosen).then_some(value)
    }
}

/// The longest that an execution may take unless the operator says otherwise, where models answer steps: limits are
/// waited for.
pub(super) const WITH_MODELS: Duration = Duration::from_hours(1);
/// How many steps are worked on at once where models answer them; how many calls of one model are made at once is
/// the operator's to say.
const SIDE_BY_SIDE: usize = 64;

impl App {
    /// Executes a flow. The execution goes on when the caller's patience ends, and is kept for a
    /// while either way; it stops when the caller cancels.
    ///
    /// # Errors
    /// When nothing ran: the flow isn't there, can't be executed, or values are missing.
    pub async fn execute(&self, request: ExecuteRequest, caller: &Caller) -> Result<Outcome, Error> {
        ItemName::new(&request.flow)
            .map_err(|error| Error::invalid(error.to_string()).next(by_listed_name("ask for a flow")))?;
        let id = self.execution_id(&request.flow);
        let flow = request.flow.clone();
        let begun = self.clock.now();
        let prepared = self.ready(&request, &caller.cancel);
        let deadline = request.wait.map(|wait| self.clock.reading().saturating_add(wait));
        let (plan, origin, findings) = prepared.await?;
        let given = Given::read(&request.variables).map_err(|refusal| refused(&flow, &refusal))?;
        let answering = self.models.answer_any(&plan, &request.models);
        let options = self.timed(Options { on_failure: request.on_failure, ..Options::default() }, answering);
        let run =
            Run::begin(plan, given, options.limits, options.on_failure).map_err(|refusal| refused(&flow, &refusal))?;
        let models = answering.then(|| self.models.settled(request.models));
        let work = Undertaking { id, flow, begun, source: self.source.key(), origin, findings, options, models };
        let (stored, notices) = self.stored(&work, &run).await;
        Ok(self.carry_out(work, stored.ok_or(run), notices, deadline, caller).await)
    }

    /// Renders a flow without executing it: missing values are listed and left in the texts.
    ///
    /// # Errors
    /// When the flow isn't there or can't be executed, or a value does not fit.
    pub async fn rehearse(&self, request: &ExecuteRequest, caller: &Caller) -> Result<Rehearsal, Error> {
        let (plan, origin, findings) = self.ready(request, &caller.cancel).await?;
        let flow = request.flow.as_str();
        let given = Given::read(&request.variables).map_err(|refusal| refused(flow, &refusal))?;
        let missing = given.missing(&plan);
        let run = Run::rehearse(plan, given, Limits::default()).map_err(|refusal| refused(flow, &refusal))?;
        let executed = self.rehearsed(run, &request.models, &caller.cancel).await;
        let priced = priced(&self.models, &executed.run, &request.models);
        Ok(Rehearsal { flow: flow.to_owned(), executed, missing, origin, findings, priced })
    }

    /// A run with all texts filled in as far as the values go; nobody is asked anything.
    pub(super) async fn rehearsed(&self, run: Run, choice: &ModelChoice, cancel: &CancellationToken) -> Executed {
        let known = self.tools.toolbox();
        let worker = ModelWorker::rehearsing(self.models.clone(), choice.clone());
        let (workers, options) = (Workers::rehearsing(&worker, &known), Options::default());
        execute::drive((run, Carried::default()), &options, workers, &*self.clock, cancel, |_, _| {}).await
    }

    /// What models would take for a flow at most, by the ids of its steps, before it is given anything.
    pub(super) async fn prices(&self, plan: &Arc<Plan>) -> BTreeMap<String, Priced> {
        let choice = ModelChoice::default();
        if !self.models.answer_any(plan, &choice) {
            return BTreeMap::new();
        }
        let Ok(run) = Run::rehearse(plan.clone(), Given::default(), Limits::default()) else { return BTreeMap::new() };
        let run = self.rehearsed(run, &choice, &CancellationToken::new()).await.run;
        let id = |number: usize| run.plan().step(number).map(|step| step.id.clone());
        let priced = priced(&self.models, &run, &choice).into_iter();
        priced.filter_map(|(number, priced)| Some((id(number)?, priced))).collect()
    }

    /// How long an execution may take, and how much is done at once, where models answer steps or not.
    pub(super) fn timed(&self, usual: Options, answering: bool) -> Options {
        let options = if answering {
            Options { side_by_side: SIDE_BY_SIDE, deadline: Some(WITH_MODELS), ..usual }
        } else {
            usual
        };
        Options { deadline: self.settings.execution_timeout.or(options.deadline), ..options }
    }

    /// The values that a flow needs and that the request does not give.
    ///
    /// # Errors
    /// When the flow isn't there or can't be executed.
    pub async fn missing_inputs(&self, request: &ExecuteRequest) -> Result<Vec<MissingInput>, Error> {
        let (plan, ..) = self.ready(request, &CancellationToken::new()).await?;
        let given = Given::read(&request.variables).map_err(|refusal| refused(&request.flow, &refusal))?;
        let wanted = |(name, _): (String, Vec<String>)| {
            let input = plan.inputs().iter().find(|input| input.name == name);
            MissingInput {
                kind: input.and_then(|input| input.kind).unwrap_or(ValueType::String),
                description: input.and_then(|input| input.description.clone()),
                choices: input.map(|input| input.choices.clone()).unwrap_or_default(),
                name,
            }
        };
        Ok(given.missing(&plan).into_iter().map(wanted).collect())
    }

    /// The plan of the flow asked for; given up when the caller cancels.
    async fn ready(
        &self,
        request: &ExecuteRequest,
        cancel: &CancellationToken,
    ) -> Result<(Arc<Plan>, Origin, Vec<Finding>), Error> {
        if let Some((name, near)) = self.models.lack(&request.models) {
            return Err(no_such_model(name, &near, &self.models));
        }
        let read = async {
            let catalog = self.catalog(request.git_ref.as_deref(), request.refresh).await?;
            let prepared = catalog.prepare(&request.flow).await?;
            if let Some((name, near)) = self.models.names_nobody(&request.models, prepared.plan()?) {
                let meant = did_you_mean(near.first()).map(|asked| format!("{asked} ")).unwrap_or_default();
                return Err(Error::invalid(format!(
                    "`model` replaces {}, which neither the flow nor the operator names",
                    quoted(name)
                ))
                .next(format!("{meant}OLD of OLD=NEW is a name that the flow has or the operator configured")));
            }
            Ok((prepared.plan()?.clone(), catalog.origin_of(&prepared, &request.flow), prepared.findings.clone()))
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Error::cancelled()),
            read = read => read,
        }
    }

    /// A fresh id: the flow's name as ASCII, the time, and a random end.
    pub(super) fn execution_id(&self, flow: &str) -> String {
        let mut slug: String =
            flow.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).take(40).collect();
        if !slug.contains(|c: char| c.is_ascii_alphanumeric()) {
            "flow".clone_into(&mut slug);
        }
        format!("{slug}_{}_{:06x}", self.clock.now().timestamp_millis(), self.clock.fresh() & 0x00ff_ffff)
    }
}

/// What models would take for the steps of a rehearsed run at most: each is asked once, and every answer before is
/// as long as it may be.
fn priced(models: &Models, run: &Run, choice: &ModelChoice) -> BTreeMap<usize, Priced> {
    let mut all = BTreeMap::new();
    // What reading a step's output adds to what a text holds already.
    let mut adds: BTreeMap<usize, u64> = BTreeMap::new();
    for (number, step) in run.plan().steps().iter().enumerate() {
        let sum = |steps: &[usize]| {
            steps.iter().filter_map(|from| adds.get(from)).fold(0_u64, |all, n| all.saturating_add(*n))
        };
        let add = match (&step.work, run.output_of(number)) {
            (Work::Render(rendering), Some(output)) => {
                let before = sum(&run.outputs_read(number));
                match models.priced(rendering, &output.text, choice, before) {
                    Some(priced) => all.entry(number).or_insert(priced).output,
                    None => before,
                }
            }
            (Work::Gather(gather), _) if gather.results.is_empty() => sum(&[gather.last]),
            (Work::Gather(gather), _) => sum(&gather.results.iter().map(|(_, from)| *from).collect::<Vec<_>>()),
            (Work::Render(_) | Work::Call(_) | Work::Flow(_) | Work::Faulty { .. }, _) => 0,
        };
        adds.insert(number, add);
    }
    all
}

/// The step whose text is the final result, also where it is a step of a flow within; none where a flow has several
/// results.
pub(super) fn last_text(plan: &Plan) -> Option<usize> {
    let mut step = plan.last().filter(|_| plan.results().len() < 2)?;
    while let Work::Gather(gather) = &plan.step(step)?.work {
        step = gather.last;
    }
    Some(step)
}

/// A model that a caller names, and that is not there.
pub(super) fn no_such_model(name: &str, near: &[String], models: &Models) -> Error {
    let next = match near.first() {
        Some(near) => format!("did you mean {near}? there are: {}", few(models.names())),
        None if models.any() => format!("choose one of: {}", few(models.names())),
        None => format!("the operator configures models: write a section [models.{name}] into your own flowy.toml"),
    };
    let what = if models.any() { "" } else { "; none is configured" };
    Error::new(Code::ModelNotFound, format!("there is no model {}{what}", quoted(name))).next(next)
}

/// What a call of a step with this label says of itself.
pub(super) fn call_news(label: String, progress: ToolProgress) -> CallNews {
    let part = progress.total.filter(|total| *total > 0.0).map(|total| progress.progress / total);
    CallNews { label, thousandths: part.map(thousandths), message: progress.message }
}

fn thousandths(part: f64) -> u16 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 1000")]
    let thousandths = (part.clamp(0.0, 1.0) * 1000.0) as u16;
    thousandths
}

/// What is known of a missing value: `{name, type, description?, enum?}`.
fn wanted_input(input: &Input) -> Value {
    let mut wanted = Map::new();
    wanted.insert("name".to_owned(), json!(input.name));
    wanted.insert("type".to_owned(), json!(input.kind.map_or("string", ValueType::name)));
    if let Some(description) = &input.description {
        wanted.insert("description".to_owned(), json!(description));
    }
    if !input.choices.is_empty() {
        wanted.insert("enum".to_owned(), json!(input.choices));
    }
    Value::Object(wanted)
}

/// Why nothing ran, for whoever asked.
pub(super) fn refused(flow: &str, refusal: &Refusal) -> Error {
    refused_as(Some(flow), refusal, Place::Variables)
}

/// Where values are given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// In `initialVariables`.
    Variables,
    /// As arguments of a prompt, which are texts.
    Prompt,
}

impl Place {
    fn words(self) -> Word<'static> {
        match self {
            Self::Variables => Word::Either("in initialVariables", "with --var"),
            Self::Prompt => Word::Either("as arguments of the prompt", "as arguments of the prompt"),
        }
    }

    fn shown(self, sample: &Value) -> Value {
        match self {
            Self::Variables => sample.clone(),
            Self::Prompt => Value::String(text_or_json(sample).into_owned()),
        }
    }
}

/// The same where values are given in another place, or to something that is not a flow.
pub(super) fn refused_as(flow: Option<&str>, refusal: &Refusal, place: Place) -> Error {
    let mut error = told(flow, refusal, place);
    error.refusal = Some(Box::new(refusal.clone()));
    error
}

/// Where a variable set is chosen.
const SET: Word<'_> = Word::Argument("_variableSet", "--set");

fn told(flow: Option<&str>, refusal: &Refusal, place: Place) -> Error {
    let names = |names: &[String]| Value::Array(names.iter().cloned().map(Value::String).collect());
    match refusal {
        Refusal::UnknownSet { known, .. } => {
            let next = if known.is_empty() {
                "this flow has no variable sets; leave " + SET + " out"
            } else {
                format!("choose one of: {}", few(known)).into()
            };
            Error::invalid(refusal.to_string()).next(next).detail("variableSets", names(known))
        }
        Refusal::SetNotText => Error::invalid(refusal.to_string())
            .next("give " + SET + " the name of one of the flow's sets, as " + Word::Show + " lists them"),
        Refusal::GivenTwice(name) => Error::invalid(refusal.to_string())
            .next(format!("give {} once", quoted(name)))
            .detail("argument", json!(name)),
        Refusal::Misfit(unfit) => {
            let all = unfit.iter().map(|unfit| Value::String(unfit.name.clone())).collect();
            let samples: Map<String, Value> =
                unfit.iter().map(|unfit| (unfit.name.clone(), place.shown(&unfit.sample))).collect();
            let next = Word::Show
                + " lists the types and the choices; what fits looks like "
                + Value::Object(samples).to_string();
            Error::invalid(format!("values that don't fit: {refusal}")).next(next).detail("misfits", all)
        }
        Refusal::Missing { provided, required, missing, misspelt, wanted } => {
            let listed = few(missing.iter().map(|(name, steps)| {
                if steps.is_empty() { name.clone() } else { format!("{name} (needed by {})", few(steps)) }
            }));
            let (are, values) = if missing.len() == 1 { ("is", "value") } else { ("are", "values") };
            let missing_names: Vec<String> = missing.iter().map(|(name, _)| name.clone()).collect();
            let sample = |name: &String| (name.clone(), place.shown(&wanted.sample(name)));
            let example: Map<String, Value> = missing_names.iter().take(MOST_NAMED).map(sample).collect();
            let more = match missing_names.len().saturating_sub(MOST_NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let (mut before, mut behind) = (String::new(), String::new());
            if !wanted.slips.is_empty() {
                let slips = wanted.told_slips();
                before = format!("tell your user that the flow has a slip: {slips}. Its author fixes it; else ");
            }
            if !wanted.sets.is_empty() {
                behind = format!(", or choose a variable set: {}", wanted.told_sets());
            }
            let meant =
                |(given, meant): &(String, String)| format!("; you gave {}: did you mean {meant}?", quoted(given));
            behind.extend(misspelt.iter().take(MOST_NAMED).map(meant));
            let give = format!("{before}ask your user, then give {}{more} ", Value::Object(example));
            let next = NextStep::from(give) + place.words() + behind;
            let error = Error::new(
                Code::MissingVariables,
                format!("{} required {values} {are} missing: {listed}", missing.len()),
            )
            .next(next);
            let error = match flow {
                Some(flow) => error.detail("flowName", Value::String(flow.to_owned())),
                None => error,
            };
            let error = error
                .detail("provided", names(provided))
                .detail("required", names(required))
                .detail("missing", names(&missing_names))
                .detail("inputs", wanted.inputs.iter().map(wanted_input).collect());
            if wanted.sets.is_empty() {
                return error;
            }
            let sets: Vec<String> = wanted.sets.iter().map(|set| set.name.clone()).collect();
            error.detail("variableSets", names(&sets))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::StepEnd;

    #[test]
    fn progress_says_how_the_last_step_ended_and_what_was_skipped() {
        let step =
            |end, skipped| StepDone { ended: 4, steps: 4, label: "Weather".to_owned(), end, skipped, call: None };
        for (end, skipped, due) in [
            (StepEnd::Done, 0, "4 of 4 steps: Weather"),
            (StepEnd::Failed, 3, "4 of 4 steps: Weather failed (3 skipped)"),
            (StepEnd::Done, 1, "4 of 4 steps: Weather (1 skipped)"),
            (StepEnd::WentOn, 0, "4 of 4 steps: Weather failed, the flow goes on"),
            (StepEnd::LeftOut, 0, "4 of 4 steps: Weather was skipped"),
        ] {
            assert_eq!(step(end, skipped).words(80, 80), due);
        }
        let call = CallNews { label: "Ask".to_owned(), thousandths: None, message: Some("at it".to_owned()) };
        let one = StepDone { ended: 0, steps: 1, call: Some(call), ..step(StepEnd::Done, 0) };
        assert_eq!(one.words(80, 80), "0 of 1 step: Ask: at it");
    }
}
