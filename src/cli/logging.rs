//! What is logged, and where: never to stdout.
//!
//! A command says on stderr what its user should know, so only warnings are logged beside it; a
//! server has nobody watching, so it logs more and keeps a file in the state folder.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::Mutex;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

use crate::config::Settings;

/// The log file's name in the state folder.
const FILE: &str = "flowy.log";
/// From this size on, a log is put aside when the next server starts, in bytes.
const LARGEST: u64 = 4 * 1024 * 1024;

/// For a command: warnings, or what `--log-level` says.
pub(super) fn for_command(asked: Option<&str>) {
    let level = asked.and_then(|level| level.parse().ok()).unwrap_or(LevelFilter::WARN);
    let stderr = fmt::layer().with_writer(io::stderr).with_ansi(false).with_target(false).without_time();
    // A second start in one process (a test) keeps the first one's log.
    drop(tracing_subscriber::registry().with(stderr.with_filter(level)).try_init());
}

/// For a server: the level that is set, to stderr and to a file that only the user can read.
pub(super) fn for_server(settings: &Settings) {
    let level = settings.log_level.parse().unwrap_or(LevelFilter::INFO);
    let stderr = fmt::layer().with_writer(io::stderr).with_ansi(false);
    // A state folder that can't be written to is no reason not to serve.
    let file = open(&settings.state_dir).ok().map(|file| fmt::layer().with_writer(Mutex::new(file)).with_ansi(false));
    let registry = tracing_subscriber::registry().with(stderr.with_filter(level)).with(file.with_filter(level));
    drop(registry.try_init());
}

fn open(folder: &Path) -> io::Result<File> {
    let mut making = fs::DirBuilder::new();
    making.recursive(true);
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        making.mode(0o700);
        options.mode(0o600);
    }
    making.create(folder)?;
    let path = folder.join(FILE);
    if fs::metadata(&path).is_ok_and(|metadata| metadata.len() >= LARGEST) {
        fs::rename(&path, folder.join(format!("{FILE}.1")))?;
    }
    options.open(path)
}
