//! `flowy servers`: the external MCP servers that flows may call, and what tools they have.

use super::{Done, ENDING, World, own_program, wait};
use crate::app::Servers;
use crate::cli::args::ServersCommand;
use crate::report::{human, wire};

/// Shows what is configured, or asks one server for its tools.
pub(super) fn servers(command: &ServersCommand, world: &World<'_>) -> Done {
    let servers = Servers::open(&world.settings()?, world.environment, world.clock.clone(), own_program())?;
    servers.readable()?;
    let printer = world.printer;
    match command {
        ServersCommand::List => {
            let list = servers.list();
            // Each mistake has its place in the file; the other servers can be used all the same.
            if let Err(mistakes) = servers.all_set() {
                printer.note(&human::warning(&mistakes.message, printer.err_look()));
            }
            if world.answer(|| wire::servers(&list), |look| human::servers(&list, world.clock.now(), look)) {
                printer.note(&human::servers_notes(&list, printer.err_look()));
            }
        }
        ServersCommand::Tools(args) => {
            let asked = wait(world, &format!("asking {}", crate::names::shown(&args.alias, 60)), async {
                let tools = servers.tools_of(&args.alias).await;
                servers.shut_down(ENDING).await;
                tools
            })??;
            if world.answer(
                || wire::server_tools(&asked, args.schema),
                |look| human::server_tools(&asked, args.schema, look),
            ) {
                printer.note(&human::server_tools_notes(&asked, printer.err_look()));
            }
        }
    }
    Ok(0)
}
