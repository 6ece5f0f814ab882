//! What was looked at on this machine, and what helps.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::{Check, Standing};

/// What `flowy doctor --json` prints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "flowy doctor")]
pub struct DoctorAnswer {
    /// Whether nothing is wrong; the program then exits with 0.
    ok: bool,
    /// What was looked at, in a fixed order.
    checks: Vec<CheckAnswer>,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckAnswer {
    /// What: `program`, `settings` (only where they can't be used), `source`, `token`, `quota`, `clock`, `proxy` (these four
    /// only where the source is on GitHub), `cache folder`, `state folder`, `servers file`, `models`, `PATH`, or a client.
    about: &'static str,
    /// good; note: worth knowing, and nothing is kept from working; wrong; unknown: it could not be asked.
    #[schemars(extend("enum" = ["good", "note", "wrong", "unknown"]))]
    standing: &'static str,
    /// What was found.
    found: String,
    /// What helps; absent where there is nothing to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<String>,
}

/// What was looked at.
pub fn doctor(checks: &[Check]) -> DoctorAnswer {
    let answer = |check: &Check| CheckAnswer {
        about: check.about,
        standing: check.standing.word(),
        found: check.found.clone(),
        fix: check.fix.clone(),
    };
    DoctorAnswer {
        ok: !checks.iter().any(|check| check.standing == Standing::Wrong),
        checks: checks.iter().map(answer).collect(),
    }
}
