//! A sign of life on a terminal, when something takes long enough to be noticed.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::printer::Printer;
use crate::lock::lock;

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
    let bar = lock(&SHOWN).clone();
    match bar {
        Some(bar) => bar.suspend(write),
        None => write(),
    }
}

/// What the line that is shown now says from here on.
pub(super) fn say(what: &str) {
    if let Some(bar) = lock(&SHOWN).as_ref() {
        bar.set_message(crate::names::shown(what, LONGEST));
    }
}

/// A line on stderr that says what is being waited for; gone when dropped.
pub(super) struct ProgressLine {
    handle: LineHandle,
    wanted: bool,
}

/// What is said above the line: nothing before patience ends, so that what is quick stays still.
#[derive(Default)]
struct Lines {
    begun: bool,
    /// Nothing is shown any more: the place belongs to somebody else.
    hushed: bool,
    waiting: Vec<String>,
}

/// A line, for whoever knows more than its owner.
#[derive(Clone)]
pub(super) struct LineHandle {
    bar: ProgressBar,
    lines: Arc<Mutex<Lines>>,
}

impl LineHandle {
    /// Says something above the line now, or when the line is shown; whether that may be.
    pub(super) fn say_above(&self, text: String) -> bool {
        let mut lines = lock(&self.lines);
        if lines.hushed {
            return false;
        }
        if lines.begun {
            self.bar.println(text);
        } else {
            lines.waiting.push(text);
        }
        true
    }

    /// Whether what was said above has been seen. Nothing is shown there any more after this.
    pub(super) fn seen(&self) -> bool {
        let mut lines = lock(&self.lines);
        lines.waiting.clear();
        lines.begun
    }

    /// Takes the line away for good, unless that is done: something else is written to where it stands.
    pub(super) fn hush(&self) {
        let mut lines = lock(&self.lines);
        if !std::mem::replace(&mut lines.hushed, true) {
            self.bar.finish_and_clear();
            self.bar.set_draw_target(ProgressDrawTarget::hidden());
        }
    }

    /// What the line says from here on.
    pub(super) fn set_message(&self, what: String) {
        self.bar.set_message(what);
    }
}

impl ProgressLine {
    /// A line that is shown only on a terminal, and not when quiet.
    pub(super) fn of(printer: &Printer, what: &str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} · {elapsed}") {
            bar.set_style(style);
        }
        bar.set_message(crate::names::shown(what, LONGEST));
        let wanted = printer.err_look().terminal && !printer.quiet();
        if wanted {
            *lock(&SHOWN) = Some(bar.clone());
        }
        Self { handle: LineHandle { bar, lines: Arc::default() }, wanted }
    }

    /// The line, for whoever knows more than its owner.
    pub(super) fn line(&self) -> LineHandle {
        self.handle.clone()
    }

    /// The same for what is said above it; none where nobody would see it.
    pub(super) fn above(&self) -> Option<LineHandle> {
        self.wanted.then(|| self.line())
    }

    /// Begins to show the line when patience ends; never returns.
    pub(super) async fn run(&self) -> std::convert::Infallible {
        if self.wanted {
            tokio::time::sleep(PATIENCE).await;
            let LineHandle { bar, lines } = &self.handle;
            let mut lines = lock(lines);
            if !lines.hushed {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.enable_steady_tick(TICK);
                lines.begun = true;
                for line in lines.waiting.drain(..) {
                    bar.println(line);
                }
            }
            drop(lines);
        }
        std::future::pending().await
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        lock(&SHOWN).take();
        self.handle.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_before_the_line_was_shown_was_not_seen() {
        let line = |begun| LineHandle {
            bar: ProgressBar::hidden(),
            lines: Arc::new(Mutex::new(Lines { begun, ..Lines::default() })),
        };
        let quick = line(false);
        assert!(quick.say_above("done".to_owned()));
        assert_eq!(quick.lines.lock().unwrap().waiting, ["done"]);
        assert!(!quick.seen(), "so it is told at the end");
        let slow = line(true);
        assert!(slow.say_above("done".to_owned()));
        slow.hush();
        assert!(!slow.say_above("more".to_owned()), "nobody would see it");
        assert!(slow.seen() && slow.lines.lock().unwrap().waiting.is_empty());
    }
}
