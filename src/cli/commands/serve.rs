//! `flowy serve`: the catalog for an MCP client.
//!
//! From here on stdout belongs to the protocol: nothing is printed, everything is logged.

use std::sync::Arc;
use std::time::Duration;

use super::{Done, Stop, World, own_program};
use crate::app::{App, Code, Error, Servers};
use crate::cli::args::ServeArgs;
use crate::mcp;

/// How long external servers may take to end when the client is gone.
const ENDING: Duration = Duration::from_millis(1_500);
/// The same when the process is told to stop.
const HURRIED: Duration = Duration::from_millis(200);

/// Serves until the client is gone.
pub(super) fn serve(args: &ServeArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    mcp::start_logging(&settings);
    let servers = Servers::open(&settings, world.environment, world.clock.clone(), own_program())?;
    let app = App::open(settings, world.environment, world.clock.clone())?.with_tools(servers.tools());
    if world.printer.err_is_terminal() {
        let from = crate::names::shown(&app.describe(), 300);
        world.printer.note(&format!("flowy serves {from} to an MCP client over stdin and stdout; Ctrl-C ends it."));
    }
    let runtime = super::runtime()?;
    let served = runtime.block_on(async {
        let knowing = (!servers.is_empty()).then(|| tokio::spawn(know(servers.clone(), args.warm)));
        let served = mcp::serve_stdio(Arc::new(app)).await;
        if let Some(knowing) = knowing {
            knowing.abort();
        }
        let hurried = matches!(served, Ok(mcp::End::Stopped));
        servers.shut_down(if hurried { HURRIED } else { ENDING }).await;
        served
    });
    // One blocked read of stdin may be left, and it must not hold the process up.
    runtime.shutdown_background();
    served.map(|_| 0).map_err(|error| Stop::failed(Error::new(Code::InternalError, error.to_string()), 1))
}

/// Gets to know the external servers while the client is served already.
async fn know(servers: Servers, warm: bool) {
    if warm {
        servers.warm().await;
    } else {
        servers.read_unknown().await;
    }
}
