//! Files that are laid out, for programs.

use serde_json::{Value, json};

use super::error::ErrorAnswer;
use crate::app::FormatReport;

/// What `flowy fmt --json` prints: how many files were looked at, those that change, and those that can't be laid out
/// with the reason.
pub fn format_report(report: &FormatReport) -> Value {
    let changed: Vec<&str> = report.changed.iter().map(|file| file.shown.as_str()).collect();
    let refused = report.refused.iter();
    let refused: Vec<Value> =
        refused.map(|(file, error)| json!({"file": file, "error": ErrorAnswer::of(error, "flows/fmt")})).collect();
    json!({"files": report.looked_at, "changed": changed, "refused": refused})
}
