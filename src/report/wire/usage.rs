//! What was counted: how much flows are used, and what listings cost.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::{FlowStats, ListingTotals, ModelCount, ModelStats, Stats};
use crate::discover::{Popularity, millis};
use crate::model::Cost;

/// What `flowy stats --json` prints: how much the catalog's flows are used, and what listings cost.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(title = "flowy stats")]
pub struct StatsAnswer {
    /// The source: `github.com/owner/repo`, `folder` and its whole path, or `built-in examples`.
    source: String,
    /// Whether anything is counted; false with the setting `no_usage`, and then nothing is read either.
    counting: bool,
    /// Of how many days the figures are, today (UTC) included; null for all.
    days: Option<u32>,
    /// Flows that were used, the highest score first, then by name.
    flows: Vec<FlowFigures>,
    /// What listings cost, by mode; none where one flow is asked for.
    listings: Vec<ListingFigures>,
    /// What models took, by model and then by flow.
    models: Vec<ModelFigures>,
    /// Other sources of which something was counted on this machine.
    other_sources: Vec<String>,
}

/// How much a flow is used.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowFigures {
    /// The flow's name.
    name: String,
    /// Executions that came to an end: direct ones, and guided ones that were completed or failed.
    uses: u64,
    /// Those in which no step failed.
    successes: u64,
    /// Successes in per cent of uses.
    success_rate: Option<f64>,
    /// How long a direct execution took on average, in milliseconds; null where there was none.
    avg_latency_ms: Option<f64>,
    /// What 95 per cent of the direct executions stayed within, in milliseconds, estimated from 32 classes of times;
    /// null where there was none.
    #[serde(rename = "p95LatencyMs")]
    p95_latency_ms: Option<f64>,
    /// Uses of the last 7 days, whatever `days` says.
    #[serde(rename = "usesIn7Days")]
    uses_in_7_days: u64,
    /// Uses of the last 30 days, whatever `days` says.
    #[serde(rename = "usesIn30Days")]
    uses_in_30_days: u64,
    /// From 0.00 to 1.00, of all uses whatever `days` says: 0.40 for many uses, 0.30 for successes, 0.20 for speed,
    /// 0.10 for recent use.
    score: f64,
    /// What the score means: hot from 0.80, warm from 0.60, standard from 0.30, else cold.
    popularity: Popularity,
    /// The days that had any, the oldest first.
    uses_by_day: Vec<DayFigures>,
}

/// How much a flow was used on one day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DayFigures {
    /// The day, UTC.
    day: String,
    /// Uses on that day.
    uses: u64,
}

/// What listings of one mode cost.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListingFigures {
    /// The mode; `contract` for the contract's own `flows/list`.
    mode: String,
    /// Listings that were answered.
    calls: u64,
    /// The entries of all of them.
    entries: u64,
    /// The characters of all replies, as written.
    characters: u64,
    /// The estimated tokens of all replies.
    estimated_tokens: u64,
    /// How long a listing took on average, in milliseconds.
    avg_latency_ms: f64,
    /// How many deprecated arguments they were given.
    deprecated_uses: u64,
}

/// What one model took for one flow.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ModelFigures {
    /// The model, as the operator calls it.
    model: String,
    /// The flow's name.
    flow: String,
    #[serde(flatten)]
    spent: SpentFigures,
    /// The same on each day that had any, the oldest first.
    by_day: Vec<ModelDay>,
}

/// What a model took on one day.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ModelDay {
    /// The day, UTC.
    day: String,
    #[serde(flatten)]
    spent: SpentFigures,
}

/// What a model took.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpentFigures {
    /// Steps that it answered, or failed to; answers that were stored before are left out.
    answers: u64,
    /// Tokens of prompts.
    input_tokens: u64,
    /// Tokens of answers.
    output_tokens: u64,
    /// What that cost; left out where no price is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<f64>,
    /// What the cost is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
}

impl SpentFigures {
    fn of(spent: ModelCount, currency: Option<&str>) -> Self {
        let cost = currency.map(|currency| Cost { millionths: spent.cost, currency: currency.to_owned() });
        Self {
            answers: spent.answers,
            input_tokens: spent.input,
            output_tokens: spent.output,
            cost: cost.as_ref().map(Cost::amount),
            currency: cost.map(|cost| cost.currency),
        }
    }
}

impl From<&ModelStats> for ModelFigures {
    fn from(stats: &ModelStats) -> Self {
        let currency = stats.cost.as_ref().map(|cost| cost.currency.as_str());
        let day = |(day, spent): &(chrono::NaiveDate, ModelCount)| ModelDay {
            day: day.to_string(),
            spent: SpentFigures::of(*spent, currency),
        };
        Self {
            model: stats.model.clone(),
            flow: stats.flow.clone(),
            spent: SpentFigures::of(stats.spent, currency),
            by_day: stats.by_day.iter().map(day).collect(),
        }
    }
}

/// What `flowy stats` answers.
pub fn stats(stats: &Stats) -> StatsAnswer {
    StatsAnswer {
        source: stats.source.clone(),
        counting: stats.counting,
        days: stats.days,
        flows: stats.flows.iter().map(FlowFigures::from).collect(),
        listings: stats.listings.iter().map(ListingFigures::from).collect(),
        models: stats.models.iter().map(ModelFigures::from).collect(),
        other_sources: stats.others.clone(),
    }
}

impl From<&FlowStats> for FlowFigures {
    fn from(flow: &FlowStats) -> Self {
        let (usage, score) = (&flow.usage, flow.overall.score());
        let days = flow.by_day.iter();
        Self {
            name: flow.name.clone(),
            uses: usage.uses,
            successes: usage.successes,
            success_rate: usage.success_rate(),
            avg_latency_ms: usage.average().map(millis),
            p95_latency_ms: usage.p95().map(millis),
            uses_in_7_days: usage.last_7_days,
            uses_in_30_days: usage.last_30_days,
            score: score.value(),
            popularity: score.popularity(),
            uses_by_day: days.map(|(day, uses)| DayFigures { day: day.to_string(), uses: *uses }).collect(),
        }
    }
}

impl From<&ListingTotals> for ListingFigures {
    fn from(listing: &ListingTotals) -> Self {
        Self {
            mode: listing.mode.clone(),
            calls: listing.calls,
            entries: listing.entries,
            characters: listing.characters,
            estimated_tokens: listing.tokens,
            avg_latency_ms: millis(listing.average()),
            deprecated_uses: listing.deprecated,
        }
    }
}
