//! Files on disk that several processes may share: whole or absent, and for their owner only.
//!
//! Every file is written beside its place and renamed into it. A folder that cannot be used (read
//! only, full, broken) is reported once in the log and from then on simply holds nothing.

use std::fmt;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use super::record_file::{self, RecordFile, check_sum};
use crate::clock::Clock;
use crate::files::{new_private, private_folder};

/// What a checked file begins with: a mark, then the check sum and length of what follows.
const MARK: &[u8; 8] = b"flowy\x00\x00\x01";
const HEAD: usize = 20;

/// A folder of small files by relative name.
pub struct Folder {
    root: PathBuf,
    clock: Arc<dyn Clock>,
    warned: AtomicBool,
}

/// A lock between processes; it ends when this is dropped, and with the process.
#[derive(Debug)]
pub struct Lock {
    _file: fs::File,
}

/// What became of taking a lock.
#[derive(Debug)]
pub enum Locking {
    /// It is ours.
    Taken(Lock),
    /// Another one has it.
    Busy,
    /// This folder has no locks: it can't be written, or its file system knows none.
    Impossible,
}

impl Folder {
    /// A folder at `root`; nothing is made or opened before it is used.
    pub fn at(root: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self { root, clock, warned: AtomicBool::new(false) }
    }

    /// Whether a file of this name is there, without opening it.
    pub fn has(&self, name: &str) -> bool {
        self.root.join(name).is_file()
    }

    /// A file's bytes; `None` when it is absent or cannot be read.
    pub fn read(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.root.join(name)).ok()
    }

    /// Writes a file whole; `false` when the folder cannot be used.
    pub fn write(&self, name: &str, bytes: &[u8]) -> bool {
        match self.put(&self.root.join(name), &[bytes], false) {
            Ok(()) => true,
            Err(error) => self.broken(&error),
        }
    }

    /// What [`Folder::write_checked`] wrote, if it is whole and unharmed.
    pub fn read_checked(&self, name: &str) -> Option<Arc<[u8]>> {
        let mut file = fs::File::open(self.root.join(name)).ok()?;
        let length = usize::try_from(file.metadata().ok()?.len()).ok()?.checked_sub(HEAD)?;
        let mut head = [0; HEAD];
        file.read_exact(&mut head).ok()?;
        // Read where it stays: a listing of thousands of files is megabytes.
        let mut content: Arc<[u8]> = iter::repeat_n(0, length).collect();
        file.read_exact(Arc::get_mut(&mut content)?).ok()?;
        if head != seal(&content) {
            tracing::warn!(name, "a cache file is damaged and is left aside");
            return None;
        }
        Some(content)
    }

    /// Writes a file with a check sum in front; `false` when the folder cannot be used.
    pub fn write_checked(&self, name: &str, bytes: &[u8]) -> bool {
        match self.put(&self.root.join(name), &[&seal(bytes), bytes], false) {
            Ok(()) => true,
            Err(error) => self.broken(&error),
        }
    }

    /// Opens what [`Folder::write_records`] wrote.
    pub fn open_records(&self, name: &str) -> Option<RecordFile> {
        RecordFile::open(self.root.join(name))
    }

    /// Writes a file of records; `false` when the folder cannot be used. It is on the disk before it is in
    /// its place: where records are looked at one by one, a power cut must not leave half of them.
    pub fn write_records(&self, name: &str, records: &[Vec<u8>]) -> bool {
        let Some(directory) = record_file::directory(records) else { return false };
        let parts: Vec<&[u8]> = iter::once(&directory).chain(records).map(Vec::as_slice).collect();
        match self.put(&self.root.join(name), &parts, true) {
            Ok(()) => true,
            Err(error) => self.broken(&error),
        }
    }

    /// Writes a file with a check sum in front, unless there is one of that name: of several writers the
    /// first one's stays, where the system can tell who that is.
    pub fn write_first(&self, name: &str, bytes: &[u8]) {
        let place = self.root.join(name);
        let _ =
            self.put_by(&place, &[&seal(bytes), bytes], false, |beside, place| match fs::hard_link(beside, place) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::remove_file(beside),
                Err(_) => fs::rename(beside, place),
                Ok(()) => fs::remove_file(beside),
            });
    }

    /// Takes a lock that other processes see, without waiting for it.
    pub fn try_lock(&self, name: &str) -> Locking {
        let place = self.root.join(name);
        let opened = open_lock(&place).or_else(|_| {
            private_folder(place.parent().unwrap_or(&self.root))?;
            open_lock(&place)
        });
        let Ok(file) = opened else { return Locking::Impossible };
        match file.try_lock() {
            Ok(()) => Locking::Taken(Lock { _file: file }),
            Err(fs::TryLockError::WouldBlock) => Locking::Busy,
            Err(fs::TryLockError::Error(_)) => Locking::Impossible,
        }
    }

    /// Removes a file, if it is there.
    pub fn remove(&self, name: &str) {
        let _ = fs::remove_file(self.root.join(name));
    }

    /// The names of the files in a folder below this one.
    pub fn names(&self, below: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join(below)) else { return Vec::new() };
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    /// The names of the files in a folder below this one that were last written longer ago than `age`.
    pub fn old_names(&self, below: &str, age: Duration) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.root.join(below)) else { return Vec::new() };
        let now = SystemTime::from(self.clock.now());
        let is_old = |entry: &fs::DirEntry| {
            let written = entry.metadata().and_then(|about| about.modified()).ok();
            // What was written in the future was written by a clock that was wrong.
            let since = |written| now.duration_since(written).unwrap_or_else(|early| early.duration());
            written.is_some_and(|written| since(written) > age)
        };
        entries.flatten().filter(is_old).filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    fn put(&self, place: &Path, parts: &[&[u8]], durable: bool) -> io::Result<()> {
        self.put_by(place, parts, durable, |beside, place| fs::rename(beside, place))
    }

    fn put_by(
        &self,
        place: &Path,
        parts: &[&[u8]],
        durable: bool,
        into_place: impl FnOnce(&Path, &Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let folder = place.parent().unwrap_or(&self.root);
        let beside = folder.join(format!(".{}-{:016x}", std::process::id(), self.clock.fresh()));
        let mut file = match new_private(&beside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                private_folder(folder)?;
                new_private(&beside)
            }
            other => other,
        }?;
        let written = write_all(&mut file, parts).and_then(|()| {
            if durable {
                file.sync_data()?;
            }
            drop(file);
            into_place(&beside, place)
        });
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        }
        written
    }

    fn broken(&self, error: &io::Error) -> bool {
        if !self.warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(folder = %self.root.display(), %error, "the cache folder cannot be written; keeping things in memory only");
        }
        false
    }
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Writes parts one after the other, small ones together.
fn write_all(file: &mut fs::File, parts: &[&[u8]]) -> io::Result<()> {
    let mut file = io::BufWriter::new(file);
    parts.iter().try_for_each(|part| file.write_all(part))?;
    file.flush()
}

fn seal(content: &[u8]) -> [u8; HEAD] {
    let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
    let mut head = [0; HEAD];
    let bytes = MARK.iter().copied().chain(check_sum(content).to_le_bytes()).chain(length.to_le_bytes());
    for (place, byte) in head.iter_mut().zip(bytes) {
        *place = byte;
    }
    head
}

/// Opens a lock's file, which says to whoever finds it what it is.
fn open_lock(path: &Path) -> io::Result<fs::File> {
    match new_private(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => fs::OpenOptions::new().write(true).open(path),
        Err(error) => Err(error),
        Ok(mut file) => {
            file.write_all(b"Locked by the process that asks, so that others wait for its answer.\n")?;
            Ok(file)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::SystemClock;

    #[test]
    fn a_file_is_its_owners_only() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::at(place.path().join("v1"), SystemClock::shared());
        assert!(folder.write("a/b", b"text"));
        assert_eq!(folder.read("a/b").as_deref(), Some(&b"text"[..]));
        assert!(folder.has("a/b") && !folder.has("a/c"));
        assert_eq!(folder.names("a"), ["b"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &str| fs::metadata(place.path().join(path)).expect("there").permissions().mode() & 0o777;
            assert_eq!((mode("v1/a/b"), mode("v1/a"), mode("v1")), (0o600, 0o700, 0o700));
        }
    }

    #[test]
    fn a_lock_is_one_holders_until_it_is_dropped() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = || Folder::at(place.path().to_owned(), SystemClock::shared());
        let (one, other) = (folder(), folder());
        let Locking::Taken(lock) = one.try_lock("locks/a") else { panic!("free") };
        assert!(matches!(other.try_lock("locks/a"), Locking::Busy));
        assert!(matches!(other.try_lock("locks/b"), Locking::Taken(_)));
        drop(lock);
        assert!(matches!(other.try_lock("locks/a"), Locking::Taken(_)));
        fs::write(place.path().join("file"), b"").expect("written");
        assert!(matches!(other.try_lock("file/a"), Locking::Impossible));
    }

    #[test]
    fn of_several_first_writers_one_stays() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::at(place.path().to_owned(), SystemClock::shared());
        folder.write_first("a/x", b"one");
        folder.write_first("a/x", b"two");
        assert_eq!(folder.read_checked("a/x").as_deref(), Some(&b"one"[..]));
        assert_eq!(folder.names("a"), ["x"]);
    }

    #[test]
    fn a_damaged_or_cut_file_counts_as_absent() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::at(place.path().to_owned(), SystemClock::shared());
        assert!(folder.write_checked("x", b"0123456789"));
        assert_eq!(folder.read_checked("x").as_deref(), Some(&b"0123456789"[..]));
        let whole = folder.read("x").expect("there");
        for cut in [0, 5, HEAD, whole.len() - 1] {
            folder.write("x", &whole[..cut]);
            assert_eq!(folder.read_checked("x"), None, "cut at {cut}");
        }
        let mut harmed = whole;
        *harmed.last_mut().expect("not empty") ^= 1;
        folder.write("x", &harmed);
        assert_eq!(folder.read_checked("x"), None);
    }

    #[test]
    fn a_file_of_records_is_read_and_checked_record_by_record() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = Folder::at(place.path().to_owned(), SystemClock::shared());
        let records = [b"012".to_vec(), b"3".to_vec(), Vec::new(), b"456789".to_vec()];
        assert!(folder.write_records("x", &records));
        assert_eq!(folder.read_checked("x"), None, "a file of another kind");
        let whole = folder.read("x").expect("there");
        let file = folder.open_records("x").expect("whole");
        let all = |file: &RecordFile| (0..5).map(|number| file.read(number)).collect::<Vec<_>>();
        let as_written: Vec<_> = records.iter().cloned().map(Some).chain([None]).collect();
        assert_eq!(all(&file), as_written);
        assert!(folder.has("x"), "there is no fifth record, which harms nothing");

        folder.remove("x");
        assert_eq!(all(&file), as_written, "what is open stays");
        let mut harmed = whole.clone();
        *harmed.last_mut().expect("not empty") ^= 1;
        folder.write("x", &harmed);
        let file = folder.open_records("x").expect("its directory is whole");
        assert_eq!(file.read(1).as_deref(), Some(b"3".as_slice()));
        assert_eq!((file.read(3), folder.has("x")), (None, false), "a damaged file is made anew");

        for cut in [0, 5, 15, 16, 30, whole.len() - 1] {
            folder.write("x", &whole[..cut]);
            assert!(folder.open_records("x").is_none(), "cut at {cut}");
        }
        for place in 0..whole.len() - 10 {
            let mut harmed = whole.clone();
            harmed[place] ^= 1;
            folder.write("x", &harmed);
            assert!(folder.open_records("x").is_none(), "harmed at {place}");
        }
        assert!(folder.write_records("y", &[]));
        assert_eq!(folder.open_records("y").expect("whole").read(0), None);
    }

    #[test]
    fn a_folder_that_cannot_be_made_holds_nothing_and_breaks_nothing() {
        let place = tempfile::tempdir().expect("a folder");
        fs::write(place.path().join("taken"), b"a file where the folder should be").expect("written");
        let folder = Folder::at(place.path().join("taken"), SystemClock::shared());
        assert!(!folder.write("a", b"x"));
        assert_eq!(folder.read("a"), None);
        assert!(folder.names("").is_empty());
    }
}
