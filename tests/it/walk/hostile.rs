//! Files made to be expensive, within the size limit of a file: answered, and soon.

use flowy::internals::validate::Reach;
use serde_json::{Value, json};

use crate::support::checking::{check, findings, told};
use crate::support::drawing::flow;

/// As many distinct placeholders as fit into about a megabyte.
fn many_names(count: usize) -> String {
    (0..count).map(|number| format!("{{v{number}}} ")).collect::<Vec<_>>().concat()
}

#[test]
fn a_thousand_steps_of_one_huge_template_are_refused_and_the_first_are_told() {
    let text = many_names(90_000);
    let mut drawing = flow().template("Huge", &json!({"title": "h", "template": text, "variables": ["v0"]}));
    for number in 0..1_000 {
        drawing = drawing.saved(&format!("n{number}"), "Huge");
    }
    let found = drawing.findings();
    let over: Vec<_> = found.iter().filter(|finding| finding.rule == "over-limit").collect();
    assert_eq!(over.len(), 21);
    assert!(over[20].message.starts_with("979 more steps"), "{}", over[20].message);
    assert_eq!((over[0].reach, over[0].node.as_deref()), (Reach::Step, Some("n1")));
    assert!(over[0].message.contains("100000 are allowed"), "{}", over[0].message);
    assert_eq!(drawing.required(), ["v0"]);
}

#[test]
fn of_tens_of_thousands_of_findings_of_one_rule_a_thousand_are_placed_and_the_others_counted() {
    let names: Vec<String> = (0..30_000).map(|number| format!("v{number}")).collect();
    let drawing =
        flow().data("n", json!({"template": many_names(30_000).replace("{v", "{other_"), "variables": names}));
    let found = drawing.findings();
    for rule in ["unused-variable", "unbound-placeholder"] {
        let of_rule: Vec<_> = found.iter().filter(|finding| finding.rule == rule).collect();
        assert_eq!(of_rule.len(), 1_001, "{rule}");
        let counted = of_rule.iter().filter(|finding| finding.message.starts_with("29,000 more findings"));
        assert_eq!(counted.count(), 1, "{rule}");
    }
}

#[test]
fn thousands_of_edges_to_nowhere_in_one_line_are_each_placed() {
    let edges: Vec<Value> = (0..5_000).map(|number| json!({"source": "n", "target": format!("m{number}")})).collect();
    let nodes = json!([{"id": "n", "type": "template", "data": {"template": "x"}}]);
    let file = json!({"metadata": {"name": "x"}, "nodes": nodes, "edges": edges}).to_string();
    let found = findings(&check(&("flows/X.json".to_owned(), file.into_bytes()), &[]));
    assert_eq!(found.len(), 5_000);
    assert!(told(&found[4_999]).contains("`\"m4999\"`"));
}

#[test]
fn of_thousands_of_edges_only_the_first_are_compared_with_the_nodes_there_are() {
    let id = |number: usize| format!("{}{number:04}", "a".repeat(40));
    let nodes: Vec<Value> =
        (0..1_000).map(|n| json!({"id": id(n), "type": "template", "data": {"template": "t"}})).collect();
    let edges: Vec<Value> = (0..100).map(|n| json!({"source": id(n), "target": format!("{}b", id(n))})).collect();
    let file = json!({"metadata": {"name": "x"}, "nodes": nodes, "edges": edges}).to_string();
    let found = findings(&check(&("flows/X.json".to_owned(), file.into_bytes()), &[]));
    let edges: Vec<_> = found.iter().filter(|finding| finding.rule == "dangling-edge").collect();
    let fixed = edges.iter().filter(|finding| finding.fix.is_some()).count();
    assert_eq!(edges.len(), 100);
    assert!((1..100).contains(&fixed), "{fixed}");
}

#[test]
fn a_long_chain_over_the_limits_is_refused_with_figures_and_without_a_crash() {
    let ids: Vec<String> = (0..12_000).map(|number| format!("n{number}")).collect();
    let nodes: Vec<Value> = ids.iter().map(|id| json!({"id": id, "type": "x"})).collect();
    let edges: Vec<Value> = ids.windows(2).map(|pair| json!({"source": pair[0], "target": pair[1]})).collect();
    let file = json!({"metadata": {"name": "x"}, "nodes": nodes, "edges": edges}).to_string();
    let found = findings(&check(&("flows/X.json".to_owned(), file.into_bytes()), &[]));
    let messages: Vec<_> = found.iter().filter(|f| f.rule == "over-limit").map(|f| f.message.as_str()).collect();
    assert_eq!(
        messages,
        ["the flow has 12000 nodes, and 1000 are allowed", "the flow has 11999 edges, and 5000 are allowed"]
    );
}
