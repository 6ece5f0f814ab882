//! The command line: arguments, streams, exit codes.
//!
//! Each command turns arguments into a request for [`app`](crate::app) and hands the answer to
//! [`report`](crate::report); nothing is decided here but where things are printed. This room
//! knows no files of a catalog, no network and no protocol.
//!
//! Results go to stdout, everything else (progress, notes, errors) to stderr.

mod args;
mod commands;
pub mod docs;
mod logging;
mod printer;
mod progress;

use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, Parser};

pub use self::args::Cli;
use self::args::Command;
use self::commands::{Stop, World};
use self::printer::Printer;
use crate::app::SystemClock;
use crate::config::Environment;

/// The program: reads this process's arguments and environment, does what they ask, and says how
/// it went.
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(refusal) => {
            // Help and version come this way too; both are printed where they belong.
            let code = u8::try_from(refusal.exit_code()).unwrap_or(2);
            drop(refusal.print());
            return ExitCode::from(code);
        }
    };
    let printer = Printer::of_process(cli.everywhere.color, cli.everywhere.quiet);
    let Some(command) = cli.command else {
        let help = Cli::command().color(printer.clap_color()).render_help();
        printer.out_styled(&help.ansi().to_string());
        return ExitCode::SUCCESS;
    };
    let code = run(command, &cli.everywhere, &printer);
    ExitCode::from(if printer.lost() { code.max(1) } else { code })
}

fn run(command: Command, everywhere: &args::Everywhere, printer: &Printer) -> u8 {
    let environment = Environment::of_process();
    let world = World { everywhere, printer, environment: &environment, clock: SystemClock::shared() };
    let serving = matches!(command, Command::Serve);
    let json = everywhere.json;
    let source = command.source();
    match commands::dispatch(command, &world, serving) {
        Ok(code) | Err(Stop::Printed(code)) => code,
        Err(Stop::Failed { error, exit }) => {
            if json && !serving {
                printer.json(&crate::report::wire::error(&error, source));
            }
            printer.error(&error);
            exit
        }
    }
}

/// The catalog, opened with the settings in force.
fn open(world: &World<'_>) -> Result<Arc<crate::app::App>, Stop> {
    let settings = world.settings()?;
    Ok(Arc::new(crate::app::App::open(settings, world.environment, world.clock.clone())?))
}
