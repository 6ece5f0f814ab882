//! Generated tables: documents say what the program says.

use flowy::cli::docs::{blocks, filled};

use crate::support::program::repository;

/// After a wanted change: `UPDATE_DOCS=1 cargo test generated_tables`, then read the diff.
#[test]
#[allow(clippy::disallowed_methods, reason = "a test is told by the environment to rewrite what it compares")]
fn generated_tables_in_documents_are_up_to_date() {
    let blocks = blocks();
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let mut seen = Vec::new();
    for document in ["README.md", "docs/API.md"] {
        let path = repository().join(document);
        let is = std::fs::read_to_string(&path).unwrap();
        let due = filled(&is, &blocks).unwrap();
        seen.extend(blocks.iter().map(|(name, _)| *name).filter(|name| is.contains(&format!("generated: {name} "))));
        if update {
            std::fs::write(&path, due).unwrap();
        } else {
            assert!(is == due, "{document} is out of date: run UPDATE_DOCS=1 cargo test generated_tables");
        }
    }
    for (name, _) in &blocks {
        assert!(seen.contains(name), "no document shows the table {name}");
    }
}
