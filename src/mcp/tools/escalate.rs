//! `flows_escalate`.

use std::sync::Arc;

use futures_util::FutureExt as _;

use super::{EXECUTION, TOKEN};
use crate::app::{Asker, Error, Question, Ticket};
use crate::mcp::arguments::Arguments;
use crate::mcp::asking::{Person, input_required};
use crate::mcp::definition::{CallPlace, Definition, FailureShape, Hint, Kind, Parameter, StepWork};
use crate::mcp::reply::{Reply, ToolCall};
use crate::report::wire;

pub(super) const TOOL: Definition = Definition {
    name: "flows_escalate",
    title: "Ask a person",
    description: "Puts questions to your user; nothing goes on before the answer. Use it when only a person can decide or \
                  know, or a step is refused repeatedly. Next: ask your user, then flows_resume, unless the reply \
                  holds the answers.",
    hints: &[Hint::Idempotent],
    steps: StepWork::None,
    place: CallPlace::None,
    parameters: &[
        Parameter::new("executionId", Kind::Text, EXECUTION).required(),
        Parameter::new("stepToken", Kind::Text, TOKEN).required(),
        Parameter::new("reason", Kind::Text, "Why a person is needed.").required(),
        Parameter::new("questions", Kind::Texts, "Each question by itself.").required().also(&["questionsForHuman"]),
        Parameter::new("context", Kind::Anything, "What the person should know."),
    ],
    failure: FailureShape::Error,
    run: |call, arguments| run(call, arguments).boxed(),
};

async fn run(call: &ToolCall, arguments: &Arguments) -> Result<Reply, Error> {
    let execution = arguments.text("executionId").unwrap_or_default();
    let question = Question {
        ticket: Ticket::named(arguments.text("stepToken").unwrap_or_default()),
        reason: arguments.owned("reason").unwrap_or_default(),
        questions: arguments.texts("questions"),
        context: arguments.anything("context"),
    };
    let asker = call.person.clone().map(|person| Arc::new(person) as Arc<dyn Asker>);
    let turn = call.unless_cancelled(call.app.escalate(execution, &question, asker).boxed()).await?;
    let mut reply = Reply::of(&wire::turn(&turn));
    if matches!(call.person, Some(Person::AskedByResult)) {
        reply.asks = turn.asked().as_ref().and_then(input_required).map(Box::new);
    }
    Ok(reply)
}
