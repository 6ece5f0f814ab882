//! Arguments of `guide`, and the values that it takes as `run` does.

use std::path::PathBuf;

use clap::Args;
use clap::builder::NonEmptyStringValueParser;

/// Arguments of `guide`.
#[derive(Debug, Args)]
pub(in crate::cli) struct GuideArgs {
    /// The name of the flow
    #[arg(required_unless_present = "resume")]
    pub(in crate::cli) name: Option<String>,
    /// Go on with this execution, by its id or the end of it
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new(),
          conflicts_with_all = ["name", "vars", "json_vars", "file_vars", "files", "set", "task"])]
    pub(in crate::cli) resume: Option<String>,
    /// Let a program answer: it reads a step from stdin and writes the answer to stdout
    #[arg(long = "with", value_name = "COMMAND", value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::cli) program: Option<String>,
    /// What the whole is for, kept with the execution
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::cli) task: Option<String>,
    /// The values.
    #[command(flatten)]
    pub(in crate::cli) values: ValueArgs,
}

/// The values for a flow.
#[derive(Debug, Args)]
pub(in crate::cli) struct ValueArgs {
    /// A value, as text
    #[arg(long = "var", value_name = "NAME=TEXT")]
    pub(in crate::cli) vars: Vec<String>,
    /// A value, as JSON: a number, true, a list, an object
    #[arg(long = "var-json", value_name = "NAME=JSON")]
    pub(in crate::cli) json_vars: Vec<String>,
    /// A value, read from a file as text
    #[arg(long = "var-file", value_name = "NAME=FILE")]
    pub(in crate::cli) file_vars: Vec<String>,
    /// Read values from a JSON object in a file, or from stdin with -; other flags override them
    #[arg(long = "vars", value_name = "FILE")]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Start from a variable set; `flowy show NAME` lists the sets
    #[arg(long, value_name = "SET", value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::cli) set: Option<String>,
}
