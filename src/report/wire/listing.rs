//! Listings.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::{Value, json};

use super::common::{OriginAnswer, WarningAnswer, error_code};
use super::warning::{of_origin, warning};
use super::written::Written;
use crate::app::{Exposed, ExposedTool, Listing, NotExposed, UNASKED_EXAMPLES};
use crate::code::{Code, WarningCode};
use crate::discover::{
    BriefEntry, CategoryEntry, CompactEntry, ContractEntry, DetailedEntry, Excluded, FileProblem, FullEntry, HotEntry,
    IndexEntry, ListEntry, ListKind, Mode, Page, Reason, Selection, ShortenedEntry, StandardEntry, SummaryEntry,
    TruncatedBy,
};
use crate::names::counted;
use crate::next_step::Word;

/// What `flows_list` answers.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(title = "flows_list reply")]
pub enum ListAnswer {
    /// A page, in one of the modes.
    Page(Box<PageAnswer>),
    /// Without `mode`: the shape of the method flows/list.
    Contract(Box<ContractAnswer>),
}

/// A page of a listing.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PageAnswer {
    #[serde(flatten)]
    entries: EntriesAnswer,
    #[serde(flatten)]
    around: AroundAnswer,
}

/// The entries of a page, under the name of what they are.
#[derive(Debug, Clone, PartialEq)]
struct EntriesAnswer {
    key: &'static str,
    page: Arc<Page>,
}

/// What stands around the entries.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("dependentRequired" = {"truncatedBy": ["nextStep"]}))]
struct AroundAnswer {
    /// How much each entry shows; brief is used only for query results; it can't be requested.
    #[schemars(schema_with = "modes")]
    mode: &'static str,
    /// The conditions the flows were chosen by.
    filter: FilterAnswer,
    /// How many flows fit the conditions.
    total: usize,
    /// How many entries this page has.
    returned: usize,
    /// Where the next page goes on; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// What ended the page before the last entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["budget", "limit"]))]
    truncated_by: Option<&'static str>,
    #[serde(flatten)]
    none: NoMatchAnswer,
    /// Why each flow answers the query, in the order of the entries; from the command line, with --explain.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<ReasonAnswer>,
    /// The call that helps further.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<String>,
    /// Estimated size of this reply, in tokens.
    estimated_tokens: usize,
    #[serde(flatten)]
    origin: OriginAnswer,
    /// What the caller should know.
    warnings: Vec<WarningAnswer>,
    /// Files that could not be used and flows with errors.
    errors: Vec<ProblemAnswer>,
    /// Only from `flowy list --json`, where any flow is an MCP tool of its own: those flows, by tool.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<ToolListed>,
}

/// What the method flows/list answers: every flow, in the contract's own shape.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("dependentRequired" = {"truncatedBy": ["nextStep"]}, "not" = {"required": ["mode"]}))]
pub struct ContractAnswer {
    /// Every flow.
    #[schemars(schema_with = "contract_entries")]
    flows: Vec<ListEntry>,
    /// How many flows fit the conditions.
    total: usize,
    /// Where the next page goes on; absent on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
    /// What ended the page before the last entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["budget", "limit"]))]
    truncated_by: Option<&'static str>,
    /// The call that helps further.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<String>,
    #[serde(flatten)]
    none: NoMatchAnswer,
    #[serde(flatten)]
    origin: OriginAnswer,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<WarningAnswer>,
    /// Files that could not be used and flows with errors.
    errors: Vec<ProblemAnswer>,
}

/// By which conditions flows were chosen; those that were not asked for are absent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct FilterAnswer {
    /// Tags asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    /// Category asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// Complexity asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    complexity: Option<String>,
    /// Names asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    /// Longest average asked for, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_latency_ms: Option<i64>,
    /// What is listed, where that is not flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["templates"]))]
    kind: Option<&'static str>,
}

/// That no flow answers the query, or that none of those that do may be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct NoMatchAnswer {
    /// True where a query was given and no flow fits it; flows that are listed all the same only come nearest.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    no_match: bool,
    /// With `noMatch`, where flows come near: that those listed, five at most and briefly, do not fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("const" = "weak"))]
    fit: Option<&'static str>,
    /// With `noMatch`: words of the catalog that are near to words of the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    nearest: Option<Vec<String>>,
    /// Where flows fit the query and the filters leave none of them: how many each filter leaves out.
    #[serde(skip_serializing_if = "Option::is_none")]
    excluded: Option<ExcludedAnswer>,
}

/// How many flows each filter leaves out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
struct ExcludedAnswer {
    /// Left out by `names`.
    #[serde(skip_serializing_if = "Option::is_none")]
    names: Option<usize>,
    /// Left out by `tags`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<usize>,
    /// Left out by `category`.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<usize>,
    /// Left out by `complexity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    complexity: Option<usize>,
    /// Left out by `maxLatencyMs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_latency_ms: Option<usize>,
}

/// How well a flow answers the query.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
struct ReasonAnswer {
    /// The flow's name.
    name: String,
    /// How well it answers; comparable within one reply only.
    score: f64,
    /// By which words, most telling first.
    terms: Vec<TermAnswer>,
}

/// A word by which a flow answers the query.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
struct TermAnswer {
    /// The word.
    term: String,
    /// The field it stands in: name, description, tags, category, inputs, examples.
    field: &'static str,
    /// What it adds to the score of the flow.
    contribution: f64,
}

/// A file that could not be used, or a flow with errors. It never hides the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct ProblemAnswer {
    /// Path of the file in the catalog.
    file: String,
    /// Kind of error.
    #[schemars(schema_with = "error_code")]
    code: Code,
    /// Id of the rule that found it, or `unreadable-file`.
    rule: String,
    /// What is wrong.
    message: String,
    /// How to fix it.
    hint: String,
    /// The files to be fixed, where that is not (only) `file`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<String>,
    /// Line of the problem, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// Column of the problem, in characters from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
}

/// A flow that is a tool of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
struct ToolListed {
    /// The tool's name.
    tool: String,
    /// The flow's name.
    flow: String,
}

/// What `flows_list` answers. `warnings` are those of the call itself, in front of the listing's own; the method
/// flows/list has no place for them.
pub fn listing(listing: &Listing, warnings: &[WarningAnswer]) -> ListAnswer {
    if listing.page.mode == Mode::Contract {
        return ListAnswer::Contract(Box::new(ContractAnswer::of(listing)));
    }
    let entries = EntriesAnswer::of(listing);
    ListAnswer::Page(Box::new(PageAnswer { entries, around: AroundAnswer::of(listing, warnings) }))
}

/// The same as [`listing`], written: the entries of a kept page are not written again.
pub fn written_listing(listing: &Listing, warnings: &[WarningAnswer]) -> Written {
    let EntriesAnswer { key, page } = EntriesAnswer::of(listing);
    let around = super::json_of(&AroundAnswer::of(listing, warnings));
    Written::of_page(&format!("{{\"{key}\":"), &page, &around.replacen('{', ",", 1))
}

/// What `flowy list --json` prints: the same, with the flows that are tools of their own, and a warning for
/// each that can't be one.
pub fn listing_with_tools(listed: &Listing, exposed: &Exposed) -> ListAnswer {
    let not_exposed = |why: &NotExposed| warning(WarningCode::NotExposed, why.to_string());
    let warnings: Vec<WarningAnswer> = exposed.refused.iter().map(not_exposed).collect();
    let mut answer = listing(listed, &warnings);
    if let ListAnswer::Page(page) = &mut answer {
        page.around.tools = exposed.tools.iter().map(ToolListed::from).collect();
    }
    answer
}

impl ListAnswer {
    /// Says that what one message holds ended the page, not the caller's limit.
    pub fn cut_by_budget(&mut self) {
        let by = match self {
            Self::Page(page) => &mut page.around.truncated_by,
            Self::Contract(contract) => &mut contract.truncated_by,
        };
        *by = Some(TruncatedBy::Budget.word());
    }
}

impl EntriesAnswer {
    fn of(listing: &Listing) -> Self {
        let key = match (listing.page.mode, listing.selection.kind) {
            (Mode::Categories, _) => "categories",
            (_, ListKind::Templates) => "templates",
            (_, ListKind::Flows) => "flows",
        };
        Self { key, page: listing.page.clone() }
    }
}

impl Serialize for EntriesAnswer {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.key, &self.page.entries)])
    }
}

impl JsonSchema for EntriesAnswer {
    fn schema_name() -> Cow<'static, str> {
        "EntriesAnswer".into()
    }

    /// In each mode, the entries have a form of their own.
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let categories = form(Mode::Categories, generator);
        let modes = Mode::ALL.into_iter().filter(|mode| !matches!(mode, Mode::Categories | Mode::Contract));
        let forms: Vec<Value> = modes
            .map(|mode| {
                let entries = json!({"items": form(mode, generator)});
                json!({
                    "if": {"properties": {"mode": {"const": mode.word()}}},
                    "then": {"properties": {"flows": entries, "templates": entries}},
                })
            })
            .collect();
        json_schema!({
            "type": "object",
            "properties": {
                "flows": {"type": "array", "description": "The entries; their form depends on `mode`."},
                "categories": {
                    "type": "array",
                    "items": categories,
                    "description": "With mode categories, instead of `flows`: the categories, by `sortOrder`, then by \
                                    name; flows without one come last.",
                },
                "templates": {
                    "type": "array",
                    "description": "With kind templates, instead of `flows`: templates, in the form of `mode`; they \
                                    have no steps, results or usage.",
                },
            },
            "allOf": forms,
        })
    }
}

/// The form of an entry in a mode.
fn form(mode: Mode, generator: &mut SchemaGenerator) -> Schema {
    let whole = match mode {
        Mode::Compact => generator.subschema_for::<CompactEntry>(),
        Mode::Index => return generator.subschema_for::<IndexEntry>(),
        Mode::Standard => generator.subschema_for::<StandardEntry>(),
        Mode::Detailed => generator.subschema_for::<DetailedEntry>(),
        Mode::Brief => generator.subschema_for::<BriefEntry>(),
        Mode::Hot => generator.subschema_for::<HotEntry>(),
        Mode::Categories => return generator.subschema_for::<CategoryEntry>(),
        Mode::Summaries => generator.subschema_for::<SummaryEntry>(),
        Mode::Full => generator.subschema_for::<FullEntry>(),
        Mode::Contract => generator.subschema_for::<ContractEntry>(),
    };
    json_schema!({"anyOf": [whole, generator.subschema_for::<ShortenedEntry>()]})
}

fn contract_entries(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "array", "items": form(Mode::Contract, generator)})
}

/// The words of the modes that a page may have.
fn modes(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": Mode::OFFERED_WORDS.iter().copied().chain([Mode::Brief.word()]).collect::<Vec<_>>()})
}

impl AroundAnswer {
    fn of(listing: &Listing, warnings: &[WarningAnswer]) -> Self {
        let page = &listing.page;
        let own = of_origin(&listing.origin).chain(of_examples(listing)).chain(of_overlooked(listing));
        Self {
            mode: page.mode.word(),
            filter: (&listing.selection).into(),
            total: page.total,
            returned: page.returned,
            next_cursor: page.next_cursor.clone(),
            truncated_by: page.truncated_by.map(TruncatedBy::word),
            none: NoMatchAnswer::of(page),
            reasons: page.reasons.iter().map(ReasonAnswer::from).collect(),
            next_step: listing.next_step(),
            estimated_tokens: page.estimated_tokens,
            origin: (&listing.origin).into(),
            warnings: warnings.iter().cloned().chain(own).chain(of_names(listing)).chain(of_more(listing)).collect(),
            errors: listing.problems.iter().map(ProblemAnswer::from).collect(),
            tools: Vec::new(),
        }
    }
}

impl ContractAnswer {
    fn of(listing: &Listing) -> Self {
        let page = &listing.page;
        let truncated = page.truncated_by.zip(page.next_step.clone());
        Self {
            flows: page.entries.clone(),
            total: page.total,
            next_cursor: page.next_cursor.clone(),
            truncated_by: truncated.as_ref().map(|(by, _)| by.word()),
            next_step: truncated.map(|(_, step)| step.for_tools().to_owned()),
            none: NoMatchAnswer::of(page),
            origin: (&listing.origin).into(),
            warnings: of_origin(&listing.origin).chain(of_examples(listing)).chain(of_overlooked(listing)).collect(),
            errors: listing.problems.iter().map(ProblemAnswer::from).collect(),
        }
    }
}

impl From<&Selection> for FilterAnswer {
    fn from(selection: &Selection) -> Self {
        Self {
            tags: selection.tags.clone(),
            category: selection.category.clone(),
            complexity: selection.complexity.clone(),
            names: selection.names.clone(),
            max_latency_ms: selection.max_latency_ms,
            kind: (selection.kind != ListKind::default()).then(|| selection.kind.word()),
        }
    }
}

impl NoMatchAnswer {
    fn of(page: &Page) -> Self {
        let none = page.no_match.as_ref();
        Self {
            no_match: none.is_some(),
            fit: none.filter(|_| page.returned > 0).map(|_| "weak"),
            nearest: none.map(|none| none.nearest.clone()),
            excluded: page.excluded.as_ref().map(ExcludedAnswer::from),
        }
    }
}

impl From<&Excluded> for ExcludedAnswer {
    fn from(excluded: &Excluded) -> Self {
        let is = |word: &Word<'_>, filter: &str| matches!(word, Word::Argument(name, _) if *name == filter);
        let by = |filter: &str| excluded.by.iter().find(|(word, _)| is(word, filter)).map(|(_, flows)| *flows);
        Self {
            names: by("names"),
            tags: by("tags"),
            category: by("category"),
            complexity: by("complexity"),
            max_latency_ms: by("maxLatencyMs"),
        }
    }
}

impl From<&Reason> for ReasonAnswer {
    fn from(reason: &Reason) -> Self {
        let terms = reason.why.iter().map(|why| TermAnswer {
            term: why.term.clone(),
            field: why.field.word(),
            contribution: rounded(why.contribution),
        });
        Self { name: reason.name.clone(), score: rounded(reason.score), terms: terms.collect() }
    }
}

/// Four decimals: more would only look exact.
fn rounded(number: f64) -> f64 {
    (number * 10_000.0).round() / 10_000.0
}

impl From<&FileProblem> for ProblemAnswer {
    fn from(problem: &FileProblem) -> Self {
        Self {
            file: problem.file.clone(),
            code: problem.code,
            rule: problem.rule.clone(),
            message: problem.message.clone(),
            hint: problem.hint.clone(),
            files: problem.files.clone(),
            line: problem.line,
            column: problem.column,
        }
    }
}

impl From<&ExposedTool> for ToolListed {
    fn from(tool: &ExposedTool) -> Self {
        Self { tool: tool.flow.tool.clone(), flow: tool.flow.flow.clone() }
    }
}

fn of_examples(listing: &Listing) -> Option<WarningAnswer> {
    listing.unasked_examples.then(|| warning(WarningCode::Examples, UNASKED_EXAMPLES))
}

fn of_overlooked(listing: &Listing) -> Option<WarningAnswer> {
    Some(warning(WarningCode::MisplacedFile, listing.not_read()?))
}

/// Names that were asked for and that nothing goes by.
fn of_names(listing: &Listing) -> Option<WarningAnswer> {
    let names: Vec<String> = listing.page.unknown_names.iter().map(|name| crate::names::quoted(name)).collect();
    let noun = listing.selection.kind.noun();
    (!names.is_empty()).then(|| warning(WarningCode::UnknownName, format!("no {noun} goes by {}", names.join(", "))))
}

/// Errors that the listing counts and does not name.
fn of_more(listing: &Listing) -> Option<WarningAnswer> {
    let named = listing.problems.len();
    if listing.problem_count <= named {
        return None;
    }
    let in_files = listing.problem_count.saturating_sub(listing.unavailable_count);
    let errors = counted(in_files, "error in files", "errors in files");
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
    Some(warning(WarningCode::MoreErrors, message))
}
