//! What models took on each day, and their stored answers: one small file beside the executions, which several
//! processes write. What a model is, and when an answer may be used again, is not known here.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior, params};

use super::StoreError;
use super::opening::make;
use crate::lock::lock;

/// The file's name in the state folder.
const FILE: &str = "models.db";
/// How long another process is waited for.
const BUSY: Duration = Duration::from_secs(5);
/// How long an answer is stored, in days.
const ANSWER_DAYS: i64 = 30;
/// How much all stored answers may hold, in bytes (64 MB).
const MOST_BYTES: i64 = 64 << 20;
/// How many days are remembered.
const BUDGET_DAYS: i64 = 400;

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS taken (model TEXT NOT NULL, day INTEGER NOT NULL, tokens INTEGER NOT NULL, PRIMARY KEY (model, day));
CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, body TEXT NOT NULL, day INTEGER NOT NULL);
PRAGMA user_version = 1;";

/// The file, opened when it is first needed.
#[derive(Debug)]
pub struct ModelBook {
    file: PathBuf,
    open: Mutex<Option<Connection>>,
}

/// Why tokens were not set aside.
#[derive(Debug)]
pub enum NotReserved {
    /// So many were taken before, which leaves too few.
    TooFew(u64),
    /// The file can't be read or written.
    Unknown(StoreError),
}

impl ModelBook {
    /// The file in a state folder, which need not be there.
    pub fn at(state_dir: &Path) -> Self {
        Self { file: state_dir.join(FILE), open: Mutex::new(None) }
    }

    fn with<T>(&self, what: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let mut open = lock(&self.open);
        let connection = match open.take() {
            Some(connection) => connection,
            None => self.connect()?,
        };
        Ok(what(open.insert(connection))?)
    }

    fn connect(&self) -> Result<Connection, StoreError> {
        let closed = |why: String| StoreError::Closed { file: self.file.clone(), why };
        make(&self.file).map_err(|error| closed(error.to_string()))?;
        let connection = Connection::open(&self.file)?;
        connection.busy_timeout(BUSY)?;
        connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "secure_delete", true)?;
        connection.execute_batch(TABLES)?;
        Ok(connection)
    }

    /// Adds tokens to what a model took on a day, unless that would be more than `most`.
    ///
    /// # Errors
    /// Why nothing was added.
    pub fn reserve(&self, model: &str, day: i64, tokens: u64, most: u64) -> Result<(), NotReserved> {
        let added = self.with(|connection| {
            let writing = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let found: Option<i64> = writing
                .query_row("SELECT tokens FROM taken WHERE model = ? AND day = ?", params![model, day], |row| row.get(0))
                .optional()?;
            let before = found.and_then(|found| u64::try_from(found).ok()).unwrap_or(0);
            let after = before.saturating_add(tokens);
            if after > most {
                return Ok(Err(before));
            }
            writing.execute(
                "INSERT INTO taken (model, day, tokens) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET tokens = excluded.tokens",
                params![model, day, i64::try_from(after).unwrap_or(i64::MAX)],
            )?;
            writing.execute("DELETE FROM taken WHERE day < ?", params![day - BUDGET_DAYS])?;
            writing.commit()?;
            Ok(Ok(()))
        });
        match added {
            Ok(Ok(())) => Ok(()),
            Ok(Err(before)) => Err(NotReserved::TooFew(before)),
            Err(error) => Err(NotReserved::Unknown(error)),
        }
    }

    /// Replaces what was reserved by what was taken.
    ///
    /// # Errors
    /// When the file can't be written; then what was reserved counts as taken.
    pub fn settle(&self, model: &str, day: i64, reserved: u64, taken: u64) -> Result<(), StoreError> {
        let number = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        self.with(|connection| {
            connection.execute(
                "UPDATE taken SET tokens = max(0, tokens - ? + ?) WHERE model = ? AND day = ?",
                params![number(reserved), number(taken), model, day],
            )
        })
        .map(drop)
    }

    /// Deletes stored answers of this day and before; how many. Nothing of them is left in the file, unless another
    /// process reads it just now.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn forget_answers(&self, day: i64) -> Result<usize, StoreError> {
        if !self.file.exists() {
            return Ok(0);
        }
        self.with(|connection| {
            let gone = connection.execute("DELETE FROM answers WHERE day <= ?", params![day])?;
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            // A file that can't be made smaller holds nothing of them all the same.
            let _ = connection.execute_batch("VACUUM");
            connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?;
            Ok(gone)
        })
    }

    /// How many answers of this day and before are stored.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn answers_until(&self, day: i64) -> Result<usize, StoreError> {
        if !self.file.exists() {
            return Ok(0);
        }
        self.with(|connection| {
            let count: i64 =
                connection.query_row("SELECT count(*) FROM answers WHERE day <= ?", params![day], |row| row.get(0))?;
            Ok(usize::try_from(count).unwrap_or(0))
        })
    }

    /// A stored answer that is not too old.
    ///
    /// # Errors
    /// When the file can't be read.
    pub fn answer(&self, key: &str, day: i64) -> Result<Option<String>, StoreError> {
        self.with(|connection| {
            connection
                .query_row(
                    "SELECT body FROM answers WHERE key = ? AND day > ?",
                    params![key, day - ANSWER_DAYS],
                    |row| row.get(0),
                )
                .optional()
        })
    }

    /// Stores an answer; what is too old, and the oldest where all are too large, goes.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn keep_answer(&self, key: &str, body: &str, day: i64) -> Result<(), StoreError> {
        self.with(|connection| {
            let writing = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            writing.execute("DELETE FROM answers WHERE day <= ?", params![day - ANSWER_DAYS])?;
            writing
                .execute("INSERT OR REPLACE INTO answers (key, body, day) VALUES (?, ?, ?)", params![key, body, day])?;
            let bytes = "SELECT coalesce(sum(length(body)), 0) FROM answers";
            while writing.query_row(bytes, [], |row| row.get::<_, i64>(0))? > MOST_BYTES {
                let oldest = "SELECT rowid FROM answers WHERE key != ? ORDER BY day, rowid LIMIT 32";
                let gone = writing.execute(&format!("DELETE FROM answers WHERE rowid IN ({oldest})"), params![key])?;
                if gone == 0 {
                    break;
                }
            }
            writing.commit()
        })
    }
}
