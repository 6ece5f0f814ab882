//! Logs of direct executions as earlier versions of the store have them: each can be gone on with.

use std::fs;

use rusqlite::Connection;

use super::{RESULT, killed};
use crate::guided::storage::statements;
use crate::support::home::Home;
use crate::support::program::repository;

/// Version 3: one execution that was killed in the middle of a call that only reads.
const V3: &str = "tests/fixtures/store/v3.sql";

#[test]
#[allow(clippy::disallowed_methods, reason = "a fixture is made once, when who starts the test says so")]
fn an_interrupted_execution_of_every_released_version_goes_on() {
    let fixture = repository().join(V3);
    if std::env::var_os("MAKE_STORE_FIXTURE").is_some() && !fixture.exists() {
        let (home, _) = killed("once_reading");
        fs::write(&fixture, statements(&home.root.path().join(".local/state/flowy/flowy.db"))).unwrap();
    }
    let home = Home::of([("flows/Else.json", "{}".to_owned())], true);
    let state = home.root.path().join(".local/state/flowy");
    fs::create_dir_all(&state).unwrap();
    let file = Connection::open(state.join("flowy.db")).unwrap();
    file.execute_batch(&fs::read_to_string(&fixture).unwrap()).unwrap();
    let id: String = file.query_row("SELECT id FROM executions", [], |row| row.get(0)).unwrap();
    drop(file);
    let (code, listed, told) = home.run(&["executions", "list", "--state", "interrupted"]);
    assert!(code == Some(0) && listed.starts_with(&format!("{id}\tWork\tinterrupted\t2/4\t")), "{listed}{told}");
    // The server of this home has never been asked what its tools do, and has hung once already.
    fs::write(home.notes(), "once began\n").unwrap();
    assert_eq!(home.run(&["run", "--resume", &id]).0, Some(1), "a person decides");
    let (code, out, told) = home.run(&["run", "--resume", &id, "--answer", "repeat"]);
    assert_eq!((code, out.trim_end()), (Some(0), RESULT), "{told}");
    assert_eq!((home.noted("touch").len(), home.noted("once began").len()), (0, 2), "what is done stays done");
}
