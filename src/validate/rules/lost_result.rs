//! `lost-result`: a result that is gone when an optional step is left out.

use std::collections::HashMap;

use crate::document::Place;
use crate::model::NodeKind;
use crate::validate::{Check, Drafts, FlowSubject, Rule, StepScope};

/// The rule. What reads a step that is left out is left out, too.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "lost-result",
    summary: "No result depends on a step that may be left out.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    // Each step that a result needs, and the step that gives that result.
    let mut needed: HashMap<usize, usize> = HashMap::new();
    let mut next: Vec<(usize, usize)> = subject.shown_steps().into_iter().map(|node| (node, node)).collect();
    while let Some((node, result)) = next.pop() {
        if needed.contains_key(&node) {
            continue;
        }
        needed.insert(node, result);
        let Ok(place) = subject.scope.steps.binary_search_by_key(&node, |step| step.node) else { continue };
        next.extend(
            subject.scope.steps.get(place).into_iter().flat_map(StepScope::givers).map(|giver| (giver, result)),
        );
    }
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        if !matches!(&node.kind, NodeKind::Template(step) if step.optional) {
            continue;
        }
        let why = match needed.get(&number) {
            None => continue,
            Some(result) if *result == number => "it gives a result".to_owned(),
            Some(result) => format!("{}, which gives a result, needs it", subject.called(*result)),
        };
        drafts
            .find(
                Place::value(subject.flow.node_pointer(number).key("data").key("optional")),
                format!("{} is optional, but {why}: if it is skipped, that result is empty", subject.called(number)),
            )
            .node(&node.id)
            .hint("feed the result from a required step, or make this step required");
    }
}
