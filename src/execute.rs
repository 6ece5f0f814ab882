//! Drives a run with workers: concurrency, deadline, cancellation.
//!
//! The run decides everything; this room only lets steps be worked on, side by side where they
//! don't wait for each other, and tells the run what became of them. Databases, rmcp and HTTP are
//! workers' business, behind [`Worker`].

#![warn(clippy::wildcard_enum_match_arm)]

mod calls;
mod keeper;
mod tools;

use std::collections::{BTreeMap, HashSet};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::code::Code;
use crate::model::Toolbox;
use crate::plan::{Call, Plan, Step, Work};
use crate::run::{Event, Given, Limits, OnFailure, Output, Refusal, Run, State, Status, StepError, Timing, Warning};

pub use calls::{NEEDS_WORD, OnCall, Wanting, call_step};
pub use keeper::{Carried, Happening, Keeper, Keeping};
pub use tools::{Calling, NoTools, OnToolProgress, ToolFailure, ToolProgress, Tools};

/// A future that a worker hands out.
pub type Working<'a> = Pin<Box<dyn Future<Output = Worked> + Send + 'a>>;

/// The work of somebody whose answers are outputs and nothing more.
#[cfg(feature = "internals")]
pub fn working<'a>(answer: impl Future<Output = Result<Output, StepError>> + Send + 'a) -> Working<'a> {
    Box::pin(async move { answer.await.into() })
}

/// A rendered step that somebody may answer.
pub struct StepTask<'r, 'a> {
    /// The run, for what later steps read of the answer.
    pub run: &'r Run,
    /// The step's number.
    pub number: usize,
    /// The step.
    pub step: &'a Step,
    /// Its rendered text.
    pub text: String,
    /// Told how the answer goes.
    pub told: Option<OnToolProgress>,
}

/// Somebody who can turn a rendered step into its output: a model.
pub trait Worker: Send + Sync {
    /// Takes a step's rendered text on, or leaves it: then the text is the output.
    fn work<'a>(&'a self, task: StepTask<'_, 'a>) -> Result<Working<'a>, String>;
}

/// Nobody: what a step renders is its output.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rendered;

impl Worker for Rendered {
    fn work<'a>(&'a self, task: StepTask<'_, 'a>) -> Result<Working<'a>, String> {
        Err(task.text)
    }
}

/// Who does the work of a run's steps.
#[derive(Clone, Copy)]
pub struct Workers<'a> {
    /// Turns a rendered text into an output.
    pub texts: &'a dyn Worker,
    /// Calls external tools; none where the run is only rehearsed, and nothing is called.
    pub tools: Option<&'a dyn Tools>,
    /// What is known of tools where nothing is called: what a call would fail for is found then.
    pub known: Option<&'a Toolbox>,
    /// The execution's id, by which files that tools give are named.
    pub execution: &'a str,
    /// Told how calls go.
    pub told: Option<&'a OnCall>,
    /// Keeps what happens, where the run is to outlive this process.
    pub keeper: Option<&'a dyn Keeper>,
}

impl<'a> Workers<'a> {
    /// Steps are rendered, and no tool is called.
    pub fn of_texts(texts: &'a dyn Worker) -> Self {
        Self { texts, tools: None, known: None, execution: "", told: None, keeper: None }
    }

    /// The same, where it is known what would be called.
    pub fn rehearsing(texts: &'a dyn Worker, known: &'a Toolbox) -> Self {
        Self { known: Some(known), ..Self::of_texts(texts) }
    }
}

/// How to execute.
#[derive(Debug, Clone)]
pub struct Options {
    /// How much may be written.
    pub limits: Limits,
    /// What a failure does to the rest.
    pub on_failure: OnFailure,
    /// The most steps that are worked on at once; at least one.
    pub side_by_side: usize,
    /// The longest that the whole may take; none for no end.
    pub deadline: Option<Duration>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            on_failure: OnFailure::Continue,
            side_by_side: 8,
            deadline: Some(Duration::from_mins(10)),
        }
    }
}

/// Where an execution stands, told after every step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The step that ended last.
    pub step: usize,
    /// Steps that have ended.
    pub ended: usize,
    /// All steps.
    pub steps: usize,
    /// The label of the step that ended last.
    pub label: &'a str,
    /// How that step ended.
    pub end: StepEnd,
    /// How many of the ended steps were skipped, because a step failed.
    pub skipped: usize,
}

/// How a step ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StepEnd {
    /// It gave its output.
    #[default]
    Done,
    /// It failed.
    Failed,
    /// It failed, and the flow goes on, as the node says.
    WentOn,
    /// It was left out.
    LeftOut,
}

/// What an execution left behind.
#[derive(Debug, Clone)]
pub struct Executed {
    /// The run, ended.
    pub run: Run,
    /// What was noticed on the way.
    pub warnings: Vec<Warning>,
    /// How long it took.
    pub took: Duration,
    /// How many calls of external tools were made, new tries included.
    pub calls: u32,
    /// How many of them were new tries.
    pub retries: u32,
}

impl Executed {
    /// The placeholders of outputs' fields that stayed as they are, each once: the step, and how it is written.
    pub fn unfilled(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut seen = HashSet::new();
        let all =
            self.warnings.iter().filter_map(|warning| Some((warning.node.as_deref()?, warning.unfilled.as_deref()?)));
        all.filter(move |one| seen.insert(*one))
    }

    /// Whether no step failed, and every placeholder of an output's field was filled.
    pub fn succeeded(&self) -> bool {
        self.run.status() == Status::Success && self.unfilled().next().is_none()
    }

    /// How it ended, in a word: `partial` also where a field of an output was asked for that is not there.
    pub fn word(&self) -> &'static str {
        let status = self.run.status();
        if status == Status::Success && !self.succeeded() { Status::Partial.word() } else { status.word() }
    }
}

/// What became of one step's work.
#[derive(Debug)]
pub struct Worked {
    /// The step's output, or why it failed.
    pub result: Result<Output, StepError>,
    /// What was noticed on the way.
    pub warnings: Vec<Warning>,
    /// How many calls of external tools it took, new tries included.
    pub calls: u32,
    /// How many of them were new tries.
    pub retries: u32,
    /// Whether its server could not be reached, so that nothing was sent: it may answer later.
    pub unreached: bool,
    /// Whether a call was not made because it needs a person's word.
    pub needs_word: bool,
    /// Whether a call that changes things was sent, and nobody knows what became of it.
    pub in_doubt: bool,
    /// When the step can be done, where it failed because a model's limit lasts longer than the run may.
    pub put_off: Option<DateTime<Utc>>,
}

impl From<Result<Output, StepError>> for Worked {
    fn from(result: Result<Output, StepError>) -> Self {
        Self { result, ..Self::default() }
    }
}

impl Default for Worked {
    fn default() -> Self {
        Self {
            result: Ok(Output::text("")),
            warnings: Vec::new(),
            calls: 0,
            retries: 0,
            unreached: false,
            needs_word: false,
            in_doubt: false,
            put_off: None,
        }
    }
}

/// A step that is being worked on: its number, when it began, and what becomes of it, or why the run
/// must not go on.
type StepsUnderWay<'a> = Pin<Box<dyn Future<Output = (usize, Duration, Result<Worked, StepError>)> + Send + 'a>>;

/// How many rendered steps go by before other work gets a turn and a cancellation is looked for.
const STEPS_A_TURN: usize = 64;

/// Executes a plan.
///
/// Cancelling `cancel` ends it with `CANCELLED`, the deadline with `TIMEOUT`; what had finished is
/// in the run either way.
///
/// # Errors
/// A [`Refusal`] before anything runs.
#[cfg(feature = "internals")]
pub async fn execute<P>(
    plan: Arc<Plan>,
    given: Given,
    options: &Options,
    workers: Workers<'_>,
    clock: &dyn Clock,
    cancel: &CancellationToken,
    progress: P,
) -> Result<Executed, Refusal>
where
    P: FnMut(&Run, Progress<'_>) + Send,
{
    let run = Run::begin(plan, given, options.limits, options.on_failure)?;
    Ok(drive((run, Carried::default()), options, workers, clock, cancel, progress).await)
}

/// Drives a run that has begun to its end, as [`execute`] does. Where there is a keeper, what a step gave
/// is kept before a step that waits for it begins, unless both are done over without a trace.
pub async fn drive<P>(
    (mut run, carried): (Run, Carried),
    options: &Options,
    workers: Workers<'_>,
    clock: &dyn Clock,
    cancel: &CancellationToken,
    mut progress: P,
) -> Executed
where
    P: FnMut(&Run, Progress<'_>) + Send,
{
    let begun = clock.reading();
    let plan = run.plan().clone();
    let mut warnings = run.warnings_about_given();
    // Told in the order of the steps, whichever ended first: two executions must agree.
    let mut noticed = carried.noticed;
    let ends = options.deadline.map(|deadline| begun.saturating_add(deadline));
    let mut under_way: FuturesUnordered<StepsUnderWay<'_>> = FuturesUnordered::new();
    let (mut in_turn, mut calls, mut retries) = (0, carried.calls, carried.retries);
    let note = |happening: Happening<'_>| workers.keeper.inspect(|keeper| keeper.note(happening));
    // Steps that fail for now: whoever goes on with the run does them later.
    let mut put_off: BTreeMap<usize, StepError> = BTreeMap::new();
    let stopped = loop {
        if run.ended() {
            break None;
        }
        let room = under_way.len() < options.side_by_side.max(1);
        // A step that is put off has failed for now: what is under way comes to its end, and nothing begins.
        let room = room && (put_off.is_empty() || options.on_failure == OnFailure::Continue);
        let next = run.ready().find(|step| !put_off.contains_key(step)).filter(|_| room);
        let rest = next.is_some() || !under_way.is_empty();
        if let Some(error) = put_off.values().next().filter(|_| !rest) {
            break Some(error.clone());
        }
        let (step, started, worked) = match next {
            Some(number) => {
                if let Some(error) = over(clock, ends, cancel) {
                    break Some(error);
                }
                let started = clock.reading();
                run.apply(Event::Started { step: number });
                match begin(&run, &plan, number, workers, &mut noticed) {
                    StepStart::Ended(result) => (number, started, Worked { result, ..Worked::default() }),
                    StepStart::LeftOut(why) => {
                        note(Happening::LeftOut { step: number, why: &why });
                        run.apply(Event::Omitted { step: number, why });
                        tell(&run, &plan, number, &mut progress);
                        continue;
                    }
                    StepStart::Working(future) => {
                        note(Happening::Started { step: number });
                        under_way.push(Box::pin(async move { (number, started, kept(workers.keeper, future).await) }));
                        continue;
                    }
                }
            }
            // Before anything is waited for, and with what has just begun: one write for both.
            None => match kept(workers.keeper, next_ended(&mut under_way, clock, ends, cancel)).await.and_then(|it| it)
            {
                Ok(ended) => ended,
                Err(error) => break Some(error),
            },
        };
        let timing = Timing { at: clock.now(), took: clock.reading().saturating_sub(started) };
        if let (Some(until), Err(error), Some(_)) = (worked.put_off, &worked.result, workers.keeper) {
            note(Happening::PutOff { step, until, error });
            run.apply(Event::LaidDown { step });
            put_off.insert(step, error.clone());
            continue;
        }
        calls += worked.calls;
        retries += worked.retries;
        if !worked.warnings.is_empty() {
            noticed.entry(step).or_default().extend(worked.warnings);
        }
        let mut result = worked.result;
        if let Some(keeper) = workers.keeper {
            let refused = |output: &Output| run.unkeepable(step, output).or_else(|| keeper.unkeepable(output));
            if let Some(error) = result.as_ref().ok().and_then(refused) {
                result = Err(error);
            }
            let (took, calls, retries) = (timing.took, worked.calls, worked.retries);
            let warnings = noticed.get(&step).map(Vec::as_slice).unwrap_or_default();
            keeper.note(Happening::Ended { step, result: &result, warnings, took, calls, retries });
        }
        run.apply(match result {
            Ok(output) => Event::Done { step, output, timing },
            Err(error) => Event::Failed { step, error, timing },
        });
        tell(&run, &plan, step, &mut progress);
        in_turn += 1;
        if in_turn % STEPS_A_TURN == 0 {
            tokio::task::yield_now().await;
        }
    };
    drop(under_way);
    if let Some(error) = stopped {
        stop(&mut run, (error, &put_off), workers, clock);
    }
    warnings.extend(noticed.into_values().flatten());
    let took = carried.took.saturating_add(clock.reading().saturating_sub(begun));
    Executed { run, warnings, took, calls, retries }
}

/// The next step whose work has come to its end, or why the run must not go on.
async fn next_ended(
    under_way: &mut FuturesUnordered<StepsUnderWay<'_>>,
    clock: &dyn Clock,
    ends: Option<Duration>,
    cancel: &CancellationToken,
) -> Result<(usize, Duration, Worked), StepError> {
    let left = ends.map(|ends| ends.saturating_sub(clock.reading()));
    let ended = tokio::select! {
        biased;
        () = cancel.cancelled() => None,
        () = until(left) => None,
        ended = under_way.next() => ended,
    };
    match ended {
        Some((step, started, worked)) => Ok((step, started, worked?)),
        None => Err(over(clock, ends, cancel).unwrap_or_else(|| StepError::new(Code::Timeout, "the time is up"))),
    }
}

/// What a future gives, once everything that was noted is kept.
async fn kept<T>(keeper: Option<&dyn Keeper>, future: impl Future<Output = T>) -> Result<T, StepError> {
    if let Some(keeper) = keeper {
        keeper.kept().await?;
    }
    Ok(future.await)
}

/// Stops a run before its end. Steps that were put off are told with their own reasons.
fn stop(
    run: &mut Run,
    (error, put_off): (StepError, &BTreeMap<usize, StepError>),
    workers: Workers<'_>,
    clock: &dyn Clock,
) {
    if let Some(keeper) = workers.keeper {
        keeper.note(Happening::Stopped { error: &error });
    }
    let timing = Timing { at: clock.now(), took: Duration::ZERO };
    for (step, error) in put_off {
        run.apply(Event::Failed { step: *step, error: error.clone(), timing });
    }
    run.apply(Event::Stopped { error, at: clock.now() });
}

fn tell<P>(run: &Run, plan: &Plan, step: usize, progress: &mut P)
where
    P: FnMut(&Run, Progress<'_>) + Send,
{
    let counts = run.counts();
    let label = plan.step(step).map_or("", |step| step.label.as_str());
    let end = match run.state(step) {
        Some(State::Failed { .. } | State::Skipped { .. }) => StepEnd::Failed,
        Some(State::Omitted { .. }) => StepEnd::LeftOut,
        Some(State::Done { output, .. }) if output.failure().is_some() => StepEnd::WentOn,
        Some(State::Done { .. } | State::Waiting | State::Ready | State::Running) | None => StepEnd::Done,
    };
    progress(run, Progress { step, ended: counts.ended, steps: counts.steps, label, end, skipped: counts.skipped });
}

enum StepStart<'a> {
    Ended(Result<Output, StepError>),
    LeftOut(String),
    Working(Pin<Box<dyn Future<Output = Worked> + Send + 'a>>),
}

fn begin<'a>(
    run: &Run,
    plan: &'a Plan,
    number: usize,
    workers: Workers<'a>,
    noticed: &mut BTreeMap<usize, Vec<Warning>>,
) -> StepStart<'a> {
    let Some(step) = plan.step(number) else {
        return StepStart::Ended(Err(StepError::new(Code::InternalError, "the step is not part of the plan")));
    };
    match &step.work {
        Work::Faulty { code, message, .. } => StepStart::Ended(Err(StepError::new(*code, message.clone()))),
        // A run is over an unfolded plan, and gathers by itself.
        Work::Flow(_) | Work::Gather(_) => {
            StepStart::Ended(Err(StepError::new(Code::InternalError, "a flow within the flow is not unfolded")))
        }
        Work::Call(call) => begin_call(run, (number, step), call, workers, noticed),
        Work::Render(rendering) => match run.bind(number, rendering) {
            Err(error) => StepStart::Ended(Err(error)),
            Ok(bound) => {
                if !bound.warnings.is_empty() {
                    noticed.insert(number, bound.warnings);
                }
                let told = workers
                    .told
                    .cloned()
                    .map(|told| -> OnToolProgress { Arc::new(move |progress| told(number, progress)) });
                match workers.texts.work(StepTask { run, number, step, text: bound.text, told }) {
                    Ok(future) => StepStart::Working(future),
                    Err(text) => StepStart::Ended(Ok(Output::text(text))),
                }
            }
        },
    }
}

fn begin_call<'a>(
    run: &Run,
    (number, step): (usize, &'a Step),
    call: &'a Call,
    workers: Workers<'a>,
    noticed: &mut BTreeMap<usize, Vec<Warning>>,
) -> StepStart<'a> {
    if let Some(why) = run.left_out(number, call) {
        return StepStart::LeftOut(why);
    }
    let arguments = match run.arguments(number, call) {
        Ok(arguments) => arguments,
        Err(error) => return StepStart::Ended(Err(error)),
    };
    let Some(tools) = workers.tools else {
        let worked = calls::rehearse(run, (number, step, call), &arguments, workers.known);
        if !worked.warnings.is_empty() {
            noticed.insert(number, worked.warnings);
        }
        return StepStart::Ended(worked.result);
    };
    let told = (workers.execution, workers.told.cloned(), Wanting::default());
    StepStart::Working(Box::pin(calls::make(run, (number, step, call), arguments, tools, told)))
}

/// Why nothing more may begin, if so.
fn over(clock: &dyn Clock, ends: Option<Duration>, cancel: &CancellationToken) -> Option<StepError> {
    if cancel.is_cancelled() {
        Some(StepError::new(Code::Cancelled, "the execution was cancelled"))
    } else if ends.is_some_and(|ends| clock.reading() >= ends) {
        Some(StepError::new(Code::Timeout, "the execution took longer than it may"))
    } else {
        None
    }
}

async fn until(left: Option<Duration>) {
    match left {
        Some(left) => tokio::time::sleep(left).await,
        None => std::future::pending().await,
    }
}
