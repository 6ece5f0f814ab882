//! The modes a listing can have, with their default limits and budgets.
//!
//! Which fields a mode shows is decided in `shown.rs`; how they are spelt in JSON, in `rows.rs`.

/// How much of each flow a listing shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// Name, description of at most 150 characters, tags and a summary of the inputs.
    #[default]
    Compact,
    /// One line per flow.
    Index,
    /// Compact with the whole description, version, number of nodes, dates and step labels.
    Standard,
    /// Everything a caller may want to know before a call, inputs and outputs in full.
    Detailed,
    /// The entry of the `flows/list` contract: every flow, no limit or budget unless given.
    Contract,
}

impl Mode {
    /// The modes that `flows_list` offers; [`Mode::Contract`] belongs to `flows/list` alone.
    pub const OFFERED: [Self; 4] = [Self::Compact, Self::Index, Self::Standard, Self::Detailed];

    /// The mode's name as callers write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Index => "index",
            Self::Standard => "standard",
            Self::Detailed => "detailed",
            Self::Contract => "contract",
        }
    }

    /// The offered mode of this name, if there is one.
    pub fn named(text: &str) -> Option<Self> {
        Self::OFFERED.into_iter().find(|mode| mode.as_str() == text)
    }

    /// The most entries on a page when the caller names no limit.
    pub fn default_limit(self) -> Option<usize> {
        match self {
            Self::Compact | Self::Standard => Some(100),
            Self::Index => Some(200),
            Self::Detailed => Some(50),
            Self::Contract => None,
        }
    }

    /// The most estimated tokens in a reply when the caller names no budget.
    pub fn default_budget(self) -> Option<usize> {
        match self {
            Self::Compact | Self::Index => Some(8_000),
            Self::Standard => Some(12_000),
            Self::Detailed => Some(20_000),
            Self::Contract => None,
        }
    }
}
