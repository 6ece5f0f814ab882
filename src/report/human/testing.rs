//! What became of tests of flows.

use std::fmt::Write as _;

use super::changes::painted;
use super::comparing::by_lines;
use super::findings::frame;
use super::{BAD, FAINT, GOOD, HEADING, Look, count, error as told, fitted, prose, safe_block, table, whole};
use crate::app::{BrokenTests, CheckedFile, Mismatch, TestEnd, TestReport, TestResult, Verdict};
use crate::names::{few, shown};

/// How many lines around a change are shown.
const AROUND: usize = 2;
/// How many lines of a text are shown that lacks something.
const MOST_LINES: usize = 12;
/// The longest name of a test, in characters.
const LONGEST: usize = 200;

/// A line for each test, below it what is not as expected, and a line that sums up. Quiet, only what failed.
pub fn test_report(report: &TestReport, quiet: bool, look: Look) -> String {
    let (mut text, mut listed) = (String::new(), Vec::new());
    for broken in &report.broken {
        text.push_str(&unusable(broken, look));
    }
    for test in &report.tests {
        let place = format!("{}:{}", shown(&test.file, 300), test.line);
        let (word, style) = match &test.end {
            TestEnd::Listed => {
                listed.push(vec![shown(&test.name, LONGEST), place]);
                continue;
            }
            TestEnd::Passed => ("ok", GOOD),
            TestEnd::Updated => ("updated", GOOD),
            TestEnd::Failed(_) => ("FAILED", BAD),
        };
        if quiet && !matches!(test.end, TestEnd::Failed(_)) {
            continue;
        }
        let name = shown(&test.name, LONGEST);
        let _ = writeln!(text, "{} {name}  {}", look.paint(style, &format!("{word:<7}")), look.paint(FAINT, &place));
        if let TestEnd::Failed(mismatches) = &test.end {
            text.push_str(&self::mismatches(mismatches, look));
            text.push('\n');
        }
    }
    text.push_str(&table(&[prose(""), whole("")], &listed, 0, look));
    if quiet {
        return text;
    }
    text + &fitted(&summary(report), look)
}

fn summary(report: &TestReport) -> String {
    if report.tests.is_empty() && report.broken.is_empty() {
        return "no tests: write one as tests/NAME.flowtest.json (`flowy schema --file flowtest` says how)\n"
            .to_owned();
    }
    let all = count(report.tests.len(), "test", "tests");
    if report.tests.iter().any(|test| test.end == TestEnd::Listed) {
        return format!("\n{all}\n");
    }
    let number = |wanted: fn(&TestResult) -> bool| report.tests.iter().filter(|test| wanted(test)).count();
    let updated = number(|test| test.end == TestEnd::Updated);
    let mut parts = vec![format!("{} passed", report.passed()), format!("{} failed", report.failed())];
    if updated > 0 {
        parts.push(format!("{updated} updated"));
    }
    if !report.broken.is_empty() {
        parts.push(format!("{} with errors", count(report.broken.len(), "file", "files")));
    }
    let mendable = number(TestResult::is_mendable);
    let advice = if mendable == 0 || !report.updated.is_empty() {
        String::new()
    } else {
        let whose = if mendable == report.failed() { String::new() } else { format!(" of {mendable} of them") };
        format!("`flowy test --update` writes what is there{whose} into the files, where that is right\n")
    };
    format!("\n{all} in {} ms: {}\n{advice}", report.took.as_millis(), parts.join(", "))
}

/// A file whose tests can't be run.
fn unusable(broken: &BrokenTests, look: Look) -> String {
    let mut text = String::new();
    if let Some(error) = &broken.error {
        let _ = writeln!(text, "{}: {}", look.paint(HEADING, &shown(&broken.file, 300)), told(error, look));
    }
    let file = CheckedFile { shown: broken.file.clone(), ..CheckedFile::default() };
    for finding in &broken.findings {
        text.push_str(&frame(finding, &file, look));
        text.push_str("\n\n");
    }
    text
}

/// What is not as expected, each below its name.
pub fn mismatches(mismatches: &[Mismatch], look: Look) -> String {
    let (mut text, mut above) = (String::new(), Vec::new());
    for mismatch in mismatches {
        let what = look.paint(HEADING, &shown(&mismatch.what, LONGEST));
        match &mismatch.verdict {
            Verdict::Says(message) => {
                let message = safe_block(message);
                let mut lines = message.lines();
                let _ = writeln!(text, "  {what}: {}", lines.next().unwrap_or_default());
                let rest: Vec<String> = lines.map(str::to_owned).collect();
                if rest == above && !rest.is_empty() {
                    text.push_str("    (the same text as above)\n");
                    continue;
                }
                for line in rest.iter().take(MOST_LINES) {
                    let _ = writeln!(text, "    | {line}");
                }
                if rest.len() > MOST_LINES {
                    let _ = writeln!(text, "    … {} more", count(rest.len() - MOST_LINES, "line", "lines"));
                }
                above = rest;
            }
            Verdict::Others { expected, actual } => {
                for (names, others, fact) in
                    [(expected, actual, "expected, and not there"), (actual, expected, "there, and not expected")]
                {
                    let only: Vec<&String> = names.iter().filter(|name| !others.contains(name)).collect();
                    if !only.is_empty() {
                        let _ = writeln!(text, "  {what}: {fact}: {}", few(only));
                    }
                }
            }
            Verdict::Differs { expected, actual } => {
                let _ = writeln!(text, "  {what} differs (- what is expected, + what is there)");
                text.push_str(&difference(expected, actual, look));
            }
        }
    }
    text
}

/// The lines that differ.
fn difference(expected: &str, actual: &str, look: Look) -> String {
    let mut text = String::new();
    let diff = by_lines(expected, actual);
    for (place, hunk) in diff.unified_diff().context_radius(AROUND).iter_hunks().enumerate() {
        if place > 0 {
            text.push_str("    …\n");
        }
        for change in hunk.iter_changes() {
            let line = safe_block(&format!("{} {}", change.tag(), change.value().trim_end_matches('\n')));
            let _ = writeln!(text, "    {}", painted(change.tag(), &line, look));
        }
    }
    // Lines that look alike differ in what nobody sees.
    if expected.trim_end_matches('\n') == actual.trim_end_matches('\n') {
        let breaks = |text: &str| count(text.len() - text.trim_end_matches('\n').len(), "line break", "line breaks");
        let _ = writeln!(text, "    (expected {} at the end, and there: {})", breaks(expected), breaks(actual));
    }
    text
}
