//! `flowy validate`: what is wrong with flow and template files, and where.

use super::{Done, World, wait};
use crate::app::{CheckRequest, Severity, check_paths};
use crate::cli::args::ValidateArgs;
use crate::report::{human, wire};

/// Prints each finding at its place, and a line that sums up.
pub(super) fn validate(args: ValidateArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    let request = CheckRequest {
        paths: args.paths,
        source_named: world.everywhere.source.is_some(),
        git_ref: None,
        refresh: world.everywhere.refresh,
    };
    let checkup = wait(world, "checking", check_paths(&request, &settings, world.environment, world.clock.clone()))??;
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
