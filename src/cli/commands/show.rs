//! `flowy show`: one flow or one template.

use super::{Done, World, wait};
use crate::app::ShowRequest;
use crate::cli::args::ShowArgs;
use crate::report::{human, wire};

/// Prints it.
pub(super) fn show(args: &ShowArgs, world: &World<'_>) -> Done {
    let (app, _servers) = crate::cli::open_with_servers(world)?;
    let request = ShowRequest { name: args.name.clone(), git_ref: None, refresh: world.everywhere.refresh };
    let shown = wait(world, &format!("reading {}", app.describe()), app.show(&request))??;
    if world.everywhere.json {
        world.printer.json(&wire::shown(&shown, args.full));
    } else {
        world.warn_of(shown.origin());
        let source = world.everywhere.settings.0.value("--source");
        world.printer.out(&human::shown(&shown, args.full, source, world.printer.out_look()));
    }
    Ok(0)
}
