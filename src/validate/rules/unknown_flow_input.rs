//! `unknown-flow-input`: a value for an input that another flow does not have.

use crate::document::Place;
use crate::model::KnownFlow;
use crate::names::{few, quoted};
use crate::validate::doing::strangers;
use crate::validate::{Body, Check, Drafts, FlowSubject, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "unknown-flow-input",
    summary: "Every value that a node gives to another flow is one of that flow's inputs.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for step in &subject.scope.steps {
        let Body::Link { flow, values } = &step.body else { continue };
        let id = subject.id(step.node);
        for (key, name) in strangers(flow, values) {
            let name = name.as_str();
            let place = Place::key(subject.flow.node_pointer(step.node).key("data").key("variables").key(key));
            drafts
                .find(
                    place,
                    format!("{}: flow {} has no input {}", subject.called(step.node), quoted(&flow.name), quoted(name)),
                )
                .did_you_mean(name, flow.inputs.iter().map(|(input, _)| input.as_str()))
                .hint(inputs_of(flow))
                .node(id);
        }
    }
}

/// The inputs that a flow has, in words.
fn inputs_of(flow: &KnownFlow) -> String {
    match flow.inputs.as_slice() {
        [] => "it has no inputs".to_owned(),
        inputs => format!("its inputs: {}", few(inputs.iter().map(|(input, _)| quoted(input)))),
    }
}
