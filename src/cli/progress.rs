//! A sign of life on a terminal, when something takes long enough to be noticed.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::printer::Printer;

/// What takes less time than this needs no sign of life.
const PATIENCE: Duration = Duration::from_millis(200);
/// The longest text, in characters: a line that fills the terminal can't be cleared once Ctrl-C was
/// echoed behind it.
const LONGEST: usize = 60;
/// How often the sign moves.
const TICK: Duration = Duration::from_millis(100);

/// The line that is shown now, or will be when patience ends.
static SHOWN: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Writes something to stderr without mixing it with the line that is shown there.
pub(super) fn above<T>(write: impl FnOnce() -> T) -> T {
    let bar = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// What the line that is shown now says from here on.
pub(super) fn say(what: &str) {
    if let Some(bar) = SHOWN.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
        bar.set_message(crate::names::shown(what, LONGEST));
    }
}

/// A line on stderr that says what is being waited for; gone when dropped.
pub(super) struct ProgressLine {
    bar: ProgressBar,
    wanted: bool,
}

impl ProgressLine {
    /// A line that is shown only on a terminal, and not when quiet.
    pub(super) fn of(printer: &Printer, what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} · {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(crate::names::shown(what, LONGEST));
        let wanted = printer.err_is_terminal() && !printer.quiet();
        if wanted {
            *SHOWN.lock().unwrap_or_else(PoisonError::into_inner) = Some(bar.clone());
        }
        Self { bar, wanted }
    }

    /// The line, for whoever knows more than its owner.
    pub(super) fn line(&self) -> ProgressBar {
        self.bar.clone()
    }

    /// Begins to show the line when patience ends; never returns.
    pub(super) async fn run(&self) -> std::convert::Infallible {
        if self.wanted {
            tokio::time::sleep(PATIENCE).await;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.bar.enable_steady_tick(TICK);
        }
        std::future::pending().await
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        SHOWN.lock().unwrap_or_else(PoisonError::into_inner).take();
        self.bar.finish_and_clear();
    }
}
