//! What a caller may or must give.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use crate::model::{NodeKind, ValueType};
use crate::names::VariableName;
use crate::plan::slots::{opens, refinement, variables};
use crate::plan::{Input, Source, Step};
use crate::validate::CheckedFlow;

/// Every input of a flow: those that input nodes declare, in file order, then those of `inputs`,
/// then what the steps read besides, in the order of the steps.
pub(super) fn of(steps: &[Step], checked: &CheckedFlow) -> Vec<Input> {
    let flow = checked.flow();
    let mut inputs = Collected::default();
    for node in &flow.nodes {
        if let NodeKind::Input(input) = &node.kind {
            variables(input).for_each(|name| inputs.note(name));
        }
    }
    for declared in &flow.inputs {
        if let Ok(name) = VariableName::normal(&declared.name) {
            inputs.note(name.as_str().to_owned());
        }
    }
    for (number, step) in steps.iter().enumerate() {
        for (_, open) in opens(step) {
            // A brace group that nobody declares is text, not an input.
            if open.declared {
                inputs.used(&open.input, number, open.required, open.default.as_ref(), open.auto.is_some());
            }
            // Where an edge maps an input that has no value, the name itself may be given.
            if let Some(own) = open.otherwise.as_deref().filter(|own| own.declared) {
                inputs.used(&own.input, number, false, own.default.as_ref(), false);
            }
        }
    }
    let mut list = inputs.list;
    let (said, given_by_steps) = (said_by_steps(checked), given_by_steps(steps));
    let only_mapped_on = only_mapped_on(steps);
    for input in &mut list {
        let declared_as = checked.scope().inputs.get(&input.name);
        let refined = refinement(checked, declared_as);
        let bare = declared_as.is_some_and(|input| !input.nodes.is_empty());
        if let Some(default) = refined.and_then(|refined| refined.default.clone()) {
            input.default = Some(default);
        } else if let Some(default) =
            declared_as.and_then(|input| input.nodes.iter().find_map(|(_, _, default)| default.clone()))
        {
            input.default = Some(default);
        }
        let for_being_declared = match refined.and_then(|refined| refined.required) {
            Some(required) => required,
            None => bare,
        };
        let overruled = (input.used_by.is_empty() && given_by_steps.contains(input.name.as_str()))
            || only_mapped_on.get(input.name.as_str()).copied().unwrap_or(false);
        input.required = !input.needed_by.is_empty() || (for_being_declared && input.default.is_none() && !overruled);
        input.kind = refined.and_then(|refined| refined.kind);
        input.description = refined.and_then(|refined| refined.description.clone());
        input.choices = refined.map(|refined| refined.choices.clone()).unwrap_or_default();
        input.held_to = input.kind;
        if input.required {
            // A default that only some of the steps have is not what a caller would leave out.
            input.default = None;
        }
        if let Some((kind, description)) = said.get(input.name.as_str()) {
            input.kind = input.kind.or(*kind);
            input.description = input.description.take().or_else(|| description.map(str::to_owned));
        }
        if let Some(kind) = input.kind {
            input.default = input.default.take().map(|default| Arc::new(kind.typed(Arc::unwrap_or_clone(default))));
            input.choices = std::mem::take(&mut input.choices).into_iter().map(|choice| kind.typed(choice)).collect();
        }
    }
    list
}

/// What the steps' own declarations say of names, for where `inputs` is silent: the first type and
/// the first description of each.
fn said_by_steps(checked: &CheckedFlow) -> HashMap<&str, (Option<ValueType>, Option<&str>)> {
    let mut said: HashMap<&str, (Option<ValueType>, Option<&str>)> = HashMap::new();
    for declared in checked.scope().steps.iter().flat_map(|step| &step.declared) {
        let (kind, description) = said.entry(&declared.name).or_default();
        *kind = kind.or(declared.kind);
        *description = description.or(declared.description.as_deref());
    }
    said
}

/// The names that a step reads from an earlier step.
fn given_by_steps(steps: &[Step]) -> HashSet<&str> {
    let slots = steps.iter().flat_map(|step| step.work.slots());
    slots.filter(|slot| matches!(slot.source, Source::Step { .. })).map(|slot| slot.name.as_str()).collect()
}

/// For every input that something reads, whether all that reads it is what an edge maps it to: then those
/// decide whether it is needed.
fn only_mapped_on(steps: &[Step]) -> HashMap<&str, bool> {
    let mut mapped: HashMap<&str, bool> = HashMap::new();
    for (_, open) in steps.iter().flat_map(opens) {
        *mapped.entry(&open.input).or_insert(true) &= open.mapped;
    }
    mapped
}

#[derive(Default)]
struct Collected {
    list: Vec<Input>,
    places: HashMap<String, usize>,
}

impl Collected {
    fn note(&mut self, name: String) {
        if !self.places.contains_key(&name) {
            self.places.insert(name.clone(), self.list.len());
            self.list.push(Input {
                name,
                kind: None,
                description: None,
                required: false,
                default: None,
                choices: Vec::new(),
                held_to: None,
                used_by: Vec::new(),
                needed_by: Vec::new(),
            });
        }
    }

    fn used(&mut self, name: &str, step: usize, required: bool, default: Option<&Arc<Value>>, auto: bool) {
        self.note(name.to_owned());
        let Some(input) = self.places.get(name).and_then(|place| self.list.get_mut(*place)) else { return };
        input.used_by.push(step);
        if required {
            input.needed_by.push(step);
        }
        if input.default.is_none() && !auto {
            input.default = default.cloned();
        }
    }
}
