//! `missing-template`: a step's template isn't there.

use crate::code::{Code, WarningCode};
use crate::document::Place;
use crate::model::{Lookup, NodeKind};
use crate::names::{is_about, quoted};
use crate::validate::scope::app_internal;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity, Verdict};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "missing-template",
    code: Code::TemplateNotFound,
    warning: Some(WarningCode::MissingTemplate),
    also: &[Verdict {
        severity: Severity::Warning,
        reach: Reach::None,
        when: "the node has a text of its own, which is used",
    }],
    summary: "The template that a node names is in the catalog.",
    ..Rule::error(Reach::Step, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        let NodeKind::Template(step) = &node.kind else { continue };
        let Some(selected) = &step.selected else { continue };
        let place = || Place::value(subject.flow.node_pointer(number).key("data").key("selectedTemplateId"));
        match subject.known.shelf.get(selected) {
            Lookup::Missing { nearest } => {
                let stands_in =
                    app_internal(selected) && step.text.as_deref().is_some_and(|text| !text.trim().is_empty());
                let tail = if stands_in { "; the node's own text stands in" } else { "" };
                let draft = drafts
                    .find(
                        place(),
                        format!(
                            "{} names template {}, but no template has that file name, id or title{tail}",
                            subject.called(number),
                            quoted(selected)
                        ),
                    )
                    .names_file(selected, nearest.iter().map(String::as_str), place().pointer)
                    .node(&node.id);
                if stands_in {
                    draft.hint("save the template to templates/, or clear `selectedTemplateId`").only_warn();
                } else if is_about(selected.strip_suffix(".md").unwrap_or(selected)) {
                    draft.hint("a file of that name is about the repository, and never a template: rename it");
                } else {
                    draft.hint("add the template to templates/, or fix the name");
                }
            }
            Lookup::Broken(unusable) => {
                let named = format!("{} names template {}", subject.called(number), quoted(selected));
                let message = format!("{named}, which can't be used: {unusable}");
                drafts.find(place(), message).node(&node.id).because_of(&unusable);
            }
            Lookup::Found(_) | Lookup::Ambiguous { .. } | Lookup::NotChecked => {}
        }
    }
}
