//! `flowy serve`: the catalog for an MCP client.
//!
//! From here on stdout belongs to the protocol: nothing is printed, everything is logged.

use std::sync::Arc;
use std::time::Duration;

use super::{Done, ENDING, Stop, World, own_program};
use crate::app::{App, Code, Error, Servers, UNASKED_EXAMPLES};
use crate::cli::args::ServeArgs;
use crate::config::{Environment, Flags, Settings};
use crate::mcp;

/// The same when the process is told to stop.
const HURRIED: Duration = Duration::from_millis(200);

/// Serves until the client is gone. Why that fails stands in the log, too: a client shows nothing.
pub(super) fn serve(args: &ServeArgs, world: &World<'_>) -> Done {
    let settings = world.settings();
    match &settings {
        Ok(settings) => mcp::start_logging(settings),
        Err(_) => mcp::start_logging(&Settings::to_log_by(&world.everywhere.settings.0, world.environment)),
    }
    let served = settings.and_then(|settings| serve_by(settings, args, world));
    if let Err(Stop::Failed { error, .. }) = &served {
        let step = error.next_step.as_ref().map(|step| format!(" ({})", step.for_commands())).unwrap_or_default();
        mcp::log_to_file(&format!("[{}] {}{step}", error.code.word(), error.message));
    }
    served
}

/// Puts a command line that can't be understood into the log.
pub(in crate::cli) fn log_refusal(environment: &Environment, told: &str) {
    mcp::start_logging(&Settings::to_log_by(&Flags::default(), environment));
    mcp::log_to_file(told);
}

fn serve_by(settings: Settings, args: &ServeArgs, world: &World<'_>) -> Done {
    let servers = Servers::open(&settings, world.environment, world.clock.clone(), own_program())?;
    if args.strict {
        servers.all_set()?;
    }
    servers.warn();
    let app = App::open(settings, world.environment, world.clock.clone())?.with_tools(servers.tools());
    let app = Arc::new(app);
    if app.unasked_examples() {
        tracing::warn!("{UNASKED_EXAMPLES}");
    }
    if world.printer.err_look().terminal {
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
    servers.warn_of_patterns();
    match app.call_faults().await {
        Ok(faults) => faults.iter().for_each(|fault| tracing::warn!("{fault}")),
        Err(error) => tracing::warn!("the calls of flows are not checked: {}", error.message),
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
    let lines: Vec<String> = faults.iter().map(|fault| format!("\n  {fault}")).collect();
    Err(Error::new(Code::ToolUnavailable, format!("--strict: this can't work:{}", lines.concat()))
        .next("fix the servers file or the flows, or start without --strict: only the steps that are named would fail"))
}
