//! Terms that are nearly a word: one edit away, longer or shorter versions of it, made of it.

use super::words::TermKind;

/// The shortest word that may be misspelt, and the shortest part of a longer word, in characters.
pub(super) const SHORTEST: usize = 4;
/// Longer words are looked for as they stand: their typos would cost more than they are worth.
const LONGEST: usize = 24;
/// How many longer words a word may stand for.
const MOST_LONGER: usize = 12;

/// Look-ups by spelling.
#[derive(Debug, Default)]
pub(super) struct Near {
    /// Hashes of each word and of the word without one of its letters, with the word's number; sorted.
    shortened: Vec<(u32, u32)>,
    /// The words' numbers, by text.
    sorted: Vec<(Box<str>, u32)>,
}

impl Near {
    pub(super) fn of<'a>(terms: impl Iterator<Item = (&'a str, TermKind)>) -> Self {
        let mut near = Self::default();
        for (number, (text, kind)) in (0_u32..).zip(terms) {
            if kind != TermKind::Word {
                continue;
            }
            near.sorted.push((text.into(), number));
            if (SHORTEST..=LONGEST).contains(&text.chars().count()) {
                shortened(text, |hash| near.shortened.push((hash, number)));
            }
        }
        near.shortened.sort_unstable();
        near.shortened.dedup();
        near.sorted.sort_unstable();
        near
    }

    /// The numbers of the words that are one edit (a letter more, less, other, or two swapped) from a word.
    pub(super) fn misspelt<'t>(&self, word: &str, text: impl Fn(u32) -> &'t str) -> Vec<u32> {
        let length = word.chars().count();
        if !(SHORTEST..=LONGEST).contains(&length) {
            return Vec::new();
        }
        let mut found: Vec<u32> = Vec::new();
        shortened(word, |hash| {
            let from = self.shortened.partition_point(|(other, _)| *other < hash);
            let same = self.shortened.iter().skip(from).take_while(|(other, _)| *other == hash);
            found.extend(same.map(|(_, number)| *number));
        });
        found.sort_unstable();
        found.dedup();
        found.retain(|&number| one_edit(word, text(number)));
        found
    }

    /// The numbers of longer words that begin with a word.
    pub(super) fn longer(&self, word: &str) -> impl Iterator<Item = u32> {
        let from = self.sorted.partition_point(|(other, _)| &**other <= word);
        let rest = self.sorted.iter().skip(from);
        rest.take_while(move |(other, _)| other.starts_with(word)).take(MOST_LONGER).map(|(_, number)| *number)
    }
}

/// The longest known word that a word begins with, with its number; shorter than the word.
pub(super) fn beginning(word: &str, number: impl Fn(&str) -> Option<u32>) -> Option<(usize, u32)> {
    let ends: Vec<usize> = word.char_indices().map(|(at, _)| at).skip(SHORTEST).collect();
    ends.into_iter().rev().find_map(|end| Some((end, number(word.get(..end)?)?)))
}

/// Hashes of the word and of what is left when one letter is taken out. FNV-1a, 32 bits.
fn shortened(word: &str, mut sink: impl FnMut(u32)) {
    let hash = |skip: Option<usize>| {
        let chars = word.char_indices().filter(|(at, _)| Some(*at) != skip);
        chars.fold(0x811c_9dc5_u32, |hash, (_, c)| (hash ^ u32::from(c)).wrapping_mul(0x0100_0193))
    };
    sink(hash(None));
    word.char_indices().for_each(|(at, _)| sink(hash(Some(at))));
}

/// Whether one letter more, less or other, or two neighbours swapped, make one word the other.
fn one_edit(one: &str, other: &str) -> bool {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let (short, long) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    let same = short.iter().zip(long.iter()).take_while(|(a, b)| a == b).count();
    let rest = |letters: &'_ [char], from: usize| letters.get(from..).unwrap_or_default().to_vec();
    match long.len() - short.len() {
        0 => {
            let swapped = short.get(same) == long.get(same + 1) && short.get(same + 1) == long.get(same);
            same == long.len()
                || rest(short, same + 1) == rest(long, same + 1)
                || (swapped && rest(short, same + 2) == rest(long, same + 2))
        }
        1 => rest(short, same) == rest(long, same + 1),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{Near, one_edit};
    use crate::discover::rank::words::TermKind;

    #[test]
    fn one_edit_is_one_letter_or_two_swapped() {
        for (one, other) in [("report", "repotr"), ("report", "reprt"), ("report", "reports"), ("отчет", "отчот")]
        {
            assert!(one_edit(one, other) && one_edit(other, one), "{one} {other}");
        }
        for (one, other) in [("report", "resort s"), ("report", "troper"), ("abcd", "badc")] {
            assert!(!one_edit(one, other), "{one} {other}");
        }
    }

    #[test]
    fn every_edit_of_a_word_finds_it() {
        let words = ["invoice", "report", "review"];
        let near = Near::of(words.iter().map(|word| (*word, TermKind::Word)));
        let text = |number: u32| words.get(number as usize).copied().unwrap_or_default();
        for typo in ["invocie", "inoice", "invoicee", "xnvoice", "invoicx", "nvoice"] {
            assert_eq!(near.misspelt(typo, text), [0], "{typo}");
        }
        assert!(near.misspelt("rep", text).is_empty());
        assert_eq!(near.longer("re").collect::<Vec<_>>(), [1, 2]);
    }
}
