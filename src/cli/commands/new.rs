//! `flowy new` and `flowy init`: a flow, and a catalog, to begin with.

use super::{Done, Stop, World, wait};
use crate::app::{Created, Form, NewRequest, new_catalog, new_flow};
use crate::cli::args::{InitArgs, NewArgs};
use crate::report::human;

/// Writes a flow with its template and a test.
pub(super) fn new(args: &NewArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    let mut request = NewRequest {
        name: args.name.clone(),
        form: form(world),
        description: args.description.clone(),
        inputs: args.inputs.clone(),
        from: args.from.clone(),
    };
    let told = args.description.is_some() || !args.inputs.is_empty() || args.from.is_some();
    if !told && world.printer.can_ask() {
        ask(&mut request, world)?;
    }
    let work = new_flow(&request, &settings, world.environment, world.clock.clone());
    tell(&wait(world, "writing", work)??, world);
    Ok(0)
}

/// Writes a catalog.
pub(super) fn init(args: &InitArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    let work = new_catalog(args.folder.as_deref(), form(world), &settings, world.environment, world.clock.clone());
    tell(&wait(world, "writing", work)??, world);
    Ok(0)
}

/// Prints what was written.
fn tell(created: &Created, world: &World<'_>) {
    world.printer.out(&human::created(created, world.printer.quiet(), world.printer.out_look()));
}

/// The form of the files.
fn form(world: &World<'_>) -> Form {
    if world.everywhere.json { Form::Json } else { Form::Markdown }
}

/// Asks what the flow is for and what it needs; an empty line leaves it as it is.
fn ask(request: &mut NewRequest, world: &World<'_>) -> Result<(), Stop> {
    let stopped = || Stop::usage("nothing was written", "answer with an empty line to go on");
    let purpose = world.printer.ask("What is the flow for, in one sentence? ").ok_or_else(stopped)?;
    request.description = Some(purpose.trim().to_owned()).filter(|purpose| !purpose.is_empty());
    let inputs = world
        .printer
        .ask("Which values does it need? Names, with commas between them [topic]: ")
        .ok_or_else(stopped)?;
    request.inputs =
        inputs.split(',').map(|name| name.trim().replace(' ', "_")).filter(|name| !name.is_empty()).collect();
    Ok(())
}
