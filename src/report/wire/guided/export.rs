//! A guided execution whole: nothing is cut, for programs and for pictures of it.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use super::status::{events, state_word};
use super::step::answers;
use super::{call_of, head, id_of, progress, time};
use crate::app::Story;
use crate::plan::Work;
use crate::report::wire::execution;
use crate::run::{Guided, Moment, Output, State};

/// Everything that is kept of an execution, in the order of its steps and of what happened.
pub fn exported(story: &Story) -> Value {
    let guided = &story.guided;
    let beginning = guided.beginning();
    let mut object = head(guided);
    object.insert("task".to_owned(), json!(beginning.task));
    object.insert("ref".to_owned(), json!(beginning.git_ref));
    object.insert("commit".to_owned(), json!(beginning.commit));
    object.insert("initialVariables".to_owned(), json!(beginning.given.values));
    object.insert("startedAt".to_owned(), time(guided.begun_at()));
    object.insert("updatedAt".to_owned(), time(guided.updated_at()));
    progress(&mut object, guided);
    if let Some(cancelled) = guided.cancelled() {
        object.insert("cancelReason".to_owned(), json!(cancelled.reason));
    }
    execution::results(&mut object, guided.run());
    let steps = (0..guided.run().plan().steps().len()).map(|step| exported_step(story, step));
    object.insert("steps".to_owned(), steps.collect());
    object.insert("escalations".to_owned(), escalations(guided));
    object.insert("events".to_owned(), events(guided, &story.entries));
    Value::Object(object)
}

fn exported_step(story: &Story, number: usize) -> Value {
    let guided = &story.guided;
    let run = guided.run();
    let mut object = Map::new();
    let Some(step) = run.plan().step(number) else { return Value::Null };
    object.insert("nodeId".to_owned(), json!(step.id));
    object.insert("label".to_owned(), json!(step.label));
    object.insert("description".to_owned(), json!(step.description));
    if let Work::Call(_) = &step.work {
        object.insert("call".to_owned(), json!(call_of(guided, number)));
    }
    let open = guided.handed().is_some_and(|handed| handed.step == number);
    object.insert("state".to_owned(), json!(state_word(run.state(number), open)));
    let parents: Vec<String> = step.parents.iter().map(|parent| id_of(guided, *parent)).collect();
    object.insert("dependsOn".to_owned(), json!(parents));
    if let Some(role) = guided.role(number) {
        object.insert("persona".to_owned(), json!({"name": role.name, "instructions": &*role.text}));
    }
    let handed_out = opened(story, number);
    object.insert("openedAt".to_owned(), handed_out.map_or(Value::Null, time));
    if handed_out.is_some() {
        let bound = guided.rendering(number).and_then(|rendering| run.bind(number, rendering).ok());
        object.insert("prompt".to_owned(), json!(bound.map(|bound| bound.text)));
        object.insert("contract".to_owned(), guided.terms(number).schema().clone());
        object.insert("breaches".to_owned(), breaches(story, number));
    }
    if let Some(closing) = guided.closing(number) {
        object.insert("outcome".to_owned(), json!(closing.outcome.word()));
        object.insert("output".to_owned(), closing.output.clone());
        object.insert("attempts".to_owned(), json!(closing.attempt));
        object.insert("completedAt".to_owned(), time(closing.at));
    }
    match run.state(number) {
        Some(State::Done { output, timing }) if guided.closing(number).is_none() => {
            object.insert("output".to_owned(), execution::text(output));
            if let Some(result) = execution::given_by_tool(output) {
                object.insert("result".to_owned(), result);
            }
            object.insert("files".to_owned(), files(output));
            object.insert("executionTimeMs".to_owned(), json!(crate::discover::millis(timing.took)));
            object.insert("completedAt".to_owned(), time(timing.at));
        }
        Some(State::Failed { error, .. }) => {
            object.insert("error".to_owned(), json!({"code": error.code, "message": error.message}));
        }
        Some(State::Skipped { because } | State::Omitted { because, .. }) => {
            object.insert("because".to_owned(), json!(id_of(guided, *because)));
        }
        _ => {}
    }
    object.insert("answers".to_owned(), answers(guided, number));
    Value::Object(object)
}

/// The files that a tool gave, whole.
fn files(output: &Output) -> Value {
    let whole = output.files.iter().map(
        |file| json!({"mediaType": file.media_type, "name": file.name, "blob": BASE64_STANDARD.encode(&file.bytes)}),
    );
    whole.collect()
}

/// When a step was handed out first.
fn opened(story: &Story, number: usize) -> Option<DateTime<Utc>> {
    let opened = |moment: &Moment| matches!(moment, Moment::Opened { step, .. } if *step == number);
    story.entries.iter().find(|entry| opened(&entry.moment)).map(|entry| entry.at)
}

/// The outputs of a step that were refused: when, and what was wrong with each.
fn breaches(story: &Story, number: usize) -> Value {
    let guided = &story.guided;
    let refused = story.entries.iter().filter_map(|entry| match &entry.moment {
        Moment::Breached { ticket, breaches } if guided.step_of(ticket) == Some(number) => {
            let issues: Vec<Value> =
                breaches.iter().map(|breach| json!({"path": breach.path, "message": breach.message})).collect();
            Some(json!({"at": time(entry.at), "issues": issues}))
        }
        _ => None,
    });
    refused.collect()
}

fn escalations(guided: &Guided) -> Value {
    let told = guided.escalations().iter().map(|asked| {
        let answer = asked.answer.as_ref();
        json!({
            "escalationId": asked.id.as_str(),
            "nodeId": id_of(guided, asked.step),
            "reason": asked.reason,
            "questions": asked.questions,
            "context": asked.context,
            "askedAt": time(asked.at),
            "answers": answer.map(|(answers, _, _)| answers),
            "answeredAt": answer.map(|(_, at, _)| time(*at)),
        })
    });
    told.collect()
}
