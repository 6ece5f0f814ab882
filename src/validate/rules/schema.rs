//! `schema`: the file departs from the published JSON Schema, the one that editors use too.

use std::collections::HashSet;
use std::sync::LazyLock;

use jsonschema::Validator;
use jsonschema::error::ValidationErrorKind;
use serde_json::{Map, Value};

use crate::document::{Document, Place, Pointer};
use crate::model::wire::{UnreadKind, is_markdown, is_tests};
use crate::names::{few, nearest, quoted, shown};
use crate::validate::words::{due, help_in_markdown, place_in_markdown, words_for};
use crate::validate::{Check, Drafts, FileSubject, Reach, Rule, Severity, Verdict, spelling};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "schema",
    also: &[Verdict { severity: Severity::Warning, reach: Reach::None, when: "the field only describes" }],
    summary: "The file has the fields and types of the published JSON Schema (schemas/).",
    ..Rule::error(Reach::Flow, Check::File(check))
};

/// The schema of flow files, compiled once.
pub(in crate::validate) static FLOW: LazyLock<Option<Law>> =
    LazyLock::new(|| compile(include_str!("../../../schemas/flow.schema.json")));
/// The schema of template files, compiled once.
pub(in crate::validate) static TEMPLATE: LazyLock<Option<Law>> =
    LazyLock::new(|| compile(include_str!("../../../schemas/template.schema.json")));
/// The schema of files of tests, compiled once.
pub(in crate::validate) static TESTS: LazyLock<Option<Law>> =
    LazyLock::new(|| compile(include_str!("../../../schemas/flowtest.schema.json")));

/// One of our own schemas.
pub(in crate::validate) struct Law {
    schema: Value,
    validator: Validator,
}

impl Law {
    /// The schemas on the way to a keyword, without the whole.
    fn way(&self, keyword: &str) -> Option<Vec<&Value>> {
        let (mut here, mut way) = (&self.schema, Vec::new());
        for step in Pointer::spelt(keyword).steps() {
            here = match here {
                Value::Object(object) => object.get(&step)?,
                Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
                _ => break,
            };
            if step == "$ref" {
                here = self.schema.pointer(here.as_str()?.strip_prefix('#')?)?;
            }
            way.push(here);
        }
        Some(way)
    }

    /// What the schema says of what a keyword stands at, in its first sentence.
    fn says(&self, keyword: &str) -> Option<String> {
        let way = self.way(keyword)?;
        let said = way.iter().rev().find_map(|schema| schema.get("description")?.as_str())?;
        Some(said.split_once(". ").map_or(said, |(first, _)| first).trim_end_matches('.').to_owned())
    }

    /// The schema in which a keyword stands.
    fn around(&self, keyword: &str) -> Option<&Value> {
        let way = self.way(keyword)?;
        let (_, above) = way.split_last()?;
        Some(above.last().copied().unwrap_or(&self.schema))
    }

    /// The fields of the object about which a keyword speaks.
    fn fields_beside(&self, keyword: &str) -> Vec<&str> {
        let fields = self.around(keyword).and_then(|schema| schema.get("properties")).and_then(Value::as_object);
        fields.into_iter().flatten().map(|(field, _)| field.as_str()).filter(|field| *field != "$schema").collect()
    }

    /// What was written in the place of a field that is required, where no other field may stand.
    fn written_for<'o>(&self, keyword: &str, missing: &str, object: &'o Map<String, Value>) -> Option<&'o str> {
        let closed = self.around(keyword)?.get("additionalProperties") == Some(&Value::Bool(false));
        let fields = if closed { self.fields_beside(keyword) } else { return None };
        let strange = object.keys().map(String::as_str).filter(|key| !fields.contains(key));
        strange.into_iter().find(|key| nearest(key, fields.iter().copied(), 1).first() == Some(&missing))
    }
}

/// Compiles one of our own schemas; a test holds that each of them compiles.
fn compile(text: &str) -> Option<Law> {
    let schema: Value = serde_json::from_str(text).ok()?;
    let validator = jsonschema::draft202012::options().offline().build(&schema).ok()?;
    Some(Law { schema, validator })
}

/// One departure from a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Where.
    pub place: Place,
    /// The fact.
    pub message: String,
    /// What helps: what was written instead of a field that is missing, or what the schema says of it.
    pub help: Option<String>,
}

/// What is said of a field that is none.
const NO_FIELD: &str = "there is no such field";

/// Every departure of a document from a schema, each place once.
pub(in crate::validate) fn violations(document: &Document, schema: &LazyLock<Option<Law>>) -> Vec<Violation> {
    let Some(law) = schema.as_ref() else { return Vec::new() };
    let validator = &law.validator;
    if validator.is_valid(&document.value) {
        return Vec::new();
    }
    let mut found: Vec<Violation> = Vec::new();
    let mut meant: HashSet<Place> = HashSet::new();
    let mut told: HashSet<(Place, String)> = HashSet::new();
    for error in validator.iter_errors(&document.value) {
        // How long an id may be is `over-limit`'s business.
        if matches!(error.kind(), ValidationErrorKind::MaxLength { .. }) {
            continue;
        }
        let pointer = Pointer::spelt(error.instance_path().as_str());
        if let ValidationErrorKind::AdditionalProperties { unexpected } = error.kind() {
            let fields = law.fields_beside(error.schema_path().as_str());
            for key in unexpected {
                let place = Place::key(pointer.key(key));
                let near = nearest(key, fields.iter().copied(), 1);
                let help = match near.first() {
                    Some(near) => format!("did you mean {}?", quoted(near)),
                    None => format!("the fields there are: {}", few(fields.iter().copied())),
                };
                let message = NO_FIELD.to_owned();
                if told.insert((place.clone(), message.clone())) {
                    found.push(Violation { place, message, help: Some(help) });
                }
            }
            continue;
        }
        let instead = match (error.kind(), error.instance().as_object()) {
            (ValidationErrorKind::Required { property: Value::String(property) }, Some(object)) => {
                let strange = spelling::written_for(property, object)
                    .or_else(|| law.written_for(error.schema_path().as_str(), property, object));
                strange.map(|key| (key, property.as_str()))
            }
            _ => None,
        };
        let place = match error.kind() {
            ValidationErrorKind::Required { .. } => {
                instead.map_or(Place::value(pointer.clone()), |(key, _)| Place::key(pointer.key(key)))
            }
            _ => Place::value(pointer),
        };
        let message = match error.kind() {
            ValidationErrorKind::Enum { options } => {
                let options = options.as_array().into_iter().flatten();
                let options = options.filter(|option| !option.is_null() || !is_markdown(document.path.as_str()));
                let options: Vec<String> = options.map(|option| shown(&option.to_string(), 60)).collect();
                let (last, others) =
                    options.split_last().map_or(("", &[][..]), |(last, others)| (last.as_str(), others));
                let given = shown(&error.instance().to_string(), 60);
                format!("{given} is none of {} and {last}", others.join(", "))
            }
            ValidationErrorKind::Type { kind } if is_markdown(document.path.as_str()) => {
                format!("{} stands where {} is due", words_for(error.instance()), due(kind, true))
            }
            ValidationErrorKind::AnyOf { .. } | ValidationErrorKind::OneOfNotValid { .. }
                if is_markdown(document.path.as_str()) =>
            {
                format!("{} does not belong there", words_for(error.instance()))
            }
            _ => match instead {
                Some((key, field)) => {
                    format!("nobody reads the field {}, and {} is missing", quoted(key), quoted(field))
                }
                None => shown(&error.to_string(), 300),
            },
        };
        if told.insert((place.clone(), message.clone())) {
            let path = error.schema_path().as_str();
            let said = match error.kind() {
                // What helps is what the missing field is for, not what it is missing from.
                ValidationErrorKind::Required { property: Value::String(property) } => path
                    .strip_suffix("required")
                    .and_then(|parent| law.says(Pointer::spelt(&format!("{parent}properties")).key(property).as_str())),
                _ => law.says(path),
            };
            if instead.is_some() {
                meant.insert(place.clone());
            }
            let help = match instead {
                Some((_, field)) => Some(format!("did you mean {}?", quoted(field))),
                None => match (error.kind(), said) {
                    (ValidationErrorKind::Type { kind }, said) if !is_markdown(document.path.as_str()) => {
                        let about = said.map(|said| format!(" ({said})")).unwrap_or_default();
                        Some(format!("what belongs there: {}{about}", due(kind, false)))
                    }
                    (_, said) => said.map(|said| format!("what belongs there: {said}")),
                },
            };
            found.push(Violation { place, message, help });
        }
    }
    // What stands for a field that is missing is told with that.
    found.retain(|one| one.message != NO_FIELD || !meant.contains(&one.place));
    found
}

fn check(subject: &FileSubject<'_>, drafts: &mut Drafts<'_>) {
    let among_templates = subject.document.path.as_str().starts_with("templates/");
    let has = |key: &&str| subject.document.value.get(*key).is_some();
    for unread in subject.unread {
        let hint = match unread.what {
            UnreadKind::EmptyFlow => "add a flow to `flows`",
            UnreadKind::Foreign => "take it out of flows/, or write its prompts as a flow: nothing is converted",
            UnreadKind::Misplaced if among_templates => "move it to flows/",
            UnreadKind::Misplaced => "move it to templates/",
            UnreadKind::UnknownShape if unread.place.pointer != Pointer::root() => {
                "write one text; \\n stands for a new line"
            }
            UnreadKind::UnknownShape if among_templates => {
                "for instance {\"title\": \"…\", \"template\": \"Write about {topic}.\", \"variables\": [\"topic\"]}"
            }
            UnreadKind::UnknownShape if ["displayName", "sortOrder"].iter().any(has) => {
                "a file that says what its folder is has to be called _category.json"
            }
            UnreadKind::UnknownShape => {
                "for instance {\"metadata\": {\"name\": \"…\"}, \"nodes\": […], \"edges\": […]}"
            }
            UnreadKind::MissingName | UnreadKind::BadVersion => continue,
        };
        drafts.find(unread.place.clone(), unread.message.clone()).hint(hint);
    }
    // A file of an unknown shape departs from the schema in ways that help nobody.
    let of_unknown_shape = [UnreadKind::UnknownShape, UnreadKind::Foreign, UnreadKind::Misplaced];
    if subject.unread.iter().any(|unread| of_unknown_shape.contains(&unread.what)) {
        return;
    }
    for violation in subject.violations {
        let (what, node) = what(subject.document, &violation.place);
        let mut draft = drafts.find(violation.place.clone(), format!("{what}: {}", violation.message));
        if let Some(node) = node {
            draft = draft.node(node);
        }
        if only_describes(&violation.place.pointer) {
            draft.hint("the field only describes the flow; the flow runs anyway").only_warn();
        } else if let Some(help) = help_in_markdown(subject.document, &violation.place.pointer) {
            draft.hint(help);
        } else if let Some(help) = &violation.help {
            draft.hint(help);
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

/// What a place is, in words, and the node in which it lies.
fn what<'d>(document: &'d Document, place: &Place) -> (String, Option<&'d str>) {
    let pointer = place.pointer.as_str();
    if pointer.is_empty() && !is_markdown(document.path.as_str()) {
        return ("the file".to_owned(), None);
    }
    let steps: Vec<String> = place.pointer.steps().collect();
    if is_markdown(document.path.as_str()) {
        return place_in_markdown(document, &steps);
    }
    if is_tests(document.path.as_str()) {
        let (number, field) = match (&document.value, steps.split_first()) {
            (Value::Array(_), Some((number, field))) => (number.parse::<usize>().ok(), field),
            _ => (None, steps.as_slice()),
        };
        let number = number.map(|number| format!("test {}", number + 1));
        let field = Some(shown(&field.join("."), 200)).filter(|field| !field.is_empty());
        return (number.into_iter().chain(field).collect::<Vec<_>>().join(": "), None);
    }
    let before = match steps.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["nodes", _, ..] => 2,
        ["flows", _, "nodes", _, ..] => 4,
        _ => return (shown(pointer, 200), None),
    };
    let (node, field) = steps.split_at_checked(before).unwrap_or_default();
    let node = node.iter().fold(Pointer::root(), |pointer, step| pointer.key(step));
    let id = document.value.pointer(node.as_str()).and_then(|node| node.get("id")).and_then(Value::as_str);
    match id {
        Some(id) if field.is_empty() => (format!("node {}", quoted(id)), Some(id)),
        Some(id) => (format!("node {}: {}", quoted(id), shown(&field.join("."), 200)), Some(id)),
        None => (shown(pointer, 200), None),
    }
}
