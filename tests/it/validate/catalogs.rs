//! Whole catalogs: what must be silent is silent.

use flowy::internals::validate::{Options, template_file};
use serde_json::json;

use crate::support::checking::{check, check_against, entries, findings, repository, told};

/// A file's name without folder and ending.
fn stem(path: &str) -> &str {
    path.rsplit('/').next().unwrap().trim_end_matches(".json").trim_end_matches(".flow.md")
}

#[test]
fn the_example_catalog_gives_no_finding() {
    let templates = entries(&repository().join("templates"), "templates");
    let flows = entries(&repository().join("flows"), "flows");
    assert!(flows.len() >= 6 && templates.len() >= 6);
    let mut named = templates.clone();
    for folder in ["personas", "contracts"] {
        named.extend(entries(&repository().join(folder), folder));
    }
    for flow in &flows {
        // How they go through each other is for the check of the whole catalog to say.
        let others: serde_json::Map<_, _> =
            flows.iter().map(|(path, _)| (stem(path).to_owned(), json!({"unchecked": true}))).collect();
        let outside = json!({"flows": others});
        let check = check_against((&flow.0, &flow.1), &named, &outside, &[], Options::default());
        let told: String = findings(&check).iter().map(told).collect();
        assert_eq!(told, "", "{}", flow.0);
        assert!(check.flows.iter().all(|flow| flow.checked.is_some()), "{}", flow.0);
    }
    for (path, bytes) in &templates {
        let path = flowy::internals::names::CatalogPath::new(path).unwrap();
        let check = template_file(&path, &flowy::internals::validate::parse(&path, bytes));
        assert!(check.findings.is_empty() && !check.templates.is_empty(), "{path}: {:#?}", check.findings);
    }
}

#[test]
fn look_alikes_of_real_files_give_what_their_readme_says() {
    let folder = repository().join("tests/fixtures");
    let readme = std::fs::read_to_string(folder.join("flows/ok/README.md")).unwrap();
    let templates = entries(&folder.join("templates"), "templates");
    let flows = entries(&folder.join("flows/ok"), "flows");
    assert!(flows.len() >= 12);
    for flow in &flows {
        let name = flow.0.rsplit('/').next().unwrap();
        let row = readme.lines().find(|line| line.starts_with(&format!("| `{name}`"))).expect(name);
        let expected = row.trim_end_matches('|').trim().rsplit('|').next().unwrap().trim();
        let check = check(flow, &templates);
        let found = findings(&check);
        let rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
        if expected == "–" {
            assert!(rules.is_empty(), "{name}: {}", found.iter().map(told).collect::<String>());
        } else {
            assert_eq!(rules.len(), 1, "{name}");
            assert!(expected.starts_with(&format!("`{}`", rules[0])), "{name}: {rules:?}");
        }
        assert!(check.flows.iter().all(|flow| flow.checked.is_some()), "{name}");
    }
    for (path, bytes) in &templates {
        let path = flowy::internals::names::CatalogPath::new(path).unwrap();
        let check = template_file(&path, &flowy::internals::validate::parse(&path, bytes));
        assert!(check.findings.is_empty() && !check.templates.is_empty(), "{path}: {:#?}", check.findings);
    }
}
