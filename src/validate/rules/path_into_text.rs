//! `path-into-text`: a text has no fields to read.

use crate::document::{Note, NoteKind};
use crate::model::OutputShape;
use crate::render::Placeholder;
use crate::validate::{Check, Drafts, FlowSubject, Rule};
use crate::validate::{OutputPart, ReadSource};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "path-into-text",
    summary: "A dot path reads into something that has fields.",
    ..Rule::warning(Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    for step in &subject.scope.steps {
        let with_path = |(_, placeholder): &(usize, &Placeholder)| !placeholder.path.is_empty();
        for (number, placeholder) in step.outline.placeholders.iter().enumerate().filter(with_path) {
            let Some(read) = step.read(&placeholder.name) else { continue };
            let giver = match &read.source {
                ReadSource::Output { node, part } if *part == OutputPart::Template || is_text(subject, *node) => *node,
                ReadSource::Mapped(mapped) if is_text(subject, mapped.node) => mapped.node,
                _ => continue,
            };
            // A setting that nobody reads may be the contract that has the field.
            let lost = |note: &Note| note.kind == NoteKind::Misspelt && note.step.as_deref() == Some(subject.id(giver));
            if subject.document.notes.iter().any(lost) {
                continue;
            }
            let id = subject.id(step.node);
            let message = format!(
                "{}: {{{}}} asks for a field of a text (the output of {}); it stays as it is",
                subject.called(step.node),
                placeholder.spelt(),
                subject.called(giver)
            );
            let draft = subject.find_group(drafts, step, number, message);
            draft.node(id).hint(format!("write {{{}}} for the whole text", placeholder.name));
        }
    }
}

fn is_text(subject: &FlowSubject<'_>, node: usize) -> bool {
    // With a contract the step's output may well have fields, once a model makes it.
    *subject.output_shape(node) == OutputShape::Text
}
