//! A plan with the flows within it unfolded: their steps stand beside the others, so that one walk
//! goes through all of them, whoever drives it.
//!
//! The step that is a flow stays, as the last: it gathers that flow's result. The other flow sees
//! nothing of this one but what the step hands it.

use std::sync::Arc;

use crate::plan::{Gather, Linked, Passage, Passed, Passing, Plan, ResultMark, Slot, Source, Step, Work};

impl Plan {
    /// How many flows are one within the other, this one included.
    pub fn depth(&self) -> usize {
        let deepest = self.steps.iter().map(|step| match &step.work {
            Work::Flow(linked) => linked.plan.depth(),
            _ => 0,
        });
        1 + deepest.max().unwrap_or(0)
    }

    /// How many steps there are when every flow within is unfolded.
    pub fn unfolded_steps(&self) -> usize {
        let counts = self.steps.iter().map(|step| match &step.work {
            Work::Flow(linked) => linked.plan.unfolded_steps().saturating_add(1),
            _ => 1,
        });
        counts.fold(0, usize::saturating_add)
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
        let mut steps: Vec<Step> = Vec::with_capacity(self.unfolded_steps());
        let mut place_of: Vec<usize> = Vec::with_capacity(self.steps.len());
        for step in &self.steps {
            let parents: Vec<usize> = step.parents.iter().filter_map(|parent| place_of.get(*parent).copied()).collect();
            let at = Places { place_of: &place_of };
            let mut own = Step { parents: parents.clone(), children: Vec::new(), ..step.clone() };
            if let Work::Flow(linked) = &step.work {
                let inner = linked.plan.clone().unfolded();
                let offset = steps.len();
                let within = offset + inner.steps.len();
                let slots: Vec<Slot> = linked.slots.iter().map(|slot| at.slot(slot)).collect();
                let handing = Handing { linked, slots: &slots, offset };
                let mut ends = Vec::new();
                for (number, below) in inner.steps.iter().enumerate() {
                    let before: Vec<usize> = below.parents.iter().map(|parent| parent + offset).collect();
                    steps.push(Step {
                        node: step.node,
                        id: format!("{}/{}", step.id, below.id),
                        parents: if before.is_empty() { parents.clone() } else { before },
                        children: Vec::new(),
                        work: handing.work(&below.work),
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
                let flow = inner.flow.name.to_string();
                let marks = inner.results.iter().filter_map(|mark| Some((mark.label.clone(), mark.step? + offset)));
                let results = if inner.results.len() > 1 { marks.collect() } else { Vec::new() };
                own.work = Work::Gather(Box::new(Gather { flow, last, results, slots }));
            } else {
                own.work = at.work(&step.work);
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
        let mut inputs = self.inputs.clone();
        for input in &mut inputs {
            input.used_by.iter_mut().for_each(|step| *step = place(*step));
            input.needed_by.iter_mut().for_each(|step| *step = place(*step));
        }
        let results = self.results.iter().map(|mark| ResultMark { step: mark.step.map(place), ..mark.clone() });
        Self {
            flow: self.flow.clone(),
            inputs,
            sets: self.sets.clone(),
            results: results.collect(),
            last: self.last.map(place),
            steps,
        }
    }
}

/// Where the steps of a plan have gone.
struct Places<'a> {
    place_of: &'a [usize],
}

impl Places<'_> {
    fn place(&self, step: usize) -> usize {
        self.place_of.get(step).copied().unwrap_or(step)
    }

    fn work(&self, work: &Work) -> Work {
        work.with_slots(&|slot| self.slot(slot))
    }

    fn slot(&self, slot: &Slot) -> Slot {
        let source = match &slot.source {
            Source::Step { step, part, path, by } => {
                Source::Step { step: self.place(*step), part: *part, path: path.clone(), by: *by }
            }
            Source::Open(open) => {
                let mut open = open.clone();
                open.auto = open.auto.map(|step| self.place(step));
                Source::Open(open)
            }
            Source::Passed(passed) => passed_on(passed, &|step| self.place(step), &|slot| self.slot(slot)),
        };
        Slot { name: slot.name.clone(), source }
    }
}

/// A passed value with its steps and slots changed.
fn passed_on(passed: &Passed, place: &dyn Fn(usize) -> usize, change: &dyn Fn(&Slot) -> Slot) -> Source {
    let value = match &passed.value {
        Passing::Text { passage, slots } => {
            Passing::Text { passage: passage.clone(), slots: slots.iter().map(change).collect() }
        }
        Passing::Auto(step) => Passing::Auto(place(*step)),
        other => other.clone(),
    };
    Source::Passed(Arc::new(Passed { value, ..passed.clone() }))
}

/// What a step hands to the flow that it is.
struct Handing<'a> {
    linked: &'a Linked,
    /// The step's own slots, with their places in the whole.
    slots: &'a [Slot],
    /// How many steps stand before the other flow's first.
    offset: usize,
}

impl Handing<'_> {
    fn work(&self, work: &Work) -> Work {
        let sets = match work {
            Work::Render(rendering) => rendering.sets.as_slice(),
            _ => &[],
        };
        let chosen = self.linked.chosen_set();
        let of_set = |name: &str| {
            let set = sets.iter().filter(|set| Some(set.name.as_str()) == chosen);
            set.flat_map(|set| &set.values).find(|(key, _)| key == name).map(|(_, value)| value.clone())
        };
        let mut changed = work.with_slots(&|slot| self.slot(slot, &of_set));
        if let Work::Render(rendering) = &mut changed {
            // A set is chosen by the step, never by the caller.
            rendering.sets.clear();
        }
        if let Work::Gather(gather) = &mut changed {
            gather.last += self.offset;
            gather.results.iter_mut().for_each(|(_, step)| *step += self.offset);
        }
        changed
    }

    fn slot(&self, slot: &Slot, of_set: &dyn Fn(&str) -> Option<serde_json::Value>) -> Slot {
        let source = match &slot.source {
            Source::Step { step, part, path, by } => {
                Source::Step { step: step + self.offset, part: *part, path: path.clone(), by: *by }
            }
            Source::Passed(passed) => passed_on(passed, &|step| step + self.offset, &|slot| self.slot(slot, of_set)),
            Source::Open(open) => {
                let given = self.linked.variables.iter().find(|(name, _)| *name == open.input);
                let value = match (given, of_set(&open.input).or_else(|| open.default.clone()), open.auto) {
                    (Some((_, passage)), _, _) => {
                        Passing::Text { passage: Passage::clone(passage), slots: self.slots.to_vec() }
                    }
                    (None, Some(default), _) => Passing::Default(default),
                    (None, None, Some(parent)) => Passing::Auto(parent + self.offset),
                    (None, None, None) => Passing::Nothing { declared: open.declared, required: open.required },
                };
                let input = self.linked.plan.inputs.iter().find(|input| input.name == open.input);
                Source::Passed(Arc::new(Passed {
                    flow: self.linked.plan.flow.name.to_string(),
                    input: open.input.clone(),
                    value,
                    held_to: input.and_then(|input| input.held_to),
                    choices: input.map(|input| input.choices.clone()).unwrap_or_default(),
                }))
            }
        };
        Slot { name: slot.name.clone(), source }
    }
}

impl Linked {
    /// The variable set that the step tells the other flow to use, where it does.
    pub fn chosen_set(&self) -> Option<&str> {
        let (_, passage) = self.variables.iter().find(|(name, _)| name == "_variableSet")?;
        Some(&*passage.text)
    }
}

impl Work {
    /// The same with each slot changed.
    fn with_slots(&self, change: &dyn Fn(&Slot) -> Slot) -> Self {
        let mut work = self.clone();
        let slots = match &mut work {
            Self::Render(rendering) => &mut rendering.slots,
            Self::Call(call) => &mut call.slots,
            Self::Flow(linked) => &mut linked.slots,
            Self::Gather(gather) => &mut gather.slots,
            Self::Faulty { .. } => return work,
        };
        for slot in slots.iter_mut() {
            *slot = change(slot);
        }
        work
    }
}
