//! `flowy validate`: what is wrong with flow and template files, and where.

use super::{Done, ENDING, World, own_program, wait};
use crate::app::{CheckRequest, KeptTools, Servers, Severity, check_paths};
use crate::cli::args::ValidateArgs;
use crate::report::{human, wire};

/// Prints each finding at its place, and a line that sums up.
pub(super) fn validate(args: ValidateArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    let begun = world.clock.now();
    // Looked at where they are named for this check: elsewhere the check is the same on every machine.
    let servers = match &settings.servers {
        Some(_) => Some(Servers::open(&settings, world.environment, world.clock.clone(), own_program())?),
        None => None,
    };
    if let Some(servers) = &servers {
        servers.all_set()?;
    }
    let mut request = CheckRequest {
        paths: args.paths,
        source_named: world.everywhere.settings.0.value("--source").is_some(),
        git_ref: None,
        refresh: world.everywhere.refresh,
        tools: None,
        kept_tools: Vec::new(),
    };
    let printer = world.printer;
    let check = |request: &CheckRequest| {
        wait(world, "checking", check_paths(request, &settings, world.environment, world.clock.clone()))
    };
    let mut checkup = check(&request)??;
    // Servers that nothing checked here calls are nobody's business now.
    if let Some(servers) = &servers
        && !checkup.servers_called().is_empty()
    {
        let wanted = checkup.servers_called().clone();
        let known = wait(world, "asking external servers for their tools", async {
            let known = servers.known(&wanted).await;
            servers.shut_down(ENDING).await;
            known
        })?;
        request.tools = Some(known);
        request.kept_tools = KeptTools::among(&servers.list(), begun);
        // What was fetched for the first look is what the second one looks at.
        request.refresh = false;
        checkup = check(&request)??;
        for notice in servers.notices(|alias| wanted.contains(alias)) {
            printer.note(&human::warning(&notice, printer.err_look()));
        }
    }
    if let Some(origin) = &checkup.origin {
        world.warn_of(origin);
    }
    if world.everywhere.json {
        printer.json(&wire::checkup(&checkup));
    } else if printer.quiet() {
        printer.out(&human::checkup_lines(&checkup));
    } else {
        printer.out(&human::checkup(&checkup, printer.out_look()));
    }
    let bad = checkup.count(Severity::Error) + if args.strict { checkup.count(Severity::Warning) } else { 0 };
    Ok(u8::from(bad > 0))
}
