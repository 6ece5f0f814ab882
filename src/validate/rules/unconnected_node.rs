//! `unconnected-node`: a step that stands alone, often a forgotten draft.

use std::cell::LazyCell;
use std::collections::HashSet;

use crate::document::Place;
use crate::model::NodeKind;
use crate::names::few;
use crate::validate::misreading::MOST_COMPARED;
use crate::validate::rule::EDGES;
use crate::validate::{Body, Check, Drafts, FlowSubject, ReadSource, Rule, output_names};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "unconnected-node",
    summary: "In a flow of several steps, each step has an edge, and a step feeds each result.",
    ..Rule::warning(Check::Flow(check))
};

/// How a result is written in Markdown.
const RESULTS: &str = "name the step that gives it: `results: {Label: id}`";

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    // Where nothing runs, or an edge leads nowhere, that is the trouble.
    if !subject.has_steps() || subject.edges_in_doubt() || subject.steps_in_doubt() || subject.reads_in_doubt() {
        return;
    }
    // In Markdown what a text reads is the edge, so that one which reads a name in vain tells why there is none.
    let misread: LazyCell<HashSet<usize>, _> = LazyCell::new(|| {
        let misread = subject.misread();
        let givers = misread.iter().flat_map(|one| subject.scope.givers(one.meant));
        givers.chain(misread.iter().map(|one| one.reader)).collect()
    });
    let steps = subject.flow.nodes.iter().filter(|node| node.runnable()).count();
    // Where one step of a file in Markdown gives nothing, a result is what names no step.
    if subject.lacks_edges() && (steps > 1 || !subject.in_markdown()) {
        if !(subject.reads_without_edges() || subject.in_markdown() && in_vain(subject, &misread)) {
            drafts
                .find(subject.place_of_edges(), subject.in_form("the flow has no edges: nothing says in which order its steps run, or which of them gives the result",
                    "nothing says in which order the steps run, or which of them gives the result"))
                .hint(subject.order_hint(EDGES, None));
        }
        return;
    }
    let mut seen: HashSet<&str> = HashSet::with_capacity(subject.flow.nodes.len());
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        // The edges of a repeated id lead to its first node; that it is repeated is told elsewhere.
        if !seen.insert(node.id.as_str()) {
            continue;
        }
        let connected = subject.graph.connected(number);
        let what = match &node.kind {
            NodeKind::Result if subject.in_markdown() && !subject.is_fed(number) => {
                "names no step, so it marks nothing"
            }
            NodeKind::Result if !connected => "has no edge: no step leads to it, so it marks nothing",
            NodeKind::Result if !subject.is_fed(number) => "is fed by no step, so it marks nothing",
            NodeKind::Template(_) | NodeKind::Tool(_) | NodeKind::Flow(_) if !connected && steps > 1 => subject
                .in_form(
                    "has no edge: it runs, but nothing comes before or after it",
                    "reads nothing, and nothing reads it: it runs, but nothing comes before or after it",
                ),
            NodeKind::Template(_)
            | NodeKind::Tool(_)
            | NodeKind::Flow(_)
            | NodeKind::Result
            | NodeKind::Input(_)
            | NodeKind::Other(_) => continue,
        };
        if subject.in_markdown() && misread.contains(&number) {
            continue;
        }
        let mut draft = drafts
            .find(
                Place::value(subject.flow.node_pointer(number).key("id")),
                format!("{} {what}", subject.called(number)),
            )
            .node(&node.id);
        for hint in in_vain_hints(subject, number) {
            draft = draft.hint(hint);
        }
        draft.hint(if node.runnable() {
            subject.order_hint("connect it, or remove it", Some(number))
        } else {
            subject.in_form("connect it, or remove it", RESULTS).to_owned()
        });
    }
}

/// Whether a text reads something in vain, or what several steps give: that tells why there is no edge.
fn in_vain(subject: &FlowSubject<'_>, misread: &HashSet<usize>) -> bool {
    let mut reads = subject.scope.steps.iter().flat_map(|step| &step.reads);
    !misread.is_empty() || reads.any(|read| matches!(read.source, ReadSource::Ambiguous))
}

/// What a step in Markdown that stands alone seems to read, and does not.
fn in_vain_hints(subject: &FlowSubject<'_>, number: usize) -> Vec<String> {
    let Some(step) = subject.scope.step_of(number).filter(|_| subject.in_markdown()) else { return Vec::new() };
    let mut hints = Vec::new();
    if let Body::Text { text, template: None, .. } = &step.body {
        // The name of an output as words, or in other braces.
        let words = text.replace('_', " ");
        let mut outputs: Vec<&String> = subject.scope.outputs.keys().filter(|name| name.ends_with("_result")).collect();
        outputs.sort_unstable();
        let own = |name: &str| subject.scope.givers(name).any(|giver| giver == number);
        let stands =
            outputs.into_iter().take(MOST_COMPARED).find(|name| words.contains(&name.replace('_', " ")) && !own(name));
        hints.extend(
            stands.map(|name| format!("write {{{name}}} to read that output: without these braces it is text")),
        );
    }
    let open =
        step.reads.iter().filter(|read| matches!(read.source, ReadSource::Open { input: false, declared: true }));
    let open: Vec<String> = open.map(|read| format!("{{{}}}", read.name)).collect();
    if !open.is_empty() {
        hints.push(format!("{} is no output of a step: callers give it", few(open.iter().map(String::as_str))));
    }
    if output_names(subject.id(number)).is_empty() {
        hints.push("no text can read a step whose id holds other signs than letters, digits, _ and -".to_owned());
    }
    hints
}
