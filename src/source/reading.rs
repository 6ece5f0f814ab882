//! All files of a snapshot, one after the other, with few of them in memory.

use std::sync::Arc;

use super::files::Files;
use super::{Body, Snapshot, SourceError};
use crate::names::CatalogPath;

/// How many files are read at a time, at the most.
const BATCH: usize = 256;
/// How many bytes are read at a time, unless one file is larger.
const BATCH_BYTES: u64 = 4 * 1024 * 1024;

/// A file's bytes, or why they can't be had.
pub type Text = (CatalogPath, Result<Arc<[u8]>, SourceError>);

type FileFilter<'s> = dyn Fn(&CatalogPath) -> bool + Send + Sync + 's;

/// The files of a snapshot that have not been read yet.
pub struct Reading<'s> {
    snapshot: &'s Snapshot,
    files: Arc<Files>,
    first: Box<FileFilter<'s>>,
    /// Whether the first ones are being read, or the others.
    firsts: bool,
    last: Option<CatalogPath>,
}

impl Snapshot {
    /// Begins to read all files: those first that `first` chooses, then the others, both in the order of
    /// the paths. What has gone from disk since it was fetched is fetched again.
    ///
    /// # Errors
    /// As [`Snapshot::files`].
    pub async fn reading<'s>(
        &'s self,
        first: impl Fn(&CatalogPath) -> bool + Send + Sync + 's,
    ) -> Result<Reading<'s>, SourceError> {
        let files = match &self.body {
            Body::Remote(remote) => remote.completed().await?,
            Body::Folder(_) | Body::Fixed(_) => self.files().await?,
        };
        Ok(Reading { snapshot: self, files, first: Box::new(first), firsts: true, last: None })
    }
}

impl Reading<'_> {
    /// The next files; `None` when all have been read. One that could not be had comes with its error and
    /// is not tried again here.
    ///
    /// # Errors
    /// As [`Snapshot::files`].
    pub async fn next(&mut self) -> Result<Option<Vec<Text>>, SourceError> {
        let mut batch = self.batch();
        if batch.is_empty() && self.firsts {
            (self.firsts, self.last) = (false, None);
            batch = self.batch();
        }
        let Some(last) = batch.last() else { return Ok(None) };
        self.last = Some(last.clone());
        let bytes = match &self.snapshot.body {
            Body::Remote(remote) => remote.read_batch(&batch).await?,
            Body::Folder(walked) => walked.read_batch(&batch).await,
            Body::Fixed(files) => batch.iter().map(|path| files.read(path)).collect(),
        };
        Ok(Some(batch.into_iter().zip(bytes).collect()))
    }

    fn batch(&self) -> Vec<CatalogPath> {
        let mut left = BATCH_BYTES;
        let mut batch = Vec::new();
        for (path, file) in self.files.after(self.last.as_ref()).filter(|(path, _)| (self.first)(path) == self.firsts) {
            if batch.len() == BATCH || !batch.is_empty() && file.size > left {
                break;
            }
            left = left.saturating_sub(file.size);
            batch.push(path.clone());
        }
        batch
    }
}
