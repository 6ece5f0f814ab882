//! What a command logs: warnings to stderr, for everything else it tells its user itself.
//!
//! A server has nobody watching and logs in its own way. Nothing is ever logged to stdout.

use std::io;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

/// Begins to log: warnings, or what `--log-level` says; of libraries only what goes wrong, since
/// their lower levels hold whole messages.
pub(super) fn start(asked: Option<&str>) {
    let level = asked.and_then(|level| level.parse().ok()).unwrap_or(LevelFilter::WARN);
    let wanted = Targets::new().with_target("flowy", level).with_default(level.min(LevelFilter::WARN));
    let stderr = fmt::layer().with_writer(io::stderr).with_ansi(false).with_target(false).without_time();
    // A second start in one process (a test) keeps the first one's log.
    drop(tracing_subscriber::registry().with(stderr.with_filter(wanted)).try_init());
}
