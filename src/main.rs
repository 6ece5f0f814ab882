//! The program `flowy`: arguments in, exit code out.

fn main() {}
