//! The file that counts are kept in: shared, killed, read-only, old, or not there at all.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flowy::internals::app::StatsRequest;
use flowy::internals::store::{Counts, FlowTotals, Store, UsageSpan};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{FILE, TEA, bench, end, stats, tea};
use crate::support::mcp::{Bench, Program};
use crate::support::program::Sandbox;

fn span() -> UsageSpan {
    UsageSpan { source: "s".to_owned(), today: 20_000, flow: None, since: None }
}

fn one_use() -> Counts {
    let mut counts = Counts::default();
    counts.use_of("s", "Tea", 20_000, true, Some((Duration::from_millis(3), 6)));
    counts
}

#[tokio::test]
async fn two_connections_that_count_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let store = Store::patient(folder.path(), Duration::from_mins(1));
            scope.spawn(move || (0..50).for_each(|_| store.count(&one_use()).unwrap()));
        }
    });
    let read = Store::for_counts(folder.path()).uses(span()).await.unwrap();
    let took = Duration::from_millis(600);
    let expected = FlowTotals {
        flow: "Tea".to_owned(),
        uses: 200,
        successes: 200,
        timed: 200,
        took,
        classes: vec![(6, 200)],
        last_7_days: 200,
        last_30_days: 200,
        by_day: vec![],
    };
    assert_eq!(read, [expected]);
}

/// A server over a home that others share.
fn serving(home: &Arc<TempDir>) -> Program {
    let catalog = home.path().join("catalog/flows");
    fs::create_dir_all(&catalog).unwrap();
    fs::write(catalog.join("Tea.json"), TEA).unwrap();
    let source = home.path().join("catalog");
    let mut program = Program::serving_at(home.clone(), &["--source", source.to_str().unwrap()], &[]);
    program.shake_hands("2025-11-25");
    program
}

/// All uses that the file knows, after it was found to be whole.
fn uses(home: &Path) -> i64 {
    let file = Connection::open(home.join(FILE)).unwrap();
    let check: String = file.pragma_query_value(None, "integrity_check", |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let tables = "SELECT count(*) FROM sqlite_schema WHERE name IN ('flow_uses', 'flow_times', 'listings')";
    match file.query_row(tables, [], |row| row.get::<_, i64>(0)).unwrap() {
        0 => return 0,
        made => assert_eq!(made, 3, "tables are made together"),
    }
    // A use and its time are counted together or not at all.
    let sum = |sql: &str| file.query_row(sql, [], |row| row.get::<_, Option<i64>>(0)).unwrap().unwrap_or(0);
    let uses = sum("SELECT sum(uses) FROM flow_uses");
    assert_eq!(uses, sum("SELECT sum(uses) FROM flow_times"));
    uses
}

#[test]
fn two_programs_that_count_at_once_lose_nothing() {
    let home = Arc::new(TempDir::new().unwrap());
    let mut programs = [serving(&home), serving(&home)];
    for id in 1..=40 {
        for program in &mut programs {
            program.ask(id, "tools/call", &json!({"name": "flows_execute", "arguments": tea()}));
        }
    }
    for mut program in programs {
        program.close_input();
        assert_eq!(program.end().1.len(), 40);
    }
    assert_eq!(uses(home.path()), 80);
}

#[test]
fn a_program_that_is_killed_while_it_counts_leaves_whole_counts() {
    let home = Arc::new(TempDir::new().unwrap());
    let mut before = 0;
    for round in 0..12 {
        let mut program = serving(&home);
        for id in 1..=20 {
            program.ask(id, "tools/call", &json!({"name": "flows_execute", "arguments": tea()}));
        }
        // It is killed at another point each time: after this many answers.
        for _ in 0..=round {
            program.receive();
        }
        program.kill();
        if home.path().join(FILE).exists() {
            let now = uses(home.path());
            assert!(now >= before && now <= before + 20, "{before} and then {now}");
            before = now;
        }
    }
    let mut last = serving(&home);
    last.request(1, "tools/call", &json!({"name": "flows_execute", "arguments": tea()}));
    last.close_input();
    last.end();
    assert_eq!(uses(home.path()), before + 1);
}

/// Calls go on, whatever is the matter with the file.
async fn calls_go_on(bench: &Bench) {
    let mut session = bench.session().await;
    assert_eq!(session.ok("flows_list", json!({})).await["total"], json!(2));
    assert_eq!(session.ok("flows_execute", tea()).await["status"], "success");
    assert!(bench.app.usage().await.is_empty());
    end(session).await;
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_as_it_is_and_calls_go_on() {
    let bench = bench();
    let text = "no database at all, but rather long; ".repeat(100);
    fs::create_dir_all(bench.store().parent().unwrap()).unwrap();
    fs::write(bench.store(), &text).unwrap();
    calls_go_on(&bench).await;
    assert_eq!(fs::read_to_string(bench.store()).unwrap(), text);
    let error = bench.app.stats(&StatsRequest::default()).await.unwrap_err();
    assert!(error.code == flowy::internals::app::Code::StoreError && error.next_step.is_some(), "{error:?}");
}

#[tokio::test]
async fn a_folder_that_can_not_be_made_holds_nothing_up() {
    let bench = bench();
    let folder = bench.store().parent().unwrap().to_owned();
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    fs::write(&folder, "in the way").unwrap();
    calls_go_on(&bench).await;
    assert_eq!(fs::read_to_string(&folder).unwrap(), "in the way");
}

/// Who asks for statistics is told.
#[test]
fn that_nothing_can_be_kept_is_told_to_nobody_who_did_not_ask() {
    let sandbox = Sandbox::new().file("flows/Tea.json", TEA).file("kept/flowy.db", "no database at all");
    let in_vain = |state: &str| {
        let said = sandbox.run(["run", "Tea", "--var", "who=two", "--quiet", "--state-dir", state]);
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "Tea for two", ""), "{state}");
        let listed = sandbox.run(["list", "--quiet", "--state-dir", state]);
        assert_eq!((listed.code, listed.err.as_str()), (0, ""), "{state}");
    };
    in_vain("flows/Tea.json/below a file");
    in_vain("kept");
    let asked = sandbox.run(["stats", "--state-dir", "kept"]);
    assert_eq!((asked.code, asked.out.as_str()), (1, ""), "{}", asked.err);
    let asked = sandbox.run(["stats", "--state-dir", "kept", "--json"]);
    assert_eq!(asked.json()["code"], json!("STORE_ERROR"), "{}", asked.err);
}

#[cfg(unix)]
#[test]
fn a_folder_that_is_read_only_holds_nothing_up() {
    use std::os::unix::fs::PermissionsExt as _;
    let sandbox = Sandbox::new().file("flows/Tea.json", TEA);
    let state = sandbox.home().join("state");
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o500)).unwrap();
    let said = sandbox.run(["run", "Tea", "--var", "who=two", "--quiet", "--state-dir", state.to_str().unwrap()]);
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (0, "Tea for two", ""));
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700)).unwrap();
}

#[tokio::test]
async fn what_another_process_was_in_the_way_of_is_counted_later() {
    let bench = bench();
    let mut session = bench.session().await;
    session.ok("flows_execute", tea()).await;
    end(session).await;
    let other = Connection::open(bench.store()).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut session = bench.session().await;
    session.ok("flows_execute", tea()).await;
    assert_eq!(session.ok("flows_list", json!({})).await["total"], json!(2), "nobody waits for the file");
    // Until it is given up for now; reading does not wait.
    bench.app.finish_counting(Duration::from_mins(1));
    assert_eq!(stats(&bench).await["flows"][0]["uses"], json!(1));
    other.execute_batch("ROLLBACK").unwrap();
    end(session).await;
    let told = stats(&bench).await;
    assert_eq!((&told["flows"][0]["uses"], &told["listings"][0]["calls"]), (&json!(2), &json!(1)), "{told}");
}

#[tokio::test]
async fn a_file_of_the_first_version_counts_and_its_executions_go_on() {
    let bench = bench();
    let fixture = crate::support::program::repository().join("tests/fixtures/store/v1.sql");
    fs::create_dir_all(bench.store().parent().unwrap()).unwrap();
    let file = Connection::open(bench.store()).unwrap();
    file.execute_batch(&fs::read_to_string(fixture).unwrap()).unwrap();
    let version = || file.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(version(), 1);
    let mut session = bench.session().await;
    session.ok("flows_execute", tea()).await;
    let open = session.ok("flows_status", json!({"state": ["running"]})).await["executions"][0].clone();
    let open = session.ok("flows_status", json!({"executionId": open["executionId"]})).await;
    let output = json!({"title": "THE CHANGE", "files": ["a.rs"]});
    let done = json!({"executionId": open["executionId"], "stepToken": open["stepToken"], "output": output});
    assert_eq!(session.ok("flows_complete_step", done).await["stepCompleted"], "code");
    end(session).await;
    assert_eq!(version(), 5);
    assert_eq!(stats(&bench).await["flows"][0]["uses"], json!(1));
    assert_eq!(bench.session().await.ok("flows_status", json!({"flowName": "Feature"})).await["total"], json!(4));
}

#[test]
fn with_no_usage_no_file_is_made_and_none_is_read() {
    let sandbox = Sandbox::new().file("flows/Tea.json", TEA);
    let state = sandbox.home().join(".local/state/flowy");
    let run = |sandbox: &Sandbox, extra: &[&str]| {
        let mut line = vec!["run", "Tea", "--var", "who=two"];
        line.extend(extra);
        assert_eq!(sandbox.run(line).code, 0);
    };
    run(&sandbox, &["--no-usage"]);
    assert_eq!(sandbox.run(["list", "--no-usage"]).code, 0);
    let told = sandbox.run(["stats", "--no-usage", "--json"]).json();
    assert_eq!((&told["counting"], &told["flows"]), (&json!(false), &json!([])));
    assert!(!state.join("flowy.db").exists());
    run(&sandbox, &[]);
    assert!(state.join("flowy.db").exists());
    assert_eq!(sandbox.run(["stats", "--json"]).json()["flows"][0]["uses"], json!(1));
    let sandbox = sandbox.variable("FLOWY_NO_USAGE", "1");
    assert_eq!(sandbox.run(["stats", "--json"]).json()["flows"], json!([]));
    let said = sandbox.run(["stats"]);
    assert!(said.out.is_empty() && said.err.contains("no_usage"), "{}", said.err);
}

#[test]
fn where_nothing_was_counted_there_is_nothing_and_nothing_is_made() {
    let sandbox = Sandbox::new().file("flows/Tea.json", TEA);
    let said = sandbox.run(["stats"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    assert!(said.err.contains("flowy run NAME"), "{}", said.err);
    let told: Value = sandbox.run(["stats", "--json", "--days", "3"]).json();
    assert_eq!(told["days"], json!(3));
    assert!(!sandbox.home().join(FILE).exists());
    assert_eq!(sandbox.run(["stats", "--days", "0"]).code, 2);
}
