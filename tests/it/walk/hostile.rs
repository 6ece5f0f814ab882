//! Files made to be expensive, within the size limit of a file: answered, and soon.

use flowy::internals::validate::{Body, Reach};
use serde_json::{Value, json};

use crate::support::checking::{check, findings, told};
use crate::support::drawing::flow;
use crate::support::program::Sandbox;

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
fn thousands_of_edges_to_nowhere_in_one_line_are_placed() {
    let edges: Vec<Value> = (0..5_000).map(|number| json!({"source": "n", "target": format!("m{number}")})).collect();
    let nodes = json!([{"id": "n", "type": "template", "data": {"template": "x"}}]);
    let file = json!({"metadata": {"name": "x"}, "nodes": nodes, "edges": edges}).to_string();
    let found = findings(&check(&("flows/X.json".to_owned(), file.into_bytes()), &[]));
    assert_eq!(found.len(), 1_001);
    assert!(told(&found[999]).contains("`\"m999\"`"));
    assert!(found[1_000].message.starts_with("4,000 more findings"), "{}", found[1_000].message);
}

#[test]
fn of_thousands_of_errors_one_is_kept_for_each_flow_and_each_step_that_they_stop() {
    let flows: Vec<Value> = (0..1_500)
        .map(|n| json!({"meta": {"name": format!("F{n}"), "version": "1.0.0"}, "nodes": n % 2 * 7, "edges": [], "tags": 1}))
        .collect();
    let export = json!({"metadata": {}, "flows": flows}).to_string();
    let checked = check(&("flows/X.json".to_owned(), export.into_bytes()), &[]);
    assert_eq!(checked.flows.len(), 1_500);
    assert!(checked.flows.iter().all(|flow| flow.checked.is_none() && flow.findings[0].reach == Reach::Flow));
    let step = |n: usize| format!("## L {{#s{n}}}\n```yaml\nonEror: a\nonErorr: b\n```\nText.\n");
    let file = format!("---\nname: X\nversion: 1.0.0\n---\n{}", (0..900).map(step).collect::<Vec<_>>().concat());
    let checked = check(&("flows/X.flow.md".to_owned(), file.into_bytes()), &[]);
    let steps = checked.flows[0].checked.as_ref().unwrap().scope().steps.iter();
    assert_eq!(steps.filter(|step| matches!(step.body, Body::Faulty { .. })).count(), 900);
    assert!(checked.flows[0].findings.len() < 2_100, "{}", checked.flows[0].findings.len());
}

#[test]
fn what_may_be_compared_serves_for_all_names_of_one_flow() {
    let name = |n: usize| format!("A_name_of_some_forty_letters_with_{n:06}");
    let step = |n: usize, data: Value, kind: &str| json!({"id": format!("s{n}"), "type": kind, "data": data});
    for (key, file) in [
        ("persona", "personas/@.md"),
        ("contract", "contracts/@.json"),
        ("selectedTemplateId", "templates/@.json"),
        ("flow", "flows/@.json"),
    ] {
        let kind = if key == "flow" { "flow" } else { "template" };
        let text = |n: usize| {
            match key {
            "persona" => "Somebody.".to_owned(),
            "contract" => "{}".to_owned(),
            "flow" => json!({"metadata": {"name": name(n), "version": "1.0.0"}, "nodes": [step(0, json!({"template": "t"}), "template")], "edges": []}).to_string(),
            _ => json!({"title": name(n), "template": "t"}).to_string(),
        }
        };
        let data = |n: usize| {
            let mut data = json!({"label": "l", "template": "t"});
            if key == "selectedTemplateId" || key == "flow" {
                data = json!({"label": "l"});
            }
            data[key] = json!(format!("{}x", name(n)));
            data
        };
        let nodes: Vec<Value> = (0..200).map(|n| step(n, data(n), kind)).collect();
        let flow = json!({"metadata": {"name": "X", "version": "1.0.0"}, "nodes": nodes, "edges": []}).to_string();
        let sandbox = (0..200).fold(Sandbox::new().file("c/flows/X.json", flow), |sandbox, n| {
            sandbox.file(&format!("c/{}", file.replace('@', &name(n))), text(n))
        });
        let said = sandbox.run(["validate", "--source", "c", "--json"]).json();
        let files = said["files"].as_array().unwrap();
        let found = files.iter().find(|file| file["file"] == "flows/X.json").unwrap()["findings"].as_array().unwrap();
        let near = found.iter().filter(|finding| finding.to_string().contains("did you mean")).count();
        assert!((1..200).contains(&near), "{key}: {near} of {}", found.len());
    }
}

#[test]
fn of_nodes_of_one_id_a_picture_tells_each_finding_once() {
    let nodes: Vec<Value> =
        (0..200).map(|_| json!({"id": "s", "type": "template", "data": {"label": "L", "template": "t"}})).collect();
    let file = json!({"metadata": {"name": "X", "version": "1.0.0"}, "nodes": nodes, "edges": []}).to_string();
    let sandbox = Sandbox::new().file("c/flows/X.json", file);
    for format in ["svg", "html"] {
        let drawn = sandbox.run(["graph", "X", "--format", format, "--source", "c"]).out;
        let told = drawn.matches("duplicate-node").count();
        assert!(drawn.len() > 1_000 && told <= 1_000, "{format}: {told} of {} bytes", drawn.len());
    }
}

#[test]
fn a_flow_that_stands_in_others_many_times_is_shown_wholly_once() {
    let step = |n: usize, level: usize| match level {
        0 => json!({"id": "a", "type": "template", "data": {"label": "a", "template": "The only text."}}),
        _ => json!({"id": format!("f{n}"), "type": "flow", "data": {"label": "f", "flow": format!("L{}", level - 1)}}),
    };
    let sandbox = (0..4).fold(Sandbox::new(), |sandbox, level| {
        let nodes: Vec<Value> = (0..if level == 0 { 1 } else { 5 }).map(|n| step(n, level)).collect();
        let file = json!({"metadata": {"name": format!("L{level}"), "version": "1.0.0"}, "nodes": nodes, "edges": []});
        sandbox.file(&format!("c/flows/L{level}.json"), file.to_string())
    });
    for arguments in
        [vec!["show", "L3", "--full", "--source", "c"], vec!["show", "L3", "--full", "--json", "--source", "c"]]
    {
        let shown = sandbox.run(arguments.clone()).out;
        assert_eq!(shown.matches("The only text.").count(), 1, "{arguments:?}: {shown}");
    }
}

#[test]
fn templates_of_one_title_are_listed_by_their_ids() {
    let templates: Vec<Value> =
        (0..4_500).map(|n| json!({"id": format!("t{n}"), "title": "T", "template": "x"})).collect();
    let sandbox = Sandbox::new().file("c/templates/T.json", json!({"templates": templates}).to_string());
    let said = sandbox.run(["list", "--kind", "templates", "--source", "c", "--json"]).json();
    assert_eq!(said["total"], 4_500, "{said}");
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
