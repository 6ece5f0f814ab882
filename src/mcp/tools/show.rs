//! `flows_show`.

use futures_util::FutureExt as _;

use super::REF;
use crate::app::{Error, ShowRequest, Shown};
use crate::discover::LARGEST_BUDGET;
use crate::mcp::arguments::Arguments;
use crate::mcp::definition::{CallPlace, Definition, FailureShape, Hint, Kind, Parameter, StepWork};
use crate::mcp::reply::{Reply, ToolCall};
use crate::report::{draw, wire};

pub(super) const TOOL: Definition = Definition {
    name: "flows_show",
    title: "Show a flow",
    description: "Shows a flow as it would run (inputs, steps, outputs, faults), or a \
                  template's text. Use it before flows_execute or flows_begin. Next: one of them, with the inputs.",
    hints: &[Hint::OpenWorld, Hint::Idempotent, Hint::ReadOnly],
    steps: StepWork::None,
    place: CallPlace::Reading,
    parameters: &[
        Parameter::new("name", Kind::Text, "Flow or template, as flows_list shows it.").required().also(&["flowName"]),
        Parameter::new("ref", Kind::Text, REF),
        Parameter::new("detail", Kind::Word(&["summary", "full"]), "full adds texts, and unfolds flows within.")
            .default("\"summary\""),
        Parameter::new("format", Kind::Word(&["json", "mermaid"]), "mermaid: the flow's graph.").default("\"json\""),
        Parameter::new("maxTokens", Kind::Count(1, LARGEST_BUDGET), "Largest reply.").default("20000").unlisted(),
        Parameter::new("refresh", Kind::Flag, "Ask the source for changes first.").unlisted(),
    ],
    failure: FailureShape::Error,
    run: |call, arguments| run(call, arguments).boxed(),
};

async fn run(call: &ToolCall, arguments: &Arguments) -> Result<Reply, Error> {
    let request = ShowRequest {
        name: arguments.owned("name").unwrap_or_default(),
        git_ref: arguments.owned("ref"),
        refresh: arguments.flag("refresh").unwrap_or(false),
    };
    let shown = call.unless_cancelled(call.app.show(&request).boxed()).await?;
    match (&shown, arguments.text("format")) {
        (Shown::Flow { prepared, .. }, Some("mermaid")) => {
            let full = arguments.text("detail") == Some("full");
            let drawn = if full { draw::Picture::unfolded } else { draw::Picture::of };
            Ok(Reply::text(drawn(&prepared.flow, prepared.plan.as_deref()).mermaid()))
        }
        (Shown::Template { .. }, Some("mermaid")) => {
            Err(Error::invalid("a template has no graph to draw").next("leave `format` out, or name a flow"))
        }
        (Shown::Flow { .. } | Shown::Template { .. }, _) => {
            let whole = wire::shown(&shown, arguments.text("detail") == Some("full"));
            let most = arguments.count("maxTokens").and_then(|most| usize::try_from(most).ok());
            Ok(Reply::of(&whole.within(most)))
        }
    }
}
