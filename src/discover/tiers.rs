//! The entries of the modes that go by usage: what is used most, the categories, summaries, and everything
//! about a few flows.
//!
//! Usage is handed in with a page; nothing is counted or looked up here.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::rows::{FlowKey, PLAIN_KIND, by_label};
use super::score::{Popularity, Usage};
use super::text::{self, LONGEST_DESCRIPTION};
use super::{Category, FlowInput, FlowRow};

/// How many flows a category names.
const POPULAR: usize = 2;
/// Longest description of an entry of hot, in characters, without the dots.
const LONGEST_HOT: usize = 240;

/// What is known of flows besides their files.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures<'a> {
    /// Where the flows come from, as people write it.
    pub source: &'a str,
    /// Their usage by name; a flow that is not there was never used.
    pub usage: Option<&'a BTreeMap<String, Usage>>,
}

impl Figures<'_> {
    pub(super) fn of(&self, name: &str) -> Usage {
        self.usage.and_then(|usage| usage.get(name)).cloned().unwrap_or_default()
    }

    /// Whether a flow takes no longer than this on average, in milliseconds; one whose time is not known does.
    pub(super) fn within(&self, name: &str, most_ms: i64) -> bool {
        let average = self.usage.and_then(|usage| usage.get(name)).and_then(Usage::average);
        average.is_none_or(|average| i128::try_from(average.as_millis()).unwrap_or(i128::MAX) <= i128::from(most_ms))
    }

    /// The rows with the highest score first; those of one score stay in their order.
    pub(super) fn best_first(&self, keys: &[FlowKey], rows: &mut [usize]) {
        // Most flows of a large catalog were never used: their score is known without looking.
        let usual = Usage::default().score();
        let score = |row: &usize| match (self.usage, keys.get(*row)) {
            (Some(usage), Some(key)) => usage.get(&key.name).map_or(usual, Usage::score),
            _ => usual,
        };
        rows.sort_by_cached_key(|row| std::cmp::Reverse(score(row)));
    }
}

/// Entry of mode hot.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HotEntry {
    /// Name the flow is shown and executed by.
    pub name: String,
    /// Where the flow comes from: `owner/repo`, the name of a folder, `built-in examples`.
    pub source: String,
    /// The first two sentences, cut to about 240 characters.
    pub description: String,
    /// Inputs that have to be given, sorted.
    pub params: Vec<String>,
    /// How long an execution takes on average, in milliseconds; null when not known.
    #[serde(rename = "avgLatencyMs")]
    #[schemars(range(min = 0))]
    pub average_ms: Option<f64>,
    /// How many of a hundred executions succeed; null when there was none.
    #[schemars(range(min = 0, max = 100))]
    pub success_rate: Option<f64>,
    /// What the score means.
    pub popularity: Popularity,
    /// True for a flow that is made for guided execution; absent for others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub guided: bool,
}

/// Entry of mode categories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CategoryEntry {
    /// What the argument `category` filters by; null for flows without a category.
    pub category: Option<String>,
    /// How it is shown: as `_category.json` says, else the category itself.
    pub display_name: String,
    /// What belongs into it; empty when nobody says.
    pub description: String,
    /// How many flows it has.
    pub flow_count: usize,
    /// From how many sources they come.
    pub source_count: usize,
    /// The flows with the highest score of those that were ever used, at most two.
    pub popular_flows: Vec<String>,
}

/// Entry of mode summaries.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SummaryEntry {
    /// Name the flow is shown and executed by.
    pub name: String,
    /// The first sentence, cut to about 150 characters.
    pub description: String,
    /// Everything a caller may give, by name: `type (required)`, `type (required, or from a set)` or `type (optional)`.
    pub params: BTreeMap<String, String>,
    /// Labels of the results.
    pub returns: Vec<String>,
    /// How long an execution takes on average, in milliseconds; null when not known.
    #[serde(rename = "avgLatencyMs")]
    #[schemars(range(min = 0))]
    pub average_ms: Option<f64>,
    /// True for a flow that is made for guided execution; absent for others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub guided: bool,
}

/// Entry of mode full.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FullEntry {
    /// Name the flow is shown and executed by.
    pub name: String,
    /// What the flow is for, whole.
    pub description: String,
    /// Tags of the flow.
    pub tags: Vec<String>,
    /// Category of the flow; null when it has none.
    pub category: Option<String>,
    /// Version of the flow; "1.0" if the file has none.
    pub version: String,
    /// Labels of the steps, in order.
    pub steps: Vec<String>,
    /// JSON Schema of what a caller gives; null if the flow has errors and that can't be read.
    #[schemars(extend("type" = ["object", "null"]))]
    pub parameters: Value,
    /// Results: label, and the id of the node that gives it.
    #[schemars(with = "BTreeMap<String, String>")]
    pub returns: Map<String, Value>,
    /// What people ask for when they mean this flow, as its author wrote it.
    pub examples: Vec<String>,
    /// How its executions went.
    pub performance: Performance,
    /// True for a flow that is made for guided execution; absent for others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub guided: bool,
}

/// How the executions of a flow went.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Performance {
    /// How long an execution takes on average, in milliseconds; null when not known.
    #[serde(rename = "avgLatencyMs")]
    #[schemars(range(min = 0))]
    pub average_ms: Option<f64>,
    /// What 95 of a hundred executions stay within, in milliseconds, estimated; null when not known.
    #[serde(rename = "p95LatencyMs")]
    #[schemars(range(min = 0))]
    pub p95_ms: Option<f64>,
    /// How many of a hundred executions succeed; null when there was none.
    #[schemars(range(min = 0, max = 100))]
    pub success_rate: Option<f64>,
    /// Executions that came to an end.
    pub total_invocations: u64,
}

impl Performance {
    fn of(usage: &Usage) -> Self {
        Self {
            average_ms: average_ms(usage),
            p95_ms: usage.p95().map(millis),
            success_rate: usage.success_rate(),
            total_invocations: usage.uses,
        }
    }
}

impl HotEntry {
    pub(super) fn of(flow: FlowRow, figures: &Figures<'_>) -> Self {
        let usage = figures.of(&flow.name);
        let mut params: Vec<String> =
            flow.inputs.into_iter().filter(|input| input.required).map(|input| input.name).collect();
        params.sort_unstable();
        Self {
            source: figures.source.to_owned(),
            description: text::truncated(&text::sentences(&flow.description, 2), LONGEST_HOT),
            params,
            average_ms: average_ms(&usage),
            success_rate: usage.success_rate(),
            popularity: usage.score().popularity(),
            name: flow.name,
            guided: flow.guided,
        }
    }
}

impl SummaryEntry {
    pub(super) fn of(flow: FlowRow, figures: &Figures<'_>) -> Self {
        let said = |input: FlowInput| {
            let terms = format!("{} ({})", input.kind.as_deref().unwrap_or(PLAIN_KIND), input.needed());
            (input.name, terms)
        };
        Self {
            description: text::truncated(&text::sentences(&flow.description, 1), LONGEST_DESCRIPTION),
            params: flow.inputs.into_iter().map(said).collect(),
            returns: flow.outputs.into_iter().map(|output| output.label).collect(),
            average_ms: average_ms(&figures.of(&flow.name)),
            name: flow.name,
            guided: flow.guided,
        }
    }
}

impl FullEntry {
    pub(super) fn of(flow: FlowRow, version: String, figures: &Figures<'_>) -> Self {
        Self {
            parameters: if flow.inputs_unknown { Value::Null } else { parameters(&flow.inputs) },
            performance: Performance::of(&figures.of(&flow.name)),
            name: flow.name,
            description: flow.description,
            tags: flow.tags,
            category: flow.category,
            version,
            steps: flow.steps,
            returns: by_label(flow.outputs),
            examples: flow.examples,
            guided: flow.guided,
        }
    }
}

/// The JSON Schema of some inputs: an object with a property for each.
fn parameters(inputs: &[FlowInput]) -> Value {
    let mut properties = Map::new();
    for input in inputs {
        let kind = input.kind.as_deref().unwrap_or(PLAIN_KIND);
        let property = property(kind, input.description.as_deref(), &input.choices, input.default.as_ref());
        properties.insert(input.name.clone(), property);
    }
    let required: Vec<&str> = inputs.iter().filter(|input| input.required).map(|input| input.name.as_str()).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// The JSON Schema of the choice among a flow's variable sets.
pub fn set_property(sets: &[String]) -> Value {
    property(
        "string",
        Some("A named set of values to start from."),
        &sets.iter().map(|set| json!(set)).collect::<Vec<_>>(),
        None,
    )
}

/// The JSON Schema of one input.
pub fn property(kind: &str, description: Option<&str>, choices: &[Value], default: Option<&Value>) -> Value {
    let mut property = Map::new();
    property.insert("type".to_owned(), json!(kind));
    if kind == "object" {
        // Several clients close an object that does not say that it is open.
        property.insert("additionalProperties".to_owned(), json!(true));
    }
    if let Some(description) = description {
        property.insert("description".to_owned(), json!(description));
    }
    if !choices.is_empty() {
        property.insert("enum".to_owned(), json!(choices));
    }
    if let Some(default) = default {
        property.insert("default".to_owned(), default.clone());
    }
    Value::Object(property)
}

/// An average in milliseconds; none where no time is known.
fn average_ms(usage: &Usage) -> Option<f64> {
    usage.average().map(millis)
}

/// A time as replies write it: milliseconds, down to microseconds, for a flow of templates takes no more.
pub fn millis(time: Duration) -> f64 {
    (time.as_secs_f64() * 1_000_000.0).round() / 1_000.0
}

/// The categories of some rows, by their place among the categories, then by name; flows without one come last.
pub(super) fn categories(
    keys: &[FlowKey],
    declared: &[Category],
    rows: &[usize],
    figures: &Figures<'_>,
) -> Vec<CategoryEntry> {
    let mut found: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for &row in rows {
        let Some(key) = keys.get(row) else { continue };
        found.entry(key.category.as_deref()).or_default().push(row);
    }
    let mut placed: Vec<((bool, i64, String), CategoryEntry)> = Vec::with_capacity(found.len());
    for (category, mut rows) in found {
        let said = declared.iter().find(|said| Some(said.name.as_str()) == category);
        figures.best_first(keys, &mut rows);
        let display = said.and_then(|said| said.display_name.clone());
        let entry = CategoryEntry {
            display_name: display
                .or_else(|| category.map(str::to_owned))
                .unwrap_or_else(|| "Without a category".into()),
            description: text::truncated(
                said.and_then(|said| said.description.as_deref()).unwrap_or_default(),
                LONGEST_DESCRIPTION,
            ),
            flow_count: rows.len(),
            source_count: 1,
            popular_flows: rows
                .iter()
                .filter_map(|row| Some(keys.get(*row)?.name.clone()))
                .filter(|name| figures.of(name).uses > 0)
                .take(POPULAR)
                .collect(),
            category: category.map(str::to_owned),
        };
        let order = said.and_then(|said| said.sort_order).unwrap_or(i64::MAX);
        placed.push(((category.is_none(), order, category.unwrap_or_default().to_owned()), entry));
    }
    placed.sort_by(|a, b| a.0.cmp(&b.0));
    placed.into_iter().map(|(_, entry)| entry).collect()
}
