//! `flowy stats`: how much flows are used, and what listings cost.

use super::{Done, World, wait};
use crate::app::StatsRequest;
use crate::cli::args::UsageArgs;
use crate::report::{human, wire};

/// Prints what was counted of the catalog. Nothing is asked of the catalog itself.
pub(super) fn stats(args: &UsageArgs, world: &World<'_>) -> Done {
    let app = crate::cli::open(world)?;
    let request = StatsRequest { flow: args.flow.clone(), days: args.days };
    let stats = wait(world, "reading what was counted", app.stats(&request))??;
    if world.answer(|| wire::stats(&stats), |look| human::stats(&stats, look)) {
        world.printer.note(&human::stats_notes(&stats, &request));
    }
    Ok(0)
}
