//! Documents to an index: terms with numbers, postings side by side, forms of words.

use std::collections::HashMap;

use super::language::Languages;
use super::near::Near;
use super::words::{TermKind, folded, split};
use super::{Document, Field, Posting, SearchIndex, Term};

/// How much a field says, and how much its length takes off (BM25F's b).
const fn weight(field: Field) -> (f32, f32) {
    match field {
        Field::Name | Field::Tags | Field::Examples => (2.0, 0.3),
        Field::Description => (0.7, 0.3),
        Field::Category => (0.4, 0.0),
        Field::Inputs => (0.4, 0.3),
    }
}

#[derive(Default)]
struct Builder {
    terms: Vec<Term>,
    numbers: HashMap<Box<str>, u32>,
    found: Vec<Occurrence>,
    /// Lengths of the fields of each document, in terms.
    lengths: Vec<[u16; Field::ALL.len()]>,
}

/// A term met in a document.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Occurrence {
    term: u32,
    document: u32,
    field: Field,
}

impl SearchIndex {
    /// The index of some documents, which are numbered in their order.
    pub fn build<'a>(documents: impl Iterator<Item = Document<'a>>) -> Self {
        let mut builder = Builder::default();
        let mut names = Vec::new();
        let mut all = Languages::english();
        let mut scratch = Vec::new();
        for document in documents {
            let number = u32::try_from(names.len()).unwrap_or(u32::MAX);
            builder.lengths.push([0; Field::ALL.len()]);
            builder.text(number, Field::Name, &document.name, &mut scratch);
            for (field, text) in &document.texts {
                all = all.and(builder.text(number, *field, text, &mut scratch));
            }
            names.push(document.name.into_owned());
        }
        builder.finish(names, all)
    }
}

impl Builder {
    /// Adds a text and says which languages it is in.
    fn text(&mut self, document: u32, field: Field, text: &str, scratch: &mut Vec<(String, TermKind)>) -> Languages {
        scratch.clear();
        split(text, &mut |term, kind| scratch.push((term.to_owned(), kind)));
        let words = scratch.iter().filter(|(_, kind)| *kind == TermKind::Word);
        let languages = Languages::of(words.map(|(term, _)| term.as_str())).unwrap_or(Languages::english());
        for (term, kind) in scratch.drain(..) {
            // A name may be nothing but little words, and is still a name.
            if kind == TermKind::Word && field != Field::Name && languages.stop(&term) {
                continue;
            }
            if kind != TermKind::Joined
                && let Some(length) = self.lengths.last_mut().and_then(|lengths| lengths.get_mut(field as usize))
            {
                *length = length.saturating_add(1);
            }
            let term = self.number(term, kind, languages);
            self.found.push(Occurrence { term, document, field });
        }
        languages
    }

    fn number(&mut self, text: String, kind: TermKind, languages: Languages) -> u32 {
        if let Some(&number) = self.numbers.get(text.as_str()) {
            if let Some(term) = self.terms.get_mut(number as usize) {
                term.languages = term.languages.and(languages);
                term.kind = term.kind.min(kind);
            }
            return number;
        }
        let number = u32::try_from(self.terms.len()).unwrap_or(u32::MAX);
        let text: Box<str> = text.into();
        self.terms.push(Term { text: text.clone(), kind, languages, from: 0, to: 0, documents: 0 });
        self.numbers.insert(text, number);
        number
    }

    fn finish(mut self, names: Vec<String>, languages: Languages) -> SearchIndex {
        let mean = self.means();
        self.found.sort_unstable();
        let mut postings: Vec<Posting> = Vec::with_capacity(self.found.len());
        let mut before = None;
        for group in self.found.chunk_by(|a, b| a == b) {
            let Some(&Occurrence { term: number, document, field }) = group.first() else { continue };
            let (weight, b) = weight(field);
            let length = self.lengths.get(document as usize).and_then(|lengths| lengths.get(field as usize));
            let length = f32::from(length.copied().unwrap_or(1));
            let mean = mean.get(field as usize).copied().unwrap_or(1.0).max(1.0);
            let count = f32::from(u16::try_from(group.len()).unwrap_or(u16::MAX));
            let at = u32::try_from(postings.len()).unwrap_or(u32::MAX);
            postings.push(Posting { document, field, weight: weight * count / (1.0 - b + b * length / mean) });
            if let Some(term) = self.terms.get_mut(number as usize) {
                term.documents += u32::from(before != Some((number, document)));
                if term.to == 0 {
                    term.from = at;
                }
                term.to = at + 1;
            }
            before = Some((number, document));
        }
        let mut forms: HashMap<Box<str>, Vec<u32>> = HashMap::with_capacity(2 * self.terms.len());
        let mut key = String::new();
        for (number, term) in (0_u32..).zip(&self.terms) {
            if term.kind != TermKind::Word && term.kind != TermKind::Joined {
                continue;
            }
            term.languages.stems(&term.text, |language, stem| {
                stem_key(&mut key, language, stem);
                put(&mut forms, &key, number);
            });
            fold_key(&mut key, &term.text);
            put(&mut forms, &key, number);
        }
        let near = Near::of(self.terms.iter().map(|term| (&*term.text, term.kind)));
        SearchIndex { names, terms: self.terms, numbers: self.numbers, postings, forms, near, languages }
    }

    fn means(&self) -> [f32; Field::ALL.len()] {
        let mut mean = [0.0; Field::ALL.len()];
        for (place, mean) in mean.iter_mut().enumerate() {
            let lengths = self.lengths.iter().filter_map(|lengths| lengths.get(place).copied()).filter(|&n| n > 0);
            let (mut sum, mut count) = (0.0_f32, 0.0_f32);
            for length in lengths {
                sum += f32::from(length);
                count += 1.0;
            }
            *mean = if count > 0.0 { sum / count } else { 1.0 };
        }
        mean
    }
}

fn put(forms: &mut HashMap<Box<str>, Vec<u32>>, key: &str, number: u32) {
    match forms.get_mut(key) {
        Some(numbers) => numbers.push(number),
        None => {
            forms.insert(key.into(), vec![number]);
        }
    }
}

/// The key under which a stem's words are found.
pub(super) fn stem_key(key: &mut String, language: u8, stem: &str) {
    key.clear();
    key.push(char::from(b'A' + language));
    key.push_str(stem);
}

/// The key under which words are found that differ in diacritics only.
pub(super) fn fold_key(key: &mut String, word: &str) {
    key.clear();
    key.push('=');
    key.push_str(&folded(word));
}
