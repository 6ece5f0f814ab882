//! What was counted: how much flows are used, and what listings cost.

use serde_json::{Value, json};

use crate::app::{FlowStats, ListingTotals, Stats};
use crate::discover::millis;

/// What `flowy stats` answers.
pub fn stats(stats: &Stats) -> Value {
    json!({
        "source": stats.source,
        "counting": stats.counting,
        "days": stats.days,
        "flows": stats.flows.iter().map(flow).collect::<Vec<_>>(),
        "listings": stats.listings.iter().map(listing).collect::<Vec<_>>(),
        "otherSources": stats.others,
    })
}

fn flow(flow: &FlowStats) -> Value {
    let (usage, score) = (&flow.usage, flow.overall.score());
    let by_day = flow.by_day.iter().map(|(day, uses)| json!({"day": day.to_string(), "uses": uses}));
    json!({
        "name": flow.name,
        "uses": usage.uses,
        "successes": usage.successes,
        "successRate": usage.success_rate(),
        "avgLatencyMs": usage.average().map(millis),
        "p95LatencyMs": usage.p95().map(millis),
        "usesIn7Days": usage.last_7_days,
        "usesIn30Days": usage.last_30_days,
        "score": score.value(),
        "popularity": score.popularity().word(),
        "usesByDay": by_day.collect::<Vec<_>>(),
    })
}

fn listing(listing: &ListingTotals) -> Value {
    json!({
        "mode": listing.mode,
        "calls": listing.calls,
        "entries": listing.entries,
        "characters": listing.characters,
        "estimatedTokens": listing.tokens,
        "avgLatencyMs": millis(listing.average()),
        "deprecatedUses": listing.deprecated,
    })
}
