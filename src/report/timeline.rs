//! A guided execution as one HTML page that stands alone: its steps, what was handed in, what was
//! asked and answered, in the order in which it happened. The result, or what is open, comes first.
//!
//! Nothing in it runs and nothing is loaded: no scripts, no fonts, no pictures from elsewhere. Every
//! text of the catalog, the model and the person is shown as text.

mod lanes;
mod log;

use std::fmt::Write as _;

use chrono::{DateTime, Utc};

use self::lanes::drawing;
use self::log::told;
use crate::app::Story;
use crate::report::human;
use crate::report::markup::{HtmlText, page as begun, time};
use crate::report::wire::state_word;
use crate::run::{Entry, Guided, GuidedState, Moment};

/// The page.
pub fn html(story: &Story) -> String {
    let guided = &story.guided;
    let title = format!("{} – {}", guided.beginning().plan.name(), guided.beginning().id);
    let mut page = begun(&title, "", None);
    head(&mut page, guided);
    page.push_str("<main>\n");
    outcome(&mut page, guided);
    overview(&mut page, story);
    drawing(&mut page, story);
    page.push_str("<h2>What happened</h2>\n<ol class=\"log\">\n");
    for (place, entry) in story.entries.iter().enumerate() {
        // A call and its answer share the answer's card.
        if !is_answered_next(&story.entries, place) {
            told(&mut page, guided, place, entry);
        }
    }
    if guided.state().ended() {
        let state = guided.state();
        let class = if state == GuidedState::Completed { "done" } else { "failed" };
        let _ = writeln!(
            page,
            "<li class=\"{class}\">\n<h3>The execution ended: {}</h3>\n<p>{}</p>\n</li>",
            state.word(),
            human::counted(guided)
        );
    }
    page.push_str("</ol>\n</main>\n</body>\n</html>\n");
    page
}

fn label(guided: &Guided, step: usize) -> &str {
    guided.run().plan().step(step).map_or("", |step| step.label.as_str())
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

/// Whether a call of a tool is followed by its answer.
fn is_answered_next(entries: &[Entry], place: usize) -> bool {
    let Some(Moment::ToolStarted { step: called, .. }) = entries.get(place).map(|entry| &entry.moment) else {
        return false;
    };
    let next = entries.get(place + 1).map(|entry| &entry.moment);
    matches!(next, Some(Moment::ToolEnded { step, .. }) if step == called)
}

fn head(page: &mut String, guided: &Guided) {
    let beginning = guided.beginning();
    let plan = &beginning.plan;
    let state = guided.state();
    let _ = writeln!(
        page,
        "<header>\n<p class=\"badge {0}\">{1}</p>\n<h1>{2}</h1>",
        state.word(),
        state.word().replace('_', " "),
        HtmlText(plan.name())
    );
    if let Some(task) = &beginning.task {
        let _ = writeln!(page, "<p class=\"task\">{}</p>", HtmlText(task));
    }
    if let Some(why) = reason(guided) {
        let _ = writeln!(page, "<p class=\"reason\">{}</p>", HtmlText(&why));
    }
    bars(page, guided);
    let code = |text: &str| format!("<code>{}</code>", HtmlText(text));
    let lasted = lasted(guided.begun_at(), guided.updated_at());
    let facts = [
        ("begun", time(guided.begun_at())),
        ("last entry", format!("{} (after {lasted})", time(guided.updated_at()))),
        ("execution", code(beginning.id.as_str())),
        ("file", code(plan.file())),
    ];
    page.push_str("<dl>\n");
    for (name, fact) in facts.into_iter().chain(beginning.commit.iter().map(|commit| ("commit", code(commit)))) {
        let _ = writeln!(page, "<div><dt>{name}</dt><dd>{fact}</dd></div>");
    }
    page.push_str("</dl>\n</header>\n");
}

/// Why an execution failed or was cancelled.
fn reason(guided: &Guided) -> Option<String> {
    if let Some(cancelled) = guided.cancelled() {
        return cancelled.reason.as_ref().map(|reason| format!("Cancelled: {reason}"));
    }
    let first = guided.run().failures().next().filter(|_| guided.state() == GuidedState::Failed);
    first.map(|(step, error)| format!("{} failed: {}", label(guided, step), error.message))
}

/// How many steps ended how, as a bar of a segment for each kind, and in words.
fn bars(page: &mut String, guided: &Guided) {
    let counts = guided.counts();
    let skipped = counts.skipped + counts.omitted;
    let failed = counts.ended.saturating_sub(counts.done + skipped);
    page.push_str("<p class=\"bar\" aria-hidden=\"true\">");
    let left = counts.steps.saturating_sub(counts.ended);
    for (class, number) in [("done", counts.done), ("failed", failed), ("skipped", skipped), ("left", left)] {
        if number > 0 {
            let _ = write!(page, "<span class=\"{class}\" style=\"flex-grow:{number}\"></span>");
        }
    }
    let _ = writeln!(page, "</p>\n<p class=\"counts\">{}</p>", human::counted(guided));
}

/// What stands first for a reader: the result, or what a person is to answer.
fn outcome(page: &mut String, guided: &Guided) {
    if let Some(output) = guided.run().final_output().filter(|_| guided.state().ended()) {
        let _ = writeln!(page, "<h2>Final result</h2>\n<div class=\"text result\">{}</div>", HtmlText(&output.text));
    }
    let open: Vec<&str> = guided
        .escalations()
        .iter()
        .filter(|asked| asked.answer.is_none())
        .flat_map(|asked| asked.questions.iter().map(String::as_str))
        .collect();
    if guided.state() == GuidedState::AwaitingHuman && !open.is_empty() {
        page.push_str("<h2>Waits for an answer</h2>\n<ol class=\"questions\">\n");
        for question in open {
            let _ = writeln!(page, "<li>{}</li>", HtmlText(question));
        }
        page.push_str("</ol>\n<p>It is answered in the client that the model runs in.</p>\n");
    }
}

fn standing(guided: &Guided, step: usize) -> &'static str {
    let asks = guided.tool_at_work().filter(|at_work| at_work.step == step && at_work.asks.is_some());
    if asks.is_some() {
        return GuidedState::AwaitingHuman.word();
    }
    match guided.stopped(step) {
        Some(true) => return GuidedState::Cancelled.word(),
        Some(false) => return "not_begun",
        None => {}
    }
    let open = guided.handed().filter(|handed| handed.step == step);
    if open.is_some_and(|handed| handed.asks.is_some()) {
        return GuidedState::AwaitingHuman.word();
    }
    state_word(guided.run().state(step), open.is_some())
}

/// The card that says most of each step: the last one that is about it.
fn card_of(story: &Story, wanted: usize) -> Option<usize> {
    let guided = &story.guided;
    story.entries.iter().rposition(|entry| match &entry.moment {
        Moment::Opened { step, .. }
        | Moment::Broke { step, .. }
        | Moment::ToolEnded { step, .. }
        | Moment::StepEnded { step, .. }
        | Moment::ToolAsked { step, .. }
        | Moment::LeftOut { step, .. } => *step == wanted,
        Moment::Closed { ticket, .. } | Moment::Breached { ticket, .. } | Moment::Escalated { ticket, .. } => {
            guided.step_of(ticket) == Some(wanted)
        }
        Moment::Begun(_)
        | Moment::ToolStarted { .. }
        | Moment::Waits { .. }
        | Moment::Taken { .. }
        | Moment::StepStarted { .. }
        | Moment::Interrupted { .. }
        | Moment::Answered { .. }
        | Moment::ToolDecided { .. }
        | Moment::Cancelled { .. } => false,
    })
}

fn overview(page: &mut String, story: &Story) {
    let guided = &story.guided;
    page.push_str("<h2>Steps</h2>\n<table>\n<thead><tr><th>#</th><th>step</th><th class=\"more\">persona or tool</th><th>state</th><th class=\"more\">attempts</th><th class=\"more\">closed</th></tr></thead>\n<tbody>\n");
    for step in 0..guided.run().plan().steps().len() {
        let state = standing(guided, step);
        let closing = guided.closing(step);
        let name = match card_of(story, step) {
            Some(place) => format!("<a href=\"#e{place}\">{}</a>", HtmlText(label(guided, step))),
            None => HtmlText(label(guided, step)).to_string(),
        };
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{name}</td><td class=\"more\">{}</td><td><span class=\"badge {state}\">{}</span></td><td \
             class=\"more\">{}</td><td class=\"more\">{}</td></tr>",
            step + 1,
            HtmlText(&guided.role(step).map_or_else(|| guided.run().plan().called(step), |role| role.name.clone())),
            word_of(state),
            attempts(story, step).map(|number| number.to_string()).unwrap_or_default(),
            closing.map(|closing| closing.at).or_else(|| ended_at(guided, step)).map(time).unwrap_or_default(),
        );
    }
    page.push_str("</tbody>\n</table>\n");
}

/// How often a step was tried: outputs that were handed in, or calls that were made.
pub(super) fn attempts(story: &Story, step: usize) -> Option<u32> {
    let guided = &story.guided;
    let (mut calls, mut refused) = (0, 0);
    for entry in &story.entries {
        if let Moment::ToolEnded { step: of, end } | Moment::StepEnded { step: of, end } = &entry.moment
            && *of == step
        {
            calls = end.calls;
        }
        if let Moment::Breached { ticket, .. } = &entry.moment {
            refused += u32::from(guided.step_of(ticket) == Some(step));
        }
    }
    guided.closing(step).map(|closing| closing.attempt).or([calls, refused].into_iter().find(|number| *number > 0))
}

/// A state in words: a step that is left out was skipped, whatever the reason.
fn word_of(state: &str) -> String {
    if state == "omitted" { "skipped".to_owned() } else { state.replace('_', " ") }
}

/// When a step that the server did came to its end.
fn ended_at(guided: &Guided, step: usize) -> Option<DateTime<Utc>> {
    guided.run().state(step)?.timing().map(|timing| timing.at)
}
