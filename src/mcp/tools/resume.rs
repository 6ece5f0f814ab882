//! `flows_resume`.

use futures_util::FutureExt as _;

use std::time::Duration;

use super::EXECUTION;
use super::execute::executed;
use crate::app::{Caller, Detail, Error, ResumeRequest, Resumed};
use crate::mcp::arguments::Arguments;
use crate::mcp::definition::{CallPlace, Definition, FailureShape, Hint, Kind, Parameter, StepWork};
use crate::mcp::reply::{Reply, ToolCall};
use crate::report::wire;

/// How long a call waits for the end of a direct execution.
const WAIT: Duration = Duration::from_secs(45);

pub(super) const TOOL: Definition = Definition {
    name: "flows_resume",
    title: "Go on with an execution",
    description: "Brings the answers to flows_escalate and hands you the same step with a new stepToken; or, for a state \
                  interrupted, lets the server go on. Use it when your user has answered or wants the result. Next: as \
                  nextStep says.",
    hints: &[Hint::OpenWorld, Hint::Idempotent],
    steps: StepWork::Does,
    place: CallPlace::None,
    parameters: &[
        Parameter::new("executionId", Kind::Text, EXECUTION).required(),
        Parameter::new("escalationId", Kind::Text, "Id of the question."),
        Parameter::new("answers", Kind::Anything, "What your user said.").also(&["humanInput"]),
    ],
    failure: FailureShape::Error,
    run: |call, arguments| run(call, arguments).boxed(),
};

async fn run(call: &ToolCall, arguments: &Arguments) -> Result<Reply, Error> {
    let request = ResumeRequest {
        execution: arguments.owned("executionId").unwrap_or_default(),
        escalation: arguments.owned("escalationId"),
        answers: arguments.anything("answers"),
    };
    // App itself stops what it has begun when the call is cancelled.
    let caller = Caller { cancel: call.cancel.clone(), progress: call.progress.clone(), ..Caller::default() };
    Ok(match call.app.resume(&request, Some(WAIT), &caller).await? {
        Resumed::Guided(turn) => Reply::of_guided(&wire::turn(&turn), &turn.guided),
        Resumed::Direct(outcome) => executed(&outcome, Detail::Final, None),
        Resumed::Asking(story) => Reply::of(&wire::guided_status(&story, &[])),
    })
}
