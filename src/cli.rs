//! The command line: arguments, streams, exit codes.
//!
//! Each command turns arguments into a request for [`app`](crate::app) and hands the answer to
//! [`report`](crate::report); nothing is decided here but where things are printed. This room
//! knows no files of a catalog, no network and no protocol.
//!
//! Results go to stdout, everything else (progress, notes, errors) to stderr.

mod args;
mod commands;
mod help;
mod logging;
mod printer;
mod progress;
mod settings;

use std::process::ExitCode;
use std::sync::Arc;

use clap::FromArgMatches as _;
use clap::error::ErrorKind;

pub use self::args::Cli;
use self::args::{Color, Command};
use self::commands::{Stop, World};
use self::help::HelpPage;
use self::printer::Printer;
use crate::app::{Servers, SystemClock};
use crate::config::Environment;

/// The program: reads this process's arguments and environment, does what they ask, and says how
/// it went.
pub fn main() -> ExitCode {
    let (cli, source) = match parsed() {
        Ok(parsed) => parsed,
        Err(refusal) => {
            let code = u8::try_from(refusal.exit_code()).unwrap_or(2);
            let printer = Printer::of_process(Color::Auto, false);
            if code == 0 {
                // Help and version come this way, too; they are results.
                printer.out_help(&refusal.render());
                return printer.exit(code);
            }
            printer.err_help(&refusal.render());
            if std::env::args_os().nth(1).is_some_and(|word| word == "serve") {
                commands::log_refusal(&Environment::of_process(), &refusal.to_string());
            }
            return ExitCode::from(code);
        }
    };
    let printer = Printer::of_process(cli.everywhere.color, cli.everywhere.quiet);
    let Some(command) = cli.command else {
        let help = help::command(HelpPage::Short).color(printer.clap_color()).render_help();
        printer.out_help(&help);
        return printer.exit(0);
    };
    let code = run(command, &source, &cli.everywhere, &printer);
    printer.exit(code)
}

/// The command line, understood, with what errors name as their source; help and version are refusals, too.
fn parsed() -> Result<(Cli, String), clap::Error> {
    const WHOLE: &str = "--help";
    let refusal = match help::command(HelpPage::Short).try_get_matches() {
        Ok(matches) => {
            // What `run` does is called executing everywhere else.
            let command = matches.subcommand_name().map_or("", |name| if name == "run" { "execute" } else { name });
            return Ok((Cli::from_arg_matches(&matches)?, format!("flows/{command}")));
        }
        Err(refusal) => refusal,
    };
    if refusal.kind() != ErrorKind::DisplayHelp || std::env::args_os().all(|word| word != WHOLE) {
        return Err(refusal);
    }
    let words = std::env::args_os().map(|word| if word == WHOLE { "-h".into() } else { word });
    Err(help::command(HelpPage::Whole).try_get_matches_from(words).err().unwrap_or(refusal))
}

fn run(command: Command, source: &str, everywhere: &args::Everywhere, printer: &Printer) -> u8 {
    let environment = Environment::of_process();
    let world = World { everywhere, printer, environment: &environment, clock: SystemClock::shared() };
    let serving = matches!(command, Command::Serve(_));
    let json = everywhere.json;
    match commands::dispatch(command, &world, serving) {
        Ok(code) | Err(Stop::Printed(code)) => code,
        Err(Stop::Failed { error, exit }) => {
            if json && !serving {
                printer.json(&crate::report::wire::ErrorAnswer::of(&error, source));
            }
            printer.error(&error);
            exit
        }
    }
}

/// The catalog together with the external servers that its flows may call; none of them is started.
fn open_with_servers(world: &World<'_>) -> Result<(Arc<crate::app::App>, Servers), Stop> {
    let settings = world.settings()?;
    let program = commands::own_program();
    let servers = Servers::open(&settings, world.environment, world.clock.clone(), program)?;
    if let Err(why) = servers.readable() {
        let look = world.printer.err_look();
        world.printer.note(&crate::report::human::passing(&why, "no external server can be used", look));
    }
    let app = crate::app::App::open(settings, world.environment, world.clock.clone())?.with_tools(servers.tools());
    Ok((Arc::new(app), servers))
}

/// The catalog, opened with the settings in force.
fn open(world: &World<'_>) -> Result<Arc<crate::app::App>, Stop> {
    let settings = world.settings()?;
    Ok(Arc::new(crate::app::App::open(settings, world.environment, world.clock.clone())?))
}
