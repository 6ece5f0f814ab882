//! The rmcp handler: which tools there are, and what surrounds every call to one.
//!
//! rmcp gives every request a task of its own and nothing else; here a panic becomes an answer, a
//! cancelled call stops its work, and a bound holds how many work at once.

use std::any::Any;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CancelledNotificationParam, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    InitializeRequestParams, InitializeResult, InputResponses, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, MetaObject, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
    SubscriptionFilter, Tool,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::asking::Person;
use super::definition::{CallPlace, Definition, StepsMay};
use super::exposed::{self, Exposing};
use super::outbox::Outbox;
use super::progress::ClientProgress;
use super::reply::{Reply, ToolCall};
use super::target::CallTarget;
use super::tools::EXECUTE;
use super::{TTL_AT_MOST_MS, aliases, changes, completion, failure, identity, introduction, prompts, resources, tools};
use crate::app::{App, Code, Error, ExposedFlow};
use crate::config::Expose;
use crate::report::wire::Travels;

type Context = RequestContext<RoleServer>;
type Page = Option<PaginatedRequestParams>;
type Answer<T> = Result<T, ErrorData>;

/// How long a session may wait before its first word to know which flows are tools.
const LOOK_AHEAD: Duration = Duration::from_secs(5);
/// Where a result says whether it is complete.
const RESULT_TYPE: &str = "resultType";

/// How a session comes to its end.
#[derive(Clone, Default)]
pub(super) struct Ends {
    /// Cancelled when nothing more will be read. From then on rmcp sends answers only: waiting
    /// for a notification to be sent would be waiting for ever.
    pub(super) input: CancellationToken,
    /// Cancelled when calls that still run are to stop.
    pub(super) calls: CancellationToken,
}

/// The server over one [`App`].
#[derive(Clone)]
pub(super) struct McpServer {
    app: Arc<App>,
    /// The fixed tools; none where flows are the only ones.
    tools: &'static [Definition],
    /// The flows that are tools; none where the settings expose none.
    exposing: Option<Exposing>,
    /// Whether flows are all that clients are offered.
    alone: bool,
    at_once: Arc<Semaphore>,
    /// Of those that do steps, which may take long.
    doing: Arc<Semaphore>,
    ends: Ends,
    /// Whether the client is told of changes already: it may say twice that it is ready.
    told: Arc<AtomicBool>,
    /// Whether the log says already that GitHub refuses the token.
    refused: Arc<AtomicBool>,
    /// The version that was agreed on in a handshake.
    agreed: Arc<OnceLock<ProtocolVersion>>,
    /// Where replies wait as they are written; none where somebody else writes the messages.
    outbox: Option<Outbox>,
}

impl McpServer {
    /// A server for one session.
    pub(super) fn new(app: Arc<App>, ends: Ends, outbox: Outbox) -> Self {
        Self { outbox: Some(outbox), ..Self::with_tools(app, ends, &tools::ALL) }
    }

    fn with_tools(app: Arc<App>, ends: Ends, tools: &'static [Definition]) -> Self {
        let places = || Arc::new(Semaphore::new(app.settings().max_concurrent_requests.max(1)));
        let (at_once, doing) = (places(), places());
        let alone = app.settings().only_exposed;
        let exposing = (alone || app.settings().expose != Expose::None).then(|| Exposing::new(app.clone()));
        let tools = if alone { &[] } else { tools };
        Self {
            app,
            tools,
            exposing,
            alone,
            at_once,
            doing,
            ends,
            told: Arc::default(),
            refused: Arc::default(),
            agreed: Arc::default(),
            outbox: None,
        }
    }

    /// A `tools/call` that rmcp can't read. Some clients send the arguments as a JSON text; what
    /// is meant by that is clear.
    async fn misspelt_call(&self, params: Option<Value>, context: Context) -> Answer<CustomResult> {
        let malformed = |why: &str| ErrorData::invalid_params(format!("this tools/call can't be read: {why}"), None);
        let Some(Value::Object(mut params)) = params else { return Err(malformed("params is not an object")) };
        let Some(Value::String(name)) = params.remove("name") else { return Err(malformed("name is not a text")) };
        let sent = match params.remove("arguments") {
            Some(Value::String(text)) => serde_json::from_str(&text).ok(),
            _ => None,
        };
        let sent = sent.ok_or_else(|| malformed("arguments is not an object"))?;
        let stateless = identity::stateless(&context);
        let reply = self.call(&name, sent, None, &context).await?;
        let mut result = serde_json::to_value(reply.into_result())
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        if let (false, Value::Object(object)) = (stateless, &mut result) {
            object.remove(RESULT_TYPE);
        }
        Ok(CustomResult::new(result))
    }

    async fn call(
        &self,
        called: &str,
        sent: Map<String, Value>,
        answered: Option<InputResponses>,
        context: &Context,
    ) -> Answer<Reply> {
        let (name, contract) = aliases::tool(called);
        let target = match self.find(&name) {
            Some(tool) => CallTarget::Fixed(tool),
            None => match self.exposed(called, context).await {
                Ok(Some(flow)) => CallTarget::Flow(flow),
                Ok(None) => return Err(failure::unknown_tool(called, &self.tool_names(), self.alone)),
                Err(error) => return Ok(failure::reply(&EXECUTE, &error, None)),
            },
        };
        let stateless = identity::stateless(context);
        let person = Person::behind(context.client_capabilities().as_ref(), stateless, &context.peer, answered);
        Ok(self.answer(target, (contract, Travels::Twice), sent, person, context).await)
    }

    /// The flow that is a tool of this name.
    async fn exposed(&self, called: &str, context: &Context) -> Result<Option<Arc<ExposedFlow>>, Error> {
        // A name that no flow's tool can have is unknown, whether the catalog can be reached or not.
        let prefix = &self.app.settings().expose_prefix;
        let Some(exposing) = self.exposing.as_ref().filter(|_| called.starts_with(prefix.as_str())) else {
            return Ok(None);
        };
        let exposed = self.bounded("tools/call", context, exposing.now().boxed()).await?;
        Ok(exposed.find(called).map(|tool| tool.flow.clone()))
    }

    /// Looks for the first time which flows are tools, so that they are known before anybody asks;
    /// not for long, because a client waits.
    pub(super) async fn look_ahead(&self) {
        let Some(exposing) = &self.exposing else { return };
        match tokio::time::timeout(LOOK_AHEAD, AssertUnwindSafe(exposing.now()).catch_unwind()).await {
            Ok(Ok(Ok(_))) => {}
            Ok(Ok(Err(error))) => tracing::warn!(%error, "which flows are tools of their own can't be read yet"),
            Ok(Err(panic)) => drop(self.panicked("tools/list", &*panic)),
            Err(_) => tracing::warn!("which flows are tools of their own is not known yet: the catalog is slow"),
        }
    }

    /// A reply as rmcp takes it: where there is an outbox, what is written waits there.
    fn sent(&self, reply: Reply, context: &Context) -> CallToolResponse {
        if let Some(asks) = reply.asks {
            return (*asks).into();
        }
        let (Some(outbox), None) = (&self.outbox, &reply.text) else {
            let mut result = reply.into_result();
            self.sign(&mut result.meta, context);
            return result.into();
        };
        let failed = reply.failed;
        let mut reply = reply;
        let beside = std::mem::take(&mut reply.beside);
        let mut result = outbox.keep(context.id.clone(), reply.into_written(), failed);
        result.content.extend(beside.iter().cloned());
        self.sign(&mut result.meta, context);
        if !context.ct.is_cancelled() {
            return result.into();
        }
        // Nobody may fetch it any more: its message, if there is one at all, holds it itself.
        let written = outbox.take(&context.id);
        written.map_or(result, |written| Reply { failed, beside, ..Reply::written(written) }.into_result()).into()
    }

    /// Without a session, every result says who answers.
    fn sign(&self, meta: &mut Option<MetaObject>, context: &Context) {
        identity::sign(meta, &self.app.settings().server_name, context);
    }

    /// The names of the tools, as far as they are known without a look at the catalog.
    fn tool_names(&self) -> Vec<String> {
        let fixed = self.tools.iter().map(|tool| tool.name.to_owned());
        let exposed = self.exposing.as_ref().map(Exposing::newest).unwrap_or_default();
        fixed.chain(exposed.tools.iter().map(|tool| tool.flow.tool.clone())).collect()
    }

    /// What is said of a method that nobody answers.
    pub(super) fn unknown_method(&self, method: &str) -> ErrorData {
        failure::unknown_method(method, &self.tool_names(), self.alone)
    }

    /// The flows that are offered, where nothing else is.
    fn only(&self) -> Option<&Exposing> {
        self.exposing.as_ref().filter(|_| self.alone)
    }

    /// What the model reads first.
    fn introduction(&self) -> String {
        let any = self.exposing.as_ref().is_some_and(|exposing| !exposing.newest().tools.is_empty());
        let prefix = any.then_some(self.app.settings().expose_prefix.as_str());
        introduction::of(self.alone, prefix)
    }

    /// What steps of flows may do to the world.
    fn steps_may(&self) -> StepsMay {
        StepsMay { change: self.app.may_change_things(), spend: self.app.may_spend() }
    }

    fn find(&self, name: &str) -> Option<&'static Definition> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Answers one call, whatever becomes of it.
    async fn answer(
        &self,
        target: CallTarget,
        (contract, travels): (bool, Travels),
        sent: Map<String, Value>,
        person: Option<Person>,
        context: &Context,
    ) -> Reply {
        let flow = target.flow(&sent);
        let begun = self.app.clock().reading();
        // Cancelled by the client, or because the server ends.
        let cancel = self.ends.calls.child_token();
        let (mut progress, on_step) = match context.meta.get_progress_token() {
            Some(token) => {
                let (progress, on_step) = ClientProgress::new(context.peer.clone(), token, self.ends.input.clone());
                (Some(progress), Some(on_step))
            }
            None => (None, None),
        };
        let call =
            ToolCall { app: self.app.clone(), cancel: cancel.clone(), progress: on_step, contract, travels, person };
        let mut work = std::pin::pin!(AssertUnwindSafe(self.work(&target, call, sent, flow.as_deref())).catch_unwind());
        let tell = async {
            if let Some(progress) = &mut progress {
                progress.tell().await;
            }
            std::future::pending::<Infallible>().await
        };
        let ended = tokio::select! {
            biased;
            ended = &mut work => ended,
            () = context.ct.cancelled() => {
                cancel.cancel();
                // The work sees that and ends by itself: what it started is stopped, not orphaned.
                work.await
            }
            never = tell => match never {},
        };
        let mut reply = ended.unwrap_or_else(|panic| {
            failure::reply(target.tool(), &self.panicked(target.name(), &*panic), flow.as_deref())
        });
        if self.alone {
            exposed::alone(&mut reply.value);
        }
        if let Some(progress) = progress.as_mut().filter(|_| !context.ct.is_cancelled()) {
            progress.newest().await;
        }
        let took = self.app.clock().reading().saturating_sub(begun);
        let code = if reply.failed { reply.value.get("code").and_then(Value::as_str).unwrap_or("-") } else { "ok" };
        tracing::info!(tool = target.name(), outcome = code, ms = crate::discover::millis(took), "answered");
        self.warn_of_refusal(code, || {
            reply.value.get("message").and_then(Value::as_str).unwrap_or_default().to_owned()
        });
        reply
    }

    /// Logs once that GitHub refuses the operator's token: the client's person may not be who can change it.
    fn warn_of_refusal(&self, code: &str, message: impl FnOnce() -> String) {
        if code == Code::Unauthorized.word() && !self.refused.swap(true, Ordering::Relaxed) {
            tracing::warn!("{}", message());
        }
    }

    /// What is said of a panic, to the log and to the client.
    fn panicked(&self, what: &str, panic: &(dyn Any + Send)) -> Error {
        Error::of_panic(&**self.app.clock(), what, panic)
    }

    /// Does the work of one of the protocol's own methods as a tool's is done: so many at once, let
    /// go when nobody wants the answer, and a panic is an answer.
    async fn guarded<T>(
        &self,
        method: &'static str,
        context: &Context,
        work: BoxFuture<'_, Result<T, Error>>,
    ) -> Result<T, Error> {
        let done = self.bounded(method, context, work).await;
        let code = done.as_ref().err().map_or("ok", |error| error.code.word());
        tracing::info!(method, outcome = code, "answered");
        self.warn_of_refusal(code, || done.as_ref().err().map(|error| error.message.clone()).unwrap_or_default());
        done
    }

    /// The same as a reply that is signed, or a failure of the protocol.
    async fn signed<T>(
        &self,
        method: &'static str,
        context: &Context,
        work: BoxFuture<'_, Result<T, Error>>,
        meta: fn(&mut T) -> &mut Option<MetaObject>,
    ) -> Answer<T> {
        let done = self.guarded(method, context, work).await;
        let mut reply = done.map_err(|error| failure::protocol(&error, method))?;
        self.sign(meta(&mut reply), context);
        Ok(reply)
    }

    /// The same without a word in the log.
    async fn bounded<T>(
        &self,
        method: &'static str,
        context: &Context,
        work: BoxFuture<'_, Result<T, Error>>,
    ) -> Result<T, Error> {
        let bounded = async {
            let _permit = self.at_once.acquire().await;
            work.await
        };
        match AssertUnwindSafe(context.ct.run_until_cancelled(bounded)).catch_unwind().await {
            Ok(done) => done.unwrap_or_else(|| Err(Error::cancelled())),
            Err(panic) => Err(self.panicked(method, &*panic)),
        }
    }

    /// The places of such calls.
    fn places(&self, tool: &Definition) -> Option<&Semaphore> {
        match tool.place {
            CallPlace::None => None,
            CallPlace::Reading => Some(&self.at_once),
            CallPlace::Steps => Some(&self.doing),
        }
    }

    async fn work(&self, target: &CallTarget, call: ToolCall, sent: Map<String, Value>, flow: Option<&str>) -> Reply {
        let tool = target.tool();
        let arguments = match target.arguments(sent) {
            Ok(arguments) => arguments,
            Err(error) => return failure::reply(tool, &error, flow),
        };
        let permit = async { Some(self.places(tool)?.acquire().await) };
        let Some(permit) = call.cancel.run_until_cancelled(permit).await else {
            return failure::reply(tool, &Error::cancelled(), flow);
        };
        let reply = (tool.run)(&call, &arguments).await;
        drop(permit);
        reply.unwrap_or_else(|error| failure::reply(tool, &target.said(error), flow))
    }
}

/// Where a page begins; an empty cursor is none, as it is in the arguments of tools.
fn cursor(page: Page) -> Option<String> {
    page.and_then(|page| page.cursor).filter(|cursor| !cursor.is_empty())
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_completions()
            .build();
        if self.alone {
            capabilities.prompts = None;
            capabilities.completions = None;
        } else {
            let mut methods = JsonObject::new();
            methods.insert("methods".to_owned(), json!(aliases::METHODS));
            capabilities.extensions.get_or_insert_default().insert(aliases::EXTENSION.to_owned(), methods);
        }
        if let (Some(tools), Some(_)) = (&mut capabilities.tools, &self.exposing) {
            tools.list_changed = Some(true);
        }
        let server = identity::of(&self.app.settings().server_name);
        ServerConfig::new(capabilities).with_server_info(server).with_instructions(self.introduction())
    }

    async fn initialize(&self, mut request: InitializeRequestParams, context: Context) -> Answer<InitializeResult> {
        let mut result = self.negotiate_initialize(&request)?;
        // The version that a session began with holds, whatever a later initialize asks for.
        result.protocol_version = self.agreed.get_or_init(|| result.protocol_version.clone()).clone();
        request.protocol_version = result.protocol_version.clone();
        context.peer.set_peer_info(request);
        Ok(result)
    }

    async fn list_tools(&self, page: Page, context: Context) -> Answer<ListToolsResult> {
        prompts::only_page(cursor(page).as_deref()).map_err(|error| failure::protocol(&error, "tools/list"))?;
        let mut tools: Vec<Tool> = {
            let may = self.steps_may();
            self.tools.iter().map(|tool| tool.tool(may)).collect()
        };
        let Some(exposing) = &self.exposing else {
            let mut list = ListToolsResult::with_all_items(tools);
            self.sign(&mut list.meta, &context);
            return Ok(list.with_ttl_ms(TTL_AT_MOST_MS).with_cache_scope(CacheScope::Public));
        };
        let ttl = match self.guarded("tools/list", &context, exposing.to_list().boxed()).await {
            Ok(exposed) => {
                tools.extend(exposed.tools.iter().map(|tool| exposed::tool(tool, self.app.may_spend())));
                exposed.fresh_for_ms.unwrap_or(TTL_AT_MOST_MS).min(TTL_AT_MOST_MS)
            }
            Err(error) if self.alone => return Err(failure::protocol(&error, "tools/list")),
            Err(error) => {
                tracing::warn!(%error, "the flows that are tools are missing in a list");
                0
            }
        };
        let mut list = ListToolsResult::with_all_items(tools);
        self.sign(&mut list.meta, &context);
        Ok(list.with_ttl_ms(ttl).with_cache_scope(CacheScope::Private))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let exposed =
            || self.exposing.as_ref()?.newest().find(name).map(|tool| exposed::tool(tool, self.app.may_spend()));
        self.find(name).map(|tool| tool.tool(self.steps_may())).or_else(exposed)
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Answer<CallToolResponse> {
        let arguments = request.arguments.unwrap_or_default();
        let reply = self.call(&request.name, arguments, request.input_responses, &context).await?;
        Ok(self.sent(reply, &context))
    }

    async fn on_cancelled(&self, notification: CancelledNotificationParam, _context: NotificationContext<RoleServer>) {
        if let (Some(outbox), Some(id)) = (&self.outbox, &notification.request_id) {
            drop(outbox.take(id));
        }
    }

    async fn list_resources(&self, page: Page, context: Context) -> Answer<ListResourcesResult> {
        let cursor = cursor(page);
        let work = resources::list(&self.app, cursor.as_deref(), self.only()).boxed();
        self.signed("resources/list", &context, work, |list| &mut list.meta).await
    }

    async fn list_resource_templates(&self, page: Page, context: Context) -> Answer<ListResourceTemplatesResult> {
        prompts::only_page(cursor(page).as_deref())
            .map_err(|error| failure::protocol(&error, "resources/templates/list"))?;
        let mut list = resources::templates(self.alone);
        self.sign(&mut list.meta, &context);
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Answer<ReadResourceResponse> {
        let work = resources::read(&self.app, &request.uri, self.alone).boxed();
        let done = self.guarded("resources/read", &context, work).await;
        let mut read = done.map_err(|error| failure::resource(&error, &request.uri))?;
        self.sign(&mut read.meta, &context);
        Ok(read.into())
    }

    async fn list_prompts(&self, page: Page, context: Context) -> Answer<ListPromptsResult> {
        let cursor = cursor(page);
        let work = prompts::list(&self.app, cursor.as_deref(), self.alone).boxed();
        self.signed("prompts/list", &context, work, |list| &mut list.meta).await
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, context: Context) -> Answer<GetPromptResponse> {
        let work = prompts::get(&self.app, &request.name, request.arguments, self.alone).boxed();
        Ok(self.signed("prompts/get", &context, work, |prompt| &mut prompt.meta).await?.into())
    }

    async fn complete(&self, request: CompleteRequestParams, context: Context) -> Answer<CompleteResult> {
        if !self.alone {
            let work = completion::complete(&self.app, &request).boxed();
            return self.signed("completion/complete", &context, work, |completed| &mut completed.meta).await;
        }
        let mut completed = CompleteResult::default();
        self.sign(&mut completed.meta, &context);
        Ok(completed)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if !self.told.swap(true, Ordering::Relaxed) {
            tokio::spawn(changes::tell(
                self.app.changes(),
                context.peer,
                self.ends.input.clone(),
                self.exposing.clone(),
            ));
        }
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(changes::accepted(requested, self.exposing.is_some()))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        changes::listen(self.app.changes(), context, self.ends.input.clone(), self.exposing.clone()).await;
        Ok(())
    }

    async fn on_custom_request(&self, request: CustomRequest, context: Context) -> Answer<CustomResult> {
        if request.method == "tools/call" {
            return self.misspelt_call(request.params, context).await;
        }
        let called = aliases::METHODS.iter().find(|method| **method == request.method);
        let found = called.and_then(|method| self.find(&aliases::tool(method).0));
        let Some(tool) = found else {
            // rmcp hands over what is one of its own methods only where it can't read the rest.
            return Err(if failure::MCP.contains(&request.method.as_str()) {
                failure::unreadable(&request.method, request.params.as_ref())
            } else {
                ErrorData::new(ErrorCode::METHOD_NOT_FOUND, request.method, None)
            });
        };
        let sent = match request.params {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(mut params)) => {
                params.remove("_meta");
                params
            }
            Some(_) => {
                let error = Error::invalid("params is not an object")
                    .next(format!("give the arguments of {} as an object", tool.name));
                return Err(failure::method_error(failure::reply(tool, &error, None).value));
            }
        };
        let reply = self.answer(CallTarget::Fixed(tool), (true, Travels::Once), sent, None, &context).await;
        if reply.failed {
            return Err(failure::method_error(reply.value));
        }
        let mut value = reply.value;
        if let (true, Value::Object(object)) = (identity::stateless(&context), &mut value) {
            object.insert(RESULT_TYPE.to_owned(), json!("complete"));
            identity::sign_value(object, &self.app.settings().server_name, &context);
        }
        Ok(CustomResult::new(value))
    }
}

#[cfg(test)]
mod tests;
