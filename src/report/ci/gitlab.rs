//! GitLab's Code Quality report.

use std::path::Path;

use serde_json::{Value, json};

use super::everything;
use crate::app::{Checkup, Severity};

/// Everything that is reported, as GitLab takes it.
pub fn code_quality(checkup: &Checkup, here: &Path) -> Value {
    let told = everything(checkup, here);
    let entry = told.iter().filter(|one| one.suppressed.is_none()).map(|one| {
        let severity = match one.severity {
            Severity::Error => "major",
            Severity::Warning => "minor",
            Severity::Info => "info",
        };
        json!({
            "description": one.whole_message(),
            "check_name": one.rule,
            "fingerprint": one.fingerprint,
            "severity": severity,
            "location": {"path": one.file, "lines": {"begin": one.from.line, "end": one.to.line}},
        })
    });
    Value::Array(entry.collect())
}
