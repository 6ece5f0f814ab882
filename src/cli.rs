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

use clap::{CommandFactory as _, FromArgMatches as _};

pub use self::args::Cli;
use self::args::Command;
use self::commands::{Stop, World};
use self::printer::Printer;
use crate::app::{Servers, SystemClock};
use crate::config::Environment;

/// The flags about a catalog and how its flows are offered.
const OF_CATALOGS: &[&str] = &[
    "source",
    "git_ref",
    "refresh",
    "lenient",
    "api_url",
    "cache_ttl_ms",
    "max_file_size_bytes",
    "retry_attempts",
    "allow_any_commit",
    "expose",
    "expose_list",
    "expose_prefix",
    "only_exposed",
    "no_usage",
    "state_dir",
];

/// The flags of every command that mean nothing to some: what `serve` prints is the protocol's, and
/// its callers say when to refresh; external servers have nothing to do with the catalog; a
/// completion script is the same whatever is set.
const MEANINGLESS: [(&str, &[&[&str]]); 3] = [
    ("serve", &[&["json", "quiet", "color", "refresh"]]),
    ("servers", &[OF_CATALOGS]),
    ("completions", &[OF_CATALOGS, &["json", "quiet", "color", "log_level", "cache_dir", "servers", "config"]]),
];

/// The command line, with help that offers each command what means something there.
fn command() -> clap::Command {
    let command = Cli::command();
    let flags: Vec<clap::Arg> = command.get_arguments().cloned().collect();
    command.mut_subcommands(|sub| {
        let Some((_, meaningless)) = MEANINGLESS.iter().find(|(name, _)| *name == sub.get_name()) else { return sub };
        // All of them, so that they stand in their usual order.
        sub.args(flags.iter().map(|flag| {
            let hidden = flag.is_hide_set() || meaningless.iter().any(|flags| flags.contains(&flag.get_id().as_str()));
            flag.clone().hide(hidden)
        }))
    })
}

/// The program: reads this process's arguments and environment, does what they ask, and says how
/// it went.
pub fn main() -> ExitCode {
    let cli = match command().try_get_matches().and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(refusal) => {
            // Help and version come this way too; both are printed where they belong.
            let code = u8::try_from(refusal.exit_code()).unwrap_or(2);
            drop(refusal.print());
            if code != 0 && std::env::args_os().nth(1).is_some_and(|word| word == "serve") {
                commands::log_refusal(&Environment::of_process(), &refusal.to_string());
            }
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
    let serving = matches!(command, Command::Serve(_));
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

/// The catalog together with the external servers that its flows may call; none of them is started.
fn open_with_servers(world: &World<'_>) -> Result<(Arc<crate::app::App>, Servers), Stop> {
    let settings = world.settings()?;
    let program = commands::own_program();
    let servers = Servers::open(&settings, world.environment, world.clock.clone(), program)?;
    servers.warn();
    let app = crate::app::App::open(settings, world.environment, world.clock.clone())?.with_tools(servers.tools());
    Ok((Arc::new(app), servers))
}

/// The catalog, opened with the settings in force.
fn open(world: &World<'_>) -> Result<Arc<crate::app::App>, Stop> {
    let settings = world.settings()?;
    Ok(Arc::new(crate::app::App::open(settings, world.environment, world.clock.clone())?))
}
