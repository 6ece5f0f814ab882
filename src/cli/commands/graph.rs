//! `flowy graph`: a picture of a flow, as text.

use std::path::Path;

use serde_json::json;

use super::run::values::text_of;
use super::{Done, Stop, World, wait};
use crate::app::ShowRequest;
use crate::cli::args::GraphArgs;

use crate::report::draw::{self, Ran, RanError};

/// Prints the picture; also of a flow that can't be executed.
pub(super) fn graph(args: &GraphArgs, world: &World<'_>) -> Done {
    let (app, _servers) = crate::cli::open_with_servers(world)?;
    let request = ShowRequest { name: args.name.clone(), git_ref: None, refresh: world.everywhere.refresh };
    let (prepared, origin) = wait(world, &format!("reading {}", app.describe()), app.graph(&request))??;
    world.warn_of(&origin);
    let plan = prepared.plan.as_deref();
    let drawn = if args.unfold { draw::Picture::unfolded } else { draw::Picture::of };
    let ran = args.run.as_deref().map(|file| ran(file, prepared.flow.name.as_str(), world)).transpose()?;
    // A picture is of the flow, not of the servers that somebody has. Where only some findings are written below it,
    // these are the worst.
    let mut findings: Vec<_> = prepared.findings.iter().filter(|found| !found.concerns_servers()).cloned().collect();
    findings.sort_by_key(|finding| finding.severity);
    let picture = drawn(&prepared.flow, plan).noticed(&findings).after(ran.as_ref());
    let format = draw::FORMATS.iter().find(|(word, _)| *word == args.format);
    let picture = format.map_or_else(|| picture.mermaid(), |(_, written)| written(&picture));
    if world.everywhere.json {
        world.printer.json(&json!({"name": prepared.flow.name.as_str(), "format": args.format, "graph": picture}));
    } else {
        world.printer.out(&picture);
    }
    Ok(0)
}

/// Reads how a run of the flow went.
fn ran(file: &Path, flow: &str, world: &World<'_>) -> Result<Ran, Stop> {
    let text = text_of(file, world.environment, &mut false)?;
    Ran::read(&text, flow).map_err(|error| {
        let write = format!("write it with `flowy run {flow} --json > run.json`, with the values that the flow needs");
        let hint = match &error {
            RanError::NoSteps => format!("{write}, and without --detail final"),
            RanError::NotJson(_) | RanError::NotARun | RanError::OtherFlow(_) => write,
        };
        Stop::usage(format!("--run {}: the file {error}", file.display()), hint)
    })
}
