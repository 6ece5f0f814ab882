//! The files of tests of a catalog's folder. No source reads them, so that nothing serves them.

use std::path::Path;
use std::sync::Arc;

use crate::app::{Code, Error};
use crate::config::system_says;
use crate::files::read_named;
use crate::model::wire::is_among_tests;
use crate::names::CatalogPath;

/// How deep folders are looked through.
const DEEPEST: usize = 16;

/// A file of tests with its bytes, or why they can't be had.
pub(in crate::app) type TestFile = (CatalogPath, Result<Arc<[u8]>, Error>);

/// The files of tests below `tests/`, in order.
pub(in crate::app) fn test_files(root: &Path, largest: u64) -> Vec<TestFile> {
    let mut files = Vec::new();
    walk(root, "tests", DEEPEST, &mut files);
    files.sort();
    let read = |file: CatalogPath| {
        let bytes = read(&root.join(file.as_str()), largest);
        (file, bytes)
    };
    files.into_iter().map(read).collect()
}

/// Links, and what begins with a dot, are not followed.
fn walk(root: &Path, folder: &str, deep: usize, files: &mut Vec<CatalogPath>) {
    let Ok(entries) = std::fs::read_dir(root.join(folder)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let (Some(name), Ok(kind)) = (name.to_str(), entry.file_type()) else { continue };
        let path = format!("{folder}/{name}");
        if kind.is_dir() && deep > 0 && !name.starts_with('.') {
            walk(root, &path, deep - 1, files);
        } else if kind.is_file() && is_among_tests(&path) {
            files.extend(CatalogPath::new(&path).ok());
        }
    }
}

/// A file's bytes.
///
/// # Errors
/// When it can't be read, or is larger than `largest` bytes.
pub(super) fn read(path: &Path, largest: u64) -> Result<Arc<[u8]>, Error> {
    let unreadable = |error: std::io::Error| Error::new(Code::InvalidRequest, system_says(&error));
    let size = std::fs::metadata(path).map_err(unreadable)?.len();
    if size > largest {
        let message = format!("the file is too large: {size} bytes, the limit is {largest}");
        return Err(Error::new(Code::FileTooLarge, message).next("divide its tests among several files"));
    }
    read_named(path, largest).map(Into::into).map_err(unreadable)
}
