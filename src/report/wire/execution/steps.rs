//! The steps of an execution: what each is, what it was filled with, what it gave.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::app::Detail;
use crate::discover::millis;
use crate::names::shown;
use crate::plan::{Intent, Step, Work};
use crate::report::wire::common::{
    FailedStep, GeneratedAnswer, MendingAnswer, SkippedStep, Stamp, StepDetails, StepFault, ToolGave, ToolPlace,
    written,
};
use crate::report::wire::size::{CutPart, CutPiece, CutWords, StepCut, StepPieces};
use crate::run::{Output, Run, State, StepError, Timing};

/// What a step is, in whichever answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepHead {
    /// Id of the node.
    node_id: String,
    /// Name of the template that was rendered; for inline text the label, for a tool alias:tool, for a flow within
    /// the flow its name.
    template_name: Option<String>,
    /// Name of the step as people read it.
    label: String,
    /// What the output is: a rendered text, a model's answer, a tool's result, or the result of another flow.
    #[schemars(extend("enum" = ["rendered", "generated", "tool", "flow"]))]
    kind: &'static str,
}

impl StepHead {
    pub(super) fn of(step: &Step) -> Self {
        Self {
            node_id: step.id.clone(),
            template_name: template_name(step).map(Cow::into_owned),
            label: step.label.clone(),
            kind: step.work.word(),
        }
    }

    /// The same of a text that a model answers, or answered.
    pub(super) fn answered(self, by_model: bool) -> Self {
        Self { kind: if by_model { "generated" } else { self.kind }, ..self }
    }
}

/// A step that gave its output.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DoneStep {
    #[serde(flatten)]
    head: StepHead,
    /// The placeholders that were filled, as they are spelt, and with what; with detail full.
    #[serde(skip_serializing_if = "Option::is_none")]
    input_variables: Option<Map<String, Value>>,
    /// What the step gave: text, or a structured value; of a tool its text.
    output: Value,
    /// Of a step that calls a tool: what it gave beside the text in `output`.
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<ToolGave>,
    /// How long the step took, in milliseconds.
    execution_time_ms: f64,
    /// When the step began, ISO 8601 in UTC.
    timestamp: Stamp,
    /// Of a step that a model answered: which, and what that took.
    #[serde(skip_serializing_if = "Option::is_none")]
    generated: Option<GeneratedAnswer>,
    #[serde(flatten)]
    cut: StepCut,
}

impl DoneStep {
    fn of(run: &Run, number: usize, step: &Step, output: &Output, timing: Timing, detail: Detail) -> Self {
        Self {
            head: StepHead::of(step).answered(output.generated.is_some()),
            input_variables: (detail == Detail::Full).then(|| run.seen(number)),
            output: written(output),
            result: ToolGave::of(output),
            execution_time_ms: millis(timing.took),
            timestamp: Stamp::millis(timing.at),
            generated: output.generated.as_deref().map(GeneratedAnswer::of),
            cut: StepCut::default(),
        }
    }

    /// Every step that is done, but for those that are shown by the flow within the flow to which they belong.
    pub(super) fn all(run: &Run, detail: Detail) -> Vec<Self> {
        let steps = run.plan().steps().iter().enumerate().filter(|(_, step)| !within_what_is_done(run, step));
        let shown = steps.filter_map(|(number, step)| {
            let State::Done { output, timing } = run.state(number)? else { return None };
            Some(Self::of(run, number, step, output, *timing, detail))
        });
        shown.collect()
    }

    pub(super) fn pieces(&mut self) -> StepPieces<'_> {
        let seen = self
            .input_variables
            .as_mut()
            .map(|seen| CutPiece::new("inputVariables", CutPart::Seen, CutWords::Values(seen)));
        let put_out = CutPiece::new("output", CutPart::PutOut, CutWords::Value(&mut self.output));
        StepPieces { pieces: seen.into_iter().chain([put_out]).collect(), cut: &mut self.cut }
    }
}

/// Whether a step is shown by the flow within the flow to which it belongs, which is done.
fn within_what_is_done(run: &Run, step: &Step) -> bool {
    let mut within = step.within;
    while let Some(gather) = within {
        if matches!(run.state(gather), Some(State::Done { .. })) {
            return true;
        }
        within = run.plan().step(gather).and_then(|step| step.within);
    }
    false
}

/// What a step is made from: a template, a tool, another flow.
fn template_name(step: &Step) -> Option<Cow<'_, str>> {
    match &step.work {
        Work::Render(rendering) => Some(Cow::Borrowed(&rendering.template_name)),
        Work::Call(call) => Some(Cow::Owned(shown(&call.address.to_string(), 200))),
        Work::Flow(linked) => Some(Cow::Borrowed(linked.of.plan.name())),
        Work::Gather(gather) => Some(Cow::Borrowed(&gather.flow)),
        Work::Faulty { meant: Intent::Call(name) | Intent::Flow(name), .. } => Some(Cow::Owned(shown(name, 200))),
        Work::Faulty { meant: Intent::Text, .. } => None,
    }
}

/// Every step that failed, in order.
pub(in crate::report::wire) fn failures(run: &Run) -> Vec<FailedStep> {
    run.failures().map(|(step, error)| failed(run, step, error)).collect()
}

/// One step that failed.
pub(super) fn failed(run: &Run, number: usize, error: &StepError) -> FailedStep {
    let step = run.plan().step(number);
    FailedStep {
        node_id: step.map(|step| step.id.clone()),
        template_name: step.and_then(template_name).map(Cow::into_owned),
        error: StepFault { fault: error.into(), details: details_of(run, number) },
        generated: error.generated.as_deref().map(GeneratedAnswer::of),
    }
}

/// Of a tool, which it is and where its step stands; of a step that could not be begun, what has to be fixed.
pub(super) fn details_of(run: &Run, number: usize) -> Option<StepDetails> {
    let fixed = || match &run.plan().step(number)?.work {
        Work::Faulty { code, mending, .. } if !mending.files.is_empty() => {
            Some(StepDetails::Mending(MendingAnswer::of(*code, mending)))
        }
        Work::Render(_) | Work::Call(_) | Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. } => None,
    };
    tool_of(run, number).map(StepDetails::Tool).or_else(fixed)
}

/// Which tool a step calls, and where the step stands.
fn tool_of(run: &Run, number: usize) -> Option<ToolPlace> {
    let step = run.plan().step(number)?;
    let tool = match &step.work {
        Work::Call(call) => call.address.to_string(),
        Work::Faulty { meant: Intent::Call(call), .. } => shown(call, 200),
        Work::Render(_) | Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. } => return None,
    };
    let (place, of) = run.place_of(number);
    Some(ToolPlace { tool, node_id: step.id.clone(), step: place, of })
}

/// The steps that do not run because one before them failed.
pub(in crate::report::wire) fn skipped(run: &Run) -> Vec<SkippedStep> {
    let steps = (0..run.plan().steps().len()).filter_map(|step| {
        let State::Skipped { because } = run.state(step)? else { return None };
        Some(SkippedStep { node_id: id(run, step), because: id(run, *because) })
    });
    steps.collect()
}

/// A step that was left out on purpose.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OmittedStep {
    /// Id of the node.
    node_id: String,
    /// Why, in words.
    because: String,
}

impl OmittedStep {
    /// The steps that were left out although nothing failed, with the first of them and why.
    pub(super) fn all(run: &Run) -> Vec<Self> {
        let steps = (0..run.plan().steps().len()).filter_map(|step| {
            let State::Omitted { because, why } = run.state(step)? else { return None };
            let because = if *because == step {
                why.to_string()
            } else {
                format!("it reads the output of {}, which was left out", id(run, *because))
            };
            Some(Self { node_id: id(run, step), because })
        });
        steps.collect()
    }
}

/// A variable that took a step's output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MappedVariable {
    /// Id of the node whose text uses the variable.
    node_id: String,
    /// The variable.
    variable: String,
    /// Where the value came from: a node's id, perhaps with a path, or an input.
    from: String,
    /// How: by a mapping of an edge, by an edge's targetHandle, or because it was not given.
    #[schemars(extend("enum" = ["mapping", "handle", "auto"]))]
    by: &'static str,
}

impl MappedVariable {
    pub(super) fn all(run: &Run) -> Vec<Self> {
        let mappings = run.mappings().into_iter();
        mappings.map(|(step, variable, from, by)| Self { node_id: id(run, step), variable, from, by }).collect()
    }
}

/// The id of a step.
fn id(run: &Run, step: usize) -> String {
    run.plan().step(step).map(|step| step.id.clone()).unwrap_or_default()
}
