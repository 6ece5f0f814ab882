//! The variables of a step: values for its slots, and its text filled with them.

use std::borrow::Cow;

use serde_json::Value;

use crate::model::text_of;
use crate::plan::{Open, OutputPart, Rendering, Slot, Source, Work};
use crate::render::{Walked, fill, walk};
use crate::run::{Run, State, StepError, Warning, WarningKind};

/// What fills one slot.
#[derive(Debug, Clone, PartialEq)]
pub enum FilledWith<'r> {
    /// A value, and where it comes from.
    Value(Cow<'r, Value>),
    /// A text: an earlier step's output.
    Text(&'r str),
    /// Nothing: an optional name that nobody gives becomes empty.
    Empty,
    /// Nothing: nobody declares it, a path leads into a text, or (in a rehearsal) it is missing. The
    /// braces stay.
    Left,
    /// The step before gave fields, and not these: the step fails.
    Absent,
}

/// A step's text, filled.
#[derive(Debug, Clone)]
pub struct Bound {
    /// The text.
    pub text: String,
    /// What was noticed while filling it.
    pub warnings: Vec<Warning>,
}

impl Run {
    /// What fills each slot of a step; nothing for faulty steps.
    pub fn slots(&self, step: usize) -> Vec<(&Slot, FilledWith<'_>)> {
        match self.plan().step(step).map(|step| &step.work) {
            Some(Work::Render(rendering)) => {
                rendering.slots.iter().map(|slot| (slot, self.filled(step, slot))).collect()
            }
            _ => Vec::new(),
        }
    }

    fn filled<'r>(&'r self, step: usize, slot: &'r Slot) -> FilledWith<'r> {
        match &slot.source {
            Source::Step { step: from, part, path, .. } => self.output(*from, *part, path),
            Source::Open(open) => self.left_open(step, open),
        }
    }

    fn left_open<'r>(&'r self, step: usize, open: &'r Open) -> FilledWith<'r> {
        let work = self.plan().step(step).map(|step| &step.work);
        let given = self
            .given()
            .values
            .get(&open.input)
            .or_else(|| work.and_then(|work| self.given().of_set(work, &open.input)))
            .or(open.default.as_ref());
        match (given, open.auto) {
            (Some(value), _) => FilledWith::Value(Cow::Borrowed(value)),
            (None, Some(parent)) => self.output(parent, OutputPart::Result, &[]),
            // A required name that nobody gives is there in a rehearsal only: its braces stay.
            (None, None) if open.declared && !open.required => FilledWith::Empty,
            (None, None) => FilledWith::Left,
        }
    }

    fn output<'r>(&'r self, from: usize, part: OutputPart, path: &[String]) -> FilledWith<'r> {
        if part == OutputPart::Template {
            return match self.plan().step(from).map(|step| &step.work) {
                Some(Work::Render(rendering)) => FilledWith::Text(&rendering.template_name),
                _ => FilledWith::Left,
            };
        }
        let Some(State::Done { output, .. }) = self.state(from) else { return FilledWith::Left };
        match (&output.value, path) {
            // The text is what the bare name means; the value is there for paths into it.
            (_, []) => FilledWith::Text(&output.text),
            (None, _) => FilledWith::Left,
            (Some(value), path) => match walk(value, path) {
                Walked::Value(value) => FilledWith::Value(Cow::Borrowed(value)),
                Walked::NoInside => FilledWith::Left,
                Walked::Absent => FilledWith::Absent,
            },
        }
    }

    /// The value with fields behind a slot, for dot paths.
    fn fields<'r>(&'r self, slot: &'r Slot, filled: &'r FilledWith<'r>) -> Option<&'r Value> {
        let (from, path): (usize, &[String]) = match (filled, &slot.source) {
            (FilledWith::Value(value), _) => return Some(value),
            (FilledWith::Text(_), Source::Step { step, part: OutputPart::Result, path, .. }) => (*step, path),
            (FilledWith::Text(_), Source::Open(Open { auto: Some(parent), .. })) => (*parent, &[]),
            _ => return None,
        };
        let Some(State::Done { output, .. }) = self.state(from) else { return None };
        match walk(output.value.as_ref()?, path) {
            Walked::Value(value) => Some(value),
            Walked::NoInside | Walked::Absent => None,
        }
    }

    /// Fills a step's text. A placeholder that nothing fills stays as it is.
    ///
    /// # Errors
    /// `LIMIT_EXCEEDED` before the text grows past what one step, or what is left of the whole run,
    /// may hold; `EXECUTION_ERROR` when a dot path leads to nothing.
    pub fn bind(&self, step: usize, rendering: &Rendering) -> Result<Bound, StepError> {
        let id = self.plan().step(step).map_or("", |step| step.id.as_str());
        let filled: Vec<FilledWith<'_>> = rendering.slots.iter().map(|slot| self.filled(step, slot)).collect();
        let mut warnings = Vec::new();
        let mut texts: Vec<Option<Cow<'_, str>>> = Vec::with_capacity(rendering.outline.placeholders.len());
        for (placeholder, place) in rendering.outline.placeholders.iter().zip(&rendering.outline.name_of) {
            let (Some(slot), Some(with)) = (rendering.slots.get(*place), filled.get(*place)) else {
                texts.push(None);
                continue;
            };
            let absent = || {
                let message = format!("{{{}}}: there is nothing at that path", placeholder.spelt());
                StepError::new("EXECUTION_ERROR", message)
            };
            match with {
                FilledWith::Absent => return Err(absent()),
                FilledWith::Empty => {
                    texts.push(Some(Cow::Borrowed("")));
                    continue;
                }
                _ => {}
            }
            if placeholder.path.is_empty() {
                texts.push(match with {
                    FilledWith::Value(value) => Some(text_of(value)),
                    FilledWith::Text(text) => Some(Cow::Borrowed(*text)),
                    FilledWith::Empty | FilledWith::Absent => None,
                    FilledWith::Left => {
                        warnings.extend(left(id, slot, &placeholder.spelt()));
                        None
                    }
                });
                continue;
            }
            let text = match self.fields(slot, with).map(|value| walk(value, &placeholder.path)) {
                Some(Walked::Value(value)) => Some(text_of(value)),
                Some(Walked::Absent) => return Err(absent()),
                Some(Walked::NoInside) | None => {
                    match with {
                        FilledWith::Left => warnings.extend(left(id, slot, &placeholder.spelt())),
                        _ => warnings.push(Warning::of(
                            WarningKind::TextHasNoFields,
                            id,
                            format!("{{{}}} asks for a field of a text; it stays as it is", placeholder.spelt()),
                        )),
                    }
                    None
                }
            };
            texts.push(text);
        }
        let limits = self.limits();
        let limit = limits.step.min(limits.whole.saturating_sub(self.written()));
        let filling = |number: usize| texts.get_mut(number).and_then(Option::take);
        let text = fill(&rendering.text, &rendering.outline.placeholders, limit, filling).map_err(|too_long| {
            let bytes = too_long.limit.saturating_add(1);
            self.too_large(step, bytes).unwrap_or_else(|| StepError::new("LIMIT_EXCEEDED", too_long.to_string()))
        })?;
        Ok(Bound { text, warnings })
    }
}

/// What to say of a placeholder that stays: nothing where its name is among the missing ones.
fn left(id: &str, slot: &Slot, spelt: &str) -> Option<Warning> {
    let message = match &slot.source {
        Source::Open(open) if open.required => return None,
        Source::Open(_) => format!("{{{spelt}}} is not declared and was not given; it stays as it is"),
        Source::Step { .. } => {
            let message = format!("{{{spelt}}} asks for a field of a text; it stays as it is");
            return Some(Warning::of(WarningKind::TextHasNoFields, id, message));
        }
    };
    Some(Warning::of(WarningKind::UnboundPlaceholder, id, message))
}
