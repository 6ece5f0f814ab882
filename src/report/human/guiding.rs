//! A guided execution for whoever does its steps at a terminal: the open step, and how it all ended.

use std::fmt::Write as _;

use serde_json::Value;

use super::{BAD, FAINT, GOOD, HEADING, Look, counted, faint, safe_block, wrapped};
use crate::model::text_or_json;
use crate::names::shown;
use crate::report::wire::asked_of;
use crate::run::{Guided, GuidedState, Handed};

/// The longest name, in characters.
const LONGEST: usize = 200;
/// How much of a program's answer is repeated, in characters.
const REPEATED: usize = 2_000;

/// The open step for a person: its text, with the persona where it is a new one, what a person answered about it, and
/// what the answer has to be.
pub fn open_step(guided: &Guided, look: Look) -> String {
    let Some(open) = Open::of(guided) else { return String::new() };
    let role = guided.role(open.handed.step);
    let persona = role.map(|role| format!(" · as {}", shown(&role.name, LONGEST))).unwrap_or_default();
    let (place, of) = guided.run().place_of(open.handed.step);
    let label = look.paint(HEADING, &shown(open.label, LONGEST));
    let mut text = format!("\n{place} of {of} · {label}{persona}\n");
    if let Some(role) = role.filter(|_| open.handed.new_role) {
        text.push_str(&faint(wrapped(&role.text, 2, look).trim_end(), look));
    }
    for (questions, answer) in open.answered() {
        text.push_str(&wrapped(&format!("asked: {questions}\nanswered: {answer}"), 2, look));
    }
    let _ = write!(text, "\n{}\n", safe_block(open.text.trim_end()));
    if let Some((contract, example)) = &open.contract {
        let _ = write!(text, "\n{}\n", look.paint(FAINT, "The answer has to be JSON that meets this schema:"));
        text.push_str(&in_lines(contract));
        if let Some(example) = example {
            let _ = writeln!(text, "{}", look.paint(FAINT, "For example:"));
            text.push_str(&in_lines(example));
        }
    }
    if guided.rendering(open.handed.step).is_some_and(|rendering| rendering.optional) {
        let _ = writeln!(text, "\n{}", look.paint(FAINT, "This step is optional: an empty answer leaves it out."));
    }
    text
}

/// All that it takes to do the open step, for a program or below a draft: the persona, what a person answered, the
/// text as it is, what the answer has to be, and why the last answer was refused.
pub fn step_in_full(guided: &Guided, refused: Option<&str>) -> String {
    let Some(open) = Open::of(guided) else { return String::new() };
    let mut text = String::new();
    if let Some(role) = guided.role(open.handed.step) {
        let _ = write!(text, "{}\n\n", role.text.trim_end());
    }
    for (questions, answer) in open.answered() {
        let _ = write!(text, "Asked: {questions}\nAnswered: {answer}\n\n");
    }
    text.push_str(&open.text);
    if let Some((contract, example)) = &open.contract {
        let _ = write!(text, "\n\nAnswer with JSON that meets this schema, and with nothing else:\n{contract}");
        if let Some(example) = example {
            let _ = write!(text, "\nFor example:\n{example}");
        }
    }
    if let Some(why) = refused {
        let _ = write!(text, "\n\nThe answer before this one was refused: {why}");
    }
    text
}

/// What a program answered, in short.
pub fn given(answer: &str, look: Look) -> String {
    let kept: String = answer.chars().take(REPEATED).collect();
    let more = if kept.len() < answer.len() { "…" } else { "" };
    wrapped(&format!("{}{more}", kept.trim_end()), 2, look)
}

/// How an execution ended whose steps were done here.
pub fn guided_end(guided: &Guided, look: Look) -> String {
    let (run, state) = (guided.run(), guided.state());
    let id = shown(guided.beginning().id.as_str(), LONGEST);
    let end = id.rsplit('_').next().unwrap_or(&id);
    let mut text = String::new();
    for (number, error) in run.failures() {
        let label = run.plan().step(number).map_or("", |step| step.label.as_str());
        let line = format!("✗ {}: {}", shown(label, LONGEST), safe_block(&error.to_string()));
        let _ = writeln!(text, "{}", look.paint(BAD, wrapped(&line, 0, look).trim_end()));
    }
    let style = if state == GuidedState::Completed { GOOD } else { BAD };
    let word = look.paint(style, state.word());
    let _ = writeln!(text, "{word}: {} · flowy executions show {end}", counted(guided));
    text
}

/// The step that is open.
struct Open<'g> {
    guided: &'g Guided,
    handed: &'g Handed,
    label: &'g str,
    text: String,
    /// What the answer must meet, where plain text does not do, and an answer that does.
    contract: Option<(Value, Option<Value>)>,
}

impl<'g> Open<'g> {
    fn of(guided: &'g Guided) -> Option<Self> {
        let handed = guided.handed()?;
        let (run, number) = (guided.run(), handed.step);
        let rendering = guided.rendering(number)?;
        let bare = rendering.terms.is_none() && run.fields_read(number).is_empty();
        let label = &run.plan().step(number)?.label;
        let text = run.bind(number, rendering).ok().map(|bound| bound.text.clone()).unwrap_or_default();
        Some(Self { guided, handed, label, text, contract: (!bare).then(|| asked_of(guided, number)) })
    }

    /// What a person answered about the step, each with what was asked.
    fn answered(&self) -> Vec<(String, String)> {
        let told = self.guided.escalations().iter().filter(|asked| asked.step == self.handed.step);
        let told = told.filter_map(|asked| {
            let (answers, ..) = asked.answer.as_ref()?;
            Some((asked.questions.join(" "), text_or_json(answers).into_owned()))
        });
        told.collect()
    }
}

/// JSON, indented.
fn in_lines(value: &Value) -> String {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let indented: Vec<String> = text.lines().map(|line| ["  ", &safe_block(line), "\n"].concat()).collect();
    indented.concat()
}
