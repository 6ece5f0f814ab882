//! What happened in an execution, a card for each entry of its log; a call and its answer share one.

use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use chrono::{DateTime, Utc};
use serde_json::Value;

use super::label;
use crate::model::{Breach, ToolFile};
use crate::plan::Step;
use crate::report::human;
use crate::report::markup::{HtmlText, folded, list, long, time};
use crate::run::{Entry, Guided, Moment, StoredEnd};

/// Media types that every browser shows as a picture, in which nothing runs.
const PICTURES: [&str; 5] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"];

/// A card: what an entry of the log says.
pub(super) fn told(page: &mut String, guided: &Guided, place: usize, entry: &Entry) {
    let name = |ticket| guided.step_of(ticket).map_or("", |step| label(guided, step));
    // The head of the card, with the name by which the table of steps leads to it.
    let begin = |page: &mut String, class: &str, title: &str| {
        let (title, time) = (HtmlText(title), time(entry.at));
        let _ = writeln!(page, "<li class=\"{class}\" id=\"e{place}\">\n<h3>{title}</h3>{time}");
    };
    match &entry.moment {
        Moment::Begun(beginning) => {
            begin(page, "begun", "The execution began");
            let values = &beginning.given.values;
            if !values.is_empty() {
                let values = values.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                part(page, "Values given", &Value::Object(values));
            }
        }
        Moment::Opened { step, .. } => {
            begin(page, "opened", &format!("{} was handed out", label(guided, *step)));
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
            begin(page, outcome.word(), &format!("{}: {}", name(ticket), outcome.word()));
            match output.as_object() {
                Some(fields) => fields.iter().for_each(|(key, value)| part(page, key, value)),
                None => long(page, "Output", &as_text(output)),
            }
        }
        Moment::Broke { step, error } => {
            begin(page, "failed", &format!("{} could not be handed out", label(guided, *step)));
            coded(page, error.code.word(), &error.message);
        }
        Moment::Breached { ticket, breaches } => {
            begin(page, "breached", &format!("{}: the contract was not met", name(ticket)));
            let breach =
                |breach: &Breach| format!("<code>{}</code> {}", HtmlText(&breach.path), HtmlText(&breach.message));
            list(page, "ul", breaches.iter().map(breach));
        }
        Moment::Escalated { ticket, reason, questions, context, .. } => {
            begin(page, "asked", &format!("{}: a person was asked", name(ticket)));
            asked(page, reason, questions, ("Context", context.as_ref()));
        }
        Moment::ToolAsked { step, reason, questions, arguments, .. } => {
            begin(page, "asked", &format!("{}: a person was asked", label(guided, *step)));
            asked(page, reason, questions, ("Arguments", arguments.as_ref()));
        }
        Moment::Answered { answers, .. } | Moment::ToolDecided { answers, .. } => {
            let of_call = matches!(entry.moment, Moment::ToolDecided { .. });
            begin(page, "answered", if of_call { "The person decided" } else { "The person answered" });
            part(page, "Answers", answers);
        }
        Moment::Taken { .. } => begin(page, "opened", "The server begins with the steps"),
        Moment::Interrupted { error } => {
            begin(page, "cancelled", "The execution was interrupted");
            coded(page, error.code.word(), &error.message);
        }
        Moment::ToolStarted { step, .. } | Moment::StepStarted { step } => {
            let call = guided.run().plan().called(*step);
            let what = if call.is_empty() { "a model is asked".to_owned() } else { format!("{call} is called") };
            begin(page, "opened", &format!("{}: {what}", label(guided, *step)));
        }
        Moment::Waits { step, until, .. } => {
            begin(page, "asked", &format!("{}: {}", label(guided, *step), waits(*until)));
        }
        Moment::ToolEnded { step, end } | Moment::StepEnded { step, end } => {
            let class = if end.result.is_ok() { "done" } else { "failed" };
            let call = guided.run().plan().step(*step).and_then(Step::calls).map(|call| call.address.to_string());
            let how = match (&call, &end.result) {
                (Some(call), Ok(_)) => format!("{call} answered"),
                (Some(call), Err(_)) => format!("{call} failed"),
                (None, _) => class.to_owned(),
            };
            begin(page, class, &format!("{}: {how}", label(guided, *step)));
            ended(page, end, call.is_some());
        }
        Moment::LeftOut { step, why } => {
            begin(page, "skipped", &format!("{} was skipped", label(guided, *step)));
            let _ = writeln!(page, "<p>{}</p>", HtmlText(why));
        }
        Moment::Cancelled { reason } => {
            begin(page, "cancelled", "The execution was cancelled");
            if let Some(reason) = reason {
                let _ = writeln!(page, "<p>{}</p>", HtmlText(reason));
            }
        }
    }
    page.push_str("</li>\n");
}

/// What went wrong, or was noticed.
fn coded(page: &mut String, code: &str, message: &str) {
    let _ = writeln!(page, "<p><code>{code}</code> {}</p>", HtmlText(message));
}

/// What a person was asked, and what there was to know.
fn asked(page: &mut String, reason: &str, questions: &[String], (what, more): (&str, Option<&Value>)) {
    let _ = writeln!(page, "<p>{}</p>", HtmlText(reason));
    list(page, "ol", questions.iter().map(|question| HtmlText(question)));
    if let Some(more) = more {
        part(page, what, more);
    }
}

/// How a step that the server did came to its end, by a tool or else by a model.
fn ended(page: &mut String, end: &StoredEnd, by_tool: bool) {
    let took = human::time(end.took);
    if by_tool {
        let tries = if end.calls > 1 { format!(", {} calls", end.calls) } else { String::new() };
        let _ = writeln!(page, "<p>{took}{tries}</p>");
    } else {
        let generated = match &end.result {
            Ok(output) => output.generated.as_deref(),
            Err(error) => error.generated.as_deref(),
        };
        if let Some(generated) = generated {
            let cost = generated.cost.as_ref().map(|cost| format!(" · {}", human::money(cost))).unwrap_or_default();
            let _ = writeln!(page, "<p>{}{cost} · {took}</p>", HtmlText(&human::answered(generated)));
        }
        for warning in &end.warnings {
            coded(page, warning.code.word(), &warning.message);
        }
    }
    match &end.result {
        Ok(output) => {
            long(page, "Output", &output.text);
            output.files.iter().for_each(|file| given(page, file));
        }
        Err(error) => coded(page, error.code.word(), &error.message),
    }
}

/// That a step waits for its model's limit, or no longer does.
fn waits(until: Option<DateTime<Utc>>) -> String {
    match until {
        Some(until) => format!("its model's limit is waited for until {} UTC", until.format("%Y-%m-%d %H:%M:%S")),
        None => "its model is asked again".to_owned(),
    }
}

/// A file that a tool gave: a picture where it is one, else to be saved.
fn given(page: &mut String, file: &ToolFile) {
    let data = BASE64_STANDARD.encode(&file.bytes);
    let about = human::about_file(file);
    let about = HtmlText(&about);
    let shown = PICTURES.iter().find(|kind| file.media_type.eq_ignore_ascii_case(kind)).map_or_else(
        || format!("<p><a download href=\"data:application/octet-stream;base64,{data}\">{about}</a></p>"),
        |kind| {
            format!("<figure><img src=\"data:{kind};base64,{data}\" alt=\"\"><figcaption>{about}</figcaption></figure>")
        },
    );
    let _ = writeln!(page, "{shown}");
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
