//! Driving a run: workers that suspend, the bound, the deadline, cancelling, limits, progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use flowy::internals::clock::{Clock, ManualClock};
use flowy::internals::code::Code;
use flowy::internals::execute::{Options, Progress, Rendered, StepTask, Worker, Workers, Working, execute, working};
use flowy::internals::run::{Given, Limits, Output, Run, State, Status, StepError};
use serde_json::json;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::support::drawing::{Drawing, flow};
use crate::support::walking::{Walked, clock, walk};

/// Runs a future on a runtime of its own.
fn block<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

/// A flow of independent steps.
fn wide(count: usize) -> Drawing {
    (0..count).fold(flow(), |drawing, number| drawing.text(&format!("s{number}"), "x"))
}

/// A worker that holds every step until enough of them are under way at once.
struct Gate {
    wanted: usize,
    under_way: AtomicUsize,
    most: AtomicUsize,
    open: Notify,
}

impl Gate {
    fn of(wanted: usize) -> Self {
        Self { wanted, under_way: AtomicUsize::new(0), most: AtomicUsize::new(0), open: Notify::new() }
    }
}

impl Worker for Gate {
    fn work<'a>(&'a self, task: StepTask<'_, 'a>) -> Result<Working<'a>, String> {
        let StepTask { step, text, .. } = task;
        Ok(working(async move {
            let now = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            if now >= self.wanted {
                self.open.notify_waiters();
            } else {
                self.open.notified().await;
            }
            self.under_way.fetch_sub(1, Ordering::SeqCst);
            Ok(Output::text(format!("{}:{text}", step.id)))
        }))
    }
}

#[test]
fn independent_steps_are_worked_on_side_by_side_up_to_the_bound() {
    for (bound, steps) in [(1, 3), (3, 6), (8, 8)] {
        let gate = Gate::of(bound);
        let options = Options { side_by_side: bound, ..Options::default() };
        let walked = wide(steps).run_with(json!({}), &options, &gate);
        assert_eq!(gate.most.load(Ordering::SeqCst), bound, "{steps} steps");
        assert_eq!(walked.status(), Status::Success);
        assert_eq!(walked.text("s0"), "s0:x");
    }
}

#[test]
fn a_bound_of_nothing_is_one() {
    let gate = Gate::of(1);
    wide(2).run_with(json!({}), &Options { side_by_side: 0, ..Options::default() }, &gate);
    assert_eq!(gate.most.load(Ordering::SeqCst), 1);
}

/// A worker whose steps never end; it tells when the first of them has begun, and how many were
/// dropped.
#[derive(Default)]
struct Stuck {
    begun: Notify,
    dropped: Arc<AtomicUsize>,
}

struct Dropped(Arc<AtomicUsize>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Worker for Stuck {
    fn work<'a>(&'a self, task: StepTask<'_, 'a>) -> Result<Working<'a>, String> {
        let StepTask { step, text, .. } = task;
        if step.id.starts_with("free") {
            return Err(text);
        }
        let guard = Dropped(self.dropped.clone());
        Ok(working(async move {
            let _guard = guard;
            self.begun.notify_one();
            std::future::pending().await
        }))
    }
}

#[test]
fn cancelling_drops_what_is_under_way_and_keeps_what_is_done() {
    let plan = flow().text("free", "F").text("a", "a").text("b", "b").text("after", "x").edges("b > after").plan();
    let (stuck, clock, cancel) = (Stuck::default(), clock(), CancellationToken::new());
    let options = Options { side_by_side: 2, ..Options::default() };
    let executed = block(async {
        let execution =
            execute(plan, Given::default(), &options, Workers::of_texts(&stuck), clock.as_ref(), &cancel, |_, _| ());
        let cancelling = async {
            stuck.begun.notified().await;
            cancel.cancel();
        };
        tokio::join!(execution, cancelling).0.unwrap()
    });
    let walked = Walked { executed };
    assert_eq!(walked.text("free"), "F");
    assert_eq!(walked.error("a"), "CANCELLED: the execution was cancelled");
    assert_eq!(walked.error("b"), "CANCELLED: the execution was cancelled");
    assert_eq!(walked.because("after"), "b", "what it waited for, not what came first");
    assert_eq!(stuck.dropped.load(Ordering::SeqCst), 2);
    assert_eq!(walked.status(), Status::Partial);
}

#[test]
fn a_cancelled_execution_begins_nothing() {
    let (plan, clock, cancel) = (wide(2).plan(), clock(), CancellationToken::new());
    cancel.cancel();
    let given = Given::default();
    let executed = block(execute(
        plan,
        given,
        &Options::default(),
        Workers::of_texts(&Rendered),
        clock.as_ref(),
        &cancel,
        |_, _| (),
    ))
    .unwrap();
    assert_eq!(executed.run.status(), Status::Failed);
    assert_eq!(executed.run.counts().done, 0);
}

/// A worker that takes a minute a step.
struct Slow(Arc<ManualClock>);

impl Worker for Slow {
    fn work<'a>(&'a self, task: StepTask<'_, 'a>) -> Result<Working<'a>, String> {
        let StepTask { text, .. } = task;
        Ok(working(async move {
            self.0.advance(Duration::from_mins(1));
            Ok(Output::text(text))
        }))
    }
}

#[test]
fn nothing_begins_after_the_deadline_and_what_was_done_stays() {
    let (plan, clock) = (flow().text("a", "A").text("b", "B").text("c", "C").edges("a > b > c").plan(), clock());
    let options = Options { deadline: Some(Duration::from_secs(90)), ..Options::default() };
    let (slow, cancel) = (Slow(clock.clone()), CancellationToken::new());
    let given = Given::default();
    let executed =
        block(execute(plan, given, &options, Workers::of_texts(&slow), clock.as_ref(), &cancel, |_, _| ())).unwrap();
    assert_eq!(executed.took, Duration::from_mins(2));
    let walked = Walked { executed };
    assert_eq!(walked.text("a"), "A");
    assert_eq!(walked.text("b"), "B");
    assert_eq!(walked.error("c"), "TIMEOUT: the execution took longer than it may");
    let State::Done { timing, .. } = walked.state("b") else { panic!("done") };
    assert_eq!((timing.took, timing.at), (Duration::from_mins(1), clock.now()));
}

#[test]
fn a_step_that_hangs_is_ended_by_the_deadline() {
    let stuck = Stuck::default();
    let options = Options { deadline: Some(Duration::from_millis(1)), ..Options::default() };
    let walked = flow().text("free", "F").text("a", "a").run_with(json!({}), &options, &stuck);
    assert_eq!(walked.text("free"), "F");
    assert!(walked.error("a").starts_with("TIMEOUT: "), "{}", walked.error("a"));
    assert_eq!(stuck.dropped.load(Ordering::SeqCst), 1);
}

/// A worker that answers with a value, an error or far too much.
struct Answers;

impl Worker for Answers {
    fn work<'a>(&'a self, task: StepTask<'_, 'a>) -> Result<Working<'a>, String> {
        let StepTask { step, text, .. } = task;
        let id = step.id.as_str();
        Ok(working(async move {
            match id {
                "value" => Ok(Output::with_fields("as text", json!({"title": "T", "rows": [{"id": 7}]}))),
                "broken" => Err(StepError::new(Code::ExecutionError, "no answer")),
                "huge" => Ok(Output::text("x".repeat(101))),
                _ => Ok(Output::text(text)),
            }
        }))
    }
}

#[test]
fn paths_read_into_structured_outputs_and_an_absent_one_fails_its_step() {
    let walked = flow()
        .text("value", "x")
        .text("n1", "{value_result.title} {value_result.rows.0.id} {value_result}")
        .text("n2", "{value_result.gone}")
        .declaring("n3", &["t", "all"], "{t} {all.rows.0}")
        .declaring("n4", &["t"], "{t}")
        .declaring("n5", &["draft"], "{draft.title}")
        .edges("value > n1, value > n2, value > n5")
        .mapped("value", "n3", json!({"t": "result.title", "all": "result"}))
        .mapped("value", "n4", json!({"t": "rows.1"}))
        .run_with(json!({}), &Options::default(), &Answers);
    assert_eq!(walked.text("n1"), "T 7 as text");
    assert_eq!(
        walked.error("n2"),
        "EXECUTION_ERROR: {value_result.gone}: step \"value\" has nothing at gone; it has title, rows"
    );
    assert_eq!(walked.text("n3"), "T {\"id\":7}");
    assert_eq!(
        walked.error("n4"),
        "EXECUTION_ERROR: {t}: step \"value\" has nothing at rows.1; rows is a list of 1 item, counted from 0"
    );
    assert_eq!(walked.text("n5"), "T", "auto-mapped");
}

#[test]
fn a_workers_error_fails_the_step_and_skips_below() {
    let walked = flow().text("broken", "x").text("n", "{broken_result}").edges("broken > n").run_with(
        json!({}),
        &Options::default(),
        &Answers,
    );
    assert_eq!((walked.error("broken").as_str(), walked.because("n")), ("EXECUTION_ERROR: no answer", "broken"));
}

#[test]
fn a_doubling_flow_stops_at_the_limit_of_a_step_with_its_name() {
    let mut drawing = flow().text("s0", &"x".repeat(1024));
    for number in 1..40 {
        drawing = drawing.text(&format!("s{number}"), &format!("{{s{0}_result}}{{s{0}_result}}", number - 1));
    }
    let chain: Vec<String> = (0..40).map(|number| format!("s{number}")).collect();
    let walked = drawing.edges(&chain.join(">")).run(json!({}));
    assert_eq!(walked.text("s10").len(), 1 << 20);
    assert_eq!(walked.error("s11"), "LIMIT_EXCEEDED: the output of s11 is too large: a step may write 1048576 bytes");
    assert_eq!(walked.because("s39"), "s11");
    assert_eq!(walked.status(), Status::Partial);
}

#[test]
fn all_outputs_together_have_a_limit_too() {
    let half = "x".repeat(1 << 19);
    let mut drawing = flow();
    for number in 0..10 {
        drawing = drawing.declaring(&format!("s{number}"), &["v"], "{v}");
    }
    let walked = drawing.run(json!({"v": half}));
    assert_eq!(walked.executed.run.written(), 4 << 20);
    assert_eq!(walked.executed.run.counts().done, 8);
    assert_eq!(
        walked.error("s8"),
        "LIMIT_EXCEEDED: the output of s8 is too large: an execution may write 4194304 bytes"
    );
}

#[test]
fn what_a_worker_answers_is_held_to_the_limits() {
    let options = Options { limits: Limits { step: 100, whole: 150 }, ..Options::default() };
    let walked = flow().text("huge", "x").run_with(json!({}), &options, &Answers);
    assert_eq!(walked.error("huge"), "LIMIT_EXCEEDED: the output of huge is too large: a step may write 100 bytes");
    assert_eq!(walked.executed.run.written(), 0);
}

#[test]
fn progress_tells_every_step_that_ended_and_counts_skipped_ones() {
    let plan = flow()
        .data("a", json!({"template": "A", "label": "First"}))
        .saved("b", "Gone")
        .text("c", "C")
        .text("d", "D")
        .edges("b > c")
        .plan();
    let (clock, cancel) = (clock(), CancellationToken::new());
    let mut told: Vec<String> = Vec::new();
    let progress = |_: &Run, progress: Progress<'_>| {
        told.push(format!("{}/{} {}", progress.ended, progress.steps, progress.label));
    };
    let given = Given::default();
    block(execute(plan, given, &Options::default(), Workers::of_texts(&Rendered), clock.as_ref(), &cancel, progress))
        .unwrap();
    assert_eq!(told, ["1/4 First", "3/4 b", "4/4 d"]);
}

#[test]
fn warnings_come_in_the_order_of_steps_whichever_ended_first() {
    /// Lets the first step end last.
    struct FirstLast(Notify);
    impl Worker for FirstLast {
        fn work<'a>(&'a self, task: StepTask<'_, 'a>) -> Result<Working<'a>, String> {
            let StepTask { step, text, .. } = task;
            Ok(working(async move {
                match step.id.as_str() {
                    "a" => self.0.notified().await,
                    "b2" => self.0.notify_one(),
                    _ => {}
                }
                Ok(Output::text(text))
            }))
        }
    }
    let drawing = flow()
        .declaring("a", &["x"], "{p}{x}")
        .declaring("a2", &["x"], "{q}{x}")
        .declaring("b", &["x"], "{r}{x}")
        .declaring("b2", &["x"], "{s}{x}")
        .edges("a > a2, b > b2");
    let given = crate::support::walking::given(&json!({"x": 1}));
    let walked = walk(drawing.plan(), given, &Options::default(), &FirstLast(Notify::new())).unwrap();
    let nodes: Vec<_> = walked.executed.warnings.iter().filter_map(|warning| warning.node.clone()).collect();
    assert_eq!(nodes, ["a", "a2", "b", "b2"]);
}
