//! Flows and templates written as Markdown. What is written is read back and compared by who asks for it;
//! what the form has no place for comes back as words.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{scan, template::read_as, whole};
use crate::model::{Flow, Node, NodeKind};
use crate::names::{CatalogPath, hidden, quoted};

/// What a step's block says that its node does not: decided by who knows the plan.
#[derive(Debug, Clone, Default)]
pub struct StepWords {
    /// The steps that it waits for.
    pub after: Vec<String>,
    /// Its `map`: variable, and what goes there.
    pub map: Vec<(String, MappedFrom)>,
    /// The saved template, the flow: by the names they have now.
    pub named: Option<String>,
    /// Whether its own text counts although it names a template.
    pub own_text: bool,
    /// The names that its text declares without saying so, where the other form needs them said.
    pub declared: Vec<String>,
}

/// Where the value of a mapped variable comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MappedFrom {
    /// A step's output, or a dot path in it.
    Step(String, String),
    /// An input of another name.
    Input(String),
}

/// A file in Markdown, and what it has no place for.
#[derive(Debug, Clone, Default)]
pub struct Markdown {
    /// The file.
    pub text: String,
    /// What it lacks, in words.
    pub lost: Vec<String>,
}

/// The keys that describe a flow and stand in front matter as they stand in JSON.
const META: [&str; 11] = [
    "version",
    "description",
    "tags",
    "author",
    "category",
    "complexity",
    "estimatedDuration",
    "examples",
    "expose",
    "model",
    "outputs",
];

/// Writes a flow: `raw` as JSON has it, `words` for each of its steps by node, `inputs` with what is said of
/// each, `results` with the steps that give them.
///
/// # Errors
/// What can't be said in Markdown at all.
pub fn write_flow(
    raw: &Value,
    flow: &Flow,
    words: &dyn Fn(usize) -> StepWords,
    inputs: &[(String, Map<String, Value>)],
    results: &[(String, Vec<String>)],
) -> Result<Markdown, String> {
    let empty = Map::new();
    let meta = raw.get("meta").or_else(|| raw.get("metadata")).and_then(Value::as_object).unwrap_or(&empty);
    let mut lost = Vec::new();
    let mut front = Map::new();
    let mut known = vec!["name", "id", "inputs", "created", "updated", "created_at", "updated_at"];
    known.extend(META);
    if let Some(name) = &flow.given_name {
        front.insert("name".to_owned(), Value::from(name.as_str()));
    }
    for key in META {
        if let Some(value) = meta.get(key).filter(|value| !value.is_null()) {
            front.insert(key.to_owned(), value.clone());
        }
    }
    for (key, value) in [("id", &flow.id), ("created", &flow.created), ("updated", &flow.updated)] {
        front.extend(value.as_ref().map(|value| (key.to_owned(), Value::from(value.as_str()))));
    }
    let others: Vec<String> = meta.keys().filter(|key| !known.contains(&key.as_str())).map(|key| quoted(key)).collect();
    if !others.is_empty() {
        lost.push(format!("fields beside the flow's name: {}", others.join(", ")));
    }
    let others = raw.as_object().into_iter().flat_map(Map::keys).filter(|key| !FLOW.contains(&key.as_str()));
    let others: Vec<String> = others.map(|key| quoted(key)).collect();
    if !others.is_empty() {
        lost.push(format!("fields of the flow: {}", others.join(", ")));
    }
    if !inputs.is_empty() {
        let said = |(name, said): &(String, Map<String, Value>)| {
            (name.clone(), if said.is_empty() { Value::Null } else { Value::Object(said.clone()) })
        };
        front.insert("inputs".to_owned(), Value::Object(inputs.iter().map(said).collect()));
    }
    if !results.is_empty() {
        let said = |(label, steps): &(String, Vec<String>)| match steps.as_slice() {
            [one] => (label.clone(), Value::from(one.as_str())),
            several => (label.clone(), Value::from(several.to_vec())),
        };
        front.insert("results".to_owned(), Value::Object(results.iter().map(said).collect()));
    }
    front.extend(raw.get("x-flowy-ignore").map(|value| ("x-flowy-ignore".to_owned(), value.clone())));
    let mut text = front_matter(&front);
    let mut beside = BTreeSet::new();
    let nodes = raw.get("nodes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (number, node) in flow.nodes.iter().enumerate() {
        let raw = nodes.get(node.index).and_then(Value::as_object).unwrap_or(&empty);
        match &node.kind {
            NodeKind::Input(_) | NodeKind::Result => {}
            NodeKind::Other(kind) => lost.push(format!("node {} of type {}", quoted(&node.id), quoted(kind))),
            _ => text.push_str(&step(node, raw, &words(number), &mut lost)?),
        }
        if let Some(data) = raw.get("data").and_then(Value::as_object) {
            beside.extend(data.iter().filter(|(key, _)| !is_known(&node.kind, key)).map(|(key, _)| quoted(key)));
        }
        let canvas = raw.keys().any(|key| !["id", "type", "data", "x-flowy-ignore"].contains(&key.as_str()));
        let described = raw.get("data").and_then(|data| data.get("description")).is_some();
        for (has, what) in [(canvas, "where nodes lie on the canvas"), (described, "descriptions of nodes")] {
            if has && !lost.iter().any(|lost| lost == what) {
                lost.push(what.to_owned());
            }
        }
    }
    if !beside.is_empty() {
        lost.push(format!("fields of nodes: {}", beside.into_iter().collect::<Vec<_>>().join(", ")));
    }
    let text = format!("{}\n", text.trim_end_matches('\n'));
    Ok(Markdown { text, lost })
}

/// The fields of a flow in JSON that are written, or that mean nothing in Markdown.
const FLOW: [&str; 6] = ["meta", "metadata", "nodes", "edges", "x-flowy-ignore", "$schema"];

/// What stands in a node's block as it stands in JSON.
const fn block_keys(kind: &NodeKind) -> &'static [&'static str] {
    match kind {
        NodeKind::Tool(_) => &["call", "args", "requires", "onError", "retry", "timeoutMs", "delayMs", "set"],
        NodeKind::Flow(_) => &["flow", "variables"],
        _ => &["model", "persona", "contract", "variables", "literal", "optional", "maxAttempts", "onError"],
    }
}

/// Whether something is made of a field of a node, or it is told otherwise that it is left out.
fn is_known(kind: &NodeKind, key: &str) -> bool {
    const OF_TEXTS: [&str; 3] = ["template", "selectedTemplateId", "variableValueSets"];
    ["label", "description"].contains(&key)
        || matches!(kind, NodeKind::Other(_))
        || block_keys(kind).contains(&key)
        || matches!(kind, NodeKind::Template(_)) && OF_TEXTS.contains(&key)
}

fn step(node: &Node, raw: &Map<String, Value>, words: &StepWords, lost: &mut Vec<String>) -> Result<String, String> {
    let empty = Map::new();
    let data = raw.get("data").and_then(Value::as_object).unwrap_or(&empty);
    let id = node.id.as_str();
    if id.contains(['}', '\n', '\r']) || id.contains("{#") || id.trim() != id || id.is_empty() || !hidden(id).is_empty()
    {
        return Err(format!("the id {} can't stand in a heading", quoted(id)));
    }
    let mut block = Map::new();
    let label = node.label.as_deref().unwrap_or_default();
    let plain = label.trim() == label && !label.contains(['\n', '\r']) && hidden(label).is_empty();
    if !plain {
        block.insert("label".to_owned(), Value::from(label));
    }
    let label = if plain && !label.is_empty() { format!("{label} ") } else { String::new() };
    let own_text = matches!(&node.kind, NodeKind::Template(step) if step.selected.is_none() || words.own_text);
    if let (NodeKind::Template(_), false, Some(name)) = (&node.kind, own_text, &words.named) {
        block.insert("template".to_owned(), Value::from(name.as_str()));
    }
    for key in block_keys(&node.kind) {
        let Some(value) = data.get(*key).filter(|value| !value.is_null()) else { continue };
        let value = match (&node.kind, *key, value) {
            (NodeKind::Flow(_), "flow", _) => Value::from(words.named.clone().unwrap_or_default()),
            (NodeKind::Template(_), "variables", Value::Object(map)) => defaults(map),
            (NodeKind::Template(_), _, Value::Array(items)) if items.is_empty() => continue,
            (NodeKind::Template(_), "variables", Value::Array(items)) => variables(items),
            _ => value.clone(),
        };
        block.insert((*key).to_owned(), value);
    }
    if matches!(node.kind, NodeKind::Template(_)) && !words.declared.is_empty() && !block.contains_key("variables") {
        block.insert("variables".to_owned(), words.declared.clone().into());
    }
    let sets = data.get("variableValueSets").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if let (NodeKind::Template(_), Some(sets)) = (&node.kind, sets_of(sets, lost)) {
        block.insert("sets".to_owned(), sets);
    }
    match words.after.as_slice() {
        [] => {}
        [one] => drop(block.insert("after".to_owned(), Value::from(one.as_str()))),
        several => drop(block.insert("after".to_owned(), Value::from(several.to_vec()))),
    }
    if !words.map.is_empty() {
        let mapped = words.map.iter().map(|(name, from)| (name.clone(), from.as_value()));
        block.insert("map".to_owned(), Value::Object(mapped.collect()));
    }
    block.extend(raw.get("x-flowy-ignore").map(|value| ("x-flowy-ignore".to_owned(), value.clone())));
    let mut body = None;
    if let (NodeKind::Template(step), true) = (&node.kind, own_text) {
        let text = step.text.as_deref().unwrap_or_default();
        if stands(text) {
            body = Some(text);
        } else {
            block.insert("text".to_owned(), Value::from(text));
        }
    }
    let block = if block.is_empty() { String::new() } else { format!("```yaml\n{}```\n\n", yaml(&block)) };
    let holds_fence = block.contains("\n```\n") && block.matches("```").count() > 2;
    let block = if holds_fence { fenced(&block) } else { block };
    let body = body.map(|body| format!("{body}\n")).unwrap_or_default();
    let end = if body.is_empty() { "" } else { "\n" };
    Ok(format!("## {label}{{#{id}}}\n\n{block}{body}{end}"))
}

/// A block whose content holds fences, between longer ones.
fn fenced(block: &str) -> String {
    let inside = block.trim_end().strip_prefix("```").and_then(|rest| rest.strip_suffix("```")).unwrap_or_default();
    let fence = "~".repeat(inside.split(|c| c != '~').map(str::len).max().unwrap_or(0).max(3) + 1);
    format!("{fence}{inside}{fence}\n\n")
}

impl MappedFrom {
    fn as_value(&self) -> Value {
        let of = |pairs: &[(&str, &str)]| {
            Value::Object(pairs.iter().map(|(key, value)| ((*key).to_owned(), Value::from(*value))).collect())
        };
        match self {
            Self::Step(step, path) if path.is_empty() => Value::from(step.as_str()),
            Self::Step(step, path) => of(&[("from", step), ("path", path)]),
            Self::Input(input) => of(&[("input", input)]),
        }
    }
}

/// Names with defaults as what is said of each name; an empty text is no default there.
fn defaults(map: &Map<String, Value>) -> Value {
    let said = |(name, default): (&String, &Value)| {
        let none = default.is_null() || default.as_str() == Some("");
        let said = Map::from_iter([("default".to_owned(), default.clone())]);
        (name.clone(), if none { Value::Null } else { Value::Object(said) })
    };
    Value::Object(map.iter().map(said).collect())
}

/// A list of variables as what is said of each by its name, as a person writes it. Names alone stay a list, and so
/// does what a mapping has no place for: a name twice, an empty value.
fn variables(items: &[Value]) -> Value {
    let list = || Value::Array(items.to_vec());
    if items.iter().all(Value::is_string) {
        return list();
    }
    let mut by_name = Map::new();
    for item in items {
        let mut said = item.as_object().cloned().unwrap_or_default();
        let name = said.shift_remove("name").or_else(|| item.is_string().then(|| item.clone()));
        let Some(Value::String(name)) = name else { return list() };
        let said = if said.is_empty() { Value::Null } else { Value::Object(said) };
        let lost = said.as_object().is_some_and(|said| said.values().any(Value::is_null));
        if lost || by_name.insert(name, said).is_some() {
            return list();
        }
    }
    Value::Object(by_name)
}

/// Variable sets by name; none where there are none.
fn sets_of(sets: &[Value], lost: &mut Vec<String>) -> Option<Value> {
    let mut by_name = Map::new();
    for set in sets {
        let Some(name) = set.get("name").and_then(Value::as_str) else { continue };
        let values = set.get("values").filter(|values| values.is_object()).cloned();
        if by_name.insert(name.to_owned(), values.unwrap_or_else(|| Value::Object(Map::new()))).is_some() {
            lost.push(format!("the first of two variable sets {}", quoted(name)));
        }
        if set.get("description").and_then(Value::as_str).is_some_and(|text| !text.is_empty()) {
            lost.push(format!("the description of variable set {}", quoted(name)));
        }
    }
    (!by_name.is_empty()).then_some(Value::Object(by_name))
}

/// Whether a text reads the same where it stands below a heading.
fn stands(text: &str) -> bool {
    let range = scan::without_blank_lines(text, 0..text.len());
    let fence_open = scan::ends_in_fence(text);
    !text.is_empty()
        && range == (0..text.len())
        && read_as(text) == text
        && !text.contains('\r')
        && scan::body(text, 0).sections.is_empty()
        && !fence_open
        && whole::merge_mark(text).is_none()
        && !scan::begins_like_a_block(text)
        && is_silent(text)
}

/// Whether a reader of a file in which a text stands below a heading is told nothing of it.
fn is_silent(text: &str) -> bool {
    let file = format!("---\nname: x\n---\n\n## X {{#x}}\n\n{text}\n");
    let path = CatalogPath::new("flows/x.flow.md");
    let read = path.ok().and_then(|path| super::parse(&path, file.as_bytes()).ok());
    read.is_some_and(|document| document.notes.is_empty())
}

/// Writes a template of a template file.
pub fn write_template(raw: &Value, template: &crate::model::Template) -> Markdown {
    let mut lost = Vec::new();
    let mut front = Map::new();
    let empty = Map::new();
    let old = raw.get("template").is_none();
    let object = raw.as_object().unwrap_or(&empty);
    front.extend(template.id.as_ref().map(|id| ("id".to_owned(), Value::from(id.as_str()))));
    front.extend(template.title.as_ref().map(|title| ("title".to_owned(), Value::from(title.as_str()))));
    front.extend(template.description.as_ref().map(|text| ("description".to_owned(), Value::from(text.as_str()))));
    let tags = object.get("tags").or_else(|| object.get("metadata")?.get("tags"));
    front.extend(
        tags.filter(|tags| tags.as_array().is_some_and(|tags| !tags.is_empty()))
            .map(|tags| ("tags".to_owned(), tags.clone())),
    );
    match object.get("variables") {
        Some(Value::Array(items)) if !items.is_empty() => {
            drop(front.insert("variables".to_owned(), variables(items)));
        }
        Some(Value::Object(map)) if !map.is_empty() => drop(front.insert("variables".to_owned(), defaults(map))),
        _ => {}
    }
    let sets = object.get("variableValueSets").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    front.extend(sets_of(sets, &mut lost).map(|sets| ("sets".to_owned(), sets)));
    let literal = object.get("literal").and_then(Value::as_array).filter(|names| !names.is_empty());
    front.extend(literal.map(|names| ("literal".to_owned(), Value::Array(names.clone()))));
    let known = [
        "id",
        "title",
        "template",
        "variables",
        "variableValueSets",
        "literal",
        "description",
        "tags",
        "metadata",
        "results",
    ];
    let others: Vec<String> =
        object.keys().filter(|key| !known.contains(&key.as_str())).map(|key| quoted(key)).collect();
    if !others.is_empty() {
        lost.push(format!("fields of the template: {}", others.join(", ")));
    }
    if old {
        lost.push("the names of its sections".to_owned());
    }
    let text =
        if template.syntax == crate::model::Syntax::Double { single(template) } else { template.text().into_owned() };
    // A body is taken as it is, but for what a file in Markdown never holds.
    let stands = read_as(&text) == text && !text.contains('\r') && !text.starts_with('\u{FEFF}');
    if !stands {
        front.insert("text".to_owned(), Value::from(text.as_str()));
    }
    let first_line_is_dashes = text.lines().next().is_some_and(|line| line.trim_end() == "---");
    let head = if front.is_empty() && !first_line_is_dashes {
        String::new()
    } else {
        front_matter(&front).trim_end().to_owned() + "\n"
    };
    let body = if stands { format!("{text}\n") } else { String::new() };
    Markdown { text: format!("{head}{body}"), lost }
}

/// A text of the old shape with its placeholders in single braces.
fn single(template: &crate::model::Template) -> String {
    let mut text = template.text().into_owned();
    for variable in &template.variables {
        for spelt in [format!("{{{{{}}}}}", variable.name), format!("{{{{ {} }}}}", variable.name)] {
            text = text.replace(&spelt, &format!("{{{}}}", variable.name));
        }
    }
    text
}

/// A front matter, and the empty line after it; nothing where there is nothing to say.
fn front_matter(front: &Map<String, Value>) -> String {
    format!("---\n{}---\n\n", yaml(front))
}

/// Appends words; a text takes everything.
fn put(out: &mut String, words: std::fmt::Arguments<'_>) {
    let _ = std::fmt::Write::write_fmt(out, words);
}

/// A mapping as YAML.
fn yaml(map: &Map<String, Value>) -> String {
    let mut out = String::new();
    members(&mut out, map, 0);
    out
}

fn members(out: &mut String, map: &Map<String, Value>, indent: usize) {
    for (key, value) in map {
        out.push_str(&" ".repeat(indent));
        out.push_str(&scalar(key, false));
        out.push(':');
        item(out, value, indent);
    }
}

/// A value behind its key or its hyphen.
fn item(out: &mut String, value: &Value, indent: usize) {
    match value {
        Value::Null => out.push('\n'),
        Value::Object(map) if !map.is_empty() => {
            out.push('\n');
            members(out, map, indent + 2);
        }
        Value::Array(items) if !items.is_empty() => {
            let short: Vec<String> = items.iter().filter_map(Value::as_str).map(|text| scalar(text, true)).collect();
            let length: usize = short.iter().map(|text| text.chars().count() + 2).sum();
            if short.len() == items.len() && length <= 80 {
                put(out, format_args!(" [{}]\n", short.join(", ")));
                return;
            }
            out.push('\n');
            for entry in items {
                out.push_str(&" ".repeat(indent + 2));
                match entry {
                    Value::Null => out.push_str("- null\n"),
                    Value::Object(_) | Value::Array(_) => put(out, format_args!("- {}\n", flow_style(entry))),
                    entry => {
                        out.push('-');
                        item(out, entry, indent + 2);
                    }
                }
            }
        }
        Value::String(text) => match block(text, indent + 2) {
            Some(block) => out.push_str(&block),
            None => put(out, format_args!(" {}\n", scalar(text, false))),
        },
        other => put(out, format_args!(" {other}\n")),
    }
}

/// A text of several lines as lines.
fn block(text: &str, indent: usize) -> Option<String> {
    let lines = text.trim_end_matches('\n');
    let ends = text.len() - lines.len();
    let usual = lines.contains('\n')
        && ends <= 1
        && !lines.starts_with([' ', '\t', '\n'])
        && !text.chars().any(|c| {
            c.is_control() && c != '\n' || c == '\u{FEFF}' || c == '\u{85}' || c == '\u{2028}' || c == '\u{2029}'
        })
        && hidden(text).is_empty();
    if !usual {
        return None;
    }
    let mut out = format!(" |{}\n", if ends == 0 { "-" } else { "" });
    for line in lines.split('\n') {
        if !line.is_empty() {
            out.push_str(&" ".repeat(indent));
            out.push_str(line);
        }
        out.push('\n');
    }
    Some(out)
}

/// A text on one line: as it is where it reads as that text, else in quotation marks.
pub(super) fn scalar(text: &str, within_brackets: bool) -> String {
    // A version is no number, and reads better without quotation marks.
    let numbers = text.split('.').count() == 3 && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let first = numbers || text.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let usual = |c: char| {
        c.is_alphanumeric()
            || matches!(c, ' ' | '_' | '-' | '.' | '/' | '(' | ')' | '\'' | '+' | '=' | ';' | '?' | '!' | '%' | '$')
            || !within_brackets && matches!(c, ',' | ':')
    };
    let word = ["null", "true", "false"].contains(&text);
    let plain = first && !word && text.chars().all(usual) && !text.ends_with([' ', ':']) && !text.contains(": ");
    if plain { text.to_owned() } else { flow_style(&Value::from(text)) }
}

/// A value as JSON, which is YAML, with what YAML can't print escaped.
pub(super) fn flow_style(value: &Value) -> String {
    let mut out = String::new();
    for c in value.to_string().chars() {
        match c {
            '\u{7F}'..='\u{9F}' | '\u{2028}' | '\u{2029}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}' => {
                put(&mut out, format_args!("\\u{:04x}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}
