//! `flowy.toml`: settings by their keys; refused as a whole when anything in it is unknown.
//!
//! What a value must look like is not known here; every value is handed on as the text it would be
//! on the command line.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use toml::de::{DeTable, DeValue};

use super::environment::Environment;
use super::error::{Origin, Place, SettingsError, system_says};
use super::models::{self, ModelSpec};
use super::rows::SETTINGS;
use super::secret::redact;
use super::setting::SettingRow;
use crate::files::read_named;
use crate::names::{nearest, quoted};

/// The name of the settings file.
pub const CONFIG_FILE: &str = "flowy.toml";
/// The largest that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;

/// A settings file that was read.
#[derive(Debug)]
pub(super) struct ConfigFile {
    path: PathBuf,
    /// By key: the value as text, and its line.
    values: BTreeMap<&'static str, (String, usize)>,
    /// The models that it lists.
    models: Vec<ModelSpec>,
}

/// Whether a file is the user's own or merely lies in the current folder.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trust<'a> {
    /// The user named it, or it lies in the user's config folder.
    Own,
    /// It lies in the current folder; the user's own file would be this one.
    Found(Option<&'a Path>),
    /// The same, and the current folder is a catalog's: the file came with the catalog.
    OfCatalog(Option<&'a Path>),
}

impl Trust<'_> {
    /// Refuses a setting that such a file must not have.
    fn allows(self, place: &Place, own_file_only: bool) -> Result<(), SettingsError> {
        let (own_file, why) = match self {
            Trust::Found(own) if own_file_only => (own, "that is read only because it lies in the current folder"),
            Trust::OfCatalog(own) => (own, "in a catalog's folder, of which only the section [validate] is read"),
            Trust::Own | Trust::Found(_) => return Ok(()),
        };
        Err(SettingsError::NotInThisFile { place: place.clone(), why, own_file: own_file.map(Path::to_owned) })
    }
}

fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_named(path, LARGEST)?).map_err(|_| io::Error::other("it is not UTF-8 text"))
}

impl ConfigFile {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, is not TOML, or holds a key or kind of value that no setting has.
    pub(super) fn read(path: &Path, trust: Trust<'_>, environment: &Environment) -> Result<Self, SettingsError> {
        match read_text(path) {
            Ok(text) => Self::parse(path, &text, trust, environment),
            Err(error) => Err(SettingsError::Unreadable { file: path.to_owned(), why: system_says(&error) }),
        }
    }

    /// Reads a file that need not be there.
    ///
    /// # Errors
    /// As [`ConfigFile::read`], except when there is no such file.
    pub(super) fn read_if_there(
        path: &Path,
        trust: Trust<'_>,
        environment: &Environment,
    ) -> Result<Option<Self>, SettingsError> {
        match std::fs::metadata(path) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(None),
            _ => Self::read(path, trust, environment).map(Some),
        }
    }

    fn parse(path: &Path, text: &str, trust: Trust<'_>, environment: &Environment) -> Result<Self, SettingsError> {
        // Windows editors put a byte order mark first.
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let table = DeTable::parse(text).map_err(|error| {
            let (line, column) = position(text, error.span().map_or(0, |span| span.start));
            let why = redact(error.message(), &[]).into_owned();
            SettingsError::Syntax { file: path.to_owned(), line, column, why }
        })?;
        let mut file = Self { path: path.to_owned(), values: BTreeMap::new(), models: Vec::new() };
        for (key, value) in table.into_inner() {
            let (line, _) = position(text, key.span().start);
            let (key, value) = (key.into_inner(), value.into_inner());
            if key == super::checking::SECTION && matches!(value, DeValue::Table(_)) {
                // About checking the catalog that the file lies in; read where that is checked.
                continue;
            }
            let origin = Origin::File { path: path.to_owned(), line };
            let place = Place { setting: key.to_string(), origin };
            if key == models::SECTION {
                trust.allows(&place, true)?;
                let DeValue::Table(table) = value else {
                    let hint = Some("write a section for each model: [models.NAME]".to_owned());
                    return Err(SettingsError::BadModel { place, why: "is no table".to_owned(), hint });
                };
                file.models = models::read(table, (path, text), environment)?;
                continue;
            }
            let of_key = |row: &'static SettingRow| row.key.filter(|own| *own == key).map(|own| (row, own));
            let Some((row, key)) = SETTINGS.iter().find_map(of_key) else {
                let keys = || SETTINGS.iter().filter_map(|row| row.key);
                let sections = [models::SECTION, super::checking::SECTION];
                return Err(SettingsError::UnknownKey {
                    file: file.path,
                    line,
                    shown: quoted(&redact(&key, &[])),
                    nearest: nearest(&key, keys().chain(sections), 1).first().copied(),
                    keys: keys().collect(),
                });
            };
            trust.allows(&place, row.own_file_only)?;
            let Some(text) = as_text(&value) else {
                return Err(SettingsError::WrongKind { place, kind: value.type_str() });
            };
            file.values.insert(key, (text, line));
        }
        Ok(file)
    }

    /// The value of a key, and where it stands.
    pub(super) fn value(&self, key: &'static str) -> Option<(&str, Place)> {
        let (text, line) = self.values.get(key)?;
        let origin = Origin::File { path: self.path.clone(), line: *line };
        Some((text, Place { setting: key.to_owned(), origin }))
    }

    /// The models that it lists.
    pub(super) fn models(&self) -> &[ModelSpec] {
        &self.models
    }

    /// The folder that relative paths in this file are relative to.
    pub(super) fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(&self.path)
    }
}

fn as_text(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        // 0x10 and 1_000 are numbers in TOML, whatever they would be elsewhere.
        DeValue::Integer(number) => {
            i128::from_str_radix(number.as_str(), number.radix()).ok().map(|number| number.to_string())
        }
        DeValue::Boolean(truth) => Some(truth.to_string()),
        DeValue::Float(_) | DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// Line and column (in characters) of a byte, both from 1.
pub(super) fn position(text: &str, byte: usize) -> (usize, usize) {
    let before = text.get(..byte).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (before.matches('\n').count() + 1, column)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nothing() -> Environment {
        Environment::of::<&str, &str>([])
    }

    fn parsed(text: &str) -> Result<ConfigFile, SettingsError> {
        ConfigFile::parse(Path::new("/x/flowy.toml"), text, Trust::Own, &nothing())
    }

    #[test]
    fn a_value_is_handed_on_as_text_with_its_line() {
        let file =
            parsed("\u{FEFF}# mine\nsource = \"acme/flows\"\ncache_ttl_ms = 60_000\n\nlenient = true\n").unwrap();
        let (text, place) = file.value("cache_ttl_ms").unwrap();
        assert_eq!((text, place.to_string().as_str()), ("60000", "cache_ttl_ms in /x/flowy.toml:3"));
        assert_eq!(file.value("lenient").unwrap().0, "true");
        assert!(file.value("ref").is_none());
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest_one() {
        let error = parsed("source = \"a/b\"\ncache_ttl = 1\n").unwrap_err();
        assert_eq!(error.to_string(), "/x/flowy.toml:2: there is no setting \"cache_ttl\"");
        assert_eq!(error.hint().unwrap(), "did you mean cache_ttl_ms?");
        for text in ["zzzzzzzz = 1", "[github]\ntoken = \"x\""] {
            let hint = parsed(text).unwrap_err().hint().unwrap();
            assert!(
                hint.contains("at the top of the file") && hint.contains("source, ") && hint.contains("token"),
                "{hint}"
            );
        }
    }

    #[test]
    fn what_is_not_toml_is_refused_with_its_place() {
        let error = parsed("source = \"a/b\"\nref = = 3\n").unwrap_err();
        assert!(matches!(&error, SettingsError::Syntax { line: 2, column: 7, .. }), "{error:?}");
        let bare = parsed("token = tok-new").unwrap_err();
        assert!(bare.hint().unwrap().contains("quotation marks") && !bare.to_string().contains("tok-new"), "{bare}");
    }

    #[test]
    fn a_list_or_a_table_is_no_setting() {
        for (text, kind) in [("source = [1]", "array"), ("[source]\nx = 1", "table"), ("retry_attempts = 1.5", "float")]
        {
            let error = parsed(text).unwrap_err();
            assert!(matches!(&error, SettingsError::WrongKind { kind: is, .. } if *is == kind), "{error:?}");
        }
    }

    #[test]
    fn a_file_that_only_lies_there_cannot_choose_hosts_tokens_or_folders() {
        for row in SETTINGS {
            let Some(key) = row.key else { continue };
            let text = format!("{key} = \"1\"");
            let own = Path::new("/home/kim/.config/flowy/flowy.toml");
            let trust = Trust::Found(Some(own));
            let read = ConfigFile::parse(Path::new("/x/flowy.toml"), &text, trust, &nothing());
            assert_eq!(read.is_err(), row.own_file_only, "{key}");
            if let Err(error) = read {
                assert!(error.hint().unwrap().contains("/home/kim/.config/flowy/flowy.toml"));
            }
        }
        let exposing = ["expose", "expose_list", "expose_prefix", "only_exposed", "max_exposed"];
        for key in
            ["api_url", "token", "cache_dir", "state_dir", "servers", "allow_any_commit"].into_iter().chain(exposing)
        {
            let row = SETTINGS.iter().find(|row| row.key == Some(key)).unwrap();
            assert!(row.own_file_only, "{key}");
        }
    }
}
