//! The rules, for people: all of them, or one with its examples.

use super::{Look, prose, table, whole};
use crate::app::RULES;
use crate::report::rules::RulePage;

/// Every rule with its severity and what it looks for.
pub fn rules(look: Look) -> String {
    let columns = [whole("rule"), whole("severity"), prose("what it looks for")];
    let rows: Vec<Vec<String>> =
        RULES.iter().map(|rule| vec![rule.id.to_owned(), rule.severity.to_string(), rule.summary.to_owned()]).collect();
    table(&columns, &rows, 2, look)
}

/// One rule's page.
pub fn rule(page: &RulePage) -> String {
    page.text.to_owned()
}
