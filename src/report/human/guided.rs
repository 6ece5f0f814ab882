//! Guided executions for people: a table of them, one with its steps, and how they went.

use std::fmt::Write as _;

use chrono::{DateTime, Utc};

use super::{BAD, DOUBTFUL, FAINT, GOOD, HEADING, Look, NAME, count, prose, safe_block, table, whole, wrapped};
use crate::app::{Listed, Pruned, StatusAnswer, Story, Summary, Tally};
use crate::model::text_of;
use crate::names::shown;
use crate::plan::Work;
use crate::run::{Guided, GuidedState, State};

/// The longest one-line text, in characters.
const LINE: usize = 300;
/// How much of an output is shown, in characters; `export` has the whole.
const OUTPUT: usize = 2_000;

/// The executions of a page.
pub fn executions(answer: &StatusAnswer, look: Look) -> String {
    let StatusAnswer::List { executions, .. } = answer else { return String::new() };
    let rows: Vec<Vec<String>> = executions
        .iter()
        .filter_map(|listed| match listed {
            Listed::Guided(summary) => Some(row(summary)),
            Listed::Direct { .. } => None,
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    if look.terminal {
        let columns = [
            whole("id"),
            whole("flow").spare(),
            whole("state"),
            whole("steps"),
            whole("last change").spare(),
            prose("task").spare(),
        ];
        return table(&columns, &rows, 0, look);
    }
    rows.into_iter().map(|row| row.join("\t") + "\n").collect()
}

fn row(summary: &Summary) -> Vec<String> {
    vec![
        shown(&summary.id, LINE),
        shown(&summary.flow, LINE),
        summary.state.word().to_owned(),
        format!("{}/{}", summary.done, summary.steps),
        time(summary.updated_at),
        shown(summary.task.as_deref().unwrap_or_default(), 60),
    ]
}

/// What to know about a page.
pub fn executions_notes(answer: &StatusAnswer) -> String {
    let StatusAnswer::List { executions, total, next_cursor, .. } = answer else { return String::new() };
    match next_cursor {
        Some(cursor) => format!("{} of {total} shown; go on with --cursor {cursor}", executions.len()),
        None if *total == 0 => "no guided executions; an MCP client begins one with flows_begin".to_owned(),
        None => String::new(),
    }
}

/// One execution: how it stands, its steps, what was asked and answered.
pub fn guided(story: &Story, look: Look) -> String {
    let guided = &story.guided;
    let beginning = guided.beginning();
    let state = guided.state();
    let style = if state == GuidedState::Failed { BAD } else { HEADING };
    let mut text = format!(
        "{}  {}  {}\n",
        look.paint(NAME, &shown(beginning.plan.flow().name.as_str(), LINE)),
        look.paint(FAINT, &shown(beginning.id.as_str(), LINE)),
        look.paint(style, state.word())
    );
    let mut facts = vec![
        ("begun", time(guided.begun_at())),
        ("last change", time(guided.updated_at())),
        ("commit", beginning.commit.clone().unwrap_or_default()),
        ("task", beginning.task.as_deref().map(|task| shown(task, LINE)).unwrap_or_default()),
    ];
    if let Some(reason) = guided.cancelled().and_then(|cancelled| cancelled.reason.as_ref()) {
        facts.push(("cancelled", shown(reason, LINE)));
    }
    facts.retain(|(_, value)| !value.is_empty());
    let facts: Vec<_> = facts.into_iter().map(|(name, value)| vec![name.to_owned(), value]).collect();
    text.push_str(&table(&[whole(""), prose("")], &facts, 2, look));
    for number in 0..beginning.plan.steps().len() {
        text.push_str(&step(guided, number, look));
    }
    if let Some(output) = guided.run().final_output().filter(|_| state.ended()) {
        let _ = write!(text, "\n{}\n{}", look.paint(HEADING, "Result"), wrapped(&cut(&output.text), 2, look));
    }
    text
}

fn step(guided: &Guided, number: usize, look: Look) -> String {
    let plan = guided.run().plan();
    let Some(step) = plan.step(number) else { return String::new() };
    if matches!(step.work, Work::Gather(_)) {
        return String::new();
    }
    let (place, all) = guided.run().place_of(number);
    let open = guided.handed().filter(|handed| handed.step == number);
    let at_work = guided.tool_at_work().filter(|at_work| at_work.step == number);
    let (mark, style, word) = match guided.run().state(number) {
        _ if open.is_some_and(|handed| handed.asks.is_some()) => ("?", NAME, "waits for a person"),
        _ if open.is_some() => ("▸", NAME, "open"),
        _ if at_work.is_some_and(|at_work| at_work.asks.is_some()) => ("?", NAME, "waits for a person"),
        _ if at_work.is_some() => ("▸", NAME, "being called"),
        Some(State::Done { output, .. }) if output.failure().is_some() => {
            ("!", DOUBTFUL, "failed, and the flow went on")
        }
        Some(State::Done { .. }) => ("✓", GOOD, "done"),
        Some(State::Failed { .. }) => ("✗", BAD, "failed"),
        Some(State::Skipped { .. } | State::Omitted { .. }) => ("–", FAINT, "left out"),
        _ => ("·", FAINT, "not begun"),
    };
    let call = match &step.work {
        Work::Call(call) => format!(" · calls {}{}", shown(&call.address.to_string(), LINE), took(guided, number)),
        _ => String::new(),
    };
    let role = guided.role(number).map_or(call, |role| format!(" · as {}", shown(&role.name, LINE)));
    let mut text = format!(
        "\n{} {} of {} · {}{role} · {word}\n",
        look.paint(style, mark),
        place,
        all,
        look.paint(HEADING, &shown(&step.label, LINE)),
    );
    for asked in guided.escalations().iter().filter(|asked| asked.step == number) {
        for question in &asked.questions {
            text.push_str(&wrapped(&format!("asked: {}", shown(question, LINE)), 4, look));
        }
        let answer = asked.answer.as_ref().map_or_else(
            || format!("no answer yet ({})", shown(asked.id.as_str(), LINE)),
            |(answers, _, _)| format!("answered: {}", shown(&text_of(answers), LINE)),
        );
        text.push_str(&wrapped(&answer, 4, look));
    }
    if let Some(closing) = guided.closing(number) {
        if closing.attempt > 1 {
            text.push_str(&look.paint(FAINT, &format!("    {} attempts\n", closing.attempt)));
        }
        let said = closing.output.get("summary").map_or_else(|| text_of(&closing.output), text_of);
        text.push_str(&wrapped(&cut(&said), 4, look));
    } else if let (Work::Call(_), Some(output)) = (&step.work, guided.run().output_of(number)) {
        text.push_str(&wrapped(&cut(&output.text), 4, look));
        for file in &output.files {
            text.push_str(&look.paint(FAINT, &format!("    file: {}; --html shows it\n", super::about_file(file))));
        }
    } else if let Some(State::Failed { error, .. }) = guided.run().state(number) {
        text.push_str(&wrapped(&shown(&error.to_string(), LINE), 4, look));
    }
    text
}

/// How long a tool took to answer.
fn took(guided: &Guided, number: usize) -> String {
    match guided.run().state(number) {
        Some(State::Done { timing, .. } | State::Failed { timing, .. }) => {
            format!(" · {}", super::time(timing.took))
        }
        _ => String::new(),
    }
}

fn cut(text: &str) -> String {
    let kept: String = text.chars().take(OUTPUT).collect();
    if kept.len() < text.len() { format!("{}…", safe_block(&kept)) } else { safe_block(text) }
}

fn time(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// What was forgotten, or would be.
pub fn pruned(pruned: &Pruned) -> String {
    let many = count(pruned.executions.len(), "execution", "executions");
    if !pruned.rehearsed {
        let left = "; the file could not be made smaller: another process reads it or the disk has no room, and until \
             the next prune parts of them may still be found in it";
        return format!("forgot {many}{}", if pruned.compact { "" } else { left });
    }
    let mut text = format!("would forget {many}");
    for summary in &pruned.executions {
        let _ = write!(text, "\n{}", row(summary).join("  ").trim_end());
    }
    text
}

/// How executions went, flow by flow.
pub fn tallies(tallies: &[Tally], look: Look) -> String {
    if tallies.is_empty() {
        return String::new();
    }
    let share = |part: usize, whole: usize| format!("{part} ({} %)", (part * 100).checked_div(whole).unwrap_or(0));
    let rows = tallies.iter().map(|tally| {
        vec![
            shown(&tally.flow, LINE),
            tally.executions.to_string(),
            share(tally.completed, tally.executions),
            share(tally.abandoned + tally.cancelled, tally.executions),
            share(tally.failed, tally.executions),
            share(tally.with_breaches, tally.executions),
            share(tally.with_escalations, tally.executions),
        ]
    });
    let columns = [
        whole("flow"),
        whole("all"),
        whole("completed"),
        whole("abandoned"),
        whole("failed"),
        whole("with breaches").spare(),
        whole("with questions").spare(),
    ];
    table(&columns, &rows.collect::<Vec<_>>(), 0, look)
}
