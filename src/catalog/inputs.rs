//! What flows and templates take, beyond what a plan lists.

use std::collections::HashSet;

use crate::discover::FlowInput;
use crate::model::{Declared, Template, VariableSet};
use crate::names::VariableName;
use crate::plan::{Plan, Work};
use crate::render::Outline;

/// A variable that a template takes.
pub struct Variable<'t> {
    /// Its name as names are compared.
    pub name: String,
    /// What the template says of it.
    pub declared: &'t Declared,
    /// Whether the text reads it and the template gives nothing for it.
    pub required: bool,
}

/// A template's variables, each once, in the order in which they are declared.
pub fn variables(template: &Template) -> Vec<Variable<'_>> {
    let outline = Outline::of_template(template);
    let mut seen = HashSet::new();
    let mut variables = Vec::new();
    for declared in &template.variables {
        let Some(name) = normal(&declared.name).filter(|name| seen.insert(name.clone())) else { continue };
        let required =
            outline.number(&name).is_some() && declared.default.is_none() && declared.required.unwrap_or(true);
        variables.push(Variable { name, declared, required });
    }
    variables
}

/// What a template takes, as a listing shows it: what it declares, and what its text reads besides.
pub fn inputs_of(template: &Template) -> Vec<FlowInput> {
    let input = |variable: Variable<'_>| FlowInput {
        name: variable.name,
        kind: variable.declared.kind.map(|kind| kind.name().to_owned()),
        description: variable.declared.description.as_deref().map(str::to_owned),
        required: variable.required,
        default: variable.declared.default.as_deref().cloned(),
        ..FlowInput::default()
    };
    let mut inputs: Vec<FlowInput> = variables(template).into_iter().map(input).collect();
    let mut known: HashSet<String> = inputs.iter().map(|input| input.name.clone()).collect();
    for placeholder in Outline::of_template(template).placeholders {
        if known.insert(placeholder.name.clone()) {
            inputs.push(FlowInput { name: placeholder.name, required: true, ..FlowInput::default() });
        }
    }
    inputs
}

/// The names that some variable set of a flow gives.
pub fn in_sets(plan: &Plan) -> HashSet<String> {
    let mut in_sets: HashSet<String> = HashSet::new();
    for step in plan.steps() {
        if let Work::Render(rendering) = &step.work {
            in_sets.extend(named_in(rendering.sets.iter()));
        }
    }
    in_sets
}

/// The names that these variable sets give.
pub fn named_in<'s>(sets: impl Iterator<Item = &'s VariableSet>) -> impl Iterator<Item = String> {
    sets.flat_map(|set| &set.values).filter_map(|(name, _)| normal(name))
}

/// A variable's name as names are compared.
pub fn normal(name: &str) -> Option<String> {
    VariableName::normal(name).ok().map(|name| name.as_str().to_owned())
}
