//! Files that somebody names: read up to a bound, and without waiting for ever for what never comes.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// How long a pipe with a name is waited for that nobody writes to yet, in milliseconds: who feeds it
/// may be started in the same moment.
#[cfg(unix)]
const PATIENCE_MS: u64 = 1_000;

/// Reads a file, a device or a pipe of at most so many bytes.
///
/// # Errors
/// What the system says; `FileTooLarge` where there is more, and `TimedOut` where nobody writes to a
/// pipe.
pub fn read_named(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_up_to(open(path)?, most)
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
