//! `misspelt-field`: a field that nobody reads because it is spelt otherwise, or stands elsewhere.

use serde_json::{Map, Value};

use crate::document::{NoteKind, Place, Pointer};
use crate::names::{few, nearly_same, quoted};
use crate::validate::spelling::{self, DOING, Meant, Spelling};
use crate::validate::{Check, Drafts, FileSubject, Reach, Rule, Severity, Verdict};

pub(in crate::validate) const RULE: Rule = Rule {
    id: "misspelt-field",
    also: &[
        Verdict { severity: Severity::Error, reach: Reach::Step, when: "a step in Markdown loses a setting" },
        Verdict { severity: Severity::Error, reach: Reach::Flow, when: "a heading that was to begin a step" },
    ],
    summary: "Fields that have an effect are spelt correctly and stand where flowy reads them.",
    ..Rule::warning(Check::File(check))
};

/// An object whose fields are looked at.
struct Subject<'v> {
    /// What it is, in words before "flowy ignores".
    of: String,
    node: Option<&'v str>,
    at: Pointer,
    fields: &'v Map<String, Value>,
    spelling: &'static Spelling,
    /// Whether no field can be anybody else's, as in Markdown.
    closed: bool,
}

fn check(subject: &FileSubject<'_>, drafts: &mut Drafts<'_>) {
    for note in subject.notes(|kind| matches!(kind, NoteKind::Misspelt | NoteKind::OddId)) {
        let draft = drafts.note(note);
        if note.stops {
            draft.error(Reach::Step);
        }
    }
    for note in subject.notes(|kind| matches!(kind, NoteKind::LostStep)) {
        drafts.note(note).error(Reach::Flow);
    }
    let value = &subject.document.value;
    if subject.flows == 0 {
        if subject.document.path.as_str().starts_with("templates/") {
            templates(subject, drafts);
        }
        return;
    }
    for (base, flow) in flows(value) {
        let Some(flow) = flow.as_object() else { continue };
        tell(&plain(String::new(), base.clone(), flow, &spelling::OF_FLOW), drafts);
        let exported = base != Pointer::root();
        let key = if exported { "meta" } else { "metadata" };
        if let Some(meta) = flow.get(key).and_then(Value::as_object) {
            let at = base.key(key);
            tell(&plain(String::new(), at.clone(), meta, &spelling::OF_META), drafts);
            for (name, input) in meta.get("inputs").and_then(Value::as_object).into_iter().flatten() {
                let Some(input) = input.as_object() else { continue };
                let of = format!("input {}: ", quoted(name));
                let of_input = plain(of, at.key("inputs").key(name), input, &spelling::OF_INPUTS);
                tell(&Subject { closed: subject.in_markdown(), ..of_input }, drafts);
            }
        }
    }
    for step in nodes(subject) {
        of_node(subject, &step, drafts);
    }
    for (base, flow) in flows(value) {
        for (place, edge) in flow.get("edges").and_then(Value::as_array).into_iter().flatten().enumerate() {
            let Some(edge) = edge.as_object() else { continue };
            of_edge(base.key("edges").item(place), edge, drafts);
        }
    }
}

/// An edge's fields, and those of its `data`. What it lacks is an error, which tells what was meant.
fn of_edge(at: Pointer, edge: &Map<String, Value>, drafts: &mut Drafts<'_>) {
    let end = |key: &str| edge.get(key).and_then(Value::as_str);
    let (Some(source), Some(target)) = (end("source"), end("target")) else { return };
    let of = format!("edge {} → {}: ", quoted(source), quoted(target));
    if let Some(data) = edge.get("data").and_then(Value::as_object) {
        tell(&plain(of.clone(), at.key("data"), data, &spelling::OF_EDGE_DATA), drafts);
    }
    tell(&plain(of, at, edge, &spelling::OF_EDGES), drafts);
}

fn plain<'v>(of: String, at: Pointer, fields: &'v Map<String, Value>, spelling: &'static Spelling) -> Subject<'v> {
    Subject { of, node: None, at, fields, spelling, closed: false }
}

/// The templates of a template file.
fn templates(subject: &FileSubject<'_>, drafts: &mut Drafts<'_>) {
    let (root, value) = (Pointer::root(), &subject.document.value);
    let several = value.get("templates").and_then(Value::as_array);
    let all: Vec<(Pointer, &Value)> = match several {
        Some(items) => {
            items.iter().enumerate().map(|(place, item)| (root.key("templates").item(place), item)).collect()
        }
        None => vec![(root, value)],
    };
    for (at, template) in all {
        let Some(template) = template.as_object() else { continue };
        tell(&plain(String::new(), at.clone(), template, &spelling::OF_TEMPLATE_FILES), drafts);
        let file = plain(String::new(), at, template, &spelling::OF_VARIABLES);
        variables_and_sets(&Subject { closed: subject.in_markdown(), ..file }, drafts);
    }
}

/// A node's fields, those of its `data`, and those of its variables and sets.
fn of_node(subject: &FileSubject<'_>, node: &NodeFields<'_>, drafts: &mut Drafts<'_>) {
    let Some(spelling) = spelling::of_node(node.kind) else { return };
    let of = format!("{}: ", subject.called(node.id));
    let empty = Map::new();
    let data = node.data.unwrap_or(&empty);
    let idle = !DOING.iter().any(|field| data.contains_key(*field));
    for key in node.whole.keys() {
        let spelt = |same: &dyn Fn(&str) -> bool| spelling.fields.iter().copied().find(|field| same(field));
        let field = spelt(&|field| field == key).or_else(|| spelt(&|field| nearly_same(key, field)));
        // That a step has nothing to run is an error, which tells where the field is.
        let told = |field: &&str| idle && DOING.contains(field);
        let described = |field: &&str| matches!(*field, "label" | "description");
        let Some(field) = field.filter(|field| !described(field) && !told(field) && !data.contains_key(*field)) else {
            continue;
        };
        let message = format!("{of}flowy ignores the field {} beside `data`", quoted(key));
        let draft = drafts.find(Place::key(node.at.key(key)), message).node(node.id);
        if field == key {
            draft.hint("move it into `data`");
        } else {
            draft.hint(format!("did you mean {}? It stands in `data`", quoted(field)));
        }
    }
    let at = node.at.key("data");
    let of_data = Subject { of, node: Some(node.id), at, fields: data, spelling, closed: false };
    tell(&of_data, drafts);
    let of_variables = match node.kind {
        "template" => &spelling::OF_VARIABLES,
        "multi_input" | "input" => &spelling::OF_INPUT_VARIABLES,
        _ => return,
    };
    variables_and_sets(&Subject { spelling: of_variables, closed: subject.in_markdown(), ..of_data }, drafts);
}

/// The variables, whose fields are spelt as said, and the sets among the fields of something.
fn variables_and_sets(subject: &Subject<'_>, drafts: &mut Drafts<'_>) {
    let (of, node, closed) = (&subject.of, subject.node, subject.closed);
    for (key, spelling) in [("variables", subject.spelling), ("variableValueSets", &spelling::OF_SETS)] {
        for (place, item) in subject.fields.get(key).and_then(Value::as_array).into_iter().flatten().enumerate() {
            let Some(fields) = item.as_object() else { continue };
            let name = ["key", "name"].iter().find_map(|key| fields.get(*key)?.as_str());
            let of = name.map_or_else(|| of.clone(), |name| format!("{of}{}: ", quoted(name)));
            tell(&Subject { of, node, at: subject.at.key(key).item(place), fields, spelling, closed }, drafts);
        }
    }
}

fn tell(subject: &Subject<'_>, drafts: &mut Drafts<'_>) {
    let has = |field: &str| subject.fields.contains_key(field);
    for key in subject.fields.keys() {
        let meant = subject.spelling.meant(key, has);
        if meant.is_none() && (!subject.closed || subject.spelling.fields.contains(&key.as_str())) {
            continue;
        }
        // That a step has nothing to run is an error, which tells what was meant. What has something to run may well
        // have fields of other programs; a slip of the finger is told.
        let idle = !DOING.iter().any(|field| has(field));
        if let (Some(_), Some(Meant::Field(field))) = (subject.node, meant)
            && DOING.contains(&field)
            && (idle || !nearly_same(key, field))
        {
            continue;
        }
        let message = format!("{}flowy ignores the field {}", subject.of, quoted(key));
        let mut draft = drafts.find(Place::key(subject.at.key(key)), message);
        if let Some(node) = subject.node {
            draft = draft.node(node);
        }
        match meant {
            Some(Meant::Field(field)) => draft.hint(format!("did you mean {}?", quoted(field))),
            Some(Meant::Elsewhere(place)) => draft.hint(place),
            None => {
                // The name is the key there.
                let fields = subject.spelling.fields.iter().filter(|field| !["key", "name", "value"].contains(field));
                draft.hint(format!("the fields there are: {}", few(fields.copied())))
            }
        };
    }
}

/// The flows of a file, where each stands.
fn flows(value: &Value) -> Vec<(Pointer, &Value)> {
    let root = Pointer::root();
    match value.get("flows").and_then(Value::as_array) {
        Some(flows) => flows.iter().enumerate().map(|(place, flow)| (root.key("flows").item(place), flow)).collect(),
        None => vec![(root, value)],
    }
}

/// A node as it is written.
pub(super) struct NodeFields<'f> {
    pub(super) at: Pointer,
    pub(super) id: &'f str,
    pub(super) kind: &'f str,
    pub(super) whole: &'f Map<String, Value>,
    pub(super) data: Option<&'f Map<String, Value>>,
}

/// The nodes of a flow file.
pub(super) fn nodes<'f>(subject: &'f FileSubject<'_>) -> impl Iterator<Item = NodeFields<'f>> {
    let of_file = flows(&subject.document.value).into_iter().filter(|_| subject.flows > 0);
    of_file.flat_map(|(base, flow)| {
        let nodes = flow.get("nodes").and_then(Value::as_array).into_iter().flatten().enumerate();
        nodes.filter_map(move |(place, node)| {
            let whole = node.as_object()?;
            let text = |key: &str| whole.get(key).and_then(Value::as_str);
            let data = whole.get("data").and_then(Value::as_object);
            Some(NodeFields { at: base.key("nodes").item(place), id: text("id")?, kind: text("type")?, whole, data })
        })
    })
}
