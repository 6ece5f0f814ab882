//! The tools, sorted by name: this list is what clients see, whatever the catalog holds.

mod execute;
mod list;
mod show;
mod status;

use super::definition::Definition;

/// Every tool.
pub(super) const ALL: [Definition; 4] = [execute::TOOL, list::TOOL, show::TOOL, status::TOOL];

/// The same sentence for the same argument of several tools.
const REF: &str = "Branch, tag or commit; default: the source's own.";
