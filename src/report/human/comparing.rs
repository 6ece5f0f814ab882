//! Differences of two texts, in bounded time.

use std::time::Duration;

use similar::TextDiff;

/// How many lines or words may differ for each to be compared with all: the time grows by their square.
const MOST: usize = 4_000;

/// The lines that differ. Of very many, the part in which they lie counts as replaced.
pub(super) fn by_lines<'t>(before: &'t str, after: &'t str) -> TextDiff<'t, 't, 't, str> {
    let mut rules = TextDiff::configure();
    if differ_much(before.split_inclusive('\n'), after.split_inclusive('\n')) {
        rules.timeout(Duration::ZERO);
    }
    rules.diff_lines(before, after)
}

/// The words that differ, likewise.
pub(super) fn by_words<'t>(before: &'t str, after: &'t str) -> TextDiff<'t, 't, 't, str> {
    let mut rules = TextDiff::configure();
    if differ_much(before.split_inclusive(char::is_whitespace), after.split_inclusive(char::is_whitespace)) {
        rules.timeout(Duration::ZERO);
    }
    rules.diff_words(before, after)
}

/// Whether more than that lies between what two texts begin with and what they end with.
fn differ_much<'t>(before: impl Iterator<Item = &'t str>, after: impl Iterator<Item = &'t str>) -> bool {
    let (before, after): (Vec<&str>, Vec<&str>) = (before.collect(), after.collect());
    let same = before.iter().zip(&after).take_while(|(one, other)| one == other).count();
    let rest = |all: &[&'t str]| all.get(same..).unwrap_or_default().to_vec();
    let (before, after) = (rest(&before), rest(&after));
    let end = before.iter().rev().zip(after.iter().rev()).take_while(|(one, other)| one == other).count();
    before.len().max(after.len()) - end > MOST
}

#[cfg(test)]
mod tests {
    use similar::ChangeTag;

    use super::*;

    #[test]
    fn what_differs_much_is_replaced_and_a_change_in_a_long_text_is_found() {
        let lines = |range: std::ops::Range<u32>, line: fn(u32) -> String| range.map(line).collect::<Vec<_>>().concat();
        let long = lines(0..20_000, |number| format!("line {number}\n"));
        let changed = |after: &str| {
            by_lines(&long, after).iter_all_changes().filter(|change| change.tag() != ChangeTag::Equal).count()
        };
        assert_eq!(changed(&long.replace("line 9000\n", "other\n")), 2);
        let others = lines(0..60_000, |number| format!("{}\n", number % 7));
        assert_eq!(changed(&others), 80_000);
        let words = long.replace('\n', " ");
        let other_words = others.replace('\n', " ");
        assert!(by_words(&words, &other_words).iter_all_changes().count() > 80_000);
    }
}
