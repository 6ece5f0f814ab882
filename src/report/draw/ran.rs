//! How a run of a flow went, as `flowy run NAME --json` writes it: what a picture shows of it.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::names::{quoted, words};

/// A run of a flow that has ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Ran {
    /// The word for how it ended.
    pub(super) status: String,
    /// How long it took, in milliseconds.
    pub(super) millis: Option<f64>,
    /// By the ids of their nodes, the steps that something is told of.
    pub(super) steps: BTreeMap<String, StepRan>,
}

/// How one step went.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct StepRan {
    pub(super) state: StepState,
    /// How long it took, in milliseconds.
    pub(super) millis: Option<f64>,
    /// Why it failed, or why it did not run.
    pub(super) why: Option<String>,
    /// What it gave.
    pub(super) output: Option<String>,
    /// The model that answered it.
    pub(super) model: Option<String>,
}

words! {
    /// How a step ended.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(super) enum StepState {
        Done = "done",
        Failed = "failed",
        Skipped = "skipped",
    }
}

/// Why a file can't be drawn on top of a flow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RanError {
    /// It can't be read as JSON.
    #[error("is not JSON: {0}")]
    NotJson(String),
    /// It is JSON of another kind.
    #[error("is not the result of a run")]
    NotARun,
    /// It is a run of another flow.
    #[error("is a run of the flow {}", quoted(.0))]
    OtherFlow(String),
    /// It says how the run ended, and nothing of its steps.
    #[error("says nothing of the steps")]
    NoSteps,
}

impl Ran {
    /// Reads what `flowy run FLOW --json` wrote.
    ///
    /// # Errors
    /// When it is something else, of another flow, or without the steps.
    pub fn read(text: &str, flow: &str) -> Result<Self, RanError> {
        let value: Value = serde_json::from_str(text).map_err(|error| RanError::NotJson(error.to_string()))?;
        let word = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
        let ended = ["success", "partial", "failed"];
        let status =
            word(&value, "status").filter(|status| ended.contains(&status.as_str())).ok_or(RanError::NotARun)?;
        let name = word(&value, "flowName").ok_or(RanError::NotARun)?;
        if name != flow {
            return Err(RanError::OtherFlow(name));
        }
        let list = |key: &str| value.get(key).and_then(Value::as_array).map(Vec::as_slice);
        let done = list("intermediateResults").or_else(|| list("partialResults")).ok_or(RanError::NoSteps)?;
        let mut steps = BTreeMap::new();
        let mut put = |of: &Value, ran: StepRan| {
            if let Some(id) = word(of, "nodeId") {
                steps.entry(id).or_insert(ran);
            }
        };
        let plain = |state| StepRan { state, millis: None, why: None, output: None, model: None };
        for step in done {
            let written = |output: &Value| serde_json::to_string_pretty(output).unwrap_or_default();
            let output =
                step.get("output").map(|output| output.as_str().map_or_else(|| written(output), str::to_owned));
            let model = step.get("generated").and_then(|generated| word(generated, "model"));
            let millis = step.get("executionTimeMs").and_then(Value::as_f64);
            put(step, StepRan { millis, output, model, ..plain(StepState::Done) });
        }
        for step in list("failures").unwrap_or_default() {
            let error = step.get("error");
            let told = |key: &str| error.and_then(|error| word(error, key));
            let why = [told("code"), told("message")].into_iter().flatten().collect::<Vec<_>>().join(": ");
            put(step, StepRan { why: Some(why), ..plain(StepState::Failed) });
        }
        for (key, because) in [("skipped", "it waits for "), ("omitted", "")] {
            for step in list(key).unwrap_or_default() {
                let why = word(step, "because").map(|why| format!("{because}{why}"));
                put(step, StepRan { why, ..plain(StepState::Skipped) });
            }
        }
        let millis = value.get("totalExecutionTimeMs").and_then(Value::as_f64);
        Ok(Self { status, millis, steps })
    }

    /// How many of these steps ended in a state.
    pub(super) fn count<'n>(&self, steps: impl Iterator<Item = &'n str>, state: StepState) -> usize {
        steps.filter_map(|id| self.steps.get(id)).filter(|step| step.state == state).count()
    }
}
