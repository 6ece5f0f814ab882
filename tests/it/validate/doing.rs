//! Steps that call tools or go through other flows.

use super::{finds, says};

#[test]
fn a_call_has_exactly_one_colon() {
    says(
        "bad-call",
        r#"
error step bad.json:12:17 /nodes/0/data/call `"read_level"`
  node "tide": "read_level": a call is alias:tool, and this has no colon
  hint: write `alias:tool`: the server's name in the operator's file, then the tool's
error step bad.json:20:17 /nodes/1/data/call `"tide:read:level"`
  node "moon": "tide:read:level": a call is alias:tool, and this has more than one colon
  hint: write `alias:tool`: the server's name in the operator's file, then the tool's
"#,
    );
}

#[test]
fn a_server_or_tool_that_is_not_there_is_told_with_the_nearest() {
    says(
        "unknown-tool",
        r#"
error step bad.json:12:17 /nodes/0/data/call `"tide:read_levels"`
  node "tide": tide:read_levels: server "tide" has no tool "read_levels"
  hint: did you mean "read_level"?
  hint: `flowy servers list` shows the servers, `flowy servers tools ALIAS` asks one for its tools anew
error step bad.json:23:17 /nodes/1/data/call `"tides:read_level"`
  node "moon": tides:read_level: no external server is called "tides"
  hint: did you mean "tide"?
  hint: `flowy servers list` shows the servers, `flowy servers tools ALIAS` asks one for its tools anew
"#,
    );
}

#[test]
fn a_tool_that_the_operator_does_not_allow_is_refused() {
    says(
        "tool-not-allowed",
        r#"
error step bad.json:12:17 /nodes/0/data/call `"tide:set_alarm"`
  node "tide": tide:set_alarm is not allowed by the operator
  hint: the operator allows tools in the servers file, in `allow`
"#,
    );
}

#[test]
fn a_server_that_is_switched_off_or_can_not_be_asked_is_told() {
    says(
        "unavailable-tool",
        r#"
error step bad.json:12:17 /nodes/0/data/call `"radio:listen"`
  node "tide": radio:listen: the operator switched server "radio" off
  hint: the operator switches it on in the servers file, in `disabled`
warning none bad.json:20:17 /nodes/1/data/call `"moon:phase"`
  node "moon": the tools of server "moon" are not known: it ended with code 3; this call was not checked
  hint: `flowy servers tools ALIAS` asks that server alone; what it said once is kept for later checks
"#,
    );
}

#[test]
fn arguments_that_can_not_fit_are_told_each_by_its_place() {
    says(
        "misfit-arguments",
        r#"
error step bad.json:23:17 /nodes/1/data/args `{
          "days": "{{ days }}",
          "prot": "Bergen"
        }`
  node "tide": the arguments don't fit what tide:read_level takes: args.prot is not a field of the tool; leave it out; args.port is missing, and the tool requires it
  hint: `flowy servers tools ALIAS --schema` shows what the tool takes
error step bad.json:35:17 /nodes/2/data/args `{
          "port": 7,
          "days": "soon"
        }`
  node "moon": the arguments don't fit what tide:read_level takes: args.port is a number, and must be text; args.days is text, and must be a whole number
  hint: `flowy servers tools ALIAS --schema` shows what the tool takes
"#,
    );
}

#[test]
fn a_flow_that_is_not_there_or_can_not_run_is_told() {
    says(
        "missing-flow",
        r#"
error step bad.json:12:17 /nodes/0/data/flow `"Birth"`
  node "berth": there is no flow "Birth"
  hint: did you mean "Berth"?
  hint: name a flow of this catalog in `data.flow`, and fix what keeps it from running
error step bad.json:23:17 /nodes/1/data/flow `"Quay"`
  node "quay": flow "Quay" can't be executed: flows/Quay.json: a comma is missing
  hint: fix it
"#,
    );
}

#[test]
fn flows_that_go_round_are_told_closed() {
    says(
        "flow-ring",
        r#"
error flow bad.json:12:17 /nodes/0/data/flow `"Berth"`
  node "berth": the flows form a ring: "Harbour" → "Berth" → "Harbour"
  hint: remove one `flow` node of the ring
  ring: Berth Harbour
"#,
    );
}

#[test]
fn an_input_that_the_other_flow_needs_is_told() {
    says(
        "missing-flow-input",
        r#"
error step bad.json:13:22 /nodes/0/data/variables `{
          "length": "12"
        }`
  node "berth": flow "Berth" needs boat
  hint: add the names to `data.variables`, each with a text
"#,
    );
}

#[test]
fn a_variable_set_that_the_other_flow_does_not_have_is_told() {
    says(
        "unknown-variable-set",
        r#"
error step bad.json:14:27 /nodes/0/data/variables/_variableSet `"sial"`
  node "berth": flow "Berth" has no variable set "sial"
  hint: did you mean "sail"?
  hint: name in `_variableSet` a set that a step of that flow has
"#,
    );
}

#[test]
fn an_input_that_the_other_flow_does_not_have_is_a_warning() {
    says(
        "unknown-flow-input",
        r#"
warning none bad.json:15:11 /nodes/0/data/variables/lenght `"lenght"`
  node "berth": flow "Berth" has no input "lenght"
  hint: did you mean "length"?
  hint: its inputs: "boat", "length"
"#,
    );
}

#[test]
fn a_field_that_is_all_but_one_that_is_read_is_told_and_every_other_is_not() {
    finds(
        "misspelt-field",
        &[
            "warning none bad.json /metadata/variableSets",
            "warning none bad.json /metadata/inputs/port/choices",
            "warning none bad.json /metadata/inputs/port/defaultValue",
            "warning none bad.json /nodes/0/data/onerror",
            "warning none bad.json /nodes/0/data/timeout",
            "warning none bad.json /nodes/0/data/delay_ms",
            "warning none bad.json /nodes/1/data/arguments",
            "warning none bad.json /nodes/1/data/requries",
            "warning none bad.json /nodes/2/data/inputs",
            "warning none bad.json /nodes/4/data/personna",
            "warning none bad.json /nodes/4/data/contractt",
            "warning none bad.json /nodes/4/data/varibles",
            "warning none bad.json /nodes/4/data/variableSets",
            "warning none bad.json /nodes/4/data/requires",
            "warning none bad.json /nodes/4/optional",
            "warning none bad.json /nodes/5/data/variables/0/type",
            "warning none bad.json /nodes/5/data/variables/0/required",
            "warning none bad.json /edges/3/mapping",
            "warning none bad.json /edges/4/data/mappings",
            "warning none bad.json /inputs",
        ],
    );
}

#[test]
fn a_retry_that_is_not_done_as_written_is_told() {
    says(
        "bad-retry",
        r#"
warning none bad.json:17:20 /nodes/0/data/retry/times `99`
  node "tide": `retry.times` is 99, and a failed call is tried again at most 10 times
  hint: write 10 or less
warning none bad.json:18:11 /nodes/0/data/retry/backofMs `"backofMs"`
  node "tide": the field "backofMs" of `retry` is unknown, and flowy ignores it
  hint: did you mean "backoffMs"?
  hint: its fields are `times` and `backoffMs`
warning none bad.json:33:24 /nodes/1/data/retry/backoffMs `90000`
  node "moon": `retry.backoffMs` is 90000, and no pause is longer than a minute
  hint: write 60000 or less
warning none bad.json:34:11 /nodes/1/data/retry/jitter `"jitter"`
  node "moon": the field "jitter" of `retry` is unknown, and flowy ignores it
  hint: its fields are `times` and `backoffMs`
"#,
    );
}
