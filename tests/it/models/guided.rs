//! Guided executions in which the server lets a model answer the steps whose nodes name one.

use std::time::Duration;

use serde_json::{Value, json};

use super::model;
use crate::support::home::{Home, ok, settled};
use crate::support::mcp::Program;
use crate::support::model::{Act, Speaks, StandIn};

pub(super) fn text(id: &str, text: &str, more: &Value) -> Value {
    let mut data = json!({"label": id, "template": text});
    data.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    json!({"id": id, "type": "template", "data": data})
}

/// A flow whose steps follow each other; its own `model` counts for nobody here.
fn chain(nodes: &[Value]) -> String {
    let ids: Vec<&Value> = nodes.iter().map(|node| &node["id"]).collect();
    let edges: Vec<Value> = ids.windows(2).map(|two| json!({"source": two[0], "target": two[1]})).collect();
    json!({"metadata": {"name": "Work", "version": "1.0.0", "model": "writer"}, "nodes": nodes, "edges": edges})
        .to_string()
}

/// A home with this flow, the operator's own settings, and the external server where `servers` says what it may.
pub(super) fn home(settings: &str, nodes: &[Value], servers: Option<&Value>) -> Home {
    let home = Home::of([("flows/Work.json", chain(nodes))], servers.is_some());
    let folder = home.root.path().join(".config/flowy");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("flowy.toml"), format!("default_model = \"writer\"\n{settings}")).unwrap();
    if let Some(more) = servers.and_then(Value::as_object).filter(|more| !more.is_empty()) {
        let file = home.root.path().join("servers.json");
        let mut servers: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        servers["mcpServers"]["peer"].as_object_mut().unwrap().extend(more.clone());
        std::fs::write(&file, servers.to_string()).unwrap();
    }
    home
}

pub(super) fn begin(program: &mut Program) -> Value {
    ok(program, "flows_begin", &json!({"flowName": "Work"}))
}

pub(super) fn complete(program: &mut Program, before: &Value, output: &str) -> Value {
    let closing = json!({"executionId": before["executionId"], "stepToken": before["stepToken"], "output": output});
    ok(program, "flows_complete_step", &closing)
}

pub(super) fn until(what: impl Fn() -> bool) {
    for _ in 0..4_000 {
        if what() {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    panic!("it never came about");
}

#[test]
fn the_server_lets_the_model_of_a_node_answer_between_the_clients_steps() {
    let stand_in = StandIn::by(Speaks::OpenAi, |_, asked| {
        let json = asked.prompt().starts_with("Judge");
        Act::Answer(if json { "{\"title\": \"T\"}".to_owned() } else { format!("<{}>", asked.prompt()) })
    });
    let own = json!({"model": "writer"});
    let contract = json!({"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}});
    let nodes = [
        text("plan", "Plan.", &json!({})),
        text("draft", "Draft {plan_result}", &own),
        text("judge", "Judge {draft_result}", &json!({"model": {"use": "writer"}, "contract": contract})),
        text("mine", "Mine: {draft_result}, {judge_result.title}", &json!({"model": false})),
        text("last", "Last {mine_result}", &own),
    ];
    let home = home(&model("openai-compatible", &stand_in.url, "price_in = 1.0"), &nodes, None);
    let mut program = home.serve();
    let begun = begin(&mut program);
    assert_eq!((&begun["step"]["id"], begun["autoSteps"].as_array().unwrap().len()), (&json!("plan"), 0));
    assert!(stand_in.asked().is_empty(), "neither the flow's model nor the usual one counts");
    let next = complete(&mut program, &begun, "THE PLAN");
    assert_eq!(next["step"]["prompt"], "Mine: <Draft THE PLAN>, T");
    let auto = &next["autoSteps"];
    assert_eq!((&auto[0]["id"], &auto[0]["status"], auto[0].get("call")), (&json!("draft"), &json!("done"), None));
    assert_eq!(auto[0]["output"], "<Draft THE PLAN>");
    assert_eq!((&auto[0]["generated"]["model"], &auto[1]["generated"]["attempts"]), (&json!("writer"), &json!(1)));
    assert_eq!((&next["usage"]["inputTokens"], next.get("toolCalls")), (&json!(14), None));
    // The same call again is answered alike, and nothing is asked again.
    assert_eq!(complete(&mut program, &begun, "THE PLAN"), next);
    assert_eq!(stand_in.asked().len(), 2);
    let done = complete(&mut program, &next, "MINE");
    assert_eq!((&done["state"], &done["finalResult"]), (&json!("completed"), &json!("<Last MINE>")));

    let status = json!({"executionId": begun["executionId"], "include": ["steps", "events"]});
    let status = ok(&mut home.serve(), "flows_status", &status);
    assert_eq!(status["steps"][1]["generated"]["model"], "writer");
    assert_eq!((status["steps"][0].get("generated"), &status["usage"]["inputTokens"]), (None, &json!(21)));
    let of_draft = |event: &&Value| event["nodeId"] == "draft";
    let told: Vec<&str> = status["events"]
        .as_array()
        .unwrap()
        .iter()
        .filter(of_draft)
        .map(|event| event["event"].as_str().unwrap())
        .collect();
    assert_eq!(told, ["step_started", "step_ended"]);
    let id = begun["executionId"].as_str().unwrap();
    let (_, page, _) = home.run(&["executions", "show", id, "--html"]);
    assert!(page.contains("draft: done") && page.contains("writer (7 + "), "{page}");
    let (_, shown, _) = home.run(&["executions", "show", id]);
    assert!(shown.contains("draft · writer (7 + 16 tokens) · done"), "{shown}");
}

#[test]
fn what_is_noticed_while_a_model_answers_a_guided_step_is_stored_and_told_again() {
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![Act::Ended("half an answer".to_owned(), "length", 7)]);
    let keeps = json!({"model": {"use": "writer", "onLength": "keep"}});
    let nodes = [text("draft", "Draft.", &keeps), text("mine", "Mine {draft_result}", &json!({}))];
    let home = home(&model("openai-compatible", &stand_in.url, ""), &nodes, None);
    let begun = begin(&mut home.serve());
    let warned = |answer: &Value| answer["autoSteps"][0]["warnings"].clone();
    assert_eq!(warned(&begun)[0]["code"], "ANSWER_CUT_OFF", "{begun}");
    // Another process knows it from the store.
    let id = &begun["executionId"];
    let status = ok(&mut home.serve(), "flows_status", &json!({"executionId": id, "include": ["steps"]}));
    assert_eq!((warned(&status), &status["steps"][0]["warnings"]), (warned(&begun), &warned(&begun)));
    let (_, shown, _) = home.run(&["executions", "show", id.as_str().unwrap()]);
    assert!(shown.contains("note: the answer was cut off"), "{shown}");
    let (_, page, _) = home.run(&["executions", "show", id.as_str().unwrap(), "--html"]);
    assert!(page.contains("ANSWER_CUT_OFF"), "{page}");
}

#[test]
fn without_any_model_the_client_does_all_steps() {
    let nodes = [text("draft", "Draft.", &json!({"model": "writer"}))];
    let home = Home::of([("flows/Work.json", chain(&nodes))], false);
    let begun = begin(&mut home.serve());
    assert_eq!(begun["step"]["id"], "draft");
    // Where models come in meanwhile, what was handed out stays the client's.
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let folder = home.root.path().join(".config/flowy");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("flowy.toml"), model("openai-compatible", &stand_in.url, "")).unwrap();
    let done = complete(&mut home.serve(), &begun, "MINE");
    assert_eq!((&done["finalResult"], stand_in.asked().len()), (&json!("MINE"), 0));
}

#[test]
fn a_model_that_fails_or_is_not_there_fails_its_step_unless_the_node_goes_on() {
    let refuses =
        || StandIn::doing(Speaks::OpenAi, vec![Act::Refuse(401, vec![], json!({"error": {"message": "no"}}))]);
    for (name, code) in [("writer", "MODEL_UNAUTHORIZED"), ("writr", "MODEL_NOT_FOUND")] {
        let stand_in = refuses();
        let settings = model("openai-compatible", &stand_in.url, "");
        let nodes = [text("draft", "Draft.", &json!({"model": name})), text("mine", "Mine {draft_result}", &json!({}))];
        let ended = begin(&mut home(&settings, &nodes, None).serve());
        assert_eq!((&ended["state"], &ended["failures"][0]["error"]["code"]), (&json!("failed"), &json!(code)));
        assert_eq!(ended["autoSteps"][0]["status"], "failed");
        let goes_on = json!({"model": name, "onError": "continue"});
        let nodes = [text("draft", "Draft.", &goes_on), text("mine", "Mine {draft_result.error.code}", &json!({}))];
        let open = begin(&mut home(&settings, &nodes, None).serve());
        assert_eq!(open["step"]["prompt"], json!(format!("Mine {code}")), "{open}");
        assert_eq!(open["autoSteps"][0]["error"]["code"], code);
    }
}

#[test]
fn a_call_of_a_model_that_was_killed_is_made_again_and_the_answer_says_so() {
    let stand_in =
        StandIn::by(
            Speaks::OpenAi,
            |number, asked| {
                if number == 0 { Act::Hang } else { Act::Answer(format!("<{}>", asked.prompt())) }
            },
        );
    let nodes = [text("draft", "Draft.", &json!({"model": "writer"})), text("mine", "Mine {draft_result}", &json!({}))];
    let home = home(&model("openai-compatible", &stand_in.url, ""), &nodes, None);
    let mut program = home.serve();
    program.ask(9, "tools/call", &json!({"name": "flows_begin", "arguments": {"flowName": "Work"}}));
    until(|| stand_in.asked().len() == 1);
    let listed = ok(&mut program, "flows_status", &json!({}));
    let id = json!({"executionId": listed["executions"][0]["executionId"]});
    let busy = ok(&mut program, "flows_status", &id);
    assert_eq!((&busy["step"], &busy["toolStep"]["model"]), (&Value::Null, &json!("writer")), "{busy}");
    assert!(busy.as_object().unwrap().contains_key("step"), "it says that nothing is open");
    assert!(busy["nextStep"].as_str().unwrap().contains("the model writer; call flows_status"), "{busy}");
    program.kill();
    let mut program = home.serve();
    let open = settled(|| ok(&mut program, "flows_status", &id));
    assert_eq!(
        (&open["step"]["prompt"], &open["autoSteps"][0]["again"]),
        (&json!("Mine <Draft.>"), &json!(true)),
        "{open}"
    );
    assert_eq!(stand_in.asked().len(), 2);
}

#[test]
fn what_one_execution_may_spend_holds_over_its_steps_and_processes() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let own = json!({"model": "writer"});
    let nodes =
        [text("draft", "Draft.", &own), text("mine", "Mine", &json!({})), text("more", "More {mine_result}", &own)];
    // The first call takes 15 tokens, and what the second may take is more than what is left then.
    let more = "max_output_tokens = 100\nper_execution_tokens = 115";
    let home = home(&model("openai-compatible", &stand_in.url, more), &nodes, None);
    let begun = begin(&mut home.serve());
    let ended = complete(&mut home.serve(), &begun, "MINE");
    assert_eq!(ended["failures"][0]["error"]["code"], "BUDGET_EXCEEDED", "{ended}");
    assert_eq!(stand_in.asked().len(), 1);
}

#[test]
fn a_tool_that_changes_things_is_handed_what_a_model_wrote_when_a_person_says_so() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let act = |tool: &str, name: &str| {
        let args = json!({"text": format!("{{{{ {name} }}}}")});
        json!({"id": "act", "type": "tool", "data": {"call": format!("peer:{tool}"), "args": args}})
    };
    let nodes = |tool: &str, name: &str, own: &Value| {
        [
            text("draft", "Draft.", own),
            text("mine", "Mine {draft_result}", &json!({})),
            act(tool, name),
            text("end", "Told {act_result}", &json!({})),
        ]
    };
    let settings = model("openai-compatible", &stand_in.url, "");
    // Where nothing is generated, nothing is changed or the operator says so, nobody is asked.
    let own = json!({"model": "writer"});
    for (tool, own, more) in
        [("touch", &json!({}), json!({})), ("look", &own, json!({})), ("touch", &own, json!({"fromModels": true}))]
    {
        let home = home(&settings, &nodes(tool, "draft_result", own), Some(&more));
        let mut program = home.serve();
        let mut next = begin(&mut program);
        while next["step"]["id"] != "end" {
            assert_eq!(next["state"], "running", "{tool} {own} {more}: {next}");
            next = complete(&mut program, &next, "MINE");
        }
    }
    for (name, decision, told, touched) in [
        ("draft_result", "call", json!("Told touched"), 1),
        // What the client wrote of it counts as well.
        ("mine_result", "call", json!("Told touched"), 1),
        ("draft_result", "fail", Value::Null, 0),
    ] {
        let home = home(&settings, &nodes("touch", name, &own), Some(&json!({})));
        let mut program = home.serve();
        let begun = begin(&mut program);
        let asked = complete(&mut program, &begun, "MINE");
        assert_eq!((&asked["state"], &asked["toolStep"]["call"]), (&json!("awaiting_human"), &json!("peer:touch")));
        let text = if name == "draft_result" { "<Draft.>" } else { "MINE" };
        assert_eq!(asked["escalation"]["context"]["arguments"], json!({"text": text}), "{asked}");
        assert!(asked["escalation"]["questions"][0].as_str().unwrap().contains(text), "{asked}");
        assert!(asked["nextStep"].as_str().unwrap().contains(r#"{"decision": "call"}"#), "{asked}");
        assert!(home.noted("touch").is_empty());
        // Another process knows what was asked, and what was answered.
        let mut program = home.serve();
        let answers = json!({"executionId": begun["executionId"], "answers": {"decision": decision}});
        let next = ok(&mut program, "flows_resume", &answers);
        assert_eq!((&next["step"]["prompt"], home.noted("touch").len()), (&told, touched), "{next}");
    }
}

#[test]
fn what_may_ask_a_model_is_not_announced_as_changing_nothing() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    for (settings, harmless) in [(model("openai-compatible", &stand_in.url, ""), false), (String::new(), true)] {
        let home = Home::of([("flows/Work.json", chain(&[text("a", "Say so.", &json!({}))]))], false);
        let folder = home.root.path().join(".config/flowy");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("flowy.toml"), settings).unwrap();
        let listed = home.serve().request(1, "tools/list", &json!({}));
        let hints = |name: &str| {
            let tools = listed["result"]["tools"].as_array().unwrap();
            let tool = tools.iter().find(|tool| tool["name"] == name).unwrap();
            ["readOnlyHint", "destructiveHint", "idempotentHint"].map(|hint| tool["annotations"][hint] == true)
        };
        // After a crash it asks the model again.
        assert_eq!(hints("flows_status"), [harmless, false, harmless]);
        assert_eq!(hints("flows_execute"), [harmless, false, harmless]);
        assert_eq!(hints("flows_list"), [true, false, true]);
    }
}
