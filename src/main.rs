//! The program `flowy`: arguments in, exit code out.

use std::process::ExitCode;
use std::sync::Arc;

use flowy::app::App;
use flowy::clock::SystemClock;
use flowy::config::{Environment, Flags, Settings};
use flowy::mcp;

fn main() -> ExitCode {
    let environment = Environment::of_process();
    let Ok(settings) = Settings::load(&Flags::default(), &environment) else { return ExitCode::from(2) };
    mcp::start_logging(&settings);
    let Ok(app) = App::open(settings, &environment, SystemClock::shared()) else { return ExitCode::from(2) };
    let Ok(runtime) = tokio::runtime::Builder::new_multi_thread().enable_all().build() else {
        return ExitCode::FAILURE;
    };
    let served = runtime.block_on(mcp::serve_stdio(Arc::new(app)));
    runtime.shutdown_background();
    if served.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
