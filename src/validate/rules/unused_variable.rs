//! `unused-variable`: a declaration without a use, often a spelling that drifted.

use std::collections::HashSet;

use crate::code::Code;
use crate::document::{Edit, Place, Pointer};
use crate::model::NodeKind;
use crate::names::{CatalogPath, quoted};
use crate::validate::{Body, ReadSource, StepScope};
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "unused-variable",
    severity: Severity::Warning,
    reach: Reach::None,
    code: Code::ValidationError,
    warning: None,
    also: &[],
    summary: "A text uses every declared variable.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let used = |step: &StepScope, name: &str| step.read(name).is_some();
    // Every step of a template would say the same of it.
    let mut told_of: HashSet<(&CatalogPath, &Pointer)> = HashSet::new();
    for step in &subject.scope.steps {
        let Body::Text { template, .. } = &step.body else { continue };
        let mut told: HashSet<&str> = HashSet::new();
        for declared in &step.declared {
            if used(step, &declared.name) || !told.insert(&declared.name) {
                continue;
            }
            let id = subject.id(step.node);
            let says = |who: &str, name: &str| format!("{who} declares {}, and its text doesn't use it", quoted(name));
            let place = Place::value(declared.pointer.clone());
            let draft = match template {
                Some(template) if !declared.by_node => {
                    if !told_of.insert((&template.file, &declared.pointer)) {
                        continue;
                    }
                    let who = format!("template {}", quoted(&template.name));
                    drafts.find_in(template, place, says(&who, &declared.name))
                }
                _ => drafts.find(place, says(&format!("node {}", quoted(id)), &declared.name)),
            };
            draft
                .node(id)
                .hint(format!("use {{{}}} in the text, or remove the declaration", declared.name))
                .unsafe_fix("remove the declaration", Edit::Remove(declared.pointer.clone()));
        }
    }
    // Where a template is somewhere else, its text may use the input; where nothing runs, that is the trouble.
    if !subject.has_steps()
        || subject.scope.steps.iter().any(|step| matches!(step.body, Body::Elsewhere | Body::Faulty { .. }))
    {
        return;
    }
    let mut read_somewhere: HashSet<&str> = HashSet::new();
    for read in subject.scope.steps.iter().flat_map(|step| &step.reads) {
        read_somewhere.insert(&read.name);
        if let ReadSource::MappedInput { input, .. } = &read.source {
            read_somewhere.insert(input);
        }
    }
    for (name, input) in &subject.scope.inputs {
        if read_somewhere.contains(name.as_str()) {
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
                .find(Place::value(pointer.clone()), format!("input {} is declared, and no step uses it", quoted(name)))
                .hint(format!("use {{{name}}} in a text, or remove the input"))
                .unsafe_fix("remove the input", Edit::Remove(pointer));
        }
    }
}
