//! What became of tests of flows, for programs.

use schemars::JsonSchema;
use serde::Serialize;

use super::error::ErrorAnswer;
use super::finding::FindingAnswer;
use crate::app::{BrokenTests, Mismatch, TestEnd, TestReport, TestResult, Verdict};

/// What `flowy test --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestAnswer {
    /// Version of this shape. Fields may be added at any time; one is taken away, or changes its meaning, only with
    /// another number, and is called deprecated here for 12 weeks before that.
    schema_version: u32,
    /// The tests, in the order of their files.
    tests: Vec<TestResultAnswer>,
    /// Files whose tests can't be run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    broken: Vec<BrokenTestsAnswer>,
    /// Files that `--update` changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    updated: Vec<String>,
    /// How many tests passed.
    passed: usize,
    /// How many tests failed.
    failed: usize,
    /// How long all of it took, in milliseconds.
    duration_ms: u64,
}

/// One test.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TestResultAnswer {
    /// What it is called.
    name: String,
    /// The flow that it names.
    flow: String,
    /// Its file in the catalog.
    file: String,
    /// Line at which it begins, from 1.
    line: usize,
    /// What became of it: listed (not run), passed, updated (the file says now what is there), failed.
    #[schemars(extend("enum" = ["listed", "passed", "updated", "failed"]))]
    status: &'static str,
    /// How long it took, in milliseconds; only of tests that ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    /// What is not as expected.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    mismatches: Vec<MismatchAnswer>,
}

/// What is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MismatchAnswer {
    /// What it is about, such as finalResult, steps.facts or missing.
    what: String,
    /// The text that was expected, where one stands in the place of another.
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
    /// The text that is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    actual: Option<String>,
    /// The fact, where it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

/// A file whose tests can't be run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BrokenTestsAnswer {
    /// The file in the catalog.
    file: String,
    /// What is wrong with it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<FindingAnswer>,
    /// Why it can't be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorAnswer>,
}

impl From<&Mismatch> for MismatchAnswer {
    fn from(mismatch: &Mismatch) -> Self {
        let what = mismatch.what.clone();
        match &mismatch.verdict {
            Verdict::Differs { expected, actual } => {
                Self { what, expected: Some(expected.clone()), actual: Some(actual.clone()), message: None }
            }
            Verdict::Others { expected, actual } => {
                let lines = |names: &[String]| names.iter().flat_map(|name| [name.as_str(), "\n"]).collect();
                Self { what, expected: Some(lines(expected)), actual: Some(lines(actual)), message: None }
            }
            Verdict::Says(message) => Self { what, expected: None, actual: None, message: Some(message.clone()) },
        }
    }
}

impl From<&TestResult> for TestResultAnswer {
    fn from(test: &TestResult) -> Self {
        let (status, mismatches) = match &test.end {
            TestEnd::Listed => ("listed", &[][..]),
            TestEnd::Passed => ("passed", &[][..]),
            TestEnd::Updated => ("updated", &[][..]),
            TestEnd::Failed(mismatches) => ("failed", mismatches.as_slice()),
        };
        Self {
            name: test.name.clone(),
            flow: test.flow.clone(),
            file: test.file.clone(),
            line: test.line,
            status,
            duration_ms: (test.end != TestEnd::Listed).then(|| milliseconds(test.took)),
            mismatches: mismatches.iter().map(MismatchAnswer::from).collect(),
        }
    }
}

impl From<&BrokenTests> for BrokenTestsAnswer {
    fn from(broken: &BrokenTests) -> Self {
        Self {
            file: broken.file.clone(),
            findings: broken.findings.iter().map(FindingAnswer::from).collect(),
            error: broken.error.as_ref().map(|error| ErrorAnswer::of(error, "flows/test")),
        }
    }
}

fn milliseconds(took: std::time::Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

/// What running tests came to.
pub fn test_report(report: &TestReport) -> TestAnswer {
    TestAnswer {
        schema_version: 1,
        tests: report.tests.iter().map(TestResultAnswer::from).collect(),
        broken: report.broken.iter().map(BrokenTestsAnswer::from).collect(),
        updated: report.updated.iter().map(|file| file.shown.clone()).collect(),
        passed: report.passed(),
        failed: report.failed(),
        duration_ms: milliseconds(report.took),
    }
}
