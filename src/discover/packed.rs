//! A packed index, read where it lies: pages, look-ups and totals touch only the rows they need.
//!
//! Opening checks the header and where the sections lie, not the rows, so it takes the same time for ten
//! flows and for ten thousand; and of an index in parts only those are read that hold what is asked for. A
//! damaged row is one that isn't there: it is skipped, nothing panics. Whether the bytes are the ones that were
//! stored is the business of whoever stored them; that a part could not be had is told by [`Packed::is_lost`].

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::parts::Parts;
use super::rank::{self, Document};
use super::rows::{FORMAT, HEADER, HEADER_NUMBERS, MAGIC, ROW, Reader};
use super::text::Named;
use super::{Category, Entry, FileProblem, Input, TemplateEntry, stem_of};

/// An index that stays packed; cloning shares the bytes.
#[derive(Clone)]
pub struct Packed {
    bytes: Arc<Parts>,
    flows: usize,
    lookups: [Lookup; 3],
    /// The rows of the flows that ask to be tools of their own, in order.
    marked: Lookup,
    templates: usize,
    problems: usize,
    categories: usize,
    /// Where problems and categories begin, and where they end and the templates begin.
    rest: (usize, usize),
    /// Made when a query first asks for it: opening stays quick.
    ranks: Arc<OnceLock<rank::Index>>,
}

/// A table of row numbers, sorted by a key that not every row has.
#[derive(Clone, Copy)]
struct Lookup {
    start: usize,
    rows: usize,
}

/// What a look-up by name finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// No flow answers to this name.
    Nothing,
    /// One does: its place in the index.
    One(usize),
    /// Several do, so the name is ambiguous: their places in the index.
    Several(Vec<usize>),
}

/// A row's first part, borrowed: what filters and the two short modes need.
pub(super) struct Head<'a> {
    pub(super) name: &'a str,
    pub(super) file: &'a str,
    pub(super) meta_name: Option<&'a str>,
    pub(super) flow_id: Option<&'a str>,
    pub(super) category: Option<&'a str>,
    pub(super) complexity: Option<&'a str>,
    pub(super) tags: Vec<&'a str>,
    pub(super) description: &'a str,
    pub(super) inputs: Vec<Named<'a>>,
    pub(super) inputs_unknown: bool,
}

/// The part of a head by which flows are looked up.
struct Keys<'a> {
    name: &'a str,
    file: &'a str,
    meta_name: Option<&'a str>,
    flow_id: Option<&'a str>,
}

impl<'a> Keys<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        Some(Self { name: reader.text()?, file: reader.text()?, meta_name: reader.maybe()?, flow_id: reader.maybe()? })
    }

    fn skip(reader: &mut Reader<'a>) -> Option<()> {
        reader.bytes()?;
        reader.bytes()?;
        reader.maybe_bytes()?;
        reader.maybe_bytes()?;
        Some(())
    }
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packed").field("flows", &self.flows).field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Packed {
    /// Opens what [`Index::pack`](super::Index::pack) wrote.
    ///
    /// `None` for anything else, an older or newer format included: the caller makes the index anew.
    pub fn open(bytes: Vec<u8>) -> Option<Self> {
        Self::open_parts(Parts::whole(bytes))
    }

    /// Opens it in the parts in which [`Index::pack_in_parts`](super::Index::pack_in_parts) cut it, or in
    /// larger ones; reads the first.
    pub fn open_parts(bytes: Parts) -> Option<Self> {
        if bytes.slice(0, MAGIC.len())? != MAGIC {
            return None;
        }
        let mut header = [0usize; HEADER_NUMBERS];
        for (place, number) in header.iter_mut().enumerate() {
            *number = fixed(&bytes, MAGIC.len() + 4 * place)?;
        }
        let [format, flows, stems, meta_names, ids, marks, templates, problems, categories, rest, after] = header;
        if format != FORMAT as usize || [stems, meta_names, ids, marks].into_iter().any(|rows| rows > flows) {
            return None;
        }
        let mut at = HEADER.checked_add(flows.checked_mul(ROW)?)?;
        let mut lookups = [Lookup { start: 0, rows: 0 }; 3];
        let mut marked = Lookup { start: 0, rows: 0 };
        let tables = lookups.iter_mut().chain([&mut marked]);
        for (lookup, rows) in tables.zip([stems, meta_names, ids, marks]) {
            *lookup = Lookup { start: at, rows };
            at = at.checked_add(rows.checked_mul(4)?)?;
        }
        if !(at <= rest && rest <= after && after <= bytes.len()) {
            return None;
        }
        let (bytes, rest, ranks) = (Arc::new(bytes), (rest, after), Arc::default());
        Some(Self { bytes, flows, lookups, marked, templates, problems, categories, rest, ranks })
    }

    /// Whether a part of it could not be read when it was needed, so that what was found may be too little.
    pub fn is_lost(&self) -> bool {
        self.bytes.is_lost()
    }

    /// The flows as queries are ranked, by their places; made at the first call, which may take long.
    pub fn ranks(&self) -> &rank::Index {
        self.ranks.get_or_init(|| {
            let entries: Vec<Entry> = (0..self.flows).map(|row| self.entry(row).unwrap_or_default()).collect();
            rank::Index::build(entries.iter().map(Document::of_flow))
        })
    }

    /// Whether [`Packed::ranks`] has been made.
    pub fn is_ranked(&self) -> bool {
        self.ranks.get().is_some()
    }

    /// How many flows there are.
    pub fn len(&self) -> usize {
        self.flows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.flows == 0
    }

    /// The flow at a place, in the order of names; `None` past the end or where the row is damaged.
    pub fn entry(&self, row: usize) -> Option<Entry> {
        let head = self.head(row)?;
        let mut entry = Entry {
            name: head.name.to_owned(),
            description: head.description.to_owned(),
            tags: head.tags.iter().map(|&tag| tag.to_owned()).collect(),
            category: head.category.map(str::to_owned),
            complexity: head.complexity.map(str::to_owned),
            file: head.file.to_owned(),
            flow_id: head.flow_id.map(str::to_owned),
            meta_name: head.meta_name.map(str::to_owned),
            inputs: head
                .inputs
                .iter()
                .map(|input| Input {
                    name: input.name.to_owned(),
                    kind: input.kind.map(str::to_owned),
                    required: input.required,
                    ..Input::default()
                })
                .collect(),
            inputs_unknown: head.inputs_unknown,
            expose: self.is_marked(row),
            ..Entry::default()
        };
        let (start, head, tail) = self.place(row)?;
        Reader(self.slice(start.checked_add(head)?, tail)?).tail(&mut entry)?;
        Some(entry)
    }

    /// The flow's name, without reading the rest of its row.
    pub fn name(&self, row: usize) -> Option<&str> {
        self.head_reader(row)?.text()
    }

    /// The places of the flows that ask to be tools of their own, in order; no row is read for it.
    pub fn marked(&self) -> impl Iterator<Item = usize> {
        (0..self.marked.rows).filter_map(|place| self.marked_at(place))
    }

    fn marked_at(&self, place: usize) -> Option<usize> {
        fixed(&self.bytes, self.marked.start + 4 * place)
    }

    fn is_marked(&self, row: usize) -> bool {
        let (mut low, mut high) = (0, self.marked.rows);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.marked_at(middle).map_or(Ordering::Greater, |other| other.cmp(&row)) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return true,
                Ordering::Greater => high = middle,
            }
        }
        false
    }

    /// The names of all flows, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        (0..self.flows).filter_map(|row| self.name(row))
    }

    /// Looks a flow up: by exact name, else by file stem, else by `meta.name`, else by `meta.id`.
    ///
    /// The first of the four that anything answers to decides, so a flow's name never becomes
    /// ambiguous through another flow's stem.
    pub fn find(&self, wanted: &str) -> Found {
        let named = self.equal_rows(self.flows, Some, by_name, wanted);
        let levels = [by_stem, by_meta_name, by_flow_id];
        let found = if named.is_empty() {
            self.lookups
                .iter()
                .zip(levels)
                .map(|(lookup, key)| {
                    let row_at = |place: usize| fixed(&self.bytes, lookup.start + 4 * place);
                    self.equal_rows(lookup.rows, row_at, key, wanted)
                })
                .find(|rows| !rows.is_empty())
                .unwrap_or_default()
        } else {
            named
        };
        match found.as_slice() {
            [] => Found::Nothing,
            [row] => Found::One(*row),
            _ => Found::Several(found),
        }
    }

    /// The rows that some names mean, and the names that mean none, each once.
    pub(super) fn named(&self, names: &[String]) -> (Vec<usize>, Vec<String>) {
        let (mut rows, mut unknown) = (Vec::new(), Vec::new());
        for name in names {
            match self.find(name) {
                Found::Nothing if unknown.contains(name) => {}
                Found::Nothing => unknown.push(name.clone()),
                Found::One(row) => rows.push(row),
                Found::Several(several) => rows.extend(several),
            }
        }
        (rows, unknown)
    }

    /// The files with problems, by path and position; empty where that part is damaged.
    pub fn problems(&self) -> Vec<FileProblem> {
        self.rest().and_then(|mut rest| rest.items(self.problems, Reader::problem)).unwrap_or_default()
    }

    /// The declared categories, by name; empty where that part is damaged.
    pub fn categories(&self) -> Vec<Category> {
        let read = || {
            let mut rest = self.rest()?;
            rest.items(self.problems, Reader::problem)?;
            rest.items(self.categories, Reader::category)
        };
        read().unwrap_or_default()
    }

    /// The template files, by path; empty where that part is damaged.
    pub fn templates(&self) -> Vec<TemplateEntry> {
        let read = || {
            let begin = self.rest.1;
            Reader(self.slice(begin, self.bytes.len().checked_sub(begin)?)?).items(self.templates, Reader::template)
        };
        read().unwrap_or_default()
    }

    /// A row's first part.
    pub(super) fn head(&self, row: usize) -> Option<Head<'_>> {
        let mut reader = self.head_reader(row)?;
        let Keys { name, file, meta_name, flow_id } = Keys::read(&mut reader)?;
        let category = reader.maybe()?;
        let complexity = reader.maybe()?;
        let tags = reader.list(Reader::text)?;
        let description = reader.text()?;
        let inputs = reader.list(Reader::head_input)?;
        let inputs_unknown = reader.flag()?;
        reader.is_at_end().then_some(Head {
            name,
            file,
            meta_name,
            flow_id,
            category,
            complexity,
            tags,
            description,
            inputs,
            inputs_unknown,
        })
    }

    /// Whether a row has all these tags and, where they are asked for, this category and complexity.
    ///
    /// Reads no further than the tags and copies nothing: a filter looks at every row.
    pub(super) fn fits(&self, row: usize, tags: &[String], category: Option<&str>, complexity: Option<&str>) -> bool {
        let fits = || {
            let mut reader = self.head_reader(row)?;
            Keys::skip(&mut reader)?;
            let right = category.is_none_or(same_as(reader.maybe()?)) & complexity.is_none_or(same_as(reader.maybe()?));
            let has = |tag: &String| reader.has_text(tag);
            Some(right && tags.iter().all(has))
        };
        fits().unwrap_or(false)
    }

    /// Every tag that any flow has, sorted.
    pub(super) fn tags(&self) -> BTreeSet<&str> {
        (0..self.flows).filter_map(|row| self.head(row)).flat_map(|head| head.tags).collect()
    }

    /// What the flow's compact entry costs, in estimated tokens, as counted when it was packed.
    pub(super) fn compact_cost(&self, row: usize) -> Option<usize> {
        if row >= self.flows {
            return None;
        }
        fixed(&self.bytes, HEADER + row * ROW + 12)
    }

    fn rest(&self) -> Option<Reader<'_>> {
        let (begin, end) = self.rest;
        self.slice(begin, end.checked_sub(begin)?).map(Reader)
    }

    fn head_reader(&self, row: usize) -> Option<Reader<'_>> {
        let (start, head, _) = self.place(row)?;
        self.slice(start, head).map(Reader)
    }

    /// Start, head length and tail length of a row.
    fn place(&self, row: usize) -> Option<(usize, usize, usize)> {
        if row >= self.flows {
            return None;
        }
        let mut numbers = self.slice(HEADER + row * ROW, ROW)?.chunks_exact(4).map(four);
        Some((numbers.next()??, numbers.next()??, numbers.next()??))
    }

    fn slice(&self, start: usize, length: usize) -> Option<&[u8]> {
        self.bytes.slice(start, length)
    }

    /// The rows, out of `rows` sorted ones, whose key equals `wanted`, in order.
    fn equal_rows<'a>(
        &'a self,
        rows: usize,
        row_at: impl Fn(usize) -> Option<usize>,
        key: impl Fn(&Keys<'a>) -> Option<&'a str>,
        wanted: &str,
    ) -> Vec<usize> {
        let key_at = |place: usize| {
            let row = row_at(place)?;
            let keys = Keys::read(&mut self.head_reader(row)?)?;
            Some((row, key(&keys)?))
        };
        let (mut low, mut high) = (0, rows);
        while low < high {
            let middle = low + (high - low) / 2;
            match key_at(middle).map_or(Ordering::Less, |(_, key)| key.cmp(wanted)) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal | Ordering::Greater => high = middle,
            }
        }
        (low..rows).map_while(|place| key_at(place).filter(|(_, key)| *key == wanted).map(|(row, _)| row)).collect()
    }
}

fn same_as(found: Option<&str>) -> impl Fn(&str) -> bool {
    move |wanted| found == Some(wanted)
}

#[allow(clippy::unnecessary_wraps, reason = "all keys have one signature")]
fn by_name<'a>(keys: &Keys<'a>) -> Option<&'a str> {
    Some(keys.name)
}

#[allow(clippy::unnecessary_wraps, reason = "all keys have one signature")]
fn by_stem<'a>(keys: &Keys<'a>) -> Option<&'a str> {
    Some(stem_of(keys.file))
}

fn by_meta_name<'a>(keys: &Keys<'a>) -> Option<&'a str> {
    keys.meta_name
}

fn by_flow_id<'a>(keys: &Keys<'a>) -> Option<&'a str> {
    keys.flow_id
}

fn fixed(bytes: &Parts, at: usize) -> Option<usize> {
    four(bytes.slice(at, 4)?)
}

fn four(bytes: &[u8]) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(bytes.try_into().ok()?)).ok()
}
