//! `missing-persona`: the role a step asks for isn't there, or can't be used.

use crate::document::Place;
use crate::model::Lookup;
use crate::names::{quoted, shown};
use crate::validate::{Check, Drafts, FlowSubject, Mending, Reach, Rule};

/// The rule. A direct execution needs no persona; a guided one does not begin on an error.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "missing-persona",
    summary: "The persona that a node names is in the catalog and can be used.",
    ..Rule::error(Reach::None, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for step in &subject.scope.steps {
        if let (Some(lookup), Some(name)) = (&step.persona, subject.persona(step.node)) {
            let (by, hint) = ("file name or name", "add it to personas/ as a Markdown file, or fix the name");
            not_to_be_had(subject, (step.node, name), lookup, ("persona", by, hint), drafts);
        }
    }
}

/// Tells of a persona or a contract that a node names and that can't be had: what it is, what it is called by, and
/// what helps where there is none.
pub(super) fn not_to_be_had<T>(
    subject: &FlowSubject<'_>,
    (node, name): (usize, &str),
    lookup: &Lookup<T>,
    (what, by, hint): (&str, &str, &str),
    drafts: &mut Drafts<'_>,
) {
    let place = Place::value(subject.flow.node_pointer(node).key("data").key(what));
    let (id, named) = (subject.id(node), format!("{} names {what} {}", subject.called(node), quoted(name)));
    match lookup {
        Lookup::Missing { nearest } => {
            let at = place.pointer.clone();
            let draft = drafts.find(place, format!("{named}, but no {what} has that {by}"));
            draft.names_file(name, nearest.iter().map(String::as_str), at).node(id).hint(hint);
        }
        Lookup::Ambiguous { files } => {
            let shown = files.map(|file| shown(file, 100)).joined(", ");
            let mending =
                Mending { files: files.named.clone(), hints: vec![format!("give each {what} a file name of its own")] };
            let draft = drafts.find(place, format!("{named}, but several files have that name: {shown}"));
            draft.node(id).mended_by(&mending);
        }
        Lookup::Broken(unusable) => {
            drafts.find(place, format!("{named}, which can't be used: {unusable}")).node(id).because_of(unusable);
        }
        Lookup::Found(_) | Lookup::NotChecked => {}
    }
}
