//! What only the logs of direct executions hold.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{OutputForm, output_back, output_form, read, written};
use crate::code::{Code, WarningCode};
use crate::model::Generated;
use crate::run::{Moment, OnFailure, StepError, StoredEnd, Warning, Way};

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
struct StepEndedForm {
    step: usize,
    output: Option<OutputForm>,
    /// Code and message.
    error: Option<(Code, String)>,
    /// What a model took that gave no output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generated: Option<Arc<Generated>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningForm>,
    took_us: u64,
    calls: u32,
    retries: u32,
}

#[derive(Serialize, Deserialize)]
struct WarningForm {
    code: String,
    message: String,
    node: Option<String>,
    unfilled: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct InterruptedForm {
    code: Code,
    message: String,
}

impl DirectForm {
    pub(super) fn of(way: Way) -> Option<Self> {
        let word = match way {
            Way::Guided => return None,
            Way::Direct { on_failure: OnFailure::Continue } => "continue",
            Way::Direct { on_failure: OnFailure::Stop } => "stop",
        };
        Some(Self { on_failure: word.to_owned() })
    }

    pub(super) fn back(self) -> Result<Way, String> {
        let on_failure = match self.on_failure.as_str() {
            "continue" => OnFailure::Continue,
            "stop" => OnFailure::Stop,
            other => return Err(format!("{other} does not say what a failure does")),
        };
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
            let form: StepEndedForm = read(body)?;
            Moment::StepEnded { step: form.step, end: ended_back(form)? }
        }
        "interrupted" => {
            let form: InterruptedForm = read(body)?;
            Moment::Interrupted { error: StepError::new(form.code, form.message) }
        }
        _ => return Ok(None),
    }))
}

fn ended(step: usize, end: &StoredEnd) -> StepEndedForm {
    let warning = |warning: &Warning| WarningForm {
        code: warning.code.word().to_owned(),
        message: warning.message.clone(),
        node: warning.node.clone(),
        unfilled: warning.unfilled.clone(),
    };
    StepEndedForm {
        step,
        output: end.result.as_ref().ok().map(output_form),
        error: end.result.as_ref().err().map(|error| (error.code, error.message.clone())),
        generated: end.result.as_ref().err().and_then(|error| error.generated.clone()),
        warnings: end.warnings.iter().map(warning).collect(),
        took_us: u64::try_from(end.took.as_micros()).unwrap_or(u64::MAX),
        calls: end.calls,
        retries: end.retries,
    }
}

fn ended_back(form: StepEndedForm) -> Result<StoredEnd, String> {
    let warning = |form: WarningForm| -> Result<Warning, String> {
        let code = WarningCode::named(&form.code).ok_or_else(|| format!("{} is no warning", form.code))?;
        Ok(Warning { code, message: form.message, node: form.node, unfilled: form.unfilled })
    };
    let result = match (form.output, form.error) {
        (Some(output), _) => Ok(output_back(output)?),
        (None, Some((code, message))) => Err(StepError { generated: form.generated, ..StepError::new(code, message) }),
        (None, None) => return Err("a step ended with neither an output nor an error".to_owned()),
    };
    Ok(StoredEnd {
        result,
        warnings: form.warnings.into_iter().map(warning).collect::<Result<_, _>>()?,
        took: Duration::from_micros(form.took_us),
        calls: form.calls,
        retries: form.retries,
    })
}
