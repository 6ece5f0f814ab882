//! `stray-example`: a request that a flow wants to be found by, and that finds others instead.

use crate::document::Place;
use crate::names::{quoted, shown};
use crate::validate::{Check, Drafts, FlowSubject, Rule};

/// The longest part of an example that a message repeats, in characters.
const LONGEST: usize = 60;

/// The rule. What an example finds is worked out by whoever knows the whole catalog; without that, nothing is said.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "stray-example",
    summary: "Each of a flow's `examples` finds that flow among the first three of the catalog.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let flow = subject.flow;
    for stray in subject.known.strays.iter().filter(|stray| stray.place_in_file == flow.place_in_file) {
        let Some(example) = flow.examples.get(stray.example) else { continue };
        let place = Place::value(flow.meta().key("examples").item(stray.example));
        let example = quoted(&shown(example, LONGEST));
        let message = match stray.finds.split_first() {
            Some((winner, others)) => {
                let others = match others.len() {
                    0 => String::new(),
                    _ => format!(", then {}", others.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(" and ")),
                };
                format!("the example {example} finds flow {} first{others}, but not this flow", quoted(winner))
            }
            None => format!("the example {example} finds no flow"),
        };
        drafts
            .find(place, message)
            .hint("say what only this flow does, in the example or in the descriptions of the flows that are alike");
    }
}
