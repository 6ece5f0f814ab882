//! `flows_cancel`.

use futures_util::FutureExt as _;

use super::EXECUTION;
use crate::app::Error;
use crate::mcp::arguments::Arguments;
use crate::mcp::definition::{CallPlace, Definition, FailureShape, Hint, Kind, Parameter, StepWork};
use crate::mcp::reply::{Reply, ToolCall};
use crate::report::wire;

pub(super) const TOOL: Definition = Definition {
    name: "flows_cancel",
    title: "Cancel a guided execution",
    description: "Ends a guided execution; it stays readable. Use it when your user no longer wants the result. Next: \
                  flows_status shows what was done.",
    hints: &[Hint::Idempotent, Hint::Destructive],
    steps: StepWork::None,
    place: CallPlace::None,
    parameters: &[
        Parameter::new("executionId", Kind::Text, EXECUTION).required(),
        Parameter::new("reason", Kind::Text, "Why, for the record."),
    ],
    failure: FailureShape::Error,
    run: |call, arguments| run(call, arguments).boxed(),
};

async fn run(call: &ToolCall, arguments: &Arguments) -> Result<Reply, Error> {
    let id = arguments.text("executionId").unwrap_or_default();
    let turn = call.unless_cancelled(call.app.cancel(id, arguments.text("reason")).boxed()).await?;
    Ok(Reply::of(&wire::turn(&turn)))
}
