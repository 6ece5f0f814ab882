//! The tables, and how an older file becomes a newer one.
//!
//! Each version is one text that turns the one before into it; what was once released is never
//! changed. To add a table, add a text at the end and a fixture of the version before.

use std::path::PathBuf;

use rusqlite::Connection;

use super::StoreError;

/// Says whose file it is; "FLOW" in ASCII.
///
/// Source: SQLite, `PRAGMA application_id`.
pub(super) const OWNER: i32 = 0x464C_4F57;

/// What makes each version of the one before; the first makes the tables of an empty file.
pub(super) const VERSIONS: [&str; 5] = [
    // 1: logs of guided executions, and how each stands. Times are microseconds since 1970.
    "
    CREATE TABLE executions (
        id          TEXT PRIMARY KEY,
        flow        TEXT NOT NULL,
        task        TEXT,
        state       TEXT NOT NULL,
        current     TEXT,
        begun_at    INTEGER NOT NULL,
        updated_at  INTEGER NOT NULL,
        steps       INTEGER NOT NULL,
        ended       INTEGER NOT NULL,
        done        INTEGER NOT NULL,
        closed      INTEGER NOT NULL,
        breaches    INTEGER NOT NULL,
        escalations INTEGER NOT NULL,
        last_seq    INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX executions_by_age ON executions (begun_at, id);

    CREATE TABLE events (
        execution TEXT NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
        seq       INTEGER NOT NULL,
        at        INTEGER NOT NULL,
        kind      TEXT NOT NULL,
        body      TEXT NOT NULL,
        UNIQUE (execution, seq)
    ) STRICT;
    CREATE TRIGGER events_stay BEFORE UPDATE ON events
    BEGIN
        SELECT raise(ABORT, 'what has happened is not changed');
    END;
    ",
    // 2: what is counted, by source and day. Days are whole ones since 1970 (UTC), times microseconds.
    "
    CREATE TABLE flow_uses (
        source    TEXT NOT NULL,
        flow      TEXT NOT NULL,
        day       INTEGER NOT NULL,
        uses      INTEGER NOT NULL,
        successes INTEGER NOT NULL,
        timed     INTEGER NOT NULL,
        took      INTEGER NOT NULL,
        UNIQUE (source, flow, day)
    ) STRICT;
    CREATE TABLE flow_times (
        source TEXT NOT NULL,
        flow   TEXT NOT NULL,
        day    INTEGER NOT NULL,
        class  INTEGER NOT NULL,
        uses   INTEGER NOT NULL,
        UNIQUE (source, flow, day, class)
    ) STRICT;
    CREATE TABLE listings (
        source     TEXT NOT NULL,
        mode       TEXT NOT NULL,
        day        INTEGER NOT NULL,
        calls      INTEGER NOT NULL,
        entries    INTEGER NOT NULL,
        characters INTEGER NOT NULL,
        tokens     INTEGER NOT NULL,
        took       INTEGER NOT NULL,
        deprecated INTEGER NOT NULL,
        UNIQUE (source, mode, day)
    ) STRICT;
    ",
    // 3: direct executions, in the same tables. Of one that goes on it is known which process does its steps.
    "
    ALTER TABLE executions ADD COLUMN direct INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE executions ADD COLUMN driver TEXT;
    CREATE INDEX executions_direct ON executions (begun_at, id) WHERE direct;
    CREATE INDEX executions_driven ON executions (driver) WHERE driver IS NOT NULL;
    ",
    // 4: what models took, by source, flow and day. Costs are millionths of the currency; it is empty where there is
    // no price.
    "
    CREATE TABLE model_uses (
        source   TEXT NOT NULL,
        flow     TEXT NOT NULL,
        model    TEXT NOT NULL,
        currency TEXT NOT NULL,
        day      INTEGER NOT NULL,
        answers  INTEGER NOT NULL,
        input    INTEGER NOT NULL,
        output   INTEGER NOT NULL,
        cost     INTEGER NOT NULL,
        UNIQUE (source, flow, model, currency, day)
    ) STRICT;
    ",
    // 5: when the limit of a model is over that an execution waits for.
    "
    ALTER TABLE executions ADD COLUMN resumes_at INTEGER;
    ",
];

/// Whether the file is ours, or still nobody's; looking changes nothing.
pub(super) fn recognize(connection: &Connection) -> Result<(), StoreError> {
    // All of it as of one moment: another process may be making the tables.
    let connection = connection.unchecked_transaction()?;
    let owner: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let found = version(&connection)?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    match (owner, known()) {
        (OWNER, known) if found > known => Err(StoreError::Newer { file: PathBuf::new(), found, known }),
        (OWNER, _) => Ok(()),
        (0, _) if found == 0 && tables == 0 => Ok(()),
        _ => Err(StoreError::Foreign { file: PathBuf::new() }),
    }
}

pub(super) fn known() -> i64 {
    i64::try_from(VERSIONS.len()).unwrap_or(i64::MAX)
}

pub(super) fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}
