//! Files that somebody names: their bytes, and what is said where these can't be had.

use std::path::Path;

use crate::app::{Code, Error};
use crate::config::system_says;
use crate::files::read_named;
use crate::names::shown;

/// A file's bytes.
///
/// # Errors
/// When it can't be read, or is larger than `limit` bytes.
pub(super) fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    read_named(path, limit).map_err(|error| match (error.kind(), std::fs::metadata(path)) {
        (std::io::ErrorKind::FileTooLarge, Ok(about)) if about.len() > limit => too_large(about.len(), limit),
        // What has no end has no size.
        (std::io::ErrorKind::FileTooLarge, _) => Error::new(Code::FileTooLarge, system_says(&error)),
        _ => Error::invalid(system_says(&error)),
    })
}

/// A file's bytes; what keeps them away names the file as it was given.
///
/// # Errors
/// As [`read_file`].
pub(super) fn read_given(path: &Path, given: &str, limit: u64) -> Result<Vec<u8>, Error> {
    let named = |error: Error| Error { message: format!("{}: {}", shown(given, 300), error.message), ..error };
    read_file(path, limit).map_err(named)
}

/// Says that a file is too large.
pub(super) fn too_large(size: u64, limit: u64) -> Error {
    Error::new(Code::FileTooLarge, crate::catalog::too_large(size, limit))
}
