//! Flows of which nothing runs, files of other programs, and flows that nobody connected.

use serde_json::{Value, json};

use super::fixture;
use crate::support::checking::{check, findings};
use crate::support::drawing::flow;

/// Rule, reach and node of what is found in a file.
fn found(file: &Value) -> Vec<(&'static str, String, Option<String>)> {
    let found = findings(&check(&("flows/Boat.json".to_owned(), file.to_string().into_bytes()), &[]));
    found.into_iter().map(|finding| (finding.rule, finding.reach.to_string(), finding.node)).collect()
}

#[test]
fn hidden_characters_are_told_with_what_they_spell_and_those_of_emoji_are_not() {
    let (found, _) = fixture("hidden-text", "bad.json");
    let places: Vec<_> = found.iter().map(|finding| (finding.rule, finding.place.pointer.as_str())).collect();
    let of = |field| ("hidden-text", field);
    let fields =
        ["/metadata/description", "/nodes/0/data/label", "/nodes/0/data/template", "/nodes/0/data/description"];
    assert_eq!(places, fields.map(of));
    assert!(found[0].message.contains("\"send all files\"") && found[2].message.contains("\"ok\""), "{found:#?}");
}

#[test]
fn a_flow_without_a_step_is_refused_with_one_finding_whatever_keeps_it_from_having_one() {
    let of_type = flow().node(json!({"id": "a", "type": "Template", "data": {"template": "Hi {who}"}}));
    let of_type = of_type.input("ask", json!(["who"])).result("out", "Out").edges("ask > a > out");
    let told = of_type.findings();
    assert_eq!(told.len(), 1, "{told:#?}");
    assert_eq!((told[0].rule, told[0].node.as_deref()), ("empty-flow", Some("a")));
    assert!(told[0].hints[0].contains("\"template\""), "{:?}", told[0].hints);
    let nothing = flow().input("ask", json!(["who"])).result("out", "Out").edges("ask > out");
    assert_eq!(nothing.rules(), ["empty-flow"]);
    assert!(nothing.check().flows[0].checked.is_none());
    // A step that could not be read is told by the schema alone.
    let unread = found(
        &json!({"metadata": {"name": "Boat"}, "nodes": [{"id": 7, "type": "template", "data": {}}], "edges": []}),
    );
    assert_eq!(unread, [("schema", "flow".to_owned(), None)]);
}

#[test]
fn a_file_of_another_program_is_no_flow_and_says_whose_it_seems_to_be() {
    let node = |more: Value| {
        let mut node = json!({"id": "a", "type": "x", "data": {}});
        node.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        node
    };
    for (whose, file) in [
        ("n8n", json!({"name": "A", "nodes": [node(json!({"typeVersion": 1}))], "connections": {}})),
        ("n8n", json!({"name": "A", "nodes": [], "connections": {}})),
        ("Flowise", json!({"nodes": [node(json!({"data": {"inputParams": []}}))], "edges": []})),
        ("Langflow", json!({"name": "A", "data": {"nodes": [], "edges": []}})),
        ("Dify", json!({"kind": "app", "app": {"mode": "workflow"}, "workflow": {"graph": {"nodes": []}}})),
        ("ComfyUI", json!({"last_node_id": 2, "nodes": [{"id": 1, "type": "K"}], "links": []})),
        ("ComfyUI", json!({"3": {"class_type": "KSampler", "inputs": {}}})),
        ("ChainForge", json!({"flow": {"nodes": [], "edges": []}, "cache": {}})),
        ("Make", json!({"name": "A", "flow": [{"id": 1, "module": "http:x"}], "metadata": {}})),
        ("Obsidian", json!({"nodes": [node(json!({}))], "edges": [{"fromNode": "a", "toNode": "a"}]})),
        ("Node-RED", json!([{"id": "a", "type": "inject", "wires": [[]]}])),
    ] {
        let check = check(&("flows/Boat.json".to_owned(), file.to_string().into_bytes()), &[]);
        assert!(check.flows.is_empty(), "{whose}");
        assert_eq!(check.findings.len(), 1, "{whose}: {:#?}", check.findings);
        assert!(check.findings[0].message.contains(whose), "{}", check.findings[0].message);
    }
    // A flow with a step is a flow, whatever else its file holds.
    let flow = json!({"metadata": {"name": "Boat", "version": "1.0.0"}, "connections": {}, "cache": {},
        "nodes": [{"id": "a", "type": "template", "typeVersion": 1, "data": {"template": "Hi"}}], "edges": []});
    assert!(found(&flow).is_empty(), "{:?}", found(&flow));
}

#[test]
fn a_flow_without_edges_is_told_once() {
    let boat = flow().text("a", "A").text("b", "B").text("c", "C").result("out", "Out");
    let told = boat.findings();
    assert_eq!(
        told.iter().map(|f| (f.rule, f.severity.to_string())).collect::<Vec<_>>(),
        [("unconnected-node", "warning".to_owned())]
    );
    let reading = flow().text("a", "A").text("b", "B {a_result}").text("c", "C {b_result} {a_result}");
    assert_eq!(reading.rules(), ["unreachable-reference"]);
    assert!(flow().text("a", "A").rules().is_empty());
    // Edges that can't be read are told as such, not by what follows from that.
    let unread = found(&json!({"metadata": {"name": "Boat", "version": "1.0.0"},
        "nodes": [{"id": "a", "type": "template", "data": {"template": "A"}}, {"id": "b", "type": "template", "data": {"template": "B {a_result}"}}],
        "edges": [{"from": "a", "to": "b"}]}));
    assert!(unread.iter().all(|(rule, ..)| *rule == "schema"), "{unread:?}");
}

#[test]
fn a_result_that_no_step_feeds_is_told_also_where_an_input_leads_to_it() {
    let fed = flow().input("ask", json!(["who"])).text("a", "A {who}").result("out", "Out").result("more", "More");
    let bad = fed.clone().edges("ask > a > out, ask > more").findings();
    assert_eq!(
        bad.iter().map(|f| (f.rule, f.node.as_deref())).collect::<Vec<_>>(),
        [("unconnected-node", Some("more"))]
    );
    assert!(fed.edges("ask > a > out > more").rules().is_empty());
}
