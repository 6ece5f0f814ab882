//! A query against an index: units, matches, scores, fusion, and the decision that nothing fits.

use std::cmp::Ordering;

use super::build::{fold_key, stem_key};
use super::language::{Languages, chinese_stop};
use super::near::{SHORTEST, beginning};
use super::words::{TermKind, split};
use super::{Hit, Posting, Query, Ranking, SearchIndex, Why};

/// How soon more of the same stops counting (BM25's k1).
const K1: f32 = 0.9;
/// A word that says less than this share of what a word says that stands in one document is left out.
const COMMON: f32 = 0.06;
/// The most terms of one phrasing that are looked at.
const MOST_UNITS: usize = 48;
/// The most documents that each of several phrasings ranks.
const MOST_RANKED: usize = 200;
/// What the ranking of all phrasings as one counts beside those of each alone, in reciprocal rank fusion: words that
/// several phrasings share are what is meant, words of one alone may have been a wrong guess.
const TOGETHER: f64 = 4.0;
/// What a term adds when a further phrasing has it, too.
const AGAIN: f32 = 0.4;
/// What a pair of characters that no document has counts of what the query says.
const UNKNOWN_PAIR: f32 = 0.2;
/// A hit must reach this share of the best hit's score.
const TAIL: f64 = 0.25;
/// The most terms that are named where nothing fits.
const MOST_NEAREST: usize = 5;
/// The most documents that are named where nothing fits.
pub(in crate::discover) const MOST_WEAK: usize = 5;
/// The most reasons of one hit.
const MOST_REASONS: usize = 8;

/// What a match is worth, by how the term and the query's word are alike.
mod worth {
    pub(super) const SAME: f32 = 1.0;
    pub(super) const STEM: f32 = 0.9;
    pub(super) const FOLDED: f32 = 0.85;
    pub(super) const TYPO: f32 = 0.6;
    pub(super) const PART: f32 = 0.5;
    pub(super) const LONGER: f32 = 0.4;
}

/// One thing a phrasing says: a word or a pair of characters, with the terms that it matches.
pub(super) struct Unit {
    text: String,
    kind: TermKind,
    /// How much it says, before rarity.
    says: f32,
    /// The terms that it matches, with what each match is worth.
    pub(super) matches: Vec<(u32, f32)>,
}

/// All that the phrasings say, as if it were one.
fn pooled(phrasings: &[Vec<Unit>]) -> Vec<Unit> {
    let mut pooled: Vec<Unit> = Vec::new();
    for unit in phrasings.iter().flatten() {
        match pooled.iter_mut().find(|other| other.text == unit.text) {
            Some(other) => other.says += AGAIN * says(unit.kind),
            None => pooled.push(Unit {
                text: unit.text.clone(),
                kind: unit.kind,
                says: unit.says,
                matches: unit.matches.clone(),
            }),
        }
    }
    pooled
}

/// Adds a term, unless it was said before.
fn note(said: &mut Vec<(String, TermKind)>, text: &str, kind: TermKind) {
    if !said.iter().any(|(other, _)| other == text) {
        said.push((text.to_owned(), kind));
    }
}

/// Adds a match, unless there is a better one of that term.
fn put(matches: &mut Vec<(u32, f32)>, number: u32, worth: f32) {
    if !matches.iter().any(|(other, _)| *other == number) {
        matches.push((number, worth));
    }
}

/// What is added up for each document.
struct Sums {
    /// What the present unit finds.
    unit: Vec<f32>,
    /// The documents in which it finds something.
    touched: Vec<u32>,
    score: Vec<f32>,
}

/// One phrasing's result.
pub(super) struct Ranked {
    /// Best first.
    documents: Vec<(u32, f32)>,
    /// How much each unit of the phrasing says.
    pub(super) says: Vec<f32>,
}

impl Ranked {
    /// How much of what the phrasing says a document has.
    pub(super) fn has(&self, document: u32) -> f32 {
        self.documents.iter().find(|(other, _)| *other == document).map_or(0.0, |(_, score)| *score)
    }
}

/// What is made of a query.
struct QueryMatch {
    phrasings: Vec<Vec<Unit>>,
    /// The documents that come nearest, best first.
    fused: Vec<(u32, f64)>,
    /// How well the first of them fits; enough from 1 on.
    fit: f32,
}

impl SearchIndex {
    /// How many documents there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    #[cfg(feature = "internals")]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The documents that a query means, best first, at most `limit` of those that `allowed` lets through.
    ///
    /// Whether anything fits is decided over all documents, so a filter can't make a worse one fit. Reasons are
    /// worked out when `explain` asks for them.
    pub fn search(&self, query: &Query, limit: usize, explain: bool, allowed: impl Fn(usize) -> bool) -> Ranking {
        let QueryMatch { phrasings, fused, fit } = self.asked(query);
        let fits = fit >= 1.0;
        let mut hits = if fits { hits(fused) } else { all(fused) };
        let fitting: Vec<usize> = hits.iter().map(|hit| hit.position).collect();
        hits.retain(|hit| allowed(hit.position) && (fits || self.has_a_word(hit.position, &phrasings)));
        if fits && hits.is_empty() {
            return Ranking::Excluded { positions: fitting };
        }
        hits.truncate(if fits { limit } else { limit.min(MOST_WEAK) });
        if explain {
            self.explain(&phrasings, &mut hits);
        }
        if fits { Ranking::Hits(hits) } else { Ranking::NoMatch { weak: hits, nearest: self.nearest(&phrasings) } }
    }

    /// The documents that come nearest to a query, best first, and how well the first of them fits: from 1 on it is
    /// what is meant, and [`SearchIndex::search`] answers with these; below, it answers that nothing fits.
    #[cfg(feature = "internals")]
    pub fn judged(&self, query: &Query) -> (f32, Vec<Hit>) {
        let QueryMatch { fused, fit, .. } = self.asked(query);
        (fit, hits(fused))
    }

    fn asked(&self, query: &Query) -> QueryMatch {
        let mut sums = Sums::new(self.len());
        let phrasings: Vec<Vec<Unit>> = query.phrasings().iter().map(|phrasing| self.units(phrasing)).collect();
        let most = if phrasings.len() > 1 { MOST_RANKED } else { self.len() };
        let each: Vec<Ranked> = phrasings.iter().map(|units| self.rank(units, most, &mut sums)).collect();
        let together = (phrasings.len() > 1).then(|| self.rank(&pooled(&phrasings), most, &mut sums));
        let fused = self.fused(&each, together.as_ref());
        let fit = fused.first().map_or(0.0, |(best, _)| self.fit(*best, &phrasings, &each, together.as_ref()));
        QueryMatch { phrasings, fused, fit }
    }

    /// What a phrasing says, and which terms that matches.
    fn units(&self, phrasing: &str) -> Vec<Unit> {
        let mut said: Vec<(String, TermKind)> = Vec::new();
        let mut before = String::new();
        split(phrasing, &mut |text, kind| {
            if said.len() >= 4 * MOST_UNITS {
                return;
            }
            // Two words may be one in a document: "post mortem" is a postmortem.
            if kind == TermKind::Word {
                let joined = format!("{before}{text}");
                if !before.is_empty() && self.numbers.contains_key(joined.as_str()) {
                    note(&mut said, &joined, TermKind::Joined);
                }
                text.clone_into(&mut before);
            } else {
                before.clear();
            }
            note(&mut said, text, kind);
        });
        let words = said.iter().filter(|(_, kind)| *kind == TermKind::Word).map(|(text, _)| text.as_str());
        let guessed = Languages::of(words);
        let stops = guessed.unwrap_or(Languages::english());
        let languages = guessed.unwrap_or(self.languages);
        let kana = said.iter().any(|(_, kind)| *kind == TermKind::Faint);
        let telling = |(text, kind): &(String, TermKind)| match kind {
            TermKind::Word => !stops.stop(text),
            TermKind::Gram => kana || !chinese_stop(text),
            TermKind::Joined | TermKind::Faint => true,
        };
        let all_little = !said.iter().any(telling);
        let (mut units, mut common): (Vec<Unit>, Vec<Unit>) = (Vec::new(), Vec::new());
        for (text, kind) in said {
            if units.len() == MOST_UNITS {
                break;
            }
            if all_little || telling(&(text.clone(), kind)) {
                let matches = self.matches(&text, kind, languages);
                if kind == TermKind::Joined && matches.is_empty() {
                    continue;
                }
                // A word that most documents have is as good as a stop word, and the dearest to add up.
                let little = |(number, _): &(u32, f32)| self.rarity(self.documents(*number)) < COMMON * self.rarity(1);
                let list = if matches.iter().any(little) { &mut common } else { &mut units };
                list.push(Unit { says: says(kind), text, kind, matches });
            }
        }
        // Unless that is all there is to go by: where every flow is about invoices, "invoice" means them all.
        if units.iter().all(|unit| unit.matches.is_empty()) {
            common.truncate(MOST_UNITS - units.len());
            units.append(&mut common);
        }
        units
    }

    fn matches(&self, text: &str, kind: TermKind, languages: Languages) -> Vec<(u32, f32)> {
        let mut matches: Vec<(u32, f32)> = Vec::new();
        let exact = self.numbers.get(text).copied();
        if let Some(number) = exact {
            put(&mut matches, number, worth::SAME);
        }
        if kind == TermKind::Gram || kind == TermKind::Faint {
            return matches;
        }
        let mut key = String::new();
        languages.stems(text, |language, stem| {
            stem_key(&mut key, language, stem);
            for number in self.forms.get(key.as_str()).into_iter().flatten() {
                put(&mut matches, *number, worth::STEM);
            }
        });
        fold_key(&mut key, text);
        for number in self.forms.get(key.as_str()).into_iter().flatten() {
            put(&mut matches, *number, worth::FOLDED);
        }
        let known = !matches.is_empty();
        if text.chars().nth(SHORTEST).is_some() {
            for number in self.near.longer(text) {
                put(&mut matches, number, worth::LONGER);
            }
        }
        if !known {
            for number in self.near.misspelt(text, |number| self.text(number)) {
                put(&mut matches, number, worth::TYPO);
            }
            let number = |part: &str| self.numbers.get(part).copied();
            if let Some((end, first)) = beginning(text, number) {
                put(&mut matches, first, worth::PART);
                if let Some(second) = text.get(end..).and_then(number) {
                    put(&mut matches, second, worth::PART);
                }
            }
        }
        matches
    }

    /// Ranks the documents for one phrasing, at most so many; leaves the sums as it found them.
    fn rank(&self, units: &[Unit], most: usize, sums: &mut Sums) -> Ranked {
        let mut says = Vec::with_capacity(units.len());
        let mut ranked: Vec<u32> = Vec::new();
        for unit in units {
            self.gather(unit, sums);
            let rarity = self.rarity(sums.touched.len());
            // Pairs that no document has are mostly endings and seams between words.
            let counts = if unit.kind == TermKind::Gram && sums.touched.is_empty() { UNKNOWN_PAIR } else { 1.0 };
            says.push(counts * unit.says * rarity);
            for &document in &sums.touched {
                let at = document as usize;
                let (Some(found), Some(score)) = (sums.unit.get_mut(at), sums.score.get_mut(at)) else { continue };
                if *score == 0.0 {
                    ranked.push(document);
                }
                *score += unit.says * rarity * *found / (K1 + *found);
                *found = 0.0;
            }
            sums.touched.clear();
        }
        let mut documents: Vec<(u32, f32)> = Vec::with_capacity(ranked.len());
        for document in ranked {
            let Some(score) = sums.score.get_mut(document as usize) else { continue };
            documents.push((document, *score));
            *score = 0.0;
        }
        let by_score = |a: &(u32, f32), b: &(u32, f32)| b.1.total_cmp(&a.1).then_with(|| self.by_name(a.0, b.0));
        if documents.len() > most {
            documents.select_nth_unstable_by(most, by_score);
            documents.truncate(most);
        }
        documents.sort_unstable_by(by_score);
        Ranked { documents, says }
    }

    /// Adds up how often each document has what a unit matches.
    fn gather(&self, unit: &Unit, sums: &mut Sums) {
        for &(number, worth) in &unit.matches {
            for posting in self.postings(number) {
                let Some(found) = sums.unit.get_mut(posting.document as usize) else { continue };
                if *found == 0.0 {
                    sums.touched.push(posting.document);
                }
                *found += worth * posting.weight;
            }
        }
    }

    /// The reciprocal ranks of all phrasings; with one phrasing, its scores.
    fn fused(&self, each: &[Ranked], together: Option<&Ranked>) -> Vec<(u32, f64)> {
        let mut fused: Vec<(u32, f64)> = match together {
            None => each
                .iter()
                .flat_map(|only| only.documents.iter().map(|(document, score)| (*document, f64::from(*score))))
                .collect(),
            Some(together) => {
                let mut places: Vec<(u32, f64)> = Vec::new();
                let phrasings = u32::try_from(each.len()).unwrap_or(u32::MAX);
                let counted = each.iter().map(|one| (one, 1.0)).chain([(together, TOGETHER * f64::from(phrasings))]);
                for (one, counts) in counted {
                    let mut place = 0.0;
                    let mut last = f32::NAN;
                    for (before, (document, score)) in (0_u32..).zip(&one.documents) {
                        // Equal scores share a place.
                        if score.to_bits() != last.to_bits() {
                            place = f64::from(before);
                            last = *score;
                        }
                        places.push((*document, counts / (1.0 + place)));
                    }
                }
                places.sort_by_key(|(document, _)| *document);
                places
                    .chunk_by(|a, b| a.0 == b.0)
                    .filter_map(|same| Some((same.first()?.0, same.iter().map(|(_, part)| part).sum())))
                    .collect()
            }
        };
        fused.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| self.by_name(a.0, b.0)));
        fused
    }

    /// Whether a document has more of what some phrasings say than letters and numbers, which nearly all have.
    fn has_a_word(&self, document: usize, phrasings: &[Vec<Unit>]) -> bool {
        let words = phrasings.iter().flatten().filter(|unit| unit.kind != TermKind::Faint);
        let mut matches = words.flat_map(|unit| &unit.matches);
        matches.any(|(number, _)| self.postings(*number).iter().any(|posting| posting.document as usize == document))
    }

    fn explain(&self, phrasings: &[Vec<Unit>], hits: &mut [Hit]) {
        let mut sums = Sums::new(self.len());
        for unit in phrasings.iter().flatten() {
            self.gather(unit, &mut sums);
            let rarity = self.rarity(sums.touched.len());
            for hit in hits.iter_mut() {
                let Some(&found) = sums.unit.get(hit.position).filter(|found| **found > 0.0) else { continue };
                let per_weight = f64::from(unit.says * rarity / (K1 + found));
                for &(number, worth) in &unit.matches {
                    let here = self.postings(number).iter().filter(|posting| posting.document as usize == hit.position);
                    for posting in here {
                        let contribution = per_weight * f64::from(worth * posting.weight);
                        let term = self.text(number);
                        match hit.why.iter_mut().find(|why| why.term == term && why.field == posting.field) {
                            Some(why) => why.contribution += contribution,
                            None => {
                                hit.why.push(Why { term: term.to_owned(), field: posting.field, contribution });
                            }
                        }
                    }
                }
            }
            for document in sums.touched.drain(..) {
                if let Some(found) = sums.unit.get_mut(document as usize) {
                    *found = 0.0;
                }
            }
        }
        for hit in hits {
            hit.why.sort_by(|a, b| {
                b.contribution.total_cmp(&a.contribution).then_with(|| (&a.term, a.field).cmp(&(&b.term, b.field)))
            });
            hit.why.truncate(MOST_REASONS);
        }
    }

    /// Terms that look like the query's words, nearest first.
    fn nearest(&self, phrasings: &[Vec<Unit>]) -> Vec<String> {
        let mut near: Vec<(u8, &str)> = Vec::new();
        for unit in phrasings.iter().flatten() {
            // A letter, a number or a seam between words is near to everything.
            if unit.kind == TermKind::Faint {
                continue;
            }
            for (number, worth) in &unit.matches {
                near.push((u8::from(*worth < worth::FOLDED), self.text(*number)));
            }
            if unit.matches.is_empty() && unit.kind == TermKind::Word {
                let beginning: String = unit.text.chars().take(SHORTEST).collect();
                if beginning.chars().nth(SHORTEST - 1).is_some() {
                    near.extend(self.near.longer(&beginning).take(2).map(|number| (2, self.text(number))));
                }
            }
        }
        near.sort_by_key(|(distance, _)| *distance);
        let mut named: Vec<String> = Vec::new();
        for (_, term) in near {
            if named.len() < MOST_NEAREST && !named.iter().any(|other| other == term) {
                named.push(term.to_owned());
            }
        }
        named
    }

    /// How much a term says that is in so many of the documents (the probabilistic inverse document frequency).
    #[allow(clippy::cast_precision_loss, reason = "counts of documents are far below 2^24")]
    pub(super) fn rarity(&self, having: usize) -> f32 {
        let (all, having) = (self.len() as f32, having as f32);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    pub(super) fn postings(&self, number: u32) -> &[Posting] {
        let term = self.terms.get(number as usize);
        term.and_then(|term| self.postings.get(term.from as usize..term.to as usize)).unwrap_or_default()
    }

    fn documents(&self, number: u32) -> usize {
        self.terms.get(number as usize).map_or(0, |term| term.documents as usize)
    }

    fn text(&self, number: u32) -> &str {
        self.terms.get(number as usize).map_or("", |term| &term.text)
    }

    fn by_name(&self, a: u32, b: u32) -> Ordering {
        self.names.get(a as usize).cmp(&self.names.get(b as usize)).then(a.cmp(&b))
    }
}

impl Sums {
    fn new(documents: usize) -> Self {
        let zeros = || vec![0.0; documents];
        Self { unit: zeros(), touched: Vec::new(), score: zeros() }
    }
}

/// Those that are near enough to the best to be meant with it.
fn hits(mut fused: Vec<(u32, f64)>) -> Vec<Hit> {
    let best = fused.first().map_or(0.0, |(_, score)| *score);
    fused.retain(|(_, score)| *score >= TAIL * best);
    all(fused)
}

fn all(fused: Vec<(u32, f64)>) -> Vec<Hit> {
    fused.into_iter().map(|(at, score)| Hit { position: at as usize, score, why: Vec::new() }).collect()
}

fn says(kind: TermKind) -> f32 {
    match kind {
        TermKind::Word => 1.0,
        TermKind::Gram | TermKind::Joined => 0.7,
        TermKind::Faint => 0.2,
    }
}
