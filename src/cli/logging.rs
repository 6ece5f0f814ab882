//! What a command logs: a command says on stderr what its user should know, so only warnings are
//! logged beside it. What a server logs is the server's business.

use std::io;

use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, fmt};

/// For a command: warnings, or what `--log-level` says.
pub(super) fn for_command(asked: Option<&str>) {
    let level = asked.and_then(|level| level.parse().ok()).unwrap_or(LevelFilter::WARN);
    let stderr = fmt::layer().with_writer(io::stderr).with_ansi(false).with_target(false).without_time();
    // A second start in one process (a test) keeps the first one's log.
    drop(tracing_subscriber::registry().with(stderr.with_filter(level)).try_init());
}
