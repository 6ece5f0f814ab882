//! Guided executions in numbers, and those that were forgotten.

use serde::Serialize;
use serde_json::{Value, json};

use super::status::{GuidedSummary, guided_summary};
use crate::app::{Pruned, Tally};

/// What was forgotten, or would be.
#[derive(Debug, Clone, PartialEq, Serialize)]
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

/// How guided executions went, flow by flow. Shares are in per cent of all executions of the flow, and null where it has
/// none; `avgSeconds` is how long completed ones took from beginning to end.
pub fn tallies(tallies: &[Tally]) -> Value {
    let told = |tally: &Tally| {
        let share = |part: usize| per_cent_of(part, tally.executions);
        json!({
            "flowName": tally.flow,
            "executions": tally.executions,
            "completed": tally.completed,
            "failed": tally.failed,
            "cancelled": tally.cancelled,
            "awaitingHuman": tally.awaiting_human,
            "running": tally.running,
            "abandoned": tally.abandoned,
            "completionPercent": share(tally.completed),
            "abandonmentPercent": share(tally.abandoned + tally.cancelled),
            "breachPercent": share(tally.with_breaches),
            "escalationPercent": share(tally.with_escalations),
            "breaches": tally.breaches,
            "escalations": tally.escalations,
            "stepsClosed": tally.steps_closed,
            "avgSeconds": tally.avg_seconds.map(|seconds| (seconds * 1_000.0).round() / 1_000.0),
        })
    };
    json!({"flows": tallies.iter().map(told).collect::<Vec<_>>()})
}

/// A part in per cent, with one decimal.
fn per_cent_of(part: usize, whole: usize) -> Option<f64> {
    let (part, whole) = (u32::try_from(part).unwrap_or(u32::MAX), u32::try_from(whole).unwrap_or(u32::MAX));
    (whole > 0).then(|| (f64::from(part) * 1_000.0 / f64::from(whole)).round() / 10.0)
}
