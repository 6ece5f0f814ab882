//! The list of rules as a whole: what each of them must have.

use flowy::internals::validate::{Check, REGISTRY};

use super::fixture;

#[test]
fn every_rule_has_an_id_a_summary_and_fixtures() {
    let mut ids = Vec::new();
    for rule in REGISTRY {
        let words: Vec<&str> = rule.id.split('-').collect();
        assert!(words.iter().all(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase())), "{}", rule.id);
        assert!(rule.summary.ends_with('.') && rule.summary.starts_with(char::is_uppercase), "{}", rule.id);
        assert!(!rule.summary.trim_end_matches('.').contains(". "), "{}: one sentence", rule.id);
        ids.push(rule.id);
        if matches!(rule.check, Check::Catalog) {
            // Held by what they find in whole catalogs.
            continue;
        }
        let (_, bad) = fixture(rule.id, "bad.json");
        assert!(!bad.is_empty(), "{}: its bad file gives no finding", rule.id);
        assert!(
            bad.iter().any(|finding| (finding.severity, finding.reach) == (rule.severity, rule.reach)),
            "{}",
            rule.id
        );
        for finding in &bad {
            let verdict = (finding.severity, finding.reach);
            assert!(rule.verdicts().any(|declared| declared == verdict), "{}: {verdict:?}", rule.id);
        }
        let (good, _) = fixture(rule.id, "good.json");
        assert!(good.is_empty(), "{}: its good file gives {good:#?}", rule.id);
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is there twice");
}

#[test]
fn a_rule_that_may_say_something_else_declares_it_and_no_other_does() {
    for rule in REGISTRY {
        let file = format!("src/validate/rules/{}.rs", rule.id.replace('-', "_"));
        let source = std::fs::read_to_string(crate::support::checking::repository().join(file)).unwrap();
        let otherwise = source.contains(".only_warn()") || source.contains(".error(Reach::");
        assert_eq!(otherwise, !rule.also.is_empty(), "{}", rule.id);
    }
    let row = REGISTRY.iter().find(|rule| rule.id == "missing-template").unwrap();
    let said: Vec<String> = row.verdicts().map(|(severity, reach)| format!("{severity} {reach}")).collect();
    assert_eq!(said, ["error step", "warning none"]);
}

#[test]
fn every_folder_of_fixtures_belongs_to_a_rule() {
    let folder = crate::support::checking::repository().join("tests/fixtures/flows/err");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(REGISTRY.iter().any(|rule| rule.id == name), "{name}");
    }
}
