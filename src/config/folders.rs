//! Where this user's folders are, and whether they are this user's alone.
//!
//! Who can write to them can change what is kept there, and have our files be written elsewhere.

use std::path::{Path, PathBuf};

use super::environment::{Environment, Platform};
use super::error::SettingsError;
use super::{Settings, rows};

/// Where this program keeps its things for one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folders {
    /// Holds `flowy.toml`. `None` without a user's folder: a file in a temporary one may be
    /// anybody's.
    pub config: Option<PathBuf>,
    /// Holds what can be fetched again.
    pub cache: PathBuf,
    /// Holds what this machine alone knows.
    pub state: PathBuf,
}

impl Folders {
    /// The folders by the platform's conventions; for cache and state a temporary one stands in
    /// where the user has none. Nothing is created.
    pub fn of(environment: &Environment) -> Self {
        let home = environment.home();
        let under = |variable: &str, place: &str| {
            let folder = environment.absolute(variable).or_else(|| Some(home.as_ref()?.join(place)));
            folder.map(|folder| folder.join("flowy"))
        };
        let (config, cache, state) = match environment.platform() {
            Platform::Unix => (
                under("XDG_CONFIG_HOME", ".config"),
                under("XDG_CACHE_HOME", ".cache"),
                under("XDG_STATE_HOME", ".local/state"),
            ),
            Platform::MacOs => (
                under("XDG_CONFIG_HOME", "Library/Application Support"),
                under("XDG_CACHE_HOME", "Library/Caches"),
                under("XDG_STATE_HOME", "Library/Application Support"),
            ),
            Platform::Windows => {
                let local = under("LOCALAPPDATA", "AppData/Local");
                (
                    under("APPDATA", "AppData/Roaming"),
                    local.as_ref().map(|folder| folder.join("cache")),
                    local.map(|folder| folder.join("state")),
                )
            }
        };
        let or_makeshift =
            |folder: Option<PathBuf>, name: &str| folder.unwrap_or_else(|| makeshift(environment).join(name));
        Self { config, cache: or_makeshift(cache, "cache"), state: or_makeshift(state, "state") }
    }
}

/// A folder that can be made when the user has none: in the temporary folder, apart from other users'
/// ones.
fn makeshift(environment: &Environment) -> PathBuf {
    let user = environment.user.map(|user| format!("-{user}")).unwrap_or_default();
    environment.temporary.join(format!("flowy{user}"))
}

/// Refuses a cache or state folder that nobody named and that is not this user's alone.
///
/// # Errors
/// When another user owns such a folder, or can write to it.
pub(super) fn refuse_foreign(settings: &Settings, environment: &Environment) -> Result<(), SettingsError> {
    let ours = Folders::of(environment);
    let makeshift = makeshift(environment);
    let both = [
        (&settings.cache_dir, ours.cache, rows::CACHE_DIR.flag),
        (&settings.state_dir, ours.state, rows::STATE_DIR.flag),
    ];
    for (folder, ours, flag) in both.into_iter().filter(|(folder, ours, _)| *folder == ours) {
        let temporary = folder.starts_with(&makeshift);
        // Who owns the folder above can put another one in its place.
        let all = temporary.then_some(makeshift.as_path()).into_iter().chain([ours.as_path()]);
        for folder in all {
            if let Some(why) = foreign(folder, environment.user, temporary) {
                let flag = flag.unwrap_or_default();
                return Err(SettingsError::ForeignFolder { folder: folder.to_owned(), why, flag });
            }
        }
    }
    Ok(())
}

/// Why a folder is not this user's alone; one that is not there yet is.
#[cfg(unix)]
fn foreign(folder: &Path, user: Option<u32>, temporary: bool) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt as _;
    const ROOT: u32 = 0;
    // Whoever works as root in another user's home means to.
    let user = user.filter(|user| temporary || *user != ROOT);
    let another = |owner: u32| user.is_some_and(|user| owner != user && owner != ROOT);
    let named = std::fs::symlink_metadata(folder).ok()?;
    let real = std::fs::metadata(folder).ok()?;
    if another(named.uid()) || another(real.uid()) {
        return Some("another user owns it");
    }
    (real.mode() & 0o002 != 0).then_some("every user can write to it")
}

#[cfg(not(unix))]
fn foreign(_folder: &Path, _user: Option<u32>, _temporary: bool) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(environment: &Environment) -> [String; 3] {
        let folders = Folders::of(environment);
        [folders.config.unwrap_or_default(), folders.cache, folders.state]
            .map(|folder| folder.display().to_string().replace('\\', "/"))
    }

    #[test]
    fn on_linux_folders_follow_the_xdg_base_directories() {
        let home = Environment::of([("HOME", "/home/kim")]);
        assert_eq!(shown(&home), ["/home/kim/.config/flowy", "/home/kim/.cache/flowy", "/home/kim/.local/state/flowy"]);
        let set = Environment::of([
            ("HOME", "/home/kim"),
            ("XDG_CONFIG_HOME", "/c"),
            ("XDG_CACHE_HOME", "/k"),
            ("XDG_STATE_HOME", "relative/does/not/count"),
        ]);
        assert_eq!(shown(&set), ["/c/flowy", "/k/flowy", "/home/kim/.local/state/flowy"]);
    }

    #[test]
    fn on_macos_folders_are_in_the_library() {
        let home = Environment::of([("HOME", "/Users/kim")]).on(Platform::MacOs);
        let support = "/Users/kim/Library/Application Support/flowy";
        assert_eq!(shown(&home), [support, "/Users/kim/Library/Caches/flowy", support]);
    }

    #[test]
    fn on_windows_folders_are_in_appdata_and_names_know_no_case() {
        let set = Environment::of([("AppData", r"C:\Users\kim\Roaming"), ("LOCALAPPDATA", r"C:\Users\kim\Local")])
            .on(Platform::Windows);
        assert_eq!(
            shown(&set),
            ["C:/Users/kim/Roaming/flowy", "C:/Users/kim/Local/flowy/cache", "C:/Users/kim/Local/flowy/state"]
        );
        let profile = Environment::of([("USERPROFILE", r"C:\Users\kim")]).on(Platform::Windows);
        assert_eq!(shown(&profile)[0], "C:/Users/kim/AppData/Roaming/flowy");
    }

    #[test]
    fn without_a_home_a_temporary_folder_stands_in_on_every_platform() {
        for platform in [Platform::Unix, Platform::MacOs, Platform::Windows] {
            for home in ["", "not/absolute"] {
                let mut bare = Environment::of([("HOME", home), ("TMPDIR", "/t")]).on(platform);
                assert_eq!(shown(&bare)[1], "/t/flowy/cache");
                bare.user = Some(1000);
                assert_eq!(shown(&bare), ["", "/t/flowy-1000/cache", "/t/flowy-1000/state"]);
            }
        }
        let nothing: [(&str, &str); 0] = [];
        assert_eq!(shown(&Environment::of(nothing))[1], "/tmp/flowy/cache");
    }
}
