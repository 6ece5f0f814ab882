//! Where documents come from: a GitHub repository, a folder, or the examples in the program.
//!
//! A [`Source`] is asked for a [`Snapshot`]: one state of all files, which never changes while it is
//! held, so that one listing or one execution reads one commit. This room finds, fetches, checks
//! and keeps bytes; what a flow is, is not known here.

mod examples;
mod failure;
mod files;
mod folder;
mod git;
mod github;
mod reading;
mod redact;
mod refusal;
pub mod slug;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};

pub use self::failure::{ProblemKind, SourceError};
pub use self::files::{CATALOG_FOLDERS, FileEntry, Files, Problem, is_read};
pub use self::git::{GitError, GitFiles, files_at};
pub use self::github::{Pace, Probe};
pub use self::reading::{Reading, Text};
pub use self::refusal::Refusal;

use self::examples::Examples;
use self::folder::FolderSource;
use self::github::{Remote, Repository};
use crate::cache::RecordFile;
use crate::clock::Clock;
use crate::config::Settings;
use crate::names::{CatalogPath, ObjectId, RefName, RepoSlug};

/// The version of everything below the cache folder: another format, another folder.
const FORMAT: &str = "v1";

/// Removes whatever is kept of sources below a cache folder; all of it can be read again.
///
/// # Errors
/// When something can't be removed.
pub fn remove_kept(cache: &std::path::Path) -> std::io::Result<()> {
    std::fs::remove_dir_all(cache.join(FORMAT))
}

/// The target of the log lines that say how many `files` are being read, for whoever shows that.
pub const READING: &str = "flowy::reading";

/// What is to be read, not yet opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceSpec {
    /// A repository on GitHub.
    GitHub {
        /// Owner and name.
        slug: RepoSlug,
        /// The ref the source itself names (`@ref`, `/tree/ref`); otherwise the settings' or the default branch.
        git_ref: Option<RefName>,
        /// The host as people know it, for example `github.com`.
        host: String,
    },
    /// A folder that holds `flows/`, `templates/` …
    Folder(PathBuf),
    /// Files built into the program: path and bytes.
    Examples(&'static [(&'static str, &'static [u8])]),
    /// Files that somebody has read already.
    Texts {
        /// What they are, in words.
        name: String,
        /// The files, in the order of their paths.
        files: Vec<(CatalogPath, Arc<[u8]>)>,
        /// What is there and can't be had.
        problems: Vec<Problem>,
    },
}

/// What is asked of a source.
#[derive(Debug, Clone, Default)]
pub struct Ask {
    /// Another branch, tag or commit than the source's own.
    pub git_ref: Option<RefName>,
    /// Ask for the newest state even while a copy is fresh.
    pub refresh: bool,
}

/// A snapshot and how current it is.
#[derive(Debug, Clone)]
pub struct View {
    /// The files.
    pub snapshot: Arc<Snapshot>,
    /// Whether nobody was asked for this answer.
    pub cached: bool,
    /// How long ago the snapshot was last known to be the newest state.
    pub age: Duration,
    /// How much longer it is served without asking; very long for a commit, nothing for a folder.
    pub fresh_for: Duration,
    /// Set when the newest state could not be had and this is an older one.
    pub stale: Option<Stale>,
}

/// Why an older state is served.
#[derive(Debug, Clone)]
pub struct Stale {
    /// What went wrong when the newest state was asked for.
    pub reason: SourceError,
    /// When the served state was last known to be the newest.
    #[cfg_attr(not(feature = "internals"), expect(dead_code, reason = "tests hold the clock to it"))]
    pub since: DateTime<Utc>,
}

/// A place documents come from.
#[derive(Debug)]
pub struct Source {
    kind: SourceKind,
    git_ref: Option<RefName>,
}

#[derive(Debug)]
enum SourceKind {
    GitHub(Arc<Repository>),
    Folder(FolderSource),
    /// Files that never change, and what they are in words.
    Fixed(Arc<Snapshot>, String),
}

impl Source {
    /// Opens a source. Nothing is asked of any network and no certificates are loaded before the first use.
    ///
    /// # Errors
    /// When the folder is not one, or the API address cannot be used.
    pub fn open(spec: SourceSpec, settings: &Settings, clock: Arc<dyn Clock>) -> Result<Self, SourceError> {
        Self::open_at(spec, settings, clock, Pace::Real)
    }

    /// Like [`Source::open`], with pauses between tries of another length: for tests.
    ///
    /// # Errors
    /// As [`Source::open`].
    pub fn open_at(
        spec: SourceSpec,
        settings: &Settings,
        clock: Arc<dyn Clock>,
        pace: Pace,
    ) -> Result<Self, SourceError> {
        Ok(match spec {
            SourceSpec::GitHub { slug, git_ref, host } => Self {
                kind: SourceKind::GitHub(Repository::open(slug, &host, settings, clock, pace)?),
                git_ref: git_ref.or_else(|| settings.git_ref.clone()),
            },
            SourceSpec::Folder(path) => {
                Self { kind: SourceKind::Folder(FolderSource::open(path, settings, clock)?), git_ref: None }
            }
            SourceSpec::Examples(files) => {
                let snapshot = Arc::new(Snapshot::fixed(Examples::of(files), "examples"));
                Self { kind: SourceKind::Fixed(snapshot, "built-in examples".to_owned()), git_ref: None }
            }
            SourceSpec::Texts { name, files, problems } => {
                Self { kind: SourceKind::Fixed(Arc::new(Snapshot::of_texts(files, problems)), name), git_ref: None }
            }
        })
    }

    /// The source in words: `acme/flows`, `folder ./x`, `built-in examples`.
    pub fn describe(&self) -> String {
        match &self.kind {
            SourceKind::GitHub(repository) => repository.describe(),
            SourceKind::Folder(folder) => folder.describe(),
            SourceKind::Fixed(_, name) => name.clone(),
        }
    }

    /// Which source it is, the same in every process and at every ref: `github.com/acme/flows`, a
    /// folder's whole path, `built-in examples`. Never a token.
    pub fn key(&self) -> String {
        match &self.kind {
            SourceKind::GitHub(repository) => repository.key(),
            SourceKind::Folder(folder) => folder.key(),
            SourceKind::Fixed(_, name) => name.clone(),
        }
    }

    /// What the source's server tells when it is asked once; none where the source has no server.
    pub async fn probe(&self) -> Option<Result<Probe, SourceError>> {
        match &self.kind {
            SourceKind::GitHub(repository) => Some(repository.probe().await),
            SourceKind::Folder(_) | SourceKind::Fixed(..) => None,
        }
    }

    /// The state of the files at a ref, kept or fetched.
    ///
    /// # Errors
    /// When no state can be had: see [`SourceError`]. A file that cannot be had is not an error here;
    /// it is found among [`Snapshot::problems`] and when it is read.
    pub async fn snapshot(&self, ask: &Ask) -> Result<View, SourceError> {
        match &self.kind {
            SourceKind::GitHub(repository) => {
                let git_ref = ask.git_ref.clone().or_else(|| self.git_ref.clone());
                repository.snapshot(git_ref, ask.refresh).await
            }
            SourceKind::Folder(folder) => folder.snapshot().await.map(|snapshot| View::of_now(snapshot, false)),
            SourceKind::Fixed(snapshot, _) => Ok(View::of_now(snapshot.clone(), true)),
        }
    }
}

impl View {
    fn of_now(snapshot: Arc<Snapshot>, cached: bool) -> Self {
        Self { snapshot, cached, age: Duration::ZERO, fresh_for: Duration::ZERO, stale: None }
    }
}

/// One state of all files of a catalog.
pub struct Snapshot {
    git_ref: Option<RefName>,
    commit: Option<ObjectId>,
    revision: String,
    body: Body,
}

enum Body {
    Remote(Arc<Remote>),
    Folder(folder::WalkedFolder),
    Fixed(Examples),
}

impl Snapshot {
    /// Files that somebody has read already, and what of them can't be had; what no catalog reads is left out.
    pub fn of_texts(files: impl IntoIterator<Item = (CatalogPath, Arc<[u8]>)>, problems: Vec<Problem>) -> Self {
        Self::fixed(Examples::of_texts(files, problems), "texts")
    }

    fn fixed(files: Examples, revision: &str) -> Self {
        let revision = files.revision().unwrap_or_else(|| revision.to_owned());
        Self::new(None, None, revision, Body::Fixed(files))
    }

    fn new(git_ref: Option<RefName>, commit: Option<ObjectId>, revision: String, body: Body) -> Self {
        Self { git_ref, commit, revision, body }
    }

    /// The branch, tag or commit that was read: the default branch's own name where none was asked for.
    ///
    /// `None` for folders and examples, and for a default branch whose name nobody had to ask for
    /// (a catalog without files).
    pub fn git_ref(&self) -> Option<&RefName> {
        self.git_ref.as_ref()
    }

    /// The commit; `None` for folders, examples and an empty repository.
    pub fn commit(&self) -> Option<&ObjectId> {
        self.commit.as_ref()
    }

    /// What changes whenever a file changes: the commit, else a hash over paths, sizes and times.
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// The files that can be read, sorted by path.
    ///
    /// # Errors
    /// When the list has to be fetched again (the cache folder was emptied) and that fails.
    pub async fn files(&self) -> Result<Arc<Files>, SourceError> {
        match &self.body {
            Body::Remote(remote) => remote.files().await,
            Body::Folder(walked) => Ok(walked.files.clone()),
            Body::Fixed(files) => Ok(files.files.clone()),
        }
    }

    /// The files that were left out or could not be had, and why.
    ///
    /// # Errors
    /// As [`Snapshot::files`].
    pub async fn problems(&self) -> Result<Vec<Problem>, SourceError> {
        match &self.body {
            Body::Remote(remote) => remote.problems().await,
            Body::Folder(walked) => Ok(walked.problems.clone()),
            Body::Fixed(files) => Ok(files.problems.clone()),
        }
    }

    /// A file's bytes, checked against its id. A file that could not be had before is tried again.
    ///
    /// # Errors
    /// Why this one file cannot be had.
    pub async fn read(&self, path: &CatalogPath) -> Result<Arc<[u8]>, SourceError> {
        match &self.body {
            Body::Remote(remote) => remote.read(path).await,
            Body::Folder(walked) => walked.read(path).await,
            Body::Fixed(files) => files.read(path),
        }
    }

    /// All files at once, in the order of the paths; [`Snapshot::reading`] needs less memory.
    ///
    /// # Errors
    /// As [`Snapshot::files`].
    pub async fn read_all(&self) -> Result<Vec<Text>, SourceError> {
        let (mut all, mut reading) = (Vec::new(), self.reading(|_| true).await?);
        while let Some(texts) = reading.next().await? {
            all.extend(texts);
        }
        Ok(all)
    }

    /// The same, with what is there and can't be had apart.
    ///
    /// # Errors
    /// As [`Snapshot::files`].
    pub async fn read_what_can_be(&self) -> Result<(Vec<(CatalogPath, Arc<[u8]>)>, Vec<Problem>), SourceError> {
        let (mut files, mut problems) = (Vec::new(), BTreeMap::new());
        problems.extend(self.problems().await?.into_iter().map(|problem| (problem.path.clone(), problem)));
        for (path, bytes) in self.read_all().await? {
            match bytes {
                Ok(bytes) => files.push((path, bytes)),
                Err(error) => {
                    let problem = Problem::failed(&path, error);
                    problems.insert(problem.path.clone(), problem);
                }
            }
        }
        Ok((files, problems.into_values().collect()))
    }

    /// What was kept for this revision under this name.
    pub async fn derived(&self, name: &str) -> Option<RecordFile> {
        match &self.body {
            Body::Remote(remote) => remote.derived(name).await,
            Body::Folder(walked) => walked.derived(&self.revision, name).await,
            Body::Fixed(_) => None,
        }
    }

    /// Keeps records made from this revision under a name; what was kept is open then.
    ///
    /// # Errors
    /// The records themselves, where nothing is kept: the revision is no whole commit, the folder is small or
    /// was changed a moment ago, or the disk can't be written.
    pub async fn keep_derived(&self, name: &str, records: Vec<Vec<u8>>) -> Result<RecordFile, Vec<Vec<u8>>> {
        match &self.body {
            Body::Remote(remote) => remote.keep_derived(name, records).await,
            Body::Folder(walked) => walked.keep_derived(&self.revision, name, records).await,
            Body::Fixed(_) => Err(records),
        }
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("git_ref", &self.git_ref)
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}
