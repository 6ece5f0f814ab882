//! Stored executions in one SQLite file: their logs, and a table of how each stands; and beside
//! them, counts of how much flows are used and what listings cost.
//!
//! The log is the truth and only ever grows; the table is what a replay of it says, kept so that
//! lists need no replay. Several processes write to one file at a time, and none overwrites
//! another's entry: who appends says which entry was the last one known. What may follow what is
//! not decided here.

mod error;
mod models;
mod opening;
mod presence;
mod reserve;
mod rows;
mod schema;
mod summary;
mod usage;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params, params_from_iter};

use crate::lock::lock;
use crate::run::{Entry, ExecutionId, GuidedState};

pub use error::StoreError;
pub use models::{ModelBook, NotReserved};
use opening::OpenedStore;
pub use presence::Presence;
pub use rows::{decoded, encoded};
use rows::{is_too_deep, micros};
use summary::all;
pub use summary::{Summary, Tally};
pub use usage::{CountedUsage, Counts, FlowTotals, ListingTotals, ModelCount, ModelTotals, UsageSpan, day_of};

/// The file's name in the state folder.
pub const FILE: &str = "flowy.db";
/// How long other processes may hold the file before we give up, in milliseconds.
const BUSY_MS: u64 = 10_000;
/// The same where nobody waits for what is written or read, in milliseconds.
const BUSY_COUNTING_MS: u64 = 1_000;

/// The file, opened when it is first needed.
#[derive(Debug, Clone)]
pub struct Store {
    file: Arc<PathBuf>,
    busy: Duration,
    /// Whether what is written is to survive a loss of power.
    lasting: bool,
    connection: Arc<Mutex<Option<OpenedStore>>>,
    /// For reading alone: it does not wait for who writes.
    reader: Arc<Mutex<Option<OpenedStore>>>,
}

/// Which executions are wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those of this flow.
    pub flow: Option<String>,
    /// Only those in these states; in any where there are none.
    pub states: Vec<GuidedState>,
    /// Only those that come after this one, the newest first.
    pub after: Option<(DateTime<Utc>, String)>,
    /// Only those that nothing happened to since.
    pub idle_since: Option<DateTime<Utc>>,
    /// Only those whose id ends like this.
    pub ending: Option<String>,
}

/// Some executions, the newest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StoredPage {
    /// How each stands.
    pub executions: Vec<Summary>,
    /// How many fit the filter, wherever a page begins.
    pub total: usize,
}

/// How many direct executions are kept, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// So many, the newest.
    pub most: usize,
    /// So long after they began.
    pub longest: Duration,
}

/// What became of forgetting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forgotten {
    /// How many executions are gone.
    pub executions: usize,
    /// Whether nothing of them is left in the file, which has given back what it had for them.
    pub compact: bool,
}

/// What became of an attempt to add to a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// It is on the disk.
    Kept,
    /// Somebody else was faster; nothing was written.
    Outrun,
}

impl Store {
    /// The file in a folder; nothing is opened or made yet.
    pub fn at(folder: &Path) -> Self {
        Self::patient(folder, Duration::from_millis(BUSY_MS))
    }

    /// The same with another patience for other processes.
    pub fn patient(folder: &Path, busy: Duration) -> Self {
        Self {
            file: Arc::new(folder.join(FILE)),
            busy,
            lasting: true,
            connection: Arc::default(),
            reader: Arc::default(),
        }
    }

    /// The same file for counts, on a connection of their own: other processes are waited for a
    /// second only, and writing does not wait for the disk. A loss of power may take the last
    /// counts, and never half of one.
    pub fn for_counts(folder: &Path) -> Self {
        Self { lasting: false, ..Self::patient(folder, Duration::from_millis(BUSY_COUNTING_MS)) }
    }

    /// Where it is.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Keeps the beginning of an execution. When it returns, that survives a loss of power.
    ///
    /// # Errors
    /// When it can't be kept, or (`Outrun`) the id is taken.
    pub async fn begin(&self, entries: Vec<Entry>, summary: Summary) -> Result<Appended, StoreError> {
        self.write(move |opened| {
            let transaction = opened.writing()?;
            let taken = transaction
                .prepare_cached("SELECT 1 FROM executions WHERE id = ?1")?
                .query_row([&summary.id], |_| Ok(()))
                .optional()?;
            if taken.is_some() {
                return Ok(Appended::Outrun);
            }
            summary.insert(&transaction)?;
            insert(&transaction, &summary.id, 0, &entries)?;
            transaction.commit()?;
            Ok(Appended::Kept)
        })
        .await
    }

    /// Adds to a log that had `after` entries when it was last seen, of which `last` was the last. When
    /// it returns, the entries survive a loss of power.
    ///
    /// # Errors
    /// When they can't be kept; `Outrun` where the log has grown, is another one, or is gone.
    pub async fn append(
        &self,
        (after, last): (usize, Entry),
        entries: Vec<Entry>,
        summary: Summary,
    ) -> Result<Appended, StoreError> {
        if !self.is_there()? {
            return Ok(Appended::Outrun);
        }
        self.write(move |opened| {
            let transaction = opened.writing()?;
            if !ends_with(&transaction, &summary.id, after, &last)? || !summary.update(&transaction, after)? {
                return Ok(Appended::Outrun);
            }
            insert(&transaction, &summary.id, after, &entries)?;
            transaction.commit()?;
            Ok(Appended::Kept)
        })
        .await
    }

    /// A whole log; none where there is no such execution.
    ///
    /// # Errors
    /// When it can't be read.
    pub async fn log(&self, id: &ExecutionId) -> Result<Option<Vec<Entry>>, StoreError> {
        self.since(id, 0).await
    }

    /// What a log has beyond its first `after` entries; the whole where any is missing; none where there is no such execution.
    ///
    /// # Errors
    /// When it can't be read.
    pub async fn since(&self, id: &ExecutionId, after: usize) -> Result<Option<Vec<Entry>>, StoreError> {
        let id = id.as_str().to_owned();
        let read = self.read(move |opened| {
            let transaction = opened.reading()?;
            let known = transaction
                .prepare_cached(
                    "SELECT last_seq, (SELECT count(*) FROM events WHERE execution = id) FROM executions WHERE id = ?1",
                )?
                .query_row([&id], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))
                .optional()?;
            let Some((last, kept)) = known else { return Ok(None) };
            // Nobody adds to a log that has lost something: which entry that is, is found from the first.
            let after = if kept == last { after } else { 0 };
            let mut statement = transaction.prepare_cached(
                "SELECT seq, at, kind, body FROM events WHERE execution = ?1 AND seq > ?2 ORDER BY seq",
            )?;
            let mut rows = statement.query(params![id, number(after)])?;
            let mut entries = Vec::new();
            while let Some(row) = rows.next()? {
                let (seq, at): (i64, i64) = (row.get(0)?, row.get(1)?);
                let (kind, body) = (row.get_ref(2)?.as_str()?, row.get_ref(3)?.as_str()?);
                let expected = number(after + entries.len() + 1);
                let entry =
                    if seq == expected { decoded(at, kind, body) } else { Err("entries before it are missing".into()) };
                entries.push(entry.map_err(|why| StoreError::Torn { id: id.clone(), entry: seq, why })?);
            }
            // A log that lost its end would be a shorter one, and what was acknowledged would be done again.
            let next = number(after + entries.len() + 1);
            if next <= last {
                return Err(StoreError::Torn { id, entry: next, why: "it is missing".to_owned() });
            }
            Ok(Some(entries))
        });
        Ok(read.await?.flatten())
    }

    /// The executions that fit, the newest first.
    ///
    /// # Errors
    /// When they can't be read.
    pub async fn page(&self, filter: Filter, limit: usize) -> Result<StoredPage, StoreError> {
        let folder = self.file.parent().unwrap_or(&self.file).to_owned();
        let read = self.read(move |opened| {
            let connection = &opened.connection;
            let mut page = StoredPage::default();
            let gone = gone(connection, &folder)?;
            let whole = Filter { after: None, ..filter.clone() }.conditions(&gone);
            let sql = format!("SELECT count(*) FROM executions{}", whole.sql());
            let total: i64 =
                connection.prepare_cached(&sql)?.query_row(params_from_iter(whole.values()), |row| row.get(0))?;
            page.total = usize::try_from(total).unwrap_or(0);
            let wanted = filter.conditions(&gone);
            let columns = summary::COLUMNS;
            let sql = format!(
                "SELECT {columns} FROM executions{} ORDER BY begun_at DESC, id DESC LIMIT {limit}",
                wanted.sql(),
                limit = i64::try_from(limit).unwrap_or(i64::MAX),
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let summary = |row: &Row<'_>| Ok(Summary::read(row)?.without_driver_of(&gone));
            page.executions = all(&mut statement, params_from_iter(wanted.values()), summary)?;
            Ok(page)
        });
        Ok(read.await?.unwrap_or_default())
    }

    /// How each flow's executions went, by the flow's name. An execution that still goes on counts
    /// as abandoned when nothing happened to it since `idle_since`, unless a person is awaited.
    ///
    /// # Errors
    /// When they can't be read.
    pub async fn tallies(&self, idle_since: DateTime<Utc>) -> Result<Vec<Tally>, StoreError> {
        Ok(self.read(move |opened| Tally::all(&opened.connection, idle_since)).await?.unwrap_or_default())
    }

    /// Forgets the executions of these ids, with their logs, and leaves nothing of them in the file. On a
    /// full disk the room that was set aside is used for that.
    ///
    /// # Errors
    /// When they can't be deleted; then all are still there.
    pub async fn forget(&self, ids: Vec<String>) -> Result<Forgotten, StoreError> {
        if !self.is_there()? {
            return Ok(Forgotten { executions: 0, compact: true });
        }
        match self.forget_within(ids.clone(), false).await {
            Err(StoreError::Full { .. }) if reserve::give_up(&self.file).is_ok() => {
                let forgotten = self.forget_within(ids, true).await;
                reserve::keep(&self.file);
                forgotten
            }
            other => other,
        }
    }

    async fn forget_within(&self, ids: Vec<String>, scarce: bool) -> Result<Forgotten, StoreError> {
        self.write(move |opened| {
            // Where room is scarce, the log may hold more of it than all else needs.
            if scarce && let Err(error) = opened.empty_log() {
                tracing::warn!(%error, "the write-ahead log could not be emptied");
            }
            let transaction = opened.writing()?;
            let mut executions = 0;
            {
                let mut statement = transaction.prepare_cached("DELETE FROM executions WHERE id = ?1")?;
                for id in &ids {
                    executions += statement.execute([id])?;
                }
            }
            transaction.commit()?;
            let compact = opened.compact();
            if let Err(error) = &compact {
                tracing::warn!(%error, "the file could not be made smaller");
            }
            Ok(Forgotten { executions, compact: compact.is_ok() })
        })
        .await
    }

    /// Forgets direct executions that are too old, and those beyond a number that have ended. Their room
    /// in the file is used again.
    ///
    /// # Errors
    /// When they can't be deleted; then all are still there.
    pub async fn retain(&self, keep: Retention, now: DateTime<Utc>) -> Result<usize, StoreError> {
        let longest = TimeDelta::from_std(keep.longest).unwrap_or(TimeDelta::MAX);
        let oldest = now.checked_sub_signed(longest).map_or(i64::MIN, micros);
        let most = number(keep.most);
        self.write(move |opened| {
            let due = "SELECT id FROM executions WHERE direct AND (begun_at < ?1 OR (begun_at, id) <= (
                           SELECT begun_at, id FROM executions WHERE direct ORDER BY begun_at DESC, id DESC
                           LIMIT 1 OFFSET ?2)) AND (driver IS NULL AND state IN ('completed', 'partial', 'failed', 'cancelled') OR begun_at < ?1)";
            let any = opened.connection.prepare_cached(&format!("{due} LIMIT 1"))?.exists(params![oldest, most])?;
            if !any {
                return Ok(0);
            }
            let transaction = opened.writing()?;
            let sql = format!("DELETE FROM executions WHERE id IN ({due})");
            let gone = transaction.prepare_cached(&sql)?.execute(params![oldest, most])?;
            transaction.commit()?;
            Ok(gone)
        })
        .await
    }

    /// Whether there is a file. One that can't be looked at may well be there.
    fn is_there(&self) -> Result<bool, StoreError> {
        let there = self.file.try_exists();
        there.map_err(|error| StoreError::Closed { file: self.file.to_path_buf(), why: error.to_string() })
    }

    /// Reads; nothing where there is no file, which reading does not make.
    async fn read<T, F>(&self, work: F) -> Result<Option<T>, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&OpenedStore) -> Result<T, StoreError> + Send + 'static,
    {
        if !self.is_there()? {
            return Ok(None);
        }
        let store = self.clone();
        let done = tokio::task::spawn_blocking(move || store.work_on(&store.reader, OpenedStore::to_read, work));
        done.await.map_err(|_| stopped())?.map(Some)
    }

    /// Works on the file, on a thread that may block.
    async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&OpenedStore) -> Result<T, StoreError> + Send + 'static,
    {
        let store = self.clone();
        let done = tokio::task::spawn_blocking(move || store.write_here(work));
        done.await.map_err(|_| stopped())?
    }

    /// Works on the file, on this thread, which may block.
    fn write_here<T>(&self, work: impl FnOnce(&OpenedStore) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.work_on(&self.connection, |file, busy| OpenedStore::at(file, busy, self.lasting), work)
    }

    fn work_on<T>(
        &self,
        connection: &Mutex<Option<OpenedStore>>,
        open: impl FnOnce(&Path, Duration) -> Result<OpenedStore, StoreError>,
        work: impl FnOnce(&OpenedStore) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut held = lock(connection);
        // A file that was moved away or deleted meanwhile is no place to keep anything.
        if held.as_ref().is_some_and(|opened| !opened.is_still_at(&self.file)) {
            *held = None;
        }
        let work_on = || {
            let opened = match held.as_ref() {
                Some(opened) => opened,
                None => held.insert(open(&self.file, self.busy)?),
            };
            let done = work(opened);
            if done.as_ref().is_err_and(StoreError::is_of_the_file) {
                *held = None;
            }
            done
        };
        work_on().map_err(|error| error.at(&self.file))
    }
}

fn stopped() -> StoreError {
    StoreError::Other("the store was stopped by an internal error".to_owned())
}

/// A position in a log as SQLite counts.
fn number(position: usize) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

/// Whether a log has this many entries, with this one at its end: an older copy of the file that was
/// put in its place may have as many.
fn ends_with(connection: &Connection, id: &str, entries: usize, last: &Entry) -> Result<bool, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT at, kind, body, (SELECT count(*) FROM events WHERE execution = ?1) FROM events
         WHERE execution = ?1 AND seq = ?2",
    )?;
    let mut rows = statement.query(params![id, number(entries)])?;
    let Some(row) = rows.next()? else { return Ok(false) };
    let there = decoded(row.get(0)?, row.get_ref(1)?.as_str()?, row.get_ref(2)?.as_str()?);
    Ok(row.get::<_, i64>(3)? == number(entries) && there.is_ok_and(|there| there == *last))
}

fn insert(connection: &Connection, id: &str, after: usize, entries: &[Entry]) -> Result<(), StoreError> {
    let mut statement =
        connection.prepare_cached("INSERT INTO events (execution, seq, at, kind, body) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for (place, entry) in entries.iter().enumerate() {
        let (kind, body) = encoded(&entry.moment).map_err(StoreError::Unkeepable)?;
        // What could not be read again is not written: the execution would be lost. Nothing but its
        // depth keeps an entry from being read, and where tests run that is seen of each one.
        if is_too_deep(&body) {
            return Err(StoreError::Unkeepable("it is nested too deeply".to_owned()));
        }
        debug_assert_eq!(decoded(micros(entry.at), kind, &body).as_ref(), Ok(entry));
        statement.execute(params![id, number(after + place + 1), micros(entry.at), kind, body])?;
    }
    Ok(())
}

/// The processes that are gone and had not come to the end of executions whose steps they did.
fn gone(connection: &Connection, state: &Path) -> Result<Vec<String>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT DISTINCT driver FROM executions WHERE driver IS NOT NULL")?;
    let drivers = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    Ok(drivers.into_iter().filter(|driver| !presence::is_there(state, driver)).collect())
}

/// The `WHERE` of a filter, with its values.
struct Conditions {
    terms: Vec<&'static str>,
    values: Vec<Box<dyn ToSql>>,
}

impl Conditions {
    fn sql(&self) -> String {
        if self.terms.is_empty() { String::new() } else { format!(" WHERE {}", self.terms.join(" AND ")) }
    }

    fn values(&self) -> impl Iterator<Item = &dyn ToSql> {
        self.values.iter().map(AsRef::as_ref)
    }
}

impl Filter {
    /// What it says in SQL; of an execution whose steps one of these processes did, `gone` ones, nobody is left
    /// to change the state.
    fn conditions(&self, gone: &[String]) -> Conditions {
        let mut made = Conditions { terms: Vec::new(), values: Vec::new() };
        if let Some(flow) = &self.flow {
            made.terms.push("flow = ?");
            made.values.push(Box::new(flow.clone()));
        }
        if !self.states.is_empty() {
            // There are few states; a list of them is as good as a mask.
            made.terms
                .push("instr(?, ',' || iif(instr(?, ',' || driver || ',') > 0, 'interrupted', state) || ',') > 0");
            let words: Vec<&str> = self.states.iter().map(|state| state.word()).collect();
            made.values.push(Box::new(format!(",{},", words.join(","))));
            made.values.push(Box::new(format!(",{},", gone.join(","))));
        }
        if let Some((at, id)) = &self.after {
            made.terms.push("(begun_at, id) < (?, ?)");
            made.values.push(Box::new(micros(*at)));
            made.values.push(Box::new(id.clone()));
        }
        if let Some(since) = self.idle_since {
            made.terms.push("updated_at < ?");
            made.values.push(Box::new(micros(since)));
        }
        if let Some(ending) = &self.ending {
            made.terms.push("substr(id, -length(?)) = ?");
            made.values.push(Box::new(ending.clone()));
            made.values.push(Box::new(ending.clone()));
        }
        made
    }
}
