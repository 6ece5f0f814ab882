//! The listing index of one revision, kept as numbered records: a page reads the rows that it shows, a look-up
//! or a filter the keys of all flows.
//!
//! Rows are written and read by derive, in postcard's form. Where records lie, and whether their bytes are the
//! ones that were written, is the business of whoever keeps them: one that can't be had, or can't be read, is a
//! [`DamagedIndex`], so nothing is ever found missing because of damage.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::list_entry::compact_tokens;
use super::rank::{Document, SearchIndex};
use super::rows::FlowKey;
use super::{Category, FileProblem, FlowRow, IndexRows, OverlookedFile, TemplateRow};
use crate::names::{file_stem, folded, nfc};

/// Raised with every change of what is stored; an index of another form is made anew.
const FORM: u32 = 12;

/// The numbers of the records: the flows' rows come last, one record each.
const HEAD: usize = 0;
const KEYS: usize = 1;
const TEMPLATES: usize = 2;
const PROBLEMS: usize = 3;
const CATEGORIES: usize = 4;
const OVERLOOKED: usize = 5;
const FLOWS: usize = 6;

/// Reads a record by its number; `None` where it can't be had.
type ReadRecord = dyn Fn(usize) -> Option<Vec<u8>> + Send + Sync;

/// A record of the index can't be had or can't be read, so whatever is made of the index may be too little.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the index that was kept of this revision is damaged; it has been removed")]
pub struct DamagedIndex;

/// A listing index; cloning shares it.
#[derive(Clone)]
pub struct FlowIndex(Arc<Inner>);

struct Inner {
    read: Box<ReadRecord>,
    head: IndexHead,
    /// Read when a look-up or a filter first asks for them.
    keys: OnceLock<Keys>,
    /// Made when a query first asks for it.
    search: OnceLock<SearchIndex>,
    damaged: AtomicBool,
}

/// What opening an index reads.
#[derive(Serialize, Deserialize)]
struct IndexHead {
    form: u32,
    /// The rows of the flows that ask to be tools of their own, in order.
    exposed: Vec<usize>,
    /// What each flow's compact entry costs, in estimated tokens.
    compact_tokens: Vec<usize>,
}

/// What filters and look-ups need of every flow.
#[derive(Serialize, Deserialize)]
struct Keys {
    flows: Vec<FlowKey>,
    /// For each of [`LEVELS`] the rows that have such a name, sorted by it.
    sorted: [Vec<usize>; LEVELS.len()],
}

/// What a flow may be asked for by; the first of these that anything answers to decides, so a flow's name never
/// becomes ambiguous through another flow's stem.
const LEVELS: [fn(&FlowKey) -> Option<&str>; 4] = [
    |key| Some(&key.name),
    |key| Some(file_stem(&key.file)),
    |key| key.meta_name.as_deref(),
    |key| key.flow_id.as_deref(),
];

/// What a look-up by name finds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NameMatch {
    /// No flow answers to this name.
    Nothing,
    /// One does: its row in the index.
    One(usize),
    /// Several do, so the name is ambiguous: their rows in the index.
    Several(Vec<usize>),
}

impl Keys {
    fn of(flows: &[FlowRow]) -> Self {
        let flows: Vec<FlowKey> = flows.iter().map(FlowKey::of).collect();
        let sorted = LEVELS.map(|name| {
            let mut rows: Vec<(&str, usize)> =
                flows.iter().enumerate().filter_map(|(row, key)| Some((name(key)?, row))).collect();
            rows.sort_unstable();
            rows.into_iter().map(|(_, row)| row).collect()
        });
        Self { flows, sorted }
    }

    /// The rows of a level whose name is the wanted one, in order.
    fn equal<'k>(&'k self, rows: &'k [usize], name: fn(&FlowKey) -> Option<&str>, wanted: &str) -> &'k [usize] {
        let name_of = |row: &usize| self.flows.get(*row).and_then(name);
        let begin = rows.partition_point(|row| name_of(row) < Some(wanted));
        let end = rows.partition_point(|row| name_of(row) <= Some(wanted));
        rows.get(begin..end).unwrap_or_default()
    }

    /// The flows whose name is the wanted one in another normal form of its letters.
    fn composed(&self, wanted: &str) -> NameMatch {
        if wanted.is_ascii() {
            return NameMatch::Nothing;
        }
        let wanted = nfc(wanted);
        let equal = |name: fn(&FlowKey) -> Option<&str>| -> Vec<usize> {
            let is_it = |key: &FlowKey| name(key).is_some_and(|name| !name.is_ascii() && nfc(name) == wanted);
            self.flows.iter().enumerate().filter(|(_, key)| is_it(key)).map(|(row, _)| row).collect()
        };
        NameMatch::of(LEVELS.map(equal).into_iter().find(|rows| !rows.is_empty()).unwrap_or_default())
    }

    /// The flows that answer to the wanted name but for case, normal form, blanks, `-` and `_`.
    fn alike(&self, wanted: &str) -> NameMatch {
        let wanted = folded(wanted);
        let is_it = |key: &FlowKey| LEVELS.iter().filter_map(|name| name(key)).any(|name| folded(name) == wanted);
        NameMatch::of(self.flows.iter().enumerate().filter(|(_, key)| is_it(key)).map(|(row, _)| row).collect())
    }
}

impl NameMatch {
    fn of(rows: Vec<usize>) -> Self {
        match rows.as_slice() {
            [] => Self::Nothing,
            [row] => Self::One(*row),
            _ => Self::Several(rows),
        }
    }
}

impl IndexRows {
    /// The stored form, record by record, for [`FlowIndex::open`]. Equal rows give equal bytes.
    pub fn records(self) -> Vec<Vec<u8>> {
        let exposed = self.flows.iter().enumerate().filter(|(_, flow)| flow.expose).map(|(row, _)| row).collect();
        let head = IndexHead { form: FORM, exposed, compact_tokens: self.flows.iter().map(compact_tokens).collect() };
        let mut records = Vec::with_capacity(FLOWS + self.flows.len());
        records.extend([written(&head), written(&Keys::of(&self.flows)), written(&self.templates)]);
        records.extend([written(&self.problems), written(&self.categories), written(&self.overlooked)]);
        records.extend(self.flows.into_iter().map(|flow| written(&flow)));
        records
    }
}

/// A record; nothing of an index fails to be written, and a record that is empty is read as damage.
fn written(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = postcard::to_allocvec(value).unwrap_or_default();
    bytes.shrink_to_fit();
    bytes
}

impl FlowIndex {
    /// Opens what [`IndexRows::records`] wrote, where they are kept: `read` gives a record by its number.
    ///
    /// `None` for anything else, an older or newer form included: the caller makes the index anew.
    pub fn open(read: impl Fn(usize) -> Option<Vec<u8>> + Send + Sync + 'static) -> Option<Self> {
        let head: IndexHead = postcard::from_bytes(&read(HEAD)?).ok()?;
        let (read, damaged) = (Box::new(read), AtomicBool::new(false));
        let inner = Inner { read, head, keys: OnceLock::new(), search: OnceLock::new(), damaged };
        (inner.head.form == FORM).then(|| Self(Arc::new(inner)))
    }

    /// Opens what [`IndexRows::records`] wrote, in memory.
    pub fn in_memory(records: Vec<Vec<u8>>) -> Option<Self> {
        Self::open(move |number| records.get(number).cloned())
    }

    /// Whether a record could not be read when it was needed: then the index is to be opened anew.
    pub fn is_damaged(&self) -> bool {
        self.0.damaged.load(Ordering::Relaxed)
    }

    /// How many flows there are.
    pub fn len(&self) -> usize {
        self.0.head.compact_tokens.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The flow of a row, in the order of names.
    ///
    /// # Errors
    /// [`DamagedIndex`], also for a row that there is not.
    pub fn row(&self, row: usize) -> Result<FlowRow, DamagedIndex> {
        self.record(row.saturating_add(FLOWS))
    }

    /// The rows of the flows that ask to be tools of their own, in order.
    pub fn exposed(&self) -> &[usize] {
        &self.0.head.exposed
    }

    /// What the flow's compact entry costs, in estimated tokens, as counted when the index was made.
    pub(super) fn compact_tokens(&self, row: usize) -> Option<usize> {
        self.0.head.compact_tokens.get(row).copied()
    }

    /// By what each flow is looked up and filtered, by row.
    ///
    /// # Errors
    /// [`DamagedIndex`].
    pub fn keys(&self) -> Result<&[FlowKey], DamagedIndex> {
        Ok(&self.all_keys()?.flows)
    }

    /// The names of all flows, in order.
    ///
    /// # Errors
    /// [`DamagedIndex`].
    pub fn names(&self) -> Result<impl Iterator<Item = &str>, DamagedIndex> {
        Ok(self.keys()?.iter().map(|key| key.name.as_str()))
    }

    /// Looks a flow up: by exact name, else by file stem, else by `meta.name`, else by `meta.id`; where none is
    /// spelt so, in the same order by the normal form of its letters.
    ///
    /// # Errors
    /// [`DamagedIndex`].
    pub fn find(&self, wanted: &str) -> Result<NameMatch, DamagedIndex> {
        let keys = self.all_keys()?;
        let levels = keys.sorted.iter().zip(LEVELS);
        let found = levels.map(|(rows, name)| keys.equal(rows, name, wanted)).find(|rows| !rows.is_empty());
        Ok(found.map_or_else(|| keys.composed(wanted), |rows| NameMatch::of(rows.to_vec())))
    }

    /// Looks a flow up as [`FlowIndex::find`] does; where none is spelt so, by what differs from a name in case,
    /// blanks, `-` and `_` alone.
    ///
    /// # Errors
    /// [`DamagedIndex`].
    pub fn find_alike(&self, wanted: &str) -> Result<NameMatch, DamagedIndex> {
        Ok(match self.find(wanted)? {
            NameMatch::Nothing => self.all_keys()?.alike(wanted),
            found @ (NameMatch::One(_) | NameMatch::Several(_)) => found,
        })
    }

    /// The rows that some names mean, and the names that mean none, each once.
    pub(super) fn named(&self, names: &[String]) -> Result<(Vec<usize>, Vec<String>), DamagedIndex> {
        let (mut rows, mut unknown) = (Vec::new(), Vec::new());
        for name in names {
            match self.find_alike(name)? {
                NameMatch::Nothing if unknown.contains(name) => {}
                NameMatch::Nothing => unknown.push(name.clone()),
                NameMatch::One(row) => rows.push(row),
                NameMatch::Several(several) => rows.extend(several),
            }
        }
        Ok((rows, unknown))
    }

    /// The files with problems, by path and position.
    ///
    /// # Errors
    /// [`DamagedIndex`].
    pub fn problems(&self) -> Result<Vec<FileProblem>, DamagedIndex> {
        self.record(PROBLEMS)
    }

    /// The declared categories, by name.
    ///
    /// # Errors
    /// [`DamagedIndex`].
    pub fn categories(&self) -> Result<Vec<Category>, DamagedIndex> {
        self.record(CATEGORIES)
    }

    /// The files that are not read, by path.
    ///
    /// # Errors
    /// [`DamagedIndex`].
    pub fn overlooked(&self) -> Result<Vec<OverlookedFile>, DamagedIndex> {
        self.record(OVERLOOKED)
    }

    /// The template files, by path.
    ///
    /// # Errors
    /// [`DamagedIndex`].
    pub fn templates(&self) -> Result<Vec<TemplateRow>, DamagedIndex> {
        self.record(TEMPLATES)
    }

    /// The flows as queries are ranked, by their rows; made at the first call, which may take long.
    ///
    /// # Errors
    /// [`DamagedIndex`].
    pub fn search(&self) -> Result<&SearchIndex, DamagedIndex> {
        if let Some(search) = self.0.search.get() {
            return Ok(search);
        }
        let rows = (0..self.len()).map(|row| self.row(row)).collect::<Result<Vec<_>, _>>()?;
        Ok(self.0.search.get_or_init(|| SearchIndex::build(rows.iter().map(Document::of_flow))))
    }

    /// Whether [`FlowIndex::search`] has been made.
    pub fn is_searchable(&self) -> bool {
        self.0.search.get().is_some()
    }

    fn all_keys(&self) -> Result<&Keys, DamagedIndex> {
        if let Some(keys) = self.0.keys.get() {
            return Ok(keys);
        }
        let keys = self.record(KEYS)?;
        Ok(self.0.keys.get_or_init(|| keys))
    }

    fn record<T: DeserializeOwned>(&self, number: usize) -> Result<T, DamagedIndex> {
        let read = (self.0.read)(number).and_then(|bytes| postcard::from_bytes(&bytes).ok());
        read.ok_or_else(|| {
            self.0.damaged.store(true, Ordering::Relaxed);
            DamagedIndex
        })
    }
}

impl fmt::Debug for FlowIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FlowIndex").field("flows", &self.len()).finish_non_exhaustive()
    }
}
