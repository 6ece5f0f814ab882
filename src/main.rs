//! The program `flowy`: arguments in, exit code out.

use std::process::ExitCode;

fn main() -> ExitCode {
    flowy::main()
}
