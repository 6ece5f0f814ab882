//! `flows_status`.

use futures_util::FutureExt as _;
use serde_json::json;

use crate::app::{Error, GuidedState, MOST_CHARACTERS, Section, StatusAnswer, StatusRequest};
use crate::mcp::arguments::Arguments;
use crate::mcp::definition::{CallPlace, Definition, FailureShape, Hint, Kind, Parameter, StepWork};
use crate::mcp::reply::{Reply, ToolCall};
use crate::report::wire;

pub(super) const TOOL: Definition = Definition {
    name: "flows_status",
    title: "Status of executions",
    description: "Says where an execution stands, or lists executions, newest first. Use it after a lost reply or a restart \
                  (shows the open step and stepToken), while flows_execute is running, or for a whole text. Next: \
                  as nextStep says.",
    hints: &[Hint::Idempotent, Hint::ReadOnly],
    steps: StepWork::Repeats,
    place: CallPlace::None,
    parameters: &[
        Parameter::new("executionId", Kind::Text, "Without it: a list."),
        Parameter::new("nodeId", Kind::Text, "Step whose whole text is wanted, or \"result\"."),
        Parameter::new("flowName", Kind::Text, "Filter of the list.").also(&["name"]),
        Parameter::new("state", Kind::Words(&GuidedState::WORDS), "Filter of the list."),
        Parameter::new("include", Kind::Words(&Section::WORDS), "What to add (direct ones: steps)."),
        Parameter::new("limit", Kind::Count(1, MOST_CHARACTERS), "Most entries (20) or characters (20,000)."),
        Parameter::new("cursor", Kind::Text, "nextCursor of the page before."),
    ],
    failure: FailureShape::Error,
    run: |call, arguments| run(call, arguments).boxed(),
};

async fn run(call: &ToolCall, arguments: &Arguments) -> Result<Reply, Error> {
    if arguments.text("nodeId").is_some() && arguments.text("executionId").is_none() {
        return Err(Error::invalid("`nodeId` is a step of an execution, and `executionId` is missing")
            .next("give `executionId`, as flows_execute or flows_begin answered it")
            .detail("argument", json!("executionId")));
    }
    let include = arguments.texts("include");
    let mut request = StatusRequest {
        execution: arguments.owned("executionId"),
        node: arguments.owned("nodeId"),
        flow: arguments.owned("flowName"),
        states: arguments.texts("state").iter().filter_map(|word| GuidedState::named(word)).collect(),
        include: include.iter().filter_map(|word| Section::named(word)).collect(),
        limit: arguments.count("limit"),
        cursor: arguments.owned("cursor"),
    };
    loop {
        let answer = call.unless_cancelled(call.app.status(&request).boxed()).await?;
        let told = wire::status(&answer);
        let returned = answer.returned();
        if wire::frame_fits(&told) || returned <= 1 {
            return Ok(match &answer {
                StatusAnswer::Guided { story, .. } => Reply::of_guided(&told, &story.guided),
                StatusAnswer::One { .. } | StatusAnswer::List { .. } | StatusAnswer::Text(_) => Reply::of(&told),
            });
        }
        // A page that no client would take is made smaller; its cursor goes on from there.
        request.limit = i64::try_from(returned / 2).ok();
    }
}
