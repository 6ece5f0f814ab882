//! A client's file: links to it are followed, and what was there is kept beside it. What the text means
//! is not known here.

use std::fs::{self, File, Permissions};
use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};

use crate::files::{new_beside, new_private, replace};

/// How many links in a row are followed; Linux follows as many.
const LONGEST_CHAIN: usize = 40;

/// Where a file is once links are followed, and what is there.
#[derive(Debug)]
pub(super) struct Placed {
    path: PathBuf,
    old: Option<Old>,
    /// Held until the file is written.
    _lock: Option<File>,
}

#[derive(Debug)]
struct Old {
    bytes: Vec<u8>,
    permissions: Permissions,
}

/// Locks the folder of a file, so that processes that change the file at the same time go one after the other, and none
/// takes away what another one wrote. No file stays behind; where a folder can't be locked, as on Windows, nothing is.
fn locked(path: &Path) -> Option<File> {
    let folder = path.parent()?;
    fs::create_dir_all(folder).ok()?;
    let folder = File::open(folder).ok()?;
    folder.lock().is_ok().then_some(folder)
}

impl Placed {
    /// Reads what is there; a file that is not there yet is fine.
    ///
    /// # Errors
    /// What the system says; `InvalidInput` when something other than a file is there.
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        let path = followed(path)?;
        let lock = locked(&path);
        let old = match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
            Ok(about) if !about.is_file() => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
            }
            Ok(about) => Some(Old { bytes: fs::read(&path)?, permissions: about.permissions() }),
        };
        Ok(Self { path, old, _lock: lock })
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
        let stamp = now.format(".%Y%m%dT%H%M%SZ").to_string();
        let copy =
            |old: Old| new_beside(&self.path, ["", &stamp, ".bak"], (&old.bytes, Some(old.permissions)), new_private);
        let backup = self.old.filter(|_| keep).map(copy).transpose()?;
        replace(&self.path, text.as_bytes(), new_private)?;
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
