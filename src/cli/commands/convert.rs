//! `flowy convert` and `flowy import`: flows and templates from one form into another.

use super::{Done, World, wait};
use crate::app::{Conversion, ConvertRequest, Form, ImportRequest, convert as convert_files, import as import_files};
use crate::cli::args::{ConvertArgs, ImportArgs};
use crate::report::{human, wire};

/// Turns files of one form into the other.
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
    Ok(told(&wait(world, "converting", work)??, world))
}

/// Brings in prompts of other programs.
pub(super) fn import(args: &ImportArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    let request = ImportRequest { kind: args.kind, files: args.files.clone(), out: args.out.clone() };
    let work = import_files(&request, &settings, world.environment, world.clock.clone());
    Ok(told(&wait(world, "importing", work)??, world))
}

/// Prints a line for each file that was written; the exit code.
fn told(conversion: &Conversion, world: &World<'_>) -> u8 {
    let quiet = world.printer.quiet();
    world.answer(|| wire::conversion(conversion), |look| human::conversion(conversion, quiet, look));
    0
}
