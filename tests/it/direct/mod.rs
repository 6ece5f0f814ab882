//! Direct executions that outlive their process, over the wire.

mod golden;
mod interrupted;
mod keeping;
mod scripted;
mod with_models;

use serde_json::{Value, json};

use crate::support::home::{Home, ok};
use crate::support::mcp::Program;

/// A flow that calls a tool that may do something, reads what it gave, calls `tool`, and tells both.
fn catalog(tool: &str) -> [(&'static str, String); 2] {
    let call = |id: &str, tool: &str, of: &str| json!({"id": id, "type": "tool", "data": {"call": format!("peer:{tool}"), "args": {"of": of}}});
    let text = |id: &str, text: &str| json!({"id": id, "type": "template", "data": {"template": text}});
    let work = json!({"metadata": {"name": "Work", "version": "1.0.0"}, "nodes": [
        call("a", "touch", "{{ of }}"),
        text("b", "Read {a_result}"),
        call("c", tool, "{{ b_result }}"),
        text("d", "{b_result}, and {c_result}"),
    ], "edges": [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}, {"source": "c", "target": "d"}]});
    let plain =
        json!({"metadata": {"name": "Plain", "version": "1.0.0"}, "nodes": [text("a", "Say {word}")], "edges": []});
    [("flows/Work.json", work.to_string()), ("flows/Plain.json", plain.to_string())]
}

/// What is asked of `flows_execute`.
fn work() -> Value {
    json!({"name": "flows_execute", "arguments": {"flowName": "Work", "initialVariables": {"of": "us"}}})
}

/// What the whole comes to, however often it was interrupted.
const RESULT: &str = "Read touched, and at last";

/// Asks for the execution until its call of `once` has begun, which nobody answers.
fn begun(home: &Home, program: &mut Program) -> String {
    program.ask(9, "tools/call", &work());
    home.until_begun();
    let listed = ok(program, "flows_status", &json!({}));
    let first = &listed["executions"][0];
    assert_eq!(
        (&first["kind"], &first["state"], &first["currentStep"]),
        (&json!("direct"), &json!("running"), &json!("c"))
    );
    first["executionId"].as_str().unwrap().to_owned()
}

/// A home whose program was killed in the middle of the call of `tool`, and the execution's id.
fn killed(tool: &str) -> (Home, String) {
    let home = Home::of(catalog(tool), true);
    let mut program = home.serve();
    let id = begun(&home, &mut program);
    program.kill();
    (home, id)
}
