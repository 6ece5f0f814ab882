//! A plan with the flows within it unfolded: their steps stand beside the others, so that one walk
//! goes through all of them, whoever drives it.
//!
//! The step that is a flow stays, as the last: it gathers that flow's result, and its door says what
//! that flow is handed. The other flow sees nothing of this one but that.

use std::sync::Arc;

use serde_json::Value;

use crate::model::UnfoldedSize;
use crate::plan::{Door, Gather, Input, Plan, ResultMark, Slot, Source, Step, Work};

impl Plan {
    /// How many flows are one within the other, this one included.
    pub fn depth(&self) -> usize {
        let deepest = self.steps.iter().map(|step| match &step.work {
            Work::Flow(linked) => linked.of.plan.depth(),
            Work::Render(_) | Work::Call(_) | Work::Gather(_) | Work::Faulty { .. } => 0,
        });
        1 + deepest.max().unwrap_or(0)
    }

    /// How large it is when every flow within is unfolded.
    pub fn unfolded_size(&self) -> UnfoldedSize {
        self.size
    }

    /// Whether a flow is within this one.
    fn folded(&self) -> bool {
        self.steps.iter().any(|step| matches!(step.work, Work::Flow(_)))
    }

    /// The plan to walk over: every flow within it unfolded.
    pub fn unfolded(self: Arc<Self>) -> Arc<Self> {
        if self.folded() { Arc::new(self.unfold()) } else { self }
    }

    fn unfold(&self) -> Self {
        let mut steps: Vec<Step> = Vec::with_capacity(self.unfolded_size().steps);
        let mut place_of: Vec<usize> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let parents: Vec<usize> = step.parents.iter().filter_map(|parent| place_of.get(*parent).copied()).collect();
            let at = |number: usize| place_of.get(number).copied().unwrap_or(number);
            let mut own = Step { parents: parents.clone(), children: Vec::new(), ..step.clone() };
            if let Work::Flow(linked) = &step.work {
                let inner = linked.of.plan.clone().unfolded();
                let offset = steps.len();
                let within = offset + inner.steps.len();
                let slots: Vec<Slot> = linked.slots.iter().map(|slot| slot.moved(&at)).collect();
                let moved = |number: usize| number + offset;
                let mut ends = Vec::new();
                for (number, below) in inner.steps.iter().enumerate() {
                    let mut work = below.work.moved(&moved);
                    if let Work::Render(rendering) = &mut work
                        && rendering.asks.wish.is_none()
                    {
                        rendering.asks.wish.clone_from(&self.model);
                    }
                    let before: Vec<usize> = below.parents.iter().map(|parent| parent + offset).collect();
                    steps.push(Step {
                        node: step.node,
                        id: format!("{}/{}", step.id, below.id),
                        parents: if before.is_empty() { parents.clone() } else { before },
                        children: Vec::new(),
                        work,
                        within: Some(below.within.map_or(within, |within| within + offset)),
                        wave: 0,
                        ..below.clone()
                    });
                    if below.children.is_empty() {
                        ends.push(number + offset);
                    }
                }
                own.parents = ends;
                let last = inner.last.unwrap_or_default() + offset;
                let flow = inner.name.to_string();
                let marks = inner.results.iter().filter_map(|mark| Some((mark.label.clone(), mark.step? + offset)));
                let results = if inner.results.len() > 1 { marks.collect() } else { Vec::new() };
                let door = Box::new(Door {
                    values: linked.values.clone(),
                    slot_of: linked.slot_of.clone(),
                    inputs: moved_inputs(&inner.inputs, &moved),
                    sets: inner.sets.clone(),
                });
                own.work = Work::Gather(Box::new(Gather { flow, last, results, slots, door: Some(door) }));
            } else {
                own.work = step.work.moved(&at);
            }
            place_of.push(steps.len());
            steps.push(own);
        }
        for child in 0..steps.len() {
            let parents = steps.get(child).map(|step| step.parents.clone()).unwrap_or_default();
            let mut wave = 0;
            for parent in parents {
                if let Some(parent) = steps.get_mut(parent) {
                    parent.children.push(child);
                    wave = wave.max(parent.wave + 1);
                }
            }
            if let Some(step) = steps.get_mut(child) {
                step.wave = wave;
            }
        }
        let place = |step: usize| place_of.get(step).copied().unwrap_or(step);
        let inputs = moved_inputs(&self.inputs, &place);
        let results = self.results.iter().map(|mark| ResultMark { step: mark.step.map(place), ..mark.clone() });
        Self {
            name: self.name.clone(),
            file: self.file.clone(),
            size: size_of(&steps, &inputs),
            inputs,
            sets: self.sets.clone(),
            results: results.collect(),
            last: self.last.map(place),
            model: self.model.clone(),
            steps,
        }
    }
}

/// How large a plan of these steps and inputs is when every flow within is unfolded.
pub(super) fn size_of(steps: &[Step], inputs: &[Input]) -> UnfoldedSize {
    let written = |value: &Value| value.to_string().len();
    let of_step = |step: &Step| {
        let slots = step.work.slots();
        let text = step.label.len() + step.description.as_ref().map_or(0, String::len);
        let names = slots.iter().map(|slot| slot.name.len()).sum::<usize>();
        let own = UnfoldedSize { steps: 1, names: slots.len(), groups: 0, bytes: text + names };
        match &step.work {
            Work::Flow(linked) => own.and(linked.of.plan.size),
            Work::Call(call) => {
                let bytes = call.set.iter().map(|(name, path)| name.len() + path.len()).sum();
                own.and(UnfoldedSize { names: call.set.len(), bytes, ..UnfoldedSize::default() })
            }
            Work::Render(rendering) => {
                let bytes = rendering.template_name.len() + rendering.contract.as_deref().map_or(0, written);
                own.and(UnfoldedSize { groups: rendering.outline.placeholders.len(), bytes, ..UnfoldedSize::default() })
            }
            Work::Gather(_) | Work::Faulty { .. } => own,
        }
    };
    let of_input = |input: &Input| {
        let choices = input.choices.iter().map(written).sum::<usize>();
        let bytes = input.name.len() + input.description.as_ref().map_or(0, String::len) + choices;
        UnfoldedSize { names: 1, bytes, ..UnfoldedSize::default() }
    };
    let inputs = inputs.iter().map(of_input).fold(UnfoldedSize::default(), UnfoldedSize::and);
    steps.iter().map(of_step).fold(inputs, UnfoldedSize::and)
}

/// Inputs of which the steps have gone elsewhere.
fn moved_inputs(inputs: &[Input], place: &dyn Fn(usize) -> usize) -> Vec<Input> {
    let mut inputs = inputs.to_vec();
    for input in &mut inputs {
        input.used_by.iter_mut().chain(&mut input.needed_by).for_each(|step| *step = place(*step));
    }
    inputs
}

impl Slot {
    /// The same where steps have gone elsewhere.
    fn moved(&self, place: &dyn Fn(usize) -> usize) -> Self {
        let mut slot = self.clone();
        match &mut slot.source {
            Source::Step { step, .. } => *step = place(*step),
            Source::Open(open) => open.auto = open.auto.map(place),
            // Plans that have those are unfolded already.
            Source::Passed(_) => {}
        }
        slot
    }
}

impl Work {
    /// The same where steps have gone elsewhere.
    fn moved(&self, place: &dyn Fn(usize) -> usize) -> Self {
        let mut work = self.clone();
        let slots = match &mut work {
            Self::Render(rendering) => &mut rendering.slots,
            Self::Call(call) => &mut call.slots,
            Self::Flow(linked) => &mut linked.slots,
            Self::Gather(gather) => {
                gather.last = place(gather.last);
                gather.results.iter_mut().for_each(|(_, step)| *step = place(*step));
                if let Some(door) = &mut gather.door {
                    door.inputs = moved_inputs(&door.inputs, place);
                }
                &mut gather.slots
            }
            Self::Faulty { .. } => return work,
        };
        for slot in slots.iter_mut() {
            *slot = slot.moved(place);
        }
        work
    }
}
