//! What helps next, in the words of whoever is told: callers of tools, or people who type commands.
//!
//! It knows how each surface names things, and nothing of what they do.

use std::ops::Add;

use crate::names::{quoted, shell_word};

/// What the surfaces word differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word<'w> {
    /// Listing flows.
    List,
    /// Showing a flow.
    Show,
    /// Executing a flow.
    Execute,
    /// Executing this flow.
    ExecuteFlow(&'w str),
    /// Beginning a guided execution.
    Begin,
    /// Asking how the execution of that id stands.
    Status(&'w str),
    /// The argument of that name, and its flag.
    Argument(&'w str, &'w str),
    /// Words for tools, and for commands.
    Either(&'w str, &'w str),
}

/// The call or change that helps: a text for each surface, made by adding up texts and words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NextStep {
    tools: String,
    commands: String,
}

impl NextStep {
    /// Two texts: for tools, for commands.
    pub fn either(tools: impl Into<String>, commands: impl Into<String>) -> Self {
        Self { tools: tools.into(), commands: commands.into() }
    }

    /// For a model or a program that calls tools.
    pub fn for_tools(&self) -> &str {
        &self.tools
    }

    /// For a person who types commands.
    pub fn for_commands(&self) -> &str {
        &self.commands
    }
}

impl<T: Into<String>> From<T> for NextStep {
    fn from(text: T) -> Self {
        let text = text.into();
        Self::either(text.clone(), text)
    }
}

impl From<Word<'_>> for NextStep {
    fn from(word: Word<'_>) -> Self {
        let (tools, commands) = match word {
            Word::List => ("flows_list", "`flowy list`"),
            Word::Show => ("flows_show", "`flowy show NAME`"),
            Word::Execute => ("flows_execute", "`flowy run NAME`"),
            Word::Begin => ("flows_begin", "`flowy guide NAME`"),
            Word::Either(tools, commands) => (tools, commands),
            Word::ExecuteFlow(flow) => {
                let typed = format!("`flowy run {}`", shell_word(flow));
                return Self::either(format!("flows_execute, flowName {}", quoted(flow)), typed);
            }
            Word::Status(id) => {
                let typed = format!("`flowy executions show {id}`");
                return Self::either(format!("flows_status with executionId {id}"), typed);
            }
            Word::Argument(name, flag) => return Self::either(format!("`{name}`"), flag),
        };
        Self::either(tools, commands)
    }
}

impl<T: Into<Self>> Add<T> for NextStep {
    type Output = Self;

    fn add(self, more: T) -> Self {
        let more = more.into();
        Self::either(self.tools + &more.tools, self.commands + &more.commands)
    }
}

impl<T: Into<NextStep>> Add<T> for Word<'_> {
    type Output = NextStep;

    fn add(self, more: T) -> NextStep {
        NextStep::from(self) + more
    }
}

impl Add<Word<'_>> for &str {
    type Output = NextStep;

    fn add(self, more: Word<'_>) -> NextStep {
        NextStep::from(self) + more
    }
}
