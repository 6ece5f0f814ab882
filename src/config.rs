//! Settings, every environment variable, and secrets: the only room that reads the environment.
//!
//! Settings come from flags, then the environment, then `flowy.toml`. What a setting means to the
//! rest of the product is not known here.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::names::RefName;

/// A text that must never be shown: tokens.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret text.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The secret itself, for the one place that sends it.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// Everything that can be set, checked and ready to use.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `--source`, else `GITHUB_REPO_URL`: a GitHub repository in any form or a folder. `None`: decided by app.
    pub source: Option<String>,
    /// `GITHUB_REF`: the ref that is read when neither the source nor the caller names one.
    pub git_ref: Option<RefName>,
    /// `GITHUB_PAT`, `GITHUB_TOKEN` or `GH_TOKEN`.
    pub token: Option<Secret>,
    /// `--api-url`: the REST base; `https://api.github.com` unless set, `https://HOST/api/v3` for GitHub Enterprise.
    pub api_url: String,
    /// `CACHE_TTL_MS`: how long a snapshot is served without asking again (15 minutes).
    pub cache_ttl: Duration,
    /// `MAX_FILE_SIZE`: the largest catalog file that is read, in bytes (1,048,576).
    pub max_file_size: u64,
    /// `RETRY_ATTEMPTS`: how often one request is tried in all (3).
    pub retry_attempts: u32,
    /// `MAX_CONCURRENT_REQUESTS`: how many tool calls are handled at once (20).
    pub max_concurrent_requests: usize,
    /// `LOG_LEVEL`: error, warn, info, debug or trace (info).
    pub log_level: String,
    /// `MCP_SERVER_NAME`: the name the server introduces itself by (`flowy`).
    pub server_name: String,
    /// `--lenient`: an edge to a node that does not exist is a warning, not an error.
    pub lenient: bool,
    /// `--allow-any-commit`: a full commit SHA need not belong to the default branch.
    pub allow_any_commit: bool,
    /// Where blobs and snapshots are kept; owner-only.
    pub cache_dir: PathBuf,
    /// Where logs and, later, executions are kept; owner-only.
    pub state_dir: PathBuf,
    /// The longest that one refresh from GitHub may take, tries and pauses included.
    pub fetch_deadline: Duration,
    /// The longest that one request to GitHub may take.
    pub request_timeout: Duration,
}
