//! `flowy diff`: what changes in behaviour between two states of a catalog.

use super::{Done, World, wait};
use crate::app::{DiffRequest, diff as compare};
use crate::cli::args::{DiffArgs, DiffFormat};
use crate::report::{human, wire};

/// Prints what changes.
pub(super) fn diff(args: &DiffArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    let request = DiffRequest { from: args.from.clone(), to: args.to.clone(), refresh: world.everywhere.refresh };
    let found = compare(&request, &settings, world.environment, world.clock.clone());
    let found = wait(world, "comparing", found)??;
    if world.everywhere.json || args.format == DiffFormat::Json {
        world.printer.json(&wire::difference(&found));
    } else {
        world.printer.out(&human::difference(&found));
    }
    Ok(u8::from(args.exit_code && !(found.flows.is_empty() && found.unreadable.is_empty())))
}
