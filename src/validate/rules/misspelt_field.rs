//! `misspelt-field`: a field of a step that does something, which nobody reads because it is spelt otherwise.
//!
//! Exports carry many fields of their own, so only what is all but a field's name is told.

use serde_json::{Map, Value};

use crate::code::Code;
use crate::document::{Place, Pointer};
use crate::names::{nearly_same, quoted};
use crate::validate::{Check, Drafts, FileSubject, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "misspelt-field",
    severity: Severity::Warning,
    reach: Reach::None,
    code: Code::ValidationError,
    warning: None,
    also: &[],
    summary: "The fields of tool and flow nodes are spelt as they are read.",
    check: Check::File(check),
};

/// The fields of a kind of nodes, and what people write instead.
struct Spelling {
    fields: &'static [&'static str],
    instead: &'static [(&'static str, &'static str)],
}

const OF_TOOLS: Spelling = Spelling {
    fields: &["label", "description", "call", "args", "requires", "onError", "retry", "timeoutMs", "delayMs", "set"],
    instead: &[
        ("timeout", "timeoutMs"),
        ("delay", "delayMs"),
        ("retries", "retry"),
        ("arg", "args"),
        ("arguments", "args"),
        ("params", "args"),
        ("parameters", "args"),
        ("inputs", "args"),
        ("tool", "call"),
    ],
};

const OF_FLOWS: Spelling = Spelling {
    fields: &["label", "description", "flow", "variables"],
    instead: &[
        ("inputs", "variables"),
        ("args", "variables"),
        ("arguments", "variables"),
        ("params", "variables"),
        ("parameters", "variables"),
        ("flowName", "flow"),
        ("flowId", "flow"),
    ],
};

impl Spelling {
    /// The field that is meant by a name which is none.
    fn meant(&self, name: &str) -> Option<&'static str> {
        let instead = self.instead.iter().find(|(other, _)| nearly_same(other, name)).map(|(_, field)| *field);
        self.fields.iter().copied().find(|field| nearly_same(name, field)).or(instead)
    }
}

fn check(subject: &FileSubject<'_>, drafts: &mut Drafts<'_>) {
    for (pointer, id, kind, data) in steps(subject) {
        let spelling = if kind == "tool" { &OF_TOOLS } else { &OF_FLOWS };
        for key in data.keys().filter(|key| !spelling.fields.contains(&key.as_str())) {
            let Some(field) = spelling.meant(key).filter(|field| !data.contains_key(*field)) else { continue };
            drafts
                .find(
                    Place::key(pointer.key(key)),
                    format!("node {}: nobody reads the field {}", quoted(id), quoted(key)),
                )
                .node(id)
                .hint(format!("did you mean {}?", quoted(field)));
        }
    }
}

/// The tool and flow nodes of a file: where their `data` is, their id, their type, and `data`.
pub(super) fn steps<'f>(
    subject: &'f FileSubject<'_>,
) -> impl Iterator<Item = (Pointer, &'f str, &'f str, &'f Map<String, Value>)> {
    let value = &subject.document.value;
    let root = Pointer::root();
    let flows: Vec<(Pointer, &Value)> = match value.get("flows").and_then(Value::as_array) {
        Some(flows) => flows.iter().enumerate().map(|(place, flow)| (root.key("flows").item(place), flow)).collect(),
        None => vec![(root, value)],
    };
    flows.into_iter().filter(|_| subject.flows > 0).flat_map(|(base, flow)| {
        let nodes = flow.get("nodes").and_then(Value::as_array).into_iter().flatten().enumerate();
        nodes.filter_map(move |(place, node)| {
            let text = |key: &str| node.get(key).and_then(Value::as_str);
            let kind = text("type").filter(|kind| matches!(*kind, "tool" | "flow" | "flow-link"))?;
            let data = node.get("data").and_then(Value::as_object)?;
            Some((base.key("nodes").item(place).key("data"), text("id")?, kind, data))
        })
    })
}
