//! Flows within the flow: what each is handed, and whether it may begin with that.
//!
//! The values are looked at once, when the first of its steps is ready, by the check that a caller's
//! values go through.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::code::Code;
use crate::model::{ValueType, text_of};
use crate::names::{nfc, quoted};
use crate::plan::{Door, Gather, Open, Slot, Source, Terms};
use crate::render::{Filling, Hole, Walked, walk};
use crate::run::bind::{FilledWith, Nowhere};
use crate::run::state::Entered;
use crate::run::{Given, Output, Refusal, Run, StepError};

/// What a placeholder reads that is not there yet.
#[derive(Debug, Clone, PartialEq)]
pub enum Coming {
    /// The output of a step, at a dot path.
    Output {
        /// The step; never one that only gathers what a flow within the flow gave.
        step: usize,
        /// The path; empty for the whole.
        path: Vec<String>,
    },
    /// A value that the step which goes through the flow makes of such outputs.
    Made {
        /// The value, with placeholders.
        value: Value,
        /// Each of these as it is written, and what it reads.
        of: Vec<(String, Coming)>,
    },
}

/// What a step reads that nobody computed: where its values come from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Level<'r> {
    pub(super) given: &'r Given,
    pub(super) outputs: Option<&'r BTreeMap<String, Output>>,
}

impl Run {
    /// What stands before the flow of which this step gathers the result.
    pub(super) fn door(&self, gather: usize) -> Option<&Door> {
        self.gathering(gather)?.door.as_deref()
    }

    fn gathering(&self, gather: usize) -> Option<&Gather> {
        self.plan().step(gather)?.gathers()
    }

    /// The flows within the flow to which a step belongs, the outermost first.
    fn around(&self, step: usize) -> Vec<usize> {
        let within = |step: usize| self.plan().step(step)?.within;
        let mut around: Vec<usize> = std::iter::successors(within(step), |gather| within(*gather)).collect();
        around.reverse();
        around
    }

    /// Looks at what the flows around a step are handed, now that it is ready.
    pub(super) fn enter(&mut self, step: usize) {
        for gather in self.around(step) {
            if self.door(gather).is_none() {
                continue;
            }
            if !self.entered.contains_key(&gather) {
                let entered = self.hand_over(gather);
                self.entered.insert(gather, entered);
            }
            if matches!(self.entered.get(&gather), Some(Err(_))) {
                return;
            }
        }
    }

    /// The flow around a step that does not begin, and why.
    pub(super) fn refused_before(&self, step: usize) -> Option<(usize, &StepError)> {
        self.around(step).into_iter().find_map(|gather| Some((gather, self.entered.get(&gather)?.as_ref().err()?)))
    }

    /// Whether the flows around a step have begun.
    ///
    /// # Errors
    /// Why one of them does not.
    pub fn admitted(&self, step: usize) -> Result<(), StepError> {
        self.refused_before(step).map_or(Ok(()), |(_, error)| Err(error.clone()))
    }

    /// What the steps of a flow within the flow are given; none before it has begun.
    pub(super) fn level(&self, within: Option<usize>) -> Option<Level<'_>> {
        match within.filter(|gather| self.door(*gather).is_some()) {
            Some(gather) => {
                let entered = self.entered.get(&gather)?.as_ref().ok()?;
                Some(Level { given: &entered.given, outputs: Some(&entered.outputs) })
            }
            None => Some(Level { given: self.given(), outputs: None }),
        }
    }

    /// The values of the flow to which steps belong; none before it has begun.
    pub(super) fn given_within(&self, within: Option<usize>) -> Option<&Given> {
        self.level(within).map(|level| level.given)
    }

    /// What a placeholder of a step reads, down to the steps that will give it; none where it has its
    /// value, or stays as text.
    pub fn coming(&self, step: usize, slot: &Slot, path: &[String]) -> Option<Coming> {
        if !matches!(self.filled(step, slot), Ok(FilledWith::Pending)) {
            return None;
        }
        let further = |before: &[String]| [before, path].concat();
        match &slot.source {
            Source::Step { step, path: before, .. } => Some(self.giving(*step, &further(before))),
            Source::Passed(_) => None,
            Source::Open(open) => {
                let within = self.plan().step(step)?.within;
                let pending =
                    |open: &&Open| self.given_within(within).is_some_and(|it| it.pending.contains(&open.input));
                match open.places().find(pending) {
                    None => Some(self.giving(open.auto?, path)),
                    Some(open) => self.handed_later(within?, &open.input, path),
                }
            }
        }
    }

    /// The step that gives an output, instead of one that only gathers it.
    fn giving(&self, step: usize, path: &[String]) -> Coming {
        let Some(gather) = self.gathering(step) else { return Coming::Output { step, path: path.to_vec() } };
        let label = path.split_first().and_then(|(label, rest)| {
            let mut results = gather.results.iter();
            let (_, step) = results.find(|(name, _)| name == label || name.replace(' ', "_") == *label)?;
            Some((*step, rest))
        });
        let (step, path) = label.unwrap_or((gather.last, path));
        self.giving(step, path)
    }

    /// What is handed to an input of a flow within the flow once it is there.
    fn handed_later(&self, gather: usize, input: &str, path: &[String]) -> Option<Coming> {
        let (work, door) = (self.gathering(gather)?, self.door(gather)?);
        let holes = door
            .values
            .holes()
            .iter()
            .zip(&door.slot_of)
            .filter(|(hole, _)| hole.at.steps().next().is_some_and(|key| nfc(&key) == input));
        let inside = |hole: &Hole| hole.at.steps().skip(1).collect::<Vec<String>>();
        for (hole, place) in holes.clone().filter(|(hole, _)| hole.alone) {
            if let Some(further) = path.strip_prefix(inside(hole).as_slice())
                && let Some(coming) = self.coming(gather, work.slots.get(*place)?, &[&hole.path, further].concat())
            {
                return Some(coming);
            }
        }
        let Walked::Value(value) = walk(self.entered.get(&gather)?.as_ref().ok()?.unfinished.get(input)?, path) else {
            return None;
        };
        let value = value.clone();
        let mut of: Vec<(String, Coming)> = Vec::new();
        for (hole, place) in holes.filter(|(hole, _)| inside(hole).starts_with(path)) {
            if let Some(coming) = work.slots.get(*place).and_then(|slot| self.coming(gather, slot, &hole.path))
                && of.iter().all(|(written, _)| *written != hole.written)
            {
                of.push((hole.written.clone(), coming));
            }
        }
        Some(Coming::Made { value, of })
    }

    /// What a step hands to the flow that it goes through.
    fn hand_over(&self, gather: usize) -> Result<Entered, StepError> {
        let (Some(work), Some(door)) = (self.gathering(gather), self.door(gather)) else {
            return Ok(Entered::default());
        };
        let slots = &work.slots;
        let filled: Vec<FilledWith<'_>> =
            slots.iter().map(|slot| self.filled(gather, slot)).collect::<Result<_, _>>()?;
        let (mut pending, mut outputs) = (BTreeSet::new(), BTreeMap::new());
        let mut bytes = 0_usize;
        let values = door.values.fill(|number, hole| {
            let place = door.slot_of.get(number).copied().unwrap_or(usize::MAX);
            let (Some(slot), Some(with)) = (slots.get(place), filled.get(place)) else { return Ok(Filling::Left) };
            let mut steps = hole.at.steps();
            let (input, inside) = (nfc(&steps.next().unwrap_or_default()), steps.next().is_some());
            let missing = matches!(&slot.source, Source::Open(open) if open.required);
            match with {
                FilledWith::Pending => {
                    pending.insert(input);
                }
                // Only a rehearsal goes on without it.
                FilledWith::Left if missing => {
                    pending.insert(input);
                }
                FilledWith::Output(output)
                    if hole.alone && !inside && hole.path.is_empty() && output.value.is_some() =>
                {
                    outputs.insert(input, Output { files: Vec::new(), ..Output::clone(output) });
                }
                FilledWith::Value(_)
                | FilledWith::Text(_)
                | FilledWith::Output(_)
                | FilledWith::Empty
                | FilledWith::Left
                | FilledWith::Absent(_) => {}
            }
            let filling = with
                .handed(&hole.path)
                .map_err(|Nowhere| self.nothing_at(&hole.spelt(), &hole.path, Some(slot), with))?;
            bytes = bytes.saturating_add(match &filling {
                Filling::Text(text) => text.len(),
                Filling::Value(value) => text_of(value).len(),
                Filling::Nothing | Filling::Left => 0,
            });
            let limit = self.limits().step;
            if bytes > limit {
                let message = format!("flow {} is handed more than {limit} bytes", quoted(&work.flow));
                return Err(StepError::new(Code::LimitExceeded, message));
            }
            Ok(filling)
        })?;
        let refused = |refusal: Refusal| {
            let code = match refusal {
                Refusal::Missing { .. } => Code::MissingVariables,
                Refusal::UnknownSet { .. } | Refusal::SetNotText | Refusal::GivenTwice(_) | Refusal::Misfit(_) => {
                    Code::InvalidRequest
                }
            };
            StepError::new(code, format!("flow {}: {refusal}", quoted(&work.flow)))
        };
        let mut given = Given::read(&values).map_err(refused)?;
        let unfinished = pending.iter().filter_map(|name| given.values.remove_entry(name)).collect();
        given.pending = pending;
        let terms = self.plan().terms_within(Some(gather));
        take_with_fields(&mut given, &outputs, terms);
        given.check(terms).map_err(refused)?;
        Ok(Entered { given, outputs, unfinished })
    }
}

/// An output that has fields stands for an input that is to be a list or an object.
fn take_with_fields(given: &mut Given, outputs: &BTreeMap<String, Output>, terms: Terms<'_>) {
    for input in terms.inputs {
        let (Some(kind), Some(output)) = (input.held_to, outputs.get(&input.name)) else { continue };
        let nested = matches!(kind, ValueType::Array | ValueType::Object);
        if let Some(value) = output.value.as_deref().filter(|value| nested && kind.fits(value)) {
            given.values.insert(input.name.clone(), value.clone());
        }
    }
}

impl<'r> FilledWith<'r> {
    /// What it is for a placeholder of a value that is handed to another flow.
    fn handed(&self, path: &[String]) -> Result<Filling<'r>, Nowhere> {
        Ok(match self {
            Self::Absent(_) => return Err(Nowhere),
            Self::Empty => Filling::Nothing,
            Self::Left | Self::Pending => Filling::Left,
            Self::Value(value) if path.is_empty() => Filling::Value(value.clone()),
            Self::Output(output) if path.is_empty() => Filling::Text(Cow::Borrowed(&output.text)),
            Self::Text(text) if path.is_empty() => Filling::Text(Cow::Borrowed(text)),
            Self::Value(_) | Self::Output(_) | Self::Text(_) => self.inside(path)?,
        })
    }
}
