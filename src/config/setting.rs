//! What a setting is: how it is given, what holds without it, what it is about, and how its text
//! becomes a value and back.

use super::Settings;
use super::environment::Environment;
use super::error::{Origin, Place, SettingsError};
use super::reading::GivenSetting;

/// What holds when a setting is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    /// This value, as it would be written.
    Value(&'static str),
    /// Nothing, or what only this machine tells: described in words.
    Described(&'static str),
}

impl Fallback {
    /// For a table.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Value(words) | Self::Described(words) => words,
        }
    }
}

/// What part of the product a setting is about. A surface that offers some of them chooses by this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Concern {
    /// Which catalog.
    Source,
    /// Which state of the catalog, and how it is checked.
    Catalog,
    /// How much of a catalog is read, and how GitHub is asked for it.
    Reading,
    /// How a catalog is offered to MCP clients.
    Serving,
    /// Which flows are MCP tools of their own.
    Exposing,
    /// The external servers that flows may call.
    Servers,
    /// The models that may answer steps.
    Models,
    /// What was fetched from GitHub and from external servers.
    CacheFolder,
    /// Logs, guided executions and counts.
    StateFolder,
    /// Counting use.
    Counts,
    /// Every command: logging, and the settings themselves.
    All,
}

/// One setting: how it is given, what holds without it, and what it does.
#[derive(Debug, Clone, Copy)]
pub struct SettingRow {
    /// The flag, with its dashes; a token has none, for command lines are seen by other users.
    pub flag: Option<&'static str>,
    /// What the flag's value is called. `None`: the flag is a switch and takes none.
    pub value: Option<&'static str>,
    /// The environment variables; the first one that is set counts.
    pub variables: &'static [&'static str],
    /// The key in `flowy.toml`.
    pub key: Option<&'static str>,
    /// What holds when it is not set.
    pub default: Fallback,
    /// What it does, for a table and for help; with its unit.
    pub meaning: &'static str,
    /// Whether it is refused in the `flowy.toml` that merely lies in the current folder. Such a
    /// file may have come with somebody else's repository: it must not choose the host that
    /// receives the user's token, nor where files are written, nor what becomes a tool.
    pub own_file_only: bool,
    /// What it is about.
    pub concern: Concern,
    /// Whether it is a credential: read with the white space around it, and never written anywhere.
    pub secret: bool,
    /// Reads a text into the settings.
    pub(super) put: fn(&mut Settings, GivenSetting<'_>) -> Result<(), SettingsError>,
    /// The value as it would be written; `None` where there is none to write.
    pub(super) written: fn(&Settings) -> Option<String>,
}

impl SettingRow {
    /// Reads the default into the settings, where the table has one.
    pub(super) fn fall_back(&self, settings: &mut Settings, environment: &Environment) -> Result<(), SettingsError> {
        let Fallback::Value(text) = self.default else { return Ok(()) };
        let place = Place { setting: text.to_owned(), origin: Origin::Default };
        (self.put)(settings, GivenSetting { text, place, base: environment.current_folder(), environment })
    }

    /// Whether both are the same setting.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.variables == other.variables
    }
}

/// What the shared part of most rows looks like.
pub(super) const PLAIN: SettingRow = SettingRow {
    flag: None,
    value: None,
    variables: &[],
    key: None,
    default: Fallback::Described(""),
    meaning: "",
    own_file_only: false,
    concern: Concern::All,
    secret: false,
    put: |_, _| Ok(()),
    written: |_| None,
};
