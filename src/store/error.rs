//! What can be wrong with the file, told by what a person can do about it.

use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why executions can't be kept or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The file, or its folder, can't be made or opened.
    #[error("{} can't be opened: {why}", file.display())]
    Closed {
        /// The file.
        file: PathBuf,
        /// Why.
        why: String,
    },
    /// Another process held the file for too long.
    #[error("{} is held by another process", file.display())]
    Locked {
        /// The file.
        file: PathBuf,
    },
    /// There is no room left.
    #[error("{} can't grow: the disk is full", file.display())]
    Full {
        /// The file.
        file: PathBuf,
    },
    /// The system could not read or write it.
    #[error("{} can't be read or written: {why}", file.display())]
    Failing {
        /// The file.
        file: PathBuf,
        /// What SQLite says.
        why: String,
    },
    /// Nothing may be written there.
    #[error("{} can't be written: it is read-only", file.display())]
    ReadOnly {
        /// The file.
        file: PathBuf,
    },
    /// It is no database, or a broken one.
    #[error("{} is damaged: {why}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What SQLite says.
        why: String,
    },
    /// It is a database of something else.
    #[error("{} belongs to another program", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// A newer version of the program has changed it.
    #[error("{} has version {found}, and this program knows up to {known}", file.display())]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its version.
        found: i64,
        /// The newest that is known.
        known: i64,
    },
    /// One execution's log can't be understood.
    #[error("entry {entry} of execution {id} can't be read: {why}")]
    Torn {
        /// The execution.
        id: String,
        /// The entry, from 1.
        entry: i64,
        /// Why.
        why: String,
    },
    /// Something could be written and not be read again, so it was not written.
    #[error("this can't be kept: {0}")]
    Unkeepable(String),
    /// Anything else that SQLite says.
    #[error("{0}")]
    Other(String),
}

impl StoreError {
    /// Whether the file itself is in trouble, so that it is better opened anew. Where nothing can be
    /// written it is not: an open one can still be read, and opening takes room.
    pub(super) fn is_of_the_file(&self) -> bool {
        matches!(self, Self::Closed { .. } | Self::ReadOnly { .. } | Self::Damaged { .. } | Self::Other(_))
    }

    /// The same, of this file.
    pub(super) fn at(mut self, place: &Path) -> Self {
        if let Self::Closed { file, .. }
        | Self::Locked { file }
        | Self::Full { file }
        | Self::Failing { file, .. }
        | Self::ReadOnly { file }
        | Self::Damaged { file, .. }
        | Self::Foreign { file }
        | Self::Newer { file, .. } = &mut self
        {
            place.clone_into(file);
        }
        self
    }
}

impl From<rusqlite::types::FromSqlError> for StoreError {
    fn from(error: rusqlite::types::FromSqlError) -> Self {
        Self::Other(error.to_string())
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        let file = PathBuf::new();
        let why = match &error {
            // Its display adds the whole statement.
            rusqlite::Error::SqlInputError { msg, .. } => msg.clone(),
            other => other.to_string(),
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Locked { file },
            Some(ErrorCode::DiskFull) => Self::Full { file },
            Some(ErrorCode::ReadOnly) => Self::ReadOnly { file },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged { file, why },
            Some(ErrorCode::SystemIoFailure) => Self::Failing { file, why },
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => Self::Closed { file, why },
            _ => Self::Other(why),
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::ffi;

    use super::*;

    fn told(code: i32) -> StoreError {
        StoreError::from(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)).at(Path::new("/state/flowy.db"))
    }

    #[test]
    fn what_sqlite_says_is_told_by_what_can_be_done_about_it() {
        let file = || PathBuf::from("/state/flowy.db");
        assert_eq!(told(ffi::SQLITE_BUSY), StoreError::Locked { file: file() });
        assert_eq!(told(ffi::SQLITE_FULL), StoreError::Full { file: file() });
        assert_eq!(told(ffi::SQLITE_READONLY), StoreError::ReadOnly { file: file() });
        assert_eq!(
            told(ffi::SQLITE_IOERR_WRITE).to_string().split(": ").next(),
            Some("/state/flowy.db can't be read or written")
        );
        for damaged in [ffi::SQLITE_CORRUPT, ffi::SQLITE_NOTADB] {
            assert!(matches!(told(damaged), StoreError::Damaged { .. }));
        }
    }

    #[test]
    fn statements_are_not_part_of_a_message() {
        let error = rusqlite::Connection::open_in_memory().expect("memory").execute("SELECT 1 FROM nowhere", []);
        assert_eq!(StoreError::from(error.expect_err("no such table")).to_string(), "no such table: nowhere");
    }
}
