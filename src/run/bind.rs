//! The variables of a step: values for its slots, and its text filled with them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::code::{Code, WarningCode};
use crate::model::{is_among, text_of};
use crate::names::{counted, few, quoted, shown};
use crate::plan::{Call, Open, OutputPart, Passed, Passing, Rendering, Slot, Source, Work};
use crate::render::{Filling, Hole, Walked, fill, walk};
use crate::run::{Output, Run, State, StepError, Warning};

/// What fills one slot.
#[derive(Debug, Clone, PartialEq)]
pub enum FilledWith<'r> {
    /// A value, and where it comes from.
    Value(Cow<'r, Value>),
    /// A text: the name of an earlier step's template.
    Text(&'r str),
    /// An earlier step's output.
    Output(&'r Output),
    /// An output that is not there yet, because the call is only rehearsed. The braces stay.
    Pending,
    /// Nothing: an optional name that nobody gives becomes empty.
    Empty,
    /// Nothing: nobody declares it, a path leads into a text, or (in a rehearsal) it is missing. The
    /// braces stay.
    Left,
    /// The step before gave fields, and not these: the step fails.
    /// In words: who gave nothing where, and what there is instead.
    Absent(String),
}

/// Nothing is at a dot path.
pub(super) struct Nowhere;

/// The most fields that are named where one is asked for that isn't there.
const MOST_FIELDS: usize = 8;
/// The longest name of such a field, in characters.
const LONGEST_FIELD: usize = 40;

impl Run {
    /// That a placeholder asks for what isn't there: of which step, at which path, and what there is.
    pub(super) fn nothing_at(
        &self,
        spelt: &str,
        path: &[String],
        slot: Option<&Slot>,
        with: &FilledWith<'_>,
    ) -> StepError {
        StepError::new(Code::ExecutionError, format!("{{{spelt}}}: {}", self.absence(path, slot, with)))
    }

    /// The same without the placeholder.
    fn absence(&self, path: &[String], slot: Option<&Slot>, with: &FilledWith<'_>) -> String {
        let (whole, of_tool) = match with {
            FilledWith::Absent(words) => return words.clone(),
            FilledWith::Output(output) => (output.value.as_deref(), output.of_tool),
            FilledWith::Value(value) => (Some(&**value), false),
            FilledWith::Text(_) | FilledWith::Pending | FilledWith::Empty | FilledWith::Left => (None, false),
        };
        let given = matches!((slot.map(|slot| &slot.source), with), (Some(Source::Open(_)), FilledWith::Value(_)));
        let giver = slot.filter(|_| !given).and_then(|slot| self.giver(slot));
        let giver = giver.map(|id| format!("step {}", quoted(id)));
        let giver = giver.or_else(|| Some(quoted(&slot?.name))).unwrap_or_else(|| "it".to_owned());
        absent(&giver, whole, path, of_tool)
    }

    /// The id of the step whose output fills a slot.
    fn giver(&self, slot: &Slot) -> Option<&str> {
        let step = match &slot.source {
            Source::Step { step, .. } => *step,
            Source::Open(open) => open.auto?,
            Source::Passed(passed) => match &passed.value {
                Passing::Auto { step } => *step,
                Passing::Text { slots, .. } => return slots.first().and_then(|slot| self.giver(slot)),
                Passing::Default { .. } | Passing::Nothing { .. } => return None,
            },
        };
        self.plan().step(step).map(|step| step.id.as_str())
    }
}

/// Who gave nothing where, and what there is instead.
fn absent(giver: &str, whole: Option<&Value>, path: &[String], of_tool: bool) -> String {
    let there = whole.map(|whole| what_is_there(whole, path, of_tool)).unwrap_or_default();
    format!("{giver} has nothing at {}{there}", shown(&path.join("."), 200))
}

/// The fields at the last place of a path that exists, in words.
fn what_is_there(whole: &Value, path: &[String], of_tool: bool) -> String {
    let known = |most: usize| {
        (0..=most).rev().find_map(|length| match walk(whole, path.get(..length)?) {
            Walked::Value(value) => Some((length, value)),
            Walked::NoInside | Walked::Absent => None,
        })
    };
    let Some((length, value)) = known(path.len()) else { return String::new() };
    let mut fields: Vec<String> = match value {
        Value::Object(members) => members.keys().map(|key| shown(key, LONGEST_FIELD)).collect(),
        Value::Array(items) if items.is_empty() => return at(path, length, "is an empty list"),
        Value::Array(items) => {
            return at(
                path,
                length,
                &format!("is a list of {}, counted from 0", counted(items.len(), "item", "items")),
            );
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return at(path, length, "has no fields"),
    };
    if length == 0 && of_tool {
        let inner = ["structuredContent", "json"].iter().filter_map(|key| value.get(key)?.as_object()).flatten();
        for (key, _) in inner {
            let key = shown(key, LONGEST_FIELD);
            if !fields.contains(&key) {
                fields.push(key);
            }
        }
    }
    let more = fields.len().saturating_sub(MOST_FIELDS);
    fields.truncate(MOST_FIELDS);
    if fields.is_empty() {
        return at(path, length, "is empty");
    }
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    at(path, length, &format!("has {}{more}", fields.join(", ")))
}

fn at(path: &[String], length: usize, words: &str) -> String {
    let place = path.get(..length).unwrap_or_default().join(".");
    if place.is_empty() { format!("; it {words}") } else { format!("; {} {words}", shown(&place, 200)) }
}

/// Whether a value counts as there: neither empty, `0` nor `false`.
fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(yes) => *yes,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty() && text != "0" && text != "false",
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

impl<'r> FilledWith<'r> {
    /// The text at a dot path of it; none where the braces stay.
    fn read(&self, path: &[String]) -> Result<Option<Cow<'_, str>>, Nowhere> {
        if let Some(text) = self.unfailed(path) {
            return Ok(Some(Cow::Borrowed(text)));
        }
        Ok(match self {
            Self::Absent(_) => return Err(Nowhere),
            Self::Empty => Some(Cow::Borrowed("")),
            Self::Left | Self::Pending => None,
            Self::Value(value) if path.is_empty() => Some(text_of(value)),
            Self::Output(output) if path.is_empty() => Some(Cow::Borrowed(&output.text)),
            Self::Text(text) if path.is_empty() => Some(Cow::Borrowed(text)),
            Self::Value(_) | Self::Output(_) | Self::Text(_) => match self.walk(path) {
                Walked::Value(value) => Some(text_of(value)),
                Walked::Absent => return Err(Nowhere),
                Walked::NoInside => None,
            },
        })
    }

    /// What is read of a failure that did not happen.
    fn unfailed(&self, path: &[String]) -> Option<&str> {
        if let Self::Output(output) = self { output.unfailed(path) } else { None }
    }

    /// What is at a dot path of it.
    fn walk(&self, path: &[String]) -> Walked<'_> {
        match self {
            Self::Value(value) => walk(value, path),
            Self::Output(output) => output.walk(path),
            Self::Text(_) | Self::Empty | Self::Left | Self::Pending | Self::Absent(_) => Walked::NoInside,
        }
    }

    /// What is at a dot path of it, for a value that is handed on.
    pub(super) fn inside(&self, path: &[String]) -> Result<Filling<'r>, Nowhere> {
        if let Some(text) = self.unfailed(path) {
            return Ok(Filling::Text(Cow::Owned(text.to_owned())));
        }
        match self.walk(path) {
            Walked::Value(value) => Ok(Filling::Value(Cow::Owned(value.clone()))),
            Walked::Absent => Err(Nowhere),
            Walked::NoInside => Ok(Filling::Left),
        }
    }

    /// What it is for a path that leads into no fields.
    fn left_over(&self) -> Self {
        if matches!(self, Self::Pending) { Self::Pending } else { Self::Left }
    }

    /// What it is for a placeholder of a tool's arguments.
    fn filling(&self, hole: &Hole, absent: impl Fn() -> StepError) -> Result<Filling<'r>, StepError> {
        if let Some(text) = self.unfailed(&hole.path).filter(|text| !text.is_empty() || hole.default.is_none()) {
            return Ok(Filling::Text(Cow::Owned(text.to_owned())));
        }
        Ok(match self {
            Self::Pending => Filling::Left,
            Self::Left | Self::Empty => Filling::Nothing,
            Self::Absent(_) if hole.default.is_some() => Filling::Nothing,
            Self::Absent(_) => return Err(absent()),
            Self::Value(value) if hole.path.is_empty() => Filling::Value(value.clone()),
            Self::Output(output) if hole.path.is_empty() => Filling::Text(Cow::Borrowed(&output.text)),
            Self::Text(text) if hole.path.is_empty() => Filling::Text(Cow::Borrowed(text)),
            Self::Value(_) | Self::Output(_) | Self::Text(_) => match self.walk(&hole.path) {
                Walked::Value(value) => Filling::Value(Cow::Owned(value.clone())),
                Walked::Absent | Walked::NoInside if hole.default.is_some() => Filling::Nothing,
                Walked::Absent => return Err(absent()),
                Walked::NoInside => {
                    let message = format!("{{{{ {} }}}} asks for a field of a text", hole.spelt());
                    return Err(StepError::new(Code::ExecutionError, message));
                }
            },
        })
    }
}

impl Passed {
    /// Whether a value may be given to the other flow's input.
    fn check(&self, with: &FilledWith<'_>) -> Result<(), StepError> {
        let text;
        let value = match with {
            FilledWith::Value(value) => &**value,
            FilledWith::Output(output) => {
                text = Value::String(output.text.to_string());
                &text
            }
            FilledWith::Text(_)
            | FilledWith::Pending
            | FilledWith::Empty
            | FilledWith::Left
            | FilledWith::Absent(_) => return Ok(()),
        };
        let flow = quoted(&self.flow);
        let shown = quoted(&text_of(value));
        if let Some(kind) = self.held_to.filter(|kind| !kind.fits(value)) {
            let message = format!("flow {flow}: {} is {shown}, and its type is {kind}", quoted(&self.input));
            return Err(StepError::new(Code::ExecutionError, message));
        }
        if !self.choices.is_empty() && !is_among(&self.choices, value, self.held_to) {
            let allowed = few(self.choices.iter().map(|choice| quoted(&text_of(choice))));
            let message = format!("flow {flow}: {} is {shown}, and only {allowed} are allowed", quoted(&self.input));
            return Err(StepError::new(Code::ExecutionError, message));
        }
        Ok(())
    }
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
        let slots = self.plan().step(step).map(|step| step.work.slots()).unwrap_or_default();
        slots.iter().map(|slot| (slot, self.filled(step, slot).unwrap_or(FilledWith::Left))).collect()
    }

    pub(super) fn filled<'r>(&'r self, step: usize, slot: &'r Slot) -> Result<FilledWith<'r>, StepError> {
        Ok(match &slot.source {
            Source::Step { step: from, part, path, otherwise, .. } => {
                match (self.output(*from, *part, path), otherwise) {
                    (FilledWith::Left, Some(own)) => self.left_open(step, own)?,
                    (with, _) => with,
                }
            }
            Source::Open(open) => self.left_open(step, open)?,
            Source::Passed(passed) => self.passed(step, passed)?,
        })
    }

    fn left_open<'r>(&'r self, step: usize, open: &'r Open) -> Result<FilledWith<'r>, StepError> {
        self.admitted(step)?;
        let Some(reader) = self.plan().step(step) else { return Ok(FilledWith::Left) };
        let Some(level) = self.level(reader.within) else { return Ok(FilledWith::Left) };
        for open in open.places() {
            if level.given.pending.contains(&open.input) {
                return Ok(FilledWith::Pending);
            }
            if let Some(output) = level.outputs.and_then(|outputs| outputs.get(&open.input)) {
                return Ok(FilledWith::Output(output));
            }
            let value = level.given.values.get(&open.input);
            let value = value.or_else(|| level.given.of_set(&reader.work, &open.input)).or(open.default.as_deref());
            if let Some(value) = value {
                // A list or an object may be written as its JSON, wherever it comes from: fields are read from it.
                let nested = || {
                    let terms = self.plan().terms_within(reader.within);
                    terms.inputs.iter().find(|input| input.name == open.input)?.kind?.nested(value)
                };
                let nested = value.is_string().then(nested).flatten();
                return Ok(FilledWith::Value(nested.map_or(Cow::Borrowed(value), Cow::Owned)));
            }
        }
        Ok(match open.auto {
            Some(parent) => self.output(parent, OutputPart::Result, &[]),
            // A required name that nobody gives is there in a rehearsal only: its braces stay.
            None if open.declared && !open.required => FilledWith::Empty,
            None => FilledWith::Left,
        })
    }

    fn output<'r>(&'r self, from: usize, part: OutputPart, path: &[String]) -> FilledWith<'r> {
        if part == OutputPart::Template {
            return match self.plan().step(from).map(|step| &step.work) {
                Some(Work::Render(rendering)) => FilledWith::Text(&rendering.template_name),
                Some(Work::Gather(gather)) => FilledWith::Text(&gather.flow),
                Some(Work::Call(_) | Work::Flow(_) | Work::Faulty { .. }) | None => FilledWith::Left,
            };
        }
        let Some(State::Done { output, .. }) = self.state(from) else { return FilledWith::Left };
        if output.pending {
            return FilledWith::Pending;
        }
        if path.is_empty() {
            // The text is what the bare name means; the value is there for paths into it.
            return FilledWith::Output(output);
        }
        if let Some(text) = output.unfailed(path) {
            return FilledWith::Text(text);
        }
        match output.walk(path) {
            Walked::Value(value) => FilledWith::Value(Cow::Borrowed(value)),
            Walked::NoInside => FilledWith::Left,
            Walked::Absent => {
                let giver = self.plan().step(from).map_or("", |step| step.id.as_str());
                let giver = format!("step {}", quoted(giver));
                FilledWith::Absent(absent(&giver, output.value.as_deref(), path, output.of_tool))
            }
        }
    }

    /// What the step that is a flow hands to one of the flow's inputs, in a plan that was stored before
    /// there were doors.
    fn passed<'r>(&'r self, step: usize, passed: &'r Passed) -> Result<FilledWith<'r>, StepError> {
        let (passage, slots) = match &passed.value {
            Passing::Text { passage, slots } => (passage, slots),
            Passing::Default { value } => return Ok(FilledWith::Value(Cow::Borrowed(value))),
            Passing::Auto { step: parent } => return Ok(self.output(*parent, OutputPart::Result, &[])),
            Passing::Nothing { required: true, .. } => {
                let message = format!("flow {} needs {}", quoted(&passed.flow), quoted(&passed.input));
                return Err(StepError::new(Code::MissingVariables, message));
            }
            Passing::Nothing { declared: true, .. } => return Ok(FilledWith::Empty),
            Passing::Nothing { declared: false, .. } => return Ok(FilledWith::Left),
        };
        let filled: Vec<FilledWith<'r>> = slots.iter().map(|slot| self.filled(step, slot)).collect::<Result<_, _>>()?;
        let with = match passage.outline.placeholders.as_slice() {
            // A text that is one placeholder hands the value on as it is, fields included.
            [one] if one.range == (0..passage.text.len()) => {
                let with = passage.slot_of.first().and_then(|slot| filled.get(*slot));
                let Some(with) = with else { return Ok(FilledWith::Left) };
                if one.path.is_empty() {
                    with.clone()
                } else {
                    match with.walk(&one.path) {
                        Walked::Value(value) => FilledWith::Value(Cow::Owned(value.clone())),
                        Walked::Absent => {
                            let slot = passage.slot_of.first().and_then(|slot| slots.get(*slot));
                            FilledWith::Absent(self.absence(&one.path, slot, with))
                        }
                        Walked::NoInside => with.left_over(),
                    }
                }
            }
            placeholders => {
                let mut absent = None;
                let pieces = |number: usize| -> Option<Cow<'_, str>> {
                    let with = filled.get(*passage.slot_of.get(number)?)?;
                    let placeholder = placeholders.get(number)?;
                    match with.read(&placeholder.path) {
                        Ok(text) => text,
                        Err(Nowhere) => {
                            let slot = passage.slot_of.get(number).and_then(|slot| slots.get(*slot));
                            absent = Some(self.nothing_at(&placeholder.spelt(), &placeholder.path, slot, with));
                            None
                        }
                    }
                };
                let limit = self.limits().step;
                let text = fill(&passage.text, placeholders, limit, pieces)
                    .map_err(|too_long| StepError::new(Code::LimitExceeded, too_long.to_string()))?;
                if let Some(error) = absent {
                    return Err(error);
                }
                FilledWith::Value(Cow::Owned(Value::String(text)))
            }
        };
        passed.check(&with)?;
        Ok(with)
    }

    /// The placeholders of a step that were filled, as they are spelt, and with what.
    pub fn seen(&self, step: usize) -> Map<String, Value> {
        let Some(work) = self.plan().step(step).map(|step| &step.work) else { return Map::new() };
        let mut seen = Map::new();
        let slots = self.slots(step);
        for (slot, path) in work.reads() {
            let Some((slot, with)) = slots.get(slot) else { continue };
            let spelt = std::iter::once(slot.name.as_str()).chain(path.iter().map(String::as_str));
            let spelt = spelt.collect::<Vec<_>>().join(".");
            if seen.contains_key(&spelt) {
                continue;
            }
            let value = match with {
                FilledWith::Left | FilledWith::Pending | FilledWith::Absent(_) => continue,
                FilledWith::Empty => Value::String(String::new()),
                FilledWith::Value(value) if path.is_empty() => Value::clone(value),
                FilledWith::Text(text) if path.is_empty() => Value::String((*text).to_owned()),
                FilledWith::Output(output) if path.is_empty() => Value::String(output.text.to_string()),
                FilledWith::Value(_) | FilledWith::Text(_) | FilledWith::Output(_) => match with.walk(path) {
                    Walked::Value(value) => value.clone(),
                    Walked::NoInside | Walked::Absent => continue,
                },
            };
            seen.insert(spelt, value);
        }
        seen
    }

    /// Why a step that calls a tool is left out: a name that it `requires` is not given, or empty.
    pub fn left_out(&self, step: usize, call: &Call) -> Option<String> {
        self.admitted(step).ok()?;
        call.requires.iter().find_map(|(number, path)| {
            let slot = call.slots.get(*number)?;
            let with = self.filled(step, slot).ok()?;
            let there = match (&with, path.as_slice()) {
                (FilledWith::Pending, _) => true,
                (with, []) => match with {
                    FilledWith::Value(value) => truthy(value),
                    FilledWith::Output(output) => !output.text.is_empty(),
                    FilledWith::Text(text) => !text.is_empty(),
                    FilledWith::Pending | FilledWith::Empty | FilledWith::Left | FilledWith::Absent(_) => false,
                },
                (with, path) => match with.unfailed(path) {
                    Some(text) => !text.is_empty(),
                    None => matches!(with.walk(path), Walked::Value(value) if truthy(value)),
                },
            };
            let spelt = std::iter::once(slot.name.as_str()).chain(path.iter().map(String::as_str));
            (!there)
                .then(|| format!("it requires {}, which is not given or empty", spelt.collect::<Vec<_>>().join(".")))
        })
    }

    /// The arguments of a call, filled.
    ///
    /// # Errors
    /// `EXECUTION_ERROR` when a dot path leads to nothing, `LIMIT_EXCEEDED` when they grow past what
    /// one step may hold.
    pub fn arguments(&self, step: usize, call: &Call) -> Result<Map<String, Value>, StepError> {
        self.admitted(step)?;
        let filled: Vec<FilledWith<'_>> =
            call.slots.iter().map(|slot| self.filled(step, slot)).collect::<Result<_, _>>()?;
        let mut bytes = 0_usize;
        call.arguments.fill(|number, hole| {
            let with = call.slot_of.get(number).and_then(|slot| filled.get(*slot));
            let Some(with) = with else { return Ok(Filling::Left) };
            let slot = call.slot_of.get(number).and_then(|slot| call.slots.get(*slot));
            let filling = with.filling(hole, || self.nothing_at(&hole.spelt(), &hole.path, slot, with))?;
            let filling = self.in_its_type(step, filling, hole, slot);
            bytes = bytes.saturating_add(match &filling {
                Filling::Text(text) => text.len(),
                Filling::Value(Cow::Borrowed(Value::String(text))) => text.len(),
                Filling::Value(value) => value.to_string().len(),
                Filling::Nothing | Filling::Left => 0,
            });
            match self.too_large(step, bytes) {
                Some(error) if bytes > self.limits().step => Err(error),
                Some(_) | None => Ok(filling),
            }
        })
    }

    /// A value as its input is declared to be: a text that reads as a number becomes that number, and a
    /// number that is to be a text becomes one. Callers may give either, a tool's schema wants the one.
    fn in_its_type<'r>(&self, step: usize, filling: Filling<'r>, hole: &Hole, slot: Option<&Slot>) -> Filling<'r> {
        let terms = self.plan().terms_within(self.plan().step(step).and_then(|step| step.within));
        let held_to = slot.filter(|_| hole.path.is_empty()).and_then(|slot| match &slot.source {
            Source::Open(open) => {
                terms.inputs.iter().find(|input| input.name == open.input).and_then(|input| input.held_to)
            }
            Source::Passed(passed) => passed.held_to,
            Source::Step { .. } => None,
        });
        let Some(kind) = held_to else { return filling };
        match filling {
            Filling::Text(text) => Filling::Value(Cow::Owned(kind.typed(Value::String(text.into_owned())))),
            Filling::Value(value) => Filling::Value(match &*value {
                Value::String(_) | Value::Number(_) | Value::Bool(_) => Cow::Owned(kind.typed(value.into_owned())),
                Value::Null | Value::Array(_) | Value::Object(_) => value,
            }),
            Filling::Nothing | Filling::Left => filling,
        }
    }

    /// Fills a step's text. A placeholder that nothing fills stays as it is.
    ///
    /// # Errors
    /// `LIMIT_EXCEEDED` before the text grows past what one step, or what is left of the whole run,
    /// may hold; `EXECUTION_ERROR` when a dot path leads to nothing.
    pub fn bind(&self, step: usize, rendering: &Rendering) -> Result<Bound, StepError> {
        self.admitted(step)?;
        let id = self.plan().step(step).map_or("", |step| step.id.as_str());
        let filled: Vec<FilledWith<'_>> =
            rendering.slots.iter().map(|slot| self.filled(step, slot)).collect::<Result<_, _>>()?;
        let mut warnings = Vec::new();
        let mut texts: Vec<Option<Cow<'_, str>>> = Vec::with_capacity(rendering.outline.placeholders.len());
        for (placeholder, place) in rendering.outline.placeholders.iter().zip(&rendering.outline.name_of) {
            let (Some(slot), Some(with)) = (rendering.slots.get(*place), filled.get(*place)) else {
                texts.push(None);
                continue;
            };
            let text = with
                .read(&placeholder.path)
                .map_err(|Nowhere| self.nothing_at(&placeholder.spelt(), &placeholder.path, Some(slot), with))?;
            if text.is_none() {
                match with {
                    FilledWith::Left if placeholder.is_code(&rendering.text) => {}
                    FilledWith::Left => warnings.extend(left(id, slot, &placeholder.spelt())),
                    FilledWith::Pending => {}
                    FilledWith::Value(_)
                    | FilledWith::Text(_)
                    | FilledWith::Output(_)
                    | FilledWith::Empty
                    | FilledWith::Absent(_) => {
                        let given = matches!((&slot.source, with), (Source::Open(_), FilledWith::Value(_)));
                        let of_output = !given && self.giver(slot).is_some();
                        warnings.push(Warning::text_has_no_fields(id, placeholder.spelt(), of_output));
                    }
                }
            }
            texts.push(text);
        }
        let limits = self.limits();
        let limit = limits.step.min(limits.whole.saturating_sub(self.written()));
        let filling = |number: usize| texts.get_mut(number).and_then(Option::take);
        let text = fill(&rendering.text, &rendering.outline.placeholders, limit, filling).map_err(|too_long| {
            let bytes = too_long.limit.saturating_add(1);
            self.too_large(step, bytes).unwrap_or_else(|| StepError::new(Code::LimitExceeded, too_long.to_string()))
        })?;
        Ok(Bound { text, warnings })
    }
}

/// What to say of a placeholder that stays: nothing where its name is among the missing ones.
fn left(id: &str, slot: &Slot, spelt: &str) -> Option<Warning> {
    let message = match &slot.source {
        Source::Open(open) if open.required => return None,
        Source::Open(_) | Source::Passed(_) => {
            format!("{{{spelt}}} is not declared and was not given; it stays as it is")
        }
        Source::Step { .. } => {
            return Some(Warning::text_has_no_fields(id, spelt.to_owned(), true));
        }
    };
    Some(Warning::of(WarningCode::UnboundPlaceholder, id, message))
}
