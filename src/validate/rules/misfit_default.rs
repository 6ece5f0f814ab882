//! `misfit-default`: a default that would be refused if a caller gave it.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::document::{Place, Pointer};
use crate::model::{Declared, NodeKind, Refinement, VariableSet};
use crate::names::{CatalogPath, VariableName, quoted};
use crate::validate::{Body, Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "misfit-default",
    summary: "A default or a set value fits the type and the choices that `inputs` gives.",
    ..Rule::error(Reach::None, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let flow = subject.flow;
    let mut refined: HashMap<String, &Refinement> = HashMap::new();
    for refinement in &flow.inputs {
        let Ok(name) = VariableName::normal(&refinement.name) else { continue };
        if let Some(fault) = refinement.default.as_deref().and_then(|value| refinement.misfit(value)) {
            let message = format!("the default of input {} {fault}", quoted(name.as_str()));
            drafts.find(Place::value(refinement.pointer.key("default")), message).hint(HINT);
        }
        refined.entry(name.as_str().to_owned()).or_insert(refinement);
    }
    let fault = |name: &str, value: Option<&Value>| {
        let name = VariableName::normal(name).ok()?;
        Some((refined.get(name.as_str())?.misfit(value?)?, quoted(name.as_str())))
    };
    for (number, node) in flow.nodes.iter().enumerate() {
        let id = subject.id(number);
        match &node.kind {
            NodeKind::Input(input) => {
                for variable in &input.variables {
                    if let Some((fault, name)) = fault(&variable.name, variable.default.as_deref()) {
                        let place = Place::value(variable.pointer.clone());
                        drafts.find(place, format!("the default of input {name} {fault}")).node(id).hint(HINT);
                    }
                }
            }
            NodeKind::Template(step) => {
                for (pointer, what, fault) in faults(&step.variables, &step.sets, &fault) {
                    drafts.find(Place::value(pointer), format!("{what} {fault}")).node(id).hint(HINT);
                }
            }
            NodeKind::Tool(_) | NodeKind::Flow(_) | NodeKind::Result | NodeKind::Other(_) => {}
        }
    }
    let mut told: HashSet<(&CatalogPath, Pointer)> = HashSet::new();
    for step in &subject.scope.steps {
        let Body::Text { template: Some(template), .. } = &step.body else { continue };
        for (pointer, what, fault) in faults(&template.variables, &template.sets, &fault) {
            if told.insert((&template.file, pointer.clone())) {
                let message = format!("template {}: {what} {fault}", quoted(&template.name));
                drafts.find_in(template, Place::value(pointer), message).node(subject.id(step.node)).hint(HINT);
            }
        }
    }
}

const HINT: &str = "fix the value, or what `inputs` says of it";

/// Why a value of a name does not fit, and the name as shown.
type DefaultCheck<'f> = dyn Fn(&str, Option<&Value>) -> Option<(String, String)> + 'f;

/// What of a node's or a template's own defaults and sets does not fit: where, what, and why.
fn faults(variables: &[Declared], sets: &[VariableSet], fault: &DefaultCheck<'_>) -> Vec<(Pointer, String, String)> {
    let mut found = Vec::new();
    for variable in variables {
        if let Some((fault, name)) = fault(&variable.name, variable.default.as_deref()) {
            found.push((variable.pointer.clone(), format!("the default of {name}"), fault));
        }
    }
    for set in sets {
        for (key, value) in &set.values {
            if let Some((fault, name)) = fault(key, Some(value)) {
                let what = format!("set {}: the value of {name}", quoted(&set.name));
                found.push((set.pointer.key("values").key(key), what, fault));
            }
        }
    }
    found
}
