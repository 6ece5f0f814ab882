//! What a command logs: warnings to stderr, for everything else it tells its user itself.
//!
//! A server has nobody watching and logs in its own way. Nothing is ever logged to stdout.

use std::{fmt, io};

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Context, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

use super::progress::{above, say};
use crate::app::{READING, TOLD};
use crate::names::counted;

/// Tells the sign of life how many files are being read.
struct FilesRead;

impl<S: Subscriber> Layer<S> for FilesRead {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut number = NumberOfFiles(None);
        event.record(&mut number);
        if let Some(number) = number.0 {
            say(&format!("reading {}", counted(number, "file", "files")));
        }
    }
}

/// The field of an event that counts files.
struct NumberOfFiles(Option<usize>);

impl Visit for NumberOfFiles {
    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "files" {
            self.0 = usize::try_from(value).ok();
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn fmt::Debug) {}
}

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
    // What the protocol's library warns of is said in our own words, too; its lines hold whole messages, and in them
    // what a server repeats of its headers.
    let protocol = LevelFilter::OFF;
    let wanted = Targets::new()
        .with_target("flowy", level)
        .with_target(TOLD, told)
        .with_target("rmcp", protocol)
        .with_default(libraries);
    let reading = FilesRead.with_filter(Targets::new().with_target(READING, LevelFilter::INFO));
    let stderr =
        tracing_subscriber::fmt::layer().with_writer(|| Above).with_ansi(false).with_target(false).without_time();
    // A second start in one process (a test) keeps the first one's log.
    drop(tracing_subscriber::registry().with(stderr.with_filter(wanted)).with(reading).try_init());
}
