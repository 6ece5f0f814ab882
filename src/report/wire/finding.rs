//! Findings, and what a check of files found.

use serde_json::{Map, Value, json};

use crate::app::Checkup;
use crate::validate::{Finding, Severity};

/// One finding: rule, severity, reach, place, message, hints.
pub fn finding(finding: &Finding) -> Value {
    let mut object = Map::new();
    object.insert("rule".to_owned(), json!(finding.rule));
    if finding.severity == Severity::Error {
        object.insert("code".to_owned(), json!(finding.code));
    }
    object.insert("severity".to_owned(), json!(finding.severity.to_string()));
    object.insert("reach".to_owned(), json!(finding.reach.to_string()));
    object.insert("file".to_owned(), json!(finding.file.as_str()));
    object.insert("pointer".to_owned(), json!(finding.place.pointer.as_str()));
    object.insert("line".to_owned(), json!(finding.position.line));
    object.insert("column".to_owned(), json!(finding.position.column));
    object.insert("span".to_owned(), json!({"start": finding.span.start, "end": finding.span.end}));
    object.insert("message".to_owned(), json!(finding.message));
    if !finding.files.is_empty() {
        object.insert("files".to_owned(), json!(finding.files));
    }
    if !finding.hints.is_empty() {
        object.insert("hints".to_owned(), json!(finding.hints));
    }
    if let Some(node) = &finding.node {
        object.insert("nodeId".to_owned(), json!(node));
    }
    if let Some(flow) = &finding.flow {
        object.insert("flow".to_owned(), json!(flow));
    }
    if !finding.related.is_empty() {
        let related = finding.related.iter().map(
            |related| json!({"line": related.position.line, "column": related.position.column, "label": related.label}),
        );
        object.insert("related".to_owned(), related.collect());
    }
    Value::Object(object)
}

/// What `flowy validate --json` prints.
pub fn checkup(checkup: &Checkup) -> Value {
    let files = checkup.files.iter().map(|file| {
        let mut object = Map::new();
        object.insert("file".to_owned(), json!(file.shown));
        object.insert("findings".to_owned(), file.findings.iter().map(finding).collect());
        if file.alone {
            object.insert("referencesChecked".to_owned(), json!(false));
        }
        if let Some(error) = &file.unreadable {
            object.insert("error".to_owned(), super::error(error, "validate"));
        }
        Value::Object(object)
    });
    let kept = checkup.kept_tools.iter().map(|kept| json!({"server": kept.server, "ageSeconds": kept.age_seconds}));
    let value = json!({
        "catalogs": checkup.catalogs,
        "files": files.collect::<Vec<_>>(),
        "flows": checkup.flows,
        "templates": checkup.templates,
        "empty": checkup.empty,
        "keptTools": kept.collect::<Vec<_>>(),
        "callsNotLookedUp": checkup.calls_left,
        "errors": checkup.count(Severity::Error),
        "warnings": checkup.count(Severity::Warning),
    });
    let Value::Object(mut object) = value else { return value };
    if let Some(origin) = &checkup.origin {
        super::listing::origin(&mut object, origin);
    }
    Value::Object(object)
}
