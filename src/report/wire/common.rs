//! Shapes that several answers share.

use chrono::{DateTime, SecondsFormat, Utc};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::size::CutWords;
use crate::app::{GuidedState, Origin};
use crate::code::Code;
use crate::model::{Cost, Generated, TokenUsage, text_of};
use crate::plan::Mending;
use crate::run::{Output, Run, StepError};

/// A time, ISO 8601 in UTC.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline, extend("format" = "date-time"))]
pub struct Stamp(String);

impl Stamp {
    pub(super) fn millis(at: DateTime<Utc>) -> Self {
        Self(at.to_rfc3339_opts(SecondsFormat::Millis, true))
    }

    pub(super) fn seconds(at: DateTime<Utc>) -> Self {
        Self(at.to_rfc3339_opts(SecondsFormat::Secs, true))
    }
}

/// Every code of an error.
pub(super) fn error_code(_: &mut SchemaGenerator) -> Schema {
    let words: Vec<&str> = Code::ALL.iter().map(|code| code.word()).collect();
    json_schema!({"type": "string", "enum": words})
}

/// The words for where a guided execution stands.
pub(super) fn guided_state(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"type": "string", "enum": GuidedState::WORDS})
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fault {
    /// An error code.
    #[schemars(schema_with = "error_code")]
    pub(super) code: String,
    /// The fact.
    pub(super) message: String,
}

impl From<&StepError> for Fault {
    fn from(error: &StepError) -> Self {
        Self { code: error.code.word().to_owned(), message: error.message.clone() }
    }
}

/// Which tool a step calls, and where the step stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolPlace {
    /// Of a step that calls a tool: the tool, as alias:tool.
    pub(super) tool: String,
    /// Of a step that calls a tool: id of the node.
    pub(super) node_id: String,
    /// Of a step that calls a tool: number of the step, from 1.
    pub(super) step: usize,
    /// Of a step that calls a tool: how many steps there are.
    pub(super) of: usize,
}

/// What has to be fixed, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct MendingAnswer {
    /// Of a file that can't be used: the files to be fixed.
    files: Vec<String>,
    /// Of a file that can't be used: how to fix it.
    hint: String,
    /// Common family of the codes that stand for trouble with GitHub.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("const" = "GITHUB_ERROR"))]
    family: Option<&'static str>,
}

impl MendingAnswer {
    pub(super) fn of(code: Code, mending: &Mending) -> Self {
        Self {
            files: mending.files.clone(),
            hint: mending.hints.join("; "),
            family: code.of_github().then(|| Code::GithubError.word()),
        }
    }
}

/// More about what went wrong in a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum StepDetails {
    /// Which tool it is.
    Tool(ToolPlace),
    /// What keeps it from being begun.
    Mending(MendingAnswer),
}

/// What went wrong in a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct StepFault {
    #[serde(flatten)]
    pub(super) fault: Fault,
    /// Of a tool: which one, and where its step stands; of a file that can't be used: what has to be fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<StepDetails>,
}

/// A step that failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FailedStep {
    /// Id of the node.
    pub(super) node_id: Option<String>,
    /// Name of the template, the tool as alias:tool, or the flow within; null if there is none.
    pub(super) template_name: Option<String>,
    /// What went wrong.
    pub(super) error: StepFault,
    /// Of a step that a model was asked to answer: what that took, and what came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) generated: Option<GeneratedAnswer>,
}

/// How a model answered a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GeneratedAnswer {
    /// The operator's name for the model that answered, or was asked last.
    model: String,
    /// The model for which it stood in.
    #[serde(skip_serializing_if = "Option::is_none")]
    instead_of: Option<String>,
    /// Why the answer ended: stop, length, filter or other; null where none came.
    #[schemars(required)]
    finish: Option<String>,
    /// How many calls were made; waits for limits don't count.
    attempts: u32,
    /// Whether a stored answer was used; the tokens are then those that it took once.
    from_store: bool,
    #[serde(flatten)]
    usage: UsageAnswer,
    /// Of a step that failed: the beginning of what came.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// What models took.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct UsageAnswer {
    /// Tokens of the prompts.
    input_tokens: u64,
    /// Tokens of the answers.
    output_tokens: u64,
    /// Of the prompts' tokens, those that the provider had cached.
    cached_tokens: u64,
    /// Of the answers' tokens, those that were spent on reasoning.
    reasoning_tokens: u64,
    /// What it cost, where the operator set prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<CostAnswer>,
}

/// What something costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CostAnswer {
    /// In millionths of the currency.
    millionths: u64,
    /// The currency.
    currency: String,
}

impl From<&Cost> for CostAnswer {
    fn from(cost: &Cost) -> Self {
        Self { millionths: cost.millionths, currency: cost.currency.clone() }
    }
}

impl UsageAnswer {
    pub(super) fn of(usage: TokenUsage, cost: Option<&Cost>) -> Self {
        Self {
            input_tokens: usage.input,
            output_tokens: usage.output,
            cached_tokens: usage.cached,
            reasoning_tokens: usage.reasoning,
            cost: cost.map(CostAnswer::from),
        }
    }
}

impl GeneratedAnswer {
    pub(super) fn of(generated: &Generated) -> Self {
        Self {
            model: generated.model.clone(),
            instead_of: generated.instead_of.clone(),
            finish: generated.finish.map(|finish| finish.word().to_owned()),
            attempts: generated.attempts,
            from_store: generated.stored,
            usage: UsageAnswer::of(generated.usage, generated.cost.as_ref()),
            text: generated.came.clone(),
        }
    }
}

/// A step that is not done, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SkippedStep {
    /// Id of the node.
    pub(super) node_id: String,
    /// Id of the step that failed.
    pub(super) because: String,
}

/// What the caller should know although the answer stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WarningAnswer {
    /// Kind of warning, in `UPPER_SNAKE` case.
    pub(super) code: &'static str,
    /// What was noticed.
    pub(in crate::report) message: String,
    /// Id of the node that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) node_id: Option<String>,
}

/// Null wherever the field is, also in answers that may lack it.
fn text_or_null(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"oneOf": [{"type": "string"}, {"type": "null"}]})
}

/// Which state of the catalog was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReadAt {
    /// Branch, tag or commit that was read; null for a folder.
    #[serde(rename = "ref")]
    #[schemars(schema_with = "text_or_null")]
    git_ref: Option<String>,
    /// Commit that every file came from; null for a folder.
    #[schemars(schema_with = "text_or_null")]
    commit: Option<String>,
}

impl From<&Origin> for ReadAt {
    fn from(origin: &Origin) -> Self {
        Self { git_ref: origin.git_ref.clone(), commit: origin.commit.clone() }
    }
}

/// How current an answer is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Freshness {
    /// Whether the reply came from the cache without asking GitHub.
    cached: bool,
    /// Age of what was read, in seconds.
    age_seconds: u64,
    /// True when GitHub could not be asked and an older copy was used.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    stale: bool,
    /// Why the newest state could not be had; with `stale`.
    #[serde(skip_serializing_if = "Option::is_none")]
    stale_reason: Option<String>,
}

impl From<&Origin> for Freshness {
    fn from(origin: &Origin) -> Self {
        Self {
            cached: origin.cached,
            age_seconds: origin.age_seconds,
            stale: origin.stale.is_some(),
            stale_reason: origin.stale.clone(),
        }
    }
}

/// Where an answer comes from, to which cursors and comparisons hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct OriginAnswer {
    #[serde(flatten)]
    read_at: ReadAt,
    /// What identifies this state of the catalog: the commit, or a fingerprint of a folder.
    revision: String,
    #[serde(flatten)]
    freshness: Freshness,
}

impl From<&Origin> for OriginAnswer {
    fn from(origin: &Origin) -> Self {
        Self { read_at: origin.into(), revision: origin.revision.clone(), freshness: origin.into() }
    }
}

/// What an execution came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Results {
    /// Output of the step that feeds the result node; null if it failed, was skipped or never ran.
    pub(super) final_result: Value,
    /// Label of each result node to its output, when the flow has several; null for one whose step failed or was
    /// skipped.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub(super) results: Map<String, Value>,
}

impl Results {
    pub(super) fn of(run: &Run) -> Self {
        let results = run.results().into_iter();
        Self {
            final_result: run.final_output().map_or(Value::Null, written),
            results: results.map(|(label, output)| (label.to_owned(), output.map_or(Value::Null, written))).collect(),
        }
    }

    pub(super) fn words(&mut self) -> Vec<CutWords<'_>> {
        vec![CutWords::Value(&mut self.final_result), CutWords::Values(&mut self.results)]
    }
}

/// A step's output as it is written: of a tool its text.
pub(super) fn written(output: &Output) -> Value {
    match &output.value {
        Some(value) if !output.of_tool => Value::clone(value),
        Some(_) | None => Value::String(output.text.to_string()),
    }
}

/// The same as a text: what is no text is compact JSON.
pub fn written_text(output: &Output) -> String {
    text_of(&written(output)).into_owned()
}

/// An image or another file that a tool gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileGiven {
    /// Its address, for resources/read.
    uri: String,
    /// Its media type.
    media_type: String,
    /// Its name, where the tool gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Its size in bytes.
    bytes: usize,
}

/// A resource that a tool points to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkGiven {
    /// Its address, at the tool's server.
    uri: String,
    /// Its name, where the tool gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Its media type, where the tool gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<String>,
}

/// What a tool gave besides its text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct ToolGave {
    /// Images and other files, in order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) files: Vec<FileGiven>,
    /// The text as a value, where it is JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    json: Option<Value>,
    /// What the tool gave as structured content.
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Value>,
    /// Resources that the tool points to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<LinkGiven>,
    /// What of the tool's answer could not be handed on, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) left_out: Vec<String>,
    /// Why the call failed, where the flow goes on all the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Fault>,
}

impl ToolGave {
    /// Nothing where the tool gave its text alone.
    pub(super) fn of(output: &Output) -> Option<Self> {
        let value = output.value.as_deref().filter(|_| output.of_tool)?;
        let mut gave = Self::deserialize(value).ok()?;
        if gave.json == gave.structured_content {
            gave.json = None;
        }
        gave.left_out.clone_from(&output.left_out);
        (gave != Self::default()).then_some(gave)
    }
}
