//! What an entry shows in each mode: chosen fields, ready for any writer.
//!
//! Nothing here decides how many entries fit; that is `page.rs`. How the fields are spelt in JSON is `rows.rs`.

use serde_json::Value;

use super::mode::Mode;
use super::packed::Head;
use super::text::{self, Given, LONGEST_DESCRIPTION};
use super::tiers::{CategoryEntry, Figures, FullEntry, HotEntry, SummaryEntry};
use super::{Entry, Input, Output};

/// What an absent version reads.
const FIRST_VERSION: &str = "1.0";
/// What an input without a type reads.
pub(super) const PLAIN_KIND: &str = "string";

/// One entry of a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Shown {
    /// An entry of [`Mode::Compact`].
    Compact(CompactEntry),
    /// An entry of [`Mode::Brief`].
    Brief(BriefEntry),
    /// A line of [`Mode::Index`].
    Index(String),
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
    Shortened {
        /// The name it is asked for by.
        name: String,
        /// At most 150 characters, see [`truncated`](super::truncated).
        description: String,
    },
}

/// What compact shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactEntry {
    /// The name it is asked for by.
    pub name: String,
    /// At most 150 characters, see [`truncated`](super::truncated).
    pub description: String,
    /// As written.
    pub tags: Vec<String>,
    /// See [`input_summary`](super::input_summary).
    pub input_summary: String,
}

/// What brief shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BriefEntry {
    /// The name it is asked for by.
    pub name: String,
    /// The first sentence, at most 80 characters of it, see [`truncated`](super::truncated).
    pub description: String,
    /// See [`brief_inputs`](super::brief_inputs).
    pub input_summary: String,
}

/// What standard shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StandardEntry {
    /// The name it is asked for by.
    pub name: String,
    /// The whole description.
    pub description: String,
    /// As written.
    pub tags: Vec<String>,
    /// See [`input_summary`](super::input_summary).
    pub input_summary: String,
    /// `1.0` when the file names none.
    pub version: String,
    /// All nodes.
    pub node_count: usize,
    /// Absent where the file names none or metadata isn't wanted.
    pub created: Option<String>,
    /// Absent where the file names none or metadata isn't wanted.
    pub updated: Option<String>,
    /// Step labels in order.
    pub steps: Vec<String>,
}

/// What detailed shows.
#[derive(Debug, Clone, PartialEq)]
pub struct DetailedEntry {
    /// The name it is asked for by.
    pub name: String,
    /// The whole description.
    pub description: String,
    /// As written.
    pub tags: Vec<String>,
    /// `1.0` when the file names none.
    pub version: String,
    /// All nodes.
    pub node_count: usize,
    /// Absent where the file names none or metadata isn't wanted.
    pub created: Option<String>,
    /// Absent where the file names none or metadata isn't wanted.
    pub updated: Option<String>,
    /// Step labels in order.
    pub steps: Vec<String>,
    /// Written as null when absent.
    pub author: Option<String>,
    /// Written as null when absent.
    pub category: Option<String>,
    /// Everything a caller may give, by name.
    pub inputs: Vec<ShownInput>,
    /// Whether that is not known; written as null.
    pub inputs_unknown: bool,
    /// Results, in the file's order.
    pub outputs: Vec<Output>,
}

/// An input as detailed shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownInput {
    /// The variable's name.
    pub name: String,
    /// `string` when none is declared.
    pub kind: String,
    /// Empty when there is none.
    pub description: String,
    /// Whether the flow refuses to run without it.
    pub required: bool,
    /// Written as null when absent.
    pub default: Option<Value>,
}

/// What the `flows/list` contract asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContractEntry {
    /// The name it is asked for by.
    pub name: String,
    /// The whole description.
    pub description: String,
    /// `1.0` when the file names none.
    pub version: String,
    /// All nodes.
    pub node_count: usize,
    /// Absent where the file names none or metadata isn't wanted.
    pub created: Option<String>,
    /// Absent where the file names none or metadata isn't wanted.
    pub updated: Option<String>,
}

impl Shown {
    /// The shortest form of an entry that alone would pass the budget; an index line loses inputs and tags.
    pub(super) fn shortest(name: &str, description: &str, mode: Mode) -> Self {
        match mode {
            Mode::Index => Self::Index(text::short_line(name, description)),
            Mode::Brief => Self::Shortened { name: name.to_owned(), description: text::brief(description) },
            _ => Self::Shortened {
                name: name.to_owned(),
                description: text::truncated(description, LONGEST_DESCRIPTION),
            },
        }
    }

    /// The modes that need no more than a row's head.
    pub(super) fn of_head(head: Head<'_>, mode: Mode) -> Option<Self> {
        match mode {
            Mode::Compact => Some(Self::Compact(CompactEntry {
                name: head.name.to_owned(),
                description: text::truncated(head.description, LONGEST_DESCRIPTION),
                tags: head.tags.into_iter().map(str::to_owned).collect(),
                input_summary: text::summary(Given { inputs: head.inputs, unknown: head.inputs_unknown }),
            })),
            Mode::Brief => {
                let given = Given { inputs: head.inputs, unknown: head.inputs_unknown };
                Some(Self::Brief(BriefEntry {
                    name: head.name.to_owned(),
                    description: text::brief(head.description),
                    input_summary: text::input_names(given),
                }))
            }
            Mode::Index => {
                let given = Given { inputs: head.inputs, unknown: head.inputs_unknown };
                Some(Self::Index(text::line(head.name, head.description, &head.tags, given)))
            }
            _ => None,
        }
    }

    /// A whole entry in a mode; `dates` false leaves `created` and `updated` out.
    pub(super) fn of_entry(entry: Entry, mode: Mode, dates: bool, figures: &Figures<'_>) -> Self {
        let (created, updated) = if dates { (entry.created.clone(), entry.updated.clone()) } else { (None, None) };
        let version = entry.version.clone().unwrap_or_else(|| FIRST_VERSION.to_owned());
        match mode {
            Mode::Compact => Self::Compact(CompactEntry {
                description: text::truncated(&entry.description, LONGEST_DESCRIPTION),
                input_summary: text::input_summary(&entry),
                name: entry.name,
                tags: entry.tags,
            }),
            Mode::Brief => Self::Brief(BriefEntry {
                description: text::brief(&entry.description),
                input_summary: text::brief_inputs(&entry),
                name: entry.name,
            }),
            Mode::Index => Self::Index(text::index_line(&entry)),
            Mode::Standard => Self::Standard(StandardEntry {
                input_summary: text::input_summary(&entry),
                name: entry.name,
                description: entry.description,
                tags: entry.tags,
                version,
                node_count: entry.node_count,
                created,
                updated,
                steps: entry.steps,
            }),
            Mode::Detailed => Self::Detailed(Box::new(DetailedEntry {
                inputs_unknown: entry.inputs_unknown,
                name: entry.name,
                description: entry.description,
                tags: entry.tags,
                version,
                node_count: entry.node_count,
                created,
                updated,
                steps: entry.steps,
                author: entry.author,
                category: entry.category,
                inputs: shown_inputs(entry.inputs),
                outputs: entry.outputs,
            })),
            Mode::Hot => Self::Hot(HotEntry::of(entry, figures)),
            Mode::Summaries => Self::Summary(SummaryEntry::of(entry, figures)),
            Mode::Full => Self::Full(Box::new(FullEntry::of(entry, version, figures))),
            // Categories are made of many flows; a single one has the contract's entry at most.
            Mode::Contract | Mode::Categories => Self::Contract(ContractEntry {
                name: entry.name,
                description: entry.description,
                version,
                node_count: entry.node_count,
                created,
                updated,
            }),
        }
    }
}

fn shown_inputs(mut inputs: Vec<Input>) -> Vec<ShownInput> {
    inputs.sort_by(|a, b| a.name.cmp(&b.name));
    inputs
        .into_iter()
        .map(|input| ShownInput {
            name: input.name,
            kind: input.kind.unwrap_or_else(|| PLAIN_KIND.to_owned()),
            description: input.description.unwrap_or_default(),
            required: input.required,
            default: input.default,
        })
        .collect()
}
