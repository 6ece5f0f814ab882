//! Arguments of the commands that write files of a catalog.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{NonEmptyStringValueParser, PossibleValuesParser};

use super::word;
use crate::app::ForeignKind;

/// Arguments of `convert`.
#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("place").required(true).args(["out", "replace"])))]
pub(in crate::cli) struct ConvertArgs {
    /// Files to convert
    #[arg(value_name = "FILE", required = true)]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// The form that they get
    #[arg(long, value_name = "FORM", value_parser = PossibleValuesParser::new(["markdown", "json"]))]
    pub(in crate::cli) to: String,
    /// Write the results into this catalog folder
    #[arg(long, value_name = "FOLDER")]
    pub(in crate::cli) out: Option<PathBuf>,
    /// Write the results beside their sources, and remove the sources
    #[arg(long)]
    pub(in crate::cli) replace: bool,
    /// Take places on the canvas from this flow in JSON
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) onto: Option<PathBuf>,
    /// Convert even if files left out no longer find what they name
    #[arg(long)]
    pub(in crate::cli) force: bool,
}

/// Arguments of `new`.
#[derive(Debug, Args)]
pub(in crate::cli) struct NewArgs {
    /// The name of the flow, which its file gets, too
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::cli) name: String,
    /// What the flow is for
    #[arg(long, value_name = "TEXT", value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::cli) description: Option<String>,
    /// A value that the flow needs; may be repeated
    #[arg(long = "input", value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::cli) inputs: Vec<String>,
    /// Begin with a copy of this built-in example and what it names
    #[arg(long, value_name = "EXAMPLE", value_parser = NonEmptyStringValueParser::new())]
    pub(in crate::cli) from: Option<String>,
}

/// Arguments of `init`.
#[derive(Debug, Args)]
pub(in crate::cli) struct InitArgs {
    /// The folder, which is made where it is missing; the current one without it
    #[arg(value_name = "FOLDER")]
    pub(in crate::cli) folder: Option<PathBuf>,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub(in crate::cli) struct ImportArgs {
    /// What the files are
    #[arg(value_name = "KIND", value_parser = word(ForeignKind::WORDS, ForeignKind::named))]
    pub(in crate::cli) kind: ForeignKind,
    /// Files to read; of a skill, also its folder
    #[arg(value_name = "FILE", required = true)]
    pub(in crate::cli) files: Vec<PathBuf>,
    /// Write the flows into this catalog folder instead of the current one
    #[arg(long, value_name = "FOLDER")]
    pub(in crate::cli) out: Option<PathBuf>,
}
