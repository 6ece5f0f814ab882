//! What a flow asks of the values that it is given, whoever calls it: a person, a model, or a step of
//! another flow.

use serde_json::Value;

use crate::names::nfc;
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

    /// What the flow to which a step belongs asks of whoever goes through it.
    pub fn terms_within(&self, within: Option<usize>) -> Terms<'_> {
        let door = within.and_then(|gather| self.steps.get(gather)?.gathers()?.door.as_deref());
        match door {
            Some(door) => Terms { inputs: &door.inputs, sets: &door.sets, steps: &self.steps, within },
            None => self.terms(),
        }
    }
}

impl Terms<'_> {
    /// Required names that neither the caller nor the chosen set gives, with the steps that need them.
    pub fn lacking(&self, set: Option<&str>, given: impl Fn(&str) -> bool) -> Vec<(String, Vec<String>)> {
        let mut lacking = Vec::new();
        for input in self.inputs.iter().filter(|input| input.required && !given(&input.name)) {
            let has = |step: &Step, name: &str| given(name) || step.work.of_set(set, name).is_some();
            let needs = |open: &Open| open.input == input.name && open.required;
            let waits = |step: &&Step| {
                step.work.slots().iter().any(|slot| match &slot.source {
                    Source::Open(open) => needs(open) && !open.places().any(|open| has(step, &open.input)),
                    Source::Step { .. } | Source::Passed(_) => false,
                })
            };
            let needing: Vec<String> = input
                .needed_by
                .iter()
                .filter_map(|step| self.steps.get(*step))
                .filter(waits)
                .map(|step| step.id.clone())
                .collect();
            let mut steps = self.steps.iter().filter(|step| step.within == self.within);
            let nobody = input.needed_by.is_empty() && !steps.any(|step| step.work.of_set(set, &input.name).is_some());
            if !needing.is_empty() || nobody {
                lacking.push((input.name.clone(), needing));
            }
        }
        lacking
    }
}

impl Work {
    /// What a variable set gives for a name: the node's set before the template's.
    pub fn of_set(&self, chosen: Option<&str>, name: &str) -> Option<&Value> {
        let (Some(chosen), Self::Render(rendering)) = (chosen, self) else { return None };
        let same = |key: &str| key == name || (!key.is_ascii() && nfc(key) == name);
        let sets = rendering.sets.iter().filter(|set| set.name == chosen);
        sets.flat_map(|set| &set.values).find(|(key, _)| same(key)).map(|(_, value)| value)
    }
}
