//! Counts by source and day: how often flows were used and how that went, and what listings cost.
//!
//! What is counted comes in batches, each of which is one transaction: it is there as a whole or
//! not at all, and what another process counted meanwhile stays. Counts are sums; what they mean,
//! and what a class of times is, is not known here.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, Row, params};

use super::summary::all;
use super::{Store, StoreError};

/// Seconds of a day (UTC has no others that a time stamp knows).
const DAY_SECONDS: i64 = 86_400;

/// The day of a time, in whole days since 1970, UTC.
pub fn day_of(time: DateTime<Utc>) -> i64 {
    time.timestamp().div_euclid(DAY_SECONDS)
}

/// What was counted and is not written yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// By source, flow and day.
    uses: BTreeMap<(String, String, i64), FlowCount>,
    /// By source, mode and day.
    listings: BTreeMap<(String, String, i64), ListingTotals>,
    /// By source, flow, model, currency and day.
    models: BTreeMap<(String, String, String, String, i64), ModelCount>,
}

/// What a model took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelCount {
    /// Steps that it answered, or failed to.
    pub answers: u64,
    /// Tokens of prompts.
    pub input: u64,
    /// Tokens of answers.
    pub output: u64,
    /// What that cost, in millionths of the currency.
    pub cost: u64,
}

impl ModelCount {
    fn add(&mut self, more: Self) {
        self.answers += more.answers;
        self.input += more.input;
        self.output += more.output;
        self.cost += more.cost;
    }
}

/// What one model took for one flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelTotals {
    /// The model, as the operator calls it.
    pub model: String,
    /// The flow.
    pub flow: String,
    /// What costs are in; empty where there is no price.
    pub currency: String,
    /// All of it.
    pub count: ModelCount,
    /// On each day that had any, by day.
    pub by_day: Vec<(i64, ModelCount)>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct FlowCount {
    uses: u64,
    successes: u64,
    timed: u64,
    took: Duration,
    classes: BTreeMap<u8, u64>,
}

/// What listings of one mode cost.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListingTotals {
    /// The mode; empty while it is counted.
    pub mode: String,
    /// How many there were.
    pub calls: u64,
    /// The entries of all of them.
    pub entries: u64,
    /// The characters of all of them.
    pub characters: u64,
    /// The estimated tokens of all of them.
    pub tokens: u64,
    /// How long they took together.
    pub took: Duration,
    /// How many deprecated arguments they were given.
    pub deprecated: u64,
}

/// How much one flow was used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FlowTotals {
    /// The flow's name.
    pub flow: String,
    /// All uses.
    pub uses: u64,
    /// Those that went well.
    pub successes: u64,
    /// Those whose time is known.
    pub timed: u64,
    /// How long these took together.
    pub took: Duration,
    /// How many took how long: class and number, by class.
    pub classes: Vec<(u8, u64)>,
    /// Uses of the last 7 days.
    pub last_7_days: u64,
    /// Uses of the last 30 days.
    pub last_30_days: u64,
    /// How many there were on each day, by day; days without any are left out.
    pub by_day: Vec<(i64, u64)>,
}

/// Which counts are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageSpan {
    /// The source.
    pub source: String,
    /// The day that counts as today.
    pub today: i64,
    /// Only this flow.
    pub flow: Option<String>,
    /// Only from this day on; the last 7 and 30 days are what they are.
    pub since: Option<i64>,
}

/// Everything that was counted of a source.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CountedUsage {
    /// Flows, by name.
    pub flows: Vec<FlowTotals>,
    /// Listings, by mode.
    pub listings: Vec<ListingTotals>,
    /// Models, by name and then by flow.
    pub models: Vec<ModelTotals>,
    /// All sources of which anything was counted, by name.
    pub sources: Vec<String>,
}

impl ListingTotals {
    /// How long a listing took on average.
    pub fn average(&self) -> Duration {
        let micros = self.took.as_micros().checked_div(u128::from(self.calls)).unwrap_or(0);
        Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }
}

impl Counts {
    /// Counts a use of a flow: whether it went well, and how long it took, with the class of that,
    /// where this is known.
    pub fn use_of(&mut self, source: &str, flow: &str, day: i64, success: bool, time: Option<(Duration, u8)>) {
        let uses = self.uses.entry((source.to_owned(), flow.to_owned(), day)).or_default();
        uses.uses += 1;
        uses.successes += u64::from(success);
        if let Some((took, class)) = time {
            uses.timed += 1;
            uses.took += took;
            *uses.classes.entry(class).or_default() += 1;
        }
    }

    /// Counts what a model took for a step of a flow.
    pub fn model(&mut self, source: &str, flow: &str, (model, currency): (&str, &str), day: i64, count: ModelCount) {
        let key = (source.to_owned(), flow.to_owned(), model.to_owned(), currency.to_owned(), day);
        self.models.entry(key).or_default().add(count);
    }

    /// Counts listings.
    pub fn listing(&mut self, source: &str, mode: &str, day: i64, cost: &ListingTotals) {
        let sum = self.listings.entry((source.to_owned(), mode.to_owned(), day)).or_default();
        sum.calls += cost.calls;
        sum.entries += cost.entries;
        sum.characters += cost.characters;
        sum.tokens += cost.tokens;
        sum.took += cost.took;
        sum.deprecated += cost.deprecated;
    }

    /// Adds what is in another batch.
    pub fn merge(&mut self, other: Self) {
        for (key, more) in other.uses {
            let uses = self.uses.entry(key).or_default();
            uses.uses += more.uses;
            uses.successes += more.successes;
            uses.timed += more.timed;
            uses.took += more.took;
            for (class, number) in more.classes {
                *uses.classes.entry(class).or_default() += number;
            }
        }
        for ((source, mode, day), more) in other.listings {
            self.listing(&source, &mode, day, &more);
        }
        for (key, more) in other.models {
            self.models.entry(key).or_default().add(more);
        }
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.uses.is_empty() && self.listings.is_empty() && self.models.is_empty()
    }

    fn write(&self, connection: &Connection) -> Result<(), StoreError> {
        let mut uses = connection.prepare_cached(
            "INSERT INTO flow_uses (source, flow, day, uses, successes, timed, took) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (source, flow, day) DO UPDATE SET uses = uses + excluded.uses,
                 successes = successes + excluded.successes, timed = timed + excluded.timed, took = took + excluded.took",
        )?;
        let mut classes = connection.prepare_cached(
            "INSERT INTO flow_times (source, flow, day, class, uses) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT (source, flow, day, class) DO UPDATE SET uses = uses + excluded.uses",
        )?;
        for ((source, flow, day), sum) in &self.uses {
            let [all, successes, timed] = [sum.uses, sum.successes, sum.timed].map(stored);
            uses.execute(params![source, flow, day, all, successes, timed, micros(sum.took)])?;
            for (class, number) in &sum.classes {
                classes.execute(params![source, flow, day, class, stored(*number)])?;
            }
        }
        let mut listings = connection.prepare_cached(
            "INSERT INTO listings (source, mode, day, calls, entries, characters, tokens, took, deprecated)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (source, mode, day) DO UPDATE SET calls = calls + excluded.calls,
                 entries = entries + excluded.entries, characters = characters + excluded.characters,
                 tokens = tokens + excluded.tokens, took = took + excluded.took,
                 deprecated = deprecated + excluded.deprecated",
        )?;
        for ((source, mode, day), sum) in &self.listings {
            let counts = [sum.calls, sum.entries, sum.characters, sum.tokens, sum.deprecated];
            let [calls, entries, characters, tokens, deprecated] = counts.map(stored);
            let took = micros(sum.took);
            listings.execute(params![source, mode, day, calls, entries, characters, tokens, took, deprecated])?;
        }
        let mut models = connection.prepare_cached(
            "INSERT INTO model_uses (source, flow, model, currency, day, answers, input, output, cost)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
             ON CONFLICT (source, flow, model, currency, day) DO UPDATE SET answers = answers + excluded.answers,
                 input = input + excluded.input, output = output + excluded.output, cost = cost + excluded.cost",
        )?;
        for ((source, flow, model, currency, day), sum) in &self.models {
            let [answers, input, output, cost] = [sum.answers, sum.input, sum.output, sum.cost].map(stored);
            models.execute(params![source, flow, model, currency, day, answers, input, output, cost])?;
        }
        Ok(())
    }
}

impl Store {
    /// Adds counts to what is there, all or none of them. Blocks while it writes.
    ///
    /// # Errors
    /// When they can't be kept; then nothing was added.
    pub fn count(&self, counts: &Counts) -> Result<(), StoreError> {
        self.write_here(|opened| {
            let transaction = opened.writing()?;
            counts.write(&transaction)?;
            transaction.commit()?;
            Ok(())
        })
    }

    /// How much the flows of a source were used, by name; nothing where there is no file.
    ///
    /// # Errors
    /// When it can't be read.
    pub async fn uses(&self, span: UsageSpan) -> Result<Vec<FlowTotals>, StoreError> {
        let read = self.read(move |opened| {
            let transaction = opened.reading()?;
            flows(&transaction, &span)
        });
        Ok(read.await?.unwrap_or_default())
    }

    /// Everything that was counted of a source; nothing where there is no file.
    ///
    /// # Errors
    /// When it can't be read.
    pub async fn counted(&self, span: UsageSpan) -> Result<CountedUsage, StoreError> {
        let read = self.read(move |opened| {
            let transaction = opened.reading()?;
            let mut flows = flows(&transaction, &span)?;
            put_days(&transaction, &span, &mut flows)?;
            let (listings, models) = (listings(&transaction, &span)?, models(&transaction, &span)?);
            Ok(CountedUsage { flows, listings, models, sources: sources(&transaction)? })
        });
        Ok(read.await?.unwrap_or_default())
    }
}

/// Today and the days before it, so many in all, begin after this.
fn before(today: i64, days: i64) -> i64 {
    today.saturating_sub(days)
}

fn flows(connection: &Connection, span: &UsageSpan) -> Result<Vec<FlowTotals>, StoreError> {
    let since = span.since.unwrap_or(i64::MIN);
    let mut statement = connection.prepare_cached(
        "SELECT flow, sum(uses) FILTER (WHERE day >= ?3), sum(successes) FILTER (WHERE day >= ?3),
                sum(timed) FILTER (WHERE day >= ?3), sum(took) FILTER (WHERE day >= ?3),
                sum(uses) FILTER (WHERE day > ?4), sum(uses) FILTER (WHERE day > ?5)
         FROM flow_uses WHERE source = ?1 AND (?2 IS NULL OR flow = ?2) GROUP BY flow ORDER BY flow",
    )?;
    let (week, month) = (before(span.today, 7), before(span.today, 30));
    let mut found: Vec<FlowTotals> = all(&mut statement, params![span.source, span.flow, since, week, month], |row| {
        Ok(FlowTotals {
            flow: row.get(0)?,
            uses: number(row, 1)?,
            successes: number(row, 2)?,
            timed: number(row, 3)?,
            took: time(row, 4)?,
            last_7_days: number(row, 5)?,
            last_30_days: number(row, 6)?,
            ..FlowTotals::default()
        })
    })?;
    found.retain(|totals| totals.uses > 0);
    let mut statement = connection.prepare_cached(
        "SELECT flow, class, sum(uses) FROM flow_times
         WHERE source = ?1 AND (?2 IS NULL OR flow = ?2) AND day >= ?3 GROUP BY flow, class ORDER BY flow, class",
    )?;
    let mut rows = statement.query(params![span.source, span.flow, since])?;
    while let Some(row) = rows.next()? {
        let class = u8::try_from(row.get::<_, i64>(1)?).unwrap_or(u8::MAX);
        let uses = number(row, 2)?;
        put(&mut found, row, |flow| flow.classes.push((class, uses)))?;
    }
    Ok(found)
}

fn put_days(connection: &Connection, span: &UsageSpan, flows: &mut [FlowTotals]) -> Result<(), StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT flow, day, uses FROM flow_uses
         WHERE source = ?1 AND (?2 IS NULL OR flow = ?2) AND day >= ?3 ORDER BY flow, day",
    )?;
    let mut rows = statement.query(params![span.source, span.flow, span.since.unwrap_or(i64::MIN)])?;
    while let Some(row) = rows.next()? {
        let (day, uses) = (row.get(1)?, number(row, 2)?);
        put(flows, row, |flow| flow.by_day.push((day, uses)))?;
    }
    Ok(())
}

/// Adds something of the flow that a row is of; flows stand by name.
fn put(flows: &mut [FlowTotals], row: &Row<'_>, add: impl FnOnce(&mut FlowTotals)) -> Result<(), StoreError> {
    let name = row.get_ref(0)?.as_str()?;
    if let Ok(place) = flows.binary_search_by(|flow| flow.flow.as_str().cmp(name))
        && let Some(flow) = flows.get_mut(place)
    {
        add(flow);
    }
    Ok(())
}

fn listings(connection: &Connection, span: &UsageSpan) -> Result<Vec<ListingTotals>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT mode, sum(calls), sum(entries), sum(characters), sum(tokens), sum(took), sum(deprecated)
         FROM listings WHERE source = ?1 AND day >= ?2 GROUP BY mode ORDER BY mode",
    )?;
    all(&mut statement, params![span.source, span.since.unwrap_or(i64::MIN)], |row| {
        Ok(ListingTotals {
            mode: row.get(0)?,
            calls: number(row, 1)?,
            entries: number(row, 2)?,
            characters: number(row, 3)?,
            tokens: number(row, 4)?,
            took: time(row, 5)?,
            deprecated: number(row, 6)?,
        })
    })
}

fn models(connection: &Connection, span: &UsageSpan) -> Result<Vec<ModelTotals>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT model, flow, currency, day, answers, input, output, cost FROM model_uses
         WHERE source = ?1 AND (?2 IS NULL OR flow = ?2) AND day >= ?3 ORDER BY model, flow, currency, day",
    )?;
    let mut rows = statement.query(params![span.source, span.flow, span.since.unwrap_or(i64::MIN)])?;
    let mut found: Vec<ModelTotals> = Vec::new();
    while let Some(row) = rows.next()? {
        let (model, flow, currency): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let day: i64 = row.get(3)?;
        let (answers, input) = (number(row, 4)?, number(row, 5)?);
        let count = ModelCount { answers, input, output: number(row, 6)?, cost: number(row, 7)? };
        match found.last_mut() {
            Some(last) if (&last.model, &last.flow, &last.currency) == (&model, &flow, &currency) => {
                last.count.add(count);
                last.by_day.push((day, count));
            }
            _ => found.push(ModelTotals { model, flow, currency, count, by_day: vec![(day, count)] }),
        }
    }
    Ok(found)
}

fn sources(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT source FROM flow_uses UNION SELECT source FROM listings ORDER BY 1")?;
    all(&mut statement, [], |row| Ok(row.get(0)?))
}

fn stored(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

/// A sum, which is nothing where there is nothing to sum up.
fn number(row: &Row<'_>, column: usize) -> Result<u64, StoreError> {
    Ok(u64::try_from(row.get::<_, Option<i64>>(column)?.unwrap_or(0)).unwrap_or(0))
}

fn time(row: &Row<'_>, column: usize) -> Result<Duration, StoreError> {
    Ok(Duration::from_micros(number(row, column)?))
}
