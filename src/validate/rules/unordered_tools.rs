//! `unordered-tools`: two steps of a flow in Markdown that may change something, and no text says which comes
//! first.

use crate::document::Place;
use crate::graph::Ancestors;
use crate::model::{Shape, ToolLookup};
use crate::names::quoted;
use crate::validate::{Body, Check, Drafts, FlowSubject, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "unordered-tools",
    summary: "In a flow in Markdown, steps that call tools that change something wait for each other.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let (Shape::Markdown, Some(order)) = (subject.flow.shape, subject.order) else { return };
    // Of a tool that is not known nobody can say whether it changes something.
    let changes = |body: &Body| match (body, subject.known.tools) {
        (Body::Call { address, .. }, Some(tools)) => {
            matches!(tools.find(address), ToolLookup::Found(tool) if !tool.read_only)
        }
        _ => false,
    };
    let calls: Vec<usize> =
        subject.scope.steps.iter().filter(|step| changes(&step.body)).map(|step| step.node).collect();
    if calls.len() < 2 {
        return;
    }
    let ancestors = Ancestors::of(order);
    for (place, step) in calls.iter().enumerate() {
        let others = calls.get(..place).unwrap_or_default();
        let Some(other) =
            others.iter().find(|other| !ancestors.reaches(**other, *step) && !ancestors.reaches(*step, **other))
        else {
            continue;
        };
        let (id, first) = (subject.id(*step), subject.id(*other));
        drafts
            .find(
                Place::value(subject.flow.node_pointer(*step).key("id")),
                format!("steps {} and {} call tools, and nothing says which goes first", quoted(first), quoted(id)),
            )
            .node(id)
            .hint(format!("write `after: {first}` into the block of {}", quoted(id)));
    }
}
