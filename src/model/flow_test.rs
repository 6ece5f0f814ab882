//! A test of a flow: what it is given, what tools and models are to answer, and what is expected.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::document::Pointer;
use crate::model::Flow;

/// One test.
#[derive(Debug, Clone, Default)]
pub struct FlowTest {
    /// What it is called; none for the flow's name.
    pub name: Option<String>,
    /// The flow, by any name that it goes by.
    pub flow: String,
    /// The values that the flow is given.
    pub inputs: Map<String, Value>,
    /// What answers in the place of a tool or a model, by the id of the step.
    pub mocks: BTreeMap<String, Mock>,
    /// Whether every step with a text is answered by a model, as in a guided execution.
    pub guided: bool,
    /// What is expected.
    pub expected: Expected,
    /// Where it stands in its file.
    pub pointer: Pointer,
}

/// A flow, as its tests must know it.
#[derive(Debug, Clone)]
pub struct TestedFlow {
    /// The flow.
    pub flow: Arc<Flow>,
    /// What it can be given; none where that is not known.
    pub takes: Option<Taken>,
}

/// What a flow can be given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Taken {
    /// The names whose values it uses, in NFC.
    pub names: Vec<String>,
    /// Its variable sets.
    pub sets: Vec<String>,
}

/// What answers in the place of a tool or a model.
#[derive(Debug, Clone, PartialEq)]
pub enum Mock {
    /// A text.
    Text(String),
    /// A value with fields.
    Json(Value),
    /// It fails, and says this.
    Error(String),
}

/// What is expected of an execution; what is not said is not compared.
#[derive(Debug, Clone, Default)]
pub struct Expected {
    /// How it ends.
    pub status: Option<String>,
    /// The final result.
    pub final_result: Option<Expectation>,
    /// The results, by label.
    pub results: Vec<(String, Expectation)>,
    /// The outputs of steps, by id.
    pub steps: Vec<(String, Expectation)>,
    /// The texts that models are sent, by the id of the step.
    pub prompts: Vec<(String, Expectation)>,
    /// The required inputs that are not given: these and no others.
    pub missing: Option<Vec<String>>,
    /// The rules that find something in the flow: these and no others.
    pub findings: Option<Vec<String>>,
}

impl Expected {
    /// Whether anything is expected of an execution.
    pub fn of_execution(&self) -> bool {
        self.status.is_some()
            || self.final_result.is_some()
            || !(self.results.is_empty() && self.steps.is_empty() && self.prompts.is_empty())
    }
}

/// What one text or output is expected to be. All that is said has to hold.
#[derive(Debug, Clone, Default)]
pub struct Expectation {
    /// That there is none.
    pub nothing: bool,
    /// The whole text.
    pub exact: Option<String>,
    /// Texts that it contains.
    pub contains: Vec<String>,
    /// Patterns that it matches somewhere.
    pub matches: Vec<Pattern>,
    /// Values in it, by dot path.
    pub fields: Vec<(String, Value)>,
    /// The code with which the step fails.
    pub error: Option<String>,
}

/// The most bytes that a pattern may take when it is compiled: what it takes to look through a text grows with both.
const LARGEST_PATTERN: usize = 4 << 20;

/// A regular expression as it is written, and compiled where it is one.
#[derive(Debug, Clone)]
pub struct Pattern {
    written: String,
    compiled: Result<regex::Regex, String>,
}

impl Pattern {
    /// Reads a pattern.
    pub fn of(written: &str) -> Self {
        let compiled =
            regex::RegexBuilder::new(written).size_limit(LARGEST_PATTERN).build().map_err(|error| match error {
                regex::Error::CompiledTooBig(limit) => format!("it is too large: compiled, it may take {limit} bytes"),
                // The last line is the fact; those before it draw the place.
                other => other.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned(),
            });
        Self { written: written.to_owned(), compiled }
    }

    /// As it is written.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Why it is none.
    pub fn trouble(&self) -> Option<&str> {
        self.compiled.as_ref().err().map(String::as_str)
    }

    /// Whether a text has a part that matches; none does where it is no pattern.
    pub fn is_in(&self, text: &str) -> bool {
        self.compiled.as_ref().is_ok_and(|pattern| pattern.is_match(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_found_anywhere_and_one_that_is_none_says_why() {
        assert!(Pattern::of(r"(?m)^- \w+$").is_in("one\n- two\n"));
        assert!(!Pattern::of("^two").is_in("one two"));
        let broken = Pattern::of("(a");
        assert!(broken.trouble().is_some_and(|why| why.contains("unclosed group")), "{:?}", broken.trouble());
        assert!(!broken.is_in("(a"));
    }
}
