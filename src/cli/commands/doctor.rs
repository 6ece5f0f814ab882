//! `flowy doctor`: what keeps the program from working on this machine, and what helps.

use super::{Done, World, wait};
use crate::app::{DoctorRequest, Standing, examine};
use crate::config::Settings;
use crate::report::{human, wire};

/// Looks at everything; exits with 1 where something is wrong.
pub(super) fn doctor(world: &World<'_>) -> Done {
    let request = DoctorRequest {
        settings: Settings::load(&world.everywhere.settings.0, world.environment),
        environment: world.environment.clone(),
        clock: world.clock.clone(),
        program: std::env::current_exe().ok(),
    };
    let checks = wait(world, "looking at everything", examine(request))?;
    world.answer(|| wire::doctor(&checks), |look| human::doctor(&checks, look));
    Ok(u8::from(checks.iter().any(|check| check.standing == Standing::Wrong)))
}
