//! A run that a person's model carries out: one step handed out at a time, breaches counted, people
//! asked, and everything that happened as entries of a log.
//!
//! [`Guided`] is what the log says: replaying the entries gives the same value as having lived
//! through them. It takes entries in and decides nothing; who may do what is its driver's business.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::model::{Breach, Contract, Persona, text_of};
use crate::plan::{Plan, Rendering, Work};
use crate::run::{
    EscalationId, Event, ExecutionId, Given, Limits, OnFailure, Output, Run, Status, StepError, Ticket, Timing,
};

/// Everything an execution needs to be finished, however the catalog changes: its first entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Beginning {
    /// The execution's id.
    pub id: ExecutionId,
    /// The plan that is followed, with its texts, personas and contracts.
    pub plan: Arc<Plan>,
    /// What the caller gave.
    pub given: Given,
    /// What the whole is for, in the caller's words.
    pub task: Option<String>,
    /// How much may be written.
    pub limits: Limits,
    /// Branch, tag or commit the flow was read from; none for a folder.
    pub git_ref: Option<String>,
    /// The commit; none for a folder.
    pub commit: Option<String>,
}

/// How a step was closed by whoever did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It is done.
    Done,
    /// It could not be done.
    Failed,
    /// It was left out, which only optional steps may be.
    Skipped,
}

impl Outcome {
    /// Every outcome, by its word.
    pub const ALL: [(Self, &'static str); 3] =
        [(Self::Done, "done"), (Self::Failed, "failed"), (Self::Skipped, "skipped")];

    /// Reads an outcome's word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == word).map(|(outcome, _)| *outcome)
    }

    /// The outcome's word.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(outcome, _)| *outcome == self).map_or("done", |(_, word)| word)
    }
}

/// One entry of an execution's log.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// When it happened.
    pub at: DateTime<Utc>,
    /// What happened.
    pub moment: Moment,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Moment {
    /// The execution began; always the first entry, and only that.
    Begun(Arc<Beginning>),
    /// A step was handed out.
    Opened {
        /// The step.
        step: usize,
        /// Its ticket.
        ticket: Ticket,
    },
    /// The open step was closed.
    Closed {
        /// Its ticket.
        ticket: Ticket,
        /// How.
        outcome: Outcome,
        /// What was handed in, as it was handed in.
        output: Value,
    },
    /// A step could not even be handed out.
    Broke {
        /// The step.
        step: usize,
        /// Why.
        error: StepError,
    },
    /// An output did not meet its contract; it is not kept.
    Breached {
        /// The open step's ticket.
        ticket: Ticket,
        /// In which ways.
        breaches: Vec<Breach>,
    },
    /// The open step was handed to a person.
    Escalated {
        /// The escalation's id.
        id: EscalationId,
        /// The open step's ticket.
        ticket: Ticket,
        /// Why.
        reason: String,
        /// What the person is asked.
        questions: Vec<String>,
        /// What the person should know.
        context: Option<Value>,
    },
    /// The person answered: the same step is open again, under a new ticket.
    Answered {
        /// The escalation's id.
        id: EscalationId,
        /// The answers.
        answers: Value,
        /// The step's new ticket.
        ticket: Ticket,
    },
    /// The execution was cancelled.
    Cancelled {
        /// Why, where it was said.
        reason: Option<String>,
    },
}

/// Why an entry can't be part of a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {number} does not follow from the ones before: {why}")]
pub struct Misfit {
    /// The entry's number, from 1.
    pub number: usize,
    /// What does not fit.
    pub why: &'static str,
}

/// The step that is handed out.
#[derive(Debug, Clone, PartialEq)]
pub struct Handed {
    /// The step.
    pub step: usize,
    /// Its valid ticket.
    pub ticket: Ticket,
    /// When it was first handed out.
    pub since: DateTime<Utc>,
    /// Which attempt this is, from 1: refused outputs and answers of a person count.
    pub attempt: u32,
    /// How many outputs were refused.
    pub breaches: u32,
    /// The escalation that waits for a person.
    pub asks: Option<EscalationId>,
    /// Whether its persona is another than that of the step handed out before.
    pub new_role: bool,
}

/// A step that was handed to a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Escalation {
    /// Its id.
    pub id: EscalationId,
    /// The step.
    pub step: usize,
    /// The ticket it was asked with.
    pub ticket: Ticket,
    /// Why.
    pub reason: String,
    /// What the person is asked.
    pub questions: Vec<String>,
    /// What the person should know.
    pub context: Option<Value>,
    /// When.
    pub at: DateTime<Utc>,
    /// The answers, when, and the number of the entry that holds them.
    pub answer: Option<(Value, DateTime<Utc>, usize)>,
    /// The number of the entry that asked.
    pub entry: usize,
}

/// What a step's ticket is good for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// The step is open.
    Open,
    /// The step was closed with it, by this entry (from 1).
    Closed {
        /// The step.
        step: usize,
        /// The entry's number.
        entry: usize,
    },
    /// A newer ticket took its place.
    Replaced {
        /// The step.
        step: usize,
    },
    /// The execution was cancelled.
    Void,
}

/// What a step was closed with.
#[derive(Debug, Clone, PartialEq)]
pub struct Closing {
    /// How.
    pub outcome: Outcome,
    /// What was handed in.
    pub output: Value,
    /// When.
    pub at: DateTime<Utc>,
    /// Which attempt it was.
    pub attempt: u32,
}

/// That an execution was cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancelled {
    /// Why, where it was said.
    pub reason: Option<String>,
}

/// How a guided execution stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GuidedState {
    /// A step is open.
    Running,
    /// A person is awaited.
    AwaitingHuman,
    /// Everything has ended and something is there.
    Completed,
    /// Everything has ended and nothing is there.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl GuidedState {
    /// Every state, by its word.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Running, "running"),
        (Self::AwaitingHuman, "awaiting_human"),
        (Self::Completed, "completed"),
        (Self::Failed, "failed"),
        (Self::Cancelled, "cancelled"),
    ];

    /// Reads a state's word.
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, name)| *name == word).map(|(state, _)| *state)
    }

    /// The state's word.
    pub fn word(self) -> &'static str {
        Self::ALL.iter().find(|(state, _)| *state == self).map_or("running", |(_, word)| word)
    }

    /// Whether nothing more will happen.
    pub fn ended(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }
}

/// A guided execution, as its log says.
#[derive(Debug, Clone, PartialEq)]
pub struct Guided {
    beginning: Arc<Beginning>,
    begun_at: DateTime<Utc>,
    updated_at: DateTime<Utc>,
    run: Run,
    entries: usize,
    handed: Option<Handed>,
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
        Ok(Self {
            run: Run::unchecked(plan, beginning.given.clone(), beginning.limits, OnFailure::Continue),
            beginning: beginning.clone(),
            begun_at: entry.at,
            updated_at: entry.at,
            entries: 1,
            handed: None,
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
                    attempt: 1,
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
                handed.attempt = handed.attempt.saturating_add(1);
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
                handed.attempt = handed.attempt.saturating_add(1);
                handed.ticket = ticket.clone();
                handed.new_role = false;
            }
            Moment::Cancelled { reason } => {
                if self.state().ended() {
                    return Err(misfit("the execution had ended"));
                }
                if let Some(handed) = self.handed.take() {
                    self.tickets.insert(handed.ticket, Fate::Void);
                }
                let error = StepError::new("CANCELLED", "the execution was cancelled");
                self.run.apply(Event::Stopped { error, at: entry.at });
                self.cancelled = Some(Cancelled { reason: reason.clone() });
            }
        }
        self.entries = number;
        self.updated_at = entry.at;
        Ok(())
    }

    fn close(&mut self, handed: &Handed, outcome: Outcome, output: &Value, at: DateTime<Utc>) {
        let step = handed.step;
        let took = (at - handed.since).to_std().unwrap_or_default();
        let timing = Timing { at, took };
        let event = match outcome {
            Outcome::Done => {
                let usual = self.rendering(step).is_none_or(|rendering| rendering.terms.is_none());
                Event::Done { step, output: read_output(output, usual), timing }
            }
            Outcome::Failed => {
                Event::Failed { step, error: StepError::new("EXECUTION_ERROR", reason_of(output)), timing }
            }
            Outcome::Skipped => Event::Omitted { step, why: reason_of(output) },
        };
        self.run.apply(event);
        let closing = Closing { outcome, output: output.clone(), at, attempt: handed.attempt };
        if let Some(slot) = self.closings.get_mut(step) {
            *slot = Some(closing);
        }
    }

    /// Whether no step is open and this one may be handed out.
    fn next_may_be(&self, step: usize) -> bool {
        self.handed.is_none() && self.cancelled.is_none() && self.run.ready().any(|ready| ready == step)
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

    /// What became of a ticket; none where there never was such a one.
    pub fn fate(&self, ticket: &Ticket) -> Option<Fate> {
        self.tickets.get(ticket).copied()
    }

    /// What a step was closed with.
    pub fn closing(&self, step: usize) -> Option<&Closing> {
        self.closings.get(step)?.as_ref()
    }

    /// The steps that could not be handed out, each with the number of the entry that says so.
    pub fn broken(&self) -> &[(usize, usize)] {
        &self.broken
    }

    /// Every escalation, in order.
    pub fn escalations(&self) -> &[Escalation] {
        &self.escalations
    }

    /// How many outputs were refused, over all steps.
    pub fn breaches(&self) -> usize {
        self.breaches
    }

    /// That it was cancelled, where it was.
    pub fn cancelled(&self) -> Option<&Cancelled> {
        self.cancelled.as_ref()
    }

    /// How it stands.
    pub fn state(&self) -> GuidedState {
        if self.cancelled.is_some() {
            GuidedState::Cancelled
        } else if self.handed.as_ref().is_some_and(|handed| handed.asks.is_some()) {
            GuidedState::AwaitingHuman
        } else {
            match self.run.status() {
                Status::Running => GuidedState::Running,
                Status::Failed => GuidedState::Failed,
                Status::Success | Status::Partial => GuidedState::Completed,
            }
        }
    }

    /// A step's rendering; none where the step is faulty.
    pub fn rendering(&self, step: usize) -> Option<&Rendering> {
        match &self.beginning.plan.step(step)?.work {
            Work::Render(rendering) => Some(rendering),
            Work::Faulty { .. } => None,
        }
    }

    /// The role that a step asks for.
    pub fn role(&self, step: usize) -> Option<&Arc<Persona>> {
        self.rendering(step)?.role.as_ref()
    }

    /// The contract that a step's output must meet.
    pub fn terms(&self, step: usize) -> Arc<Contract> {
        self.rendering(step).and_then(|rendering| rendering.terms.clone()).unwrap_or_else(Contract::usual)
    }
}

/// What later steps read of an output that was handed in. Under the usual contract that is its
/// `result`, else its `summary`, and a plain text is read as it is; with a contract of the node's
/// own it is the whole, whose fields dot paths lead to.
pub fn read_output(output: &Value, usual: bool) -> Output {
    let read = match output {
        Value::Object(fields) if usual => {
            let result = fields.get("result").filter(|result| !result.is_null());
            result.or_else(|| fields.get("summary")).unwrap_or(&Value::Null)
        }
        whole => whole,
    };
    let fields = matches!(read, Value::Object(_) | Value::Array(_)).then(|| read.clone());
    Output { text: Arc::from(text_of(read).as_ref()), value: fields }
}

fn reason_of(output: &Value) -> String {
    let said = match output {
        Value::Object(fields) => fields.get("reason").or_else(|| fields.get("summary")).map(text_of),
        Value::Null => None,
        other => Some(text_of(other)),
    };
    said.map(|reason| reason.trim().to_owned())
        .filter(|reason| !reason.is_empty())
        .unwrap_or_else(|| "no reason was given".to_owned())
}
