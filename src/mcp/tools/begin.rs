//! `flows_begin`.

use futures_util::FutureExt as _;

use super::REF;
use crate::app::{BeginRequest, Error};
use crate::mcp::arguments::Arguments;
use crate::mcp::definition::{CallPlace, Definition, FailureShape, Hint, Kind, Parameter, StepWork};
use crate::mcp::reply::{Reply, ToolCall};
use crate::report::wire;

pub(super) const TOOL: Definition = Definition {
    name: "flows_begin",
    title: "Begin a guided execution",
    description: "Begins a flow that you carry out yourself, step by step; everything is kept. Use it for flows with \
                  personas or contracts, or long work. Next: do the step, then flows_complete_step.",
    hints: &[Hint::OpenWorld],
    steps: StepWork::Does,
    place: CallPlace::Steps,
    parameters: &[
        Parameter::new("flowName", Kind::Text, "As flows_list shows it.").required().also(&["name"]),
        Parameter::new("task", Kind::Text, "What your user wants done."),
        Parameter::new("initialVariables", Kind::Values, "Values by variable name.").also(&["variables"]),
        Parameter::new("ref", Kind::Text, REF),
    ],
    failure: FailureShape::Error,
    run: |call, arguments| run(call, arguments).boxed(),
};

async fn run(call: &ToolCall, arguments: &Arguments) -> Result<Reply, Error> {
    let request = BeginRequest {
        flow: arguments.owned("flowName").unwrap_or_default(),
        task: arguments.owned("task"),
        variables: arguments.values("initialVariables"),
        git_ref: arguments.owned("ref"),
        refresh: false,
    };
    let begun = call.unless_cancelled(call.app.begin(&request, call.progress.as_ref()).boxed()).await?;
    Ok(Reply::of_guided(&wire::begun(&begun), &begun.turn.guided))
}
