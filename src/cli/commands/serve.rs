//! `flowy serve`: the catalog for an MCP client.
//!
//! From here on stdout belongs to the protocol: nothing is printed, everything is logged.

use std::sync::Arc;

use super::{Done, Stop, World};
use crate::app::{App, Code, Error};
use crate::mcp;

/// Serves until the client is gone.
pub(super) fn serve(world: &World<'_>) -> Done {
    let settings = world.settings()?;
    mcp::start_logging(&settings);
    let app = Arc::new(App::open(settings, world.environment, world.clock.clone())?);
    if world.printer.err_is_terminal() {
        let from = crate::names::shown(&app.describe(), 300);
        world.printer.note(&format!("flowy serves {from} to an MCP client over stdin and stdout; Ctrl-C ends it."));
    }
    let runtime = super::runtime()?;
    let served = runtime.block_on(mcp::serve_stdio(app));
    // One blocked read of stdin may be left, and it must not hold the process up.
    runtime.shutdown_background();
    served.map(|_| 0).map_err(|error| Stop::failed(Error::new(Code::InternalError, error.to_string()), 1))
}
