//! `flowy serve`: the catalog for an MCP client.
//!
//! From here on stdout belongs to the protocol: nothing is printed, everything is logged.

use std::sync::Arc;
use std::time::Duration;

use super::{Done, ENDING, Stop, World, own_program};
use crate::app::{App, Code, Error, Servers};
use crate::cli::args::ServeArgs;
use crate::mcp;

/// The same when the process is told to stop.
const HURRIED: Duration = Duration::from_millis(200);

/// Serves until the client is gone.
pub(super) fn serve(args: &ServeArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    mcp::start_logging(&settings);
    let servers = Servers::open(&settings, world.environment, world.clock.clone(), own_program())?;
    let app = App::open(settings, world.environment, world.clock.clone())?.with_tools(servers.tools());
    let app = Arc::new(app);
    if world.printer.err_is_terminal() {
        let from = crate::names::shown(&app.describe(), 300);
        world.printer.note(&format!("flowy serves {from} to an MCP client over stdin and stdout; Ctrl-C ends it."));
    }
    let runtime = super::runtime()?;
    if args.strict
        && let Err(error) = runtime.block_on(strictly(&app, &servers))
    {
        runtime.block_on(servers.shut_down(ENDING));
        return Err(Stop::failed(error, 1));
    }
    let served = runtime.block_on(async {
        let knowing = (!servers.is_empty()).then(|| tokio::spawn(know(app.clone(), servers.clone(), args.warm)));
        let served = mcp::serve_stdio(app.clone()).await;
        app.stop_calling();
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
async fn know(app: Arc<App>, servers: Servers, warm: bool) {
    if warm {
        servers.warm().await;
    } else {
        servers.read_unknown().await;
    }
    for fault in app.call_faults().await.unwrap_or_default() {
        tracing::warn!("{fault}");
    }
}

/// Whether every server can be reached and every flow's calls can work.
async fn strictly(app: &App, servers: &Servers) -> Result<(), Error> {
    let unreachable = servers.unreachable().await.into_iter().map(|(alias, why)| format!("server {alias}: {why}"));
    let mut faults: Vec<String> = unreachable.collect();
    faults.extend(app.call_faults().await?);
    if faults.is_empty() {
        return Ok(());
    }
    Err(Error::new(Code::ToolUnavailable, format!("--strict: {}", faults.join("; "))).next(
        "mend the servers file or the flows, or start without --strict: only the steps that are named would fail",
    ))
}
