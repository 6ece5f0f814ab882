//! What a listing shows: the catalog's index, the modes, filters, pages, cursors and budgets.
//!
//! The catalog fills [`IndexRows`] from the plans of one revision; [`IndexRows::records`] is their stored form, of
//! which [`FlowIndex`] reads what is asked for, and [`page`] picks what one reply shows. This room does no I/O,
//! knows no clock and no protocol, and never sees a flow file: it is handed finished rows.
//!
//! Everything here is the same for equal inputs: order is by name in code points, then by file,
//! then by place in the file.

mod answer;
mod cursor;
mod flow_index;
mod list_entry;
mod mode;
mod page;
pub mod rank;
mod rows;
mod score;
mod selection;
mod text;
mod tiers;

pub use answer::{Excluded, NoMatch, Reason};
pub use cursor::CursorFault;
pub use flow_index::{DamagedIndex, FlowIndex, NameMatch};
pub use list_entry::{
    BriefEntry, CompactEntry, ContractEntry, DetailedEntry, EntriesJson, IndexEntry, ListEntry, ShortenedEntry,
    ShownInput, StandardEntry,
};
pub use mode::{MOST_NAMES, Mode};
pub use page::{DiscoverError, LARGEST_BUDGET, LARGEST_LIMIT, Page, QUERY_LIMIT, TruncatedBy, page};
pub use rows::{
    Category, FileProblem, FlowInput, FlowKey, FlowOutput, FlowRow, IndexRows, OverlookedFile, TemplateRow,
    TemplateTitle,
};
pub use score::{BUCKETS, Popularity, Score, Times, Usage};
pub use selection::{ListKind, Selection};
pub use text::{brief_inputs, index_line, input_summary, truncated};
pub use tiers::{CategoryEntry, Figures, FullEntry, HotEntry, SummaryEntry, millis, property, set_property};

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
