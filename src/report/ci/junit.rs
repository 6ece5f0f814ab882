//! `JUnit`'s XML: each file is a test, which fails where something is found that lets the check fail.

use std::fmt::Write as _;
use std::path::Path;

use super::everything;
use crate::app::{Checkup, Severity};

/// Everything that is reported; `fails`: whether a finding of a severity lets the check fail.
pub fn junit(checkup: &Checkup, here: &Path, fails: impl Fn(Severity) -> bool) -> String {
    let told = everything(checkup, here);
    let mut files: Vec<&str> = Vec::new();
    // A file without findings is a test that passes.
    let all: Vec<String> = checkup.files.iter().map(|file| super::place_of(file, here)).collect();
    for name in all.iter().map(String::as_str).chain(told.iter().map(|one| one.file.as_str())) {
        if !files.contains(&name) {
            files.push(name);
        }
    }
    let (mut cases, mut failures) = (String::new(), 0);
    for file in &files {
        let of_file: Vec<_> = told.iter().filter(|one| one.file == *file && one.suppressed.is_none()).collect();
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
        let (bad, others): (Vec<_>, Vec<_>) = of_file.into_iter().partition(|one| fails(one.severity));
        let _ = write!(cases, "    <testcase classname=\"flowy validate\" name=\"{}\"", escaped(file));
        if bad.is_empty() && others.is_empty() {
            cases.push_str("/>\n");
            continue;
        }
        cases.push_str(">\n");
        if let Some(first) = bad.first() {
            failures += 1;
            let texts: Vec<String> = bad.iter().map(|one| line(one)).collect();
            let _ = writeln!(
                cases,
                "      <failure type=\"{}\" message=\"{}\">{}</failure>",
                escaped(first.rule),
                escaped(&first.message),
                escaped(&texts.join("\n"))
            );
        }
        if !others.is_empty() {
            let texts: Vec<String> = others.iter().map(|one| line(one)).collect();
            let _ = writeln!(cases, "      <system-out>{}</system-out>", escaped(&texts.join("\n")));
        }
        cases.push_str("    </testcase>\n");
    }
    let counts = format!("tests=\"{}\" failures=\"{failures}\" errors=\"0\" skipped=\"0\"", files.len());
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {counts}>\n  <testsuite name=\"flowy validate\" {counts}>\n{cases}  </testsuite>\n</testsuites>\n"
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
