//! The tools as documents show them: made from the definitions that clients are shown.

use super::definition::Kind;
use super::tools;

/// One tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRow {
    /// Its name.
    pub name: &'static str,
    /// Its name for people.
    pub title: &'static str,
    /// When to use it and what comes next.
    pub description: &'static str,
    /// Its arguments, in the order in which clients are shown them.
    pub arguments: Vec<ArgumentRow>,
}

/// One argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentRow {
    /// Its name.
    pub name: &'static str,
    /// What its value is: a type, or the words to choose from.
    pub kind: String,
    /// What holds without it, as JSON; empty when nothing does.
    pub default: &'static str,
    /// Whether the tool does nothing without it.
    pub required: bool,
    /// What it does.
    pub description: &'static str,
}

/// Every tool, sorted by name.
pub fn tool_rows() -> Vec<ToolRow> {
    let row = |tool: &super::definition::Definition| ToolRow {
        name: tool.name,
        title: tool.title,
        description: tool.description,
        arguments: tool
            .parameters
            .iter()
            .filter(|parameter| parameter.listed)
            .map(|parameter| ArgumentRow {
                name: parameter.name,
                kind: kind(parameter.kind),
                default: parameter.default,
                required: parameter.required,
                description: parameter.description,
            })
            .collect(),
    };
    tools::ALL.iter().map(row).collect()
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Text | Kind::File => "text".to_owned(),
        Kind::Count(least, most) => format!("whole number from {least} to {most}"),
        Kind::Seconds(most) => format!("seconds from 0 to {most}"),
        Kind::Flag => "true or false".to_owned(),
        Kind::Word(words) => words.join(", "),
        Kind::Texts => "list of texts".to_owned(),
        Kind::Words(words) => format!("list of {}", words.join(", ")),
        Kind::Values => "object".to_owned(),
        Kind::Anything => "object or text".to_owned(),
    }
}
