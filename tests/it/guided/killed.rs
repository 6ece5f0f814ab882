//! Tool steps and the real program: killed (SIGKILL) in the middle of a call, and two at the same time.

use serde_json::{Value, json};

use crate::support::home::{Home, answer_to, ok, settled};

fn calling(tool: &str) -> [(&'static str, String); 1] {
    let file = json!({"metadata": {"name": "Work", "version": "1.0.0"}, "nodes": [
        {"id": "a", "type": "tool", "data": {"call": format!("peer:{tool}"), "args": {"of": "a"}}},
        {"id": "b", "type": "template", "data": {"template": "Read {a_result}"}},
        {"id": "c", "type": "tool", "data": {"call": "peer:touch", "args": {"said": "{{ b_result }}"}}},
        {"id": "d", "type": "template", "data": {"template": "{c_result}"}},
    ], "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}, {"source": "c", "target": "d"}]});
    [("flows/Work.json", file.to_string())]
}

/// A home whose program was killed in the middle of the first call of this tool, and the execution.
fn killed(tool: &str) -> (Home, Value) {
    let home = Home::of(calling(tool), true);
    let mut program = home.serve();
    program.ask(9, "tools/call", &json!({"name": "flows_begin", "arguments": {"flowName": "Work"}}));
    home.until_begun();
    let listed = ok(&mut program, "flows_status", &json!({}));
    assert_eq!(listed["executions"][0]["currentStep"], "a");
    program.kill();
    (home, json!({"executionId": listed["executions"][0]["executionId"]}))
}

#[test]
fn a_call_that_only_reads_is_made_again_after_a_kill() {
    let (home, id) = killed("once_reading");
    let mut program = home.serve();
    let open = settled(|| ok(&mut program, "flows_status", &id));
    assert_eq!(open["step"]["prompt"], "Read at last");
    assert_eq!(home.noted("once began").len(), 2);
}

#[test]
fn of_a_call_that_may_have_done_something_a_person_decides_after_a_kill() {
    let (home, id) = killed("once");
    // The command line only looks.
    let shown = std::process::Command::new(env!("CARGO_BIN_EXE_flowy"))
        .args(["executions", "show", id["executionId"].as_str().unwrap(), "--json"])
        .env_clear()
        .env("HOME", home.root.path())
        .current_dir(home.root.path())
        .output()
        .unwrap();
    let shown: Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!((&shown["state"], &shown["toolStep"]["id"]), (&json!("running"), &json!("a")));
    let mut program = home.serve();
    let asked = ok(&mut program, "flows_status", &id);
    assert_eq!((&asked["state"], &asked["toolStep"]["call"]), (&json!("awaiting_human"), &json!("peer:once")));
    assert!(asked["nextStep"].as_str().unwrap().contains(r#"{"decision": "repeat"}"#), "{asked}");
    // It stays so over another kill, and nothing is called by itself.
    program.kill();
    let mut program = home.serve();
    assert_eq!(ok(&mut program, "flows_status", &id)["escalationId"], asked["escalationId"]);
    assert_eq!(home.noted("once began").len(), 1);
    let answer = json!({"executionId": id["executionId"], "answers": {"decision": "repeat"}});
    assert_eq!(ok(&mut program, "flows_resume", &answer)["step"]["prompt"], "Read at last");
    assert_eq!(home.noted("once began").len(), 2);
}

#[test]
fn of_two_programs_that_complete_a_step_at_the_same_time_one_calls_the_tool() {
    let home = Home::of(calling("look"), true);
    let mut programs = [home.serve(), home.serve()];
    for round in 1..=5 {
        let begun = ok(&mut programs[0], "flows_begin", &json!({"flowName": "Work"}));
        assert_eq!(begun["autoSteps"][0]["output"], "looked");
        let closing = json!({"executionId": begun["executionId"], "stepToken": begun["stepToken"], "output": "b"});
        for program in &mut programs {
            program.ask(2, "tools/call", &json!({"name": "flows_complete_step", "arguments": closing}));
        }
        for program in &mut programs {
            let answer = answer_to(program, 2);
            assert_eq!(answer["result"]["structuredContent"]["stepCompleted"], "b", "{answer}");
        }
        let id = json!({"executionId": begun["executionId"]});
        let open = settled(|| ok(&mut programs[1], "flows_status", &id));
        assert_eq!(open["step"]["prompt"], "touched");
        assert_eq!(home.noted("touch").len(), round);
    }
}

#[test]
fn a_client_that_goes_in_the_middle_of_a_call_makes_no_failure_of_it() {
    let home = Home::of(calling("once"), true);
    let mut program = home.serve();
    program.ask(9, "tools/call", &json!({"name": "flows_begin", "arguments": {"flowName": "Work"}}));
    home.until_begun();
    let listed = ok(&mut program, "flows_status", &json!({}));
    program.close_input();
    assert_eq!(program.end().0, Some(0));
    let id = json!({"executionId": listed["executions"][0]["executionId"]});
    let mut program = home.serve();
    let asked = ok(&mut program, "flows_status", &id);
    assert_eq!((&asked["state"], asked.get("failures")), (&json!("awaiting_human"), None), "{asked}");
}

#[test]
fn of_a_changing_call_that_gives_no_answer_in_time_a_person_decides_too() {
    let [(path, text)] = calling("once");
    let mut flow: Value = serde_json::from_str(&text).unwrap();
    flow["nodes"][0]["data"]["timeoutMs"] = json!(1000);
    let home = Home::of([(path, flow.to_string())], true);
    let mut program = home.serve();
    let asked = ok(&mut program, "flows_begin", &json!({"flowName": "Work"}));
    assert_eq!(asked["state"], "awaiting_human", "{asked}");
    assert!(asked["escalation"]["reason"].as_str().unwrap().contains("nobody knows whether"), "{asked}");
    let answer = json!({"executionId": asked["executionId"], "answers": {"result": "at last"}});
    assert_eq!(ok(&mut program, "flows_resume", &answer)["step"]["prompt"], "Read at last");
    // Nobody is asked where the server does all steps; nobody is told to repeat it blindly either.
    let home = Home::of([(path, flow.to_string())], true);
    let (_, out, told) = home.run(&["run", "Work", "--json"]);
    let failed: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{told}"));
    assert!(failed["message"].as_str().unwrap().contains("nobody knows whether the call did its work"), "{failed}");
    assert!(failed["nextStep"].as_str().unwrap().starts_with("look at the tool's own side"), "{failed}");
}
