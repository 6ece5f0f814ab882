//! What depends on a language: words that say nothing, and stems.
//!
//! A text's language is guessed from the little words in it; English is always considered beside it, since names,
//! tags and borrowed words are English in catalogs of every language. Stop words are NLTK's, stems Snowball's.

use std::collections::HashMap;
use std::sync::LazyLock;

use snowball_stemmers_rs::{Algorithm, Stemmer};
use unicode_script::{Script, UnicodeScript as _};

/// A set of languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Languages(u32);

/// A language that has stems.
#[derive(Clone, Copy)]
struct Language {
    code: &'static str,
    algorithm: Algorithm,
    script: Script,
}

const fn language(code: &'static str, algorithm: Algorithm, script: Script) -> Language {
    Language { code, algorithm, script }
}

/// English comes first: it decides ties.
const LANGUAGES: [Language; 16] = [
    language("en", Algorithm::English, Script::Latin),
    language("de", Algorithm::German, Script::Latin),
    language("fr", Algorithm::French, Script::Latin),
    language("es", Algorithm::Spanish, Script::Latin),
    language("pt", Algorithm::Portuguese, Script::Latin),
    language("it", Algorithm::Italian, Script::Latin),
    language("nl", Algorithm::Dutch, Script::Latin),
    language("sv", Algorithm::Swedish, Script::Latin),
    language("da", Algorithm::Danish, Script::Latin),
    language("no", Algorithm::Norwegian, Script::Latin),
    language("fi", Algorithm::Finnish, Script::Latin),
    language("hu", Algorithm::Hungarian, Script::Latin),
    language("tr", Algorithm::Turkish, Script::Latin),
    language("ru", Algorithm::Russian, Script::Cyrillic),
    language("el", Algorithm::Greek, Script::Greek),
    language("ar", Algorithm::Arabic, Script::Arabic),
];

const ENGLISH: Languages = Languages(1);

/// The languages in which a word says nothing.
static STOP_WORDS: LazyLock<HashMap<&'static str, Languages>> = LazyLock::new(|| {
    let mut words: HashMap<&'static str, Languages> = HashMap::with_capacity(4_096);
    for (place, language) in LANGUAGES.iter().enumerate() {
        for &word in stop_words::lookup(language.code).unwrap_or_default() {
            words.entry(word).or_default().0 |= 1 << place;
        }
    }
    words
});

static CHINESE: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    let mut words = stop_words::lookup("zh").unwrap_or_default().to_vec();
    words.sort_unstable();
    words
});

impl Languages {
    /// The language of a text with these words, with English; `None` where no little word gives it away.
    pub(super) fn of<'a>(words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let mut counts = [0_u32; LANGUAGES.len()];
        for word in words {
            let Some(found) = STOP_WORDS.get(word) else { continue };
            for (place, count) in counts.iter_mut().enumerate() {
                *count += (found.0 >> place) & 1;
            }
        }
        let most = counts.iter().copied().max().unwrap_or(0);
        let place = counts.iter().position(|count| *count == most && most > 0)?;
        Some(ENGLISH.and(Self(1 << place)))
    }

    /// English alone.
    pub(super) fn english() -> Self {
        ENGLISH
    }

    /// Both.
    pub(super) fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether a word says nothing in one of these.
    pub(super) fn stop(self, word: &str) -> bool {
        STOP_WORDS.get(word).is_some_and(|languages| languages.0 & self.with_script_of(word).0 != 0)
    }

    /// The word's stem in each of these that is written in its script: the language's number and the stem.
    pub(super) fn stems(self, word: &str, mut sink: impl FnMut(u8, &str)) {
        let set = self.with_script_of(word);
        let script = script_of(word);
        for (place, language) in (0_u8..).zip(&LANGUAGES) {
            if set.0 & (1 << place) != 0 && language.script == script {
                sink(place, &Stemmer::create(language.algorithm).stem(word));
            }
        }
    }

    /// Scripts that one language here is written in give that language away.
    fn with_script_of(self, word: &str) -> Self {
        match script_of(word) {
            Script::Latin => self,
            script => {
                let place = LANGUAGES.iter().position(|language| language.script == script);
                Self(self.0 | place.map_or(0, |place| 1 << place))
            }
        }
    }
}

/// Whether a pair of Chinese characters is a word that says nothing.
pub(super) fn chinese_stop(pair: &str) -> bool {
    CHINESE.binary_search(&pair).is_ok()
}

fn script_of(word: &str) -> Script {
    word.chars()
        .map(|c| if c.is_ascii_alphabetic() { Script::Latin } else { c.script() })
        .next()
        .unwrap_or(Script::Common)
}

#[cfg(test)]
mod tests {
    use super::Languages;

    fn stems(text: &str, word: &str) -> Vec<String> {
        let mut out = Vec::new();
        let languages = Languages::of(text.split(' ')).unwrap_or(Languages::english());
        languages.stems(word, |_, stem| out.push(stem.to_owned()));
        out
    }

    #[test]
    fn little_words_give_the_language_away() {
        assert_eq!(stems("the report of the week", "meetings"), ["meet"]);
        assert_eq!(stems("die rechnungen für den kunden", "rechnungen"), ["rechnungen", "rechnung"]);
        assert!(Languages::of("quarterly sales report".split(' ')).is_none());
    }

    #[test]
    fn a_script_gives_its_language_away() {
        assert_eq!(stems("the", "отчёты"), ["отчет"]);
        assert!(Languages::english().stop("или"));
        assert!(!Languages::english().stop("oder"));
    }
}
