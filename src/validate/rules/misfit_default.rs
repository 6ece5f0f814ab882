//! `misfit-default`: a default that would be refused if a caller gave it.

use serde_json::Value;

use crate::document::Place;
use crate::model::{NodeKind, Refinement, text_of};
use crate::names::{VariableName, quoted};
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "misfit-default",
    severity: Severity::Error,
    reach: Reach::None,
    summary: "A default or a set value fits the type and the choices that `inputs` gives.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for refinement in &subject.flow.inputs {
        let Ok(name) = VariableName::normal(&refinement.name) else { continue };
        let name = name.as_str();
        if let Some(fault) = refinement.default.as_ref().and_then(|value| misfit(refinement, value)) {
            drafts.find(
                Place::value(refinement.pointer.key("default")),
                format!("the default of input {} {fault}", quoted(name)),
            );
        }
        for (node, place, default) in
            subject.scope.inputs.get(name).map(|input| input.nodes.as_slice()).unwrap_or_default()
        {
            let Some(fault) = default.as_ref().and_then(|value| misfit(refinement, value)) else { continue };
            if let Some(NodeKind::Input(input)) = subject.flow.nodes.get(*node).map(|node| &node.kind)
                && let Some(variable) = input.variables.get(*place)
            {
                let draft = drafts.find(
                    Place::value(variable.pointer.clone()),
                    format!("the default of input {} {fault}", quoted(name)),
                );
                draft.node(subject.id(*node));
            }
        }
        for (number, node) in subject.flow.nodes.iter().enumerate() {
            let NodeKind::Template(step) = &node.kind else { continue };
            for set in &step.sets {
                for (key, value) in set.values.iter().filter(|(key, _)| key == name) {
                    if let Some(fault) = misfit(refinement, value) {
                        let place = Place::value(set.pointer.key("values").key(key));
                        drafts
                            .find(place, format!("set {}: the value of {} {fault}", quoted(&set.name), quoted(name)))
                            .node(subject.id(number));
                    }
                }
            }
        }
    }
}

/// Why a value does not fit what `inputs` says, in words that follow "the value".
fn misfit(refinement: &Refinement, value: &Value) -> Option<String> {
    if let Some(kind) = refinement.kind
        && !kind.fits(value)
    {
        return Some(format!("is {}, and its type is {kind}", quoted(&text_of(value))));
    }
    if !refinement.choices.is_empty() && !refinement.choices.iter().any(|choice| text_of(choice) == text_of(value)) {
        let choices: Vec<String> = refinement.choices.iter().map(|choice| quoted(&text_of(choice))).collect();
        return Some(format!("is {}, and only {} are allowed", quoted(&text_of(value)), choices.join(", ")));
    }
    None
}
