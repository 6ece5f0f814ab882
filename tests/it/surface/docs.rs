//! Generated tables: documents say what the program says.

use crate::support::checking::{check_against, findings, told};
use crate::support::docs::{blocks, filled};
use crate::support::program::{Sandbox, repository};

/// What stands between fences of this kind, and the line before each.
fn fenced<'t>(text: &'t str, kind: &str) -> Vec<(&'t str, &'t str)> {
    let opening = format!("\n```{kind}\n");
    let blocks = text.match_indices(&opening).map(|(at, _)| {
        let before = text[..at].trim_end().rsplit('\n').next().unwrap();
        let begin = at + opening.len();
        (before, text[begin..].split("\n```").next().unwrap())
    });
    blocks.collect()
}

#[test]
fn every_json_example_of_the_readme_and_the_authors_guide_is_a_file_that_passes_or_is_said_to_be_a_part() {
    let guide: String = ["docs/AUTHORING.md", "README.md"]
        .map(|page| std::fs::read_to_string(repository().join(page)).unwrap())
        .concat();
    let (mut whole, mut parts) = (0, 0);
    for (before, text) in fenced(&guide, "json") {
        if before.contains("(part of a file)") {
            let braces = format!("{{{text}}}");
            let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert!(read(text) || read(&braces), "{text}");
            parts += 1;
            continue;
        }
        let value: serde_json::Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let name = value["metadata"]["name"].as_str().unwrap_or("Example").replace(' ', "_");
        whole += 1;
        if value.get("nodes").or(value.get("flows")).is_none() {
            let path = flowy::internals::names::CatalogPath::new(&format!("templates/{name}.json")).unwrap();
            let check = flowy::internals::validate::template_file(
                &path,
                &flowy::internals::validate::parse(&path, text.as_bytes()),
            );
            let said: String = check.findings.iter().map(told).collect();
            assert!(said.is_empty() && !check.templates.is_empty(), "{said}");
            continue;
        }
        let path = format!("flows/{name}.json");
        let check = check_against(
            (&path, text.as_bytes()),
            &[],
            &serde_json::Value::Null,
            &[],
            flowy::internals::validate::Options::default(),
        );
        let said: String = findings(&check).iter().map(told).collect();
        assert_eq!(said, "", "{name}");
        assert!(check.flows.iter().all(|flow| flow.checked.is_some()), "{name}");
    }
    assert_eq!((whole, parts), (8, 3));
}

#[test]
fn every_markdown_example_is_a_file_that_passes_and_prints_what_the_page_says() {
    let mut sandbox = Sandbox::new();
    let mut count = 0;
    for page in ["docs/AUTHORING.md", "README.md"] {
        let guide = std::fs::read_to_string(repository().join(page)).unwrap();
        for (number, text) in guide.split("\n````markdown\n").skip(1).enumerate() {
            let text = text.split("\n````").next().unwrap();
            let name = text.lines().find_map(|line| line.strip_prefix("name: "));
            let path = match name {
                Some(name) => format!("flows/{name}.flow.md"),
                None => format!("templates/Example_{number}.md"),
            };
            sandbox = sandbox.file(&path, format!("{text}\n"));
            count += 1;
        }
    }
    assert_eq!(count, 6);
    let check = sandbox.run(["validate", "--strict"]);
    assert_eq!(check.code, 0, "{}", check.out);
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let shown = readme.split("$ flowy run Haiku --source . --var subject=rain\n").nth(1).unwrap();
    let said = sandbox.run(["run", "Haiku", "--source", ".", "--var", "subject=rain"]);
    assert_eq!(said.out.trim_end(), shown.split("\n```").next().unwrap().trim_end());
}

#[test]
fn the_authors_guide_says_of_every_rule_what_to_do_about_it() {
    let guide = std::fs::read_to_string(repository().join("docs/AUTHORING.md")).unwrap();
    let rows: Vec<&str> = guide.lines().filter(|line| line.starts_with("| `")).collect();
    for rule in flowy::internals::app::RULES {
        let named = format!("`{}`", rule.id);
        assert!(rows.iter().any(|row| row.split('|').nth(1).unwrap().contains(&named)), "{} has no row", rule.id);
    }
}

#[test]
fn the_page_about_moving_names_what_there_is_and_denies_nothing_of_it() {
    let page = std::fs::read_to_string(repository().join("docs/MIGRATION.md")).unwrap();
    let words = |from: &'static str| {
        let begins = page.match_indices(from).map(|(at, _)| &page[at..]);
        let ends = |c: char| !c.is_ascii_alphanumeric() && !"_:/{}".contains(c);
        begins.map(move |rest| rest.trim_start_matches('`').split(ends).next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let tools: Vec<&str> = flowy::internals::mcp::tool_rows().iter().map(|row| row.name).collect();
    for name in words("`flows_") {
        assert!(tools.contains(&name.as_str()), "{name}");
    }
    let denied: Vec<&str> = page.lines().filter(|line| line.contains("| no successor yet")).collect();
    assert!(!denied.is_empty());
    // What a row denies is in its first cells.
    let denied: String = denied.iter().map(|line| line.split("| no successor yet").next().unwrap()).collect();
    for row in flowy::internals::mcp::RESOURCES.iter().filter(|row| row.address.starts_with("flow://")) {
        let place = row.address.trim_start_matches("flow").split('{').next().unwrap().trim_end_matches('/');
        assert!(!denied.contains(place), "{place} in {denied}");
    }
    let there =
        ["prompts", "hot", "categories", "summaries", "servers.json", "`call`", "`args`", "`requires`", "latency"];
    for word in there.into_iter().chain(["list_jobs", "cancel_job", "list_mcp_servers", "call_mcp_tool"]) {
        assert!(!denied.contains(word), "{word} in {denied}");
    }
}

/// After a wanted change: `UPDATE_DOCS=1 cargo test published_schemas`, then read the diff.
#[test]
#[allow(clippy::disallowed_methods, reason = "a test is told by the environment to rewrite what it compares")]
fn published_schemas_are_those_of_the_answers() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    for (name, schema) in flowy::internals::report::wire::schemas() {
        let path = repository().join(format!("schemas/{name}.schema.json"));
        let due = format!("{schema:#}\n");
        if update {
            std::fs::write(&path, due).unwrap();
        } else {
            let is = std::fs::read_to_string(&path).unwrap();
            assert!(is == due, "{name} is out of date: run UPDATE_DOCS=1 cargo test published_schemas");
        }
    }
}

/// After a wanted change: `UPDATE_DOCS=1 cargo test generated_tables`, then read the diff.
#[test]
#[allow(clippy::disallowed_methods, reason = "a test is told by the environment to rewrite what it compares")]
fn generated_tables_in_documents_are_up_to_date() {
    let blocks = blocks();
    let path = repository().join("docs/API.md");
    let is = std::fs::read_to_string(&path).unwrap();
    let due = filled(&is, &blocks).unwrap();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, due).unwrap();
    } else {
        assert!(is == due, "docs/API.md is out of date: run UPDATE_DOCS=1 cargo test generated_tables");
    }
    for (name, _) in &blocks {
        assert!(is.contains(&format!("generated: {name} ")), "the reference does not show the table {name}");
    }
}
