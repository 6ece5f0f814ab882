//! The list of rules as a whole: what each of them must have.

use flowy::validate::REGISTRY;

use super::fixture;

#[test]
fn every_rule_has_an_id_a_summary_and_fixtures() {
    let mut ids = Vec::new();
    for rule in REGISTRY {
        let words: Vec<&str> = rule.id.split('-').collect();
        assert!(words.iter().all(|w| !w.is_empty() && w.bytes().all(|b| b.is_ascii_lowercase())), "{}", rule.id);
        assert!(rule.summary.ends_with('.') && rule.summary.starts_with(char::is_uppercase), "{}", rule.id);
        assert!(!rule.summary.trim_end_matches('.').contains(". "), "{}: one sentence", rule.id);
        let (_, bad) = fixture(rule.id, "bad.json");
        assert!(!bad.is_empty(), "{}: its bad file gives no finding", rule.id);
        assert!(
            bad.iter().any(|finding| (finding.severity, finding.reach) == (rule.severity, rule.reach)),
            "{}",
            rule.id
        );
        let (good, _) = fixture(rule.id, "good.json");
        assert!(good.is_empty(), "{}: its good file gives {good:#?}", rule.id);
        ids.push(rule.id);
    }
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is there twice");
}

#[test]
fn every_folder_of_fixtures_belongs_to_a_rule() {
    let folder = crate::support::checking::repository().join("tests/fixtures/flows/err");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(REGISTRY.iter().any(|rule| rule.id == name), "{name}");
    }
}
