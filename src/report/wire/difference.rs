//! What changes between two states of a catalog, for programs.

use schemars::JsonSchema;
use serde::Serialize;

use super::testing::MismatchAnswer;
use crate::app::{
    Difference, DifferenceKind, FlowDifference, InputChange, InputChangeKind, StepChange, StepChangeKind, TestChange,
    TestEnd,
};

/// What `flowy diff --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DiffAnswer {
    /// The earlier state.
    from: String,
    /// The later state.
    to: String,
    /// The flows that are not the same, by name.
    flows: Vec<FlowDifferenceAnswer>,
    /// The files that can't be read in the later state, and were not there or readable in the earlier one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<String>,
    /// The tests of the later state that fail in at least one of the two.
    tests: Vec<TestChangeAnswer>,
    /// How many tests were run in both.
    tests_run: usize,
    /// The files of the later state whose tests can't be run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tests_broken: Vec<String>,
}

/// A test that fails in at least one of two states.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TestChangeAnswer {
    /// What it is called.
    name: String,
    /// Its file.
    file: String,
    /// Whether it passes in the earlier state.
    passed_before: bool,
    /// Whether it passes in the later one.
    passes_now: bool,
    /// What is not as expected in the later one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mismatches: Vec<MismatchAnswer>,
}

impl From<&TestChange> for TestChangeAnswer {
    fn from(change: &TestChange) -> Self {
        let mismatches = if let TestEnd::Failed(all) = &change.after.end { all.as_slice() } else { &[] };
        Self {
            name: change.after.name.clone(),
            file: change.after.file.clone(),
            passed_before: change.before == TestEnd::Passed,
            passes_now: change.after.end == TestEnd::Passed,
            mismatches: mismatches.iter().map(MismatchAnswer::from).collect(),
        }
    }
}

/// What changes of a flow.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FlowDifferenceAnswer {
    /// Its name.
    name: String,
    /// Its file.
    file: String,
    /// What became of it.
    #[schemars(extend("enum" = ["changed", "added", "removed", "renamed"]))]
    change: &'static str,
    /// Its name before, where it is renamed.
    #[serde(skip_serializing_if = "Option::is_none")]
    renamed_from: Option<String>,
    /// Whether it could be executed before.
    ran_before: bool,
    /// Whether it can be executed now.
    runs_now: bool,
    /// What changes of its inputs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<InputChangeAnswer>,
    /// What changes of its steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<StepChangeAnswer>,
    /// The order of the steps that both have, where it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<BeforeAndAfter>,
    /// Labels of results that are new or come from another step.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    results_added: Vec<String>,
    /// Labels of results that are gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    results_removed: Vec<String>,
    /// Files of changed templates that it uses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    templates: Vec<String>,
    /// Changed flows that it goes through.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    flows: Vec<String>,
}

/// Ids of steps.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
struct BeforeAndAfter {
    /// Before.
    before: Vec<String>,
    /// After.
    after: Vec<String>,
}

/// What changes of an input.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
struct InputChangeAnswer {
    /// The input.
    name: String,
    /// What changes.
    #[schemars(extend("enum" = ["added", "added-required", "removed", "required", "optional", "default"]))]
    change: &'static str,
    /// The default before, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<String>,
    /// The default after, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

/// What changes of a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StepChangeAnswer {
    /// Id of the node.
    node_id: String,
    /// Its label.
    label: String,
    /// What changes.
    #[schemars(extend("enum" = ["added", "removed", "text", "work", "fails", "runs", "waits"]))]
    change: &'static str,
    /// What of its work changes, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<&'static str>,
    /// The text before.
    #[serde(skip_serializing_if = "Option::is_none")]
    text_before: Option<String>,
    /// The text after.
    #[serde(skip_serializing_if = "Option::is_none")]
    text_after: Option<String>,
    /// The steps that it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    waits: Option<BeforeAndAfter>,
}

impl From<&InputChange> for InputChangeAnswer {
    fn from(input: &InputChange) -> Self {
        let (change, before, after) = match &input.kind {
            InputChangeKind::Added { required: true } => ("added-required", None, None),
            InputChangeKind::Added { required: false } => ("added", None, None),
            InputChangeKind::Removed => ("removed", None, None),
            InputChangeKind::Required => ("required", None, None),
            InputChangeKind::Optional => ("optional", None, None),
            InputChangeKind::Default { before, after } => ("default", before.clone(), after.clone()),
        };
        Self { name: input.name.clone(), change, before, after }
    }
}

impl From<&StepChange> for StepChangeAnswer {
    fn from(step: &StepChange) -> Self {
        let plain = |change| Self { node_id: step.id.clone(), label: step.label.clone(), change, ..Self::default() };
        match &step.kind {
            StepChangeKind::Added => plain("added"),
            StepChangeKind::Removed => plain("removed"),
            StepChangeKind::Work(parts) => Self { parts: parts.clone(), ..plain("work") },
            StepChangeKind::Runs { now } => plain(if *now { "runs" } else { "fails" }),
            StepChangeKind::Text { before, after } => {
                Self { text_before: Some(before.to_string()), text_after: Some(after.to_string()), ..plain("text") }
            }
            StepChangeKind::Waits { before, after } => {
                Self { waits: Some(BeforeAndAfter { before: before.clone(), after: after.clone() }), ..plain("waits") }
            }
        }
    }
}

impl From<&FlowDifference> for FlowDifferenceAnswer {
    fn from(flow: &FlowDifference) -> Self {
        let (change, renamed_from) = match &flow.kind {
            DifferenceKind::Changed => ("changed", None),
            DifferenceKind::Added => ("added", None),
            DifferenceKind::Removed => ("removed", None),
            DifferenceKind::Renamed { from } => ("renamed", Some(from.clone())),
        };
        let order = flow.order.clone().map(|(before, after)| BeforeAndAfter { before, after });
        Self {
            name: flow.name.clone(),
            file: flow.file.clone(),
            change,
            renamed_from,
            ran_before: flow.runs.0,
            runs_now: flow.runs.1,
            inputs: flow.inputs.iter().map(InputChangeAnswer::from).collect(),
            steps: flow.steps.iter().map(StepChangeAnswer::from).collect(),
            order,
            results_added: flow.results_added.clone(),
            results_removed: flow.results_removed.clone(),
            templates: flow.templates.clone(),
            flows: flow.flows.clone(),
        }
    }
}

/// What changes between two states.
pub fn difference(difference: &Difference) -> DiffAnswer {
    DiffAnswer {
        from: difference.from.clone(),
        to: difference.to.clone(),
        flows: difference.flows.iter().map(FlowDifferenceAnswer::from).collect(),
        tests: difference.tests.iter().map(TestChangeAnswer::from).collect(),
        tests_run: difference.tests_run,
        unreadable: difference.unreadable.clone(),
        tests_broken: difference.tests_broken.clone(),
    }
}
