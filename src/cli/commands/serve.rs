//! `flowy serve`: the catalog for an MCP client.
//!
//! From here on stdout belongs to the protocol: nothing is printed, everything is logged.

use std::sync::Arc;

use super::{Done, Stop, World, runtime};
use crate::app::{App, Code, Error};

/// Serves until the client is gone.
pub(super) fn serve(world: &World<'_>) -> Done {
    let settings = world.settings()?;
    server::start_logging(&settings);
    let app = Arc::new(App::open(settings, world.environment, world.clock.clone())?);
    if world.printer.err_is_terminal() {
        let from = crate::names::shown(&app.describe(), 300);
        world.printer.note(&format!("flowy serves {from} to an MCP client over stdin and stdout; Ctrl-C ends it."));
    }
    let runtime = runtime()?;
    let served = runtime.block_on(server::serve_stdio(app));
    // One blocked read of stdin may outlive the client.
    runtime.shutdown_background();
    match served {
        Ok(()) => Ok(0),
        Err(error) => Err(Stop::failed(Error::new(Code::InternalError, error.to_string()), 1)),
    }
}

/// Stands in for the server's room until there is one.
mod server {
    use std::sync::Arc;

    use crate::app::App;
    use crate::config::Settings;

    #[derive(Debug, thiserror::Error)]
    #[error("this build holds no MCP server")]
    pub(super) struct ServeError;

    pub(super) fn start_logging(_settings: &Settings) {}

    pub(super) async fn serve_stdio(_app: Arc<App>) -> Result<(), ServeError> {
        std::future::ready(Err(ServeError)).await
    }
}
