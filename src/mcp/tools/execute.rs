//! `flows_execute`.

use std::time::Duration;

use futures_util::FutureExt as _;

use super::REF;
use crate::app::{Caller, Detail, Error, ExecuteRequest, ModelChoice, OnFailure, Outcome};
use crate::discover::LARGEST_BUDGET;
use crate::mcp::arguments::Arguments;
use crate::mcp::definition::{CallPlace, Definition, FailureShape, Hint, Kind, Parameter, StepWork};
use crate::mcp::reply::{Reply, ToolCall};
use crate::report::wire::{self, OutcomeAnswer};

/// How long a call waits for the end unless it says otherwise, in seconds: some clients drop calls
/// after 60.
const WAIT: f64 = 45.0;
/// The longest that a call waits, in seconds: no client waits longer than about four minutes.
const LONGEST_WAIT: u32 = 240;

pub(super) const TOOL: Definition = Definition {
    name: "flows_execute",
    title: "Execute a flow",
    description: "Executes a flow: fills its templates in order and returns finalResult: a finished prompt, or where \
                  the operator has models their answer. Use it when you know the inputs (flows_show). Next: what nextStep says; if running \
                  or truncated, flows_status with executionId.",
    hints: &[Hint::OpenWorld, Hint::Idempotent, Hint::ReadOnly],
    steps: StepWork::Does,
    place: CallPlace::Steps,
    parameters: &[
        Parameter::new("flowName", Kind::Text, "As flows_list shows it.").required().also(&["name"]),
        Parameter::new("initialVariables", Kind::Values, "Values by variable name. _variableSet chooses a named set.")
            .default("{}")
            .also(&["variables"]),
        Parameter::new("ref", Kind::Text, REF),
        Parameter::new("dryRun", Kind::Flag, "Only show texts and missing inputs.").default("false"),
        Parameter::new("model", Kind::Text, "Model that answers steps; none: nobody."),
        Parameter::new("onFailure", Kind::Word(&OnFailure::WORDS), "Whether other branches go on.")
            .default("\"continue\""),
        Parameter::new("detail", Kind::Word(&Detail::WORDS), "How much is told of each step.").default("\"final\""),
        Parameter::new("waitSeconds", Kind::Seconds(LONGEST_WAIT), "How long to wait; it goes on after.").default("45"),
        Parameter::new("maxTokens", Kind::Count(1, LARGEST_BUDGET), "Largest reply.").default("20000"),
    ],
    failure: FailureShape::Execution,
    run: |call, arguments| run(call, arguments).boxed(),
};

async fn run(call: &ToolCall, arguments: &Arguments) -> Result<Reply, Error> {
    let wait = arguments.seconds("waitSeconds").unwrap_or(WAIT);
    let on_failure = arguments.text("onFailure").and_then(OnFailure::named).unwrap_or_default();
    let mut models = ModelChoice::default();
    if let Some(model) = arguments.text("model") {
        models.take(model).map_err(|why| {
            Error::invalid(format!("`model` names no model: {why}")).next("give the name of a model, none, or OLD=NEW")
        })?;
    }
    let request = ExecuteRequest {
        flow: arguments.owned("flowName").unwrap_or_default(),
        variables: arguments.values("initialVariables"),
        git_ref: arguments.owned("ref"),
        refresh: false,
        on_failure,
        wait: Some(Duration::try_from_secs_f64(wait).unwrap_or_default()),
        models,
    };
    let most = arguments.count("maxTokens").and_then(|most| usize::try_from(most).ok());
    // App itself stops what it has begun when the call is cancelled.
    let caller = Caller { cancel: call.cancel.clone(), progress: call.progress.clone(), ..Caller::default() };
    if arguments.flag("dryRun").unwrap_or(false) {
        let rehearsal = call.app.rehearse(&request, &caller).await?;
        return Ok(Reply::of(&wire::rehearsal(&rehearsal, most)));
    }
    // The contract's own name has the contract's shape.
    let usual = if call.contract { Detail::Full } else { Detail::Final };
    let detail = arguments.text("detail").and_then(Detail::named).unwrap_or(usual);
    let outcome = call.app.execute(request, &caller).await?;
    Ok(executed(&outcome, detail, most))
}

/// How a direct execution stands, for whoever waited for it.
pub(super) fn executed(outcome: &Outcome, detail: Detail, most: Option<usize>) -> Reply {
    let reply = match wire::outcome(outcome, detail, most) {
        OutcomeAnswer::Fine(answer) => Reply::of(&answer),
        OutcomeAnswer::Failed(answer) => Reply::failure(wire::value(&answer)),
    };
    let files = wire::attached(outcome, detail, &reply.value);
    reply.with_files(&files)
}
