//! `useless-mapping`: a mapping that carries nothing.

use crate::document::Place;
use crate::model::OutputShape;
use crate::names::{VariableName, quoted};
use crate::validate::scope::mapping_source;
use crate::validate::{Body, Check, Drafts, FlowSubject, Read, ReadSource, Rule, StepScope};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "useless-mapping",
    summary: "The value that an edge maps exists, and the step at the edge's end uses it.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    // What stands at the edge's end is not what it was to be.
    if subject.steps_in_doubt() {
        return;
    }
    for (number, edge) in subject.flow.edges.iter().enumerate().filter(|(_, edge)| !edge.mapping.is_empty()) {
        let [Some(from), Some(to)] = [&edge.from, &edge.to].map(|id| subject.flow.place_of(id)) else { continue };
        let Some(step) = subject.scope.step_of(to) else { continue };
        // An edge the wrong way round is told where the output is read.
        let backwards = |giver: &StepScope| {
            let read = |read: &Read| matches!(read.source, ReadSource::Unreachable { node } if node == to);
            giver.node == from && giver.reads.iter().any(read)
        };
        if matches!(step.body, Body::Elsewhere | Body::Faulty { .. }) || subject.scope.steps.iter().any(backwards) {
            continue;
        }
        let Some(giver) = subject.flow.nodes.get(from) else { continue };
        for (target, source) in &edge.mapping {
            let place = Place::key(subject.flow.edge_pointer(number).key("data").key("mapping").key(target));
            let used = VariableName::normal(target).is_ok_and(|target| step.read(target.as_str()).is_some());
            if !used {
                // A name in the text that is nearly this one is told there.
                let open = |read: &&Read| matches!(read.source, ReadSource::Open { declared: false, input: false });
                let mut nearly = step.reads.iter().filter(open);
                if nearly.any(|read| !subject.comparisons.nearest(&read.name, [target.as_str()], 1).is_empty()) {
                    continue;
                }
                let turned = step.read(source).is_some();
                let draft = drafts
                    .find(
                        place,
                        if subject.in_markdown() {
                            format!("step {} maps {}, and its text doesn't use it", quoted(&edge.to), quoted(target))
                        } else {
                            format!(
                                "edge {} maps {}, and the text of node {} doesn't use it",
                                quoted(&edge.caption()),
                                quoted(target),
                                quoted(&edge.to)
                            )
                        },
                    )
                    .node(&edge.to);
                if turned {
                    draft.hint(format!("turn it round: {{{}: {}}}", quoted(source), quoted(target)));
                } else {
                    draft.did_you_mean(target, step.reads.iter().map(|read| read.name.as_str())).hint(format!(
                        "use {{{target}}} in that text, or remove it from {}",
                        subject.in_form("the mapping", "`map`")
                    ));
                }
                continue;
            }
            match mapping_source(source, number, (from, giver), &subject.scope.inputs, false) {
                None => {
                    let own = giver.runnable().then_some("result");
                    let names = subject.scope.inputs.keys().map(String::as_str).chain(own);
                    let draft = drafts
                        .find(
                            place,
                            format!("{}, and there is no input of that name", subject.taken(edge, to, target, source)),
                        )
                        .did_you_mean(source, names);
                    draft.node(&edge.to).hint(
                        subject
                            .in_form("take `result`, or the name of an input", "name one of the `inputs`, or a step"),
                    );
                }
                Some(ReadSource::Mapped(mapped))
                    if !mapped.path.is_empty() && *subject.output_shape(from) == OutputShape::Text =>
                {
                    drafts
                        .find(
                            place,
                            format!(
                                "{}, but {} gives a text, which has no fields",
                                subject.taken(edge, to, target, source),
                                subject.called(from)
                            ),
                        )
                        .node(&edge.to)
                        .hint(subject.in_form("map it from `result`", "leave `path` out"));
                }
                Some(_) => {}
            }
        }
    }
}
