//! `flowy config`: the entry that makes an MCP client start this program.

use serde_json::json;

use super::{Done, Stop, World};
use crate::app::clients::{Change, Client, ClientError, ClientRequest, show_entry, write_entry};
use crate::app::{Code, Error};
use crate::cli::args::{ClientName, ConfigArgs};
use crate::report::human;

/// Shows or writes the entry.
pub(super) fn config(args: &ConfigArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    let program = std::env::current_exe().map_err(|cause| {
        Stop::failed(Error::new(Code::InternalError, format!("the program's own path is not known: {cause}")), 1)
    })?;
    let client = match args.client {
        ClientName::ClaudeDesktop => Client::ClaudeDesktop,
        ClientName::ClaudeCode => Client::ClaudeCode,
    };
    let request = ClientRequest { client, program: &program, settings: &settings, environment: world.environment };
    let setup = if args.write { write_entry(request, world.clock.now()) } else { show_entry(request) };
    let setup = setup.map_err(|error| refused(&error))?;
    let printer = world.printer;
    if world.everywhere.json {
        let (change, backup) = match &setup.change {
            Change::Shown => ("shown", None),
            Change::Created => ("created", None),
            Change::Merged { backup } => ("merged", Some(backup.display().to_string())),
            Change::Unchanged => ("unchanged", None),
        };
        printer.json(&json!({
            "client": setup.client.name(),
            "file": setup.file.display().to_string(),
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
    let mut told = Error::new(Code::InvalidRequest, error.to_string());
    told.next_step = error.hint().map(str::to_owned);
    let exit = match error {
        ClientError::File { .. } | ClientError::Content { .. } | ClientError::NoUserFolder { .. } => 1,
        ClientError::NotAbsolute { .. } | ClientError::NotUnicode { .. } | ClientError::NoSuchFolder { .. } => 2,
    };
    Stop::failed(told, exit)
}
