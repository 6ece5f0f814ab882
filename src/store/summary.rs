//! One row for each execution: what a replay of its log says, for lists and statistics.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, Params, Row, Statement, params};

use super::rows::{micros, time};
use super::{StoreError, number};
use crate::run::{Guided, GuidedState};

/// How much of a task a list shows, in characters.
const TASK: usize = 200;

/// How an execution stands, in a few words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: String,
    /// The flow's name.
    pub flow: String,
    /// The beginning of what it is for.
    pub task: Option<String>,
    /// Whether the server does all its steps.
    pub direct: bool,
    /// The process that does them; none where nobody does.
    pub driver: Option<String>,
    /// How it stands.
    pub state: GuidedState,
    /// When the limit is over that it waits for.
    pub resumes_at: Option<DateTime<Utc>>,
    /// The id of the open step.
    pub current: Option<String>,
    /// When it began.
    pub begun_at: DateTime<Utc>,
    /// When something last happened.
    pub updated_at: DateTime<Utc>,
    /// All steps.
    pub steps: usize,
    /// Steps that have ended, however.
    pub ended: usize,
    /// Steps that are done.
    pub done: usize,
    /// Steps that were closed by whoever did them.
    pub closed: usize,
    /// Outputs that were refused.
    pub breaches: usize,
    /// Questions to a person.
    pub escalations: usize,
    /// Entries of the log.
    pub entries: usize,
}

/// The columns, in the order in which they are read and written.
pub(super) const COLUMNS: &str = "id, flow, task, state, current, begun_at, updated_at, steps, ended, done, closed, \
                                  breaches, escalations, last_seq, direct, driver, resumes_at";

impl Summary {
    /// What a replayed execution says.
    pub fn of(guided: &Guided) -> Self {
        let beginning = guided.beginning();
        let counts = guided.run().counts();
        let step = |step: usize| beginning.plan.step(step).map(|step| step.id.clone());
        Self {
            id: beginning.id.to_string(),
            flow: beginning.plan.name().to_owned(),
            task: beginning.task.as_ref().map(|task| task.chars().take(TASK).collect()),
            direct: guided.is_direct(),
            driver: guided.driver().map(str::to_owned),
            state: guided.state(),
            resumes_at: guided.resumes_at(),
            current: guided
                .handed()
                .map(|handed| handed.step)
                .or_else(|| Some(guided.tool_at_work()?.step))
                .and_then(step),
            begun_at: guided.begun_at(),
            updated_at: guided.updated_at(),
            steps: counts.steps,
            ended: guided.progressed(),
            done: counts.done,
            closed: (0..beginning.plan.steps().len()).filter(|step| guided.closing(*step).is_some()).count(),
            breaches: guided.breaches(),
            escalations: guided.escalations().len(),
            entries: guided.entries(),
        }
    }

    pub(super) fn insert(&self, connection: &Connection) -> Result<(), StoreError> {
        let mut statement = connection.prepare_cached(
            "INSERT INTO executions (id, flow, task, state, current, begun_at, updated_at, steps, ended, done, closed,
                                     breaches, escalations, last_seq, direct, driver, resumes_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
        )?;
        statement.execute(params![
            self.id,
            self.flow,
            self.task,
            self.state.word(),
            self.current,
            micros(self.begun_at),
            micros(self.updated_at),
            number(self.steps),
            number(self.ended),
            number(self.done),
            number(self.closed),
            number(self.breaches),
            number(self.escalations),
            number(self.entries),
            self.direct,
            self.driver,
            self.resumes_at.map(micros),
        ])?;
        Ok(())
    }

    /// Changes the row, if the log still has `after` entries; says whether it had.
    pub(super) fn update(&self, connection: &Connection, after: usize) -> Result<bool, StoreError> {
        let mut statement = connection.prepare_cached(
            "UPDATE executions SET state = ?2, current = ?3, updated_at = ?4, ended = ?5, done = ?6, closed = ?7,
                                   breaches = ?8, escalations = ?9, last_seq = ?10, driver = ?11, resumes_at = ?12
             WHERE id = ?1 AND last_seq = ?13",
        )?;
        let changed = statement.execute(params![
            self.id,
            self.state.word(),
            self.current,
            micros(self.updated_at),
            number(self.ended),
            number(self.done),
            number(self.closed),
            number(self.breaches),
            number(self.escalations),
            number(self.entries),
            self.driver,
            self.resumes_at.map(micros),
            number(after),
        ])?;
        Ok(changed == 1)
    }

    /// The same, where it is known which processes are gone: nobody does the steps that one of them did.
    pub(super) fn without_driver_of(self, gone: &[String]) -> Self {
        if !self.driver.as_ref().is_some_and(|driver| gone.contains(driver)) {
            return self;
        }
        Self { driver: None, state: GuidedState::Interrupted, ..self }
    }

    pub(super) fn read(row: &Row<'_>) -> Result<Self, StoreError> {
        let state: String = row.get(3)?;
        Ok(Self {
            id: row.get(0)?,
            flow: row.get(1)?,
            task: row.get(2)?,
            state: GuidedState::named(&state).ok_or_else(|| {
                StoreError::Other(format!("the file knows a state {state}, and this program does not"))
            })?,
            current: row.get(4)?,
            begun_at: time(row.get(5)?),
            updated_at: time(row.get(6)?),
            steps: count(row, 7)?,
            ended: count(row, 8)?,
            done: count(row, 9)?,
            closed: count(row, 10)?,
            breaches: count(row, 11)?,
            escalations: count(row, 12)?,
            entries: count(row, 13)?,
            direct: row.get(14)?,
            driver: row.get(15)?,
            resumes_at: row.get::<_, Option<i64>>(16)?.map(time),
        })
    }
}

/// All rows that a statement gives.
pub(super) fn all<T>(
    statement: &mut Statement<'_>,
    given: impl Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut rows = statement.query(given)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

fn count(row: &Row<'_>, column: usize) -> Result<usize, StoreError> {
    Ok(usize::try_from(row.get::<_, i64>(column)?).unwrap_or(0))
}

/// How one flow's executions went.
#[derive(Debug, Clone, PartialEq)]
pub struct Tally {
    /// The flow's name.
    pub flow: String,
    /// All executions.
    pub executions: usize,
    /// Those that came to a result.
    pub completed: usize,
    /// Those that came to none.
    pub failed: usize,
    /// Those that were cancelled.
    pub cancelled: usize,
    /// Those that wait for a person.
    pub awaiting_human: usize,
    /// Those that go on.
    pub running: usize,
    /// Of those that go on, the ones that nothing happened to for a while.
    pub abandoned: usize,
    /// Those in which an output was refused at least once.
    pub with_breaches: usize,
    /// Those in which a person was asked at least once.
    pub with_escalations: usize,
    /// All refused outputs.
    pub breaches: usize,
    /// All questions to a person.
    pub escalations: usize,
    /// All closed steps.
    pub steps_closed: usize,
    /// How long the completed ones took from beginning to end, on average, in seconds.
    pub avg_seconds: Option<f64>,
}

impl Tally {
    pub(super) fn all(connection: &Connection, idle_since: DateTime<Utc>) -> Result<Vec<Self>, StoreError> {
        let mut statement = connection.prepare_cached(
            "SELECT flow, count(*), sum(state = 'completed'), sum(state = 'failed'), sum(state = 'cancelled'),
                    sum(state = 'awaiting_human'), sum(state IN ('running', 'waiting')), sum(state = 'running' AND updated_at < ?1),
                    sum(breaches > 0), sum(escalations > 0), sum(breaches), sum(escalations), sum(closed),
                    avg(CASE WHEN state = 'completed' THEN (updated_at - begun_at) / 1000000.0 END)
             FROM executions WHERE NOT direct GROUP BY flow ORDER BY flow",
        )?;
        all(&mut statement, [micros(idle_since)], |row| {
            Ok(Self {
                flow: row.get(0)?,
                executions: count(row, 1)?,
                completed: count(row, 2)?,
                failed: count(row, 3)?,
                cancelled: count(row, 4)?,
                awaiting_human: count(row, 5)?,
                running: count(row, 6)?,
                abandoned: count(row, 7)?,
                with_breaches: count(row, 8)?,
                with_escalations: count(row, 9)?,
                breaches: count(row, 10)?,
                escalations: count(row, 11)?,
                steps_closed: count(row, 12)?,
                avg_seconds: row.get(13)?,
            })
        })
    }
}
