//! What only a guided execution needs: personas and contracts.

use flowy::internals::validate::Reach;

use super::{fixture, says};
use crate::support::drawing::flow;

#[test]
fn a_persona_that_is_not_there_or_cannot_be_used_is_told_with_its_name() {
    says(
        "missing-persona",
        r#"
error none bad.json:13:20 /nodes/0/data/persona `"skiper"`
  node "sail" names persona "skiper", but no persona has that file name or name
  hint: did you mean "skipper"?
  hint: add it to personas/ as a Markdown file, or fix the name
error none bad.json:22:20 /nodes/1/data/persona `"Pilot"`
  node "moor" names persona "Pilot", but no persona has that file name or name
  hint: add it to personas/ as a Markdown file, or fix the name
error none bad.json:31:20 /nodes/2/data/persona `"ghost"`
  node "land" names persona "ghost", which can't be used: personas/ghost.md: line 1 holds a control or bidirectional character (U+001B)
  hint: fix the file: plain text in UTF-8, after a front matter that ends with ---
error none bad.json:40:20 /nodes/3/data/persona `"mate"`
  node "rest" names persona "mate", but several files have that name: personas/a/mate.md, personas/b/mate.md
  hint: give each persona a file name of its own
"#,
    );
}

#[test]
fn a_contract_that_is_no_schema_is_told_with_the_reason() {
    says(
        "bad-contract",
        r#"
error none bad.json:13:21 /nodes/0/data/contract `"rout"`
  node "sail" names contract "rout", but no contract has that file name
  hint: did you mean "route"?
  hint: add it to contracts/, write the schema into the node, or fix the name
error none bad.json:22:21 /nodes/1/data/contract `"berth"`
  node "moor" names contract "berth", which can't be used: contracts/berth.json: /required: "berth" is not of type "array" (line 1, column 32)
  hint: fix the file: it holds one JSON Schema (2020-12) that stands alone
error none bad.json:31:21 /nodes/2/data/contract `{
          "type": "text"
        }`
  the contract of node "land" is no schema: /type: "text" is none of the types string, number, integer, boolean, array, object, null
  hint: write a JSON Schema (2020-12) that stands alone
error none bad.json:42:21 /nodes/3/data/contract `{
          "$ref": "https://example.org/rest.json"
        }`
  the contract of node "rest" is no schema: "https://example.org/rest.json" is elsewhere: a contract refers to nothing outside of itself
  hint: write a JSON Schema (2020-12) that stands alone
"#,
    );
}

#[test]
fn neither_keeps_a_direct_execution_from_running() {
    for rule in ["missing-persona", "bad-contract"] {
        let (all, _) = fixture(rule, "bad.json");
        assert!(all.len() >= 3 && all.iter().all(|finding| finding.reach == Reach::None), "{rule}");
    }
    let drawing = flow().data("a", serde_json::json!({"template": "Hello.", "persona": "nobody", "contract": "none"}));
    assert_eq!(drawing.rules(), ["missing-persona", "bad-contract"]);
    assert_eq!(drawing.run(serde_json::json!({})).text("a"), "Hello.");
}

#[test]
fn a_contract_that_no_output_meets_is_told_where_it_contradicts_itself() {
    use serde_json::json;
    for (contract, at) in [
        (json!({"properties": {"n": {"minimum": 10, "maximum": 1}}}), "/properties/n/minimum"),
        (json!({"properties": {"t": {"minLength": 10, "maxLength": 5}}}), "/properties/t/minLength"),
        (json!({"properties": {"t": {"type": "string", "enum": [1, 2]}}}), "/properties/t/enum"),
        (json!({"properties": {"t": {"type": "integer", "const": "x"}}}), "/properties/t/const"),
        (json!({"properties": {"t": false}, "required": ["t"]}), "/required/0"),
        (json!({"propertys": {"t": {"type": "string"}}}), "/propertys"),
        (json!({"property": {"t": {"type": "string"}}}), "/property"),
    ] {
        let drawing = flow().data("a", json!({"template": "Hello.", "contract": contract}));
        assert_eq!(drawing.rules(), ["bad-contract"], "{contract}");
        assert_eq!(drawing.findings()[0].place.pointer.as_str(), format!("/nodes/0/data/contract{at}"));
    }
    for contract in [
        json!({"type": "object", "minLength": 9, "maxLength": 1}),
        json!({"properties": {"n": {"minimum": 1, "maximum": 1}, "e": {"type": ["string", "null"], "enum": ["a", null]}}}),
        json!({"properties": {"n": {"type": "integer", "const": 3.0}, "off": false, "options": {}, "props": {}}}),
    ] {
        let drawing = flow().data("a", json!({"template": "Hello.", "contract": contract}));
        assert_eq!(drawing.rules(), [""; 0], "{contract}");
    }
}

#[test]
fn a_path_into_the_output_of_a_step_with_a_contract_is_fine() {
    let contract = serde_json::json!({"type": "object"});
    let drawing = flow()
        .data("a", serde_json::json!({"template": "Make it.", "contract": contract}))
        .text("b", "About {a_result.title}.")
        .edges("a > b");
    assert!(drawing.rules().is_empty(), "{:?}", drawing.rules());
}
