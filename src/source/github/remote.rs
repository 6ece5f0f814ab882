//! One commit's files: listed and read when somebody asks for them.
//!
//! A snapshot that comes from disk holds nothing but its commit. Blobs stay on disk and are read one
//! by one; only those that no disk would take are held here.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use chrono::{DateTime, Utc};
use tokio::sync::OnceCell;

use super::blobs::{Closed, Haul, WantedBlobs};
use super::tree::{TreeAnswer, TreeListing};
use super::{Ground, INCOMPLETE, tree};
use crate::cache::{Kept, RecordFile};
use crate::lock::lock;
use crate::names::{CatalogPath, ObjectId};
use crate::source::files::{Files, Problem};
use crate::source::{Body, ProblemKind, Snapshot, SourceError};

/// The files of one commit.
pub(in crate::source) struct Remote {
    ground: Arc<Ground>,
    commit: ObjectId,
    listing: OnceCell<TreeListing>,
    held: Mutex<HashMap<ObjectId, Arc<[u8]>>>,
    failed: Mutex<BTreeMap<ObjectId, SourceError>>,
    made_at: DateTime<Utc>,
    /// Nothing was missing when it was made: what was derived from it knows every file.
    born_whole: bool,
}

impl Snapshot {
    /// Whether every file was had: only then is a snapshot worth keeping.
    pub(super) fn is_complete(&self) -> bool {
        match &self.body {
            Body::Remote(remote) => remote.is_complete(),
            Body::Folder(_) | Body::Fixed(_) => true,
        }
    }
}

impl Remote {
    pub(super) fn new(ground: Arc<Ground>, commit: ObjectId, listing: Option<TreeListing>, closed: Closed) -> Self {
        let made_at = ground.clock.now();
        let born_whole = closed.failed.is_empty();
        Self {
            ground,
            commit,
            listing: OnceCell::new_with(listing),
            held: Mutex::new(closed.held),
            failed: Mutex::new(closed.failed),
            made_at,
            born_whole,
        }
    }

    fn is_complete(&self) -> bool {
        self.born_whole && lock(&self.failed).is_empty()
    }

    async fn listing(&self) -> Result<&TreeListing, SourceError> {
        self.listing
            .get_or_try_init(|| async {
                let ground = &self.ground;
                let (records, id) = (ground.clone(), self.commit.clone());
                let read = tokio::task::spawn_blocking(move || {
                    records.records.listed(&id).map(|found| found.sorted(records.largest))
                });
                if let Ok(Some(listing)) = read.await {
                    return Ok(listing);
                }
                // Somebody emptied the cache folder.
                let effort = ground.client.effort();
                let listing = tree::list(&ground.client, &ground.slug, &self.commit, effort);
                match self.in_time(listing).await? {
                    TreeAnswer::Here(listed) => Ok(listed.sorted(ground.largest)),
                    TreeAnswer::Absent(status) => Err(ground.not_there_yet(&self.commit, status)),
                }
            })
            .await
    }

    async fn in_time<T>(&self, work: impl Future<Output = Result<T, SourceError>>) -> Result<T, SourceError> {
        let after = self.ground.client.deadline;
        tokio::time::timeout(after, work)
            .await
            .unwrap_or_else(|_| Err(SourceError::TimedOut { what: format!("reading {}", self.ground.slug), after }))
    }

    pub(in crate::source) async fn files(&self) -> Result<Arc<Files>, SourceError> {
        Ok(self.listing().await?.files.clone())
    }

    pub(in crate::source) async fn problems(&self) -> Result<Vec<Problem>, SourceError> {
        let listing = self.listing().await?;
        let mut problems = listing.problems.clone();
        let failed = lock(&self.failed);
        if !failed.is_empty() {
            for (path, entry) in listing.files.iter() {
                if let Some(error) = entry.oid.as_ref().and_then(|id| failed.get(id)) {
                    problems.push(Problem::new(path.as_str(), ProblemKind::Failed(error.clone())));
                }
            }
            problems.sort_by(|one, other| one.path.cmp(&other.path));
        }
        Ok(problems)
    }

    pub(in crate::source) async fn read(&self, path: &CatalogPath) -> Result<Arc<[u8]>, SourceError> {
        let listing = self.listing().await?;
        let Some((id, size)) = listing.files.get(path).and_then(|entry| Some((entry.oid.clone()?, entry.size))) else {
            let problem = listing.problems.iter().find(|problem| problem.path == path.as_str());
            return Err(problem.map_or_else(|| self.no_such_file(path), |problem| problem.error(path)));
        };
        let objects = self.ground.objects.clone();
        if let Some(bytes) = objects.in_memory(&id) {
            return Ok(bytes);
        }
        let wanted = id.clone();
        if let Ok(Some(bytes)) = tokio::task::spawn_blocking(move || objects.get(&wanted)).await {
            return Ok(bytes);
        }
        // What took too long a moment ago is not waited for a second time.
        let recent = self.ground.clock.now() < self.made_at + INCOMPLETE;
        let earlier = lock(&self.failed).get(&id).cloned();
        if let Some(error @ SourceError::TimedOut { .. }) = earlier.filter(|_| recent) {
            return Err(error);
        }
        self.fetch(WantedBlobs { id, path: path.clone(), size }).await
    }

    fn no_such_file(&self, path: &CatalogPath) -> SourceError {
        let commit = self.commit.as_str().get(..7).unwrap_or_default();
        SourceError::NoSuchFile { path: path.clone(), place: format!("{} at {commit}", self.ground.slug) }
    }

    /// One blob, asked for once however many wait for it.
    async fn fetch(&self, wanted: WantedBlobs) -> Result<Arc<[u8]>, SourceError> {
        let id = wanted.id.clone();
        let (ground, commit) = (self.ground.clone(), self.commit.clone());
        let flight = move || async move {
            let effort = ground.client.effort();
            let fetch = ground.fetch(&commit, effort);
            let bytes = tokio::time::timeout(ground.client.deadline, fetch.one(&wanted))
                .await
                .unwrap_or_else(|_| Err(ground.timed_out(&wanted.path)))?;
            let bytes: Arc<[u8]> = bytes.into();
            let (objects, content) = (ground.objects.clone(), bytes.clone());
            let kept = tokio::task::spawn_blocking(move || objects.keep(&wanted.id, &content)).await;
            Ok(match kept {
                Ok(Kept::Held(held)) => held,
                _ => bytes,
            })
        };
        let outcome =
            self.ground.reads.join(id.clone(), flight).await.unwrap_or_else(|| Err(crate::cache::Failure::panicked()));
        match &outcome {
            Ok(bytes) => {
                lock(&self.failed).remove(&id);
                if !matches!(self.ground.objects.locate(&id), Some(Kept::OnDisk)) {
                    lock(&self.held).insert(id, bytes.clone());
                }
            }
            Err(error) => {
                lock(&self.failed).insert(id, error.clone());
            }
        }
        outcome
    }

    /// Lists the files, and fetches what has gone from disk since.
    pub(in crate::source) async fn completed(&self) -> Result<Arc<Files>, SourceError> {
        let listing = self.listing().await?;
        self.complete(listing).await;
        Ok(listing.files.clone())
    }

    /// Reads some files from disk, in their order.
    pub(in crate::source) async fn read_batch(
        &self,
        paths: &[CatalogPath],
    ) -> Result<Vec<Result<Arc<[u8]>, SourceError>>, SourceError> {
        let listing = self.listing().await?;
        let id = |path| listing.files.get(path).and_then(|entry| entry.oid.clone());
        let batch: Vec<Option<ObjectId>> = paths.iter().map(id).collect();
        let mut bytes = self.passed(&batch).await;
        let lost = |(id, bytes): (&Option<ObjectId>, &Option<_>)| {
            bytes.is_none() && id.as_ref().is_some_and(|id| !lock(&self.failed).contains_key(id))
        };
        if batch.iter().zip(&bytes).any(lost) {
            // What is damaged on disk was taken for there, and is gone now.
            self.complete(listing).await;
            bytes = self.passed(&batch).await;
        }
        let why = |id: Option<ObjectId>, path| {
            id.and_then(|id| lock(&self.failed).get(&id).cloned()).unwrap_or_else(|| self.no_such_file(path))
        };
        let read = paths.iter().zip(batch).zip(bytes);
        Ok(read.map(|((path, id), bytes)| bytes.ok_or_else(|| why(id, path))).collect())
    }

    /// What is here of a batch, as far as it is undamaged.
    async fn passed(&self, batch: &[Option<ObjectId>]) -> Vec<Option<Arc<[u8]>>> {
        let (objects, ids) = (self.ground.objects.clone(), batch.to_vec());
        let read = move || ids.iter().map(|id| objects.pass(id.as_ref()?)).collect();
        tokio::task::spawn_blocking(read).await.unwrap_or_else(|_| vec![None; batch.len()])
    }

    /// Fetches what has gone from disk since; what failed before is left alone.
    async fn complete(&self, listing: &TreeListing) {
        let (mut wanted, _) = self.ground.missing(listing).await;
        wanted.retain(|one| !lock(&self.failed).contains_key(&one.id));
        if wanted.is_empty() {
            return;
        }
        let haul = Haul::default();
        let fetch = self.ground.fetch(&self.commit, self.ground.client.effort());
        let _ = tokio::time::timeout(self.ground.client.deadline, fetch.many(&wanted, false, &haul)).await;
        let everything = haul.everything();
        let closed = haul.close(&wanted, |one| everything.clone().unwrap_or_else(|| self.ground.timed_out(&one.path)));
        lock(&self.held).extend(closed.held);
        lock(&self.failed).extend(closed.failed);
    }

    pub(in crate::source) async fn derived(&self, name: &str) -> Option<RecordFile> {
        if !self.is_complete() {
            return None;
        }
        let (ground, commit, name) = (self.ground.clone(), self.commit.clone(), name.to_owned());
        let read = move || ground.records.derived(&commit, ground.largest, &name);
        tokio::task::spawn_blocking(read).await.ok().flatten()
    }

    /// Keeps derived records on disk and opens them there; hands them back where that is not possible.
    pub(in crate::source) async fn keep_derived(
        &self,
        name: &str,
        records: Vec<Vec<u8>>,
    ) -> Result<RecordFile, Vec<Vec<u8>>> {
        if !self.is_complete() {
            return Err(records);
        }
        let (ground, commit, name) = (self.ground.clone(), self.commit.clone(), name.to_owned());
        let write = move || ground.records.keep_derived(&commit, ground.largest, &name, &records).ok_or(records);
        // Nothing in there panics; if something did, these records would be gone, and are then no index.
        tokio::task::spawn_blocking(write).await.unwrap_or(Err(Vec::new()))
    }
}
