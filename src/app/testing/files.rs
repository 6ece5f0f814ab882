//! The files of tests of a catalog's folder. No source reads them, so that nothing serves them.

use std::ffi::OsString;
use std::fs::FileType;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use crate::app::reading::read_file;
use crate::app::{Code, Error};
use crate::config::system_says;
use crate::model::wire::is_among_tests;
use crate::names::{CatalogPath, quoted};

/// How deep folders are looked through.
const DEEPEST: usize = 16;

/// A file of tests with its bytes, or why they can't be had.
pub(in crate::app) type TestFile = (CatalogPath, Result<Arc<[u8]>, Error>);

/// A file of tests, or a folder that can't be read.
type FoundTests = (CatalogPath, Result<(), Error>);

/// The files of tests below `tests/`, in order.
pub(in crate::app) fn test_files(root: &Path, largest: u64) -> Vec<TestFile> {
    let mut files = Vec::new();
    walk(root, "tests", DEEPEST, &mut files);
    let read = |(file, found): FoundTests| {
        let bytes = found.and_then(|()| read(&root.join(file.as_str()), largest));
        (file, bytes)
    };
    let mut files: Vec<TestFile> = files.into_iter().map(read).collect();
    files.sort_by(|(a, _), (b, _)| a.cmp(b));
    files
}

/// Links, and what begins with a dot, are not followed. A folder that can't be read is among the files: whatever
/// tests it holds are not run, and that must not look as if there were none.
fn walk(root: &Path, folder: &str, deep: usize, files: &mut Vec<FoundTests>) {
    let entries = match std::fs::read_dir(root.join(folder)) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return,
        entries => entries.and_then(|entries| {
            entries.map(|entry| entry.and_then(|entry| Ok((entry.file_name(), entry.file_type()?)))).collect()
        }),
    };
    let entries: Vec<(OsString, FileType)> = match entries {
        Err(error) => return files.extend(unreadable(folder, system_says(&error))),
        Ok(entries) => entries,
    };
    for (name, kind) in entries {
        let name = name.to_string_lossy();
        let path = format!("{folder}/{name}");
        if kind.is_dir() && deep > 0 && !name.starts_with('.') {
            walk(root, &path, deep - 1, files);
        } else if kind.is_file() && is_among_tests(&path) {
            match CatalogPath::new(&path) {
                Ok(path) => files.push((path, Ok(()))),
                Err(why) => files.extend(unreadable(folder, format!("{} is not read: {why}", quoted(&name)))),
            }
        }
    }
}

fn unreadable(folder: &str, why: String) -> Option<FoundTests> {
    Some((CatalogPath::new(folder).ok()?, Err(Error::invalid(why))))
}

/// A file's bytes.
///
/// # Errors
/// When it can't be read, or is larger than `largest` bytes.
pub(super) fn read(path: &Path, largest: u64) -> Result<Arc<[u8]>, Error> {
    read_file(path, largest).map(Into::into).map_err(|error| {
        if error.code == Code::FileTooLarge { error.next("divide its tests among several files") } else { error }
    })
}
