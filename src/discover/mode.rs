//! The modes a listing can have, with their default limits and budgets.
//!
//! Which fields a mode shows is decided in `shown.rs`; how they are spelt in JSON, in `rows.rs`.

/// How many flows [`Mode::Full`] may be asked for at once.
pub const MOST_NAMES: usize = 10;

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
    /// A candidate for a query, when the caller names no mode: name, description of at most 80 characters and the
    /// names of the inputs.
    Brief,
    /// The flows that are used most and go best, with how they go.
    Hot,
    /// The categories instead of flows, each with the number of its flows.
    Categories,
    /// One sentence, the inputs and the results of each flow, the most used first.
    Summaries,
    /// Everything about a few flows that are named: the schema of the inputs, results, examples, how executions went.
    Full,
    /// The entry of the `flows/list` contract: every flow, no limit or budget unless given.
    Contract,
}

impl Mode {
    /// The modes that `flows_list` offers; [`Mode::Brief`] is what a query gets without one, and [`Mode::Contract`]
    /// belongs to `flows/list` alone.
    pub const OFFERED: [Self; 8] = [
        Self::Compact,
        Self::Index,
        Self::Standard,
        Self::Detailed,
        Self::Hot,
        Self::Categories,
        Self::Summaries,
        Self::Full,
    ];
    /// Their names, in the same order.
    pub const WORDS: [&str; 8] = ["compact", "index", "standard", "detailed", "hot", "categories", "summaries", "full"];

    /// The mode's name as callers write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Compact => "compact",
            Self::Index => "index",
            Self::Standard => "standard",
            Self::Detailed => "detailed",
            Self::Brief => "brief",
            Self::Hot => "hot",
            Self::Categories => "categories",
            Self::Summaries => "summaries",
            Self::Full => "full",
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
            Self::Compact | Self::Standard | Self::Brief => Some(100),
            Self::Index => Some(200),
            Self::Detailed | Self::Summaries => Some(50),
            Self::Hot => Some(15),
            Self::Full => Some(MOST_NAMES),
            // There are far fewer categories than flows.
            Self::Categories => Some(1_000),
            Self::Contract => None,
        }
    }

    /// Whether usage decides what is shown.
    pub fn goes_by_usage(self) -> bool {
        matches!(self, Self::Hot | Self::Categories | Self::Summaries | Self::Full)
    }

    /// The mode in which flows are shown that only come near to what a query asks for.
    pub(super) fn briefly(self) -> Self {
        match self {
            Self::Compact | Self::Index | Self::Brief | Self::Contract => self,
            Self::Standard | Self::Detailed | Self::Hot | Self::Categories | Self::Summaries | Self::Full => {
                Self::Brief
            }
        }
    }

    /// Whether entries come by score where no query orders them.
    pub(super) fn is_by_score(self) -> bool {
        matches!(self, Self::Hot | Self::Summaries)
    }

    /// The most estimated tokens in a reply when the caller names no budget.
    pub fn default_budget(self) -> Option<usize> {
        match self {
            Self::Compact | Self::Index | Self::Brief => Some(8_000),
            Self::Standard => Some(12_000),
            Self::Detailed => Some(20_000),
            Self::Hot | Self::Categories => Some(2_000),
            Self::Summaries | Self::Full => Some(4_000),
            Self::Contract => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_offered_mode_is_found_by_its_word() {
        assert_eq!(Mode::OFFERED.map(Mode::as_str), Mode::WORDS);
        assert!(Mode::OFFERED.iter().all(|mode| Mode::named(mode.as_str()) == Some(*mode)));
        assert!(Mode::named("brief").is_none() && Mode::named("contract").is_none());
    }
}
