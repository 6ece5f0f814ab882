//! A folder's files as git has them at a commit, read by the `git` program.
//!
//! Nothing of a repository's configuration is run: no shell, no hook, no filter, no other program for differences, and
//! nothing is fetched. Only objects are read, and they are told from links and submodules by their mode.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use super::files::is_read;
use super::{Problem, ProblemKind};
use crate::model::wire::is_among_tests;
use crate::names::{CatalogPath, shown};

/// The files of a catalog at a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitFiles {
    /// The commit, as 40 or 64 hexadecimal digits.
    pub commit: String,
    /// Its files, in the order of their paths.
    pub files: Vec<(CatalogPath, Arc<[u8]>)>,
    /// What else is there and is not read.
    pub problems: Vec<Problem>,
}

/// Why git can't say what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// The program isn't there, or can't be started.
    #[error("git can't be started: {0}")]
    NotStarted(String),
    /// The folder is in no repository, or in one that git refuses.
    #[error("git finds no repository here: {0}")]
    NoRepository(String),
    /// No commit goes by that name in the repository.
    #[error("no branch, tag or commit is called {git_ref} here")]
    NoCommit {
        /// What was asked for.
        git_ref: String,
        /// Whether the repository holds only the newest commits, as a checkout in CI does.
        shallow: bool,
    },
    /// The commit has nothing in common with the current one, as far as the repository knows.
    #[error("{git_ref} and the current commit have no commit in common here")]
    NoCommonCommit {
        /// What was asked for.
        git_ref: String,
        /// Whether the repository holds only the newest commits, as a checkout in CI does.
        shallow: bool,
    },
    /// It was started and didn't answer as it should.
    #[error("git failed: {0}")]
    Failed(String),
}

/// The files of the catalog in a folder, tests included, at a branch, tag or commit. With `since`, at the commit at which the current one
/// left it.
///
/// # Errors
/// When git isn't there, the folder is in no repository, or that knows no such commit.
pub fn files_at(root: &Path, git_ref: &str, since: bool, largest: u64) -> Result<GitFiles, GitError> {
    let shallow = ask(root, &["rev-parse", "--is-shallow-repository"])?.map_err(GitError::NoRepository)?;
    let (shown_ref, shallow) = (crate::names::quoted(git_ref), text(&shallow) == "true");
    let no_commit = || GitError::NoCommit { git_ref: shown_ref.clone(), shallow };
    if git_ref.is_empty() || git_ref.starts_with('-') || git_ref.chars().any(|c| c.is_control() || c == ' ') {
        return Err(no_commit());
    }
    let wanted = format!("{git_ref}^{{commit}}");
    let answer = ask(root, &["rev-parse", "--verify", "--end-of-options", &wanted])?;
    let mut commit = answer.map(|answer| text(&answer)).map_err(|_| no_commit())?;
    if since {
        commit = match ask(root, &["merge-base", &commit, "HEAD"])? {
            Ok(base) => text(&base),
            // Git says nothing where there is none.
            Err(said) if said.is_empty() => return Err(GitError::NoCommonCommit { git_ref: shown_ref, shallow }),
            Err(said) => return Err(GitError::Failed(said)),
        };
    }
    let listing = ask(root, &["ls-tree", "-r", "-z", "-l", &commit])?.map_err(GitError::Failed)?;
    let (mut wanted, mut problems): (Vec<(CatalogPath, String)>, _) = (Vec::new(), Vec::new());
    for entry in listing.split(|byte| *byte == 0) {
        let entry = String::from_utf8_lossy(entry);
        let Some((about, path)) = entry.split_once('\t') else { continue };
        let words: Vec<&str> = about.split_whitespace().collect();
        let ([mode, kind, oid, size], true) = (words.as_slice(), is_read(path) || is_among_tests(path)) else {
            continue;
        };
        let size = size.parse::<u64>().ok();
        let unread = match (*kind, size, CatalogPath::new(path)) {
            (_, _, Err(why)) => ProblemKind::BadPath(why.to_string()),
            ("blob", ..) if mode.starts_with("120") => ProblemKind::Symlink,
            ("blob", Some(size), _) if size > largest => ProblemKind::TooLarge { size, limit: largest },
            ("blob", Some(_), Ok(path)) if mode.starts_with("100") => {
                wanted.push((path, (*oid).to_owned()));
                continue;
            }
            ("commit", ..) => ProblemKind::Submodule,
            _ => ProblemKind::NotAFile,
        };
        problems.push(Problem::new(path, unread));
    }
    wanted.sort();
    let bytes = read(root, wanted.iter().map(|(_, oid)| oid.as_str()))?;
    let files = wanted.into_iter().map(|(path, _)| path).zip(bytes).collect();
    Ok(GitFiles { commit, files, problems })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim().to_owned()
}

/// The program, told to run nothing else.
fn git(root: &Path, arguments: &[&str]) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(root).args(["--no-pager", "--no-replace-objects", "--no-optional-locks"]);
    for setting in ["core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.allow=never", "diff.external="] {
        git.args(["-c", setting]);
    }
    // Where the repository is, is said by the folder alone.
    for name in [
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_EXTERNAL_DIFF",
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_PARAMETERS",
    ] {
        git.env_remove(name);
    }
    git.env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1").env("LC_ALL", "C");
    git.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    git
}

/// What git answers, or what it says against it.
fn ask(root: &Path, arguments: &[&str]) -> Result<Result<Vec<u8>, String>, GitError> {
    let answer = git(root, arguments).output().map_err(|error| GitError::NotStarted(error.to_string()))?;
    if answer.status.success() {
        return Ok(Ok(answer.stdout));
    }
    let said = String::from_utf8_lossy(&answer.stderr);
    Ok(Err(shown(said.lines().next().unwrap_or_default().trim_start_matches("fatal: "), 300)))
}

/// The bytes of objects, in their order.
fn read<'o>(root: &Path, oids: impl Iterator<Item = &'o str>) -> Result<Vec<Arc<[u8]>>, GitError> {
    let failed = |error: std::io::Error| GitError::Failed(error.to_string());
    let oids: Vec<&str> = oids.collect();
    let (asked, count) = (oids.join("\n") + "\n", oids.len());
    let child = git(root, &["cat-file", "--batch"]).stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut child = Reaped(child.map_err(|error| GitError::NotStarted(error.to_string()))?);
    let (Some(mut stdin), Some(stdout)) = (child.0.stdin.take(), child.0.stdout.take()) else {
        return Err(GitError::Failed("it has no streams".to_owned()));
    };
    // Asked beside reading, or both wait for each other.
    let asking = std::thread::spawn(move || stdin.write_all(asked.as_bytes()));
    let mut answers = BufReader::new(stdout);
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let mut head = String::new();
        answers.read_line(&mut head).map_err(failed)?;
        let size = head.split_whitespace().nth(2).and_then(|size| size.parse::<u64>().ok());
        let Some(size) = size else { return Err(GitError::Failed(shown(head.trim(), 200))) };
        let mut bytes = Vec::new();
        answers.by_ref().take(size).read_to_end(&mut bytes).map_err(failed)?;
        answers.read_line(&mut head).map_err(failed)?;
        all.push(bytes.into());
    }
    // Everything that was asked for is there, so that git has read all of it.
    drop(asking.join());
    Ok(all)
}

/// A program that is ended when nobody reads its answer any more, so that nothing of it is left.
struct Reaped(Child);

impl Drop for Reaped {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
