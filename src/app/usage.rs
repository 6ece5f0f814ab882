//! Counting how much flows are used and what listings cost, and reading that again.
//!
//! A direct execution counts when it ends, with its time; a guided one when it comes to its end,
//! without: how long a person and a model think says nothing of the flow. What is rehearsed,
//! refused or cancelled does not count. Counts belong to a source and a flow's name, so they
//! outlive every push that keeps the name, and two catalogs do not mix. What models took counts
//! with every step that one answered, however its execution ends.
//!
//! Counting never fails a call and never holds one up; with `no_usage` nothing is read or written.

mod ledger;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, NaiveDate};

use crate::app::guide::untold;
use crate::app::{App, Error};
use crate::clock::Clock;
use crate::discover::{Mode, Times, Usage};
use crate::execute::Executed;
use crate::lock::lock;
use crate::model::{Cost, Generated};
use crate::run::{Guided, GuidedState, Status};
use crate::store::{CountedUsage, FlowTotals, ListingTotals, ModelCount, ModelTotals, Store, UsageSpan, day_of};
use crate::tokens::estimate;

use ledger::Ledger;

/// How long what was read of the store is used for listings, in seconds: scores move slowly.
const KEPT: Duration = Duration::from_secs(5);

/// Usage by the flow's name.
pub type UsageByFlow = Arc<BTreeMap<String, Usage>>;

/// What one listing cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListingCost {
    /// The mode.
    pub mode: Mode,
    /// The entries that it showed.
    pub entries: usize,
    /// The characters of the reply, as written.
    pub characters: usize,
    /// What the reply costs its reader, in estimated tokens.
    pub tokens: usize,
    /// How long it took.
    pub took: Duration,
    /// How many deprecated arguments it was given.
    pub deprecated: usize,
}

impl ListingCost {
    /// The same, of a reply that was written as a text.
    #[must_use]
    pub fn written(self, text: &str) -> Self {
        Self { characters: text.chars().count(), tokens: estimate(text), ..self }
    }
}

/// Which statistics are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StatsRequest {
    /// Only this flow's; then none of listings.
    pub flow: Option<String>,
    /// Only of so many days, today included.
    pub days: Option<u32>,
}

/// What was counted of a source.
#[derive(Debug, Clone, PartialEq)]
pub struct Stats {
    /// The source.
    pub source: String,
    /// Whether anything is counted.
    pub counting: bool,
    /// Of how many days these figures are; of all where there is none.
    pub days: Option<u32>,
    /// The day that counts as today, UTC.
    pub today: NaiveDate,
    /// Flows, the highest score first, then by name.
    pub flows: Vec<FlowStats>,
    /// Listings, by mode.
    pub listings: Vec<ListingTotals>,
    /// What models took, by model and then by flow.
    pub models: Vec<ModelStats>,
    /// Other sources of which something was counted.
    pub others: Vec<String>,
}

/// How much one flow was used.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowStats {
    /// Its name.
    pub name: String,
    /// Its usage in the days that were asked for.
    pub usage: Usage,
    /// All of its usage, which its score is made of.
    pub overall: Usage,
    /// Its uses on each day that had any, in the days that were asked for.
    pub by_day: Vec<(NaiveDate, u64)>,
}

/// What one model took for one flow.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelStats {
    /// The model, as the operator calls it.
    pub model: String,
    /// The flow.
    pub flow: String,
    /// What it took in the days that were asked for.
    pub spent: ModelCount,
    /// What that cost; none where no price is set.
    pub cost: Option<Cost>,
    /// The same on each day that had any.
    pub by_day: Vec<(NaiveDate, ModelCount)>,
}

/// What counts for one source, and what is known of it.
pub(super) struct UsageCounter {
    source: String,
    clock: Arc<dyn Clock>,
    ledger: Arc<Ledger>,
    /// Reads beside the thread that writes, and does not wait for it.
    store: Store,
    recent: Mutex<Option<(Duration, UsageByFlow)>>,
}

impl UsageCounter {
    pub(super) fn of(source: String, state_dir: &Path, clock: Arc<dyn Clock>) -> Arc<Self> {
        let ledger = Arc::new(Ledger::new(Store::for_counts(state_dir)));
        Arc::new(Self { source, clock, ledger, store: Store::for_counts(state_dir), recent: Mutex::new(None) })
    }

    /// This process is done with a direct execution, which has ended unless it can be gone on with. What models
    /// took for the steps in `before` was counted by whoever did these.
    pub(super) fn driven(
        &self,
        (source, executed): (&str, &Executed),
        before: &[usize],
        resumable: bool,
        cancelled: bool,
    ) {
        let flow = (source, executed.run.plan().name());
        let steps = executed.run.generated().into_iter().filter(|(step, _)| !before.contains(step));
        self.spent(flow, steps.map(|(_, one)| one));
        if !resumable {
            self.executed(flow, executed, cancelled);
        }
    }

    /// A direct execution has ended. One that was cancelled says nothing of its flow, unless it was
    /// done by then.
    fn executed(&self, flow: (&str, &str), executed: &Executed, cancelled: bool) {
        let success = executed.succeeded();
        if success || !cancelled {
            let class = u8::try_from(Times::class(executed.took)).unwrap_or(u8::MAX);
            self.count_use(flow, success, Some((executed.took, class)));
        }
    }

    /// Models answered these steps, or failed to.
    fn spent<'g>(&self, (source, flow): (&str, &str), steps: impl Iterator<Item = &'g Generated>) {
        let day = day_of(self.clock.now());
        for one in steps {
            let (cost, currency) = one.cost.as_ref().map_or((0, ""), |cost| (cost.millionths, cost.currency.as_str()));
            let count = ModelCount { answers: 1, input: one.usage.input, output: one.usage.output, cost };
            self.ledger.add(|counts| counts.model(source, flow, (&one.model, currency), day, count));
        }
    }

    /// A guided execution has ended.
    pub(super) fn guided(&self, guided: &Guided) {
        if matches!(guided.state(), GuidedState::Completed | GuidedState::Failed) {
            let success = guided.run().status() == Status::Success;
            let beginning = guided.beginning();
            let flow = (beginning.source.as_deref().unwrap_or(&self.source), beginning.plan.name());
            self.spent(flow, guided.run().generated().into_iter().map(|(_, one)| one));
            self.count_use(flow, success, None);
        }
    }

    fn count_use(&self, (source, flow): (&str, &str), success: bool, time: Option<(Duration, u8)>) {
        let day = day_of(self.clock.now());
        self.ledger.add(|counts| counts.use_of(source, flow, day, success, time));
    }

    fn listed(&self, cost: &ListingCost) {
        let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
        let listing = ListingTotals {
            mode: String::new(),
            calls: 1,
            entries: count(cost.entries),
            characters: count(cost.characters),
            tokens: count(cost.tokens),
            took: cost.took,
            deprecated: count(cost.deprecated),
        };
        let day = day_of(self.clock.now());
        self.ledger.add(|counts| counts.listing(&self.source, cost.mode.word(), day, &listing));
    }

    async fn usage(&self) -> UsageByFlow {
        let now = self.clock.reading();
        let recent = || lock(&self.recent);
        if let Some((read, usage)) = &*recent()
            && now.saturating_sub(*read) < KEPT
        {
            return usage.clone();
        }
        let read = self.store.uses(self.span(&StatsRequest::default())).await.unwrap_or_else(|error| {
            tracing::debug!(%error, "usage can't be read");
            Vec::new()
        });
        let usage: BTreeMap<String, Usage> =
            read.into_iter().map(|totals| (totals.flow.clone(), usage(&totals))).collect();
        let usage = Arc::new(usage);
        *recent() = Some((now, usage.clone()));
        usage
    }

    fn span(&self, request: &StatsRequest) -> UsageSpan {
        let today = day_of(self.clock.now());
        let since = request.days.map(|days| today.saturating_sub(i64::from(days)).saturating_add(1));
        UsageSpan { source: self.source.clone(), today, flow: request.flow.clone(), since }
    }
}

impl App {
    /// How much each flow of the source was used, by name; flows that never were are not among them.
    /// Nothing where nothing is counted or can be read. Asked again within seconds, it is the same.
    pub async fn usage(&self) -> UsageByFlow {
        match &self.counting {
            Some(counting) => counting.usage().await,
            None => Arc::default(),
        }
    }

    /// Counts a listing that was answered.
    pub fn count_listing(&self, cost: &ListingCost) {
        if let Some(counting) = &self.counting {
            counting.listed(cost);
        }
    }

    /// Waits until what was counted is written, no longer than this. Blocks.
    pub fn finish_counting(&self, grace: Duration) {
        if let Some(counting) = &self.counting {
            counting.ledger.finish(grace);
        }
    }

    /// What was counted of the source.
    ///
    /// # Errors
    /// When the store can't be read.
    pub async fn stats(&self, request: &StatsRequest) -> Result<Stats, Error> {
        let today = self.clock.now().date_naive();
        let mut stats = Stats {
            source: self.source.key(),
            counting: self.counting.is_some(),
            days: request.days,
            today,
            flows: Vec::new(),
            listings: Vec::new(),
            models: Vec::new(),
            others: Vec::new(),
        };
        let Some(counting) = &self.counting else { return Ok(stats) };
        let unread = |error| untold("usage can't be read", &error);
        let all = StatsRequest { days: None, ..request.clone() };
        let overall = counting.store.uses(counting.span(&all)).await.map_err(unread)?;
        let overall: BTreeMap<&str, Usage> =
            overall.iter().map(|totals| (totals.flow.as_str(), usage(totals))).collect();
        let CountedUsage { flows, listings, models, sources } =
            counting.store.counted(counting.span(request)).await.map_err(unread)?;
        stats.flows = flows.iter().map(|totals| flow_stats(totals, &overall)).collect();
        stats.flows.sort_by(|one, other| {
            other.overall.score().cmp(&one.overall.score()).then_with(|| one.name.cmp(&other.name))
        });
        if request.flow.is_none() {
            stats.listings = listings;
        }
        stats.models = models.into_iter().map(model_stats).collect();
        stats.others = sources.into_iter().filter(|source| *source != stats.source).collect();
        Ok(stats)
    }
}

fn usage(totals: &FlowTotals) -> Usage {
    let mut times = Times::default();
    for (class, number) in &totals.classes {
        times.add(usize::from(*class), *number);
    }
    Usage {
        uses: totals.uses,
        successes: totals.successes,
        timed: totals.timed,
        took: totals.took,
        times,
        last_7_days: totals.last_7_days,
        last_30_days: totals.last_30_days,
    }
}

fn date(day: i64) -> Option<NaiveDate> {
    DateTime::from_timestamp(day.saturating_mul(86_400), 0).map(|time| time.date_naive())
}

fn model_stats(totals: ModelTotals) -> ModelStats {
    let ModelTotals { model, flow, currency, count, by_day } = totals;
    let cost = (!currency.is_empty()).then_some(Cost { millionths: count.cost, currency });
    let by_day = by_day.into_iter().filter_map(|(day, count)| Some((date(day)?, count))).collect();
    ModelStats { model, flow, spent: count, cost, by_day }
}

fn flow_stats(totals: &FlowTotals, overall: &BTreeMap<&str, Usage>) -> FlowStats {
    let usage = usage(totals);
    FlowStats {
        name: totals.flow.clone(),
        // Another process may count between two readings.
        overall: overall.get(totals.flow.as_str()).cloned().unwrap_or_else(|| usage.clone()),
        by_day: totals.by_day.iter().filter_map(|(day, uses)| Some((date(*day)?, *uses))).collect(),
        usage,
    }
}
