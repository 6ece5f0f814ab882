//! Steps that call tools, or that a model of the operator's answers: the server does them between the model's, in the
//! background.
//!
//! That a tool is called is kept before it is called, with the process that calls. So of several
//! processes one calls; and when that one is gone, another sees it, and makes the call again where the
//! tool says that this does no harm, else asks a person. A person is asked as well where the tool's server
//! could not be reached: it may be back in a moment, and what was done before is not lost. What a call gave and could not be kept at once
//! is kept later: while its process lives, no call is made twice.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::direct::{kept_wait, paid};
use super::handing::internal;
use super::models::{ModelSteps, NoModels, Server};
use super::{Guide, GuideError, News, Story, Turn, calls};
use crate::clock::Clock;
use crate::execute::{NoTools, OnToolProgress, Tools, Worked};
use crate::lock::lock;
use crate::model::{Generated, ToolLookup};
use crate::plan::{Step, Work};
use crate::run::{EscalationId, ExecutionId, Guided, Moment, StepError, StoredEnd, ToolAtWork};
use crate::store::{Presence, Store, StoreError};

/// How often it is looked whether a call or an answer is still wanted: another process may have seen to it.
pub(super) const LOOK: Duration = Duration::from_millis(500);

/// Who calls tools for this process's executions, and which of them are at it.
#[derive(Clone)]
pub(super) struct ToolCaller {
    pub(super) tools: Arc<dyn Tools>,
    pub(super) models: Arc<dyn ModelSteps>,
    presence: Arc<Presence>,
    under_way: Arc<Mutex<HashMap<ExecutionId, CallsUnderWay>>>,
    /// What calls came to that could not be kept yet.
    unkept: Arc<Mutex<HashMap<ExecutionId, Moment>>>,
    /// Cancelled when this process calls no more.
    over: CancellationToken,
}

/// An execution whose tool steps are being done.
struct CallsUnderWay {
    cancel: CancellationToken,
    standing: watch::Receiver<CallsStanding>,
}

/// How the tool steps of an execution go.
#[derive(Debug, Default)]
struct CallsStanding {
    news: Option<News>,
    /// That they are over, for now.
    over: Option<Result<(), GuideError>>,
}

/// Takes an execution off the list when its tool steps are over, also when something broke.
struct ListedCall<'a>(&'a ToolCaller, &'a ExecutionId);

impl Drop for ListedCall<'_> {
    fn drop(&mut self) {
        lock(&self.0.under_way).remove(self.1);
    }
}

impl ToolCaller {
    pub(super) fn of(store: &Store, clock: &dyn Clock) -> Self {
        let state = store.file().parent().unwrap_or(store.file());
        let name = format!("{:016x}{:016x}", clock.fresh(), clock.fresh());
        Self {
            tools: Arc::new(NoTools),
            models: Arc::new(NoModels),
            presence: Arc::new(Presence::new(state, name)),
            under_way: Arc::default(),
            unkept: Arc::default(),
            over: CancellationToken::new(),
        }
    }

    pub(super) fn by(self, tools: Arc<dyn Tools>) -> Self {
        Self { tools, ..self }
    }

    pub(super) fn with_models(self, models: Arc<dyn ModelSteps>) -> Self {
        Self { models, ..self }
    }

    /// What handing out steps has to know.
    pub(super) fn server(&self) -> Server<'_> {
        Server { owner: self.owner(), models: &*self.models }
    }

    /// The name of this process in logs.
    pub(super) fn owner(&self) -> &str {
        self.presence.name()
    }

    /// Lets others see that this process is there, where a log is about to say that it calls.
    pub(super) fn be_there(&self, guided: &Guided) -> Result<(), GuideError> {
        let calls = guided.tool_at_work().is_some_and(|at_work| at_work.owner == self.owner());
        if calls || guided.driver() == Some(self.owner()) {
            self.presence.claim()?;
        }
        Ok(())
    }

    /// Ends what is being called for an execution.
    pub(super) fn cancel(&self, id: &ExecutionId) {
        if let Some(under_way) = lock(&self.under_way).get(id) {
            under_way.cancel.cancel();
        }
        lock(&self.unkept).remove(id);
    }

    /// Ends everything that is being called, and begins nothing more. Logs stay as they are: what
    /// becomes of those calls is seen to by whoever goes on.
    pub(super) fn stop(&self) {
        self.over.cancel();
    }

    /// Waits until nothing more is begun.
    pub(super) async fn stopped(&self) {
        self.over.cancelled().await;
    }

    /// Whether this process is to call, or is calling, a tool for an execution.
    fn ours<'g>(&self, guided: &'g Guided) -> Option<&'g ToolAtWork> {
        guided.tool_at_work().filter(|at_work| at_work.owner == self.owner() && at_work.asks.is_none())
    }

    /// Whether the process of that name is there.
    pub(super) fn is_there(&self, name: &str) -> bool {
        self.presence.is_there(name)
    }

    /// Whether a tool says that calling it again does no harm.
    pub(super) fn harmless(&self, guided: &Guided, step: usize) -> bool {
        // Where no tool is called, a model is asked: its answer changes nothing outside.
        let Some(call) = guided.run().plan().step(step).and_then(Step::calls) else { return true };
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
            // What was at its end when this call began another step is begun anew.
            while let Some(over) = self.over(self.call_in_background(&id)).await {
                over?;
                let story = self.read(&id).await?;
                let more = self.calling.ours(&story.guided).is_some();
                self.known.keep(story);
                if !more {
                    break;
                }
            }
            Ok::<(), GuideError>(())
        };
        if let Ok(waited) = tokio::time::timeout(self.patience, wait).await {
            waited?;
        }
        let story = self.read(&id).await?;
        let guided = story.as_of(story.end_of_call(entries))?;
        self.known.keep(story);
        Ok(Turn::of(guided, turn.done))
    }

    /// How tool steps that are being done come out, telling how they go meanwhile; none where they
    /// were broken off by a fault of ours.
    async fn over(&self, mut standing: watch::Receiver<CallsStanding>) -> Option<Result<(), GuideError>> {
        loop {
            let (news, over) = {
                let now = standing.borrow_and_update();
                (now.news.clone(), now.over.clone())
            };
            if let (Some(on_news), Some(news)) = (&self.on_news, news) {
                on_news(&news);
            }
            if over.is_some() {
                return over;
            }
            standing.changed().await.ok()?;
        }
    }

    /// Sees to a call whose process is gone, or that ours has not begun; says whether the log has
    /// grown by that.
    pub(super) async fn take_over(&self, story: &Story) -> Result<bool, GuideError> {
        let at_work = story.guided.tool_at_work().filter(|at_work| at_work.asks.is_none());
        // Nobody goes on with a direct execution unless he is told to.
        let Some(at_work) = at_work.filter(|_| !story.guided.is_direct()) else { return Ok(false) };
        let id = &story.guided.beginning().id;
        if at_work.owner == self.calling.owner() {
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
    fn call_in_background(&self, id: &ExecutionId) -> watch::Receiver<CallsStanding> {
        let mut under_way = lock(&self.calling.under_way);
        if let Some(known) = under_way.get(id) {
            return known.standing.clone();
        }
        let (tell, standing) = watch::channel(CallsStanding::default());
        let cancel = self.calling.over.child_token();
        under_way.insert(id.clone(), CallsUnderWay { cancel: cancel.clone(), standing: standing.clone() });
        // Whoever waits is told by the channel: it may be somebody else than who began.
        let (guide, id) = (Self { on_news: None, ..self.clone() }, id.clone());
        tokio::spawn(async move {
            let listed = ListedCall(&guide.calling, &id);
            let over = cancel.run_until_cancelled(Box::pin(guide.call_on(&id, &tell))).await.unwrap_or(Ok(()));
            if let Err(error) = &over {
                tracing::warn!(execution = %id, %error, "a tool step could not be kept");
            }
            drop(listed);
            tell.send_modify(|standing| standing.over = Some(over));
        });
        standing
    }

    async fn call_on(&self, id: &ExecutionId, tell: &watch::Sender<CallsStanding>) -> Result<(), GuideError> {
        loop {
            let story = self.read(id).await?;
            let guided = story.guided.clone();
            self.known.keep(story);
            let Some(at_work) = self.calling.ours(&guided) else { return Ok(()) };
            let unkept = lock(&self.calling.unkept).remove(id);
            let ended = match unkept {
                Some(ended) => ended,
                None => match self.call(id, &guided, at_work, tell).await {
                    Some(ended) => ended,
                    None => return Ok(()),
                },
            };
            match self.keep(id, &ended).await {
                Ok(()) => {}
                // Nobody wants it any more.
                Err(GuideError::Cancelled | GuideError::NotFound { .. }) => return Ok(()),
                Err(GuideError::Store(StoreError::Unkeepable(why))) => {
                    let error = internal(&*self.clock, &format!("what the tool gave can't be kept: {why}"));
                    self.keep(id, &failed(ended, error)).await?;
                }
                Err(error) => {
                    lock(&self.calling.unkept).insert(id.clone(), ended);
                    return Err(error);
                }
            }
        }
    }

    /// Keeps what a call came to, and hands out what comes next.
    async fn keep(&self, id: &ExecutionId, ended: &Moment) -> Result<(), GuideError> {
        let server = self.calling.server();
        self.change(id, |story| calls::tool_ended(story, ended, server, &*self.clock)).await.map(drop)
    }

    /// Calls the tool of a step: how that ended, or that a person is asked; none where nobody wants to know
    /// any more.
    async fn call(
        &self,
        id: &ExecutionId,
        guided: &Guided,
        at_work: &ToolAtWork,
        tell: &watch::Sender<CallsStanding>,
    ) -> Option<Moment> {
        let (run, step) = (guided.run(), at_work.step);
        let label = run.plan().step(step).map(|step| step.label.clone()).unwrap_or_default();
        let news = News { ended: run.counts().ended, steps: run.counts().steps, label, call: None };
        tell.send_modify(|standing| standing.news = Some(news.clone()));
        let (tell_wait, mut waits) = watch::channel(at_work.waits);
        let on_call: OnToolProgress = {
            let (tell, clock) = (tell.clone(), self.clock.clone());
            Arc::new(move |progress| {
                let until = kept_wait(progress.until, clock.now());
                tell_wait.send_if_modified(|known| std::mem::replace(known, until) != until);
                let news = News { call: Some(progress), ..news.clone() };
                tell.send_modify(|standing| standing.news = Some(news));
            })
        };
        let begun = self.clock.reading();
        let doing = self.calling.do_step(guided, step, id, on_call);
        let unwanted = self.no_longer_wanted(id, guided.entries());
        tokio::pin!(doing, unwanted);
        let called = loop {
            tokio::select! {
                called = &mut doing => break called?,
                () = &mut unwanted => return None,
                Ok(()) = waits.changed() => {
                    let until = *waits.borrow_and_update();
                    self.keep_wait(id, step, (until, None)).await;
                }
            }
        };
        if called.needs_word
            && let Some(Work::Call(call)) = run.plan().step(step).map(|step| &step.work)
            && let Ok(arguments) = run.arguments(step, call)
        {
            let fresh = EscalationId::fresh(self.clock.fresh(), self.clock.fresh());
            return Some(calls::needs_word(guided, step, Value::Object(arguments), fresh));
        }
        let ask = match &called {
            Worked { in_doubt: true, .. } => Some(calls::in_doubt as fn(&_, _, &_, _) -> _),
            Worked { unreached: true, .. } => Some(calls::unreached as fn(&_, _, &_, _) -> _),
            Worked { put_off: Some(_), .. } => Some(calls::put_off as fn(&_, _, &_, _) -> _),
            _ => None,
        };
        if let (Some(ask), Err(error)) = (ask, &called.result) {
            if let (Some(until), Some(spent)) = (called.put_off, paid(error)) {
                self.keep_wait(id, step, (Some(until), Some(spent))).await;
            }
            let fresh = EscalationId::fresh(self.clock.fresh(), self.clock.fresh());
            return Some(ask(guided, step, error, fresh));
        }
        let micros = self.clock.reading().saturating_sub(begun).as_micros();
        let took = Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX));
        let Worked { result, warnings, calls, retries, .. } = called;
        Some(Moment::ToolEnded { step, end: StoredEnd { result, warnings, took, calls, retries } })
    }

    /// Keeps that a step waits for a limit, or no longer does.
    async fn keep_wait(
        &self,
        id: &ExecutionId,
        step: usize,
        (until, spent): (Option<DateTime<Utc>>, Option<&Arc<Generated>>),
    ) {
        let owner = self.calling.owner();
        let kept = self.change(id, |story| Ok(calls::waits(story, step, (until, spent), owner))).await;
        if let Err(error) = kept {
            tracing::warn!(execution = %id, %error, "that a step waits for a limit could not be kept");
        }
    }

    /// Waits until the log has grown beyond what it was when a call began, or is gone: this process
    /// adds nothing meanwhile but waits, so another one has cancelled the execution, or forgotten it.
    async fn no_longer_wanted(&self, id: &ExecutionId, entries: usize) {
        loop {
            tokio::time::sleep(LOOK).await;
            match self.store.since(id, entries).await {
                Ok(Some(more)) if more.iter().all(|entry| matches!(entry.moment, Moment::Waits { .. })) => {}
                // What can't be read now is looked at again.
                Err(_) => {}
                Ok(_) => return,
            }
        }
    }
}

/// The end of a call, as a failure.
fn failed(ended: Moment, error: StepError) -> Moment {
    let Moment::ToolEnded { step, end } = ended else { return ended };
    Moment::ToolEnded { step, end: StoredEnd { result: Err(error), ..end } }
}
