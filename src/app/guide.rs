//! Guided executions: begun, carried on step by step, escalated, cancelled, pruned.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::{Map, Value, json};

use crate::app::execute::{call_news, refused};
use crate::app::failure::by_listed_name;
use crate::app::{App, Code, Error, OnStep, Origin, StepDone, StepEnd};
use crate::catalog::code_of;
use crate::guide::{Asker, Closure, Guide, GuideError, News, OnNews, Order, Question, Story, Turn};
use crate::model::{Breach, Contract};
use crate::names::{ItemName, quoted};
use crate::next_step::{NextStep, Word};
use crate::run::{ExecutionId, Given, GuidedState, Run, Warning};
use crate::source::remove_kept;
use crate::store::{Filter, ModelBook, StoreError, Summary, Tally, day_of};
use crate::validate::{Finding, Severity};

/// What is to be carried out step by step.
#[derive(Debug, Clone)]
pub struct BeginRequest {
    /// The flow's name.
    pub flow: String,
    /// What the whole is for, in the caller's words.
    pub task: Option<String>,
    /// The values given.
    pub variables: Map<String, Value>,
    /// Branch, tag or commit; none for the source's own.
    pub git_ref: Option<String>,
    /// Ask for the newest state even while a copy is fresh.
    pub refresh: bool,
}

/// An execution that has begun.
#[derive(Debug, Clone)]
pub struct Begun {
    /// How it stands.
    pub turn: Turn,
    /// What the caller should know of the values given.
    pub warnings: Vec<Warning>,
    /// What was noticed about the flow.
    pub findings: Vec<Finding>,
    /// Where the flow comes from.
    pub origin: Origin,
}

/// What a person answered.
#[derive(Debug, Clone)]
pub struct ResumeRequest {
    /// The execution.
    pub execution: String,
    /// What is answered; none for whatever is being asked.
    pub escalation: Option<String>,
    /// The answers; none where a direct execution is only to go on.
    pub answers: Option<Value>,
}

/// Which executions are to be forgotten.
#[derive(Debug, Clone, Default)]
pub struct PruneRequest {
    /// Only those of this flow.
    pub flow: Option<String>,
    /// Only those in these states; without any, those that have ended.
    pub states: Vec<GuidedState>,
    /// Only those that nothing happened to since.
    pub idle_since: Option<DateTime<Utc>>,
    /// Only these.
    pub ids: Vec<String>,
    /// Whether those that have ended were asked for in so many words.
    pub ended: bool,
    /// Whether stored answers of models go, too: all, or those of before `idle_since`.
    pub answers: bool,
    /// Only say which these are.
    pub rehearse: bool,
}

impl PruneRequest {
    /// Whether no executions are meant.
    fn only_answers(&self) -> bool {
        let names_executions = self.flow.is_some() || !self.states.is_empty() || !self.ids.is_empty() || self.ended;
        self.answers && !names_executions
    }
}

/// What was forgotten, or would be.
#[derive(Debug, Clone)]
pub struct Pruned {
    /// The executions.
    pub executions: Vec<Summary>,
    /// How many stored answers of models; none where these were not asked about.
    pub answers: Option<usize>,
    /// Whether nothing was done.
    pub rehearsed: bool,
    /// Whether nothing of them is left in the file.
    pub compact: bool,
}

/// The longest task that is kept, in bytes.
const LONGEST_TASK: usize = 100_000;
/// The most characters of a contract that a failure shows; the step shows it whole.
const CONTRACT_CHARACTERS: usize = 4_000;
/// How many executions are looked at together when some are to be forgotten.
const BATCH: usize = 1_000;

/// What helps against a flow's errors.
fn mending(errors: &[Finding]) -> NextStep {
    let of_servers = errors.iter().filter(|finding| finding.concerns_servers()).count();
    let fix = if of_servers == 0 {
        "fix the file (`flowy validate` shows every place); "
    } else if of_servers == errors.len() {
        "fix the call, or let the operator change the servers file (`flowy validate --servers FILE` shows every place); "
    } else {
        "fix the file, and for calls of tools the file or the operator's servers file (`flowy validate --servers FILE` \
         shows every place); "
    };
    fix + Word::Execute + " runs what can be run"
}

impl App {
    /// Begins a guided execution and hands out its first step. `told` hears how tool steps go that are
    /// done before.
    ///
    /// # Errors
    /// When the flow isn't there or has errors, values are missing, or the execution can't be kept.
    pub async fn begin(&self, request: &BeginRequest, told: Option<&OnStep>) -> Result<Begun, Error> {
        ItemName::new(&request.flow)
            .map_err(|error| Error::invalid(error.to_string()).next(by_listed_name("ask for a flow")))?;
        if request.task.as_ref().is_some_and(|task| task.len() > LONGEST_TASK) {
            return Err(Error::new(Code::LimitExceeded, format!("`task` is longer than {LONGEST_TASK} bytes"))
                .next("say in a few sentences what is to be done"));
        }
        let catalog = self.catalog(request.git_ref.as_deref(), request.refresh).await?;
        let prepared = catalog.prepare(&request.flow).await?;
        let plan = prepared.plan()?.clone();
        let errors: Vec<Finding> =
            prepared.findings.iter().filter(|finding| finding.severity == Severity::Error).cloned().collect();
        if let Some(first) = errors.first() {
            let more = if errors.len() > 1 { format!(" (and {} more)", errors.len() - 1) } else { String::new() };
            let message = format!(
                "flow {} has errors, and a guided execution does not begin on one: {}{more}",
                quoted(&request.flow),
                first.message
            );
            let mut error = Error::new(code_of(errors.iter()), message).next(mending(&errors));
            error.findings = errors;
            return Err(error);
        }
        if plan.steps().is_empty() {
            return Err(Error::new(Code::ValidationError, format!("flow {} has no steps", quoted(&request.flow))));
        }
        let given = Given::read(&request.variables).map_err(|refusal| refused(&request.flow, &refusal))?;
        let origin = catalog.origin_of(&prepared, &request.flow);
        let warnings = Run::rehearse(plan.clone(), given.clone(), crate::run::Limits::default())
            .map_err(|refusal| refused(&request.flow, &refusal))?
            .warnings_about_given();
        let order = Order {
            plan,
            given,
            task: request.task.clone(),
            git_ref: origin.git_ref.clone(),
            commit: origin.commit.clone(),
            source: self.source.key(),
        };
        let name = || ExecutionId::named(&self.execution_id(&request.flow));
        let turn =
            self.guide_telling(told).begin(order, &name).await.map_err(|error| self.told(&request.flow, &error))?;
        tracing::info!(flow = request.flow, execution = %turn.guided.beginning().id, "a guided execution began");
        Ok(Begun { turn, warnings, findings: prepared.findings.clone(), origin })
    }

    /// Closes the open step and hands out the next. `told` hears how tool steps go that are done
    /// between the two.
    ///
    /// # Errors
    /// A token that is not that of the open step, an output that does not meet the contract, a
    /// person who is awaited, or a store that fails.
    pub async fn complete_step(
        &self,
        execution: &str,
        closure: &Closure,
        told: Option<&OnStep>,
    ) -> Result<Turn, Error> {
        let id = ExecutionId::named(&self.execution_named(execution).await?);
        self.guide_telling(told).complete(&id, closure).await.map_err(|error| self.told(id.as_str(), &error))
    }

    /// Waits a while for the steps of a guided execution that the server does, and takes over what a process left
    /// that is gone. `told` hears how they go.
    ///
    /// # Errors
    /// When there is none of that id, or its log can't be read.
    pub async fn wait_for_server(&self, execution: &str, told: Option<&OnStep>) -> Result<Turn, Error> {
        let id = ExecutionId::named(execution);
        self.guide_telling(told).awaited(&id).await.map_err(|error| self.told(execution, &error))
    }

    /// Hands the open step to a person, who is asked at once where that is possible.
    ///
    /// # Errors
    /// As [`App::complete_step`].
    pub async fn escalate(
        &self,
        execution: &str,
        question: &Question,
        asker: Option<Arc<dyn Asker>>,
    ) -> Result<Turn, Error> {
        let id = ExecutionId::named(&self.execution_named(execution).await?);
        self.guide.escalate(&id, question, asker).await.map_err(|error| self.told(id.as_str(), &error))
    }

    /// Cancels a stored execution.
    ///
    /// # Errors
    /// When it has ended otherwise, or the store fails.
    pub async fn cancel(&self, execution: &str, reason: Option<&str>) -> Result<Turn, Error> {
        let execution = &self.execution_named(execution).await?;
        if self.memory.get(execution).is_some() {
            return Err(Error::invalid(format!("execution {} is a direct one: it ends by itself", quoted(execution)))
                .next(
                    Word::Either(
                        "flows_cancel is for executions that are stored: those of flows_begin",
                        "only stored executions can be cancelled: guided ones",
                    ) + ", and those with steps that call tools or ask models",
                ));
        }
        let id = ExecutionId::named(execution);
        self.guide.cancel(&id, reason).await.map_err(|error| self.told(execution, &error))
    }

    /// Lets go of the tools that guided executions are calling, and calls none any more; to be called
    /// before external servers are ended. Else their end would count as the tools' failure.
    pub fn stop_calling(&self) {
        self.guide.stop_calling();
    }

    pub(super) fn guide_telling(&self, told: Option<&OnStep>) -> Guide {
        let on_news = told.cloned().map(|on_step| -> OnNews {
            Arc::new(move |news: &News| {
                let step = StepDone {
                    ended: news.ended,
                    steps: news.steps,
                    label: news.label.clone(),
                    end: StepEnd::Done,
                    skipped: 0,
                    call: None,
                };
                on_step(&step);
                if let Some(progress) = news.call.clone() {
                    on_step(&StepDone { call: Some(call_news(news.label.clone(), progress)), ..step });
                }
            })
        });
        self.guide.clone().telling_news(on_news)
    }

    /// A guided execution with its whole log; changes nothing.
    ///
    /// # Errors
    /// When there is none of that id, or its log can't be read.
    pub async fn story(&self, execution: &str) -> Result<Story, Error> {
        let execution = &self.execution_named(execution).await?;
        let id = ExecutionId::named(execution);
        self.guide.story(&id).await.map_err(|error| self.told(execution, &error))
    }

    /// Forgets executions: those that have ended, unless other states are named. One that waits for a
    /// person goes only when its state or its id is named.
    ///
    /// # Errors
    /// When the store fails, or an id is not known.
    pub async fn prune(&self, request: &PruneRequest) -> Result<Pruned, Error> {
        let answers = if request.answers { Some(self.forget_answers(request).await?) } else { None };
        if request.only_answers() {
            return Ok(Pruned { executions: Vec::new(), answers, rehearsed: request.rehearse, compact: true });
        }
        let ended = [GuidedState::Completed, GuidedState::Partial, GuidedState::Failed, GuidedState::Cancelled];
        let states = match (request.states.is_empty(), request.ids.is_empty()) {
            (false, _) => request.states.clone(),
            (true, true) => ended.to_vec(),
            (true, false) => Vec::new(),
        };
        let mut ids = Vec::new();
        for id in &request.ids {
            ids.push(self.execution_named(id).await?);
        }
        let mut filter =
            Filter { flow: request.flow.clone(), states, idle_since: request.idle_since, ..Filter::default() };
        let mut executions: Vec<Summary> = Vec::new();
        loop {
            let page = self.guide.store().page(filter.clone(), BATCH).await.map_err(|error| unkept(&error))?;
            let Some(last) = page.executions.last() else { break };
            filter.after = Some((last.begun_at, last.id.clone()));
            let wanted = |summary: &Summary| ids.is_empty() || ids.contains(&summary.id);
            executions.extend(page.executions.into_iter().filter(wanted));
        }
        if let Some(unknown) = ids.iter().find(|id| executions.iter().all(|found| found.id != **id)) {
            return Err(not_found(unknown));
        }
        let ids = executions.iter().map(|summary| summary.id.clone()).collect();
        let compact = request.rehearse || self.forget(ids).await?;
        Ok(Pruned { executions, answers, rehearsed: request.rehearse, compact })
    }

    /// Forgets stored answers of models, or counts them.
    async fn forget_answers(&self, request: &PruneRequest) -> Result<usize, Error> {
        let book = ModelBook::at(&self.settings.state_dir);
        // What is used on a day is of that day; the one that something begins with is not over yet.
        let until = request.idle_since.map_or(i64::MAX, |since| day_of(since).saturating_sub(1));
        let rehearse = request.rehearse;
        let done =
            tokio::task::spawn_blocking(
                move || {
                    if rehearse { book.answers_until(until) } else { book.forget_answers(until) }
                },
            );
        let stopped = |_| Error::new(Code::InternalError, "forgetting stored answers was stopped by an internal error");
        done.await.map_err(stopped)?.map_err(|error| unkept(&error))
    }

    /// Forgets executions for ever; whether nothing of them is left in the file. On a full disk our own
    /// cache gives way: it can be fetched again.
    async fn forget(&self, ids: Vec<String>) -> Result<bool, Error> {
        let store = self.guide.store();
        let forgotten = match store.forget(ids.clone()).await {
            Err(StoreError::Full { .. }) => {
                let cache = self.settings.cache_dir.clone();
                // What can't be removed stays; whether that was enough is seen at once.
                drop(tokio::task::spawn_blocking(move || remove_kept(&cache)).await);
                store.forget(ids).await
            }
            other => other,
        };
        forgotten.map(|forgotten| forgotten.compact).map_err(|error| {
            let room = "make room on the disk, a few hundred kilobytes: forgetting takes room at first, and the cache is \
                        gone already";
            let told = unkept(&error);
            if matches!(error, StoreError::Full { .. }) { told.next(room) } else { told }
        })
    }

    /// How each flow's guided executions went. One that goes on counts as abandoned when nothing
    /// happened to it since `idle_since`.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn tallies(&self, idle_since: DateTime<Utc>) -> Result<Vec<Tally>, Error> {
        self.guide.store().tallies(idle_since).await.map_err(|error| unkept(&error))
    }

    /// What went wrong, for whoever asked. `about` is the flow (when it begins) or the execution.
    pub(super) fn told(&self, about: &str, error: &GuideError) -> Error {
        let (status, ended) = (|| standing(about), || over(about));
        let made = |code: Code| Error::new(code, error.to_string());
        match error {
            GuideError::Refused(refusal) => refused(about, refusal),
            GuideError::Store(store) => unkept(store),
            GuideError::NotFound { .. } if self.memory.get(about).is_some() => Error::invalid(format!("execution {} is a direct one: the server did its steps", quoted(about)),
            )
            .next(Word::Either("flows_status shows it; ", "") + Word::Begin + " begins one whose steps you do"),
            GuideError::NotFound { .. } => not_found(about),
            GuideError::Torn { .. } => {
                made(Code::StoreError).next(begin_anew("the stored log is damaged"))
            }
            GuideError::Crowded => made(Code::StoreError).next("call again"),
            GuideError::UnknownTicket { state } if state.ended() => made(Code::InvalidStepToken).next(ended()),
            GuideError::UnknownTicket { .. } | GuideError::Replaced { .. } => {
                made(Code::InvalidStepToken).next(status())
            }
            GuideError::AlreadyCompleted { step, state } => made(Code::StepAlreadyCompleted)
                .next(
                    NextStep::from("what was handed in first counts; ")
                        + if state.ended() { ended() } else { status() },
                )
                .detail("nodeId", json!(step)),
            GuideError::AwaitingHuman { id, questions } => made(Code::AwaitingHuman)
                .next(NextStep::either(
                    format!(
                        "ask your user these questions and bring the answers with flows_resume, executionId {about} and \
                         escalationId {id}"
                    ),
                    format!("`flowy guide --resume {about}` takes the answers to these questions"),
                ))
                .detail("escalationId", json!(id.as_str()))
                .detail("questions", json!(questions)),
            GuideError::Cancelled => made(Code::Cancelled)
                .next("begin anew, with " + Word::Begin + " or " + Word::Execute + ", if it should be done after all"),
            GuideError::BeingDone { .. } => made(Code::InvalidRequest).next(
                "one process at a time does the steps: "
                    + Word::Status(about)
                    + " shows how it goes; if it is interrupted, "
                    + Word::Either("call flows_resume again", "run it again with --resume"),
            ),
            GuideError::Ended { state } => made(Code::InvalidRequest)
                .next(Word::Status(about) + " shows its result")
                .detail("state", json!(state.word())),
            GuideError::Breached { step, breaches, terms, attempts, most } => {
                let told = made(Code::ContractViolation).detail("nodeId", json!(step));
                breached(told, breaches, terms, attempts < most)
                    .detail("attempts", json!(attempts))
                    .detail("maxAttempts", json!(most))
            }
            GuideError::NotOptional { .. } => made(Code::InvalidRequest)
                .next("do the step, or close it with outcome failed and output {\"reason\": …}"),
            GuideError::TooLarge { .. } => made(Code::LimitExceeded)
                .next("shorten it: keep large files where they are and hand in a summary with where to find them"),
            GuideError::Full(_) => made(Code::LimitExceeded)
                .next("shorten the output, or close the step with outcome failed and output {\"reason\": …}"),
            GuideError::NotReady { ready, .. } => {
                let next = if ready.is_empty() {
                    "leave `next` out: nothing else is ready".to_owned()
                } else {
                    format!("leave `next` out, or choose one of {}", ready.join(", "))
                };
                made(Code::InvalidRequest).next(next).detail("ready", json!(ready))
            }
            GuideError::Missing(name) => made(Code::InvalidRequest)
                .next(format!("give `{name}`; {}", needed(name)))
                .detail("argument", json!(name)),
            GuideError::TooMany { .. } => made(Code::InvalidRequest)
                .next("put questions together, or ask the rest when these are answered")
                .detail("argument", json!("questions")),
            GuideError::UnknownDecision { not_yet } => made(Code::InvalidRequest).next(decisions(*not_yet)),
            GuideError::NoEscalation { awaited, state, answered, .. } => {
                let next = match awaited {
                    _ if state.ended() => ended(),
                    Some(id) => format!("the question that is open has escalationId {id}").into(),
                    None if *answered => NextStep::either(
                        "the first answers stand; flows_escalate asks anew, and flows_status shows what was answered",
                        format!("the first answers stand; `flowy executions show {about}` shows what was answered"),
                    ),
                    None => status(),
                };
                made(Code::EscalationNotFound).next(next)
            }
        }
    }
}

/// That an execution goes on, and how it is looked at.
fn standing(execution: &str) -> NextStep {
    let shows = "how it stands, and the open step";
    NextStep::either(
        format!("call flows_status with executionId {execution}: it shows {shows} with its stepToken"),
        format!("`flowy executions show {execution}` shows {shows}"),
    )
}

/// That an execution is over, and how its result is had.
fn over(execution: &str) -> NextStep {
    "nothing of it is open: " + Word::Status(execution) + " shows its result; " + Word::Begin + " begins anew"
}

/// That an execution is lost.
fn begin_anew(fact: &str) -> NextStep {
    NextStep::from(fact) + ": begin anew with " + Word::Begin + ", and report this"
}

/// How a decision about a call is given.
fn decisions(not_yet: bool) -> String {
    let word = if not_yet { "call" } else { "repeat" };
    format!(
        "give answers {{\"decision\": \"{word}\"}}, {{\"decision\": \"fail\"}}, or {{\"result\": …}} with what the call gave"
    )
}

fn needed(name: &str) -> &'static str {
    match name {
        "output" => "it is the step's output, as its contract says",
        "reason" => "it says why a person is needed",
        "output.reason" => "it says why the step failed or is left out",
        "questions" => "one to twenty questions, each as a text of its own",
        "answers" => "what the person said, as an object or a text",
        _ => "it is needed",
    }
}

/// What is wrong with an output, and what it has to look like where that is short enough for a failure.
fn breached(error: Error, breaches: &[Breach], terms: &Arc<Contract>, may_try_again: bool) -> Error {
    let fix = "fix every issue and call flows_complete_step again with the same stepToken";
    let next = if !may_try_again {
        format!("ask a person with flows_escalate: this step was refused as often as it may be; or {fix}")
    } else if terms.example().is_none() {
        fix.to_owned()
    } else {
        format!("{fix}; example shows an output that is accepted")
    };
    let issues = breaches.iter().map(|breach| json!({"path": breach.path, "message": breach.message})).collect();
    let error = error.next(NextStep::either(next, "fix every issue and answer the step again"));
    let mut error = error.detail("issues", issues);
    let short = |value: &Value| value.to_string().chars().count() <= CONTRACT_CHARACTERS;
    if short(terms.schema()) {
        error = error.detail("expectedSchema", terms.schema().clone());
    }
    if let Some(example) = terms.example_handed_in().filter(short) {
        error = error.detail("example", example);
    }
    error
}

pub(super) fn not_found(id: &str) -> Error {
    Error::new(Code::ExecutionNotFound, format!("there is no execution {}", quoted(id))).next(NextStep::either(
        "flows_status without executionId lists the executions there are. Those of flows_execute \
         that call tools or ask models are stored, as a rule for 30 days, and others are kept for an hour, the newest 100, in the \
         process that did them; those of flows_begin are stored until they are pruned",
        "`flowy executions list` lists them. Guided executions are stored until they are pruned, and direct ones that \
         call tools or ask models for 30 days; no others are stored",
    ))
}

/// Executions can't be kept or read: what a person can do about it.
pub(super) fn unkept(error: &StoreError) -> Error {
    untold("guided executions can't be kept or read", error)
}

/// What is to be kept or read can't be.
pub(super) fn untold(fact: &str, error: &StoreError) -> Error {
    let without = |fix: &str| NextStep::from(fix) + "; " + Word::Execute + " works without it";
    let next = match error {
        StoreError::Closed { .. } | StoreError::ReadOnly { .. } => {
            without("make the state folder writable for this user")
        }
        StoreError::Failing { .. } => without("see whether the disk works and has room, then call again"),
        StoreError::Locked { .. } => "call again; if it stays so, end the other process that holds the file".into(),
        StoreError::Full { .. } => {
            "make room on the disk, or forget old executions with `flowy executions prune`".into()
        }
        StoreError::Damaged { .. } => without("move the file aside (a new one is made), or restore a copy"),
        StoreError::Foreign { .. } => "move that file elsewhere, or choose another folder with --state-dir".into(),
        StoreError::Newer { .. } => "use the newer version of flowy that wrote the file".into(),
        StoreError::Torn { .. } => begin_anew("this execution can't go on"),
        StoreError::Unkeepable(_) => "hand in something simpler, and report this".into(),
        StoreError::Other(_) => "call again; if it stays so, report this with the lines of the log".into(),
    };
    tracing::error!(%error, "the store failed");
    Error::new(Code::StoreError, format!("{fact}: {error}")).next(next)
}
