//! Steps that the server does between the model's: they call tools, or one of the operator's models answers them.

use schemars::JsonSchema;
use serde::Serialize;

use super::{call_of, id_of, model_of, warned};
use crate::discover::millis;
use crate::names::cut;
use crate::report::wire::common::{Fault, FileGiven, GeneratedAnswer, Stamp, ToolGave, WarningAnswer};
use crate::run::{Guided, State, ToolAtWork};

/// How much of what a tool gave is shown, in characters.
const SHOWN: usize = 600;

/// The step that the server is at: its tool is being called, or a model asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolStep {
    /// Id of the node.
    id: String,
    /// Name of the step as people read it.
    label: Option<String>,
    /// The tool, as alias:tool; absent where a model is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    /// The model that its node names.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// True when it was begun again, because the process was gone that had begun it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    again: bool,
    /// When (ISO 8601, UTC).
    started_at: Stamp,
}

impl ToolStep {
    pub(super) fn of(guided: &Guided, at_work: &ToolAtWork) -> Self {
        Self {
            id: id_of(guided, at_work.step),
            label: guided.run().plan().step(at_work.step).map(|step| step.label.clone()),
            call: call_of(guided, at_work.step),
            model: model_of(guided, at_work.step),
            again: guided.was_repeated(at_work.step),
            started_at: Stamp::millis(at_work.since),
        }
    }
}

/// A step that the server did by itself.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AutoStep {
    /// Id of the node.
    id: String,
    /// Name of the step as people read it.
    label: String,
    /// The tool, as alias:tool; absent where a model answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    #[serde(flatten)]
    end: AutoEnd,
    /// Of a step that a model answered, or was asked to: which one, and what that took.
    #[serde(skip_serializing_if = "Option::is_none")]
    generated: Option<GeneratedAnswer>,
    /// What was noticed while a model answered it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningAnswer>,
    /// True when it was begun again, because the process was gone that had begun it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    again: bool,
}

/// What became of it; omitted when what it requires was not given.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum AutoEnd {
    Done {
        /// The beginning of what the tool or the model gave, at most 600 characters.
        output: String,
        /// Address of the whole; `flows_status` with nodeId pages it, too.
        #[serde(rename = "ref")]
        address: String,
        /// Files that the tool gave; each can be read at its address.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        files: Vec<FileGiven>,
        /// What of the tool's answer could not be handed on, and why.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
        /// Why the call failed, where the flow goes on all the same, as the node says.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<Fault>,
        /// How long it took, in milliseconds, with all tries and pauses.
        execution_time_ms: f64,
    },
    Failed {
        /// Why it failed.
        error: Fault,
        /// How long it took, in milliseconds, with all tries and pauses.
        execution_time_ms: f64,
    },
    Omitted {
        /// Why it was left out.
        because: String,
    },
}

impl AutoStep {
    /// What the server did by itself since the model last closed a step.
    pub(super) fn all(guided: &Guided) -> Vec<Self> {
        let run = guided.run();
        let shown = guided.auto().iter().filter_map(|number| {
            let step = run.plan().step(*number)?;
            let end = match run.state(*number)? {
                State::Done { output, timing } => {
                    let ToolGave { files, left_out, error, .. } = ToolGave::of(output).unwrap_or_default();
                    AutoEnd::Done {
                        output: cut(&output.text, SHOWN),
                        address: crate::names::step_address(guided.beginning().id.as_str(), &step.id),
                        files,
                        left_out,
                        error,
                        execution_time_ms: millis(timing.took),
                    }
                }
                State::Failed { error, timing } => {
                    AutoEnd::Failed { error: error.into(), execution_time_ms: millis(timing.took) }
                }
                State::Omitted { why, .. } => AutoEnd::Omitted { because: why.to_string() },
                State::Waiting | State::Ready | State::Running | State::Skipped { .. } => return None,
            };
            Some(Self {
                id: step.id.clone(),
                label: step.label.clone(),
                call: call_of(guided, *number),
                end,
                generated: run.generated_of(*number).map(GeneratedAnswer::of),
                warnings: warned(guided, *number),
                again: guided.was_repeated(*number),
            })
        });
        shown.collect()
    }
}
