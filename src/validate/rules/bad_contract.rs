//! `bad-contract`: what a step's output must meet is no schema, or isn't there.

use crate::code::Code;
use crate::document::Place;
use crate::model::{Lookup, NodeKind};
use crate::names::{quoted, shown};
use crate::validate::{Check, Drafts, FlowSubject, Mending, Reach, Rule, Severity};

/// The rule. A direct execution holds no output to a contract; a guided one does not begin on an
/// error.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "bad-contract",
    severity: Severity::Error,
    reach: Reach::None,
    code: Code::ValidationError,
    warning: None,
    also: &[],
    summary: "The contract of a node is a JSON Schema that refers to nothing outside of itself.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for step in &subject.scope.steps {
        let Some(lookup) = &step.contract else { continue };
        let Some(NodeKind::Template(node)) = subject.flow.nodes.get(step.node).map(|node| &node.kind) else { continue };
        let place = Place::value(subject.flow.node_pointer(step.node).key("data").key("contract"));
        let id = subject.id(step.node);
        let name = node.contract.as_ref().and_then(serde_json::Value::as_str);
        let named = match name {
            Some(name) => format!("node {} names contract {}", quoted(id), quoted(name)),
            None => format!("the contract of node {}", quoted(id)),
        };
        match lookup {
            Lookup::Missing { nearest } => {
                drafts
                    .find(place, format!("{named}, but no contract has that file name"))
                    .did_you_mean(name.unwrap_or_default(), nearest.iter().map(String::as_str))
                    .node(id)
                    .hint("add it to contracts/, write the schema into the node, or fix the name");
            }
            Lookup::Ambiguous { files } => {
                let shown = files.map(|file| shown(file, 100)).joined(", ");
                let hints = vec!["give each contract a file name of its own".to_owned()];
                drafts
                    .find(place, format!("{named}, but several files have that name: {shown}"))
                    .node(id)
                    .mended_by(&Mending { files: files.named.clone(), hints });
            }
            Lookup::Broken(unusable) if name.is_some() => {
                drafts.find(place, format!("{named}, which can't be used: {unusable}")).node(id).because_of(unusable);
            }
            Lookup::Broken(unusable) => {
                drafts
                    .find(place, format!("{named} is no schema: {}", unusable.message))
                    .node(id)
                    .hint("write a JSON Schema (2020-12) that stands alone");
            }
            Lookup::Found(_) | Lookup::NotChecked => {}
        }
    }
}
