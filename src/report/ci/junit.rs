//! `JUnit`'s XML: of a check each file is a test, which fails where something is found that lets the check fail; of
//! tests of flows each one.

use std::fmt::Write as _;
use std::path::Path;

use indexmap::IndexMap;

use super::everything;
use crate::app::{BrokenTests, Checkup, Severity, TestEnd, TestReport, TestResult};

/// One test of a report.
#[derive(Debug, Clone, Default)]
struct Case {
    name: String,
    /// How long it took, in milliseconds.
    took_ms: Option<u128>,
    /// Its kind, the fact, and everything that is to be said.
    failure: Option<(String, String, String)>,
    /// What else is to be said.
    besides: Option<String>,
}

/// Everything that is reported; `fails`: whether a finding of a severity lets the check fail.
pub fn junit(checkup: &Checkup, here: &Path, fails: impl Fn(Severity) -> bool) -> String {
    let told = everything(checkup, here);
    // A file without findings is a test that passes.
    let names: Vec<String> = checkup.files.iter().map(|file| super::place_of(file, here)).collect();
    let mut files: IndexMap<&str, Vec<&super::Told<'_>>> = names.iter().map(|name| (&**name, Vec::new())).collect();
    for one in &told {
        files.entry(&one.file).or_default().extend(Some(one).filter(|one| one.suppressed.is_none()));
    }
    let line = |one: &super::Told<'_>| {
        format!(
            "{}:{}:{}: {}[{}]: {}",
            one.file,
            one.from.line,
            one.from.column,
            one.severity,
            one.rule,
            one.whole_message()
        )
    };
    let cases = files.into_iter().map(|(file, of_file)| {
        let (bad, others): (Vec<_>, Vec<_>) = of_file.into_iter().partition(|one| fails(one.severity));
        let lines = |all: &[&super::Told<'_>]| all.iter().map(|one| line(one)).collect::<Vec<_>>().join("\n");
        let failure = bad.first().map(|first| (first.rule.to_owned(), first.message.clone(), lines(&bad)));
        let besides = (!others.is_empty()).then(|| lines(&others));
        Case { name: file.to_owned(), took_ms: None, failure, besides }
    });
    document("flowy validate", &cases.collect::<Vec<_>>())
}

/// What became of the tests of flows.
pub fn junit_of_tests(report: &TestReport) -> String {
    let of_test = |test: &TestResult| {
        let failure = if let TestEnd::Failed(mismatches) = &test.end {
            let text = crate::report::human::mismatches(mismatches, crate::report::human::Look::default());
            let first = mismatches.first().map(|first| first.what.clone()).unwrap_or_default();
            Some(("mismatch".to_owned(), format!("{first} is not as expected"), text))
        } else {
            None
        };
        let name = format!("{} ({}:{})", test.name, test.file, test.line);
        Case { name, took_ms: Some(test.took.as_millis()), failure, besides: None }
    };
    let of_broken = |broken: &BrokenTests| {
        let findings = broken.findings.iter().map(|found| {
            let at = found.position;
            format!("{}:{}:{}: {}", broken.file, at.line, at.column, found.message)
        });
        let said: Vec<String> = findings.chain(broken.error.as_ref().map(|error| error.message.clone())).collect();
        let failure = ("unusable".to_owned(), said.first().cloned().unwrap_or_default(), said.join("\n"));
        Case { name: broken.file.clone(), failure: Some(failure), ..Case::default() }
    };
    let cases = report.broken.iter().map(of_broken).chain(report.tests.iter().map(of_test));
    document("flowy test", &cases.collect::<Vec<_>>())
}

fn document(suite: &str, all: &[Case]) -> String {
    let mut cases = String::new();
    for case in all {
        let _ = write!(cases, "    <testcase classname=\"{suite}\" name=\"{}\"", escaped(&case.name));
        if let Some(took) = case.took_ms {
            let _ = write!(cases, " time=\"{}.{:03}\"", took / 1_000, took % 1_000);
        }
        if case.failure.is_none() && case.besides.is_none() {
            cases.push_str("/>\n");
            continue;
        }
        cases.push_str(">\n");
        if let Some((kind, message, text)) = &case.failure {
            let (kind, message, text) = (escaped(kind), escaped(message), escaped(text));
            let _ = writeln!(cases, "      <failure type=\"{kind}\" message=\"{message}\">{text}</failure>");
        }
        if let Some(besides) = &case.besides {
            let _ = writeln!(cases, "      <system-out>{}</system-out>", escaped(besides));
        }
        cases.push_str("    </testcase>\n");
    }
    let failures = all.iter().filter(|case| case.failure.is_some()).count();
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\"", all.len());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"{suite}\" {counts}>\n{cases}  </testsuite>\n</testsuites>\n"
    )
}

/// A text within XML 1.0, which has no control characters but tab and line ends.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push('\t'),
            c if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}
