//! `flowy serve`: the catalog for an MCP client.
//!
//! From here on stdout belongs to the protocol: nothing is printed, everything is logged.

use std::sync::Arc;

use super::{Done, Stop, World};
use crate::app::{App, Code, Error};
use crate::cli::logging;

/// Serves until the client is gone.
pub(super) fn serve(world: &World<'_>) -> Done {
    let settings = world.settings()?;
    logging::for_server(&settings);
    let app = Arc::new(App::open(settings, world.environment, world.clock.clone())?);
    if world.printer.err_is_terminal() {
        world.printer.note(&format!(
            "flowy serves {} over stdin and stdout and waits for an MCP client; Ctrl-C ends it.",
            app.describe()
        ));
    }
    super::runtime()?.block_on(start(app))
}

/// The seam to the server.
async fn start(app: Arc<App>) -> Done {
    drop(app);
    Err(Stop::failed(Error::new(Code::InternalError, "this build holds no MCP server"), 1))
}
