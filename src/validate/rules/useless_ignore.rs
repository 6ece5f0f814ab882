//! `useless-ignore`: an entry that suppresses a rule without a reason, without need, or in vain; found when the
//! findings that it could suppress are known.

use crate::validate::{Check, Rule};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "useless-ignore",
    summary: "Every suppressed rule has a reason, finds something there, and may be suppressed.",
    ..Rule::warning(Check::Catalog)
};
