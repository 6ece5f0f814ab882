//! Direct executions that are stored: the server does their steps, and their log is written as they go.
//!
//! One process at a time does the steps of one. What a step gave that reaches outside the program is on
//! the disk before anything that waits for it begins; what is only rendered goes there with the next of
//! those, for it is the same when it is done over. When the process is gone, another one can go on: what had
//! begun and not ended is begun again where that does no harm, else a person is asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::handing::{deeper_than, internal};
use super::tools::LOOK;
use super::{Decision, Deed, Guide, GuideError, Story, Turn, calls};
use crate::clock::Clock;
use crate::code::Code;
use crate::execute::{Carried, Happening, Keeper, Keeping};
use crate::lock::lock;
use crate::model::Generated;
use crate::run::{
    Beginning, Entry, EscalationId, ExecutionId, Guided, GuidedState, Moment, Output, Run, StepError, StoredEnd,
};
use crate::store::{Appended, Retention, Store, StoreError, Summary};

/// How deep an output's fields may lie in each other, so that its entry can be read again.
const DEEPEST: usize = 120;
/// A wait for a limit that is shorter is over before anybody could look, and is not kept.
const SHORTEST_WAIT: TimeDelta = TimeDelta::seconds(1);

/// The end of a wait as it is kept; none where it is not.
pub(super) fn kept_wait(until: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    until.filter(|until| *until - now >= SHORTEST_WAIT).map(|until| until.trunc_subsecs(6))
}

/// What a step took that failed, where that is not nothing.
pub(super) fn paid(error: &StepError) -> Option<&Arc<Generated>> {
    error.generated.as_ref().filter(|generated| generated.finish.is_some() && !generated.stored)
}

/// A direct execution whose steps this process does.
pub struct TakenUp {
    /// Where it stands.
    pub run: Run,
    /// What was kept of it before.
    pub carried: Carried,
    /// Steps that were begun before, did not end, and are begun again.
    pub again: Vec<usize>,
    /// Writes its log.
    pub log: DirectLog,
    /// Cancelled when somebody cancels the execution, or this process ends.
    pub cancel: CancellationToken,
}

/// What came of wanting to go on with a direct execution.
pub enum Resumption {
    /// This process goes on with it.
    Going(Box<TakenUp>),
    /// It has ended, or a person is asked first.
    Standing(Box<Story>),
}

/// The direct executions whose steps this process does.
#[derive(Clone, Default)]
pub(super) struct Driven {
    going: Arc<Mutex<HashMap<ExecutionId, (u64, CancellationToken)>>>,
    over: CancellationToken,
}

impl Driven {
    /// Lists an execution, until what is given back is dropped.
    fn list(&self, id: &ExecutionId, number: u64) -> (ListedRun, CancellationToken) {
        let cancel = self.over.child_token();
        lock(&self.going).insert(id.clone(), (number, cancel.clone()));
        (ListedRun { driven: self.clone(), id: id.clone(), number }, cancel)
    }

    fn has(&self, id: &ExecutionId) -> bool {
        lock(&self.going).contains_key(id)
    }

    /// Ends what is being done for an execution.
    pub(super) fn cancel(&self, id: &ExecutionId) {
        if let Some((_, cancel)) = lock(&self.going).get(id) {
            cancel.cancel();
        }
    }

    /// Ends everything, and begins nothing more.
    pub(super) fn stop(&self) {
        self.over.cancel();
    }
}

/// The log of a direct execution, written by the one process that does its steps.
#[derive(Clone)]
pub struct DirectLog {
    id: ExecutionId,
    store: Store,
    clock: Arc<dyn Clock>,
    standing: Arc<Mutex<Standing>>,
    /// Held while something is written.
    writing: Arc<tokio::sync::Mutex<()>>,
    _listed: Arc<ListedRun>,
}

/// Takes an execution off the list when nobody writes its log any more, unless it is on it anew.
struct ListedRun {
    driven: Driven,
    id: ExecutionId,
    number: u64,
}

impl Drop for ListedRun {
    fn drop(&mut self) {
        let mut going = lock(&self.driven.going);
        if going.get(&self.id).is_some_and(|(number, _)| *number == self.number) {
            going.remove(&self.id);
        }
    }
}

struct Standing {
    guided: Guided,
    /// How many entries are on the disk, and the last of them.
    kept: usize,
    last: Entry,
    /// Entries that are not there yet.
    pending: Vec<Entry>,
    /// Why nothing more is written.
    over: Option<StepError>,
}

impl Guide {
    /// Begins a direct execution whose steps this process does, and keeps its beginning.
    ///
    /// # Errors
    /// When it can't be kept.
    pub async fn begin_direct(&self, beginning: Beginning, keep: Retention) -> Result<TakenUp, GuideError> {
        let id = beginning.id.clone();
        let beginning = Beginning { plan: beginning.plan.unfolded(), ..beginning };
        let first = Entry::new(self.clock.now(), Moment::Begun(Arc::new(beginning)));
        let mut guided = Guided::begin(&first).map_err(|misfit| GuideError::Torn { id: id.clone(), misfit })?;
        let mut entries = vec![first];
        self.live(&mut guided, &mut entries, Moment::Taken { driver: self.calling.owner().to_owned() })?;
        self.calling.be_there(&guided)?;
        if self.store.begin(entries.clone(), Summary::of(&guided)).await? == Appended::Outrun {
            return Err(GuideError::Crowded);
        }
        // What is too old is a matter of the next time, where it can't be forgotten now.
        if let Err(error) = self.store.retain(keep, self.clock.now()).await {
            tracing::warn!(%error, "executions that are too old could not be forgotten");
        }
        Ok(self.taken_up(Story { entries, guided }, Vec::new()))
    }

    /// Goes on with a direct execution that was interrupted, after a person's answers if there are any.
    ///
    /// # Errors
    /// When it is a guided one (`Missing("answers")`), was cancelled, a process does its steps, nobody is awaited
    /// under that id, or it can't be read or kept.
    pub async fn take_up(
        &self,
        id: &ExecutionId,
        answers: Option<(Option<&EscalationId>, &Value)>,
    ) -> Result<Resumption, GuideError> {
        if let Some((escalation, answers)) = answers {
            let server = self.calling.server();
            self.change(id, |story| calls::resume(story, escalation, answers, server, &*self.clock)).await?;
        }
        let turn = self.change(id, |story| self.taking(story)).await?;
        let story = self.read(id).await?;
        self.known.keep(story.clone());
        let Deed::Taken { again } = turn.done else { return Ok(Resumption::Standing(Box::new(story))) };
        Ok(Resumption::Going(Box::new(self.taken_up(story, again))))
    }

    fn taken_up(&self, story: Story, again: Vec<usize>) -> TakenUp {
        let Story { entries, guided } = story;
        let id = guided.beginning().id.clone();
        let (listed, cancel) = self.driven.list(&id, self.clock.fresh());
        let (calls, retries) = guided.called();
        let carried = Carried { noticed: guided.noticed().clone(), took: guided.driven(), calls, retries };
        let run = guided.run().clone();
        // A log is never empty; an entry that is not there would only keep anything from being added.
        let last =
            entries.last().cloned().unwrap_or_else(|| Entry::new(self.clock.now(), Moment::Cancelled { reason: None }));
        let standing = Standing { guided, kept: entries.len(), last, pending: Vec::new(), over: None };
        let log = DirectLog {
            store: self.store.clone(),
            clock: self.clock.clone(),
            standing: Arc::new(Mutex::new(standing)),
            writing: Arc::default(),
            _listed: Arc::new(listed),
            id,
        };
        TakenUp { run, carried, again, log, cancel }
    }

    /// What going on comes to, given the log.
    fn taking(&self, story: &Story) -> Result<Decision, GuideError> {
        let guided = &story.guided;
        if !guided.is_direct() {
            return Err(GuideError::Missing("answers"));
        }
        if guided.cancelled().is_some() {
            return Err(GuideError::Cancelled);
        }
        let standing = |done| Ok(Decision::Before(Box::new(Turn::of(guided.clone(), done))));
        if guided.state().ended() {
            return standing(Deed::Began);
        }
        if let Some(asked) = guided.asked() {
            return standing(Deed::Asked(asked.clone()));
        }
        if let Some(driver) = guided.driver() {
            let here = driver == self.calling.owner();
            if (here && self.driven.has(&guided.beginning().id)) || (!here && self.calling.is_there(driver)) {
                return Err(GuideError::BeingDone { here });
            }
        }
        let unsettled = guided.unfinished().iter().filter(|begun| !begun.again);
        let unsettled = unsettled.filter(|begun| !self.calling.harmless(guided, begun.step));
        let fresh = || EscalationId::fresh(self.clock.fresh(), self.clock.fresh());
        let asking: Vec<Moment> = unsettled.map(|begun| calls::unknown(story, begun.step, fresh())).collect();
        if let Some(Moment::ToolAsked { id, .. }) = asking.first() {
            let done = Deed::Asked(id.clone());
            return Ok(Decision::Now(asking, Ok(done)));
        }
        // What waited for a limit was not under way.
        let again = guided.unfinished().iter().filter(|begun| begun.waits.is_none()).map(|begun| begun.step).collect();
        let taken = Moment::Taken { driver: self.calling.owner().to_owned() };
        Ok(Decision::Now(vec![taken], Ok(Deed::Taken { again })))
    }

    /// The same story, where it is known that the process is gone that did the steps of a direct execution.
    pub(super) fn as_seen(&self, story: Story) -> Story {
        match story.guided.driver() {
            Some(driver) if !self.calling.is_there(driver) => Story { guided: story.guided.without_driver(), ..story },
            Some(_) | None => story,
        }
    }
}

impl DirectLog {
    /// Keeps what was noted last, also where something could not be kept before.
    ///
    /// # Errors
    /// When it can't be kept: then the log says less than happened.
    pub async fn end(&self) -> Result<(), StepError> {
        {
            let mut standing = lock(&self.standing);
            standing.over.take_if(|over| over.code == Code::StoreError);
        }
        self.kept().await
    }

    /// Whether it stopped before its end, and can be gone on with.
    pub fn is_interrupted(&self) -> bool {
        lock(&self.standing).guided.state() == GuidedState::Interrupted
    }

    /// When the limit is over that all of it waits for.
    pub fn resumes_at(&self) -> Option<DateTime<Utc>> {
        lock(&self.standing).guided.resumes_at()
    }

    /// Takes in that a step waits for a limit, or no longer does, and keeps it soon; nothing is kept of what is
    /// known.
    pub fn waits(&self, step: usize, until: Option<DateTime<Utc>>, spent: Option<&Arc<Generated>>) {
        let until = kept_wait(until, self.clock.now());
        {
            let standing = lock(&self.standing);
            let known = standing.guided.unfinished().iter().find(|begun| begun.step == step);
            if known.is_none_or(|begun| begun.waits == until && spent.is_none()) {
                return;
            }
        }
        self.take_in(Moment::Waits { step, until, spent: spent.cloned() });
        let log = self.clone();
        // Where it can't be written now, it is with what comes next.
        tokio::spawn(async move { drop(log.write().await) });
    }

    /// Waits until somebody else has cancelled the execution, forgotten it, or goes on with it.
    pub async fn called_off(&self) {
        loop {
            tokio::time::sleep(LOOK).await;
            let _turn = self.writing.lock().await;
            let kept = lock(&self.standing).kept;
            match self.store.since(&self.id, kept).await {
                Ok(Some(more)) if more.is_empty() => {}
                // What can't be read now is looked at again.
                Err(_) => {}
                Ok(_) => return,
            }
        }
    }

    fn take_in(&self, moment: Moment) {
        let mut standing = lock(&self.standing);
        let at = self.clock.now().max(standing.guided.updated_at());
        let entry = Entry::new(at, moment);
        match standing.guided.apply(&entry) {
            Ok(()) => standing.pending.push(entry),
            // Once it is over, what happens no longer follows from what was kept.
            Err(_) if standing.over.is_some() => {}
            Err(misfit) => {
                let error = internal(&*self.clock, &format!("the log of {} makes no sense: {misfit}", self.id));
                standing.over = Some(error);
            }
        }
    }

    async fn write(&self) -> Result<(), StepError> {
        let _turn = self.writing.lock().await;
        let (before, entries, summary) = {
            let standing = lock(&self.standing);
            if let Some(over) = &standing.over {
                return Err(over.clone());
            }
            if standing.pending.is_empty() {
                return Ok(());
            }
            let before = (standing.kept, standing.last.clone());
            (before, standing.pending.clone(), Summary::of(&standing.guided))
        };
        let (added, last) = (entries.len(), entries.last().cloned());
        let after = before.0;
        let error = match self.store.append(before, entries, summary).await {
            Ok(Appended::Kept) => {
                let mut standing = lock(&self.standing);
                standing.kept += added;
                standing.pending.drain(..added);
                standing.last = last.unwrap_or_else(|| standing.last.clone());
                return Ok(());
            }
            Ok(Appended::Outrun) => self.outrun(after).await,
            Err(error) => unkept(&error),
        };
        lock(&self.standing).over = Some(error.clone());
        Err(error)
    }

    /// Why the log is no longer ours to write.
    async fn outrun(&self, after: usize) -> StepError {
        match self.store.since(&self.id, after).await {
            Ok(Some(more)) if more.iter().any(|entry| matches!(entry.moment, Moment::Cancelled { .. })) => {
                StepError::new(Code::Cancelled, "the execution was cancelled")
            }
            Ok(Some(_)) => StepError::new(Code::Cancelled, "another process goes on with the execution"),
            Ok(None) => StepError::new(Code::Cancelled, "the execution was deleted"),
            Err(error) => unkept(&error),
        }
    }
}

fn unkept(error: &StoreError) -> StepError {
    tracing::error!(%error, "the store failed");
    StepError::new(Code::StoreError, format!("what the steps give can't be kept: {error}"))
}

impl Keeper for DirectLog {
    fn unkeepable(&self, output: &Output) -> Option<StepError> {
        let deep = output.value.as_deref().is_some_and(|value| deeper_than(value, DEEPEST));
        deep.then(|| {
            let message = format!("the output is nested too deeply to be kept: {DEEPEST} levels are allowed");
            StepError::new(Code::LimitExceeded, message)
        })
    }

    fn note(&self, happening: Happening<'_>) {
        self.take_in(match happening {
            Happening::PutOff { step, until, error } => return self.waits(step, Some(until), paid(error)),
            Happening::Started { step } => Moment::StepStarted { step },
            Happening::Ended { step, result, warnings, took, calls, retries } => {
                let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
                let end = StoredEnd {
                    result: result.clone(),
                    warnings: warnings.to_vec(),
                    took: Duration::from_micros(micros),
                    calls,
                    retries,
                };
                Moment::StepEnded { step, end }
            }
            Happening::LeftOut { step, why } => Moment::LeftOut { step, why: why.to_owned() },
            // What a model took belongs to its step.
            Happening::Stopped { error } => Moment::Interrupted { error: StepError::new(error.code, &*error.message) },
        });
    }

    fn kept(&self) -> Keeping<'_> {
        let log = self.clone();
        Box::pin(async move {
            // On a task of its own: what is being written must be known to be written, whoever waits for it.
            let written = tokio::spawn(async move { log.write().await }).await;
            written.unwrap_or_else(|_| Err(internal(&*self.clock, "writing a log was broken off")))
        })
    }
}
