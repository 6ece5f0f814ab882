//! Listings.

use serde_json::{Map, Value, json};

use super::common::WarningAnswer;
use super::warning::{of_origin, warning};
use super::written::Written;
use crate::app::{Exposed, ExposedTool, Listing, NotExposed, Origin, UNASKED_EXAMPLES};
use crate::code::WarningCode;
use crate::discover::{FileProblem, ListKind, Mode, Page, Reason};
use crate::names::counted;

/// What `flows_list` answers. `warnings` are those of the call itself, in front of the listing's own.
pub fn listing(listing: &Listing, warnings: &[WarningAnswer]) -> Value {
    let mut object = Map::new();
    object.insert(key(listing).to_owned(), json!(listing.page.entries));
    object.extend(around(listing, warnings));
    Value::Object(object)
}

/// The same as [`listing`], written: the entries of a kept page are not written again.
pub fn written_listing(listing: &Listing, warnings: &[WarningAnswer]) -> Written {
    let around = Value::Object(around(listing, warnings)).to_string();
    Written::of_page(&format!("{{\"{}\":", key(listing)), listing.page.clone(), &around.replacen('{', ",", 1))
}

/// What `flowy list --json` prints: the same, with the flows that are tools of their own, and a warning for
/// each that can't be one.
pub fn listing_with_tools(listed: &Listing, exposed: &Exposed) -> Value {
    let not_exposed = |why: &NotExposed| warning(WarningCode::NotExposed, why.to_string());
    let warnings: Vec<WarningAnswer> = exposed.refused.iter().map(not_exposed).collect();
    let mut value = listing(listed, &warnings);
    if let Some(object) = value.as_object_mut().filter(|_| !exposed.tools.is_empty()) {
        let tool = |tool: &ExposedTool| json!({"tool": tool.flow.tool, "flow": tool.flow.flow});
        object.insert("tools".to_owned(), exposed.tools.iter().map(tool).collect());
    }
    value
}

/// What the entries stand under.
fn key(listing: &Listing) -> &'static str {
    match (listing.page.mode, listing.selection.kind) {
        (Mode::Categories, _) => "categories",
        (_, ListKind::Templates) => "templates",
        (_, ListKind::Flows) => "flows",
    }
}

/// The entries of a listing that was written.
pub fn entries(value: &Value) -> Option<&Value> {
    ["flows", "categories", "templates"].into_iter().find_map(|key| value.get(key))
}

/// What stands around the entries.
fn around(listing: &Listing, warnings: &[WarningAnswer]) -> Map<String, Value> {
    let page = &listing.page;
    let mut object = Map::new();
    object.insert("mode".to_owned(), json!(page.mode.as_str()));
    object.insert("filter".to_owned(), filter(listing));
    object.insert("total".to_owned(), json!(page.total));
    object.insert("returned".to_owned(), json!(page.returned));
    if let Some(cursor) = &page.next_cursor {
        object.insert("nextCursor".to_owned(), json!(cursor));
    }
    if let Some(cut) = page.truncated_by {
        object.insert("truncatedBy".to_owned(), json!(cut.as_str()));
    }
    why_none(&mut object, page);
    if !page.reasons.is_empty() {
        object.insert("reasons".to_owned(), page.reasons.iter().map(reason).collect());
    }
    if let Some(step) = listing.next_step() {
        object.insert("nextStep".to_owned(), json!(step));
    }
    object.insert("estimatedTokens".to_owned(), json!(page.estimated_tokens));
    origin(&mut object, &listing.origin);
    let mut all: Vec<WarningAnswer> = warnings.to_vec();
    all.extend(of_origin(&listing.origin));
    all.extend(of_examples(listing));
    if !page.unknown_names.is_empty() {
        let names: Vec<String> = page.unknown_names.iter().map(|name| crate::names::quoted(name)).collect();
        let noun = listing.selection.kind.noun();
        all.push(warning(WarningCode::UnknownName, format!("no {noun} goes by {}", names.join(", "))));
    }
    if listing.problem_count > listing.problems.len() {
        let in_files = listing.problem_count.saturating_sub(listing.unavailable_count);
        let errors = counted(in_files, "error in files", "errors in files");
        let named = listing.problems.len();
        let message = if listing.unavailable_count == 0 {
            format!("{errors}; {named} of them are named (`flowy validate` shows all)")
        } else {
            let calls = counted(
                listing.unavailable_count,
                "call of a tool that is unavailable now",
                "calls of tools that are unavailable now",
            );
            format!(
                "{errors} and {calls}; {named} of them are named (`flowy validate` shows all errors, \
                 `flowy servers list` how the servers stand)"
            )
        };
        all.push(warning(WarningCode::MoreErrors, message));
    }
    object.insert("warnings".to_owned(), json!(all));
    object.insert("errors".to_owned(), listing.problems.iter().map(problem).collect());
    object
}

/// What the contract's own `flows/list` answers: every flow, in the contract's shape.
pub fn contract_listing(listing: &Listing) -> Value {
    let page = &listing.page;
    let mut object = Map::new();
    object.insert("flows".to_owned(), json!(page.entries));
    object.insert("total".to_owned(), json!(page.total));
    if let Some(cursor) = &page.next_cursor {
        object.insert("nextCursor".to_owned(), json!(cursor));
    }
    if let (Some(cut), Some(step)) = (page.truncated_by, &page.next_step) {
        object.insert("truncatedBy".to_owned(), json!(cut.as_str()));
        object.insert("nextStep".to_owned(), json!(step));
    }
    why_none(&mut object, page);
    origin(&mut object, &listing.origin);
    let warnings: Vec<WarningAnswer> = of_origin(&listing.origin).chain(of_examples(listing)).collect();
    if !warnings.is_empty() {
        object.insert("warnings".to_owned(), json!(warnings));
    }
    object.insert("errors".to_owned(), listing.problems.iter().map(problem).collect());
    Value::Object(object)
}

fn of_examples(listing: &Listing) -> Option<WarningAnswer> {
    listing.unasked_examples.then(|| warning(WarningCode::Examples, UNASKED_EXAMPLES))
}

fn why_none(object: &mut Map<String, Value>, page: &Page) {
    if let Some(none) = &page.no_match {
        object.insert("noMatch".to_owned(), json!(true));
        if page.returned > 0 {
            object.insert("fit".to_owned(), json!("weak"));
        }
        object.insert("nearest".to_owned(), json!(none.nearest));
    }
    if let Some(excluded) = &page.excluded {
        let by = excluded.by.iter().map(|(filter, flows)| ((*filter).to_owned(), json!(flows)));
        object.insert("excluded".to_owned(), Value::Object(by.collect()));
    }
}

/// How well an entry answers the query, and by which words.
fn reason(reason: &Reason) -> Value {
    let words = reason
        .why
        .iter()
        .map(|why| json!({"term": why.term, "field": why.field.as_str(), "contribution": rounded(why.contribution)}));
    json!({"name": reason.name, "score": rounded(reason.score), "terms": words.collect::<Vec<_>>()})
}

/// Four decimals: more would only look exact.
fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

fn filter(listing: &Listing) -> Value {
    let selection = &listing.selection;
    let mut filter = Map::new();
    if !selection.tags.is_empty() {
        filter.insert("tags".to_owned(), json!(selection.tags));
    }
    if let Some(category) = &selection.category {
        filter.insert("category".to_owned(), json!(category));
    }
    if let Some(complexity) = &selection.complexity {
        filter.insert("complexity".to_owned(), json!(complexity));
    }
    if !selection.names.is_empty() {
        filter.insert("names".to_owned(), json!(selection.names));
    }
    if let Some(most) = selection.max_latency_ms {
        filter.insert("maxLatencyMs".to_owned(), json!(most));
    }
    if selection.kind != ListKind::default() {
        filter.insert("kind".to_owned(), json!(selection.kind.as_str()));
    }
    Value::Object(filter)
}

/// Adds where an answer comes from, and how current that is.
fn origin(object: &mut Map<String, Value>, origin: &Origin) {
    object.insert("ref".to_owned(), json!(origin.git_ref));
    object.insert("commit".to_owned(), json!(origin.commit));
    object.insert("revision".to_owned(), json!(origin.revision));
    object.insert("cached".to_owned(), json!(origin.cached));
    object.insert("ageSeconds".to_owned(), json!(origin.age_seconds));
    if let Some(reason) = &origin.stale {
        object.insert("stale".to_owned(), json!(true));
        object.insert("staleReason".to_owned(), json!(reason));
    }
}

fn problem(problem: &FileProblem) -> Value {
    let mut object = Map::new();
    object.insert("file".to_owned(), json!(problem.file));
    object.insert("code".to_owned(), json!(problem.code));
    object.insert("rule".to_owned(), json!(problem.rule));
    object.insert("message".to_owned(), json!(problem.message));
    object.insert("hint".to_owned(), json!(problem.hint));
    if !problem.files.is_empty() {
        object.insert("files".to_owned(), json!(problem.files));
    }
    if let Some(line) = problem.line {
        object.insert("line".to_owned(), json!(line));
    }
    if let Some(column) = problem.column {
        object.insert("column".to_owned(), json!(column));
    }
    Value::Object(object)
}
