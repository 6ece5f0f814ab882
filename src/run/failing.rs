//! What a step that is left out, fails or is skipped does to the others.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::names::quoted;
use crate::plan::{OutputPart, Passing, Slot, Source, Step, Work};
use crate::run::{OnFailure, Run, State, StepError, Timing};

impl Run {
    pub(super) fn omit(&mut self, first: usize, why: &Arc<str>) {
        let (mut omitted, mut next) = (Vec::new(), vec![first]);
        while let Some(step) = next.pop() {
            if !matches!(self.state(step), Some(State::Waiting | State::Ready | State::Running)) {
                continue;
            }
            self.unready(step);
            // Whether it waits is looked at before anything is released: what a release brings to
            // its turn releases what follows by itself.
            let waits = self.waiting_for.get(step) != Some(&0);
            self.set(step, State::Omitted { because: first, why: why.clone() });
            if !self.gathers(step) {
                self.counts.omitted += 1;
                self.counts.ended += 1;
            }
            if !waits {
                omitted.push(step);
            }
            let mut readers: BTreeSet<usize> = BTreeSet::new();
            for reader in self.layout.readers(step).iter().copied().filter(|reader| *reader > step) {
                readers.extend(Some(reader).filter(|reader| self.reads(*reader, step)));
                // The steps of a flow that is handed it, too.
                readers.extend(self.layout.inside(reader).filter(|inner| *inner > step && self.reads(*inner, step)));
            }
            next.extend(readers);
        }
        for step in omitted {
            self.release(step, None);
        }
    }

    /// Whether a step can't be done without another one's output: it reads it, or is part of a flow that
    /// is handed it.
    fn reads(&self, reader: usize, from: usize) -> bool {
        let Some(step) = self.plan().step(reader) else { return false };
        if matches!(&step.work, Work::Gather(gather) if gather.last == from) {
            return true;
        }
        let handed = std::iter::successors(step.within, |gather| self.plan().step(*gather)?.within)
            .filter(|gather| self.door(*gather).is_some())
            .filter_map(|gather| self.plan().step(gather));
        // What is handed to a flow of a plan that was stored before is read by its steps themselves.
        let own = !matches!(step.work, Work::Gather(_)) || self.door(reader).is_some();
        own && self.slots_read(step.work.slots(), step, from)
            || handed.into_iter().any(|gather| self.slots_read(gather.work.slots(), gather, from))
    }

    fn slots_read(&self, slots: &[Slot], step: &Step, from: usize) -> bool {
        slots.iter().any(|slot| match &slot.source {
            Source::Step { step, part, .. } => *step == from && *part == OutputPart::Result,
            Source::Open(open) => {
                let given = |name: &str| {
                    self.given_within(step.within).is_some_and(|given| {
                        given.values.contains_key(name) || given.of_set(&step.work, name).is_some()
                    })
                };
                open.auto == Some(from) && open.default.is_none() && !given(&open.input)
            }
            Source::Passed(passed) => match &passed.value {
                Passing::Text { slots, .. } => self.slots_read(slots, step, from),
                Passing::Auto { step: parent } => *parent == from,
                Passing::Default { .. } | Passing::Nothing { .. } => false,
            },
        })
    }

    /// A step fails: what comes after it is skipped, and where it is part of a flow within the flow, so
    /// does the step that goes through that flow.
    pub(super) fn fail(&mut self, step: usize, error: StepError, timing: Timing) {
        self.unready(step);
        self.set(step, State::Failed { error, timing });
        self.counts.ended += usize::from(!self.gathers(step));
        self.skip_within(step);
        self.skip_below(step);
        let mut failed = step;
        while let Some(gather) = self.plan().step(failed).and_then(|step| step.within) {
            if !self.fails_with(gather, timing) {
                break;
            }
            self.skip_below(gather);
            failed = gather;
        }
        if self.on_failure == OnFailure::Stop {
            for other in 0..self.states.len() {
                if matches!(self.state(other), Some(State::Waiting | State::Ready)) {
                    self.skip(other, step);
                }
            }
        }
    }

    /// The steps of a flow that does not begin.
    fn skip_within(&mut self, gather: usize) {
        for step in self.layout.inside(gather) {
            // The one that a driver had just taken up is among them.
            if matches!(self.state(step), Some(State::Waiting | State::Ready | State::Running)) {
                self.skip(step, gather);
            }
        }
    }

    /// The steps after one that failed.
    fn skip_below(&mut self, step: usize) {
        let plan = self.plan().clone();
        let children = |step: usize| plan.step(step).map(|step| step.children.as_slice()).unwrap_or_default();
        let around = plan.step(step).and_then(|step| step.within).filter(|gather| self.door(*gather).is_some());
        let mut below: Vec<usize> = children(step).to_vec();
        while let Some(child) = below.pop() {
            if Some(child) == around {
                continue;
            }
            match self.state(child) {
                Some(State::Waiting | State::Ready) => self.skip(child, step),
                // Of several failures above a step the first in order counts, whichever came first
                // in time: two executions must agree.
                Some(State::Skipped { because }) if *because > step => {
                    self.set(child, State::Skipped { because: step });
                }
                Some(State::Omitted { .. }) => {}
                Some(State::Running | State::Done { .. } | State::Failed { .. } | State::Skipped { .. }) | None => {
                    continue;
                }
            }
            below.extend(children(child));
        }
    }

    /// Whether the step that goes through a flow fails with what failed within it, the first in order.
    fn fails_with(&mut self, gather: usize, timing: Timing) -> bool {
        let plan = self.plan().clone();
        let Some(Work::Gather(work)) = plan.step(gather).map(|step| &step.work) else { return false };
        if work.door.is_none() || !matches!(self.state(gather), Some(State::Waiting | State::Failed { .. })) {
            return false;
        }
        let first = self.steps_within(gather).find_map(|inner| {
            if let Some(State::Failed { error, .. }) = self.state(inner) {
                Some((plan.step(inner)?, error))
            } else {
                None
            }
        });
        let Some((step, error)) = first else { return false };
        let id = step.id.strip_prefix(&format!("{}/", plan.step(gather).map_or("", |step| step.id.as_str())));
        let message =
            format!("flow {}: step {}: {}", quoted(&work.flow), quoted(id.unwrap_or(&step.id)), error.message);
        let error = StepError { call: error.call, ..StepError::new(error.code, message) };
        self.set(gather, State::Failed { error, timing });
        true
    }

    fn skip(&mut self, step: usize, because: usize) {
        self.unready(step);
        self.set(step, State::Skipped { because });
        let counted = usize::from(!self.gathers(step));
        self.counts.ended += counted;
        self.counts.skipped += counted;
    }
}
