//! `flowy models`: the models that may answer steps, and whether one answers.

use super::{Done, World, wait};
use crate::app::{check_model, list_models};
use crate::cli::args::ModelsCommand;
use crate::report::{human, wire};

/// Shows what is configured, or asks one model for a word.
pub(super) fn models(command: &ModelsCommand, world: &World<'_>) -> Done {
    let settings = world.settings()?;
    let printer = world.printer;
    match command {
        ModelsCommand::List => {
            let rows = list_models(&settings);
            if world.answer(|| wire::models(&rows), |look| human::models(&rows, look)) {
                printer.note(&human::models_notes(&rows, printer.err_look()));
            }
        }
        ModelsCommand::Check(args) => {
            let doing = format!("asking {}", crate::names::shown(&args.name, 60));
            // Where no line moves, its user is told what is waited for, and for how long.
            if let Some(row) = list_models(&settings).iter().find(|row| row.spec.name == args.name)
                && !printer.err_look().terminal
            {
                printer.note(&format!("{doing}, for {} s at most", row.spec.timeout.as_secs().max(1)));
            }
            let trial = wait(world, &doing, check_model(&settings, world.clock.clone(), &args.name))??;
            world.answer(|| wire::model_trial(&trial), |_| human::model_trial(&trial));
        }
    }
    Ok(0)
}
