//! Names that are spelt alike, for every "did you mean".

use std::cell::Cell;

use super::{LONGEST_NAME, folded, nfc, quoted, unseen};

/// Shorter words that differ in one letter are often two words.
const LEAST_LETTERS: usize = 5;

/// Whether two names differ in nothing but case, `-` and `_`, or (from five characters on) in one slip of
/// a finger; a plural is no slip.
pub fn nearly_same(word: &str, name: &str) -> bool {
    if far_apart(word, name) {
        return false;
    }
    let plain = |text: &str| -> String {
        text.chars().filter(|c| !matches!(c, '-' | '_')).take(LONGEST_NAME).flat_map(char::to_lowercase).collect()
    };
    let (word, name) = (plain(word), plain(name));
    let long = word.chars().count().min(name.chars().count()) >= LEAST_LETTERS;
    word == name
        || slipped(&word, &name)
        || (long && word.strip_suffix('s') != Some(&*name) && strsim::damerau_levenshtein(&word, &name) == 1)
}

/// Whether more than two letters lie between the beginning that two names share and the end that they share, as it is
/// with most: every field of every object is compared with the name of every field. Only told of plain names.
fn far_apart(word: &str, name: &str) -> bool {
    fn letters(text: &str) -> impl DoubleEndedIterator<Item = u8> {
        text.bytes().filter(|byte| !matches!(byte, b'-' | b'_')).map(|byte| byte.to_ascii_lowercase())
    }
    let plain = |text: &str| text.is_ascii() && text.len() <= LONGEST_NAME;
    let shared = letters(word).zip(letters(name)).take_while(|(a, b)| a == b).count()
        + letters(word).rev().zip(letters(name).rev()).take_while(|(a, b)| a == b).count();
    plain(word) && plain(name) && shared + 2 < letters(word).count().max(letters(name).count())
}

/// Whether two words differ in what is no other word: two letters in the wrong order, or one that stands twice.
fn slipped(word: &str, name: &str) -> bool {
    let (word, name): (Vec<char>, Vec<char>) = (word.chars().collect(), name.chars().collect());
    let (shorter, longer) = if word.len() <= name.len() { (&word, &name) } else { (&name, &word) };
    if shorter.len() < LEAST_LETTERS - 1 || longer.len() > LONGEST_NAME {
        return false;
    }
    let same = shorter.iter().zip(longer).take_while(|(one, other)| one == other).count();
    let rest = |letters: &[char], from: usize| letters.get(from..).unwrap_or_default().to_vec();
    let at = |letters: &[char], place: usize| letters.get(place).copied();
    match longer.len() - shorter.len() {
        0 => {
            same + 1 < shorter.len()
                && at(shorter, same) == at(longer, same + 1)
                && at(shorter, same + 1) == at(longer, same)
                && rest(shorter, same + 2) == rest(longer, same + 2)
        }
        1 => {
            let doubled = same > 0 && at(longer, same) == at(longer, same - 1);
            doubled && at(longer, same) != Some('s') && rest(shorter, same) == rest(longer, same + 1)
        }
        _ => false,
    }
}

/// Whether one word of four letters is the other one without a letter in its middle: at the beginning and the end,
/// one letter more makes another word.
fn lacks_a_letter(word: &str, name: &str) -> bool {
    let (word, name): (Vec<char>, Vec<char>) = (word.chars().collect(), name.chars().collect());
    let (shorter, longer) = if word.len() <= name.len() { (&word, &name) } else { (&name, &word) };
    let before = shorter.iter().zip(longer).take_while(|(one, other)| one == other).count();
    shorter.len() == LEAST_LETTERS - 1
        && longer.len() == LEAST_LETTERS
        && shorter.first() == longer.first()
        && shorter.last() == longer.last()
        && shorter.get(before..) == longer.get(before + 1..)
}

/// The candidates spelt most like `word`, best first, at most `most`; ties keep the given order.
///
/// The distance is Damerau–Levenshtein on lower-case text with blanks, `-` and `_` taken as one, and a candidate counts
/// when no more than a third of the longer word differs, or when one begins with or holds the other.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    Comparisons::default().nearest(word, candidates, most)
}

/// The question whether one of these names was meant; none where there are none.
pub fn did_you_mean<N: AsRef<str>>(names: impl IntoIterator<Item = N>) -> Option<String> {
    let names: Vec<String> = names.into_iter().map(|name| quoted(name.as_ref())).collect();
    (!names.is_empty()).then(|| format!("did you mean {}?", names.join(" or ")))
}

/// How much may still be compared for one file or one call. Its author may be anybody, and to compare ten thousand
/// unknown names with ten thousand known ones would take minutes. Where it is used up, nothing is found alike.
#[derive(Debug)]
pub struct Comparisons {
    /// In pairs of letters, which is what a distance costs.
    left: Cell<usize>,
}

impl Default for Comparisons {
    /// 20,000 comparisons of names of 30 letters, which take about 0.1 s: enough for any file that a person wrote.
    fn default() -> Self {
        Self { left: Cell::new(20_000 * 30 * 30) }
    }
}

impl Comparisons {
    /// None: for a look-up of which only what is found is wanted.
    pub fn none() -> Self {
        Self { left: Cell::new(0) }
    }

    /// Whether nothing is compared any more.
    pub fn used_up(&self) -> bool {
        self.left.get() == 0
    }

    /// Counts the comparison of two names of so many letters; whether enough was left for it.
    fn afford(&self, letters: usize, others: usize) -> bool {
        // Reading the names costs something, too.
        let left = self.left.get().checked_sub(letters * others + letters + others);
        self.left.set(left.unwrap_or_default());
        left.is_some()
    }

    /// As the function [`nearest`].
    pub fn nearest<'a>(&self, word: &str, candidates: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
        if self.used_up() {
            return Vec::new();
        }
        let plain = |text: &str| -> String {
            let letters = text.trim().chars().take(LONGEST_NAME);
            let lower = |c: char| if c == '-' || c == ' ' { '_'.to_lowercase() } else { c.to_lowercase() };
            if text.is_ascii() {
                return letters.flat_map(lower).collect();
            }
            // Neither what nobody sees nor the normal form of a letter tells names apart.
            nfc(&letters.filter(|c| !unseen(*c)).flat_map(lower).collect::<String>())
        };
        let wanted = plain(word);
        let length = wanted.chars().count();
        let mut found: Vec<(usize, usize, &str)> = Vec::new();
        for (place, candidate) in candidates.into_iter().enumerate() {
            let other = plain(candidate);
            let other_length = other.chars().count();
            let longer = length.max(other_length);
            let inside = length.min(other_length) >= 3 && (other.contains(&wanted) || wanted.contains(&other));
            let far = !inside && length.abs_diff(other_length) > longer / 3;
            if !self.afford(other_length, if far { 1 } else { length }) {
                break;
            }
            if far {
                continue;
            }
            let distance = strsim::damerau_levenshtein(&wanted, &other);
            if inside || distance <= longer / 3 || (distance == 1 && longer >= 2) {
                found.push((distance, place, candidate));
            }
        }
        found.sort_unstable_by_key(|&(distance, place, _)| (distance, place));
        found.dedup_by(|a, b| a.2 == b.2);
        found.truncate(most);
        found.into_iter().map(|(_, _, candidate)| candidate).collect()
    }

    /// Whether one name is most likely the other one misspelt: they differ in case or in what stands between words, or
    /// in one letter that is left out, put in, another one or in the wrong place. Numbers and plurals tell names apart.
    pub fn one_letter_off(&self, name: &str, other: &str) -> bool {
        let plural = |one: &str, other: &str| one.strip_suffix('s') == Some(other);
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        // A character has at most four bytes.
        if !self.afford(1, 1) || name.len().abs_diff(other.len()) > 4 {
            return false;
        }
        let shorter = name.chars().count().min(other.chars().count());
        if shorter < LEAST_LETTERS {
            return name != other
                && (folded(name) == folded(other) || slipped(name, other) || lacks_a_letter(name, other));
        }
        (LEAST_LETTERS..=LONGEST_NAME).contains(&shorter)
            && self.afford(shorter, shorter)
            && !plural(name, other)
            && !plural(other, name)
            && digits(name) == digits(other)
            && (strsim::damerau_levenshtein(name, other) == 1 || folded(name) == folded(other))
            && name != other
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_spellings_are_nearly_the_same_and_plurals_and_short_words_are_not() {
        for (word, name) in [
            ("onerror", "onError"),
            ("timeout_ms", "timeoutMs"),
            ("Args", "args"),
            ("requries", "requires"),
            ("variable", "variables"),
            ("enumm", "enum"),
            ("tpye", "type"),
        ] {
            assert!(nearly_same(word, name), "{word} {name}");
        }
        for (word, name) in [
            ("labels", "label"),
            ("calls", "call"),
            ("sets", "set"),
            ("timeout", "timeoutMs"),
            ("flaw", "flow"),
            ("calll", "cal"),
        ] {
            assert!(!nearly_same(word, name), "{word} {name}");
        }
    }

    #[test]
    fn names_that_are_far_apart_are_no_slip_of_a_finger() {
        for (word, name) in [("edges", "Ed_ges"), ("egdes", "edges"), ("edge", "edges"), ("edgxs", "edges"), ("a", "b")]
        {
            assert!(!far_apart(word, name) && !far_apart(name, word), "{word} {name}");
        }
        for (word, name) in [("position", "edges"), ("edges", "egdse"), ("id", "template")] {
            assert!(far_apart(word, name) && strsim::damerau_levenshtein(word, name) > 1, "{word} {name}");
        }
        let accented = "\u{130}".repeat(9);
        assert!(!far_apart(&accented, "edges"));
    }

    #[test]
    fn the_nearest_spelling_comes_first() {
        let names = ["Marketing_Strategy", "Market_Research", "Tea"];
        assert_eq!(nearest("marketing strategi", names, 3), ["Marketing_Strategy"]);
        assert_eq!(nearest("ted", names, 3), ["Tea"]);
        assert!(nearest("zzz", names, 3).is_empty());
    }

    #[test]
    fn what_nobody_sees_and_the_normal_form_tell_no_names_apart() {
        for (word, name) in [("a ", "a"), ("e\u{301}", "\u{e9}"), ("a\u{200b}", "a"), ("a\u{a0}", "a")] {
            assert_eq!(nearest(word, ["b", name], 1), [name], "{word:?}");
        }
    }

    #[test]
    fn a_misspelt_name_is_told_from_another_one() {
        let comparisons = Comparisons::default();
        for (name, other) in [
            ("ctiy", "city"),
            ("City", "city"),
            ("launch-date", "launch_date"),
            ("summry", "summary"),
            ("topc", "topic"),
        ] {
            assert!(comparisons.one_letter_off(name, other), "{name} {other}");
        }
        for (name, other) in [
            ("role", "rule"),
            ("city", "city"),
            ("item", "items"),
            ("a", "b"),
            ("step1", "step2"),
            ("rice", "price"),
            ("size", "sized"),
        ] {
            assert!(!comparisons.one_letter_off(name, other), "{name} {other}");
        }
    }

    #[test]
    fn one_bound_serves_for_all_comparisons_of_a_file() {
        let comparisons = Comparisons::default();
        let names: Vec<String> = (0..10_000).map(|number| format!("variable_{number:06}")).collect();
        let asked = names.iter().take_while(|name| {
            let found = comparisons.nearest(name, names.iter().map(String::as_str), 1);
            found.first() == Some(&name.as_str())
        });
        assert!((1..100).contains(&asked.count()));
        assert!(comparisons.used_up());
        assert!(comparisons.nearest("variable", ["variable"], 1).is_empty());
    }
}
