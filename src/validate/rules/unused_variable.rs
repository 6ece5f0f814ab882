//! `unused-variable`: a declaration without a use, often a spelling that drifted.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::code::Code;
use crate::document::{Edit, Place, Pointer};
use crate::model::NodeKind;
use crate::names::{CatalogPath, nearest, one_letter_off, quoted};
use crate::validate::{Body, Read, ReadSource, StepScope};
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
    let slips = slips(subject);
    for name in unused_inputs(subject) {
        // What reads it under a name that is slightly wrong is told there.
        if slips.values().any(|meant| *meant == name) {
            continue;
        }
        let Some(input) = subject.scope.inputs.get(name) else { continue };
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

/// The inputs that no step reads.
fn unused_inputs<'s>(subject: &FlowSubject<'s>) -> Vec<&'s str> {
    // Where a template is somewhere else, its text may use the input; where nothing runs, that is the trouble.
    let unknown = |step: &StepScope| matches!(step.body, Body::Elsewhere | Body::Faulty { .. });
    if !subject.has_steps() || subject.nodes_in_doubt() || subject.scope.steps.iter().any(unknown) {
        return Vec::new();
    }
    let mut read_somewhere: HashSet<&str> = HashSet::new();
    for read in subject.scope.steps.iter().flat_map(|step| &step.reads) {
        read_somewhere.insert(&read.name);
        if let ReadSource::MappedInput { input, .. } = &read.source {
            read_somewhere.insert(input);
        }
    }
    subject.scope.inputs.keys().map(String::as_str).filter(|name| !read_somewhere.contains(name)).collect()
}

/// Names that steps without declarations read, each with the input or output that it is a misspelling of: an input
/// that is alike and that no step reads, or one of which it differs in a single letter.
pub(super) fn slips<'s>(subject: &FlowSubject<'s>) -> BTreeMap<&'s str, &'s str> {
    let open = |read: &&Read| matches!(read.source, ReadSource::Open { input: false, .. });
    let steps = subject.scope.steps.iter().filter(|step| step.declared.is_empty());
    let names: BTreeSet<&'s str> = steps.flat_map(|step| &step.reads).filter(open).map(|read| &*read.name).collect();
    if names.is_empty() {
        return BTreeMap::new();
    }
    let outputs: BTreeSet<&'s str> = subject.scope.outputs.keys().map(String::as_str).collect();
    let known = subject.scope.inputs.keys().map(String::as_str).chain(outputs).take(MOST_SLIPS);
    let mut slips = BTreeMap::new();
    for known in known {
        slips.extend(names.iter().filter(|name| one_letter_off(name, known)).map(|name| (*name, known)));
    }
    for input in unused_inputs(subject).into_iter().take(MOST_SLIPS) {
        if let Some(name) = nearest(input, names.iter().copied(), 1).into_iter().next() {
            slips.insert(name, input);
        }
    }
    slips
}

/// The most names for which a misspelling is looked for.
const MOST_SLIPS: usize = 100;
