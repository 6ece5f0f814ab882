//! `flowy fmt`: files of flows and templates in one layout.

use super::{Done, World, wait};
use crate::app::{format_paths, write_changed};
use crate::cli::args::FmtArgs;
use crate::report::{human, wire};

/// Lays files out, or says which are not.
pub(super) fn fmt(args: &FmtArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    let report = wait(world, "reading", format_paths(&args.paths, &settings, world.environment, world.clock.clone()))??;
    let dry = args.check || args.diff;
    if !dry {
        write_changed(&report.changed)?;
    }
    let printer = world.printer;
    if world.everywhere.json {
        printer.json(&wire::format_report(&report));
    } else if args.diff {
        printer.out(&human::differences(&report.changed, printer.out_look()));
    } else {
        printer.out(&human::laid_out(&report, dry, printer.out_look()));
    }
    Ok(u8::from(!report.refused.is_empty() || dry && !report.changed.is_empty()))
}
