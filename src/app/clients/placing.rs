//! Replacing a file so that nobody ever sees half of it: a new file beside it, then a rename.
//!
//! Links are followed, permissions kept, and what was there is kept beside it. What the text means
//! is not known here.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

/// How many links in a row are followed; Linux follows as many.
const LONGEST_CHAIN: usize = 40;

/// Where a file is once links are followed, and what is there.
#[derive(Debug)]
pub(super) struct Placed {
    path: PathBuf,
    old: Option<Old>,
}

#[derive(Debug)]
struct Old {
    bytes: Vec<u8>,
    permissions: Permissions,
}

impl Placed {
    /// Reads what is there; a file that is not there yet is fine.
    ///
    /// # Errors
    /// What the system says; `InvalidInput` when something other than a file is there.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        let path = followed(path)?;
        let old = match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
            Ok(about) if !about.is_file() => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
            }
            Ok(about) => Some(Old { bytes: fs::read(&path)?, permissions: about.permissions() }),
        };
        Ok(Self { path, old })
    }

    /// The text that is there.
    ///
    /// # Errors
    /// `InvalidData` when it is not UTF-8.
    pub(super) fn text(&self) -> io::Result<Option<String>> {
        let not_text = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
        self.old.as_ref().map(|old| String::from_utf8(old.bytes.clone()).map_err(not_text)).transpose()
    }

    /// Whether a file is there.
    pub(super) fn is_there(&self) -> bool {
        self.old.is_some()
    }

    /// Puts another text there. With `keep`, what was there stays in a file beside it, whose path is
    /// returned; `now` names it.
    ///
    /// # Errors
    /// What the system says; then the file is as it was.
    pub(super) fn replace(self, text: &str, keep: bool, now: DateTime<Utc>) -> io::Result<Option<PathBuf>> {
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)?;
        }
        let stamp = now.format("%Y%m%dT%H%M%SZ").to_string();
        let backup = match self.old.as_ref().filter(|_| keep) {
            None => None,
            Some(old) => Some(create(&self.path, "", &stamp, ".bak", &old.bytes, Some(&old.permissions))?),
        };
        let permissions = self.old.as_ref().map(|old| &old.permissions);
        let fresh = create(&self.path, ".", &stamp, ".tmp", text.as_bytes(), permissions)?;
        if let Err(error) = fs::rename(&fresh, &self.path) {
            // The first error is the one that matters.
            let _ = fs::remove_file(&fresh);
            return Err(error);
        }
        Ok(backup)
    }
}

/// The path behind links, whether or not the last one leads to something.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LONGEST_CHAIN {
        match fs::symlink_metadata(&path) {
            Ok(about) if about.is_symlink() => {
                let target = fs::read_link(&path)?;
                path = path.parent().unwrap_or(Path::new("")).join(target);
            }
            Ok(_) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(path),
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "its links lead in a circle"))
}

/// Makes a new file beside another one, never over one that is there, and returns its path.
fn create(
    beside: &Path,
    before: &str,
    stamp: &str,
    after: &str,
    bytes: &[u8],
    permissions: Option<&Permissions>,
) -> io::Result<PathBuf> {
    const MOST_IN_A_SECOND: u32 = 100;
    let mut taken = None;
    for count in 1..=MOST_IN_A_SECOND {
        let mut name = OsString::from(before);
        name.push(beside.file_name().unwrap_or_default());
        name.push(if count == 1 { format!(".{stamp}{after}") } else { format!(".{stamp}-{count}{after}") });
        let path = beside.with_file_name(name);
        match new_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = Some(error),
            Err(error) => return Err(error),
            Ok(file) => {
                return match filled(file, bytes, permissions) {
                    Ok(()) => Ok(path),
                    Err(error) => {
                        let _ = fs::remove_file(&path);
                        Err(error)
                    }
                };
            }
        }
    }
    Err(taken.unwrap_or_else(|| io::Error::from(io::ErrorKind::AlreadyExists)))
}

/// A new file, its owner's alone: it may hold a token one day, or what the file that it copies
/// protects, whose permissions it has only at the end.
fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path)
}

fn filled(mut file: File, bytes: &[u8], permissions: Option<&Permissions>) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions.clone())?;
    }
    file.sync_all()
}
