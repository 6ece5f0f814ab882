//! What a step does that fills no text: calling a tool, going through another flow, and taking over
//! what a flow within the flow gave.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::record::{CallRecord, DoorRecord, PassageRecord};
use crate::model::{OutputShape, ToolAddress, ValueType};
use crate::plan::{FlowPlan, Input, Plan, Rendering, Slot, Step, Work};
use crate::render::{Outline, Stencil};

/// A call of an external tool, with its bindings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "CallRecord", into = "CallRecord")]
pub struct Call {
    /// Which tool.
    pub address: ToolAddress,
    /// With what.
    pub arguments: Arc<Stencil>,
    /// One slot for each name that the arguments and `requires` read.
    pub slots: Vec<Slot>,
    /// For each placeholder of the arguments, the number of its slot.
    pub slot_of: Vec<usize>,
    /// Slots, each with a dot path, without which the step is left out.
    pub requires: Vec<(usize, Vec<String>)>,
    /// Whether a failed call is an output like any other.
    pub goes_on: bool,
    /// How often a failed call is tried again.
    pub retries: u32,
    /// The pause before the first new try; it doubles with each.
    pub backoff: Duration,
    /// The longest that one call may take; none for what the operator set.
    pub timeout: Option<Duration>,
    /// A pause before the call.
    pub delay: Duration,
    /// Names for parts of the result, each with its dot path.
    pub set: Vec<(String, String)>,
}

/// Another flow as one step, with its bindings.
#[derive(Debug, Clone, PartialEq)]
pub struct Linked {
    /// The other flow, and its plan.
    pub of: FlowPlan,
    /// What its inputs get.
    pub values: Arc<Stencil>,
    /// For each placeholder of these, the number of its slot.
    pub slot_of: Vec<usize>,
    /// One slot for each name that they read.
    pub slots: Vec<Slot>,
}

/// A text that a step hands to another flow, as plans were stored before there were doors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "PassageRecord", into = "PassageRecord")]
pub struct Passage {
    /// The text.
    pub text: Arc<str>,
    /// Its brace groups.
    pub outline: Arc<Outline>,
    /// For each brace group, the number of its slot.
    pub slot_of: Vec<usize>,
}

/// The end of a flow within the flow: its result is the result of the step that it is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gather {
    /// The other flow's name.
    pub flow: String,
    /// The step whose output it takes over.
    pub last: usize,
    /// The labels of that flow's results and what feeds them, where there are several.
    pub results: Vec<(String, usize)>,
    /// What the step itself reads.
    pub slots: Vec<Slot>,
    /// What stands before that flow's first step; none in a plan that was stored before there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub door: Option<Box<Door>>,
}

/// What a flow within the flow is handed, and what it asks of that: looked at before its first step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "DoorRecord", into = "DoorRecord")]
pub struct Door {
    /// What its inputs get.
    pub values: Arc<Stencil>,
    /// For each placeholder of these, the number of its slot among those of the step.
    pub slot_of: Vec<usize>,
    /// Its inputs.
    pub inputs: Vec<Input>,
    /// Its variable sets.
    pub sets: Arc<[String]>,
}

/// A value that a flow within the flow gets from the step that it is, as plans were stored before there
/// were doors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Passed {
    /// The other flow's name.
    pub flow: String,
    /// The name of the input there.
    pub input: String,
    /// What it is given.
    pub value: Passing,
    /// The type that values are held to.
    pub held_to: Option<ValueType>,
    /// The only values allowed; empty when anything is.
    pub choices: Vec<Value>,
}

/// Where such a value comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passing {
    /// A text of the step, filled; a text that is one placeholder hands the value on as it is.
    Text {
        /// The text.
        passage: Passage,
        /// What its names read.
        slots: Vec<Slot>,
    },
    /// The other flow's own default.
    Default {
        /// The value.
        value: Value,
    },
    /// The output of a step, where nothing else gives it.
    Auto {
        /// The step.
        step: usize,
    },
    /// Nothing: it is empty where it is declared, otherwise the braces stay.
    Nothing {
        /// Whether somebody declares it.
        declared: bool,
        /// Whether the step that reads it can't do without.
        required: bool,
    },
}

impl Plan {
    /// What the flow gives, as far as the files say.
    pub fn output_shape(&self) -> OutputShape {
        let of =
            |step: Option<usize>| step.and_then(|step| self.step(step)).map(Step::output_shape).unwrap_or_default();
        if self.results().len() > 1 {
            OutputShape::Labels(self.results().iter().map(|mark| (mark.label.clone(), of(mark.step))).collect())
        } else {
            of(self.last())
        }
    }
}

impl Step {
    fn output_shape(&self) -> OutputShape {
        match &self.work {
            // It may be a failure, which has fields of its own.
            Work::Render(rendering) if rendering.asks.goes_on => OutputShape::Unknown,
            Work::Render(Rendering { terms: Some(terms), .. }) => OutputShape::Contract(terms.clone()),
            Work::Render(Rendering { contract: None, .. }) => OutputShape::Text,
            Work::Flow(linked) => linked.of.plan.output_shape(),
            Work::Render(_) | Work::Call(_) | Work::Gather(_) | Work::Faulty { .. } => OutputShape::Unknown,
        }
    }
}

/// The pause before the first new try where the node doesn't say.
pub const USUAL_BACKOFF: Duration = Duration::from_millis(500);
