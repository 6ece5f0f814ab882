//! What happened in an execution, a card for each entry of its log; a call and its answer share one.

use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use chrono::{DateTime, Utc};
use serde_json::Value;

use super::naming::{call_of, label};
use crate::model::ToolFile;
use crate::report::human;
use crate::report::markup::{HtmlText, folded, long, time};
use crate::run::{Entry, Guided, Moment, Output, StepError, StoredEnd};

/// Media types that every browser shows as a picture, in which nothing runs.
const PICTURES: [&str; 5] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"];

/// A card: what an entry of the log says.
pub(super) fn told(page: &mut String, guided: &Guided, place: usize, entry: &Entry) {
    let name = |step: Option<usize>| step.map(|step| label(guided, step)).unwrap_or_default().to_owned();
    match &entry.moment {
        Moment::Begun(beginning) => {
            begin(page, (place, entry), "begun", "The execution began");
            let values = &beginning.given.values;
            if !values.is_empty() {
                let values = values.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                part(page, "Values given", &Value::Object(values));
            }
        }
        Moment::Opened { step, .. } => {
            begin(page, (place, entry), "opened", &format!("{} was handed out", label(guided, *step)));
            if let Some(role) = guided.role(*step) {
                let _ = writeln!(page, "<p>As <strong>{}</strong></p>", HtmlText(&role.name));
            }
            let bound = guided.rendering(*step).and_then(|rendering| guided.run().bind(*step, rendering).ok());
            if let Some(bound) = bound {
                let _ = writeln!(
                    page,
                    "<details><summary>The prompt</summary><div class=\"text\">{}</div></details>",
                    HtmlText(&bound.text)
                );
            }
        }
        Moment::Closed { ticket, outcome, output } => {
            begin(
                page,
                (place, entry),
                outcome.word(),
                &format!("{}: {}", name(guided.step_of(ticket)), outcome.word()),
            );
            match output.as_object() {
                Some(fields) => fields.iter().for_each(|(key, value)| part(page, key, value)),
                None => long(page, "Output", &as_text(output)),
            }
        }
        Moment::Broke { step, error } => {
            begin(page, (place, entry), "failed", &format!("{} could not be handed out", label(guided, *step)));
            let _ = writeln!(page, "<p><code>{}</code> {}</p>", error.code, HtmlText(&error.message));
        }
        Moment::Breached { ticket, breaches } => {
            begin(
                page,
                (place, entry),
                "breached",
                &format!("{}: the contract was not met", name(guided.step_of(ticket))),
            );
            page.push_str("<ul>\n");
            for breach in breaches {
                let _ =
                    writeln!(page, "<li><code>{}</code> {}</li>", HtmlText(&breach.path), HtmlText(&breach.message));
            }
            page.push_str("</ul>\n");
        }
        Moment::Escalated { ticket, reason, questions, context, .. } => {
            begin(page, (place, entry), "asked", &format!("{}: a person was asked", name(guided.step_of(ticket))));
            let _ = writeln!(page, "<p>{}</p>\n<ol>", HtmlText(reason));
            for question in questions {
                let _ = writeln!(page, "<li>{}</li>", HtmlText(question));
            }
            page.push_str("</ol>\n");
            if let Some(context) = context {
                part(page, "Context", context);
            }
        }
        Moment::Answered { answers, .. } => {
            begin(page, (place, entry), "answered", "The person answered");
            part(page, "Answers", answers);
        }
        Moment::ToolStarted { .. }
        | Moment::ToolEnded { .. }
        | Moment::Waits { .. }
        | Moment::LeftOut { .. }
        | Moment::ToolAsked { .. }
        | Moment::ToolDecided { .. }
        | Moment::Taken { .. }
        | Moment::StepStarted { .. }
        | Moment::StepEnded { .. }
        | Moment::Interrupted { .. } => told_of_server(page, guided, place, entry),
        Moment::Cancelled { reason } => {
            begin(page, (place, entry), "cancelled", "The execution was cancelled");
            if let Some(reason) = reason {
                let _ = writeln!(page, "<p>{}</p>", HtmlText(reason));
            }
        }
    }
    page.push_str("</li>\n");
}

/// The head of a card, with the name by which the table of steps leads to it.
fn begin(page: &mut String, (place, entry): (usize, &Entry), class: &str, title: &str) {
    let _ = writeln!(page, "<li class=\"{class}\" id=\"e{}\">\n<h3>{}</h3>{}", place, HtmlText(title), time(entry.at));
}

fn told_of_server(page: &mut String, guided: &Guided, place: usize, entry: &Entry) {
    match &entry.moment {
        Moment::Taken { .. } => begin(page, (place, entry), "opened", "The server begins with the steps"),
        Moment::Interrupted { error } => {
            begin(page, (place, entry), "cancelled", "The execution was interrupted");
            let _ = writeln!(page, "<p><code>{}</code> {}</p>", error.code, HtmlText(&error.message));
        }
        Moment::ToolEnded { step, end: StoredEnd { result, took, warnings, .. } }
        | Moment::StepEnded { step, end: StoredEnd { result, took, warnings, .. } }
            if guided.run().plan().step(*step).is_some_and(|step| step.calls().is_none()) =>
        {
            let (class, how) = if result.is_ok() { ("done", "done") } else { ("failed", "failed") };
            begin(page, (place, entry), class, &format!("{}: {how}", label(guided, *step)));
            let generated = match result {
                Ok(output) => output.generated.as_deref(),
                Err(error) => error.generated.as_deref(),
            };
            if let Some(generated) = generated {
                let cost = generated.cost.as_ref().map(|cost| format!(" · {}", human::money(cost))).unwrap_or_default();
                let answered = human::answered(generated);
                let _ = writeln!(page, "<p>{}{cost} · {}</p>", HtmlText(&answered), human::time(*took));
            }
            for warning in warnings {
                let _ = writeln!(page, "<p><code>{}</code> {}</p>", warning.code.word(), HtmlText(&warning.message));
            }
            gave(page, result);
        }
        Moment::ToolStarted { step, .. } | Moment::StepStarted { step } => {
            let call = call_of(guided, *step);
            let what = if call.is_empty() { "a model is asked".to_owned() } else { format!("{call} is called") };
            begin(page, (place, entry), "opened", &format!("{}: {what}", label(guided, *step)));
        }
        Moment::Waits { step, until, .. } => {
            begin(page, (place, entry), "asked", &format!("{}: {}", label(guided, *step), waits(*until)));
        }
        Moment::ToolEnded { step, end: StoredEnd { result, took, calls, .. } }
        | Moment::StepEnded { step, end: StoredEnd { result, took, calls, .. } } => {
            let class = if result.is_ok() { "done" } else { "failed" };
            let how = if result.is_ok() { "answered" } else { "failed" };
            begin(page, (place, entry), class, &format!("{}: {} {how}", label(guided, *step), call_of(guided, *step)));
            let tries = if *calls > 1 { format!(", {calls} calls") } else { String::new() };
            let _ = writeln!(page, "<p>{}{tries}</p>", human::time(*took));
            gave(page, result);
        }
        Moment::LeftOut { step, why } => {
            begin(page, (place, entry), "skipped", &format!("{} was skipped", label(guided, *step)));
            let _ = writeln!(page, "<p>{}</p>", HtmlText(why));
        }
        Moment::ToolAsked { step, reason, questions, arguments, .. } => {
            begin(page, (place, entry), "asked", &format!("{}: a person was asked", label(guided, *step)));
            let _ = writeln!(page, "<p>{}</p>\n<ol>", HtmlText(reason));
            for question in questions {
                let _ = writeln!(page, "<li>{}</li>", HtmlText(question));
            }
            page.push_str("</ol>\n");
            if let Some(arguments) = arguments {
                part(page, "Arguments", arguments);
            }
        }
        Moment::ToolDecided { answers, .. } => {
            begin(page, (place, entry), "answered", "The person decided");
            part(page, "Answers", answers);
        }
        Moment::Begun(_)
        | Moment::Opened { .. }
        | Moment::Closed { .. }
        | Moment::Broke { .. }
        | Moment::Breached { .. }
        | Moment::Escalated { .. }
        | Moment::Answered { .. }
        | Moment::Cancelled { .. } => {}
    }
}

/// That a step waits for its model's limit, or no longer does.
fn waits(until: Option<DateTime<Utc>>) -> String {
    match until {
        Some(until) => format!("its model's limit is waited for until {} UTC", until.format("%Y-%m-%d %H:%M:%S")),
        None => "its model is asked again".to_owned(),
    }
}

/// What a step gave, or why it failed.
fn gave(page: &mut String, result: &Result<Output, StepError>) {
    match result {
        Ok(output) => {
            long(page, "Output", &output.text);
            for file in &output.files {
                given(page, file);
            }
        }
        Err(error) => {
            let _ = writeln!(page, "<p><code>{}</code> {}</p>", error.code, HtmlText(&error.message));
        }
    }
}

/// A file that a tool gave: a picture where it is one, else to be saved.
fn given(page: &mut String, file: &ToolFile) {
    let data = BASE64_STANDARD.encode(&file.bytes);
    let about = human::about_file(file);
    match PICTURES.iter().find(|kind| file.media_type.eq_ignore_ascii_case(kind)) {
        Some(kind) => {
            let _ = writeln!(
                page,
                "<figure><img src=\"data:{kind};base64,{data}\" alt=\"\"><figcaption>{}</figcaption></figure>",
                HtmlText(&about)
            );
        }
        None => {
            let _ = writeln!(
                page,
                "<p><a download href=\"data:application/octet-stream;base64,{data}\">{}</a></p>",
                HtmlText(&about)
            );
        }
    }
}

/// A value under its name: lists and objects of short texts as lists, anything else as text.
fn part(page: &mut String, what: &str, value: &Value) {
    if !(value.is_array() || value.is_object()) || !short(value, 3) {
        return long(page, what, &as_text(value));
    }
    let _ = writeln!(page, "<p class=\"what\">{}</p>", HtmlText(what));
    listed(page, value);
}

/// Whether every text in a value is short, and it is not deeper than `depth`.
fn short(value: &Value, depth: usize) -> bool {
    match value {
        Value::String(text) => !folded(text) && !text.contains('\n'),
        Value::Array(items) => depth > 0 && items.len() <= 100 && items.iter().all(|item| short(item, depth - 1)),
        Value::Object(fields) => depth > 0 && fields.values().all(|value| short(value, depth - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
    }
}

fn listed(page: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            page.push_str("<ul>");
            for item in items {
                page.push_str("<li>");
                listed(page, item);
                page.push_str("</li>");
            }
            page.push_str("</ul>\n");
        }
        Value::Object(fields) => {
            page.push_str("<dl class=\"fields\">");
            for (name, value) in fields {
                let _ = write!(page, "<dt>{}</dt><dd>", HtmlText(name));
                listed(page, value);
                page.push_str("</dd>");
            }
            page.push_str("</dl>\n");
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let _ = write!(page, "{}", HtmlText(&as_text(value)));
        }
    }
}

fn as_text(value: &Value) -> String {
    value.as_str().map_or_else(|| serde_json::to_string_pretty(value).unwrap_or_default(), str::to_owned)
}
