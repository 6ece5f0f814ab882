//! Drives a stored run: hands out one step at a time, checks and keeps what comes back, and waits
//! for a person where one is asked.
//!
//! What may follow what is the run's to say, what is kept is the store's. A reply is made of the
//! log up to the end of the call that it answers, so the same call again gets the same reply.
//! Protocols are not known here: a person is reached through [`Asker`], tools through the port of the
//! room that drives direct executions.

#![warn(clippy::wildcard_enum_match_arm)]

mod asking;
mod calls;
mod direct;
mod error;
mod handing;
mod known;
mod models;
mod tools;

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::execute::{ToolProgress, Tools};
use crate::plan::Plan;
use crate::run::{
    Beginning, Entry, Escalation, EscalationId, ExecutionId, Given, Guided, Limits, Moment, Outcome, Rules, Ticket, Way,
};
use crate::store::{Appended, Store, Summary};

use direct::Driven;
pub use direct::{DirectLog, Resumption, TakenUp};
pub use error::GuideError;
use handing::hand_out;
use known::KnownExecutions;
pub use models::ModelSteps;
use tools::ToolCaller;

/// How long a person, or a tool, is waited for within one call; some clients drop calls after 60
/// seconds.
pub const PATIENCE: Duration = Duration::from_secs(45);
/// How often a call is decided anew because another one was faster, before it gives up.
const TRIES: usize = 50;

/// A question to a person, with where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The flow's name.
    pub flow: String,
    /// The step's label.
    pub step: String,
    /// The question.
    pub escalation: Escalation,
}

/// What a person answers, or that nobody did.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Value, NoAnswer>> + Send + 'a>>;

/// Why a person gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoAnswer {
    /// The person saw the questions, and declined to answer.
    Declined,
    /// The person saw the questions, and closed them without an answer.
    Closed,
    /// The person did not see them, or has not answered yet.
    None,
}

/// Somebody who can put questions to a person at once.
pub trait Asker: Send + Sync {
    /// Asks. Dropping the answer takes the question back.
    fn ask<'a>(&'a self, asked: &'a Asked) -> Answering<'a>;
}

/// What is to be carried out.
#[derive(Debug, Clone)]
pub struct Order {
    /// The plan.
    pub plan: Arc<Plan>,
    /// What the caller gives.
    pub given: Given,
    /// What the whole is for.
    pub task: Option<String>,
    /// Branch, tag or commit of the flow; none for a folder.
    pub git_ref: Option<String>,
    /// The commit; none for a folder.
    pub commit: Option<String>,
    /// The catalog of the flow, by the name under which uses of it count.
    pub source: String,
}

/// What closes a step.
#[derive(Debug, Clone)]
pub struct Closure {
    /// The step's ticket.
    pub ticket: Ticket,
    /// What is handed in.
    pub output: Option<Value>,
    /// How it went.
    pub outcome: Outcome,
    /// The id of the step to go on with, where several are ready.
    pub next: Option<String>,
}

/// What a person is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The ticket of the step that can't go on.
    pub ticket: Ticket,
    /// Why.
    pub reason: String,
    /// The questions.
    pub questions: Vec<String>,
    /// What the person should know.
    pub context: Option<Value>,
}

/// An execution right after a call, and what the call did.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// The execution, as of the end of that call.
    pub guided: Guided,
    /// What the call did.
    pub done: Deed,
    /// Whether whoever is answered may not know the persona and the rules: a new process may serve a new
    /// conversation, and so does who brings a person's answers.
    pub anew: bool,
    /// What a person did who was asked within the call, and gave no answer.
    pub no_answer: NoAnswer,
}

impl Turn {
    /// An execution right after a call, for somebody who knows it.
    pub(super) fn of(guided: Guided, done: Deed) -> Self {
        Self { guided, done, anew: false, no_answer: NoAnswer::None }
    }

    /// The question with which the call ended, where a person has not answered it.
    pub fn asked(&self) -> Option<Asked> {
        match &self.done {
            Deed::Asked(id) => Asked::of(&self.guided, id),
            Deed::Began
            | Deed::Closed { .. }
            | Deed::Answered(_)
            | Deed::Cancelled
            | Deed::Called { .. }
            | Deed::Taken { .. } => None,
        }
    }
}

/// What a call did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// It began the execution.
    Began,
    /// It closed a step.
    Closed {
        /// The step.
        step: usize,
    },
    /// It asked a person, who is awaited.
    Asked(EscalationId),
    /// It brought a person's answers.
    Answered(EscalationId),
    /// It cancelled the execution.
    Cancelled,
    /// The server did a step, or took that over from a process that is gone.
    Called {
        /// The step.
        step: usize,
    },
    /// This process does the steps of a direct execution from now on.
    Taken {
        /// Steps that were begun before, did not end, and are begun again.
        again: Vec<usize>,
    },
}

/// An execution with its log.
#[derive(Debug, Clone, PartialEq)]
pub struct Story {
    /// The log.
    pub entries: Vec<Entry>,
    /// What it says.
    pub guided: Guided,
}

/// What a call comes to, given the log.
enum Decision {
    /// It was made before: the reply is rebuilt from the log.
    Before(Box<Turn>),
    /// These moments are added; what is told then.
    Now(Vec<Moment>, Result<Deed, GuideError>),
}

/// Drives stored runs.
#[derive(Clone)]
pub struct Guide {
    store: Store,
    clock: Arc<dyn Clock>,
    patience: Duration,
    known: Arc<KnownExecutions>,
    on_end: Option<OnEnd>,
    on_news: Option<OnNews>,
    calling: ToolCaller,
    driven: Driven,
}

/// Told of each execution that comes to its end, once, by the process that brings it there.
pub type OnEnd = Arc<dyn Fn(&Guided) + Send + Sync>;

/// How tool steps go while a call waits for them.
#[derive(Debug, Clone, PartialEq)]
pub struct News {
    /// Steps that have ended.
    pub ended: usize,
    /// All steps.
    pub steps: usize,
    /// The label of the step whose tool is called.
    pub label: String,
    /// What the call says of itself; none where it begins.
    pub call: Option<ToolProgress>,
}

/// Told how tool steps go while a call waits for them.
pub type OnNews = Arc<dyn Fn(&News) + Send + Sync>;

impl Guide {
    /// Over a store.
    pub fn new(store: Store, clock: Arc<dyn Clock>) -> Self {
        let calling = ToolCaller::of(&store, &*clock);
        Self {
            store,
            clock,
            patience: PATIENCE,
            known: Arc::default(),
            on_end: None,
            on_news: None,
            calling,
            driven: Driven::default(),
        }
    }

    /// The same, waiting for a person or a tool within a call as long as this.
    #[must_use]
    #[cfg(feature = "internals")]
    pub fn patient(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// The same, telling of executions that come to their end.
    #[must_use]
    pub fn telling_ends(self, on_end: OnEnd) -> Self {
        Self { on_end: Some(on_end), ..self }
    }

    /// The same, telling how tool steps go that its calls wait for.
    #[must_use]
    pub fn telling_news(self, on_news: Option<OnNews>) -> Self {
        Self { on_news, ..self }
    }

    /// The same, calling tools by these.
    #[must_use]
    pub fn calling(self, tools: Arc<dyn Tools>) -> Self {
        Self { calling: self.calling.by(tools), ..self }
    }

    /// The same, where models of the operator's answer the steps whose nodes name one.
    #[must_use]
    pub fn answering(self, models: Arc<dyn ModelSteps>) -> Self {
        Self { calling: self.calling.with_models(models), ..self }
    }

    /// Calls no tool any more, and lets go of what is being called, by guided and by direct executions: whoever
    /// goes on with those executions sees to them.
    pub fn stop_calling(&self) {
        self.calling.stop();
        self.driven.stop();
    }

    /// Where executions are kept.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Begins an execution under an id that `name` makes, and hands out its first step.
    ///
    /// # Errors
    /// When values are missing or don't fit, or the execution can't be kept.
    pub async fn begin(
        &self,
        order: Order,
        name: &(dyn Fn() -> ExecutionId + Send + Sync),
    ) -> Result<Turn, GuideError> {
        order.given.check(order.plan.terms())?;
        for _ in 0..TRIES {
            let beginning = Beginning {
                id: name(),
                way: Way::Guided,
                rules: Rules::NEWEST,
                // Walked over as it is stored: with every flow within it unfolded.
                plan: order.plan.clone().unfolded(),
                given: order.given.clone(),
                task: order.task.clone(),
                limits: Limits::default(),
                git_ref: order.git_ref.clone(),
                commit: order.commit.clone(),
                source: Some(order.source.clone()),
                models: Vec::new(),
                answers: None,
            };
            let id = beginning.id.clone();
            let first = Entry::new(self.clock.now(), Moment::Begun(Arc::new(beginning)));
            let mut guided = Guided::begin(&first).map_err(|misfit| GuideError::Torn { id: id.clone(), misfit })?;
            let mut entries = vec![first];
            for moment in hand_out(&guided, None, self.calling.server(), &*self.clock) {
                self.live(&mut guided, &mut entries, moment)?;
            }
            self.calling.be_there(&guided)?;
            if self.store.begin(entries.clone(), Summary::of(&guided)).await? == Appended::Kept {
                self.known.keep(Story { entries, guided: guided.clone() });
                self.known.tell(&id);
                let begun = Turn::of(guided, Deed::Began);
                // It has begun, whatever became of its first tool steps: what can't be read now is
                // asked for again.
                return Ok(self.carry_on(begun.clone()).await.unwrap_or(begun));
            }
        }
        Err(GuideError::Crowded)
    }

    /// Closes the open step and hands out the next.
    ///
    /// # Errors
    /// A ticket that is not that of the open step, an output that does not meet the contract, a
    /// person who is awaited; then the step stays as it is.
    pub async fn complete(&self, id: &ExecutionId, closure: &Closure) -> Result<Turn, GuideError> {
        let server = self.calling.server();
        let turn = self.change(id, |story| calls::complete(story, closure, server, &*self.clock)).await?;
        Ok(Turn { anew: self.known.tell(id), ..self.carry_on(turn).await? })
    }

    /// Hands the open step to a person, and where there is an asker waits a while for the answers.
    ///
    /// # Errors
    /// As [`Guide::complete`], without a contract.
    pub async fn escalate(
        &self,
        id: &ExecutionId,
        question: &Question,
        asker: Option<Arc<dyn Asker>>,
    ) -> Result<Turn, GuideError> {
        let fresh = EscalationId::fresh(self.clock.fresh(), self.clock.fresh());
        let turn = self.change(id, |story| calls::escalate(story, question, &fresh)).await?;
        let (Some(asker), Deed::Asked(escalation)) = (asker, &turn.done) else {
            return Ok(Turn { anew: matches!(turn.done, Deed::Answered(_)), ..turn });
        };
        let Some(asked) = Asked::of(&turn.guided, escalation) else { return Ok(turn) };
        // Whoever takes the call back takes the question back; one that is only slow to be answered stays.
        let taken_back = CancellationToken::new();
        let guard = taken_back.clone().drop_guard();
        let mut answering = tokio::spawn(self.clone().ask(id.clone(), asked, asker, taken_back));
        let answered = tokio::time::timeout(self.patience, &mut answering).await;
        guard.disarm();
        match answered {
            Ok(Ok(Ok(answered))) => answered,
            Ok(Ok(Err(no_answer))) => Ok(Turn { no_answer, ..turn }),
            // Not in time, or whoever asked broke.
            Ok(Err(_)) | Err(_) => Ok(turn),
        }
    }

    /// Brings a person's answers: the same step goes on, under a new ticket. Without an id they
    /// answer what is being asked.
    ///
    /// # Errors
    /// When nobody is awaited under that id.
    pub async fn resume(
        &self,
        id: &ExecutionId,
        escalation: Option<&EscalationId>,
        answers: &Value,
    ) -> Result<Turn, GuideError> {
        let server = self.calling.server();
        let turn = self.change(id, |story| calls::resume(story, escalation, answers, server, &*self.clock)).await?;
        self.known.tell(id);
        Ok(Turn { anew: true, ..self.carry_on(turn).await? })
    }

    /// Cancels an execution.
    ///
    /// # Errors
    /// When it has come to its end already.
    pub async fn cancel(&self, id: &ExecutionId, reason: Option<&str>) -> Result<Turn, GuideError> {
        let turn = self.change(id, |story| calls::cancel(story, reason)).await?;
        self.calling.cancel(id);
        self.driven.cancel(id);
        Ok(turn)
    }

    /// An execution with its log; changes nothing.
    ///
    /// # Errors
    /// When there is none of that id, or its log can't be read.
    pub async fn story(&self, id: &ExecutionId) -> Result<Story, GuideError> {
        let story = self.read(id).await?;
        self.known.keep(story.clone());
        Ok(self.as_seen(story))
    }

    /// The same, by somebody who goes on with it: where the process that called a tool is gone, the
    /// call is made again or a person is asked, which only changes the log if it can be written.
    ///
    /// # Errors
    /// As [`Guide::story`].
    pub async fn attended(&self, id: &ExecutionId) -> Result<Story, GuideError> {
        let story = self.story(id).await?;
        self.known.tell(id);
        match self.take_over(&story).await {
            Ok(true) => self.story(id).await,
            Ok(false) => Ok(story),
            Err(error) => {
                tracing::warn!(execution = %id, %error, "a tool's call could not be taken over");
                Ok(story)
            }
        }
    }

    /// The same, and waits a while for what the server does in it, here or in another process.
    ///
    /// # Errors
    /// As [`Guide::story`].
    pub async fn awaited(&self, id: &ExecutionId) -> Result<Turn, GuideError> {
        let story = self.attended(id).await?;
        if story.guided.handed().is_some() || story.guided.asked().is_some() || story.guided.state().ended() {
            return Ok(Turn::of(story.guided, Deed::Began));
        }
        let turn = self.carry_on(Turn::of(story.guided.clone(), Deed::Began)).await?;
        if turn.guided.entries() == story.guided.entries() {
            // Another process is at it, or has not seen to it yet.
            tokio::time::sleep(tools::LOOK).await;
            return Ok(Turn::of(self.story(id).await?.guided, Deed::Began));
        }
        Ok(turn)
    }

    /// An execution as its log says it now; of one that is known, only what is new is read.
    async fn read(&self, id: &ExecutionId) -> Result<Story, GuideError> {
        if let Some(known) = self.known.take(id)
            && let Some(story) = self.gone_on(id, known).await?
        {
            return Ok(story);
        }
        let entries = self.store.log(id).await?.ok_or_else(|| GuideError::NotFound { id: id.clone() })?;
        let guided = Guided::replay(&entries).map_err(|misfit| GuideError::Torn { id: id.clone(), misfit })?;
        Ok(Story { entries, guided })
    }

    /// What is known, with what came since; none where the file no longer goes on from there, as when
    /// an older copy was put in its place.
    async fn gone_on(&self, id: &ExecutionId, mut known: Story) -> Result<Option<Story>, GuideError> {
        // From the last one that is known, which has to be there as it is known: tickets in it are
        // like no others.
        let before = known.entries.len().saturating_sub(1);
        let Some(read) = self.store.since(id, before).await? else {
            return Err(GuideError::NotFound { id: id.clone() });
        };
        let mut read = read.into_iter();
        if read.next().as_ref() != known.entries.last() {
            return Ok(None);
        }
        for entry in read {
            if known.guided.apply(&entry).is_err() {
                return Ok(None);
            }
            known.entries.push(entry);
        }
        Ok(Some(known))
    }

    /// Decides on what the log says, and adds to it unless somebody else did so meanwhile: then it
    /// is decided anew. What is known of the log is believed as long as something is to be added,
    /// for that only works if it is true; a refusal or an old reply is decided on what was read.
    async fn change(
        &self,
        id: &ExecutionId,
        decide: impl Fn(&Story) -> Result<Decision, GuideError> + Send + Sync,
    ) -> Result<Turn, GuideError> {
        let mut known = self.known.take(id);
        for _ in 0..TRIES {
            let believed = known.is_some();
            let mut story = match known.take() {
                Some(known) => known,
                None => self.read(id).await?,
            };
            let after = story.entries.len();
            let decided = decide(&story);
            if believed && !matches!(decided, Ok(Decision::Now(..))) {
                self.known.keep(story);
                continue;
            }
            let (moments, told) = match decided {
                Ok(Decision::Now(moments, told)) => (moments, told),
                Ok(Decision::Before(turn)) => {
                    self.known.keep(story);
                    return Ok(*turn);
                }
                Err(refused) => {
                    self.known.keep(story);
                    return Err(refused);
                }
            };
            let Some(last) = story.entries.last().cloned() else { continue };
            let had_ended = story.guided.state().ended();
            for moment in moments {
                self.live(&mut story.guided, &mut story.entries, moment)?;
            }
            self.calling.be_there(&story.guided)?;
            let added = story.entries.iter().skip(after).cloned().collect();
            if self.store.append((after, last), added, Summary::of(&story.guided)).await? == Appended::Kept {
                let guided = story.guided.clone();
                self.known.keep(story);
                if let Some(on_end) = self.on_end.as_ref().filter(|_| !had_ended && guided.state().ended()) {
                    on_end(&guided);
                }
                return told.map(|done| Turn::of(guided, done));
            }
        }
        Err(GuideError::Crowded)
    }

    fn live(&self, guided: &mut Guided, entries: &mut Vec<Entry>, moment: Moment) -> Result<(), GuideError> {
        // Clocks of several processes may differ; a log's times never run backwards.
        let entry = Entry::new(self.clock.now().max(guided.updated_at()), moment);
        let id = guided.beginning().id.clone();
        guided.apply(&entry).map_err(|misfit| GuideError::Torn { id, misfit })?;
        entries.push(entry);
        Ok(())
    }
}
