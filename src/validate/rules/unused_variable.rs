//! `unused-variable`: a declaration without a use, often a spelling that drifted.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use super::foreign_placeholder::written_otherwise;
use crate::document::{Edit, Place, Pointer};
use crate::model::NodeKind;
use crate::names::{CatalogPath, quoted};
use crate::validate::misreading::unused_inputs;
use crate::validate::{Body, Read, ReadSource, StepScope};
use crate::validate::{Check, Drafts, FlowSubject, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "unused-variable",
    summary: "A text uses every declared variable.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let used = |step: &StepScope, name: &str| step.read(name).is_some();
    // Every step of a template would say the same of it.
    let mut told_of: HashSet<(&CatalogPath, &Pointer)> = HashSet::new();
    for step in &subject.scope.steps {
        let Body::Text { template, .. } = &step.body else { continue };
        let mut told: HashSet<&str> = HashSet::new();
        // Only looked for where something is unused, which is seldom.
        let otherwise = OnceCell::new();
        // A name that is nearly this one and that nobody declares is told at its placeholder.
        let open = |read: &&Read| matches!(read.source, ReadSource::Open { declared: false, input: false });
        let drifted = |name: &str| {
            let mut reads = step.reads.iter().take_while(|_| !subject.comparisons.used_up()).filter(open);
            reads.any(|read| !subject.comparisons.nearest(&read.name, [name], 1).is_empty())
        };
        for declared in &step.declared {
            if used(step, &declared.name) {
                continue;
            }
            let otherwise = otherwise.get_or_init(|| written_otherwise(subject, step));
            let meant = otherwise.contains(&declared.name) || drifted(&declared.name);
            if meant || !told.insert(&declared.name) {
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
                _ => drafts.find(place, says(&subject.called(step.node), &declared.name)),
            };
            let draft =
                draft.node(id).hint(format!("use {{{}}} in the text, or remove the declaration", declared.name));
            if !may_mean(step, &declared.name) {
                draft.unsafe_fix("remove the declaration", Edit::Remove(declared.pointer.clone()));
            }
        }
    }
    let unused = unused_inputs(subject);
    if !unused.is_empty() {
        inputs(subject, unused, drafts);
    }
    behind_outputs(subject, drafts);
}

/// Of more unused inputs of one flow none is removed: something else is wrong with it.
const MOST_REMOVED: usize = 20;

/// Whether a step's text may mean a name all the same: it stands there in signs that are none of ours, or something
/// else stands in braces that nothing gives.
fn may_mean(step: &StepScope, name: &str) -> bool {
    let Body::Text { text, .. } = &step.body else { return false };
    text.contains(name) || step.reads.iter().any(|read| matches!(read.source, ReadSource::Open { input: false, .. }))
}

/// Inputs that no step reads.
fn inputs(subject: &FlowSubject<'_>, unused: Vec<&str>, drafts: &mut Drafts<'_>) {
    let misread: HashSet<&str> = subject.misread().iter().map(|one| one.meant).collect();
    let unknown = mapped_in_vain(subject);
    let sure = unused.len() <= MOST_REMOVED;
    for name in unused {
        // What reads or maps it under a name that is slightly wrong is told there.
        let mapped_in_vain = || unknown.iter().any(|source| !subject.comparisons.nearest(source, [name], 1).is_empty());
        if misread.contains(name) || mapped_in_vain() {
            continue;
        }
        if let Some(pointer) = declared_at(subject, name) {
            let message = format!("input {} is declared, and no step uses it", quoted(name));
            let draft = drafts
                .find(Place::value(pointer.clone()), message)
                .hint(format!("use {{{name}}} in a text, or remove the input"));
            if sure && !subject.scope.steps.iter().any(|step| may_mean(step, name)) {
                draft.unsafe_fix("remove the input", Edit::Remove(pointer));
            }
        }
    }
}

/// Inputs whose names stand for the output of a step wherever they are read: what a caller gives is never used.
fn behind_outputs(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let unknown = |step: &StepScope| matches!(step.body, Body::Elsewhere | Body::Faulty { .. });
    if subject.steps_in_doubt() || subject.reads_in_doubt() || subject.scope.steps.iter().any(unknown) {
        return;
    }
    let (mut givers, mut used): (HashMap<&str, usize>, HashSet<&str>) = (HashMap::new(), HashSet::new());
    for read in subject.scope.steps.iter().flat_map(|step| &step.reads) {
        match &read.source {
            ReadSource::Output { node, .. } | ReadSource::Set { node, .. } => drop(givers.insert(&read.name, *node)),
            ReadSource::Open { .. } => drop(used.insert(&*read.name)),
            ReadSource::MappedInput { input, .. } => drop(used.insert(input)),
            ReadSource::Mapped(_) | ReadSource::Unreachable { .. } | ReadSource::Ambiguous => {}
        }
    }
    for name in subject.scope.inputs.keys().filter(|name| !used.contains(name.as_str())) {
        if let (Some(giver), Some(pointer)) = (givers.get(name.as_str()), declared_at(subject, name)) {
            let giver = subject.called(*giver);
            let message = format!("input {} is never used: {{{name}}} is what {giver} gives", quoted(name));
            drafts.find(Place::value(pointer), message).hint("give the input another name, or remove it");
        }
    }
}

/// Where an input is declared.
fn declared_at(subject: &FlowSubject<'_>, name: &str) -> Option<Pointer> {
    let input = subject.scope.inputs.get(name)?;
    match (input.nodes.first(), input.refinement.and_then(|place| subject.flow.inputs.get(place))) {
        (Some((node, place, _)), _) => subject.flow.nodes.get(*node).and_then(|node| match &node.kind {
            NodeKind::Input(input) => input.variables.get(*place).map(|variable| variable.pointer.clone()),
            _ => None,
        }),
        (None, refinement) => refinement.map(|refinement| refinement.pointer.clone()),
    }
}

/// What edges map that is neither an output nor an input.
fn mapped_in_vain<'s>(subject: &FlowSubject<'s>) -> Vec<&'s str> {
    let sources = subject.flow.edges.iter().flat_map(|edge| &edge.mapping).map(|(_, source)| source.as_str());
    let of_step = |source: &str| source == "result" || source.starts_with("result.");
    sources.filter(|source| !of_step(source) && !subject.scope.inputs.contains_key(*source)).collect()
}
