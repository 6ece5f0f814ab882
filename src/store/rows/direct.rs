//! What only the logs of direct executions hold.

use serde::{Deserialize, Serialize};

use super::ends::{EndedForm, ended, ended_back};
use super::{read, written};
use crate::code::Code;
use crate::run::{Moment, OnFailure, StepError, Way};

#[derive(Serialize, Deserialize)]
pub(super) struct DirectForm {
    /// `continue` or `stop`.
    on_failure: String,
}

#[derive(Serialize, Deserialize)]
struct TakenForm {
    driver: String,
}

#[derive(Serialize, Deserialize)]
struct StepStartedForm {
    step: usize,
}

#[derive(Serialize, Deserialize)]
struct InterruptedForm {
    code: Code,
    message: String,
}

impl DirectForm {
    pub(super) fn of(way: Way) -> Option<Self> {
        match way {
            Way::Guided => None,
            Way::Direct { on_failure } => Some(Self { on_failure: on_failure.word().to_owned() }),
        }
    }

    pub(super) fn back(self) -> Result<Way, String> {
        let word = &self.on_failure;
        let on_failure = OnFailure::named(word).ok_or_else(|| format!("{word} does not say what a failure does"))?;
        Ok(Way::Direct { on_failure })
    }
}

/// The form of a moment of a direct execution; none of another.
pub(super) fn encoded(moment: &Moment) -> Option<Result<(&'static str, String), String>> {
    Some(match moment {
        Moment::Taken { driver } => written("taken", &TakenForm { driver: driver.clone() }),
        Moment::StepStarted { step } => written("step_started", &StepStartedForm { step: *step }),
        Moment::StepEnded { step, end } => written("step_ended", &ended(*step, end)),
        Moment::Interrupted { error } => {
            written("interrupted", &InterruptedForm { code: error.code, message: error.message.clone() })
        }
        _ => return None,
    })
}

/// The moment of a kind that only direct executions have; none of another kind.
pub(super) fn decoded(kind: &str, body: &str) -> Result<Option<Moment>, String> {
    Ok(Some(match kind {
        "taken" => Moment::Taken { driver: read::<TakenForm>(body)?.driver },
        "step_started" => Moment::StepStarted { step: read::<StepStartedForm>(body)?.step },
        "step_ended" => {
            let form: EndedForm = read(body)?;
            Moment::StepEnded { step: form.step, end: ended_back(form)? }
        }
        "interrupted" => {
            let form: InterruptedForm = read(body)?;
            Moment::Interrupted { error: StepError::new(form.code, form.message) }
        }
        _ => return Ok(None),
    }))
}
