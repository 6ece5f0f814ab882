//! What a catalog's own `flowy.toml` says of checking it: the section `[validate]`, and nothing else of the file.
//!
//! The file belongs to the catalog and comes with it, so it can't choose anything but what a check of this very
//! catalog leaves unsaid.

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::error::{SettingsError, system_says};
use super::file::{CONFIG_FILE, position};
use super::secret::redact;
use super::servers::fits;
use crate::files::read_named;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 1024 * 1024;
/// The section of a settings file that is about checking a catalog.
pub(super) const SECTION: &str = "validate";

/// What a catalog's settings say of checking it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckSettings {
    /// The text of the file, for showing what is wrong with it.
    pub text: String,
    /// The rules that are suppressed, in file order.
    pub ignored: Vec<IgnoredRule>,
}

/// A rule that a catalog suppresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IgnoredRule {
    /// The rule's id.
    pub rule: String,
    /// Where that stands in the file, in bytes.
    pub span: Range<usize>,
    /// Why.
    pub reason: String,
    /// The files whose findings are meant, as patterns: `*` stands for any characters, `?` for one; empty for all.
    pub paths: Vec<String>,
}

#[derive(Deserialize)]
struct Root {
    validate: Option<Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    #[serde(default)]
    ignore: Vec<Ignore>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ignore {
    rule: Spanned<String>,
    reason: Spanned<String>,
    #[serde(default)]
    paths: Vec<String>,
}

impl CheckSettings {
    /// Reads the section of the file in a catalog's folder, where there is one.
    ///
    /// # Errors
    /// When the file can't be read, or the section holds what nobody understands.
    pub fn of_catalog(root: &Path) -> Result<Self, SettingsError> {
        let path = root.join(CONFIG_FILE);
        match read_named(&path, LARGEST) {
            Ok(bytes) => Self::parse(&path, String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(SettingsError::Unreadable { file: path, why: system_says(&error) }),
        }
    }

    fn parse(path: &Path, text: String) -> Result<Self, SettingsError> {
        let text = text.strip_prefix('\u{FEFF}').map(str::to_owned).unwrap_or(text);
        let wrong = |at: usize, why: String| {
            let (line, column) = position(&text, at);
            SettingsError::Syntax { file: PathBuf::from(path), line, column, why }
        };
        let root: Root = toml::from_str(&text).map_err(|error| {
            let why = redact(error.message(), &[]).into_owned();
            wrong(error.span().map_or(0, |span| span.start), why)
        })?;
        let mut ignored = Vec::new();
        for entry in root.validate.map(|section| section.ignore).unwrap_or_default() {
            if entry.reason.get_ref().trim().is_empty() {
                return Err(wrong(entry.reason.span().start, "the reason is empty".to_owned()));
            }
            ignored.push(IgnoredRule {
                span: entry.rule.span(),
                rule: entry.rule.into_inner(),
                reason: entry.reason.into_inner(),
                paths: entry.paths,
            });
        }
        Ok(Self { text, ignored })
    }
}

impl IgnoredRule {
    /// Whether findings in a file are meant, by its path in the catalog.
    pub fn covers(&self, file: &str) -> bool {
        self.paths.is_empty() || self.paths.iter().any(|pattern| fits(pattern, file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<CheckSettings, SettingsError> {
        CheckSettings::parse(Path::new("/x/flowy.toml"), text.to_owned())
    }

    #[test]
    fn only_the_section_about_checking_is_read() {
        let text = "source = [1]\n[[validate.ignore]]\nrule = \"a\"\nreason = \"b\"\npaths = [\"flows/**\"]\n";
        let read = parsed(text).unwrap();
        assert_eq!((read.ignored[0].rule.as_str(), read.ignored[0].reason.as_str()), ("a", "b"));
        assert_eq!(&text[read.ignored[0].span.clone()], "\"a\"");
        assert_eq!(parsed("token = \"x\"").unwrap().ignored, []);
    }

    #[test]
    fn what_nobody_understands_is_refused_at_its_line() {
        for text in [
            "[validate]\nignores = []\n",
            "[[validate.ignore]]\nrule = \"a\"\n",
            "[[validate.ignore]]\nrule = \"a\"\nreason = \" \"\n",
            "[validate",
        ] {
            assert!(matches!(parsed(text), Err(SettingsError::Syntax { .. })), "{text}");
        }
    }

    #[test]
    fn a_rule_without_paths_is_meant_everywhere_and_a_star_crosses_folders() {
        let covers = |paths: &[&str], file| {
            let paths = paths.iter().map(|path| (*path).to_owned()).collect();
            IgnoredRule { rule: String::new(), span: 0..0, reason: String::new(), paths }.covers(file)
        };
        assert!(covers(&[], "flows/a.json"));
        assert!(covers(&["flows/old/*"], "flows/old/b/c [1].json"));
        assert!(!covers(&["flows/old/*", "templates/*"], "flows/new.json"));
    }
}
