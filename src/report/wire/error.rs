//! Errors: `{code, message, source, nextStep?, details?}`.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::common::error_code;
use super::finding::FindingAnswer;
use super::limit::{FAILURE_CHARACTERS, Limit, json_of};
use super::size::beginning;
use crate::app::Error;
use crate::code::Code;
use crate::names::MOST_NAMED;

/// What failed, why, and what helps.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ErrorAnswer {
    /// Kind of failure; stable, made for programs.
    #[schemars(schema_with = "error_code")]
    pub(super) code: String,
    /// What happened.
    pub(super) message: String,
    /// Which operation failed, in the names of the published contract.
    pub(super) source: String,
    /// The call or change that helps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_step: Option<String>,
    /// Facts about the failure; which ones depends on the code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<ErrorDetails>,
}

/// Facts about a failure, for programs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = with_facts)]
pub struct ErrorDetails {
    #[serde(flatten)]
    facts: Map<String, Value>,
    /// What the checks found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<FindingAnswer>,
    /// How many findings are left out, so that the failure stays readable.
    #[serde(skip_serializing_if = "Option::is_none")]
    findings_left_out: Option<usize>,
    /// Name of a list to how many of its entries are left out, so that the failure stays readable.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<String, usize>,
}

/// What a fact is written as.
#[derive(Debug, Clone, Copy)]
enum Holds {
    Text,
    Texts,
    Number,
    Objects,
    Any,
}

impl Holds {
    fn schema(self, meaning: &str) -> Value {
        match self {
            Self::Text => json!({"type": "string", "description": meaning}),
            Self::Texts => json!({"type": "array", "items": {"type": "string"}, "description": meaning}),
            Self::Number => json!({"type": "integer", "minimum": 0, "description": meaning}),
            Self::Objects => json!({"type": "array", "items": {"type": "object"}, "description": meaning}),
            Self::Any => json!({"description": meaning}),
        }
    }
}

/// Every fact there may be besides findings, with what it means.
const FACTS: &[(&str, Holds, &str)] = &[
    ("family", Holds::Text, "Common family of the codes that stand for trouble with GitHub: GITHUB_ERROR."),
    ("retryAt", Holds::Text, "Code RATE_LIMITED: when GitHub takes requests again, ISO 8601."),
    ("reason", Holds::Text, "Codes FORBIDDEN and NETWORK_ERROR: what is in the way, in one word."),
    ("flowName", Holds::Text, "Code MISSING_VARIABLES: the flow."),
    ("provided", Holds::Texts, "Code MISSING_VARIABLES: names the caller gave."),
    ("required", Holds::Texts, "Code MISSING_VARIABLES: names the flow needs."),
    ("inputs", Holds::Objects, "Code MISSING_VARIABLES: name, type, description and choices of what is missing."),
    ("missing", Holds::Texts, "Code MISSING_VARIABLES: needed names that nobody gave."),
    ("cycle", Holds::Texts, "Code CIRCULAR_DEPENDENCY: the ring, closed: its first node comes again at the end."),
    ("nearest", Holds::Texts, "Codes about names: the nearest names there are."),
    ("candidates", Holds::Texts, "Code AMBIGUOUS_NAME: who goes by the name."),
    (
        "variableSets",
        Holds::Texts,
        "The variable sets there are; with code MISSING_VARIABLES those that give something that is missing.",
    ),
    ("misfits", Holds::Texts, "Code INVALID_REQUEST: given names whose values do not fit."),
    ("argument", Holds::Text, "Code INVALID_REQUEST: the argument it is about."),
    ("allowed", Holds::Texts, "Code INVALID_REQUEST: the words that the argument may be."),
    ("unknown", Holds::Texts, "Code INVALID_REQUEST: the arguments that do not exist."),
    ("file", Holds::Text, "The file that it is about."),
    ("line", Holds::Number, "Code PARSE_ERROR: the line, from 1."),
    ("column", Holds::Number, "Code PARSE_ERROR: the column in characters, from 1."),
    ("fault", Holds::Text, "What is wrong with the servers file, by the word in the table of its faults."),
    ("faults", Holds::Objects, "All that is wrong with the servers file."),
    ("repository", Holds::Text, "Code REPO_NOT_FOUND: owner and name."),
    ("id", Holds::Text, "Code INTERNAL_ERROR: what is found in the log."),
    ("executionId", Holds::Text, "The execution that had begun."),
    ("steps", Holds::Texts, "The steps that the execution has."),
    ("nodeId", Holds::Text, "The step that it is about."),
    ("ready", Holds::Texts, "The steps that could be handed out."),
    ("state", Holds::Text, "Where the guided execution stands."),
    ("escalationId", Holds::Text, "Code AWAITING_HUMAN: the question that is open."),
    ("questions", Holds::Texts, "Code AWAITING_HUMAN: what the person is asked."),
    ("issues", Holds::Objects, "Code CONTRACT_VIOLATION: every place where the output does not meet the contract."),
    ("expectedSchema", Holds::Any, "Code CONTRACT_VIOLATION: the JSON Schema of the contract."),
    ("example", Holds::Any, "Code CONTRACT_VIOLATION: an output that the contract takes."),
    ("attempts", Holds::Number, "Code CONTRACT_VIOLATION: how many outputs were refused."),
    ("maxAttempts", Holds::Number, "Code CONTRACT_VIOLATION: how many refused outputs the step bears."),
    ("files", Holds::Texts, "Of a file that can't be used: the files to be fixed."),
    ("hint", Holds::Text, "Of a file that can't be used: how to fix it."),
];

/// Adds the facts to the schema: an error's are a map.
fn with_facts(schema: &mut Schema) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (name, holds, meaning) in FACTS {
            properties.insert((*name).to_owned(), holds.schema(meaning));
        }
    }
}

/// How many characters of findings an error names at most: failures stay readable.
const FINDING_CHARACTERS: usize = 7_000;

/// The longest that a message and a next step of a long failure may be, in characters.
const LONGEST_WORDS: usize = 2_000;

impl ErrorAnswer {
    /// An error of one operation, as long as a failure may be: of long lists it names the first.
    pub fn of(error: &Error, source: &str) -> Self {
        let mut answer = Self {
            code: error.code.word().to_owned(),
            message: error.message.clone(),
            source: source.to_owned(),
            next_step: error.next_step.as_ref().map(|step| step.for_tools().to_owned()),
            details: ErrorDetails::of(error),
        };
        let limit = Limit::characters(FAILURE_CHARACTERS);
        for most in [MOST_NAMED, 5, 1] {
            if limit.fits(&answer) {
                break;
            }
            for words in std::iter::once(&mut answer.message).chain(&mut answer.next_step) {
                *words = beginning(words, LONGEST_WORDS).0;
            }
            if let Some(details) = &mut answer.details {
                details.shorten(most);
            }
        }
        answer
    }
}

impl ErrorDetails {
    fn of(error: &Error) -> Option<Self> {
        let mut facts = Map::new();
        if error.of_github {
            facts.insert("family".to_owned(), json!(Code::GithubError));
        }
        facts.extend(error.details.as_deref().cloned().unwrap_or_default());
        if facts.is_empty() && error.findings.is_empty() {
            return None;
        }
        debug_assert!(
            facts.keys().all(|key| FACTS.iter().any(|(name, ..)| name == key)),
            "a fact is not described: {facts:?}"
        );
        let mut room = FINDING_CHARACTERS;
        let mut findings: Vec<FindingAnswer> = Vec::new();
        for finding in error.findings.iter().map(FindingAnswer::from) {
            let length = json_of(&finding).chars().count();
            if length > room && !findings.is_empty() {
                break;
            }
            room = room.saturating_sub(length);
            findings.push(finding);
        }
        let left_out = error.findings.len() - findings.len();
        let findings_left_out = (left_out > 0).then_some(left_out);
        Some(Self { facts, findings, findings_left_out, left_out: BTreeMap::new() })
    }

    /// Leaves no more than so many entries in its lists, and counts the others; long texts keep their beginning.
    fn shorten(&mut self, most: usize) {
        for (name, fact) in &mut self.facts {
            match fact {
                Value::Array(items) if items.len() > most => {
                    *self.left_out.entry(name.clone()).or_default() += items.len() - most;
                    items.truncate(most);
                }
                Value::String(text) => *text = beginning(text, LONGEST_WORDS).0,
                Value::Array(_) | Value::Object(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
    }
}
