//! `flows_complete_step`.

use futures_util::FutureExt as _;

use super::{EXECUTION, TOKEN};
use crate::app::{Closure, Error, StepOutcome, Ticket};
use crate::mcp::arguments::Arguments;
use crate::mcp::definition::{CallPlace, Definition, FailureShape, Hint, Kind, Parameter, StepWork};
use crate::mcp::reply::{Reply, ToolCall};
use crate::report::wire;

pub(super) const TOOL: Definition = Definition {
    name: "flows_complete_step",
    title: "Complete a step",
    description: "Checks and keeps the open step's output, and gives the next step or the final result. Use it when a \
                  step is done; after a lost reply call it again unchanged. Next: do the step it hands out; on \
                  CONTRACT_VIOLATION fix every issue and repeat.",
    hints: &[Hint::OpenWorld, Hint::Idempotent],
    steps: StepWork::Does,
    place: CallPlace::Steps,
    parameters: &[
        Parameter::new("executionId", Kind::Text, EXECUTION).required(),
        Parameter::new("stepToken", Kind::Text, TOKEN).required(),
        Parameter::new(
            "output",
            Kind::Anything,
            "As contract says, or {result: X} where X is no object; {reason} if failed or skipped.",
        ),
        Parameter::new("outcome", Kind::Word(&StepOutcome::WORDS), "skipped: optional steps only.").default("\"done\""),
        Parameter::new("next", Kind::Text, "Id from ready to go on with."),
    ],
    failure: FailureShape::Error,
    run: |call, arguments| run(call, arguments).boxed(),
};

async fn run(call: &ToolCall, arguments: &Arguments) -> Result<Reply, Error> {
    let execution = arguments.text("executionId").unwrap_or_default();
    let closure = Closure {
        ticket: Ticket::named(arguments.text("stepToken").unwrap_or_default()),
        output: arguments.anything("output"),
        outcome: arguments.text("outcome").and_then(StepOutcome::named).unwrap_or(StepOutcome::Done),
        next: arguments.owned("next"),
    };
    let told = call.progress.as_ref();
    let turn = call.unless_cancelled(call.app.complete_step(execution, &closure, told).boxed()).await?;
    Ok(Reply::of_guided(&wire::turn(&turn), &turn.guided))
}
