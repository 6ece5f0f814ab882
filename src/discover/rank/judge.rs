//! Whether the best document is what is meant, or nothing is.
//!
//! Measures, not meanings: it knows how much each phrasing says and how much of that a document has. All measures are
//! in words that stand in one document only, so that they mean the same in small catalogs and in large ones.

use super::SearchIndex;
use super::search::{Ranked, Unit};

/// What one phrasing must come to: the share of it that the document has, times the square root of how much that is.
/// Two telling words of five are not what is asked for; two of two are, and so are five of ten.
const PHRASING: f32 = 0.32;
/// What all phrasings together must find in the document, however much else they say: several ways to say it that
/// lead to one document are strong evidence.
const TOGETHER: f32 = 2.1;
/// A phrasing of which the document has this share is what is meant, in whichever field and however common its words.
const NEARLY_ALL: f32 = 0.8;

impl SearchIndex {
    /// How well the best document fits: from 1 on it is what is meant.
    ///
    /// One phrasing must fit by itself, and the better the more of them there were to try (by the fourth root of their
    /// number, since one in many fits by chance), or all of them together must find enough in the document.
    pub(super) fn fit(&self, best: u32, phrasings: &[Vec<Unit>], each: &[Ranked], together: Option<&Ranked>) -> f32 {
        let word = self.rarity(1);
        let tried = f32::from(u16::try_from(each.len()).unwrap_or(u16::MAX)).sqrt().sqrt();
        let all = together.or(each.first()).map_or(0.0, |all| all.has(best) / (TOGETHER * word));
        phrasings.iter().zip(each).fold(all, |fit, (units, ranked)| {
            let says: f32 = ranked.says.iter().sum();
            if says <= 0.0 {
                return fit;
            }
            let has = ranked.has(best);
            let alone = has / says * (has / word).sqrt() / (PHRASING * tried);
            fit.max(alone).max(self.covered(best, units, &ranked.says) / says / NEARLY_ALL)
        })
    }

    /// How much of what some units say is in a document at all.
    fn covered(&self, document: u32, units: &[Unit], says: &[f32]) -> f32 {
        let there =
            |number: u32| self.postings(number).binary_search_by_key(&document, |posting| posting.document).is_ok();
        let worth = |unit: &Unit| {
            unit.matches.iter().filter(|(number, _)| there(*number)).map(|(_, worth)| *worth).fold(0.0, f32::max)
        };
        units.iter().zip(says).map(|(unit, says)| worth(unit) * says).sum()
    }
}
