//! `flowy.toml`: settings by their keys, in sections where a key has one (`section.key`); refused as
//! a whole when anything in it is unknown.
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
            Ok(text) => Self::parse(path, &text, (trust, environment), SETTINGS),
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

    fn parse(
        path: &Path,
        text: &str,
        (trust, environment): (Trust<'_>, &Environment),
        rows: &'static [SettingRow],
    ) -> Result<Self, SettingsError> {
        // Windows editors put a byte order mark first.
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let table = DeTable::parse(text).map_err(|error| {
            let (line, column) = position(text, error.span().map_or(0, |span| span.start));
            SettingsError::Syntax {
                file: path.to_owned(),
                line,
                column,
                why: redact(error.message(), &[]).into_owned(),
            }
        })?;
        let mut file = Self { path: path.to_owned(), values: BTreeMap::new(), models: Vec::new() };
        file.take(table.into_inner(), "", &FileReading { text, rows, trust, environment })?;
        Ok(file)
    }

    /// Takes in a table: the whole file, or one of its sections.
    fn take(&mut self, table: DeTable<'_>, section: &str, reading: &FileReading<'_>) -> Result<(), SettingsError> {
        for (key, value) in table {
            let (line, _) = position(reading.text, key.span().start);
            let key = format!("{section}{}", key.into_inner());
            let value = value.into_inner();
            if key == super::checking::SECTION && matches!(value, DeValue::Table(_)) {
                // About checking the catalog that the file lies in; read where that is checked.
                continue;
            }
            if key == models::SECTION {
                let origin = Origin::File { path: self.path.clone(), line };
                let place = Place { setting: key, origin };
                reading.trust.allows(&place, true)?;
                let DeValue::Table(table) = value else {
                    let hint = Some("write a section for each model: [models.NAME]".to_owned());
                    return Err(SettingsError::BadModel { place, why: "is no table".to_owned(), hint });
                };
                self.models = models::read(table, (&self.path, reading.text), reading.environment)?;
                continue;
            }
            let Some((row, key)) = reading.row_of(&key) else {
                match value {
                    DeValue::Table(table) if reading.has_section(&key) => {
                        self.take(table, &format!("{key}."), reading)?;
                        continue;
                    }
                    _ => return Err(self.unknown(&key, line, reading)),
                }
            };
            let origin = Origin::File { path: self.path.clone(), line };
            let place = Place { setting: key.to_owned(), origin };
            reading.trust.allows(&place, row.own_file_only)?;
            let Some(text) = as_text(&value) else {
                return Err(SettingsError::WrongKind { place, kind: value.type_str() });
            };
            self.values.insert(key, (text, line));
        }
        Ok(())
    }

    fn unknown(&self, key: &str, line: usize, reading: &FileReading<'_>) -> SettingsError {
        let sections = [models::SECTION, super::checking::SECTION];
        let known = reading.rows.iter().filter_map(|row| row.key).chain(sections);
        SettingsError::UnknownKey {
            file: self.path.clone(),
            line,
            shown: quoted(&redact(key, &[])),
            nearest: nearest(key, known, 1).first().copied(),
            keys: reading.rows.iter().filter_map(|row| row.key).collect(),
        }
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

/// What a file is read by.
struct FileReading<'a> {
    text: &'a str,
    rows: &'static [SettingRow],
    trust: Trust<'a>,
    environment: &'a Environment,
}

impl FileReading<'_> {
    fn row_of(&self, key: &str) -> Option<(&'static SettingRow, &'static str)> {
        self.rows.iter().find_map(|row| row.key.filter(|own| *own == key).map(|own| (row, own)))
    }

    /// Whether any setting's key stands in this section.
    fn has_section(&self, key: &str) -> bool {
        let keys = self.rows.iter().filter_map(|row| row.key);
        keys.into_iter().any(|own| own.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')))
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
    use super::super::setting::PLAIN;
    use super::*;

    fn nothing() -> Environment {
        Environment::of::<&str, &str>([])
    }

    fn parsed(text: &str) -> Result<ConfigFile, SettingsError> {
        ConfigFile::parse(Path::new("/x/flowy.toml"), text, (Trust::Own, &nothing()), SETTINGS)
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
    fn a_key_of_a_section_is_found_by_its_path_and_an_unknown_one_is_named_by_it() {
        const ROWS: &[SettingRow] = &[
            SettingRow { key: Some("http.listen"), ..PLAIN },
            SettingRow { key: Some("http.tls.file"), ..PLAIN },
            SettingRow { key: Some("source"), ..PLAIN },
        ];
        let read = |text| ConfigFile::parse(Path::new("/x/flowy.toml"), text, (Trust::Own, &nothing()), ROWS);
        let file = read("source = 'a'\nhttp.listen = 'b'\n[http.tls]\nfile = 'c'\n").unwrap();
        let found = |key| file.value(key).map(|(text, place)| (text.to_owned(), place.to_string())).unwrap();
        assert_eq!(found("http.listen"), ("b".to_owned(), "http.listen in /x/flowy.toml:2".to_owned()));
        assert_eq!(found("http.tls.file"), ("c".to_owned(), "http.tls.file in /x/flowy.toml:4".to_owned()));
        for (text, key) in [("[http]\nlisten_at = 1", "\"http.listen_at\""), ("[htp]\nlisten = 1", "\"htp\"")] {
            let error = read(text).unwrap_err();
            assert!(matches!(&error, SettingsError::UnknownKey { shown, .. } if shown == key), "{error:?}");
        }
        assert!(matches!(read("http = 1"), Err(SettingsError::UnknownKey { .. })));
    }

    #[test]
    fn a_file_that_only_lies_there_cannot_choose_hosts_tokens_or_folders() {
        for row in SETTINGS {
            let Some(key) = row.key else { continue };
            let text = format!("{key} = \"1\"");
            let own = Path::new("/home/kim/.config/flowy/flowy.toml");
            let read =
                ConfigFile::parse(Path::new("/x/flowy.toml"), &text, (Trust::Found(Some(own)), &nothing()), SETTINGS);
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
