//! Flows within flows, from the files of a catalog.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]

use serde_json::{Value, json};

use crate::support::mcp::Bench;
use crate::support::program::Sandbox;

fn file(nodes: Value, edges: &[(&str, &str)], inputs: Value) -> String {
    let edges: Vec<Value> = edges.iter().map(|(from, to)| json!({"source": from, "target": to})).collect();
    json!({"metadata": {"name": "x", "version": "1.0.0", "inputs": inputs}, "nodes": nodes, "edges": edges}).to_string()
}

fn link(id: &str, flow: &str, variables: Value) -> Value {
    json!({"id": id, "type": "flow", "data": {"flow": flow, "variables": variables}})
}

fn step(id: &str, text: &str) -> Value {
    json!({"id": id, "type": "template", "data": {"template": text}})
}

/// A flow that greets: two steps, one input with a default, one without.
fn greet() -> String {
    file(
        json!([step("hello", "Hello {who}"), step("wrap", "<{hello_result}, {mood}>")]),
        &[("hello", "wrap")],
        json!({"who": {"type": "string", "required": true}, "mood": {"default": "calm"}}),
    )
}

#[tokio::test]
async fn another_flow_is_one_step_and_its_result_the_output() {
    let outer = file(
        json!([
            step("name", "Ada {last}"),
            link("greet", "Greet", json!({"who": "{name_result}!", "mood": "{mood}"})),
            step("end", "{greet_result} and {mood}")
        ]),
        &[("name", "greet"), ("greet", "end")],
        json!({}),
    );
    let server = Bench::folder([("flows/Outer.json", outer), ("flows/Greet.json", greet())]);
    let mut session = server.session().await;
    let done = session
        .ok(
            "flows_execute",
            json!({"flowName": "Outer", "initialVariables": {"last": "L", "mood": "gay"}, "detail": "full"}),
        )
        .await;
    assert_eq!(done["finalResult"], "<Hello Ada L!, gay> and gay");
    let steps: Vec<_> =
        done["intermediateResults"].as_array().unwrap().iter().map(|s| (&s["nodeId"], &s["kind"])).collect();
    assert_eq!(
        steps,
        [(&json!("name"), &json!("rendered")), (&json!("greet"), &json!("flow")), (&json!("end"), &json!("rendered"))]
    );
    assert_eq!(done["counts"], json!({"steps": 4, "toolCalls": 0, "retries": 0}));

    let shown = session.ok("flows_show", json!({"name": "Outer"})).await;
    assert_eq!(shown["steps"][1]["flow"], "Greet");
    assert_eq!(shown["steps"][1]["reads"][0], json!({"placeholder": "name_result", "from": "output of name"}));
    let whole = session.ok("flows_show", json!({"name": "Outer", "detail": "full"})).await;
    assert_eq!(whole["steps"][1]["steps"][1]["id"], "wrap");
}

#[tokio::test]
async fn the_other_flow_sees_nothing_but_what_it_is_handed() {
    // `who` is given to the outer flow, and the inner one has an input of that name.
    let outer = file(json!([link("greet", "Greet", json!({"who": "{other}"}))]), &[], json!({}));
    let server = Bench::folder([("flows/Outer.json", outer), ("flows/Greet.json", greet())]);
    let mut session = server.session().await;
    let values = json!({"other": "B", "who": "A", "mood": "wild"});
    let done = session.ok("flows_execute", json!({"flowName": "Outer", "initialVariables": values})).await;
    assert_eq!(done["finalResult"], "<Hello B, calm>");
}

#[tokio::test]
async fn values_keep_their_fields_where_a_text_is_one_placeholder() {
    let inner = file(
        json!([step("a", "{row.name} of {row.tags.0}")]),
        &[],
        json!({"row": {"type": "object", "required": true}}),
    );
    let outer = file(
        json!([link("one", "Inner", json!({"row": "{rows.0}"})), link("two", "Inner", json!({"row": "x {rows}"}))]),
        &[],
        json!({"rows": {"type": "array", "required": true}}),
    );
    let server = Bench::folder([("flows/Outer.json", outer), ("flows/Inner.json", inner)]);
    let mut session = server.session().await;
    let values = json!({"rows": [{"name": "n", "tags": ["t"]}]});
    let done = session.failed("flows_execute", json!({"flowName": "Outer", "initialVariables": values})).await;
    assert_eq!(done["partialResults"][0]["output"], "n of t");
    assert_eq!((&done["failedAt"]["nodeId"], &done["code"]), (&json!("two"), &json!("INVALID_REQUEST")));
    assert_eq!(done["skipped"], json!([{"nodeId": "two/a", "because": "two"}]));
}

#[tokio::test]
async fn what_had_finished_inside_is_not_lost_when_the_rest_fails() {
    let inner = file(
        json!([step("good", "fine"), json!({"id": "bad", "type": "template", "data": {"selectedTemplateId": "Gone"}})]),
        &[],
        json!({}),
    );
    let outer = file(
        json!([link("in", "Inner", json!({})), step("after", "{in_result}"), step("aside", "aside")]),
        &[("in", "after")],
        json!({}),
    );
    let server = Bench::folder([("flows/Outer.json", outer), ("flows/Inner.json", inner)]);
    let mut session = server.session().await;
    let done = session.failed("flows_execute", json!({"flowName": "Outer"})).await;
    let kept: Vec<_> =
        done["partialResults"].as_array().unwrap().iter().map(|s| s["nodeId"].as_str().unwrap()).collect();
    assert_eq!((kept, &done["code"]), (vec!["in/good", "aside"], &json!("TEMPLATE_NOT_FOUND")));
    let failed: Vec<_> = done["failures"].as_array().unwrap().iter().map(|failure| &failure["nodeId"]).collect();
    assert_eq!((failed, &done["failedAt"]["nodeId"]), (vec![&json!("in"), &json!("in/bad")], &json!("in")));
    assert_eq!(done["skipped"], json!([{"nodeId": "after", "because": "in"}]));
}

#[tokio::test]
async fn flows_nest_up_to_eight_deep_and_no_deeper() {
    let mut files = vec![("flows/F1.json".to_owned(), file(json!([step("a", "core")]), &[], json!({})))];
    for n in 2..=9 {
        let inner = format!("F{}", n - 1);
        let outer = file(json!([link("in", &inner, json!({})), step("b", "{in_result}+")]), &[("in", "b")], json!({}));
        files.push((format!("flows/F{n}.json"), outer));
    }
    let server = Bench::folder(files);
    let mut session = server.session().await;
    let done = session.ok("flows_execute", json!({"flowName": "F8"})).await;
    assert_eq!(done["finalResult"], "core+++++++");
    let refused = session.failed("flows_execute", json!({"flowName": "F9"})).await;
    assert_eq!(refused["code"], "LIMIT_EXCEEDED");
    let shown = session.ok("flows_show", json!({"name": "F9"})).await;
    assert_eq!(shown["findings"][0]["rule"], "over-limit");
}

#[tokio::test]
async fn every_flow_of_a_ring_is_refused_and_one_that_uses_it_has_a_step_that_fails() {
    let to = |flow: &str| file(json!([link("in", flow, json!({})), step("aside", "aside")]), &[], json!({}));
    let server = Bench::folder([
        ("flows/A.json", to("B")),
        ("flows/B.json", to("C")),
        ("flows/C.json", to("A")),
        ("flows/Self.json", to("Self")),
        ("flows/User.json", to("A")),
    ]);
    let mut session = server.session().await;
    for (name, ring) in [
        ("A", "\"A\" → \"B\" → \"C\" → \"A\""),
        ("B", "\"B\" → \"C\" → \"A\" → \"B\""),
        ("Self", "\"Self\" → \"Self\""),
    ] {
        let refused = session.failed("flows_execute", json!({"flowName": name})).await;
        assert_eq!(refused["code"], "CIRCULAR_DEPENDENCY", "{refused}");
        let findings = &session.ok("flows_show", json!({"name": name})).await["findings"];
        let told = findings.as_array().unwrap().iter().find(|finding| finding["rule"] == "flow-ring").unwrap();
        assert!(told["message"].as_str().unwrap().contains(ring), "{told}");
    }
    let done = session.failed("flows_execute", json!({"flowName": "User"})).await;
    assert_eq!((&done["status"], &done["failedAt"]["nodeId"]), (&json!("partial"), &json!("in")));
    let listed = session.ok("flows_list", json!({})).await;
    let codes: Vec<_> = listed["errors"].as_array().unwrap().iter().map(|e| (&e["file"], &e["code"])).collect();
    assert!(codes.contains(&(&json!("flows/A.json"), &json!("CIRCULAR_DEPENDENCY"))), "{codes:?}");
}

#[tokio::test]
async fn a_ring_with_another_error_is_told_as_a_ring_to_who_uses_it() {
    let ring = |other: Value| {
        json!({"metadata": {"name": "x", "version": "1.0.0"},
            "nodes": [link("in", "Ring", json!({})), step("a", "a"), step("a", "again"), other], "edges": []})
        .to_string()
    };
    let user = file(json!([link("in", "Ring", json!({})), step("aside", "aside")]), &[], json!({}));
    let files = [("flows/Ring.json", ring(step("b", "b"))), ("flows/User.json", user)];
    let mut session = Bench::folder(files).session().await;
    for name in ["Ring", "User"] {
        let failed = session.failed("flows_execute", json!({"flowName": name})).await;
        assert_eq!(failed["code"], "CIRCULAR_DEPENDENCY", "{failed}");
    }
}

#[tokio::test]
async fn what_is_wrong_with_a_link_is_told_at_its_place() {
    let outer = file(
        json!([
            link("gone", "Gret", json!({})),
            link("lacks", "Greet", json!({})),
            link("more", "Greet", json!({"who": "x", "mod": "y"}))
        ]),
        &[],
        json!({}),
    );
    let server = Bench::folder([("flows/Outer.json", outer), ("flows/Greet.json", greet())]);
    let mut session = server.session().await;
    let shown = session.ok("flows_show", json!({"name": "Outer"})).await;
    let told: Vec<_> = shown["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["rule"].as_str().unwrap(), f["pointer"].as_str().unwrap()))
        .collect();
    assert!(told.contains(&("missing-flow", "/nodes/0/data/flow")), "{told:?}");
    assert!(told.contains(&("missing-flow-input", "/nodes/1/data/variables")), "{told:?}");
    assert!(told.contains(&("unknown-flow-input", "/nodes/2/data/variables/mod")), "{told:?}");
}

#[tokio::test]
async fn flows_that_multiply_without_end_are_refused_before_anything_is_unfolded() {
    // Each goes six times through the one before: 6^7 steps at the top.
    let mut files = vec![("flows/F1.json".to_owned(), file(json!([step("a", "x")]), &[], json!({})))];
    for n in 2..=8 {
        let inner = format!("F{}", n - 1);
        let links: Vec<Value> = (0..6).map(|k| link(&format!("l{k}"), &inner, json!({}))).collect();
        files.push((format!("flows/F{n}.json"), file(Value::Array(links), &[], json!({}))));
    }
    let server = Bench::folder(files);
    let mut session = server.session().await;
    let refused = session.failed("flows_execute", json!({"flowName": "F8"})).await;
    assert_eq!(refused["code"], "LIMIT_EXCEEDED");
}

#[tokio::test]
async fn several_results_of_the_other_flow_are_read_by_their_labels() {
    let inner = file(
        json!([
            step("a", "first"),
            step("b", "second"),
            json!({"id": "r", "type": "result", "data": {"label": "One"}}),
            json!({"id": "s", "type": "result", "data": {"label": "Two"}})
        ]),
        &[("a", "b"), ("a", "r"), ("b", "s")],
        json!({}),
    );
    let outer = file(
        json!([link("in", "Inner", json!({})), step("end", "{in_result}, {in_result.One}, {in_result.Two}")]),
        &[("in", "end")],
        json!({}),
    );
    let server = Bench::folder([("flows/Outer.json", outer), ("flows/Inner.json", inner)]);
    let mut session = server.session().await;
    let done = session.ok("flows_execute", json!({"flowName": "Outer", "detail": "full"})).await;
    assert_eq!(done["finalResult"], "second, first, second");
    assert_eq!(done["intermediateResults"][0]["output"], json!({"One": "first", "Two": "second"}));
}

/// Flows of which each goes through the next.
fn chain(count: usize) -> Vec<(String, String)> {
    let flow = |number: usize| {
        let nodes = if number == count {
            json!([step("end", "deep")])
        } else {
            json!([link("next", &format!("N{}", number + 1), json!({}))])
        };
        let named = file(nodes, &[], json!({})).replace("\"x\"", &format!("\"N{number}\""));
        (format!("flows/N{number}.json"), named)
    };
    (1..=count).map(flow).collect()
}

#[tokio::test]
async fn every_flow_that_goes_too_deep_is_told_so_and_no_other() {
    let sandbox = chain(10).into_iter().fold(Sandbox::new(), |sandbox, (path, text)| sandbox.file(&path, text));
    let said = sandbox.run(["validate", "--json"]).json();
    let found = |file: &Value| (file["file"].as_str().unwrap().to_owned(), file["findings"][0]["message"].clone());
    let found: Vec<_> = said["files"].as_array().unwrap().iter().map(found).filter(|(_, m)| !m.is_null()).collect();
    let due = |name: &str| {
        json!(format!("node \"next\": flow \"{name}\" makes this more than 8 flows deep, this one counted"))
    };
    assert_eq!(found, [("flows/N1.json".to_owned(), due("N2")), ("flows/N2.json".to_owned(), due("N3"))], "{said}");

    let mut session = Bench::folder(chain(10)).session().await;
    let listed = session.ok("flows_list", json!({})).await;
    assert_eq!(listed["errors"].as_array().unwrap().len(), 2, "{listed}");
    for name in ["N1", "N2"] {
        let shown = session.ok("flows_show", json!({"name": name})).await;
        assert_eq!(shown["steps"][0]["faulty"]["code"], "LIMIT_EXCEEDED", "{shown}");
        let failed = session.failed("flows_execute", json!({"flowName": name})).await;
        assert_eq!((&failed["code"], &failed["failedAt"]["nodeId"]), (&json!("LIMIT_EXCEEDED"), &json!("next")));
    }
    assert_eq!(session.ok("flows_execute", json!({"flowName": "N3"})).await["finalResult"], "deep");
}

#[tokio::test]
async fn thousands_of_flows_one_within_the_other_are_planned_no_deeper_than_they_may_run() {
    let mut session = Bench::folder(chain(3_000)).session().await;
    assert_eq!(session.ok("flows_list", json!({})).await["total"], 3_000);
    let shown = session.ok("flows_show", json!({"name": "N1"})).await;
    assert_eq!(shown["steps"][0]["faulty"]["code"], "LIMIT_EXCEEDED", "{shown}");
    assert_eq!(session.ok("flows_execute", json!({"flowName": "N2995"})).await["finalResult"], "deep");
}

#[tokio::test]
async fn a_long_way_into_a_ring_is_told_as_the_ring() {
    let mut files: Vec<(String, String)> = chain(12).into_iter().filter(|(path, _)| path != "flows/N12.json").collect();
    files.push(("flows/N12.json".to_owned(), file(json!([link("back", "N6", json!({}))]), &[], json!({}))));
    let mut session = Bench::folder(files).session().await;
    for name in ["N6", "N12"] {
        let failed = session.failed("flows_execute", json!({"flowName": name})).await;
        assert_eq!(failed["code"], "CIRCULAR_DEPENDENCY", "{failed}");
    }
    let failed = session.failed("flows_execute", json!({"flowName": "N5"})).await;
    assert_eq!((&failed["code"], &failed["failedAt"]["nodeId"]), (&json!("CIRCULAR_DEPENDENCY"), &json!("next")));
}

/// A flow whose one step shows what it is handed.
fn echo() -> String {
    file(
        json!([
            json!({"id": "say", "type": "template", "data": {"template": "{what} {times} {tone}", "variableValueSets":
                [{"name": "loud", "values": {"what": "ALL", "tone": "wild"}}]}})
        ]),
        &[],
        json!({
            "what": {"required": true},
            "times": {"type": "integer", "default": 2},
            "tone": {"enum": ["calm", "wild"], "default": "calm"},
        }),
    )
}

/// Executes a flow whose one step goes through [`echo`] with these values.
async fn echoed(variables: Value, inputs: Value, given: Value) -> Value {
    let outer = file(json!([link("in", "Echo", variables)]), &[], inputs);
    let mut session = Bench::folder([("flows/Outer.json", outer), ("flows/Echo.json", echo())]).session().await;
    let arguments = json!({"flowName": "Outer", "initialVariables": given});
    session.call("flows_execute", arguments).await["structuredContent"].clone()
}

#[tokio::test]
async fn a_step_chooses_a_variable_set_of_the_other_flow_as_a_caller_does() {
    let with = |set: Value| json!({"_variableSet": set});
    let optional = json!({"set": {"required": false}});
    let done = echoed(with(json!("loud")), json!({}), json!({})).await;
    assert_eq!(done["finalResult"], "ALL 2 wild");
    let done = echoed(with(json!("{set}")), json!({}), json!({"set": "loud"})).await;
    assert_eq!(done["finalResult"], "ALL 2 wild");
    for (set, given) in [(json!("loudd"), json!({})), (json!("{set}"), json!({"set": "loudd"})), (json!(7), json!({}))]
    {
        let done = echoed(with(set), json!({}), given).await;
        assert_eq!((&done["code"], &done["failedAt"]["nodeId"]), (&json!("INVALID_REQUEST"), &json!("in")), "{done}");
    }
    // No set is chosen, so what it would have given is missing.
    let done = echoed(with(json!("{set}")), optional, json!({})).await;
    assert_eq!((&done["code"], &done["failedAt"]["nodeId"]), (&json!("MISSING_VARIABLES"), &json!("in")), "{done}");
}

#[tokio::test]
async fn what_is_not_given_to_the_outer_flow_is_not_given_to_the_other() {
    let optional = json!({"tone": {"required": false}, "times": {"required": false}, "v": {"required": false}});
    let variables = json!({"what": "Say", "tone": "{tone}", "times": "{times}"});
    let done = echoed(variables.clone(), optional.clone(), json!({})).await;
    assert_eq!(done["finalResult"], "Say 2 calm");
    let done = echoed(variables.clone(), optional.clone(), json!({"tone": "wild", "times": 3})).await;
    assert_eq!(done["finalResult"], "Say 3 wild");
    let done = echoed(variables, optional.clone(), json!({"tone": "odd"})).await;
    assert_eq!((&done["code"], &done["failedAt"]["nodeId"]), (&json!("INVALID_REQUEST"), &json!("in")), "{done}");
    let null = json!({"v": {"b": null}});
    let done = echoed(json!({"what": "Say", "tone": "{v.b}"}), optional.clone(), null).await;
    assert_eq!(done["finalResult"], "Say 2 calm");
    let done = echoed(json!({"what": "{v}"}), optional, json!({})).await;
    assert_eq!(done["code"], "MISSING_VARIABLES", "{done}");
}

#[tokio::test]
async fn a_step_hands_lists_and_objects_on_with_their_types() {
    let inner = file(
        json!([step("a", "{row.name}|{row.tags.1}|{row}|{text}")]),
        &[],
        json!({"row": {"type": "object", "required": true}, "text": {}}),
    );
    let handed =
        json!({"row": {"name": "{who}", "tags": ["x", "{n}"], "say": "hi {who}", "gone": "{gone}"}, "text": "{0}"});
    let outer = file(json!([link("in", "Inner", handed)]), &[], json!({"gone": {"required": false}}));
    let mut session = Bench::folder([("flows/Outer.json", outer), ("flows/Inner.json", inner)]).session().await;
    let given = json!({"who": "a \"b\"", "n": 7});
    let done = session.ok("flows_execute", json!({"flowName": "Outer", "initialVariables": given})).await;
    let row = r#"{"name":"a \"b\"","tags":["x",7],"say":"hi a \"b\""}"#;
    assert_eq!(done["finalResult"], format!("a \"b\"|7|{row}|{{0}}"));
}

#[tokio::test]
async fn a_flow_that_is_handed_too_little_does_not_begin() {
    let inner = file(
        json!([step("first", "done"), step("second", "{need} {first_result}")]),
        &[("first", "second")],
        json!({"need": {"required": true}}),
    );
    let outer = file(
        json!([link("in", "Inner", json!({"need": "{maybe}"})), step("after", "{in_result}"), step("aside", "aside")]),
        &[("in", "after")],
        json!({"maybe": {"required": false}}),
    );
    let mut session = Bench::folder([("flows/Outer.json", outer), ("flows/Inner.json", inner)]).session().await;
    let done = session.failed("flows_execute", json!({"flowName": "Outer"})).await;
    assert_eq!((&done["code"], &done["failedAt"]["nodeId"]), (&json!("MISSING_VARIABLES"), &json!("in")));
    let kept: Vec<_> = done["partialResults"].as_array().unwrap().iter().map(|step| &step["nodeId"]).collect();
    assert_eq!(kept, ["aside"]);
    let skipped: Vec<_> =
        done["skipped"].as_array().unwrap().iter().map(|step| (&step["nodeId"], &step["because"])).collect();
    let due = ["in/first", "in/second", "after"].map(|id| (json!(id), json!("in")));
    assert_eq!(skipped, due.iter().map(|(id, because)| (id, because)).collect::<Vec<_>>());
    let begun = session.ok("flows_begin", json!({"flowName": "Outer"})).await;
    assert_eq!(begun["step"]["id"], "aside", "{begun}");
}

#[tokio::test]
async fn a_mapped_input_without_a_value_counts_as_absent() {
    let edge = |mapping: Value| json!({"source": "a", "target": "b", "data": {"mapping": mapping}});
    let flow = |inputs: Value, mapping: Value| {
        json!({"metadata": {"name": "x", "version": "1.0.0", "inputs": inputs},
            "nodes": [step("a", "first"), {"id": "b", "type": "template", "data": {"template": "[{voice}]", "variables": ["voice"]}}],
            "edges": [edge(mapping)]})
        .to_string()
    };
    let tone = json!({"voice": "tone"});
    for (inputs, mapping, given, due) in [
        (json!({"tone": {}}), &tone, json!({"tone": "t"}), json!("[t]")),
        (json!({"tone": {}}), &tone, json!({"tone": "t", "voice": "v"}), json!("[t]")),
        (json!({"tone": {}}), &tone, json!({"voice": "v"}), json!("[v]")),
        (json!({"tone": {}, "voice": {"default": "d"}}), &tone, json!({}), json!("[d]")),
        (json!({"tone": {}}), &tone, json!({}), Value::Null),
        (json!({}), &json!({"voice": "tonne"}), json!({"voice": "v"}), json!("[v]")),
        (json!({}), &json!({"voice": "result"}), json!({"voice": "v"}), json!("[first]")),
        // What maps nothing leaves the way to auto-mapping, and an input that may be left out asks for nothing.
        (json!({}), &json!({"voice": "tonne"}), json!({}), json!("[first]")),
        (json!({}), &json!({"voice": ""}), json!({}), json!("[first]")),
        (json!({"tone": {"required": false}}), &tone, json!({}), json!("[]")),
        (json!({"tone": {"required": false}}), &tone, json!({"voice": "v"}), json!("[v]")),
    ] {
        let mut session = Bench::folder([("flows/F.json", flow(inputs.clone(), mapping.clone()))]).session().await;
        let arguments = json!({"flowName": "F", "initialVariables": given});
        let done = session.call("flows_execute", arguments).await["structuredContent"].clone();
        if due.is_null() {
            assert_eq!(done["code"], "MISSING_VARIABLES", "{inputs} {given}: {done}");
        } else {
            assert_eq!(done["finalResult"], due, "{inputs} {given}: {done}");
        }
    }
}

#[test]
fn handing_what_may_be_left_out_to_what_is_needed_is_told_and_what_has_a_default_is_not() {
    let inner = |inputs: Value| file(json!([step("a", "{x}")]), &[], inputs);
    let outer = |inputs: Value, handed: &str| file(json!([link("in", "Inner", json!({"x": handed}))]), &[], inputs);
    let (needed, optional) = (json!({"x": {}}), json!({"n": {"required": false}}));
    for (inside, outside, handed, told) in [
        (&needed, &optional, "{n}", true),
        (&needed, &optional, "n: {n}", false),
        (&needed, &json!({"n": {}}), "{n}", false),
        (&needed, &json!({"n": {"required": false, "default": "d"}}), "{n}", false),
        (&json!({"x": {"required": false}}), &optional, "{n}", false),
        (&json!({"x": {"default": "d"}}), &optional, "{n}", false),
    ] {
        let sandbox = Sandbox::new()
            .file("flows/Inner.json", inner(inside.clone()))
            .file("flows/Outer.json", outer(outside.clone(), handed));
        let checked = sandbox.run(["validate", "--json"]).json();
        let found = checked["files"].as_array().unwrap().iter().flat_map(|file| file["findings"].as_array().unwrap());
        let found: Vec<&Value> = found.filter(|finding| finding["rule"] == "missing-flow-input").collect();
        assert_eq!(found.len(), usize::from(told), "{inside} {outside} {handed}: {checked:#}");
        assert!(found.iter().all(|finding| finding["severity"] == "warning"), "{checked:#}");
        let ran = sandbox.run(["run", "Outer", "--var", "n=N"]);
        assert_eq!(ran.code, 0, "{}", ran.err);
    }
}

#[tokio::test]
async fn a_prompt_says_of_steps_within_which_outputs_they_read() {
    let inner = file(
        json!([step("a", "{lone} {lone.field} {made} {fixed}"), step("b", "{a_result}")]),
        &[("a", "b")],
        json!({"lone": {"required": true}, "made": {"required": true}, "fixed": {"default": "none"}}),
    );
    let handed = json!({"lone": "{first_result}", "made": "of {first_result} for {who}", "fixed": "{who}"});
    let outer = file(
        json!([step("first", "start"), link("in", "Inner", handed), step("after", "{in_result}")]),
        &[("first", "in"), ("in", "after")],
        json!({"who": {"required": true}}),
    );
    let mut session = Bench::folder([("flows/Outer.json", outer), ("flows/Inner.json", inner)]).session().await;
    let given = json!({"name": "flow_Outer", "arguments": {"who": "Kim"}});
    let answer = session.request("prompts/get", given).await;
    let text = answer["result"]["messages"][0]["content"]["text"].as_str().unwrap().to_owned();
    let reads: Vec<&str> = text.lines().filter(|line| line.starts_with("Reads: ")).collect();
    assert_eq!(
        reads,
        [
            "Reads: {lone} is the output of first; {lone.field} is the output of first at field; {made} is \"of \
             {first_result} for Kim\" (where {first_result} is the output of first).",
            "Reads: {a_result} is the output of in/a.",
            "Reads: {in_result} is the output of in/b.",
        ]
    );
    assert!(text.contains("{lone} {lone.field} {made} Kim") && text.contains("## Step 4 of 4: "), "{text}");
}
