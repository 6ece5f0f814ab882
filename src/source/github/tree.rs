//! From a commit to the list of its catalog's files.
//!
//! One recursive request in the usual case. Where GitHub cuts the tree off (100,000 entries or
//! 7 MB), the catalog's folders are walked one by one. Only regular files become files; everything
//! else is named as a problem.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::client::{ApiCall, Effort, GithubClient, Target};
use super::endpoints::segment;
use super::wire::{Tree, TreeEntry};
use crate::names::{CatalogPath, ObjectId, RepoSlug};
use crate::source::files::{
    CATALOG_FOLDERS, FileEntry, Files, Problem, flow_path, in_catalog, is_hidden, is_read, meant_path,
};
use crate::source::{ProblemKind, SourceError};

/// The largest tree answer that is read: well above GitHub's own bound.
const MOST: usize = 64 * 1024 * 1024;
/// How many trees are asked for when the first was cut off.
const TREES: usize = 500;

/// Everything in a catalog's folders, as a tree names it: what is kept on disk for a commit.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct ListedTree {
    /// Path, object id and size of regular files.
    pub(super) files: Vec<(String, String, u64)>,
    /// Paths that are not files, with what they are.
    pub(super) others: Vec<(String, Other)>,
}

/// What an entry is that is not a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Other {
    Symlink,
    Submodule,
    LfsPointer { size: Option<u64> },
    CutOff,
    Odd,
    NotAFolder,
    Overlooked,
}

/// The files that can be read, and the problems.
#[derive(Debug, Clone, Default)]
pub(super) struct TreeListing {
    pub(super) files: Arc<Files>,
    pub(super) problems: Vec<Problem>,
}

impl ListedTree {
    /// Applies the size limit and the rules of paths.
    pub(super) fn sorted(&self, largest: u64) -> TreeListing {
        let mut files = Vec::with_capacity(self.files.len());
        let mut problems = Vec::new();
        for (path, id, size) in &self.files {
            match (CatalogPath::new(path), ObjectId::new(id)) {
                (Ok(_), Ok(_)) if *size > largest => {
                    problems.push(Problem::new(path, ProblemKind::TooLarge { size: *size, limit: largest }));
                }
                (Ok(path), Ok(id)) => files.push((path, FileEntry { oid: Some(id), size: *size })),
                (Err(error), _) | (_, Err(error)) => {
                    problems.push(Problem::new(path, ProblemKind::BadPath(error.why.to_owned())));
                }
            }
        }
        for (path, other) in &self.others {
            let kind = match other {
                Other::Symlink => ProblemKind::Symlink,
                Other::Submodule => ProblemKind::Submodule,
                Other::LfsPointer { size } => ProblemKind::LfsPointer { size: *size },
                Other::CutOff => ProblemKind::ListingCutOff,
                Other::Odd => ProblemKind::NotAFile,
                Other::NotAFolder => ProblemKind::NotAFolder,
                // What a file in Markdown holds is not known here.
                Other::Overlooked => match (meant_path(path, |_| false), flow_path(path)) {
                    (Some(meant), _) => ProblemKind::Overlooked { meant },
                    (None, Some(meant)) => ProblemKind::Doubtful { meant },
                    (None, None) => continue,
                },
            };
            problems.push(Problem::new(path, kind));
        }
        problems.sort_by(|one, other| one.path.cmp(&other.path));
        TreeListing { files: Arc::new(files.into_iter().collect()), problems }
    }

    fn add(&mut self, entry: TreeEntry, path: String) {
        if is_hidden(&path) {
            return;
        }
        match (entry.mode.as_str(), entry.kind.as_str()) {
            ("120000", _) => self.others.push((path, Other::Symlink)),
            ("160000", _) | (_, "commit") => self.others.push((path, Other::Submodule)),
            ("100644" | "100755" | "100664", "blob") if !is_read(path.as_str()) => {
                if meant_path(&path, |_| true).is_some() || flow_path(&path).is_some() {
                    self.others.push((path, Other::Overlooked));
                }
            }
            ("100644" | "100755" | "100664", "blob") => self.files.push((path, entry.sha, entry.size.unwrap_or(0))),
            (_, "tree") => {}
            _ => self.others.push((path, Other::Odd)),
        }
    }

    /// Names what stands in the place of a folder of the catalog: a link, a submodule or a file.
    fn add_instead(&mut self, entry: TreeEntry) {
        match (entry.mode.as_str(), entry.kind.as_str()) {
            ("120000" | "160000", _) | (_, "commit") => {
                let path = entry.path.clone();
                self.add(entry, path);
            }
            (_, "tree") => {}
            _ => self.others.push((entry.path, Other::NotAFolder)),
        }
    }
}

/// What came of asking for a tree.
pub(super) enum TreeAnswer<T> {
    Here(T),
    /// The repository has no such tree, said with this status.
    Absent(u16),
}

/// Asks for everything in the catalog's folders at a commit.
pub(super) async fn list(
    client: &GithubClient,
    slug: &RepoSlug,
    commit: &ObjectId,
    effort: Effort,
) -> Result<TreeAnswer<ListedTree>, SourceError> {
    let mut listed = ListedTree::default();
    let whole = match tree(client, slug, commit.as_str(), true, effort).await? {
        TreeAnswer::Here(whole) => whole,
        TreeAnswer::Absent(status) => return Ok(TreeAnswer::Absent(status)),
    };
    if !whole.truncated {
        let has: HashSet<String> =
            whole.tree.iter().filter_map(|entry| entry.path.split_once('/')).map(|(top, _)| top.to_owned()).collect();
        for entry in whole.tree {
            if CATALOG_FOLDERS.contains(&entry.path.as_str()) {
                listed.add_instead(entry);
            } else if in_catalog(&entry.path) {
                let path = entry.path.clone();
                listed.add(entry, path);
            } else if entry.kind == "blob" && meant_path(&entry.path, |folder| has.contains(folder)).is_some() {
                listed.others.push((entry.path, Other::Overlooked));
            }
        }
        return Ok(TreeAnswer::Here(listed));
    }
    let root = match tree(client, slug, commit.as_str(), false, effort).await? {
        TreeAnswer::Here(root) => root,
        TreeAnswer::Absent(status) => return Ok(TreeAnswer::Absent(status)),
    };
    let mut asked = 0;
    let mut waiting: VecDeque<(String, String, bool)> = VecDeque::new();
    for entry in root.tree {
        if !CATALOG_FOLDERS.contains(&entry.path.as_str()) {
            continue;
        }
        if entry.kind == "tree" {
            waiting.push_back((entry.path, entry.sha, true));
        } else {
            listed.add_instead(entry);
        }
    }
    while let Some((folder, id, deep)) = waiting.pop_front() {
        asked += 1;
        if asked > TREES {
            listed.others.push((folder, Other::CutOff));
            continue;
        }
        let TreeAnswer::Here(part) = tree(client, slug, &id, deep, effort).await? else {
            listed.others.push((folder, Other::CutOff));
            continue;
        };
        if part.truncated && deep {
            waiting.push_front((folder, id, false));
            continue;
        }
        if part.truncated {
            listed.others.push((folder.clone(), Other::CutOff));
        }
        for entry in part.tree {
            let path = format!("{folder}/{}", entry.path);
            if entry.kind == "tree" && !deep {
                waiting.push_back((path, entry.sha, true));
            } else {
                listed.add(entry, path);
            }
        }
    }
    Ok(TreeAnswer::Here(listed))
}

async fn tree(
    client: &GithubClient,
    slug: &RepoSlug,
    id: &str,
    deep: bool,
    effort: Effort,
) -> Result<TreeAnswer<Tree>, SourceError> {
    let recursive = if deep { "?recursive=1" } else { "" };
    let call = ApiCall {
        what: format!("the list of files of {slug}"),
        target: Target::Rest(format!(
            "/repos/{}/{}/git/trees/{}{recursive}",
            segment(&slug.owner),
            segment(&slug.repo),
            segment(id)
        )),
        accept: "application/vnd.github+json",
        unless: None,
        most: MOST,
        hashed: false,
    };
    let reply = client.ask(&call, effort).await?;
    match reply.status.as_u16() {
        200 => serde_json::from_slice(&reply.body).map(TreeAnswer::Here).map_err(|_| client.unusable(&call, &reply)),
        status @ (404 | 409 | 422) => Ok(TreeAnswer::Absent(status)),
        _ => Err(client.unusable(&call, &reply)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_readable_file_is_named() {
        let id = "a".repeat(40);
        let listed = ListedTree {
            files: vec![
                ("flows/b.json".to_owned(), id.clone(), 5),
                ("flows/a.json".to_owned(), id.clone(), 5),
                ("flows/big.json".to_owned(), id.clone(), 11),
                ("flows/../x".to_owned(), id, 1),
            ],
            others: vec![("flows/link".to_owned(), Other::Symlink)],
        };
        let listing = listed.sorted(10);
        let paths: Vec<&str> = listing.files.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["flows/a.json", "flows/b.json"]);
        let kinds: Vec<String> =
            listing.problems.iter().map(|problem| format!("{}: {}", problem.path, problem.kind)).collect();
        assert_eq!(
            kinds,
            [
                "flows/../x: its path is not allowed: it is not a plain relative path",
                "flows/big.json: it is too large: 11 bytes, the limit is 10",
                "flows/link: it is a symbolic link",
            ]
        );
    }
}
