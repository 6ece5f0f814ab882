//! A guided execution whole: nothing is cut, for programs and for pictures of it.

use std::collections::BTreeMap;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::events::{EventAnswer, IssueAnswer, events, issues};
use super::status::{kind, state_word};
use super::step::{PersonsAnswer, answers};
use super::{Head, HowFar, call_of, id_of};
use crate::app::Story;
use crate::discover::millis;
use crate::report::wire::common::{Fault, Results, Stamp, ToolGave, written};
use crate::run::{Escalation, Guided, Moment, Output, State};

/// Everything that is kept of an execution, in the order of its steps and of what happened.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedExecution {
    #[serde(flatten)]
    head: Head,
    /// Who does the steps: the client's model, or the server.
    #[schemars(extend("enum" = ["guided", "direct"]))]
    kind: &'static str,
    /// What the whole is for.
    task: Option<String>,
    /// Branch, tag or commit that was read; null for a folder.
    #[serde(rename = "ref")]
    git_ref: Option<String>,
    /// The commit that the execution keeps to; null for a folder.
    commit: Option<String>,
    /// The values that were given.
    initial_variables: BTreeMap<String, Value>,
    /// When the execution began (ISO 8601, UTC).
    started_at: Stamp,
    /// When something last happened (ISO 8601, UTC).
    updated_at: Stamp,
    #[serde(flatten)]
    progress: HowFar,
    #[serde(flatten)]
    cancelled: Option<ExportedCancelling>,
    #[serde(flatten)]
    results: Results,
    /// Every step, in order.
    steps: Vec<ExportedStep>,
    /// Every question to a person.
    escalations: Vec<ExportedQuestion>,
    /// Everything that happened, in order.
    events: Vec<EventAnswer>,
}

/// That it was cancelled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ExportedCancelling {
    /// Why it was cancelled; null where nobody said.
    cancel_reason: Option<String>,
}

/// A step with everything that is kept of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedStep {
    /// Id of the node.
    node_id: String,
    /// Name of the step as people read it.
    label: String,
    /// What the step is for; null where the file does not say it.
    description: Option<String>,
    /// The tool that the server calls for it, as alias:tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<String>,
    /// Where it stands.
    state: &'static str,
    /// Ids of the steps whose end it waits for.
    depends_on: Vec<String>,
    /// The role that the model takes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    persona: Option<ExportedPersona>,
    /// When it was handed out first (ISO 8601, UTC); null where it never was.
    opened_at: Option<Stamp>,
    #[serde(flatten)]
    handed: Option<ExportedHanding>,
    #[serde(flatten)]
    closed: Option<ExportedClosing>,
    #[serde(flatten)]
    end: Option<ExportedEnd>,
    /// What a person answered about this step, in order.
    answers: Vec<PersonsAnswer>,
}

/// A role with its whole text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExportedPersona {
    /// Name of the persona.
    name: String,
    /// Its text.
    instructions: String,
}

/// What a step was handed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
struct ExportedHanding {
    /// Its text, filled in.
    prompt: Option<String>,
    /// The JSON Schema that the output must meet.
    contract: Value,
    /// The outputs that were refused.
    breaches: Vec<ExportedBreach>,
}

/// An output that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct ExportedBreach {
    /// When (ISO 8601, UTC).
    at: Stamp,
    /// Every place where it does not meet the contract.
    issues: Vec<IssueAnswer>,
}

/// How the model closed a step.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ExportedClosing {
    /// How it was closed: done, failed or skipped.
    outcome: &'static str,
    /// What was handed in.
    output: Value,
    /// Which attempt was taken.
    attempts: u32,
    /// When it was closed (ISO 8601, UTC).
    completed_at: Stamp,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all_fields = "camelCase", untagged)]
enum ExportedEnd {
    Done {
        /// What later steps read of it.
        output: Value,
        /// What a tool gave besides its text.
        #[serde(skip_serializing_if = "Option::is_none")]
        result: Option<Box<ToolGave>>,
        /// The files that the tool gave, whole.
        files: Vec<ExportedFile>,
        /// How long the tool took, in milliseconds.
        execution_time_ms: f64,
        /// When it ended (ISO 8601, UTC).
        completed_at: Stamp,
    },
    Failed {
        /// What went wrong.
        error: Fault,
    },
    LeftOut {
        /// Id of the step that is the reason.
        because: String,
    },
}

/// A file, whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedFile {
    /// Its media type.
    media_type: String,
    /// Its name; null where the tool gave none.
    name: Option<String>,
    /// Its bytes in Base64.
    blob: String,
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportedQuestion {
    /// Id of the question.
    escalation_id: String,
    /// Id of the step that it is about.
    node_id: String,
    /// Why it was asked.
    reason: String,
    /// What was asked.
    questions: Vec<String>,
    /// What the person should know.
    context: Option<Value>,
    /// When (ISO 8601, UTC).
    asked_at: Stamp,
    /// What the person said; null where nobody answered.
    answers: Option<Value>,
    /// When, ISO 8601 in UTC; null where nobody answered.
    answered_at: Option<Stamp>,
}

/// Everything that is kept of an execution.
pub fn exported(story: &Story) -> ExportedExecution {
    let guided = &story.guided;
    let beginning = guided.beginning();
    ExportedExecution {
        head: Head::of(guided),
        kind: kind(guided.is_direct()),
        task: beginning.task.clone(),
        git_ref: beginning.git_ref.clone(),
        commit: beginning.commit.clone(),
        initial_variables: beginning.given.values.clone(),
        started_at: Stamp::millis(guided.begun_at()),
        updated_at: Stamp::millis(guided.updated_at()),
        progress: HowFar::of(guided),
        cancelled: guided.cancelled().map(|cancelled| ExportedCancelling { cancel_reason: cancelled.reason.clone() }),
        results: Results::of(guided.run()),
        steps: (0..guided.run().plan().steps().len()).filter_map(|step| ExportedStep::of(story, step)).collect(),
        escalations: guided.escalations().iter().map(|asked| ExportedQuestion::of(guided, asked)).collect(),
        events: events(guided, &story.entries),
    }
}

impl ExportedStep {
    fn of(story: &Story, number: usize) -> Option<Self> {
        let guided = &story.guided;
        let run = guided.run();
        let step = run.plan().step(number)?;
        let open = guided.handed().is_some_and(|handed| handed.step == number);
        let opened_at = opened(story, number);
        let persona = guided.role(number);
        Some(Self {
            node_id: step.id.clone(),
            label: step.label.clone(),
            description: step.description.clone(),
            call: call_of(guided, number),
            state: state_word(run.state(number), open),
            depends_on: step.parents.iter().map(|parent| id_of(guided, *parent)).collect(),
            persona: persona
                .map(|role| ExportedPersona { name: role.name.clone(), instructions: role.text.to_string() }),
            handed: opened_at.is_some().then(|| ExportedHanding::of(story, number)),
            opened_at,
            closed: guided.closing(number).map(|closing| ExportedClosing {
                outcome: closing.outcome.word(),
                output: closing.output.clone(),
                attempts: closing.attempt,
                completed_at: Stamp::millis(closing.at),
            }),
            end: ExportedEnd::of(guided, number),
            answers: answers(guided, number),
        })
    }
}

impl ExportedHanding {
    fn of(story: &Story, number: usize) -> Self {
        let guided = &story.guided;
        let bound = guided.rendering(number).and_then(|rendering| guided.run().bind(number, rendering).ok());
        let refused = story.entries.iter().filter_map(|entry| {
            let Moment::Breached { ticket, breaches } = &entry.moment else { return None };
            let breach = || ExportedBreach { at: Stamp::millis(entry.at), issues: issues(breaches) };
            (guided.step_of(ticket) == Some(number)).then(breach)
        });
        Self {
            prompt: bound.map(|bound| bound.text.clone()),
            contract: guided.terms(number).schema().clone(),
            breaches: refused.collect(),
        }
    }
}

impl ExportedEnd {
    fn of(guided: &Guided, number: usize) -> Option<Self> {
        match guided.run().state(number)? {
            // What the model handed in stands there already.
            State::Done { .. } if guided.closing(number).is_some() => None,
            State::Done { output, timing } => Some(Self::Done {
                output: written(output),
                result: ToolGave::of(output).map(Box::new),
                files: files(output),
                execution_time_ms: millis(timing.took),
                completed_at: Stamp::millis(timing.at),
            }),
            State::Failed { error, .. } => Some(Self::Failed { error: error.into() }),
            State::Skipped { because } | State::Omitted { because, .. } => {
                Some(Self::LeftOut { because: id_of(guided, *because) })
            }
            State::Waiting | State::Ready | State::Running => None,
        }
    }
}

/// The files that a tool gave, whole.
fn files(output: &Output) -> Vec<ExportedFile> {
    let whole = output.files.iter().map(|file| ExportedFile {
        media_type: file.media_type.clone(),
        name: file.name.clone(),
        blob: BASE64_STANDARD.encode(&file.bytes),
    });
    whole.collect()
}

/// When a step was handed out first.
fn opened(story: &Story, number: usize) -> Option<Stamp> {
    let opened = |moment: &Moment| matches!(moment, Moment::Opened { step, .. } if *step == number);
    story.entries.iter().find(|entry| opened(&entry.moment)).map(|entry| Stamp::millis(entry.at))
}

impl ExportedQuestion {
    fn of(guided: &Guided, asked: &Escalation) -> Self {
        let answer = asked.answer.as_ref();
        Self {
            escalation_id: asked.id.to_string(),
            node_id: id_of(guided, asked.step),
            reason: asked.reason.clone(),
            questions: asked.questions.clone(),
            context: asked.context.clone(),
            asked_at: Stamp::millis(asked.at),
            answers: answer.map(|(answers, _, _)| answers.clone()),
            answered_at: answer.map(|(_, at, _)| Stamp::millis(*at)),
        }
    }
}
