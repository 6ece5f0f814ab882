//! `flowy convert`: flows and templates from one form into the other.

use super::{Done, World, wait};
use crate::app::{ConvertRequest, Form, convert as convert_files};
use crate::cli::args::ConvertArgs;
use crate::report::{human, wire};

/// Prints a line for each file that was written.
pub(super) fn convert(args: &ConvertArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    let request = ConvertRequest {
        files: args.files.clone(),
        to: if args.to == "json" { Form::Json } else { Form::Markdown },
        out: args.out.clone(),
        onto: args.onto.clone(),
        force: args.force,
    };
    let work = convert_files(&request, &settings, world.environment, world.clock.clone());
    let conversion = wait(world, "converting", work)??;
    if world.everywhere.json {
        world.printer.json(&wire::conversion(&conversion));
    } else {
        world.printer.out(&human::conversion(&conversion, world.printer.quiet()));
    }
    Ok(0)
}
