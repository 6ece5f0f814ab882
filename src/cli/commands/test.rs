//! `flowy test`: what flows give for given inputs, and whether that is what is expected.

use super::{Done, Stop, World, wait};
use crate::app::{TestRequest, test_flows};
use crate::cli::args::{TestArgs, TestFormat};
use crate::report::{ci, human, wire};

/// Prints what became of each test.
pub(super) fn test(args: &TestArgs, world: &World<'_>) -> Done {
    let printer = world.printer;
    if world.everywhere.json && args.format == TestFormat::Junit {
        return Err(Stop::usage("--json and --format name two formats", "leave one of them out"));
    }
    let settings = world.settings()?;
    let request = TestRequest { names: args.names.clone(), shard: args.shard, update: args.update, list: args.list };
    let work = test_flows(&request, &settings, world.environment, world.clock.clone());
    let report = wait(world, "testing", work)??;
    match args.format {
        TestFormat::Json => printer.json(&wire::test_report(&report)),
        TestFormat::Plain if world.everywhere.json => printer.json(&wire::test_report(&report)),
        TestFormat::Junit => printer.out(&ci::junit_of_tests(&report)),
        TestFormat::Plain => printer.out(&human::test_report(&report, printer.quiet(), printer.out_look())),
    }
    Ok(u8::from(report.failed() > 0 || !report.broken.is_empty()))
}
