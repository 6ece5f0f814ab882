//! `ambiguous-name`: a name that could mean several things.

use crate::code::Code;
use crate::document::{Edit, Place};
use crate::model::{Lookup, NodeKind};
use crate::names::{Few, quoted, shown};
use crate::validate::{
    Check, Drafts, FlowSubject, Mending, Reach, Rule, Severity, TELL_FLOWS_APART, TELL_TEMPLATES_APART, Verdict,
};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "ambiguous-name",
    code: Code::AmbiguousName,
    also: &[
        Verdict {
            severity: Severity::Error,
            reach: Reach::None,
            when: "two flows of one name, which run all the same",
        },
        Verdict {
            severity: Severity::Warning,
            reach: Reach::None,
            when: "two flows that give themselves one name, or a flow that gives itself the name of another: they are \
                   asked for by those of their files",
        },
    ],
    summary: "A name means one flow or one template.",
    ..Rule::error(Reach::Step, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    copied(subject, drafts);
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        let NodeKind::Template(step) = &node.kind else { continue };
        let Some(selected) = &step.selected else { continue };
        if let Lookup::Ambiguous { files } = subject.known.shelf.get(selected) {
            let place = Place::value(subject.flow.node_pointer(number).key("data").key("selectedTemplateId"));
            let named = files.map(|file| shown(file, 200)).joined(", ");
            let message = format!("several templates go by {}: {named}", quoted(selected));
            let mending = Mending { files: files.named, hints: vec![TELL_TEMPLATES_APART.to_owned()] };
            drafts.find(place, message).node(&node.id).mended_by(&mending);
        }
    }
    let name = subject.flow.name.as_str();
    if let Some(files) = subject.known.twins.and_then(|twins| twins.shared.get(name)) {
        let place =
            if subject.flow.given_name.is_some() { subject.flow.meta().key("name") } else { subject.flow.base.clone() };
        drafts
            .find(Place::value(place), ambiguous_flow(name, files))
            .error(Reach::None)
            .mended_by(&Mending { files: files.named.clone(), hints: vec![TELL_FLOWS_APART.to_owned()] });
    }
    let given = subject.flow.given_name.as_deref().filter(|given| *given != name);
    if let Some((given, files)) = given.and_then(|given| Some((given, subject.known.twins?.shared.get(given)?))) {
        let hint = subject.in_form(
            "give one of the flows another name in its `metadata`, or ask for each by its file's name",
            "give one of the flows another `name`: that of its file",
        );
        drafts
            .find(Place::value(subject.flow.meta().key("name")), ambiguous_flow(given, files))
            .only_warn()
            .mended_by(&Mending { files: files.named.clone(), hints: vec![hint.to_owned()] });
    }
}

/// A flow that gives itself the name by which another one is asked for, as a copy of its file does.
fn copied(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let name = subject.flow.name.as_str();
    // In JSON `name` is a title, which need not be that of the file.
    let given = subject.flow.given_name.as_deref().filter(|given| *given != name && subject.in_markdown());
    let taken = given.and_then(|given| Some((given, subject.known.twins?.taken.get(given)?)));
    let Some((given, owners)) = taken else { return };
    let owners = owners.map(|file| shown(file, 200)).joined(", ");
    let place = Place::value(subject.flow.meta().key("name"));
    let write = format!("write {}", quoted(name));
    drafts
        .find(
            place.clone(),
            format!("the flow calls itself {}, and asking for this name gives {owners}", quoted(given)),
        )
        .only_warn()
        .hint("write the name of its file as its `name`")
        .unsafe_fix(write, Edit::Set(place.pointer, name.into()));
}

/// The fact that several flows go by a name.
pub fn ambiguous_flow(name: &str, files: &Few) -> String {
    let files = files.map(|file| shown(file, 200)).joined(", ");
    format!("several flows go by {}: {files}; asking for the name can't tell them apart", quoted(name))
}
