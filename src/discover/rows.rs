//! What a listing of one revision is made of: the rows of its index, as they are kept.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::code::Code;
use crate::names::{file_stem, nfc, unprintable};

/// What an input without a type reads.
pub(super) const PLAIN_KIND: &str = "string";

/// One listed flow, as its plan describes it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct FlowRow {
    /// The name it is asked for by.
    pub name: String,
    /// The whole description; empty when there is none.
    pub description: String,
    /// Tags as written, in the file's order.
    pub tags: Vec<String>,
    /// The category it says, else its folder; `None` for a flow at the top.
    pub category: Option<String>,
    /// `simple`, `moderate` or `high`, as written.
    pub complexity: Option<String>,
    /// Who wrote it.
    pub author: Option<String>,
    /// The version as written; shown as `1.0` when absent.
    pub version: Option<String>,
    /// All nodes, runnable or not.
    pub node_count: usize,
    /// When it was made, ISO 8601, as written.
    pub created: Option<String>,
    /// When it was last changed, ISO 8601, as written.
    pub updated: Option<String>,
    /// The labels of its steps, in the order in which they run.
    pub steps: Vec<String>,
    /// Everything a caller may give; names are distinct.
    pub inputs: Vec<FlowInput>,
    /// Whether what a caller may give is not known, because the flow has errors.
    pub inputs_unknown: bool,
    /// Its results.
    pub outputs: Vec<FlowOutput>,
    /// Requests that its author wants it to be found by.
    pub examples: Vec<String>,
    /// The variable sets there are to choose from.
    pub sets: Vec<String>,
    /// Whether it is made for guided execution.
    pub guided: bool,
    /// Whether its file asks that it be a tool of its own.
    pub expose: bool,
    /// The external tools that its steps call, `alias:tool`, sorted, each once.
    pub calls: Vec<String>,
    /// The flows that are steps of it, by the names it calls them, sorted, each once.
    pub uses: Vec<String>,
    /// Whether it has errors, as far as the files alone tell: then it is no tool of its own.
    pub broken: bool,
    /// The file it stands in, as a path of the catalog.
    pub file: String,
    /// `meta.id`.
    pub flow_id: Option<String>,
    /// `meta.name`.
    pub meta_name: Option<String>,
    /// Its place among the flows of its file, from 0.
    pub place_in_file: usize,
    /// The git object id of its file.
    pub oid: String,
}

impl FlowRow {
    /// Whether it is asked for by this name as it is spelt, in whichever normal form.
    pub fn goes_by(&self, name: &str) -> bool {
        let names = [Some(self.name.as_str()), Some(self.stem()), self.meta_name.as_deref(), self.flow_id.as_deref()];
        names.into_iter().flatten().any(|own| own == name || nfc(own) == nfc(name))
    }

    /// The file's name without folders and without its last extension.
    pub fn stem(&self) -> &str {
        file_stem(&self.file)
    }
}

/// One thing a caller may give to a flow.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct FlowInput {
    /// The variable's name.
    pub name: String,
    /// Its type as declared; `None` reads `string`.
    pub kind: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Whether the flow refuses to run without it.
    pub required: bool,
    /// Whether a variable set gives it.
    pub in_sets: bool,
    /// What stands in when it isn't given.
    #[serde(serialize_with = "as_json", deserialize_with = "value_of_json")]
    pub default: Option<Value>,
    /// The only values allowed; empty when any is.
    #[serde(serialize_with = "as_json", deserialize_with = "values_of_json")]
    pub choices: Vec<Value>,
}

impl FlowInput {
    /// Whether it has to be given, in words. What a set must give can't simply be left out.
    pub fn needed(&self) -> &'static str {
        match (self.required, self.in_sets) {
            (true, _) => "required",
            (false, true) => "required, or from a set",
            (false, false) => "optional",
        }
    }

    /// Whether a call without it and without a set is refused.
    pub fn is_needed(&self) -> bool {
        self.required || self.in_sets
    }
}

/// One result of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FlowOutput {
    /// The result node's label.
    pub label: String,
    /// The id of the node that feeds it.
    pub node: String,
}

/// One template file.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TemplateRow {
    /// The file, as a path of the catalog.
    pub file: String,
    /// Its name without folders and extension: the first thing a flow may call it by.
    pub stem: String,
    /// The templates it holds, in the file's order.
    pub titles: Vec<TemplateTitle>,
    /// The variables that any of them declares.
    pub variables: Vec<String>,
    /// The git object id of the file.
    pub oid: String,
}

/// What one template of a file may be called by, besides the file's stem.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TemplateTitle {
    /// `id`, when the file gives one.
    pub id: Option<String>,
    /// `title`, when the file gives one.
    pub title: Option<String>,
}

/// What a `_category.json` says about a category.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Category {
    /// The category's name: its folder.
    pub name: String,
    /// How it is shown.
    pub display_name: Option<String>,
    /// What belongs into it.
    pub description: Option<String>,
    /// Its place among the categories.
    pub sort_order: Option<i64>,
}

/// A file that can't be listed as it should, and why; it never hides the others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileProblem {
    /// The file, as a path of the catalog.
    pub file: String,
    /// The error code, for example `PARSE_ERROR`.
    pub code: Code,
    /// The rule that found it, or `unreadable-file`.
    pub rule: String,
    /// The fact, in one sentence.
    pub message: String,
    /// How to fix it.
    pub hint: String,
    /// The files that have to be fixed, where that is not (only) the file itself.
    pub files: Vec<String>,
    /// From 1.
    pub line: Option<usize>,
    /// From 1, in characters.
    pub column: Option<usize>,
    /// How many more the file has that are named nowhere: only its first problem counts them.
    pub unnamed: usize,
}

impl FileProblem {
    /// A problem of a file as a whole.
    pub fn new(file: impl Into<String>, code: Code, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            code,
            rule: String::new(),
            message: message.into(),
            hint: String::new(),
            files: Vec::new(),
            line: None,
            column: None,
            unnamed: 0,
        }
    }

    /// How many there are of these in all, those that are named nowhere included.
    pub fn count(problems: &[Self]) -> usize {
        problems.iter().map(|problem| 1 + problem.unnamed).sum()
    }
}

/// Everything a listing of one revision can show, sorted and with clean texts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct IndexRows {
    pub(super) flows: Vec<FlowRow>,
    pub(super) templates: Vec<TemplateRow>,
    pub(super) problems: Vec<FileProblem>,
    pub(super) categories: Vec<Category>,
    pub(super) overlooked: Vec<OverlookedFile>,
}

/// A file that is not read for where it lies or how it ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OverlookedFile {
    /// Where it is.
    pub path: String,
    /// The path under which it would be read.
    pub meant: String,
    /// Whether it counts only where somebody asks for what it may be.
    pub doubtful: bool,
}

impl IndexRows {
    /// The same with the files that are not read, by path.
    #[must_use]
    pub fn overlooking(self, overlooked: Vec<OverlookedFile>) -> Self {
        Self { overlooked, ..self }
    }

    /// Sorts what the catalog offers and cleans its texts.
    ///
    /// Flows are ordered by name, file and place in the file; the rest by file or name. Control and
    /// bidirectional characters, other than line breaks and tabs, are taken out of every text
    /// that is only shown; names, files and ids were checked when they were made and stay as they are.
    pub fn new(
        mut flows: Vec<FlowRow>,
        mut templates: Vec<TemplateRow>,
        mut problems: Vec<FileProblem>,
        mut categories: Vec<Category>,
    ) -> Self {
        for flow in &mut flows {
            clean_flow(flow);
        }
        flows.sort_by(|a, b| (&a.name, &a.file, a.place_in_file).cmp(&(&b.name, &b.file, b.place_in_file)));
        templates.sort_by(|a, b| a.file.cmp(&b.file));
        for problem in &mut problems {
            clean(&mut problem.message);
            clean(&mut problem.hint);
        }
        let place = |problem: &FileProblem| (problem.line, problem.column, problem.code.word());
        problems.sort_by(|a, b| (&a.file, place(a)).cmp(&(&b.file, place(b))));
        for category in &mut categories {
            category.display_name.iter_mut().for_each(clean);
            category.description.iter_mut().for_each(clean);
        }
        categories.sort_by(|a, b| a.name.cmp(&b.name));
        Self { flows, templates, problems, categories, overlooked: Vec::new() }
    }
}

/// The labels of results, each with the node that gives it; of one label the last node counts.
pub(super) fn by_label(outputs: Vec<FlowOutput>) -> Map<String, Value> {
    outputs.into_iter().map(|output| (output.label, Value::String(output.node))).collect()
}

/// By what a flow is looked up and filtered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowKey {
    /// The name it is asked for by.
    pub name: String,
    pub(super) file: String,
    pub(super) meta_name: Option<String>,
    pub(super) flow_id: Option<String>,
    /// Its category.
    pub category: Option<String>,
    pub(super) complexity: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
}

impl FlowKey {
    pub(super) fn of(flow: &FlowRow) -> Self {
        Self {
            name: flow.name.clone(),
            file: flow.file.clone(),
            meta_name: flow.meta_name.clone(),
            flow_id: flow.flow_id.clone(),
            category: flow.category.clone(),
            complexity: flow.complexity.clone(),
            tags: flow.tags.clone(),
        }
    }

    /// Whether it has all these tags and, where they are asked for, this category and complexity.
    pub fn fits(&self, tags: &[String], category: Option<&str>, complexity: Option<&str>) -> bool {
        let is = |own: &Option<String>, wanted: &str| own.as_deref().is_some_and(|own| same_word(own, wanted));
        category.is_none_or(|wanted| is(&self.category, wanted))
            && complexity.is_none_or(|wanted| is(&self.complexity, wanted))
            && tags.iter().all(|tag| self.tags.iter().any(|own| same_word(own, tag)))
    }
}

/// Whether two words are the same, however their letters are composed.
pub(super) fn same_word(one: &str, other: &str) -> bool {
    one == other || (!one.is_ascii() && nfc(one) == nfc(other))
}

fn clean_flow(flow: &mut FlowRow) {
    clean(&mut flow.description);
    flow.tags.iter_mut().for_each(clean);
    for text in [
        &mut flow.category,
        &mut flow.complexity,
        &mut flow.author,
        &mut flow.version,
        &mut flow.created,
        &mut flow.updated,
    ] {
        text.iter_mut().for_each(clean);
    }
    flow.steps.iter_mut().for_each(clean);
    flow.examples.iter_mut().for_each(clean);
    for input in &mut flow.inputs {
        input.kind.iter_mut().for_each(clean);
        input.description.iter_mut().for_each(clean);
    }
    for output in &mut flow.outputs {
        clean(&mut output.label);
    }
}

fn clean(text: &mut String) {
    let hidden = |c: char| unprintable(c) && !matches!(c, '\n' | '\r' | '\t');
    if text.chars().any(hidden) {
        text.retain(|c| !hidden(c));
    }
}

/// A default or a choice may be any JSON value, which only a self-describing form could hold: it is kept as JSON
/// text, which keeps the digits of numbers too.
fn as_json<V, S: Serializer>(values: &V, to: S) -> Result<S::Ok, S::Error>
where
    for<'v> &'v V: IntoIterator<Item = &'v Value>,
{
    let values: Vec<&Value> = values.into_iter().collect();
    to.serialize_str(&json!(values).to_string())
}

fn values_of_json<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Value>, D::Error> {
    serde_json::from_str(<&str>::deserialize(from)?).map_err(D::Error::custom)
}

fn value_of_json<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    Ok(values_of_json(from)?.into_iter().next())
}
