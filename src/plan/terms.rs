//! What a flow asks of the values that it is given, whoever calls it: a person, a model, or a step of
//! another flow.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::slots::opens;
use crate::model::Sets;
use crate::plan::{Input, Open, Plan, Source, Step, Work};

/// Inputs and variable sets of a flow, with the steps that read them.
#[derive(Debug, Clone, Copy)]
pub struct Terms<'p> {
    /// What may or must be given.
    pub inputs: &'p [Input],
    /// The names of the variable sets there are to choose from.
    pub sets: &'p [String],
    steps: &'p [Step],
    /// The step that gathers the flow's result, where it is a flow within the flow.
    within: Option<usize>,
}

impl Plan {
    /// What the flow asks of its caller.
    pub fn terms(&self) -> Terms<'_> {
        Terms { inputs: &self.inputs, sets: &self.sets, steps: &self.steps, within: None }
    }

    /// Every name for which a caller's value is used; none where a step can't be done, whose text may read any.
    pub fn taken(&self) -> Option<BTreeSet<&str>> {
        if self.steps.iter().any(|step| matches!(step.work, Work::Faulty { .. })) {
            return None;
        }
        let own = self.steps.iter().filter(|step| step.within.is_none());
        let read = own.flat_map(|step| step.work.slots()).filter_map(|slot| match &slot.source {
            Source::Open(open) => Some(open),
            Source::Step { otherwise, .. } => otherwise.as_deref(),
            Source::Passed(_) => None,
        });
        let read = read.flat_map(Open::places).map(|open| open.input.as_str());
        Some(self.inputs.iter().map(|input| input.name.as_str()).chain(read).collect())
    }

    /// What the flow to which a step belongs asks of whoever goes through it.
    pub fn terms_within(&self, within: Option<usize>) -> Terms<'_> {
        let door = within.and_then(|gather| self.steps.get(gather)?.gathers()?.door.as_deref());
        match door {
            Some(door) => Terms { inputs: &door.inputs, sets: &door.sets, steps: &self.steps, within },
            None => self.terms(),
        }
    }
}

impl<'p> Terms<'p> {
    /// The ids of the flow's own steps.
    pub fn step_ids(&self) -> impl Iterator<Item = &'p str> + use<'p> {
        let within = self.within;
        self.steps.iter().filter(move |step| step.within == within).map(|step| step.id.as_str())
    }

    /// Required names that neither the caller nor the chosen set gives, with the steps that need them.
    pub fn lacking(&self, set: Option<&str>, given: impl Fn(&str) -> bool) -> Vec<(String, Vec<String>)> {
        let mut lacking = Vec::new();
        let (waiting, sets) = (self.waiting(set, &given), self.variable_sets());
        for input in self.required(&given) {
            let waiting = waiting.get(input.name.as_str()).map(Vec::as_slice).unwrap_or_default();
            let mut steps: Vec<usize> = waiting.iter().map(|(step, _)| *step).collect();
            steps.dedup();
            let id = |step: usize| self.steps.get(step).map(|step| step.id.clone());
            let in_set = || set.is_some_and(|set| sets.iter().any(|sets| sets.value(set, &input.name).is_some()));
            if !steps.is_empty() || (input.needed_by.is_empty() && !in_set()) {
                lacking.push((input.name.clone(), steps.into_iter().filter_map(id).collect()));
            }
        }
        lacking
    }

    /// For each variable set the required names that are not given otherwise, and that it gives wherever
    /// they are needed.
    pub fn given_by_sets(&self, given: impl Fn(&str) -> bool) -> HashMap<&'p str, Vec<&'p str>> {
        let mut gives: HashMap<&str, Vec<&str>> = HashMap::new();
        let (waiting, sets) = (self.waiting(None, &given), self.variable_sets());
        for input in self.required(&given) {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            let wanted = match waiting.get(input.name.as_str()) {
                Some(waiting) => {
                    for (step, open) in waiting {
                        let own = self.steps.get(*step).map(|step| step.work.variable_sets()).unwrap_or_default();
                        let names = || open.places().map(|open| open.input.as_str());
                        let giving: BTreeSet<&str> =
                            own.iter().flat_map(|sets| names().flat_map(|name| sets.giving(name))).collect();
                        for set in giving {
                            *counts.entry(set).or_default() += 1;
                        }
                    }
                    waiting.len()
                }
                None if input.needed_by.is_empty() => {
                    let giving = sets.iter().flat_map(|sets| sets.giving(&input.name));
                    giving.for_each(|set| *counts.entry(set).or_default() = 1);
                    1
                }
                None => continue,
            };
            for (set, _) in counts.into_iter().filter(|(_, count)| *count == wanted) {
                gives.entry(set).or_default().push(&input.name);
            }
        }
        gives
    }

    fn required(&self, given: &impl Fn(&str) -> bool) -> impl Iterator<Item = &'p Input> {
        self.inputs.iter().filter(move |input| input.required && !given(&input.name))
    }

    /// The steps that can't do without a name that nothing gives, with what they read, in order.
    fn waiting(&self, set: Option<&str>, given: &impl Fn(&str) -> bool) -> HashMap<&'p str, Vec<(usize, &'p Open)>> {
        let mut waiting: HashMap<&str, Vec<(usize, &Open)>> = HashMap::new();
        let steps: BTreeSet<usize> = self.required(given).flat_map(|input| input.needed_by.iter().copied()).collect();
        for (number, step) in steps.into_iter().filter_map(|number| Some((number, self.steps.get(number)?))) {
            let has = |open: &Open| given(&open.input) || step.work.of_set(set, &open.input).is_some();
            for (_, open) in opens(step).filter(|(_, open)| open.required && !open.places().any(has)) {
                waiting.entry(&open.input).or_default().push((number, open));
            }
        }
        waiting
    }

    /// The variable sets of the flow's steps; those that steps share once.
    fn variable_sets(&self) -> Vec<&'p Sets> {
        let steps = self.steps.iter().filter(|step| step.within == self.within);
        let mut seen = HashSet::new();
        let all = steps.flat_map(|step| step.work.variable_sets());
        all.filter(|sets| seen.insert(Arc::as_ptr(sets))).map(|sets| &**sets).collect()
    }
}

impl Work {
    /// The variable sets of a text's node, then those of its template.
    fn variable_sets(&self) -> &[Arc<Sets>] {
        match self {
            Self::Render(rendering) => rendering.sets.lists(),
            Self::Call(_) | Self::Flow(_) | Self::Gather(_) | Self::Faulty { .. } => &[],
        }
    }

    /// What a variable set gives for a name: the node's set before the template's.
    pub fn of_set(&self, chosen: Option<&str>, name: &str) -> Option<&Value> {
        let chosen = chosen?;
        self.variable_sets().iter().find_map(|sets| sets.value(chosen, name))
    }
}
