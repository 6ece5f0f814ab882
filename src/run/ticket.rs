//! The ids of a guided execution: of itself, of an open step's attempt, of a question to a person.
//!
//! They are made of numbers that nobody can guess; where those come from is not known here.

use std::sync::Arc;

use crate::names::text_type;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        text_type! { $(#[$doc])* $name }

        #[allow(dead_code, reason = "each kind of id can do the same")]
        impl $name {
            /// A fresh one, of two numbers that nobody can guess.
            pub fn fresh(first: u64, second: u64) -> Self {
                Self(Arc::from(format!(concat!($prefix, "{:016x}{:016x}"), first, second)))
            }

            /// One that somebody names; whether it is one of ours is for the log to say.
            pub fn named(text: &str) -> Self {
                Self(Arc::from(text))
            }
        }
    };
}

id!(
    /// The id of an open step's attempt: who completes the step shows it.
    Ticket, "step_"
);
id!(
    /// The id of an escalation.
    EscalationId, "esc_"
);
id!(
    /// The id of a stored execution. The fresh form is for tests; users see one that begins with
    /// the flow's name.
    ExecutionId, "exec_"
);
