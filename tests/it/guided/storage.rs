//! The file that executions are kept in, in every state of health.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Connection;
use serde_json::{Value, json};

use super::{begin, begun_on_bench, bench, complete, completing, output, status, until};
use crate::support::mcp::{Bench, Session};
use crate::support::tools::Web;

fn made(bench: &Bench) -> std::path::PathBuf {
    let file = bench.store();
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    file
}

/// Begin and status fail or warn with a next step; everything else works.
async fn only_the_store_is_broken(bench: &Bench, word: &str) {
    let mut session = bench.session().await;
    let given = json!({"flowName": "Feature", "initialVariables": {"feature": "x"}});
    let refused = session.failed("flows_begin", given.clone()).await;
    assert_eq!(refused["code"], "STORE_ERROR", "{refused}");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains(word) && !message.contains('\n'), "{message}");
    assert!(refused["nextStep"].as_str().is_some_and(|next| !next.is_empty()));
    assert_eq!(session.ok("flows_list", json!({})).await["total"], json!(1));
    let direct = session.ok("flows_execute", given).await;
    let listed = session.ok("flows_status", json!({})).await;
    assert_eq!(listed["executions"][0]["executionId"], direct["executionId"]);
    assert_eq!(listed["warnings"][0]["code"], "STORE_ERROR", "{listed}");
}

#[tokio::test]
async fn a_file_that_is_no_database_is_left_as_it_is() {
    let bench = bench();
    let file = made(&bench);
    let text = "no database at all, but rather long; ".repeat(100);
    fs::write(&file, &text).unwrap();
    only_the_store_is_broken(&bench, "damaged").await;
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[tokio::test]
async fn a_database_of_something_else_is_left_as_it_is() {
    let bench = bench();
    let file = made(&bench);
    let foreign = Connection::open(&file).unwrap();
    foreign.execute_batch("CREATE TABLE executions (a); INSERT INTO executions VALUES (1);").unwrap();
    drop(foreign);
    only_the_store_is_broken(&bench, "another program").await;
    let foreign = Connection::open(&file).unwrap();
    let tables: i64 = foreign.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
}

#[tokio::test]
async fn a_newer_programs_file_is_left_as_it_is() {
    let bench = bench();
    let mut session = bench.session().await;
    begin(&mut session).await;
    session.shut().await;
    session.end().await;
    let file = Connection::open(bench.store()).unwrap();
    file.pragma_update(None, "user_version", 99).unwrap();
    drop(file);
    only_the_store_is_broken(&bench.again(), "version 99").await;
}

#[tokio::test]
async fn a_folder_in_the_way_is_said() {
    let bench = bench();
    fs::create_dir_all(bench.store()).unwrap();
    only_the_store_is_broken(&bench, "can't be opened").await;
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = bench();
    begin(&mut bench.session().await).await;
    let folder = bench.store();
    let folder = folder.parent().unwrap();
    assert_eq!(fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o077, 0, "{:?}", entry.path());
    }
}

#[tokio::test]
async fn a_log_that_lacks_an_entry_is_not_taken_for_a_shorter_one() {
    for missing in ["seq = 3", "seq = (SELECT max(seq) FROM events)", "seq = 1"] {
        let (bench, mut session, begun) = begun_on_bench().await;
        let code = complete(&mut session, &begun).await;
        let file = Connection::open(bench.store()).unwrap();
        file.execute(&format!("DELETE FROM events WHERE {missing}"), []).unwrap();
        let refused = session.failed("flows_complete_step", completing(&code, output("code"))).await;
        assert_eq!(refused["code"], "STORE_ERROR", "{missing}: {refused}");
        // Other executions go on.
        let other = begin(&mut session).await;
        assert_eq!(complete(&mut session, &other).await["stepCompleted"], "design");
    }
}

#[tokio::test]
async fn what_has_happened_can_not_be_changed() {
    let bench = bench();
    begin(&mut bench.session().await).await;
    let file = Connection::open(bench.store()).unwrap();
    let error = file.execute("UPDATE events SET body = '{}'", []).unwrap_err();
    assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::ConstraintViolation), "{error}");
}

#[tokio::test]
async fn a_file_that_was_taken_away_is_made_anew() {
    let (bench, mut session, begun) = begun_on_bench().await;
    for end in ["", "-wal", "-shm"] {
        let mut file = bench.store().into_os_string();
        file.push(end);
        fs::remove_file(file).unwrap();
    }
    let refused = session.failed("flows_complete_step", completing(&begun, output("design"))).await;
    assert_eq!(refused["code"], "EXECUTION_NOT_FOUND");
    let begun = begin(&mut session).await;
    assert_eq!(complete(&mut session, &begun).await["stepCompleted"], "design");
}

/// The rows of the table of states, without what times they hold.
fn states(file: &Path) -> Vec<String> {
    let file = Connection::open(file).unwrap();
    let mut rows = file
        .prepare("SELECT id, flow, state, current, steps, ended, done, closed, breaches, escalations, last_seq FROM executions ORDER BY id")
        .unwrap();
    let rows = rows.query_map([], |row| {
        let mut told = String::new();
        for column in 0..11 {
            write!(told, "{:?} ", row.get::<_, rusqlite::types::Value>(column)?).unwrap();
        }
        Ok(told)
    });
    rows.unwrap().map(Result::unwrap).collect()
}

/// What the version that is published now keeps; a fixture of it is made by this, once.
async fn lived() -> (Bench, Value) {
    let bench = bench();
    let mut session = bench.session().await;
    let open = begin(&mut session).await;
    let open = complete(&mut session, &open).await;
    session.failed("flows_complete_step", completing(&open, json!({"title": 1}))).await;
    let asked =
        json!({"executionId": open["executionId"], "stepToken": open["stepToken"], "reason": "r", "questions": ["q"]});
    let asked = session.ok("flows_escalate", asked).await;
    let answers = json!({"executionId": open["executionId"], "escalationId": asked["escalationId"], "answers": serde_json::from_str::<Value>(r#"{"a": 1.50}"#).unwrap()});
    let open = session.ok("flows_resume", answers).await;
    let done = begin(&mut session).await;
    let last = until(&mut session, done, "sum").await;
    complete(&mut session, &last).await;
    let cancelled = begin(&mut session).await;
    session.ok("flows_cancel", json!({"executionId": cancelled["executionId"], "reason": "Enough."})).await;
    let failed = begin(&mut session).await;
    let mut closing = completing(&failed, json!({"reason": "No."}));
    closing["outcome"] = json!("failed");
    session.ok("flows_complete_step", closing).await;
    session.shut().await;
    session.end().await;
    (bench, open)
}

/// A file of a released version, from its statements.
pub(super) fn of_version(bench: &Bench, statements: &str) {
    let file = Connection::open(made(bench)).unwrap();
    file.execute_batch(statements).unwrap();
}

/// The statements that make a file again.
pub(crate) fn statements(file: &Path) -> String {
    let file = Connection::open(file).unwrap();
    let all = |sql: &str| -> Vec<String> {
        let mut rows = file.prepare(sql).unwrap();
        let mut found = Vec::new();
        let mut rows = rows.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            found.push(row.get(0).unwrap());
        }
        found
    };
    let version: i64 = file.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let application: i64 = file.pragma_query_value(None, "application_id", |row| row.get(0)).unwrap();
    let mut lines =
        vec![format!("PRAGMA application_id = {application};"), format!("PRAGMA user_version = {version};")];
    lines.extend(all(
        "SELECT sql || ';' FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('table', 'index') ORDER BY rowid",
    ));
    for table in all("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY rowid") {
        let columns =
            all(&format!("SELECT 'quote(' || name || ')' FROM pragma_table_info('{table}')")).join(" || ',' || ");
        lines.extend(all(&format!(
            "SELECT 'INSERT INTO {table} VALUES (' || {columns} || ');' FROM {table} ORDER BY rowid"
        )));
    }
    lines.extend(all("SELECT sql || ';' FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid"));
    lines.join("\n") + "\n"
}

const V1: &str = "tests/fixtures/store/v1.sql";
const V2: &str = "tests/fixtures/store/v2.sql";

/// What version 2 keeps of tool steps: one execution that waits for the model, one that a process left
/// in the middle of a call, and one about whose call a person decided.
async fn called() -> Bench {
    let node = |id: &str, tool: &str, more: Value| {
        let mut data = json!({"call": format!("web:{tool}")});
        data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"id": id, "type": "tool", "data": data})
    };
    let flow = json!({"metadata": {"name": "Calls", "version": "1.0.0"}, "nodes": [
        node("a", "get", json!({"args": {"page": "{{ page | 7 }}"}})),
        node("b", "bad", json!({"onError": "continue"})),
        node("c", "get", json!({"requires": ["more"]})),
        node("d", "bad", json!({})),
        {"id": "e", "type": "template", "data": {"template": "{a_result.n} {b_result.error.code}"}},
        {"id": "e2", "type": "template", "data": {"template": "And on."}},
        node("f", "stuck", json!({"args": {"said": "{{ e_result }}"}})),
        {"id": "g", "type": "template", "data": {"template": "Read {f_result}"}},
    ], "edges": [{"source": "a", "target": "e"}, {"source": "b", "target": "e"}, {"source": "e", "target": "f"},
                 {"source": "e", "target": "e2"}, {"source": "f", "target": "g"}]});
    let web = Arc::new(Web::default());
    let bench = Bench::folder([("flows/Calls.json", flow.to_string())]).calling(web.clone());
    let mut session = bench.session().await;
    let mut begun = Vec::new();
    for _ in 0..3 {
        begun.push(session.ok("flows_begin", json!({"flowName": "Calls"})).await);
    }
    for open in &begun[1..] {
        let mut closing = completing(open, json!("e"));
        closing["next"] = json!("e2");
        session.ask("tools/call", json!({"name": "flows_complete_step", "arguments": closing})).await;
        while status(&mut session, open, &[]).await["toolStep"].is_null() {}
    }
    // The process is gone, as others see it.
    std::fs::remove_dir_all(bench.store().with_file_name("processes")).unwrap();
    let mut other = bench.again().calling(Arc::new(Web::default())).session().await;
    assert_eq!(status(&mut other, &begun[2], &[]).await["state"], "awaiting_human");
    let answer = json!({"executionId": begun[2]["executionId"], "answers": {"result": {"n": 7}}});
    assert_eq!(other.ok("flows_resume", answer).await["step"]["id"], "e2");
    bench
}

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "a fixture is made once, when who starts the test says so")]
async fn executions_of_every_released_version_go_on() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(V1);
    if std::env::var_os("MAKE_STORE_FIXTURE").is_some() && !fixture.exists() {
        fs::create_dir_all(fixture.parent().unwrap()).unwrap();
        fs::write(&fixture, statements(&lived().await.0.store())).unwrap();
    }
    let bench = Bench::folder([("flows/Else.json", "{}")]);
    of_version(&bench, &fs::read_to_string(&fixture).unwrap());
    let before = states(&bench.store());
    assert_eq!(before.len(), 4);
    let mut session = bench.session().await;
    let listed = session.ok("flows_status", json!({})).await;
    assert_eq!(listed["total"], json!(4), "{listed}");
    let open = session.ok("flows_status", json!({"state": ["running"]})).await["executions"][0].clone();
    let open = status(&mut session, &open, &["events"]).await;
    assert_eq!(
        open["step"]["context"]["answers"][0]["answers"],
        serde_json::from_str::<Value>(r#"{"a": 1.50}"#).unwrap()
    );
    let mut answer = open;
    while answer.get("step").is_some() {
        answer = complete(&mut session, &answer).await;
    }
    assert_eq!(answer["finalResult"], "THE END");
}

#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "a fixture is made once, when who starts the test says so")]
async fn executions_with_tool_steps_of_every_released_version_go_on() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join(V2);
    if std::env::var_os("MAKE_STORE_FIXTURE").is_some() && !fixture.exists() {
        fs::write(&fixture, statements(&called().await.store())).unwrap();
    }
    // Another process than the one that left the file, by its name.
    let bench = Bench::folder([("flows/Else.json", "{}")]).again().calling(Arc::new(Web::default()));
    of_version(&bench, &fs::read_to_string(&fixture).unwrap());
    let mut session = bench.session().await;
    let listed = session.ok("flows_status", json!({})).await["executions"].as_array().unwrap().clone();
    assert_eq!(listed.len(), 3);
    let mut seen = Vec::new();
    for execution in &listed {
        let mut answer = status(&mut session, execution, &["steps", "events"]).await;
        seen.push(answer["state"].as_str().unwrap().to_owned());
        assert_eq!(answer["steps"][0]["result"]["structuredContent"]["id"].to_string(), "12345678901234567890123");
        let file = answer["steps"][0]["result"]["files"][0]["uri"].clone();
        let read = session.request("resources/read", json!({"uri": file})).await;
        assert_eq!(read["result"]["contents"][0]["blob"], "AP9wbmc=");
        let mut opened = Vec::new();
        if answer["state"] == "awaiting_human" {
            let decided = json!({"executionId": execution["executionId"], "answers": {"result": "known"}});
            answer = session.ok("flows_resume", decided).await;
        }
        while answer["step"].is_object() {
            opened.push(answer["step"]["id"].as_str().unwrap().to_owned());
            let mut closing = completing(&answer, json!({"reason": "done"}));
            // The tool after it would be called for ever.
            closing["outcome"] = json!(if answer["step"]["id"] == "e" { "failed" } else { "done" });
            closing["output"]["summary"] = json!("done");
            answer = session.ok("flows_complete_step", closing).await;
        }
        seen.push(opened.join(" "));
        seen.push(answer["state"].as_str().unwrap().to_owned());
    }
    seen.sort();
    // What was chosen before a call comes after it, also when a person decided about the call.
    let expected = ["awaiting_human", "completed", "completed", "completed", "e", "e2 g", "e2 g", "running", "running"];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn the_table_of_states_is_what_a_replay_of_every_log_says() {
    let (bench, _) = lived().await;
    let file = Connection::open(bench.store()).unwrap();
    let rows = states(&bench.store());
    let before = bench.again().session().await.ok("flows_status", json!({"state": ["running"]})).await;
    let at_code = before["executions"].as_array().unwrap().iter().find(|one| one["currentStep"] == "code").unwrap();
    // Reading and appending trusts the log: with a table that lies, the next entry sets it right.
    file.execute("UPDATE executions SET state = 'failed', done = 0, ended = 0, closed = 0, breaches = 9, current = NULL WHERE state = 'running'", []).unwrap();
    assert_ne!(states(&bench.store()), rows);
    let mut session = bench.again().session().await;
    let told = session.ok("flows_status", json!({})).await;
    let running =
        told["executions"].as_array().unwrap().iter().find(|one| one["executionId"] == at_code["executionId"]).unwrap();
    assert_eq!((&running["state"], &running["stepsDone"]), (&json!("failed"), &json!(0)), "the lie");
    let open = status(&mut session, running, &[]).await;
    assert_eq!((&open["state"], &open["currentStep"]), (&json!("running"), &json!("code")));
    complete(&mut session, &open).await;
    let told = session.ok("flows_status", json!({"state": ["running"]})).await;
    assert_eq!(
        (&told["executions"][0]["stepsDone"], &told["executions"][0]["currentStep"]),
        (&json!(2), &json!("docs"))
    );
    drop(session);
    let lies: i64 = file.query_row("SELECT count(*) FROM executions WHERE breaches = 9", [], |row| row.get(0)).unwrap();
    assert_eq!(lies, 0);
}

#[tokio::test]
async fn pages_hold_every_execution_once_newest_first() {
    let bench = bench();
    let mut session = bench.session().await;
    let mut ids: Vec<Value> = Vec::new();
    for number in 0..7 {
        if number % 2 == 0 {
            bench.clock.advance(std::time::Duration::from_secs(1));
        }
        ids.push(begin(&mut session).await["executionId"].clone());
    }
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = session.ok("flows_status", json!({"limit": 3, "cursor": cursor, "flowName": "Feature"})).await;
        assert_eq!(page["total"], json!(7));
        seen.extend(page["executions"].as_array().unwrap().iter().map(|one| one["executionId"].clone()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
        // What begins meanwhile stands before all pages.
    }
    assert_eq!(seen.len(), 7);
    ids.sort_by_key(Value::to_string);
    let mut sorted = seen.clone();
    sorted.sort_by_key(Value::to_string);
    assert_eq!(ids, sorted);
    let other = session.ok("flows_status", json!({"flowName": "Else"})).await;
    assert_eq!(other["total"], json!(0));
    let refused = session.failed("flows_status", json!({"cursor": "none"})).await;
    assert_eq!(refused["code"], "INVALID_CURSOR");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_executions_from_several_processes_lose_nothing() {
    let bench = bench();
    let mut sessions: Vec<Session> = Vec::new();
    for _ in 0..4 {
        sessions.push(bench.again().session().await);
    }
    let walks = sessions.into_iter().map(|mut session| {
        tokio::spawn(async move {
            for _ in 0..3 {
                let begun = begin(&mut session).await;
                let last = until(&mut session, begun, "sum").await;
                assert_eq!(complete(&mut session, &last).await["finalResult"], "THE END");
            }
        })
    });
    for walk in walks.collect::<Vec<_>>() {
        walk.await.unwrap();
    }
    let done = bench.session().await.ok("flows_status", json!({"state": ["completed"]})).await;
    assert_eq!(done["total"], json!(12));
}
