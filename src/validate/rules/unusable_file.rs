//! `unusable-file`: a persona or a contract that can't be used, and that no flow names.

use std::sync::Arc;

use crate::code::Code;
use crate::document::{Locator, Place, Position, Span};
use crate::model::{Contract, Persona};
use crate::names::CatalogPath;
use crate::validate::finding::of_file;
use crate::validate::guidance::{CONTRACT_HINT, PERSONA_HINT, is_contract};
use crate::validate::{Check, Finding, Reach, Rule, Severity, Verdict, parse};

/// The rule. Where a flow names the file, the flow's own finding says so.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "unusable-file",
    severity: Severity::Warning,
    reach: Reach::None,
    code: Code::ValidationError,
    warning: None,
    also: &[Verdict {
        severity: Severity::Error,
        reach: Reach::None,
        when: "a flow names it, and the file alone is checked",
    }],
    summary: "Every persona and contract file can be used, even if no flow names it.",
    check: Check::Catalog,
};

/// What is wrong with the text of a persona or a contract, if anything is.
pub fn unusable_file(path: &CatalogPath, bytes: &[u8]) -> Option<Finding> {
    if is_contract(path) { contract(path, bytes) } else { persona(path, bytes) }
}

/// The same where a flow that nobody asks about names the file.
pub fn named_by_a_flow(found: Finding) -> Finding {
    found.error(Reach::None)
}

fn contract(path: &CatalogPath, bytes: &[u8]) -> Option<Finding> {
    let told = |message: String, hint: &str| of_file(&RULE, path.clone(), message, hint.to_owned());
    match parse(path, bytes) {
        Err(problem) => Some(Finding {
            text: problem.text.clone(),
            span: problem.span,
            position: problem.position,
            ..told(format!("not a contract: {}", problem.message), problem.hint.unwrap_or(CONTRACT_HINT))
        }),
        Ok(document) => {
            let trouble = Contract::compile(None, document.value.clone()).err()?;
            let (locator, place) = (Locator::new(&document.text), Place::value(trouble.at.clone()));
            let span = locator.span(&place);
            let position = locator.position(span.start);
            let found = told(format!("not a contract: {trouble}"), CONTRACT_HINT);
            Some(Finding { text: document.text.clone(), place, span, position, ..found })
        }
    }
}

fn persona(path: &CatalogPath, bytes: &[u8]) -> Option<Finding> {
    let trouble = match Persona::read_noting(path.clone(), bytes) {
        Err(trouble) => trouble,
        Ok((_, problem)) => {
            let (problem, text) = problem?;
            let message = format!("the front matter is read line by line, because it is no YAML: {}", problem.message);
            let found = of_file(&super::front_matter::RULE, path.clone(), message, problem.hint.to_owned());
            let position = Position::of(&text, problem.span.start);
            let (severity, reach) = (Severity::Warning, Reach::None);
            return Some(Finding { text: text.into(), span: problem.span, position, severity, reach, ..found });
        }
    };
    let hint = trouble.hint().unwrap_or(PERSONA_HINT).to_owned();
    let found = of_file(&RULE, path.clone(), format!("not a persona: {trouble}"), hint);
    let Some(line) = trouble.line() else { return Some(found) };
    let text = String::from_utf8_lossy(bytes);
    let start = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let length = text.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
    let span = Span { start, end: start + length };
    Some(Finding { text: Arc::from(&*text), span, position: Position { line, column: 1 }, ..found })
}
