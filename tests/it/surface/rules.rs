//! The pages of the rules: made of each rule's examples, and held to what the checker says of them now.

use std::fmt::Write as _;

use flowy::internals::app::{CheckedFile, Checkup};
use flowy::internals::report::human::{Look, checkup};
use flowy::internals::report::rules::RulePage;
use flowy::internals::validate::{Check, REGISTRY, Reach, Rule};

use crate::support::checking::entries;
use crate::support::program::{Sandbox, repository};
use crate::validate::fixture;
use crate::validate::whole::{FLOW, examples};

/// What a rule says, in words.
fn verdict(rule: &Rule) -> String {
    let words = |severity: &str, reach: &str| match reach {
        "flow" => format!("{severity}, and the flow does not run"),
        "step" => format!("{severity}, and the step fails when it is reached"),
        _ => format!("{severity} that keeps nothing from running"),
    };
    let (severity, reach) = (rule.severity.to_string(), rule.reach.to_string());
    let mut text = format!("What it finds is an {}", words(&severity, &reach)).replace("an warning", "a warning");
    for also in rule.also {
        let word = if also.severity == flowy::internals::app::Severity::Error { "an" } else { "a" };
        let reach = also.reach.to_string();
        let said = words(&also.severity.to_string(), &reach);
        let _ = write!(text, "; {word} {said} ({})", also.when);
    }
    text + "."
}

fn fenced(out: &mut String, name: &str, text: &str) {
    let kind = if std::path::Path::new(name).extension() == Some("json".as_ref()) { "json" } else { "text" };
    let _ = write!(out, "\nIn the file {name}:\n\n````{kind}\n{}\n````\n", text.trim_end());
}

/// The frames of findings, without what sums up.
fn frames(text: &str) -> String {
    let blocks: Vec<&str> = text.split("\n\n").collect();
    let (_, frames) = blocks.split_last().unwrap();
    frames.join("\n\n")
}

fn of_one_file(rule: &Rule) -> (String, String, String) {
    let folder = repository().join("tests/fixtures/flows/err").join(rule.id);
    let read = |name: &str| String::from_utf8_lossy(&std::fs::read(folder.join(name)).unwrap()).into_owned();
    // What only Markdown can get wrong has its fixtures there.
    let ending = if folder.join("bad.json").exists() { "json" } else { "flow.md" };
    let (bad_name, good_name) = (format!("bad.{ending}"), format!("good.{ending}"));
    let (mut bad, mut good) = (String::new(), String::new());
    fenced(&mut bad, &format!("flows/{bad_name}"), &read(&bad_name));
    for beside in ["templates", "personas", "contracts"] {
        let mut others = entries(&folder.join(beside), beside);
        others.sort();
        for (path, bytes) in others {
            fenced(&mut bad, &path, &String::from_utf8_lossy(&bytes));
        }
    }
    fenced(&mut good, &format!("flows/{good_name}"), &read(&good_name));
    let (_, mut findings) = fixture(rule.id, "bad.json");
    let longest = 3;
    let more = findings.len().saturating_sub(longest);
    findings.truncate(longest);
    let shown = findings.first().map(|finding| finding.file.to_string()).unwrap_or_default();
    let mut said = Checkup::default();
    said.files.push(CheckedFile { shown, findings, ..CheckedFile::default() });
    let look = Look { width: Some(80), ..Look::default() };
    let mut frames = frames(&checkup(&said, look));
    if more > 0 {
        let _ = write!(frames, "\n\n… and {more} more");
    }
    (bad, frames, good)
}

fn of_catalog(rule: &Rule) -> (String, String, String) {
    let all = examples(rule.id);
    let (files, _, fine) = &all[0];
    let (mut bad, mut good) = (String::new(), String::new());
    let catalog = files.iter().fold(Sandbox::new().file("flows/Tea.json", FLOW), |catalog, (path, text)| {
        fenced(&mut bad, path, text);
        catalog.file(path, text)
    });
    for (path, text) in fine {
        fenced(&mut good, path, text);
    }
    (bad, frames(&catalog.run(["validate", "--source", "."]).out), good)
}

/// The page of a rule.
fn page(rule: &Rule) -> String {
    let (bad, said, good) = if matches!(rule.check, Check::Catalog) { of_catalog(rule) } else { of_one_file(rule) };
    let mut page = format!("# {}\n\n{}\n\n{}\n\n## Found here\n", rule.id, rule.summary, verdict(rule));
    let _ = write!(page, "{bad}\n`flowy validate` says:\n\n````text\n{}\n````\n", said.trim_end());
    let _ = write!(page, "\n## Not found here\n{good}");
    let _ = write!(page, "\n## Not reported\n\n{}\n", suppressing(rule));
    page
}

/// How a finding of a rule is suppressed, where it can be.
fn suppressing(rule: &Rule) -> String {
    if !rule.suppressible() {
        return "It can't be suppressed: what stops a whole flow, what nobody can see and what is wrong with suppressions is always told.".to_owned();
    }
    let id = rule.id;
    let settings = format!("`[[validate.ignore]]` with `rule = \"{id}\"` and a `reason` in the catalog's `flowy.toml`");
    let more = "see [CHECKING.md](../CHECKING.md#not-reporting-a-finding)";
    if matches!(rule.check, Check::Catalog) {
        return format!("{settings} suppresses it; {more}.");
    }
    let mut text = format!(
        "`\"x-flowy-ignore\": {{\"{id}\": \"the reason\"}}` on the node or the flow suppresses it, or {settings}; {more}."
    );
    if rule.reach == Reach::Flow || rule.also.iter().any(|also| also.reach == Reach::Flow) {
        text.push_str(" Findings that stop the whole flow are told all the same.");
    }
    text
}

/// After a wanted change: `UPDATE_DOCS=1 cargo test pages_of_the_rules`, then read the diff.
#[test]
#[allow(clippy::disallowed_methods, reason = "a test is told by the environment to rewrite what it compares")]
fn pages_of_the_rules_are_made_of_their_examples() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let mut list =
        String::from("# The rules of `flowy validate`\n\n| rule | severity | what it looks for |\n|---|---|---|\n");
    for rule in REGISTRY {
        let path = repository().join(format!("docs/rules/{}.md", rule.id));
        let due = page(rule);
        assert!(RulePage::of(rule.id).is_some(), "{}: its page is not part of the program", rule.id);
        let _ = writeln!(list, "| [{0}]({0}.md) | {1} | {2} |", rule.id, rule.severity, rule.summary);
        if update {
            std::fs::write(&path, due).unwrap();
        } else {
            assert!(
                std::fs::read_to_string(&path).unwrap() == due,
                "{}: run UPDATE_DOCS=1 cargo test pages_of_the_rules",
                rule.id
            );
            assert_eq!(RulePage::of(rule.id).unwrap().text, due, "{}", rule.id);
        }
    }
    let path = repository().join("docs/rules/README.md");
    if update {
        std::fs::write(&path, &list).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), list);
    let pages = std::fs::read_dir(repository().join("docs/rules")).unwrap().count();
    assert_eq!(pages, REGISTRY.len() + 1, "a page belongs to no rule");
}

#[test]
fn a_rule_is_explained_and_an_unknown_one_is_refused_with_the_nearest() {
    let said = Sandbox::new().run(["explain", "dangling-edge"]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(said.out, RulePage::of("dangling-edge").unwrap().text);
    let json = Sandbox::new().run(["explain", "dangling-edge", "--json"]).json();
    assert_eq!(
        (&json["rules"][0]["severity"], &json["rules"][0]["also"][0]["severity"]),
        (&"error".into(), &"warning".into())
    );
    let said = Sandbox::new().run(["explain", "dangling-egde"]);
    assert_eq!((said.code, said.err.contains("dangling-edge")), (2, true), "{}", said.err);
    let all = Sandbox::new().run(["explain", "--json"]).json();
    assert_eq!(all["rules"].as_array().unwrap().len(), REGISTRY.len());
    let list = Sandbox::new().run(["explain"]).out;
    assert!(REGISTRY.iter().all(|rule| list.contains(rule.id)), "{list}");
}
