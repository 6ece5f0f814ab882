//! A GitHub repository as a source: ref → commit → list of files → bytes.
//!
//! A commit never changes, so only the first arrow is ever asked again: one conditional request when
//! a snapshot's life is over. What is missing is fetched, what is known stays on disk. Requests are
//! made in [`client`], limits understood in [`limits`]; this file decides what is asked for and when.

mod blobs;
mod client;
mod endpoints;
mod exchange;
mod limits;
mod lines;
mod probe;
mod queue;
mod records;
mod remote;
mod resolve;
mod tarball;
mod tree;
mod wire;

use std::fmt;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::Sleep;

pub use self::client::Pace;
pub use self::probe::Probe;
pub(super) use self::remote::Remote;

use self::blobs::{Closed, Fetch, Haul, WantedBlobs};
use self::client::{Effort, GithubClient};
use self::records::{Records, Remembered};
use self::resolve::{AskedRef, Resolved};
use self::tree::{ListedTree, Other, TreeAnswer, TreeListing};
use super::examples::Examples;
use super::files::{FileEntry, lfs_pointer};
use super::{Body, FORMAT, ProblemKind, READING, Snapshot, SourceError, Stale, View};
use crate::cache::{Failure as _, Flights, Folder, Kept, Lifetime, Loaded, Objects, Shelf, age};
use crate::clock::Clock;
use crate::config::Settings;
use crate::names::{CatalogPath, ObjectId, RefName, RepoSlug};

/// How many refs are kept in memory.
const REFS: usize = 32;
/// How long a snapshot lives that lacks files which should be there.
const INCOMPLETE: TimeDelta = TimeDelta::seconds(30);
/// How long a commit is promised to stay as it is: for ever, but callers may add to it.
const LONG: Duration = Duration::from_hours(365 * 24);

/// A repository that is read.
pub(super) struct Repository {
    ground: Arc<Ground>,
    shelf: Shelf<String, Arc<Snapshot>, SourceError>,
    /// Whether an older copy was served last.
    stale: AtomicBool,
    host: String,
}

/// What a repository's snapshots stand on.
struct Ground {
    slug: RepoSlug,
    client: GithubClient,
    records: Records,
    objects: Arc<Objects>,
    reads: Flights<ObjectId, Result<Arc<[u8]>, SourceError>>,
    clock: Arc<dyn Clock>,
    ttl: TimeDelta,
    largest: u64,
    any_commit: bool,
}

impl Repository {
    pub(super) fn open(
        slug: RepoSlug,
        host: &str,
        settings: &Settings,
        clock: Arc<dyn Clock>,
        pace: Pace,
    ) -> Result<Arc<Self>, SourceError> {
        let client = GithubClient::new(slug.to_string(), settings, clock.clone(), pace)?;
        let server = client.endpoints.rest.host_str().unwrap_or(host);
        let port = client.endpoints.rest.port().map(|port| format!("-{port}")).unwrap_or_default();
        let name =
            format!("{server}{port}+{}+{}", slug.owner, slug.repo).to_ascii_lowercase().replace([':', '[', ']'], "_");
        let folder = Arc::new(Folder::at(settings.cache_dir.join(FORMAT).join(name), clock.clone()));
        Ok(Arc::new(Self {
            shelf: Shelf::new(REFS, clock.clone()),
            stale: AtomicBool::new(false),
            host: host.to_owned(),
            ground: Arc::new(Ground {
                slug,
                client,
                records: Records::within(folder.clone(), clock.clone()),
                objects: Arc::new(Objects::within(folder)),
                reads: Flights::new(),
                clock,
                ttl: TimeDelta::from_std(settings.cache_ttl).unwrap_or(TimeDelta::days(365)),
                largest: settings.max_file_size,
                any_commit: settings.allow_any_commit,
            }),
        }))
    }

    pub(super) fn describe(&self) -> String {
        if self.host == "github.com" {
            self.ground.slug.to_string()
        } else {
            format!("{} on {}", self.ground.slug, self.host)
        }
    }

    /// GitHub does not tell names apart by case.
    pub(super) fn key(&self) -> String {
        let port = self.ground.client.endpoints.rest.port().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}{port}/{}", self.host, self.ground.slug).to_ascii_lowercase()
    }

    /// The snapshot of a ref: kept, confirmed, fetched, or an older one where that fails.
    pub(super) async fn snapshot(&self, git_ref: Option<RefName>, refresh: bool) -> Result<View, SourceError> {
        let asked = AskedRef::of(git_ref);
        let key = asked.text().to_owned();
        // A commit is what it is; there is nothing newer to ask for.
        let refresh = refresh && asked.commit().is_none();
        let (recalling, loading) = ((self.ground.clone(), asked.clone()), self.ground.clone());
        let found = self
            .shelf
            .get(
                key,
                refresh,
                move || recalling.0.recall(&recalling.1),
                async move |old| {
                    let (text, records) = (asked.text().to_owned(), loading.clone());
                    let loaded = loading.load(asked, old).await;
                    // Who is refused now is not answered by what was kept before.
                    if loaded.as_ref().is_err_and(|error| !error.excusable()) {
                        records.records.forget_ref(&text, records.client.token().as_ref());
                    }
                    loaded
                },
            )
            .await?;
        let now = self.ground.clock.now();
        let loaded = found.loaded;
        // Said once when it begins and once when it is over: calls follow one another.
        match &found.stale {
            Some(stale) if !self.stale.swap(true, Ordering::Relaxed) => {
                let age_seconds = age(now, loaded.checked_at).as_secs();
                tracing::warn!(repository = %self.ground.slug, age_seconds, reason = %stale.reason, "GitHub can't be asked; an older copy is served");
            }
            None if !found.cached && self.stale.swap(false, Ordering::Relaxed) => {
                tracing::info!(repository = %self.ground.slug, "GitHub answers again");
            }
            _ => {}
        }
        Ok(View {
            snapshot: loaded.value,
            cached: found.cached,
            age: age(now, loaded.checked_at),
            fresh_for: loaded.fresh.map_or(LONG, |fresh| fresh.left(&*self.ground.clock)),
            stale: found.stale.map(|stale| Stale { reason: stale.reason, since: stale.since }),
        })
    }
}

impl Ground {
    /// What the disk knows of a ref: the record alone, nothing else is opened.
    fn recall(self: &Arc<Self>, asked: &AskedRef) -> Option<Loaded<Arc<Snapshot>>> {
        let remembered = self.records.of_ref(asked.text(), self.client.token().as_ref(), self.clock.now())?;
        if !remembered.trusted && !self.any_commit {
            return None;
        }
        let name = remembered.name.or_else(|| asked.name().cloned());
        let fresh = self.fresh(asked, remembered.checked_at);
        let checked_at = remembered.checked_at.min(self.clock.now());
        let snapshot = self.whole(name, &remembered.commit, None, Closed::default());
        Some(Loaded { value: snapshot, checked_at, fresh })
    }

    fn fresh(&self, asked: &AskedRef, checked_at: DateTime<Utc>) -> Option<Lifetime> {
        asked.commit().is_none().then(|| Lifetime::since(&*self.clock, checked_at, self.ttl))
    }

    fn whole(
        self: &Arc<Self>,
        name: Option<RefName>,
        commit: &ObjectId,
        listing: Option<TreeListing>,
        closed: Closed,
    ) -> Arc<Snapshot> {
        let remote = Arc::new(Remote::new(self.clone(), commit.clone(), listing, closed));
        Arc::new(Snapshot::new(name, Some(commit.clone()), commit.to_string(), Body::Remote(remote)))
    }

    /// Asks GitHub for the state of a ref. Once the list of files is known, time that runs out makes
    /// the snapshot incomplete, not absent.
    async fn load(
        self: Arc<Self>,
        asked: AskedRef,
        old: Option<Arc<Snapshot>>,
    ) -> Result<Loaded<Arc<Snapshot>>, SourceError> {
        let began = self.clock.now();
        let effort = self.client.effort();
        let mut alarm = pin!(tokio::time::sleep(self.client.deadline));
        let turn = self.turn(&asked).await;
        if turn.waited
            && let Some(loaded) = self.brought(&asked, began).await
        {
            return Ok(loaded);
        }
        let known = old.as_ref().and_then(|old| old.commit());
        let resolved = self.before(&mut alarm, self.resolve(&asked, known, effort)).await?;
        let now = self.clock.now();
        let fresh = self.fresh(&asked, now);
        let Resolved::At { commit, trusted, shown, default_branch } = resolved else {
            let snapshot =
                Snapshot::new(asked.name().cloned(), None, "empty".to_owned(), Body::Fixed(Examples::none()));
            let fresh = Some(Lifetime::new(&*self.clock, self.ttl));
            return Ok(Loaded { value: Arc::new(snapshot), checked_at: now, fresh });
        };
        if let Some(old) = old.as_ref().filter(|old| old.commit() == Some(&commit) && old.is_complete()) {
            let remembered = Remembered { name: old.git_ref().cloned(), commit, checked_at: now, trusted };
            self.remember(&asked, remembered, None).await;
            return Ok(Loaded { value: old.clone(), checked_at: now, fresh });
        }
        let mut listed = self.before(&mut alarm, self.listed(&asked, &commit, shown, effort)).await?;
        let listing = listed.sorted(self.largest);
        let (wanted, here) = self.missing(&listing).await;
        let old_name = old.as_ref().and_then(|old| old.git_ref().cloned());
        let with_name = asked.is_default() && default_branch.is_none();
        let haul = Haul::default();
        let fetch = self.fetch(&commit, effort);
        if !wanted.is_empty() {
            tracing::info!(target: READING, files = wanted.len(), "reading files");
        }
        let in_time = self.before(&mut alarm, async {
            fetch.many(&wanted, with_name, &haul).await;
            Ok(())
        });
        let late = in_time.await.err();
        if let Some(error) = haul.everything() {
            return Err(error);
        }
        let learnt = default_branch.or_else(|| haul.branch());
        let mut closed = haul.close(&wanted, |one| self.timed_out(&one.path));
        closed.held.extend(here);
        let listing = self.without_pointers(&mut listed, listing, &closed).await;
        let name = match asked.name() {
            Some(name) => Some(name.clone()),
            None if learnt.is_some() || listing.files.is_empty() => learnt.or(old_name),
            None if old_name.is_some() || late.is_some() => old_name,
            // No post told it on the way: it costs a request of its own, and is not worth failing for.
            None => self.before(&mut alarm, self.default_branch(effort)).await.ok(),
        };
        let complete = closed.failed.is_empty();
        // An older state that is whole is worth more than a newer one of which files could not be had.
        if let Some(error) = closed.failed.values().find_map(|error| self.passing(error, &commit))
            && old.as_ref().is_some_and(|old| old.commit().is_some() && old.is_complete())
        {
            return Err(error);
        }
        let snapshot = self.whole(name.clone(), &commit, Some(listing), closed);
        if !complete {
            let fresh = Some(Lifetime::new(&*self.clock, INCOMPLETE));
            return Ok(Loaded { value: snapshot, checked_at: now, fresh });
        }
        self.remember(&asked, Remembered { name, commit, checked_at: now, trusted }, Some(listed)).await;
        Ok(Loaded { value: snapshot, checked_at: now, fresh })
    }

    /// What another process has learnt of a ref since `began`.
    async fn brought(self: &Arc<Self>, asked: &AskedRef, began: DateTime<Utc>) -> Option<Loaded<Arc<Snapshot>>> {
        let (ground, asked) = (self.clone(), asked.clone());
        let loaded = tokio::task::spawn_blocking(move || ground.recall(&asked)).await.ok().flatten()?;
        let is_fresh = loaded.fresh.is_none_or(|fresh| !fresh.is_over(&*self.clock));
        (is_fresh && loaded.checked_at >= began).then_some(loaded)
    }

    /// The outcome, if it comes before the alarm.
    async fn before<T>(
        &self,
        alarm: &mut Pin<&mut Sleep>,
        work: impl Future<Output = Result<T, SourceError>>,
    ) -> Result<T, SourceError> {
        tokio::select! {
            biased;
            outcome = work => outcome,
            () = alarm.as_mut() => Err(SourceError::TimedOut { what: format!("reading {}", self.slug), after: self.client.deadline }),
        }
    }

    fn timed_out(&self, path: &CatalogPath) -> SourceError {
        SourceError::TimedOut { what: format!("the file \"{path}\" of {}", self.slug), after: self.client.deadline }
    }

    fn fetch<'a>(&'a self, commit: &'a ObjectId, effort: Effort) -> Fetch<'a> {
        Fetch { client: &self.client, slug: &self.slug, commit, objects: &self.objects, largest: self.largest, effort }
    }

    /// What is in a commit's catalog: from disk where this credential may see it, else asked for.
    async fn listed(
        self: &Arc<Self>,
        asked: &AskedRef,
        commit: &ObjectId,
        shown: bool,
        effort: Effort,
    ) -> Result<ListedTree, SourceError> {
        let (ground, id) = (self.clone(), commit.clone());
        if shown && let Ok(Some(listed)) = tokio::task::spawn_blocking(move || ground.records.listed(&id)).await {
            return Ok(listed);
        }
        let mut tries = 0;
        loop {
            tries += 1;
            match tree::list(&self.client, &self.slug, commit, effort).await? {
                TreeAnswer::Here(listed) => return Ok(listed),
                TreeAnswer::Absent(_) if !shown => {
                    self.default_branch(effort).await?;
                    return Err(self.no_such_ref(asked, None));
                }
                // GitHub has just named this commit; not all of its machines need to know it.
                TreeAnswer::Absent(status) if !self.client.rest(tries, None, effort).await => {
                    return Err(self.not_there_yet(commit, status));
                }
                TreeAnswer::Absent(_) => {}
            }
        }
    }

    /// The error of a file of this commit, if it is one of an outage: not all of GitHub's machines need to
    /// have a file that has just been pushed.
    fn passing(&self, error: &SourceError, commit: &ObjectId) -> Option<SourceError> {
        match error {
            SourceError::GitHub { status: 404, .. } => Some(self.not_there_yet(commit, 404)),
            error => error.excusable().then(|| error.clone()),
        }
    }

    fn not_there_yet(&self, commit: &ObjectId, status: u16) -> SourceError {
        let commit = commit.as_str().get(..7).unwrap_or_default().to_owned();
        SourceError::NotThereYet { repo: self.slug.to_string(), commit, status }
    }

    /// The blobs that are not here yet, and those that only memory holds.
    async fn missing(&self, listing: &TreeListing) -> (Vec<WantedBlobs>, Vec<(ObjectId, Arc<[u8]>)>) {
        let (objects, files) = (self.objects.clone(), listing.files.clone());
        let look = move || {
            let mut seen = std::collections::BTreeSet::new();
            let (mut wanted, mut held) = (Vec::new(), Vec::new());
            for (path, entry) in files.iter() {
                let Some(id) = entry.oid.clone().filter(|id| seen.insert(id.clone())) else { continue };
                match objects.locate(&id) {
                    Some(Kept::OnDisk) => {}
                    Some(Kept::Held(bytes)) => held.push((id, bytes)),
                    None => wanted.push(WantedBlobs { id, path: path.clone(), size: entry.size }),
                }
            }
            (wanted, held)
        };
        tokio::task::spawn_blocking(look).await.unwrap_or_default()
    }

    /// Moves pointers to Git LFS from the files to the problems: their content is not in the repository.
    async fn without_pointers(&self, listed: &mut ListedTree, listing: TreeListing, closed: &Closed) -> TreeListing {
        // The format makes a pointer about 130 bytes long; anything else need not be opened.
        let small = |entry: &FileEntry| (100..=200).contains(&entry.size);
        let candidates: Vec<(CatalogPath, ObjectId)> = listing
            .files
            .iter()
            .filter(|(_, entry)| small(entry))
            .filter_map(|(path, entry)| Some((path.clone(), entry.oid.clone()?)))
            .filter(|(_, id)| !closed.failed.contains_key(id))
            .collect();
        let objects = self.objects.clone();
        let look = move || {
            let pointer = |id: &ObjectId| match lfs_pointer(&objects.pass(id)?)? {
                ProblemKind::LfsPointer { size } => Some(size),
                _ => None,
            };
            candidates.into_iter().filter_map(|(path, id)| Some((path, pointer(&id)?))).collect::<Vec<_>>()
        };
        let pointers = tokio::task::spawn_blocking(look).await.unwrap_or_default();
        if pointers.is_empty() {
            return listing;
        }
        listed.files.retain(|(path, _, _)| !pointers.iter().any(|(pointer, _)| pointer.as_str() == path));
        listed.others.extend(pointers.iter().map(|(path, size)| (path.to_string(), Other::LfsPointer { size: *size })));
        listed.sorted(self.largest)
    }

    async fn remember(self: &Arc<Self>, asked: &AskedRef, remembered: Remembered, listed: Option<ListedTree>) {
        let (ground, asked) = (self.clone(), asked.text().to_owned());
        let write = move || {
            if let Some(listed) = &listed {
                ground.records.keep_listed(&remembered.commit, listed);
            }
            ground.records.keep_ref(&asked, ground.client.token().as_ref(), &remembered);
            if listed.is_some() {
                ground.records.forget_others(&remembered.commit, ground.clock.now());
            }
            listed.is_some()
        };
        match tokio::task::spawn_blocking(write).await {
            Ok(true) => {
                // Nobody waits for it: of thousands of files each is looked at.
                let ground = self.clone();
                tokio::task::spawn_blocking(move || {
                    if let Some(blobs) = ground.records.blobs() {
                        ground.objects.forget(|id| blobs.contains(id));
                    }
                });
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "a record could not be written"),
        }
    }
}

impl fmt::Debug for Repository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repository").field("slug", &self.ground.slug).field("host", &self.host).finish_non_exhaustive()
    }
}
