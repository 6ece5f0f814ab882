//! Opening the file: the owner's alone, with a write-ahead log that is on the disk before anybody
//! is told so.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::{StoreError, schema};

/// The pause between two tries to switch to the write-ahead log: while another process does the
/// same, SQLite may refuse at once instead of waiting.
const PAUSE: Duration = Duration::from_millis(10);

/// The open file.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) connection: Connection,
    /// Which file it is, whatever its name leads to later.
    identity: Option<(u64, u64)>,
}

impl Opened {
    /// Opens the file and brings it to the newest version; makes it and its folder where they are
    /// missing.
    pub(super) fn at(file: &Path, busy: Duration) -> Result<Self, StoreError> {
        make(file).map_err(|error| StoreError::Closed { file: PathBuf::new(), why: error.to_string() })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let mut connection = Connection::open_with_flags(file, flags)?;
        connection.busy_timeout(busy)?;
        schema::recognize(&connection)?;
        // Whether SQLite waits or not, all tries together take about as long as one wait.
        connection.busy_timeout(PAUSE)?;
        write_ahead(&connection, busy.as_millis() / (2 * PAUSE.as_millis()))?;
        connection.busy_timeout(busy)?;
        connection.pragma_update(None, "synchronous", "FULL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        schema::migrate(&mut connection)?;
        Ok(Self { connection, identity: identity(file) })
    }

    /// Whether the name still leads to this file.
    pub(super) fn is_still_at(&self, file: &Path) -> bool {
        self.identity == identity(file)
    }
}

fn write_ahead(connection: &Connection, most: u128) -> Result<(), StoreError> {
    let mut tries = 0;
    loop {
        let mode = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
        match mode.map_err(StoreError::from) {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(mode) => {
                let why = format!("its journal stays {mode}; a local disk is needed, not a network folder");
                return Err(StoreError::Closed { file: PathBuf::new(), why });
            }
            Err(StoreError::Locked { .. }) if tries < most => {
                tries += 1;
                std::thread::sleep(PAUSE);
            }
            Err(error) => return Err(error),
        }
    }
}

/// An empty file is an empty database; SQLite's own files beside it take over who may read it.
fn make(file: &Path) -> io::Result<()> {
    if file.is_file() {
        return Ok(());
    }
    if let Some(folder) = file.parent() {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(|_: File| ())
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
