//! Ways to find flows that the ranking is compared with, and the ranking itself.

use std::collections::{HashMap, HashSet};

use flowy::internals::discover::FlowRow;
use flowy::internals::discover::rank::{Query, Ranking, SearchIndex};

/// What the ranking finds: places of flows, best first, none where it says that nothing fits.
pub(crate) fn ours(index: &SearchIndex, asked: &[String]) -> Vec<usize> {
    match index.search(&Query::new(asked).unwrap(), 10, false, |_| true) {
        Ranking::Hits(hits) => hits.iter().map(|hit| hit.position).collect(),
        Ranking::Excluded { .. } | Ranking::NoMatch { .. } => Vec::new(),
    }
}

/// What an answer shows: where nothing fits, the flows that come nearest.
pub(crate) fn shown(index: &SearchIndex, asked: &[String]) -> Vec<usize> {
    match index.search(&Query::new(asked).unwrap(), 5, false, |_| true) {
        Ranking::Hits(hits) | Ranking::NoMatch { weak: hits, .. } => hits.iter().map(|hit| hit.position).collect(),
        Ranking::Excluded { .. } => Vec::new(),
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase).collect()
}

/// English stems, and pairs of characters of words that are not written in ASCII.
fn stems(text: &str) -> Vec<String> {
    let stemmer = snowball_stemmers_rs::Stemmer::create(snowball_stemmers_rs::Algorithm::English);
    let mut terms = Vec::new();
    for word in words(text) {
        let letters: Vec<char> = word.chars().collect();
        if word.is_ascii() || letters.len() < 2 {
            terms.push(stemmer.stem(&word).into_owned());
        } else {
            terms.extend(letters.windows(2).map(|pair| pair.iter().collect::<String>()));
        }
    }
    terms
}

/// Flows by how many of the request's words stand in name or description.
pub(crate) fn substring(flows: &[FlowRow], asked: &[String]) -> Vec<usize> {
    let words: Vec<String> = asked.iter().flat_map(|text| words(text)).collect();
    let mut scored: Vec<(usize, usize)> = flows
        .iter()
        .enumerate()
        .map(|(at, flow)| {
            let text = format!("{} {}", flow.name, flow.description).to_lowercase();
            (words.iter().filter(|word| text.contains(word.as_str())).count(), at)
        })
        .filter(|(score, _)| *score > 0)
        .collect();
    scored.sort_by_key(|(score, at)| (std::cmp::Reverse(*score), *at));
    scored.into_iter().map(|(_, at)| at).take(10).collect()
}

/// BM25 as it is in textbooks: one field, k1 = 1.2 and b = 0.75; over whole words, or over stems and pairs of
/// characters with one typo forgiven.
pub(crate) struct Plain {
    terms: fn(&str) -> Vec<String>,
    typos: bool,
    texts: Vec<HashMap<String, f64>>,
    lengths: Vec<f64>,
    having: HashMap<String, f64>,
}

impl Plain {
    pub(crate) fn build(flows: &[FlowRow]) -> Self {
        Self::over(flows, words, false)
    }

    pub(crate) fn stemmed(flows: &[FlowRow]) -> Self {
        Self::over(flows, stems, true)
    }

    fn over(flows: &[FlowRow], terms: fn(&str) -> Vec<String>, typos: bool) -> Self {
        let mut plain = Self { terms, typos, texts: Vec::new(), lengths: Vec::new(), having: HashMap::new() };
        for flow in flows {
            let inputs = flow
                .inputs
                .iter()
                .map(|input| format!("{} {}", input.name, input.description.as_deref().unwrap_or("")));
            let inputs: Vec<String> = inputs.collect();
            let text = [
                flow.name.as_str(),
                &flow.description,
                &flow.tags.join(" "),
                flow.category.as_deref().unwrap_or(""),
                &inputs.join(" "),
                &flow.examples.join(" "),
            ]
            .join(" ");
            let mut counts: HashMap<String, f64> = HashMap::new();
            for word in terms(&text) {
                *counts.entry(word).or_default() += 1.0;
            }
            plain.lengths.push(counts.values().sum());
            counts.keys().for_each(|word| *plain.having.entry(word.clone()).or_default() += 1.0);
            plain.texts.push(counts);
        }
        plain
    }

    pub(crate) fn find(&self, asked: &[String]) -> Vec<usize> {
        let all = self.texts.len() as f64;
        let mean = self.lengths.iter().sum::<f64>() / all;
        let mut words: HashSet<String> = asked.iter().flat_map(|text| (self.terms)(text)).collect();
        if self.typos {
            let unknown: Vec<&String> = words.iter().filter(|word| !self.having.contains_key(*word)).collect();
            let long = unknown.into_iter().filter(|word| word.chars().count() >= 4);
            let near = |word: &String| {
                let close = |known: &&String| {
                    known.len().abs_diff(word.len()) <= 2 && strsim::damerau_levenshtein(known, word) == 1
                };
                self.having.keys().filter(close).cloned().collect::<Vec<_>>()
            };
            let near: Vec<String> = long.flat_map(near).collect();
            words.extend(near);
        }
        let mut scored: Vec<(f64, usize)> = self
            .texts
            .iter()
            .zip(&self.lengths)
            .enumerate()
            .map(|(at, (text, length))| {
                let parts = words.iter().filter_map(|word| {
                    let count = text.get(word)?;
                    let having = self.having[word];
                    let rarity = (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
                    Some(rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / mean)))
                });
                (parts.sum(), at)
            })
            .filter(|(score, _): &(f64, usize)| *score > 0.0)
            .collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        scored.into_iter().map(|(_, at)| at).take(10).collect()
    }
}
