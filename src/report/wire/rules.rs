//! The rules, for programs.

use schemars::JsonSchema;
use serde::Serialize;

use crate::app::{RULES, Rule};
use crate::report::rules::{RulePage, address};

/// What `flowy explain --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RulesAnswer {
    /// The rules that were asked for.
    rules: Vec<RuleAnswer>,
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RuleAnswer {
    /// Id of the rule.
    rule: &'static str,
    /// What it looks for.
    summary: &'static str,
    /// How bad what it finds is, as a rule.
    severity: String,
    /// What that keeps from running, as a rule.
    reach: String,
    /// What else it may say.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    also: Vec<VerdictAnswer>,
    /// Address of its page.
    address: String,
    /// Its page with examples, as Markdown; only where one rule was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<&'static str>,
}

/// What a rule says of some of what it finds.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
struct VerdictAnswer {
    /// How bad it is.
    severity: String,
    /// What it keeps from running.
    reach: String,
    /// Of what.
    when: &'static str,
}

fn answer(rule: &'static Rule, page: Option<&'static str>) -> RuleAnswer {
    let also = rule.also.iter().map(|also| VerdictAnswer {
        severity: also.severity.to_string(),
        reach: also.reach.to_string(),
        when: also.when,
    });
    RuleAnswer {
        rule: rule.id,
        summary: rule.summary,
        severity: rule.severity.to_string(),
        reach: rule.reach.to_string(),
        also: also.collect(),
        address: address(rule.id),
        page,
    }
}

/// Every rule, without its page.
pub fn rules() -> RulesAnswer {
    RulesAnswer { rules: RULES.iter().map(|rule| answer(rule, None)).collect() }
}

/// One rule, with its page.
pub fn rule(page: &RulePage) -> RulesAnswer {
    RulesAnswer { rules: vec![answer(page.rule, Some(page.text))] }
}
