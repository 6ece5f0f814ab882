//! The stored form of an index, byte by byte, and the JSON spelling of shown entries.
//!
//! This file alone knows how an index is laid out and what an entry's fields are called on the wire; `packed.rs`
//! finds its way with what is here. Layout, all numbers little-endian:
//!
//! ```text
//! magic (8 bytes) · format · flows · stems · meta names · ids · marked · templates · problems · categories ·
//! where the problems begin · where the templates begin                                          (u32 each)
//! row table: flows × (start, head length, tail length, compact tokens)                          (u32 each)
//! look-up tables: row numbers sorted by stem, by meta name, by id                               (u32 each)
//! marked rows: row numbers of the flows that ask to be tools of their own                       (u32 each)
//! rows: head (what filters, compact and index need) and tail (the rest), one after the other
//! problems, categories, templates
//! ```
//!
//! It may be kept in parts, so that a page reads only what it shows: nothing that is read at once, a row or one
//! of the sections at the end, lies in two of them.
//!
//! Texts and lists are preceded by their length (LEB128), an absent value is the byte 0, a present one follows a 1.
//! The one thing kept as JSON is a default or a choice, which may be any value.

use serde_json::{Map, Value, json};

use super::mode::Mode;
use super::shown::Shown;
use super::tiers::{Figures, average_ms, millis};
use super::{Category, Entry, FileProblem, Index, Input, Output, TemplateEntry, TemplateTitle};

/// How every packed index begins.
pub(super) const MAGIC: [u8; 8] = *b"flowidx\n";
/// Raised with every change of the layout or of what is stored; an index of another format is made anew.
pub(super) const FORMAT: u32 = 8;
/// Bytes before the row table.
pub(super) const HEADER: usize = 8 + 4 * HEADER_NUMBERS;
/// Numbers in the header.
pub(super) const HEADER_NUMBERS: usize = 11;
/// Bytes per row in the row table.
pub(super) const ROW: usize = 16;
/// The size of a part in bytes, unless one row or section is larger.
const PART: usize = 32 * 1024;

/// One entry as JSON, with exactly the fields of its mode, in their published order.
pub fn to_value(shown: &Shown) -> Value {
    let mut map = Map::new();
    let mut put = |key: &str, value: Value| {
        map.insert(key.to_owned(), value);
    };
    match shown {
        Shown::Index(line) => return Value::String(line.clone()),
        Shown::Compact(entry) => {
            put("name", json!(entry.name));
            put("description", json!(entry.description));
            put("tags", json!(entry.tags));
            put("inputSummary", json!(entry.input_summary));
        }
        Shown::Brief(entry) => {
            put("name", json!(entry.name));
            put("description", json!(entry.description));
            put("inputSummary", json!(entry.input_summary));
        }
        Shown::Standard(entry) => {
            put("name", json!(entry.name));
            put("description", json!(entry.description));
            put("tags", json!(entry.tags));
            put("inputSummary", json!(entry.input_summary));
            put("version", json!(entry.version));
            put("nodeCount", json!(entry.node_count));
            put_dates(&mut put, entry.created.as_deref(), entry.updated.as_deref());
            put("steps", json!(entry.steps));
        }
        Shown::Detailed(entry) => {
            put("name", json!(entry.name));
            put("description", json!(entry.description));
            put("tags", json!(entry.tags));
            put("version", json!(entry.version));
            put("nodeCount", json!(entry.node_count));
            put_dates(&mut put, entry.created.as_deref(), entry.updated.as_deref());
            put("steps", json!(entry.steps));
            put("author", json!(entry.author));
            put("category", json!(entry.category));
            let inputs = entry.inputs.iter().map(|input| {
                let fields = json!({
                    "type": input.kind,
                    "description": input.description,
                    "required": input.required,
                    "default": input.default,
                });
                (input.name.clone(), fields)
            });
            put("inputs", if entry.inputs_unknown { Value::Null } else { Value::Object(inputs.collect()) });
            let outputs = entry.outputs.iter().map(|output| (output.label.clone(), json!(output.node)));
            put("outputs", Value::Object(outputs.collect()));
        }
        Shown::Hot(_) | Shown::Category(_) | Shown::Summary(_) | Shown::Full(_) => put_by_usage(&mut put, shown),
        Shown::Contract(entry) => {
            put("name", json!(entry.name));
            put("description", json!(entry.description));
            put("version", json!(entry.version));
            put("nodeCount", json!(entry.node_count));
            put_dates(&mut put, entry.created.as_deref(), entry.updated.as_deref());
        }
        Shown::Shortened { name, description } => {
            put("name", json!(name));
            put("description", json!(description));
            put("shortened", json!(true));
        }
    }
    Value::Object(map)
}

/// The fields of the modes that go by usage.
fn put_by_usage(put: &mut impl FnMut(&str, Value), shown: &Shown) {
    match shown {
        Shown::Hot(entry) => {
            put("name", json!(entry.name));
            put("source", json!(entry.source));
            put("description", json!(entry.description));
            put("params", json!(entry.params));
            put("avgLatencyMs", json!(entry.average_ms));
            put("successRate", json!(entry.success_rate));
            put("popularity", json!(entry.popularity.word()));
        }
        Shown::Category(entry) => {
            put("category", json!(entry.category));
            put("displayName", json!(entry.display_name));
            put("description", json!(entry.description));
            put("flowCount", json!(entry.flow_count));
            put("sourceCount", json!(entry.source_count));
            put("popularFlows", json!(entry.popular_flows));
        }
        Shown::Summary(entry) => {
            put("name", json!(entry.name));
            put("description", json!(entry.description));
            let params = entry.params.iter().map(|(name, terms)| (name.clone(), json!(terms)));
            put("params", Value::Object(params.collect()));
            put("returns", json!(entry.returns));
            put("avgLatencyMs", json!(entry.average_ms));
        }
        Shown::Full(entry) => {
            put("name", json!(entry.name));
            put("description", json!(entry.description));
            put("tags", json!(entry.tags));
            put("category", json!(entry.category));
            put("version", json!(entry.version));
            put("steps", json!(entry.steps));
            put("parameters", entry.parameters.clone());
            let returns = entry.returns.iter().map(|(label, node)| (label.clone(), json!(node)));
            put("returns", Value::Object(returns.collect()));
            put("examples", json!(entry.examples));
            let usage = &entry.usage;
            put(
                "performance",
                json!({
                    "avgLatencyMs": average_ms(usage),
                    "p95LatencyMs": usage.p95().map(millis),
                    "successRate": usage.success_rate(),
                    "totalInvocations": usage.uses,
                }),
            );
        }
        _ => {}
    }
}

/// The entries of a page as a JSON array, written once for every reply that carries them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntriesJson {
    /// The array.
    pub plain: String,
    /// The array as it stands inside a JSON text, without the quotation marks around it.
    pub quoted: String,
}

impl EntriesJson {
    pub(super) fn of(entries: &[Shown]) -> Self {
        let plain = Value::Array(entries.iter().map(to_value).collect()).to_string();
        Self { quoted: crate::names::inside_json(&plain), plain }
    }
}

fn put_dates(put: &mut impl FnMut(&str, Value), created: Option<&str>, updated: Option<&str>) {
    for (key, date) in [("created", created), ("updated", updated)] {
        if let Some(date) = date {
            put(key, json!(date));
        }
    }
}

/// What one entry costs in a reply, in estimated tokens, with the comma behind it.
pub(super) fn cost(shown: &Shown) -> usize {
    let mut json = to_value(shown).to_string();
    json.push(',');
    crate::tokens::estimate(&json)
}

/// An index as one byte string, and where parts of it may begin.
pub(super) fn pack(index: &Index) -> (Vec<u8>, Vec<usize>) {
    let lookups = [
        sorted_rows(index.flows(), |flow| Some(flow.stem())),
        sorted_rows(index.flows(), |flow| flow.meta_name.as_deref()),
        sorted_rows(index.flows(), |flow| flow.flow_id.as_deref()),
        sorted_rows(index.flows(), |flow| flow.expose.then_some("")),
    ];
    let tables = index.flows().len() * ROW + lookups.iter().map(|rows| rows.len() * 4).sum::<usize>();
    let first_row = HEADER + tables;

    let mut cuts = Cuts::default();
    (HEADER..first_row).step_by(ROW).for_each(|number| cuts.may_begin(number));
    let mut table = Writer::default();
    let mut rows = Writer::default();
    for flow in index.flows() {
        let start = rows.0.len();
        rows.head(flow);
        let middle = rows.0.len();
        rows.tail(flow);
        let compact = Shown::of_entry(flow.clone(), Mode::Compact, true, &Figures::default());
        for number in [first_row + start, middle - start, rows.0.len() - middle, cost(&compact)] {
            table.fixed(number);
        }
        cuts.may_begin(first_row + start);
    }
    let rest = rows.0.len();
    cuts.may_begin(first_row + rest);
    index.problems().iter().for_each(|problem| rows.problem(problem));
    index.categories().iter().for_each(|category| rows.category(category));
    // Templates last: there may be as many as flows, and every listing wants the problems.
    let templates = rows.0.len();
    cuts.may_begin(first_row + templates);
    index.templates().iter().for_each(|template| rows.template(template));

    let mut out = Writer(Vec::with_capacity(first_row + rows.0.len()));
    out.0.extend_from_slice(&MAGIC);
    out.0.extend_from_slice(&FORMAT.to_le_bytes());
    out.fixed(index.flows().len());
    for rows in &lookups {
        out.fixed(rows.len());
    }
    for count in [index.templates().len(), index.problems().len(), index.categories().len()] {
        out.fixed(count);
    }
    for begin in [rest, templates] {
        out.fixed(first_row + begin);
    }
    out.0.append(&mut table.0);
    for row in lookups.iter().flatten() {
        out.fixed(*row);
    }
    out.0.append(&mut rows.0);
    let end = out.0.len();
    cuts.may_begin(end);
    (out.0, cuts.all)
}

/// Where parts begin: as late as keeps them within their size.
#[derive(Default)]
struct Cuts {
    all: Vec<usize>,
    /// Where the last part begins.
    part: usize,
    /// Where the last thing begins that no cut goes through.
    thing: usize,
}

impl Cuts {
    /// Something begins here, so what was before ends.
    fn may_begin(&mut self, here: usize) {
        if here - self.part > PART && self.thing > self.part {
            self.all.push(self.thing);
            self.part = self.thing;
        }
        self.thing = here;
    }
}

/// Row numbers of the flows that have a key, by key, then by row.
fn sorted_rows<'a>(flows: &'a [Entry], key: impl Fn(&'a Entry) -> Option<&'a str>) -> Vec<usize> {
    let mut rows: Vec<(&str, usize)> =
        flows.iter().enumerate().filter_map(|(row, flow)| Some((key(flow)?, row))).collect();
    rows.sort_unstable();
    rows.into_iter().map(|(_, row)| row).collect()
}

#[derive(Default)]
struct Writer(Vec<u8>);

impl Writer {
    fn fixed(&mut self, number: usize) {
        // An index of 4 GB can't be: its files are at most 1 MB each and few enough to be held.
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push((number & 0x7F) as u8 | 0x80);
            number >>= 7;
        }
        self.0.push((number & 0x7F) as u8);
    }

    fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn texts(&mut self, texts: &[String]) {
        self.count(texts.len());
        for text in texts {
            self.text(text);
        }
    }

    fn flag(&mut self, flag: bool) {
        self.0.push(u8::from(flag));
    }

    fn maybe(&mut self, text: Option<&str>) {
        self.flag(text.is_some());
        if let Some(text) = text {
            self.text(text);
        }
    }

    fn maybe_count(&mut self, count: Option<usize>) {
        self.flag(count.is_some());
        if let Some(count) = count {
            self.count(count);
        }
    }

    fn head(&mut self, flow: &Entry) {
        self.text(&flow.name);
        self.text(&flow.file);
        self.maybe(flow.meta_name.as_deref());
        self.maybe(flow.flow_id.as_deref());
        self.maybe(flow.category.as_deref());
        self.maybe(flow.complexity.as_deref());
        self.texts(&flow.tags);
        self.text(&flow.description);
        self.count(flow.inputs.len());
        for input in &flow.inputs {
            self.text(&input.name);
            self.maybe(input.kind.as_deref());
            self.flag(input.required);
        }
        self.flag(flow.inputs_unknown);
    }

    fn tail(&mut self, flow: &Entry) {
        self.maybe(flow.author.as_deref());
        self.maybe(flow.version.as_deref());
        self.count(flow.node_count);
        self.maybe(flow.created.as_deref());
        self.maybe(flow.updated.as_deref());
        self.texts(&flow.steps);
        for input in &flow.inputs {
            self.maybe(input.description.as_deref());
            self.flag(input.in_sets);
            self.maybe(input.default.as_ref().map(Value::to_string).as_deref());
            self.count(input.choices.len());
            input.choices.iter().for_each(|choice| self.text(&choice.to_string()));
        }
        self.count(flow.outputs.len());
        for output in &flow.outputs {
            self.text(&output.label);
            self.text(&output.node);
        }
        self.texts(&flow.examples);
        self.texts(&flow.sets);
        self.texts(&flow.calls);
        self.texts(&flow.uses);
        self.flag(flow.broken);
        self.count(flow.place_in_file);
        self.text(&flow.oid);
    }

    fn template(&mut self, template: &TemplateEntry) {
        self.text(&template.file);
        self.text(&template.stem);
        self.count(template.titles.len());
        for title in &template.titles {
            self.maybe(title.id.as_deref());
            self.maybe(title.title.as_deref());
        }
        self.texts(&template.variables);
        self.text(&template.oid);
    }

    fn problem(&mut self, problem: &FileProblem) {
        self.text(&problem.file);
        self.text(&problem.code);
        self.text(&problem.message);
        self.maybe_count(problem.line);
        self.maybe_count(problem.column);
        self.count(problem.unnamed);
    }

    fn category(&mut self, category: &Category) {
        self.text(&category.name);
        self.maybe(category.display_name.as_deref());
        self.maybe(category.description.as_deref());
        self.flag(category.sort_order.is_some());
        if let Some(order) = category.sort_order {
            self.number(order.cast_unsigned());
        }
    }
}

/// Reads what the writer wrote; anything else is `None`, never a panic or a large allocation.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7F);
            if shift == 63 && bits > 1 {
                return None;
            }
            number |= bits << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    pub(super) fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }

    /// A text that isn't looked at.
    pub(super) fn bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.count()?;
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    /// A text that isn't looked at and may be absent.
    pub(super) fn maybe_bytes(&mut self) -> Option<()> {
        if self.flag()? { self.bytes().map(drop) } else { Some(()) }
    }

    /// Whether the list that comes next holds a text; the reader stays where it is.
    pub(super) fn has_text(mut self, text: &str) -> bool {
        let length = self.count().unwrap_or(0);
        (0..length).map_while(|_| self.bytes()).any(|bytes| bytes == text.as_bytes())
    }

    pub(super) fn flag(&mut self) -> Option<bool> {
        match self.byte()? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    #[allow(clippy::option_option, reason = "the outer one is a failure to read, the inner one what was read")]
    pub(super) fn maybe(&mut self) -> Option<Option<&'a str>> {
        if self.flag()? { self.text().map(Some) } else { Some(None) }
    }

    #[allow(clippy::option_option, reason = "the outer one is a failure to read, the inner one what was read")]
    fn maybe_count(&mut self) -> Option<Option<usize>> {
        if self.flag()? { self.count().map(Some) } else { Some(None) }
    }

    /// As many items as the next number says; each takes at least a byte, so a wrong number ends early.
    pub(super) fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.count()?;
        self.items(length, &mut item)
    }

    /// `length` items.
    pub(super) fn items<T>(&mut self, length: usize, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        if length > self.0.len() {
            return None;
        }
        // A damaged length must not reserve more than what is there could fill.
        let mut items = Vec::with_capacity(length.min(16));
        for _ in 0..length {
            items.push(item(self)?);
        }
        Some(items)
    }

    /// An input's share of the head.
    pub(super) fn head_input(&mut self) -> Option<super::text::Named<'a>> {
        Some(super::text::Named { name: self.text()?, kind: self.maybe()?, required: self.flag()? })
    }

    /// Completes an entry, whose head is filled in, from a row's tail.
    pub(super) fn tail(&mut self, entry: &mut Entry) -> Option<()> {
        entry.author = self.maybe()?.map(str::to_owned);
        entry.version = self.maybe()?.map(str::to_owned);
        entry.node_count = self.count()?;
        entry.created = self.maybe()?.map(str::to_owned);
        entry.updated = self.maybe()?.map(str::to_owned);
        entry.steps = self.list(Self::owned)?;
        for input in &mut entry.inputs {
            self.tail_input(input)?;
        }
        entry.outputs = self.list(|reader| Some(Output { label: reader.owned()?, node: reader.owned()? }))?;
        entry.examples = self.list(Self::owned)?;
        entry.sets = self.list(Self::owned)?;
        entry.calls = self.list(Self::owned)?;
        entry.uses = self.list(Self::owned)?;
        entry.broken = self.flag()?;
        entry.place_in_file = self.count()?;
        entry.oid = self.owned()?;
        self.is_at_end().then_some(())
    }

    fn tail_input(&mut self, input: &mut Input) -> Option<()> {
        input.description = self.maybe()?.map(str::to_owned);
        input.in_sets = self.flag()?;
        input.default = match self.maybe()? {
            Some(text) => Some(serde_json::from_str(text).ok()?),
            None => None,
        };
        input.choices = self.list(|reader| serde_json::from_str(reader.text()?).ok())?;
        Some(())
    }

    pub(super) fn template(&mut self) -> Option<TemplateEntry> {
        Some(TemplateEntry {
            file: self.owned()?,
            stem: self.owned()?,
            titles: self.list(|reader| {
                Some(TemplateTitle {
                    id: reader.maybe()?.map(str::to_owned),
                    title: reader.maybe()?.map(str::to_owned),
                })
            })?,
            variables: self.list(Self::owned)?,
            oid: self.owned()?,
        })
    }

    pub(super) fn problem(&mut self) -> Option<FileProblem> {
        Some(FileProblem {
            file: self.owned()?,
            code: self.owned()?,
            message: self.owned()?,
            line: self.maybe_count()?,
            column: self.maybe_count()?,
            unnamed: self.count()?,
        })
    }

    pub(super) fn category(&mut self) -> Option<Category> {
        Some(Category {
            name: self.owned()?,
            display_name: self.maybe()?.map(str::to_owned),
            description: self.maybe()?.map(str::to_owned),
            sort_order: if self.flag()? { Some(self.number()?.cast_signed()) } else { None },
        })
    }

    fn owned(&mut self) -> Option<String> {
        self.text().map(str::to_owned)
    }
}
