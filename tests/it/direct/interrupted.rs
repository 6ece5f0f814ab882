//! Executions whose process ended, and what becomes of them.

use serde_json::{Value, json};

use super::{RESULT, begun, catalog, killed};
use crate::support::home::{Home, answer_to, ok};
use crate::support::mcp::Program;

/// Calls a tool that must fail.
fn failed(program: &mut Program, tool: &str, arguments: &Value) -> Value {
    let answer = program.request(1, "tools/call", &json!({"name": tool, "arguments": arguments}));
    assert_eq!(answer["result"]["isError"], json!(true), "{answer}");
    answer["result"]["structuredContent"].clone()
}

#[test]
fn after_a_kill_what_is_done_stays_done_and_a_call_that_only_reads_is_made_again() {
    let (home, id) = killed("once_reading");
    let mut program = home.serve();
    // Nothing goes on by itself, however often somebody looks.
    let listed = ok(&mut program, "flows_status", &json!({"state": ["interrupted"]}));
    assert_eq!((&listed["total"], &listed["executions"][0]["state"]), (&json!(1), &json!("interrupted")));
    assert!(listed["nextStep"].as_str().unwrap().contains("flows_resume"), "{listed}");
    let status = ok(&mut program, "flows_status", &json!({"executionId": id, "include": ["steps", "events"]}));
    assert_eq!((&status["state"], &status["kind"]), (&json!("interrupted"), &json!("direct")));
    assert_eq!((&status["completedSteps"], &status["begunSteps"][0]["id"]), (&json!(["a", "b"]), &json!("c")));
    assert!(status["nextStep"].as_str().unwrap().contains(&format!("flows_resume with executionId {id}")));
    assert_eq!(home.noted("once began").len(), 1);
    let text = ok(&mut program, "flows_status", &json!({"executionId": id, "nodeId": "b"}));
    assert_eq!(text["text"], "Read touched");

    let resumed = ok(&mut program, "flows_resume", &json!({"executionId": id}));
    assert_eq!((&resumed["status"], &resumed["finalResult"]), (&json!("success"), &json!(RESULT)));
    let warned: Vec<&Value> = resumed["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
    assert_eq!(warned, ["CALLED_AGAIN"]);
    assert_eq!((home.noted("touch").len(), home.noted("once began").len()), (1, 2));

    // Asked again, it says what came of it, and does nothing more.
    let again = ok(&mut program, "flows_resume", &json!({"executionId": id}));
    assert_eq!(again["finalResult"], RESULT);
    let status = ok(&mut program, "flows_status", &json!({"executionId": id}));
    assert_eq!((&status["state"], &status["finalResult"]), (&json!("completed"), &json!(RESULT)));
    assert_eq!((home.noted("touch").len(), home.noted("once began").len()), (1, 2));
}

#[test]
fn of_a_call_that_may_have_done_something_a_person_decides() {
    for (decision, state, result) in [
        (json!({"decision": "repeat"}), "completed", json!(RESULT)),
        (json!({"result": "as the page says"}), "completed", json!("Read touched, and as the page says")),
        (json!("fail"), "partial", Value::Null),
    ] {
        let (home, id) = killed("once");
        let mut program = home.serve();
        let asking = ok(&mut program, "flows_resume", &json!({"executionId": id}));
        assert_eq!(
            (&asking["state"], &asking["escalation"]["escalationId"]),
            (&json!("awaiting_human"), &asking["escalationId"])
        );
        assert!(asking["nextStep"].as_str().unwrap().contains(r#"{"decision": "repeat"}"#), "{asking}");
        // It stays so over another kill, and is not asked twice.
        program.kill();
        let mut program = home.serve();
        let same = ok(&mut program, "flows_resume", &json!({"executionId": id}));
        assert_eq!(same["escalationId"], asking["escalationId"]);
        let unclear = failed(&mut program, "flows_resume", &json!({"executionId": id, "answers": "perhaps"}));
        assert_eq!(unclear["code"], "INVALID_REQUEST");
        assert_eq!(home.noted("once began").len(), 1);

        let answer = json!({"executionId": id, "escalationId": asking["escalationId"], "answers": decision});
        program.request(1, "tools/call", &json!({"name": "flows_resume", "arguments": answer}));
        let status = ok(&mut program, "flows_status", &json!({"executionId": id}));
        assert_eq!((&status["state"], &status["finalResult"]), (&json!(state), &result), "{status}");
        assert_eq!(home.noted("once began").len(), 1 + usize::from(decision["decision"] == "repeat"));
        if state == "partial" {
            // What has ended is not tried again, and that is said.
            let again = failed(&mut program, "flows_resume", &json!({"executionId": id}));
            assert!(again["nextStep"].as_str().unwrap().contains("nothing was tried now"), "{again}");
        }
        assert_eq!(home.noted("touch").len(), 1);
    }
}

#[test]
fn the_command_line_lists_shows_and_goes_on_with_what_was_interrupted() {
    let (home, id) = killed("once");
    let (code, listed, _) = home.run(&["executions", "list", "--state", "interrupted"]);
    assert!(code == Some(0) && listed.starts_with(&format!("{id}\tWork\tinterrupted\t2/4\t")), "{listed}");
    let (_, shown, _) = home.run(&["executions", "show", &id]);
    assert!(shown.contains("interrupted") && shown.contains(&format!("flowy run --resume {id}")), "{shown}");
    let (_, page, _) = home.run(&["executions", "show", &id, "--html"]);
    assert!(page.contains("peer:once is called") && page.contains("interrupted"), "{page}");
    let (_, exported, _) = home.run(&["executions", "export", &id]);
    let exported: Value = serde_json::from_str(&exported).unwrap();
    assert_eq!((&exported["state"], &exported["kind"]), (&json!("interrupted"), &json!("direct")), "{exported}");

    let (code, out, told) = home.run(&["run", "--resume", &id]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(told.contains("nobody knows whether the call did its work") && told.contains("--answer repeat"), "{told}");
    assert_eq!(home.noted("once began").len(), 1);
    let (code, out, told) = home.run(&["run", "--resume", &id, "--answer", "repeat"]);
    assert_eq!((code, out.trim_end()), (Some(0), RESULT), "{told}");
    assert_eq!((home.noted("touch").len(), home.noted("once began").len()), (1, 2));
    let (code, out, _) = home.run(&["run", "--resume", &id]);
    assert_eq!((code, out.trim_end()), (Some(0), RESULT));
}

#[test]
fn one_process_at_a_time_does_the_steps_and_a_second_one_is_told_so() {
    let home = Home::of(catalog("once"), true);
    let mut program = home.serve();
    let id = begun(&home, &mut program);
    for refused in [failed(&mut program, "flows_resume", &json!({"executionId": id})), {
        let mut second = home.serve();
        failed(&mut second, "flows_resume", &json!({"executionId": id}))
    }] {
        assert_eq!(refused["code"], "INVALID_REQUEST");
        assert!(refused["message"].as_str().unwrap().contains("does the steps of this execution"), "{refused}");
    }
    let (code, _, told) = home.run(&["run", "--resume", &id]);
    assert!(code == Some(2) && told.contains("another process does the steps"), "{told}");
    assert_eq!(home.noted("once began").len(), 1);
}

#[test]
fn a_client_that_goes_or_takes_its_call_back_interrupts_and_fails_nothing() {
    for goes in [true, false] {
        let home = Home::of(catalog("once_reading"), true);
        let mut program = home.serve();
        let id = begun(&home, &mut program);
        if goes {
            program.close_input();
            assert_eq!(program.end().0, Some(0));
            program = home.serve();
        } else {
            program.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 9}}));
            for _ in 0..4_000 {
                if ok(&mut program, "flows_status", &json!({"executionId": id}))["state"] == "interrupted" {
                    break;
                }
                // Not a wait for something to happen: only a pause between two questions.
                std::thread::park_timeout(std::time::Duration::from_millis(5));
            }
        }
        let status = ok(&mut program, "flows_status", &json!({"executionId": id}));
        assert_eq!((&status["state"], status.get("failures")), (&json!("interrupted"), None), "{status}");
        let resumed = ok(&mut program, "flows_resume", &json!({"executionId": id}));
        assert_eq!(resumed["finalResult"], RESULT);
        assert_eq!(home.noted("touch").len(), 1);
    }
}

#[test]
fn an_execution_that_another_process_cancels_ends_and_can_not_go_on() {
    let home = Home::of(catalog("once"), true);
    let mut program = home.serve();
    let id = begun(&home, &mut program);
    let (code, _, told) = home.run(&["executions", "cancel", &id, "--reason", "enough"]);
    assert_eq!(code, Some(0), "{told}");
    let answer = answer_to(&mut program, 9);
    assert_eq!(answer["result"]["structuredContent"]["code"], "CANCELLED", "{answer}");
    let next = answer["result"]["structuredContent"]["nextStep"].as_str().unwrap();
    assert!(next.contains("not by this call") && !next.contains("flows_resume"), "{next}");
    let status = ok(&mut program, "flows_status", &json!({"executionId": id}));
    assert_eq!((&status["state"], &status["reason"]), (&json!("cancelled"), &json!("enough")));
    assert_eq!(failed(&mut program, "flows_resume", &json!({"executionId": id}))["code"], "CANCELLED");
}
