//! `unknown-node-kind`: a node of a type that nothing is known of.

use serde_json::Value;

use crate::code::WarningCode;
use crate::document::Place;
use crate::model::NodeKind;
use crate::names::{few, nearest, quoted};
use crate::validate::{Check, Drafts, FlowSubject, IGNORE_KEY, Reach, Rule, Severity, Verdict};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "unknown-node-kind",
    warning: Some(WarningCode::UnknownNodeKind),
    also: &[Verdict { severity: Severity::Error, reach: Reach::Flow, when: "the type is that of a step, misspelt" }],
    summary: "A node has a known type: multi_input, template, tool, flow or result.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    // Where nothing of the flow can run, `empty-flow` names the types.
    if !subject.has_steps() {
        return;
    }
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        let place = Place::value(subject.flow.node_pointer(number).key("type"));
        let NodeKind::Other(kind) = &node.kind else { continue };
        // A type that is missing or no text is an error of the file, which `schema` tells of.
        if kind.is_empty() && !subject.document.value.pointer(place.pointer.as_str()).is_some_and(Value::is_string) {
            continue;
        }
        let what =
            if kind.is_empty() { "has an empty type".to_owned() } else { format!("is of type {}", quoted(kind)) };
        let draft = drafts.find(place, format!("node {} {what}: nothing runs there", quoted(&node.id))).node(&node.id);
        // What it was to give would be asked of the caller instead.
        let misspelt = !nearest(kind, NodeKind::types(true), 1).is_empty();
        let draft = if misspelt { draft.error(Reach::Flow) } else { draft };
        draft.hint(match NodeKind::meant(kind) {
            Some(meant) => format!("did you mean {}?", quoted(meant)),
            None => format!(
                "a step has one of the types {}; a note for people may stay with \"{IGNORE_KEY}\": {{\"{}\": \"a note\"}} in its node",
                few(NodeKind::types(true)),
                RULE.id
            ),
        });
    }
}
