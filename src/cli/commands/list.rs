//! `flowy list`: the flows of the catalog.

use std::time::Duration;

use super::{Done, World, finish_counting, wait};
use crate::app::{
    App, Error, LARGEST_BUDGET, LARGEST_LIMIT, ListKind, ListRequest, Listing, ListingCost, Mode, QUERY_LIMIT,
    Selection,
};
use crate::cli::args::ListArgs;
use crate::report::human;
use crate::report::wire;

/// Prints a page of flows, and on stderr what is wrong with the catalog.
pub(super) fn list(args: ListArgs, world: &World<'_>) -> Done {
    let (app, _servers) = crate::cli::open_with_servers(world)?;
    let mut selection = Selection::all(Mode::named(&args.mode).unwrap_or_default());
    selection.kind = ListKind::named(&args.kind).unwrap_or_default();
    selection.max_latency_ms = args.max_latency_ms;
    selection.query = args.query;
    selection.explain = args.explain;
    selection.tags = args.tags;
    selection.category = args.category;
    selection.complexity = args.complexity;
    selection.names = args.names;
    selection.cursor = args.cursor;
    // Budgets spare a model's attention; here a person or a program reads, and wants them all.
    let all = if selection.query.is_empty() {
        LARGEST_LIMIT
    } else {
        2 * i64::try_from(QUERY_LIMIT).unwrap_or(LARGEST_LIMIT)
    };
    // The most used are a choice by themselves.
    let chosen = selection.mode == Mode::Hot || selection.mode == Mode::Full;
    selection.limit = args.limit.or((!chosen).then_some(all));
    selection.max_tokens = Some(LARGEST_BUDGET);
    let request = ListRequest { selection, git_ref: None, refresh: world.everywhere.refresh, count_errors: true };
    let begun = app.clock().reading();
    // Whoever serves these flows finds here, too, which of them are tools, and which can't be the tools
    // that they are meant to be.
    let both = async { Ok::<_, Error>((app.list(request).await?, app.exposed().await?)) };
    let (listing, exposed) = wait(world, &format!("reading {}", app.describe()), both)??;
    let printer = world.printer;
    if world.everywhere.json {
        let value = wire::value(&wire::listing_with_tools(&listing, &exposed));
        printer.json(&value);
        count(&app, &listing, &format!("{value:#}"), begun);
        return Ok(code(&listing));
    }
    let text = human::listing(&listing, printer.out_look());
    printer.note(&human::no_match(&listing));
    printer.out(&text);
    printer.note(&human::listing_notes(&listing, &app.describe(), printer.err_look()));
    printer.note(&human::exposed(&exposed, printer.err_look()));
    for why in exposed.refused.iter() {
        printer.note(&human::warning(&why.to_string(), printer.err_look()));
    }
    super::tell_more(listing.page.next_cursor.as_deref(), world);
    count(&app, &listing, &text, begun);
    Ok(code(&listing))
}

/// Nothing is listed because nothing could be read: that is a failure, and no empty list.
fn code(listing: &Listing) -> u8 {
    let unread = listing.problems.iter().any(|problem| ["flows", "templates"].contains(&problem.file.as_str()));
    u8::from(listing.page.total == 0 && unread)
}

fn count(app: &App, listing: &Listing, text: &str, begun: Duration) {
    let cost = ListingCost {
        mode: listing.page.mode,
        entries: listing.page.returned,
        characters: 0,
        tokens: 0,
        took: app.clock().reading().saturating_sub(begun),
        deprecated: 0,
    };
    app.count_listing(&cost.written(text));
    finish_counting(app);
}
