//! Where a guided execution stands, and everything a status may add to that.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::advice::next_step;
use super::events::{EventAnswer, events};
use super::handed_in::{ArtifactAnswer, NoticedAnswer};
use super::step::{PersonsAnswer, answers, shortened};
use super::turn::RULES;
use super::{Head, HowFar, Standing, id_of, per_cent, warned};
use crate::app::{Section, Story, Summary};
use crate::discover::millis;
use crate::report::wire::common::{Fault, GeneratedAnswer, Stamp, ToolGave, WarningAnswer, guided_state, written};
use crate::report::wire::limit::{Limit, MAX_TOKENS};
use crate::report::wire::size::{
    Cut, CutPart, CutParts, CutPiece, CutWords, Cuttable, StepCut, StepPieces, fit, rest_of_execution, shorten,
};
use crate::run::{Escalation, Guided, State};

/// Where a guided execution stands.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GuidedStatus {
    #[serde(flatten)]
    head: Head,
    /// Who does the steps: the client's model, or the server.
    #[schemars(extend("enum" = ["guided", "direct"]))]
    kind: &'static str,
    /// Id of the open step, or of the one that the server is at.
    current_step: Option<String>,
    #[serde(flatten)]
    progress: HowFar,
    /// When the execution began (ISO 8601, UTC).
    started_at: Stamp,
    /// When something last happened (ISO 8601, UTC).
    updated_at: Stamp,
    /// What the whole is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    /// The question that is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    escalation: Option<OpenQuestion>,
    /// Why it was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    standing: Standing,
    /// How to go about it; while it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<&'static str>,
    /// Every step; with include steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Vec<StepStatus>>,
    /// What steps handed in besides; with include artifacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    artifacts: Option<Vec<ArtifactAnswer>>,
    /// What steps noticed, critical first; with include findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    findings: Option<Vec<NoticedAnswer>>,
    /// What steps were handed; with include prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    prompts: Option<Vec<PromptAnswer>>,
    /// Everything that happened, in order; with include events.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<EventAnswer>>,
    /// The call that comes next.
    #[schemars(required)]
    next_step: Option<String>,
    #[serde(flatten)]
    cut: Cut,
}

/// The question to a person that is open.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenQuestion {
    /// Id of the question.
    escalation_id: String,
    /// Why it is asked.
    reason: String,
    /// What the person is asked.
    questions: Vec<String>,
    /// What the person should know.
    context: Option<Value>,
    /// When (ISO 8601, UTC).
    asked_at: Stamp,
    /// The tool that brings the answers.
    #[schemars(extend("const" = "flows_resume"))]
    resume_with: &'static str,
}

/// Where one step stands.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepStatus {
    /// Id of the node.
    node_id: String,
    /// Name of the step as people read it.
    label: String,
    /// The tool that the server calls for it, as alias:tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    /// Where it stands.
    #[schemars(extend("enum" = ["open", "running", "ready", "waiting", "done", "failed", "skipped", "omitted"]))]
    state: &'static str,
    /// Name of its persona.
    #[serde(skip_serializing_if = "Option::is_none")]
    persona: Option<String>,
    #[serde(flatten)]
    end: Option<StepEnding>,
    /// Of a step that a model answered, or was asked to: which one, and what that took.
    #[serde(skip_serializing_if = "Option::is_none")]
    generated: Option<GeneratedAnswer>,
    /// What was noticed while a model answered it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningAnswer>,
    #[serde(flatten)]
    closed: Option<StepClosing>,
    /// What a person answered about this step, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    answers: Vec<PersonsAnswer>,
    #[serde(flatten)]
    cut: StepCut,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", untagged)]
enum StepEnding {
    Done {
        /// What later steps read of it.
        output: Value,
        /// What a tool gave besides its text.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Box<ToolGave>>,
        /// How long the tool took, in milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        execution_time_ms: Option<f64>,
    },
    Failed {
        /// How long the tool took, in milliseconds.
        #[serde(skip_serializing_if = "Option::is_none")]
        execution_time_ms: Option<f64>,
        /// What went wrong.
        error: Fault,
    },
    LeftOut {
        /// Id of the step that is the reason.
        because: String,
        /// Why it was left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
}

/// How the model closed a step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StepClosing {
    /// What the model said of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<Value>,
    /// What was decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    decisions: Option<Value>,
    /// How sure the model is, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    confidence: Option<Value>,
    /// What the model would do next.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_steps: Option<Value>,
    /// What is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    blockers: Option<Value>,
    /// Where to read on.
    #[serde(skip_serializing_if = "Option::is_none")]
    references: Option<Value>,
    /// Which attempt was taken.
    attempts: u32,
    /// When it was closed (ISO 8601, UTC).
    completed_at: Stamp,
}

/// What a step was handed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PromptAnswer {
    /// Id of the node.
    node_id: String,
    /// Its text, filled in.
    prompt: String,
}

/// One line of a list.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GuidedSummary {
    /// Id of the execution.
    execution_id: String,
    /// Name of the flow.
    flow_name: String,
    /// Who does the steps: the client's model, or the server.
    #[schemars(extend("enum" = ["guided", "direct"]))]
    kind: &'static str,
    /// Where it stands.
    #[schemars(schema_with = "guided_state")]
    state: &'static str,
    /// When the limit of a model is over that it waits for (ISO 8601, UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    resumes_at: Option<Stamp>,
    /// What the whole is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    /// Id of the open step.
    #[serde(skip_serializing_if = "Option::is_none")]
    current_step: Option<String>,
    /// How much is done, in per cent with the sign.
    progress: String,
    /// Steps that gave an output.
    steps_done: usize,
    /// All steps.
    steps_total: usize,
    /// When the execution began (ISO 8601, UTC).
    started_at: Stamp,
    /// When something last happened (ISO 8601, UTC).
    updated_at: Stamp,
    /// The question that is open; of the first few that wait for a person.
    #[serde(skip_serializing_if = "Option::is_none")]
    escalation: Option<Box<OpenQuestion>>,
}

/// Where a guided execution stands, and what was asked for besides.
pub fn guided_status(story: &Story, include: &[Section]) -> GuidedStatus {
    let guided = &story.guided;
    let current = guided.handed().map(|handed| handed.step).or_else(|| Some(guided.tool_at_work()?.step));
    let mut escalations = guided.escalations().iter();
    let open = escalations.find(|asked| asked.answer.is_none() && guided.cancelled().is_none());
    let with = |section: Section| include.contains(&section);
    let whole = GuidedStatus {
        head: Head::of(guided),
        kind: kind(guided.is_direct()),
        current_step: current.map(|step| id_of(guided, step)),
        progress: HowFar::of(guided),
        started_at: Stamp::millis(guided.begun_at()),
        updated_at: Stamp::millis(guided.updated_at()),
        task: guided.beginning().task.clone(),
        escalation: open.map(OpenQuestion::from),
        reason: guided.cancelled().and_then(|cancelled| cancelled.reason.clone()),
        standing: Standing::of(guided, true),
        rules: (!guided.state().ended() && !guided.is_direct()).then_some(RULES),
        steps: with(Section::Steps).then(|| StepStatus::all(guided)),
        artifacts: with(Section::Artifacts).then(|| ArtifactAnswer::all(guided)),
        findings: with(Section::Findings).then(|| NoticedAnswer::all(guided)),
        prompts: with(Section::Prompts).then(|| PromptAnswer::all(guided)),
        events: with(Section::Events).then(|| events(guided, &story.entries)),
        next_step: Some(next_step(guided)),
        cut: Cut::default(),
    };
    let (id, limit) = (guided.beginning().id.as_str(), Limit::tokens(MAX_TOKENS));
    fit(shortened(whole, |status| status.standing.open(), id, &limit), &limit, &rest_of_execution(id))
}

impl OpenQuestion {
    /// What a person is asked about a tool's call, which no call of the model's asked.
    pub(super) fn of_call(guided: &Guided) -> Option<Self> {
        let asks = guided.tool_at_work()?.asks.as_ref()?;
        guided.escalations().iter().find(|asked| asked.id == *asks).map(Self::from)
    }
}

impl From<&Escalation> for OpenQuestion {
    fn from(asked: &Escalation) -> Self {
        Self {
            escalation_id: asked.id.to_string(),
            reason: asked.reason.clone(),
            questions: asked.questions.clone(),
            context: asked.context.clone(),
            asked_at: Stamp::millis(asked.at),
            resume_with: "flows_resume",
        }
    }
}

/// Who does the steps.
pub(super) fn kind(direct: bool) -> &'static str {
    if direct { "direct" } else { "guided" }
}

/// One line of a list.
pub fn guided_summary(summary: &Summary, asked: Option<&Escalation>) -> GuidedSummary {
    GuidedSummary {
        execution_id: summary.id.clone(),
        flow_name: summary.flow.clone(),
        kind: kind(summary.direct),
        state: summary.state.word(),
        resumes_at: summary.resumes_at.map(Stamp::millis),
        task: summary.task.clone(),
        current_step: summary.current.clone(),
        progress: per_cent((summary.state, summary.ended), summary.done, summary.steps),
        steps_done: summary.done,
        steps_total: summary.steps,
        started_at: Stamp::millis(summary.begun_at),
        updated_at: Stamp::millis(summary.updated_at),
        escalation: asked.map(|asked| Box::new(asked.into())),
    }
}

impl StepStatus {
    fn all(guided: &Guided) -> Vec<Self> {
        (0..guided.run().plan().steps().len()).filter_map(|step| Self::of(guided, step)).collect()
    }

    fn of(guided: &Guided, number: usize) -> Option<Self> {
        let run = guided.run();
        let step = run.plan().step(number)?;
        let call = step.calls().map(|call| call.address.to_string());
        let open = guided.handed().is_some_and(|handed| handed.step == number);
        let time = |took| call.is_some().then(|| millis(took));
        let end = match run.state(number)? {
            State::Done { output, timing } => Some(StepEnding::Done {
                output: written(output),
                result: ToolGave::of(output).map(Box::new),
                execution_time_ms: time(timing.took),
            }),
            State::Failed { error, timing } => {
                Some(StepEnding::Failed { execution_time_ms: time(timing.took), error: error.into() })
            }
            State::Omitted { because, why } => {
                Some(StepEnding::LeftOut { because: id_of(guided, *because), reason: Some(why.to_string()) })
            }
            State::Skipped { because } => Some(StepEnding::LeftOut { because: id_of(guided, *because), reason: None }),
            State::Waiting | State::Ready | State::Running => None,
        };
        Some(Self {
            node_id: step.id.clone(),
            label: step.label.clone(),
            state: state_word(run.state(number), open),
            persona: guided.role(number).map(|role| role.name.clone()),
            end,
            generated: run.generated_of(number).map(GeneratedAnswer::of),
            warnings: warned(guided, number),
            closed: StepClosing::of(guided, number),
            answers: answers(guided, number),
            cut: StepCut::default(),
            call,
        })
    }

    fn pieces(&mut self) -> StepPieces<'_> {
        let pieces = match &mut self.end {
            Some(StepEnding::Done { output, .. }) => {
                vec![CutPiece::new("output", CutPart::PutOut, CutWords::Value(output))]
            }
            Some(StepEnding::Failed { .. } | StepEnding::LeftOut { .. }) | None => Vec::new(),
        };
        StepPieces { pieces, cut: &mut self.cut }
    }
}

impl StepClosing {
    fn of(guided: &Guided, step: usize) -> Option<Self> {
        let closing = guided.closing(step)?;
        let said = |key: &str| closing.output.get(key).cloned();
        Some(Self {
            summary: said("summary"),
            decisions: said("decisions"),
            confidence: said("confidence"),
            next_steps: said("nextSteps"),
            blockers: said("blockers"),
            references: said("references"),
            attempts: closing.attempt,
            completed_at: Stamp::millis(closing.at),
        })
    }
}

impl PromptAnswer {
    fn all(guided: &Guided) -> Vec<Self> {
        let run = guided.run();
        let shown = (0..run.plan().steps().len()).filter_map(|step| {
            let reached = guided.closing(step).is_some() || guided.handed().is_some_and(|handed| handed.step == step);
            let bound = run.bind(step, guided.rendering(step).filter(|_| reached)?).ok()?;
            Some(Self { node_id: id_of(guided, step), prompt: bound.text.clone() })
        });
        shown.collect()
    }
}

pub(in crate::report) fn state_word(state: Option<&State>, open: bool) -> &'static str {
    if open {
        return "open";
    }
    match state {
        Some(State::Running) => "running",
        Some(State::Ready) => "ready",
        Some(State::Done { .. }) => "done",
        Some(State::Failed { .. }) => "failed",
        Some(State::Skipped { .. }) => "skipped",
        Some(State::Omitted { .. }) => "omitted",
        Some(State::Waiting) | None => "waiting",
    }
}

impl Cuttable for GuidedStatus {
    fn parts(&mut self) -> CutParts<'_> {
        let steps = self.steps.iter_mut().flatten().map(StepStatus::pieces).collect();
        let (messages, finals) = self.standing.words();
        CutParts { cut: &mut self.cut, next_step: &mut self.next_step, steps, messages, finals }
    }

    fn shorten_lists(&mut self, limit: &Limit) -> bool {
        shorten(self, "steps", |status| status.steps.as_mut(), limit)
            || shorten(self, "completedSteps", |status| Some(&mut status.progress.completed_steps), limit)
            || shorten(self, "skipped", |status| status.standing.skipped.as_mut(), limit)
            || shorten(self, "findings", |status| status.findings.as_mut(), limit)
            || shorten(self, "failures", |status| Some(&mut status.standing.failures), limit)
    }
}
