//! How runs end: what fails, what is skipped and why, and what the result is.

use flowy::internals::execute::{Options, Rendered};
use flowy::internals::run::{OnFailure, Status};
use serde_json::json;

use crate::support::drawing::{Drawing, flow};

/// `bad` fails; `after` and `join` depend on it; `free` doesn't.
fn half() -> Drawing {
    flow()
        .text("s", "s")
        .saved("bad", "Gone")
        .text("after", "{bad_result}")
        .text("free", "F({s_result})")
        .text("join", "{after_result}{free_result}")
        .edges("s > bad > after > join, s > free > join")
}

#[test]
fn a_failed_step_skips_what_depends_on_it_and_the_rest_runs() {
    let walked = half().run(json!({}));
    assert_eq!((walked.text("s"), walked.text("free")), ("s", "F(s)"));
    assert_eq!(walked.error("bad"), "TEMPLATE_NOT_FOUND: there is no template \"Gone\"");
    assert_eq!((walked.because("after"), walked.because("join")), ("bad", "bad"));
    assert_eq!(walked.status(), Status::Partial);
    assert_eq!(walked.status().word(), "partial");
}

#[test]
fn a_join_below_two_failures_names_the_first_in_order() {
    let drawing =
        flow().saved("a", "Gone").saved("b", "Gone").text("j", "j").text("k", "k").edges("b > j > k, a > k, a > j");
    let walked = drawing.run(json!({}));
    assert_eq!((walked.because("j"), walked.because("k")), ("a", "a"));
    assert_eq!(walked.status(), Status::Failed);
    assert_eq!(walked.last(), None);
}

#[test]
fn on_failure_stop_ends_what_has_not_begun() {
    let drawing = flow().text("a", "A").saved("b", "Gone").text("c", "C").text("d", "D").edges("a > d");
    let options = Options { on_failure: OnFailure::Stop, ..Options::default() };
    let walked = drawing.run_with(json!({}), &options, &Rendered);
    // Earliest in the file first: a, then b fails; c and d had not begun.
    assert_eq!(walked.text("a"), "A");
    assert_eq!((walked.because("c"), walked.because("d")), ("b", "b"));
    assert_eq!(drawing.run(json!({})).text("d"), "D", "without stop they run");
}

#[test]
fn nothing_failed_is_success_and_nothing_there_is_failed() {
    assert_eq!(flow().text("a", "A").run(json!({})).status().word(), "success");
    assert_eq!(flow().saved("a", "Gone").run(json!({})).status().word(), "failed");
}

#[test]
fn the_result_is_the_step_that_feeds_the_result_node_the_last_of_several() {
    let base = || flow().text("a", "A").text("b", "B").text("c", "C");
    let drawing = base().result("r", "R").edges("b > r, a > r, b > c");
    assert_eq!(drawing.run(json!({})).last(), Some("B"), "b comes last of the feeders; c is not one");
    let through_a_note = base().note("m").result("r", "R").edges("a > m > r, b > c");
    assert_eq!(through_a_note.run(json!({})).last(), Some("A"));
}

#[test]
fn of_several_result_nodes_the_one_fed_last_is_final_and_each_has_its_label() {
    let drawing = flow()
        .result("r1", "Late")
        .result("r2", "Early")
        .result("r3", "Late")
        .result("r4", "")
        .result("alone", "Nothing")
        .text("a", "A")
        .text("b", "B")
        .edges("a > b > r1, a > r2, a > r3, a > r4");
    let plan = drawing.plan();
    let marks: Vec<_> =
        plan.results().iter().map(|mark| (mark.label.as_str(), plan.steps()[mark.step.unwrap()].id.as_str())).collect();
    assert_eq!(marks, [("Late (r1)", "b"), ("Early", "a"), ("Late (r3)", "a"), ("r4", "a")]);
    assert_eq!(drawing.run(json!({})).last(), Some("B"));
}

#[test]
fn without_a_result_node_the_last_connected_step_counts_else_the_last() {
    let drawing = flow().text("a", "A").text("b", "B").text("draft", "D").edges("a > b");
    assert_eq!(drawing.run(json!({})).last(), Some("B"));
    assert_eq!(flow().text("a", "A").text("b", "B").run(json!({})).last(), Some("B"));
}

#[test]
fn a_final_step_that_failed_or_was_skipped_gives_nothing() {
    assert_eq!(half().run(json!({})).last(), None);
    let fed_by_failure = flow().text("a", "A").saved("b", "Gone").result("r", "R").edges("a > b > r");
    assert_eq!(fed_by_failure.run(json!({})).last(), None);
}

#[test]
fn a_step_that_can_not_be_done_fails_and_the_others_go_on() {
    let drawing = flow()
        .text("a", "A")
        .node(json!({"id": "t", "type": "tool", "data": {"call": "x:y:z"}}))
        .node(json!({"id": "f", "type": "flow-link", "data": {"flow": "Other"}}))
        .text("b", "B")
        .edges("a > t > b, a > f");
    let walked = drawing.run(json!({}));
    assert_eq!(
        walked.error("t"),
        "VALIDATION_ERROR: \"x:y:z\": a call is alias:tool, and this has more than one colon"
    );
    assert_eq!(walked.error("f"), "FLOW_NOT_FOUND: there is no flow \"Other\"");
    assert_eq!(walked.because("b"), "t");
}
