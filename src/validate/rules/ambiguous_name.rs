//! `ambiguous-name`: a name that could mean several things.

use crate::code::Code;
use crate::document::Place;
use crate::model::{Lookup, NodeKind};
use crate::names::{quoted, shown};
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity, Verdict};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "ambiguous-name",
    severity: Severity::Error,
    reach: Reach::Step,
    code: Code::AmbiguousName,
    warning: None,
    also: &[Verdict {
        severity: Severity::Error,
        reach: Reach::None,
        when: "two flows of one name, which run all the same",
    }],
    summary: "A name means one flow or one template.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        let NodeKind::Template(step) = &node.kind else { continue };
        let Some(selected) = &step.selected else { continue };
        if let Lookup::Ambiguous { files } = subject.known.shelf.get(selected) {
            let files: Vec<String> = files.iter().map(|file| shown(file, 200)).collect();
            drafts
                .find(
                    Place::value(subject.flow.node_pointer(number).key("data").key("selectedTemplateId")),
                    format!("several templates go by {}: {}", quoted(selected), files.join(", ")),
                )
                .node(&node.id)
                .hint("name the file instead, or give one of the templates another id and title");
        }
    }
    let name = subject.flow.name.as_str();
    if let Some((_, files)) = subject.known.twins.iter().find(|(twin, _)| twin == name) {
        let files: Vec<String> = files.iter().map(|file| shown(file, 200)).collect();
        let place =
            if subject.flow.given_name.is_some() { subject.flow.meta().key("name") } else { subject.flow.base.clone() };
        drafts
            .find(
                Place::value(place),
                format!(
                    "several flows go by {}: {}; asking for the name can't tell them apart",
                    quoted(name),
                    files.join(", ")
                ),
            )
            .error(Reach::None)
            .hint("rename one of the files (or, in a file of several flows, one `meta.name`)");
    }
}
