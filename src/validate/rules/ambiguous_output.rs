//! `ambiguous-output`: a placeholder could mean either output.

use std::collections::{BTreeSet, HashMap};

use crate::document::Place;
use crate::names::{Few, MOST_NAMED, quoted};
use crate::validate::ReadSource;
use crate::validate::{Check, Drafts, FlowSubject, Reach, Rule, Severity, Verdict};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "ambiguous-output",
    also: &[Verdict { severity: Severity::Warning, reach: Reach::None, when: "nobody reads the name" }],
    summary: "No two node ids give one variable name.",
    ..Rule::error(Reach::Flow, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let mut told: HashMap<Vec<usize>, bool> = HashMap::new();
    let mut readers_of: HashMap<&str, Vec<&str>> = HashMap::new();
    for step in &subject.scope.steps {
        for read in step.reads.iter().filter(|read| matches!(read.source, ReadSource::Ambiguous)) {
            readers_of.entry(&read.name).or_default().push(subject.id(step.node));
        }
    }
    let mut names: Vec<(&String, Vec<usize>)> = Vec::new();
    let given: BTreeSet<&String> = subject.scope.outputs.keys().chain(subject.scope.set.keys()).collect();
    for name in given {
        let mut nodes: Vec<usize> = subject.scope.givers(name).collect();
        nodes.sort_unstable();
        nodes.dedup();
        // Two nodes of one id are another rule's business.
        if nodes.len() > 1
            && nodes.iter().any(|node| subject.id(*node) != subject.id(nodes.first().copied().unwrap_or(0)))
        {
            names.push((name, nodes));
        }
    }
    for (name, nodes) in names {
        let readers = readers_of.get(name.as_str()).map(Vec::as_slice).unwrap_or_default();
        let read = !readers.is_empty();
        if told.get(&nodes).is_some_and(|worse| *worse || !read) {
            continue;
        }
        let ids = Few::of(nodes.iter().map(|node| quoted(subject.id(*node)))).joined(" and ");
        let by = if read {
            let reads = if readers.len() == 1 { "reads" } else { "read" };
            format!(", which {} {reads}", Few::of(readers.iter().map(|id| quoted(id))).joined(" and "))
        } else {
            String::new()
        };
        let place = |node: usize| Place::value(subject.flow.node_pointer(node).key("id"));
        let last = nodes.last().copied().unwrap_or(0);
        let mut draft = drafts
            .find(place(last), format!("{} {ids} both give the name {name}{by}", subject.in_form("nodes", "steps")))
            .node(subject.id(last))
            .hint(subject.in_form(
                "rename one of the nodes, or of the names in `set`: hyphens do not count in these names",
                "give one of the steps another id, or a name in `set` another name: hyphens do not count in these names",
            ));
        for node in nodes.iter().filter(|node| **node != last).take(MOST_NAMED) {
            draft = draft.related(&place(*node), "gives the same name");
        }
        if !read {
            draft.only_warn();
        }
        told.insert(nodes, read);
    }
}
