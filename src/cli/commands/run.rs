//! `flowy run`: one execution, its final result on stdout and everything else on stderr.

mod files;
pub(super) mod values;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value};

use super::{Done, ENDING, Stop, World, wait_with};
use crate::app::{
    App, Caller, Code, Detail, Error, ExecuteRequest, Finished, ModelChoice, OnEnd, OnFailure, OnPiece, Outcome,
    ResumeRequest, Resumed, Servers, ShowRequest, Story, StreamPiece, is_example, is_here, read_values,
};
use crate::cli::args::RunArgs;
use crate::cli::printer::Streamed;
use crate::cli::progress::ProgressLine;
use crate::config::Answers;
use crate::lock::lock;
use crate::report::human::{StepTexts, Wish};
use crate::report::{human, wire};

/// Executes the flow, or shows what would be executed.
pub(super) fn run(args: &RunArgs, world: &World<'_>) -> Done {
    if let Some(id) = &args.resume {
        return resume(id, args, world);
    }
    let variables = values::read(&args.values, world.environment)?;
    let models = models(args)?;
    let (app, servers) = crate::cli::open_with_servers(world)?;
    let mut request = ExecuteRequest {
        flow: args.name.clone().unwrap_or_default(),
        variables,
        git_ref: None,
        refresh: world.everywhere.refresh,
        on_failure: OnFailure::named(&args.on_failure).unwrap_or_default(),
        wait: None,
        models,
    };
    if !args.dry_run && !world.everywhere.json && world.printer.can_ask() {
        ask_for_missing(&app, &mut request, world)?;
    }
    let done = if args.dry_run {
        rehearse(&app, &request, world)
    } else {
        carry_out((&app, &servers), Wanted::New(&request), args, world)
    };
    super::finish_counting(&app);
    done.or_else(|stop| refuse(stop, &app, &request, world))
}

/// Asks the person at the terminal for required values that are not given. What is wrong with the flow is told by
/// executing it.
pub(super) fn ask_for_missing(app: &App, request: &mut ExecuteRequest, world: &World<'_>) -> Result<(), Stop> {
    let progress = ProgressLine::of(world.printer, &format!("reading {}", app.describe()));
    let missing = wait_with(&progress, app.missing_inputs(request))?;
    drop(progress);
    let look = world.printer.err_look();
    let missing = missing.unwrap_or_default();
    if !missing.is_empty() {
        let inputs = ShowRequest { name: request.flow.clone(), git_ref: None, refresh: false };
        let (prepared, _) = super::wait(world, "reading the flow", app.inputs(&inputs))??;
        let sets = prepared.plan.as_ref().map(|plan| plan.sets()).unwrap_or_default();
        match request.variables.get("_variableSet") {
            // It is refused before anybody is asked in vain.
            Some(set) if !sets.iter().any(|known| Some(known.as_str()) == set.as_str()) => return Ok(()),
            Some(_) => {}
            None => world.printer.note(&human::before_questions(sets, look)),
        }
    }
    for input in missing {
        let mut question = human::question(&input, look);
        let value = loop {
            let Some(typed) = world.printer.ask(&question) else { return Ok(()) };
            match input.read(&typed).filter(|_| !typed.trim().is_empty()) {
                Some(value) => break value,
                None => question = human::question_again(&input, look),
            }
        };
        request.variables.insert(input.name, value);
        // It is read by now.
        request.refresh = false;
    }
    Ok(())
}

/// Who answers steps, as the flags say.
fn models(args: &RunArgs) -> Result<ModelChoice, Stop> {
    let mut choice =
        ModelChoice { answers: args.answers.as_deref().and_then(Answers::named), ..ModelChoice::default() };
    for model in &args.models {
        choice.take(model).map_err(|why| {
            let next = "give the name of a model, none, or OLD=NEW; `flowy models list` shows the names";
            Stop::usage(format!("--model {} is no model: {why}", crate::names::quoted(model)), next.to_owned())
        })?;
    }
    Ok(choice)
}

/// What is to be carried out.
#[derive(Clone, Copy)]
enum Wanted<'a> {
    /// A flow, from its beginning.
    New(&'a ExecuteRequest),
    /// An execution that was interrupted.
    Again(&'a ResumeRequest),
    /// What came of one that had ended.
    Ended(&'a ResumeRequest),
}

/// Goes on with a direct execution that was interrupted.
fn resume(id: &str, args: &RunArgs, world: &World<'_>) -> Done {
    let (app, servers) = crate::cli::open_with_servers(world)?;
    let story = super::wait(world, "reading the execution", app.story(id))??;
    let id = story.guided.beginning().id.to_string();
    if !story.guided.is_direct() {
        return Err(Stop::usage(
            format!("execution {id} is a guided one: a client's model does its steps"),
            format!("go on with it in your client, or with flowy guide --resume {id}"),
        ));
    }
    let answers = args.answer.as_ref().map(|answer| read_values(answer).unwrap_or_else(|_| answer.clone().into()));
    let request = ResumeRequest { execution: id, escalation: None, answers };
    let ended = story.guided.state().ended();
    if ended {
        world.printer.note(&format!("execution {} had ended before; nothing is done again", request.execution));
    }
    let wanted = if ended { Wanted::Ended(&request) } else { Wanted::Again(&request) };
    let done = carry_out((&app, &servers), wanted, args, world);
    super::finish_counting(&app);
    done
}

fn carry_out((app, servers): (&App, &Servers), wanted: Wanted<'_>, args: &RunArgs, world: &World<'_>) -> Done {
    let printer = world.printer;
    let progress = ProgressLine::of(printer, &format!("reading {}", app.describe()));
    let line = progress.line();
    let (look, told) = (printer.err_look(), Arc::new(Mutex::new(BTreeSet::new())));
    // Where the texts of the steps are wanted, each stands under its line at the end.
    let above = progress.above().filter(|_| !args.steps && !world.everywhere.json);
    let ended = above.clone().map(|above| {
        let told = told.clone();
        let on_end: OnEnd = Arc::new(move |run, step| {
            above.set_message(human::under_way(run));
            if let Some(line) = human::step_line(run, step, look)
                && above.say_above(line)
            {
                lock(&told).insert(step);
            }
        });
        on_end
    });
    let step_by_step = ended.is_none();
    // A result that grows is for a person who waits for nothing else.
    let streams = printer.out_look().terminal && !world.everywhere.json && !args.steps && args.result.is_none();
    let streamed = streams.then(|| Arc::new(Streamed::default()));
    let pieces = streamed.clone().map(|streamed| {
        let line = progress.line();
        let on_piece: OnPiece = Arc::new(move |piece| match piece {
            StreamPiece::Text(text) => {
                line.hush();
                streamed.more(text);
            }
            StreamPiece::Restart => streamed.again(),
        });
        on_piece
    });
    let caller = Caller {
        pieces,
        progress: Some(Arc::new(move |done| {
            if step_by_step || done.call.is_some() {
                line.set_message(done.words(40, 40));
            }
        })),
        ended,
        ..Caller::default()
    };
    let resumed = wait_with(&progress, async {
        let execution = async {
            match wanted {
                Wanted::New(request) => app.execute(request.clone(), &caller).await.map(Resumed::Direct),
                Wanted::Again(request) | Wanted::Ended(request) => app.resume(request, None, &caller).await,
            }
        };
        tokio::pin!(execution);
        let outcome = tokio::select! {
            outcome = &mut execution => outcome,
            // What had finished by now is still answered, and printed.
            Ok(()) = tokio::signal::ctrl_c() => {
                caller.cancel.cancel();
                execution.await
            }
        };
        servers.shut_down(ENDING).await;
        outcome
    })??;
    let seen = above.is_some_and(|above| above.seen());
    drop(progress);
    let outcome = match resumed {
        Resumed::Direct(outcome) => outcome,
        Resumed::Asking(story) => return asking(&story, world),
        Resumed::Guided(turn) => {
            let error =
                Error::new(Code::InternalError, format!("execution {} is a guided one", turn.guided.beginning().id));
            return Err(error.into());
        }
    };
    let told = match (wanted, &outcome) {
        // Nothing was done now that a line could tell of.
        (Wanted::Ended(_), Outcome::Finished { finished: Finished::Ran(recorded), .. }) => {
            (0..recorded.executed.run.plan().steps().len()).collect()
        }
        _ if seen => std::mem::take(&mut *lock(&told)),
        _ => BTreeSet::new(),
    };
    tell(&outcome, (servers, streamed.as_deref()), &told, args, world)
}

/// Prints what came of an execution, but for the lines of steps that were told before.
fn tell(
    outcome: &Outcome,
    (servers, streamed): (&Servers, Option<&Streamed>),
    told: &BTreeSet<usize>,
    args: &RunArgs,
    world: &World<'_>,
) -> Done {
    let printer = world.printer;
    let (id, flow, recorded) = match outcome {
        Outcome::Finished { id, flow, finished: Finished::Ran(recorded), .. } => (id, flow, recorded),
        Outcome::Finished { finished: Finished::Broke(error), .. } => return Err(Error::clone(error).into()),
        Outcome::Running(pending) => {
            let error = Error::new(Code::Timeout, format!("execution {} has not ended", pending.id));
            return Err(error.into());
        }
    };
    let given = human::given_files(&recorded.executed.run);
    let keep = || match &args.keep {
        Some(folder) => files::keep(&given, folder),
        None => Ok(Vec::new()),
    };
    if world.everywhere.json {
        let detail = Detail::named(&args.detail).unwrap_or_default();
        printer.json(&wire::execution(id, flow, recorded, detail));
        keep()?;
        return Ok(u8::from(!human::succeeded(recorded)));
    }
    let texts = if args.steps { StepTexts::Shown } else { StepTexts::Left };
    let wish = Wish { result: args.result.as_deref(), texts, told };
    let told = match human::execution((id, flow), recorded, &wish, printer.err_look()) {
        Ok(told) => told,
        Err(labels) => {
            let label = crate::names::quoted(args.result.as_deref().unwrap_or_default());
            let next = if labels.is_empty() {
                "leave --result out: the flow has one result".to_owned()
            } else {
                format!("choose one of: {}", labels.join(", "))
            };
            return Err(Stop::usage(format!("the flow has no result {label}"), next));
        }
    };
    let shown = streamed.is_some_and(|streamed| streamed.end(told.result.as_deref()));
    printer.note_as_it_is(&told.before);
    if let Some(result) = told.result.as_ref().filter(|_| !shown) {
        printer.out_text(result);
    }
    printer.note(&told.after);
    // The line of the failed step has told why, unless nobody wanted it.
    let failure = if printer.quiet() { &told.failure } else { &told.failure_in_short };
    if let Some(error) = failure {
        printer.error(error);
    }
    for notice in servers.notices_of_failures(&recorded.executed.run) {
        printer.note(&human::warning(&notice, printer.err_look()));
    }
    if args.keep.is_none() {
        printer.note(&human::files_notes(&given));
    }
    for place in keep()? {
        printer.note(&format!("kept {place}"));
    }
    Ok(u8::from(!human::succeeded(recorded)))
}

/// Tells what a person has to decide before an execution goes on.
fn asking(story: &Story, world: &World<'_>) -> Done {
    if world.everywhere.json {
        world.printer.json(&wire::guided_status(story, &[]));
    } else {
        world.printer.note(&human::asking(story, world.printer.err_look()));
    }
    Err(Stop::Printed(1))
}

fn rehearse(app: &App, request: &ExecuteRequest, world: &World<'_>) -> Done {
    let progress = ProgressLine::of(world.printer, &format!("reading {}", app.describe()));
    let rehearsal = wait_with(&progress, app.rehearse(request, &Caller::default()))??;
    drop(progress);
    if world.answer(|| wire::rehearsal(&rehearsal, Some(usize::MAX)), |look| human::rehearsal(&rehearsal, look)) {
        world.warn_of(&rehearsal.origin);
    }
    // Values that are missing are what a rehearsal is asked for; a step that can't work is a failure.
    Ok(u8::from(rehearsal.executed.run.failures().next().is_some()))
}

/// Tells why nothing ran; of missing values it says what they are for and what to type.
fn refuse(stop: Stop, app: &App, request: &ExecuteRequest, world: &World<'_>) -> Done {
    let Stop::Failed { error, exit } = stop else { return Err(stop) };
    if world.everywhere.json {
        world.printer.json(&wire::refusal(&error, Some(&request.flow), "flows/execute"));
    }
    tell_why(&error, app, ("run", &request.flow, &request.variables), world);
    Err(Stop::Printed(exit))
}

/// Tells why nothing began; of missing values it says what they are for and what to type.
pub(super) fn tell_why(
    error: &Error,
    app: &App,
    (command, flow, variables): (&str, &str, &Map<String, Value>),
    world: &World<'_>,
) {
    let inputs = ShowRequest { name: flow.to_owned(), git_ref: None, refresh: false };
    let prepared = (error.code == Code::MissingVariables).then(|| super::runtime().ok()).flatten();
    let prepared = prepared.and_then(|runtime| runtime.block_on(app.inputs(&inputs)).ok());
    match prepared.as_ref().and_then(|(prepared, _)| prepared.plan.as_ref()) {
        Some(plan) => {
            let source = world.everywhere.settings.0.value("--source");
            world.printer.missing(|look| human::missing(error, plan, (command, variables, source), look));
        }
        None if error.code == Code::FlowNotFound && is_here(flow, app.settings(), world.environment) => {
            let source = crate::names::shown(&app.describe(), 200);
            let next =
                format!("this looked in {source}; the catalog in the current folder has that flow: add --source .");
            world.printer.error(&Error::clone(error).next(next));
        }
        None if error.code == Code::FlowNotFound && is_example(flow) => {
            let next = format!("{} is a built-in example: add --source examples", crate::names::quoted(flow));
            world.printer.error(&Error::clone(error).next(next));
        }
        None => world.printer.error(error),
    }
}
