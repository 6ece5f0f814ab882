//! `unknown-set-key`: a set gives a value to a name that its text does not have, or has the name of another set.

use std::cell::LazyCell;
use std::collections::HashSet;

use crate::document::{Place, Pointer};
use crate::model::{NodeKind, VariableSet};
use crate::names::{VariableName, nfc, quoted};
use crate::validate::{Body, Check, Drafts, FlowSubject, Rule, StepScope};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "unknown-set-key",
    summary: "A variable set gives values only to names that its text uses, and no two sets of a text have one name.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let mut told: HashSet<(String, Pointer)> = HashSet::new();
    // What a text reads under a name that is slightly wrong is told there.
    let slips: LazyCell<HashSet<&str>, _> = LazyCell::new(|| subject.slips().values().copied().collect());
    for step in &subject.scope.steps {
        let Body::Text { template, .. } = &step.body else { continue };
        let (id, called) = (subject.id(step.node), subject.called(step.node));
        if let Some(NodeKind::Template(node)) = subject.flow.nodes.get(step.node).map(|node| &node.kind) {
            for (place, key, message) in strangers(step, &node.sets).filter(|(_, key, _)| !slips.contains(key)) {
                let draft = drafts.find(Place::key(place), format!("{called}: {message}"));
                draft.node(id).did_you_mean(key, names(step)).hint(HINT);
            }
            for (place, message) in twins(&node.sets) {
                drafts.find(place, format!("{called}: {message}")).node(id).hint(OTHER_NAME);
            }
        }
        let Some(template) = template else { continue };
        for (place, key, message) in strangers(step, &template.sets) {
            if told.insert((template.file.to_string(), place.clone())) {
                let message = format!("template {}: {message}", quoted(&template.name));
                let draft = drafts.find_in(template, Place::key(place), message);
                draft.node(id).did_you_mean(key, names(step)).hint(HINT);
            }
        }
        for (place, message) in twins(&template.sets) {
            if told.insert((template.file.to_string(), place.pointer.clone())) {
                let message = format!("template {}: {message}", quoted(&template.name));
                drafts.find_in(template, place, message).node(id).hint(OTHER_NAME);
            }
        }
    }
}

const OTHER_NAME: &str = "give one of them another name";

/// Sets that have the name of an earlier one.
fn twins(sets: &[VariableSet]) -> impl Iterator<Item = (Place, String)> {
    let mut seen = HashSet::new();
    sets.iter().filter(move |set| !seen.insert(nfc(&set.name))).map(|set| {
        let message = format!("a set before this one is called {}, too, and that one counts", quoted(&set.name));
        (Place::value(set.pointer.key("name")), message)
    })
}

const HINT: &str = "use the name in the text, or remove it from the set";

fn names(step: &StepScope) -> impl Iterator<Item = &str> {
    let reads = step.reads.iter().map(|read| read.name.as_str());
    reads.chain(step.declared.iter().map(|declared| declared.name.as_str()))
}

/// The keys of sets that a step has no use for, each with its place and the fact.
fn strangers<'s>(
    step: &'s StepScope,
    sets: &'s [VariableSet],
) -> impl Iterator<Item = (Pointer, &'s str, String)> + use<'s> {
    let known: HashSet<&str> = names(step).collect();
    let keys = sets.iter().flat_map(|set| set.values.iter().map(move |(key, _)| (set, key)));
    keys.filter(move |(_, key)| !VariableName::normal(key).is_ok_and(|name| known.contains(name.as_str()))).map(
        |(set, key)| {
            let place = set.pointer.key("values").key(key);
            (
                place,
                key.as_str(),
                format!("set {} gives {}, which the text does not use", quoted(&set.name), quoted(key)),
            )
        },
    )
}
