//! Which flows a request means, best first, and when it means none of them.
//!
//! [`SearchIndex::build`] takes the texts of one revision's flows (or templates); [`SearchIndex::search`] ranks them for a
//! [`Query`] of one or several phrasings. BM25 over weighted fields (BM25F), where a word also matches its other
//! forms by stem, without its diacritics, with one typo, or as a part of a longer one, for less each time. Scripts
//! without spaces are compared by pairs of characters. Phrasings are ranked one by one and fused by reciprocal rank.
//!
//! It knows texts and fields, nothing of pages, modes or files, and holds no list of synonyms: whoever asks gives
//! other words as other phrasings. Equal inputs give equal rankings.

mod build;
mod findable;
mod judge;
mod language;
mod near;
mod search;
mod words;

use std::borrow::Cow;
use std::collections::HashMap;

use super::FlowRow;
use crate::names::words;

pub use findable::{FOUND_WITHIN, Stray, strays};
pub(super) use search::MOST_WEAK;

/// The most phrasings of one query.
pub const MOST_PHRASINGS: usize = 8;
/// The longest query, all phrasings together, in bytes.
pub const LONGEST_QUERY_BYTES: usize = 8_192;

words! {
    /// Where in a document a text stands.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Field {
        /// Its name.
        Name = "name",
        /// What it says it is for.
        Description = "description",
        /// Its tags.
        Tags = "tags",
        /// Its category.
        Category = "category",
        /// Names and descriptions of its inputs.
        Inputs = "inputs",
        /// Requests its author wants it to be found by.
        Examples = "examples",
    }
}

/// The texts by which something is found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Document<'a> {
    name: Cow<'a, str>,
    texts: Vec<(Field, Cow<'a, str>)>,
}

impl<'a> Document<'a> {
    /// A document with a name, which is also its first text.
    pub fn new(name: impl Into<Cow<'a, str>>) -> Self {
        Self { name: name.into(), texts: Vec::new() }
    }

    /// With one more text.
    #[must_use]
    pub fn with(mut self, field: Field, text: impl Into<Cow<'a, str>>) -> Self {
        self.texts.push((field, text.into()));
        self
    }

    /// A flow.
    pub fn of_flow(flow: &'a FlowRow) -> Self {
        let tags = flow.tags.iter().map(|tag| (Field::Tags, tag));
        let category = flow.category.iter().map(|category| (Field::Category, category));
        let inputs = flow.inputs.iter().flat_map(|input| std::iter::once(&input.name).chain(&input.description));
        let examples = flow.examples.iter().map(|example| (Field::Examples, example));
        let texts = tags.chain(category).chain(inputs.map(|text| (Field::Inputs, text))).chain(examples);
        let document = Self::new(flow.name.as_str()).with(Field::Description, flow.description.as_str());
        texts.fold(document, |document, (field, text)| document.with(field, text.as_str()))
    }
}

/// A request, in up to [`MOST_PHRASINGS`] phrasings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    phrasings: Vec<String>,
}

/// Why something isn't a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QueryFault {
    /// Nothing but white space.
    #[error("query is empty")]
    Empty,
    /// Too many phrasings.
    #[error("query has {given} phrasings; at most {MOST_PHRASINGS} are allowed")]
    TooMany {
        /// How many there were.
        given: usize,
    },
    /// Too much text.
    #[error("query has {given} bytes; at most {LONGEST_QUERY_BYTES} are allowed, all phrasings together")]
    TooLong {
        /// How many bytes there were.
        given: usize,
    },
}

impl Query {
    /// A query of these phrasings; blank ones are left out.
    ///
    /// # Errors
    /// [`QueryFault`].
    pub fn new(phrasings: &[impl AsRef<str>]) -> Result<Self, QueryFault> {
        let bytes: usize = phrasings.iter().map(|phrasing| phrasing.as_ref().len()).sum();
        if bytes > LONGEST_QUERY_BYTES {
            return Err(QueryFault::TooLong { given: bytes });
        }
        let said = phrasings.iter().map(|phrasing| phrasing.as_ref().trim()).filter(|phrasing| !phrasing.is_empty());
        let said: Vec<String> = said.map(str::to_owned).collect();
        match said.len() {
            0 => Err(QueryFault::Empty),
            given if given > MOST_PHRASINGS => Err(QueryFault::TooMany { given }),
            _ => Ok(Self { phrasings: said }),
        }
    }

    /// The phrasings, as written.
    pub fn phrasings(&self) -> &[String] {
        &self.phrasings
    }
}

/// What a search gives.
#[derive(Debug, Clone, PartialEq)]
pub enum Ranking {
    /// What fits, best first; equal scores by name in code points, then by position. Never empty.
    Hits(Vec<Hit>),
    /// Something fits, and a filter lets none of it through.
    Excluded {
        /// What fits, best first; places among the documents the index was built from.
        positions: Vec<usize>,
    },
    /// Nothing fits: too little of what the query says is in any one document.
    NoMatch {
        /// The documents that come nearest all the same, best first; a filter lets them through.
        weak: Vec<Hit>,
        /// Words of the documents that are near to words of the query, nearest first.
        nearest: Vec<String>,
    },
}

/// A document that fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Its place among the documents the index was built from, from 0.
    pub position: usize,
    /// How well it fits; comparable within one ranking only.
    pub score: f64,
    /// What of it fits, most telling first.
    pub why: Vec<Why>,
}

/// One reason for a hit.
#[derive(Debug, Clone, PartialEq)]
pub struct Why {
    /// The term as the document has it.
    pub term: String,
    /// Where it stands there.
    pub field: Field,
    /// What it adds to the document's score before phrasings are fused.
    pub contribution: f64,
}

/// The terms of some documents, ready to be searched.
#[derive(Debug)]
pub struct SearchIndex {
    /// Names, for a stable order.
    names: Vec<String>,
    /// The terms, by number.
    terms: Vec<Term>,
    /// Number by text.
    numbers: HashMap<Box<str>, u32>,
    /// Where terms stand, all of a term's places side by side.
    postings: Vec<Posting>,
    /// Terms by language and stem, and by folded text.
    forms: HashMap<Box<str>, Vec<u32>>,
    near: near::Near,
    /// All languages that the texts are in.
    languages: language::Languages,
}

#[derive(Debug)]
struct Term {
    text: Box<str>,
    kind: words::TermKind,
    languages: language::Languages,
    /// Its postings: from, to.
    from: u32,
    to: u32,
    /// How many documents it stands in.
    documents: u32,
}

/// A term in a field of a document.
#[derive(Debug, Clone, Copy)]
struct Posting {
    document: u32,
    field: Field,
    /// How often it stands there, weighted by the field and its length.
    weight: f32,
}

#[cfg(test)]
mod tests;
