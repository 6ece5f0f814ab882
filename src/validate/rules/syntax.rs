//! `syntax`: the file can't be read as JSON; found while reading.

use crate::code::Code;
use crate::validate::{Check, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "syntax",
    severity: Severity::Error,
    reach: Reach::Flow,
    code: Code::ParseError,
    warning: None,
    also: &[],
    summary: "The file is strict JSON in UTF-8, nested no deeper than 64 levels.",
    check: Check::Reading,
};
