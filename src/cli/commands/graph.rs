//! `flowy graph`: a picture of a flow, as text.

use serde_json::json;

use super::{Done, World, wait};
use crate::app::GraphRequest;
use crate::cli::args::GraphArgs;
use crate::report::draw;

/// Prints the picture; also of a flow that can't be executed.
pub(super) fn graph(args: &GraphArgs, world: &World<'_>) -> Done {
    let app = crate::cli::open(world)?;
    let request = GraphRequest { name: args.name.clone(), git_ref: None, refresh: world.everywhere.refresh };
    let (prepared, origin) = wait(world, &format!("reading {}", app.describe()), app.graph(&request))??;
    world.warn_of(&origin);
    let plan = prepared.plan.as_deref();
    let drawn = if args.unfold { draw::Picture::unfolded } else { draw::Picture::of };
    let picture = drawn(&prepared.flow, plan);
    let format = draw::FORMATS.iter().find(|(word, _)| *word == args.format);
    let picture = format.map_or_else(|| picture.mermaid(), |(_, written)| written(&picture));
    if world.everywhere.json {
        world.printer.json(&json!({"name": prepared.flow.name.as_str(), "format": args.format, "graph": picture}));
    } else {
        world.printer.out(&picture);
    }
    Ok(0)
}
