//! What callers and authors get wrong by accident is told, and never lost in a success.

use serde_json::{Value, json};

use crate::support::mcp::{Bench, Session};
use crate::support::program::Sandbox;

/// A flow of these steps, each an id and a text, with these inputs.
fn flow(name: &str, inputs: &Value, steps: &[(&str, &str)]) -> (String, String) {
    let mut nodes = vec![json!({"id": "in", "type": "multi_input", "data": {"variables": inputs}})];
    nodes.extend(
        steps.iter().map(|(id, text)| json!({"id": id, "type": "template", "data": {"label": id, "template": text}})),
    );
    let ids: Vec<&str> = std::iter::once("in").chain(steps.iter().map(|(id, _)| *id)).collect();
    let edges: Vec<Value> = ids.windows(2).map(|pair| json!({"source": pair[0], "target": pair[1]})).collect();
    let file = json!({"metadata": {"name": name, "version": "1.0.0"}, "nodes": nodes, "edges": edges});
    (format!("flows/{name}.json"), file.to_string())
}

async fn session(flows: &[(String, String)]) -> Session {
    Bench::folder(flows.iter().cloned()).session().await
}

fn said(failed: &Value) -> String {
    format!("{} {}", failed["message"].as_str().unwrap(), failed["nextStep"].as_str().unwrap())
}

#[tokio::test]
async fn a_value_that_no_step_reads_is_told_with_the_text_that_was_to_read_it() {
    let flows = [
        flow("Braces", &json!(["a"]), &[("t", "{{ a }}")]),
        flow("Filter", &json!(["a"]), &[("t", "{a|upper}")]),
        flow("Unread", &json!(["a"]), &[("t", "nothing")]),
    ];
    let mut session = session(&flows).await;
    for (name, due) in [
        ("Braces", r#"no step reads "a"; step "t" has {{ a }}, and a placeholder is written {a}"#),
        ("Filter", r#"no step reads "a"; step "t" has {a|upper}, and a placeholder is written {a}"#),
        ("Unread", r#"no step reads "a""#),
    ] {
        let request = json!({"flowName": name, "initialVariables": {"a": "A"}});
        for tool in ["flows_execute", "flows_begin"] {
            let done = session.ok(tool, request.clone()).await;
            let told = done["warnings"].as_array().unwrap();
            assert!(told.iter().any(|one| one["code"] == "UNKNOWN_VARIABLE" && one["message"] == due), "{done}");
        }
    }
}

#[tokio::test]
async fn a_misspelt_choice_of_a_set_is_told_and_two_choices_are_refused() {
    let file = json!({"metadata": {"name": "Sets", "version": "1.0.0"}, "edges": [], "nodes": [{"id": "t", "type": "template",
        "data": {"template": "{a}", "variables": [{"name": "a", "default": "d"}], "variableValueSets": [
            {"name": "s1", "values": {"a": "1"}}, {"name": "s2", "values": {"a": "2"}}]}}]});
    let mut session = session(&[("flows/Sets.json".to_owned(), file.to_string())]).await;
    for name in ["_variableset", "variableSet", "_variable_set", "_set"] {
        let done = session.ok("flows_execute", json!({"flowName": "Sets", "initialVariables": {name: "s1"}})).await;
        let told = done["warnings"].to_string();
        assert!(told.contains("did you mean _variableSet?"), "{name}: {told}");
    }
    let both = json!({"_useSet_s1": true, "_variableSet": "s2"});
    let refused = session.failed("flows_execute", json!({"flowName": "Sets", "initialVariables": both})).await;
    assert!(said(&refused).contains("\"_variableSet\" is given twice"), "{refused}");
    let same = json!({"_useSet_s2": true, "_variableSet": "s2"});
    let done = session.ok("flows_execute", json!({"flowName": "Sets", "initialVariables": same})).await;
    assert_eq!(done["finalResult"], "2");
}

#[tokio::test]
async fn of_two_values_for_one_name_none_is_chosen() {
    let mut session = session(&[flow("Tea", &json!(["é"]), &[("t", "{é}")])]).await;
    let twice = [json!({"é": "1", "e\u{301}": "2"}), json!(r#"{"é": "1", "é": "2"}"#)];
    for values in twice {
        let refused = session.failed("flows_execute", json!({"flowName": "Tea", "initialVariables": values})).await;
        assert!(said(&refused).contains("twice"), "{refused}");
    }
    let line = r#"{"jsonrpc": "2.0", "id": 77, "method": "tools/call", "params": {"name": "flows_execute",
        "arguments": {"flowName": "Tea", "initialVariables": {"who": "a", "who": "b"}}}}"#;
    session.send_bytes(format!("{}\n", line.replace('\n', " ")).as_bytes()).await;
    let refused = session.answer_to(77).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("\"who\" stands twice"), "{refused}");
}

#[tokio::test]
async fn values_in_a_wrong_place_or_form_are_told_where_they_belong() {
    let mut session = session(&[flow("Tea", &json!(["who"]), &[("t", "{who}")])]).await;
    for (arguments, due) in [
        (json!({"flowName": "Tea", "who": "K"}), "initialVariables: {\"who\": …}"),
        (json!({"flowName": "Tea", "inputs": {"who": "K"}}), "as initialVariables instead of \"inputs\""),
        (json!({"flowName": "Tea", "initialVariables": "null"}), "1 required value is missing: who"),
    ] {
        let refused = session.failed("flows_execute", arguments).await;
        assert!(said(&refused).contains(due), "{refused}");
    }
    let twice_encoded = json!(json!({"who": "K"}).to_string()).to_string();
    let done = session.ok("flows_execute", json!({"flowName": "Tea", "initialVariables": twice_encoded})).await;
    assert_eq!(done["finalResult"], "K");
}

#[tokio::test]
async fn a_misspelt_output_is_told_as_a_slip_of_the_flow() {
    let mut session = session(&[flow("Sum", &json!([]), &[("sum", "1"), ("t", "{summ_result} {who}")])]).await;
    let refused = session.failed("flows_execute", json!({"flowName": "Sum"})).await;
    let due = "{summ_result} is probably the output {sum_result}, misspelt";
    assert!(refused["nextStep"].as_str().unwrap().contains(due), "{refused}");
}

#[tokio::test]
async fn a_flow_in_json_may_come_fenced_or_as_an_object() {
    let (_, file) = flow("Tea", &json!(["who"]), &[("t", "{who}")]);
    let mut session = Bench::examples().session().await;
    let fenced = session.ok("flows_check", json!({"flow": format!("```json\n{file}\n```")})).await;
    assert!(fenced.to_string().contains("a fence of Markdown"), "{fenced}");
    let object: Value = serde_json::from_str(&file).unwrap();
    let checked = session.ok("flows_check", json!({"flow": object})).await;
    assert_eq!(checked["valid"], json!(true), "{checked}");
    let refused = session.failed("flows_check", json!({"flow": "x", "templates": ["x"]})).await;
    assert!(said(&refused).contains("Facts.md"), "{refused}");
}

#[tokio::test]
async fn a_file_that_is_not_read_is_told_to_who_asks_for_its_flow() {
    let (_, cake) = flow("Cake", &json!([]), &[("t", "x")]);
    let files = [flow("Tea", &json!([]), &[("t", "x")]), ("flows/Cake.json.txt".to_owned(), cake)];
    let mut session = session(&files).await;
    let refused = session.failed("flows_execute", json!({"flowName": "Cake"})).await;
    assert_eq!(refused["code"], "FLOW_NOT_FOUND");
    assert!(refused["nextStep"].as_str().unwrap().contains("flows/Cake.json.txt is not read"), "{refused}");
}

#[tokio::test]
async fn an_empty_list_says_which_words_there_are() {
    let file = json!({"metadata": {"name": "Tea", "version": "1.0.0", "tags": ["café"], "category": "kitchen",
        "created": 1_700_000_000_000_i64, "updated": "yesterday"},
        "nodes": [{"id": "t", "type": "template", "data": {"template": "x"}}], "edges": []});
    let mut session = session(&[("flows/Tea.json".to_owned(), file.to_string())]).await;
    for (filter, due) in [
        (json!({"category": "x"}), "the categories are \"kitchen\""),
        (json!({"category": "kitchn"}), "did you mean \"kitchen\"?"),
        (json!({"complexity": "simple"}), "no flow has a complexity at all: leave it out"),
        (json!({"names": ["Tee"]}), "did you mean \"Tea\" for \"Tee\"?"),
    ] {
        let listed = session.ok("flows_list", filter.clone()).await;
        assert_eq!(listed["total"], json!(0));
        assert!(listed["nextStep"].as_str().unwrap_or_default().contains(due), "{filter}: {listed}");
    }
    assert_eq!(session.ok("flows_list", json!({"tags": ["cafe\u{301}"]})).await["total"], json!(1));
    let any = session.ok("flows_list", json!({"query": "*"})).await;
    assert_eq!((&any["noMatch"], &any["fit"], &any["returned"]), (&json!(true), &json!("weak"), &json!(1)), "{any}");
    let dated = &session.ok("flows_list", json!({"mode": "standard"})).await["flows"][0];
    assert_eq!(dated["created"], "2023-11-14T22:13:20.000Z");
    assert_eq!(dated.get("updated").and_then(Value::as_str), None, "{dated}");
}

#[tokio::test]
async fn a_value_that_holds_an_outputs_braces_stays_text_in_a_script() {
    let files = [flow("Two", &json!(["b"]), &[("one", "1"), ("two", "Read {one_result} and {b}")])];
    let mut session = session(&files).await;
    let params = json!({"name": "flow_Two", "arguments": {"b": "{one_result}"}});
    let script = session.request("prompts/get", params).await.to_string();
    assert!(script.contains("Read {@one_result} and {one_result}"), "{script}");
    assert!(script.contains("{@one_result} is the output of"), "{script}");
}

#[tokio::test]
async fn of_thousands_of_fields_of_an_output_only_those_that_a_value_holds_are_told_apart() {
    let fields = (0..10_000).map(|n| format!("{{one_result.f{n}}}")).collect::<Vec<_>>().concat();
    let files = [flow("Two", &json!(["b"]), &[("one", "1"), ("two", &format!("{{b}}, {fields}"))])];
    let mut session = session(&files).await;
    let params = json!({"name": "flow_Two", "arguments": {"b": "@ {one_result.f7}"}});
    let script = session.request("prompts/get", params).await.to_string();
    assert!(script.contains("@ {one_result.f7}, {one_result.f0}"), "{}", &script[..2_000]);
    assert!(script.contains("{one_result.f6}{@@one_result.f7}{one_result.f8}"));
}

#[tokio::test]
async fn requests_without_their_one_argument_are_told_what_to_send() {
    let mut session = Bench::examples().session().await;
    for (method, due) in [
        ("resources/read", "`uri` is missing"),
        ("prompts/get", "`name` is missing"),
        ("completion/complete", "`ref` is missing"),
    ] {
        let refused = session.request(method, json!({})).await;
        assert!(refused["error"]["message"].as_str().unwrap().contains(due), "{refused}");
    }
}

#[test]
fn the_folder_of_flows_stands_for_its_catalog() {
    let (path, file) = flow("Tea", &json!([]), &[("t", "x")]);
    let sandbox = Sandbox::new().file(&path, &file);
    let listed = sandbox.run(["list", "--source", "flows", "--json"]).json();
    assert_eq!(listed["total"], json!(1), "{listed}");
}

#[test]
fn null_is_left_out_of_the_command_to_type() {
    let (path, file) = flow("Tea", &json!(["who"]), &[("t", "{who}")]);
    let sandbox = Sandbox::new().file(&path, &file).file("values.json", "{\"who\": null}");
    let said = sandbox.run(["run", "Tea", "--source", ".", "--vars", "values.json"]).err;
    assert!(said.contains("--var who=") && !said.contains("who=null"), "{said}");
}
