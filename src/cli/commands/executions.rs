//! `flowy executions`: what became of guided executions, and forgetting them.

use chrono::{DateTime, TimeDelta, Utc};

use super::{Done, Stop, World, wait};
use crate::app::{App, PruneRequest, Section, StatusAnswer, StatusRequest};
use crate::cli::args::{ExecutionsCommand, PruneArgs};
use crate::report::{human, timeline, wire};

/// Entries of a list, unless another number is asked for.
const LIST: i64 = 50;

/// Does what is asked of the executions that this machine keeps.
pub(super) fn executions(command: &ExecutionsCommand, world: &World<'_>) -> Done {
    let app = crate::cli::open(world)?;
    let (printer, json) = (world.printer, world.everywhere.json);
    match command {
        ExecutionsCommand::List(args) => {
            let request = StatusRequest {
                flow: args.flow.clone(),
                states: args.states.clone(),
                limit: Some(args.limit.unwrap_or(LIST)),
                cursor: args.cursor.clone(),
                ..StatusRequest::default()
            };
            let answer = reading(world, app.status(&request))?;
            let StatusAnswer::List { trouble, next_cursor, .. } = &answer else { return Ok(0) };
            if let Some(error) = trouble {
                return Err((**error).clone().into());
            }
            if world.answer(|| wire::status(&answer), |look| human::executions(&answer, world.clock.now(), look)) {
                let filtered = args.flow.is_some() || !args.states.is_empty();
                printer.note(&human::executions_notes(&answer, filtered));
                super::tell_more(next_cursor.as_deref(), world);
            }
        }
        ExecutionsCommand::Show(args) => {
            let story = reading(world, app.story(&args.execution.id))?;
            if args.html {
                printer.out(&timeline::html(&story));
            } else if json {
                printer.json(&wire::guided_status(&story, &Section::ALL));
            } else {
                printer.out(&human::guided(&story, printer.out_look()));
            }
        }
        ExecutionsCommand::Export(args) => {
            let story = reading(world, app.story(&args.id))?;
            printer.json(&wire::exported(&story));
        }
        ExecutionsCommand::Cancel(args) => {
            let id = &args.execution.id;
            let before = reading(world, app.story(id)).is_ok_and(|story| story.guided.cancelled().is_some());
            let turn = reading(world, app.cancel(id, args.reason.as_deref()))?;
            if json {
                printer.json(&wire::turn(&turn));
            } else {
                let id = &turn.guided.beginning().id;
                printer.note(&if before { format!("{id} was cancelled before") } else { format!("cancelled {id}") });
            }
        }
        ExecutionsCommand::Prune(args) => {
            let request = chosen(args, &app)?;
            let pruned = reading(world, app.prune(&request))?;
            if json {
                printer.json(&wire::pruned(&pruned));
            } else {
                printer.note(&human::pruned(&pruned, printer.err_look()));
            }
        }
        ExecutionsCommand::Stats(args) => {
            let tallies = reading(world, app.tallies(days_ago(args.idle_days, &app)?))?;
            world.answer(|| wire::tallies(&tallies), |look| human::tallies(&tallies, look));
        }
    }
    Ok(0)
}

fn reading<T>(world: &World<'_>, answer: impl Future<Output = Result<T, crate::app::Error>>) -> Result<T, Stop> {
    Ok(wait(world, "reading executions", answer)??)
}

/// Which are to be forgotten. Nothing is forgotten by an empty command line.
fn chosen(args: &PruneArgs, app: &App) -> Result<PruneRequest, Stop> {
    if args.ids.is_empty() && args.older_than.is_none() && args.states.is_empty() && !args.all && !args.answers {
        return Err(Stop::usage(
            "it is not said which executions are to be deleted",
            "name their ids, or say --older-than DAYS, --state STATE, --all or --answers; --dry-run only shows which these are",
        ));
    }
    Ok(PruneRequest {
        flow: args.flow.clone(),
        states: args.states.clone(),
        idle_since: args.older_than.map(|days| days_ago(days, app)).transpose()?,
        ids: args.ids.clone(),
        ended: args.all,
        answers: args.answers,
        rehearse: args.dry_run,
    })
}

fn days_ago(days: u32, app: &App) -> Result<DateTime<Utc>, Stop> {
    let then = app.clock().now().checked_sub_signed(TimeDelta::days(i64::from(days)));
    then.ok_or_else(|| Stop::usage(format!("{days} days ago is before all time"), "give fewer days"))
}
