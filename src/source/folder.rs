//! A folder as a source: read directly each time, never beyond the folder's own ground.
//!
//! Links that lead out of the folder, and everything that is not a regular file, are left out and
//! named. There is no age: the folder is looked at whenever it is asked for. What was derived from its files
//! is kept for as long as none of them changes, which their sizes, times and places on the disk tell.

use std::collections::{BTreeSet, HashMap};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use sha1::{Digest as _, Sha1};

use super::files::{
    CATALOG_FOLDERS, FileEntry, Files, Problem, TESTS, flow_path, is_read, lfs_pointer, meant_folder, meant_path,
    possible_template, test_path,
};
use super::{Body, FORMAT, ProblemKind, Snapshot, SourceError};
use crate::cache::{Folder, RecordFile};
use crate::clock::Clock;
use crate::config::{Settings, system_says};
use crate::lock::lock;
use crate::model::wire::reads_like_a_flow;
use crate::names::{CatalogPath, hex, quoted, shown};

/// Where something derived from folders is kept.
const KEPT: &str = "folders";
/// How deep folders are followed; deeper ones are reported.
const DEEPEST: usize = 32;

/// How much of a file that may be a flow is looked at, in bytes: front matter and first steps.
const BEGINNING: u64 = 65_536;

/// Of fewer files nothing is kept: reading them takes no longer than reading what was kept of them.
const WORTH_KEEPING: usize = 200;
/// Of fewer entries of a folder no second thread asks the system.
const WORTH_A_THREAD: usize = 500;
/// How long a folder must have been left alone before something is kept of it, so that a second change within
/// the same tick of a file system's clock (2 s where it is coarsest) can't be missed.
const SETTLED: Duration = Duration::from_secs(3);
/// How long something is kept of a folder that nobody reads any more.
const UNUSED: Duration = Duration::from_hours(30 * 24);

/// A folder that is read.
pub(super) struct FolderSource {
    given: PathBuf,
    largest: u64,
    kept: Arc<Folder>,
    clock: Arc<dyn Clock>,
    last: Mutex<Option<Arc<Snapshot>>>,
}

/// What a walk through the folder found.
pub(super) struct WalkedFolder {
    root: PathBuf,
    largest: u64,
    pub(super) files: Arc<Files>,
    pub(super) problems: Vec<Problem>,
    /// Where something derived from the files is kept; none where that isn't worth it, or not safe yet.
    kept: Option<Arc<Folder>>,
}

impl fmt::Debug for FolderSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FolderSource").field("given", &self.given).finish_non_exhaustive()
    }
}

impl FolderSource {
    /// A folder that exists now.
    pub(super) fn open(given: PathBuf, settings: &Settings, clock: Arc<dyn Clock>) -> Result<Self, SourceError> {
        let not = |reason: &str| SourceError::NotAFolder {
            path: quoted(&given.to_string_lossy()),
            reason: reason.to_owned(),
        };
        match fs::metadata(&given) {
            Ok(found) if found.is_dir() => {
                let given = catalog_of(&given).unwrap_or(given);
                let kept = Arc::new(Folder::at(settings.cache_dir.join(FORMAT), clock.clone()));
                Ok(Self { given, largest: settings.max_file_size, kept, clock, last: Mutex::new(None) })
            }
            Ok(_) => Err(not("is a file; a source is a folder that holds flows/ and templates/")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(not("does not exist")),
            Err(error) => Err(not(&format!("cannot be opened: {}", system_says(&error)))),
        }
    }

    pub(super) fn describe(&self) -> String {
        format!("folder {}", shown(&self.given.to_string_lossy(), 200))
    }

    /// Whatever way leads to it, it is the same folder.
    pub(super) fn key(&self) -> String {
        let whole = self.given.canonicalize().unwrap_or_else(|_| self.given.clone());
        format!("folder {}", whole.display())
    }

    /// The state of the folder now. As long as nothing changes it is the same snapshot.
    pub(super) async fn snapshot(&self) -> Result<Arc<Snapshot>, SourceError> {
        let (given, largest) = (self.given.clone(), self.largest);
        let walked = off_the_loop(move || walk(&given, largest)).await.map_err(|error| SourceError::NotAFolder {
            path: quoted(&self.given.to_string_lossy()),
            reason: format!("cannot be read: {}", system_says(&error)),
        })?;
        let (mut walked, revision, changed) = walked;
        let settled = changed.checked_add(SETTLED).is_some_and(|settled| settled < SystemTime::from(self.clock.now()));
        if settled && walked.files.iter().nth(WORTH_KEEPING).is_some() {
            walked.kept = Some(self.kept.clone());
        }
        let mut last = lock(&self.last);
        if let Some(same) = last.as_ref().filter(|snapshot| snapshot.revision() == revision) {
            return Ok(same.clone());
        }
        let snapshot = Arc::new(Snapshot::new(None, None, revision, Body::Folder(walked)));
        *last = Some(snapshot.clone());
        Ok(snapshot)
    }
}

/// The catalog whose folder of flows somebody named instead of itself.
fn catalog_of(folder: &Path) -> Option<PathBuf> {
    let real = folder.canonicalize().ok()?;
    let flows = real.file_name()?.to_str().filter(|name| *name == "flows")?;
    let entries: Vec<String> =
        fs::read_dir(&real).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let is_catalog = entries.iter().any(|name| CATALOG_FOLDERS.contains(&name.as_str()));
    let holds_flows = entries.iter().any(|name| is_read(&format!("{flows}/{name}")));
    if is_catalog || !holds_flows { None } else { real.parent().map(Path::to_owned) }
}

impl WalkedFolder {
    pub(super) async fn read(&self, path: &CatalogPath) -> Result<Arc<[u8]>, SourceError> {
        if self.files.get(path).is_none() {
            let problem = self.problems.iter().find(|problem| problem.path == path.as_str());
            return Err(problem.map_or_else(
                || SourceError::NoSuchFile {
                    path: path.clone(),
                    place: format!("folder {}", shown(&self.root.to_string_lossy(), 200)),
                },
                |problem| problem.error(path),
            ));
        }
        let (root, path, largest) = (self.root.clone(), path.clone(), self.largest);
        off_the_loop(move || Ok(read(&root, &path, largest, &mut HashMap::new()))).await.unwrap_or_else(|error| {
            Err(SourceError::Unreadable { path: "the folder".to_owned(), reason: system_says(&error) })
        })
    }

    /// What was kept of this state under a name.
    pub(super) async fn derived(&self, revision: &str, name: &str) -> Option<RecordFile> {
        let (kept, place) = (self.kept.clone()?, self.place(revision, name));
        off_the_loop(move || Ok(kept.open_records(&place))).await.ok().flatten()
    }

    /// Keeps records of this state and opens them; hands them back where nothing is kept.
    pub(super) async fn keep_derived(
        &self,
        revision: &str,
        name: &str,
        records: Vec<Vec<u8>>,
    ) -> Result<RecordFile, Vec<Vec<u8>>> {
        let Some(kept) = self.kept.clone() else { return Err(records) };
        let (place, this, whose) = (self.place(revision, name), self.place(revision, ""), self.place("", ""));
        let whose = whose.trim_end_matches('.').to_owned();
        let written = off_the_loop(move || {
            let opened = kept.write_records(&place, &records).then(|| kept.open_records(&place)).flatten();
            // Of a folder one state is of use; of one that is gone, none.
            let old = kept.old_names(KEPT, UNUSED);
            for other in kept.names(KEPT).into_iter().map(|name| format!("{KEPT}/{name}")) {
                let of_this = other.starts_with(&this);
                if !of_this && (other.starts_with(&whose) || old.iter().any(|old| other.ends_with(old.as_str()))) {
                    kept.remove(&other);
                }
            }
            Ok(opened.ok_or(records))
        });
        written.await.unwrap_or(Err(Vec::new()))
    }

    /// Where something of this state is kept: by the folder, the state and what it is.
    fn place(&self, revision: &str, name: &str) -> String {
        let folder = hex(&Sha1::digest(self.root.as_os_str().as_encoded_bytes()));
        format!("{KEPT}/{folder}.{revision}.{name}")
    }

    /// Reads some files, in their order.
    pub(super) async fn read_batch(&self, paths: &[CatalogPath]) -> Vec<Result<Arc<[u8]>, SourceError>> {
        let (root, batch, largest) = (self.root.clone(), paths.to_vec(), self.largest);
        let read = off_the_loop(move || {
            let mut folders = HashMap::new();
            Ok(batch.iter().map(|path| read(&root, path, largest, &mut folders)).collect())
        });
        read.await.unwrap_or_else(|error| {
            let reason = system_says(&error);
            let failed =
                |path: &CatalogPath| SourceError::Unreadable { path: path.to_string(), reason: reason.clone() };
            paths.iter().map(|path| Err(failed(path))).collect()
        })
    }
}

async fn off_the_loop<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|error| Err(io::Error::other(error)))
}

/// Reads a file; `folders` are those whose real places are known by now.
fn read(
    root: &Path,
    path: &CatalogPath,
    largest: u64,
    folders: &mut HashMap<PathBuf, PathBuf>,
) -> Result<Arc<[u8]>, SourceError> {
    let not_read = |kind: ProblemKind| SourceError::NotRead { path: path.clone(), kind: Box::new(kind) };
    let broken = |error: io::Error| SourceError::Unreadable { path: path.to_string(), reason: system_says(&error) };
    // Checked again here: between the walk and now a file may have become a link.
    let (real, about) = real_place(&root.join(path.as_str()), folders).map_err(broken)?;
    if !real.starts_with(root) {
        return Err(not_read(ProblemKind::Symlink));
    }
    if !about.is_file() {
        return Err(not_read(ProblemKind::NotAFile));
    }
    // With room for one byte more, so that its end is noticed without a larger buffer.
    let mut bytes = Vec::with_capacity(usize::try_from(about.len().min(largest)).map_or(0, |size| size + 1));
    let file = fs::File::open(&real).map_err(broken)?;
    file.take(largest.saturating_add(1)).read_to_end(&mut bytes).map_err(broken)?;
    let size = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
    if size > largest {
        return Err(SourceError::FileTooLarge { path: path.clone(), size, limit: largest });
    }
    if let Some(pointer) = lfs_pointer(&bytes) {
        return Err(not_read(pointer));
    }
    Ok(bytes.into())
}

/// Where a file is when every link on the way has been followed, and what is known of it.
fn real_place(given: &Path, folders: &mut HashMap<PathBuf, PathBuf>) -> io::Result<(PathBuf, fs::Metadata)> {
    let place = match (given.parent(), given.file_name()) {
        (Some(folder), Some(name)) => match folders.get(folder) {
            Some(real) => real.join(name),
            None => folders.entry(folder.to_owned()).or_insert(fs::canonicalize(folder)?).join(name),
        },
        _ => given.to_owned(),
    };
    let about = fs::symlink_metadata(&place)?;
    if !about.is_symlink() {
        return Ok((place, about));
    }
    let place = fs::canonicalize(place)?;
    let about = fs::metadata(&place)?;
    Ok((place, about))
}

struct Walk {
    root: PathBuf,
    largest: u64,
    files: Vec<(CatalogPath, FileEntry)>,
    marks: Vec<Mark>,
    problems: Vec<Problem>,
    seen: BTreeSet<PathBuf>,
}

/// What tells one state of a file from another, beside its size. The time of its last change of any kind can't
/// be set by whoever restores an older modification time.
struct Mark {
    modified: SystemTime,
    changed: SystemTime,
    number: u64,
}

impl Mark {
    fn of(about: &fs::Metadata) -> Self {
        let modified = about.modified().unwrap_or(UNIX_EPOCH);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let seconds = Duration::from_secs(u64::try_from(about.ctime()).unwrap_or(0));
            let nanos = Duration::from_nanos(u64::try_from(about.ctime_nsec()).unwrap_or(0));
            Self { modified, changed: UNIX_EPOCH + seconds + nanos, number: about.ino() }
        }
        #[cfg(not(unix))]
        Self { modified, changed: modified, number: 0 }
    }
}

/// Walks through a folder: its files, the revision that they make, and when one of them was changed last.
fn walk(given: &Path, largest: u64) -> io::Result<(WalkedFolder, String, SystemTime)> {
    let root = fs::canonicalize(given)?;
    let mut walk = Walk {
        root: root.clone(),
        largest,
        files: Vec::new(),
        marks: Vec::new(),
        problems: Vec::new(),
        seen: BTreeSet::new(),
    };
    for folder in CATALOG_FOLDERS {
        match fs::symlink_metadata(root.join(folder)) {
            Ok(about) if about.is_file() => walk.problem(folder, ProblemKind::NotAFolder),
            Ok(about) => walk.entry(&root, OsStr::new(folder), Ok(about), folder, 0),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => walk.failed(folder, &error),
        }
    }
    walk.beside(&root);
    let mut hash = Sha1::new();
    let since = |time: SystemTime| time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let mut changed = UNIX_EPOCH;
    for ((path, entry), mark) in walk.files.iter().zip(&walk.marks) {
        hash.update(path.as_str());
        hash.update([0]);
        hash.update(entry.size.to_le_bytes());
        hash.update(since(mark.modified).to_le_bytes());
        hash.update(since(mark.changed).to_le_bytes());
        hash.update(mark.number.to_le_bytes());
        changed = changed.max(mark.modified).max(mark.changed);
    }
    for problem in &walk.problems {
        hash.update(problem.path.as_bytes());
        hash.update(problem.kind.to_string());
    }
    let revision = hex(&hash.finalize());
    let files = Arc::new(walk.files.into_iter().collect());
    Ok((WalkedFolder { root, largest, files, problems: walk.problems, kept: None }, revision, changed))
}

/// As much of a file beside those of a catalog as tells what it was written as; nothing where it can't be read.
fn beginning(path: &Path) -> String {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(BEGINNING).read_to_end(&mut bytes));
    read.map(|_| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// What is known of each entry of a folder. Asked of the entries: they are looked up from the open folder, not from
/// the root of the disk.
fn about_all(entries: &[(OsString, fs::DirEntry)]) -> Vec<io::Result<fs::Metadata>> {
    let ask = |some: &[(OsString, fs::DirEntry)]| some.iter().map(|(_, entry)| entry.metadata()).collect();
    if entries.len() < WORTH_A_THREAD {
        return ask(entries);
    }
    // The system takes longer to answer than everything else here takes.
    let (first, second) = entries.split_at(entries.len() / 2);
    thread::scope(|scope| {
        let second = scope.spawn(|| ask(second));
        let mut all: Vec<_> = ask(first);
        all.extend(second.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        all
    })
}

impl Walk {
    fn problem(&mut self, path: &str, kind: ProblemKind) {
        self.problems.push(Problem::new(path, kind));
    }

    fn failed(&mut self, path: &str, error: &io::Error) {
        self.problem(path, ProblemKind::Unreadable { reason: system_says(error) });
    }

    /// Looks at an entry of a folder that is known by its real path: only a link has to be followed
    /// to know where it is. `about` tells of the link itself.
    fn entry(&mut self, within: &Path, entry: &OsStr, about: io::Result<fs::Metadata>, name: &str, depth: usize) {
        let found = about.and_then(|about| {
            if !about.is_symlink() {
                return Ok((about, None));
            }
            let real = fs::canonicalize(within.join(entry))?;
            Ok((fs::metadata(&real)?, Some(real)))
        });
        let (about, real) = match found {
            Ok(found) => found,
            // A link to nowhere.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return self.problem(name, ProblemKind::Symlink),
            Err(error) => return self.failed(name, &error),
        };
        if real.as_ref().is_some_and(|real| !real.starts_with(&self.root)) {
            return self.problem(name, ProblemKind::Symlink);
        }
        if about.is_dir() {
            return self.folder(&real.unwrap_or_else(|| within.join(entry)), name, depth);
        }
        if !about.is_file() {
            return self.problem(name, ProblemKind::NotAFile);
        }
        if !is_read(name) {
            let without_ending = || {
                flow_path(name).filter(|_| reads_like_a_flow(&beginning(&real.unwrap_or_else(|| within.join(entry)))))
            };
            if let Some(meant) = meant_path(name, |_| true).or_else(without_ending) {
                self.problem(name, ProblemKind::Overlooked { meant });
            } else if let Some(meant) = possible_template(name) {
                self.problem(name, ProblemKind::Doubtful { meant });
            }
            return;
        }
        if about.len() > self.largest {
            return self.problem(name, ProblemKind::TooLarge { size: about.len(), limit: self.largest });
        }
        match CatalogPath::new(name) {
            Ok(catalog_path) => {
                self.marks.push(Mark::of(&about));
                self.files.push((catalog_path, FileEntry { oid: None, size: about.len() }));
            }
            Err(error) => self.problem(name, ProblemKind::BadPath(error.why.to_owned())),
        }
    }

    /// Files in folders beside those of a catalog, whose names are slightly wrong.
    fn beside(&mut self, root: &Path) {
        // What is wrong with the root itself is told where its folders are read.
        let Ok(entries) = fs::read_dir(root) else { return };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        let has = |folder: &str| names.iter().any(|name| name == folder);
        for folder in &names {
            // Where case does not tell names apart, it may be the folder itself.
            let same =
                |right: &str| fs::canonicalize(root.join(right)).ok() == fs::canonicalize(root.join(folder)).ok();
            if let Some(meant) = meant_path(folder, has).filter(|_| root.join(folder).is_file()) {
                self.problem(folder, ProblemKind::Overlooked { meant });
            }
            if folder != TESTS && meant_folder(folder).is_none_or(same) {
                continue;
            }
            let Ok(within) = fs::read_dir(root.join(folder)) else { continue };
            let mut files: Vec<String> =
                within.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
            files.sort_unstable();
            for path in files.iter().map(|file| format!("{folder}/{file}")) {
                let of_tests = || test_path(&path, &beginning(&root.join(&path))).filter(|_| folder == TESTS);
                if let Some(meant) = meant_path(&path, has).or_else(of_tests) {
                    self.problem(&path, ProblemKind::Overlooked { meant });
                } else if let Some(meant) = meant_path(&path, |_| false) {
                    self.problem(&path, ProblemKind::Doubtful { meant });
                }
            }
        }
    }

    fn folder(&mut self, real: &Path, name: &str, depth: usize) {
        // A folder that is reached a second time is reached through a link: once is enough.
        if !self.seen.insert(real.to_owned()) {
            return self.problem(name, ProblemKind::Symlink);
        }
        if depth >= DEEPEST {
            return self.problem(name, ProblemKind::TooDeep { limit: DEEPEST });
        }
        let named = |entry: fs::DirEntry| (entry.file_name(), entry);
        let read = fs::read_dir(real).and_then(|entries| entries.map(|entry| entry.map(named)).collect());
        let mut entries: Vec<(OsString, fs::DirEntry)> = match read {
            Ok(entries) => entries,
            Err(error) => return self.failed(name, &error),
        };
        entries.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        let about = about_all(&entries);
        for ((entry, _), about) in entries.into_iter().zip(about) {
            let text = entry.to_string_lossy();
            if text.starts_with('.') {
                continue;
            }
            self.entry(real, &entry, about, &format!("{name}/{text}"), depth + 1);
        }
    }
}
