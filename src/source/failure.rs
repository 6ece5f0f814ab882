//! What can go wrong between a source and us, in the words of the domain.
//!
//! Every text in here is safe to show: whatever a server said has been through
//! [`redact::clean`](super::redact::clean). What to do next is not said here; the variants carry the
//! names that such advice needs.

use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::cache::Failure;
use crate::code::Code;
use crate::config::WebFault;
use crate::names::CatalogPath;
use crate::source::refusal::Refusal;
use crate::web::WebTrouble;

/// Why a source, or one of its files, cannot be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The token is wrong, expired or revoked, or there should be one (401).
    #[error("GitHub {} {repo} (401){}", if token.is_some() { "refused the token for" } else { "asks for a token to read" }, said(message))]
    Unauthorized {
        /// `owner/repo`.
        repo: String,
        /// Where the token in use was given, in words; `None` where there is none.
        token: Option<String>,
        /// GitHub's own words.
        message: String,
    },
    /// The request was understood and is refused (403).
    #[error("access to {repo} was denied (403){}{}", reason.clause(*authenticated), said(message))]
    Forbidden {
        /// `owner/repo`.
        repo: String,
        /// Whether a token was in use.
        authenticated: bool,
        /// Why.
        reason: Refusal,
        /// GitHub's own words.
        message: String,
    },
    /// The quota is used up, or requests came too fast.
    #[error("{}{}{}", if *secondary { "GitHub asks for fewer requests at a time (secondary rate limit); try again after " } else { "GitHub's hourly rate limit is reached; try again after " }, in_words(retry_at), named.map_or_else(String::new, |named| format!(" (GitHub names {}, but none of its limits lasts longer than an hour)", in_words(&named))))]
    RateLimited {
        /// Nothing is asked before this time.
        retry_at: DateTime<Utc>,
        /// The time that GitHub named, where it is too far away to be meant.
        named: Option<DateTime<Utc>>,
        /// Too fast, rather than too much in an hour.
        secondary: bool,
        /// Whether a token was in use (without one the quota is 60 requests an hour).
        authenticated: bool,
    },
    /// There is no such repository, or it is private and cannot be seen (404).
    #[error("repository {repo} was not found: it may not exist, or {}", if *authenticated { "the token has no access to it" } else { "it is private and no token is set" })]
    RepoNotFound {
        /// `owner/repo`.
        repo: String,
        /// Whether a token was in use.
        authenticated: bool,
    },
    /// The repository has no such branch, tag or commit.
    #[error("{repo} has no branch, tag or commit {git_ref}")]
    RefNotFound {
        /// `owner/repo`.
        repo: String,
        /// What was asked for, in quotation marks.
        git_ref: String,
        /// The default branch, where it is known.
        default_branch: Option<String>,
        /// Branches or tags that are spelt alike, the nearest first, where they could be had.
        nearest: Vec<String>,
    },
    /// The commit does not belong to the default branch: it may come from anybody's fork.
    #[error("{git_ref} is not part of the default branch {branch} of {repo}, and may come from a fork")]
    CommitNotOnDefaultBranch {
        /// `owner/repo`.
        repo: String,
        /// What was asked for.
        git_ref: String,
        /// The default branch.
        branch: String,
    },
    /// GitHub answered with a status nobody can use, after all tries.
    #[error("{}", unusable(what, *status, message, *tries))]
    GitHub {
        /// The HTTP status.
        status: u16,
        /// What was asked for, for example `the file "flows/a.json" of acme/flows`.
        what: String,
        /// GitHub's own words, perhaps none.
        message: String,
        /// How often it was tried.
        tries: u32,
        /// How long the answer asks to wait, where it says so.
        wait: Option<Duration>,
    },
    /// GitHub's address led to another host, whose answer nobody can use.
    #[error("GitHub moved {what} to {host}, which was asked without the token and answered with status {status}")]
    MovedAway {
        /// What was asked for.
        what: String,
        /// Where it was moved to.
        host: String,
        /// The HTTP status of that host.
        status: u16,
    },
    /// GitHub's address led to one that is not asked, whatever it holds.
    #[error("GitHub moved {what} to {place}, which is not asked: only https is, and http on this machine")]
    BadRedirect {
        /// What was asked for.
        what: String,
        /// Where it was moved to: scheme and host.
        place: String,
    },
    /// GitHub has named the commit and does not know its files yet, as it happens right after a push.
    #[error("GitHub does not know the files of commit {commit} of {repo} yet (status {status})")]
    NotThereYet {
        /// `owner/repo`.
        repo: String,
        /// The commit, cut short.
        commit: String,
        /// The HTTP status.
        status: u16,
    },
    /// No answer, or one that broke off, after all tries.
    #[error("{what} could not be fetched from {host}{} after {tries} {}: {reason}", through(proxy.as_deref()), if *tries == 1 { "try" } else { "tries" })]
    Network {
        /// What was asked for.
        what: String,
        /// The host that was asked.
        host: String,
        /// The proxy that it was asked through.
        proxy: Option<String>,
        /// What kind of trouble it is.
        trouble: WebTrouble,
        /// What the connection said.
        reason: String,
        /// How often it was tried.
        tries: u32,
    },
    /// The proxy or the certificates that the environment names can't be used.
    #[error("{what} was not asked for: {fault}")]
    WebFault {
        /// What was wanted.
        what: String,
        /// What is wrong with it.
        fault: WebFault,
    },
    /// It was not asked for, because that would not be safe or cannot be done.
    #[error("{what} was not asked for: {reason}")]
    NotAsked {
        /// What was wanted.
        what: String,
        /// Why it was not asked for.
        reason: String,
    },
    /// The time allowed was over.
    #[error("{what} timed out after {} s", after.as_secs_f64())]
    TimedOut {
        /// What was asked for.
        what: String,
        /// The time that was allowed.
        after: Duration,
    },
    /// The file is over the size limit.
    #[error("{path} is too large: {size} bytes, the limit is {limit}")]
    FileTooLarge {
        /// The file.
        path: CatalogPath,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The bytes are not those the commit names.
    #[error("{what} arrived damaged: its git hash is not the one the commit names")]
    Corrupt {
        /// What was asked for.
        what: String,
    },
    /// There is an entry of this name, but it is not a file that is read.
    #[error("{path} is not read: {kind}")]
    NotRead {
        /// The entry.
        path: CatalogPath,
        /// What it is.
        kind: Box<ProblemKind>,
    },
    /// There is no such file.
    #[error("{place} has no file {path}")]
    NoSuchFile {
        /// The file.
        path: CatalogPath,
        /// The source and its commit.
        place: String,
    },
    /// A file of a folder cannot be read.
    #[error("{path} cannot be read: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        reason: String,
    },
    /// The folder is missing or is not a folder.
    #[error("{path} {reason}")]
    NotAFolder {
        /// The path as it was given, in quotation marks.
        path: String,
        /// For example `does not exist`.
        reason: String,
    },
    /// The text names no source.
    #[error("{text} is not a source: {why}")]
    BadSource {
        /// The text, in quotation marks, without any password.
        text: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Failure for SourceError {
    fn retry_at(&self) -> Option<DateTime<Utc>> {
        if let Self::RateLimited { retry_at, .. } = self { Some(*retry_at) } else { None }
    }

    /// A time that can't be meant holds nobody up who insists.
    fn is_firm(&self) -> bool {
        !matches!(self, Self::RateLimited { named: Some(_), .. })
    }

    fn excusable(&self) -> bool {
        match self {
            Self::RateLimited { .. }
            | Self::Network { .. }
            | Self::TimedOut { .. }
            | Self::Corrupt { .. }
            | Self::NotThereYet { .. }
            // As a proxy does that wants a login first.
            | Self::MovedAway { .. }
            | Self::BadRedirect { .. } => true,
            Self::GitHub { status, .. } => *status < 400 || matches!(*status, 408 | 409 | 429) || *status >= 500,
            _ => false,
        }
    }

    fn panicked() -> Self {
        Self::Network {
            what: "the catalog".to_owned(),
            host: "GitHub".to_owned(),
            proxy: None,
            trouble: WebTrouble::Other,
            reason: "the work was stopped by an internal error".to_owned(),
            tries: 1,
        }
    }
}

impl SourceError {
    /// The code by which callers know it.
    pub fn code(&self) -> Code {
        match self {
            Self::Unauthorized { .. } => Code::Unauthorized,
            Self::Forbidden { .. } => Code::Forbidden,
            Self::RateLimited { .. } => Code::RateLimited,
            Self::RepoNotFound { .. } => Code::RepoNotFound,
            Self::RefNotFound { .. } | Self::CommitNotOnDefaultBranch { .. } => Code::RefNotFound,
            Self::GitHub { .. }
            | Self::MovedAway { .. }
            | Self::BadRedirect { .. }
            | Self::NotThereYet { .. }
            | Self::Corrupt { .. } => Code::GithubError,
            Self::Network { .. } => Code::NetworkError,
            Self::TimedOut { .. } => Code::Timeout,
            Self::FileTooLarge { .. } => Code::FileTooLarge,
            Self::NotRead { .. } | Self::Unreadable { .. } => Code::ValidationError,
            Self::NotAFolder { .. }
            | Self::BadSource { .. }
            | Self::WebFault { .. }
            | Self::NotAsked { .. }
            | Self::NoSuchFile { .. } => Code::InvalidRequest,
        }
    }

    /// Whether asking again, within the same effort, can't help.
    pub(super) fn lasts(&self) -> bool {
        match self {
            Self::Network { trouble, .. } => trouble.lasts(),
            Self::NotAsked { .. } | Self::WebFault { .. } | Self::BadRedirect { .. } => true,
            _ => false,
        }
    }

    /// Whether this error is about everything, so that going on with other files is of no use.
    pub(super) fn is_about_everything(&self) -> bool {
        matches!(self, Self::Unauthorized { .. } | Self::Forbidden { .. } | Self::RateLimited { .. })
    }
}

fn through(proxy: Option<&str>) -> String {
    proxy.map_or_else(String::new, |proxy| format!(" through the proxy {proxy}"))
}

fn in_words(time: &DateTime<Utc>) -> impl std::fmt::Display {
    time.format("%Y-%m-%d %H:%M:%S UTC")
}

fn unusable(what: &str, status: u16, message: &str, tries: u32) -> String {
    let (said, tried) = (said(message), if tries == 1 { "try" } else { "tries" });
    if status < 300 {
        return format!("what came for {what} is not what GitHub's API answers (status {status}){said}");
    }
    format!("GitHub answered {what} with status {status} after {tries} {tried}{said}")
}

fn said(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

/// Why an entry is not among the files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProblemKind {
    /// It is over the size limit.
    TooLarge {
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// It is a symbolic link (in a repository), or one that leads out of the folder.
    Symlink,
    /// It is a submodule.
    Submodule,
    /// It is a pointer to a file in Git LFS, whose content is elsewhere.
    LfsPointer {
        /// The size of that content in bytes, where the pointer says it.
        size: Option<u64>,
    },
    /// It is a device, a pipe or something else that is not a file.
    NotAFile,
    /// It is a file in the place of a folder of the catalog.
    NotAFolder,
    /// Its path breaks a rule of paths.
    BadPath(String),
    /// The listing was cut off here: there may be more.
    ListingCutOff,
    /// Folders lie too deep one within the other: this one is not looked into.
    TooDeep {
        /// How deep folders are looked into.
        limit: usize,
    },
    /// It lies where nothing is read, or has an ending of which nothing is read.
    Overlooked {
        /// The path under which it would be read.
        meant: String,
    },
    /// It lies where nothing of its kind is read, which matters if a flow asks for what it may be.
    Doubtful {
        /// The path under which it would be read.
        meant: String,
    },
    /// The system does not let it be looked at; where it is a folder, nothing in it is known.
    Unreadable {
        /// What the system said.
        reason: String,
    },
    /// It could not be had; it is among the files and reading it tries again.
    Failed(SourceError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_says_what_github_asks_for_and_when_to_try_again() {
        let retry_at = DateTime::from_timestamp(1_768_208_400, 0).expect("a time");
        let told =
            |secondary| SourceError::RateLimited { retry_at, named: None, secondary, authenticated: true }.to_string();
        assert_eq!(
            told(true),
            "GitHub asks for fewer requests at a time (secondary rate limit); try again after 2026-01-12 09:00:00 UTC"
        );
        assert_eq!(told(false), "GitHub's hourly rate limit is reached; try again after 2026-01-12 09:00:00 UTC");
    }
}
