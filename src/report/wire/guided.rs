//! Guided executions: what each call answers, and what a status adds.
//!
//! An answer is made of the execution as it stood right after the call, so the same call again is
//! answered alike.

mod advice;
mod auto;
mod events;
mod export;
mod handed_in;
mod kept;
mod status;
mod step;
mod turn;

use schemars::JsonSchema;
use serde::Serialize;

use super::common::{FailedStep, Results, SkippedStep, Stamp, UsageAnswer, WarningAnswer, guided_state};
use super::execution;
use super::size::CutWords;
use super::warning::of_run;
use crate::model::ModelWish;
use crate::run::{Guided, GuidedState, State};
use auto::{AutoStep, ToolStep};
use step::OpenStep;
pub(in crate::report) use step::asked_of;

pub use export::exported;
pub use kept::{pruned, tallies};
pub(in crate::report) use status::state_word;
pub use status::{GuidedStatus, GuidedSummary, guided_status, guided_summary};
pub use turn::{GuidedAnswer, begun, turn};

/// Which execution it is, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// Id of the execution.
    execution_id: String,
    /// Name of the flow.
    flow_name: String,
    /// Where it stands.
    #[schemars(schema_with = "guided_state")]
    state: &'static str,
    /// When the limit of a model is over that it waits for (ISO 8601, UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    resumes_at: Option<Stamp>,
}

impl Head {
    fn of(guided: &Guided) -> Self {
        let beginning = guided.beginning();
        Self {
            execution_id: beginning.id.to_string(),
            flow_name: beginning.plan.name().to_owned(),
            state: guided.state().word(),
            resumes_at: guided.resumes_at().map(Stamp::millis),
        }
    }
}

/// What is open, and what can't be done any more.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    #[serde(flatten)]
    now: Now,
    /// Steps that failed; absent where none did.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    failures: Vec<FailedStep>,
    /// Steps that are not done because one before them failed; absent where none failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<Vec<SkippedStep>>,
    /// Steps that were left out, and those that read their output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    omitted: Vec<LeftOutStep>,
}

/// A step that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LeftOutStep {
    /// Id of the node.
    node_id: String,
    /// Id of the step that was left out.
    because: String,
    /// Why that one was.
    reason: String,
}

/// The step that is open, the tool that is being called, or how everything ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", untagged)]
enum Now {
    /// A step is open.
    Open {
        /// Id of the question to a person, which has to be answered first.
        #[serde(skip_serializing_if = "Option::is_none")]
        escalation_id: Option<String>,
        /// Token of the open step; the next call needs it.
        #[serde(skip_serializing_if = "Option::is_none")]
        step_token: Option<String>,
        /// The open step; null while the server is at one.
        step: Box<OpenStep>,
        /// Ids of the steps that could be handed out instead; next of `flows_complete_step` chooses.
        ready: Vec<String>,
        /// Steps that the server did by itself since the call before: it calls tools and asks models between yours.
        auto_steps: Vec<AutoStep>,
    },
    /// The server is at a step: it calls a tool, or asks a model.
    Calling {
        /// Id of the question to a person, which has to be answered first.
        #[serde(skip_serializing_if = "Option::is_none")]
        escalation_id: Option<String>,
        /// Null: nothing is handed out meanwhile.
        step: (),
        /// The step that the server is at; `flows_status` tells when it has ended.
        tool_step: ToolStep,
        /// Steps that the server did by itself since the call before: it calls tools and asks models between yours.
        auto_steps: Vec<AutoStep>,
    },
    /// The server does the steps, or did so until it was interrupted.
    Direct {
        /// Id of the question to a person, which has to be answered first.
        #[serde(skip_serializing_if = "Option::is_none")]
        escalation_id: Option<String>,
        /// Steps that reach outside the program, were begun, and have not ended.
        begun_steps: Vec<ToolStep>,
    },
    /// It has ended.
    Ended {
        /// Steps that the server did by itself since the call before: it calls tools and asks models between yours.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        auto_steps: Vec<AutoStep>,
        /// How it ended, or that a person is asked.
        #[schemars(schema_with = "guided_state")]
        status: &'static str,
        #[serde(flatten)]
        results: Results,
    },
}

impl Now {
    fn of(guided: &Guided, whole_persona: bool) -> Self {
        if guided.is_direct() && !guided.state().ended() {
            return Self::Direct {
                escalation_id: guided.asked().map(ToString::to_string),
                begun_steps: guided.unfinished().iter().map(|begun| ToolStep::of(guided, begun)).collect(),
            };
        }
        let auto_steps = AutoStep::all(guided);
        if let Some((handed, step)) =
            guided.handed().and_then(|handed| Some((handed, OpenStep::of(guided, handed, whole_persona)?)))
        {
            return Self::Open {
                escalation_id: handed.asks.as_ref().map(ToString::to_string),
                step_token: handed.asks.is_none().then(|| handed.ticket.to_string()),
                step: Box::new(step),
                ready: guided.run().ready().map(|step| id_of(guided, step)).collect(),
                auto_steps,
            };
        }
        if let Some(at_work) = guided.tool_at_work() {
            return Self::Calling {
                escalation_id: at_work.asks.as_ref().map(ToString::to_string),
                step: (),
                tool_step: ToolStep::of(guided, at_work),
                auto_steps,
            };
        }
        Self::Ended { auto_steps, status: guided.state().word(), results: Results::of(guided.run()) }
    }
}

impl Standing {
    fn of(guided: &Guided, whole_persona: bool) -> Self {
        let run = guided.run();
        let failures = execution::failures(run);
        let left_out = (0..run.plan().steps().len()).filter_map(|step| {
            let State::Omitted { because, why } = run.state(step)? else { return None };
            Some(LeftOutStep {
                node_id: id_of(guided, step),
                because: id_of(guided, *because),
                reason: why.to_string(),
            })
        });
        Self {
            now: Now::of(guided, whole_persona),
            skipped: (!failures.is_empty()).then(|| execution::skipped(run)),
            failures,
            omitted: left_out.collect(),
        }
    }

    /// The step that is open.
    fn open(&mut self) -> Option<&mut OpenStep> {
        match &mut self.now {
            Now::Open { step, .. } => Some(step),
            Now::Calling { .. } | Now::Direct { .. } | Now::Ended { .. } => None,
        }
    }

    /// What failures say, and what all came to.
    fn words(&mut self) -> (Vec<&mut String>, Vec<CutWords<'_>>) {
        let finals = match &mut self.now {
            Now::Ended { results, .. } => results.words(),
            Now::Open { .. } | Now::Calling { .. } | Now::Direct { .. } => Vec::new(),
        };
        (self.failures.iter_mut().map(|failed| &mut failed.error.fault.message).collect(), finals)
    }
}

/// How far it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HowFar {
    /// How much is done, in per cent with the sign.
    progress: String,
    /// Steps that gave an output.
    steps_done: usize,
    /// All steps.
    steps_total: usize,
    /// How many calls of tools were made, new tries included; absent when none were.
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_calls: Option<u32>,
    /// How many of these calls were new tries.
    #[serde(skip_serializing_if = "Option::is_none")]
    retries: Option<u32>,
    /// What models took that answered steps; absent where none was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<UsageAnswer>,
    /// Ids of the steps that gave an output.
    completed_steps: Vec<String>,
}

impl HowFar {
    fn of(guided: &Guided) -> Self {
        let run = guided.run();
        let counts = run.counts();
        let (calls, retries) = guided.called();
        let done = (0..run.plan().steps().len()).filter(|step| matches!(run.state(*step), Some(State::Done { .. })));
        Self {
            progress: per_cent((guided.state(), guided.progressed()), counts.done, counts.steps),
            steps_done: counts.done,
            steps_total: counts.steps,
            tool_calls: (calls > 0).then_some(calls),
            retries: (calls > 0).then_some(retries),
            usage: execution::spent(run),
            completed_steps: done.map(|step| id_of(guided, step)).collect(),
        }
    }
}

/// How much is done, where it stands like this and so many steps have ended, of which so many are done: what a
/// failure put an end to is not done.
fn per_cent((state, ended): (GuidedState, usize), done: usize, steps: usize) -> String {
    let ended = if state == GuidedState::Failed { done } else { ended };
    format!("{}%", (ended * 100).checked_div(steps).unwrap_or(100))
}

/// The tool that a step calls.
fn call_of(guided: &Guided, step: usize) -> Option<String> {
    Some(guided.run().plan().called(step)).filter(|call| !call.is_empty())
}

/// The model that a step's own node names.
fn model_of(guided: &Guided, step: usize) -> Option<String> {
    let asks = &guided.rendering(step)?.asks;
    match asks.wish.as_ref().filter(|_| asks.own)? {
        ModelWish::Model(model) => model.name.clone(),
        ModelWish::Nobody => None,
    }
}

/// What was noticed at a step that calls no tool: of a call, all that is told is told in places of its own.
fn warned(guided: &Guided, step: usize) -> Vec<WarningAnswer> {
    let noticed = guided.noticed().get(&step).filter(|_| call_of(guided, step).is_none());
    noticed.into_iter().flatten().map(of_run).collect()
}

/// What the server is at in a step, in words: the tool, or the model.
fn called(guided: &Guided, step: usize) -> String {
    let model = || model_of(guided, step).map_or_else(|| "a model".to_owned(), |name| format!("the model {name}"));
    call_of(guided, step).unwrap_or_else(model)
}

fn id_of(guided: &Guided, step: usize) -> String {
    guided.run().plan().step(step).map(|step| step.id.clone()).unwrap_or_default()
}
