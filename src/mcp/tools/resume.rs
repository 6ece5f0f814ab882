//! `flows_resume`.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::EXECUTION;
use crate::app::{Error, ResumeRequest};
use crate::mcp::arguments::Arguments;
use crate::mcp::definition::{Definition, FailureShape, Kind, Parameter};
use crate::mcp::reply::{Reply, ToolCall};
use crate::report::wire;

pub(super) const TOOL: Definition = Definition {
    name: "flows_resume",
    source: "flows/resume",
    title: "Bring a person's answers",
    description: "Brings the answers to flows_escalate, and hands you the same step again with a new stepToken. Use it \
                  when your user has answered. Next: do the step, then flows_complete_step.",
    open_world: true,
    idempotent: true,
    read_only: false,
    destructive: false,
    does_steps: true,
    parameters: &[
        Parameter::new("executionId", Kind::Text, EXECUTION).required(),
        Parameter::new("escalationId", Kind::Text, "Id of the question."),
        Parameter::new("answers", Kind::Anything, "What your user said.").required().also(&["humanInput"]),
    ],
    failure: FailureShape::Error,
    run,
};

fn run<'a>(call: &'a ToolCall, arguments: &'a Arguments) -> BoxFuture<'a, Result<Reply, Error>> {
    async move {
        let request = ResumeRequest {
            execution: arguments.owned("executionId").unwrap_or_default(),
            escalation: arguments.owned("escalationId"),
            answers: arguments.anything("answers").unwrap_or_default(),
        };
        let turn = call.unless_cancelled(call.app.resume(&request, call.progress.as_ref()).boxed()).await?;
        Ok(Reply::of_guided(&wire::turn(&turn), &turn.guided))
    }
    .boxed()
}
