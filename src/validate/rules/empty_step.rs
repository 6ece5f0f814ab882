//! `empty-step`: a step without anything to run.

use std::collections::HashSet;

use serde_json::Value;

use crate::document::Place;
use crate::model::NodeKind;
use crate::names::{CatalogPath, quoted};
use crate::validate::spelling::meant_to_do;
use crate::validate::{Body, Check, Drafts, FlowSubject, Reach, Rule, Severity, Verdict};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "empty-step",
    also: &[Verdict { severity: Severity::Warning, reach: Reach::None, when: "the text of a saved template is empty" }],
    summary: "A step has something to run: a template, a text, a tool or another flow.",
    ..Rule::error(Reach::Flow, Check::Flow(check))
};

fn check(subject: &FlowSubject<'_>, drafts: &mut Drafts<'_>) {
    let mut told: HashSet<&CatalogPath> = HashSet::new();
    for step in &subject.scope.steps {
        if let Body::Text { text, template: Some(template), .. } = &step.body
            && text.trim().is_empty()
            && told.insert(&template.file)
        {
            let message = format!("template {} has no text, so its step gives nothing", quoted(&template.name));
            let draft = drafts.find_in(template, Place::value(template.text_pointer.clone()), message);
            draft.node(subject.id(step.node)).hint("write the text").only_warn();
        }
    }
    for (number, node) in subject.flow.nodes.iter().enumerate() {
        let (missing, hint) = match &node.kind {
            NodeKind::Template(step)
                if step.selected.is_none() && step.text.as_deref().is_none_or(|text| text.trim().is_empty()) =>
            {
                let missing = "neither `selectedTemplateId` nor `template` is set";
                let hint = "name a template in `data.selectedTemplateId`, or write the text in `data.template`";
                let in_markdown =
                    "write the text below the heading, or name a template: `template: Facts` in a block marked `yaml`";
                (subject.in_form(missing, "it has neither a text nor a template"), subject.in_form(hint, in_markdown))
            }
            NodeKind::Tool(tool) if tool.call.is_none() => {
                let hint = "name the tool in `data.call`, or delete the node";
                ("`call` is not set", subject.in_form(hint, "name the tool in `call`, or delete the step"))
            }
            NodeKind::Flow(link) if link.flow.is_none() => {
                let hint = "name the flow in `data.flow`, or delete the node";
                ("`flow` is not set", subject.in_form(hint, "name the flow in `flow`, or delete the step"))
            }
            NodeKind::Template(_)
            | NodeKind::Tool(_)
            | NodeKind::Flow(_)
            | NodeKind::Input(_)
            | NodeKind::Result
            | NodeKind::Other(_) => continue,
        };
        // A field that is misspelt keeps the step from being done, and says what is meant.
        if subject.document.notes.iter().any(|note| note.stops && note.step.as_ref() == Some(&node.id)) {
            continue;
        }
        let pointer = subject.flow.node_pointer(number);
        let written = subject.document.value.pointer(pointer.as_str()).and_then(Value::as_object);
        let meant = written.and_then(|written| {
            let kind = written.get("type").and_then(Value::as_str)?;
            meant_to_do(kind, written)
        });
        let found = |drafts: &mut Drafts<'_>, place: Place, why: String, hint: &str| {
            drafts
                .find(place, format!("{} has nothing to run: {why}", subject.called(number)))
                .node(&node.id)
                .hint(hint);
        };
        match meant {
            Some((key, _, true)) => {
                let why = format!("{} stands beside `data`, and nobody reads it there", quoted(&key));
                found(drafts, Place::key(pointer.key(&key)), why, "move it into `data`");
            }
            Some((key, field, false)) => {
                let why = format!("nobody reads the field {}", quoted(&key));
                let place = Place::key(pointer.key("data").key(&key));
                found(drafts, place, why, &format!("did you mean {}?", quoted(field)));
            }
            None => found(drafts, Place::value(pointer.key("data")), missing.to_owned(), hint),
        }
    }
}
