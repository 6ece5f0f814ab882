//! Steps that the server does between the model's: they call tools.

use schemars::JsonSchema;
use serde::Serialize;

use super::step::cut;
use super::{call_of, id_of};
use crate::discover::millis;
use crate::report::wire::common::{Fault, FileGiven, Stamp, ToolGave};
use crate::run::{Guided, State, ToolAtWork};

/// How much of what a tool gave is shown, in characters.
const SHOWN: usize = 600;

/// The step whose tool is being called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolStep {
    /// Id of the node.
    id: String,
    /// Name of the step as people read it.
    label: Option<String>,
    /// The tool, as alias:tool.
    call: String,
    /// When (ISO 8601, UTC).
    started_at: Stamp,
}

impl ToolStep {
    pub(super) fn of(guided: &Guided, at_work: &ToolAtWork) -> Self {
        Self {
            id: id_of(guided, at_work.step),
            label: guided.run().plan().step(at_work.step).map(|step| step.label.clone()),
            call: call_of(guided, at_work.step),
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
    /// The tool, as alias:tool.
    call: String,
    #[serde(flatten)]
    end: AutoEnd,
}

/// What became of it; omitted when what it requires was not given.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "status", rename_all = "snake_case", rename_all_fields = "camelCase")]
enum AutoEnd {
    Done {
        /// The beginning of what the tool gave, at most 600 characters.
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
        /// Why the call failed.
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
            Some(Self { id: step.id.clone(), label: step.label.clone(), call: call_of(guided, *number), end })
        });
        shown.collect()
    }
}
