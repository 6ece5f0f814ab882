//! Arguments of the commands that check files: validate, fmt, test, diff and explain.

use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};

use super::word;
use crate::app::{BaselineMode, Severity, Shard};

/// Arguments of `validate`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ValidateArgs {
    /// Files and folders to check; - reads a file's text from stdin
    #[arg(value_name = "PATH")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// The output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = CheckFormat::Plain)]
    pub(in crate::cli) format: CheckFormat,
    /// Exit 1 on findings that are at least this bad
    #[arg(long, value_name = "SEVERITY", value_enum, conflicts_with = "strict")]
    pub(in crate::cli) fail_on: Option<FailOn>,
    /// Also exit 1 on warnings: --fail-on warning
    #[arg(long)]
    pub(in crate::cli) strict: bool,
    /// The file that the text on stdin is for; it is checked in its place
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) stdin_filename: Option<PathBuf>,
    /// Only what changed since this branch, tag or commit, and what that broke elsewhere
    #[arg(long, value_name = "REF", value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::cli) since: Option<String>,
    /// Fix what can be fixed without changing what a flow does; unsafe: also rename and remove declarations
    #[arg(long, value_name = "WHICH", value_enum, num_args = 0..=1, require_equals = true, default_missing_value = "safe")]
    pub(in crate::cli) fix: Option<FixChoice>,
    /// Print what --fix would change, and write nothing; exit 1 if there is anything
    #[arg(long, conflicts_with_all = ["json", "format", "baseline"])]
    pub(in crate::cli) diff: bool,
    /// Write today's findings to flowy-baseline.json, or report only those that are not in it
    #[arg(long, value_name = "WHAT", value_parser = word(BaselineMode::WORDS, BaselineMode::named))]
    pub(in crate::cli) baseline: Option<BaselineMode>,
}

/// Arguments of `fmt`.
#[derive(Debug, Args)]
pub(in crate::cli) struct FmtArgs {
    /// Files and folders; the current folder without any
    #[arg(value_name = "PATH")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Write nothing; exit 1 if a file is not laid out
    #[arg(long)]
    pub(in crate::cli) check: bool,
    /// Write nothing; print what would change
    #[arg(long, conflicts_with = "json")]
    pub(in crate::cli) diff: bool,
}

/// Arguments of `test`.
#[derive(Debug, Args)]
pub(in crate::cli) struct TestArgs {
    /// Only tests of these flows, files or names
    #[arg(value_name = "NAME")]
    pub(in crate::cli) names: Vec<String>,
    /// Write what is there into the files, in the place of texts and lists that were expected
    #[arg(long, conflicts_with = "list")]
    pub(in crate::cli) update: bool,
    /// Name the tests, and run none
    #[arg(long)]
    pub(in crate::cli) list: bool,
    /// Run one part of several, such as 1/4
    #[arg(long, value_name = "I/N", value_parser = Shard::read)]
    pub(in crate::cli) shard: Option<Shard>,
    /// The output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TestFormat::Plain)]
    pub(in crate::cli) format: TestFormat,
}

/// What `test` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub(in crate::cli) enum TestFormat {
    Plain,
    Json,
    Junit,
}

/// Which faults are fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum FixChoice {
    Safe,
    Unsafe,
}

/// What `validate` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub(in crate::cli) enum CheckFormat {
    Plain,
    Json,
    Sarif,
    Github,
    Gitlab,
    Junit,
}

/// From which severity on a finding lets a check fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum FailOn {
    Error,
    Warning,
    Info,
    Never,
}

impl FailOn {
    /// Whether findings of a severity let the check fail.
    pub(in crate::cli) fn counts(self, severity: Severity) -> bool {
        match self {
            Self::Error => severity == Severity::Error,
            Self::Warning => severity != Severity::Info,
            Self::Info => true,
            Self::Never => false,
        }
    }
}

/// Arguments of `diff`.
#[derive(Debug, Args)]
pub(in crate::cli) struct DiffArgs {
    /// The earlier state
    #[arg(value_name = "FROM", value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::cli) from: String,
    /// The later state; the working copy without it
    #[arg(value_name = "TO", value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::cli) to: Option<String>,
    /// The output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = DiffFormat::Markdown)]
    pub(in crate::cli) format: DiffFormat,
    /// Exit 1 if anything changes
    #[arg(long)]
    pub(in crate::cli) exit_code: bool,
}

/// What `diff` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub(in crate::cli) enum DiffFormat {
    Markdown,
    Json,
}

/// Arguments of `explain`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ExplainArgs {
    /// The rule's id
    pub(in crate::cli) rule: Option<String>,
}
