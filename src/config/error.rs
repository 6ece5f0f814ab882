//! What is wrong with a setting: a message that names it and where it came from, and a hint.
//!
//! No message shows a token: the variants about tokens have no field for the value.

use std::fmt;
use std::path::PathBuf;

/// Where a setting was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Nowhere: it is the default of the table of settings.
    Default,
    /// On the command line.
    Flag,
    /// In the environment.
    Variable,
    /// In a settings file.
    File {
        /// Which one.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
}

/// A setting as its giver knows it: the flag, the variable or the key, and where that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// For example `--cache-ttl-ms`, `CACHE_TTL_MS` or `cache_ttl_ms`.
    pub setting: String,
    /// Where it was given.
    pub origin: Origin,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.origin {
            Origin::Default => write!(f, "the default {}", self.setting),
            Origin::Flag => write!(f, "the flag {}", self.setting),
            Origin::Variable => write!(f, "{} in the environment", self.setting),
            Origin::File { path, line } => write!(f, "{} in {}:{line}", self.setting, path.display()),
        }
    }
}

/// What the system says of a failure, in words: without its number, which only programmers know.
pub fn system_says(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "it does not exist".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => {
            let told = error.to_string();
            told.rsplit_once(" (os error ").map_or_else(|| told.clone(), |(words, _)| words.to_owned())
        }
    }
}

/// Why the settings cannot be used. The message states the fact; [`SettingsError::hint`] says what helps.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// `${NAME}` and its like: some program was to fill it in and did not.
    #[error("{place} is a placeholder that was never filled in")]
    Placeholder {
        /// The setting.
        place: Place,
    },
    /// A flag with nothing behind it: who writes one means something, and another value in its place would
    /// be taken without a word.
    #[error("{place} is empty")]
    Empty {
        /// The setting.
        place: Place,
        /// What belongs there.
        meaning: &'static str,
        /// What holds without it.
        default: &'static str,
    },
    /// Text where a whole number is due.
    #[error("{place} is {shown}, but a whole number of {unit} is due")]
    NotANumber {
        /// The setting.
        place: Place,
        /// The text, made safe to show.
        shown: String,
        /// What is counted.
        unit: &'static str,
    },
    /// A number outside its bounds.
    #[error("{place} is {given}, but it goes from {least} to {most} {unit}")]
    OutOfRange {
        /// The setting.
        place: Place,
        /// The number as it was written.
        given: String,
        /// The smallest that is allowed.
        least: u64,
        /// The largest that is allowed.
        most: u64,
        /// What is counted.
        unit: &'static str,
    },
    /// A word that is not one of those there are.
    #[error("{place} is {shown}, which is not one of: {}", choices.join(", "))]
    NotAChoice {
        /// The setting.
        place: Place,
        /// The text, made safe to show.
        shown: String,
        /// The words there are.
        choices: &'static [&'static str],
    },
    /// Text that cannot be a token. The text itself is not kept.
    #[error("{place} is not a token: {why}")]
    BadToken {
        /// The setting.
        place: Place,
        /// What is wrong with it.
        why: &'static str,
    },
    /// An address that requests, and with them the token, must not be sent to. Not shown, because
    /// it may hold a password.
    #[error("{place} is not an address for GitHub's API: {why}")]
    BadAddress {
        /// The setting.
        place: Place,
        /// What is wrong with it.
        why: &'static str,
    },
    /// `https://user:password@…`: not shown.
    #[error("{place} has a user name or a token inside the address")]
    CredentialInside {
        /// The setting.
        place: Place,
    },
    /// Not how git spells a branch, tag or commit, or not fit to be shown in a line.
    #[error("{place} is {shown}: {why}")]
    BadSpelling {
        /// The setting.
        place: Place,
        /// The text, made safe to show.
        shown: String,
        /// The rule it breaks.
        why: &'static str,
    },
    /// Bytes that are not Unicode.
    #[error("{place} is not Unicode text")]
    NotUnicode {
        /// The setting.
        place: Place,
    },
    /// A settings file that cannot be read.
    #[error("the settings file {} cannot be read: {why}", file.display())]
    Unreadable {
        /// Which one.
        file: PathBuf,
        /// What the system says.
        why: String,
    },
    /// A settings file that is not TOML.
    #[error("{}:{line}:{column}: {why}", file.display())]
    Syntax {
        /// Which one.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
        /// What the parser says.
        why: String,
    },
    /// A key that no setting has.
    #[error("{}:{line}: there is no setting {shown}", file.display())]
    UnknownKey {
        /// Which file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The key, made safe to show.
        shown: String,
        /// The nearest key there is.
        nearest: Option<&'static str>,
        /// All keys there are.
        keys: Vec<&'static str>,
    },
    /// A list, a table or a date where a text, a number or true or false is due.
    #[error("{place} is a {kind}, but a text, a whole number, true or false is due")]
    WrongKind {
        /// The setting.
        place: Place,
        /// What it is.
        kind: &'static str,
    },
    /// A folder of ours that is not this user's alone.
    #[error("the folder {} is not used: {why}", folder.display())]
    ForeignFolder {
        /// Which one.
        folder: PathBuf,
        /// Who else has it.
        why: &'static str,
        /// The flag that names another one.
        flag: &'static str,
    },
    /// Something in the table of a model that can't be used; a key is never in it.
    #[error("{place} {why}")]
    BadModel {
        /// The model, or its key.
        place: Place,
        /// What is wrong.
        why: String,
        /// What to write instead, where that is clear.
        hint: Option<String>,
    },
    /// A setting that only the user's own file may have.
    #[error("{place} is not allowed in a file {why}")]
    NotInThisFile {
        /// The setting.
        place: Place,
        /// Which files may not have it.
        why: &'static str,
        /// The user's own file, when there is a folder for it.
        own_file: Option<PathBuf>,
    },
}

impl SettingsError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Placeholder { place } => Some(format!(
                "write the value itself for {}, or remove it: the program that starts flowy does not fill in \
                 placeholders",
                place.setting
            )),
            Self::Empty { place, meaning, default } => {
                Some(format!("write {meaning}; or leave {} out (default: {default})", place.setting))
            }
            Self::NotANumber { unit: unit @ "milliseconds", .. } => {
                Some(format!("write a whole number of {unit}, or a time with its unit: 15m"))
            }
            Self::NotANumber { unit: unit @ "bytes", .. } => {
                Some(format!("write a whole number of {unit}, or a size with its unit: 1MB"))
            }
            Self::NotANumber { unit, .. } => Some(format!("write digits only, in {unit}")),
            Self::OutOfRange { unit: "tries", .. } => Some("every try counts: 1 is one try and no repeat".to_owned()),
            Self::BadToken { .. } => Some("copy the token alone, on one line, without quotation marks".to_owned()),
            Self::BadAddress { .. } => Some(
                "leave it out for github.com; for GitHub Enterprise write https://HOST/api/v3; http is for 127.0.0.1 \
                 and localhost only"
                    .to_owned(),
            ),
            Self::CredentialInside { .. } => Some(
                "take it out of the address and set GITHUB_PAT; a token that stood there should be revoked".to_owned(),
            ),
            Self::Unreadable { .. } => {
                Some("name a file that is there with --config, or leave it out to read flowy.toml".to_owned())
            }
            Self::ForeignFolder { flag, .. } => {
                Some(format!("make it yours alone (chown, chmod o-w), or name another folder with {flag}"))
            }
            Self::Syntax { .. } => Some(
                "write each setting as key = value in a line, with texts in quotation marks: source = \"acme/flows\""
                    .to_owned(),
            ),
            Self::UnknownKey { nearest: None, keys, .. } => Some(format!(
                "settings stand at the top of the file, without a section; these there are: {}",
                keys.join(", ")
            )),
            Self::UnknownKey { nearest: Some(nearest), .. } => Some(format!("did you mean {nearest}?")),
            Self::NotInThisFile { own_file: Some(own), .. } => {
                Some(format!("put it into {}, or name this file with --config if it is yours", own.display()))
            }
            Self::NotInThisFile { own_file: None, .. } => {
                Some("name this file with --config if it is yours".to_owned())
            }
            Self::BadModel { hint, .. } => hint.clone(),
            Self::OutOfRange { .. }
            | Self::NotAChoice { .. }
            | Self::BadSpelling { .. }
            | Self::NotUnicode { .. }
            | Self::WrongKind { .. } => None,
        }
    }
}
