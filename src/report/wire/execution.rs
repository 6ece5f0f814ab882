//! Executions: what ran, what failed, what would run.

mod advice;
mod rehearsal;
mod status;
mod steps;

use schemars::JsonSchema;
use serde::Serialize;

use super::common::{FailedStep, ReadAt, Results, SkippedStep, StepDetails, UsageAnswer, WarningAnswer, error_code};
use super::error::{ErrorAnswer, ErrorDetails};
use super::limit::{FAILURE_CHARACTERS, Limit, MAX_TOKENS};
use super::size::{Cut, CutParts, Cuttable, fit, rest_of_execution, shorten};
use super::warning::of_execution;
use crate::app::{Detail, Error, Finished, Outcome, Recorded};
use crate::code::Code;
use crate::discover::millis;
use crate::execute::Executed;
use crate::model::{Cost, Generated, TokenUsage};
use crate::run::{Run, Status, StepError};
use steps::{DoneStep, MappedVariable, OmittedStep};

pub use rehearsal::{RehearsedAnswer, rehearsal, unfilled};
pub use status::{DirectAnswer, RunningAnswer};
pub(super) use steps::{failures, skipped};

/// The name errors of executions carry.
const SOURCE: &str = "flows/execute";

/// Every status word, who gives it, and what it means.
#[cfg(feature = "internals")]
pub const STATUSES: [(&str, &str, &str); 7] = [
    ("success", "flows_execute, flows_status", "Every step gave its output."),
    (
        "partial",
        "flows_execute, flows_status",
        "A step failed, and others gave their output: a failure for the caller. Or no step failed, and placeholders of \
         outputs' fields stayed as they are; `unfilled` lists them, and the caller is not told a failure.",
    ),
    ("failed", "flows_execute, flows_status", "Nothing ran, or no step gave an output."),
    ("running", "flows_execute, flows_status", "It goes on; flows_status says how far it is."),
    ("ready", "flows_execute with dryRun", "Every required value is given, and no step is known to fail."),
    (
        "would_fail",
        "flows_execute with dryRun",
        "Every required value is given, and steps would fail; `failures` lists them.",
    ),
    ("missing_variables", "flows_execute with dryRun", "Required values are missing; `missing` lists them."),
];

/// What `flows_execute` answers when nothing failed: the finished execution, one that still goes on, or, with dryRun,
/// what would happen.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "flows_execute reply")]
pub enum ExecuteAnswer {
    /// It has ended, and no step failed.
    Succeeded(Box<SucceededAnswer>),
    /// It goes on.
    Running(Box<RunningAnswer>),
    /// It was only rehearsed.
    #[cfg_attr(not(feature = "internals"), expect(dead_code, reason = "the schema of the reply is made of it"))]
    Rehearsed(Box<RehearsedAnswer>),
}

/// How an execution ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum EndedAnswer {
    /// No step failed.
    Succeeded(Box<SucceededAnswer>),
    /// A step failed, or nothing ran.
    Failed(Box<FailedAnswer>),
}

/// An execution that has ended, and in which no step failed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SucceededAnswer {
    /// Name of the flow.
    flow_name: String,
    /// Id of the execution: a short form of the flow's name, the start in epoch milliseconds and a random end.
    #[schemars(extend("pattern" = "^.{1,40}_[0-9]+_[A-Za-z0-9]+$"))]
    execution_id: String,
    /// Where the execution stands; with `dryRun`, whether it could begin.
    #[schemars(extend("enum" = ["success", "partial"]))]
    status: &'static str,
    /// What `finalResult` is, and the call that helps further.
    #[schemars(required)]
    next_step: Option<String>,
    /// With status partial: placeholders that ask for fields of outputs and stayed as they are. The flow is made for
    /// guided execution.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unfilled: Vec<UnfilledPlaceholder>,
    /// How much of the steps the reply shows; absent means full.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["outputs", "final"]))]
    detail: Option<&'static str>,
    #[serde(flatten)]
    results: Results,
    /// The steps that ran, in order; without detail final.
    #[serde(skip_serializing_if = "Option::is_none")]
    intermediate_results: Option<Vec<DoneStep>>,
    #[serde(flatten)]
    tail: Tail,
    #[serde(flatten)]
    cut: Cut,
}

/// What `flows_execute` answers when it fails. In MCP it is a tool result with isError; in the JSON-RPC method
/// flows/execute it is the error's data.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "flows_execute failure")]
pub struct FailedAnswer {
    /// Kind of failure; stable, made for programs.
    #[schemars(schema_with = "error_code")]
    pub(in crate::report) code: String,
    /// What happened.
    pub(in crate::report) message: String,
    /// Which operation failed, in the names of the published contract.
    source: String,
    /// partial: something failed and something is there; failed: nothing is there.
    #[schemars(extend("enum" = ["partial", "failed"]))]
    status: &'static str,
    /// The call or change that helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::report) next_step: Option<String>,
    /// The first step that failed, in order; null when nothing ran.
    failed_at: Option<FailedStep>,
    /// Every step that failed, in order.
    failures: Vec<FailedStep>,
    /// Steps that did not run because one before them failed.
    skipped: Vec<SkippedStep>,
    /// Name of the flow; null when the request named none.
    flow_name: Option<String>,
    /// Id of the execution; absent when nothing ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    execution_id: Option<String>,
    #[serde(flatten)]
    results: Results,
    /// Facts about the failure; which ones depends on the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<FailureDetails>,
    /// The steps that ran, in order. What finished is never lost.
    partial_results: Vec<DoneStep>,
    #[serde(flatten)]
    tail: Option<Tail>,
    #[serde(flatten)]
    cut: Cut,
}

/// Facts about a failure.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
enum FailureDetails {
    Error(Box<ErrorDetails>),
    Step(StepDetails),
}

/// What is told of every execution that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Tail {
    /// How long the execution took, in milliseconds.
    total_execution_time_ms: f64,
    /// How much was done.
    counts: CountsAnswer,
    /// What the models that answered steps took together.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageAnswer>,
    #[serde(flatten)]
    read_at: ReadAt,
    /// Variables that took a step's output by an edge or by auto-mapping.
    mappings: Vec<MappedVariable>,
    /// Steps that were left out on purpose.
    omitted: Vec<OmittedStep>,
    /// What the caller should know.
    warnings: Vec<WarningAnswer>,
}

/// A placeholder that stayed as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UnfilledPlaceholder {
    /// Id of the node whose text has it.
    node_id: String,
    /// As it is written, without braces.
    placeholder: String,
}

impl UnfilledPlaceholder {
    fn all(executed: &Executed) -> Vec<Self> {
        let unfilled = executed.unfilled();
        unfilled.map(|(node, spelt)| Self { node_id: node.to_owned(), placeholder: spelt.to_owned() }).collect()
    }
}

/// How much was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CountsAnswer {
    /// Steps that ran.
    steps: usize,
    /// Calls of external tools.
    tool_calls: u32,
    /// Repeated tries.
    retries: u32,
}

impl Tail {
    fn of(recorded: &Recorded) -> Self {
        let executed = &recorded.executed;
        Self {
            total_execution_time_ms: millis(executed.took),
            counts: CountsAnswer {
                steps: executed.run.counts().done,
                tool_calls: executed.calls,
                retries: executed.retries,
            },
            usage: spent(&executed.run),
            read_at: (&recorded.origin).into(),
            mappings: MappedVariable::all(&executed.run),
            omitted: OmittedStep::all(&executed.run),
            warnings: of_execution(&executed.warnings, &recorded.findings, &recorded.origin),
        }
    }
}

/// What the models that answered a run's steps took together; none where no model was asked.
pub(super) fn spent(run: &Run) -> Option<UsageAnswer> {
    let answers = run.generated();
    let usage = answers.iter().map(|(_, one)| one.usage).fold(TokenUsage::default(), TokenUsage::and);
    (!answers.is_empty()).then(|| UsageAnswer::of(usage, cost_of(&answers).as_ref()))
}

/// What these answers cost together.
pub(in crate::report) fn cost_of(answers: &[(usize, &Generated)]) -> Option<Cost> {
    let mut costs = answers.iter().filter_map(|(_, one)| one.cost.as_ref());
    let first = costs.next()?.clone();
    Some(costs.fold(first, |sum, cost| Cost { millionths: sum.millionths.saturating_add(cost.millionths), ..sum }))
}

/// How an execution stands, and whether that is a failure for whoever asked.
#[derive(Debug, Clone, PartialEq)]
pub enum OutcomeAnswer {
    /// It goes on, or no step failed.
    Fine(ExecuteAnswer),
    /// A step failed, or nothing ran.
    Failed(Box<FailedAnswer>),
}

/// How an execution stands.
///
/// The reply is cut to `max_tokens` (20,000; failures to 10,000 characters) unless that is said.
pub fn outcome(outcome: &Outcome, detail: Detail, max_tokens: Option<usize>) -> OutcomeAnswer {
    let (id, flow, recorded) = match outcome {
        Outcome::Running(pending) => return OutcomeAnswer::Fine(ExecuteAnswer::Running(Box::new(pending.into()))),
        Outcome::Finished { flow, finished: Finished::Broke(error), .. } => {
            return OutcomeAnswer::Failed(Box::new(refusal(error, Some(flow), SOURCE)));
        }
        Outcome::Finished { id, flow, finished: Finished::Ran(recorded), .. } => (id, flow, recorded),
    };
    let limit = max_tokens.map(Limit::tokens);
    match execution(id, flow, recorded, detail) {
        EndedAnswer::Succeeded(whole) => {
            let limit = limit.unwrap_or(Limit::tokens(MAX_TOKENS));
            let cut = fit(*whole, &limit, &rest_of_execution(id));
            OutcomeAnswer::Fine(ExecuteAnswer::Succeeded(Box::new(cut)))
        }
        EndedAnswer::Failed(whole) => {
            let limit = limit.unwrap_or(Limit::characters(FAILURE_CHARACTERS));
            OutcomeAnswer::Failed(Box::new(fit(*whole, &limit, &rest_of_execution(id))))
        }
    }
}

/// An execution that ended, whole.
pub fn execution(id: &str, flow: &str, recorded: &Recorded, detail: Detail) -> EndedAnswer {
    if recorded.executed.run.status() == Status::Success {
        EndedAnswer::Succeeded(Box::new(success(id, flow, recorded, detail)))
    } else {
        EndedAnswer::Failed(Box::new(failure(id, flow, recorded, detail)))
    }
}

fn success(id: &str, flow: &str, recorded: &Recorded, detail: Detail) -> SucceededAnswer {
    let run = &recorded.executed.run;
    SucceededAnswer {
        flow_name: flow.to_owned(),
        execution_id: id.to_owned(),
        status: recorded.executed.word(),
        next_step: Some(advice::after_end(id, flow, recorded).for_tools().to_owned()),
        unfilled: UnfilledPlaceholder::all(&recorded.executed),
        detail: (detail != Detail::Full).then(|| detail.word()),
        results: Results::of(run),
        intermediate_results: (detail != Detail::Final).then(|| DoneStep::all(run, detail)),
        tail: Tail::of(recorded),
        cut: Cut::default(),
    }
}

/// Why an execution did not succeed, in short.
pub(in crate::report) fn failure_of(id: &str, flow: &str, recorded: &Recorded) -> Option<Error> {
    let run = &recorded.executed.run;
    let failures: Vec<(usize, &StepError)> = run.failures().collect();
    let told = || Error::new(code_of(failures.first().copied()), advice::message(run, &failures));
    (run.status() != Status::Success).then(|| told().next(advice::after_end(id, flow, recorded)))
}

fn code_of(first: Option<(usize, &StepError)>) -> Code {
    first.map_or(Code::ExecutionError, |(_, error)| error.code)
}

fn failure(id: &str, flow: &str, recorded: &Recorded, detail: Detail) -> FailedAnswer {
    let run = &recorded.executed.run;
    let failures: Vec<(usize, &StepError)> = run.failures().collect();
    let first = failures.first().copied();
    let cause = first.map(|(step, error)| (run.cause_of(step), error));
    FailedAnswer {
        code: code_of(first).word().to_owned(),
        message: advice::message(run, &failures),
        source: SOURCE.to_owned(),
        status: run.status().word(),
        next_step: Some(advice::after_end(id, flow, recorded).for_tools().to_owned()),
        failed_at: first.map(|(step, error)| steps::failed(run, step, error)),
        failures: steps::failures(run),
        skipped: skipped(run),
        flow_name: Some(flow.to_owned()),
        execution_id: Some(id.to_owned()),
        results: Results::of(run),
        details: cause.and_then(|(step, _)| steps::details_of(run, step)).map(FailureDetails::Step),
        // What finished is never lost, however little was asked for.
        partial_results: DoneStep::all(run, detail),
        tail: Some(Tail::of(recorded)),
        cut: Cut::default(),
    }
}

/// Nothing ran: the failure shape with nothing in it.
pub fn refusal(error: &Error, flow: Option<&str>, source: &str) -> FailedAnswer {
    let ErrorAnswer { code, message, source, next_step, details } = ErrorAnswer::of(error, source);
    FailedAnswer {
        code,
        message,
        source,
        status: Status::Failed.word(),
        next_step,
        flow_name: flow.map(str::to_owned),
        details: details.map(|details| FailureDetails::Error(Box::new(details))),
        ..FailedAnswer::default()
    }
}

impl Cuttable for SucceededAnswer {
    fn parts(&mut self) -> CutParts<'_> {
        CutParts {
            cut: &mut self.cut,
            next_step: &mut self.next_step,
            steps: self.intermediate_results.iter_mut().flatten().map(DoneStep::pieces).collect(),
            messages: self.tail.warnings.iter_mut().map(|warning| &mut warning.message).collect(),
            finals: self.results.words(),
        }
    }

    fn shorten_lists(&mut self, limit: &Limit) -> bool {
        shorten(self, "intermediateResults", |answer| answer.intermediate_results.as_mut(), limit)
            || shorten(self, "mappings", |answer| Some(&mut answer.tail.mappings), limit)
            || shorten(self, "unfilled", |answer| Some(&mut answer.unfilled), limit)
            || shorten(self, "warnings", |answer| Some(&mut answer.tail.warnings), limit)
    }
}

impl Cuttable for FailedAnswer {
    fn parts(&mut self) -> CutParts<'_> {
        let failed = self.failed_at.iter_mut().chain(&mut self.failures).map(|failed| &mut failed.error.fault.message);
        let warnings = self.tail.iter_mut().flat_map(|tail| &mut tail.warnings).map(|warning| &mut warning.message);
        CutParts {
            cut: &mut self.cut,
            next_step: &mut self.next_step,
            steps: self.partial_results.iter_mut().map(DoneStep::pieces).collect(),
            messages: std::iter::once(&mut self.message).chain(failed).chain(warnings).collect(),
            finals: self.results.words(),
        }
    }

    fn shorten_lists(&mut self, limit: &Limit) -> bool {
        shorten(self, "partialResults", |answer| Some(&mut answer.partial_results), limit)
            || shorten(self, "skipped", |answer| Some(&mut answer.skipped), limit)
            || shorten(self, "mappings", |answer| Some(&mut answer.tail.as_mut()?.mappings), limit)
            || shorten(self, "warnings", |answer| Some(&mut answer.tail.as_mut()?.warnings), limit)
            || shorten(self, "failures", |answer| Some(&mut answer.failures), limit)
    }
}
