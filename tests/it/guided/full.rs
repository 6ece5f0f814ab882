//! The real program, and a disk that takes no more: what was acknowledged stays, the rest goes on, and
//! so does the execution once there is room again.

use std::process::Command;

use rustix::process::{Pid, Resource, Rlimit, getrlimit, prlimit};
use serde_json::{Value, json};

use super::{catalog, completing, output};
use crate::support::home::Home;
use crate::support::mcp::Program;

/// The program; a file that may not grow is an error to it, as a full disk is, and not its end.
fn serving() -> Program {
    let home = Home::of(catalog(), false);
    let mut command = Command::new("sh");
    command.env_clear();
    command.args([
        "-c",
        "trap '' XFSZ; exec \"$0\" \"$@\"",
        env!("CARGO_BIN_EXE_flowy"),
        "serve",
        "--source",
        "catalog",
    ]);
    let mut program = Program::of(command, home.root);
    program.shake_hands("2025-11-25");
    program
}

/// From now on the program's files may not become longer than this, in bytes; as long as they like
/// without.
fn files_may_have(program: &Program, most: Option<u64>) {
    let pid = Pid::from_raw(i32::try_from(program.id()).unwrap());
    let maximum = getrlimit(Resource::Fsize).maximum;
    prlimit(pid, Resource::Fsize, Rlimit { current: most.or(maximum), maximum }).unwrap();
}

fn call(program: &mut Program, tool: &str, arguments: &Value) -> Value {
    let answer = program.request(1, "tools/call", &json!({"name": tool, "arguments": arguments}));
    answer["result"]["structuredContent"].clone()
}

#[test]
fn nothing_acknowledged_is_lost_where_the_disk_takes_no_more() {
    let mut program = serving();
    let given = json!({"flowName": "Feature", "initialVariables": {"feature": "x"}});
    let begun = call(&mut program, "flows_begin", &given);
    let code = call(&mut program, "flows_complete_step", &completing(&begun, output("design")));
    assert_eq!(code["stepCompleted"], "design", "{code}");

    files_may_have(&program, Some(0));
    let closing = completing(&code, output("code"));
    for (tool, arguments) in [("flows_complete_step", &closing), ("flows_begin", &given)] {
        let refused = call(&mut program, tool, arguments);
        assert_eq!(refused["code"], "STORE_ERROR", "{tool}: {refused}");
        let message = refused["message"].as_str().unwrap();
        assert!(message.contains("flowy.db") && !message.contains("opened"), "{message}");
        assert!(refused["nextStep"].as_str().is_some_and(|next| next.contains("room")), "{refused}");
    }
    assert_eq!(call(&mut program, "flows_list", &json!({}))["total"], 1);
    assert_eq!(call(&mut program, "flows_execute", &given)["flowName"], "Feature");
    let known = json!({"executionId": begun["executionId"]});
    let status = call(&mut program, "flows_status", &known);
    assert_eq!((&status["completedSteps"], &status["stepToken"]), (&json!(["design"]), &code["stepToken"]), "{status}");

    files_may_have(&program, None);
    let done = call(&mut program, "flows_complete_step", &closing);
    assert_eq!((&done["stepCompleted"], &done["step"]["id"]), (&json!("code"), &json!("docs")), "{done}");
    program.close_input();
    assert_eq!(program.end().0, Some(0));
}
