//! `flows_check`.

use futures_util::FutureExt as _;
use serde_json::Value;

use super::REF;
use crate::app::{DraftRequest, Error};
use crate::mcp::arguments::Arguments;
use crate::mcp::definition::{CallPlace, Definition, FailureShape, Hint, Kind, Parameter, StepWork};
use crate::mcp::reply::{Reply, ToolCall};
use crate::report::files::FORMAT;
use crate::report::wire;

pub(super) const TOOL: Definition = Definition {
    name: "flows_check",
    title: "Check a flow's text",
    description: "Checks a flow that you write: findings with fixes, plan, dry run; nothing is written. Use it without \
                  flow for the format, then with each draft. Next: what nextStep says.",
    hints: &[Hint::OpenWorld, Hint::Idempotent, Hint::ReadOnly],
    steps: StepWork::None,
    place: CallPlace::Reading,
    parameters: &[
        Parameter::new("flow", Kind::File, "Text of the flow file."),
        Parameter::new("templates", Kind::Values, "Texts of its templates by file name; others are the catalog's.")
            .default("{}"),
        Parameter::new("ref", Kind::Text, REF),
    ],
    failure: FailureShape::Error,
    run: |call, arguments| run(call, arguments).boxed(),
};

async fn run(call: &ToolCall, arguments: &Arguments) -> Result<Reply, Error> {
    let Some(flow) = arguments.owned("flow").filter(|flow| !flow.trim().is_empty()) else {
        if !arguments.values("templates").is_empty() {
            return Err(Error::invalid("`templates` are checked with the flow that uses them")
                .next("give the text of that flow as `flow`, too")
                .detail("argument", serde_json::json!("flow")));
        }
        return Ok(Reply::text(FORMAT.to_owned()));
    };
    let mut templates = Vec::new();
    for (name, text) in arguments.values("templates") {
        match text {
            Value::String(text) => templates.push((name, text)),
            // A template in JSON that was not put into a text.
            Value::Object(object) => templates.push((name, Value::Object(object).to_string())),
            _ => {
                return Err(Error::invalid("`templates` holds something that is no text")
                    .next("give texts by file name, as in {\"Facts.md\": \"…\"}")
                    .detail("argument", serde_json::json!("templates")));
            }
        }
    }
    let request = DraftRequest { flow, templates, git_ref: arguments.owned("ref") };
    let checked = call.unless_cancelled(call.app.check_draft(&request).boxed()).await?;
    Ok(Reply::of(&wire::draft(&checked)))
}
