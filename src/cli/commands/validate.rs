//! `flowy validate`: what is wrong with flow and template files, and where.

use super::{Done, ENDING, World, own_program, wait};
use crate::app::{CheckRequest, Servers, Severity, check_paths};
use crate::cli::args::ValidateArgs;
use crate::report::{human, wire};

/// Prints each finding at its place, and a line that sums up.
pub(super) fn validate(args: ValidateArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    // Looked at where they are named for this check: elsewhere the check is the same on every machine.
    let servers = match &settings.servers {
        Some(_) => Some(Servers::open(&settings, world.environment, world.clock.clone(), own_program())?),
        None => None,
    };
    let tools = match &servers {
        Some(servers) => Some(wait(world, "asking external servers for their tools", servers.known())?),
        None => None,
    };
    let request = CheckRequest {
        paths: args.paths,
        source_named: world.everywhere.source.is_some(),
        git_ref: None,
        refresh: world.everywhere.refresh,
        tools,
    };
    let checked = wait(world, "checking", check_paths(&request, &settings, world.environment, world.clock.clone()));
    if let Some(servers) = &servers {
        super::runtime()?.block_on(servers.shut_down(ENDING));
    }
    let checkup = checked??;
    let printer = world.printer;
    world.warn_of(checkup.ignored_ref.as_ref());
    if world.everywhere.json {
        printer.json(&wire::checkup(&checkup));
    } else if printer.quiet() {
        printer.out(&human::checkup_lines(&checkup));
    } else {
        printer.out(&human::checkup(&checkup, printer.out_look()));
    }
    let bad = checkup.count(Severity::Error) + if args.strict { checkup.count(Severity::Warning) } else { 0 };
    Ok(u8::from(bad > 0))
}
