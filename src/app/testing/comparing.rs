//! What is expected of a flow, held against what is there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::{Mismatch, Verdict};
use crate::app::Error;
use crate::code::WarningCode;
use crate::model::{Expectation, FlowTest};
use crate::names::quoted;
use crate::render::Walked;
use crate::run::{Output, Run, State, StepError};
use crate::validate::Finding;

/// A mismatch that one sentence tells.
pub(super) fn says(what: &str, message: String) -> Mismatch {
    Mismatch { what: what.to_owned(), verdict: Verdict::Says(message), update: None }
}

/// That nothing was executed, and why.
pub(super) fn refused(what: &str, error: &Error) -> Mismatch {
    let hint = error.next_step.as_ref().map(|next| format!("; {}", next.for_commands())).unwrap_or_default();
    says(what, format!("{}: {}{hint}", error.code.word(), error.message))
}

/// What of a test is not as expected so far.
pub(super) struct Compared<'t> {
    test: &'t FlowTest,
    pub(super) mismatches: Vec<Mismatch>,
}

/// What is there in the place of something that is expected.
#[derive(Clone, Default)]
struct Actual<'r> {
    text: Option<&'r str>,
    output: Option<&'r Output>,
    error: Option<&'r StepError>,
    /// Why the step did not even begin.
    not_begun: Option<String>,
}

impl<'r> Actual<'r> {
    fn of(output: Option<&'r Output>) -> Self {
        Self { text: output.map(|output| &*output.text), output, ..Self::default() }
    }

    /// What became of a step.
    fn of_step(run: &'r Run, step: usize) -> Self {
        let id = |step: usize| quoted(run.plan().step(step).map_or("", |step| step.id.as_str()));
        let failure = |step: usize| match run.state(step) {
            Some(State::Failed { error, .. }) => Some(error),
            _ => None,
        };
        let not_begun = match run.state(step) {
            Some(State::Skipped { because }) => {
                let error = failure(*because).map(|error| format!(" with {error}")).unwrap_or_default();
                Some(format!("step {} failed{error}", id(*because)))
            }
            Some(State::Omitted { because, why }) => Some(format!("step {} was left out: {why}", id(*because))),
            _ => None,
        };
        Self { error: failure(step), not_begun, ..Self::of(run.output_of(step)) }
    }

    /// Why there is no text, in words.
    fn absence(&self) -> String {
        match (self.error, &self.not_begun) {
            (Some(error), _) => format!("there is none: {error}"),
            (None, Some(why)) => format!("there is none: {why}"),
            (None, None) => "there is none".to_owned(),
        }
    }
}

impl<'t> Compared<'t> {
    pub(super) fn of(test: &'t FlowTest) -> Self {
        Self { test, mismatches: Vec::new() }
    }

    pub(super) fn findings(&mut self, found: &[Finding]) {
        let rules: BTreeSet<&str> = found.iter().map(|finding| finding.rule).collect();
        self.set("findings", self.test.expected.findings.as_deref(), &rules);
    }

    pub(super) fn missing(&mut self, names: &[String]) {
        let names: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        self.set("missing", self.test.expected.missing.as_deref(), &names);
    }

    /// Values that the flow has no use for.
    pub(super) fn strangers(&mut self, run: &Run) {
        let unused = [WarningCode::UnknownVariable, WarningCode::IgnoredVariable];
        for warning in run.warnings_about_given().into_iter().filter(|warning| unused.contains(&warning.code)) {
            self.mismatches.push(says("inputs", warning.message));
        }
    }

    fn set(&mut self, what: &str, expected: Option<&[String]>, actual: &BTreeSet<&str>) {
        let Some(expected) = expected else { return };
        let expected: BTreeSet<&str> = expected.iter().map(String::as_str).collect();
        if expected == *actual {
            return;
        }
        let names = |names: &BTreeSet<&str>| names.iter().map(|name| (*name).to_owned()).collect();
        self.mismatches.push(Mismatch {
            what: what.to_owned(),
            verdict: Verdict::Others { expected: names(&expected), actual: names(actual) },
            update: Some((path(&[what]), json!(actual))),
        });
    }

    /// Compares how an execution ended; `prompts` are the texts that its steps were rendered to.
    pub(super) fn run(&mut self, run: &Run, prompts: &BTreeMap<String, String>) {
        let expected = &self.test.expected;
        let plan = run.plan();
        if let Some(status) = expected.status.as_deref().filter(|status| *status != run.status().word()) {
            let mut message = format!("expected {status}, and it is {}", run.status().word());
            if let Some((step, error)) = run.failures().next() {
                let id = plan.step(step).map_or("", |step| step.id.as_str());
                message = format!("{message}: step {} failed with {error}", quoted(id));
            }
            let update = Some((path(&["status"]), json!(run.status().word())));
            self.mismatches.push(Mismatch { what: "status".to_owned(), verdict: Verdict::Says(message), update });
        }
        let of_step = |step: usize| Actual::of_step(run, step);
        if let Some(expectation) = &expected.final_result {
            let actual = plan.last().map(of_step).unwrap_or_default();
            self.expectation(&["finalResult"], expectation, &actual);
        }
        for (label, expectation) in &expected.results {
            let mark = plan.results().iter().find(|mark| mark.label == *label);
            match mark {
                Some(mark) => {
                    let actual = mark.step.map(of_step).unwrap_or_default();
                    self.expectation(&["results", label], expectation, &actual);
                }
                None => {
                    self.mismatches.push(says(&format!("results.{label}"), "the flow has no such result".to_owned()));
                }
            }
        }
        for (id, expectation) in &expected.steps {
            match plan.steps().iter().position(|step| step.id == *id) {
                Some(step) => self.expectation(&["steps", id], expectation, &of_step(step)),
                None => self.mismatches.push(says(&format!("steps.{id}"), "the flow has no such step".to_owned())),
            }
        }
        for (id, expectation) in &expected.prompts {
            let actual = Actual { text: prompts.get(id).map(String::as_str), ..Actual::default() };
            self.expectation(&["prompts", id], expectation, &actual);
        }
    }

    fn expectation(&mut self, at: &[&str], expected: &Expectation, actual: &Actual<'_>) {
        let what = at.join(".");
        let mut say = |message: String| self.mismatches.push(says(&what, message));
        if expected.nothing && actual.text.is_some() {
            say("expected none, and there is one".to_owned());
        }
        if let Some(code) = &expected.error {
            let failed = actual.error.map(|error| error.code.word());
            let went_on = actual.output.and_then(Output::failure).map(|(code, _)| code);
            match failed.or(went_on) {
                Some(found) if found == code => {}
                Some(found) => say(format!("expected the error {code}, and it is {found}")),
                None => say(format!("expected the error {code}, and the step did not fail")),
            }
        }
        let needs_text = expected.exact.is_some() || !(expected.contains.is_empty() && expected.matches.is_empty());
        match actual.text {
            None if needs_text || !expected.fields.is_empty() => say(actual.absence()),
            None => {}
            Some(text) => self.text(at, expected, text, actual.output),
        }
    }

    fn text(&mut self, at: &[&str], expected: &Expectation, text: &str, output: Option<&Output>) {
        let what = at.join(".");
        if let Some(exact) = expected.exact.as_ref().filter(|exact| exact.as_str() != text) {
            self.mismatches.push(Mismatch {
                what: what.clone(),
                verdict: Verdict::Differs { expected: exact.clone(), actual: text.to_owned() },
                update: Some((path(at), json!(text))),
            });
        }
        // The text is shown once, however much it lacks.
        let mut shown = false;
        let mut lacks = |fact: String| {
            let text = if std::mem::replace(&mut shown, true) { "(the same text as above)" } else { text };
            self.mismatches.push(says(&what, format!("{fact}:\n{text}")));
        };
        for part in expected.contains.iter().filter(|part| !text.contains(part.as_str())) {
            lacks(format!("{} is not in it", quoted(part)));
        }
        for pattern in expected.matches.iter().filter(|pattern| !pattern.is_in(text)) {
            lacks(format!("nothing in it matches {}", quoted(pattern.written())));
        }
        for (field, value) in &expected.fields {
            let steps: Vec<String> = field.split('.').map(str::to_owned).collect();
            let (verdict, found) = match output.map(|output| output.walk(&steps)) {
                Some(Walked::Value(found)) if found == value => continue,
                Some(Walked::Value(found)) => {
                    (Verdict::Differs { expected: pretty(value), actual: pretty(found) }, Some(found.clone()))
                }
                Some(Walked::Absent) => (Verdict::Says("there is no such field".to_owned()), None),
                Some(Walked::NoInside) | None => {
                    (Verdict::Says("the output is a text without fields".to_owned()), None)
                }
            };
            let update = found.map(|found| (path(&[at, &["fields", field]].concat()), found));
            self.mismatches.push(Mismatch { what: format!("{what}.{field}"), verdict, update });
        }
    }
}

/// A place below a test.
fn path(below: &[&str]) -> Vec<String> {
    std::iter::once("expect").chain(below.iter().copied()).map(str::to_owned).collect()
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string())
}
