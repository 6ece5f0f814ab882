//! `flowy config`: the entry that makes an MCP client start this program.

use serde_json::json;

use super::{Done, Stop, World};
use crate::app::clients::{Change, Client, ClientError, ClientRequest, MergeError, show_entry, write_entry};
use crate::app::{Code, Error};
use crate::cli::args::ConfigArgs;
use crate::names::{nearest, quoted};
use crate::report::human;

/// Shows or writes the entry.
pub(super) fn config(args: &ConfigArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    let program = std::env::current_exe().map_err(|cause| {
        Stop::failed(Error::new(Code::InternalError, format!("the program's own path is not known: {cause}")), 1)
    })?;
    let request = ClientRequest {
        client: Client::named(&args.client),
        server: &args.name,
        replace: args.replace,
        program: &program,
        settings: &settings,
        environment: world.environment,
    };
    let setup = if args.write { write_entry(request, world.clock.now()) } else { show_entry(request) };
    let setup = setup.map_err(|error| refused(&error))?;
    let printer = world.printer;
    if setup.client == Client::Other
        && let Some(meant) = nearest(&args.client, Client::KNOWN.map(|(_, word)| word), 1).first()
    {
        printer.note(&human::warning(
            &format!("no client called {} is known; did you mean {meant}?", quoted(&args.client)),
            printer.err_look(),
        ));
    }
    if world.everywhere.json {
        let (change, backup) = match &setup.change {
            Change::Shown => ("shown", None),
            Change::Created => ("created", None),
            Change::Merged { backup } => ("merged", backup.as_ref().map(|file| file.display().to_string())),
            Change::Unchanged => ("unchanged", None),
        };
        printer.json(&json!({
            "client": setup.client.name(),
            "name": args.name,
            "file": setup.file.as_ref().map(|file| file.display().to_string()),
            "change": change,
            "backup": backup,
            "entry": serde_json::from_str::<serde_json::Value>(&setup.snippet).unwrap_or_default(),
            "nextSteps": setup.next,
        }));
        return Ok(0);
    }
    if setup.change == Change::Shown {
        printer.out(&setup.snippet);
    }
    printer.note(&human::client_setup(&setup, printer.err_look()));
    Ok(0)
}

fn refused(error: &ClientError) -> Stop {
    let mut told = Error::invalid(error.to_string());
    told.next_step = error.hint().map(Into::into);
    let exit = match error {
        ClientError::Content { fault: MergeError::Another { .. }, .. }
        | ClientError::NotAbsolute { .. }
        | ClientError::NotUnicode { .. }
        | ClientError::BadName { .. }
        | ClientError::UnknownFile
        | ClientError::OutsideProject { .. }
        | ClientError::NoSuchFolder { .. } => 2,
        ClientError::File { .. } | ClientError::Content { .. } | ClientError::NoUserFolder { .. } => 1,
    };
    Stop::failed(told, exit)
}
