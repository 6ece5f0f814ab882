//! Warnings as they are written: what a caller should know although the answer stands.

use std::collections::{BTreeMap, HashSet};

use super::common::WarningAnswer;
use crate::app::Origin;
use crate::code::WarningCode;
use crate::names::{MOST_NAMED, grouped};
use crate::run;
use crate::validate::{Finding, Reach};

/// A warning as it is written.
pub fn warning(code: WarningCode, message: impl Into<String>) -> WarningAnswer {
    WarningAnswer { code: code.word(), message: message.into(), node_id: None }
}

/// A warning of a run.
pub(super) fn of_run(warning: &run::Warning) -> WarningAnswer {
    about(warning.code, &warning.message, warning.node.as_deref())
}

/// A warning about a node, where it is about one.
pub(super) fn about(code: WarningCode, message: &str, node: Option<&str>) -> WarningAnswer {
    WarningAnswer { node_id: node.map(str::to_owned), ..warning(code, message) }
}

/// What there is to warn of in where an answer comes from, whatever the answer is.
pub(super) fn of_origin(origin: &Origin) -> impl Iterator<Item = WarningAnswer> {
    let ignored = origin.ignored_ref.iter().map(|ignored| warning(WarningCode::RefIgnored, ignored.to_string()));
    let inexact = origin.inexact_name.iter().map(|inexact| warning(WarningCode::InexactName, inexact.to_string()));
    ignored.chain(inexact)
}

/// What the caller should know: of the values given, of auto-mapping, of the file.
pub(in crate::report) fn of_execution(
    noted: &[run::Warning],
    findings: &[Finding],
    origin: &Origin,
) -> Vec<WarningAnswer> {
    let mut all: Vec<WarningAnswer> = of_origin(origin).collect();
    if let Some(reason) = &origin.stale {
        let message = format!("an older copy was used ({} s old): {reason}", origin.age_seconds);
        all.push(warning(WarningCode::Stale, message));
    }
    let mut told: HashSet<(WarningCode, &str, Option<&str>)> = HashSet::new();
    for noted in noted {
        if told.insert((noted.code, &noted.message, noted.node.as_deref())) {
            all.push(of_run(noted));
        }
    }
    // What keeps something from running is told as a failure.
    let mut counts: BTreeMap<WarningCode, usize> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| finding.reach == Reach::None) {
        let Some(code) = finding.warning else { continue };
        let count = counts.entry(code).or_default();
        *count += 1;
        if *count <= MOST_NAMED {
            all.push(about(code, &finding.message, finding.node.as_deref()));
        }
    }
    for (code, count) in counts.into_iter().filter(|(_, count)| *count > MOST_NAMED) {
        let more = grouped(count - MOST_NAMED);
        all.push(warning(code, format!("the same holds of {more} more places; `flowy validate` names them")));
    }
    all
}
