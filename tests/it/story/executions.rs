//! Guided executions from the command line: what a person does while, and after, a model works.

use std::sync::Arc;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::mcp::Program;
use crate::support::program::Sandbox;

const FLOW: &str = r#"{"metadata":{"name":"Two","version":"1.0.0"},"nodes":[
{"id":"a","type":"template","data":{"label":"First","template":"A {x}"}},
{"id":"b","type":"template","data":{"label":"Second","template":"B {a_result}"}}],
"edges":[{"source":"a","target":"b"}]}"#;

/// A model that has begun three executions: one is done, one waits for a person, one is open.
fn worked() -> (Sandbox, Vec<String>) {
    let sandbox = Sandbox::new().file("flows/Two.json", FLOW);
    let state = sandbox.home().join("state");
    let state = state.to_str().unwrap();
    let here = sandbox.here();
    let home = Arc::new(TempDir::new().unwrap());
    let mut program = Program::serving_at(home, &["--source", here.to_str().unwrap(), "--state-dir", state], &[]);
    program.shake_hands("2025-11-25");
    let mut last = 0;
    let mut call = |tool: &str, arguments: Value| {
        last += 1;
        let answer = program.request(last, "tools/call", &json!({"name": tool, "arguments": arguments}));
        assert_eq!(answer["result"]["isError"], json!(false), "{answer}");
        answer["result"]["structuredContent"].clone()
    };
    let mut ids = Vec::new();
    for kind in ["done", "asks", "open"] {
        let mut answer = call(
            "flows_begin",
            json!({"flowName": "Two", "task": format!("The <i>{kind}</i> one."), "initialVariables": {"x": "x"}}),
        );
        ids.push(answer["executionId"].as_str().unwrap().to_owned());
        let token = answer["stepToken"].clone();
        let id = answer["executionId"].clone();
        if kind == "asks" {
            call(
                "flows_escalate",
                json!({"executionId": id, "stepToken": token, "reason": "r", "questions": ["Red or \u{1b}[31mblue?"]}),
            );
        }
        while kind == "done" && answer.get("stepToken").is_some() {
            let output = json!({"summary": "Fine.", "result": "RESULT"});
            answer = call(
                "flows_complete_step",
                json!({"executionId": id, "stepToken": answer["stepToken"], "output": output}),
            );
        }
    }
    (sandbox, ids)
}

fn run(sandbox: &Sandbox, arguments: &[&str]) -> crate::support::program::Said {
    let state = sandbox.home().join("state");
    let mut line = vec!["executions"];
    line.extend(arguments);
    line.extend(["--state-dir", state.to_str().unwrap()]);
    sandbox.run(line)
}

#[test]
fn a_program_answers_and_its_last_answer_is_printed_once() {
    let sandbox = Sandbox::new().file("flows/Two.json", FLOW);
    let said = sandbox.run(["guide", "Two", "--var", "x=1", "--with", "cat"]);
    assert_eq!((said.code, said.out.trim_end()), (0, "B A 1"), "{said:?}");
    // Each step's text and each answer but the last, which is the result.
    let lines = |text: &str| said.err.lines().filter(|line| line.trim() == text).count();
    assert_eq!((lines("A 1"), lines("B A 1")), (2, 1), "{}", said.err);
    assert!(said.err.contains("to go on there: flowy guide --resume Two_"), "{}", said.err);
    let id = sandbox.run(["executions", "list", "--json"]).json()["executions"][0]["executionId"].clone();
    let page = sandbox.run(["executions", "show", id.as_str().unwrap(), "--html"]).out;
    assert!(page.contains("<h3>The execution ended: completed</h3>"), "{page}");
}

#[test]
fn calls_that_were_made_again_are_counted_with_the_step() {
    let flow = json!({"metadata": {"name": "Call", "version": "1.0.0"}, "edges": [], "nodes": [
        {"id": "a", "type": "tool", "data": {"label": "First", "call": "gone:read", "retry": {"times": 1, "backoffMs": 1}}}]});
    let servers = r#"{"mcpServers": {"gone": {"command": "no-such-program", "allow": ["*"]}}}"#;
    let sandbox = Sandbox::new().file("flows/Call.json", flow.to_string()).file("servers.json", servers);
    let ran = sandbox.run(["run", "Call", "--servers", "servers.json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let id = sandbox.run(["executions", "list", "--json"]).json()["executions"][0]["executionId"].clone();
    let shown = sandbox.run(["executions", "show", id.as_str().unwrap()]);
    assert!(shown.out.contains("2 attempts"), "{shown:?}");
}

#[test]
fn executions_are_listed_shown_exported_cancelled_counted_and_forgotten() {
    let (sandbox, ids) = worked();
    let said = run(&sandbox, &["list"]);
    assert_eq!((said.code, said.out.lines().count()), (0, 3), "{}", said.err);
    assert!(said.out.contains(&ids[0]) && said.out.contains("completed"), "{}", said.out);
    let listed = run(&sandbox, &["list", "--state", "awaiting_human", "--json"]).json();
    assert_eq!((&listed["total"], &listed["executions"][0]["executionId"]), (&json!(1), &json!(ids[1])));

    let shown = run(&sandbox, &["show", &ids[1]]);
    assert!(shown.out.contains("given") && shown.out.contains("x: x"), "{}", shown.out);
    let line = |shown: &str, number: usize| {
        let begins = |line: &&str| line.trim_start().split(' ').nth(1) == Some(&number.to_string());
        shown.lines().find(begins).unwrap().trim_start().chars().next()
    };
    assert_eq!((line(&shown.out, 1), line(&shown.out, 2)), (Some('?'), Some('·')), "{}", shown.out);
    assert!(shown.out.contains("Red or") && !shown.out.contains('\u{1b}'), "{}", shown.out);
    let shown = run(&sandbox, &["show", &ids[0]]);
    assert_eq!((line(&shown.out, 1), line(&shown.out, 2)), (Some('✓'), Some('✓')), "{}", shown.out);
    // The last output is the result, and is shown once.
    assert_eq!(shown.out.matches("RESULT").count(), 1, "{}", shown.out);
    let (_, end) = ids[0].rsplit_once('_').unwrap();
    assert_eq!(run(&sandbox, &["show", end]).out, shown.out, "the end of an id is enough");
    assert_eq!(run(&sandbox, &["export", &format!("…{end}")]).json()["executionId"], json!(ids[0]));
    assert_eq!(run(&sandbox, &["show", &ids[0], "--json"]).json()["finalResult"], "RESULT");

    let page = run(&sandbox, &["show", &ids[1], "--html"]);
    assert!(page.out.starts_with("<!doctype html>") && page.out.ends_with("</html>\n"), "{}", page.err);
    assert!(page.out.contains("class=\"asked\""), "{}", page.out);
    assert!(page.out.contains("\u{FFFD}[31mblue?") && !page.out.contains('\u{1b}'));
    assert!(page.out.contains("&lt;i&gt;asks&lt;/i&gt;") && !page.out.contains("<i>"), "texts are no markup");
    for loads in ["<script", "src=", "href=\"h", "url(", "@import"] {
        assert!(!page.out.contains(loads), "a page that stands alone has no {loads}");
    }
    let done = run(&sandbox, &["show", &ids[0], "--html"]).out;
    assert!(done.contains("Final result") && done.contains("RESULT") && done.matches("<circle").count() == 2);

    let whole = run(&sandbox, &["export", &ids[0]]).json();
    assert_eq!(whole["steps"][1]["prompt"], "B RESULT");
    assert_eq!(whole["steps"][0]["output"], json!({"summary": "Fine.", "result": "RESULT"}));
    assert_eq!((&whole["initialVariables"], &whole["task"]), (&json!({"x": "x"}), &json!("The <i>done</i> one.")));
    assert_eq!(whole["events"].as_array().unwrap().len(), 5);

    let stats = run(&sandbox, &["stats", "--json"]).json();
    let flow = &stats["flows"][0];
    assert_eq!((&flow["executions"], &flow["completed"], &flow["awaitingHuman"]), (&json!(3), &json!(1), &json!(1)));
    assert_eq!(flow["escalationPercent"].to_string(), "33.3");
    assert!(run(&sandbox, &["stats"]).out.contains("Two"));

    assert_eq!(run(&sandbox, &["cancel", &ids[2], "--reason", "Enough."]).code, 0);
    assert_eq!(run(&sandbox, &["show", &ids[2], "--json"]).json()["reason"], "Enough.");

    let nothing = run(&sandbox, &["prune"]);
    assert_eq!(nothing.code, 2);
    assert!(nothing.err.contains("--older-than"), "{}", nothing.err);
    let rehearsed = run(&sandbox, &["prune", "--all", "--dry-run", "--json"]).json();
    assert_eq!((&rehearsed["pruned"], rehearsed["executions"].as_array().unwrap().len()), (&json!(0), 2));
    assert_eq!(run(&sandbox, &["prune", "--older-than", "1", "--json"]).json()["pruned"], json!(0));
    assert_eq!(run(&sandbox, &["prune", "--all", "--json"]).json()["pruned"], json!(2));
    // Whoever waits for a person stays, unless it is named.
    assert_eq!(run(&sandbox, &["list", "--json"]).json()["total"], json!(1));
    assert_eq!(run(&sandbox, &["prune", &ids[1]]).code, 0);
    assert_eq!(run(&sandbox, &["list", "--json"]).json()["total"], json!(0));
    let gone = run(&sandbox, &["show", &ids[1], "--json"]);
    assert_eq!((gone.code, &gone.json()["code"]), (1, &json!("EXECUTION_NOT_FOUND")));
    assert!(gone.err.contains("direct ones that call tools or ask models for 30 days"), "{}", gone.err);
}

#[test]
fn where_nothing_was_begun_there_is_nothing_and_nothing_is_made() {
    let sandbox = Sandbox::new().file("flows/Two.json", FLOW);
    let said = run(&sandbox, &["list"]);
    assert_eq!((said.code, said.out.as_str()), (0, ""));
    assert!(said.err.contains("no stored executions"), "{}", said.err);
    assert_eq!(run(&sandbox, &["stats", "--json"]).json(), json!({"flows": []}));
    assert_eq!(run(&sandbox, &["prune", "--all", "--json"]).json()["pruned"], json!(0));
    assert!(!sandbox.home().join("state/flowy.db").exists());
}
