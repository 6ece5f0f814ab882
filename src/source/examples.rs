//! Files that never change: those built into the program, and those that somebody has read already.

use std::collections::BTreeMap;
use std::sync::Arc;

use sha1::{Digest as _, Sha1};

use super::SourceError;
use super::files::{FileEntry, Files, Problem, is_read};
use crate::names::{CatalogPath, hex};

/// A fixed set of files.
pub(super) struct Examples {
    pub(super) files: Arc<Files>,
    bytes: BTreeMap<CatalogPath, Arc<[u8]>>,
    /// What is there and can't be had.
    pub(super) problems: Vec<Problem>,
}

impl Examples {
    /// The files of a catalog among these; other paths are left out.
    pub(super) fn of(files: &[(&str, &[u8])]) -> Self {
        let files = files.iter().filter_map(|(path, bytes)| Some((CatalogPath::new(path).ok()?, Arc::from(*bytes))));
        Self::of_texts(files, Vec::new())
    }

    /// The same of files with checked paths.
    pub(super) fn of_texts(files: impl IntoIterator<Item = (CatalogPath, Arc<[u8]>)>, problems: Vec<Problem>) -> Self {
        let bytes: BTreeMap<CatalogPath, Arc<[u8]>> =
            files.into_iter().filter(|(path, _)| is_read(path.as_str())).collect();
        let entry = |bytes: &Arc<[u8]>| FileEntry { oid: None, size: u64::try_from(bytes.len()).unwrap_or(u64::MAX) };
        let files = bytes.iter().map(|(path, bytes)| (path.clone(), entry(bytes))).collect();
        Self { files: Arc::new(files), bytes, problems }
    }

    /// No files at all: an empty repository.
    pub(super) fn none() -> Self {
        Self::of(&[])
    }

    /// A hash over paths and bytes; `None` when there are no files.
    pub(super) fn revision(&self) -> Option<String> {
        if self.bytes.is_empty() {
            return None;
        }
        let mut hash = Sha1::new();
        for (path, bytes) in &self.bytes {
            hash.update(path.as_str());
            hash.update([0]);
            hash.update(bytes.len().to_le_bytes());
            hash.update(bytes);
        }
        Some(hex(&hash.finalize()))
    }

    pub(super) fn read(&self, path: &CatalogPath) -> Result<Arc<[u8]>, SourceError> {
        self.bytes.get(path).cloned().ok_or_else(|| {
            let problem = self.problems.iter().find(|problem| problem.path == path.as_str());
            let none = || SourceError::NoSuchFile { path: path.clone(), place: "files that never change".to_owned() };
            problem.map_or_else(none, |problem| problem.error(path))
        })
    }
}
