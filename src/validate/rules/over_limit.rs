//! `over-limit`: more than the server takes on.

use crate::code::Code;
use crate::document::Place;
use crate::names::{NodeId, quoted};
use crate::validate::{Body, Check, Drafts, FlowSubject, Reach, Rule, Severity, Verdict};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "over-limit",
    severity: Severity::Error,
    reach: Reach::Flow,
    code: Code::ValidationError,
    warning: None,
    also: &[Verdict {
        severity: Severity::Error,
        reach: Reach::Step,
        when: "the steps up to one declare, read and set too many names, or a flow within the flow goes too deep",
    }],
    summary: "A flow has at most 1,000 nodes and 5,000 edges, and its ids at most 50 characters.",
    check: Check::Flow(check),
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let options = subject.known.options;
    for (what, count, limit) in
        [("nodes", subject.flow.nodes.len(), options.max_nodes), ("edges", subject.flow.edges.len(), options.max_edges)]
    {
        if count > limit {
            drafts
                .find(
                    Place::key(subject.flow.base.key(what)),
                    format!("the flow has {count} {what}, and {limit} are allowed"),
                )
                .hint("split it into several flows");
        }
    }
    for step in &subject.scope.steps {
        if let Body::Faulty { code, message, .. } = &step.body
            && *code == Code::LimitExceeded
        {
            let place = Place::value(subject.flow.node_pointer(step.node).key("id"));
            let id = subject.id(step.node);
            let hint = if step.fault.is_some() {
                "take a flow out of the chain, or put the steps of one into another"
            } else {
                "split the flow: its steps name more values than one flow may"
            };
            let draft = drafts.find(place, format!("node {}: {message}", quoted(id))).error(Reach::Step).node(id);
            draft.code(*code).hint(hint);
        }
    }
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        if let Err(error) = NodeId::new(&node.id) {
            let place = Place::value(subject.flow.node_pointer(number).key("id"));
            drafts.find(place, error.to_string()).node(&node.id).hint("give the node a shorter id");
        }
    }
}
