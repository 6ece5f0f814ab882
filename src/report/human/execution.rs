//! Executions for people: a heading for each step, its text, what failed and why.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;
use unicode_width::UnicodeWidthStr as _;

use super::{
    BAD, DOUBTFUL, FAINT, GOOD, HEADING, Look, NOTICED, count, faint, grouped, hanging, hint, prose, safe_block, table,
    time, whole,
};
use crate::app::{Error, Priced, PricedTotal, Recorded, Rehearsal};
use crate::model::{Cost, Generated, TokenUsage};
use crate::names::{few, quoted, shell_word, shown};
use crate::plan::{Plan, Step, Work};
use crate::report::wire;
use crate::run::{Output, Run, State};
use crate::tokens;

/// The longest label, in characters.
const LABEL: usize = 80;
/// The longest label of a step under way, in characters.
const UNDER_WAY: usize = 36;

/// Whether the texts of the steps are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepTexts {
    /// Each under its heading.
    Shown,
    /// Headings only.
    Left,
}

/// What of an execution is wanted.
#[derive(Debug, Clone, Copy)]
pub struct Wish<'a> {
    /// The label of the result that counts; none for the final one.
    pub result: Option<&'a str>,
    /// Whether the texts of the steps are shown. What had finished before a failure always is.
    pub texts: StepTexts,
    /// The steps whose lines were shown when they ended.
    pub told: &'a BTreeSet<usize>,
}

/// An execution in words: what comes before the result, the result, what comes after it.
#[derive(Debug, Clone)]
pub struct Told {
    /// The steps, the one with the result last.
    pub before: String,
    /// The result itself, byte for byte; none where its step did not finish.
    pub result: Option<String>,
    /// What else is to be known.
    pub after: String,
    /// Why it did not succeed.
    pub failure: Option<Error>,
    /// The same in short, for whoever has read the line of the failed step.
    pub failure_in_short: Option<Error>,
}

/// Whether every step finished.
pub fn succeeded(recorded: &Recorded) -> bool {
    recorded.executed.succeeded()
}

/// Tells an execution (its id and its flow's name first).
///
/// # Errors
/// The labels there are, when the one wished for is none of them.
pub fn execution(
    (id, flow): (&str, &str),
    recorded: &Recorded,
    wish: &Wish<'_>,
    look: Look,
) -> Result<Told, Vec<String>> {
    let run = &recorded.executed.run;
    let plan = run.plan();
    let chosen = match wish.result {
        None => plan.last(),
        Some(label) => match plan.results().iter().find(|mark| mark.label == label) {
            Some(mark) => mark.step,
            None => return Err(plan.results().iter().map(|mark| quoted(&mark.label)).collect()),
        },
    };
    let succeeded = succeeded(recorded);
    let texts = wish.texts == StepTexts::Shown || !succeeded;
    let mut before = String::new();
    let mut order: Vec<usize> = (0..plan.steps().len()).filter(|step| Some(*step) != chosen).collect();
    order.extend(chosen);
    order.retain(|number| has_line(run, *number));
    let widest = widest_label(plan);
    for number in order {
        let Some(step) = plan.step(number) else { continue };
        let came = came(run, number);
        let under_it = texts && (came.is_some() || Some(number) != chosen && run.output_of(number).is_some());
        if wish.told.contains(&number) && !under_it {
            continue;
        }
        // Of a step whose line was shown when it ended, only what it gave is left to tell.
        before.push_str(&if wish.told.contains(&number) {
            look.paint(HEADING, &format!("{}:", shown(&step.label, LABEL)))
        } else {
            heading((number, step), run, if texts { 0 } else { widest }, look)
        });
        before.push('\n');
        if texts
            && Some(number) != chosen
            && let Some(output) = run.output_of(number)
        {
            before.push_str(safe_block(&output.text).trim_end());
            before.push_str("\n\n");
        }
        if let Some(came) = came {
            let _ = write!(before, "The model wrote:\n{}\n\n", safe_block(came).trim_end());
        }
    }
    let result = chosen.and_then(|step| run.output_of(step)).map(wire::written_text);
    let failure = wire::failure_of(id, flow, recorded);
    let failure_in_short = failure.clone().map(|error| Error { message: short_of(run), ..error });
    if let (Some(number), true) = (chosen.filter(|_| result.is_some()), look.terminal)
        && let Some(step) = plan.step(number)
    {
        let by_model = run.output_of(number).is_some_and(|output| output.generated.is_some());
        let mut labels = plan.results().iter().filter(|mark| mark.step == Some(number)).map(|mark| &mark.label);
        let label = wish.result.or(labels.next().filter(|_| labels.next().is_none()).map(String::as_str));
        let rendered =
            run.generated().is_empty() && !plan.steps().iter().any(|step| matches!(step.work, Work::Call(_)));
        before.push_str(&rule(step, label.unwrap_or(&step.label), (by_model, rendered), look));
    }
    let mut after = String::new();
    let labels: Vec<String> = plan.results().iter().map(|mark| quoted(&mark.label)).collect();
    if labels.len() > 1 && wish.result.is_none() && result.is_some() {
        let line = format!("{} results: {}. Another than the last: --result LABEL", labels.len(), labels.join(", "));
        after.push_str(&faint(&line, look));
    }
    if let Some(spent) = spent(run) {
        after.push_str(&faint(&spent, look));
    }
    for warning in wire::of_execution(&recorded.executed.warnings, &recorded.findings, &recorded.origin) {
        after.push_str(&super::warning(&shown(&warning.message, 500), look));
    }
    // Where a step failed, that comes first: guiding would be refused.
    if run.failures().next().is_none() {
        after.push_str(&unfilled(flow, recorded.executed.unfilled().count(), look));
    }
    if result.is_none() && succeeded {
        after.push_str(&super::warning("there is no final result; --steps shows what the steps gave", look));
    }
    // On a terminal the result stands between, and its last line may be long gone.
    if look.terminal && result.is_some() && recorded.executed.took >= NOTICED {
        let line = format!("{} in {}", count(run.counts().done, "step", "steps"), time(recorded.executed.took));
        after = format!("\n{}\n{after}", look.paint(FAINT, &line));
    }
    Ok(Told { before, result, after, failure, failure_in_short })
}

/// What is said of placeholders that no model's answer fills; nothing where there are none.
fn unfilled(flow: &str, placeholders: usize, look: Look) -> String {
    if placeholders == 0 {
        return String::new();
    }
    let what = count(placeholders, "placeholder stays as it is", "placeholders stay as they are");
    let head = look.paint(DOUBTFUL, "partial:");
    let told = hanging(&head, &format!(" {what}, for no model gave the fields they ask for"), 2, look);
    let flow = shell_word(flow);
    let made_for = format!(
        "the flow is made for guided execution: a client's model does its steps one by one, or here: flowy guide {flow}"
    );
    told + &hint(&made_for, look)
}

/// The line of a step that has just ended, for whoever waits for the others.
pub fn step_line(run: &Run, number: usize, look: Look) -> Option<String> {
    let step = run.plan().step(number).filter(|_| has_line(run, number))?;
    Some(heading((number, step), run, widest_label(run.plan()), look))
}

/// Whether a step has a line of its own. Nobody does what only gathers; its failure is told where it happened,
/// which is here where the flow within did not begin.
fn has_line(run: &Run, number: usize) -> bool {
    let Some(step) = run.plan().step(number) else { return false };
    !matches!(step.work, Work::Gather(_)) || did_not_begin(run, number)
}

/// Whether a step goes through a flow that refused what it was handed.
fn did_not_begin(run: &Run, number: usize) -> bool {
    let gathers = run.plan().step(number).is_some_and(|step| matches!(step.work, Work::Gather(_)));
    gathers && matches!(run.state(number), Some(State::Failed { .. })) && run.cause_of(number) == number
}

/// How far a run is and what it is at, in a line.
pub fn under_way(run: &Run) -> String {
    let counts = run.counts();
    let at_work = |number: &usize| matches!(run.state(*number), Some(State::Ready | State::Running));
    let mut labels = (0..run.plan().steps().len()).filter(at_work).filter_map(|number| {
        let step = run.plan().step(number).filter(|step| !matches!(step.work, Work::Gather(_)))?;
        Some(shown(&step.label, UNDER_WAY))
    });
    let first = labels.next().map(|label| format!(" · {label}")).unwrap_or_default();
    let others = labels.count();
    let others = if others > 0 { format!(" and {others} more") } else { String::new() };
    format!("{} of {} done{first}{others}", counts.ended, counts.steps)
}

/// How long the longest label of a plan's steps is, in characters.
fn widest_label(plan: &Plan) -> usize {
    let done_by_somebody = plan.steps().iter().filter(|step| !matches!(step.work, Work::Gather(_)));
    done_by_somebody.map(|step| shown(&step.label, LABEL).width()).max().unwrap_or(0)
}

/// How many steps failed and were skipped: the lines of the steps say the rest.
fn short_of(run: &Run) -> String {
    let counts = run.counts();
    let skipped = counts.skipped + counts.omitted;
    let failed = counts.ended.saturating_sub(counts.done + skipped);
    let refused = run.failures().filter(|(step, _)| did_not_begin(run, *step)).count();
    let mut parts = Vec::new();
    if failed > 0 || refused == 0 {
        parts.push(format!("{failed} of {} failed", count(counts.steps, "step", "steps")));
    }
    if refused > 0 {
        parts.push(format!("{} did not begin", count(refused, "flow within it", "flows within it")));
    }
    match (skipped, failed) {
        (0, _) => {}
        (_, 0) if refused > 0 => parts.push(format!("{skipped} of {} skipped", count(counts.steps, "step", "steps"))),
        _ => parts.push(format!("{skipped} skipped")),
    }
    parts.join(", ")
}

/// A line between the steps and the result that says what the result is.
/// Whether a model gave it, and whether all steps were only `rendered`, is what the second pair says.
fn rule(step: &Step, label: &str, (by_model, rendered): (bool, bool), look: Look) -> String {
    const LEAST: usize = 2;
    let label = shown(label, LABEL);
    let what = match &step.work {
        Work::Render(_) if by_model => " the model's answer",
        Work::Render(_) => " a prompt: give it to your model",
        Work::Call(_) => " the tool's answer",
        Work::Gather(_) if rendered => " a prompt: give it to your model",
        Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. } => "",
    };
    let taken = LEAST + 2 + label.width() + what.width();
    let line = "─".repeat(look.columns().saturating_sub(taken).max(LEAST));
    format!(
        "{} {} {}\n",
        look.paint(FAINT, "──"),
        look.paint(HEADING, &label),
        look.paint(FAINT, &format!("{line}{what}"))
    )
}

/// A step's line: its place, its label in a column of so many characters, and how it ended.
fn heading((number, step): (usize, &Step), run: &Run, widest: usize, look: Look) -> String {
    let place = match (&step.work, run.place_of(number)) {
        (Work::Gather(_), _) => "flow  ".to_owned(),
        (_, (place, all)) => format!("{place} of {all}"),
    };
    let label = shown(&step.label, LABEL);
    let gap = " ".repeat(widest.saturating_sub(label.width()));
    let mut parts = Vec::new();
    if let Some(gathers) = step.within.and_then(|within| run.plan().step(within)) {
        parts.push(format!("in {}", shown(&gathers.label, LABEL)));
    }
    if let Work::Call(call) = &step.work {
        parts.push(shown(&call.address.to_string(), LABEL));
    }
    let (mark, style, end) = match run.state(number) {
        Some(State::Done { output, timing }) => match output.failure() {
            Some((code, message)) => {
                ("!", DOUBTFUL, format!("failed, and the flow went on: {code}: {}", shown(message, 300)))
            }
            None => ("✓", GOOD, done(step, output, timing.took)),
        },
        Some(State::Failed { error, .. }) => ("✗", BAD, format!("{}: {}", error.code, shown(&error.message, 300))),
        Some(State::Skipped { because }) => {
            let because = run.plan().step(*because).map_or_else(String::new, |step| shown(&step.label, LABEL));
            ("–", DOUBTFUL, format!("skipped, because {because} failed"))
        }
        Some(State::Omitted { because, why }) => {
            ("–", DOUBTFUL, format!("skipped, because {}", omitted(run, number, (*because, why))))
        }
        Some(State::Waiting | State::Ready | State::Running) | None => ("–", DOUBTFUL, "did not begin".to_owned()),
    };
    parts.push(end);
    let line = format!("{} {place}  {}{gap}", look.paint(style, mark), look.paint(HEADING, &label));
    let end = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    hanging(&line, &format!("  {end}"), 2, look).trim_end().to_owned()
}

/// Why a step is left out on purpose, which may be another one's reason.
fn omitted(run: &Run, number: usize, (because, why): (usize, &str)) -> String {
    let first = run.plan().step(because).filter(|_| because != number);
    let why = first.map_or_else(|| why.to_owned(), |step| format!("{} was", shown(&step.label, LABEL)));
    shown(&why, 200)
}

/// What a model wrote for a step that failed.
pub(in crate::report) fn came(run: &Run, number: usize) -> Option<&str> {
    let failed = matches!(run.state(number), Some(State::Failed { .. }));
    run.generated_of(number).filter(|_| failed)?.came.as_deref()
}

/// What there is to say of a step that is done: the size of a text, the time of what took any.
fn done(step: &Step, output: &Output, took: Duration) -> String {
    let text = matches!(step.work, Work::Render(_)).then(|| output.text.chars().count());
    let size = text.map(|characters| count(characters, "character", "characters"));
    let model = output.generated.as_ref().filter(|_| text.is_some()).map(|generated| answered(generated));
    size.into_iter().chain(model).chain((took >= NOTICED).then(|| time(took))).collect::<Vec<_>>().join(" · ")
}

/// Which model answered, and what that took.
pub(in crate::report) fn answered(generated: &Generated) -> String {
    let instead = generated.instead_of.as_ref().map(|name| format!(" instead of {}", shown(name, 40)));
    let stored = if generated.stored { ", stored" } else { "" };
    format!(
        "{}{} ({} + {} tokens{stored})",
        shown(&generated.model, 40),
        instead.unwrap_or_default(),
        grouped(generated.usage.input),
        grouped(generated.usage.output),
    )
}

/// An amount of money, as precise as it is worth.
pub(in crate::report) fn money(cost: &Cost) -> String {
    let amount = cost.amount();
    let digits = if amount >= 10.0 { 2 } else { 4 };
    format!("{amount:.digits$} {}", shown(&cost.currency, 12))
}

/// What models took together, in a line; none where no model was asked.
fn spent(run: &Run) -> Option<String> {
    let answers = run.generated();
    if answers.is_empty() {
        return None;
    }
    let usage = answers.iter().map(|(_, one)| one.usage).fold(TokenUsage::default(), TokenUsage::and);
    let cost = wire::cost_of(&answers).map(|cost| format!(", {}", money(&cost))).unwrap_or_default();
    let steps = count(answers.len(), "answer of a model", "answers of models");
    Some(format!("{steps}: {} + {} tokens{cost}", grouped(usage.input), grouped(usage.output)))
}

/// What would run: each text as far as the values go, and what is missing.
pub fn rehearsal(rehearsal: &Rehearsal, look: Look) -> String {
    let run = &rehearsal.executed.run;
    let plan = run.plan();
    let mut text = format!(
        "{} would run {}; nothing was executed.\n",
        shown(&rehearsal.flow, 200),
        count(run.counts().steps, "step", "steps")
    );
    if rehearsal.missing.is_empty() {
        text.push_str("Every required value is given.\n");
    } else {
        text.push_str(&look.paint(DOUBTFUL, "Missing:"));
        text.push('\n');
        let label = |id: &String| {
            let step = plan.steps().iter().find(|step| step.id == *id);
            shown(step.map_or(id.as_str(), |step| step.label.as_str()), 60)
        };
        let row = |(name, steps): &(String, Vec<String>)| vec![shown(name, 100), few(steps.iter().map(label))];
        let rows: Vec<Vec<String>> = rehearsal.missing.iter().map(row).collect();
        text.push_str(&table(&[whole("name"), prose("needed by")], &rows, 2, look));
    }
    let failures: Vec<_> = run.failures().collect();
    if !failures.is_empty() {
        let steps = count(failures.len(), "step", "steps");
        let _ = writeln!(text, "{}", look.paint(BAD, &format!("{steps} would fail:")));
        for (number, error) in failures {
            let label = plan.step(number).map_or_else(String::new, |step| shown(&step.label, 60));
            let told = format!(" {}: {}", error.code, shown(&error.message, 300));
            text.push_str(&hanging(&format!("  {label}:"), &told, 4, look));
        }
    }
    if let Some(line) = price(rehearsal.priced.values()) {
        text.push_str(&hanging("", &line, 2, look));
    }
    text.push_str(&unfilled(&rehearsal.flow, wire::unfilled(rehearsal), look));
    for (number, step) in plan.steps().iter().enumerate() {
        if matches!(step.work, Work::Gather(_)) {
            continue;
        }
        let (place, all) = run.place_of(number);
        let head = format!("{place} of {all} · {}", shown(&step.label, LABEL));
        if let (Work::Call(call), Some(_)) = (&step.work, run.output_of(number)) {
            let _ = writeln!(text, "\n{}", look.paint(HEADING, &format!("{head} · would call {}", call.address)));
            let arguments = run.arguments(number, call).map(Value::Object).unwrap_or_default();
            let lines = serde_json::to_string_pretty(&arguments).unwrap_or_default();
            text.push_str(safe_block(&lines).trim_end());
            text.push('\n');
            continue;
        }
        match run.output_of(number) {
            Some(output) => {
                let size = grouped(tokens::estimate(&output.text));
                let asked = rehearsal.priced.get(&number).map(|it| format!(" · {}", asked(it))).unwrap_or_default();
                let _ = writeln!(text, "\n{}", look.paint(HEADING, &format!("{head} · about {size} tokens{asked}")));
                text.push_str(safe_block(&output.text).trim_end());
                text.push('\n');
            }
            None => {
                let why = match run.state(number) {
                    Some(State::Failed { error, .. }) => shown(&error.message, 300),
                    Some(State::Skipped { because }) => {
                        let because = plan.step(*because).map_or_else(String::new, |step| shown(&step.label, LABEL));
                        format!("would be skipped, because {because} fails")
                    }
                    Some(State::Omitted { because, why }) => {
                        format!("would be skipped, because {}", omitted(run, number, (*because, why)))
                    }
                    Some(State::Waiting | State::Ready | State::Running | State::Done { .. }) | None => {
                        "can't be filled in".to_owned()
                    }
                };
                let _ = writeln!(text);
                let (mark, style) = match run.state(number) {
                    Some(State::Omitted { .. }) => ("–", DOUBTFUL),
                    _ => ("✗", BAD),
                };
                let head = format!("{} {}", look.paint(style, mark), look.paint(HEADING, &head));
                text.push_str(&hanging(&head, &format!(" · {why}"), 2, look));
            }
        }
    }
    text
}

/// Who would answer a step, and with how much at most.
pub(super) fn asked(priced: &Priced) -> String {
    format!(
        "{} answers: at most {} tokens in, {} out{}",
        shown(&priced.model, 40),
        grouped(priced.input),
        grouped(priced.output),
        priced.cost.as_ref().map(|cost| format!(", {}", money(cost))).unwrap_or_default()
    )
}

/// What models would take together, at most.
pub(super) fn price<'p>(all: impl IntoIterator<Item = &'p Priced>) -> Option<String> {
    let total = PricedTotal::of(all)?;
    let cost = total.cost.as_ref().map(|cost| {
        let unpriced = if total.unpriced > 0 { " and what models without a price cost" } else { "" };
        format!(", {}{unpriced}", money(cost))
    });
    Some(format!(
        "Models would answer {}: at most about {} tokens in, {} out{}, if each is asked once.",
        count(total.steps, "step", "steps"),
        grouped(total.input),
        grouped(total.output),
        cost.unwrap_or_default(),
    ))
}
