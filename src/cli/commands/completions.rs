//! `flowy completions`: a script that teaches a shell this command line.

use clap::CommandFactory as _;

use super::{Done, Stop, World};
use crate::cli::args::{Cli, CompletionsArgs};

/// Prints the script.
pub(super) fn completions(args: &CompletionsArgs, world: &World<'_>) -> Done {
    if world.everywhere.json {
        return Err(Stop::usage("a completion script is not JSON", "leave --json out"));
    }
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "flowy", &mut script);
    world.printer.out(&String::from_utf8_lossy(&script));
    Ok(0)
}
