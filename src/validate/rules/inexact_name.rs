//! `inexact-name`: a name that is spelt otherwise than what it means.

use crate::code::WarningCode;
use crate::document::{Edit, Place};
use crate::model::{Lookup, NodeKind};
use crate::names::{folded, nfc, quoted, spaced};
use crate::validate::{Check, Drafts, FlowSubject, Rule};

/// The rule. The normal forms of a letter are one in all names.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "inexact-name",
    warning: Some(WarningCode::InexactName),
    summary: "A node spells a name exactly as the flow, template, persona or contract has it.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        let mut tell = |field: &str, what: &str, written: &str, called: &[&str], same: Same| {
            if called.iter().any(|name| same(name, written)) {
                return;
            }
            // A file may hold several templates: what was meant is the name that this one is a spelling of.
            let Some(first) = called.iter().find(|name| folded(name) == folded(written)).or(called.first()) else {
                return;
            };
            let place = Place::value(subject.flow.node_pointer(number).key("data").key(field));
            let (step, written) = (subject.called(number), quoted(written));
            drafts
                .find(place.clone(), format!("{step} names {what} {written}; flowy uses {}", quoted(first)))
                .node(&node.id)
                .hint(format!("write {}", quoted(first)))
                .unsafe_fix(format!("write {}", quoted(first)), Edit::Set(place.pointer, (*first).into()));
        };
        if let NodeKind::Flow(step) = &node.kind
            && let Some(written) = &step.flow
            && let Lookup::Found(flow) = subject.known.shelf.flow(written)
        {
            let names = std::iter::once(&flow.name).chain(&flow.other_names).map(String::as_str);
            tell("flow", "flow", written, &names.collect::<Vec<_>>(), |called, written| nfc(called) == nfc(written));
        }
        let NodeKind::Template(step) = &node.kind else { continue };
        if let Some(selected) = &step.selected
            && let Lookup::Found(template) = subject.known.shelf.get(selected)
        {
            let names = [Some(template.file.stem()), template.title.as_deref(), template.id.as_deref()];
            tell(
                "selectedTemplateId",
                "template",
                selected,
                &names.into_iter().flatten().collect::<Vec<_>>(),
                spaced_alike,
            );
        }
        if let Some(name) = &step.persona
            && let Lookup::Found(persona) = subject.known.shelf.persona(name)
        {
            tell("persona", "persona", name, &[persona.file.stem(), &persona.name], spaced_alike);
        }
        if let Some(name) = step.contract.as_deref().and_then(serde_json::Value::as_str)
            && let Lookup::Found(contract) = subject.known.shelf.contract(name)
        {
            tell("contract", "contract", name, &contract.name().into_iter().collect::<Vec<_>>(), spaced_alike);
        }
    }
}

/// Whether a name is written as the thing is called.
type Same = fn(&str, &str) -> bool;

/// Blanks and underscores are one in the names of templates, personas and contracts.
fn spaced_alike(called: &str, written: &str) -> bool {
    spaced(called) == spaced(written)
}
