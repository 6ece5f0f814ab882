//! The table of all settings: what the README shows is what the loader reads.
//!
//! A setting is read by handing its row to the loader, so a flag, a variable or a key that is not
//! in this table cannot be read at all.

/// One setting: how it is given, what holds without it, and what it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingRow {
    /// The flag, with its dashes; a token has none, for command lines are seen by other users.
    pub flag: Option<&'static str>,
    /// The environment variables; the first one that is set counts.
    pub variables: &'static [&'static str],
    /// The key in `flowy.toml`.
    pub key: Option<&'static str>,
    /// What holds when it is not set, as it would be written.
    pub default: &'static str,
    /// What it does, for a table; with its unit.
    pub meaning: &'static str,
    /// Whether it is refused in the `flowy.toml` that merely lies in the current folder. Such a
    /// file may have come with somebody else's repository: it must not choose the host that
    /// receives the user's token, nor where files are written, nor what becomes a tool.
    pub own_file_only: bool,
}

/// What the shared part of most rows looks like.
const PLAIN: SettingRow =
    SettingRow { flag: None, variables: &[], key: None, default: "", meaning: "", own_file_only: false };

pub(super) const SOURCE: SettingRow = SettingRow {
    flag: Some("--source"),
    variables: &["GITHUB_REPO_URL"],
    key: Some("source"),
    default: "the current folder if it has flows/, else the built-in examples",
    meaning: "the catalog: owner/repo, owner/repo@ref, a GitHub address, a folder, or examples for the built-in ones",
    ..PLAIN
};
pub(super) const GIT_REF: SettingRow = SettingRow {
    flag: Some("--ref"),
    variables: &["GITHUB_REF"],
    key: Some("ref"),
    default: "the repository's default branch",
    meaning: "branch, tag or commit that is read when the source names none; refs/heads/ and refs/tags/ may stand \
              before it",
    ..PLAIN
};
pub(super) const TOKEN: SettingRow = SettingRow {
    variables: &["GITHUB_PAT", "GITHUB_TOKEN", "GH_TOKEN"],
    key: Some("token"),
    default: "none",
    meaning: "GitHub token; public repositories need none, private ones the permission Contents: read",
    own_file_only: true,
    ..PLAIN
};
pub(super) const API_URL: SettingRow = SettingRow {
    flag: Some("--api-url"),
    variables: &["GITHUB_API_URL"],
    key: Some("api_url"),
    default: "https://api.github.com",
    meaning: "GitHub's REST address; https://HOST/api/v3 for GitHub Enterprise",
    own_file_only: true,
};
pub(super) const CACHE_TTL: SettingRow = SettingRow {
    flag: Some("--cache-ttl-ms"),
    variables: &["CACHE_TTL_MS"],
    key: Some("cache_ttl_ms"),
    default: "900000",
    meaning: "how long a catalog is served without asking GitHub again, in milliseconds",
    ..PLAIN
};
pub(super) const MAX_FILE_SIZE: SettingRow = SettingRow {
    flag: Some("--max-file-size-bytes"),
    variables: &["MAX_FILE_SIZE"],
    key: Some("max_file_size_bytes"),
    default: "1048576",
    meaning: "the largest catalog file that is read, in bytes",
    ..PLAIN
};
pub(super) const RETRY_ATTEMPTS: SettingRow = SettingRow {
    flag: Some("--retry-attempts"),
    variables: &["RETRY_ATTEMPTS"],
    key: Some("retry_attempts"),
    default: "3",
    meaning: "how often one request to GitHub is tried in all, 1 to 10",
    ..PLAIN
};
pub(super) const MAX_CONCURRENT_REQUESTS: SettingRow = SettingRow {
    variables: &["MAX_CONCURRENT_REQUESTS"],
    key: Some("max_concurrent_requests"),
    default: "20",
    meaning: "how many tool calls are handled at once; also how many requests to GitHub, of which there are never more than 4",
    ..PLAIN
};
pub(super) const MAX_PROMPTS: SettingRow = SettingRow {
    variables: &["FLOWY_MAX_PROMPTS"],
    key: Some("max_prompts"),
    default: "100",
    meaning: "how many prompts clients are shown, 0 to 1000: flows by name, then templates by name",
    ..PLAIN
};
pub(super) const EXPOSE: SettingRow = SettingRow {
    flag: Some("--expose"),
    variables: &["FLOWY_EXPOSE"],
    key: Some("expose"),
    default: "none",
    meaning: "which flows are MCP tools of their own: none, marked (those that say expose: true and are on --expose-list) \
              or all (only those of --expose-list, where it is given)",
    own_file_only: true,
};
pub(super) const EXPOSE_LIST: SettingRow = SettingRow {
    flag: Some("--expose-list"),
    variables: &["FLOWY_EXPOSE_LIST"],
    key: Some("expose_list"),
    default: "empty",
    meaning: "the flows that --expose may make tools, by name, with commas between them; * for every flow",
    own_file_only: true,
};
pub(super) const EXPOSE_PREFIX: SettingRow = SettingRow {
    flag: Some("--expose-prefix"),
    variables: &["FLOWY_EXPOSE_PREFIX"],
    key: Some("expose_prefix"),
    default: "flow_",
    meaning: "what the names of these tools begin with: up to 16 letters, digits, _ and -; none for nothing",
    own_file_only: true,
};
pub(super) const ONLY_EXPOSED: SettingRow = SettingRow {
    flag: Some("--only-exposed"),
    variables: &["FLOWY_ONLY_EXPOSED"],
    key: Some("only_exposed"),
    default: "false",
    meaning: "MCP clients are shown these tools and nothing else: no flows_list, no other flow, no prompts",
    own_file_only: true,
};
pub(super) const MAX_EXPOSED: SettingRow = SettingRow {
    variables: &["FLOWY_MAX_EXPOSED"],
    key: Some("max_exposed"),
    default: "128",
    meaning: "how many flows are tools of their own at most, 0 to 1000: the first by name",
    own_file_only: true,
    ..PLAIN
};
pub(super) const LOG_LEVEL: SettingRow = SettingRow {
    flag: Some("--log-level"),
    variables: &["LOG_LEVEL"],
    key: Some("log_level"),
    default: "info",
    meaning: "error, warn, info, debug or trace",
    ..PLAIN
};
pub(super) const SERVER_NAME: SettingRow = SettingRow {
    variables: &["MCP_SERVER_NAME"],
    key: Some("server_name"),
    default: "flowy",
    meaning: "the name the server introduces itself by",
    ..PLAIN
};
pub(super) const LENIENT: SettingRow = SettingRow {
    flag: Some("--lenient"),
    variables: &["FLOWY_LENIENT"],
    key: Some("lenient"),
    default: "false",
    meaning: "an edge to a node that does not exist is a warning, not an error",
    ..PLAIN
};
pub(super) const ALLOW_ANY_COMMIT: SettingRow = SettingRow {
    flag: Some("--allow-any-commit"),
    variables: &["FLOWY_ALLOW_ANY_COMMIT"],
    key: Some("allow_any_commit"),
    default: "false",
    meaning: "a commit need not belong to the default branch (commits of forks resolve too)",
    own_file_only: true,
};
pub(super) const NO_USAGE: SettingRow = SettingRow {
    flag: Some("--no-usage"),
    variables: &["FLOWY_NO_USAGE"],
    key: Some("no_usage"),
    default: "false",
    meaning: "count neither how much flows are used nor what listings cost; counts never leave this machine",
    ..PLAIN
};
pub(super) const CACHE_DIR: SettingRow = SettingRow {
    flag: Some("--cache-dir"),
    variables: &["FLOWY_CACHE_DIR"],
    key: Some("cache_dir"),
    default: "flowy in the user's cache folder",
    meaning: "folder for what was fetched from GitHub",
    own_file_only: true,
};
pub(super) const STATE_DIR: SettingRow = SettingRow {
    flag: Some("--state-dir"),
    variables: &["FLOWY_STATE_DIR"],
    key: Some("state_dir"),
    default: "flowy in the user's state folder",
    meaning: "folder for logs, guided executions and counts",
    own_file_only: true,
};
pub(super) const SERVERS: SettingRow = SettingRow {
    flag: Some("--servers"),
    variables: &["FLOWY_SERVERS"],
    key: Some("servers"),
    default: "flowy.servers.json in the user's config folder",
    meaning: "file of the external MCP servers that flows may call; it holds commands and is never read from a catalog",
    own_file_only: true,
};
pub(super) const FETCH_DEADLINE: SettingRow = SettingRow {
    variables: &["FLOWY_FETCH_DEADLINE_MS"],
    key: Some("fetch_deadline_ms"),
    default: "25000",
    meaning: "the longest that one refresh from GitHub may take, tries and pauses included, in milliseconds",
    ..PLAIN
};
pub(super) const REQUEST_TIMEOUT: SettingRow = SettingRow {
    variables: &["FLOWY_REQUEST_TIMEOUT_MS"],
    key: Some("request_timeout_ms"),
    default: "10000",
    meaning: "the longest that one request to GitHub may take, in milliseconds",
    ..PLAIN
};
pub(super) const CONFIG: SettingRow = SettingRow {
    flag: Some("--config"),
    variables: &["FLOWY_CONFIG"],
    default: "flowy.toml in the current folder, then in the user's config folder",
    meaning: "the settings file to read instead",
    ..PLAIN
};

/// Every setting there is, in the order in which a table shows them.
pub const SETTINGS: &[SettingRow] = &[
    SOURCE,
    GIT_REF,
    TOKEN,
    API_URL,
    CACHE_TTL,
    MAX_FILE_SIZE,
    RETRY_ATTEMPTS,
    MAX_CONCURRENT_REQUESTS,
    MAX_PROMPTS,
    EXPOSE,
    EXPOSE_LIST,
    EXPOSE_PREFIX,
    ONLY_EXPOSED,
    MAX_EXPOSED,
    LOG_LEVEL,
    SERVER_NAME,
    LENIENT,
    ALLOW_ANY_COMMIT,
    NO_USAGE,
    CACHE_DIR,
    STATE_DIR,
    SERVERS,
    FETCH_DEADLINE,
    REQUEST_TIMEOUT,
    CONFIG,
];
