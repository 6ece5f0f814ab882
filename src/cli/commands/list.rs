//! `flowy list`: the flows of the catalog.

use std::time::Duration;

use super::{Done, World, finish_counting, wait};
use crate::app::{App, LARGEST_BUDGET, LARGEST_LIMIT, ListRequest, Listing, ListingCost, Mode, Selection};
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
    let begun = app.clock().reading();
    let listing = wait(world, &format!("reading {}", app.describe()), app.list(request))??;
    let printer = world.printer;
    if world.everywhere.json {
        let value = wire::listing(&listing, &[]);
        printer.json(&value);
        count(&app, &listing, &format!("{value:#}"), begun);
        return Ok(0);
    }
    let text = human::listing(&listing, printer.out_look());
    printer.out(&text);
    printer.note(&human::listing_notes(&listing, &app.describe(), printer.err_look()));
    count(&app, &listing, &text, begun);
    Ok(0)
}

fn count(app: &App, listing: &Listing, text: &str, begun: Duration) {
    app.count_listing(&ListingCost {
        mode: listing.page.mode,
        entries: listing.page.returned,
        characters: text.chars().count(),
        tokens: listing.page.estimated_tokens,
        took: app.clock().reading().saturating_sub(begun),
        deprecated: 0,
    });
    finish_counting(app);
}
