//! Settings, every environment variable, and secrets: the only room that reads the environment.
//!
//! Settings come from flags, then the environment, then `flowy.toml`. What a setting means to the
//! rest of the product is not known here, and nothing here asks the network.
//!
//! | file | what is in it |
//! |---|---|
//! | `checking` | the section `[validate]` of a catalog's own `flowy.toml` |
//! | `environment` | the process environment as a value |
//! | `folders` | where a user's folders are, and whether they are this user's alone |
//! | `setting` | what a setting is |
//! | `rows` | the table of all settings, from which everything that names them is made |
//! | `file` | `flowy.toml` and its sections |
//! | `reading` | the rules by which one text becomes one value |
//! | `load` | flags, environment and files brought together |
//! | `models` | the models that may answer steps, which only the operator's own file lists |
//! | `passing` | settings as arguments for a program that is started later |
//! | `error` | what is wrong with a setting, never showing a token |
//! | `exposing` | which flows may be tools of their own |
//! | `web` | whether the proxy and the certificates that the environment names can be used |
//! | `servers` | the external MCP servers that flows may call |
//! | `secret` | tokens, and masking them |

mod checking;
mod environment;
mod error;
mod exposing;
mod file;
mod folders;
mod load;
mod models;
mod passing;
mod reading;
mod rows;
mod secret;
mod servers;
mod setting;
mod web;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub use self::checking::{CheckSettings, IgnoredRule};
#[cfg(feature = "internals")]
pub use self::environment::SURROUNDINGS;
pub use self::environment::{Environment, Platform};
pub use self::error::{Origin, Place, SettingsError, system_says};
pub use self::exposing::{Expose, ExposeList, reserved_tool_name};
pub use self::file::CONFIG_FILE;
pub use self::folders::Folders;
pub use self::load::{Flags, has_flows, token_in};
pub use self::models::{Answers, ModelKey, ModelSpec, NO_MODEL, Provider};
pub use self::passing::{Audience, Passed};
pub use self::rows::SETTINGS;
pub use self::secret::{REDACTED, Secret, TokenKind, redact};
#[cfg(feature = "internals")]
pub use self::servers::SERVERS_FAULTS;
pub use self::servers::{
    Allow, BrokenEntry, Endpoint, Era, Pattern, Program, READ_ONLY, SERVERS_FILE, ServerSpec, ServersError,
    ServersFault, ServersFile, ServersMistake, ServersNotice, ServersPlace, Transport,
};
pub use self::setting::{Concern, Fallback, SettingRow};
pub use self::web::WebFault;

use crate::names::RefName;

/// Everything that can be set, checked and ready to use. What each is, how it is given and what holds
/// without it stands in the table of [`SETTINGS`].
///
/// An empty one is only the form: [`Settings::defaults`] fills it in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a switch that somebody sets")]
pub struct Settings {
    /// `--source`, else `GITHUB_REPO_URL`: a GitHub repository in any form or a folder. `None`: decided by app.
    pub source: Option<String>,
    /// `GITHUB_REF`: the ref that is read when neither the source nor the caller names one.
    pub git_ref: Option<RefName>,
    /// `GITHUB_PAT`, `GITHUB_TOKEN` or `GH_TOKEN`.
    pub token: Option<Secret>,
    /// Where that was given.
    pub token_place: Option<Place>,
    /// Where another token stands that this one hides, in a settings file.
    pub hidden_token: Option<Place>,
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
    /// `FLOWY_EXECUTIONS_KEPT`: how many direct executions stay stored, the newest (1,000).
    pub executions_kept: usize,
    /// `FLOWY_EXECUTIONS_KEPT_DAYS`: how many days they stay, at most (30).
    pub executions_kept_days: u32,
    /// `FLOWY_MAX_PROMPTS`: how many prompts clients are shown (100).
    pub max_prompts: usize,
    /// `FLOWY_PROMPT_TEMPLATES`: whether templates are among them (false).
    pub prompt_templates: bool,
    /// `--expose`: which flows are tools of their own (none).
    pub expose: Expose,
    /// `--expose-list`: the operator's list of them (empty).
    pub expose_list: ExposeList,
    /// `--expose-prefix`: what their names begin with (`flow_`).
    pub expose_prefix: String,
    /// `--only-exposed`: clients are shown nothing else.
    pub only_exposed: bool,
    /// `FLOWY_MAX_EXPOSED`: how many of them there are at most (128).
    pub max_exposed: usize,
    /// `LOG_LEVEL`: error, warn, info, debug or trace (info).
    pub log_level: String,
    /// `MCP_SERVER_NAME`: the name the server introduces itself by (`flowy`).
    pub server_name: String,
    /// `--lenient`: an edge to a node that does not exist is a warning, not an error.
    pub lenient: bool,
    /// `--allow-any-commit`: a full commit SHA need not belong to the default branch.
    pub allow_any_commit: bool,
    /// `--no-usage`: nothing is counted, neither how much flows are used nor what listings cost.
    pub no_usage: bool,
    /// Where blobs and snapshots are kept; owner-only.
    pub cache_dir: PathBuf,
    /// Where logs, guided executions and counts are kept; owner-only.
    pub state_dir: PathBuf,
    /// `--servers`: where the external MCP servers are configured. `None`: beside the user's settings.
    pub servers: Option<PathBuf>,
    /// `[models.NAME]`: the models that may answer steps, by name.
    pub models: Vec<Arc<ModelSpec>>,
    /// `default_model`: the one that answers steps for which nobody names one.
    pub default_model: Option<String>,
    /// `currency`: what the prices of models are in (USD).
    pub currency: String,
    /// `execution_timeout_ms`: the longest that a direct execution may take. `None`: ten minutes, an hour where models
    /// answer.
    pub execution_timeout: Option<Duration>,
    /// `HTTPS_PROXY`, `SSL_CERT_FILE` and their kin: what is wrong with what they name.
    pub web_fault: Option<WebFault>,
    /// The longest that one refresh from GitHub may take, tries and pauses included.
    pub fetch_deadline: Duration,
    /// The longest that one request to GitHub may take.
    pub request_timeout: Duration,
}

impl Settings {
    /// Everything in force that must never be shown.
    pub fn secrets(&self) -> Vec<Secret> {
        let of_models = self.models.iter().filter_map(|model| match &model.key {
            ModelKey::Known(secret) => Some(secret),
            ModelKey::None | ModelKey::Missing(_) => None,
        });
        self.token.iter().chain(of_models).cloned().collect()
    }

    /// What holds when nothing is set: the defaults of the table, and this user's folders.
    pub fn defaults(environment: &Environment) -> Self {
        let folders = Folders::of(environment);
        let web_fault = web::fault(environment);
        let mut settings = Self { cache_dir: folders.cache, state_dir: folders.state, web_fault, ..Self::default() };
        for row in SETTINGS {
            // A test reads every default of the table.
            let _ = row.fall_back(&mut settings, environment);
        }
        settings
    }
}
