//! A guided execution whole: nothing is cut, for programs and for pictures of it.

use std::collections::BTreeMap;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::events::{EventAnswer, events, issues};
use super::status::{kind, state_word};
use super::step::{PersonsAnswer, answers};
use super::{Head, HowFar, call_of, id_of};
use crate::app::Story;
use crate::discover::millis;
use crate::report::wire::common::{Fault, Results, Stamp, ToolGave, written};
use crate::run::{Escalation, Guided, Moment, Output, State};

/// Everything that is kept of an execution, in the order of its steps and of what happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportedExecution {
    #[serde(flatten)]
    head: Head,
    /// Who does the steps: the client's model, or the server.
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
    /// Why it was cancelled; null where nobody said, absent where it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    cancel_reason: Option<Value>,
    #[serde(flatten)]
    results: Results,
    /// Every step, in order.
    steps: Vec<ExportedStep>,
    /// Every question to a person.
    escalations: Vec<Value>,
    /// Everything that happened, in order.
    events: Vec<EventAnswer>,
}

/// A step with everything that is kept of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// The role that the model takes on, with its whole text.
    #[serde(skip_serializing_if = "Option::is_none")]
    persona: Option<Value>,
    /// When it was handed out first (ISO 8601, UTC); null where it never was.
    opened_at: Option<Stamp>,
    /// What it was handed.
    #[serde(flatten)]
    handed: Option<Value>,
    /// How the model closed it.
    #[serde(flatten)]
    closed: Option<Value>,
    /// How it ended.
    #[serde(flatten)]
    end: Option<Value>,
    /// What a person answered about this step, in order.
    answers: Vec<PersonsAnswer>,
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
        cancel_reason: guided.cancelled().map(|cancelled| json!(cancelled.reason)),
        results: Results::of(guided.run()),
        steps: (0..guided.run().plan().steps().len()).filter_map(|step| ExportedStep::of(story, step)).collect(),
        escalations: guided.escalations().iter().map(|asked| question(guided, asked)).collect(),
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
            persona: persona.map(|role| json!({"name": role.name, "instructions": *role.text})),
            handed: opened_at.is_some().then(|| handed(story, number)),
            opened_at,
            closed: guided.closing(number).map(|closing| {
                json!({
                    "outcome": closing.outcome.word(),
                    "output": closing.output,
                    "attempts": closing.attempt,
                    "completedAt": Stamp::millis(closing.at),
                })
            }),
            end: ended(guided, number),
            answers: answers(guided, number),
        })
    }
}

/// What a step was handed: its text, filled in, the contract of the output, and the outputs that were refused.
fn handed(story: &Story, number: usize) -> Value {
    let guided = &story.guided;
    let bound = guided.rendering(number).and_then(|rendering| guided.run().bind(number, rendering).ok());
    let refused = story.entries.iter().filter_map(|entry| {
        let Moment::Breached { ticket, breaches } = &entry.moment else { return None };
        let breach = || json!({"at": Stamp::millis(entry.at), "issues": issues(breaches)});
        (guided.step_of(ticket) == Some(number)).then(breach)
    });
    json!({
        "prompt": bound.map(|bound| bound.text.clone()),
        "contract": guided.terms(number).schema(),
        "breaches": refused.collect::<Vec<_>>(),
    })
}

/// How a step ended, with the times of what a tool did and the files that it gave, whole.
fn ended(guided: &Guided, number: usize) -> Option<Value> {
    match guided.run().state(number)? {
        // What the model handed in stands there already.
        State::Done { .. } if guided.closing(number).is_some() => None,
        State::Done { output, timing } => {
            let mut done = Map::from_iter([("output".to_owned(), written(output))]);
            done.extend(ToolGave::of(output).map(|gave| ("result".to_owned(), json!(gave))));
            done.insert("files".to_owned(), files(output));
            done.insert("executionTimeMs".to_owned(), json!(millis(timing.took)));
            done.insert("completedAt".to_owned(), json!(Stamp::millis(timing.at)));
            Some(Value::Object(done))
        }
        State::Failed { error, .. } => Some(json!({"error": Fault::from(error)})),
        State::Skipped { because } | State::Omitted { because, .. } => {
            Some(json!({"because": id_of(guided, *because)}))
        }
        State::Waiting | State::Ready | State::Running => None,
    }
}

/// The files that a tool gave, whole, their bytes in Base64.
fn files(output: &Output) -> Value {
    let whole = output.files.iter().map(
        |file| json!({"mediaType": file.media_type, "name": file.name, "blob": BASE64_STANDARD.encode(&file.bytes)}),
    );
    whole.collect()
}

/// When a step was handed out first.
fn opened(story: &Story, number: usize) -> Option<Stamp> {
    let opened = |moment: &Moment| matches!(moment, Moment::Opened { step, .. } if *step == number);
    story.entries.iter().find(|entry| opened(&entry.moment)).map(|entry| Stamp::millis(entry.at))
}

/// A question to a person; its answer and when that came are null where nobody answered.
fn question(guided: &Guided, asked: &Escalation) -> Value {
    let answer = asked.answer.as_ref();
    json!({
        "escalationId": asked.id.as_str(),
        "nodeId": id_of(guided, asked.step),
        "reason": asked.reason,
        "questions": asked.questions,
        "context": asked.context,
        "askedAt": Stamp::millis(asked.at),
        "answers": answer.map(|(answers, _, _)| answers),
        "answeredAt": answer.map(|(_, at, _)| Stamp::millis(*at)),
    })
}
