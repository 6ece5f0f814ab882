//! How a step ended that the server did, in guided executions and direct ones.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{OutputForm, output_back, output_form};
use crate::code::{Code, WarningCode};
use crate::model::Generated;
use crate::run::{CallTrouble, StepError, StoredEnd, Warning};

#[derive(Serialize, Deserialize)]
pub(super) struct EndedForm {
    pub(super) step: usize,
    output: Option<OutputForm>,
    /// Code and message.
    error: Option<(Code, String)>,
    /// What a model took that gave no output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    generated: Option<Arc<Generated>>,
    /// What of a failed call decides what comes next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    call: Option<CallTrouble>,
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

pub(super) fn ended(step: usize, end: &StoredEnd) -> EndedForm {
    let warning = |warning: &Warning| WarningForm {
        code: warning.code.word().to_owned(),
        message: warning.message.clone(),
        node: warning.node.clone(),
        unfilled: warning.unfilled.clone(),
    };
    EndedForm {
        step,
        output: end.result.as_ref().ok().map(output_form),
        error: end.result.as_ref().err().map(|error| (error.code, error.message.clone())),
        generated: end.result.as_ref().err().and_then(|error| error.generated.clone()),
        call: end.result.as_ref().err().and_then(|error| error.call),
        warnings: end.warnings.iter().map(warning).collect(),
        took_us: u64::try_from(end.took.as_micros()).unwrap_or(u64::MAX),
        calls: end.calls,
        retries: end.retries,
    }
}

pub(super) fn ended_back(form: EndedForm) -> Result<StoredEnd, String> {
    let warning = |form: WarningForm| -> Result<Warning, String> {
        let code = WarningCode::named(&form.code).ok_or_else(|| format!("{} is no warning", form.code))?;
        Ok(Warning { code, message: form.message, node: form.node, unfilled: form.unfilled })
    };
    let result = match (form.output, form.error) {
        (Some(output), _) => Ok(output_back(output)?),
        (None, Some((code, message))) => {
            Err(StepError { generated: form.generated, call: form.call, ..StepError::new(code, message) })
        }
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
