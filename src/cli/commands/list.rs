//! `flowy list`: the flows of the catalog.

use super::{Done, World, wait};
use crate::app::{LARGEST_BUDGET, LARGEST_LIMIT, ListRequest, Mode, Selection};
use crate::cli::args::ListArgs;
use crate::report::{human, wire};

/// Prints a page of flows, and on stderr what is wrong with the catalog.
pub(super) fn list(args: ListArgs, world: &World<'_>) -> Done {
    let app = crate::cli::open(world)?;
    let mut selection = Selection::all(Mode::named(&args.mode).unwrap_or_default());
    selection.tags = args.tags;
    selection.category = args.category;
    selection.complexity = args.complexity;
    selection.names = args.names;
    selection.cursor = args.cursor;
    // Budgets spare a model's attention; here a person or a program reads, and wants them all.
    selection.limit = Some(args.limit.unwrap_or(LARGEST_LIMIT));
    selection.max_tokens = Some(LARGEST_BUDGET);
    let request = ListRequest { selection, git_ref: None, refresh: world.everywhere.refresh };
    let listing = wait(world, &format!("reading {}", app.describe()), app.list(request))??;
    let printer = world.printer;
    if world.everywhere.json {
        printer.json(&wire::listing(&listing, &[]));
        return Ok(0);
    }
    printer.out(&human::listing(&listing, printer.out_look()));
    printer.note(&human::listing_notes(&listing, &app.describe(), printer.err_look()));
    Ok(0)
}
