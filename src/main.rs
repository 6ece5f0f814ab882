//! The program `flowy`: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    flowy::guard::main().unwrap_or_else(flowy::cli::main)
}
