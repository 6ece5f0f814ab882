//! Which executions are stored, for how long, and what becomes of those that can't be.

use serde_json::{Value, json};

use super::{catalog, work};
use crate::support::home::{Home, ok};

/// Whether the store's file is there.
fn stored(home: &Home) -> bool {
    home.root.path().join(".local/state/flowy/flowy.db").exists()
}

#[test]
fn what_only_fills_in_texts_opens_no_store() {
    let home = Home::of(catalog("look"), true);
    let said = home.run(&["run", "Plain", "--var", "word=so", "--no-usage"]);
    assert_eq!((said.0, said.1.trim_end()), (Some(0), "Say so"));
    assert!(!stored(&home));
    let said = home.run(&["run", "Work", "--var", "of=us", "--no-usage"]);
    assert_eq!((said.0, said.1.trim_end()), (Some(0), "Read touched, and looked"));
    assert!(stored(&home));
}

#[test]
fn the_newest_are_kept_and_what_nobody_finished_can_be_pruned() {
    let home = Home::of(catalog("look"), true);
    std::fs::create_dir_all(home.root.path().join(".config/flowy")).unwrap();
    std::fs::write(home.root.path().join(".config/flowy/flowy.toml"), "executions_kept = 2\n").unwrap();
    let mut program = home.serve();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let done = program.request(1, "tools/call", &work())["result"]["structuredContent"].clone();
        assert_eq!(done["finalResult"], "Read touched, and looked", "{done}");
        ids.insert(0, done["executionId"].clone());
    }
    let listed = ok(&mut program, "flows_status", &json!({}));
    let there: Vec<&Value> = listed["executions"].as_array().unwrap().iter().map(|one| &one["executionId"]).collect();
    assert_eq!(there, [&ids[0], &ids[1]]);
    let (code, _, told) = home.run(&["executions", "prune", "--all"]);
    assert!(code == Some(0) && told.contains('2'), "{told}");
    assert_eq!(ok(&mut program, "flows_status", &json!({}))["total"], 0);
}

#[test]
fn an_execution_that_can_not_be_stored_is_done_all_the_same_and_says_so() {
    let home = Home::of(catalog("look"), true);
    let state = home.root.path().join(".local/state/flowy");
    std::fs::create_dir_all(state.join("flowy.db")).unwrap();
    let mut program = home.serve();
    let done = program.request(1, "tools/call", &work())["result"]["structuredContent"].clone();
    assert_eq!(done["finalResult"], "Read touched, and looked", "{done}");
    assert_eq!(done["warnings"][0]["code"], "NOT_KEPT", "{done}");
}
