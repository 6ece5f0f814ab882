//! The state machine of one walk over a plan, whoever drives it.
//!
//! A run knows which steps are ready, what each step's variables are, and what an output or a
//! failure does to the rest. It does no I/O and asks nobody for the time: times come in with the
//! events. Workers, stores and people are its drivers' business.

#![warn(clippy::wildcard_enum_match_arm)]

mod bind;
mod event;
mod failing;
mod given;
mod guided;
mod layout;
mod noticed;
mod reading;
mod state;
mod ticket;
mod warning;
mod within;

pub use bind::{Bound, FilledWith};
pub use event::{CallTrouble, Event, Output, StepError, Timing};
pub use given::{Given, Helpful, Refusal, Unfit, Wanted};
pub use guided::{
    Beginning, Cancelled, Closing, Entry, Escalation, Fate, Guided, GuidedState, Handed, Misfit, Moment, Outcome,
    Rules, StoredEnd, ToolAtWork, Way, gives_reason, read_output, says_nothing,
};
pub use reading::Unmet;
pub use state::{Counts, Limits, MOST_FILE_BYTES, OnFailure, Run, State, Status};
pub use ticket::{EscalationId, ExecutionId, Ticket};
pub use warning::Warning;
pub use within::Coming;
