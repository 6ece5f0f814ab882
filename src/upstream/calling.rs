//! One call: checked before it is sent, cancelled when its caller goes away, and ended with an
//! answer or with a failure that says whether trying again may help.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientRequest, ErrorCode, ErrorData, RequestId,
    ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use serde_json::{Map, Value};

use super::TOLD;
use super::answer::{UnusableBlock, normal};
use super::audit::AuditEntry;
use super::keeping::Connection;
use super::loose;
use super::message::{FORGOTTEN, TOO_LONG, about_session};
use super::server::Server;
use super::tools::ToolList;
use super::trouble::{Trouble, clean, failure, found_nobody, is_busy, is_disconnected, of_refusal, of_transport};
use crate::code::Code;
use crate::config::{Transport, redact};
use crate::execute::{NEEDS_WORD, OnToolProgress, ToolFailure};
use crate::model::{KnownTool, ToolAddress, ToolAnswer, ToolCall};
use crate::names::{nearest, quoted, shown};

/// What is said of an answer that may come later.
const TASK: &str = "it began a task, and flowy does not wait for the results of tasks";
/// What is said of an answer that is a question.
const ASKS: &str = "it asks for more input, and nobody here can be asked";
/// How long is waited for the words of a server that ended during a call.
const WORDS: Duration = Duration::from_secs(1);

impl Server {
    /// Calls one of its tools.
    pub(super) async fn call(
        self: &Arc<Self>,
        call: ToolCall,
        progress: Option<OnToolProgress>,
    ) -> Result<ToolAnswer, ToolFailure> {
        let audit = AuditEntry::begin(&call.address, &call.arguments, &self.world.clock);
        let outcome = self.attempt(call, progress).await;
        if let Some(audit) = audit {
            audit.end(&outcome);
        }
        outcome
    }

    async fn attempt(
        self: &Arc<Self>,
        call: ToolCall,
        progress: Option<OnToolProgress>,
    ) -> Result<ToolAnswer, ToolFailure> {
        let ToolCall { step: _, address, arguments, timeout, generated, insist } = call;
        if self.spec.disabled {
            return Err(failure(Code::ToolUnavailable, &address, "the operator switched its server off"));
        }
        if let Some(bar) = self.bar() {
            return Err(unavailable(&address, &bar));
        }
        // What is not allowed is refused without starting anything, where the tool is known.
        if let Some(tool) = self.list().as_deref().and_then(|list| list.tools.get(&address.tool)) {
            allowed(tool, &address)?;
        }
        let limit = timeout.unwrap_or(self.spec.timeout);
        // The limit is one of the call, not of waiting for those before it.
        let _turn = self.turns.acquire().await;
        let begun = self.world.clock.reading();
        let busy = self.busy(insist).await.map_err(|trouble| unavailable(&address, &trouble))?;
        let list = self.list();
        let tool = found(list.as_deref(), &address)?;
        allowed(&tool, &address)?;
        if generated && !tool.read_only && !self.spec.from_models {
            return Err(ToolFailure { needs_word: true, ..failure(Code::ToolNotAllowed, &address, NEEDS_WORD) });
        }
        let arguments = self.fitting(&tool, &address, arguments)?;
        let answer = ask(&busy.connection, &address, arguments.clone(), limit, progress.clone()).await;
        let lost = match answer {
            Ok(answer) => {
                self.answered(&busy.connection);
                return self.read_answer(answer, &address, list.as_deref()).map_err(|failure| sent(failure, 1));
            }
            Err(unanswered) => unanswered,
        };
        let failure = self.failed(&lost.error, &busy.connection, &address, limit, false).await;
        let times = u32::from(!self.never_got_it(&lost));
        let given_up = matches!(lost.error, ServiceError::Timeout { .. }) || self.is_gone(&lost.error);
        let forgotten = matches!(&lost.error, ServiceError::McpError(_));
        let changes = !tool.read_only && !tool.idempotent;
        let in_doubt = times > 0 && changes && given_up && !forgotten;
        let failure = ToolFailure { in_doubt, ..sent(failure, times) };
        let harmless = tool.read_only || tool.idempotent || self.never_got_it(&lost);
        let left = limit.saturating_sub(self.world.clock.reading().saturating_sub(begun));
        if !self.is_gone(&lost.error) || !harmless || left.is_zero() {
            return Err(failure);
        }
        // Once more over a new connection; where none comes about, what happened first is what is told.
        let had_answered = busy.connection.answered.load(Ordering::Acquire);
        self.give_up(&busy.connection);
        drop(busy);
        let Ok(busy) = self.busy(true).await else { return Err(failure) };
        // One that had answered before may come back at once, also when this call ends it again.
        busy.connection.answered.fetch_or(had_answered, Ordering::AcqRel);
        tracing::debug!(server = self.alias, tool = tool.name, "was lost during the call, which is made once more");
        match ask(&busy.connection, &address, arguments, left, progress).await {
            Ok(answer) => {
                self.answered(&busy.connection);
                self.read_answer(answer, &address, self.list().as_deref()).map_err(|failure| sent(failure, times + 1))
            }
            Err(lost) => {
                let failure = self.failed(&lost.error, &busy.connection, &address, left, true).await;
                Err(sent(failure, times + u32::from(!self.never_got_it(&lost))))
            }
        }
    }

    /// Whether the connection is gone, and not just this call.
    fn is_gone(&self, error: &ServiceError) -> bool {
        match error {
            ServiceError::TransportClosed => true,
            ServiceError::McpError(error) => error.code.0 == FORGOTTEN,
            ServiceError::TransportSend(cause) => match &self.spec.transport {
                Transport::Stdio(_) => true,
                Transport::Http(_) => is_disconnected(cause),
            },
            _ => false,
        }
    }

    /// Whether a call can't have reached the server: nothing of it was sent, or its line has no end.
    fn never_got_it(&self, lost: &Unanswered) -> bool {
        match &lost.error {
            ServiceError::TransportSend(cause) => match &self.spec.transport {
                Transport::Stdio(_) => true,
                Transport::Http(_) => found_nobody(cause),
            },
            _ => !lost.sent,
        }
    }

    /// The arguments, if they fit. A schema that is none says nothing: the server has the last word.
    fn fitting(
        &self,
        tool: &KnownTool,
        address: &ToolAddress,
        arguments: Map<String, Value>,
    ) -> Result<Map<String, Value>, ToolFailure> {
        if let Some(why) = tool.input.trouble() {
            tracing::warn!(
                server = self.alias,
                tool = tool.name,
                "arguments are not checked, its schema is none: {why}"
            );
            return Ok(arguments);
        }
        let given = Value::Object(arguments);
        let misfits = tool.input.misfits(&given, &BTreeSet::new());
        match given {
            Value::Object(arguments) if misfits.is_empty() => Ok(arguments),
            _ => {
                let told: Vec<String> =
                    misfits.iter().map(|misfit| format!("{} {}", misfit.path, misfit.message)).collect();
                Err(failure(Code::InvalidRequest, address, told.join("; ")))
            }
        }
    }

    fn read_answer(
        &self,
        answer: ServerResult,
        address: &ToolAddress,
        list: Option<&ToolList>,
    ) -> Result<ToolAnswer, ToolFailure> {
        let broken = |why: &str| Err(failure(Code::ToolError, address, why));
        let (result, left_out) = match answer {
            ServerResult::CallToolResult(result) => (result, Vec::new()),
            ServerResult::CustomResult(answer) if answer.0.get("task").or(answer.0.get("taskId")).is_some() => {
                return broken(TASK);
            }
            ServerResult::CustomResult(answer)
                if answer.0.get("resultType").is_some_and(|kind| kind == "input_required") =>
            {
                return broken(ASKS);
            }
            ServerResult::CustomResult(answer) if loose::is_bare(&answer.0) => return Ok(bare()),
            ServerResult::CustomResult(answer) => match loose::answer(answer.0) {
                Some(known) => known,
                None => return broken("it answers with something that is no tool's result"),
            },
            ServerResult::EmptyResult(_) => return Ok(bare()),
            ServerResult::InputRequiredResult(_) => return broken(ASKS),
            ServerResult::CreateTaskResult(_) => return broken(TASK),
            _ => return broken("it answers with something that is no tool's result"),
        };
        let left_out = left_out.iter().map(|what| clean(what, &self.secrets)).collect();
        let mut answer = normal(result, left_out, self.spec.max_result_bytes).map_err(|unusable| {
            let code = match unusable {
                UnusableBlock::NothingLeft { .. } => Code::ToolError,
                UnusableBlock::TooLarge { .. } => Code::LimitExceeded,
            };
            failure(code, address, unusable)
        })?;
        // What it says of a failure becomes a message, which may repeat what it was started with.
        if answer.is_error
            && let Some(said) = answer.text.take().or_else(|| answer.structured.take().map(|value| value.to_string()))
        {
            answer.text = Some(redact(&said, &self.secrets).into_owned());
        }
        if !answer.left_out.is_empty() {
            let tool = shown(&address.to_string(), 200);
            tracing::warn!(tool, "a part of its answer is left out: {}", answer.left_out.join("; "));
        }
        // What came is handed on all the same: the caller can use it, and losing it helps nobody.
        if let (Some(structured), Some(promised)) =
            (&answer.structured, list.and_then(|list| list.outputs.get(&address.tool)))
            && let Some(breach) = promised.misfits(structured, &BTreeSet::new()).first()
        {
            let tool = shown(&address.to_string(), 200);
            tracing::warn!(tool, "its structured content is not what it promised: {} {}", breach.path, breach.message);
        }
        Ok(answer)
    }

    async fn failed(
        &self,
        error: &ServiceError,
        connection: &Arc<Connection>,
        address: &ToolAddress,
        limit: Duration,
        again: bool,
    ) -> ToolFailure {
        match error {
            ServiceError::McpError(error) if error.code.0 == FORGOTTEN => {
                let said = of_refusal(error, &self.secrets);
                let lost = about_session(&said);
                if lost || !again {
                    self.give_up(connection);
                }
                if !lost {
                    return failure(Code::ToolError, address, said);
                }
                let when = if again { " in a new session either" } else { " any more" };
                failure(Code::ToolUnavailable, address, format!("its server does not know the session{when}: {said}"))
            }
            ServiceError::McpError(error) => {
                self.answered(connection);
                if matches!(error.code, ErrorCode::INVALID_PARAMS | ErrorCode::METHOD_NOT_FOUND) {
                    // It may be that the tool is gone, or wants other arguments than it did.
                    connection.ears.changed.notify_one();
                }
                if error.code.0 == TOO_LONG {
                    failure(Code::LimitExceeded, address, too_long(error, self.spec.max_result_bytes))
                } else {
                    failure(Code::ToolError, address, of_refusal(error, &self.secrets))
                }
            }
            ServiceError::Timeout { .. } => {
                let (ms, instead) = (limit.as_millis(), connection.instead(&self.secrets));
                let why = format!("no answer within {ms} ms; the call was cancelled{instead}");
                failure(Code::Timeout, address, why)
            }
            ServiceError::TransportSend(cause) if matches!(self.spec.transport, Transport::Http(_)) => {
                if !is_busy(cause) {
                    self.give_up(connection);
                }
                let trouble = of_transport(cause, &self.secrets);
                let trouble = match &self.spec.transport {
                    Transport::Http(endpoint) => trouble.asked_with(&endpoint.headers),
                    Transport::Stdio(_) => trouble,
                };
                failure(Code::ToolUnavailable, address, trouble.why)
            }
            // A program that has ended is noticed at whichever of its streams comes first.
            ServiceError::TransportClosed | ServiceError::TransportSend(_) => {
                let why = tokio::time::timeout(WORDS, connection.over()).await.ok().flatten();
                let why = why.map_or_else(|| "it ended".to_owned(), |trouble| trouble.why);
                let when = if again { ", and again when it was called once more" } else { "" };
                failure(Code::ToolUnavailable, address, format!("its server was lost during the call{when}: {why}"))
            }
            ServiceError::Cancelled { .. } => failure(Code::ToolError, address, "the call was cancelled"),
            _ => failure(Code::ToolError, address, "its server did not answer as the protocol demands"),
        }
    }
}

/// An answer without anything in it, which no tool should give.
fn bare() -> ToolAnswer {
    ToolAnswer { left_out: vec!["its answer has no content".to_owned()], ..ToolAnswer::default() }
}

/// A failure of a call that was sent so often.
fn sent(failure: ToolFailure, times: u32) -> ToolFailure {
    ToolFailure { sent: times, ..failure }
}

fn unavailable(address: &ToolAddress, trouble: &Trouble) -> ToolFailure {
    failure(Code::ToolUnavailable, address, &trouble.why)
}

fn found(list: Option<&ToolList>, address: &ToolAddress) -> Result<Arc<KnownTool>, ToolFailure> {
    let tools = list.map(|list| &list.tools);
    if let Some(tool) = tools.and_then(|tools| tools.get(&address.tool)) {
        return Ok(tool.clone());
    }
    if let Some(why) = list.and_then(|list| list.unusable.get(&address.tool)) {
        return Err(failure(Code::ToolUnavailable, address, format!("its server lists it, and {why}")));
    }
    let names = tools.into_iter().flat_map(|tools| tools.keys().map(String::as_str));
    let fact = not_there("its server has no tool of that name", &address.tool, names);
    let cut = list.and_then(|list| list.cut.as_ref()).map(|cut| format!("; {cut}")).unwrap_or_default();
    Err(failure(Code::ToolNotFound, address, fact + &cut))
}

/// That something is not there, with the nearest names there are.
pub(super) fn not_there<'n>(fact: &str, name: &str, names: impl IntoIterator<Item = &'n str>) -> String {
    let near: Vec<String> = nearest(name, names, 3).into_iter().map(quoted).collect();
    if near.is_empty() { fact.to_owned() } else { format!("{fact}; the nearest are {}", near.join(", ")) }
}

fn allowed(tool: &KnownTool, address: &ToolAddress) -> Result<(), ToolFailure> {
    if tool.allowed {
        return Ok(());
    }
    let told = failure(Code::ToolNotAllowed, address, "the operator does not allow flows to call it");
    tracing::warn!(target: TOLD, "{}", told.message);
    Err(told)
}

fn too_long(error: &ErrorData, most: usize) -> String {
    match error.data.as_ref().and_then(|data| data.get("bytes")).and_then(Value::as_u64) {
        Some(bytes) => format!("its answer has {bytes} bytes, and maxResultBytes allows {most}"),
        None => format!("its answer has more bytes than maxResultBytes allows, which is {most}"),
    }
}

/// Sends a call and waits for its answer. When this is dropped, the server is told.
async fn ask(
    connection: &Connection,
    address: &ToolAddress,
    arguments: Map<String, Value>,
    limit: Duration,
    progress: Option<OnToolProgress>,
) -> Result<ServerResult, Unanswered> {
    connection.call_begins();
    let params = CallToolRequestParams::new(address.tool.clone()).with_arguments(arguments);
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let options = PeerRequestOptions::with_timeout(limit);
    let asked = connection.peer.send_cancellable_request(request, options).await;
    let asked = asked.map_err(|error| Unanswered { error, sent: false })?;
    let _following = progress.map(|tell| connection.ears.follow(asked.progress_token.clone(), tell));
    let mut abandoned = Abandoned { peer: &connection.peer, request: Some(asked.id.clone()) };
    let answer = asked.await_response().await;
    abandoned.request = None;
    answer.map_err(|error| Unanswered { error, sent: true })
}

/// Why there is no answer.
struct Unanswered {
    error: ServiceError,
    /// Whether the call was on its way at least.
    sent: bool,
}

/// Tells the server of a call whose caller has gone away.
struct Abandoned<'a> {
    peer: &'a Peer<RoleClient>,
    request: Option<RequestId>,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            let told = CancelledNotificationParam::new(Some(request), Some("nobody waits for it any more".to_owned()));
            // Handing it over is all that can be done here; nobody waits for it to be sent.
            let _ = self.peer.notify_cancelled(told).now_or_never();
        }
    }
}
