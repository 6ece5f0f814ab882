//! Files that are laid out, for programs.

use schemars::JsonSchema;
use serde::Serialize;

use super::error::ErrorAnswer;
use crate::app::FormatReport;

/// What `flowy fmt --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FormatAnswer {
    /// How many files were looked at.
    files: usize,
    /// The files that change.
    changed: Vec<String>,
    /// The files that can't be laid out.
    refused: Vec<RefusedFile>,
}

/// A file that can't be laid out.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
struct RefusedFile {
    /// The file.
    file: String,
    /// Why.
    error: ErrorAnswer,
}

/// What laying files out came to.
pub fn format_report(report: &FormatReport) -> FormatAnswer {
    let refused = report
        .refused
        .iter()
        .map(|(file, error)| RefusedFile { file: file.clone(), error: ErrorAnswer::of(error, "flows/fmt") });
    FormatAnswer {
        files: report.looked_at,
        changed: report.changed.iter().map(|file| file.shown.clone()).collect(),
        refused: refused.collect(),
    }
}
