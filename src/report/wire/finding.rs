//! Findings, and what a check of files found.

use schemars::JsonSchema;
use serde::Serialize;

use super::common::{OriginAnswer, error_code};
use super::error::ErrorAnswer;
use crate::app::Checkup;
use crate::validate::{Finding, Severity, Suppressed, mending_of};

/// What the checker noticed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FindingAnswer {
    /// Id of the rule.
    rule: &'static str,
    /// Kind of error; only of errors.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "error_code")]
    code: Option<&'static str>,
    /// How bad it is.
    #[schemars(extend("enum" = ["error", "warning", "info"]))]
    severity: String,
    /// What it keeps from running.
    #[schemars(extend("enum" = ["flow", "step", "none"]))]
    reach: String,
    /// File in the catalog.
    file: String,
    /// Place in the file, as a JSON pointer.
    pointer: String,
    /// Line, from 1.
    line: usize,
    /// Column in characters, from 1.
    column: usize,
    /// Bytes of the file that are meant.
    span: SpanAnswer,
    /// The fact.
    message: String,
    /// The files to be fixed, where these are others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    hints: Vec<String>,
    /// The node it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    node_id: Option<String>,
    /// The flow it is about, in a file of several.
    #[serde(skip_serializing_if = "Option::is_none")]
    flow: Option<String>,
    /// Other places that belong to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related: Vec<RelatedPlace>,
    /// What `flowy validate --fix` does about it, where it can do something.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<FixAnswer>,
}

/// How a finding goes away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct FixAnswer {
    /// What is changed, in words.
    what: String,
    /// True where `--fix` does it; false where only `--fix=unsafe` does, because somebody has to look at it.
    safe: bool,
}

/// Bytes of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct SpanAnswer {
    /// First byte, from 0.
    start: usize,
    /// Byte behind the last one.
    end: usize,
}

/// Another place that belongs to a finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct RelatedPlace {
    /// Line, from 1.
    line: usize,
    /// Column in characters, from 1.
    column: usize,
    /// What stands there.
    label: String,
}

impl From<&Finding> for FindingAnswer {
    fn from(finding: &Finding) -> Self {
        let related = finding.related.iter().map(|related| RelatedPlace {
            line: related.position.line,
            column: related.position.column,
            label: related.label.clone(),
        });
        Self {
            rule: finding.rule,
            code: (finding.severity == Severity::Error).then(|| finding.code.word()),
            severity: finding.severity.to_string(),
            reach: finding.reach.to_string(),
            file: finding.file.to_string(),
            pointer: finding.place.pointer.to_string(),
            line: finding.position.line,
            column: finding.position.column,
            span: SpanAnswer { start: finding.span.start, end: finding.span.end },
            message: finding.message.clone(),
            files: finding.files.clone(),
            hints: finding.hints.clone(),
            node_id: finding.node.clone(),
            flow: finding.flow.clone(),
            related: related.collect(),
            fix: mending_of(finding).map(|(what, safe)| FixAnswer { what: what.to_owned(), safe }),
        }
    }
}

/// What `flowy validate --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CheckupAnswer {
    /// Version of this shape. Fields may be added at any time; one is taken away, or changes its meaning, only with
    /// another number, and is called deprecated here for 12 weeks before that.
    schema_version: u32,
    /// The catalogs that the files belong to, in words.
    catalogs: Vec<String>,
    /// The files, in the order in which they were checked.
    files: Vec<CheckedFileAnswer>,
    /// How many flows were in them.
    flows: usize,
    /// How many templates were in them.
    templates: usize,
    /// How many tests were in them.
    tests: usize,
    /// Catalogs that were checked whole and hold no flow.
    empty: Vec<String>,
    /// Lists of tools that were not read for this check.
    kept_tools: Vec<KeptToolList>,
    /// How many calls of tools were not looked up, because no servers file was named.
    calls_not_looked_up: usize,
    /// How many errors there are.
    errors: usize,
    /// How many warnings there are.
    warnings: usize,
    /// How many findings are suppressed.
    suppressed: usize,
    /// What the files were held against; then only changed files are here, and those with new findings.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<SinceAnswer>,
    #[serde(flatten)]
    origin: Option<OriginAnswer>,
}

/// One file that was checked.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CheckedFileAnswer {
    /// The path as it was given, or in the catalog.
    file: String,
    /// What the checker noticed.
    findings: Vec<FindingAnswer>,
    /// What the checker noticed and somebody suppressed; it counts nowhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    suppressed: Vec<SuppressedAnswer>,
    /// False where the file stands alone, and nothing can be looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    references_checked: Option<bool>,
    /// Why the file could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorAnswer>,
}

/// What a check was held against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SinceAnswer {
    /// The branch, tag or commit that was named.
    #[serde(rename = "ref")]
    git_ref: String,
    /// The commit that the files were held against.
    commit: String,
    /// How many files changed.
    changed_files: usize,
}

/// A finding that is suppressed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SuppressedAnswer {
    /// Where the suppression stands: in the flow, in the catalog's flowy.toml or in its baseline.
    #[schemars(extend("enum" = ["flow", "settings", "baseline"]))]
    by: &'static str,
    /// The reason that was given.
    reason: String,
    /// What is suppressed.
    finding: FindingAnswer,
}

impl From<&Suppressed> for SuppressedAnswer {
    fn from(suppressed: &Suppressed) -> Self {
        Self {
            by: suppressed.by.word(),
            reason: suppressed.reason.clone(),
            finding: FindingAnswer::from(&suppressed.finding),
        }
    }
}

/// A server's list of tools that was known from before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct KeptToolList {
    /// The server, by its alias.
    server: String,
    /// Age of the list, in seconds.
    age_seconds: u64,
}

/// What `flowy validate --json` prints.
pub fn checkup(checkup: &Checkup) -> CheckupAnswer {
    let files = checkup.files.iter().map(|file| CheckedFileAnswer {
        file: file.shown.clone(),
        findings: file.findings.iter().map(FindingAnswer::from).collect(),
        suppressed: file.suppressed.iter().map(SuppressedAnswer::from).collect(),
        references_checked: file.alone.then_some(false),
        error: file.unreadable.as_ref().map(|error| ErrorAnswer::of(error, "validate")),
    });
    let kept = checkup.kept_tools.iter();
    CheckupAnswer {
        schema_version: 1,
        catalogs: checkup.catalogs.clone(),
        files: files.collect(),
        flows: checkup.flows,
        templates: checkup.templates,
        tests: checkup.tests,
        empty: checkup.empty.clone(),
        kept_tools: kept
            .map(|kept| KeptToolList { server: kept.server.clone(), age_seconds: kept.age_seconds })
            .collect(),
        calls_not_looked_up: checkup.calls_left,
        errors: checkup.count(Severity::Error),
        warnings: checkup.count(Severity::Warning),
        suppressed: checkup.suppressed(),
        since: checkup.since.as_ref().map(|since| SinceAnswer {
            git_ref: since.git_ref.clone(),
            commit: since.commit.clone(),
            changed_files: since.changed,
        }),
        origin: checkup.origin.as_ref().map(OriginAnswer::from),
    }
}
