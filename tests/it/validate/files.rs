//! What a file says as a whole: syntax, schema, names, versions, size.

use super::says;
use crate::support::checking::{check, findings};

#[test]
fn a_comma_with_nothing_after_it_is_told_at_the_comma() {
    says(
        "syntax",
        r"
error flow bad.json:4:74  `,`
  a comma with nothing after it
  hint: remove the comma before the closing bracket
",
    );
}

#[test]
fn a_wrong_type_stops_the_flow_where_it_is_read_and_only_warns_where_it_describes() {
    says(
        "schema",
        r#"
warning none bad.json:5:13 /metadata/tags `"harbour"`
  /metadata/tags: "harbour" is not of type "array"
  hint: the field only describes the flow; the flow runs anyway
warning none bad.json:6:19 /metadata/complexity `"huge"`
  /metadata/complexity: "huge" is none of "simple", "moderate", "high" and null
  hint: the field only describes the flow; the flow runs anyway
error flow bad.json:11:21 /metadata/inputs/port/required `"yes"`
  /metadata/inputs/port/required: "yes" is not of type "boolean"
  hint: what belongs there: `true` or `false` (Whether a value must be given)
warning none bad.json:12:24 /metadata/inputs/port/description `5`
  /metadata/inputs/port/description: 5 is not of types "null", "string"
  hint: the field only describes the flow; the flow runs anyway
warning none bad.json:31:18 /nodes/1/data/label `[
          "Sail"
        ]`
  node "sail": data.label: ["Sail"] is not of types "null", "number", "string"
  hint: the field only describes the flow; the flow runs anyway
error flow bad.json:38:13 /nodes/2/id `7`
  /nodes/2/id: 7 is not of type "string"
  hint: what belongs there: a text (Id of the node, unique in its flow)
error flow bad.json:48:17 /nodes/3/data/args `"hello"`
  node "tide": data.args: "hello" is not of types "null", "object"
  hint: what belongs there: an object (Arguments of the call)
error flow bad.json:49:20 /nodes/3/data/onError `"ignore"`
  node "tide": data.onError: "ignore" is none of "stop", "continue" and null
  hint: what belongs there: Whether a failure stops what depends on the step
"#,
    );
}

#[test]
fn a_missing_type_of_a_node_is_told_once_with_the_types_there_are() {
    let told_of = |kind: &str| {
        let text = format!(
            r#"{{"metadata": {{"name": "Boat", "version": "1.0.0"}}, "nodes": [{{"id": "sail"{kind}, "data": {{}}}},
               {{"id": "tide", "type": "template", "data": {{"template": "Tide"}}}}], "edges": []}}"#
        );
        let found = findings(&check(&("flows/Boat.json".to_owned(), text.into_bytes()), &[]));
        let of_type = found.into_iter().filter(|finding| ["schema", "unknown-node-kind"].contains(&finding.rule));
        of_type.map(|finding| (finding.rule, finding.message, finding.hints)).collect::<Vec<_>>()
    };
    let missing = told_of("");
    assert_eq!(missing.len(), 1, "{missing:?}");
    assert_eq!(missing[0].1, "node \"sail\": \"type\" is a required property");
    assert!(
        missing[0].2[0].contains("`multi_input` (or `input`), `template`, `result`, `tool`, `flow`"),
        "{missing:?}"
    );
    let number = told_of(", \"type\": 5");
    assert_eq!((number.len(), number[0].0), (1, "schema"), "{number:?}");
    let empty = told_of(", \"type\": \"\"");
    assert_eq!((empty.len(), empty[0].0), (1, "unknown-node-kind"), "{empty:?}");
}

#[test]
fn a_key_that_stands_twice_is_told_with_its_first_place() {
    says(
        "duplicate-key",
        r#"
error none bad.json:7:61 /nodes/0/data/label `"label"`
  key "label" stands twice in this object; the last one counts
  hint: remove one of the two
  7:17 `"label"` first here
"#,
    );
}

#[test]
fn a_flow_without_nodes_is_refused_at_its_list() {
    says(
        "empty-flow",
        r#"
error flow bad.json:6:12 /nodes `[]`
  flow "bad" has no nodes
  hint: add at least one template node
"#,
    );
}

#[test]
fn a_flow_without_a_name_is_listed_by_its_file() {
    says(
        "missing-name",
        r#"
warning none bad.json:2:15 /metadata `{
    "version": "1.0.0"
  }`
  the flow has no `metadata.name`; it is listed as "bad"
  hint: write "metadata": {"name": "…"}, with 1 to 200 characters and no slashes
"#,
    );
}

#[test]
fn a_version_that_tools_cannot_compare_is_a_warning() {
    says(
        "bad-version",
        r#"
warning none bad.json:4:16 /metadata/version `"v1"`
  version "v1" is not of the form 1.2.3
  hint: write it as three numbers, for example "1.0.0"
"#,
    );
}

#[test]
fn an_id_of_more_than_fifty_characters_is_refused_once() {
    says(
        "over-limit",
        r#"
error flow bad.json:8:13 /nodes/0/id `"a-node-whose-id-goes-on-and-on-until-nobody-wants-i"`
  node id "a-node-whose-id-goes-on-and-on-until-nobody-wants-i" is not allowed: it is longer than 50 characters
  hint: give the node a shorter id
"#,
    );
}

#[test]
fn what_was_written_for_a_field_that_is_missing_is_told_where_it_stands() {
    let text = r#"{"metadata": {"name": "Boat", "version": "1.0.0"}, "nodes": [
        {"id": "sail", "kind": "template", "data": {"template": "Sail"}},
        {"id": "tide", "type": "template", "data": {"template": "Tide"}}],
        "edges": [{"from": "sail", "target": "tide"}]}"#;
    let found = findings(&check(&("flows/Boat.json".to_owned(), text.as_bytes().to_vec()), &[]));
    let of_schema = found.iter().filter(|finding| finding.rule == "schema");
    let told: Vec<(String, &str)> =
        of_schema.map(|finding| (finding.place.pointer.to_string(), finding.hints[0].as_str())).collect();
    let due = [("/nodes/0/kind", "did you mean \"type\"?"), ("/edges/0/from", "did you mean \"source\"?")];
    assert_eq!(told, due.map(|(place, hint)| (place.to_owned(), hint)));
}
