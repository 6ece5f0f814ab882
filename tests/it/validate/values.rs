//! Defaults, sets, mappings and paths.

use super::{finds, says};

#[test]
fn two_defaults_for_one_input_are_told_with_both_places() {
    says(
        "differing-defaults",
        r#"
warning none bad.json:26:11 /nodes/1/data/variables/0 `{
            "key": "port",
            "value": "Oslo"
          }`
  input "port" has the default "Oslo" here and "Bergen" in node "near"
  hint: a step takes the default of the input node that has an edge to it, else the first in the file; set one under `inputs` to decide
  13:11 `{
            "key": "port",
            "value": "Bergen"
          }` the other default
"#,
    );
}

#[test]
fn every_default_and_set_value_that_does_not_fit_is_told_where_it_stands() {
    says(
        "misfit-default",
        r#"
error none bad.json:8:20 /metadata/inputs/days/default `4.5`
  the default of input "days" is "4.5", and its type is integer
  hint: fix the value, or what `inputs` says of it
error none bad.json:15:20 /metadata/inputs/boat/default `"raft"`
  the default of input "boat" is "raft", and only "ketch", "yawl" are allowed
  hint: fix the value, or what `inputs` says of it
error none bad.json:26:11 /nodes/0/data/variables/0 `{
            "key": "days",
            "value": "three"
          }`
  the default of input "days" is "three", and its type is integer
  hint: fix the value, or what `inputs` says of it
error none bad.json:43:23 /nodes/1/data/variableValueSets/0/values/days `"a week"`
  set "long": the value of "days" is "a week", and its type is integer
  hint: fix the value, or what `inputs` says of it
error none Trip_Bad.json:8:9 /templates/0/variables/0 `{
          "name": "days",
          "default": "soon"
        }`
  template "Trip_Bad": the default of "days" is "soon", and its type is integer
  hint: fix the value, or what `inputs` says of it
error none Trip_Bad.json:18:21 /templates/0/variableValueSets/0/values/days `"a day"`
  template "Trip_Bad": set "short": the value of "days" is "a day", and its type is integer
  hint: fix the value, or what `inputs` says of it
"#,
    );
}

#[test]
fn a_mapping_that_carries_nothing_is_told_with_its_reason() {
    says(
        "useless-mapping",
        r#"
warning none bad.json:47:11 /edges/1/data/mapping/log `"log"`
  edge "e2" takes "log" from "result.title", but node "sail" gives a text, which has no fields
  hint: map it from `result`
warning none bad.json:48:11 /edges/1/data/mapping/lag `"lag"`
  edge "e2" maps "lag", and the text of node "moor" doesn't use it
  hint: did you mean "log"?
  hint: use {lag} in that text, or remove it from the mapping
warning none bad.json:58:11 /edges/2/data/mapping/place `"place"`
  edge "e3" takes "place" from "porto", and there is no input of that name
  hint: did you mean "port"?
  hint: take `result`, or the name of an input
"#,
    );
}

#[test]
fn a_path_into_a_text_is_a_warning() {
    says(
        "path-into-text",
        r#"
warning none bad.json:30:28 /nodes/2/data/template `{sail_result.title}`
  node "moor": {sail_result.title} asks for a field of a text (the output of node "sail"); it stays as it is
  hint: write {sail_result} for the whole text
"#,
    );
}

#[test]
fn a_field_that_an_output_cannot_have_or_need_not_have_is_told() {
    finds(
        "unknown-output-field",
        &[
            "error none bad.json /nodes/2/data/variables/text",
            "warning none bad.json /nodes/3/data/args/a",
            "error none bad.json /nodes/3/data/args/b",
            "error step bad.json /nodes/3/data/requires/0",
            "error step bad.json /nodes/4/data/template",
            "error step bad.json /nodes/4/data/template",
            "warning none bad.json /nodes/4/data/template",
            "warning none bad.json /nodes/4/data/template",
            "error none bad.json /nodes/4/data/template",
            "error none bad.json /edges/5/data/mapping/copy",
        ],
    );
}

#[test]
fn braces_of_another_language_are_told_and_braces_that_are_text_are_not() {
    finds(
        "foreign-placeholder",
        &[
            "warning none bad.json /nodes/1/data/template",
            "warning none bad.json /nodes/2/data/template",
            "warning none bad.json /nodes/2/data/template",
            "warning none bad.json /nodes/3/data/template",
            "warning none bad.json /nodes/3/data/template",
            "warning none bad.json /nodes/4/data/template",
            "warning none bad.json /nodes/4/data/template",
            "warning none bad.json /nodes/4/data/template",
        ],
    );
}

#[test]
fn a_set_that_gives_what_no_text_uses_is_told_once() {
    finds(
        "unknown-set-key",
        &[
            "warning none bad.json /nodes/0/data/variableValueSets/0/values/prot",
            "warning none bad.json /nodes/0/data/variableValueSets/1/name",
            "warning none Berth.json /variableValueSets/0/values/crwe",
        ],
    );
}
