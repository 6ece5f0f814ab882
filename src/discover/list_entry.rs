//! What an entry shows in each mode: the fields of a list entry, from the index to the wire.
//!
//! A field's place and name here are those of the published JSON. Nothing here decides how many entries fit;
//! that is `page.rs`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::mode::Mode;
use super::rows::{PLAIN_KIND, by_label};
use super::text::{self, LONGEST_DESCRIPTION};
use super::tiers::{CategoryEntry, Figures, FullEntry, HotEntry, SummaryEntry};
use super::{FlowInput, FlowRow};

/// What an absent version reads.
const FIRST_VERSION: &str = "1.0";

/// One entry of a page.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ListEntry {
    /// An entry of [`Mode::Compact`].
    Compact(CompactEntry),
    /// An entry of [`Mode::Brief`].
    Brief(BriefEntry),
    /// An entry of [`Mode::Index`].
    Index(IndexEntry),
    /// An entry of [`Mode::Standard`].
    Standard(StandardEntry),
    /// An entry of [`Mode::Detailed`].
    Detailed(Box<DetailedEntry>),
    /// An entry of [`Mode::Hot`].
    Hot(HotEntry),
    /// An entry of [`Mode::Categories`].
    Category(CategoryEntry),
    /// An entry of [`Mode::Summaries`].
    Summary(SummaryEntry),
    /// An entry of [`Mode::Full`].
    Full(Box<FullEntry>),
    /// An entry of [`Mode::Contract`].
    Contract(ContractEntry),
    /// The shortest form, for an entry that alone would pass the budget: name and cut description.
    Shortened(ShortenedEntry),
}

/// What is left of an entry that alone exceeded the budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ShortenedEntry {
    /// Name the flow is shown and executed by.
    pub name: String,
    /// What the flow is for, cut to about 150 characters, in mode brief to about 80.
    pub description: String,
    /// True: the entry alone exceeded the budget and is shown in its shortest form.
    #[schemars(extend("const" = true))]
    pub shortened: bool,
}

/// Entry of mode compact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CompactEntry {
    /// Name the flow is shown and executed by.
    pub name: String,
    /// What the flow is for, cut to about 150 characters.
    pub description: String,
    /// Tags of the flow.
    pub tags: Vec<String>,
    /// Everything a caller may give, sorted, as `name (type, required|required, or from a set|optional)`; `No inputs required` if there is
    /// nothing; `Not known: the flow has errors` if that can't be read.
    pub input_summary: String,
}

/// One line: `name(inputs, optional?) – purpose [tags]`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct IndexEntry(pub String);

/// Candidate for a query, when no mode is named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct BriefEntry {
    /// Name the flow is shown and executed by.
    pub name: String,
    /// What the flow is for: the first sentence, cut to about 80 characters.
    pub description: String,
    /// Names of the inputs, required ones first, `?` behind optional ones; past 60 characters the rest is counted;
    /// `No inputs required` if there is nothing; `Not known: the flow has errors` if that can't be read.
    pub input_summary: String,
    /// True for a flow that is made for guided execution; absent for others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub guided: bool,
}

/// Entry of mode standard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StandardEntry {
    /// Name the flow is shown and executed by.
    pub name: String,
    /// What the flow is for, whole.
    pub description: String,
    /// Tags of the flow.
    pub tags: Vec<String>,
    /// Everything a caller may give, sorted, as `name (type, required|required, or from a set|optional)`; `No inputs required` if there is
    /// nothing; `Not known: the flow has errors` if that can't be read.
    pub input_summary: String,
    /// Version of the flow; "1.0" if the file has none.
    pub version: String,
    /// Number of nodes, whatever their kind.
    pub node_count: usize,
    /// When the flow was created, ISO 8601; absent if the file does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// When the flow was last changed, ISO 8601; absent if the file does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// Labels of the steps, in order.
    pub steps: Vec<String>,
    /// True for a flow that is made for guided execution; absent for others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub guided: bool,
}

/// Entry of mode detailed.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DetailedEntry {
    /// Name the flow is shown and executed by.
    pub name: String,
    /// What the flow is for, whole.
    pub description: String,
    /// Tags of the flow.
    pub tags: Vec<String>,
    /// Version of the flow; "1.0" if the file has none.
    pub version: String,
    /// Number of nodes, whatever their kind.
    pub node_count: usize,
    /// When the flow was created, ISO 8601; absent if the file does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// When the flow was last changed, ISO 8601; absent if the file does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// Labels of the steps, in order.
    pub steps: Vec<String>,
    /// Who wrote the flow; null if the file does not say.
    pub author: Option<String>,
    /// Category of the flow; null if it has none.
    pub category: Option<String>,
    /// Everything a caller may give, by name; null if a flow with errors does not let it be read.
    pub inputs: Option<BTreeMap<String, ShownInput>>,
    /// Label of each result node to the id of the node that feeds it, in the file's order.
    #[schemars(with = "BTreeMap<String, String>")]
    pub outputs: Map<String, Value>,
    /// True for a flow that is made for guided execution; absent for others.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub guided: bool,
}

/// What is known about one input.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownInput {
    /// Type of the value; string when none is said.
    #[serde(rename = "type")]
    pub kind: String,
    /// What to give here; empty when nobody says.
    pub description: String,
    /// Whether a value must be given; false where a variable set can give it.
    pub required: bool,
    /// True where a value must be given unless the chosen variable set gives it; else absent.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub in_sets: bool,
    /// Value used when none is given; null if there is none.
    pub default: Option<Value>,
}

/// Entry of the method flows/list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContractEntry {
    /// Name the flow is shown and executed by.
    pub name: String,
    /// What the flow is for, whole.
    pub description: String,
    /// Version of the flow; "1.0" if the file has none.
    pub version: String,
    /// Number of nodes, whatever their kind.
    pub node_count: usize,
    /// When the flow was created, ISO 8601; absent if the file does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created: Option<String>,
    /// When the flow was last changed, ISO 8601; absent if the file does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
}

impl ListEntry {
    /// Name and description of an entry that is hardly more than these.
    pub fn headline(&self) -> Option<(&str, &str)> {
        match self {
            Self::Compact(entry) => Some((&entry.name, &entry.description)),
            Self::Brief(entry) => Some((&entry.name, &entry.description)),
            Self::Shortened(entry) => Some((&entry.name, &entry.description)),
            _ => None,
        }
    }

    /// The name of the flow; none for what is about several.
    pub fn name(&self) -> Option<&str> {
        Some(match self {
            Self::Compact(entry) => &entry.name,
            Self::Brief(entry) => &entry.name,
            Self::Index(line) => line.0.split_once('(').map_or(line.0.as_str(), |(name, _)| name),
            Self::Standard(entry) => &entry.name,
            Self::Detailed(entry) => &entry.name,
            Self::Hot(entry) => &entry.name,
            Self::Summary(entry) => &entry.name,
            Self::Full(entry) => &entry.name,
            Self::Contract(entry) => &entry.name,
            Self::Shortened(entry) => &entry.name,
            Self::Category(_) => return None,
        })
    }

    /// The shortest form of an entry that alone would pass the budget; an index line loses inputs and tags.
    pub(super) fn shortest(flow: &FlowRow, mode: Mode) -> Self {
        let description = match mode {
            Mode::Index => return Self::Index(IndexEntry(text::short_line(&flow.name, &flow.description))),
            Mode::Brief => text::brief(&flow.description),
            _ => text::truncated(&flow.description, LONGEST_DESCRIPTION),
        };
        Self::Shortened(ShortenedEntry { name: flow.name.clone(), description, shortened: true })
    }

    /// A flow in a mode; `dates` false leaves `created` and `updated` out.
    pub(super) fn of(flow: FlowRow, mode: Mode, dates: bool, figures: &Figures<'_>) -> Self {
        let version = flow.version.clone().unwrap_or_else(|| FIRST_VERSION.to_owned());
        let (created, updated) = (flow.created.clone().filter(|_| dates), flow.updated.clone().filter(|_| dates));
        match mode {
            Mode::Compact => Self::Compact(CompactEntry::of(&flow)),
            Mode::Brief => Self::Brief(BriefEntry {
                description: text::brief(&flow.description),
                input_summary: text::brief_inputs(&flow),
                name: flow.name,
                guided: flow.guided,
            }),
            Mode::Index => Self::Index(IndexEntry(text::index_line(&flow))),
            Mode::Standard => Self::Standard(StandardEntry {
                input_summary: text::input_summary(&flow),
                name: flow.name,
                description: flow.description,
                tags: flow.tags,
                version,
                node_count: flow.node_count,
                created,
                updated,
                steps: flow.steps,
                guided: flow.guided,
            }),
            Mode::Detailed => Self::Detailed(Box::new(DetailedEntry {
                inputs: (!flow.inputs_unknown).then(|| flow.inputs.into_iter().map(shown_input).collect()),
                name: flow.name,
                description: flow.description,
                tags: flow.tags,
                version,
                node_count: flow.node_count,
                created,
                updated,
                steps: flow.steps,
                author: flow.author,
                category: flow.category,
                outputs: by_label(flow.outputs),
                guided: flow.guided,
            })),
            Mode::Hot => Self::Hot(HotEntry::of(flow, figures)),
            Mode::Summaries => Self::Summary(SummaryEntry::of(flow, figures)),
            Mode::Full => Self::Full(Box::new(FullEntry::of(flow, version, figures))),
            // Categories are made of many flows; a single one has the contract's entry at most.
            Mode::Contract | Mode::Categories => Self::Contract(ContractEntry {
                name: flow.name,
                description: flow.description,
                version,
                node_count: flow.node_count,
                created,
                updated,
            }),
        }
    }

    /// What the entry costs in a reply, in estimated tokens, with the comma behind it.
    pub(super) fn tokens(&self) -> usize {
        crate::tokens::estimate(&(json_of(self) + ","))
    }
}

impl CompactEntry {
    fn of(flow: &FlowRow) -> Self {
        Self {
            name: flow.name.clone(),
            description: text::truncated(&flow.description, LONGEST_DESCRIPTION),
            tags: flow.tags.clone(),
            input_summary: text::input_summary(flow),
        }
    }
}

/// What a flow's compact entry costs, in estimated tokens.
pub(super) fn compact_tokens(flow: &FlowRow) -> usize {
    ListEntry::Compact(CompactEntry::of(flow)).tokens()
}

fn shown_input(input: FlowInput) -> (String, ShownInput) {
    let shown = ShownInput {
        kind: input.kind.unwrap_or_else(|| PLAIN_KIND.to_owned()),
        description: input.description.unwrap_or_default(),
        required: input.required,
        in_sets: input.in_sets,
        default: input.default,
    };
    (input.name, shown)
}

/// The entries of a page as a JSON array, written once for every reply that carries them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntriesJson {
    /// The array.
    pub plain: String,
    /// The array as it stands inside a JSON text, without the quotation marks around it.
    pub quoted: String,
}

impl EntriesJson {
    pub(super) fn of(entries: &[ListEntry]) -> Self {
        let plain = json_of(&entries);
        Self { quoted: crate::names::inside_json(&plain), plain }
    }
}

/// Entries are texts, numbers and JSON values, none of which fails to be written.
fn json_of(entries: &impl Serialize) -> String {
    serde_json::to_string(entries).unwrap_or_default()
}
