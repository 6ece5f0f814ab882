//! Logs: to standard error and to a file in the state folder, never to standard output.
//!
//! Some clients keep a server's standard error, some don't, so the file is what a person can
//! always be asked for. It is the owner's alone, it is cut off by size, and tokens are masked in
//! every line. A log that can't be written never keeps the server from working.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::config::{Secret, Settings, redact, system_says};
use crate::files::{private, private_folder};
use crate::lock::lock;

/// The file's name in the state folder.
const FILE: &str = "flowy.log";
/// The target of lines that are for the file alone.
const FILE_ONLY: &str = "flowy::file_only";
/// Where the older half is moved to.
const OLDER: &str = "flowy.log.1";
/// How large the file may grow before it is moved aside, in bytes; the disk holds twice as much.
const LARGEST: u64 = 4 << 20;

/// Begins to log, and sees to it that panics are logged as well. A second call changes nothing.
pub fn start_logging(settings: &Settings) {
    let folder = Some(&settings.state_dir).filter(|folder| !folder.as_os_str().is_empty());
    let opened = folder.map(|folder| Rotating::open(folder, LARGEST)).transpose();
    let unwritten = opened.as_ref().err().map(system_says);
    let file = opened.ok().flatten();
    let sink = Arc::new(Sink { secrets: settings.secrets(), file: file.map(Mutex::new) });
    let level: Level = settings.log_level.parse().unwrap_or(Level::INFO);
    // Of the libraries only what goes wrong, unless everything is wanted: their debug lines hold
    // whole messages.
    let others = if level == Level::TRACE { LevelFilter::DEBUG } else { LevelFilter::WARN.min(level.into()) };
    // What the protocol's library warns of is said in our own words, too; its lines hold whole messages, and in them
    // what a server repeats of its headers.
    let protocol = LevelFilter::OFF;
    let wanted = Targets::new()
        .with_target("flowy", level)
        .with_target("rmcp", protocol)
        .with_target(FILE_ONLY, LevelFilter::OFF)
        .with_default(others);
    let everywhere = LogLines { sink: sink.clone(), to_stderr: true };
    let layer = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(everywhere).with_filter(wanted);
    let quiet = Targets::new().with_target(FILE_ONLY, LevelFilter::ERROR);
    let to_file = LogLines { sink, to_stderr: false };
    let quiet = tracing_subscriber::fmt::layer().with_ansi(false).with_writer(to_file).with_filter(quiet);
    if tracing_subscriber::registry().with(layer).with(quiet).try_init().is_err() {
        return;
    }
    if let Some(why) = unwritten {
        let file = settings.state_dir.join(FILE);
        tracing::warn!(file = %file.display(), "the log can't be written to its file: {why}");
    }
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string).unwrap_or_default();
        let said = panic.payload_as_str().unwrap_or_default();
        tracing::error!(place, said, "panicked");
    }));
}

/// Logs why the server ends, for those who see nothing of its standard error; whoever does is told
/// there already.
pub fn log_to_file(told: &str) {
    tracing::error!(target: FILE_ONLY, "{told}");
}

/// Where lines end up.
struct Sink {
    secrets: Vec<Secret>,
    file: Option<Mutex<Rotating>>,
}

/// Hands a writer to every event.
#[derive(Clone)]
struct LogLines {
    sink: Arc<Sink>,
    to_stderr: bool,
}

impl<'a> MakeWriter<'a> for LogLines {
    type Writer = LogLine;

    fn make_writer(&'a self) -> LogLine {
        LogLine { sink: self.sink.clone(), to_stderr: self.to_stderr, bytes: Vec::new() }
    }
}

/// One event, written when it is whole: a token must not slip through between two writes.
struct LogLine {
    sink: Arc<Sink>,
    to_stderr: bool,
    bytes: Vec<u8>,
}

impl Write for LogLine {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for LogLine {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.bytes);
        let line = redact(&text, &self.sink.secrets);
        // Nobody is left to tell when a log can't be written.
        if self.to_stderr {
            let _ = io::stderr().lock().write_all(line.as_bytes());
        }
        if let Some(file) = &self.sink.file {
            lock(file).add(line.as_bytes());
        }
    }
}

/// A file that is moved aside when it has grown too large.
struct Rotating {
    folder: PathBuf,
    file: File,
    size: u64,
    largest: u64,
}

impl Rotating {
    fn open(folder: &Path, largest: u64) -> io::Result<Self> {
        private_folder(folder)?;
        let file = open_file(&folder.join(FILE))?;
        let size = file.metadata()?.len();
        Ok(Self { folder: folder.to_owned(), file, size, largest })
    }

    fn add(&mut self, line: &[u8]) {
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if self.size > 0 && self.size.saturating_add(length) > self.largest {
            self.rotate();
        }
        if self.file.write_all(line).is_ok() {
            self.size = self.size.saturating_add(length);
        }
    }

    fn rotate(&mut self) {
        let place = self.folder.join(FILE);
        // Another process may have moved it already: then its new file is simply joined.
        let ours = std::fs::metadata(&place).is_ok_and(|there| there.len() >= self.largest / 2);
        if ours && std::fs::rename(&place, self.folder.join(OLDER)).is_err() {
            return;
        }
        if let Ok(file) = open_file(&place) {
            self.size = file.metadata().map_or(0, |there| there.len());
            self.file = file;
        }
    }
}

fn open_file(place: &Path) -> io::Result<File> {
    // A pipe would be waited for.
    if std::fs::metadata(place).is_ok_and(|about| !about.is_file()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
    }
    private(OpenOptions::new().append(true).create(true)).open(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_is_moved_aside_and_only_one_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut log = Rotating::open(&folder.path().join("deep/state"), 100).expect("a log");
        for line in ["a", "b", "c", "d", "e"] {
            log.add(line.repeat(60).as_bytes());
        }
        let read = |name: &str| std::fs::read_to_string(folder.path().join("deep/state").join(name)).expect("text");
        assert_eq!((read(FILE), read(OLDER)), ("e".repeat(60), "d".repeat(60)));
        assert_eq!(std::fs::read_dir(folder.path().join("deep/state")).expect("a folder").count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn the_log_is_the_owners_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join("state");
        drop(Rotating::open(&state, 100).expect("a log"));
        let mode = |path: &Path| std::fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!((mode(&state), mode(&state.join(FILE))), (0o700, 0o600));
    }

    #[test]
    fn a_token_split_over_two_writes_is_masked() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = Rotating::open(folder.path(), 10_000).map(Mutex::new).ok();
        let sink = Arc::new(Sink { secrets: vec![Secret::new("s3cr3t-of-mine".to_owned())], file });
        let lines = LogLines { sink, to_stderr: false };
        let mut line = lines.make_writer();
        line.write_all(b"token s3cr3t").expect("kept");
        line.write_all(b"-of-mine, ghp_abcdefghijklmnopqrstuvwxyz0123456789\n").expect("kept");
        drop(line);
        let text = std::fs::read_to_string(folder.path().join(FILE)).expect("text");
        assert!(text.contains("[redacted]") && !text.contains("s3cr3t") && !text.contains("ghp_abc"), "{text}");
    }

    #[test]
    fn without_a_place_for_the_file_there_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let taken = folder.path().join("taken");
        std::fs::write(&taken, "a file").expect("written");
        assert!(Rotating::open(&taken, 100).is_err());
    }
}
