//! A guided execution as one HTML page that stands alone: its steps, what was handed in, what was
//! asked and answered, in the order in which it happened.
//!
//! Nothing in it runs and nothing is loaded: no scripts, no fonts, no pictures from elsewhere. Every
//! text of the catalog, the model and the person is shown as text.

use std::fmt::{self, Display, Write as _};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use chrono::{DateTime, SecondsFormat, Utc};
use serde_json::Value;

use crate::app::Story;
use crate::model::ToolFile;
use crate::names::unprintable;
use crate::plan::Work;
use crate::report::human;
use crate::report::wire::state_word;
use crate::run::{Entry, Guided, GuidedState, Moment, State};

/// How wide one entry is in the drawing, in its own units.
const COLUMN: usize = 30;
/// How high one step is.
const ROW: usize = 26;
/// Where the lanes begin, to the right of the labels.
const LEFT: usize = 190;
/// The longest label in the drawing, in characters.
const LABEL: usize = 24;
/// The most entries that are drawn; all of them are listed.
const MOST_DRAWN: usize = 400;
/// A text longer than this is folded away, in characters.
const FOLDED: usize = 700;

/// Media types that every browser shows as a picture, in which nothing runs.
const PICTURES: [&str; 5] = ["image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml"];

const STYLE: &str = include_str!("timeline.css");

/// The page.
pub fn html(story: &Story) -> String {
    let guided = &story.guided;
    let flow = guided.beginning().plan.flow();
    let title = format!("{} – {}", flow.name.as_str(), guided.beginning().id);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'; img-src data:\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n",
        Shown(&title)
    );
    head(&mut page, guided);
    page.push_str("<main>\n");
    drawing(&mut page, story);
    overview(&mut page, guided);
    page.push_str("<h2>What happened</h2>\n<ol class=\"log\">\n");
    for entry in &story.entries {
        told(&mut page, guided, entry);
    }
    page.push_str("</ol>\n");
    end(&mut page, guided);
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

/// A text, shown as it is: nothing in it is markup, and nothing hides or turns the text around it.
struct Shown<'a>(&'a str);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars() {
            match c {
                '&' => f.write_str("&amp;")?,
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '"' => f.write_str("&quot;")?,
                '\'' => f.write_str("&#39;")?,
                '\n' | '\t' => f.write_char(c)?,
                c if unprintable(c) => f.write_char('\u{FFFD}')?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}

fn time(at: DateTime<Utc>) -> String {
    let machine = at.to_rfc3339_opts(SecondsFormat::Millis, true);
    format!("<time datetime=\"{machine}\">{}</time>", at.format("%Y-%m-%d %H:%M:%S UTC"))
}

/// A length of time as people say it.
fn lasted(from: DateTime<Utc>, to: DateTime<Utc>) -> String {
    let seconds = (to - from).num_seconds().max(0);
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn head(page: &mut String, guided: &Guided) {
    let beginning = guided.beginning();
    let flow = beginning.plan.flow();
    let (steps, ended) = (guided.run().counts().steps, guided.run().counts().ended);
    let _ = writeln!(
        page,
        "<header>\n<p class=\"badge {0}\">{1}</p>\n<h1>{2}</h1>",
        guided.state().word(),
        guided.state().word().replace('_', " "),
        Shown(flow.name.as_str())
    );
    if let Some(task) = &beginning.task {
        let _ = writeln!(page, "<p class=\"task\">{}</p>", Shown(task));
    }
    let _ = writeln!(page, "<progress max=\"{}\" value=\"{ended}\">{ended} of {steps}</progress>", steps.max(1));
    let _ = writeln!(page, "<dl>\n<div><dt>steps</dt><dd>{ended} of {steps}</dd></div>");
    let _ = writeln!(page, "<div><dt>begun</dt><dd>{}</dd></div>", time(guided.begun_at()));
    let _ = writeln!(
        page,
        "<div><dt>last entry</dt><dd>{} (after {})</dd></div>",
        time(guided.updated_at()),
        lasted(guided.begun_at(), guided.updated_at())
    );
    let _ = writeln!(page, "<div><dt>execution</dt><dd><code>{}</code></dd></div>", Shown(beginning.id.as_str()));
    let _ = writeln!(page, "<div><dt>file</dt><dd><code>{}</code></dd></div>", Shown(flow.file.as_str()));
    if let Some(commit) = &beginning.commit {
        let _ = writeln!(page, "<div><dt>commit</dt><dd><code>{}</code></dd></div>", Shown(commit));
    }
    page.push_str("</dl>\n</header>\n");
}

fn label(guided: &Guided, step: usize) -> &str {
    guided.run().plan().step(step).map_or("", |step| step.label.as_str())
}

/// The tool that a step calls.
fn call_of(guided: &Guided, step: usize) -> String {
    match guided.run().plan().step(step).map(|step| &step.work) {
        Some(Work::Call(call)) => call.address.to_string(),
        _ => String::new(),
    }
}

fn standing(guided: &Guided, step: usize) -> &'static str {
    let asks = guided.tool_at_work().filter(|at_work| at_work.step == step && at_work.asks.is_some());
    if asks.is_some() {
        return GuidedState::AwaitingHuman.word();
    }
    let open = guided.handed().filter(|handed| handed.step == step);
    if open.is_some_and(|handed| handed.asks.is_some()) {
        return GuidedState::AwaitingHuman.word();
    }
    state_word(guided.run().state(step), open.is_some())
}

/// A bar in a step's lane.
fn bar(page: &mut String, (step, from, class): (usize, usize, &'static str), to: usize) {
    let (x, y) = (LEFT + from * COLUMN, step * ROW + 4);
    let width = (to.saturating_sub(from) * COLUMN).max(6);
    let _ = writeln!(
        page,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{}\" rx=\"4\" class=\"{class}\"/>",
        ROW - 8
    );
}

/// The end of a bar, with a mark that says how.
fn ended(page: &mut String, marks: &mut String, open: Option<(usize, usize, &'static str)>, place: usize, word: &str) {
    let Some(begun) = open else { return };
    bar(page, begun, place);
    let (x, y) = (LEFT + place * COLUMN, begun.0 * ROW + 13);
    let _ = writeln!(marks, "<circle cx=\"{x}\" cy=\"{y}\" r=\"6\" class=\"{word}\"><title>{word}</title></circle>");
}

/// The steps as lanes, the entries from left to right: how long a step took counts less than what
/// happened in it, so every entry is as wide as the next.
fn drawing(page: &mut String, story: &Story) {
    let guided = &story.guided;
    let steps = guided.run().plan().steps().len();
    let drawn = story.entries.len().min(MOST_DRAWN);
    let (width, height) = (LEFT + drawn * COLUMN + 10, steps * ROW + 8);
    let _ = writeln!(
        page,
        "<h2>At a glance</h2>\n<div class=\"wide\">\n<svg role=\"img\" aria-label=\"Steps as lanes, entries from left to \
         right\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">"
    );
    for step in 0..steps {
        let y = step * ROW + 4;
        let name: String = label(guided, step).chars().take(LABEL).collect();
        let _ = writeln!(
            page,
            "<text x=\"{}\" y=\"{}\" class=\"lane\">{}</text><line x1=\"{LEFT}\" x2=\"{width}\" y1=\"{line}\" \
             y2=\"{line}\" class=\"rule\"/>",
            LEFT - 10,
            y + 14,
            Shown(&name),
            line = y + ROW - 4,
        );
    }
    let mut open: Option<(usize, usize, &'static str)> = None;
    // Drawn last, so that no bar covers them.
    let mut marks = String::new();
    for (place, entry) in story.entries.iter().take(drawn).enumerate() {
        match &entry.moment {
            Moment::Opened { step, .. } | Moment::ToolStarted { step, .. } => open = Some((*step, place, "work")),
            Moment::Escalated { .. } | Moment::ToolAsked { .. } => {
                if let Some(begun) = open {
                    bar(page, begun, place);
                    open = Some((begun.0, place, "waits"));
                }
            }
            Moment::Answered { .. } | Moment::ToolDecided { .. } => {
                if let Some(begun) = open {
                    bar(page, begun, place);
                    open = Some((begun.0, place, "work"));
                }
            }
            Moment::Closed { outcome, .. } => {
                ended(page, &mut marks, open.take(), place, outcome.word());
            }
            Moment::ToolEnded { result, .. } => {
                ended(page, &mut marks, open.take(), place, if result.is_ok() { "done" } else { "failed" });
            }
            Moment::Breached { breaches, .. } => {
                if let Some((step, ..)) = open {
                    let (x, y) = (LEFT + place * COLUMN, step * ROW + 13);
                    let _ = writeln!(
                        marks,
                        "<path d=\"M{x} {} l6 11 h-12 z\" class=\"breach\"><title>{} breaches of the contract</title></path>",
                        y - 7,
                        breaches.len()
                    );
                }
            }
            Moment::Begun(_) | Moment::Broke { .. } | Moment::LeftOut { .. } | Moment::Cancelled { .. } => {}
        }
    }
    if let Some(begun) = open {
        bar(page, begun, drawn);
    }
    page.push_str(&marks);
    page.push_str("</svg>\n</div>\n<p class=\"key\"><span class=\"work\"></span> a step is open <span class=\"waits\"></span> a person is awaited <span class=\"breach\">▲</span> a contract was not met</p>\n");
    if story.entries.len() > drawn {
        let _ = writeln!(page, "<p>The first {drawn} of {} entries are drawn.</p>", story.entries.len());
    }
}

fn overview(page: &mut String, guided: &Guided) {
    page.push_str("<h2>Steps</h2>\n<div class=\"wide\">\n<table>\n<thead><tr><th>#</th><th>step</th><th>persona or tool</th><th>state</th><th>attempts</th><th>closed</th></tr></thead>\n<tbody>\n");
    for step in 0..guided.run().plan().steps().len() {
        let state = standing(guided, step);
        let closing = guided.closing(step);
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td><span class=\"badge {state}\">{}</span></td><td>{}</td><td>{}</td></tr>",
            step + 1,
            Shown(label(guided, step)),
            Shown(&guided.role(step).map_or_else(|| call_of(guided, step), |role| role.name.clone())),
            state.replace('_', " "),
            closing.map(|closing| closing.attempt.to_string()).unwrap_or_default(),
            closing.map(|closing| closing.at).or_else(|| ended_at(guided, step)).map(time).unwrap_or_default(),
        );
    }
    page.push_str("</tbody>\n</table>\n</div>\n");
}

/// When a step that the server did came to its end.
fn ended_at(guided: &Guided, step: usize) -> Option<DateTime<Utc>> {
    match guided.run().state(step)? {
        State::Done { timing, .. } | State::Failed { timing, .. } => Some(timing.at),
        _ => None,
    }
}

/// A text that may be long: folded away where it is.
fn long(page: &mut String, what: &str, text: &str) {
    let length = text.chars().count();
    if length > FOLDED {
        let _ = writeln!(
            page,
            "<details><summary>{} ({length} characters)</summary><pre>{}</pre></details>",
            Shown(what),
            Shown(text)
        );
    } else {
        let _ = writeln!(page, "<p class=\"what\">{}</p>\n<pre>{}</pre>", Shown(what), Shown(text));
    }
}

/// A value under its name: lists and objects of short texts as lists, anything else as text.
fn part(page: &mut String, what: &str, value: &Value) {
    if !(value.is_array() || value.is_object()) || !short(value, 3) {
        return long(page, what, &as_text(value));
    }
    let _ = writeln!(page, "<p class=\"what\">{}</p>", Shown(what));
    listed(page, value);
}

/// Whether every text in a value is short, and it is not deeper than `depth`.
fn short(value: &Value, depth: usize) -> bool {
    match value {
        Value::String(text) => text.chars().count() <= FOLDED && !text.contains('\n'),
        Value::Array(items) => depth > 0 && items.len() <= 100 && items.iter().all(|item| short(item, depth - 1)),
        Value::Object(fields) => depth > 0 && fields.values().all(|value| short(value, depth - 1)),
        _ => true,
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
                let _ = write!(page, "<dt>{}</dt><dd>", Shown(name));
                listed(page, value);
                page.push_str("</dd>");
            }
            page.push_str("</dl>\n");
        }
        other => {
            let _ = write!(page, "{}", Shown(&as_text(other)));
        }
    }
}

fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

fn told(page: &mut String, guided: &Guided, entry: &Entry) {
    let name = |step: Option<usize>| step.map(|step| label(guided, step)).unwrap_or_default().to_owned();
    match &entry.moment {
        Moment::Begun(beginning) => {
            begin(page, entry, "begun", "The execution began");
            let values = &beginning.given.values;
            if !values.is_empty() {
                let values = values.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                part(page, "Values given", &Value::Object(values));
            }
        }
        Moment::Opened { step, .. } => {
            begin(page, entry, "opened", &format!("{} was handed out", label(guided, *step)));
            if let Some(role) = guided.role(*step) {
                let _ = writeln!(page, "<p>As <strong>{}</strong></p>", Shown(&role.name));
            }
            let bound = guided.rendering(*step).and_then(|rendering| guided.run().bind(*step, rendering).ok());
            if let Some(bound) = bound {
                let _ =
                    writeln!(page, "<details><summary>The prompt</summary><pre>{}</pre></details>", Shown(&bound.text));
            }
        }
        Moment::Closed { ticket, outcome, output } => {
            begin(page, entry, outcome.word(), &format!("{}: {}", name(guided.step_of(ticket)), outcome.word()));
            match output {
                Value::Object(fields) => {
                    for (key, value) in fields {
                        part(page, key, value);
                    }
                }
                other => long(page, "Output", &as_text(other)),
            }
        }
        Moment::Broke { step, error } => {
            begin(page, entry, "failed", &format!("{} could not be handed out", label(guided, *step)));
            let _ = writeln!(page, "<p><code>{}</code> {}</p>", error.code, Shown(&error.message));
        }
        Moment::Breached { ticket, breaches } => {
            begin(page, entry, "breached", &format!("{}: the contract was not met", name(guided.step_of(ticket))));
            page.push_str("<ul>\n");
            for breach in breaches {
                let _ = writeln!(page, "<li><code>{}</code> {}</li>", Shown(&breach.path), Shown(&breach.message));
            }
            page.push_str("</ul>\n");
        }
        Moment::Escalated { ticket, reason, questions, context, .. } => {
            begin(page, entry, "asked", &format!("{}: a person was asked", name(guided.step_of(ticket))));
            let _ = writeln!(page, "<p>{}</p>\n<ol>", Shown(reason));
            for question in questions {
                let _ = writeln!(page, "<li>{}</li>", Shown(question));
            }
            page.push_str("</ol>\n");
            if let Some(context) = context {
                part(page, "Context", context);
            }
        }
        Moment::Answered { answers, .. } => {
            begin(page, entry, "answered", "The person answered");
            part(page, "Answers", answers);
        }
        Moment::ToolStarted { .. }
        | Moment::ToolEnded { .. }
        | Moment::LeftOut { .. }
        | Moment::ToolAsked { .. }
        | Moment::ToolDecided { .. } => told_of_tool(page, guided, entry),
        Moment::Cancelled { reason } => {
            begin(page, entry, "cancelled", "The execution was cancelled");
            if let Some(reason) = reason {
                let _ = writeln!(page, "<p>{}</p>", Shown(reason));
            }
        }
    }
    page.push_str("</li>\n");
}

/// The head of an entry.
fn begin(page: &mut String, entry: &Entry, class: &str, title: &str) {
    let _ = writeln!(page, "<li class=\"{class}\">\n<h3>{}</h3>{}", Shown(title), time(entry.at));
}

fn told_of_tool(page: &mut String, guided: &Guided, entry: &Entry) {
    match &entry.moment {
        Moment::ToolStarted { step, .. } => {
            begin(page, entry, "opened", &format!("{}: {} is called", label(guided, *step), call_of(guided, *step)));
        }
        Moment::ToolEnded { step, result, took, calls, .. } => {
            let class = if result.is_ok() { "done" } else { "failed" };
            let how = if result.is_ok() { "answered" } else { "failed" };
            begin(page, entry, class, &format!("{}: {} {how}", label(guided, *step), call_of(guided, *step)));
            let tries = if *calls > 1 { format!(", {calls} calls") } else { String::new() };
            let _ = writeln!(page, "<p>{}{tries}</p>", human::time(*took));
            match result {
                Ok(output) => {
                    long(page, "Output", &output.text);
                    for file in &output.files {
                        given(page, file);
                    }
                }
                Err(error) => {
                    let _ = writeln!(page, "<p><code>{}</code> {}</p>", error.code, Shown(&error.message));
                }
            }
        }
        Moment::LeftOut { step, why } => {
            begin(page, entry, "skipped", &format!("{} was left out", label(guided, *step)));
            let _ = writeln!(page, "<p>{}</p>", Shown(why));
        }
        Moment::ToolAsked { step, reason, questions, .. } => {
            begin(page, entry, "asked", &format!("{}: a person was asked", label(guided, *step)));
            let _ = writeln!(page, "<p>{}</p>\n<ol>", Shown(reason));
            for question in questions {
                let _ = writeln!(page, "<li>{}</li>", Shown(question));
            }
            page.push_str("</ol>\n");
        }
        Moment::ToolDecided { answers, .. } => {
            begin(page, entry, "answered", "The person decided");
            part(page, "Answers", answers);
        }
        _ => {}
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
                Shown(&about)
            );
        }
        None => {
            let _ = writeln!(
                page,
                "<p><a download href=\"data:application/octet-stream;base64,{data}\">{}</a></p>",
                Shown(&about)
            );
        }
    }
}

fn end(page: &mut String, guided: &Guided) {
    if !guided.state().ended() {
        return;
    }
    if let Some(output) = guided.run().final_output() {
        let _ = writeln!(page, "<h2>Final result</h2>\n<pre class=\"result\">{}</pre>", Shown(&output.text));
    }
}
