//! `unused-variable`: a declaration without a use, often a spelling that drifted.

use crate::document::Place;
use crate::model::NodeKind;
use crate::names::quoted;
use crate::validate::{Body, ReadSource, StepScope};
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "unused-variable",
    severity: Severity::Warning,
    reach: Reach::None,
    summary: "What is declared is used in a text.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let used = |step: &StepScope, name: &str| step.placeholders.iter().any(|placeholder| placeholder.name == name);
    for step in &subject.scope.steps {
        let Body::Text { template, .. } = &step.body else { continue };
        let mut told: Vec<&str> = Vec::new();
        for declared in &step.declared {
            if used(step, &declared.name) || told.contains(&declared.name.as_str()) {
                continue;
            }
            told.push(&declared.name);
            let id = subject.id(step.node);
            let message =
                format!("node {} declares {}, and its text doesn't use it", quoted(id), quoted(&declared.name));
            let place = Place::value(declared.pointer.clone());
            let draft = match template {
                Some(template) if !declared.by_node => drafts.find_in(template, place, message),
                _ => drafts.find(place, message),
            };
            draft.node(id).hint(format!("use {{{}}} in the text, or remove the declaration", declared.name));
        }
    }
    // Where a template is somewhere else, its text may use the input.
    if subject.scope.steps.iter().any(|step| matches!(step.body, Body::Elsewhere | Body::Faulty { .. })) {
        return;
    }
    for (name, input) in &subject.scope.inputs {
        let read = |step: &StepScope| {
            used(step, name)
                || step
                    .reads
                    .iter()
                    .any(|read| matches!(&read.source, ReadSource::MappedInput { input, .. } if input == name))
        };
        if subject.scope.steps.iter().any(read) {
            continue;
        }
        let pointer = match (input.nodes.first(), input.refinement.and_then(|place| subject.flow.inputs.get(place))) {
            (Some((node, place, _)), _) => subject.flow.nodes.get(*node).and_then(|node| match &node.kind {
                NodeKind::Input(input) => input.variables.get(*place).map(|variable| variable.pointer.clone()),
                _ => None,
            }),
            (None, Some(refinement)) => Some(refinement.pointer.clone()),
            (None, None) => None,
        };
        if let Some(pointer) = pointer {
            drafts
                .find(Place::value(pointer), format!("input {} is declared, and no step uses it", quoted(name)))
                .hint(format!("use {{{name}}} in a text, or remove the input"));
        }
    }
}
