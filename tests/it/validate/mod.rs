//! The validator, rule by rule.

mod braces;
mod catalogs;
mod doing;
mod edges;
mod files;
mod findable;
mod guidance;
mod kept;
mod names;
mod registry;
mod shapes;
mod slips;
mod values;
pub(crate) mod whole;

use flowy::internals::validate::{Finding, Options};
use serde_json::Value;

use crate::support::checking::{Entry, check_against, entries, findings, repository, told};

/// What the checker says of a rule's fixture: of everything, and of the rule alone.
pub(crate) fn fixture(rule: &str, which: &str) -> (Vec<Finding>, Vec<Finding>) {
    let folder = repository().join("tests/fixtures/flows/err").join(rule);
    // What only Markdown can get wrong has its fixtures there.
    let in_markdown = which.replace(".json", ".flow.md");
    let which = if folder.join(which).exists() { which } else { in_markdown.as_str() };
    let bytes = std::fs::read(folder.join(which)).unwrap();
    let flow: Entry = (format!("flows/{which}"), bytes);
    let beside: Vec<Entry> =
        ["templates", "personas", "contracts"].iter().flat_map(|name| entries(&folder.join(name), name)).collect();
    let outside = std::fs::read(folder.join("known.json")).ok();
    let outside = outside.map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap());
    let options = Options { unchecked_calls: true, ..Options::default() };
    let check = check_against((&flow.0, &flow.1), &beside, &outside, &[], options);
    let all = findings(&check);
    let own = all.iter().filter(|finding| finding.rule == rule).cloned().collect();
    (all, own)
}

/// Holds that a rule says exactly this of its bad file, that no other rule speaks up there, and
/// that the good file is silent.
#[track_caller]
fn says(rule: &str, expected: &str) {
    let (all, own) = fixture(rule, "bad.json");
    let text: String = own.iter().map(told).collect();
    assert_eq!(text, expected.trim_start_matches('\n'), "{rule}");
    let others: Vec<_> = all.iter().filter(|finding| finding.rule != rule).map(|f| (f.rule, &f.message)).collect();
    assert!(others.is_empty(), "{rule}: {others:#?}");
    let (all, _) = fixture(rule, "good.json");
    assert!(all.is_empty(), "{rule}: {all:#?}");
}

/// Holds that a rule finds exactly this in its bad file (severity, reach, file, pointer), that no other rule
/// speaks up there, and that the good file is silent.
#[track_caller]
fn finds(rule: &str, expected: &[&str]) {
    let (all, own) = fixture(rule, "bad.json");
    let place = |finding: &Finding| {
        let file = finding.file.as_str().rsplit('/').next().unwrap_or_default().to_owned();
        format!("{} {} {file} {}", finding.severity, finding.reach, finding.place.pointer)
    };
    assert_eq!(own.iter().map(place).collect::<Vec<_>>(), expected, "{rule}: {own:#?}");
    let others: Vec<_> = all.iter().filter(|finding| finding.rule != rule).map(|f| (f.rule, &f.message)).collect();
    assert!(others.is_empty(), "{rule}: {others:#?}");
    let (all, _) = fixture(rule, "good.json");
    assert!(all.is_empty(), "{rule}: {all:#?}");
}
