//! Asking a person through the client: a form where clients are asked directly, and since
//! 2026-07-28 as a result that asks for input and is answered by calling again.
//!
//! Only a client that said it can show a form is asked. A person may decline, or not be there:
//! then the question stays open, and the model brings the answers later.

use std::collections::BTreeMap;

use rmcp::model::{
    CancelledNotificationParam, ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ElicitationSchema, InputRequest, InputRequiredResult, InputResponses, RequestId, ServerRequest,
};
use rmcp::service::PeerRequestOptions;
use rmcp::{Peer, RoleServer};
use serde_json::{Map, Value, json};

use crate::app::{Answering, Asked, Asker, NoAnswer};
use crate::names::shown;

/// The key of the form in a result that asks for input.
const FORM: &str = "answers";

/// How the person at the client is reached.
#[derive(Clone)]
pub(super) enum Person {
    /// By a request to the client.
    Asked(Peer<RoleServer>),
    /// By a result that asks for input; the client calls again with what came of it.
    AskedByResult,
    /// They answered, or would not: this is the second call.
    Answered(InputResponses),
}

impl Person {
    /// The way that a client offers; none where it can't show a form.
    pub(super) fn behind(
        capabilities: Option<&ClientCapabilities>,
        stateless: bool,
        peer: &Peer<RoleServer>,
        answered: Option<InputResponses>,
    ) -> Option<Self> {
        let elicitation = capabilities?.elicitation.as_ref()?;
        // A client that names no mode means forms.
        if elicitation.form.is_none() && elicitation.url.is_some() {
            return None;
        }
        Some(match (stateless, answered) {
            (false, _) => Self::Asked(peer.clone()),
            (true, None) => Self::AskedByResult,
            (true, Some(answered)) => Self::Answered(answered),
        })
    }
}

impl Asker for Person {
    fn ask<'a>(&'a self, asked: &'a Asked) -> Answering<'a> {
        Box::pin(async move {
            let result = match self {
                Self::Asked(peer) => match form(message(asked), &asked.escalation.questions) {
                    Some(form) => put(peer, form).await,
                    None => None,
                },
                Self::Answered(answered) => {
                    answered.get(FORM).and_then(|result| serde_json::from_value(result.clone()).ok())
                }
                Self::AskedByResult => None,
            };
            answers(result.ok_or(NoAnswer::None)?, &asked.escalation.questions)
        })
    }
}

/// The result that asks for input; none where the questions make no form.
pub(super) fn input_required(asked: &Asked) -> Option<InputRequiredResult> {
    let request = InputRequest::Elicitation(ElicitRequest::new(form(message(asked), &asked.escalation.questions)?));
    Some(InputRequiredResult::from_input_requests(BTreeMap::from([(FORM.to_owned(), request)])))
}

/// A form that is shown to a person. Given up, it is taken back.
struct OpenForm {
    peer: Peer<RoleServer>,
    id: Option<RequestId>,
}

impl Drop for OpenForm {
    fn drop(&mut self) {
        let (Some(request_id), Ok(runtime)) = (self.id.take(), tokio::runtime::Handle::try_current()) else { return };
        let peer = self.peer.clone();
        runtime.spawn(async move {
            let reason = Some("the question is no longer open".to_owned());
            let params = CancelledNotificationParam::new(Some(request_id), reason);
            if let Err(error) = peer.notify_cancelled(params).await {
                tracing::debug!(%error, "a form could not be taken back");
            }
        });
    }
}

/// Shows a form, and waits for what comes of it.
async fn put(peer: &Peer<RoleServer>, form: ElicitRequestParams) -> Option<ElicitResult> {
    let request = ServerRequest::ElicitRequest(ElicitRequest::new(form));
    let shown = peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await.ok()?;
    let mut open = OpenForm { peer: peer.clone(), id: Some(shown.id.clone()) };
    let result = shown.await_response().await;
    open.id = None;
    match result.ok()? {
        ClientResult::ElicitResult(result) => Some(result),
        _ => None,
    }
}

/// The most of a context that a form shows, in characters.
const CONTEXT: usize = 4_000;

/// What stands above the fields: where the question comes from, why it is asked, and what to know.
fn message(asked: &Asked) -> String {
    let Asked { flow, step, escalation } = asked;
    let about = format!("Flow {}, step {}: {}", shown(flow, 200), shown(step, 200), escalation.reason);
    // JSON as a person can read it.
    let text = |value: &Value| value.as_str().map_or_else(|| format!("{value:#}"), str::to_owned);
    match escalation.context.as_ref().map(text) {
        Some(context) if !context.trim().is_empty() => {
            format!("{about}\n\n{}", context.chars().take(CONTEXT).collect::<String>())
        }
        _ => about,
    }
}

/// One text field for each question, in order.
fn form(message: String, questions: &[String]) -> Option<ElicitRequestParams> {
    let fields: Map<String, Value> = questions
        .iter()
        .enumerate()
        .map(|(place, question)| (field(place), json!({"type": "string", "title": question})))
        .collect();
    let required: Vec<String> = (0..questions.len()).map(field).collect();
    let schema = json!({"type": "object", "properties": fields, "required": required});
    let Value::Object(schema) = schema else { return None };
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema: ElicitationSchema::from_json_schema(schema).ok()?,
    })
}

/// The field of a question, from 0.
fn field(place: usize) -> String {
    format!("answer{}", place + 1)
}

/// What the person wrote, by question.
fn answers(result: ElicitResult, questions: &[String]) -> Result<Value, NoAnswer> {
    match result.action {
        ElicitationAction::Accept => {}
        ElicitationAction::Decline => return Err(NoAnswer::Declined),
        _ => return Err(NoAnswer::Closed),
    }
    let Some(Value::Object(mut content)) = result.content else { return Err(NoAnswer::Closed) };
    let given = questions.iter().enumerate().filter_map(|(place, question)| {
        let answer = content.remove(&field(place)).filter(|answer| !answer.is_null() && *answer != json!(""))?;
        Some((question.clone(), answer))
    });
    let given: Map<String, Value> = given.collect();
    if given.is_empty() { Err(NoAnswer::Closed) } else { Ok(Value::Object(given)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_a_field_for_each_question_in_order_and_its_answers_go_by_question() {
        let questions: Vec<String> = (0..12).map(|number| format!("Question {number}?")).collect();
        let form = serde_json::to_value(form("Unclear.".to_owned(), &questions).expect("a form")).expect("JSON");
        let fields = form["requestedSchema"]["properties"].as_object().expect("fields");
        let titles: Vec<&str> = fields.values().filter_map(|field| field["title"].as_str()).collect();
        assert_eq!(titles, questions);
        let result = ElicitResult::new(ElicitationAction::Accept)
            .with_content(json!({"answer1": "yes", "answer12": "no", "answer2": ""}));
        assert_eq!(answers(result, &questions), Ok(json!({"Question 0?": "yes", "Question 11?": "no"})));
    }

    #[test]
    fn who_declines_or_sends_nothing_has_not_answered() {
        let questions = ["Which?".to_owned()];
        for (result, due) in [
            (ElicitResult::new(ElicitationAction::Decline), NoAnswer::Declined),
            (ElicitResult::new(ElicitationAction::Cancel).with_content(json!({"answer1": "x"})), NoAnswer::Closed),
            (ElicitResult::new(ElicitationAction::Accept), NoAnswer::Closed),
            (ElicitResult::new(ElicitationAction::Accept).with_content(json!({"answer1": ""})), NoAnswer::Closed),
        ] {
            assert_eq!(answers(result, &questions), Err(due));
        }
    }
}
