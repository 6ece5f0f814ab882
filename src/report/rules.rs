//! The rules as pages: what each looks for, a file that has the fault, and one that has it not.

use crate::app::{RULES, Rule};

/// A rule and its page in `docs/rules/`, which is part of the program.
#[derive(Debug, Clone, Copy)]
pub struct RulePage {
    /// The rule.
    pub rule: &'static Rule,
    /// Its page, as Markdown.
    pub text: &'static str,
}

impl RulePage {
    /// The page of a rule.
    pub fn of(id: &str) -> Option<Self> {
        let rule = RULES.iter().find(|rule| rule.id == id)?;
        let (_, text) = PAGES.iter().find(|(page, _)| *page == id)?;
        Some(Self { rule, text })
    }
}

/// Where the page of a rule is read. Without a published repository, a name that means it everywhere.
pub fn address(id: &str) -> String {
    match env!("CARGO_PKG_REPOSITORY") {
        "" => format!("urn:flowy:rule:{id}"),
        repository => format!("{repository}/blob/main/docs/rules/{id}.md"),
    }
}

macro_rules! pages {
    ($($id:literal)*) => {
        /// Every page, by its rule. A test compares the list with the rules, and each page with what is made of its
        /// rule's examples.
        const PAGES: &[(&str, &str)] = &[$(($id, include_str!(concat!("../../docs/rules/", $id, ".md")))),*];
    };
}

pages! {
    "ambiguous-name"
    "ambiguous-output"
    "bad-call"
    "bad-contract"
    "bad-retry"
    "bad-test"
    "bad-version"
    "cycle"
    "dangling-edge"
    "differing-defaults"
    "duplicate-edge"
    "duplicate-key"
    "duplicate-node"
    "empty-flow"
    "empty-step"
    "flow-ring"
    "foreign-placeholder"
    "front-matter"
    "hidden-text"
    "inexact-name"
    "invalid-variable-name"
    "lost-result"
    "misfit-arguments"
    "misfit-default"
    "misplaced-file"
    "missing-flow"
    "missing-flow-input"
    "missing-name"
    "missing-persona"
    "missing-template"
    "misspelt-field"
    "over-limit"
    "path-into-text"
    "schema"
    "self-edge"
    "stray-example"
    "syntax"
    "tool-not-allowed"
    "twin-files"
    "unavailable-tool"
    "unbound-placeholder"
    "unclosed-fence"
    "unconnected-node"
    "unknown-flow-input"
    "unknown-node-kind"
    "unknown-output-field"
    "unknown-set-key"
    "unknown-tool"
    "unknown-variable-set"
    "unordered-tools"
    "unreachable-reference"
    "unread-output"
    "unusable-file"
    "unused-variable"
    "useless-ignore"
    "useless-mapping"
}
