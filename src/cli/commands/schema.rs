//! `flowy schema`: what a flow is to be given, or how a file is written, as JSON Schema.

use super::{Done, World, wait};
use crate::app::{Error, ShowRequest};
use crate::cli::args::SchemaArgs;
use crate::report::files::file_schema;
use crate::report::wire;

/// Prints the schema.
pub(super) fn schema(args: &SchemaArgs, world: &World<'_>) -> Done {
    if let Some(schema) = args.file.as_deref().and_then(file_schema) {
        world.printer.out(schema);
        return Ok(0);
    }
    let app = crate::cli::open(world)?;
    let request =
        ShowRequest { name: args.name.clone().unwrap_or_default(), git_ref: None, refresh: world.everywhere.refresh };
    let (prepared, origin) = wait(world, &format!("reading {}", app.describe()), app.inputs(&request))??;
    world.warn_of(&origin);
    world.printer.json(&wire::input_schema(&prepared.flow, prepared.plan().map_err(Error::from)?));
    Ok(0)
}
