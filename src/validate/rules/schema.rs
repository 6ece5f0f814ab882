//! `schema`: the file departs from the published JSON Schema, the one that editors use too.

use std::sync::LazyLock;

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use crate::document::{Document, Place, Pointer};
use crate::model::wire::UnreadKind;
use crate::names::shown;
use crate::validate::{Check, Drafts, FileSubject, Reach, Rule, Severity, Verdict};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "schema",
    severity: Severity::Error,
    reach: Reach::Flow,
    also: &[Verdict { severity: Severity::Warning, reach: Reach::None, when: "the field only describes" }],
    summary: "The file has the fields and types of the published JSON Schema (schemas/).",
    check: Check::File(check),
};

/// The schema of flow files, compiled once.
pub(in crate::validate) static FLOW: LazyLock<Option<Validator>> =
    LazyLock::new(|| compile(include_str!("../../../schemas/flow.schema.json")));
/// The schema of template files, compiled once.
pub(in crate::validate) static TEMPLATE: LazyLock<Option<Validator>> =
    LazyLock::new(|| compile(include_str!("../../../schemas/template.schema.json")));

/// Compiles one of our own schemas; a test holds that each of them compiles.
fn compile(text: &str) -> Option<Validator> {
    let schema: Value = serde_json::from_str(text).ok()?;
    jsonschema::draft202012::options().offline().build(&schema).ok()
}

/// One departure from a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where.
    pub place: Place,
    /// The fact.
    pub message: String,
}

/// Every departure of a document from a schema, each place once.
pub(in crate::validate) fn violations(document: &Document, schema: &LazyLock<Option<Validator>>) -> Vec<Violation> {
    let Some(validator) = schema.as_ref() else { return Vec::new() };
    if validator.is_valid(&document.value) {
        return Vec::new();
    }
    let mut found: Vec<Violation> = Vec::new();
    for error in validator.iter_errors(&document.value) {
        // How long an id may be is `over-limit`'s business.
        if matches!(error.kind(), ValidationErrorKind::MaxLength { .. }) {
            continue;
        }
        let pointer = Pointer::spelt(error.instance_path().as_str());
        let place = match error.kind() {
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                unexpected.first().map_or(Place::value(pointer.clone()), |key| Place::key(pointer.key(key)))
            }
            _ => Place::value(pointer),
        };
        let message = shown(&error.to_string(), 300);
        if !found.iter().any(|other| other.place == place && other.message == message) {
            found.push(Violation { place, message });
        }
    }
    found
}

fn check(subject: &FileSubject<'_>, drafts: &mut Drafts<'_>) {
    for unread in subject.unread {
        if matches!(unread.what, UnreadKind::UnknownShape | UnreadKind::EmptyFlow) {
            let hint = if unread.what == UnreadKind::EmptyFlow {
                "add a flow to `flows`"
            } else {
                "the shapes are described in docs/AUTHORING.md"
            };
            drafts.find(unread.place.clone(), unread.message.clone()).hint(hint);
        }
    }
    // A file of an unknown shape departs from the schema in ways that help nobody.
    if subject.unread.iter().any(|unread| unread.what == UnreadKind::UnknownShape) {
        return;
    }
    for violation in subject.violations {
        let message = format!("{}: {}", where_(&violation.place), violation.message);
        let draft = drafts.find(violation.place.clone(), message);
        if only_describes(&violation.place.pointer) {
            draft.hint("the field only describes; what runs runs all the same").only_warn();
        }
    }
}

/// Whether a field says something to people and nothing to the engine, so that a wrong type in it
/// is no reason to refuse a flow that would run all the same. Of what stands under `meta`, only
/// `inputs` has a say in how a flow runs.
fn only_describes(pointer: &Pointer) -> bool {
    let steps: Vec<String> = pointer.steps().collect();
    let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
    match steps.as_slice() {
        ["metadata", "inputs", rest @ ..] | ["flows", _, "meta", "inputs", rest @ ..] => {
            matches!(rest, [_, "description"])
        }
        ["metadata", _, ..] | ["flows", _, "meta", _, ..] => true,
        ["nodes", _, "data", rest @ ..] | ["flows", _, "nodes", _, "data", rest @ ..] => {
            matches!(rest, ["label" | "description"] | ["variableValueSets", _, "description"])
        }
        ["templates", _, rest @ ..] | rest => described_in_template(rest),
    }
}

fn described_in_template(steps: &[&str]) -> bool {
    matches!(
        steps,
        ["description" | "version" | "createdAt" | "updatedAt"]
            | ["variables", _, "description" | "type"]
            | ["variableValueSets", _, "description"]
            | ["results", _, "section" | "name" | "format"]
    )
}

fn where_(place: &Place) -> String {
    let pointer = place.pointer.as_str();
    if pointer.is_empty() { "the file".to_owned() } else { shown(pointer, 200) }
}
