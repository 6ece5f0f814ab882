//! The modes a listing can have, with their default limits and budgets.
//!
//! Which fields a mode shows is decided in `shown.rs`; how they are spelt in JSON, in `rows.rs`.

use crate::names::words;

/// How many flows [`Mode::Full`] may be asked for at once.
pub const MOST_NAMES: usize = 10;

words! {
    /// How much of each flow a listing shows.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Mode {
        /// Name, description of at most 150 characters, tags and a summary of the inputs.
        #[default]
        Compact = "compact",
        /// One line per flow.
        Index = "index",
        /// Compact with the whole description, version, number of nodes, dates and step labels.
        Standard = "standard",
        /// Everything a caller may want to know before a call, inputs and outputs in full.
        Detailed = "detailed",
        /// The flows that are used most and go best, with how they go.
        Hot = "hot",
        /// The categories instead of flows, each with the number of its flows.
        Categories = "categories",
        /// One sentence, the inputs and the results of each flow, the most used first.
        Summaries = "summaries",
        /// Everything about a few flows that are named: the schema of the inputs, results, examples, how executions went.
        Full = "full",
        /// A candidate for a query, when the caller names no mode: name, description of at most 80 characters and the
        /// names of the inputs.
        Brief = "brief",
        /// The entry of the `flows/list` contract: every flow, no limit or budget unless given.
        Contract = "contract",
    }
}

impl Mode {
    /// The words of the modes that `flows_list` offers: all but the last two. [`Mode::Brief`] is what a query gets
    /// without one, and [`Mode::Contract`] belongs to `flows/list` alone.
    pub const OFFERED_WORDS: &'static [&'static str] = Self::WORDS.split_at(8).0;

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
    fn every_mode_is_found_by_its_word_and_two_are_not_offered() {
        assert!(Mode::ALL.iter().all(|mode| Mode::named(mode.word()) == Some(*mode)));
        assert!(![Mode::Brief, Mode::Contract].iter().any(|mode| Mode::OFFERED_WORDS.contains(&mode.word())));
        assert_eq!(Mode::OFFERED_WORDS.len(), Mode::ALL.len() - 2);
    }
}
