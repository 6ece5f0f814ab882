//! What a command logs: warnings to stderr, for everything else it tells its user itself.
//!
//! A server has nobody watching and logs in its own way. Nothing is ever logged to stdout.

use std::io;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

use super::progress::above;
use crate::app::TOLD;

/// Standard error, above the sign of life that may be on it.
struct Above;

impl io::Write for Above {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        above(|| io::stderr().write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Begins to log: warnings, or what `--log-level` says; of libraries only what goes wrong, since
/// their lower levels hold whole messages.
pub(super) fn start(asked: Option<&str>) {
    let level = asked.and_then(|level| level.parse().ok()).unwrap_or(LevelFilter::WARN);
    let libraries = level.min(LevelFilter::WARN);
    // What is told as the answer is logged for those who look closer.
    let told = if level > LevelFilter::WARN { level } else { LevelFilter::OFF };
    // What this library warns of is said in our own words, too.
    let protocol = if level >= LevelFilter::DEBUG { libraries } else { LevelFilter::OFF };
    let wanted = Targets::new()
        .with_target("flowy", level)
        .with_target(TOLD, told)
        .with_target("rmcp", protocol)
        .with_default(libraries);
    let stderr = fmt::layer().with_writer(|| Above).with_ansi(false).with_target(false).without_time();
    // A second start in one process (a test) keeps the first one's log.
    drop(tracing_subscriber::registry().with(stderr.with_filter(wanted)).try_init());
}
