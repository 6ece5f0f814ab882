//! What values keep on their way: digits, types, names in any normal form, and where they came from.

#![allow(clippy::needless_pass_by_value, reason = "`json!` makes a value, and tests read better without `&`")]

use serde_json::{Value, json};

use crate::support::mcp::Bench;
use crate::support::program::Sandbox;

fn step(id: &str, data: Value) -> Value {
    json!({"id": id, "type": "template", "data": data})
}

fn file(nodes: Value, edges: Value, inputs: Value) -> String {
    json!({"metadata": {"name": "x", "version": "1.0.0", "inputs": inputs}, "nodes": nodes, "edges": edges}).to_string()
}

#[tokio::test]
async fn numbers_keep_their_digits_from_wherever_they_come() {
    let inner = file(json!([step("a", json!({"template": "{n} {o}"}))]), json!([]), json!({}));
    let handed = json!({"n": "{n}", "o": {"k": "{n}"}});
    let outer = file(
        json!([{"id": "in", "type": "flow", "data": {"flow": "Inner", "variables": handed}}]),
        json!([]),
        json!({"n": {"type": "number", "required": true}}),
    );
    let bench = Bench::folder([("flows/Outer.json", &outer), ("flows/Inner.json", &inner)]);
    for digits in ["1E3", "1e+3", "-2.50E-1", "1.10", "1e400", "12345678901234567890123"] {
        let mut session = bench.session().await;
        let request = format!(
            "{{\"jsonrpc\": \"2.0\", \"id\": 77, \"method\": \"tools/call\", \"params\": {{\"name\": \"flows_execute\", \
             \"arguments\": {{\"flowName\": \"Outer\", \"initialVariables\": {{\"n\": {digits}}}}}}}}}\n"
        );
        session.send_bytes(request.as_bytes()).await;
        let answer = session.answer_to(77).await;
        let due = format!("{digits} {{\"k\":{digits}}}");
        assert_eq!(answer["result"]["structuredContent"]["finalResult"], due, "{answer}");
        let sandbox = Sandbox::new().file("c/flows/Inner.json", &inner).file("v.json", format!("{{\"n\": {digits}}}"));
        for given in [vec!["--vars", "v.json"], vec!["--var-json", &format!("n={digits}")]] {
            let more = ["run", "Inner", "--source", "c", "--var", "o=x"];
            let said = sandbox.run(more.iter().copied().chain(given));
            assert_eq!(said.out, format!("{digits} x"), "{}", said.err);
        }
    }
}

/// A flow that wants an object, a list and a number.
fn shaped() -> String {
    let inputs = json!({"opt": {"type": "object"}, "lst": {"type": "array"}, "n": {"type": "integer"}});
    file(json!([step("a", json!({"template": "{opt.key} {lst.0} {opt} {lst} {n}"}))]), json!([]), inputs)
}

#[tokio::test]
async fn json_that_is_given_as_a_text_is_the_list_or_object_on_every_surface() {
    let outer = file(
        json!([{"id": "in", "type": "flow", "data": {"flow": "Inner", "variables": {"opt": "{o}", "lst": "[\"x\"]", "n": 3}}}]),
        json!([]),
        json!({"o": {}}),
    );
    let (text, due) = (json!({"opt": " {\"key\": 1.50} ", "lst": "[\"x\"]", "n": 3}), r#"1.50 x {"key":1.50} ["x"] 3"#);
    let test = json!({"flow": "Inner", "inputs": text, "expect": {"finalResult": due}}).to_string();
    let sandbox = Sandbox::new()
        .file("flows/Inner.json", shaped())
        .file("flows/Outer.json", &outer)
        .file("v.json", text.to_string())
        .file("tests/Inner.flowtest.json", test);
    for given in [
        vec!["--var", "opt= {\"key\": 1.50} ", "--var", "lst=[\"x\"]", "--var", "n=3"],
        vec!["--vars", "v.json"],
        vec!["--var-json", "opt={\"key\": 1.50}", "--var-json", "lst=[\"x\"]", "--var", "n=3"],
    ] {
        let said = sandbox.run(["run", "Inner"].into_iter().chain(given));
        assert_eq!(said.out, due, "{}", said.err);
    }
    assert_eq!(sandbox.run(["run", "Outer", "--var", "o= {\"key\": 1.50} "]).out, due);
    assert_eq!(sandbox.run(["test"]).code, 0, "{}", sandbox.run(["test"]).out);
    let bench = Bench::folder([("flows/Inner.json", shaped())]).with(|settings| {
        settings.expose = flowy::internals::config::Expose::All;
    });
    let mut session = bench.session().await;
    let done = session.ok("flows_execute", json!({"flowName": "Inner", "initialVariables": text})).await;
    assert_eq!(done["finalResult"], due);
    assert_eq!(session.ok("flow_Inner", text.clone()).await["finalResult"], due);
    let begun = session.ok("flows_begin", json!({"flowName": "Inner", "initialVariables": text})).await;
    assert_eq!(begun["step"]["prompt"], due);
    let asked = json!({"name": "flow_Inner", "arguments": {"opt": " {\"key\": 1.50} ", "lst": "[\"x\"]", "n": "3"}});
    let prompt = session.request("prompts/get", asked).await["result"]["messages"][0]["content"]["text"].clone();
    assert!(prompt.as_str().unwrap().contains(due), "{prompt}");
}

#[tokio::test]
async fn what_is_missing_or_does_not_fit_is_told_with_values_that_are_taken() {
    let sandbox = Sandbox::new().file("flows/Inner.json", shaped());
    // The ready-made line is typed as it stands.
    let shown = sandbox.run(["show", "Inner"]).out;
    let missing = sandbox.run(["run", "Inner"]).err;
    let wrong = sandbox.run(["run", "Inner", "--var", "opt=a,b", "--var", "lst={}", "--var", "n=1.5"]);
    assert_eq!(wrong.code, 2, "{}", wrong.err);
    for (text, from) in [(&shown, "flowy run Inner "), (&missing, "flowy run Inner "), (&wrong.err, "looks like ")] {
        let line = text.lines().find_map(|line| line.split_once(from)).unwrap_or_else(|| panic!("{text}")).1;
        let words = line.replace("--var-json, ", "--var-json ").replace(", ", " ");
        let taken =
            std::process::Command::new("/bin/sh").args(["-c", &format!("printf '%s\\n' {words}")]).output().unwrap();
        let words: Vec<String> = String::from_utf8(taken.stdout).unwrap().lines().map(str::to_owned).collect();
        let done = sandbox.run(["run", "Inner"].into_iter().map(str::to_owned).chain(words.clone()));
        assert_eq!(done.code, 0, "{words:?} {}", done.err);
    }
    let mut session = Bench::folder([("flows/Inner.json", shaped())]).session().await;
    let refused = session.failed("flows_execute", json!({"flowName": "Inner"})).await;
    let misfit = json!({"flowName": "Inner", "initialVariables": {"opt": "x", "lst": 5, "n": []}});
    let misfit = session.failed("flows_execute", misfit).await;
    for told in [refused, misfit] {
        let next = told["nextStep"].as_str().unwrap();
        let example = next.get(next.find('{').unwrap()..=next.rfind('}').unwrap()).unwrap();
        let given: Value = serde_json::from_str(example).unwrap();
        session.ok("flows_execute", json!({"flowName": "Inner", "initialVariables": given})).await;
    }
}

#[tokio::test]
async fn input_variables_are_what_was_filled_in_as_it_is_spelt() {
    let nodes = json!([
        step("a", json!({"template": "{x.k} {x.k} {x.l.0} {n} {opt} {unknown}", "variables": ["x", "n"]})),
        step("b", json!({"template": "{a_result}"}))
    ]);
    let inputs = json!({"x": {"required": true}, "n": {"required": true}, "opt": {"required": false}});
    let flow = file(nodes, json!([{"source": "a", "target": "b"}]), inputs);
    let mut session = Bench::folder([("flows/F.json", flow)]).session().await;
    let given = json!({"x": {"k": "v", "l": [true], "long": "not read"}, "n": 7});
    let arguments = json!({"flowName": "F", "initialVariables": given, "detail": "full"});
    let done = session.ok("flows_execute", arguments).await;
    let seen = |step: usize| done["intermediateResults"][step]["inputVariables"].clone();
    assert_eq!(seen(0), json!({"x.k": "v", "x.l.0": true, "n": 7, "opt": ""}));
    assert_eq!(seen(1), json!({"a_result": "v v true 7  {unknown}"}));
}

#[tokio::test]
async fn a_mapping_of_a_field_says_which_field_it_takes() {
    let results = json!([
        step("one", json!({"template": "1"})), step("two", json!({"template": "2"})),
        {"id": "r1", "type": "result", "data": {"label": "First"}}, {"id": "r2", "type": "result", "data": {"label": "Second"}}
    ]);
    let ends = json!([{"source": "one", "target": "r1"}, {"source": "two", "target": "r2"}]);
    let inner = file(results, ends, json!({}));
    let nodes = json!([
        {"id": "in", "type": "flow", "data": {"flow": "Inner"}},
        step("b", json!({"template": "{v}", "variables": ["v"]}))
    ]);
    let edges = json!([{"source": "in", "target": "b", "data": {"mapping": {"v": "result.First"}}}]);
    let outer = file(nodes, edges, json!({}));
    let last = file(json!([{"id": "in", "type": "flow", "data": {"flow": "Inner"}}]), json!([]), json!({}));
    let files = [("flows/Outer.json", &outer), ("flows/Inner.json", &inner), ("flows/Last.json", &last)];
    let mut session = Bench::folder(files).session().await;
    let done = session.ok("flows_execute", json!({"flowName": "Outer", "detail": "full"})).await;
    assert_eq!(done["finalResult"], "1");
    assert_eq!(done["mappings"], json!([{"nodeId": "b", "variable": "v", "from": "in.First", "by": "mapping"}]));

    // What is printed is the final result, also where a flow within gives several.
    let done = session.ok("flows_execute", json!({"flowName": "Last"})).await;
    assert_eq!(done["finalResult"], json!({"First": "1", "Second": "2"}));
    let sandbox = files.iter().fold(Sandbox::new(), |sandbox, (path, text)| sandbox.file(&format!("c/{path}"), text));
    let said = sandbox.run(["run", "Last", "--source", "c"]);
    assert_eq!((said.code, said.out.as_str()), (0, "{\"First\":\"1\",\"Second\":\"2\"}"), "{}", said.err);
}

const COMPOSED: &str = "caf\u{E9}";
const APART: &str = "cafe\u{301}";

#[tokio::test]
async fn names_of_sets_templates_and_flows_are_compared_in_their_normal_form() {
    let sets = json!([{"name": APART, "values": {"x": "of set"}}]);
    let inner = file(
        json!([step("a", json!({"template": "{x}", "variableValueSets": sets}))]),
        json!([]),
        json!({"x": {"required": true}}),
    );
    let outer = |set: &str| {
        let link = json!({"flow": "Inner", "variables": {"_variableSet": set}});
        file(json!([{"id": "in", "type": "flow", "data": link}]), json!([]), json!({}))
    };
    let title = json!({"title": APART, "template": "titled"}).to_string();
    let by_id = json!({"metadata": {}, "templates": [
        {"id": APART.to_uppercase(), "title": "Id", "template": "by id"}, {"id": 7, "title": "Seven", "template": "seven"}]});
    let uses =
        |selected: Value| file(json!([step("a", json!({"selectedTemplateId": selected}))]), json!([]), json!({}));
    let mut session = Bench::folder([
        ("flows/Inner.json".to_owned(), inner),
        ("flows/Direct.json".to_owned(), outer(COMPOSED)),
        ("flows/Titled.json".to_owned(), uses(json!(COMPOSED))),
        ("flows/ById.json".to_owned(), uses(json!(COMPOSED.to_uppercase()))),
        ("flows/Seven.json".to_owned(), uses(json!("7"))),
        ("flows/Number.json".to_owned(), uses(json!(7))),
        ("flows/Pack.json".to_owned(), uses(json!("pack"))),
        ("templates/titled.json".to_owned(), title),
        ("templates/pack.json".to_owned(), by_id.to_string()),
    ])
    .session()
    .await;
    for (flow, due) in
        [("Direct", "of set"), ("Titled", "titled"), ("ById", "by id"), ("Seven", "seven"), ("Number", "seven")]
    {
        let done = session.ok("flows_execute", json!({"flowName": flow})).await;
        assert_eq!((&done["finalResult"], &done["warnings"]), (&json!(due), &json!([])), "{flow}");
    }
    let given = json!({"flowName": "Inner", "initialVariables": {"_variableSet": COMPOSED}});
    assert_eq!(session.ok("flows_execute", given).await["finalResult"], "of set");
    // A file of several templates has no template that its stem could mean.
    let failed = session.failed("flows_execute", json!({"flowName": "Pack"})).await;
    assert_eq!((&failed["code"], &failed["failedAt"]["nodeId"]), (&json!("AMBIGUOUS_NAME"), &json!("a")), "{failed}");
}

#[tokio::test]
async fn the_template_of_a_flow_step_is_the_name_of_the_flow() {
    let inner = file(json!([step("a", json!({"template": "t"}))]), json!([]), json!({}));
    let nodes = json!([
        {"id": "in", "type": "flow", "data": {"flow": "Inner"}},
        step("b", json!({"template": "{in_template}: {in_result}"}))
    ]);
    let outer = file(nodes, json!([{"source": "in", "target": "b"}]), json!({}));
    let mut session = Bench::folder([("flows/Outer.json", outer), ("flows/Inner.json", inner)]).session().await;
    assert_eq!(session.ok("flows_execute", json!({"flowName": "Outer"})).await["finalResult"], "Inner: t");
}

#[tokio::test]
async fn a_written_default_is_a_default_though_it_is_empty_and_an_empty_value_is_none() {
    for (variable, required) in [
        (json!({"name": "extra", "default": ""}), false),
        (json!({"name": "extra", "value": ""}), true),
        (json!({"name": "extra", "default": null}), true),
        (json!({"name": "extra", "default": null, "value": "v"}), false),
    ] {
        let declared = json!({"template": "[{extra}]", "variables": [variable]});
        let of_node = file(json!([step("a", declared.clone())]), json!([]), json!({}));
        let of_input = json!([{"id": "i", "type": "multi_input", "data": {"variables": [variable]}},
            step("a", json!({"template": "[{extra}]"}))]);
        let of_input = file(of_input, json!([{"source": "i", "target": "a"}]), json!({}));
        let of_template = file(json!([step("a", json!({"selectedTemplateId": "T"}))]), json!([]), json!({}));
        let template = json!({"title": "T", "template": "[{extra}]", "variables": [variable]}).to_string();
        for flow in [of_node, of_input, of_template] {
            let files = [("flows/F.json", flow.as_str()), ("templates/T.json", template.as_str())];
            let mut session = Bench::folder(files).session().await;
            let done = session.call("flows_execute", json!({"flowName": "F"})).await["structuredContent"].clone();
            assert_eq!(done["code"] == "MISSING_VARIABLES", required, "{variable} {flow}: {done}");
        }
    }
}

#[tokio::test]
async fn a_list_in_which_nothing_can_be_a_name_declares_nothing() {
    let data = json!({"template": "Dear {who}", "variables": ["../x", "_variableSet", "a b"]});
    let flow = file(json!([step("a", data)]), json!([]), json!({}));
    let mut session = Bench::folder([("flows/F.json", flow)]).session().await;
    let failed = session.failed("flows_execute", json!({"flowName": "F"})).await;
    assert_eq!((&failed["code"], &failed["details"]["missing"]), (&json!("MISSING_VARIABLES"), &json!(["who"])));
}
