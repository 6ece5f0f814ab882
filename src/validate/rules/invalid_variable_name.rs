//! `invalid-variable-name`: a variable that no placeholder can name.

use std::collections::HashSet;

use crate::document::{Place, Pointer};
use crate::model::{NodeKind, Shape};
use crate::names::{CatalogPath, VariableName, quoted};
use crate::validate::Body;
use crate::validate::scope::set_selector;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "invalid-variable-name",
    summary: "A declared variable is spelt with letters and digits of any script, _ and - (otherwise flowy ignores it).",
    ..Rule::error(Reach::None, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let flow = subject.flow;
    for (number, node) in flow.nodes.iter().enumerate() {
        let data = flow.node_pointer(number).key("data");
        let member = |key: &str, name: &str| data.key(key).key(name);
        let declared: Vec<(&str, Pointer)> = match &node.kind {
            // What `inputs` declares is told once.
            NodeKind::Input(_) if subject.in_markdown() && !flow.inputs.is_empty() => continue,
            NodeKind::Input(input) => {
                // In Markdown `inputs` declares and describes them at once.
                let again = |name: &str| {
                    flow.shape == Shape::Markdown && flow.inputs.iter().any(|refinement| refinement.name == name)
                };
                let own = input.variables.iter().filter(|variable| !again(&variable.name));
                own.map(|variable| (variable.name.as_str(), variable.pointer.clone())).collect()
            }
            NodeKind::Template(step) => {
                step.variables.iter().map(|variable| (variable.name.as_str(), variable.pointer.clone())).collect()
            }
            NodeKind::Tool(tool) => tool.set.iter().map(|(name, _)| (name.as_str(), member("set", name))).collect(),
            NodeKind::Flow(link) => {
                let names = link.variables.keys().filter(|name| *name != "_variableSet");
                names.map(|name| (name.as_str(), member("variables", name))).collect()
            }
            NodeKind::Result | NodeKind::Other(_) => Vec::new(),
        };
        for (name, pointer) in declared {
            if let Some(message) = fault(name) {
                drafts
                    .find(Place::value(pointer), format!("{}: {message}", subject.called(number)))
                    .node(&node.id)
                    .hint(HINT);
            }
        }
    }
    for refinement in &flow.inputs {
        if let Some(message) = fault(&refinement.name) {
            drafts.find(Place::key(refinement.pointer.clone()), message).hint(HINT);
        }
    }
    let mut told: HashSet<(&CatalogPath, &Pointer)> = HashSet::new();
    for step in &subject.scope.steps {
        if let Body::Text { template: Some(template), .. } = &step.body {
            for variable in &template.variables {
                if let Some(message) = fault(&variable.name)
                    && told.insert((&template.file, &variable.pointer))
                {
                    drafts
                        .find_in(
                            template,
                            Place::value(variable.pointer.clone()),
                            format!("template {}: {message}", quoted(&template.name)),
                        )
                        .hint(HINT);
                }
            }
        }
    }
}

const HINT: &str = "use letters, digits, _ and -; a dot begins a path into a value";

fn fault(name: &str) -> Option<String> {
    if set_selector(name) {
        return Some(format!(
            "{} is the selector of variable sets and can't be a variable; it is ignored",
            quoted(name)
        ));
    }
    VariableName::normal(name).err().map(|error| format!("{error}; it is ignored"))
}
