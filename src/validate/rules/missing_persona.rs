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
        let (Some(lookup), Some(name)) = (&step.persona, subject.persona(step.node)) else { continue };
        let place = Place::value(subject.flow.node_pointer(step.node).key("data").key("persona"));
        let id = subject.id(step.node);
        let named = format!("{} names persona {}", subject.called(step.node), quoted(name));
        match lookup {
            Lookup::Missing { nearest } => {
                let at = place.pointer.clone();
                drafts
                    .find(place, format!("{named}, but no persona has that file name or name"))
                    .names_file(name, nearest.iter().map(String::as_str), at)
                    .node(id)
                    .hint("add it to personas/ as a Markdown file, or fix the name");
            }
            Lookup::Ambiguous { files } => {
                let shown = files.map(|file| shown(file, 100)).joined(", ");
                let hints = vec!["give each persona a file name of its own".to_owned()];
                drafts
                    .find(place, format!("{named}, but several files have that name: {shown}"))
                    .node(id)
                    .mended_by(&Mending { files: files.named.clone(), hints });
            }
            Lookup::Broken(unusable) => {
                drafts.find(place, format!("{named}, which can't be used: {unusable}")).node(id).because_of(unusable);
            }
            Lookup::Found(_) | Lookup::NotChecked => {}
        }
    }
}
