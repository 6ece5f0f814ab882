//! Steps that call tools, in the background: who calls, what is kept, and what ends a call.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use flowy::internals::clock::ManualClock;
use flowy::internals::guide::{Closure, Guide, GuideError, Order, Story, Turn};
use flowy::internals::report::wire;
use flowy::internals::run::{ExecutionId, Guided, GuidedState, Moment, Outcome};
use flowy::internals::store::{FILE, Store};
use rusqlite::Connection;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::drawing::{Drawing, flow};
use crate::support::tools::{Web, soon};
use crate::support::walking::{clock, given};

/// A folder that several processes share, and a clock: by what it makes up, they differ in name.
struct Ground {
    folder: TempDir,
    clock: Arc<ManualClock>,
}

impl Ground {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), clock: clock() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A process that calls by this, and waits for no other that holds the file.
    fn guide(&self, web: &Arc<Web>) -> Guide {
        self.guide_at(Store::patient(self.path(), Duration::ZERO), web)
    }

    fn guide_at(&self, store: Store, web: &Arc<Web>) -> Guide {
        Guide::new(store, self.clock.clone()).calling(web.clone())
    }
}

fn order(drawing: &Drawing) -> Order {
    Order {
        plan: drawing.plan(),
        given: given(&json!({})),
        task: None,
        git_ref: None,
        commit: None,
        source: String::new(),
    }
}

/// A tool, a step that reads what it gave, and one that only comes later.
fn calling(tool: &str) -> Drawing {
    flow()
        .tool("a", json!({"call": format!("web:{tool}")}))
        .text("b", "Read {a_result}")
        .text("c", "C.")
        .edges("a > b, a > c")
}

fn id() -> ExecutionId {
    ExecutionId::named("x")
}

async fn begin(guide: &Guide, drawing: &Drawing) -> Turn {
    guide.begin(order(drawing), &id).await.unwrap()
}

/// Begins while somebody else goes on.
fn beginning(guide: &Guide, tool: &str) -> tokio::task::JoinHandle<Turn> {
    let (guide, drawing) = (guide.clone(), calling(tool));
    tokio::spawn(async move { begin(&guide, &drawing).await })
}

/// Asks how it stands, as whoever goes on does, until no tool is called any more.
async fn until_called(guide: &Guide) -> Story {
    soon(async {
        loop {
            let story = guide.attended(&id()).await.unwrap();
            if story.guided.tool_at_work().is_none_or(|at_work| at_work.asks.is_some()) {
                return story;
            }
            tokio::task::yield_now().await;
        }
    })
    .await
}

fn error(guided: &Guided) -> String {
    guided.run().failures().map(|(_, error)| error.to_string()).collect()
}

fn started(story: &Story) -> usize {
    story.entries.iter().filter(|entry| matches!(entry.moment, Moment::ToolStarted { .. })).count()
}

#[tokio::test]
async fn what_a_tool_gave_and_could_not_be_kept_is_kept_later_and_nothing_is_called_again() {
    let (ground, web) = (Ground::new(), Arc::new(Web::default()));
    let guide = ground.guide(&web);
    let begun = beginning(&guide, "stuck");
    soon(web.begun.notified()).await;
    let other = Connection::open(ground.path().join(FILE)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    web.go.notify_one();
    // What began has begun, whatever can't be kept now.
    let begun = soon(begun).await.unwrap();
    assert_eq!(begun.guided.tool_at_work().map(|at_work| at_work.step), Some(0));
    assert!(guide.attended(&id()).await.unwrap().guided.tool_at_work().is_some());
    other.execute_batch("ROLLBACK").unwrap();
    let story = until_called(&guide).await;
    assert_eq!((web.calls(), started(&story)), (1, 1));
    assert_eq!(story.guided.run().output_of(0).map(|output| &*output.text), Some("at last"));
    assert!(story.guided.handed().is_some());
    assert_eq!(Guided::replay(&story.entries).unwrap(), story.guided);
}

#[tokio::test]
async fn who_falls_over_while_calling_fails_the_step_and_the_rest_goes_on() {
    let (ground, web) = (Ground::new(), Arc::new(Web::default()));
    let drawing = flow().tool("a", json!({"call": "web:fall"})).text("b", "B.");
    let begun = begin(&ground.guide(&web), &drawing).await;
    let error = error(&begun.guided);
    let (fact, id) = error.rsplit_once(", ").unwrap();
    assert_eq!(fact, "INTERNAL_ERROR: web:fall (step 1 of 2): the call was stopped by an internal error");
    assert!(id.len() == 16 && id.bytes().all(|digit| digit.is_ascii_hexdigit()), "{id} is found in the log");
    assert!(begun.guided.handed().is_some());
    assert_eq!(web.calls(), 1);
}

#[tokio::test]
async fn more_than_an_execution_may_keep_fails_the_step_and_is_not_kept() {
    let (ground, web) = (Ground::new(), Arc::new(Web::default()));
    let begun = begin(&ground.guide(&web), &calling("huge")).await;
    assert_eq!(begun.guided.state(), GuidedState::Failed);
    assert!(error(&begun.guided).starts_with("LIMIT_EXCEEDED: "), "{begun:?}");
    let file = Connection::open(ground.path().join(FILE)).unwrap();
    let longest: i64 = file.query_row("SELECT max(length(body)) FROM events", [], |row| row.get(0)).unwrap();
    assert!(longest < 20_000, "{longest}");
}

#[tokio::test]
async fn a_long_call_goes_on_when_patience_ends_and_whoever_asks_is_told_of_it() {
    let (ground, web) = (Ground::new(), Arc::new(Web::default()));
    let guide = ground.guide(&web).patient(Duration::ZERO);
    let begun = begin(&guide, &calling("stuck")).await;
    let told = wire::value(&wire::turn(&begun));
    assert_eq!((&told["state"], &told["step"]), (&json!("running"), &Value::Null));
    assert_eq!((&told["toolStep"]["id"], &told["toolStep"]["call"]), (&json!("a"), &json!("web:stuck")));
    assert!(told["nextStep"].as_str().unwrap().contains("flows_status"), "{told}");
    assert_eq!(told.get("stepToken"), None);
    web.go.notify_one();
    let story = until_called(&guide).await;
    assert!(story.guided.handed().is_some());
    // Asking again hands nothing out anew.
    assert_eq!(guide.attended(&id()).await.unwrap(), story);
}

#[tokio::test]
async fn another_process_leaves_a_call_alone_and_can_cancel_it() {
    let ground = Ground::new();
    let [mine, yours] = [(); 2].map(|()| Arc::new(Web::default()));
    let (here, there) = (ground.guide(&mine), ground.guide(&yours));
    let begun = beginning(&here, "safe");
    soon(mine.begun.notified()).await;
    assert!(there.attended(&id()).await.unwrap().guided.tool_at_work().is_some());
    there.cancel(&id(), Some("enough")).await.unwrap();
    soon(mine.over.notified()).await;
    let begun = soon(begun).await.unwrap();
    assert_eq!(begun.guided.state(), GuidedState::Cancelled);
    assert_eq!((mine.calls(), yours.calls()), (1, 0));
}

#[tokio::test]
async fn what_was_forgotten_meanwhile_is_called_no_longer() {
    let (ground, web) = (Ground::new(), Arc::new(Web::default()));
    let guide = ground.guide(&web);
    let begun = beginning(&guide, "stuck");
    soon(web.begun.notified()).await;
    Store::at(ground.path()).forget(vec!["x".to_owned()]).await.unwrap();
    soon(web.over.notified()).await;
    assert!(soon(begun).await.unwrap().guided.tool_at_work().is_some());
    assert!(matches!(guide.story(&id()).await, Err(GuideError::NotFound { .. })));
}

/// An execution that a process of its own began and left in the middle of a call.
fn abandoned(ground: &Ground, tool: &str) -> Arc<Web> {
    let web = Arc::new(Web::default());
    let process = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    process.block_on(async {
        let begun = beginning(&ground.guide(&web), tool);
        soon(web.begun.notified()).await;
        begun.abort();
    });
    process.shutdown_timeout(Duration::from_secs(20));
    web
}

#[test]
fn who_only_looks_changes_nothing_and_who_goes_on_sees_to_a_call_whose_process_is_gone() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (tool, asked) in [("safe", false), ("stuck", true)] {
        let ground = Ground::new();
        assert_eq!(abandoned(&ground, tool).calls(), 1);
        let web = Arc::new(Web::default());
        runtime.block_on(async {
            let guide = ground.guide(&web);
            let before = guide.story(&id()).await.unwrap();
            assert_eq!(guide.story(&id()).await.unwrap(), before);
            assert_eq!((started(&before), web.calls()), (1, 0));
            web.go.notify_one();
            let story = until_called(&guide).await;
            assert_eq!(story.guided.asked().is_some(), asked, "{tool}");
            assert_eq!((started(&story), web.calls()), if asked { (1, 0) } else { (2, 1) }, "{tool}");
        });
    }
}

#[tokio::test]
async fn who_calls_no_more_leaves_the_log_to_whoever_goes_on() {
    let (ground, web) = (Ground::new(), Arc::new(Web::default()));
    let guide = ground.guide(&web);
    let begun = beginning(&guide, "stuck");
    soon(web.begun.notified()).await;
    guide.stop_calling();
    soon(web.over.notified()).await;
    begun.abort();
    let story = guide.attended(&id()).await.unwrap();
    assert!(story.guided.tool_at_work().is_some());
    assert_eq!((story.guided.run().failures().count(), web.calls()), (0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_several_processes_that_close_a_step_one_calls_the_tool_after_it() {
    let drawing = flow()
        .text("a", "A.")
        .tool("b", json!({"call": "web:get", "args": {"of": "{{ a_result }}"}}))
        .text("c", "{b_result}")
        .edges("a > b > c");
    for _ in 0..20 {
        let (ground, web) = (Ground::new(), Arc::new(Web::default()));
        let guides = [(); 4].map(|()| ground.guide_at(Store::at(ground.path()), &web));
        let ticket = begin(&guides[0], &drawing).await.guided.handed().unwrap().ticket.clone();
        let closure = Closure { ticket, output: Some(json!("said")), outcome: Outcome::Done, next: None };
        let closing = guides.clone().map(|guide| {
            let closure = closure.clone();
            tokio::spawn(async move { guide.complete(&id(), &closure).await })
        });
        for closed in closing {
            closed.await.unwrap().unwrap();
        }
        let story = until_called(&guides[3]).await;
        assert_eq!((web.calls(), started(&story)), (1, 1));
        assert!(story.guided.handed().is_some());
    }
}

#[tokio::test]
async fn files_of_processes_that_are_gone_are_swept_away_and_those_of_others_stay() {
    let ground = Ground::new();
    let processes = ground.path().join("processes");
    let files = || std::fs::read_dir(&processes).unwrap().count();
    std::fs::create_dir(&processes).unwrap();
    for name in ["one.lock", "two.lock"] {
        std::fs::write(processes.join(name), "").unwrap();
    }
    let [mine, yours] = [(); 2].map(|()| Arc::new(Web::default()));
    let (here, there) = (ground.guide(&mine), ground.guide(&yours));
    begin(&here, &calling("get")).await;
    assert_eq!(files(), 1);
    there.begin(order(&calling("get")), &|| ExecutionId::named("y")).await.unwrap();
    assert_eq!(files(), 2);
}
