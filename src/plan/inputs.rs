//! What a caller may or must give.

use std::collections::HashMap;

use serde_json::Value;

use crate::model::NodeKind;
use crate::names::VariableName;
use crate::plan::slots::{opens, refinement, variables};
use crate::plan::{Input, Source, Step, Work};
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
        }
    }
    let mut list = inputs.list;
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
        let overruled = input.used_by.is_empty() && given_by_a_step(steps, &input.name);
        input.required = !input.needed_by.is_empty() || (for_being_declared && input.default.is_none() && !overruled);
        input.kind = refined.and_then(|refined| refined.kind);
        input.description = refined.and_then(|refined| refined.description.clone());
        input.choices = refined.map(|refined| refined.choices.clone()).unwrap_or_default();
        from_declarations(input, checked);
    }
    list
}

/// What the steps' own declarations add where `inputs` is silent.
fn from_declarations(input: &mut Input, checked: &CheckedFlow) {
    let declared =
        || checked.scope().steps.iter().flat_map(|step| &step.declared).filter(|declared| declared.name == input.name);
    let kind = input.kind.or_else(|| declared().find_map(|declared| declared.kind));
    let description =
        input.description.clone().or_else(|| declared().find_map(|declared| declared.description.clone()));
    (input.kind, input.description) = (kind, description);
}

/// Whether a step reads the name from an earlier step instead.
fn given_by_a_step(steps: &[Step], name: &str) -> bool {
    steps.iter().any(|step| match &step.work {
        Work::Render(rendering) => {
            rendering.slots.iter().any(|slot| slot.name == name && matches!(slot.source, Source::Step { .. }))
        }
        Work::Faulty { .. } => false,
    })
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
                used_by: Vec::new(),
                needed_by: Vec::new(),
            });
        }
    }

    fn used(&mut self, name: &str, step: usize, required: bool, default: Option<&Value>, auto: bool) {
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
