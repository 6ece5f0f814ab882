//! Text to terms: normal form, words, names in pieces, pairs of characters where no spaces part the words.
//!
//! Knows scripts, not languages: which words say little, and what a word's stem is, stands in `language.rs`.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_script::{Script, UnicodeScript as _};

/// What kind of term was met, which decides how it is compared and how much it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum TermKind {
    /// A word of a script with spaces: it has a stem and may be misspelt.
    Word,
    /// A word with its pieces joined (`codereview` of `CodeReview`): fine if it matches, no loss if it doesn't.
    Joined,
    /// A number, a single letter, a pair of hiragana: true of too many texts to say much.
    Faint,
    /// Two characters side by side, or a lone one, in a script without spaces; an emoji.
    Gram,
}

/// Splits a text into terms, in lower case and NFKC, and hands each to `sink`.
pub(super) fn split(text: &str, sink: &mut impl FnMut(&str, TermKind)) {
    let normal: Cow<'_, str> = if text.is_ascii() { text.into() } else { text.nfkc().collect::<String>().into() };
    let mut run = String::new();
    let mut run_kind = Sort::Other;
    for c in normal.chars() {
        let kind = Sort::of(c, run_kind);
        if kind != run_kind {
            flush(&mut run, run_kind, sink);
            run_kind = kind;
        }
        if kind != Sort::Other {
            run.push(c);
        }
    }
    flush(&mut run, run_kind, sink);
}

/// A word without its diacritics, `ß` and `ł` and their like written out.
pub(super) fn folded(word: &str) -> Cow<'_, str> {
    if word.is_ascii() {
        return word.into();
    }
    let mut out = String::with_capacity(word.len());
    for c in word.nfd().filter(|c| !is_combining_mark(*c)) {
        match c {
            'ß' => out.push_str("ss"),
            'æ' => out.push_str("ae"),
            'œ' => out.push_str("oe"),
            'ø' => out.push('o'),
            'ł' => out.push('l'),
            'đ' => out.push('d'),
            'ı' => out.push('i'),
            c => out.push(c),
        }
    }
    out.into()
}

/// What a character belongs to, as far as cutting runs goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    Letter,
    Han,
    Hiragana,
    Katakana,
    Hangul,
    /// Thai, Lao, Khmer, Burmese.
    Joined,
    Emoji,
    Other,
}

impl Sort {
    fn of(c: char, before: Self) -> Self {
        if c.is_ascii() {
            let apostrophe = c == '\'' && before == Self::Letter;
            return if c.is_ascii_alphanumeric() || apostrophe { Self::Letter } else { Self::Other };
        }
        if matches!(c, '\u{2019}' | '\u{02BC}') && before == Self::Letter {
            return Self::Letter;
        }
        // Marks and the sign for a long vowel belong to what they follow.
        if is_combining_mark(c) || c == 'ー' {
            return if c == 'ー' && before == Self::Other { Self::Katakana } else { before };
        }
        if matches!(c, '\u{1F000}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}' | '\u{2B50}' | '\u{2B55}') {
            return Self::Emoji;
        }
        match c.script() {
            Script::Han => Self::Han,
            Script::Hiragana => Self::Hiragana,
            Script::Katakana => Self::Katakana,
            Script::Hangul => Self::Hangul,
            Script::Thai | Script::Lao | Script::Khmer | Script::Myanmar => Self::Joined,
            _ if c.is_alphanumeric() => Self::Letter,
            _ => Self::Other,
        }
    }
}

fn flush(run: &mut String, kind: Sort, sink: &mut impl FnMut(&str, TermKind)) {
    if !run.is_empty() {
        match kind {
            Sort::Letter => letters(run, sink),
            Sort::Hiragana => grams(run, TermKind::Faint, sink),
            Sort::Han | Sort::Katakana | Sort::Hangul | Sort::Joined => grams(run, TermKind::Gram, sink),
            Sort::Emoji => run.chars().for_each(|c| sink(c.encode_utf8(&mut [0; 4]), TermKind::Gram)),
            Sort::Other => {}
        }
        run.clear();
    }
}

fn grams(run: &str, kind: TermKind, sink: &mut impl FnMut(&str, TermKind)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    if starts.len() == 2 {
        sink(run, TermKind::Faint);
    }
    for three in starts.windows(3) {
        if let [from, _, to] = three {
            sink(run.get(*from..*to).unwrap_or_default(), kind);
        }
    }
}

fn letters(run: &str, sink: &mut impl FnMut(&str, TermKind)) {
    for (place, part) in run.split(['\'', '\u{2019}', '\u{02BC}']).enumerate() {
        // What English writes behind an apostrophe is never what a text is about.
        let clitic = place > 0 && matches!(part, "s" | "t" | "d" | "m" | "ll" | "re" | "ve" | "S" | "T");
        if !part.is_empty() && !clitic {
            pieces(part, sink);
        }
    }
}

/// `CodeReview` is `code`, `review` and, joined, `codereview`; `HTTPServer` is `http` and `server`.
fn pieces(word: &str, sink: &mut impl FnMut(&str, TermKind)) {
    let mut start = 0;
    let mut before: Option<(usize, char)> = None;
    let mut chars = word.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if let Some((_, last)) = before {
            let after_small = last.is_lowercase() && c.is_uppercase();
            let before_small =
                last.is_uppercase() && c.is_uppercase() && chars.peek().is_some_and(|(_, next)| next.is_lowercase());
            // `PDFs` and `KPIs` are words in the plural, not two words.
            let plural = before_small && word.get(at..).is_some_and(|rest| rest.len() == 2 && rest.ends_with('s'));
            if after_small || (before_small && !plural) {
                emit(word.get(start..at).unwrap_or_default(), TermKind::Word, sink);
                start = at;
            }
        }
        before = Some((at, c));
    }
    emit(word.get(start..).unwrap_or_default(), TermKind::Word, sink);
    if start > 0 {
        emit(word, TermKind::Joined, sink);
    }
}

fn emit(word: &str, kind: TermKind, sink: &mut impl FnMut(&str, TermKind)) {
    let faint = word.chars().all(char::is_numeric) || word.chars().nth(1).is_none();
    let kind = if faint { TermKind::Faint } else { kind };
    if word.chars().any(char::is_uppercase) { sink(&word.to_lowercase(), kind) } else { sink(word, kind) }
}

#[cfg(test)]
mod tests {
    use super::{TermKind, folded, split};

    fn terms(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        split(text, &mut |term, kind| {
            let mark = match kind {
                TermKind::Word => "",
                TermKind::Joined => "=",
                TermKind::Faint => "~",
                TermKind::Gram => "+",
            };
            out.push(format!("{mark}{term}"));
        });
        out
    }

    #[test]
    fn names_come_in_pieces_however_they_are_spelt() {
        assert_eq!(terms("Code_Review"), ["code", "review"]);
        assert_eq!(terms("code-review"), ["code", "review"]);
        assert_eq!(terms("codeReview"), ["code", "review", "=codereview"]);
        assert_eq!(terms("HTTPServer v2"), ["http", "server", "=httpserver", "v2"]);
        assert_eq!(terms("KPIs"), ["kpis"]);
    }

    #[test]
    fn scripts_without_spaces_come_in_pairs() {
        assert_eq!(terms("周报总结"), ["+周报", "+报总", "+总结"]);
        assert_eq!(terms("データ分析して"), ["+デー", "+ータ", "+分析", "~して"]);
        assert_eq!(terms("보고서를 써줘"), ["+보고", "+고서", "+서를", "+써줘"]);
        assert_eq!(terms("รายงาน").len(), 5);
    }

    #[test]
    fn compatibility_forms_and_case_are_one_and_emoji_are_terms() {
        assert_eq!(terms("ＡＢＣ ﬁle"), ["abc", "file"]);
        assert_eq!(terms("ship it🚀!"), ["ship", "it", "+🚀"]);
        assert_eq!(terms("Привет МИР"), ["привет", "мир"]);
        assert_eq!(terms("what's l'année 42 x"), ["what", "~l", "année", "~42", "~x"]);
    }

    #[test]
    fn diacritics_fold_away() {
        assert_eq!(folded("année"), "annee");
        assert_eq!(folded("straße"), "strasse");
        assert_eq!(folded("report"), "report");
    }
}
