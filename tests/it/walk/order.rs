//! What comes before what, and what goes along with it.

use serde_json::json;

use crate::support::drawing::{Drawing, flow};

/// Steps `id@wave`, in order.
#[track_caller]
fn order(drawing: &Drawing) -> String {
    let plan = drawing.plan();
    plan.steps().iter().map(|step| format!("{}@{}", step.id, step.wave)).collect::<Vec<_>>().join(" ")
}

fn steps(ids: &[&str]) -> Drawing {
    ids.iter().fold(flow(), |drawing, id| drawing.text(id, id))
}

#[test]
fn steps_without_edges_go_in_the_order_of_the_file() {
    assert_eq!(order(&steps(&["z", "m", "a"])), "z@0 m@0 a@0");
}

#[test]
fn of_the_ready_steps_the_earliest_in_the_file_goes_first() {
    assert_eq!(order(&steps(&["d", "a", "c", "b"]).edges("b > d, a > c")), "a@0 c@1 b@0 d@1");
}

#[test]
fn every_edge_orders_whatever_it_was_drawn_for() {
    let edge =
        |from: &str, to: &str, kind: &str| json!({"source": from, "target": to, "data": {"connectionType": kind}});
    let drawing = steps(&["a", "b", "c", "x"])
        .edge(json!({"source": "b", "target": "a", "type": "smoothstep"}))
        .edge(edge("c", "b", "data"))
        .edge(edge("x", "c", "result"));
    assert_eq!(order(&drawing), "x@0 c@1 b@2 a@3");
}

#[test]
fn notes_results_and_inputs_in_between_pass_order_on() {
    let drawing = steps(&["c", "b", "a"])
        .result("r", "R")
        .note("m")
        .input("i", json!({"v": 1}))
        .edges("a > r > b, b > m > i > c");
    assert_eq!(order(&drawing), "a@0 b@1 c@2");
}

#[test]
fn a_join_waits_for_all_and_runs_once() {
    let drawing = flow()
        .text("s", "s")
        .text("l", "L({s_result})")
        .text("r", "R({s_result})")
        .text("j", "{l_result}+{r_result}")
        .edges("s > l > j, s > r > j, l > j");
    assert_eq!(order(&drawing), "s@0 l@1 r@1 j@2");
    assert_eq!(drawing.plan().steps()[3].parents, [1, 2]);
    assert_eq!(drawing.run(json!({})).text("j"), "L(s)+R(s)");
    assert_eq!(drawing.plan().waves(), [vec![0], vec![1, 2], vec![3]]);
}

#[test]
fn a_chain_of_thousands_of_steps_is_planned_whole() {
    for count in [1_000, 3_000] {
        let ids: Vec<String> = (0..count).map(|number| format!("s{number}")).collect();
        let mut drawing = ids.iter().fold(flow(), |drawing, id| drawing.text(id, "."));
        drawing = drawing.edges(&ids.join(">"));
        let wide = flowy::internals::validate::Options { max_nodes: 10_000, max_edges: 30_000, ..Default::default() };
        assert_eq!(drawing.options(wide).plan().steps().last().map(|step| step.wave), Some(count - 1));
    }
}

#[test]
fn more_nodes_or_edges_than_the_limits_are_refused_with_the_figures() {
    let options = flowy::internals::validate::Options { max_nodes: 2, max_edges: 1, ..Default::default() };
    let drawing = steps(&["a", "b", "c"]).edges("a > b > c").options(options);
    let messages: Vec<String> = drawing.findings().iter().map(|finding| finding.message.clone()).collect();
    assert_eq!(messages, ["the flow has 3 nodes, and 2 are allowed", "the flow has 2 edges, and 1 are allowed"]);
    assert!(drawing.check().flows[0].checked.is_none());
}

#[test]
fn a_lenient_check_ignores_edges_to_nodes_that_are_not_there() {
    let drawing = steps(&["a", "b"]).edges("a > gone > b, a > b");
    assert!(drawing.check().flows[0].checked.is_none());
    let lenient = drawing.options(flowy::internals::validate::Options { lenient: true, ..Default::default() });
    assert_eq!(lenient.rules(), ["dangling-edge", "dangling-edge"]);
    assert_eq!(order(&lenient), "a@0 b@1");
}

#[test]
fn several_rings_are_each_told_once() {
    let drawing = steps(&["a", "b", "c", "d", "e"]).edges("a > b > a, c > d > e > c, b > c, b > b");
    let rings: Vec<String> =
        drawing.findings().iter().filter(|finding| finding.rule == "cycle").map(|f| f.ring.join(" ")).collect();
    assert_eq!(rings, ["a b", "c d e"]);
}

#[test]
fn a_ring_through_a_note_or_a_result_is_a_ring() {
    let drawing = steps(&["a"]).note("m").result("r", "R").edges("a > m > r > a");
    assert_eq!(drawing.rules(), ["unknown-node-kind", "cycle"]);
}
