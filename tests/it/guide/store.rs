//! The file beneath: who is slower waits, or gives up; who is outrun writes nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use flowy::internals::guide::{Closure, Guide, GuideError, Order};
use flowy::internals::run::{Entry, ExecutionId, Moment, Outcome};
use flowy::internals::store::{Appended, FILE, Store, StoreError, Summary};
use rusqlite::Connection;
use serde_json::json;

use crate::support::drawing::flow;
use crate::support::walking::{clock, given};

fn order() -> Order {
    let plan = flow().text("a", "A.").text("b", "{a_result}").edges("a > b").plan();
    Order { plan, given: given(&json!({})), task: None, git_ref: None, commit: None, source: String::new() }
}

#[tokio::test]
async fn a_file_that_another_process_holds_is_given_up_in_time_and_works_again_afterwards() {
    let folder = tempfile::tempdir().unwrap();
    let guide = Guide::new(Store::patient(folder.path(), Duration::ZERO), clock());
    guide.begin(order(), &|| ExecutionId::named("first")).await.unwrap();
    let other = Connection::open(folder.path().join(FILE)).unwrap();
    other.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let refused = guide.begin(order(), &|| ExecutionId::named("second")).await.unwrap_err();
    assert_eq!(refused, GuideError::Store(StoreError::Locked { file: folder.path().join(FILE) }));
    other.execute_batch("ROLLBACK").unwrap();
    guide.begin(order(), &|| ExecutionId::named("second")).await.unwrap();
}

/// SQLite's own waiting mostly misses gaps as short as these.
#[tokio::test]
async fn who_waits_has_its_turn_beside_a_process_that_hardly_pauses() {
    let folder = tempfile::tempdir().unwrap();
    let guide = Guide::new(Store::at(folder.path()), clock());
    guide.begin(order(), &|| ExecutionId::named("first")).await.unwrap();
    let over = Arc::new(AtomicBool::new(false));
    let (file, stop) = (folder.path().join(FILE), over.clone());
    let busy = std::thread::spawn(move || {
        let other = Connection::open(file).unwrap();
        other.busy_timeout(Duration::from_mins(1)).unwrap();
        while !stop.load(Ordering::Relaxed) {
            other.execute_batch("BEGIN IMMEDIATE").unwrap();
            std::thread::sleep(Duration::from_millis(120));
            other.execute_batch("COMMIT").unwrap();
            std::thread::sleep(Duration::from_millis(4));
        }
    });
    for id in ["second", "third", "fourth"] {
        guide.begin(order(), &|| ExecutionId::named(id)).await.unwrap();
    }
    over.store(true, Ordering::Relaxed);
    busy.join().unwrap();
}

/// Each makes the tables while the others look whose file it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn several_that_find_no_file_make_one_together() {
    for _ in 0..60 {
        let folder = tempfile::tempdir().unwrap();
        let begun = ["a", "b", "c", "d", "e", "f"].map(|id| {
            let guide = Guide::new(Store::at(folder.path()), clock());
            tokio::spawn(async move { guide.begin(order(), &|| ExecutionId::named(id)).await })
        });
        for begun in begun {
            begun.await.unwrap().unwrap();
        }
    }
}

#[tokio::test]
async fn who_is_outrun_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (store, clock) = (Store::at(folder.path()), clock());
    let guide = Guide::new(store.clone(), clock.clone());
    let id = ExecutionId::named("x");
    let begun = guide.begin(order(), &|| ExecutionId::named("x")).await.unwrap();
    let (known, mut late) = (begun.guided.entries(), begun.guided.clone());
    let ticket = begun.guided.handed().unwrap().ticket.clone();
    let closure = Closure { ticket: ticket.clone(), output: Some(json!("first")), outcome: Outcome::Done, next: None };
    guide.complete(&id, &closure).await.unwrap();
    let before = store.log(&id).await.unwrap().unwrap();
    let entry = Entry::new(late.updated_at(), Moment::Closed { ticket, outcome: Outcome::Done, output: json!("late") });
    late.apply(&entry).unwrap();
    let seen = before[known - 1].clone();
    let outrun = store.append((known, seen.clone()), vec![entry.clone()], Summary::of(&late)).await.unwrap();
    assert_eq!(outrun, Appended::Outrun);
    // A log that is as long, and ends differently.
    let outrun = store.append((before.len(), seen), vec![entry], Summary::of(&late)).await.unwrap();
    assert_eq!(outrun, Appended::Outrun);
    assert_eq!(store.log(&id).await.unwrap().unwrap(), before);
    // An id is taken once.
    assert_eq!(store.begin(vec![], Summary::of(&begun.guided)).await.unwrap(), Appended::Outrun);
}

/// What a process remembers of an execution counts only as far as the file says the same.
#[tokio::test]
async fn an_older_copy_of_the_file_is_believed_and_not_what_was_known() {
    let folder = tempfile::tempdir().unwrap();
    let id = ExecutionId::named("x");
    let [here, elsewhere] = [(); 2].map(|()| Guide::new(Store::at(folder.path()), clock()));
    let begun = here.begin(order(), &|| ExecutionId::named("x")).await.unwrap();
    let older = here.story(&id).await.unwrap();
    let length = i64::try_from(older.entries.len()).unwrap();
    let ticket = begun.guided.handed().unwrap().ticket.clone();
    let output =
        |text: &str| Closure { ticket: ticket.clone(), output: Some(json!(text)), outcome: Outcome::Done, next: None };
    here.complete(&id, &output("this")).await.unwrap();
    assert!(here.story(&id).await.unwrap().entries.len() > older.entries.len());
    let back = || {
        let file = Connection::open(folder.path().join(FILE)).unwrap();
        file.execute("DELETE FROM events WHERE seq > ?1", [length]).unwrap();
        file.execute("UPDATE executions SET last_seq = ?1", [length]).unwrap();
    };
    back();
    assert_eq!(here.story(&id).await.unwrap(), older);
    let handed = here.complete(&id, &output("this")).await.unwrap().guided.handed().cloned().unwrap();
    // As long as before, and yet another story.
    back();
    elsewhere.complete(&id, &output("that")).await.unwrap();
    let next = Closure { ticket: handed.ticket, ..output("next") };
    assert!(matches!(here.complete(&id, &next).await, Err(GuideError::UnknownTicket { .. })));
    let now = here.story(&id).await.unwrap();
    assert_eq!(now, elsewhere.story(&id).await.unwrap());
    assert_eq!(now.guided.closing(0).unwrap().output, json!("that"));
}

#[tokio::test]
async fn reading_makes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::at(&folder.path().join("state"));
    assert_eq!(store.log(&ExecutionId::named("x")).await.unwrap(), None);
    assert_eq!(store.forget(vec!["x".to_owned()]).await.unwrap().executions, 0);
    assert!(!folder.path().join("state").exists());
}

#[tokio::test]
async fn what_is_forgotten_is_in_no_file_any_more_and_gives_its_room_back() {
    let folder = tempfile::tempdir().unwrap();
    let guide = Guide::new(Store::at(folder.path()), clock());
    let private = "CONFIDENTIAL".repeat(50_000);
    for id in ["first", "second"] {
        let order = Order { task: Some(private.clone()), ..order() };
        guide.begin(order, &|| ExecutionId::named(id)).await.unwrap();
    }
    let size = || folder.path().join(FILE).metadata().unwrap().len();
    guide.begin(order(), &|| ExecutionId::named("third")).await.unwrap();
    let store = Store::at(folder.path());
    let forgotten = store.forget(vec!["first".to_owned(), "second".to_owned()]).await.unwrap();
    assert_eq!((forgotten.executions, forgotten.compact), (2, true));
    assert!(size() < 200_000, "{}", size());
    let reserve = folder.path().join("flowy.reserve").metadata().unwrap();
    assert!(reserve.len() == 1 << 20, "room is set aside for a full disk: {reserve:?}");
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        assert!(!bytes.windows(12).any(|part| part == b"CONFIDENTIAL"));
    }
    assert!(guide.story(&ExecutionId::named("third")).await.is_ok());
}

#[tokio::test]
async fn who_reads_does_not_wait_for_who_writes() {
    let folder = tempfile::tempdir().unwrap();
    let guide = Guide::new(Store::patient(folder.path(), Duration::from_mins(5)), clock());
    let first = ExecutionId::named("first");
    guide.begin(order(), &|| first.clone()).await.unwrap();
    let other = Connection::open(folder.path().join(FILE)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let waiting = guide.begin(order(), &|| ExecutionId::named("second"));
    tokio::pin!(waiting);
    tokio::select! {
        biased;
        _ = &mut waiting => panic!("the other one holds the file"),
        story = guide.store().log(&first) => assert!(story.unwrap().is_some()),
    }
    other.execute_batch("ROLLBACK").unwrap();
    waiting.await.unwrap();
}

#[tokio::test]
async fn a_folder_that_can_not_be_looked_into_is_not_an_empty_one() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("no-folder");
    std::fs::write(&file, "").unwrap();
    let store = Store::at(&file);
    let closed = |error: StoreError| matches!(error, StoreError::Closed { .. });
    assert!(store.log(&ExecutionId::named("x")).await.is_err_and(closed));
    assert!(store.forget(vec!["x".to_owned()]).await.is_err_and(closed));
}
