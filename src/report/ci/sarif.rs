//! SARIF 2.1.0, as GitHub's code scanning and editors read it.

use std::path::Path;

use serde_json::{Map, Value, json};

use super::{EMPTY, LONGEST, Told, UNREADABLE, everything};
use crate::app::{Checkup, Severity, SuppressedBy};
use crate::document::Position;
use crate::names::shown;
use crate::report::rules::{self, RulePage};

/// The most results that GitHub takes of one run.
const MOST_RESULTS: usize = 25_000;
/// The most places that GitHub takes of one result, the first one left out.
const MOST_RELATED: usize = 100;
/// To what paths are relative: the folder in which the program was started, whatever its name.
const ROOT: &str = "SRCROOT";

/// Everything that a check found, as a SARIF log of one run.
pub fn sarif(checkup: &Checkup, here: &Path) -> Value {
    let mut told = everything(checkup, here);
    let left_out = told.len().saturating_sub(MOST_RESULTS);
    if left_out > 0 {
        // A stable order: the worst first, each kind as it was found.
        told.sort_by_key(|one| (one.suppressed.is_some(), one.severity));
        told.truncate(MOST_RESULTS);
    }
    let mut used: Vec<&str> = Vec::new();
    for one in &told {
        if !used.contains(&one.rule) {
            used.push(one.rule);
        }
    }
    used.sort_unstable();
    let results: Vec<Value> = told.iter().map(|one| result(one, &used)).collect();
    let mut run = json!({
        "tool": {"driver": {
            "name": "flowy",
            "version": env!("CARGO_PKG_VERSION"),
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "rules": used.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
        }},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {ROOT: {"description": {"text": "The folder in which flowy was started."}}},
        "results": results,
    });
    if left_out > 0 {
        let text = format!("{left_out} more findings are left out: GitHub takes {MOST_RESULTS} of one run.");
        let notification = json!({"level": "warning", "message": {"text": text}});
        let invocation = json!({"executionSuccessful": true, "toolExecutionNotifications": [notification]});
        put(&mut run, "invocations", json!([invocation]));
    }
    json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn descriptor(id: &str) -> Value {
    let Some(page) = RulePage::of(id) else {
        let (text, severity) = match id {
            UNREADABLE => ("Every file of the catalog can be read.", Severity::Error),
            EMPTY => ("A catalog has at least one flow.", Severity::Warning),
            _ => ("", Severity::Warning),
        };
        return json!({
            "id": id,
            "shortDescription": {"text": text},
            "help": {"text": text, "markdown": text},
            "helpUri": rules::address(id),
            "defaultConfiguration": {"level": level(severity)},
        });
    };
    json!({
        "id": id,
        "shortDescription": {"text": page.rule.summary},
        "fullDescription": {"text": page.rule.summary},
        "help": {"text": page.text, "markdown": page.text},
        "helpUri": rules::address(id),
        "defaultConfiguration": {"level": level(page.rule.severity)},
        "properties": {"tags": [format!("reach-{}", page.rule.reach)]},
    })
}

fn result(told: &Told<'_>, rules: &[&str]) -> Value {
    let mut result = json!({
        "ruleId": told.rule,
        "ruleIndex": rules.iter().position(|rule| *rule == told.rule),
        "level": level(told.severity),
        "message": {"text": told.whole_message()},
        "locations": [{"physicalLocation": physical(&told.file, told.from, told.to)}],
        "partialFingerprints": {"flowyFinding/v1": told.fingerprint},
    });
    if !told.related.is_empty() {
        let related = told.related.iter().take(MOST_RELATED).enumerate().map(|(id, (from, to, label))| {
            json!({"id": id, "message": {"text": label}, "physicalLocation": physical(&told.file, *from, *to)})
        });
        put(&mut result, "relatedLocations", related.collect());
    }
    if let Some((what, from, to, text)) = &told.fix {
        let artifact = json!({"uri": uri(&told.file), "uriBaseId": ROOT});
        let replacement = json!({"deletedRegion": region(*from, *to), "insertedContent": {"text": text}});
        let change = json!({"artifactLocation": artifact, "replacements": [replacement]});
        let fix = json!({"description": {"text": shown(what, LONGEST)}, "artifactChanges": [change]});
        put(&mut result, "fixes", json!([fix]));
    }
    if let Some(suppressed) = told.suppressed {
        let kind = if suppressed.by == SuppressedBy::Flow { "inSource" } else { "external" };
        let reason = shown(&suppressed.reason, LONGEST);
        let suppression = json!({"kind": kind, "status": "accepted", "justification": reason});
        put(&mut result, "suppressions", json!([suppression]));
    }
    result
}

/// Another member of an object.
fn put(object: &mut Value, key: &str, value: Value) {
    if let Some(members) = object.as_object_mut() {
        members.insert(key.to_owned(), value);
    }
}

fn physical(file: &str, from: Position, to: Position) -> Value {
    json!({"artifactLocation": {"uri": uri(file), "uriBaseId": ROOT}, "region": region(from, to)})
}

fn region(from: Position, to: Position) -> Value {
    let mut region = Map::new();
    for (key, number) in
        [("startLine", from.line), ("startColumn", from.column), ("endLine", to.line), ("endColumn", to.column)]
    {
        region.insert(key.to_owned(), json!(number));
    }
    Value::Object(region)
}

/// A path as part of an address: each segment is escaped.
fn uri(file: &str) -> String {
    let segments: Vec<String> = file.split('/').map(crate::names::segment).collect();
    segments.join("/")
}
