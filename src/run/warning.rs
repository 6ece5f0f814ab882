//! What the caller of a run should know although nothing failed.

use crate::code::WarningCode;

/// Something the caller should know that keeps nothing from running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What kind it is.
    pub code: WarningCode,
    /// The fact.
    pub message: String,
    /// The step it is about.
    pub node: Option<String>,
    /// The placeholder that stays as it is, where it asks for a field of a step's output.
    pub unfilled: Option<String>,
}

impl Warning {
    /// A warning about a step; none where `id` is empty.
    pub fn of(code: WarningCode, id: &str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), node: (!id.is_empty()).then(|| id.to_owned()), unfilled: None }
    }

    /// A placeholder asks for a field of a text; `of_output` says that the text is a step's output.
    pub fn text_has_no_fields(id: &str, spelt: String, of_output: bool) -> Self {
        let message = format!("{{{spelt}}} asks for a field of a text; it stays as it is");
        Self { unfilled: of_output.then_some(spelt), ..Self::of(WarningCode::TextHasNoFields, id, message) }
    }
}
