//! What is mended of a file's text: what findings say of it, and slips that no rule speaks of. And the order of keys.
//!
//! What is safe changes neither plan nor inputs nor outputs of a flow that ran before.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Finding, rules};
use crate::document::{Document, Edit, Pointer, SyntaxProblem, laid_out, spliced, without_trailing_commas};
use crate::model::wire::{edited, in_order, is_markdown, parse, read_flows, unfenced};
use crate::names::CatalogPath;

/// How a finding goes away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// What is changed, in the finding's file.
    pub edit: Edit,
    /// Whether that keeps the meaning of the file: a rename, and what adds to or takes from variables, may not.
    pub safe: bool,
    /// What is done, in words that follow "flowy can".
    pub what: String,
}

/// A text after one round of mending; none where there is nothing to mend. What is mended may show more.
pub fn mended(path: &CatalogPath, bytes: &[u8], findings: &[Finding], unsafe_too: bool) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let plain = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let document = match parse(path, bytes) {
        Ok(document) => document,
        Err(problem) if is_markdown(path.as_str()) => {
            return with_quotes(path, &problem, plain).or_else(|| without_fence(path, &problem, plain));
        }
        Err(problem) => return without_commas(&problem, plain),
    };
    if !document.duplicates.is_empty() {
        // Which of two equal keys is meant, nobody knows.
        return (plain.len() < text.len()).then(|| plain.to_owned());
    }
    let fixes = findings.iter().filter(|finding| finding.file == *path).filter_map(|finding| finding.fix.as_ref());
    let mut edits: Vec<Edit> = Vec::new();
    for fix in fixes.filter(|fix| fix.safe || unsafe_too) {
        if !edits.contains(&fix.edit) {
            edits.push(fix.edit.clone());
        }
    }
    if edits.is_empty() && !is_markdown(path.as_str()) {
        edits = of_edges(&document);
    }
    let new = edited(path, plain, &edits).unwrap_or_else(|| plain.to_owned());
    (new != text).then_some(new)
}

fn without_commas(problem: &SyntaxProblem, text: &str) -> Option<String> {
    let (new, spans) = without_trailing_commas(text)?;
    spans.contains(&problem.span).then_some(new)
}

/// A file in Markdown without the fence around it, if it can be read then.
fn without_fence(path: &CatalogPath, problem: &SyntaxProblem, text: &str) -> Option<String> {
    let new = unfenced(text, problem.span)?;
    parse(path, new.as_bytes()).is_ok().then_some(new)
}

/// Values that begin with a placeholder in double braces get their quotation marks, if the file can be read then.
fn with_quotes(path: &CatalogPath, problem: &SyntaxProblem, text: &str) -> Option<String> {
    let begin = problem.span.start;
    let line = text.get(begin..)?.lines().next()?.trim_end();
    if !line.starts_with("{{") {
        return None;
    }
    // Within braces or brackets the value is over before the line is.
    let ends = [line.len()].into_iter().chain(line.match_indices("}}").map(|(at, mark)| at + mark.len()));
    for end in ends {
        let quoted = Value::from(line.get(..end)?).to_string();
        let new = spliced(text, vec![(begin..begin + end, quoted)])?;
        match parse(path, new.as_bytes()) {
            Ok(_) => return Some(new),
            Err(next) if next.span.start > begin + end => {
                if let Some(all) = with_quotes(path, &next, &new) {
                    return Some(all);
                }
            }
            Err(_) => {}
        }
    }
    None
}

/// What takes one finding out of its file's text: the bytes that go, and what comes in their place.
pub fn fix_of(finding: &Finding) -> Option<(Range<usize>, String)> {
    let (path, text) = (&finding.file, &*finding.text);
    let after = match &finding.fix {
        Some(fix) => edited(path, text, std::slice::from_ref(&fix.edit))?,
        // Slips for which a file can't be read have no edit of their own.
        None if parse(path, text.as_bytes()).is_err() => mended(path, text.as_bytes(), &[], false)?,
        None => return None,
    };
    let same = |a: &mut dyn Iterator<Item = (char, char)>| -> usize {
        a.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
    };
    let start = same(&mut text.chars().zip(after.chars()));
    let (left, new) = (text.get(start..)?, after.get(start..)?);
    let end = same(&mut left.chars().rev().zip(new.chars().rev()));
    Some((start..text.len() - end, new.get(..new.len() - end)?.to_owned()))
}

/// What mends a finding, in words, and whether that is safe; none where nothing does.
pub fn mending_of(finding: &Finding) -> Option<(&str, bool)> {
    match &finding.fix {
        Some(fix) => Some((&fix.what, fix.safe)),
        // Slips for which a file can't be read have no edit of their own.
        None if [rules::syntax::RULE.id, rules::front_matter::RULE.id].contains(&finding.rule) => {
            fix_of(finding).map(|_| ("repair the file's syntax", true))
        }
        None => None,
    }
}

/// Edges that say nothing new go, and edges without an id get one.
fn of_edges(document: &Document) -> Vec<Edit> {
    let mut edits = Vec::new();
    for flow in read_flows(document).flows {
        let mut ids: BTreeSet<String> = flow.edges.iter().filter_map(|edge| edge.id.clone()).collect();
        let mut seen: HashSet<String> = HashSet::new();
        for (number, edge) in flow.edges.iter().enumerate() {
            let at = flow.edge_pointer(number);
            let Some(Value::Object(members)) = document.value.pointer(at.as_str()) else { continue };
            if !members.contains_key("data") {
                let mut plain = members.clone();
                plain.shift_remove("id");
                if !seen.insert(Value::Object(plain).to_string()) {
                    edits.push(Edit::Remove(at));
                    continue;
                }
            }
            if !members.contains_key("id") {
                let id = free_id(&edge.from, &edge.to, &ids);
                ids.insert(id.clone());
                edits.push(Edit::Insert(at, "id".to_owned(), id));
            }
        }
    }
    edits
}

/// An id for an edge that no other edge has.
pub(super) fn free_id(from: &str, to: &str, taken: &BTreeSet<String>) -> String {
    let plain = format!("{from}-{to}");
    let numbered = (2..).map(|number| format!("{plain}-{number}"));
    std::iter::once(plain.clone()).chain(numbered).find(|id| !taken.contains(id)).unwrap_or(plain)
}

/// Why a file is not laid out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// It can't be read.
    #[error("line {}, column {}: {}", .0.position.line, .0.position.column, .0.message)]
    Syntax(Box<SyntaxProblem>),
    /// A key stands twice, and laying out would hide that.
    #[error("the key at {0} stands twice")]
    RepeatedKey(Pointer),
}

/// A file of flows or templates laid out: the keys that the format names on file, flow, node, edge and template come
/// in its order, everything else stays in the order in which it is read. Of Markdown, front matter and blocks are.
///
/// # Errors
/// When it can't be read, or repeats a key.
pub fn formatted(path: &CatalogPath, bytes: &[u8]) -> Result<String, LayoutError> {
    let document = parse(path, bytes).map_err(|problem| LayoutError::Syntax(Box::new(problem)))?;
    if let Some(twice) = document.duplicates.first() {
        return Err(LayoutError::RepeatedKey(twice.pointer.clone()));
    }
    if is_markdown(path.as_str()) {
        return in_order(path, &document.text).map_err(|problem| LayoutError::Syntax(Box::new(problem)));
    }
    Ok(laid_out(&document.text, &order).unwrap_or_else(|| document.text.to_string()))
}

fn order(at: &Pointer) -> &'static [&'static str] {
    let steps: Vec<String> = at.steps().collect();
    let mut kinds: Vec<&str> = Vec::with_capacity(steps.len());
    for step in &steps {
        kinds.push(if step.parse::<usize>().is_ok() { "0" } else { step });
    }
    match kinds.as_slice() {
        [] => &["$schema", "id", "title", "metadata", "flows", "templates", "template", "variables", "nodes", "edges"],
        ["flows", "0"] => &["meta", "nodes", "edges"],
        ["nodes", "0"] | ["flows", "0", "nodes", "0"] => &["id", "type", "data"],
        ["edges", "0"] | ["flows", "0", "edges", "0"] => {
            &["id", "source", "target", "sourceHandle", "targetHandle", "type", "data"]
        }
        ["templates", "0"] => &["id", "title", "template", "variables", "variableValueSets"],
        _ => &[],
    }
}
