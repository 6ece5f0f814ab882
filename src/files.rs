//! Files of this machine: read up to a bound, replaced as a whole, or their owner's alone.
//!
//! A new file never goes over one that is there, nor through a link at its place. What is in files is not known here.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// How long a pipe with a name is waited for that nobody writes to yet, in milliseconds: who feeds it
/// may be started in the same moment.
#[cfg(unix)]
const PATIENCE_MS: u64 = 1_000;
/// How many names are tried for a file beside another one.
const MOST_NAMES: u32 = 100;

/// Reads a file, a device or a pipe of at most so many bytes.
///
/// # Errors
/// What the system says; `FileTooLarge` where there is more, and `TimedOut` where nobody writes to a
/// pipe.
pub fn read_named(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_up_to(open(path)?, most)
}

/// Whether a file can be read by other people of this machine.
#[cfg(unix)]
pub fn readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    fs::metadata(path).is_ok_and(|about| about.mode() & 0o077 != 0)
}

/// Whether a file can be read by other people of this machine, which can't be told here.
#[cfg(not(unix))]
pub fn readable_by_others(_path: &Path) -> bool {
    false
}

/// Reads what is open to its end, if it has at most so many bytes.
///
/// # Errors
/// What the system says, and `FileTooLarge` where there is more.
pub fn read_up_to(from: impl io::Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > most {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {most} bytes")));
    }
    Ok(bytes)
}

/// Opening a pipe waits until somebody opens its other end. Whoever does that may write as slowly as
/// they like.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::FileTypeExt as _;
    use std::sync::mpsc;
    use std::time::Duration;

    if !std::fs::metadata(path)?.file_type().is_fifo() {
        return File::open(path);
    }
    let (tell, opened) = mpsc::sync_channel(1);
    let place = path.to_owned();
    // Where nobody comes, this thread waits until the process ends.
    std::thread::Builder::new().spawn(move || tell.send(File::open(place)))?;
    let silent = |_| io::Error::new(io::ErrorKind::TimedOut, "it is a pipe, and nobody writes to it");
    opened.recv_timeout(Duration::from_millis(PATIENCE_MS)).map_err(silent)?
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Makes a file where nothing is.
pub type NewFile = fn(&Path) -> io::Result<File>;

/// Makes a file that its owner alone may read.
///
/// # Errors
/// What the system says; `AlreadyExists` where anything is there, a link included.
pub fn new_private(path: &Path) -> io::Result<File> {
    private(OpenOptions::new().write(true).create_new(true)).open(path)
}

/// Adds to what is opened that its owner alone may read a file that is made.
pub fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Makes a folder, and those above it that lack, for their owner alone.
///
/// # Errors
/// What the system says.
pub fn private_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Replaces a file, or makes it: whoever reads it finds the old text or the new one, and it keeps its permissions;
/// `new` makes one that was not there, as [`new_private`] does.
///
/// # Errors
/// What the system says, and `InvalidInput` where a link or anything else that is no file is there. The file is as it
/// was then.
pub fn replace(path: &Path, bytes: &[u8], new: NewFile) -> io::Result<()> {
    let permissions = match fs::symlink_metadata(path) {
        Ok(about) if about.is_file() => Some(about.permissions()),
        Ok(about) => {
            let why = if about.is_symlink() { "it is a link" } else { "it is not a file" };
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let new = if permissions.is_some() { new_private } else { new };
    let fresh = new_beside(path, [".", &format!(".{}", std::process::id()), ".tmp"], (bytes, permissions), new)?;
    fs::rename(&fresh, path).inspect_err(|_| {
        // The first error is the one that matters.
        let _ = fs::remove_file(&fresh);
    })
}

/// Makes a new file beside another one, and returns its path. Its name is that of the other with what stands before
/// and behind it; where it is taken, a number stands in front of the last part.
///
/// # Errors
/// What the system says; nothing of it is left then.
pub fn new_beside(
    path: &Path,
    [before, behind, last]: [&str; 3],
    (bytes, permissions): (&[u8], Option<Permissions>),
    new: NewFile,
) -> io::Result<PathBuf> {
    let mut taken = io::Error::from(io::ErrorKind::AlreadyExists);
    for count in 1..=MOST_NAMES {
        let mut name = OsString::from(before);
        name.push(path.file_name().unwrap_or_default());
        name.push(if count == 1 { format!("{behind}{last}") } else { format!("{behind}-{count}{last}") });
        let beside = path.with_file_name(name);
        match new(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = error,
            Err(error) => return Err(error),
            Ok(file) => {
                let filled = fill(file, bytes, permissions).inspect_err(|_| {
                    let _ = fs::remove_file(&beside);
                });
                return filled.map(|()| beside);
            }
        }
    }
    Err(taken)
}

/// The file has the permissions of the one whose copy or successor it is only at the end.
fn fill(mut file: File, bytes: &[u8], permissions: Option<Permissions>) -> io::Result<()> {
    file.write_all(bytes)?;
    if let Some(permissions) = permissions {
        file.set_permissions(permissions)?;
    }
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_keeps_its_permissions() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("flow.json");
        replace(&path, b"one", new_private).expect("made");
        let mut permissions = fs::metadata(&path).expect("there").permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&path, permissions).expect("set");
        replace(&path, b"two", new_private).expect("replaced");
        assert_eq!(fs::read(&path).expect("read"), b"two");
        assert!(fs::metadata(&path).expect("there").permissions().readonly());
        assert_eq!(fs::read_dir(place.path()).expect("a folder").count(), 1);
    }

    #[test]
    #[cfg(unix)]
    fn nothing_is_written_through_a_link() {
        use std::os::unix::fs::symlink;

        let place = tempfile::tempdir().expect("a folder");
        let (victim, path) = (place.path().join("victim"), place.path().join("flow.json"));
        fs::write(&victim, "mine").expect("written");
        symlink(&victim, &path).expect("a link");
        assert_eq!(replace(&path, b"new", new_private).expect_err("a link").kind(), io::ErrorKind::InvalidInput);
        fs::remove_file(&path).expect("removed");
        let temporary = place.path().join(format!(".flow.json.{}.tmp", std::process::id()));
        symlink(&victim, &temporary).expect("a link");
        replace(&path, b"new", new_private).expect("written beside it");
        assert_eq!(
            (fs::read(&path).expect("read"), fs::read(&victim).expect("read")),
            (b"new".to_vec(), b"mine".to_vec())
        );
        assert!(temporary.is_symlink());
    }
}
