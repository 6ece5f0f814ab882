//! The drawing: nodes, edges, rings.

use super::{finds, says};

#[test]
fn two_nodes_of_one_id_are_told_with_both_places() {
    says(
        "duplicate-node",
        r#"
error flow bad.json:24:13 /nodes/2/id `"sail"`
  node id "sail" is used twice: by "First" (/nodes/0) and by "Second" (/nodes/2)
  hint: give one of the two another id, and fix the edges that mean it
  8:13 `"sail"` first used here
"#,
    );
}

#[test]
fn two_edges_of_one_id_are_told_with_both_places() {
    says(
        "duplicate-edge",
        r#"
error flow bad.json:31:13 /edges/1/id `"e1"`
  edge id "e1" is used twice ("sail" → "moor")
  hint: give one of the two another id, or leave the id out
  26:13 `"e1"` first used here
"#,
    );
}

#[test]
fn each_end_that_names_no_node_is_told_with_the_nearest_id() {
    says(
        "dangling-edge",
        r#"
error flow bad.json:32:17 /edges/1/source `"saill"`
  edge "e2" names node "saill" as its source, and there is no such node
  hint: did you mean "sail"?
  hint: remove the edge, or add the node; `--lenient` ignores such edges
error flow bad.json:37:17 /edges/2/target `"pier"`
  edge "moor → pier" names node "pier" as its target, and there is no such node
  hint: remove the edge, or add the node; `--lenient` ignores such edges
"#,
    );
}

#[test]
fn an_edge_from_a_node_to_itself_is_refused() {
    says(
        "self-edge",
        r#"
error flow bad.json:32:17 /edges/1/target `"sail"`
  edge "e-sail-sail" leads from node "sail" to itself
  hint: remove the edge: a step can't wait for itself
"#,
    );
}

#[test]
fn a_ring_is_told_closed_and_without_what_hangs_on_it() {
    says(
        "cycle",
        r#"
error flow bad.json:63:17 /edges/3/target `"sail"`
  the edges form a ring: sail → moor → land → sail
  hint: remove one edge of the ring
  ring: sail moor land
"#,
    );
}

#[test]
fn a_node_of_an_unknown_type_is_a_warning_and_a_misspelt_step_an_error() {
    says(
        "unknown-node-kind",
        r#"
error flow bad.json:17:15 /nodes/1/type `"templete"`
  node "sail" is of type "templete": nothing runs there
  hint: did you mean "template"?
warning none bad.json:33:15 /nodes/3/type `"sticky"`
  node "note" is of type "sticky": nothing runs there
  hint: a step has one of the types template, tool, flow, flow-link; a note for people may stay with "x-flowy-ignore": {"unknown-node-kind": "a note"} in its node
"#,
    );
}

#[test]
fn a_step_with_nothing_to_run_is_refused() {
    says(
        "empty-step",
        r#"
error flow bad.json:18:15 /nodes/1/data `{
        "label": "Second",
        "template": "  ",
        "selectedTemplateId": ""
      }`
  node "moor" has nothing to run: neither `selectedTemplateId` nor `template` is set
  hint: name a template in `data.selectedTemplateId`, or write the text in `data.template`
"#,
    );
}

#[test]
fn a_forgotten_step_and_a_result_of_nothing_are_warnings() {
    says(
        "unconnected-node",
        r#"
warning none bad.json:24:13 /nodes/2/id `"draft"`
  node "draft" has no edge: it runs, but nothing comes before or after it
  hint: connect it, or remove it
warning none bad.json:32:13 /nodes/3/id `"out"`
  node "out" has no edge: no step leads to it, so it marks nothing
  hint: connect it, or remove it
"#,
    );
}

#[test]
fn a_step_that_nobody_reads_and_no_result_shows_is_told() {
    finds("unread-output", &["warning none bad.json /nodes/1/id", "warning none bad.json /nodes/3/id"]);
}

#[test]
fn a_result_that_an_optional_step_can_take_away_is_told() {
    finds("lost-result", &["warning none bad.json /nodes/1/data/optional"]);
}
