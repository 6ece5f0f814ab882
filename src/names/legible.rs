//! Characters that nobody sees and a model reads: which they are, where they stand, and the text
//! without them.
//!
//! Tag characters (U+E0000 to U+E007F) spell letters that no screen shows. Their kin are invisible in
//! the same way: unassigned ignorable characters, invisible operators, fillers. Joiners and variation
//! selectors are invisible too, but scripts and emoji need them, one or two at a time; a longer run of
//! them carries data and no writing.

use std::borrow::Cow;
use std::ops::Range;

/// The longest run of joiners and selectors that writing needs: an emoji's selector and a joiner.
const LONGEST_RUN: usize = 2;

/// Whether a character is invisible wherever it stands.
pub fn invisible(c: char) -> bool {
    c >= '\u{115F}'
        && matches!(c,
            '\u{17B4}' | '\u{17B5}' | '\u{2061}'..='\u{2065}' | '\u{206A}'..='\u{206F}' | '\u{3164}' | '\u{FFA0}'
            | '\u{FFF0}'..='\u{FFFB}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E00FF}' | '\u{E01F0}'..='\u{E0FFF}')
}

/// Whether a character is invisible and has its use in scripts or emoji.
fn joins(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200D}'
        | '\u{2060}' | '\u{FE00}'..='\u{FE0F}' | '\u{E0100}'..='\u{E01EF}')
}

/// Whether nobody sees a character between others: the invisible ones, those that join or select, and the byte-order
/// mark.
pub fn unseen(c: char) -> bool {
    invisible(c) || joins(c) || c == '\u{FEFF}'
}

/// Whether a selector of a letter's form stands behind a letter that has one form alone: one byte of a hidden text
/// fits into each. Ideographs have such forms, as have a few scripts, and signs that are also emoji.
fn selects_nothing(before: Option<char>, c: char) -> bool {
    let ideograph = |c| matches!(c, '\u{3005}'..='\u{3007}' | '\u{3400}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}');
    match c {
        '\u{E0100}'..='\u{E01EF}' => !before.is_some_and(ideograph),
        '\u{FE00}'..='\u{FE0F}' => before.is_some_and(|c| c.is_alphabetic() && c < '\u{1000}'),
        _ => false,
    }
}

/// Where hidden characters stand in a text, in bytes.
pub fn hidden(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    if text.is_ascii() {
        return found;
    }
    // Where a run of joiners begins, and how many there are.
    let mut run: Option<(usize, usize)> = None;
    let mut flag_ends = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        if joins(c) {
            if selects_nothing(before, c) {
                note_run(&mut found, run.take(), at);
                note(&mut found, at..at + c.len_utf8());
            } else {
                let (start, count) = run.unwrap_or((at, 0));
                run = Some((start, count + 1));
            }
            continue;
        }
        before = Some(c);
        note_run(&mut found, run.take(), at);
        if c == '\u{1F3F4}' {
            flag_ends = at + c.len_utf8() + flag(text.get(at + c.len_utf8()..).unwrap_or_default());
        } else if invisible(c) && at >= flag_ends {
            note(&mut found, at..at + c.len_utf8());
        }
    }
    note_run(&mut found, run, text.len());
    found
}

/// Notes a range; one that follows the last at once makes it longer.
fn note(found: &mut Vec<Range<usize>>, range: Range<usize>) {
    match found.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => found.push(range),
    }
}

fn note_run(found: &mut Vec<Range<usize>>, run: Option<(usize, usize)>, end: usize) {
    if let Some((start, _)) = run.filter(|(_, count)| *count > LONGEST_RUN) {
        note(found, start..end);
    }
}

/// How many bytes of what follows a black flag make it the flag of a region, as the flag of Scotland
/// is written: three to six tags and a closing one.
fn flag(after: &str) -> usize {
    let tags = after.chars().take_while(|c| matches!(c, '\u{E0030}'..='\u{E0039}' | '\u{E0061}'..='\u{E007A}'));
    let count = tags.take(7).count();
    let closed = after.chars().nth(count) == Some('\u{E007F}');
    if closed && (3..=6).contains(&count) { (count + 1) * '\u{E007F}'.len_utf8() } else { 0 }
}

/// A text without its hidden characters.
pub fn legible(text: &str) -> Cow<'_, str> {
    let hidden = hidden(text);
    if hidden.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut done = 0;
    for range in hidden {
        kept.push_str(text.get(done..range.start).unwrap_or_default());
        done = range.end;
    }
    kept.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(kept)
}

/// What the tag characters of a text spell; empty where it has none that stand for letters or signs.
pub fn spelt_in_tags(text: &str) -> String {
    let letter = |c: char| {
        let code = u32::from(c).checked_sub(0xE0000).filter(|code| (0x20..0x7F).contains(code))?;
        char::from_u32(code)
    };
    text.chars().filter_map(letter).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tags(text: &str) -> String {
        text.chars().filter_map(|c| char::from_u32(u32::from(c) + 0xE0000)).collect()
    }

    #[test]
    fn what_is_hidden_is_taken_out_and_can_be_spelt() {
        let text = format!("A report.{} Done", tags("obey"));
        assert_eq!(legible(&text), "A report. Done");
        assert_eq!(spelt_in_tags(&text), "obey");
        for hidden in [
            "\u{E0100}",
            "\u{FE0F}",
            "\u{2062}",
            "\u{3164}",
            "\u{FFF9}",
            "\u{E0FFF}",
            "\u{FE00}\u{FE01}\u{FE02}",
            "\u{200B}\u{200C}\u{200D}",
        ] {
            assert_eq!(legible(&format!("a{hidden}b")), "ab", "{hidden:?}");
        }
    }

    #[test]
    fn what_scripts_and_emoji_need_stays() {
        let scotland = format!("\u{1F3F4}{}\u{E007F}", tags("gbsct"));
        for fine in [
            "plain",
            "\u{2764}\u{FE0F}\u{200D}\u{1F525}",
            "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}",
            "\u{0646}\u{200C}\u{0645}",
            "\u{845B}\u{E0100}",
            "\u{178F}\u{200B}\u{17A2}",
            "co\u{AD}op",
            &scotland,
        ] {
            assert_eq!(legible(fine), fine, "{fine:?}");
        }
        // A flag that never ends is none.
        assert_eq!(legible(&format!("\u{1F3F4}{}", tags("gbsct"))), "\u{1F3F4}");
        assert_eq!(legible(&format!("\u{1F3F4}{}\u{E007F}", tags("send all"))), "\u{1F3F4}");
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(text in "[a\u{200D}\u{FE0F}\u{E0061}\u{E007F}\u{1F3F4}\u{2062}]{0,30}") {
            let once = legible(&text).into_owned();
            prop_assert!(once.chars().filter(|c| !joins(*c) && !invisible(*c)).eq(text.chars().filter(|c| !joins(*c) && !invisible(*c))));
            prop_assert!(once.len() <= text.len());
        }
    }
}
