//! Where a direct execution stands, in the words that direct and guided ones share.

use schemars::JsonSchema;
use serde::Serialize;

use super::steps::{DoneStep, failures, skipped};
use super::{SOURCE, advice};
use crate::app::{Detail, Finished, Outcome, Pending, Recorded, Section, state_of};
use crate::discover::millis;
use crate::report::wire::common::{FailedStep, Results, SkippedStep, Stamp, guided_state};
use crate::report::wire::error::ErrorAnswer;
use crate::report::wire::limit::{Limit, MAX_TOKENS};
use crate::report::wire::size::{Cut, CutParts, Cuttable, fit, rest_of_execution, shorten};
use crate::run::{State, Status};

/// An execution that goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunningAnswer {
    /// Name of the flow.
    flow_name: String,
    /// Id of the execution.
    execution_id: String,
    /// Where the execution stands: it goes on.
    #[schemars(extend("const" = "running"))]
    status: &'static str,
    /// The same in the words of `flows_status`; waiting: all of it waits for a model's limit.
    #[schemars(extend("enum" = ["running", "waiting"]))]
    state: &'static str,
    /// When the limit is over that it waits for (ISO 8601, UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    resumes_at: Option<Stamp>,
    /// When the execution began (ISO 8601, UTC).
    started_at: Stamp,
    /// How much is done, in per cent with the sign.
    progress: String,
    /// Steps that have ended.
    steps_done: usize,
    /// All steps.
    steps_total: usize,
    /// Until when the execution can be asked for, ISO 8601.
    kept_until: Stamp,
    /// The call that comes next.
    next_step: String,
}

impl From<&Pending> for RunningAnswer {
    fn from(pending: &Pending) -> Self {
        let ended = pending.progress.as_ref().map_or(0, |progress| progress.ended);
        Self {
            flow_name: pending.flow.clone(),
            execution_id: pending.id.clone(),
            status: Status::Running.word(),
            state: pending.state(),
            resumes_at: pending.resumes_at.map(Stamp::millis),
            started_at: Stamp::millis(pending.begun),
            progress: percent(ended, pending.steps),
            steps_done: ended,
            steps_total: pending.steps,
            kept_until: Stamp::seconds(pending.kept_until),
            next_step: match pending.resumes_at {
                None => {
                    format!("call flows_status with executionId {}: it gives finalResult when all is done", pending.id)
                }
                Some(_) => format!(
                    "the server waits for a model's limit and goes on by itself at resumesAt; call flows_status with \
                     executionId {} then",
                    pending.id
                ),
            },
        }
    }
}

/// How much of the work is done; nothing is done of an execution whose steps are not known yet.
fn percent(done: usize, steps: usize) -> String {
    format!("{}%", done.saturating_mul(100).checked_div(steps).unwrap_or(0))
}

/// An execution that the server did, and that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DirectStatus {
    /// Id of the execution.
    execution_id: String,
    /// Name of the flow.
    flow_name: String,
    /// When the execution began (ISO 8601, UTC).
    started_at: Stamp,
    /// Where it stands.
    #[schemars(schema_with = "guided_state")]
    state: &'static str,
    /// Why nothing ran; instead of the counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorAnswer>,
    #[serde(flatten)]
    ran: Option<RanStatus>,
    /// The call that helps further.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<String>,
    #[serde(flatten)]
    cut: Cut,
}

/// How far an execution came.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RanStatus {
    /// How it ended.
    #[schemars(extend("enum" = ["success", "partial", "failed"]))]
    status: &'static str,
    /// How much is done, in per cent with the sign.
    progress: String,
    /// Steps that gave an output.
    steps_done: usize,
    /// All steps.
    steps_total: usize,
    /// Ids of the steps that gave an output.
    completed_steps: Vec<String>,
    /// Steps that failed; absent after a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    failures: Option<Vec<FailedStep>>,
    /// Steps that did not run because one before them failed; absent after a success.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<Vec<SkippedStep>>,
    #[serde(flatten)]
    results: Results,
    #[serde(flatten)]
    whole: Option<WholeStatus>,
}

/// What `include: ["steps"]` adds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WholeStatus {
    /// Every step that gave an output; with include steps.
    steps: Vec<DoneStep>,
    /// How long the execution took, in milliseconds; with include steps.
    total_execution_time_ms: f64,
}

impl RanStatus {
    fn of(recorded: &Recorded, include: &[Section]) -> Self {
        let run = &recorded.executed.run;
        let counts = run.counts();
        let done = |step: &usize| matches!(run.state(*step), Some(State::Done { .. }));
        let completed = (0..run.plan().steps().len()).filter(done);
        let failed = run.status() != Status::Success;
        let whole = include.contains(&Section::Steps).then(|| WholeStatus {
            steps: DoneStep::all(run, Detail::Full),
            total_execution_time_ms: millis(recorded.executed.took),
        });
        Self {
            status: recorded.executed.word(),
            progress: percent(counts.done, counts.steps),
            steps_done: counts.done,
            steps_total: counts.steps,
            completed_steps: completed.filter_map(|step| Some(run.plan().step(step)?.id.clone())).collect(),
            failures: failed.then(|| failures(run)),
            skipped: failed.then(|| skipped(run)),
            results: Results::of(run),
            whole,
        }
    }
}

/// How a direct execution stands.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum DirectAnswer {
    /// It goes on.
    Running(Box<RunningAnswer>),
    /// It has ended.
    Ended(Box<DirectStatus>),
}

impl DirectAnswer {
    pub(in crate::report::wire) fn of(outcome: &Outcome, include: &[Section]) -> Self {
        let (id, flow, begun, finished) = match outcome {
            Outcome::Running(pending) => return Self::Running(Box::new(pending.into())),
            Outcome::Finished { id, flow, begun, finished } => (id, flow, begun, finished),
        };
        let (error, ran) = match finished {
            Finished::Broke(error) => (Some(ErrorAnswer::of(error, SOURCE)), None),
            Finished::Ran(recorded) => (None, Some(RanStatus::of(recorded, include))),
        };
        let status = DirectStatus {
            execution_id: id.clone(),
            flow_name: flow.clone(),
            started_at: Stamp::millis(*begun),
            state: state_of(outcome),
            error,
            ran,
            next_step: match finished {
                Finished::Ran(recorded) => Some(advice::after_end(id, flow, recorded).for_tools().to_owned()),
                Finished::Broke(_) => None,
            },
            cut: Cut::default(),
        };
        Self::Ended(Box::new(fit(status, &Limit::tokens(MAX_TOKENS), &rest_of_execution(id))))
    }
}

impl Cuttable for DirectStatus {
    fn parts(&mut self) -> CutParts<'_> {
        let (cut, next_step) = (&mut self.cut, &mut self.next_step);
        let (mut steps, mut messages, mut finals) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(RanStatus { whole, failures, results, .. }) = &mut self.ran {
            steps.extend(whole.iter_mut().flat_map(|whole| &mut whole.steps).map(DoneStep::pieces));
            messages.extend(failures.iter_mut().flatten().map(|failed| &mut failed.error.fault.message));
            finals = results.words();
        }
        CutParts { cut, next_step, steps, messages, finals }
    }

    fn shorten_lists(&mut self, limit: &Limit) -> bool {
        shorten(self, "steps", |status| Some(&mut status.ran.as_mut()?.whole.as_mut()?.steps), limit)
            || shorten(self, "completedSteps", |status| Some(&mut status.ran.as_mut()?.completed_steps), limit)
            || shorten(self, "skipped", |status| status.ran.as_mut()?.skipped.as_mut(), limit)
            || shorten(self, "failures", |status| status.ran.as_mut()?.failures.as_mut(), limit)
    }
}
