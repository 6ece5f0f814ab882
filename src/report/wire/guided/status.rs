//! Where a guided execution stands, and everything a status may add to that.

use serde_json::{Map, Value, json};

use super::step::{answers, cut};
use super::{finish, head, id_of, open, per_cent, progress, time};
use crate::app::{Section, Story, Summary};
use crate::plan::Work;
use crate::report::wire::execution;
use crate::run::{Entry, Guided, Moment, State};

/// How much of a text an event shows, in characters.
const EVENT: usize = 500;
/// How much of an artifact is shown, in characters; a status with its `ref` pages the whole.
const ARTIFACT: usize = 4_000;
/// Severities of findings, the worst first.
const SEVERITIES: [&str; 5] = ["critical", "high", "medium", "low", "info"];

/// Where a guided execution stands, and what was asked for besides.
pub fn guided_status(story: &Story, include: &[Section]) -> Value {
    let guided = &story.guided;
    let mut object = head(guided);
    object.insert("kind".to_owned(), json!("guided"));
    object.insert(
        "currentStep".to_owned(),
        json!(
            guided
                .handed()
                .map(|handed| handed.step)
                .or_else(|| Some(guided.tool_at_work()?.step))
                .map(|step| id_of(guided, step))
        ),
    );
    progress(&mut object, guided);
    object.insert("startedAt".to_owned(), time(guided.begun_at()));
    object.insert("updatedAt".to_owned(), time(guided.updated_at()));
    if let Some(task) = &guided.beginning().task {
        object.insert("task".to_owned(), json!(task));
    }
    if let Some(asked) =
        guided.escalations().iter().find(|asked| asked.answer.is_none() && guided.cancelled().is_none())
    {
        object.insert(
            "escalation".to_owned(),
            json!({"escalationId": asked.id.as_str(), "reason": asked.reason, "questions": asked.questions,
                   "context": asked.context, "askedAt": time(asked.at), "resumeWith": "flows_resume"}),
        );
    }
    if let Some(reason) = guided.cancelled().and_then(|cancelled| cancelled.reason.as_ref()) {
        object.insert("reason".to_owned(), json!(reason));
    }
    open(&mut object, guided, true);
    for section in Section::ALL.map(|(section, _)| section).into_iter().filter(|section| include.contains(section)) {
        let (key, value) = match section {
            Section::Steps => ("steps", steps(guided)),
            Section::Artifacts => ("artifacts", artifacts(guided)),
            Section::Findings => ("findings", findings(guided)),
            Section::Prompts => ("prompts", prompts(guided)),
            Section::Events => ("events", events(guided, &story.entries)),
        };
        object.insert(key.to_owned(), value);
    }
    finish(object, guided)
}

/// One line of a list.
pub fn guided_summary(summary: &Summary) -> Value {
    let mut object = Map::new();
    object.insert("executionId".to_owned(), json!(summary.id));
    object.insert("flowName".to_owned(), json!(summary.flow));
    object.insert("kind".to_owned(), json!("guided"));
    object.insert("state".to_owned(), json!(summary.state.word()));
    if let Some(task) = &summary.task {
        object.insert("task".to_owned(), json!(task));
    }
    if let Some(current) = &summary.current {
        object.insert("currentStep".to_owned(), json!(current));
    }
    object.insert("progress".to_owned(), json!(per_cent(summary.ended, summary.steps)));
    object.insert("stepsDone".to_owned(), json!(summary.done));
    object.insert("stepsTotal".to_owned(), json!(summary.steps));
    object.insert("startedAt".to_owned(), time(summary.begun_at));
    object.insert("updatedAt".to_owned(), time(summary.updated_at));
    Value::Object(object)
}

fn steps(guided: &Guided) -> Value {
    let run = guided.run();
    let shown = run.plan().steps().iter().enumerate().map(|(number, step)| {
        let mut object = Map::new();
        object.insert("nodeId".to_owned(), json!(step.id));
        object.insert("label".to_owned(), json!(step.label));
        if let Work::Call(call) = &step.work {
            object.insert("call".to_owned(), json!(call.address.to_string()));
        }
        let open = guided.handed().is_some_and(|handed| handed.step == number);
        object.insert("state".to_owned(), json!(state_word(run.state(number), open)));
        if let Some(role) = guided.role(number) {
            object.insert("persona".to_owned(), json!(role.name));
        }
        match run.state(number) {
            Some(State::Done { output, timing }) => {
                object.insert("output".to_owned(), execution::text(output));
                if let Some(result) = execution::given_by_tool(output) {
                    object.insert("result".to_owned(), result);
                }
                if let Work::Call(_) = &step.work {
                    object.insert("executionTimeMs".to_owned(), json!(crate::discover::millis(timing.took)));
                }
            }
            Some(State::Failed { error, timing }) => {
                if let Work::Call(_) = &step.work {
                    object.insert("executionTimeMs".to_owned(), json!(crate::discover::millis(timing.took)));
                }
                object.insert("error".to_owned(), json!({"code": error.code, "message": error.message}));
            }
            Some(State::Omitted { because, why }) => {
                object.insert("because".to_owned(), json!(id_of(guided, *because)));
                object.insert("reason".to_owned(), json!(&**why));
            }
            Some(State::Skipped { because }) => {
                object.insert("because".to_owned(), json!(id_of(guided, *because)));
            }
            _ => {}
        }
        if let Some(closing) = guided.closing(number) {
            for key in ["summary", "decisions", "confidence", "nextSteps", "blockers", "references"] {
                if let Some(said) = closing.output.get(key) {
                    object.insert(key.to_owned(), said.clone());
                }
            }
            object.insert("attempts".to_owned(), json!(closing.attempt));
            object.insert("completedAt".to_owned(), time(closing.at));
        }
        let answers = answers(guided, number);
        if answers.as_array().is_some_and(|answers| !answers.is_empty()) {
            object.insert("answers".to_owned(), answers);
        }
        Value::Object(object)
    });
    shown.collect()
}

pub(in crate::report) fn state_word(state: Option<&State>, open: bool) -> &'static str {
    match state {
        _ if open => "open",
        Some(State::Running) => "running",
        Some(State::Ready) => "ready",
        Some(State::Done { .. }) => "done",
        Some(State::Failed { .. }) => "failed",
        Some(State::Skipped { .. }) => "skipped",
        Some(State::Omitted { .. }) => "omitted",
        Some(State::Waiting) | None => "waiting",
    }
}

/// What every step handed in under a name, with the step.
fn handed_in(guided: &Guided, key: &str) -> Vec<(String, usize, Map<String, Value>)> {
    let mut all = Vec::new();
    for step in 0..guided.run().plan().steps().len() {
        let items = guided.closing(step).and_then(|closing| closing.output.get(key)).and_then(Value::as_array);
        for (place, item) in items.into_iter().flatten().enumerate() {
            if let Value::Object(fields) = item {
                all.push((id_of(guided, step), place, fields.clone()));
            }
        }
    }
    all
}

fn artifacts(guided: &Guided) -> Value {
    let shown = handed_in(guided, "artifacts").into_iter().map(|(id, place, mut fields)| {
        if let Some(content) = fields.get_mut("content") {
            let text = match &*content {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let length = text.chars().count();
            if length > ARTIFACT {
                *content = json!(cut(&text, ARTIFACT));
                fields.insert("contentLength".to_owned(), json!(length));
            }
        }
        let mut object = Map::new();
        object.insert("nodeId".to_owned(), json!(id));
        object.insert("ref".to_owned(), json!(format!("{id}/artifacts/{place}")));
        object.extend(fields);
        Value::Object(object)
    });
    shown.collect()
}

fn findings(guided: &Guided) -> Value {
    let mut all = handed_in(guided, "findings");
    let rank = |fields: &Map<String, Value>| {
        let word = fields.get("severity").and_then(Value::as_str);
        SEVERITIES.iter().position(|severity| Some(*severity) == word).unwrap_or(SEVERITIES.len())
    };
    all.sort_by_key(|(_, _, fields)| rank(fields));
    let shown = all.into_iter().map(|(id, _, fields)| {
        let mut object = Map::new();
        object.insert("nodeId".to_owned(), json!(id));
        object.extend(fields);
        Value::Object(object)
    });
    shown.collect()
}

fn prompts(guided: &Guided) -> Value {
    let run = guided.run();
    let shown = (0..run.plan().steps().len()).filter_map(|step| {
        let reached = guided.closing(step).is_some() || guided.handed().is_some_and(|handed| handed.step == step);
        let bound = run.bind(step, guided.rendering(step).filter(|_| reached)?).ok()?;
        Some(json!({"nodeId": id_of(guided, step), "prompt": bound.text}))
    });
    shown.collect()
}

/// What happened, in order.
pub fn events(guided: &Guided, entries: &[Entry]) -> Value {
    entries.iter().enumerate().map(|(place, entry)| event(guided, place + 1, entry)).collect()
}

fn event(guided: &Guided, number: usize, entry: &Entry) -> Value {
    let mut object = Map::new();
    object.insert("seq".to_owned(), json!(number));
    object.insert("at".to_owned(), time(entry.at));
    let mut put = |key: &str, value: Value| {
        object.insert(key.to_owned(), value);
    };
    match &entry.moment {
        Moment::Begun(beginning) => {
            put("event", json!("begun"));
            put("flowName", json!(beginning.plan.flow().name.as_str()));
            put("commit", json!(beginning.commit));
        }
        Moment::Opened { step, .. } => {
            put("event", json!("opened"));
            put("nodeId", json!(id_of(guided, *step)));
        }
        Moment::Closed { ticket, outcome, output } => {
            put("event", json!("closed"));
            if let Some(step) = guided.step_of(ticket) {
                put("nodeId", json!(id_of(guided, step)));
            }
            put("outcome", json!(outcome.word()));
            let said = output.get("summary").and_then(Value::as_str).map_or_else(|| output.to_string(), str::to_owned);
            put("summary", json!(cut(&said, EVENT)));
        }
        Moment::Broke { step, error } => {
            put("event", json!("broke"));
            put("nodeId", json!(id_of(guided, *step)));
            put("error", json!({"code": error.code, "message": error.message}));
        }
        Moment::Breached { breaches, .. } => {
            put("event", json!("breached"));
            let issues: Vec<Value> =
                breaches.iter().map(|breach| json!({"path": breach.path, "message": breach.message})).collect();
            put("issues", Value::Array(issues));
        }
        Moment::Escalated { id, reason, questions, .. } => {
            put("event", json!("escalated"));
            put("escalationId", json!(id.as_str()));
            put("reason", json!(cut(reason, EVENT)));
            put("questions", json!(questions));
        }
        Moment::Answered { id, answers, .. } | Moment::ToolDecided { id, answers } => {
            put("event", json!("answered"));
            put("escalationId", json!(id.as_str()));
            put("answers", answers.clone());
        }
        Moment::ToolStarted { step, .. } => {
            put("event", json!("tool_started"));
            put("nodeId", json!(id_of(guided, *step)));
            put("call", json!(super::call_of(guided, *step)));
        }
        Moment::ToolEnded { step, result, took, calls, retries } => {
            put("event", json!("tool_ended"));
            put("nodeId", json!(id_of(guided, *step)));
            match result {
                Ok(output) => put("summary", json!(cut(&output.text, EVENT))),
                Err(error) => put("error", json!({"code": error.code, "message": error.message})),
            }
            put("executionTimeMs", json!(crate::discover::millis(*took)));
            put("toolCalls", json!(calls));
            put("retries", json!(retries));
        }
        Moment::LeftOut { step, why } => {
            put("event", json!("left_out"));
            put("nodeId", json!(id_of(guided, *step)));
            put("reason", json!(why));
        }
        Moment::ToolAsked { id, step, reason, questions } => {
            put("event", json!("escalated"));
            put("nodeId", json!(id_of(guided, *step)));
            put("escalationId", json!(id.as_str()));
            put("reason", json!(cut(reason, EVENT)));
            put("questions", json!(questions));
        }
        Moment::Cancelled { reason } => {
            put("event", json!("cancelled"));
            put("reason", json!(reason));
        }
    }
    Value::Object(object)
}
