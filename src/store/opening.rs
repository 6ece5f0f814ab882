//! Opening the file: the owner's alone, with a write-ahead log that is on the disk before anybody
//! is told so.

use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};

use super::schema::{OWNER, VERSIONS, known, version};
use super::{StoreError, reserve, schema};
use crate::files::{private, private_folder};

/// The pause between two tries to get what another process has, in milliseconds. SQLite's own pauses
/// grow to 0.1 s: on a slow disk, where each commit takes that long, whoever has waited longest is then
/// the least likely to be next, and may wait in vain while the others go on.
const PAUSE_MS: u64 = 1;

/// Refuses what is there and is no file: a pipe would be waited for.
fn plain(file: &Path) -> Result<(), StoreError> {
    match std::fs::metadata(file) {
        Ok(about) if !about.is_file() => {
            Err(StoreError::Closed { file: PathBuf::new(), why: "it is no plain file".to_owned() })
        }
        _ => Ok(()),
    }
}

/// The open file.
#[derive(Debug)]
pub(super) struct OpenedStore {
    pub(super) connection: Connection,
    /// How long other processes are waited for.
    busy: Duration,
    /// Which file it is, whatever its name leads to later.
    identity: Option<(u64, u64)>,
}

impl OpenedStore {
    /// Opens the file and brings it to the newest version; makes it and its folder where they are
    /// missing. What is committed survives a loss of power only where it is to be `lasting`; whole it
    /// is either way.
    pub(super) fn at(file: &Path, busy: Duration, lasting: bool) -> Result<Self, StoreError> {
        plain(file)?;
        make(file).map_err(|error| StoreError::Closed { file: PathBuf::new(), why: error.to_string() })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(file, flags)?;
        connection.busy_timeout(busy)?;
        schema::recognize(&connection)?;
        write_ahead(&connection, busy)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        // What is deleted is overwritten: it may have been private.
        connection.pragma_update(None, "secure_delete", true)?;
        // One plan for every value: else SQLite plans each range anew for the value it is given.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        let opened = Self { connection, busy, identity: identity(file) };
        migrate(&opened)?;
        if !lasting {
            opened.connection.pragma_update(None, "synchronous", "NORMAL")?;
        }
        reserve::keep(file);
        Ok(opened)
    }

    /// Opens a file that is there, for reading. Where nothing can be written, it is read as it stands.
    pub(super) fn to_read(file: &Path, busy: Duration) -> Result<Self, StoreError> {
        match Self::at(file, busy, true) {
            Err(StoreError::ReadOnly { .. } | StoreError::Closed { .. } | StoreError::Full { .. }) => {
                Self::as_it_stands(file, busy)
            }
            opened => opened,
        }
    }

    fn as_it_stands(file: &Path, busy: Duration) -> Result<Self, StoreError> {
        plain(file)?;
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let open = |connection: Connection| {
            connection.busy_timeout(busy)?;
            schema::recognize(&connection)?;
            Ok(Self { connection, busy, identity: identity(file) })
        };
        let opened = Connection::open_with_flags(file, flags).map_err(StoreError::from).and_then(open);
        let mut journal = file.as_os_str().to_owned();
        journal.push("-wal");
        // SQLite wants files of its own beside one with a write-ahead log, also for reading. Where that
        // log is empty, the file is all there is.
        let whole = std::fs::metadata(Path::new(&journal)).map_or(true, |log| log.len() == 0);
        match opened {
            Err(error @ (StoreError::ReadOnly { .. } | StoreError::Closed { .. })) if !whole => Err(error),
            Err(StoreError::ReadOnly { .. } | StoreError::Closed { .. }) => {
                let flags = flags | OpenFlags::SQLITE_OPEN_URI;
                let place = utf8_percent_encode(&file.to_string_lossy(), PATH).to_string();
                open(Connection::open_with_flags(format!("file:{place}?immutable=1"), flags)?)
            }
            other => other,
        }
    }

    /// Gives back the room that nothing needs any more, and empties the write-ahead log, in which
    /// what was deleted still stands.
    pub(super) fn compact(&self) -> Result<(), StoreError> {
        // Before and after: making it smaller takes room, too.
        self.empty_log()?;
        self.connection.execute_batch("VACUUM")?;
        self.empty_log()
    }

    /// Moves what stands in the write-ahead log into the file, and gives back the log's room.
    pub(super) fn empty_log(&self) -> Result<(), StoreError> {
        let busy: i64 = self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if busy == 0 { Ok(()) } else { Err(StoreError::Locked { file: PathBuf::new() }) }
    }

    /// A transaction that may write, as soon as no other process is in one.
    pub(super) fn writing(&self) -> Result<Transaction<'_>, StoreError> {
        // Our own pauses instead of SQLite's; nothing but the beginning has to wait.
        self.connection.busy_timeout(Duration::ZERO)?;
        let begun =
            patiently(self.busy, || Ok(Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?));
        self.connection.busy_timeout(self.busy)?;
        begun
    }

    /// A transaction that reads one state of everything.
    pub(super) fn reading(&self) -> Result<Transaction<'_>, StoreError> {
        Ok(self.connection.unchecked_transaction()?)
    }

    /// Whether the name still leads to this file.
    pub(super) fn is_still_at(&self, file: &Path) -> bool {
        self.identity == identity(file)
    }
}

/// What stands for itself in the path of an address.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

/// While another process does the same, SQLite may refuse at once instead of waiting.
fn write_ahead(connection: &Connection, busy: Duration) -> Result<(), StoreError> {
    connection.busy_timeout(Duration::ZERO)?;
    let mode = patiently(busy, || {
        Ok(connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))?)
    });
    connection.busy_timeout(busy)?;
    let mode = mode?;
    if mode.eq_ignore_ascii_case("wal") {
        return Ok(());
    }
    let why = format!("its journal stays {mode}; a local disk is needed, not a network folder");
    Err(StoreError::Closed { file: PathBuf::new(), why })
}

/// Tries until no other process is in the way, for as long as `patience`: by the system's time, for it
/// is the system that others hold the file by.
#[allow(clippy::disallowed_methods, reason = "a busy machine makes each pause longer, and the whole must not be")]
fn patiently<T>(patience: Duration, mut attempt: impl FnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Err(StoreError::Locked { .. }) if begun.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(PAUSE_MS));
            }
            done => return done,
        }
    }
}

/// An empty file is an empty database; SQLite's own files beside it take over who may read it.
pub(super) fn make(file: &Path) -> io::Result<()> {
    if file.is_file() {
        return Ok(());
    }
    if let Some(folder) = file.parent() {
        private_folder(folder)?;
    }
    own_file(file).map(drop)
}

/// Opens a file for writing that the owner alone may read.
pub(super) fn own_file(file: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create(true).truncate(false)).open(file)
}

#[cfg(unix)]
fn identity(file: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let there = std::fs::metadata(file).ok()?;
    Some((there.dev(), there.ino()))
}

/// Where files have no numbers, an open one can't be deleted either.
#[cfg(not(unix))]
fn identity(_file: &Path) -> Option<(u64, u64)> {
    Some((0, 0))
}

/// Brings a file to the newest version, one process at a time.
fn migrate(opened: &OpenedStore) -> Result<(), StoreError> {
    let known = known();
    if version(&opened.connection)? == known {
        return Ok(());
    }
    let transaction = opened.writing()?;
    // Another process may have done it while this one waited.
    let found = version(&transaction)?;
    if found > known {
        return Err(StoreError::Newer { file: PathBuf::new(), found, known });
    }
    for sql in VERSIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(sql)?;
    }
    transaction.pragma_update(None, "application_id", OWNER)?;
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok(())
}
