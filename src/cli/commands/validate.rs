//! `flowy validate`: what is wrong with flow and template files, and where.

use super::{Done, ENDING, World, own_program, wait};
use crate::app::{CheckRequest, Servers, Severity, check_paths};
use crate::cli::args::ValidateArgs;
use crate::names::quoted;
use crate::report::{human, wire};

/// Prints each finding at its place, and a line that sums up.
pub(super) fn validate(args: ValidateArgs, world: &World<'_>) -> Done {
    let settings = world.settings()?;
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
        source_named: world.everywhere.source.is_some(),
        git_ref: None,
        refresh: world.everywhere.refresh,
        tools: None,
    };
    let printer = world.printer;
    let check = |request: &CheckRequest| {
        wait(world, "checking", check_paths(request, &settings, world.environment, world.clock.clone()))
    };
    let mut checkup = check(&request)??;
    let mut unasked = Vec::new();
    // Servers that nothing checked here calls are nobody's business now.
    if let Some(servers) = &servers
        && !checkup.servers.is_empty()
    {
        let wanted = std::mem::take(&mut checkup.servers);
        let known = wait(world, "asking external servers for their tools", async {
            let known = servers.known(&wanted).await;
            servers.shut_down(ENDING).await;
            known
        })?;
        request.tools = Some(known);
        // What was fetched for the first look is what the second one looks at.
        request.refresh = false;
        checkup = check(&request)??;
        unasked = servers.unasked(&wanted);
        for notice in servers.notices(|alias| wanted.contains(alias)) {
            printer.note(&human::warning(&notice, printer.err_look()));
        }
        for (alias, why) in &unasked {
            let told = format!("calls of the server {} are not checked: {why}", quoted(alias));
            printer.note(&human::warning(&told, printer.err_look()));
        }
    }
    world.warn_of(checkup.ignored_ref.as_ref());
    if world.everywhere.json {
        printer.json(&wire::checkup(&checkup));
    } else if printer.quiet() {
        printer.out(&human::checkup_lines(&checkup));
    } else {
        printer.out(&human::checkup(&checkup, printer.out_look()));
    }
    let bad =
        checkup.count(Severity::Error) + if args.strict { checkup.count(Severity::Warning) + unasked.len() } else { 0 };
    Ok(u8::from(bad > 0))
}
