//! Guided executions in numbers, and those that were forgotten.

use schemars::JsonSchema;
use serde::Serialize;

use super::status::{GuidedSummary, guided_summary};
use crate::app::{Pruned, Tally};

/// What was forgotten, or would be.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrunedAnswer {
    /// How many executions were forgotten.
    pruned: usize,
    /// How many stored answers of models were forgotten, or would be; left out where these were not asked about.
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<usize>,
    /// Whether nothing was forgotten, because that was only rehearsed.
    dry_run: bool,
    /// Whether nothing of them is left in the file.
    compact: bool,
    /// The executions.
    executions: Vec<GuidedSummary>,
}

/// How guided executions went.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TalliesAnswer {
    /// Flow by flow.
    flows: Vec<TallyAnswer>,
}

/// How the guided executions of one flow went.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TallyAnswer {
    /// The flow's name.
    flow_name: String,
    /// All executions.
    executions: usize,
    /// Those that came to a result.
    completed: usize,
    /// Those that came to none.
    failed: usize,
    /// Those that were cancelled.
    cancelled: usize,
    /// Those that wait for a person.
    awaiting_human: usize,
    /// Those that go on.
    running: usize,
    /// Of those that go on, the ones that nothing happened to for a while.
    abandoned: usize,
    /// Completed ones in per cent of all; null where there is none.
    completion_percent: Option<f64>,
    /// Abandoned and cancelled ones in per cent of all; null where there is none.
    abandonment_percent: Option<f64>,
    /// Those in which an output was refused, in per cent of all; null where there is none.
    breach_percent: Option<f64>,
    /// Those in which a person was asked, in per cent of all; null where there is none.
    escalation_percent: Option<f64>,
    /// All refused outputs.
    breaches: usize,
    /// All questions to a person.
    escalations: usize,
    /// All closed steps.
    steps_closed: usize,
    /// How long the completed ones took from beginning to end, on average, in seconds; null where there is none.
    avg_seconds: Option<f64>,
}

/// What was forgotten, or would be.
pub fn pruned(pruned: &Pruned) -> PrunedAnswer {
    PrunedAnswer {
        pruned: if pruned.rehearsed { 0 } else { pruned.executions.len() },
        answers: pruned.answers,
        dry_run: pruned.rehearsed,
        compact: pruned.compact,
        executions: pruned.executions.iter().map(|summary| guided_summary(summary, None)).collect(),
    }
}

/// How guided executions went, flow by flow.
pub fn tallies(tallies: &[Tally]) -> TalliesAnswer {
    TalliesAnswer { flows: tallies.iter().map(TallyAnswer::from).collect() }
}

impl From<&Tally> for TallyAnswer {
    fn from(tally: &Tally) -> Self {
        Self {
            flow_name: tally.flow.clone(),
            executions: tally.executions,
            completed: tally.completed,
            failed: tally.failed,
            cancelled: tally.cancelled,
            awaiting_human: tally.awaiting_human,
            running: tally.running,
            abandoned: tally.abandoned,
            completion_percent: per_cent_of(tally.completed, tally.executions),
            abandonment_percent: per_cent_of(tally.abandoned + tally.cancelled, tally.executions),
            breach_percent: per_cent_of(tally.with_breaches, tally.executions),
            escalation_percent: per_cent_of(tally.with_escalations, tally.executions),
            breaches: tally.breaches,
            escalations: tally.escalations,
            steps_closed: tally.steps_closed,
            avg_seconds: tally.avg_seconds.map(|seconds| (seconds * 1_000.0).round() / 1_000.0),
        }
    }
}

/// A part in per cent, with one decimal.
fn per_cent_of(part: usize, whole: usize) -> Option<f64> {
    let (part, whole) = (u32::try_from(part).unwrap_or(u32::MAX), u32::try_from(whole).unwrap_or(u32::MAX));
    (whole > 0).then(|| (f64::from(part) * 1_000.0 / f64::from(whole)).round() / 10.0)
}
