//! What a check found, in the forms that services and programs around a repository read: SARIF, GitHub's
//! annotations, GitLab's Code Quality, `JUnit`.

mod github;
mod gitlab;
mod junit;
mod sarif;

use std::path::Path;
use std::sync::Arc;

use crate::app::{CheckedFile, Checkup, Severity, fingerprints};
use crate::document::{Locator, Position};
use crate::model::wire::change;
use crate::names::shown;
use crate::validate::{Finding, Suppressed};

pub use github::{annotations, summary};
pub use gitlab::code_quality;
pub use junit::{junit, junit_of_tests};
pub use sarif::sarif;

/// What stands in the place of a rule where a file could not be read.
const UNREADABLE: &str = "unreadable-file";
/// What stands in the place of a rule where a whole catalog has no flow.
const EMPTY: &str = "empty-catalog";
/// The longest message, in characters.
const LONGEST: usize = 1_000;

/// One thing that is told.
struct Told<'c> {
    /// The file, relative to where the program was started, with `/`.
    file: String,
    rule: &'c str,
    severity: Severity,
    message: String,
    hints: &'c [String],
    /// First character, and the one past the last.
    from: Position,
    to: Position,
    related: Vec<(Position, Position, String)>,
    fingerprint: String,
    suppressed: Option<&'c Suppressed>,
    /// A safe change that makes it go away: what it does, the place, and the text that belongs there.
    fix: Option<(&'c str, Position, Position, String)>,
}

impl<'c> Told<'c> {
    /// What is told of a file as such, and of no place in it.
    fn alone(file: String, (rule, severity): (&'c str, Severity), message: String, fingerprint: String) -> Self {
        let (from, to) = (Position { line: 1, column: 1 }, Position { line: 1, column: 1 });
        let (hints, related, suppressed, fix) = (&[][..], Vec::new(), None, None);
        Self { file, rule, severity, message, hints, from, to, related, fingerprint, suppressed, fix }
    }

    /// The fact and what to do, in lines.
    fn whole_message(&self) -> String {
        self.hints.iter().fold(self.message.clone(), |text, hint| text + "\n" + &shown(hint, LONGEST))
    }
}

/// Where a file is: relative to a folder where it lies in it, with `/`.
fn place_of(file: &CheckedFile, here: &Path) -> String {
    let name = match file.path.as_deref().map(|path| path.strip_prefix(here)) {
        Some(Ok(path)) => path.display().to_string(),
        _ => file.shown.clone(),
    };
    let name = shown(&name.replace('\\', "/"), 4_096);
    name.strip_prefix("./").unwrap_or(&name).to_owned()
}

/// Everything that a check found, in its order; what is suppressed stands behind the rest of its file.
fn everything<'c>(checkup: &'c Checkup, here: &Path) -> Vec<Told<'c>> {
    let mut all = Vec::new();
    for file in &checkup.files {
        let name = place_of(file, here);
        if let Some(error) = &file.unreadable {
            let (message, fingerprint) = (shown(&error.message, LONGEST), format!("{UNREADABLE}:{name}"));
            all.push(Told::alone(name.clone(), (UNREADABLE, Severity::Error), message, fingerprint));
        }
        let found: Vec<(&Finding, Option<&Suppressed>)> = (file.findings.iter().map(|finding| (finding, None)))
            .chain(file.suppressed.iter().map(|one| (&one.finding, Some(one))))
            .collect();
        let prints = fingerprints(found.iter().map(|(finding, _)| *finding));
        let mut lines: Option<(&Arc<str>, Locator<'_>)> = None;
        for ((finding, suppressed), fingerprint) in found.into_iter().zip(prints) {
            let known = lines.take().filter(|(text, _)| Arc::ptr_eq(text, &finding.text));
            let (text, locator) = known.unwrap_or_else(|| (&finding.text, Locator::new(&finding.text)));
            let related = finding.related.iter().map(|related| {
                let end = locator.position(related.span.end);
                (related.position, end, shown(&related.label, LONGEST))
            });
            all.push(Told {
                file: name.clone(),
                rule: finding.rule,
                severity: finding.severity,
                message: shown(&finding.message, LONGEST),
                hints: &finding.hints,
                from: finding.position,
                to: locator.position(finding.span.end).max(finding.position),
                related: related.collect(),
                fingerprint,
                suppressed,
                fix: fix_of(finding, &locator),
            });
            lines = Some((text, locator));
        }
    }
    for catalog in &checkup.empty {
        let message = format!("0 flows: {} has no flow files in flows/", shown(catalog, 300));
        let fingerprint = format!("{EMPTY}:{catalog}");
        all.push(Told::alone("flows".to_owned(), (EMPTY, Severity::Warning), message, fingerprint));
    }
    all
}

/// The safe change of a finding.
fn fix_of<'c>(finding: &'c Finding, locator: &Locator<'_>) -> Option<(&'c str, Position, Position, String)> {
    let fix = finding.fix.as_ref().filter(|fix| fix.safe)?;
    let (range, text) = change(&finding.file, &finding.text, &fix.edit)?;
    Some((&fix.what, locator.position(range.start), locator.position(range.end), text))
}
