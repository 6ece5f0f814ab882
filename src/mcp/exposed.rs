//! Flows that are tools of their own: listed after the fixed tools, called like `flows_execute`.
//!
//! Which flows these are is decided by app; here they become tools of the protocol, and what was
//! shown to the client is remembered, so that it is told when that changes. Where nothing else is
//! offered ([`alone`]), no answer names a tool that isn't there.

use std::sync::{Arc, Mutex};

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};

use crate::app::{App, Error, Exposed, ExposedFlow, ExposedTool, Refusal};
use crate::lock::lock;
use crate::names::{counted, shown};

/// How many refusals the log names one by one.
const NAMED: usize = 20;
/// How the names of the server's own tools begin.
const OWN: &str = "flows_";

/// The flows that are tools, as one client sees them. Cloning shares what it saw.
#[derive(Clone)]
pub(super) struct Exposing {
    app: Arc<App>,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    /// What was worked out last.
    newest: Arc<Exposed>,
    /// The revision whose refusals are in the log.
    logged: Option<String>,
    /// What the client was shown last; none while it never asked.
    listed: Option<Arc<Exposed>>,
}

impl Exposing {
    pub(super) fn new(app: Arc<App>) -> Self {
        Self { app, seen: Arc::default() }
    }

    /// The tools as they are now. The log tells once for each revision what they are, and what
    /// could not be one.
    ///
    /// # Errors
    /// When the catalog can't be reached.
    pub(super) async fn now(&self) -> Result<Arc<Exposed>, Error> {
        let exposed = Arc::new(self.app.exposed().await?);
        let mut seen = lock(&self.seen);
        seen.newest = exposed.clone();
        if seen.logged.as_ref() != Some(&exposed.revision) {
            seen.logged = Some(exposed.revision.clone());
            log(&exposed, self.app.settings().only_exposed);
        }
        Ok(exposed)
    }

    /// The tools to show to the client; none where the catalog can't be reached, which is remembered
    /// as what it was shown.
    ///
    /// # Errors
    /// When the catalog can't be reached.
    pub(super) async fn to_list(&self) -> Result<Arc<Exposed>, Error> {
        let exposed = self.now().await;
        lock(&self.seen).listed = Some(exposed.as_ref().map(Arc::clone).unwrap_or_default());
        exposed
    }

    /// Whether the tools are others than those that the client was shown. It counts as told.
    pub(super) async fn changed(&self) -> bool {
        let Ok(now) = self.now().await else { return false };
        let mut seen = lock(&self.seen);
        let changed = seen.listed.as_ref().is_some_and(|listed| listed.tools != now.tools);
        if changed {
            seen.listed = Some(now);
        }
        changed
    }

    /// What was worked out last, without a look at the catalog.
    pub(super) fn newest(&self) -> Arc<Exposed> {
        lock(&self.seen).newest.clone()
    }
}

fn log(exposed: &Exposed, alone: bool) {
    let tools: Vec<&str> = exposed.tools.iter().map(|tool| tool.flow.tool.as_str()).collect();
    if !tools.is_empty() {
        tracing::info!(
            count = tools.len(),
            tools = shown(&tools.join(", "), 1_000),
            "flows that are tools of their own"
        );
    }
    for refused in exposed.refused.iter().take(NAMED) {
        tracing::warn!("{refused}");
    }
    let more = exposed.refused.len().saturating_sub(NAMED);
    if more > 0 {
        let more = counted(more, "more reason", "more reasons");
        tracing::warn!("{more} why flows are no tools; `flowy list` shows all");
    }
    if alone && tools.is_empty() {
        tracing::warn!(
            "--only-exposed is set and no flow is a tool of its own, so clients are shown no tool at all; set --expose, \
             and with marked also --expose-list"
        );
    }
}

/// A tool as clients are shown it. Where models answer steps, a call costs something and is never quite the same
/// again.
pub(super) fn tool(exposed: &ExposedTool, may_spend: bool) -> Tool {
    let (flow, hints) = (&exposed.flow, exposed.hints);
    let annotations = ToolAnnotations::from_raw(
        None,
        Some(hints.read_only && !may_spend),
        Some(hints.destructive),
        Some(hints.idempotent && !may_spend),
        Some(hints.open_world || may_spend),
    );
    Tool::new(flow.tool.clone(), flow.description.clone(), Arc::new(flow.schema.clone()))
        .with_title(flow.flow.clone())
        .with_annotations(annotations)
}

/// An error of executing a flow, in words that fit a call whose arguments are the flow's inputs.
pub(super) fn in_its_words(flow: &ExposedFlow, error: Error) -> Error {
    let key = |name: &str| {
        let argument = flow.arguments.iter().find(|one| one.name == name);
        argument.map_or(name, |one| one.key.as_str()).to_owned()
    };
    match error.refusal.as_deref() {
        Some(Refusal::Missing { missing, wanted, .. }) => {
            let example: Map<String, Value> =
                missing.iter().map(|(name, _)| (key(name), wanted.sample(name))).collect();
            let mut next = format!("ask your user, then give {}", Value::Object(example));
            if !wanted.sets.is_empty() {
                next = format!("{next}, or choose a variable set: {}", wanted.told_sets());
            }
            error.next(next)
        }
        Some(Refusal::Misfit(unfit)) => {
            let samples: Map<String, Value> = unfit.iter().map(|one| (key(&one.name), one.sample.clone())).collect();
            let like = Value::Object(samples);
            error.next(format!(
                "the schema of {} says which types and choices fit; what fits looks like {like}",
                flow.tool
            ))
        }
        Some(Refusal::UnknownSet { .. } | Refusal::SetNotText | Refusal::GivenTwice(_)) | None => error,
    }
}

/// An answer for a client that is offered flows and nothing else: advice to call another tool gives
/// way to what there is, the resource that holds the execution.
pub(super) fn alone(answer: &mut Value) {
    let Value::Object(answer) = answer else { return };
    let names_a_tool = |answer: &Map<String, Value>, key: &str| {
        answer.get(key).and_then(Value::as_str).is_some_and(|text| text.contains(OWN))
    };
    if names_a_tool(answer, "hint") {
        answer.remove("hint");
    }
    if names_a_tool(answer, "nextStep") {
        let id = answer.get("executionId").and_then(Value::as_str);
        let next = id.map_or_else(
            || "tell your user: nothing here can fix this".to_owned(),
            |id| format!("the resource execution://{id} tells how it stands, with every step and its text"),
        );
        answer.insert("nextStep".to_owned(), Value::String(next));
    }
}
