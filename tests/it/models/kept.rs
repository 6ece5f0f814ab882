//! What is kept of models on this machine, what they may do, and the commands about them.

use std::process::Stdio;

use serde_json::{Value, json};

use super::guided::until;
use super::{model, run, sandbox, two_steps};
use crate::support::model::{Act, Speaks, StandIn};
use crate::support::peer::entry;

fn first_only() -> String {
    two_steps(&json!({}), &json!({"model": false}))
}

#[test]
fn a_day_has_a_budget_that_all_processes_share() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let more = "max_output_tokens = 100\nper_day_tokens = 140";
    let sandbox = sandbox(&model("openai-compatible", &stand_in.url, more), &first_only());
    // A call takes 18 tokens, and about 107 are set aside for it.
    for _ in 0..2 {
        let (answer, said) = run(&sandbox, &["--model", "writer"]);
        assert_eq!(answer["status"], "success", "{said:?}");
    }
    let (answer, _) = run(&sandbox, &["--model", "writer"]);
    assert_eq!(answer["code"], "BUDGET_EXCEEDED", "{answer}");
    assert!(answer["message"].as_str().unwrap().contains("36 of them"), "{answer}");
    assert_eq!(stand_in.asked().len(), 2);
}

#[test]
fn what_one_process_may_still_take_today_another_can_not() {
    let slowly = Act::Slowly("an answer".to_owned(), std::time::Duration::from_millis(200));
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![slowly]);
    let more = "max_output_tokens = 100\nper_day_tokens = 140";
    let sandbox = sandbox(&model("openai-compatible", &stand_in.url, more), &first_only());
    let line = ["run", "Two", "--var", "topic=tea", "--model", "writer"];
    let mut first = sandbox.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until(|| !stand_in.asked().is_empty());
    let (answer, _) = run(&sandbox, &["--model", "writer"]);
    assert_eq!((&answer["code"], stand_in.asked().len()), (&json!("BUDGET_EXCEEDED"), 1), "{answer}");
    assert!(first.wait().unwrap().success());
    // What it took is far less than what was set aside for it.
    let (answer, said) = run(&sandbox, &["--model", "writer"]);
    assert_eq!(answer["status"], "success", "{said:?}");
}

#[test]
fn what_waits_for_a_limit_takes_nothing_of_the_day() {
    let limit = Act::Refuse(429, vec![("retry-after", "1800".to_owned())], json!({"error": {"message": "slow"}}));
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![limit, Act::Answer("an answer".to_owned())]);
    let more = "max_output_tokens = 100\nper_day_tokens = 140";
    let sandbox = sandbox(&model("openai-compatible", &stand_in.url, more), &first_only());
    let line = ["run", "Two", "--var", "topic=tea", "--model", "writer"];
    let mut first = sandbox.command(line).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let waits = || sandbox.run(["executions", "list", "--state", "waiting"]).out.contains("waiting");
    until(waits);
    first.kill().unwrap();
    first.wait().unwrap();
    let (answer, said) = run(&sandbox, &["--model", "writer"]);
    assert_eq!(answer["status"], "success", "{said:?}");
}

#[test]
fn an_answer_is_stored_where_the_model_always_says_the_same_or_somebody_wants_it() {
    for (more, flags, calls) in [
        ("", &[][..], 3),
        ("temperature = 0", &[], 1),
        ("temperature = 0", &["--answers", "off"], 3),
        ("", &["--answers", "reuse"], 1),
        ("", &["--answers", "fresh"], 3),
        ("answers = \"reuse\"", &[], 1),
    ] {
        let stand_in = StandIn::by(Speaks::OpenAi, |number, _| Act::Answer(format!("answer {number}")));
        let sandbox = sandbox(&model("openai-compatible", &stand_in.url, more), &first_only());
        let flags: Vec<&str> = ["--model", "writer"].iter().chain(flags).copied().collect();
        let answers: Vec<Value> = (0..3).map(|_| run(&sandbox, &flags).0).collect();
        assert_eq!(stand_in.asked().len(), calls, "{more} {flags:?}");
        let stored = &answers[2]["intermediateResults"][0]["generated"];
        assert_eq!(stored["fromStore"], json!(calls == 1), "{more} {flags:?}");
        if calls == 1 {
            assert_eq!(answers[2]["finalResult"], "Write by: answer 0");
            assert_eq!((&stored["inputTokens"], &stored["attempts"]), (&json!(7), &json!(0)), "what it took once");
            assert!(answers[2].get("usage").is_none(), "nothing was spent");
        }
        let (other, _) = {
            let arguments = ["run", "Two", "--var", "topic=coffee", "--json"].iter().chain(&flags);
            let said = sandbox.run(arguments.collect::<Vec<_>>());
            (serde_json::from_str::<Value>(&said.out).unwrap(), said)
        };
        assert_eq!(other["intermediateResults"][0]["generated"]["fromStore"], false, "another text is another call");
    }
}

#[test]
fn an_answer_that_was_cut_off_is_not_stored() {
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![Act::Ended("half".to_owned(), "length", 7)]);
    let flow = two_steps(&json!({"model": {"onLength": "keep"}}), &json!({"model": false}));
    let sandbox = sandbox(&model("openai-compatible", &stand_in.url, "answers = \"reuse\""), &flow);
    for _ in 0..2 {
        run(&sandbox, &["--model", "writer"]);
    }
    assert_eq!(stand_in.asked().len(), 2);
}

#[test]
fn an_answer_is_stored_when_its_step_takes_it_and_under_what_was_asked_at_first() {
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]});
    let good = || Act::Answer(r#"{"title": "T"}"#.to_owned());
    let bad = || Act::Answer("bad".to_owned());
    for (acts, ends, calls) in [
        (vec![bad(), bad(), good()], [false, true, true], 3),
        (vec![Act::Answer(String::new()), good()], [false, true, true], 2),
        (vec![bad(), good()], [true, true, true], 2),
    ] {
        let stand_in = StandIn::doing(Speaks::OpenAi, acts.clone());
        let flow = two_steps(&json!({"contract": schema}), &json!({"model": false}));
        let sandbox = sandbox(&model("openai-compatible", &stand_in.url, "temperature = 0"), &flow);
        let ended = [(); 3].map(|()| run(&sandbox, &["--model", "writer"]).0["status"] == "success");
        assert_eq!((ended, stand_in.asked().len()), (ends, calls), "{acts:?}");
    }
}

#[test]
fn a_days_budget_puts_steps_off_until_midnight_and_a_raised_one_lets_them_go_on_at_once() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let settings = |day: u32| {
        model("openai-compatible", &stand_in.url, &format!("max_output_tokens = 100\nper_day_tokens = {day}"))
    };
    let sandbox = sandbox(&settings(120), &two_steps(&json!({}), &json!({})));
    let (answer, _) = run(&sandbox, &["--model", "writer"]);
    assert_eq!((&answer["code"], &answer["status"]), (&json!("BUDGET_EXCEEDED"), &json!("partial")), "{answer}");
    let id = answer["executionId"].as_str().unwrap();
    assert!(answer["nextStep"].as_str().unwrap().contains("T00:00:00Z"), "{answer}");
    let shown: Value = serde_json::from_str(&sandbox.run(["executions", "show", id, "--json"]).out).unwrap();
    assert_eq!(shown["state"], "interrupted", "{shown}");
    assert!(shown["nextStep"].as_str().unwrap().contains("after resumesAt"), "{shown}");
    std::fs::write(sandbox.home().join(".config/flowy/flowy.toml"), settings(1_000)).unwrap();
    let said = sandbox.run(["run", "--resume", id]);
    assert_eq!((said.code, said.out.trim()), (0, "<Write by: <Plan tea.>>"), "{said:?}");
}

#[test]
fn a_call_that_was_given_up_counts_with_its_prompt() {
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![Act::Hang, Act::Answer("an answer".to_owned())]);
    let more = "max_output_tokens = 100\nper_day_tokens = 140";
    let settings = format!("execution_timeout_ms = 1000\n{}", model("openai-compatible", &stand_in.url, more));
    let sandbox = sandbox(&settings, &first_only());
    assert_eq!(run(&sandbox, &["--model", "writer"]).0["code"], "TIMEOUT");
    let (answer, said) = run(&sandbox, &["--model", "writer"]);
    assert_eq!(answer["status"], "success", "{said:?}");
}

#[test]
fn a_resumed_execution_counts_under_the_catalog_that_it_read() {
    let far = Act::Refuse(429, vec![("retry-after", "7200".to_owned())], json!({"error": {"message": "slow"}}));
    let stand_in = StandIn::doing(Speaks::OpenAi, vec![far, Act::Answer("an answer".to_owned())]);
    let sandbox = sandbox(&model("openai-compatible", &stand_in.url, ""), &first_only());
    let (answer, _) = run(&sandbox, &["--model", "writer"]);
    let id = answer["executionId"].as_str().unwrap();
    let said = sandbox.run(["run", "--source", "examples", "--resume", id]);
    assert_eq!(said.code, 0, "{said:?}");
    let uses = |source: &str| {
        let said = sandbox.run(["stats", "--json", "--source", source]);
        let stats: Value = serde_json::from_str(&said.out).unwrap();
        (stats["flows"].as_array().unwrap().len(), stats["models"].as_array().unwrap().len())
    };
    assert_eq!((uses("."), uses("examples")), ((1, 1), (0, 0)));
}

#[test]
fn a_tool_that_changes_things_is_handed_what_a_model_wrote_only_where_the_operator_says_so() {
    let stand_in = StandIn::echoing(Speaks::OpenAi);
    let flow = |tool: &str, name: &str| {
        json!({
            "metadata": {"name": "Two", "version": "1.0.0"},
            "nodes": [
                {"id": "plan", "type": "template", "data": {"template": "Plan {topic}."}},
                {"id": "join", "type": "template", "data": {"template": "= {plan_result}", "model": false}},
                {"id": "act", "type": "tool", "data": {"call": tool, "args": {"text": format!("{{{{ {name} }}}}")}}},
            ],
            "edges": [{"source": "plan", "target": "join"}, {"source": "join", "target": "act"}],
        })
        .to_string()
    };
    for (tool, name, more, fine) in [
        ("p:touch", "join_result", json!({}), false),
        ("p:touch", "join_result", json!({"fromModels": true}), true),
        ("p:look", "join_result", json!({}), true),
        ("p:touch", "topic", json!({}), true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut server = entry("steady", &folder.path().join("notes"));
        server.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let sandbox = sandbox(&model("openai-compatible", &stand_in.url, ""), &flow(tool, name))
            .file("servers.json", json!({"mcpServers": {"p": server}}).to_string());
        let (answer, said) = run(&sandbox, &["--model", "writer", "--servers", "servers.json"]);
        assert_eq!(said.code, i32::from(!fine), "{tool} {name} {more}: {said:?}");
        if !fine {
            assert_eq!(answer["code"], "TOOL_NOT_ALLOWED");
            assert!(answer["message"].as_str().unwrap().contains("fromModels"));
        }
    }
}

#[test]
fn models_are_listed_as_they_are_configured_and_one_is_tried() {
    let stand_in = StandIn::doing(Speaks::Ollama, vec![Act::Ended("OK".to_owned(), "length", 9)]);
    let settings = format!(
        "default_model = \"writer\"\n{}[models.far]\nprovider = \"anthropic\"\nmodel = \"m-2\"\nkey_env = \"FAR_KEY\"\n",
        model("ollama", &stand_in.url, "")
    );
    let sandbox = sandbox(&settings, &first_only());
    let listed = sandbox.run(["models", "list"]);
    assert_eq!(listed.code, 0, "{listed:?}");
    let lines: Vec<Vec<&str>> = listed.out.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(
        lines[0],
        ["far", "anthropic", "m-2", "https://api.anthropic.com", "no key: the variable FAR_KEY is not set"]
    );
    assert_eq!((lines[1][0], lines[1][4]), ("writer", "no key needed"));
    let json = sandbox.run(["models", "list", "--json"]).json();
    assert_eq!((&json["models"][1]["default"], &json["models"][0]["default"]), (&json!(true), &json!(false)));
    assert!(stand_in.asked().is_empty());
    let tried = sandbox.run(["models", "check", "writer"]);
    assert_eq!(tried.code, 0, "{tried:?}");
    assert!(tried.out.starts_with("writer answers"), "{}", tried.out);
    // Nothing moves in a pipe: what is waited for is told before.
    assert!(tried.err.starts_with("asking writer, for ") && tried.err.contains("s at most"), "{}", tried.err);
    assert_eq!(sandbox.run(["models", "check", "writer", "--quiet"]).err, "");
    assert!(stand_in.asked()[0].body["options"]["num_predict"].as_u64().unwrap() <= 16);
    let tried = sandbox.run(["models", "check", "far", "--json"]);
    assert_eq!(tried.code, 1, "{tried:?}");
    assert!(tried.err.contains("FAR_KEY") || tried.out.contains("FAR_KEY"), "{tried:?}");
    let unknown = sandbox.run(["models", "check", "writr"]);
    assert!(unknown.code == 1 && unknown.err.contains("writer"), "{unknown:?}");
}
