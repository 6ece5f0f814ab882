//! What changed since a commit, and what that breaks: the findings of changed files, and of others those that were not
//! there before.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::{Checkup, fingerprints};
use crate::app::Error;
use crate::catalog::{CheckOptions, check};
use crate::model::Toolbox;
use crate::model::wire::is_among_tests;
use crate::names::CatalogPath;
use crate::source::{GitError, GitFiles, Snapshot, files_at};

/// What a check was held against.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinceNote {
    /// The branch, tag or commit that was named.
    pub git_ref: String,
    /// The commit that the files are held against.
    pub commit: String,
    /// How many files changed.
    pub changed: usize,
}

impl From<GitError> for Error {
    fn from(error: GitError) -> Self {
        let next = match &error {
            GitError::NoCommit { shallow: true, .. } | GitError::NoCommonCommit { shallow: true, .. } => {
                "this checkout holds only the newest commits: fetch the others (`git fetch --unshallow`; \
                 `fetch-depth: 0` for actions/checkout), or name a commit that is there"
            }
            GitError::NoCommit { .. } => {
                "`git branch --all` and `git tag` list the names; a repository on GitHub is owner/repo@ref"
            }
            GitError::NoCommonCommit { .. } => "name a branch or commit from which the current one comes",
            GitError::NoRepository(_) => "call it in a folder that lies in a git repository",
            GitError::NotStarted(_) | GitError::Failed(_) => "see that `git status` works in this folder",
        };
        Self::invalid(error.to_string()).next(next)
    }
}

/// Leaves of a check what changed since a commit, and what that broke.
///
/// # Errors
/// When git knows no such commit.
pub(super) async fn only_since(
    checkup: &mut Checkup,
    root: &Path,
    git_ref: &str,
    now: &BTreeMap<CatalogPath, Arc<[u8]>>,
    (lenient, tools): (bool, Option<&Arc<Toolbox>>),
    largest: u64,
) -> Result<(), Error> {
    let GitFiles { commit, files, problems } = files_at(root, git_ref, true, largest)?;
    let before: BTreeMap<&CatalogPath, &Arc<[u8]>> = files.iter().map(|(path, bytes)| (path, bytes)).collect();
    let changed: BTreeSet<&CatalogPath> = now
        .keys()
        .chain(before.keys().copied())
        .filter(|path| match (now.get(*path), before.get(path)) {
            (Some(now), Some(before)) => !same(now, before),
            _ => true,
        })
        .collect();
    let snapshot = Snapshot::of_texts(files.iter().cloned(), problems);
    let tests = files.iter().filter(|(path, _)| is_among_tests(path.as_str()));
    let instead: BTreeMap<CatalogPath, Arc<[u8]>> = tests.cloned().collect();
    let options = CheckOptions { wanted: &|_| true, whole: true, contents: false, lenient, tools, instead: &instead };
    let found = check(&snapshot, options).await?;
    let known: HashSet<String> = found
        .files
        .iter()
        .flat_map(|file| fingerprints(file.findings.iter().chain(file.suppressed.iter().map(|one| &one.finding))))
        .collect();
    let unusable: HashSet<String> =
        found.files.iter().filter(|file| file.unusable.is_some()).map(|file| file.file.clone()).collect();
    checkup.files.retain_mut(|file| {
        let path = file.path.as_deref().and_then(|path| CatalogPath::below(root, path));
        if path.as_ref().is_some_and(|path| changed.contains(path)) {
            return true;
        }
        let prints = fingerprints(&file.findings);
        let mut prints = prints.into_iter();
        file.findings.retain(|_| prints.next().is_none_or(|print| !known.contains(&print)));
        if path.is_some_and(|path| unusable.contains(path.as_str())) {
            file.unreadable = None;
        }
        !file.findings.is_empty() || file.unreadable.is_some()
    });
    let changed = changed.len();
    checkup.since = Some(SinceNote { git_ref: git_ref.to_owned(), commit, changed });
    Ok(())
}

/// Whether two texts are the same, whatever their line ends: git may write others than it keeps.
fn same(a: &[u8], b: &[u8]) -> bool {
    let plain = |bytes: &[u8]| bytes.iter().copied().filter(|byte| *byte != b'\r').collect::<Vec<u8>>();
    a == b || plain(a) == plain(b)
}
