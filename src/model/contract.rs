//! Contracts: JSON Schemas (2020-12) that a step's output must meet, and the words for what doesn't.
//!
//! A schema stands alone: a reference out of it is refused, nothing is ever fetched. Whoever meets a
//! contract is shown an example made from it; whoever breaks it is told each breach by its place.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock, OnceLock};

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{PatternOptions, ValidationError, Validator};
use serde_json::{Value, json};

use crate::document::Pointer;
use crate::model::effort::{CheckEffort, LARGEST_PATTERN, MOST_BACKTRACKS, effort, too_intricate};
use crate::model::example::example_of;
use crate::names::{did_you_mean, nearest, quoted, shown};

/// The most breaches that are told of one output.
pub const MOST_BREACHES: usize = 50;

/// A schema that outputs are held to.
#[derive(Debug)]
pub struct Contract {
    name: Option<String>,
    schema: Arc<Value>,
    dialect: Dialect,
    // Compiled when first asked for: replaying a long log needs no validator at all.
    validator: OnceLock<Result<Validator, NoSchema>>,
    example: OnceLock<Option<Value>>,
}

/// Which dialect of JSON Schema a schema is read as.
#[derive(Debug, Clone, Copy)]
enum Dialect {
    /// 2020-12, whatever it says.
    Newest,
    /// The one that it names, else 2020-12.
    Declared,
}

/// One way in which an output does not meet its contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// Where: `output`, `output.artifacts[0].type`.
    pub path: String,
    /// What is wrong there, in words.
    pub message: String,
}

/// A schema that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NoSchema {
    /// Why.
    pub why: String,
    /// Where in it.
    pub at: Pointer,
}

impl NoSchema {
    fn whole(why: impl Into<String>) -> Self {
        Self { why: why.into(), at: Pointer::root() }
    }
}

static USUAL: LazyLock<Arc<Contract>> = LazyLock::new(|| {
    let schema = serde_json::from_str(include_str!("../../schemas/step-output.schema.json")).unwrap_or(Value::Null);
    Arc::new(Contract::stored(None, schema))
});

impl PartialEq for Contract {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, &self.schema) == (&other.name, &other.schema)
    }
}

impl Eq for Contract {}

impl Contract {
    /// A contract that is known to be a schema: `name` is the file's stem, none for an inline one.
    ///
    /// # Errors
    /// When it is no schema of the 2020-12 dialect, or refers to something outside of itself.
    pub fn compile(name: Option<String>, schema: impl Into<Arc<Value>>) -> Result<Self, NoSchema> {
        let schema = schema.into();
        if !schema.is_object() {
            return Err(NoSchema::whole("a contract is a JSON object"));
        }
        let contract = Self::stored(name, schema);
        contract.validator().map_err(Clone::clone)?;
        Ok(contract)
    }

    /// A contract that was compiled before, as it was kept.
    pub fn stored(name: Option<String>, schema: impl Into<Arc<Value>>) -> Self {
        Self {
            name,
            schema: schema.into(),
            dialect: Dialect::Newest,
            validator: OnceLock::new(),
            example: OnceLock::new(),
        }
    }

    /// The schema of a tool's arguments or of its answer, as its server gave it. It is of the
    /// dialect that its `$schema` names: many servers still write draft 7. What it says of formats
    /// is the server's to check.
    pub fn of_tool(schema: Value) -> Self {
        Self { dialect: Dialect::Declared, ..Self::stored(None, schema) }
    }

    /// The contract of steps that name none: a summary, and whatever else there is to say.
    pub fn usual() -> Arc<Self> {
        USUAL.clone()
    }

    /// What an example of the usual contract says was done.
    pub const USUAL_SUMMARY: &str = "In a few sentences what was done.";

    /// The name it is asked for by; none for an inline one and the usual one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The schema.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The schema, for whoever keeps it.
    pub fn shared_schema(&self) -> Arc<Value> {
        self.schema.clone()
    }

    /// An output that meets it; none where none could be made up.
    pub fn example(&self) -> Option<&Value> {
        let made = self.example.get_or_init(|| {
            // First of all whether there is anything to be made up from.
            let validator = self.validator().ok()?;
            let example = example_of(&self.schema);
            let meets = effort(&self.schema, &example) != CheckEffort::TooLarge && validator.is_valid(&example);
            meets.then_some(example)
        });
        made.as_ref()
    }

    fn validator(&self) -> Result<&Validator, &NoSchema> {
        let compiled = self.validator.get_or_init(|| {
            if let Some(why) = too_intricate(&self.schema) {
                return Err(NoSchema::whole(why));
            }
            let options = match self.dialect {
                Dialect::Newest => jsonschema::draft202012::options(),
                Dialect::Declared => jsonschema::options().should_validate_formats(false),
            };
            // What is left is bounded together with all other comparisons, in `effort`.
            let patterns = PatternOptions::fancy_regex().backtrack_limit(MOST_BACKTRACKS).size_limit(LARGEST_PATTERN);
            options.offline().with_pattern_options(patterns).build(&self.schema).map_err(|error| NoSchema {
                why: in_words_of_schema(&error),
                at: Pointer::spelt(error.instance_path().as_str()),
            })
        });
        compiled.as_ref()
    }

    /// Whether it may be met by an object, as far as it says.
    pub fn takes_objects(&self) -> bool {
        self.takes("object")
    }

    /// Whether it may be met by a value of a type, as far as it says.
    pub(super) fn takes(&self, kind: &str) -> bool {
        takes(&self.schema, kind, &self.schema, MOST_REFERENCES)
    }

    /// An output that meets it, as it can be handed in: many clients can hand in nothing but objects, and for
    /// `{"result": X}` X is taken where the contract takes no object.
    pub fn example_handed_in(&self) -> Option<Value> {
        let example = self.example()?.clone();
        Some(if example.is_object() || self.takes_objects() { example } else { json!({"result": example}) })
    }

    /// Every way in which an output does not meet it, at most [`MOST_BREACHES`]; none when it does.
    pub fn breaches(&self, output: &Value) -> Vec<Breach> {
        match self.validator() {
            Ok(validator) => match effort(&self.schema, output) {
                CheckEffort::Small => OUTPUT.breaches(validator, output, &BTreeSet::new()),
                CheckEffort::Large if validator.is_valid(output) => Vec::new(),
                CheckEffort::Large => OUTPUT.whole("does not meet the contract, and is too large to say where"),
                CheckEffort::TooLarge => OUTPUT.whole("is too large to be compared with what the contract says of it"),
            },
            Err(why) => vec![Breach { path: "output".to_owned(), message: format!("the contract: {why}") }],
        }
    }

    /// Every way in which arguments don't fit a tool's schema, with paths from `args`, at most
    /// [`MOST_BREACHES`]; none when they do. What stands at or below one of `unknown`, which are pointers,
    /// is not known yet, and nothing is said that may depend on it. Nor is anything of a schema that is none or makes
    /// too much work: it is the tool's, and the tool has the last word.
    pub fn misfits(&self, arguments: &Value, unknown: &BTreeSet<&str>) -> Vec<Breach> {
        match self.validator() {
            Ok(validator) if effort(&self.schema, arguments) == CheckEffort::Small => {
                ARGUMENTS.breaches(validator, arguments, unknown)
            }
            _ => Vec::new(),
        }
    }

    /// Why it is no schema, if it is none.
    pub fn trouble(&self) -> Option<&str> {
        self.validator().err().map(|trouble| trouble.why.as_str())
    }
}

/// How many schemas are followed, one within the other, to learn of which type values may be.
const MOST_REFERENCES: usize = 20;

/// Whether a schema may be met by a value of a type, as far as its type, its choices and what it combines say.
fn takes(schema: &Value, kind: &str, root: &Value, left: usize) -> bool {
    let Some(object) = schema.as_object() else { return *schema != Value::Bool(false) };
    let Some(left) = left.checked_sub(1) else { return true };
    let of_kind = |value: &Value| match kind {
        "object" => value.is_object(),
        _ => value.is_array(),
    };
    let by_type = match object.get("type") {
        Some(Value::String(only)) => only == kind,
        Some(Value::Array(kinds)) => kinds.iter().any(|one| one == kind),
        _ => true,
    };
    let list = |key: &str| object.get(key).and_then(Value::as_array);
    let any = |key: &str| list(key).is_none_or(|parts| parts.iter().any(|part| takes(part, kind, root, left)));
    let target = |to: &str| root.pointer(to.strip_prefix('#')?);
    by_type
        && object.get("const").is_none_or(of_kind)
        && list("enum").is_none_or(|choices| choices.iter().any(of_kind))
        && object.get("$ref").and_then(Value::as_str).and_then(target).is_none_or(|to| takes(to, kind, root, left))
        && list("allOf").is_none_or(|parts| parts.iter().all(|part| takes(part, kind, root, left)))
        && any("anyOf")
        && any("oneOf")
}

/// How breaches are told: what the value is called, and who asks for what it lacks.
struct Telling {
    subject: &'static str,
    law: &'static str,
}

const OUTPUT: Telling = Telling { subject: "output", law: "the contract" };
const ARGUMENTS: Telling = Telling { subject: "args", law: "the tool" };

impl Telling {
    fn breaches(&self, validator: &Validator, value: &Value, unknown: &BTreeSet<&str>) -> Vec<Breach> {
        if validator.is_valid(value) {
            return Vec::new();
        }
        let mut breaches = Vec::new();
        for error in validator.iter_errors(value).filter(|error| !depends(error, unknown)) {
            self.tell(&error, &mut breaches);
            if breaches.len() >= MOST_BREACHES {
                break;
            }
        }
        breaches.truncate(MOST_BREACHES);
        breaches
    }

    /// One breach of the whole.
    fn whole(&self, message: &str) -> Vec<Breach> {
        vec![Breach { path: self.subject.to_owned(), message: message.to_owned() }]
    }

    fn tell(&self, error: &ValidationError<'_>, breaches: &mut Vec<Breach>) {
        let law = self.law;
        let pointer = Pointer::spelt(error.instance_path().as_str());
        let mut say = |pointer: &Pointer, message: String| {
            let breach = Breach { path: self.path(pointer), message };
            if !breaches.contains(&breach) {
                breaches.push(breach);
            }
        };
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                say(&pointer.key(name), format!("is missing, and {law} requires it"));
            }
            ValidationErrorKind::AdditionalProperties { unexpected }
            | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
                for name in unexpected {
                    say(&pointer.key(name), format!("is not a field of {law}; leave it out"));
                }
            }
            ValidationErrorKind::Type { kind: TypeKind::Single(kind) } => {
                let wanted = kind.to_string();
                say(&pointer, format!("is {}, and must be {}", kind_of(error.instance()), a(&wanted)));
            }
            ValidationErrorKind::Enum { options } => {
                let options = options.as_array().map(Vec::as_slice).unwrap_or_default();
                let mut listed: Vec<String> =
                    options.iter().take(12).map(|value| shown(&value.to_string(), 60)).collect();
                if options.len() > listed.len() {
                    listed.push(format!("{} more", options.len() - listed.len()));
                }
                let given = shown(&error.instance().to_string(), 60);
                say(&pointer, format!("is {given}, and must be one of {}", listed.join(", ")));
            }
            ValidationErrorKind::MaxLength { limit } => {
                let length = error.instance().as_str().map_or(0, |text| text.chars().count());
                say(&pointer, format!("has {length} characters, and {limit} are allowed; shorten it"));
            }
            ValidationErrorKind::MinLength { limit } => {
                let length = error.instance().as_str().map_or(0, |text| text.chars().count());
                say(&pointer, format!("has {length} characters, and needs at least {limit}"));
            }
            ValidationErrorKind::Pattern { pattern } => {
                say(&pointer, format!("does not match the pattern {}", quoted(pattern)));
            }
            ValidationErrorKind::BacktrackLimitExceeded { .. } => {
                say(&pointer, "takes too long to be compared with its pattern; shorten it".to_owned());
            }
            ValidationErrorKind::FalseSchema if error.schema_path().as_str().ends_with("/additionalProperties") => {
                say(&pointer, format!("holds a field that {law} does not allow; leave it out"));
            }
            ValidationErrorKind::FalseSchema => say(&pointer, "is not allowed here; leave it out".to_owned()),
            ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
                // What the nearest of the shapes lacks says more than that none of them fits.
                let nearest = context.iter().min_by_key(|errors| (wrong_kind(errors, &pointer), errors.len()));
                match nearest {
                    Some(errors) if !errors.is_empty() => errors.iter().for_each(|error| self.tell(error, breaches)),
                    _ => say(&pointer, format!("fits none of the shapes that {law} allows")),
                }
            }
            ValidationErrorKind::OneOfMultipleValid { .. } => {
                say(&pointer, "fits several of the shapes of which exactly one is allowed".to_owned());
            }
            _ => {
                // Read after the path, the subject is there already.
                let said = error.masked_with("it").to_string();
                say(&pointer, shown(said.strip_prefix("it ").unwrap_or(&said), 300));
            }
        }
    }

    fn path(&self, pointer: &Pointer) -> String {
        spelt_path(self.subject, &pointer.steps().collect::<Vec<_>>())
    }
}

/// A path into a value as somebody who writes JSON by hand would say it: `output.artifacts[0].type`.
pub fn spelt_path(subject: &str, steps: &[String]) -> String {
    let mut text = subject.to_owned();
    for step in steps {
        if !step.is_empty() && step.bytes().all(|byte| byte.is_ascii_digit()) {
            text.push('[');
            text.push_str(step);
            text.push(']');
        } else {
            text.push('.');
            text.push_str(&shown(step, 100));
        }
    }
    text
}

/// Whether what is wrong may depend on a part that is not known yet.
fn depends(error: &ValidationError<'_>, unknown: &BTreeSet<&str>) -> bool {
    let at = error.instance_path().as_str();
    // Which members an object has is known, whatever they hold.
    let of_members =
        matches!(error.kind(), ValidationErrorKind::Required { .. } | ValidationErrorKind::AdditionalProperties { .. });
    let mut around = std::iter::successors(Some(at), |inner| inner.rsplit_once('/').map(|(outer, _)| outer));
    let below = || {
        let first = format!("{at}/");
        unknown.range(first.as_str()..).next().is_some_and(|hole| hole.starts_with(&first))
    };
    around.any(|outer| unknown.contains(outer)) || !of_members && below()
}

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["string", "number", "integer", "boolean", "array", "object", "null"];

fn in_words_of_schema(error: &ValidationError<'_>) -> String {
    let place = error.instance_path().as_str();
    let words = match error.kind() {
        ValidationErrorKind::Referencing(problem) => {
            let what = match problem {
                jsonschema::ReferencingError::Unretrievable { uri, .. } => format!("{} is elsewhere", quoted(uri)),
                other => other.to_string(),
            };
            format!("{}: a contract refers to nothing outside of itself", shown(&what, 200))
        }
        ValidationErrorKind::AnyOf { .. } if place.ends_with("/type") => {
            let given = error.instance().as_str().unwrap_or_default();
            let near = did_you_mean(nearest(given, TYPES, 1)).map(|asked| format!("; {asked}"));
            let given = shown(&error.instance().to_string(), 60);
            format!("{given} is none of the types {}{}", TYPES.join(", "), near.unwrap_or_default())
        }
        _ => shown(&error.to_string(), 200),
    };
    if place.is_empty() { words } else { format!("{}: {words}", shown(place, 100)) }
}

/// Whether the value as a whole is of another kind than the shape wants.
fn wrong_kind(errors: &[ValidationError<'_>], at: &Pointer) -> bool {
    errors.iter().any(|error| {
        matches!(error.kind(), ValidationErrorKind::Type { .. }) && error.instance_path().as_str() == at.as_str()
    })
}

fn kind_of(value: &Value) -> &'static str {
    if value.is_string() { "text" } else { crate::document::kind_of(value) }
}

fn a(kind: &str) -> &str {
    match kind {
        "object" => "an object",
        "array" => "a list",
        "string" => "text",
        "number" => "a number",
        "integer" => "a whole number",
        "boolean" => "true or false",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contract(schema: Value) -> Contract {
        Contract::compile(None, schema).expect("a schema")
    }

    fn told(contract: &Contract, output: &Value) -> Vec<String> {
        contract.breaches(output).iter().map(|breach| format!("{} {}", breach.path, breach.message)).collect()
    }

    #[test]
    fn the_usual_contract_is_a_schema_and_its_example_meets_it() {
        let usual = Contract::usual();
        assert!(usual.example().is_some_and(|example| usual.breaches(example).is_empty()));
        assert!(usual.breaches(&json!({"summary": "Done.", "something": "else"})).is_empty());
    }

    #[test]
    fn every_breach_is_told_at_its_place_in_words() {
        let output = json!({
            "artifacts": [{"type": "file", "title": "a"}, 7],
            "decisions": ["fine", {"title": "x"}],
            "findings": [{"severity": "urgent", "description": "d"}],
            "confidence": 2,
            "summary": "x".repeat(5001)
        });
        let mut told = told(&Contract::usual(), &output);
        told.sort();
        assert_eq!(
            told,
            [
                "output.artifacts[0].content is missing, and the contract requires it",
                "output.artifacts[1] is a number, and must be an object",
                "output.confidence is greater than the maximum of 1",
                "output.decisions[1].rationale is missing, and the contract requires it",
                "output.findings[0].severity is \"urgent\", and must be one of \"critical\", \"high\", \"medium\", \"low\", \"info\"",
                "output.summary has 5001 characters, and 5000 are allowed; shorten it",
            ]
        );
    }

    #[test]
    fn text_where_an_object_is_due_is_told_as_such() {
        let fields = json!({"type": "object", "properties": {"y": true}, "additionalProperties": false});
        let contract = contract(fields);
        assert_eq!(told(&contract, &json!("done")), ["output is text, and must be an object"]);
        assert_eq!(told(&contract, &json!({"x": 1})), ["output.x is not a field of the contract; leave it out"]);
    }

    #[test]
    fn a_value_is_never_repeated_at_length() {
        let contract = contract(json!({"properties": {"a": {"const": 1}, "b": {"enum": [1]}}}));
        let long = "x".repeat(10_000);
        for told in told(&contract, &json!({"a": long, "b": long})) {
            assert!(told.len() < 400, "{}", told.len());
        }
    }

    #[test]
    fn of_arguments_that_are_known_in_part_only_what_is_certain_is_told() {
        let schema = contract(json!({
            "type": "object",
            "properties": {"n": {"type": "integer"}, "m": {"type": "object", "required": ["k"]}, "s": {"type": "string"}},
            "required": ["n", "m", "x"], "additionalProperties": false,
        }));
        let told: Vec<String> = schema
            .misfits(&json!({"n": "{{ n }}", "m": "{{ m }}", "s": 1, "y": 2}), &BTreeSet::from(["/n", "/m"]))
            .iter()
            .map(|breach| format!("{} {}", breach.path, breach.message))
            .collect();
        assert_eq!(
            told,
            [
                "args.x is missing, and the tool requires it",
                "args.s is a number, and must be text",
                "args.y is not a field of the tool; leave it out",
            ]
        );
    }

    #[test]
    fn what_stands_for_millions_of_schemas_is_no_contract_and_nothing_is_compared_with_it() {
        let mut definitions = serde_json::Map::new();
        for level in 0..22 {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(format!("d{level}"), json!({"oneOf": [next, next]}));
        }
        definitions.insert("d22".to_owned(), json!({"type": "integer"}));
        let schema = json!({"$defs": definitions, "properties": {"a": {"$ref": "#/$defs/d0"}}});
        let refused = Contract::compile(None, schema.clone()).expect_err("refused").to_string();
        assert!(refused.contains("stands for more than 10000 schemas"), "{refused}");
        let tool = Contract::of_tool(schema.clone());
        assert!(tool.trouble().is_some() && tool.misfits(&json!({"a": "x"}), &BTreeSet::new()).is_empty());
        assert_eq!(Contract::stored(None, schema).example(), None);
    }

    #[test]
    fn what_is_too_large_to_be_told_piece_by_piece_is_told_as_a_whole() {
        let twice = |key: &str| json!({"required": [key], "properties": {"a": {"$ref": "#"}}});
        let contract = contract(json!({"anyOf": [twice("x"), twice("y")]}));
        let nested = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({"a": inner}));
        for depth in [17, 60] {
            assert_eq!(contract.breaches(&nested(depth)).len(), 1, "{depth}");
        }
    }

    #[test]
    fn a_tools_schema_is_of_the_dialect_it_names() {
        // In 2020-12, `items` is no list of schemas.
        let schema = json!({
            "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
            "properties": {"pair": {"items": [{"type": "integer"}]}, "at": {"type": "string", "format": "date"}},
        });
        let tool = Contract::of_tool(schema.clone());
        assert_eq!(tool.trouble(), None);
        assert_eq!(tool.misfits(&json!({"pair": ["x"], "at": "tomorrow"}), &BTreeSet::new()).len(), 1);
        assert!(Contract::stored(None, schema).trouble().is_some());
    }

    #[test]
    fn whether_objects_fit_is_known_without_a_type_too_and_an_example_is_shown_as_it_is_taken() {
        let ids = |inner: Value| json!({"$ref": "#/$defs/x", "$defs": {"x": inner}});
        for (schema, objects) in [
            (json!({"enum": ["yes", "no"]}), false),
            (json!({"enum": ["yes", {}]}), true),
            (json!({"const": [1]}), false),
            (ids(json!({"type": "string"})), false),
            (ids(json!({"$ref": "#"})), true),
            (json!({"anyOf": [{"type": "string"}, {"type": "number"}]}), false),
            (json!({"oneOf": [{"type": "string"}, {"type": "object"}]}), true),
            (json!({"allOf": [true, {"type": "array"}]}), false),
            (json!({}), true),
        ] {
            let contract = contract(schema.clone());
            assert_eq!(contract.takes_objects(), objects, "{schema}");
            // Of some schemas no example is known.
            if let Some(example) = contract.example_handed_in() {
                assert_eq!(example.get("result").is_some(), !objects, "{schema}");
            }
        }
    }

    #[test]
    fn breaches_are_bounded() {
        let contract = contract(json!({"type": "array", "items": {"type": "integer"}}));
        assert_eq!(contract.breaches(&json!(vec!["x"; 1_000])).len(), MOST_BREACHES);
    }

    #[test]
    fn what_is_no_schema_and_what_refers_elsewhere_is_refused() {
        for (schema, words) in [
            (json!({"type": "text"}), "text"),
            (json!({"required": "summary"}), "summary"),
            (json!({"$ref": "https://example.org/contract.json"}), "outside of itself"),
            (json!({"properties": {"a": {"$ref": "file:///etc/passwd"}}}), "outside of itself"),
            (json!({"$ref": "other.json"}), "outside of itself"),
            (json!({"properties": {"a": {"$ref": "#/$defs/gone"}}}), "outside of itself"),
            (json!({"pattern": "("}), "("),
            (json!(true), "object"),
            (json!("Design"), "object"),
        ] {
            let why = Contract::compile(None, schema.clone()).expect_err(&schema.to_string());
            assert!(why.to_string().contains(words), "{schema}: {why}");
        }
    }
}
