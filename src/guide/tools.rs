//! Steps that call tools: the server does them between the model's, in the background.
//!
//! That a tool is called is kept before it is called, with the process that calls. So of several
//! processes one calls; and when that one is gone, another sees it, and makes the call again where the
//! tool says that this does no harm, else asks a person.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{Guide, GuideError, Story, Turn, calls};
use crate::clock::Clock;
use crate::execute::{NoTools, Tools, call_step};
use crate::model::ToolLookup;
use crate::plan::Work;
use crate::run::{EscalationId, ExecutionId, Guided, Moment, ToolAtWork};
use crate::store::{Presence, Store};

/// Who calls tools for this process's executions, and which of them are at it.
#[derive(Clone)]
pub(super) struct Calling {
    tools: Arc<dyn Tools>,
    presence: Arc<Presence>,
    under_way: Arc<Mutex<HashMap<ExecutionId, UnderWay>>>,
}

/// An execution whose tool steps are being done.
struct UnderWay {
    cancel: CancellationToken,
    ended: watch::Receiver<bool>,
}

impl Calling {
    pub(super) fn of(store: &Store, clock: &dyn Clock) -> Self {
        let state = store.file().parent().unwrap_or(store.file());
        let name = format!("{:016x}{:016x}", clock.fresh(), clock.fresh());
        Self { tools: Arc::new(NoTools), presence: Arc::new(Presence::new(state, name)), under_way: Arc::default() }
    }

    pub(super) fn by(self, tools: Arc<dyn Tools>) -> Self {
        Self { tools, ..self }
    }

    /// The name of this process in logs.
    pub(super) fn owner(&self) -> &str {
        self.presence.name()
    }

    /// Lets others see that this process is there, where a log is about to say that it calls.
    pub(super) fn be_there(&self, guided: &Guided) -> Result<(), GuideError> {
        if guided.tool_at_work().is_some_and(|at_work| at_work.owner == self.owner()) {
            self.presence.claim()?;
        }
        Ok(())
    }

    /// Ends what is being called for an execution.
    pub(super) fn cancel(&self, id: &ExecutionId) {
        if let Some(under_way) = self.lock().get(id) {
            under_way.cancel.cancel();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ExecutionId, UnderWay>> {
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this process is to call, or is calling, a tool for an execution.
    fn ours<'g>(&self, guided: &'g Guided) -> Option<&'g ToolAtWork> {
        guided.tool_at_work().filter(|at_work| at_work.owner == self.owner() && at_work.asks.is_none())
    }

    /// Whether a tool says that calling it again does no harm.
    fn harmless(&self, guided: &Guided, step: usize) -> bool {
        let Some(Work::Call(call)) = guided.run().plan().step(step).map(|step| &step.work) else { return false };
        let toolbox = self.tools.toolbox();
        matches!(toolbox.find(&call.address), ToolLookup::Found(tool) if tool.read_only || tool.idempotent)
    }
}

impl Guide {
    /// Waits a while for tool steps that this process does; the work goes on after that.
    pub(super) async fn carry_on(&self, turn: Turn) -> Result<Turn, GuideError> {
        if self.calling.ours(&turn.guided).is_none() {
            return Ok(turn);
        }
        let id = turn.guided.beginning().id.clone();
        let entries = turn.guided.entries();
        let wait = async {
            loop {
                let mut ended = self.call_in_background(&id);
                drop(ended.wait_for(|ended| *ended).await);
                let story = self.read(&id).await?;
                let guided = story.as_of(story.end_of_call(entries))?;
                // What was at its end when this call began another step is begun anew.
                let more = self.calling.ours(&story.guided).is_some();
                self.known.keep(story);
                if !more {
                    return Ok::<Guided, GuideError>(guided);
                }
            }
        };
        let guided = match tokio::time::timeout(self.patience, wait).await {
            Ok(guided) => guided?,
            Err(_) => {
                let story = self.read(&id).await?;
                story.as_of(story.end_of_call(entries))?
            }
        };
        Ok(Turn { guided, done: turn.done })
    }

    /// Takes a call over whose process is gone; says whether there was one.
    pub(super) async fn take_over(&self, story: &Story) -> Result<bool, GuideError> {
        let Some(at_work) = story.guided.tool_at_work().filter(|at_work| at_work.asks.is_none()) else {
            return Ok(false);
        };
        let id = &story.guided.beginning().id;
        if at_work.owner == self.calling.owner() {
            // It is about to be called, if it isn't yet: nothing is called twice.
            drop(self.call_in_background(id));
            return Ok(false);
        }
        if self.calling.presence.is_there(&at_work.owner) {
            return Ok(false);
        }
        let harmless = self.calling.harmless(&story.guided, at_work.step);
        let fresh = EscalationId::fresh(self.clock.fresh(), self.clock.fresh());
        let owner = self.calling.owner();
        let turn = self.change(id, |story| calls::take_over(story, at_work, harmless, (owner, &fresh))).await?;
        tracing::info!(execution = %id, harmless, "a tool's call was taken over from a process that is gone");
        if self.calling.ours(&turn.guided).is_some() {
            drop(self.call_in_background(id));
        }
        Ok(true)
    }

    /// Does the tool steps that are this process's to do, one after the other, unless it is at it.
    fn call_in_background(&self, id: &ExecutionId) -> watch::Receiver<bool> {
        let mut under_way = self.calling.lock();
        if let Some(known) = under_way.get(id) {
            return known.ended.clone();
        }
        let (tell, ended) = watch::channel(false);
        let cancel = CancellationToken::new();
        under_way.insert(id.clone(), UnderWay { cancel: cancel.clone(), ended: ended.clone() });
        let (guide, id) = (self.clone(), id.clone());
        tokio::spawn(async move {
            if let Some(Err(error)) = cancel.run_until_cancelled(guide.call_on(&id)).await {
                tracing::warn!(execution = %id, %error, "a tool step could not be kept");
            }
            guide.calling.lock().remove(&id);
            tell.send_replace(true);
        });
        ended
    }

    async fn call_on(&self, id: &ExecutionId) -> Result<(), GuideError> {
        loop {
            let story = self.read(id).await?;
            let guided = story.guided.clone();
            self.known.keep(story);
            let Some(at_work) = self.calling.ours(&guided) else { return Ok(()) };
            let step = at_work.step;
            let begun = self.clock.reading();
            let called = call_step(guided.run(), step, &*self.calling.tools, id.as_str()).await;
            let Some(called) = called else { return Ok(()) };
            let micros = self.clock.reading().saturating_sub(begun).as_micros();
            let ended = Moment::ToolEnded {
                step,
                result: called.result,
                took: Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX)),
                calls: called.calls,
                retries: called.retries,
            };
            let owner = self.calling.owner();
            self.change(id, |story| calls::tool_ended(story, &ended, owner, &*self.clock)).await?;
        }
    }
}
