//! What flows and templates take, beyond what a plan lists.

use std::collections::HashSet;

use crate::discover::FlowInput;
use crate::model::{Declared, Template, VariableSet};
use crate::names::VariableName;
use crate::plan::Plan;
use crate::render::Outline;

/// A variable that a template takes.
pub struct Variable<'t> {
    /// Its name as names are compared.
    pub name: String,
    /// What the template says of it; nothing where its text alone names it.
    pub declared: Option<&'t Declared>,
    /// Whether the text reads it and the template gives nothing for it.
    pub required: bool,
}

/// A template's variables, each once, in the order in which they are declared; of a template that declares nothing,
/// those that its text reads.
pub fn variables(template: &Template) -> Vec<Variable<'_>> {
    let outline = Outline::of_template(template);
    let mut seen = HashSet::new();
    let mut variables = Vec::new();
    for declared in &template.variables {
        let Some(name) = normal(&declared.name).filter(|name| seen.insert(name.clone())) else { continue };
        let required =
            outline.number(&name).is_some() && declared.default.is_none() && declared.required.unwrap_or(true);
        variables.push(Variable { name, declared: Some(declared), required });
    }
    if template.variables.is_empty() {
        let read = read_by(template, outline).into_iter();
        variables.extend(read.map(|name| Variable { name, declared: None, required: true }));
    }
    variables
}

/// The names of what a template takes: what it declares, as it is written, or what its text reads.
pub fn taken_by(template: &Template) -> Vec<String> {
    if template.variables.is_empty() {
        return read_by(template, Outline::of_template(template));
    }
    template.variables.iter().map(|declared| declared.name.clone()).collect()
}

/// The names that a text reads, each once.
fn read_by(template: &Template, outline: Outline) -> Vec<String> {
    let mut seen = HashSet::new();
    let text = template.text();
    let found = outline.placeholders.into_iter().filter(|found| !found.is_code(&text));
    found.map(|found| found.name).filter(|name| seen.insert(name.clone())).collect()
}

/// What a template takes, as a listing shows it: what it declares, and what its text reads besides.
pub fn inputs_of(template: &Template) -> Vec<FlowInput> {
    let input = |Variable { name, declared, required }: Variable<'_>| FlowInput {
        name,
        kind: declared.and_then(|declared| declared.kind).map(|kind| kind.name().to_owned()),
        description: declared.and_then(|declared| declared.description.as_deref()).map(str::to_owned),
        required,
        default: declared.and_then(|declared| declared.default.as_deref()).cloned(),
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

/// The needed inputs of a flow that a variable set gives wherever they are needed: nobody has to give these.
pub fn in_sets(plan: &Plan) -> HashSet<String> {
    if plan.sets().is_empty() {
        return HashSet::new();
    }
    plan.terms().given_by_sets(|_| false).into_values().flatten().map(str::to_owned).collect()
}

/// The names that these variable sets give.
pub fn named_in<'s>(sets: impl Iterator<Item = &'s VariableSet>) -> impl Iterator<Item = String> {
    sets.flat_map(|set| &set.values).filter_map(|(name, _)| normal(name))
}

/// A variable's name as names are compared.
pub fn normal(name: &str) -> Option<String> {
    VariableName::normal(name).ok().map(|name| name.as_str().to_owned())
}
