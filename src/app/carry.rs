//! Carrying out a direct execution: waiting for its end, keeping it, and going on with one that was
//! interrupted.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::FutureExt as _;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::app::execute::{call_news, last_text, no_such_model};
use crate::app::memory::{Finished, Kept, Outcome, Pending, Recorded, Rest, StepDone};
use crate::app::{App, Caller, Code, Error, OnStep, Origin, ResumeRequest};
use crate::code::WarningCode;
use crate::config::Answers;
use crate::execute::{
    self, Carried, Executed, Happening, Keeper as _, OnCall, Options, Rendered, StepEnd, ToolProgress, Worker, Workers,
};
use crate::generate::{ModelChoice, ModelWorker};
use crate::guide::{DirectLog, GuideError, Resumption, Story, TakenUp, Turn};
use crate::plan::Work;
use crate::run::{Beginning, EscalationId, ExecutionId, Guided, OnFailure, Rules, Run, StepError, Warning, Way};
use crate::store::Retention;
use crate::validate::Finding;

/// A direct execution that is to be carried out.
pub(super) struct Undertaking {
    /// Its id.
    pub(super) id: String,
    /// The flow's name.
    pub(super) flow: String,
    /// When it began.
    pub(super) begun: DateTime<Utc>,
    /// The catalog under which it counts.
    pub(super) source: String,
    /// Where the flow comes from.
    pub(super) origin: Origin,
    /// What was noticed about the flow.
    pub(super) findings: Vec<Finding>,
    /// How to execute.
    pub(super) options: Options,
    /// Who answers steps; none where nobody does.
    pub(super) models: Option<ModelChoice>,
}

/// What came of going on with an execution.
#[derive(Debug, Clone)]
pub enum Resumed {
    /// A person's answers were brought to a guided one: the same step is open again.
    Guided(Box<Turn>),
    /// The server went on with a direct one, or had come to its end before.
    Direct(Outcome),
    /// A person has to answer before the server goes on with it.
    Asking(Box<Story>),
}

impl App {
    /// Keeps the beginning of an execution that does more than fill in texts. Where it can't be kept, it is carried
    /// out all the same, and the caller is told.
    pub(super) async fn stored(&self, work: &Undertaking, run: &Run) -> (Option<Box<TakenUp>>, Vec<Warning>) {
        if work.models.is_none() && !run.plan().steps().iter().any(|step| matches!(step.work, Work::Call(_))) {
            return (None, Vec::new());
        }
        // Whoever goes on with it goes on as it was begun, also where the operator has configured a model since.
        let (models, answers) = work.models.clone().unwrap_or_else(ModelChoice::of_nobody).words();
        let beginning = Beginning {
            id: ExecutionId::named(&work.id),
            way: Way::Direct { on_failure: work.options.on_failure },
            rules: Rules::NEWEST,
            task: None,
            plan: run.plan().clone(),
            given: run.given().clone(),
            limits: work.options.limits,
            git_ref: work.origin.git_ref.clone(),
            commit: work.origin.commit.clone(),
            source: Some(work.source.clone()),
            models,
            answers,
        };
        let retention = Retention { most: self.settings.executions_kept, longest: self.kept_for() };
        match self.guide.begin_direct(beginning, retention).await {
            Ok(taken) => (Some(Box::new(taken)), Vec::new()),
            Err(error) => {
                tracing::warn!(execution = work.id, %error, "a direct execution could not be stored");
                let message =
                    format!("the execution is not stored, and can't be gone on with if it is interrupted: {error}");
                (None, vec![Warning::of(WarningCode::NotKept, "", message)])
            }
        }
    }

    fn kept_for(&self) -> Duration {
        Duration::from_hours(24).saturating_mul(self.settings.executions_kept_days)
    }

    /// Carries an execution out, stored or from its beginning, until its end, the caller's patience or his
    /// cancellation, whichever comes first.
    pub(super) async fn carry_out(
        &self,
        work: Undertaking,
        from: Result<Box<TakenUp>, Run>,
        notices: Vec<Warning>,
        deadline: Option<Duration>,
        caller: &Caller,
    ) -> Outcome {
        let Undertaking { id, flow, begun, source, origin, findings, options, models } = work;
        let (tell_end, mut finished) = watch::channel(None);
        let (tell_progress, progress) = watch::channel(None);
        // What is cancelled is the work itself, and only while somebody waits for it.
        let (run, carried, log, cancel) = match from {
            Ok(taken) => (taken.run, taken.carried, Some(taken.log), taken.cancel),
            Err(run) => (run, Carried::default(), None, CancellationToken::new()),
        };
        let steps = run.counts().steps;
        let mut kept =
            Kept { id: id.clone(), flow, begun, finished: finished.clone(), steps, progress, stored_until: None };
        let watching = log.clone();
        match &log {
            None => self.memory.keep(kept.clone()),
            Some(_) => {
                let kept_for = TimeDelta::from_std(self.kept_for()).unwrap_or_default();
                kept.stored_until = begun.checked_add_signed(kept_for);
            }
        }

        let (clock, work_cancel, on_step) = (self.clock.clone(), cancel.clone(), caller.progress.clone());
        let (counting, on_end) = (self.counting.clone(), caller.ended.clone());
        let (tools, execution) = (self.tools.clone(), id);
        let stream = caller.pieces.clone().and_then(|on_piece| Some((last_text(run.plan())?, on_piece)));
        let ends = options.deadline.map(|deadline| self.clock.reading().saturating_add(deadline));
        let paid: Vec<usize> = run.generated().iter().map(|(step, _)| *step).collect();
        let worker =
            models.map(|models| ModelWorker::new(self.models.clone(), models, ends).having_done(&run).telling(stream));
        let mut work = tokio::spawn(async move {
            let far = Arc::new(Far::default());
            let told = telling(&run, far.clone(), on_step.clone(), log.clone());
            let workers = Workers {
                texts: worker.as_ref().map_or(&Rendered, |worker| worker as &dyn Worker),
                tools: Some(&*tools),
                known: None,
                execution: &execution,
                told: Some(&told),
                keeper: log.as_ref().map(|log| log as &dyn execute::Keeper),
            };
            let watched = log.clone().map(|log| {
                let cancel = work_cancel.clone();
                tokio::spawn(async move {
                    log.called_off().await;
                    cancel.cancel();
                })
            });
            let driven = execute::drive((run, carried), &options, workers, &*clock, &work_cancel, |run, step| {
                if let Some(on_end) = &on_end {
                    on_end(run, step.step);
                }
                let done = StepDone {
                    ended: step.ended,
                    steps: step.steps,
                    label: step.label.to_owned(),
                    end: step.end,
                    skipped: step.skipped,
                    call: None,
                };
                far.reach(&done);
                if let Some(on_step) = &on_step {
                    on_step(&done);
                }
                tell_progress.send_replace(Some(done));
            });
            // Whoever asks later is told of a bug, too, instead of waiting for ever.
            let driven = AssertUnwindSafe(driven).catch_unwind().await;
            if let Some(watched) = watched {
                watched.abort();
            }
            let finished = match driven {
                Ok(mut executed) => {
                    let rest = ended(log.as_ref(), None).await;
                    if let Some(counting) = counting {
                        let resumable = matches!(rest, Rest::Interrupted(_));
                        counting.driven((&source, &executed), &paid, resumable, work_cancel.is_cancelled());
                    }
                    executed.warnings.splice(0..0, notices);
                    Finished::Ran(Arc::new(Recorded { executed, origin, findings, rest }))
                }
                Err(panic) => {
                    let error = Error::of_panic(&*clock, &execution, &*panic);
                    ended(log.as_ref(), Some(&error)).await;
                    Finished::Broke(Arc::new(error))
                }
            };
            drop(log);
            tell_end.send_replace(Some(finished));
        });
        let patience = deadline.map(|deadline| deadline.saturating_sub(self.clock.reading()));
        // What `wait_for` gives is a lock on the channel, which must not be held while waiting.
        let end = async { drop(finished.wait_for(Option::is_some).await) };
        tokio::select! {
            biased;
            () = end => {}
            () = caller.cancel.cancelled() => {
                cancel.cancel();
                // The work looks for cancellation at every step, so its end is near.
                drop((&mut work).await);
            }
            () = patience_ends(patience) => {}
        }
        self.memory.tidy();
        waiting(kept.outcome(), watching.as_ref())
    }

    /// Goes on with an execution: brings a person's answers to a guided one, or does the steps of a direct one that
    /// are not done yet. The caller hears how steps go.
    ///
    /// # Errors
    /// When nobody is awaited under that id, answers are missing, a process does the steps already, or the store
    /// fails.
    pub async fn resume(
        &self,
        request: &ResumeRequest,
        wait: Option<Duration>,
        caller: &Caller,
    ) -> Result<Resumed, Error> {
        let deadline = wait.map(|wait| self.clock.reading().saturating_add(wait));
        let id = ExecutionId::named(&self.execution_named(&request.execution).await?);
        let told = |error: GuideError| self.told(id.as_str(), &error);
        let escalation = request.escalation.as_deref().map(EscalationId::named);
        let story = self.guide.story(&id).await.map_err(told)?;
        if !story.guided.is_direct() {
            let answers = request.answers.clone().unwrap_or_default();
            let guide = self.guide_telling(caller.progress.as_ref());
            let resuming = guide.resume(&id, escalation.as_ref(), &answers);
            let Some(turn) = caller.cancel.run_until_cancelled(resuming).await else {
                return Err(Error::cancelled());
            };
            return Ok(Resumed::Guided(Box::new(turn.map_err(told)?)));
        }
        // Nothing is taken up that could not be done as it was begun.
        if let Some((name, near)) = self.models.lack(&models_of(&story.guided)) {
            return Err(no_such_model(name, &near, &self.models));
        }
        let answers = request.answers.as_ref().map(|answers| (escalation.as_ref(), answers));
        let taken = match self.guide.take_up(&id, answers).await.map_err(told)? {
            Resumption::Going(taken) => taken,
            Resumption::Standing(story) if story.guided.state().ended() => {
                return Ok(Resumed::Direct(outcome_of(&story.guided)));
            }
            Resumption::Standing(story) => return Ok(Resumed::Asking(story)),
        };
        tracing::info!(execution = %id, "a direct execution is gone on with");
        let guided = &story.guided;
        let beginning = guided.beginning();
        let on_failure = match beginning.way {
            Way::Direct { on_failure } => on_failure,
            Way::Guided => OnFailure::Continue,
        };
        let models = models_of(guided);
        let models = self.models.answer_any(&beginning.plan, &models).then_some(models);
        let work = Undertaking {
            id: id.to_string(),
            flow: beginning.plan.name().to_owned(),
            begun: guided.begun_at(),
            source: beginning.source.clone().unwrap_or_else(|| self.source.key()),
            origin: origin_of(guided),
            findings: Vec::new(),
            options: self
                .timed(Options { limits: beginning.limits, on_failure, ..Options::default() }, models.is_some()),
            models,
        };
        let notices = taken.again.iter().map(|step| called_again(guided, *step)).collect();
        Ok(Resumed::Direct(self.carry_out(work, Ok(taken), notices, deadline, caller).await))
    }
}

/// The same outcome, with the limit that is waited for.
fn waiting(outcome: Outcome, log: Option<&DirectLog>) -> Outcome {
    match outcome {
        Outcome::Running(pending) => {
            Outcome::Running(Pending { resumes_at: log.and_then(DirectLog::resumes_at), ..pending })
        }
        ended @ Outcome::Finished { .. } => ended,
    }
}

/// Keeps how an execution ended, where it is stored; whether it can be gone on with.
async fn ended(log: Option<&DirectLog>, bug: Option<&Error>) -> Rest {
    let Some(log) = log else { return Rest::Ended };
    if let Some(bug) = bug {
        log.note(Happening::Stopped { error: &StepError::new(bug.code, bug.message.clone()) });
    }
    match log.end().await {
        Ok(()) => {}
        Err(error) if error.code == Code::Cancelled => return Rest::CalledOff(error.message),
        Err(error) => {
            tracing::warn!(%error, "the end of an execution could not be kept");
            // Until it is, everybody else takes the execution for a running one.
            tokio::spawn(keep_end(log.clone()));
        }
    }
    if log.is_interrupted() { Rest::Interrupted(log.resumes_at()) } else { Rest::Ended }
}

/// Keeps the end of an execution as soon as the store takes it.
async fn keep_end(log: DirectLog) {
    for pause in [1, 2, 5, 10, 30].into_iter().chain(std::iter::repeat_n(60, 60)).map(Duration::from_secs) {
        tokio::time::sleep(pause).await;
        match log.end().await {
            Ok(()) => return,
            // Somebody else has ended it, or goes on with it.
            Err(error) if error.code != Code::StoreError => return,
            Err(_) => {}
        }
    }
    tracing::error!("the end of an execution could not be kept for an hour, and is given up");
}

/// A step was begun, nobody knows what became of that, and it is begun again.
fn called_again(guided: &Guided, step: usize) -> Warning {
    let plan = guided.run().plan();
    let id = plan.step(step).map_or("", |step| step.id.as_str());
    let call = plan.called(step);
    let what = if call.is_empty() { "a model" } else { &call };
    let message = format!("the execution was interrupted while it asked {what} for step {id}; it was asked again");
    Warning::of(WarningCode::CalledAgain, id, message)
}

/// Who answers steps, as whoever began the execution said.
fn models_of(guided: &Guided) -> ModelChoice {
    let beginning = guided.beginning();
    let answers = beginning.answers.as_deref().and_then(Answers::named);
    let mut choice = ModelChoice { answers, ..ModelChoice::default() };
    for word in &beginning.models {
        // They were taken in when it began.
        drop(choice.take(word));
    }
    choice
}

/// Where the flow of a stored execution came from.
fn origin_of(guided: &Guided) -> Origin {
    let beginning = guided.beginning();
    Origin {
        git_ref: beginning.git_ref.clone(),
        commit: beginning.commit.clone(),
        revision: beginning.commit.clone().unwrap_or_default(),
        cached: true,
        age_seconds: 0,
        stale: None,
        fresh_for_ms: 0,
        ignored_ref: None,
        inexact_name: None,
    }
}

/// How a stored direct execution ended, as whoever carried it out was told.
fn outcome_of(guided: &Guided) -> Outcome {
    let beginning = guided.beginning();
    let run = guided.run().clone();
    let mut warnings = run.warnings_about_given();
    warnings.extend(guided.noticed().values().flatten().cloned());
    let (calls, retries) = guided.called();
    let executed = Executed { run, warnings, took: guided.driven(), calls, retries };
    Outcome::Finished {
        id: beginning.id.to_string(),
        flow: beginning.plan.name().to_owned(),
        begun: guided.begun_at(),
        finished: Finished::Ran(Arc::new(Recorded {
            executed,
            origin: origin_of(guided),
            findings: Vec::new(),
            rest: Rest::EndedBefore,
        })),
    }
}

/// How far an execution is, for news that come from within a step.
#[derive(Default)]
struct Far {
    ended: AtomicUsize,
    skipped: AtomicUsize,
}

impl Far {
    fn reach(&self, done: &StepDone) {
        self.ended.store(done.ended, Ordering::Relaxed);
        self.skipped.store(done.skipped, Ordering::Relaxed);
    }
}

/// Passes on what calls say of themselves, with how far the whole is, and keeps what waits for a limit.
fn telling(run: &Run, far: Arc<Far>, on_step: Option<OnStep>, log: Option<DirectLog>) -> OnCall {
    let labels: Vec<String> = run.plan().steps().iter().map(|step| step.label.clone()).collect();
    let steps = run.counts().steps;
    Arc::new(move |step, progress: ToolProgress| {
        if let Some(log) = &log {
            log.waits(step, progress.until, None);
        }
        let Some(on_step) = &on_step else { return };
        let label = labels.get(step).cloned().unwrap_or_default();
        let call = call_news(label.clone(), progress);
        let (ended, skipped) = (far.ended.load(Ordering::Relaxed), far.skipped.load(Ordering::Relaxed));
        on_step(&StepDone { ended, steps, label, end: StepEnd::Done, skipped, call: Some(call) });
    })
}

async fn patience_ends(patience: Option<Duration>) {
    match patience {
        Some(patience) => tokio::time::sleep(patience).await,
        None => std::future::pending().await,
    }
}
