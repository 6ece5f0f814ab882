//! Flags, environment and files brought together: the first that gives a setting decides.
//!
//! How a text becomes a value stands in `reading`, what settings there are in `rows`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::Settings;
use super::environment::{Environment, Folders};
use super::error::{Origin, Place, SettingsError};
use super::exposing;
use super::file::{CONFIG_FILE, ConfigFile, Trust};
use super::reading::{self, Given, Unit};
use super::rows::{self, SettingRow};

/// A year: longer than anything here should last, and far from where times overflow.
const A_YEAR_MS: u64 = 365 * 24 * 60 * 60 * 1000;
/// Ten minutes, the longest wait for GitHub that can be asked for.
const LONGEST_WAIT_MS: u64 = 600_000;
/// GitHub refuses files over 100 MB.
const LARGEST_FILE_BYTES: u64 = 100 * 1024 * 1024;

/// What the command line gave, as it was written. A flag without a value is `Some(true)`.
///
/// There is no flag for a token: command lines end up in histories and process lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags {
    /// `--source`
    pub source: Option<String>,
    /// `--ref`
    pub git_ref: Option<String>,
    /// `--api-url`
    pub api_url: Option<String>,
    /// `--cache-ttl-ms`
    pub cache_ttl_ms: Option<String>,
    /// `--max-file-size-bytes`
    pub max_file_size_bytes: Option<String>,
    /// `--retry-attempts`
    pub retry_attempts: Option<String>,
    /// `--expose`
    pub expose: Option<String>,
    /// `--expose-list`
    pub expose_list: Option<String>,
    /// `--expose-prefix`
    pub expose_prefix: Option<String>,
    /// `--only-exposed`
    pub only_exposed: Option<bool>,
    /// `--log-level`
    pub log_level: Option<String>,
    /// `--lenient`
    pub lenient: Option<bool>,
    /// `--allow-any-commit`
    pub allow_any_commit: Option<bool>,
    /// `--no-usage`
    pub no_usage: Option<bool>,
    /// `--cache-dir`
    pub cache_dir: Option<String>,
    /// `--state-dir`
    pub state_dir: Option<String>,
    /// `--servers`
    pub servers: Option<String>,
    /// `--config`
    pub config: Option<String>,
}

impl Flags {
    /// What a flag was given, as text.
    fn value(&self, flag: &str) -> Option<Cow<'_, str>> {
        let text = |value: &'_ Option<String>| value.clone().map(Cow::Owned);
        let switch = |value: Option<bool>| value.map(|on| Cow::Borrowed(if on { "true" } else { "false" }));
        match flag {
            "--source" => text(&self.source),
            "--ref" => text(&self.git_ref),
            "--api-url" => text(&self.api_url),
            "--cache-ttl-ms" => text(&self.cache_ttl_ms),
            "--max-file-size-bytes" => text(&self.max_file_size_bytes),
            "--retry-attempts" => text(&self.retry_attempts),
            "--expose" => text(&self.expose),
            "--expose-list" => text(&self.expose_list),
            "--expose-prefix" => text(&self.expose_prefix),
            "--only-exposed" => switch(self.only_exposed),
            "--log-level" => text(&self.log_level),
            "--lenient" => switch(self.lenient),
            "--allow-any-commit" => switch(self.allow_any_commit),
            "--no-usage" => switch(self.no_usage),
            "--cache-dir" => text(&self.cache_dir),
            "--state-dir" => text(&self.state_dir),
            "--servers" => text(&self.servers),
            "--config" => text(&self.config),
            _ => None,
        }
    }
}

impl Settings {
    /// Settings from flags, then the environment, then `flowy.toml`: the one named by `--config`,
    /// else the current folder's before the user's own.
    ///
    /// An empty variable or key counts as not set: clients and workflows leave such behind. An empty flag
    /// is refused.
    ///
    /// # Errors
    /// When a setting that counts has no use as it stands, or a settings file has none. What a
    /// setting hides (a variable behind a flag) is not judged.
    pub fn load(flags: &Flags, environment: &Environment) -> Result<Self, SettingsError> {
        let mut from = Layers { flags, environment, files: Vec::new() };
        from.files = settings_files(&from)?;

        let mut settings = Self::defaults(environment);
        settings.source = from.read(&rows::SOURCE, reading::source)?;
        settings.git_ref = from.read(&rows::GIT_REF, reading::git_ref)?;
        settings.token = from.read(&rows::TOKEN, reading::token)?;
        set(&mut settings.api_url, from.read(&rows::API_URL, reading::api_url)?);
        let ttl = |given: Given<'_>| reading::milliseconds(given, 0..=A_YEAR_MS);
        set(&mut settings.cache_ttl, from.read(&rows::CACHE_TTL, ttl)?);
        let size = |given: Given<'_>| reading::number(given, Unit::Bytes, 1..=LARGEST_FILE_BYTES);
        set(&mut settings.max_file_size, from.read(&rows::MAX_FILE_SIZE, size)?);
        let tries = |given: Given<'_>| reading::number(given, Unit::Tries, 1..=10);
        set(&mut settings.retry_attempts, from.read(&rows::RETRY_ATTEMPTS, tries)?.map(narrowed));
        let calls = |given: Given<'_>| reading::number(given, Unit::Calls, 1..=1_000);
        set(&mut settings.max_concurrent_requests, from.read(&rows::MAX_CONCURRENT_REQUESTS, calls)?.map(narrowed));
        let prompts = |given: Given<'_>| reading::number(given, Unit::Prompts, 0..=1_000);
        set(&mut settings.max_prompts, from.read(&rows::MAX_PROMPTS, prompts)?.map(narrowed));
        set(&mut settings.expose, from.read(&rows::EXPOSE, exposing::expose)?);
        set(&mut settings.expose_list, from.read(&rows::EXPOSE_LIST, exposing::expose_list)?);
        set(&mut settings.expose_prefix, from.read(&rows::EXPOSE_PREFIX, exposing::expose_prefix)?);
        set(&mut settings.only_exposed, from.read(&rows::ONLY_EXPOSED, reading::switch)?);
        let tools = |given: Given<'_>| reading::number(given, Unit::Tools, 0..=1_000);
        set(&mut settings.max_exposed, from.read(&rows::MAX_EXPOSED, tools)?.map(narrowed));
        set(&mut settings.log_level, from.read(&rows::LOG_LEVEL, reading::log_level)?);
        set(&mut settings.server_name, from.read(&rows::SERVER_NAME, reading::server_name)?);
        set(&mut settings.lenient, from.read(&rows::LENIENT, reading::switch)?);
        set(&mut settings.allow_any_commit, from.read(&rows::ALLOW_ANY_COMMIT, reading::switch)?);
        set(&mut settings.no_usage, from.read(&rows::NO_USAGE, reading::switch)?);
        set(&mut settings.cache_dir, from.folder(&rows::CACHE_DIR)?);
        set(&mut settings.state_dir, from.folder(&rows::STATE_DIR)?);
        settings.servers = from.folder(&rows::SERVERS)?;
        let wait = |given: Given<'_>| reading::milliseconds(given, 1..=LONGEST_WAIT_MS);
        set(&mut settings.fetch_deadline, from.read(&rows::FETCH_DEADLINE, wait)?);
        set(&mut settings.request_timeout, from.read(&rows::REQUEST_TIMEOUT, wait)?);
        Ok(settings)
    }
}

impl Settings {
    /// What to log by where [`Settings::load`] fails: the defaults, with the folder for the log and
    /// the token that must not be in it, as far as these can be told.
    pub fn to_log_by(flags: &Flags, environment: &Environment) -> Self {
        let mut from = Layers { flags, environment, files: Vec::new() };
        from.files = settings_files(&from).unwrap_or_default();
        let mut settings = Self::defaults(environment);
        settings.token = from.read(&rows::TOKEN, reading::token).ok().flatten();
        set(&mut settings.state_dir, from.folder(&rows::STATE_DIR).ok().flatten());
        settings
    }
}

fn set<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}

/// A number that its bounds have already made small.
fn narrowed<T: TryFrom<u64> + From<u8>>(number: u64) -> T {
    T::try_from(number).unwrap_or_else(|_| T::from(u8::MAX))
}

/// The files that count, the first one first.
fn settings_files(from: &Layers<'_>) -> Result<Vec<ConfigFile>, SettingsError> {
    if let Some(named) = from.folder(&rows::CONFIG)? {
        return Ok(vec![ConfigFile::read(&named, Trust::Own)?]);
    }
    let found = from.environment.current_folder().join(CONFIG_FILE);
    let own = Folders::of(from.environment).config.map(|folder| folder.join(CONFIG_FILE));
    let mut files = Vec::new();
    if Some(&found) != own.as_ref() {
        files.extend(ConfigFile::read_if_there(&found, Trust::Found(own.as_deref()))?);
    }
    if let Some(own) = own {
        files.extend(ConfigFile::read_if_there(&own, Trust::Own)?);
    }
    Ok(files)
}

/// A value that was found: as written, where, and the folder that a relative path starts from.
struct Found<'a> {
    text: Cow<'a, str>,
    place: Place,
    base: &'a Path,
}

struct Layers<'a> {
    flags: &'a Flags,
    environment: &'a Environment,
    files: Vec<ConfigFile>,
}

impl Layers<'_> {
    fn read<T>(
        &self,
        row: &SettingRow,
        reading: impl Fn(Given<'_>) -> Result<T, SettingsError>,
    ) -> Result<Option<T>, SettingsError> {
        let Some(found) = self.find(row)? else {
            return Ok(None);
        };
        // A blank beside a token is judged, beside anything else it is nothing.
        let text = if *row == rows::TOKEN { &*found.text } else { found.text.trim() };
        reading(Given { text, place: found.place }).map(Some)
    }

    fn folder(&self, row: &SettingRow) -> Result<Option<PathBuf>, SettingsError> {
        Ok(self.find(row)?.map(|found| self.environment.resolved(found.text.trim(), found.base)))
    }

    /// The first value that is not empty, provided somebody filled it in.
    fn find(&self, row: &SettingRow) -> Result<Option<Found<'_>>, SettingsError> {
        let found = match self.flag(row)? {
            Some(found) => Some(found),
            None => match self.variable(row)? {
                Some(found) => Some(found),
                None => self.key(row),
            },
        };
        match found {
            Some(found) if reading::is_placeholder(found.text.trim()) => {
                Err(SettingsError::Placeholder { place: found.place })
            }
            found => Ok(found),
        }
    }

    fn flag(&self, row: &SettingRow) -> Result<Option<Found<'_>>, SettingsError> {
        let Some((flag, text)) = row.flag.and_then(|flag| Some((flag, self.flags.value(flag)?))) else {
            return Ok(None);
        };
        let place = Place { setting: flag.to_owned(), origin: Origin::Flag };
        if text.trim().is_empty() {
            return Err(SettingsError::Empty { place, meaning: row.meaning, default: row.default });
        }
        Ok(Some(Found { text, place, base: self.environment.current_folder() }))
    }

    fn variable(&self, row: &SettingRow) -> Result<Option<Found<'_>>, SettingsError> {
        for name in row.variables {
            let place = || Place { setting: (*name).to_owned(), origin: Origin::Variable };
            let Some(value) = self.environment.variable(name) else { continue };
            let Some(text) = value.to_str() else {
                return Err(SettingsError::NotUnicode { place: place() });
            };
            if text.trim().is_empty() || (*row == rows::GIT_REF && !self.ref_is_meant(text)) {
                continue;
            }
            let base = self.environment.current_folder();
            return Ok(Some(Found { text: Cow::Borrowed(text), place: place(), base }));
        }
        Ok(None)
    }

    fn key(&self, row: &SettingRow) -> Option<Found<'_>> {
        let key = row.key?;
        self.files.iter().find_map(|file| {
            let (text, place) = file.value(key).filter(|(text, _)| !text.trim().is_empty())?;
            Some(Found { text: Cow::Borrowed(text), place, base: file.folder() })
        })
    }

    /// GitHub Actions sets `GITHUB_REF` for every workflow, to the ref of the repository it runs
    /// in. It is meant for us only when the workflow also names a repository for us, and a pull
    /// request's ref (`refs/pull/7/merge`) exists in no other one.
    fn ref_is_meant(&self, git_ref: &str) -> bool {
        let says = |name, what: fn(&str) -> bool| {
            self.environment.variable(name).and_then(|value| value.to_str()).is_some_and(what)
        };
        !says("GITHUB_ACTIONS", |text| text.trim() == "true")
            || (says("GITHUB_REPO_URL", |text| !text.trim().is_empty()) && !git_ref.trim().starts_with("refs/pull/"))
    }
}

#[cfg(test)]
mod tests;
