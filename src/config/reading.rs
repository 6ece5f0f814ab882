//! The rules by which one text becomes one value, each with the error it makes.
//!
//! Where a text came from only matters for the message; how texts are found is not known here.

use std::net::IpAddr;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use http::Uri;

use super::environment::Environment;
use super::error::{Place, SettingsError};
use super::secret::{Secret, redact};
use crate::names::{RefName, quoted, unprintable, words};

/// A text that was given for a setting: as it was found, or trimmed for reading it.
#[derive(Debug)]
pub(super) struct GivenSetting<'a> {
    pub(super) text: &'a str,
    pub(super) place: Place,
    /// The folder that a relative path starts from.
    pub(super) base: &'a Path,
    /// Where the user's folder is.
    pub(super) environment: &'a Environment,
}

impl GivenSetting<'_> {
    /// The text as a path, made independent of the current folder.
    pub(super) fn path(&self) -> PathBuf {
        self.environment.resolved(self.text, self.base)
    }
}

words! {
    /// What a number counts.
    #[derive(Debug, Clone, Copy)]
    pub(super) enum SettingUnit {
        Milliseconds = "milliseconds",
        Bytes = "bytes",
        Tries = "tries",
        Calls = "calls",
        Executions = "executions",
        Days = "days",
        Prompts = "prompts",
        Tools = "tools",
    }
}

impl SettingUnit {
    /// How many of this unit one of the named ones is; a kilobyte is 1,024 bytes, as the default
    /// of 1,048,576 for "one megabyte" has it.
    fn factor(self, name: &str) -> Option<u64> {
        match (self, name) {
            (Self::Milliseconds, "ms") | (Self::Bytes, "b" | "byte" | "bytes") => Some(1),
            (Self::Milliseconds, "s" | "sec" | "secs" | "second" | "seconds") => Some(1_000),
            (Self::Milliseconds, "m" | "min" | "mins" | "minute" | "minutes") => Some(60_000),
            (Self::Milliseconds, "h" | "hour" | "hours") => Some(3_600_000),
            (Self::Milliseconds, "d" | "day" | "days") => Some(86_400_000),
            (Self::Bytes, "k" | "kb" | "kib") => Some(1 << 10),
            (Self::Bytes, "m" | "mb" | "mib") => Some(1 << 20),
            (Self::Bytes, "g" | "gb" | "gib") => Some(1 << 30),
            _ => None,
        }
    }
}

/// A text safe for a message: it may be a token that was put into the wrong setting.
fn shown(text: &str) -> String {
    quoted(&redact(text, &[]))
}

/// Whether a text is what a template leaves behind when nothing filled it in: `${NAME}` anywhere,
/// or nothing but `$NAME` or `%NAME%`.
pub(super) fn is_placeholder(text: &str) -> bool {
    let name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_uppercase())
            && text.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
    };
    text.split_once("${").is_some_and(|(_, rest)| rest.contains('}'))
        || text.strip_prefix('$').is_some_and(name)
        || text.strip_prefix('%').and_then(|rest| rest.strip_suffix('%')).is_some_and(name)
}

/// A whole number within bounds; a time or a size may have a unit.
///
/// # Errors
/// `NotANumber` and `OutOfRange`.
pub(super) fn number<T: TryFrom<u64>>(
    given: GivenSetting<'_>,
    unit: SettingUnit,
    range: RangeInclusive<u64>,
) -> Result<T, SettingsError> {
    let GivenSetting { text, place, .. } = given;
    let number = if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        text.parse().ok()
    } else if let Some(number) = with_unit(text, unit) {
        Some(number)
    } else {
        return Err(SettingsError::NotANumber { place, shown: shown(text), unit: unit.word() });
    };
    number.filter(|number| range.contains(number)).and_then(|number| T::try_from(number).ok()).ok_or_else(|| {
        SettingsError::OutOfRange {
            place,
            given: crate::names::shown(text, 40),
            least: *range.start(),
            most: *range.end(),
            unit: unit.word(),
        }
    })
}

/// A whole number of milliseconds.
///
/// # Errors
/// As [`number`].
pub(super) fn milliseconds(given: GivenSetting<'_>, range: RangeInclusive<u64>) -> Result<Duration, SettingsError> {
    number(given, SettingUnit::Milliseconds, range).map(Duration::from_millis)
}

/// What `15m`, `1.5 h` or `1MB` is in the unit that is due.
pub(super) fn with_unit(text: &str, unit: SettingUnit) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (whole, rest) = text.split_at_checked(end)?;
    let whole: u64 = whole.parse().ok()?;
    let (tenths, name) = match rest.strip_prefix('.') {
        None => (0, rest),
        Some(rest) => {
            let (digit, name) = rest.split_at_checked(1)?;
            (digit.parse::<u64>().ok()?, name)
        }
    };
    let factor = unit.factor(&name.trim().to_ascii_lowercase())?;
    whole.checked_mul(factor)?.checked_add(tenths.checked_mul(factor)? / 10)
}

/// True or false.
///
/// # Errors
/// `NotAChoice`.
pub(super) fn switch(given: GivenSetting<'_>) -> Result<bool, SettingsError> {
    match given.text.to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Ok(true),
        "false" | "0" | "no" | "off" => Ok(false),
        _ => Err(not_a_choice(given, &["true", "false"])),
    }
}

/// A log level, in lower case.
///
/// # Errors
/// `NotAChoice`.
pub(super) fn log_level(given: GivenSetting<'_>) -> Result<String, SettingsError> {
    const LEVELS: &[&str] = &["error", "warn", "info", "debug", "trace"];
    let level = given.text.to_ascii_lowercase();
    match level.as_str() {
        // Other programs that read LOG_LEVEL spell it out.
        "warning" => Ok("warn".to_owned()),
        known if LEVELS.contains(&known) => Ok(level),
        _ => Err(not_a_choice(given, LEVELS)),
    }
}

pub(super) fn not_a_choice(given: GivenSetting<'_>, choices: &'static [&'static str]) -> SettingsError {
    SettingsError::NotAChoice { shown: shown(given.text), place: given.place, choices }
}

pub(super) fn bad_spelling(given: GivenSetting<'_>, why: &'static str) -> SettingsError {
    SettingsError::BadSpelling { shown: shown(given.text), place: given.place, why }
}

/// A token. It is taken untrimmed: a line break inside a token was a mistake in copying, and one
/// at its end would break the header it is sent in.
///
/// # Errors
/// `BadToken`, without the text.
pub(super) fn token(given: GivenSetting<'_>) -> Result<Secret, SettingsError> {
    let GivenSetting { text, place, .. } = given;
    let why = if text.contains(['\n', '\r']) {
        "it has a line break in it"
    } else if text.chars().any(char::is_whitespace) {
        "it has blanks in it"
    } else if text.contains(['"', '\'']) {
        "it has quotation marks in it"
    } else if !text.bytes().all(|b| b.is_ascii_graphic()) {
        "it has characters that no token has"
    } else {
        return Ok(Secret::new(text.to_owned()));
    };
    Err(SettingsError::BadToken { place, why })
}

/// A ref, without the `refs/heads/` or `refs/tags/` that GitHub Actions puts before it.
///
/// # Errors
/// `BadSpelling`.
pub(super) fn git_ref(given: GivenSetting<'_>) -> Result<RefName, SettingsError> {
    let short = ["refs/heads/", "refs/tags/"].iter().find_map(|before| given.text.strip_prefix(before));
    RefName::new(short.unwrap_or(given.text)).map_err(|error| bad_spelling(given, error.why))
}

/// A catalog's address or folder, as it stands, unless it carries a password.
///
/// # Errors
/// `CredentialInside`, `BadSpelling`.
pub(super) fn source(given: GivenSetting<'_>) -> Result<String, SettingsError> {
    let text = given.text;
    if text.chars().any(unprintable) {
        return Err(bad_spelling(given, "it holds control or bidirectional characters"));
    }
    let named = redact(text, &[]) != text
        || text.split_once("://").map_or_else(
            || names_somebody(text),
            |(scheme, rest)| {
                let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
                // ssh://git@github.com names the account all of GitHub's ssh addresses have.
                authority.rsplit_once('@').is_some_and(|(user, _)| user != "git" || scheme == "https")
            },
        );
    if named { Err(SettingsError::CredentialInside { place: given.place }) } else { Ok(text.to_owned()) }
}

/// Whether an address without a scheme holds a user name: `kim:password@host/…` or `token@host/…`, but
/// not `git@host:…`, which every account of GitHub's has, nor `owner/repo@ref` or `C:\folder`.
fn names_somebody(text: &str) -> bool {
    let first = text.split(['/', '\\']).next().unwrap_or_default();
    let password =
        first.find([':', '@']).filter(|at| *at > 1 && text.get(*at..).is_some_and(|rest| rest.starts_with(':')));
    let is_host = |host: &str| {
        let domain = host.rsplit_once('.').map_or("", |(_, domain)| domain);
        domain.len() > 1 && domain.bytes().all(|letter| letter.is_ascii_alphabetic())
    };
    let user = first.rsplit_once('@').is_some_and(|(user, host)| user != "git" && is_host(host));
    user || password.is_some_and(|at| text.get(at..).is_some_and(|rest| rest.contains('@')))
}

/// A word of letters, digits, `-`, `_` and `.`.
///
/// # Errors
/// `BadSpelling`.
pub(super) fn word(given: GivenSetting<'_>) -> Result<String, SettingsError> {
    let letter = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if given.text.chars().count() <= 64 && given.text.chars().all(letter) {
        Ok(given.text.to_owned())
    } else {
        Err(bad_spelling(given, "it has up to 64 letters, digits, - _ and ."))
    }
}

/// The name the server introduces itself by.
///
/// # Errors
/// `BadSpelling`.
pub(super) fn server_name(given: GivenSetting<'_>) -> Result<String, SettingsError> {
    if given.text.chars().any(unprintable) {
        Err(bad_spelling(given, "it holds control or bidirectional characters"))
    } else if given.text.chars().count() > 64 {
        Err(bad_spelling(given, "it is longer than 64 characters"))
    } else {
        Ok(given.text.to_owned())
    }
}

/// The REST base: https, or http on this machine; without credentials, query or trailing slash.
///
/// # Errors
/// `BadAddress`, `CredentialInside`.
pub(super) fn api_url(given: GivenSetting<'_>) -> Result<String, SettingsError> {
    let GivenSetting { text, place, .. } = given;
    let bad = |why| SettingsError::BadAddress { place: place.clone(), why };
    if text.contains('#') || text.contains('?') {
        return Err(bad("it has a query or a fragment"));
    }
    if text.chars().any(|c| c.is_whitespace() || unprintable(c)) {
        return Err(bad("it has blanks or control characters in it"));
    }
    if text.contains('@') || redact(text, &[]) != text {
        return Err(SettingsError::CredentialInside { place });
    }
    let Ok(uri) = text.parse::<Uri>() else { return Err(bad("it cannot be read")) };
    let Some(host) = uri.host().filter(|host| !host.is_empty()) else { return Err(bad("it names no host")) };
    match uri.scheme_str() {
        Some("https") => {}
        Some("http") if on_this_machine(host) => {}
        Some("http") => return Err(bad("http is for this machine only, a token would travel in the open")),
        _ => return Err(bad("it does not begin with https://")),
    }
    if host.eq_ignore_ascii_case("github.com") || host.eq_ignore_ascii_case("www.github.com") {
        return Err(bad("github.com is the web site, its API is https://api.github.com"));
    }
    Ok(text.trim_end_matches('/').to_owned())
}

/// Whether a host is this machine, by its name or by its number; never by looking it up.
pub(super) fn on_this_machine(host: &str) -> bool {
    let number = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || number.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
impl<'a> GivenSetting<'a> {
    /// A text in the root folder of an empty environment.
    pub(super) fn of(text: &'a str, place: Place) -> Self {
        static EMPTY: std::sync::LazyLock<Environment> = std::sync::LazyLock::new(|| Environment::of::<&str, &str>([]));
        Self { text, place, base: Path::new("/"), environment: &EMPTY }
    }
}

#[cfg(test)]
mod tests;
