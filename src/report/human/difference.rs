//! What changes between two states of a catalog, as Markdown: for people, a pull request and a step's summary.

use std::fmt::Write as _;
use std::ops::Range;

use similar::ChangeTag;

use super::comparing::{by_lines, by_words};
use super::count;
use crate::app::{Difference, DifferenceKind, FlowDifference, InputChangeKind, StepChange, StepChangeKind, TestEnd};
use crate::names::{few, shown};
use crate::report::markup::{backticks, fence_of};

/// The longest name, in characters.
const LONGEST: usize = 200;
/// How much of a report GitHub takes as a summary, in bytes, with room for the last line.
const LARGEST: usize = 900_000;
/// How much of it is about tests, in bytes.
const LARGEST_TESTS: usize = 100_000;

/// Everything that changes, as Markdown.
pub fn difference(difference: &Difference) -> String {
    let mut text = format!("## Flows: {} → {}\n\n", name(&difference.from), name(&difference.to));
    if !difference.unreadable.is_empty() {
        let files = few(difference.unreadable.iter().map(|file| name(file)));
        let _ = writeln!(text, "**These files can't be read now**: {files}. `flowy validate` says why.\n");
    }
    if difference.flows.is_empty() {
        text.push_str(if difference.unreadable.is_empty() { "Nothing changes.\n" } else { "No other flow changes.\n" });
        return text + &tests(difference);
    }
    let number =
        |wanted: fn(&DifferenceKind) -> bool| difference.flows.iter().filter(|flow| wanted(&flow.kind)).count();
    let counts = [
        (number(|kind| *kind == DifferenceKind::Changed), "changed"),
        (number(|kind| *kind == DifferenceKind::Added), "added"),
        (number(|kind| *kind == DifferenceKind::Removed), "removed"),
        (number(|kind| matches!(kind, DifferenceKind::Renamed { .. })), "renamed"),
    ];
    let said: Vec<String> =
        counts.iter().filter(|(number, _)| *number > 0).map(|(number, what)| format!("{number} {what}")).collect();
    let _ = writeln!(text, "{}.", said.join(", "));
    for (place, flow) in difference.flows.iter().enumerate() {
        let part = one(flow);
        if text.len() + part.len() > LARGEST {
            let more = count(difference.flows.len() - place, "flow", "flows");
            let _ = writeln!(text, "\n{more} more; --format json has all.");
            break;
        }
        text.push_str(&part);
    }
    text + &tests(difference)
}

/// The tests of the later state, and how they end in both.
fn tests(difference: &Difference) -> String {
    let mut text = String::new();
    if !difference.tests_broken.is_empty() {
        let files = few(difference.tests_broken.iter().map(|file| name(file)));
        let _ = writeln!(text, "\nThe tests of these files can't be run: {files}. `flowy test` says why.");
    }
    if difference.tests_run == 0 {
        return text;
    }
    let all = count(difference.tests_run, "test", "tests");
    let _ = write!(text, "\n### Tests\n\n{all} of the later state, run in both: ");
    if difference.tests.is_empty() {
        return text + "all pass, before and after.\n";
    }
    let _ = writeln!(text, "{} in at least one of them.\n", count(difference.tests.len(), "fails", "fail"));
    for change in &difference.tests {
        let said = match (&change.before, &change.after.end) {
            (TestEnd::Passed, _) => "passed before and **fails now**",
            (_, TestEnd::Passed) => "failed before and passes now",
            _ => "fails before and after",
        };
        let _ = writeln!(text, "- {} ({}): {said}", name(&change.after.name), name(&change.after.file));
    }
    for change in difference.tests.iter().filter(|change| change.before == TestEnd::Passed) {
        let TestEnd::Failed(mismatches) = &change.after.end else { continue };
        let shown = super::mismatches(mismatches, super::Look::default());
        if text.len() + shown.len() > LARGEST_TESTS {
            break;
        }
        let fence = fence_of(&shown);
        let _ = write!(text, "\n{}:\n\n{fence}text\n{shown}{fence}\n", name(&change.after.name));
    }
    text
}

fn one(flow: &FlowDifference) -> String {
    let what = match &flow.kind {
        DifferenceKind::Changed => String::new(),
        DifferenceKind::Added => ": added".to_owned(),
        DifferenceKind::Removed => ": removed".to_owned(),
        DifferenceKind::Renamed { from } => format!(": renamed, it was {}", name(from)),
    };
    let mut text = format!("\n### {}{what}\n\n{}\n", name(&flow.name), name(&flow.file));
    let mut lines: Vec<String> = Vec::new();
    match (&flow.kind, flow.runs) {
        (DifferenceKind::Removed, _) => {}
        (_, (true, false)) => lines.push("**it can't be executed any more**; `flowy validate` says why".to_owned()),
        (DifferenceKind::Added, (_, false)) => {
            lines.push("**it can't be executed**; `flowy validate` says why".to_owned());
        }
        (DifferenceKind::Added, _) => {}
        (_, (false, true)) => lines.push("it can be executed now".to_owned()),
        (_, (false, false)) => lines.push("it can't be executed, before and after".to_owned()),
        _ => {}
    }
    for input in &flow.inputs {
        let called = name(&input.name);
        lines.push(match &input.kind {
            InputChangeKind::Added { required: true } => {
                format!("input {called} is new and **required**: calls without it fail")
            }
            InputChangeKind::Added { required: false } => format!("input {called} is new and optional"),
            InputChangeKind::Removed => format!("input {called} is gone"),
            InputChangeKind::Required => format!("input {called} is **required** now: calls without it fail"),
            InputChangeKind::Optional => format!("input {called} is optional now"),
            InputChangeKind::Default { before, after } => {
                let value = |value: &Option<String>| value.as_deref().map_or("none".to_owned(), name);
                format!("default of input {called}: {} → {}", value(before), value(after))
            }
        });
    }
    if let Some((before, after)) = &flow.order {
        lines.push(format!("order of steps: {} → {}", list(before), list(after)));
    }
    let (texts, others): (Vec<&StepChange>, Vec<&StepChange>) =
        flow.steps.iter().partition(|step| matches!(step.kind, StepChangeKind::Text { .. }));
    for step in others {
        let called = step_name(step);
        lines.push(match &step.kind {
            StepChangeKind::Added => format!("step {called} is new"),
            StepChangeKind::Removed => format!("step {called} is gone"),
            StepChangeKind::Waits { before, after } => {
                format!("step {called} waits for {} (before: {})", list(after), list(before))
            }
            StepChangeKind::Runs { now: false } => {
                format!("step {called} **can't run any more**; `flowy validate` says why")
            }
            StepChangeKind::Runs { now: true } => format!("step {called} can run now"),
            StepChangeKind::Work(parts) => format!("step {called} changes: {}", parts.join(", ")),
            StepChangeKind::Text { .. } => format!("step {called} has another text"),
        });
    }
    for (labels, what) in [(&flow.results_added, "new, or comes from another step"), (&flow.results_removed, "gone")] {
        lines.extend(labels.iter().map(|label| format!("result {} is {what}", name(label))));
    }
    lines.extend(flow.templates.iter().map(|file| format!("it uses the changed template {}", name(file))));
    lines.extend(flow.flows.iter().map(|inner| format!("it goes through the changed flow {}", name(inner))));
    if !lines.is_empty() {
        let _ = write!(text, "\n- {}\n", lines.join("\n- "));
    }
    for step in texts {
        if let StepChangeKind::Text { before, after } = &step.kind {
            let _ = write!(text, "\nText of step {}:\n\n{}", step_name(step), words(before, after));
        }
    }
    text
}

fn step_name(step: &StepChange) -> String {
    if step.id == step.label { name(&step.id) } else { format!("{} ({})", name(&step.label), name(&step.id)) }
}

fn list(ids: &[String]) -> String {
    if ids.is_empty() { "nothing".to_owned() } else { ids.iter().map(|id| name(id)).collect::<Vec<_>>().join(", ") }
}

/// Untrusted text as code: with more backticks around it than in it.
fn name(text: &str) -> String {
    let text = shown(text, LONGEST);
    let ticks = "`".repeat(backticks(&text) + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{blank}{text}{blank}{ticks}")
}

/// The lines that differ, word by word: `[-gone-]` and `{+new+}`.
fn words(before: &str, after: &str) -> String {
    let diff = by_lines(before, after);
    let mut out = String::new();
    for group in diff.grouped_ops(1) {
        if !out.is_empty() {
            out.push_str("…\n");
        }
        for op in group {
            let lines = |all: &[&str], range: Range<usize>| all.get(range).unwrap_or_default().concat();
            let (old, new) = (lines(diff.old_slices(), op.old_range()), lines(diff.new_slices(), op.new_range()));
            for change in by_words(&old, &new).iter_all_changes() {
                let _ = match change.tag() {
                    ChangeTag::Equal => write!(out, "{}", change.value()),
                    ChangeTag::Delete => write!(out, "[-{}-]", change.value()),
                    ChangeTag::Insert => write!(out, "{{+{}+}}", change.value()),
                };
            }
            if !out.ends_with('\n') {
                out.push('\n');
            }
        }
    }
    // Neighbouring words that go or come are one.
    let out = super::safe_block(&out.replace("-][-", "").replace("+}{+", ""));
    let fence = fence_of(&out);
    format!("{fence}text\n{out}{fence}\n")
}
