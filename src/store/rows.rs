//! Entries of a log as rows of a table, both ways.
//!
//! The stored forms are types of their own: a change of the domain types is no change of what is
//! stored. No form is tagged from within or flattened, because numbers would lose their digits.

mod direct;
mod ends;

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use ends::{EndedForm, ended, ended_back};

use crate::code::Code;
use crate::model::{Breach, Generated, ToolFile};
use crate::plan::PlanRecord;
use crate::run::{
    Beginning, Entry, EscalationId, ExecutionId, Given, Limits, Moment, Outcome, Output, Rules, StepError, Ticket, Way,
};

/// Microseconds since 1970, which is what times are kept in.
pub(super) fn micros(at: DateTime<Utc>) -> i64 {
    at.timestamp_micros()
}

/// The time of these microseconds.
pub(super) fn time(micros: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_micros(micros).unwrap_or_default()
}

#[derive(Serialize, Deserialize)]
struct BegunForm {
    id: String,
    /// Missing in a guided one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    direct: Option<direct::DirectForm>,
    /// Missing where it began before there were any but the first.
    #[serde(default)]
    rules: u32,
    plan: PlanRecord,
    values: BTreeMap<String, Value>,
    set: Option<String>,
    task: Option<String>,
    step_limit: usize,
    whole_limit: usize,
    git_ref: Option<String>,
    commit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    models: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answers: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct OpenedForm {
    step: usize,
    ticket: String,
}

#[derive(Serialize, Deserialize)]
struct ClosedForm {
    ticket: String,
    outcome: String,
    output: Value,
}

#[derive(Serialize, Deserialize)]
struct BrokeForm {
    step: usize,
    code: Code,
    message: String,
}

#[derive(Serialize, Deserialize)]
struct BreachedForm {
    ticket: String,
    breaches: Vec<BreachForm>,
}

#[derive(Serialize, Deserialize)]
struct BreachForm {
    path: String,
    message: String,
}

#[derive(Serialize, Deserialize)]
struct EscalatedForm {
    id: String,
    ticket: String,
    reason: String,
    questions: Vec<String>,
    context: Option<Value>,
}

#[derive(Serialize, Deserialize)]
struct AnsweredForm {
    id: String,
    answers: Value,
    ticket: String,
}

#[derive(Serialize, Deserialize)]
struct ToolStartedForm {
    step: usize,
    owner: String,
    next: Option<usize>,
}

#[derive(Serialize, Deserialize)]
struct WaitsForm {
    step: usize,
    /// In microseconds since 1970.
    until: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    spent: Option<Arc<Generated>>,
}

#[derive(Serialize, Deserialize)]
struct OutputForm {
    text: String,
    value: Option<Value>,
    files: Vec<FileForm>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
    of_tool: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generated: Option<Arc<Generated>>,
}

#[derive(Serialize, Deserialize)]
struct FileForm {
    media_type: String,
    name: Option<String>,
    /// In Base64.
    bytes: String,
}

#[derive(Serialize, Deserialize)]
struct LeftOutForm {
    step: usize,
    why: String,
}

#[derive(Serialize, Deserialize)]
struct ToolAskedForm {
    id: String,
    step: usize,
    reason: String,
    questions: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Value>,
}

#[derive(Serialize, Deserialize)]
struct ToolDecidedForm {
    id: String,
    answers: Value,
}

#[derive(Serialize, Deserialize)]
struct CancelledForm {
    reason: Option<String>,
}

/// A moment's kind and its body as JSON.
///
/// # Errors
/// In words, when it can't be written.
pub fn encoded(moment: &Moment) -> Result<(&'static str, String), String> {
    match moment {
        Moment::Begun(beginning) => written("begun", &begun(beginning)?),
        Moment::Opened { step, ticket } => written("opened", &OpenedForm { step: *step, ticket: ticket.to_string() }),
        Moment::Closed { ticket, outcome, output } => written(
            "closed",
            &ClosedForm { ticket: ticket.to_string(), outcome: outcome.word().to_owned(), output: output.clone() },
        ),
        Moment::Broke { step, error } => {
            written("broke", &BrokeForm { step: *step, code: error.code, message: error.message.clone() })
        }
        Moment::Breached { ticket, breaches } => {
            let form = |breach: &Breach| BreachForm { path: breach.path.clone(), message: breach.message.clone() };
            let breaches = breaches.iter().map(form).collect();
            written("breached", &BreachedForm { ticket: ticket.to_string(), breaches })
        }
        Moment::Escalated { id, ticket, reason, questions, context } => written(
            "escalated",
            &EscalatedForm {
                id: id.to_string(),
                ticket: ticket.to_string(),
                reason: reason.clone(),
                questions: questions.clone(),
                context: context.clone(),
            },
        ),
        Moment::Answered { id, answers, ticket } => written(
            "answered",
            &AnsweredForm { id: id.to_string(), answers: answers.clone(), ticket: ticket.to_string() },
        ),
        Moment::ToolStarted { step, owner, next } => {
            written("tool_started", &ToolStartedForm { step: *step, owner: owner.clone(), next: *next })
        }
        Moment::ToolEnded { step, end } => written("tool_ended", &ended(*step, end)),
        Moment::Waits { step, until, spent } => {
            written("waits", &WaitsForm { step: *step, until: until.map(micros), spent: spent.clone() })
        }
        Moment::LeftOut { step, why } => written("left_out", &LeftOutForm { step: *step, why: why.clone() }),
        Moment::ToolAsked { id, step, reason, questions, arguments } => written(
            "tool_asked",
            &ToolAskedForm {
                id: id.to_string(),
                step: *step,
                reason: reason.clone(),
                questions: questions.clone(),
                arguments: arguments.clone(),
            },
        ),
        Moment::ToolDecided { id, answers } => {
            written("tool_decided", &ToolDecidedForm { id: id.to_string(), answers: answers.clone() })
        }
        Moment::Taken { .. } | Moment::StepStarted { .. } | Moment::StepEnded { .. } | Moment::Interrupted { .. } => {
            direct::encoded(moment).unwrap_or_else(|| Err("it has no form".to_owned()))
        }
        Moment::Cancelled { reason } => written("cancelled", &CancelledForm { reason: reason.clone() }),
    }
}

/// The entry that a row holds.
///
/// # Errors
/// In words, when the row can't be understood.
pub fn decoded(at: i64, kind: &str, body: &str) -> Result<Entry, String> {
    let moment = match kind {
        "begun" => Moment::Begun(Arc::new(begun_back(read(body)?)?)),
        "opened" => {
            let form: OpenedForm = read(body)?;
            Moment::Opened { step: form.step, ticket: Ticket::named(&form.ticket) }
        }
        "closed" => {
            let form: ClosedForm = read(body)?;
            let outcome = Outcome::named(&form.outcome);
            let outcome = outcome.ok_or_else(|| format!("{} is no outcome", form.outcome))?;
            Moment::Closed { ticket: Ticket::named(&form.ticket), outcome, output: form.output }
        }
        "broke" => {
            let form: BrokeForm = read(body)?;
            Moment::Broke { step: form.step, error: StepError::new(form.code, form.message) }
        }
        "breached" => {
            let form: BreachedForm = read(body)?;
            let back = |breach: BreachForm| Breach { path: breach.path, message: breach.message };
            Moment::Breached {
                ticket: Ticket::named(&form.ticket),
                breaches: form.breaches.into_iter().map(back).collect(),
            }
        }
        "escalated" => {
            let form: EscalatedForm = read(body)?;
            Moment::Escalated {
                id: EscalationId::named(&form.id),
                ticket: Ticket::named(&form.ticket),
                reason: form.reason,
                questions: form.questions,
                context: form.context,
            }
        }
        "answered" => {
            let form: AnsweredForm = read(body)?;
            Moment::Answered {
                id: EscalationId::named(&form.id),
                answers: form.answers,
                ticket: Ticket::named(&form.ticket),
            }
        }
        "tool_started" => {
            let form: ToolStartedForm = read(body)?;
            Moment::ToolStarted { step: form.step, owner: form.owner, next: form.next }
        }
        "tool_ended" => {
            let form: EndedForm = read(body)?;
            Moment::ToolEnded { step: form.step, end: ended_back(form)? }
        }
        "waits" => {
            let form: WaitsForm = read(body)?;
            Moment::Waits { step: form.step, until: form.until.map(time), spent: form.spent }
        }
        "left_out" => {
            let form: LeftOutForm = read(body)?;
            Moment::LeftOut { step: form.step, why: form.why }
        }
        "tool_asked" => {
            let form: ToolAskedForm = read(body)?;
            let id = EscalationId::named(&form.id);
            let (reason, questions, arguments) = (form.reason, form.questions, form.arguments);
            Moment::ToolAsked { id, step: form.step, reason, questions, arguments }
        }
        "tool_decided" => {
            let form: ToolDecidedForm = read(body)?;
            Moment::ToolDecided { id: EscalationId::named(&form.id), answers: form.answers }
        }
        "cancelled" => Moment::Cancelled { reason: read::<CancelledForm>(body)?.reason },
        other => direct::decoded(other, body)?
            .ok_or_else(|| format!("{} is no kind of entry that this program knows", crate::names::quoted(other)))?,
    };
    Ok(Entry { at: time(at), moment })
}

fn output_form(output: &Output) -> OutputForm {
    let file = |file: &ToolFile| FileForm {
        media_type: file.media_type.clone(),
        name: file.name.clone(),
        bytes: BASE64_STANDARD.encode(&file.bytes),
    };
    OutputForm {
        text: output.text.to_string(),
        value: output.value.as_deref().cloned(),
        files: output.files.iter().map(file).collect(),
        left_out: output.left_out.clone(),
        of_tool: output.of_tool,
        generated: output.generated.clone(),
    }
}

fn output_back(form: OutputForm) -> Result<Output, String> {
    let file = |file: FileForm| -> Result<ToolFile, String> {
        let bytes = BASE64_STANDARD.decode(file.bytes).map_err(|error| error.to_string())?;
        Ok(ToolFile { media_type: file.media_type, name: file.name, bytes: Arc::from(bytes) })
    };
    Ok(Output {
        value: form.value.map(Arc::new),
        files: form.files.into_iter().map(file).collect::<Result<_, _>>()?,
        left_out: form.left_out,
        of_tool: form.of_tool,
        generated: form.generated,
        ..Output::text(form.text)
    })
}

fn written<T: Serialize>(kind: &'static str, form: &T) -> Result<(&'static str, String), String> {
    serde_json::to_string(form).map(|body| (kind, body)).map_err(|error| error.to_string())
}

fn read<'b, T: Deserialize<'b>>(body: &'b str) -> Result<T, String> {
    serde_json::from_str(body).map_err(|error| error.to_string())
}

/// How deep JSON may be nested that is read again: `serde_json` stops there.
const DEEPEST: usize = 127;

/// Whether JSON is nested too deeply to be read again.
pub(super) fn is_too_deep(json: &str) -> bool {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    json.bytes().any(|byte| {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => depth += 1,
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEPEST
    })
}

fn begun(beginning: &Beginning) -> Result<BegunForm, String> {
    Ok(BegunForm {
        id: beginning.id.to_string(),
        direct: direct::DirectForm::of(beginning.way),
        plan: PlanRecord::of(&beginning.plan).map_err(|error| error.to_string())?,
        rules: beginning.rules.number(),
        values: beginning.given.values.clone(),
        set: beginning.given.set.clone(),
        task: beginning.task.clone(),
        step_limit: beginning.limits.step,
        whole_limit: beginning.limits.whole,
        git_ref: beginning.git_ref.clone(),
        commit: beginning.commit.clone(),
        source: beginning.source.clone(),
        models: beginning.models.clone(),
        answers: beginning.answers.clone(),
    })
}

fn begun_back(form: BegunForm) -> Result<Beginning, String> {
    Ok(Beginning {
        id: ExecutionId::named(&form.id),
        way: form.direct.map_or(Ok(Way::Guided), direct::DirectForm::back)?,
        rules: Rules::numbered(form.rules)
            .ok_or_else(|| format!("it goes by rules of version {}, which this program does not know", form.rules))?,
        plan: Arc::new(form.plan.plan().map_err(|error| error.to_string())?),
        given: Given { values: form.values, set: form.set, ..Given::default() },
        task: form.task,
        limits: Limits { step: form.step_limit, whole: form.whole_limit },
        git_ref: form.git_ref,
        commit: form.commit,
        source: form.source,
        models: form.models,
        answers: form.answers,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_deep_is_what_can_not_be_read_again() {
        for (open, close) in [("[", "]"), ("{\"[\\\"{\":", "}")] {
            for depth in 1..200 {
                let json = format!("{}\"{{ [ \\\" {{\"{}", open.repeat(depth), close.repeat(depth));
                assert_eq!(is_too_deep(&json), serde_json::from_str::<Value>(&json).is_err(), "{depth}: {json}");
            }
        }
    }
}
