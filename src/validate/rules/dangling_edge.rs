//! `dangling-edge`: an edge leads to or from a node that isn't there.

use std::collections::HashSet;

use crate::code::WarningCode;
use crate::document::{Edit, Place};
use crate::names::{quoted, shown};
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity, Verdict};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "dangling-edge",
    warning: Some(WarningCode::DanglingEdge),
    also: &[Verdict { severity: Severity::Warning, reach: Reach::None, when: "with `lenient`" }],
    summary: "Both ends of an edge are nodes of the flow.",
    ..Rule::error(Reach::Flow, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    // Once each node has an id of its own, the edge may lead to one of them.
    if subject.nodes_in_doubt() {
        return;
    }
    let known: HashSet<&str> = subject.flow.nodes.iter().map(|node| node.id.as_str()).collect();
    for (number, edge) in subject.flow.edges.iter().enumerate() {
        for (end, key) in [(&edge.from, "source"), (&edge.to, "target")] {
            if known.contains(end.as_str()) {
                continue;
            }
            let place = Place::value(subject.flow.edge_pointer(number).key(key));
            let turned = turned_round(subject, number, end);
            // Where nothing is compared any more, what is meant is not known, and the edge is left alone.
            let word = output_of(subject, end).unwrap_or(end);
            let several = subject.in_markdown() && end.contains(',');
            let near = subject.comparisons.nearest(word, known_in_order(subject), 1).first().map(|&id| id.to_owned());
            let near = near.filter(|_| !several);
            let sure = !subject.comparisons.used_up();
            let draft = drafts
                .find(
                    place.clone(),
                    if subject.in_markdown() {
                        let of = if subject.is_result(&edge.to) { "`results`" } else { "the block of step" };
                        let to =
                            if subject.is_result(&edge.to) { String::new() } else { format!(" {}", quoted(&edge.to)) };
                        format!("{of}{to} names step {}, and there is no such step", quoted(end))
                    } else {
                        let (edge, end) = (quoted(&edge.caption()), quoted(end));
                        format!("edge {edge} names node {end} as its {key}, and there is no such node")
                    },
                )
                .did_you_mean(word, known_in_order(subject))
                .hint(if subject.known.options.lenient {
                    subject.in_form("the edge is ignored", "the name is ignored")
                } else {
                    subject.in_form(
                        "remove the edge, or add the node; `--lenient` ignores such edges",
                        "write the id of a step, as it stands in its heading: `## Label {#id}`",
                    )
                });
            let draft = if several {
                let list = end.split(',').map(str::trim).collect::<Vec<_>>().join(", ");
                draft.hint(format!("write several as a list: `[{}]`", shown(&list, 200)))
            } else {
                draft
            };
            let draft = match turned {
                Some(turned) => draft.hint(format!("turn it round: `map: {{ {turned} }}`")),
                None => draft,
            };
            let draft = match near {
                Some(near) => {
                    let what = format!("name {} {}", subject.in_form("node", "step"), quoted(&near));
                    draft.unsafe_fix(what, Edit::Set(place.pointer, near.into()))
                }
                None if !sure || several => draft,
                None => draft.safe_fix(
                    subject.in_form("remove the edge", "remove the name"),
                    Edit::Remove(subject.flow.edge_pointer(number)),
                ),
            };
            if subject.known.options.lenient {
                draft.only_warn();
            }
        }
    }
}

/// What `map` of a step was to say that names a step where a variable belongs, and a variable where a step does.
fn turned_round(subject: &FlowSubject<'_>, number: usize, end: &str) -> Option<String> {
    let edge = subject.flow.edges.get(number).filter(|_| subject.in_markdown())?;
    let known = |id: &String| known_in_order(subject).any(|step| step == id);
    let (step, _) = edge.mapping.iter().find(|(target, _)| known(target))?;
    Some(format!("{end}: {step}"))
}

/// The step whose output is named where a step's id belongs: `b_result` and `{b_result}` for `b`.
fn output_of<'e>(subject: &FlowSubject<'_>, end: &'e str) -> Option<&'e str> {
    let name = end.trim_matches(['{', '}', ' ']);
    let id = name.strip_suffix("_result").unwrap_or(name);
    known_in_order(subject).any(|step| step == id).then_some(id)
}

/// What an edge may name; in Markdown these are the steps.
fn known_in_order<'a>(subject: &FlowSubject<'a>) -> impl Iterator<Item = &'a str> + use<'a> {
    let markdown = subject.in_markdown();
    subject.flow.nodes.iter().filter(move |node| !markdown || node.runnable()).map(|node| node.id.as_str())
}
