//! What follows from a plan alone and is asked for at every step: worked out once, when a run begins.

use std::ops::Range;

use crate::plan::{Passing, Plan, Slot, Source, Work};

/// Where the steps of a plan stand, and which of them look at which.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    /// How many steps stand before each, without those that only gather what a flow within the flow gave.
    places: Vec<usize>,
    /// How many steps there are, counted so.
    pub(super) work: usize,
    /// For a step that gathers, the first step of the flow whose result that is; else the step itself.
    begins: Vec<usize>,
    /// For each step, the later ones whose values may come from it.
    readers: Vec<Vec<usize>>,
}

impl Layout {
    pub(super) fn of(plan: &Plan) -> Self {
        let count = plan.steps().len();
        let mut layout = Self {
            places: Vec::with_capacity(count),
            work: 0,
            begins: (0..count).collect(),
            readers: vec![Vec::new(); count],
        };
        for (number, step) in plan.steps().iter().enumerate() {
            layout.places.push(layout.work);
            layout.work += usize::from(!matches!(step.work, Work::Gather(_)));
            let mut around = step.within;
            while let Some(begin) = around.and_then(|gather| layout.begins.get_mut(gather)) {
                *begin = (*begin).min(number);
                around = around.and_then(|gather| plan.step(gather)?.within);
            }
            if let Work::Gather(gather) = &step.work {
                layout.note(gather.last, number);
            }
            layout.note_slots(step.work.slots(), number);
        }
        layout
    }

    fn note(&mut self, from: usize, reader: usize) {
        if let Some(readers) = self.readers.get_mut(from).filter(|readers| readers.last() != Some(&reader)) {
            readers.push(reader);
        }
    }

    fn note_slots(&mut self, slots: &[Slot], reader: usize) {
        for slot in slots {
            match &slot.source {
                Source::Step { step, .. } => self.note(*step, reader),
                Source::Open(open) => open.auto.into_iter().for_each(|step| self.note(step, reader)),
                Source::Passed(passed) => match &passed.value {
                    Passing::Text { slots, .. } => self.note_slots(slots, reader),
                    Passing::Auto { step } => self.note(*step, reader),
                    Passing::Default { .. } | Passing::Nothing { .. } => {}
                },
            }
        }
    }

    /// How many steps stand before one, without those that only gather.
    pub(super) fn before(&self, step: usize) -> usize {
        self.places.get(step).copied().unwrap_or(step)
    }

    /// The steps of the flow whose result a step gathers, those of flows within it too: they stand right
    /// before it. None where it gathers nothing.
    pub(super) fn inside(&self, gather: usize) -> Range<usize> {
        self.begins.get(gather).copied().unwrap_or(gather)..gather
    }

    /// The steps whose values may come from one, in order.
    pub(super) fn readers(&self, step: usize) -> &[usize] {
        self.readers.get(step).map(Vec::as_slice).unwrap_or_default()
    }
}
