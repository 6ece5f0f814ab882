//! Guided executions for people: a table of them, one with its steps, and how they went.

use std::fmt::Write as _;

use anstyle::Style;
use chrono::{DateTime, Utc};
use serde_json::Value;

use super::{BAD, Cell, DOUBTFUL, FAINT, GOOD, HEADING, Look, NAME, count, prose, safe_block, table, whole, wrapped};
use crate::app::{ExecutionEntry, Pruned, StatusAnswer, Story, Summary, Tally};
use crate::model::text_of;
use crate::names::{cut, did_you_mean, few, shown};
use crate::plan::Work;
use crate::report::timeline::attempts;
use crate::run::{Guided, GuidedState, State};

/// The longest one-line text, in characters.
const LINE: usize = 300;
/// How much of a value that was given is shown, in characters; `--json` and `--html` have the whole.
const VALUE: usize = 100;
/// How much of an output is shown, in characters; `export` has the whole.
const OUTPUT: usize = 2_000;

/// The executions of a page.
pub fn executions(answer: &StatusAnswer, now: DateTime<Utc>, look: Look) -> String {
    let StatusAnswer::List { executions, .. } = answer else { return String::new() };
    let guided = executions.iter().filter_map(|listed| match listed {
        ExecutionEntry::Guided(summary) => Some(summary),
        ExecutionEntry::Direct { .. } => None,
    });
    if !look.terminal {
        return guided.map(|summary| row(summary).join("\t") + "\n").collect();
    }
    let rows: Vec<Vec<Cell>> = guided.map(|summary| line(summary, now)).collect();
    super::rows(&rows, 6, &[4, 3], look)
}

/// How a state looks: its mark, its colour, and the word for it.
fn told(state: GuidedState) -> (&'static str, Style, &'static str) {
    match state {
        GuidedState::Running => ("▸", NAME, "running"),
        GuidedState::Waiting => ("…", NAME, "waits for a limit"),
        GuidedState::Interrupted => ("‖", DOUBTFUL, "interrupted"),
        GuidedState::AwaitingHuman => ("?", DOUBTFUL, "waits for you"),
        GuidedState::Completed => ("✓", GOOD, "completed"),
        GuidedState::Partial => ("!", DOUBTFUL, "partial"),
        GuidedState::Failed => ("✗", BAD, "failed"),
        GuidedState::Cancelled => ("–", FAINT, "cancelled"),
    }
}

/// The end of an id, which is enough to name an execution by.
fn short(id: &str) -> String {
    let id = shown(id, LINE);
    id.rsplit('_').next().unwrap_or(&id).to_owned()
}

/// A line of the list: mark, flow, state, steps, age, the short id, and the task.
fn line(summary: &Summary, now: DateTime<Utc>) -> Vec<Cell> {
    let (mark, style, word) = told(summary.state);
    vec![
        Cell::painted(mark, style),
        Cell::painted(shown(&summary.flow, LINE), NAME),
        Cell::painted(word, style),
        Cell::plain(format!("{}/{}", summary.done, summary.steps)),
        Cell::painted(super::ago(summary.updated_at, now), FAINT),
        Cell::plain(short(&summary.id)),
        Cell::painted(shown(summary.task.as_deref().unwrap_or_default(), LINE), FAINT),
    ]
}

/// What a person has to decide before a direct execution goes on.
pub fn asking(story: &Story, look: Look) -> String {
    let guided = &story.guided;
    let asked = guided.asked().and_then(|id| guided.escalations().iter().find(|asked| asked.id == *id));
    let Some(asked) = asked else { return String::new() };
    let mut text = wrapped(&shown(&asked.reason, LINE), 0, look);
    for question in &asked.questions {
        text.push_str(&wrapped(&shown(question, LINE), 0, look));
    }
    let id = shown(guided.beginning().id.as_str(), LINE);
    text + &wrapped(
        &format!("answer it: flowy run --resume {id} --answer repeat (or fail, or '{{\"result\": …}}')"),
        0,
        look,
    )
}

/// Where a question is answered.
fn where_answered(flow: &str, id: &str, direct: bool) -> String {
    let id = short(id);
    if direct {
        return format!("answer it: flowy run --resume …{id} --answer repeat (or fail)");
    }
    format!("answer it in your client (\"resume {} …{id}\"), or here: flowy guide --resume {id}", shown(flow, LINE))
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
pub fn executions_notes(answer: &StatusAnswer, filtered: bool) -> String {
    const SHOW: &str = "`flowy executions show ID` shows one with its outputs";
    let StatusAnswer::List { executions, total, next_cursor, meant, .. } = answer else { return String::new() };
    if let Some(asked) = did_you_mean(meant) {
        return format!("there is no stored execution of that flow: {asked}");
    }
    match next_cursor {
        Some(_) => format!("{} of {total} shown; {SHOW}", executions.len()),
        None if *total == 0 && filtered => {
            "no stored execution is of that flow and state; without --flow and --state, all are listed".to_owned()
        }
        None if *total == 0 => {
            "no stored executions; guided ones are stored, and those that call tools or ask models".to_owned()
        }
        None => {
            let mut guided = executions.iter().filter_map(|listed| match listed {
                ExecutionEntry::Guided(summary) => Some(summary),
                ExecutionEntry::Direct { .. } => None,
            });
            let waiting = guided.find(|summary| summary.state == GuidedState::AwaitingHuman);
            waiting
                .map_or_else(|| SHOW.to_owned(), |summary| where_answered(&summary.flow, &summary.id, summary.direct))
        }
    }
}

/// One execution: how it stands, its steps, what was asked and answered.
pub fn guided(story: &Story, look: Look) -> String {
    let guided = &story.guided;
    let beginning = guided.beginning();
    let state = guided.state();
    let (_, style, word) = told(state);
    let open = guided.state() == GuidedState::AwaitingHuman;
    let mut text = format!(
        "{}  {}  {}\n",
        look.paint(NAME, &shown(beginning.plan.name(), LINE)),
        look.paint(FAINT, &shown(beginning.id.as_str(), LINE)),
        look.paint(style, word)
    );
    let lasted = u64::try_from((guided.updated_at() - guided.begun_at()).num_seconds()).unwrap_or(0);
    let mut facts = vec![
        ("begun", time(guided.begun_at())),
        ("last change", format!("{} (after {})", time(guided.updated_at()), super::age(lasted))),
        ("steps", super::counted(guided)),
        ("commit", beginning.commit.clone().unwrap_or_default()),
        ("resumes", guided.resumes_at().map(time).unwrap_or_default()),
        ("task", beginning.task.as_deref().map(|task| shown(task, LINE)).unwrap_or_default()),
    ];
    let given = guided.run().given().values.iter();
    let given: Vec<String> = given.map(|(name, value)| format!("{name}: {}", text_of(value))).collect();
    facts.push(("given", few(given.iter().map(|one| shown(one, VALUE)))));
    if let Some(reason) = guided.cancelled().and_then(|cancelled| cancelled.reason.as_ref()) {
        facts.push(("cancelled", shown(reason, LINE)));
    }
    text.push_str(&super::facts(facts, 2, look));
    if open {
        text.push_str(&wrapped(
            &where_answered(beginning.plan.name(), beginning.id.as_str(), guided.is_direct()),
            2,
            look,
        ));
    }
    let by_hand = state == GuidedState::Running && !guided.is_direct();
    if by_hand || state == GuidedState::Interrupted {
        let command = if by_hand { "guide" } else { "run" };
        let id = shown(beginning.id.as_str(), LINE);
        text.push_str(&wrapped(&format!("go on with it: flowy {command} --resume {id}"), 2, look));
    }
    for number in 0..beginning.plan.steps().len() {
        text.push_str(&step(story, number, look));
    }
    if let Some(output) = guided.run().final_output().filter(|_| state.ended()) {
        let _ = write!(text, "\n{}\n{}", look.paint(HEADING, "Result"), begun(&output.text, 2, look));
    }
    text
}

fn step(story: &Story, number: usize, look: Look) -> String {
    let guided = &story.guided;
    let plan = guided.run().plan();
    let Some(step) = plan.step(number) else { return String::new() };
    if matches!(step.work, Work::Gather(_)) {
        return String::new();
    }
    let (place, all) = guided.run().place_of(number);
    let state = guided.state();
    let open = guided.handed().filter(|handed| handed.step == number);
    let at_work = guided.unfinished().iter().find(|begun| begun.step == number);
    let (mark, style, word) = match guided.run().state(number) {
        _ if open.is_some_and(|handed| handed.asks.is_some()) => ("?", NAME, "waits for a person"),
        _ if open.is_some() => ("▸", NAME, "open"),
        _ if at_work.is_some_and(|at_work| at_work.asks.is_some()) => ("?", NAME, "waits for a person"),
        _ if at_work.is_some() && state == GuidedState::Interrupted => ("‖", DOUBTFUL, "begun, not ended"),
        _ if at_work.is_some_and(|at_work| at_work.waits.is_some()) => ("…", NAME, "waits for its model's limit"),
        _ if at_work.is_some() && step.calls().is_none() => ("▸", NAME, "a model is asked"),
        _ if at_work.is_some() => ("▸", NAME, "being called"),
        _ if guided.stopped(number) == Some(true) => ("–", FAINT, "cancelled"),
        _ if guided.stopped(number).is_some() => ("·", FAINT, "not begun"),
        Some(State::Done { output, .. }) if output.failure().is_some() => {
            ("!", DOUBTFUL, "failed, and the flow went on")
        }
        Some(State::Done { .. }) => ("✓", GOOD, "done"),
        Some(State::Failed { .. }) => ("✗", BAD, "failed"),
        Some(State::Skipped { .. } | State::Omitted { .. }) => ("–", FAINT, "skipped"),
        Some(State::Waiting | State::Ready | State::Running) | None => ("·", FAINT, "not begun"),
    };
    let call = step.calls().map_or_else(String::new, |call| {
        format!(" · calls {}{}", shown(&call.address.to_string(), LINE), took(guided, number))
    });
    let by_server = step.calls().is_some() || guided.run().generated_of(number).is_some();
    let generated = guided.run().generated_of(number);
    let model = generated.map_or_else(String::new, |generated| format!(" · {}", super::answered(generated)));
    let call = format!("{call}{model}");
    let role = guided.role(number).map_or_else(String::new, |role| format!(" · as {}", shown(&role.name, LINE)));
    let mut text = format!(
        "\n{} {} of {} · {}{role}{call} · {word}\n",
        look.paint(style, mark),
        place,
        all,
        look.paint(HEADING, &shown(&step.label, LINE)),
    );
    for warning in guided.noticed().get(&number).filter(|_| step.calls().is_none()).into_iter().flatten() {
        text.push_str(&wrapped(&format!("note: {}", shown(&warning.message, LINE)), 4, look));
    }
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
    if let Some(attempts) = attempts(story, number).filter(|attempts| *attempts > 1) {
        text.push_str(&look.paint(FAINT, &format!("    {attempts} attempts\n")));
    }
    if let Some(closing) = guided.closing(number) {
        if !is_result(guided, number) {
            text.push_str(&begun(&said(&closing.output), 4, look));
        }
    } else if let Some(output) = guided.run().output_of(number).filter(|_| by_server && !is_result(guided, number)) {
        text.push_str(&begun(&output.text, 4, look));
        for file in &output.files {
            text.push_str(&look.paint(FAINT, &format!("    file: {}; --html shows it\n", super::about_file(file))));
        }
    } else if let Some(State::Failed { error, .. }) =
        guided.run().state(number).filter(|_| guided.stopped(number).is_none())
    {
        text.push_str(&wrapped(&shown(&error.to_string(), LINE), 4, look));
        if let Some(came) = super::came(guided.run(), number) {
            text.push_str(&begun(&format!("The model wrote: {came}"), 4, look));
        }
    }
    text
}

/// Whether a step's output is shown below, as the result.
fn is_result(guided: &Guided, number: usize) -> bool {
    let ours = guided.run().output_of(number);
    let result = guided.run().final_output().filter(|_| guided.state().ended());
    guided.run().plan().last() == Some(number)
        && ours.zip(result).is_some_and(|(ours, result)| ours.text == result.text)
}

/// What an output says: its summary, else its fields a line each.
fn said(output: &Value) -> String {
    match (output.get("summary"), output) {
        (Some(summary), _) => text_of(summary).into_owned(),
        (None, Value::Object(fields)) => {
            fields.iter().map(|(name, value)| format!("{name}: {}", text_of(value))).collect::<Vec<_>>().join("\n")
        }
        (None, other) => text_of(other).into_owned(),
    }
}

/// How long a tool took to answer.
fn took(guided: &Guided, number: usize) -> String {
    let timing = guided.run().state(number).and_then(State::timing).filter(|timing| timing.took >= super::NOTICED);
    timing.map_or_else(String::new, |timing| format!(" · {}", super::time(timing.took)))
}

/// A text's beginning, indented.
fn begun(text: &str, indent: usize, look: Look) -> String {
    wrapped(&safe_block(&cut(text, OUTPUT)), indent, look)
}

fn time(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

/// What was deleted, or would be.
pub fn pruned(pruned: &Pruned, look: Look) -> String {
    let mut many = count(pruned.executions.len(), "execution", "executions");
    if let Some(answers) = pruned.answers {
        let answers = count(answers, "stored answer", "stored answers");
        many = if pruned.executions.is_empty() { answers } else { format!("{many} and {answers}") };
    }
    if !pruned.rehearsed {
        let left = "; the file could not be made smaller: another process reads it or the disk has no room, and until \
             the next prune parts of them may still be found in it";
        return format!("deleted {many}{}", if pruned.compact { "" } else { left });
    }
    let rows: Vec<Vec<String>> = pruned.executions.iter().map(row).collect();
    let columns = [whole(""), whole(""), whole(""), whole(""), whole(""), prose("").spare()];
    format!("would delete {many}\n{}", table(&columns, &rows, 0, look)).trim_end().to_owned()
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
            share(tally.abandoned, tally.executions),
            share(tally.cancelled, tally.executions),
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
        whole("cancelled"),
        whole("failed"),
        whole("with refused outputs").spare(),
        whole("with questions").spare(),
    ];
    let note = "Guided executions only; those still running count in the first column.";
    table(&columns, &rows.collect::<Vec<_>>(), 0, look) + &super::faint(note, look)
}
