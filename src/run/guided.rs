//! A run that is stored: everything that happened in it as entries of a log. A person's model carries
//! it out, one step handed out at a time, breaches counted, people asked; or the server does, side by side.
//!
//! [`Guided`] is what the log says: replaying the entries gives the same value as having lived
//! through them. It takes entries in and decides nothing; who may do what is its driver's business.

mod direct;
mod log;
mod output;
mod parts;
mod tools;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::code::{Code, WarningCode};
use crate::model::{Contract, Persona};
use crate::plan::{Rendering, Work};
use crate::run::{Counts, EscalationId, Event, OnFailure, Run, State, Status, StepError, Ticket, Timing, Warning};

pub use log::{Beginning, Entry, Misfit, Moment, Outcome, Rules, StoredEnd, Way};
use output::reason_of;
pub use output::{gives_reason, read_output, says_nothing};
pub use parts::{Cancelled, Closing, Escalation, Fate, GuidedState, Handed, ToolAtWork};

/// A stored execution, as its log says.
#[derive(Debug, Clone, PartialEq)]
pub struct Guided {
    beginning: Arc<Beginning>,
    begun_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    run: Run,
    entries: usize,
    handed: Option<Handed>,
    /// What the server has begun: at most one call of a guided execution, more of a direct one.
    at_work: Vec<ToolAtWork>,
    /// The process that does the steps of a direct execution.
    driver: Option<String>,
    /// How long processes were at a direct execution.
    driven: Duration,
    /// What was noticed at steps that the server did.
    noticed: BTreeMap<usize, Vec<Warning>>,
    /// Steps that the server did since the model last closed one.
    auto: Vec<usize>,
    /// Of these, steps that were begun again because the process was gone that had begun them.
    repeated: BTreeSet<usize>,
    /// Calls of tools and, of these, new tries.
    called: (u32, u32),
    /// How many steps that call tools came to their end by themselves.
    tools_ended: usize,
    /// The step whose persona was delivered last.
    in_role_of: Option<usize>,
    tickets: BTreeMap<Ticket, Fate>,
    closings: Vec<Option<Closing>>,
    broken: Vec<(usize, usize)>,
    escalations: Vec<Escalation>,
    breaches: usize,
    cancelled: Option<Cancelled>,
}

impl Guided {
    /// What the first entry says.
    ///
    /// # Errors
    /// When it is not the beginning of an execution.
    pub fn begin(entry: &Entry) -> Result<Self, Misfit> {
        let Moment::Begun(beginning) = &entry.moment else {
            return Err(Misfit { number: 1, why: "a log begins with the beginning" });
        };
        let plan = beginning.plan.clone();
        let steps = plan.steps().len();
        let on_failure = match beginning.way {
            Way::Guided => OnFailure::Continue,
            Way::Direct { on_failure } => on_failure,
        };
        Ok(Self {
            run: Run::unchecked(plan, beginning.given.clone(), beginning.limits, on_failure),
            beginning: beginning.clone(),
            begun_at: entry.at,
            updated_at: entry.at,
            entries: 1,
            handed: None,
            at_work: Vec::new(),
            driver: None,
            driven: Duration::ZERO,
            noticed: BTreeMap::new(),
            auto: Vec::new(),
            repeated: BTreeSet::new(),
            called: (0, 0),
            tools_ended: 0,
            in_role_of: None,
            tickets: BTreeMap::new(),
            closings: vec![None; steps],
            broken: Vec::new(),
            escalations: Vec::new(),
            breaches: 0,
            cancelled: None,
        })
    }

    /// What a whole log says.
    ///
    /// # Errors
    /// When an entry does not follow from the ones before.
    pub fn replay<'e>(entries: impl IntoIterator<Item = &'e Entry>) -> Result<Self, Misfit> {
        let mut entries = entries.into_iter();
        let first = entries.next().ok_or(Misfit { number: 1, why: "the log is empty" })?;
        let mut guided = Self::begin(first)?;
        for entry in entries {
            guided.apply(entry)?;
        }
        Ok(guided)
    }

    /// Takes the next entry in.
    ///
    /// # Errors
    /// When it does not follow from the ones before; then nothing has changed.
    pub fn apply(&mut self, entry: &Entry) -> Result<(), Misfit> {
        let number = self.entries + 1;
        let misfit = |why| Misfit { number, why };
        let since = self.driven_until(entry);
        match &entry.moment {
            Moment::Begun(_) => return Err(misfit("an execution begins once")),
            Moment::Opened { step, ticket } => {
                if !self.next_may_be(*step) {
                    return Err(misfit("the step can't be handed out"));
                }
                if self.tickets.contains_key(ticket) {
                    return Err(misfit("the ticket was used before"));
                }
                self.run.apply(Event::Started { step: *step });
                let before = self.in_role_of.and_then(|step| self.role(step));
                let new_role = self.role(*step).is_some() && self.role(*step) != before;
                self.tickets.insert(ticket.clone(), Fate::Open);
                self.in_role_of = Some(*step);
                self.handed = Some(Handed {
                    step: *step,
                    ticket: ticket.clone(),
                    since: entry.at,
                    breaches: 0,
                    asks: None,
                    new_role,
                });
            }
            Moment::Closed { ticket, outcome, output } => {
                let handed = self.at_work(ticket).ok_or(misfit("the ticket is not that of the open step"))?.clone();
                self.close(&handed, *outcome, output, entry.at);
                self.tickets.insert(ticket.clone(), Fate::Closed { step: handed.step, entry: number });
                self.handed = None;
                self.auto.clear();
            }
            Moment::Broke { step, error } => {
                if !self.next_may_be(*step) {
                    return Err(misfit("the step is not ready"));
                }
                let timing = Timing { at: entry.at, took: std::time::Duration::ZERO };
                self.run.apply(Event::Failed { step: *step, error: error.clone(), timing });
                self.broken.push((*step, number));
            }
            Moment::Breached { ticket, .. } => {
                let handed = self.at_work_mut(ticket).ok_or(misfit("the ticket is not that of the open step"))?;
                handed.breaches = handed.breaches.saturating_add(1);
                self.breaches += 1;
            }
            Moment::Escalated { id, ticket, reason, questions, context } => {
                if self.escalations.iter().any(|other| other.id == *id) {
                    return Err(misfit("the escalation's id was used before"));
                }
                let handed = self.at_work_mut(ticket).ok_or(misfit("the ticket is not that of the open step"))?;
                handed.asks = Some(id.clone());
                let step = handed.step;
                self.escalations.push(Escalation {
                    id: id.clone(),
                    step,
                    ticket: ticket.clone(),
                    reason: reason.clone(),
                    questions: questions.clone(),
                    context: context.clone(),
                    at: entry.at,
                    answer: None,
                    entry: number,
                });
            }
            Moment::Answered { id, answers, ticket } => {
                if self.tickets.contains_key(ticket) {
                    return Err(misfit("the ticket was used before"));
                }
                let waiting = self.handed.as_mut().filter(|handed| handed.asks.as_ref() == Some(id));
                let escalation = self.escalations.iter_mut().find(|escalation| escalation.id == *id);
                let (Some(handed), Some(escalation)) = (waiting, escalation) else {
                    return Err(misfit("nobody waits for that answer"));
                };
                escalation.answer = Some((answers.clone(), entry.at, number));
                self.tickets.insert(handed.ticket.clone(), Fate::Replaced { step: handed.step });
                self.tickets.insert(ticket.clone(), Fate::Open);
                handed.asks = None;
                handed.ticket = ticket.clone();
                handed.new_role = false;
            }
            Moment::ToolStarted { .. }
            | Moment::ToolEnded { .. }
            | Moment::Waits { .. }
            | Moment::LeftOut { .. }
            | Moment::ToolAsked { .. }
            | Moment::ToolDecided { .. } => self.apply_tool(entry, number).map_err(misfit)?,
            Moment::Taken { .. }
            | Moment::StepStarted { .. }
            | Moment::StepEnded { .. }
            | Moment::Interrupted { .. } => self.apply_direct(entry).map_err(misfit)?,
            Moment::Cancelled { .. } if self.state().ended() => return Err(misfit("the execution had ended")),
            Moment::Cancelled { reason } => self.cancel(reason.clone(), entry.at),
        }
        self.driven = self.driven.saturating_add(since);
        self.entries = number;
        self.updated_at = entry.at;
        Ok(())
    }

    /// How long a process did the steps of a direct execution before this entry.
    fn driven_until(&self, entry: &Entry) -> Duration {
        let driving = self.driver.is_some() && !matches!(entry.moment, Moment::Taken { .. });
        if driving { (entry.at - self.updated_at).to_std().unwrap_or_default() } else { Duration::ZERO }
    }

    fn cancel(&mut self, reason: Option<String>, at: DateTime<Utc>) {
        self.at_work.clear();
        self.driver = None;
        if let Some(handed) = self.handed.take() {
            self.tickets.insert(handed.ticket, Fate::Void { step: handed.step });
        }
        let error = StepError::new(Code::Cancelled, "the execution was cancelled");
        self.run.apply(Event::Stopped { error, at });
        self.cancelled = Some(Cancelled { reason });
    }

    fn close(&mut self, handed: &Handed, outcome: Outcome, output: &Value, at: DateTime<Utc>) {
        let step = handed.step;
        let took = (at - handed.since).to_std().unwrap_or_default();
        let timing = Timing { at, took };
        if outcome == Outcome::Done && self.is_copied(step, output) {
            let message = "its output is the example of its contract word for word; if that was copied, the step is still to be done";
            let id = self.run.plan().step(step).map_or("", |step| step.id.as_str());
            let warning = Warning::of(WarningCode::CopiedExample, id, message);
            self.noticed.entry(step).or_default().push(warning);
        }
        let event = match outcome {
            Outcome::Done => {
                let usual = self.rendering(step).is_none_or(|rendering| rendering.terms.is_none());
                Event::Done { step, output: read_output(output, usual), timing }
            }
            Outcome::Failed => {
                Event::Failed { step, error: StepError::new(Code::ExecutionError, reason_of(output)), timing }
            }
            Outcome::Skipped => Event::Omitted { step, why: reason_of(output) },
        };
        self.run.apply(event);
        let closing = Closing { outcome, output: output.clone(), at, attempt: handed.attempt() };
        if let Some(slot) = self.closings.get_mut(step) {
            *slot = Some(closing);
        }
    }

    /// Whether an output of a step is the example that was shown with its contract.
    fn is_copied(&self, step: usize, output: &Value) -> bool {
        if self.rendering(step).is_some_and(|rendering| rendering.terms.is_some()) {
            return self.terms_in_full(step).is_copied(output);
        }
        output.get("summary").and_then(Value::as_str) == Some(Contract::USUAL_SUMMARY)
    }

    /// Whether no step is open and this one may be handed out.
    fn next_may_be(&self, step: usize) -> bool {
        self.handed.is_none()
            && self.at_work.is_empty()
            && self.cancelled.is_none()
            && !self.is_direct()
            && self.run.ready().any(|ready| ready == step)
    }

    /// The open step, where this is its ticket and no person is awaited.
    fn at_work(&self, ticket: &Ticket) -> Option<&Handed> {
        self.handed.as_ref().filter(|handed| handed.ticket == *ticket && handed.asks.is_none())
    }

    fn at_work_mut(&mut self, ticket: &Ticket) -> Option<&mut Handed> {
        self.handed.as_mut().filter(|handed| handed.ticket == *ticket && handed.asks.is_none())
    }

    /// How it began.
    pub fn beginning(&self) -> &Arc<Beginning> {
        &self.beginning
    }

    /// When it began.
    pub fn begun_at(&self) -> DateTime<Utc> {
        self.begun_at
    }

    /// When something last happened.
    pub fn updated_at(&self) -> DateTime<Utc> {
        self.updated_at
    }

    /// The run beneath.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// How many entries the log has.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// The step that is handed out.
    pub fn handed(&self) -> Option<&Handed> {
        self.handed.as_ref()
    }

    /// The step that the server is at, which calls a tool or asks a model; of a direct execution, the first that a person is asked about, else
    /// the first that has begun.
    pub fn tool_at_work(&self) -> Option<&ToolAtWork> {
        self.at_work.iter().find(|at_work| at_work.asks.is_some()).or_else(|| self.at_work.first())
    }

    /// The steps that the server did since the model last closed one, in order.
    pub fn auto(&self) -> &[usize] {
        &self.auto
    }

    /// Whether a step was begun again by itself, because the process was gone that had begun it.
    pub fn was_repeated(&self, step: usize) -> bool {
        self.repeated.contains(&step)
    }

    /// Whether a person gave the word that a call needs.
    pub fn was_permitted(&self, step: usize) -> bool {
        let permits = |asked: &Escalation| asked.step == step && asked.needs_word() && asked.answer.is_some();
        self.escalations.iter().any(permits)
    }

    /// Whether a person has decided on a call of this step before: then it is made because he wants it.
    pub fn was_decided(&self, step: usize) -> bool {
        let decided = |asked: &Escalation| asked.step == step && asked.of_call() && asked.answer.is_some();
        self.escalations.iter().any(decided)
    }

    /// How many calls of tools were made, new tries included, and how many of them were new tries.
    pub fn called(&self) -> (u32, u32) {
        self.called
    }

    /// What is asked of a person now.
    pub fn asked(&self) -> Option<&EscalationId> {
        let handed = self.handed.as_ref().and_then(|handed| handed.asks.as_ref());
        handed.or_else(|| self.at_work.iter().find_map(|at_work| at_work.asks.as_ref()))
    }

    /// What became of a ticket; none where there never was such a one.
    pub fn fate(&self, ticket: &Ticket) -> Option<Fate> {
        self.tickets.get(ticket).copied()
    }

    /// The step that a ticket is or was for; none where there never was such a one.
    pub fn step_of(&self, ticket: &Ticket) -> Option<usize> {
        match self.fate(ticket)? {
            Fate::Closed { step, .. } | Fate::Replaced { step } | Fate::Void { step } => Some(step),
            Fate::Open => self.handed.as_ref().map(|handed| handed.step),
        }
    }

    /// When what it waits for is over, where nothing else is under way: the first limit of a model that ends.
    pub fn resumes_at(&self) -> Option<DateTime<Utc>> {
        let all: Option<Vec<_>> = self.at_work.iter().map(|at_work| at_work.waits).collect();
        all?.into_iter().min()
    }

    /// What was noticed at steps that the server did, step by step.
    pub fn noticed(&self) -> &BTreeMap<usize, Vec<Warning>> {
        &self.noticed
    }

    /// What a step was closed with.
    pub fn closing(&self, step: usize) -> Option<&Closing> {
        self.closings.get(step)?.as_ref()
    }

    /// Every escalation, in order.
    pub fn escalations(&self) -> &[Escalation] {
        &self.escalations
    }

    /// How many outputs were refused, over all steps.
    pub fn breaches(&self) -> usize {
        self.breaches
    }

    /// How many steps came to an end by themselves: a cancellation ends the rest, and gets nothing done.
    pub fn progressed(&self) -> usize {
        match &self.cancelled {
            Some(_) => self.closings.iter().flatten().count() + self.broken.len() + self.tools_ended,
            None => self.run.counts().ended,
        }
    }

    /// Whether a step came to no end of its own because the execution was cancelled, and if so, whether it had its
    /// turn before.
    pub fn stopped(&self, step: usize) -> Option<bool> {
        self.cancelled.as_ref()?;
        match self.run.state(step)? {
            State::Failed { error, .. } => (error.code == Code::Cancelled).then_some(true),
            State::Skipped { because } if *because != step => self.stopped(*because).map(|_| false),
            State::Waiting
            | State::Ready
            | State::Running
            | State::Done { .. }
            | State::Skipped { .. }
            | State::Omitted { .. } => None,
        }
    }

    /// How many steps ended by themselves, and how: those that a cancellation stopped did not.
    pub fn counts(&self) -> Counts {
        let mut counts = self.run.counts();
        for (step, of) in self.run.plan().steps().iter().enumerate() {
            if let Some(had_its_turn) = self.stopped(step).filter(|_| !matches!(of.work, Work::Gather(_))) {
                counts.ended -= 1;
                counts.skipped -= usize::from(!had_its_turn);
            }
        }
        counts
    }

    /// That it was cancelled, where it was.
    pub fn cancelled(&self) -> Option<&Cancelled> {
        self.cancelled.as_ref()
    }

    /// How it stands.
    pub fn state(&self) -> GuidedState {
        if self.cancelled.is_some() {
            GuidedState::Cancelled
        } else if self.asked().is_some() {
            GuidedState::AwaitingHuman
        } else if self.is_direct() {
            self.direct_state()
        } else {
            match (self.run.status(), self.beginning.rules) {
                (Status::Running, _) if self.resumes_at().is_some() => GuidedState::Waiting,
                (Status::Running, _) => GuidedState::Running,
                (Status::Failed, _) => GuidedState::Failed,
                (Status::Success | Status::Partial, Rules::Anything) => GuidedState::Completed,
                (Status::Success | Status::Partial, Rules::FinalResult) => match self.run.final_output() {
                    Some(_) => GuidedState::Completed,
                    None => GuidedState::Failed,
                },
            }
        }
    }

    /// A step's rendering; none where the step is faulty.
    pub fn rendering(&self, step: usize) -> Option<&Rendering> {
        match &self.beginning.plan.step(step)?.work {
            Work::Render(rendering) => Some(rendering),
            Work::Call(_) | Work::Flow(_) | Work::Gather(_) | Work::Faulty { .. } => None,
        }
    }

    /// The role that a step asks for.
    pub fn role(&self, step: usize) -> Option<&Arc<Persona>> {
        self.rendering(step)?.role.as_ref()
    }

    /// The contract that a step's output must meet, asking as well for what later steps read of it.
    pub fn terms_in_full(&self, step: usize) -> Arc<Contract> {
        let mut fields = self.run.fields_read(step);
        if self.rendering(step).is_none_or(|rendering| rendering.terms.is_none()) {
            for path in &mut fields {
                path.insert(0, "result".to_owned());
            }
        }
        self.terms(step).requiring(&fields)
    }

    /// The contract that a step's output must meet.
    pub fn terms(&self, step: usize) -> Arc<Contract> {
        self.rendering(step).and_then(|rendering| rendering.terms.clone()).unwrap_or_else(Contract::usual)
    }
}
