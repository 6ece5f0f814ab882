//! The table of all settings: flags and their help, variables, keys of `flowy.toml`, defaults, the
//! arguments of a client's entry and the reference's table are all made from it.
//!
//! A setting is a field of [`Settings`](super::Settings) and a row here. A flag, a variable or a key
//! that is not in this table cannot be read at all.

use std::time::Duration;

use super::exposing::{self, prefix_word};
use super::reading::{self, SettingUnit};
use super::setting::{Concern, Fallback, PLAIN, SettingRow};

/// A year: longer than anything here should last, and far from where times overflow.
const A_YEAR_MS: u64 = 365 * 24 * 60 * 60 * 1000;
/// A week: the longest that one execution may take.
const A_WEEK_MS: u64 = 7 * 24 * 60 * 60 * 1000;
/// Ten minutes, the longest wait for GitHub that can be asked for.
const LONGEST_WAIT_MS: u64 = 600_000;
/// GitHub refuses files over 100 MB.
const LARGEST_FILE_BYTES: u64 = 100 * 1024 * 1024;

/// How a text becomes a setting's value, and the value a text.
macro_rules! kept {
    ($field:ident, $($read:ident)::+ $(($($how:expr),*))? $(, $write:ident)?) => {
        SettingRow {
            put: |settings, given| {
                $($read)::+(given $($(, $how)*)?).map(|value| settings.$field = value)
            },
            written: |settings| Some(kept!(@ settings.$field $(, $write)?)),
            ..PLAIN
        }
    };
    (@ $value:expr) => { $value.to_string() };
    (@ $value:expr, $write:ident) => { $write($value) };
}

/// The source is also read before the file in the current folder, which may have come with it.
pub(super) const SOURCE: SettingRow = SettingRow {
    flag: Some("--source"),
    value: Some("SOURCE"),
    variables: &["GITHUB_REPO_URL"],
    key: Some("source"),
    default: Fallback::Described("the current folder if it has flows/, else the built-in examples"),
    meaning: "the catalog: owner/repo, owner/repo@ref, a GitHub address or a folder; examples selects the built-in catalog, unless a folder of that name exists",
    concern: Concern::Source,
    put: |settings, given| reading::source(given).map(|value| settings.source = Some(value)),
    written: |settings| settings.source.clone(),
    ..PLAIN
};

/// GitHub Actions sets this variable for its own purposes, so it is looked at twice.
pub(super) const GIT_REF: SettingRow = SettingRow {
    flag: Some("--ref"),
    value: Some("REF"),
    variables: &["GITHUB_REF"],
    key: Some("ref"),
    default: Fallback::Described("the repository's default branch"),
    meaning: "branch, tag or commit to read if the source names none; a prefix refs/heads/ or refs/tags/ is allowed",
    concern: Concern::Catalog,
    put: |settings, given| reading::git_ref(given).map(|value| settings.git_ref = Some(value)),
    written: |settings| settings.git_ref.as_ref().map(ToString::to_string),
    ..PLAIN
};

/// The token is also read where the other settings fail, to keep it out of the log.
pub(super) const TOKEN: SettingRow = SettingRow {
    variables: &["GITHUB_PAT", "GITHUB_TOKEN", "GH_TOKEN"],
    key: Some("token"),
    default: Fallback::Described("none"),
    meaning: "GitHub token; public repositories need none, private ones need the permission Contents: read",
    own_file_only: true,
    concern: Concern::Reading,
    secret: true,
    put: |settings, given| {
        let place = given.place.clone();
        reading::token(given).map(|value| (settings.token, settings.token_place) = (Some(value), Some(place)))
    },
    ..PLAIN
};

/// Whether it is the name of a model is looked at when all models are known.
pub(super) const DEFAULT_MODEL: SettingRow = SettingRow {
    variables: &["FLOWY_DEFAULT_MODEL"],
    key: Some("default_model"),
    default: Fallback::Described("none: steps without a model are rendered"),
    meaning: "the model (a section [models.NAME] of the user's own flowy.toml) that answers steps for which nobody names one",
    own_file_only: true,
    concern: Concern::Models,
    put: |settings, given| reading::word(given).map(|value| settings.default_model = Some(value)),
    written: |settings| settings.default_model.clone(),
    ..PLAIN
};

/// Without it there is a folder that must be this user's alone.
pub(super) const CACHE_DIR: SettingRow = SettingRow {
    flag: Some("--cache-dir"),
    value: Some("FOLDER"),
    variables: &["FLOWY_CACHE_DIR"],
    key: Some("cache_dir"),
    default: Fallback::Described("flowy in the user's cache folder"),
    meaning: "folder for files fetched from GitHub",
    own_file_only: true,
    concern: Concern::CacheFolder,
    put: |settings, given| {
        settings.cache_dir = given.path();
        Ok(())
    },
    written: |settings| Some(settings.cache_dir.display().to_string()),
    ..PLAIN
};

/// The folder is also read where the other settings fail, to write that into the log.
pub(super) const STATE_DIR: SettingRow = SettingRow {
    flag: Some("--state-dir"),
    value: Some("FOLDER"),
    variables: &["FLOWY_STATE_DIR"],
    key: Some("state_dir"),
    default: Fallback::Described("flowy in the user's state folder"),
    meaning: "folder for logs, guided executions and counts",
    own_file_only: true,
    concern: Concern::StateFolder,
    put: |settings, given| {
        settings.state_dir = given.path();
        Ok(())
    },
    written: |settings| Some(settings.state_dir.display().to_string()),
    ..PLAIN
};

/// Which file is read is settled before all other settings, so this row sets nothing itself.
pub(super) const CONFIG: SettingRow = SettingRow {
    flag: Some("--config"),
    value: Some("FILE"),
    variables: &["FLOWY_CONFIG"],
    default: Fallback::Described("flowy.toml in the current folder, then in the user's config folder"),
    meaning: "the settings file to read instead of flowy.toml",
    ..PLAIN
};

/// Every setting there is, in the order in which a table shows them.
pub const SETTINGS: &[SettingRow] = &[
    SOURCE,
    GIT_REF,
    TOKEN,
    SettingRow {
        flag: Some("--api-url"),
        value: Some("URL"),
        variables: &["GITHUB_API_URL"],
        key: Some("api_url"),
        default: Fallback::Value("https://api.github.com"),
        meaning: "GitHub's REST address; https://HOST/api/v3 for GitHub Enterprise",
        own_file_only: true,
        concern: Concern::Reading,
        ..kept!(api_url, reading::api_url)
    },
    SettingRow {
        flag: Some("--cache-ttl-ms"),
        value: Some("MS"),
        variables: &["CACHE_TTL_MS"],
        key: Some("cache_ttl_ms"),
        default: Fallback::Value("900000"),
        meaning: "how long a catalog is served without asking GitHub again, in milliseconds",
        concern: Concern::Reading,
        ..kept!(cache_ttl, reading::milliseconds(0..=A_YEAR_MS), milliseconds)
    },
    SettingRow {
        flag: Some("--max-file-size-bytes"),
        value: Some("BYTES"),
        variables: &["MAX_FILE_SIZE"],
        key: Some("max_file_size_bytes"),
        default: Fallback::Value("1048576"),
        meaning: "size limit of a catalog file, in bytes",
        concern: Concern::Reading,
        ..kept!(max_file_size, reading::number(SettingUnit::Bytes, 1..=LARGEST_FILE_BYTES))
    },
    SettingRow {
        flag: Some("--retry-attempts"),
        value: Some("TRIES"),
        variables: &["RETRY_ATTEMPTS"],
        key: Some("retry_attempts"),
        default: Fallback::Value("3"),
        meaning: "number of tries of one request to GitHub, 1 to 10",
        concern: Concern::Reading,
        ..kept!(retry_attempts, reading::number(SettingUnit::Tries, 1..=10))
    },
    SettingRow {
        variables: &["MAX_CONCURRENT_REQUESTS"],
        key: Some("max_concurrent_requests"),
        default: Fallback::Value("20"),
        meaning: "number of tool calls handled at once; also limits requests to GitHub at once, of which there are at most 4",
        concern: Concern::Serving,
        ..kept!(max_concurrent_requests, reading::number(SettingUnit::Calls, 1..=1_000))
    },
    SettingRow {
        variables: &["FLOWY_EXECUTIONS_KEPT"],
        key: Some("executions_kept"),
        default: Fallback::Value("1000"),
        meaning: "number of direct executions that stay stored, the newest; their inputs and outputs are on this machine's disk",
        own_file_only: true,
        concern: Concern::StateFolder,
        ..kept!(executions_kept, reading::number(SettingUnit::Executions, 1..=1_000_000))
    },
    SettingRow {
        variables: &["FLOWY_EXECUTIONS_KEPT_DAYS"],
        key: Some("executions_kept_days"),
        default: Fallback::Value("30"),
        meaning: "number of days that direct executions stay stored, at most",
        own_file_only: true,
        concern: Concern::StateFolder,
        ..kept!(executions_kept_days, reading::number(SettingUnit::Days, 1..=3_650))
    },
    SettingRow {
        variables: &["FLOWY_MAX_PROMPTS"],
        key: Some("max_prompts"),
        default: Fallback::Value("100"),
        meaning: "number of prompts that clients are shown, 0 to 1000, by name",
        concern: Concern::Serving,
        ..kept!(max_prompts, reading::number(SettingUnit::Prompts, 0..=1_000))
    },
    SettingRow {
        variables: &["FLOWY_PROMPT_TEMPLATES"],
        key: Some("prompt_templates"),
        default: Fallback::Value("false"),
        meaning: "also show clients the templates as prompts, after the flows",
        concern: Concern::Serving,
        ..kept!(prompt_templates, reading::switch)
    },
    SettingRow {
        flag: Some("--expose"),
        value: Some("WHICH"),
        variables: &["FLOWY_EXPOSE"],
        key: Some("expose"),
        default: Fallback::Value("none"),
        meaning: "flows that are MCP tools of their own: none, marked (flows that say expose: true and are on --expose-list) \
                  or all (only those on --expose-list, if it is given)",
        own_file_only: true,
        concern: Concern::Exposing,
        ..kept!(expose, exposing::expose)
    },
    SettingRow {
        flag: Some("--expose-list"),
        value: Some("NAMES"),
        variables: &["FLOWY_EXPOSE_LIST"],
        key: Some("expose_list"),
        default: Fallback::Described("empty"),
        meaning: "names of the flows that --expose may make tools, separated by commas; * for every flow",
        own_file_only: true,
        concern: Concern::Exposing,
        ..kept!(expose_list, exposing::expose_list)
    },
    SettingRow {
        flag: Some("--expose-prefix"),
        value: Some("PREFIX"),
        variables: &["FLOWY_EXPOSE_PREFIX"],
        key: Some("expose_prefix"),
        default: Fallback::Value("flow_"),
        meaning: "prefix of the names of these tools: up to 16 letters, digits, _ and -; none for no prefix",
        own_file_only: true,
        concern: Concern::Exposing,
        put: |settings, given| exposing::expose_prefix(given).map(|value| settings.expose_prefix = value),
        written: |settings| Some(prefix_word(&settings.expose_prefix).to_owned()),
        ..PLAIN
    },
    SettingRow {
        flag: Some("--only-exposed"),
        variables: &["FLOWY_ONLY_EXPOSED"],
        key: Some("only_exposed"),
        default: Fallback::Value("false"),
        meaning: "show MCP clients these tools and nothing else: no flows_list, no other flow, no prompts",
        own_file_only: true,
        concern: Concern::Exposing,
        ..kept!(only_exposed, reading::switch)
    },
    SettingRow {
        variables: &["FLOWY_MAX_EXPOSED"],
        key: Some("max_exposed"),
        default: Fallback::Value("128"),
        meaning: "largest number of flows that are tools of their own, 0 to 1000; the first by name are taken",
        own_file_only: true,
        concern: Concern::Exposing,
        ..kept!(max_exposed, reading::number(SettingUnit::Tools, 0..=1_000))
    },
    SettingRow {
        flag: Some("--log-level"),
        value: Some("LEVEL"),
        variables: &["LOG_LEVEL"],
        key: Some("log_level"),
        default: Fallback::Value("info"),
        meaning: "how much is logged: error, warn, info, debug or trace",
        ..kept!(log_level, reading::log_level)
    },
    SettingRow {
        variables: &["MCP_SERVER_NAME"],
        key: Some("server_name"),
        default: Fallback::Value("flowy"),
        meaning: "the name the server introduces itself by",
        concern: Concern::Serving,
        ..kept!(server_name, reading::server_name)
    },
    SettingRow {
        flag: Some("--lenient"),
        variables: &["FLOWY_LENIENT"],
        key: Some("lenient"),
        default: Fallback::Value("false"),
        meaning: "treat an edge to a missing node as a warning, not as an error",
        concern: Concern::Catalog,
        ..kept!(lenient, reading::switch)
    },
    SettingRow {
        flag: Some("--allow-any-commit"),
        variables: &["FLOWY_ALLOW_ANY_COMMIT"],
        key: Some("allow_any_commit"),
        default: Fallback::Value("false"),
        meaning: "allow commits outside the default branch, including commits of forks",
        own_file_only: true,
        concern: Concern::Reading,
        ..kept!(allow_any_commit, reading::switch)
    },
    SettingRow {
        flag: Some("--no-usage"),
        variables: &["FLOWY_NO_USAGE"],
        key: Some("no_usage"),
        default: Fallback::Value("false"),
        meaning: "don't count how often flows are used and what listings cost; counts never leave this machine",
        concern: Concern::Counts,
        ..kept!(no_usage, reading::switch)
    },
    DEFAULT_MODEL,
    SettingRow {
        variables: &["FLOWY_CURRENCY"],
        key: Some("currency"),
        default: Fallback::Value("USD"),
        meaning: "the currency of price_in and price_out of models, as it is shown",
        own_file_only: true,
        concern: Concern::Models,
        ..kept!(currency, reading::word)
    },
    SettingRow {
        variables: &["FLOWY_EXECUTION_TIMEOUT_MS"],
        key: Some("execution_timeout_ms"),
        default: Fallback::Described("600000; 3600000 where a model answers a step"),
        meaning: "the longest that a direct execution may take, waits for limits included, in milliseconds",
        own_file_only: true,
        concern: Concern::Models,
        put: |settings, given| {
            reading::milliseconds(given, 1_000..=A_WEEK_MS).map(|time| settings.execution_timeout = Some(time))
        },
        written: |settings| settings.execution_timeout.map(milliseconds),
        ..PLAIN
    },
    CACHE_DIR,
    STATE_DIR,
    SettingRow {
        flag: Some("--servers"),
        value: Some("FILE"),
        variables: &["FLOWY_SERVERS"],
        key: Some("servers"),
        default: Fallback::Described("flowy.servers.json in the user's config folder"),
        meaning: "file of the external MCP servers that flows may call; it holds commands and is never read from a catalog",
        own_file_only: true,
        concern: Concern::Servers,
        put: |settings, given| {
            settings.servers = Some(given.path());
            Ok(())
        },
        written: |settings| settings.servers.as_ref().map(|file| file.display().to_string()),
        ..PLAIN
    },
    SettingRow {
        variables: &["FLOWY_FETCH_DEADLINE_MS"],
        key: Some("fetch_deadline_ms"),
        default: Fallback::Value("25000"),
        meaning: "the longest that one refresh from GitHub may take, tries and pauses included, in milliseconds",
        concern: Concern::Reading,
        ..kept!(fetch_deadline, reading::milliseconds(1..=LONGEST_WAIT_MS), milliseconds)
    },
    SettingRow {
        variables: &["FLOWY_REQUEST_TIMEOUT_MS"],
        key: Some("request_timeout_ms"),
        default: Fallback::Value("10000"),
        meaning: "the longest that one request to GitHub may take, in milliseconds",
        concern: Concern::Reading,
        ..kept!(request_timeout, reading::milliseconds(1..=LONGEST_WAIT_MS), milliseconds)
    },
    CONFIG,
];

fn milliseconds(time: Duration) -> String {
    time.as_millis().to_string()
}
