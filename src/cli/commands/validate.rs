//! `flowy validate`: what is wrong with flow and template files, and where.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::{Done, ENDING, Stop, World, own_program, wait};
use crate::app::{
    CheckRequest, Checkup, Error, KeptTools, Overlay, Servers, Severity, TypedFile, add_to_file, check_paths,
    fix_paths, name_of_text, write_changed,
};
use crate::cli::args::{CheckFormat, FailOn, FixChoice, ValidateArgs};
use crate::report::{ci, human, wire};

/// Prints each finding at its place, and a line that sums up.
pub(super) fn validate(args: &ValidateArgs, world: &World<'_>) -> Done {
    if world.everywhere.json && !matches!(args.format, CheckFormat::Plain | CheckFormat::Json) {
        return Err(Stop::usage("--json and --format name two formats", "leave one of them out"));
    }
    let settings = world.settings()?;
    let begun = world.clock.now();
    // Looked at where they are named for this check: elsewhere the check is the same on every machine.
    let servers = match &settings.servers {
        Some(_) => Some(Servers::open(&settings, world.environment, world.clock.clone(), own_program())?),
        None => None,
    };
    // The calls of a server whose entry has a mistake are warned of; everything else is checked.
    let mistakes = servers.as_ref().and_then(|servers| servers.all_set().err());
    let (paths, typed) = typed(args)?;
    let mut request = CheckRequest {
        paths,
        source_named: world.everywhere.settings.0.value("--source").is_some(),
        git_ref: None,
        refresh: world.everywhere.refresh,
        tools: None,
        kept_tools: Vec::new(),
        typed,
        overlay: Overlay::new(),
        since: args.since.clone(),
        baseline: None,
    };
    let printer = world.printer;
    let check = |request: &CheckRequest| {
        wait(world, "checking", check_paths(request, &settings, world.environment, world.clock.clone()))
    };
    // With servers, the first look only tells which of them are called.
    if servers.is_none() {
        request.baseline = args.baseline;
    }
    if args.fix.is_some() || args.diff {
        let unsafe_too = args.fix == Some(FixChoice::Unsafe);
        let changed =
            wait(world, "fixing", fix_paths(&request, unsafe_too, &settings, world.environment, world.clock.clone()))??;
        if args.diff {
            printer.out(&human::differences(&changed, printer.out_look()));
            printer.note(&human::to_be_mended(&changed));
            return Ok(u8::from(!changed.is_empty()));
        }
        if request.typed.is_some() {
            return Err(Stop::usage("a text on stdin has no file to be fixed", "add --diff to see what would change"));
        }
        write_changed(&changed)?;
        printer.note(&human::mended(&changed));
    }
    let mut checkup = match (check(&request)?, &mistakes) {
        (Ok(checkup), _) => checkup,
        (Err(_), Some(mistakes)) => return Err(mistakes.clone().into()),
        (Err(error), None) => return Err(error.into()),
    };
    // Servers that nothing checked here calls are nobody's business now.
    if let Some(servers) = &servers {
        let wanted = checkup.servers_called().clone();
        if !wanted.is_empty() {
            let known = wait(world, "asking external servers for their tools", async {
                let known = servers.known(&wanted).await;
                servers.shut_down(ENDING).await;
                known
            })?;
            request.tools = Some(known);
            request.kept_tools = KeptTools::among(&servers.list(), begun);
            // What was fetched for the first look is what the second one looks at.
            request.refresh = false;
        }
        if !wanted.is_empty() || args.baseline.is_some() {
            request.baseline = args.baseline;
            checkup = check(&request)??;
        }
        for notice in servers.notices(|alias| wanted.contains(alias)) {
            printer.note(&human::warning(&notice, printer.err_look()));
        }
    }
    if let Some(origin) = &checkup.origin {
        world.warn_of(origin);
    }
    if let Some(source) = &checkup.passed_over {
        printer.note(&human::passed_over(source));
    }
    let fail_on = args.fail_on.unwrap_or(if args.strict { FailOn::Warning } else { FailOn::Error });
    print(&checkup, args, fail_on, world)?;
    if let Some(mistakes) = mistakes {
        printer.error(&mistakes);
        return Ok(mistakes.exit_code());
    }
    let bad =
        [Severity::Error, Severity::Warning, Severity::Info].into_iter().filter(|severity| fail_on.counts(*severity));
    Ok(u8::from(bad.map(|severity| checkup.count(severity)).sum::<usize>() > 0))
}

/// The paths, and the text on stdin where `-` is one of them.
fn typed(args: &ValidateArgs) -> Result<(Vec<PathBuf>, Option<TypedFile>), Stop> {
    let is_stdin = |path: &PathBuf| path == Path::new("-");
    let paths: Vec<PathBuf> = args.paths.iter().filter(|path| !is_stdin(path)).cloned().collect();
    if !args.paths.iter().any(is_stdin) {
        return if args.stdin_filename.is_some() {
            Err(Stop::usage("--stdin-filename names the text on stdin, and stdin is not read", "give - as a path"))
        } else {
            Ok((paths, None))
        };
    }
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Stop::failed(Error::invalid(format!("stdin can't be read: {error}")), 2))?;
    let name = args.stdin_filename.clone().unwrap_or_else(|| PathBuf::from(name_of_text(&bytes)));
    Ok((paths, Some(TypedFile { name, bytes: bytes.into() })))
}

fn print(checkup: &Checkup, args: &ValidateArgs, fail_on: FailOn, world: &World<'_>) -> Result<(), Stop> {
    let (printer, here) = (world.printer, world.environment.current_folder());
    match args.format {
        CheckFormat::Json => printer.json(&wire::checkup(checkup)),
        CheckFormat::Plain if world.everywhere.json => printer.json(&wire::checkup(checkup)),
        CheckFormat::Plain if printer.quiet() => printer.out(&human::checkup_lines(checkup)),
        CheckFormat::Plain => printer.out(&human::checkup(checkup, printer.out_look())),
        CheckFormat::Sarif => printer.json(&ci::sarif(checkup, here)),
        CheckFormat::Gitlab => printer.json(&ci::code_quality(checkup, here)),
        CheckFormat::Junit => printer.out(&ci::junit(checkup, here, |severity| fail_on.counts(severity))),
        CheckFormat::Github => {
            printer.out(&ci::annotations(checkup, here));
            if let Some(path) = world.environment.step_summary() {
                add_to_file(&path, &ci::summary(checkup, here))?;
            }
        }
    }
    Ok(())
}
