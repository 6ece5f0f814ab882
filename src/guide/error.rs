//! Why a call changed nothing, or did not do what it was for.

use std::sync::Arc;

use crate::model::{Breach, Contract};
use crate::names::quoted;
use crate::run::{EscalationId, ExecutionId, GuidedState, Misfit, Refusal, StepError};
use crate::store::StoreError;

/// Why a call did not do what it was for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GuideError {
    /// Values are missing or don't fit: nothing began.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The file can't be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no such execution.
    #[error("there is no execution {}", quoted(id.as_str()))]
    NotFound {
        /// The id asked for.
        id: ExecutionId,
    },
    /// The log makes no sense.
    #[error("the log of execution {id} makes no sense: {misfit}")]
    Torn {
        /// The execution.
        id: ExecutionId,
        /// What does not fit.
        misfit: Misfit,
    },
    /// Others changed the execution again and again meanwhile.
    #[error("others changed this execution again and again meanwhile")]
    Crowded,
    /// The execution never had such a ticket.
    #[error("this is not a step token of this execution{}", over(*state))]
    UnknownTicket {
        /// How the execution stands.
        state: GuidedState,
    },
    /// A newer ticket took its place.
    #[error("a newer token took the place of this one for step {}", quoted(step))]
    Replaced {
        /// The step's id.
        step: String,
    },
    /// The step was closed with another output.
    #[error("step {} was completed already, with another output{}", quoted(step), over(*state))]
    AlreadyCompleted {
        /// The step's id.
        step: String,
        /// How the execution stands.
        state: GuidedState,
    },
    /// A person is awaited.
    #[error("a person is awaited: {}", questions.join(" / "))]
    AwaitingHuman {
        /// The escalation.
        id: EscalationId,
        /// What the person is asked.
        questions: Vec<String>,
    },
    /// The execution was cancelled.
    #[error("the execution was cancelled")]
    Cancelled,
    /// The execution has come to its end.
    #[error("the execution has ended: {}", state.word())]
    Ended {
        /// How.
        state: GuidedState,
    },
    /// The output does not meet the contract.
    #[error("the output of step {} does not meet its contract: {}", quoted(step), told(breaches))]
    Breached {
        /// The step's id.
        step: String,
        /// In which ways.
        breaches: Vec<Breach>,
        /// The contract.
        terms: Arc<Contract>,
        /// How many outputs were refused, this one included.
        attempts: u32,
        /// After how many a person should be asked.
        most: u32,
    },
    /// The step can't be left out.
    #[error("step {} is not optional and can't be skipped", quoted(step))]
    NotOptional {
        /// The step's id.
        step: String,
    },
    /// What was handed in is too long.
    #[error("{what}: {bytes} bytes, and {limit} are allowed")]
    TooLarge {
        /// What it is.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The execution may not write that much.
    #[error("{}", .0.message)]
    Full(StepError),
    /// The step to go on with is not ready.
    #[error("step {} is not ready", quoted(wanted))]
    NotReady {
        /// The id asked for.
        wanted: String,
        /// The ids that are ready.
        ready: Vec<String>,
    },
    /// Something that is needed is missing or empty.
    #[error("`{0}` is missing or empty")]
    Missing(&'static str),
    /// Too many questions at once.
    #[error("`questions` holds {given} texts, and {most} are allowed")]
    TooMany {
        /// How many there are.
        given: usize,
        /// How many may be.
        most: usize,
    },
    /// A person's answer about a call that can't be understood.
    #[error("the answers don't say what is to become of the call")]
    UnknownDecision {
        /// Whether the call was not made yet.
        not_yet: bool,
    },
    /// A process does the steps of this direct execution.
    #[error("{} does the steps of this execution", if *here { "this process" } else { "another process" })]
    BeingDone {
        /// Whether it is this one.
        here: bool,
    },
    /// Nobody is awaited under that id.
    #[error("{}{}", no_escalation(id.as_ref(), *answered), over(*state))]
    NoEscalation {
        /// How the execution stands.
        state: GuidedState,
        /// The id asked for.
        id: Option<EscalationId>,
        /// Whether it was answered before, otherwise.
        answered: bool,
        /// The escalation that is awaited instead.
        awaited: Option<EscalationId>,
    },
}

fn told(breaches: &[Breach]) -> String {
    let first: Vec<String> =
        breaches.iter().take(3).map(|breach| format!("{} {}", breach.path, breach.message)).collect();
    let more = breaches.len().saturating_sub(first.len());
    if more == 0 { first.join("; ") } else { format!("{}; and {more} more", first.join("; ")) }
}

/// That nothing more can be done, where that is so.
fn over(state: GuidedState) -> String {
    if state.ended() { format!("; the execution is {}", state.word()) } else { String::new() }
}

fn no_escalation(id: Option<&EscalationId>, answered: bool) -> String {
    match (id, answered) {
        (None, _) => "no person is awaited".to_owned(),
        (Some(id), true) => format!("escalation {} was answered before, otherwise", quoted(id.as_str())),
        (Some(id), false) => format!("there is no escalation {} in this execution", quoted(id.as_str())),
    }
}
