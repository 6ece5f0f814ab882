//! One file for each command, and what they share.

mod completions;
mod config;
mod convert;
mod diff;
mod doctor;
mod executions;
mod explain;
mod fmt;
mod graph;
mod guide;
mod list;
mod lsp;
mod models;
mod new;
mod run;
mod schema;
mod serve;
mod servers;
mod show;
mod stats;
mod test;
mod validate;

pub(super) use serve::log_refusal;

use std::future::Future;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::runtime::{self, Runtime};

use super::args::{Command, Everywhere};
use super::logging;
use super::printer::Printer;
use super::progress::ProgressLine;
use crate::app::{App, Clock, Code, Error, Origin};
use crate::config::{Environment, Settings, SettingsError};
use crate::names::shell_word;
use crate::report::human::{self, Look};

/// What a command has around it.
pub(super) struct World<'a> {
    /// Flags of every command.
    pub(super) everywhere: &'a Everywhere,
    /// The streams.
    pub(super) printer: &'a Printer,
    /// The environment.
    pub(super) environment: &'a Environment,
    /// The clock.
    pub(super) clock: Arc<dyn Clock>,
}

impl World<'_> {
    /// The settings in force.
    pub(super) fn settings(&self) -> Result<Settings, Stop> {
        Ok(Settings::load(&self.everywhere.settings.0, self.environment)?)
    }

    /// Prints the answer of a command: with `--json` as JSON, else in words. Says whether it was in words.
    pub(super) fn answer<A: Serialize>(&self, json: impl FnOnce() -> A, words: impl FnOnce(Look) -> String) -> bool {
        if self.everywhere.json {
            self.printer.json(&json());
        } else {
            self.printer.out(&words(self.printer.out_look()));
        }
        !self.everywhere.json
    }

    /// Notes a ref that was given in vain and that an older copy was used, for answers that have no place
    /// for warnings.
    pub(super) fn warn_of(&self, origin: &Origin) {
        self.printer.note(&human::origin_notes(origin, self.printer.err_look()));
    }
}

/// Why a command ends early.
#[derive(Debug)]
pub(super) enum Stop {
    /// Something went wrong that is still to be told.
    Failed {
        /// What.
        error: Box<Error>,
        /// The exit code.
        exit: u8,
    },
    /// Everything is said already.
    Printed(u8),
}

impl Stop {
    /// An error with an exit code of its own.
    pub(super) fn failed(error: Error, exit: u8) -> Self {
        Self::Failed { error: Box::new(error), exit }
    }

    /// A command line that can't be understood.
    pub(super) fn usage(message: impl Into<String>, next: impl Into<String>) -> Self {
        Self::failed(Error::invalid(message).next(next), 2)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        let exit = error.exit_code();
        Self::failed(error, exit)
    }
}

impl From<SettingsError> for Stop {
    fn from(error: SettingsError) -> Self {
        let mut told = Error::invalid(error.to_string());
        told.next_step = error.hint().map(Into::into);
        Self::failed(told, 2)
    }
}

/// The exit code, or why there is none.
pub(super) type Done = Result<u8, Stop>;

/// Tells the command that goes on at a cursor, where there is more: the one of this process. It is not folded, so that
/// it can be pasted.
fn tell_more(cursor: Option<&str>, world: &World<'_>) {
    let Some(cursor) = cursor else { return };
    let mut words = vec!["flowy".to_owned()];
    let mut given = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    while let Some(word) = given.next() {
        if word == "--cursor" {
            given.next();
        } else if !word.starts_with("--cursor=") {
            words.push(shell_word(&word));
        }
    }
    world.printer.note_as_it_is(&format!("There are more:\n{} --cursor {cursor}\n", words.join(" ")));
}

/// Does what a command asks.
pub(super) fn dispatch(command: Command, world: &World<'_>, serving: bool) -> Done {
    if !serving {
        logging::start(world.everywhere.settings.0.value("--log-level"));
    }
    match command {
        Command::List(args) => list::list(args, world),
        Command::Show(args) => show::show(&args, world),
        Command::Run(args) => run::run(&args, world),
        Command::Guide(args) => guide::guide(&args, world),
        Command::Validate(args) => validate::validate(&args, world),
        Command::New(args) => new::new(&args, world),
        Command::Init(args) => new::init(&args, world),
        Command::Test(args) => test::test(&args, world),
        Command::Diff(args) => diff::diff(&args, world),
        Command::Explain(args) => explain::explain(&args, world),
        Command::Fmt(args) => fmt::fmt(&args, world),
        Command::Convert(args) => convert::convert(&args, world),
        Command::Import(args) => convert::import(&args, world),
        Command::Graph(args) => graph::graph(&args, world),
        Command::Lsp => lsp::lsp(world),
        Command::Schema(args) => schema::schema(&args, world),
        Command::Serve(args) => serve::serve(&args, world),
        Command::Executions(command) => executions::executions(&command, world),
        Command::Servers(command) => servers::servers(&command, world),
        Command::Models(command) => models::models(&command, world),
        Command::Stats(args) => stats::stats(&args, world),
        Command::Config(args) => config::config(&args, world),
        Command::Doctor => doctor::doctor(world),
        Command::Completions(args) => completions::completions(&args, world),
    }
}

/// This program, as a path by which it can be started again: also after a newer one took its place.
pub(super) fn own_program() -> Option<PathBuf> {
    let running = Path::new("/proc/self/exe");
    if running.exists() { Some(running.to_owned()) } else { std::env::current_exe().ok() }
}

/// How long external servers may take to end when a command has answered, or the client is gone.
const ENDING: Duration = Duration::from_millis(1_500);

/// How long a command that has answered stays to write down what was counted.
const COUNTING: Duration = Duration::from_millis(1_500);

/// Writes down what was counted; everything is answered by then.
fn finish_counting(app: &App) {
    app.finish_counting(COUNTING);
}

/// Waits for an answer, with a runtime of its own and a sign of life.
///
/// All of it happens on this thread: what one part of the work gave back, the next one takes. The allocator keeps
/// memory for each thread, so a catalog that is read on one thread and shown on another takes twice as much.
fn wait<F: Future>(world: &World<'_>, what: &str, answer: F) -> Result<F::Output, Stop> {
    let runtime = started(&mut runtime::Builder::new_current_thread())?;
    Ok(wait_on(&runtime, &ProgressLine::of(world.printer, what), answer))
}

/// Waits for an answer that is worked on in several places at once, beside a sign of life that the caller has.
fn wait_with<F: Future>(progress: &ProgressLine, answer: F) -> Result<F::Output, Stop> {
    Ok(wait_on(&runtime()?, progress, answer))
}

/// The same on a runtime that the caller has, on which work goes on between two answers.
fn wait_on<F: Future>(runtime: &Runtime, progress: &ProgressLine, answer: F) -> F::Output {
    runtime.block_on(async {
        tokio::select! {
            biased;
            answer = answer => answer,
            never = progress.run() => match never {},
        }
    })
}

/// A file that may not grow any more is an error of whoever writes it, and not the end of all.
fn outlive_file_limits(runtime: &Runtime) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        /// SIGXFSZ, on Linux and macOS alike.
        const FILE_TOO_LARGE: i32 = 25;
        let _within = runtime.enter();
        // Once there is somebody to hear it, the signal ends nothing, whether it is listened to or not.
        drop(signal(SignalKind::from_raw(FILE_TOO_LARGE)));
    }
    #[cfg(not(unix))]
    let _ = runtime;
}

fn runtime() -> Result<Runtime, Stop> {
    started(runtime::Builder::new_multi_thread().worker_threads(2))
}

fn started(runtime: &mut runtime::Builder) -> Result<Runtime, Stop> {
    // The runtime panics where it can't open its files: as many are opened here first, and closed again.
    let spare = (0..3).map(|_| io::pipe()).collect::<io::Result<Vec<_>>>().map(drop);
    let runtime = spare.and_then(|()| runtime.enable_all().build()).map_err(|cause| {
        Stop::failed(Error::new(Code::InternalError, format!("no threads can be made: {cause}")), 1)
    })?;
    outlive_file_limits(&runtime);
    Ok(runtime)
}
