//! `unusable-file`: a persona or a contract that can't be used, and that no flow names.

use std::sync::Arc;

use crate::document::{Locator, Place, Position, Span};
use crate::model::{Contract, Persona, PersonaFront};
use crate::names::{CatalogPath, nearly_same, quoted, spelt_in_tags};
use crate::validate::finding::of_file;
use crate::validate::guidance::{CONTRACT_HINT, PERSONA_HINT, is_contract};
use crate::validate::rules::{duplicate_key, front_matter, hidden_text, misspelt_field};
use crate::validate::{Check, Finding, Reach, Rule, Severity, Verdict, parse};

/// The rule. Where a flow names the file, the flow's own finding says so.
pub(in crate::validate) const RULE: Rule = Rule {
    id: "unusable-file",
    also: &[Verdict {
        severity: Severity::Error,
        reach: Reach::None,
        when: "a flow names it, and the file alone is checked",
    }],
    summary: "Every persona and contract file can be used, even if no flow names it.",
    ..Rule::warning(Check::Catalog)
};

/// What is wrong with the text of a persona or a contract.
pub fn unusable_file(path: &CatalogPath, bytes: &[u8]) -> Vec<Finding> {
    if is_contract(path) { contract(path, bytes) } else { persona(path, bytes) }
}

/// Whether a finding says that its file can't be used.
pub fn is_unusable(found: &Finding) -> bool {
    found.rule == RULE.id
}

/// The same where a flow that nobody asks about names the file.
pub fn named_by_a_flow(found: Finding) -> Finding {
    found.error(Reach::None)
}

fn contract(path: &CatalogPath, bytes: &[u8]) -> Vec<Finding> {
    let told = |message: String, hint: &str| of_file(&RULE, path.clone(), message, hint.to_owned());
    let document = match parse(path, bytes) {
        Err(problem) => {
            let hint = problem.hint.unwrap_or(CONTRACT_HINT);
            let found = told(format!("not a contract: {}", problem.message), hint);
            let (text, span, position) = (problem.text.clone(), problem.span, problem.position);
            return vec![Finding { text, span, position, ..found }];
        }
        Ok(document) => document,
    };
    let locator = Locator::new(&document.text);
    let at = |place: Place, found: Finding| {
        let span = locator.span(&place);
        let position = locator.position(span.start);
        Finding { text: document.text.clone(), place, span, position, ..found }
    };
    let hidden =
        document.hidden.iter().map(|one| at(one.place.clone(), hidden_text::told(path, one.count, &one.spelt)));
    let trouble = Contract::compile(None, document.value.clone()).err();
    let trouble = trouble
        .map(|trouble| at(Place::value(trouble.at.clone()), told(format!("not a contract: {trouble}"), CONTRACT_HINT)));
    trouble.into_iter().chain(hidden).collect()
}

fn persona(path: &CatalogPath, bytes: &[u8]) -> Vec<Finding> {
    let trouble = match Persona::read_noting(path.clone(), bytes) {
        Err(trouble) => trouble,
        Ok((_, front)) => return noticed(path, front),
    };
    let hint = trouble.hint().unwrap_or(PERSONA_HINT).to_owned();
    let found = of_file(&RULE, path.clone(), format!("not a persona: {trouble}"), hint);
    let Some(line) = trouble.line() else { return vec![found] };
    let text = String::from_utf8_lossy(bytes);
    let start = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let length = text.get(start..).and_then(|rest| rest.lines().next()).map_or(0, str::len);
    let span = Span { start, end: start + length };
    vec![Finding { text: Arc::from(&*text), span, position: Position { line, column: 1 }, ..found }]
}

/// What is odd in a persona that can be used.
fn noticed(path: &CatalogPath, front: PersonaFront) -> Vec<Finding> {
    let PersonaFront { text, problem, keys, duplicates, hidden } = front;
    let text: Arc<str> = text.into();
    let warning = |rule, span: Span, message: String, hint: String| {
        let found = of_file(rule, path.clone(), message, hint);
        let (severity, reach) = (Severity::Warning, Reach::None);
        Finding { text: text.clone(), span, position: Position::of(&text, span.start), severity, reach, ..found }
    };
    let mut found = Vec::new();
    if !hidden.is_empty() {
        found.push(hidden_text::told(path, hidden.chars().count(), &spelt_in_tags(&hidden)));
    }
    if let Some(problem) = problem {
        let message = format!("the front matter is read line by line, because it is no YAML: {}", problem.message);
        found.push(warning(&front_matter::RULE, problem.span, message, problem.hint.to_owned()));
    }
    for duplicate in duplicates {
        let key = duplicate.pointer.steps().last().unwrap_or_default();
        let message = format!("key {} stands twice; the last one counts", quoted(&key));
        found.push(warning(&duplicate_key::RULE, duplicate.again, message, "remove one of the two".to_owned()));
    }
    // Other programs' keys may stand there, too.
    let known = |key: &str| PersonaFront::KEYS.contains(&key);
    let misspelt = keys.iter().filter(|(key, _)| !known(key)).filter_map(|(key, at)| {
        let meant = PersonaFront::KEYS.into_iter().find(|known| nearly_same(key, known))?;
        Some((key, *at, format!("did you mean {}?", quoted(meant))))
    });
    found.extend(misspelt.map(|(key, at, hint)| {
        warning(&misspelt_field::RULE, at, format!("flowy ignores the field {}", quoted(key)), hint)
    }));
    if let Some((_, at)) = keys.first().filter(|_| found.is_empty() && !keys.iter().any(|(key, _)| known(key))) {
        let message = "what stands between the two lines of --- is taken for a front matter, and no model sees it";
        let hint = "begin the file with another line where it belongs to the text";
        found.push(warning(&front_matter::RULE, *at, message.to_owned(), hint.to_owned()));
    }
    found
}
