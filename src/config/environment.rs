//! The process environment as a value.
//!
//! [`Environment::of_process`] is the one place in the product that asks the process for its
//! environment; a test makes an [`Environment`] of pairs instead. No setting is judged here.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// The variables that are read besides those of the settings' table, and what for.
#[cfg(feature = "internals")]
pub const SURROUNDINGS: &[(&str, &str)] = &[
    ("HOME", "the user's folder (Linux, macOS)"),
    ("USERPROFILE", "the user's folder (Windows)"),
    ("XDG_CONFIG_HOME", "where flowy/flowy.toml is looked for, when it is an absolute path"),
    ("XDG_CACHE_HOME", "where the cache folder is made, when it is an absolute path"),
    ("XDG_STATE_HOME", "where the state folder is made, when it is an absolute path"),
    ("APPDATA", "where flowy\\flowy.toml and Claude Desktop's file are looked for (Windows)"),
    ("LOCALAPPDATA", "where the cache and state folders are made (Windows)"),
    ("PATH", "where flowy doctor looks for flowy"),
    ("TMPDIR", "where a folder is made when there is no user's folder"),
    ("VISUAL", "the editor in which flowy guide takes answers, with its arguments"),
    ("EDITOR", "the same, where VISUAL is not set"),
    ("GITHUB_ACTIONS", "true: GITHUB_REF is the workflow's own, see there"),
    ("GITHUB_STEP_SUMMARY", "the file to which flowy validate --format github adds all findings"),
    (
        "HTTPS_PROXY",
        "the proxy for what is asked by https, http://HOST:PORT or with a login http://USER:PASSWORD@HOST:PORT; what is no such address is an error",
    ),
    ("https_proxy", "the same, where HTTPS_PROXY is not set"),
    ("ALL_PROXY", "the same, where neither names one"),
    ("all_proxy", "the same, where ALL_PROXY is not set"),
    (
        "NO_PROXY",
        "hosts that are asked without the proxy: names (with all below them), addresses and networks, separated by commas; * is all; also no_proxy",
    ),
    (
        "SSL_CERT_FILE",
        "a file of certificates (PEM) to trust instead of the system's, for example of a company's own authority (Linux)",
    ),
    ("SSL_CERT_DIR", "folders of such files (Linux)"),
];

/// Whose conventions folders follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    /// Linux and the other Unixes: the XDG base directories.
    Unix,
    /// macOS: `~/Library`, unless the XDG variables are set.
    MacOs,
    /// Windows: `%APPDATA%` and `%LOCALAPPDATA%`.
    Windows,
}

impl Platform {
    /// The one this program was built for.
    pub const fn of_process() -> Self {
        if cfg!(windows) {
            Self::Windows
        } else if cfg!(target_os = "macos") {
            Self::MacOs
        } else {
            Self::Unix
        }
    }

    /// Whether a path does not depend on the current folder. Judged by the platform's spelling,
    /// not only by that of the machine this runs on.
    fn absolute(self, path: &OsStr) -> bool {
        if Path::new(path).is_absolute() {
            return true;
        }
        match self {
            Self::Unix | Self::MacOs => path.as_encoded_bytes().starts_with(b"/"),
            Self::Windows => match path.as_encoded_bytes() {
                [b'\\', b'\\', ..] => true,
                [drive, b':', b'\\' | b'/', ..] => drive.is_ascii_alphabetic(),
                _ => false,
            },
        }
    }
}

/// Environment variables, the current folder and the platform.
#[derive(Clone)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
    current_folder: PathBuf,
    /// The home folder as the system's user table has it, for processes without `HOME`.
    registered_home: Option<PathBuf>,
    /// Where temporary files go.
    pub(super) temporary: PathBuf,
    /// The number of the user that this process works for, where users have numbers.
    pub(super) user: Option<u32>,
    platform: Platform,
    /// What has been asked for, so that a test can hold it against the table.
    #[cfg(test)]
    asked: std::sync::Arc<std::sync::Mutex<std::collections::BTreeSet<String>>>,
}

impl Environment {
    /// The environment of this process. Variables that are not Unicode are kept as they are.
    #[allow(clippy::disallowed_methods, reason = "this is the room that may read the environment")]
    pub fn of_process() -> Self {
        let mut environment = Self::of(std::env::vars_os()).on(Platform::of_process());
        environment.registered_home = std::env::home_dir();
        environment.temporary = std::env::temp_dir();
        environment.user = effective_user();
        // A process may stand in a folder that was deleted; then no file is looked for there.
        environment.current_folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("/"));
        environment
    }

    /// An environment of these variables and nothing else, in the root folder, by Unix conventions.
    pub fn of<K, V>(variables: impl IntoIterator<Item = (K, V)>) -> Self
    where
        K: Into<OsString>,
        V: Into<OsString>,
    {
        let variables: BTreeMap<OsString, OsString> =
            variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let temporary = variables.get(OsStr::new("TMPDIR")).map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
        Self {
            variables,
            current_folder: PathBuf::from("/"),
            registered_home: None,
            temporary,
            user: None,
            platform: Platform::Unix,
            #[cfg(test)]
            asked: std::sync::Arc::default(),
        }
    }

    /// The same environment, seen from another folder.
    #[cfg(test)]
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        self.current_folder = folder.into();
        self
    }

    /// The same environment by another platform's conventions.
    #[must_use]
    pub fn on(mut self, platform: Platform) -> Self {
        self.platform = platform;
        self
    }

    /// The person's editor with its arguments: `VISUAL`, else `EDITOR`.
    pub fn editor(&self) -> Option<String> {
        let named = |name: &str| self.variable(name)?.to_str().map(str::to_owned);
        ["VISUAL", "EDITOR"].into_iter().filter_map(named).find(|editor| !editor.trim().is_empty())
    }

    /// The folders in which programs are looked for, in this order.
    pub fn program_folders(&self) -> Vec<PathBuf> {
        self.variable("PATH").map(|path| std::env::split_paths(path).collect()).unwrap_or_default()
    }

    /// Where temporary files go.
    pub fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// The folder that relative paths are relative to.
    pub fn current_folder(&self) -> &Path {
        &self.current_folder
    }

    /// The file in which a step of a GitHub workflow sums up.
    pub fn step_summary(&self) -> Option<PathBuf> {
        self.variable("GITHUB_STEP_SUMMARY").filter(|path| !path.is_empty()).map(PathBuf::from)
    }

    /// Whose conventions hold.
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// The user's folder, when there is one.
    pub fn home(&self) -> Option<PathBuf> {
        let name = if self.platform == Platform::Windows { "USERPROFILE" } else { "HOME" };
        self.absolute(name).or_else(|| self.registered_home.clone().filter(|home| home.is_absolute()))
    }

    /// Where desktop programs keep their settings: the XDG config folder, macOS's Application
    /// Support, or Windows' roaming folder.
    pub fn programs_folder(&self) -> Option<PathBuf> {
        let (variable, place) = match self.platform {
            Platform::Unix => (Some("XDG_CONFIG_HOME"), ".config"),
            Platform::MacOs => (None, "Library/Application Support"),
            Platform::Windows => (Some("APPDATA"), "AppData/Roaming"),
        };
        variable.and_then(|name| self.absolute(name)).or_else(|| self.home().map(|home| home.join(place)))
    }

    /// Where programs from Windows' store keep a settings folder of their own; elsewhere `None`.
    pub fn packages_folder(&self) -> Option<PathBuf> {
        if self.platform != Platform::Windows {
            return None;
        }
        let local = self.absolute("LOCALAPPDATA").or_else(|| self.home().map(|home| home.join("AppData/Local")))?;
        Some(local.join("Packages"))
    }

    /// A path made independent of the current folder: `~/` is the user's folder, what is relative
    /// is relative to `base`, and no `.` or `..` is left in it.
    pub fn resolved(&self, path: &str, base: &Path) -> PathBuf {
        plain(&self.joined(path, base))
    }

    fn joined(&self, path: &str, base: &Path) -> PathBuf {
        if let Some(rest) = path.strip_prefix("~/").or_else(|| path.strip_prefix("~\\"))
            && let Some(home) = self.home()
        {
            return home.join(rest);
        }
        if path == "~" { self.home().unwrap_or_else(|| base.join(path)) } else { base.join(path) }
    }

    /// The value of a variable, as the system has it.
    pub(super) fn variable(&self, name: &str) -> Option<&OsStr> {
        #[cfg(test)]
        if let Ok(mut asked) = self.asked.lock() {
            asked.insert(name.to_owned());
        }
        if let Some(value) = self.variables.get(OsStr::new(name)) {
            return Some(value);
        }
        if self.platform != Platform::Windows {
            return None;
        }
        // On Windows `Path` and `PATH` are one variable.
        self.variables.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_os_str())
    }

    /// The value of a variable that the operator names in a file of their own.
    pub(super) fn named(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str)
    }

    /// What programs that we start get of this environment: where things are and how a person
    /// reads, and no secrets.
    pub(super) fn for_children(&self) -> BTreeMap<OsString, OsString> {
        let goes = |name: &OsString| name.to_str().is_some_and(goes_to_children);
        self.variables
            .iter()
            .filter(|(name, _)| goes(name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// The value of a variable that names a folder; a relative one does not count, which is what
    /// the XDG base directory specification demands.
    pub(super) fn absolute(&self, name: &str) -> Option<PathBuf> {
        self.variable(name).filter(|path| self.platform.absolute(path)).map(PathBuf::from)
    }

    /// The names asked for so far.
    #[cfg(test)]
    pub(super) fn asked(&self) -> std::collections::BTreeSet<String> {
        self.asked.lock().expect("no test panics while it holds the lock").clone()
    }
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
fn effective_user() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn effective_user() -> Option<u32> {
    None
}

/// What every program needs to find its way, on any system; on Windows also what its libraries
/// can't start without.
const FOR_CHILDREN: [&str; 29] = [
    "PATH",
    "HOME",
    "LANG",
    "LANGUAGE",
    "TMPDIR",
    "TERM",
    "TZ",
    "USER",
    "LOGNAME",
    "SHELL",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "TEMP",
    "TMP",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "PROGRAMFILES(X86)",
    "PROGRAMW6432",
    "USERPROFILE",
    "USERNAME",
    "HOMEDRIVE",
    "HOMEPATH",
    "PROCESSOR_ARCHITECTURE",
    "NUMBER_OF_PROCESSORS",
];

/// Whether programs that we start get a variable; its value is no secret then.
pub(super) fn goes_to_children(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    FOR_CHILDREN.contains(&name.as_str()) || name.starts_with("LC_") || name.starts_with("XDG_")
}

/// Names only: a value may be a token.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("variables", &self.variables.keys())
            .field("current_folder", &self.current_folder)
            .field("platform", &self.platform)
            .finish_non_exhaustive()
    }
}

/// A path without `.` and `..`. Where a `..` stands behind a link, the folder above the link's
/// target is meant, as the system has it.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if plain.is_symlink()
                    && let Ok(real) = plain.canonicalize()
                {
                    plain = real;
                }
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_with_a_tilde_is_in_the_users_folder_and_a_relative_one_is_not() {
        let home = Environment::of([("HOME", "/home/kim")]);
        let base = Path::new("/base");
        assert_eq!(home.resolved("~/x", base), Path::new("/home/kim/x"));
        assert_eq!(home.resolved("~", base), Path::new("/home/kim"));
        assert_eq!(home.resolved("x/y", base), Path::new("/base/x/y"));
        assert_eq!(home.resolved("/abs", base), Path::new("/abs"));
    }

    #[test]
    fn debugging_an_environment_shows_no_values() {
        let environment = Environment::of([("GITHUB_PAT", "ghp_secretsecret")]);
        let text = format!("{environment:?}");
        assert!(text.contains("GITHUB_PAT") && !text.contains("ghp_"), "{text}");
    }

    #[test]
    fn the_process_stands_in_a_folder() {
        let environment = Environment::of_process();
        assert!(environment.current_folder().is_absolute());
    }
}
