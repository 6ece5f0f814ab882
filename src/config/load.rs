//! Flags, environment and files brought together: the first that gives a setting decides.
//!
//! How a text becomes a value stands in `reading`, what settings there are in `rows`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::environment::Environment;
use super::error::{Origin, Place, SettingsError};
use super::file::{CONFIG_FILE, ConfigFile, Trust};
use super::folders::{Folders, refuse_foreign};
use super::models::{ModelSpec, did_you_mean};
use super::reading::{self, GivenSetting};
use super::rows::{self, SETTINGS};
use super::setting::SettingRow;
use super::{Secret, Settings};

/// What the command line gave, as it was written; a switch that was given is `true`.
///
/// There is no flag for a token: command lines end up in histories and process lists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flags(BTreeMap<String, String>);

impl Flags {
    /// The same, with what a flag (`--source`) was given.
    #[must_use]
    pub fn with(mut self, flag: &str, text: impl Into<String>) -> Self {
        self.0.insert(flag.to_owned(), text.into());
        self
    }

    /// What a flag was given, as text.
    pub fn value(&self, flag: &str) -> Option<&str> {
        self.0.get(flag).map(String::as_str)
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
        read_files(&mut from)?;
        let mut settings = Self::defaults(environment);
        for row in SETTINGS {
            from.read(row, &mut settings)?;
        }
        refuse_foreign(&settings, environment)?;
        settings.models = from.models();
        from.default_model_is_one(&settings)?;
        if settings.token_place.as_ref().is_some_and(|place| place.origin == Origin::Variable) {
            settings.hidden_token = from.key(&rows::TOKEN).map(|found| found.place);
        }
        Ok(settings)
    }

    /// What to log by where [`Settings::load`] fails: the defaults, with the folder for the log and
    /// the token that must not be in it, as far as these can be told. The folder is empty where none
    /// can be trusted.
    pub fn to_log_by(flags: &Flags, environment: &Environment) -> Self {
        let mut from = Layers { flags, environment, files: Vec::new() };
        // What fails here is told by the error that made this necessary.
        let _ = read_files(&mut from);
        let mut settings = Self { models: from.models(), ..Self::defaults(environment) };
        for row in [&rows::TOKEN, &rows::STATE_DIR] {
            let _ = from.read(row, &mut settings);
        }
        if refuse_foreign(&settings, environment).is_err() {
            settings.state_dir = PathBuf::new();
        }
        settings
    }
}

/// The token that a settings file holds by now, if the token came from one.
pub fn token_in(place: &Place) -> Option<Secret> {
    let Origin::File { path, .. } = &place.origin else { return None };
    let environment = Environment::of::<&str, &str>([]);
    let file = ConfigFile::read(path, Trust::Own, &environment).ok()?;
    let (text, place) = file.value(rows::TOKEN.key?).filter(|(text, _)| !reading::is_placeholder(text))?;
    reading::token(GivenSetting { text, place, base: file.folder(), environment: &environment }).ok()
}

/// Reads the files that count, the first one first.
fn read_files(from: &mut Layers<'_>) -> Result<(), SettingsError> {
    if let Some(named) = from.find(&rows::CONFIG)? {
        let path = from.environment.resolved(named.text.trim(), named.base);
        from.files = vec![ConfigFile::read(&path, Trust::Own, from.environment)?];
        return Ok(());
    }
    let found = from.environment.current_folder().join(CONFIG_FILE);
    let own_path = Folders::of(from.environment).config.map(|folder| folder.join(CONFIG_FILE));
    let own_file = match &own_path {
        Some(path) => ConfigFile::read_if_there(path, Trust::Own, from.environment)?,
        None => None,
    };
    from.files.extend(own_file);
    if Some(&found) != own_path.as_ref() {
        let trust = if from.in_catalog()? { Trust::OfCatalog } else { Trust::Found };
        let found = ConfigFile::read_if_there(&found, trust(own_path.as_deref()), from.environment)?;
        from.files.splice(..0, found);
    }
    Ok(())
}

/// Whether a folder is a catalog.
pub fn has_flows(folder: &Path) -> bool {
    folder.join("flows").is_dir()
}

struct Layers<'a> {
    flags: &'a Flags,
    environment: &'a Environment,
    files: Vec<ConfigFile>,
}

impl Layers<'_> {
    /// Reads what was given for a setting into the settings, where anything was.
    fn read(&self, row: &SettingRow, settings: &mut Settings) -> Result<(), SettingsError> {
        let Some(given) = self.find(row)? else { return Ok(()) };
        let text = if row.secret { given.text } else { given.text.trim() };
        (row.put)(settings, GivenSetting { text, ..given })
    }

    /// The first value that is not empty, provided somebody filled it in.
    fn find(&self, row: &SettingRow) -> Result<Option<GivenSetting<'_>>, SettingsError> {
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

    fn flag(&self, row: &SettingRow) -> Result<Option<GivenSetting<'_>>, SettingsError> {
        let Some((flag, text)) = row.flag.and_then(|flag| Some((flag, self.flags.value(flag)?))) else {
            return Ok(None);
        };
        let place = Place { setting: flag.to_owned(), origin: Origin::Flag };
        if text.trim().is_empty() {
            return Err(SettingsError::Empty { place, meaning: row.meaning, default: row.default.words() });
        }
        let environment = self.environment;
        Ok(Some(GivenSetting { text, place, base: environment.current_folder(), environment }))
    }

    fn variable(&self, row: &SettingRow) -> Result<Option<GivenSetting<'_>>, SettingsError> {
        for name in row.variables {
            let place = || Place { setting: (*name).to_owned(), origin: Origin::Variable };
            let Some(value) = self.environment.variable(name) else { continue };
            let Some(text) = value.to_str() else { return Err(SettingsError::NotUnicode { place: place() }) };
            if text.trim().is_empty() || (row.is(&rows::GIT_REF) && !self.ref_is_meant(text)) {
                continue;
            }
            let environment = self.environment;
            return Ok(Some(GivenSetting { text, place: place(), base: environment.current_folder(), environment }));
        }
        Ok(None)
    }

    fn key(&self, row: &SettingRow) -> Option<GivenSetting<'_>> {
        let key = row.key?;
        self.files.iter().find_map(|file| {
            let (text, place) = file.value(key).filter(|(text, _)| !text.trim().is_empty())?;
            Some(GivenSetting { text, place, base: file.folder(), environment: self.environment })
        })
    }

    /// Whether the current folder is a catalog's, by itself or as the source that was read so far.
    fn in_catalog(&self) -> Result<bool, SettingsError> {
        let here = self.environment.current_folder();
        let served = self.find(&rows::SOURCE)?.map(|found| self.environment.resolved(found.text.trim(), found.base));
        let real = |folder: &Path| folder.canonicalize().ok();
        Ok(has_flows(here)
            || served.is_some_and(|served| real(&served).is_some_and(|served| real(here) == Some(served))))
    }

    /// The models of the files, which only the operator's own may list.
    fn models(&self) -> Vec<Arc<ModelSpec>> {
        self.files.iter().flat_map(ConfigFile::models).cloned().map(Arc::new).collect()
    }

    /// Looks whether the default model is one of those there are.
    fn default_model_is_one(&self, settings: &Settings) -> Result<(), SettingsError> {
        let names: Vec<String> = settings.models.iter().map(|model| model.name.clone()).collect();
        let Some(name) = settings.default_model.as_ref().filter(|name| !names.contains(name)) else { return Ok(()) };
        let place = self.find(&rows::DEFAULT_MODEL)?.map(|found| found.place);
        let place = place.unwrap_or(Place { setting: "default_model".to_owned(), origin: Origin::Default });
        let why = format!("is {}, and no model of that name is configured", crate::names::quoted(name));
        Err(SettingsError::BadModel { place, why, hint: did_you_mean(name, &names) })
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
