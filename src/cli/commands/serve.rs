//! `flowy serve`: the catalog for an MCP client.
//!
//! From here on stdout belongs to the protocol: nothing is printed, everything is logged.

use std::sync::Arc;
use std::time::Duration;

use super::{Done, Stop, World, own_program};
use crate::app::{App, CheckRequest, Code, Error, Servers};
use crate::cli::args::ServeArgs;
use crate::mcp;

/// The rules about calls of external tools.
const OF_TOOLS: [&str; 4] = ["unknown-tool", "tool-not-allowed", "unavailable-tool", "misfit-arguments"];
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
    }
    for fault in faults(&app, &servers).await.unwrap_or_default() {
        tracing::warn!("{fault}");
    }
}

/// What keeps calls of flows from working, as far as the servers' tools are known; those that are not are
/// asked for.
async fn faults(app: &App, servers: &Servers) -> Result<Vec<String>, Error> {
    let request = CheckRequest { tools: Some(servers.known().await), ..CheckRequest::default() };
    let checkup = app.check(&request).await?;
    let findings = checkup.files.iter().flat_map(|file| &file.findings);
    let of_tools = findings.filter(|finding| OF_TOOLS.contains(&finding.rule));
    let told = of_tools.map(|finding| format!("{} line {}: {}", finding.file, finding.position.line, finding.message));
    Ok(told.collect())
}

/// Whether every server can be reached and every flow's calls can work.
async fn strictly(app: &App, servers: &Servers) -> Result<(), Error> {
    let unreachable = servers.unreachable().await.into_iter().map(|(alias, why)| format!("server {alias}: {why}"));
    let mut faults: Vec<String> = unreachable.collect();
    faults.extend(self::faults(app, servers).await?);
    if faults.is_empty() {
        return Ok(());
    }
    Err(Error::new(Code::ToolUnavailable, format!("--strict: {}", faults.join("; "))).next(
        "mend the servers file or the flows, or start without --strict: only the steps that are named would fail",
    ))
}
