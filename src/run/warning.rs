//! What the caller of a run should know although nothing failed.

/// What kind of thing was noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WarningKind {
    /// A given value is not used: an edge or the output of a step has its name.
    IgnoredVariable,
    /// No step reads a name that was given.
    UnknownVariable,
    /// A variable that was not given took the output of the only step before.
    AutoMapped,
    /// A placeholder asks for a field of a text.
    TextHasNoFields,
    /// Nobody declares or gives a placeholder's name.
    UnboundPlaceholder,
    /// A call failed, and the node says to go on.
    WentOn,
    /// A part of what a tool gave can't be handed on.
    LeftOut,
}

/// Something the caller should know that keeps nothing from running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// What kind it is.
    pub kind: WarningKind,
    /// The fact.
    pub message: String,
    /// The step it is about.
    pub node: Option<String>,
}

impl Warning {
    /// A warning about a step; none where `id` is empty.
    pub fn of(kind: WarningKind, id: &str, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), node: (!id.is_empty()).then(|| id.to_owned()) }
    }
}
