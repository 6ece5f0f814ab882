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
}

impl Warning {
    /// A warning about a step; none where `id` is empty.
    pub fn of(code: WarningCode, id: &str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), node: (!id.is_empty()).then(|| id.to_owned()) }
    }
}
