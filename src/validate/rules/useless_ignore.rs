//! `useless-ignore`: an entry that suppresses a rule without a reason, without need, or in vain; found when the
//! findings that it could suppress are known.

use crate::code::Code;
use crate::validate::{Check, Reach, Rule, Severity};

/// The rule.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "useless-ignore",
    severity: Severity::Warning,
    reach: Reach::None,
    code: Code::ValidationError,
    warning: None,
    also: &[],
    summary: "Every suppressed rule has a reason, finds something there, and may be suppressed.",
    check: Check::Catalog,
};
