//! Flow files: the export shape and the flat shape.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::foreign::seems_to_be;
use super::markdown::is_markdown;
use super::templates::read_templates;
use super::{
    Unread, UnreadKind, declared, given_default, said, said_or_number, text, texts, variable_sets, written_default,
};
use crate::document::{Document, Place, Pointer};
use crate::model::{
    Edge, EdgeKind, Flow, FlowNode, InputNode, InputVariable, ModelWish, Node, NodeKind, Refinement, Shape,
    TemplateNode, ToolNode, ValueType,
};
use crate::names::{ItemName, LONGEST_NAME, quoted, unprintable};

/// What a flow file holds.
#[derive(Debug, Clone, Default)]
pub struct FlowFile {
    /// Its flows, in file order.
    pub flows: Vec<Flow>,
    /// What could not be read, with the number of the flow it belongs to (none: the whole file).
    pub unread: Vec<(Option<usize>, Unread)>,
}

/// Reads every flow of a file.
pub fn read_flows(document: &Document) -> FlowFile {
    let mut file = FlowFile::default();
    if let Some(object) = document.value.as_object() {
        read_object(document, object, &mut file);
    } else {
        file.unread.push((None, unknown_shape(&document.value, Pointer::root())));
    }
    if !file.flows.iter().flat_map(|flow| &flow.nodes).any(Node::runnable)
        && let Some(seems) = seems_to_be(&document.value)
    {
        // What is wrong with it as a flow helps nobody.
        let message = format!("not a flow file: it seems to be {seems}{}", with_keys(&document.value));
        let place = Place::value(Pointer::root());
        return FlowFile {
            flows: Vec::new(),
            unread: vec![(None, Unread { what: UnreadKind::Foreign, place, message })],
        };
    }
    file
}

fn read_object(document: &Document, object: &Map<String, Value>, file: &mut FlowFile) {
    let root = Pointer::root();
    if let Some(flows) = object.get("flows") {
        let items = flows.as_array().map(Vec::as_slice).unwrap_or_default();
        if flows.is_array() && items.is_empty() {
            let message = "the file holds no flow: `flows` is empty".to_owned();
            file.unread
                .push((None, Unread { what: UnreadKind::EmptyFlow, place: Place::value(root.key("flows")), message }));
        }
        for (place, item) in items.iter().enumerate() {
            if let Some(flow) = item.as_object() {
                let base = root.key("flows").item(place);
                read_one(document, flow, base, Shape::Export, (place, items.len()), file);
            }
        }
    } else if object.contains_key("nodes") {
        let shape = if is_markdown(document.path.as_str()) { Shape::Markdown } else { Shape::Flat };
        read_one(document, object, root, shape, (0, 1), file);
    } else {
        file.unread.push((None, misplaced(document).unwrap_or_else(|| unknown_shape(&document.value, root))));
    }
}

/// The first keys of an object, in brackets.
fn with_keys(value: &Value) -> String {
    let Value::Object(map) = value else { return String::new() };
    let keys: Vec<String> = map.keys().take(5).map(|key| quoted(key)).collect();
    if keys.is_empty() { " (it is empty)".to_owned() } else { format!(" (it has {})", keys.join(", ")) }
}

/// A template that lies where flows are read.
fn misplaced(document: &Document) -> Option<Unread> {
    let is_template = !read_templates(document).templates.is_empty();
    let message = "not a flow file: it is a template".to_owned();
    is_template.then(|| Unread { what: UnreadKind::Misplaced, place: Place::value(Pointer::root()), message })
}

fn unknown_shape(value: &Value, root: Pointer) -> Unread {
    let message = match value {
        Value::Object(_) => {
            format!("not a flow file: neither `flows` nor `nodes` is there{}", with_keys(value))
        }
        Value::Array(_) => "not a flow file: a list, where an object with `flows` or `nodes` is due".to_owned(),
        _ => "not a flow file: an object with `flows` or `nodes` is due".to_owned(),
    };
    Unread { what: UnreadKind::UnknownShape, place: Place::value(root), message }
}

fn read_one(
    document: &Document,
    flow: &Map<String, Value>,
    base: Pointer,
    shape: Shape,
    (place, count): (usize, usize),
    file: &mut FlowFile,
) {
    let empty = Map::new();
    let meta_key = if shape == Shape::Export { "meta" } else { "metadata" };
    let meta = flow.get(meta_key).and_then(Value::as_object).unwrap_or(&empty);
    let meta_pointer = base.key(meta_key);
    let mut tell = |what, place_in, message| file.unread.push((Some(place), Unread { what, place: place_in, message }));

    let given_name = said(meta, "name");
    let (name, name_made_up) = listed_name(document, given_name.as_deref(), place, count);
    if given_name.is_none() && (shape != Shape::Export || count > 1) {
        let listed = format!("it is listed as {}", quoted(name.as_str()));
        let (where_, message) = if said(flow, "name").is_some() {
            let message = format!("`name` is not read here, and the flow has no `{meta_key}.name`; {listed}");
            (Place::key(base.key("name")), message)
        } else {
            let message = if shape == Shape::Markdown {
                format!("the front matter has no `name`; {listed}")
            } else {
                format!("the flow has no `{meta_key}.name`; {listed}")
            };
            // Not all of a long file is to blame.
            let first = flow.keys().next().filter(|_| meta.is_empty());
            (first.map_or_else(|| Place::value(meta_pointer.clone()), |key| Place::key(base.key(key))), message)
        };
        tell(UnreadKind::MissingName, where_, message);
    } else if name_made_up {
        let where_ = Place::value(meta_pointer.key("name"));
        tell(
            UnreadKind::MissingName,
            where_,
            format!("the name can't be used to ask for the flow; it is listed as {}", quoted(name.as_str())),
        );
    }
    let version = match meta.get("version") {
        Some(Value::String(version)) if !version.trim().is_empty() => {
            if !is_version(version) {
                let where_ = Place::value(meta_pointer.key("version"));
                tell(UnreadKind::BadVersion, where_, format!("version {} is not of the form 1.2.3", quoted(version)));
            }
            Some(version.clone())
        }
        Some(Value::Number(version)) => Some(version.to_string()),
        _ => None,
    };
    let nodes = read_nodes(flow, &base);
    if flow.get("nodes").is_none_or(|nodes| nodes.as_array().is_some_and(Vec::is_empty)) {
        let where_ = Place::value(if flow.contains_key("nodes") { base.key("nodes") } else { base.clone() });
        let what = if shape == Shape::Markdown { "step" } else { "nodes" };
        tell(UnreadKind::EmptyFlow, where_, format!("flow {} has no {what}", quoted(name.as_str())));
    }
    let first = |keys: [&str; 2]| keys.into_iter().find_map(|key| said_or_number(meta, key));
    let (created, updated) = match shape {
        Shape::Export => (first(["created_at", "created"]), first(["updated_at", "updated"])),
        Shape::Flat | Shape::Markdown => (first(["created", "created_at"]), first(["updated", "updated_at"])),
    };
    file.flows.push(Flow {
        name,
        name_made_up,
        file: document.path.clone(),
        place_in_file: place,
        flows_in_file: count,
        shape,
        id: said(meta, "id"),
        given_name,
        version,
        description: said(meta, "description"),
        created,
        updated,
        author: said(meta, "author"),
        category: said(meta, "category").or_else(|| document.path.folder().map(str::to_owned)),
        complexity: said(meta, "complexity"),
        estimated_duration: said(meta, "estimatedDuration"),
        tags: texts(meta, "tags"),
        examples: texts(meta, "examples"),
        expose: meta.get("expose").and_then(Value::as_bool).unwrap_or(false),
        model: meta.get("model").and_then(ModelWish::read),
        inputs: read_inputs(meta, &meta_pointer),
        outputs: meta.get("outputs").and_then(Value::as_object).map(read_outputs).unwrap_or_default(),
        nodes,
        edges: read_edges(flow),
        base,
    });
}

/// The stem where the file holds one flow, else the given name; forbidden characters make way.
fn listed_name(document: &Document, given: Option<&str>, place: usize, count: usize) -> (ItemName, bool) {
    let stem = document.path.stem();
    let wanted = match given {
        Some(given) if count > 1 => given.to_owned(),
        None if count > 1 => format!("{stem} {}", place + 1),
        _ => stem.to_owned(),
    };
    if let Ok(name) = ItemName::new(&wanted) {
        return (name, count > 1 && given.is_none());
    }
    let plain: String = wanted
        .chars()
        .filter(|c| !unprintable(*c))
        .map(|c| if matches!(c, '/' | '\\') { '_' } else { c })
        .take(LONGEST_NAME)
        .collect();
    let plain = plain.replace("..", "_");
    let made_up = ItemName::new(&plain).or_else(|_| ItemName::new(&format!("flow {}", place + 1)));
    match made_up {
        Ok(name) => (name, true),
        // Unreachable in practice: "flow 1" is a name.
        Err(_) => listed_name(document, Some("flow"), place, 2),
    }
}

/// Whether a text is a semantic version (<https://semver.org>, 2.0.0).
fn is_version(text: &str) -> bool {
    let (rest, build) = text.split_once('+').map_or((text, None), |(rest, build)| (rest, Some(build)));
    let (core, before) = rest.split_once('-').map_or((rest, None), |(core, before)| (core, Some(before)));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let number = |part: &str| digits(part) && (part == "0" || !part.starts_with('0'));
    let word = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    core.split('.').count() == 3
        && core.split('.').all(number)
        && before.is_none_or(|before| before.split('.').all(|part| word(part) && (number(part) || !digits(part))))
        && build.is_none_or(|build| build.split('.').all(word))
}

fn read_inputs(meta: &Map<String, Value>, meta_pointer: &Pointer) -> Vec<Refinement> {
    let pointer = meta_pointer.key("inputs");
    let Some(inputs) = meta.get("inputs").and_then(Value::as_object) else { return Vec::new() };
    inputs
        .iter()
        .filter_map(|(name, value)| {
            let object = value.as_object()?;
            Some(Refinement {
                name: name.clone(),
                kind: text(object, "type").and_then(|kind| ValueType::named(&kind)),
                description: said(object, "description"),
                required: object.get("required").and_then(Value::as_bool),
                default: object.get("default").filter(|value| !value.is_null()).cloned().map(Arc::new),
                choices: object.get("enum").and_then(Value::as_array).cloned().unwrap_or_default(),
                pointer: pointer.key(name),
            })
        })
        .collect()
}

fn read_outputs(outputs: &Map<String, Value>) -> Vec<(String, String)> {
    outputs.iter().filter_map(|(label, value)| value.as_str().map(|text| (label.clone(), text.to_owned()))).collect()
}

fn read_nodes(flow: &Map<String, Value>, base: &Pointer) -> Vec<Node> {
    let items = flow.get("nodes").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let empty = Map::new();
    let nodes = base.key("nodes");
    items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| {
            let node = item.as_object()?;
            let id = text(node, "id")?;
            let data = node.get("data").and_then(Value::as_object).unwrap_or(&empty);
            let pointer = nodes.item(index).key("data");
            let kind = match text(node, "type").as_deref().unwrap_or_default() {
                "multi_input" | "input" => NodeKind::Input(InputNode { variables: input_variables(data, &pointer) }),
                "template" => NodeKind::Template(Box::new(template_node(data, &pointer))),
                "tool" => NodeKind::Tool(Box::new(tool_node(data))),
                "flow" | "flow-link" => NodeKind::Flow(Box::new(flow_node(data))),
                "result" => NodeKind::Result,
                other => NodeKind::Other(other.to_owned()),
            };
            let label = said(data, "label").or_else(|| data.get("label")?.as_number().map(ToString::to_string));
            Some(Node { id, index, kind, label, description: said(data, "description") })
        })
        .collect()
}

fn input_variables(data: &Map<String, Value>, base: &Pointer) -> Vec<InputVariable> {
    let pointer = base.key("variables");
    let default = |value: Option<&Value>| value.filter(|value| given_default(value)).cloned().map(Arc::new);
    match data.get("variables") {
        Some(Value::Array(items)) => items
            .iter()
            .enumerate()
            .filter_map(|(index, item)| match item {
                Value::String(name) => {
                    Some(InputVariable { name: name.clone(), default: None, pointer: pointer.item(index) })
                }
                Value::Object(object) => {
                    let name = text(object, "key").or_else(|| text(object, "name"))?;
                    let default = object.get("value").filter(|value| given_default(value));
                    let default = default.or_else(|| written_default(object)).cloned().map(Arc::new);
                    Some(InputVariable { name, default, pointer: pointer.item(index) })
                }
                _ => None,
            })
            .collect(),
        Some(Value::Object(map)) => map
            .iter()
            .map(|(name, value)| InputVariable {
                name: name.clone(),
                default: default(Some(value)),
                pointer: pointer.key(name),
            })
            .collect(),
        _ => Vec::new(),
    }
}

fn template_node(data: &Map<String, Value>, pointer: &Pointer) -> TemplateNode {
    TemplateNode {
        selected: said_or_number(data, "selectedTemplateId"),
        text: text(data, "template"),
        variables: declared(data, pointer),
        sets: variable_sets(data, pointer),
        literal: texts(data, "literal"),
        persona: said(data, "persona"),
        contract: data.get("contract").filter(|contract| !contract.is_null()).cloned().map(Arc::new),
        optional: data.get("optional").and_then(Value::as_bool).unwrap_or(false),
        max_attempts: data.get("maxAttempts").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()),
        model: data.get("model").and_then(ModelWish::read),
        goes_on: goes_on(data),
    }
}

fn goes_on(data: &Map<String, Value>) -> bool {
    data.get("onError").and_then(Value::as_str) == Some("continue")
}

fn tool_node(data: &Map<String, Value>) -> ToolNode {
    let number = |object: &Map<String, Value>, key: &str| whole(object.get(key)?);
    let retry = data.get("retry").and_then(Value::as_object);
    ToolNode {
        call: said(data, "call"),
        args: data.get("args").and_then(Value::as_object).cloned().unwrap_or_default(),
        requires: texts(data, "requires"),
        goes_on: goes_on(data),
        retries: retry.and_then(|retry| number(retry, "times")).and_then(|n| u32::try_from(n).ok()).unwrap_or(0),
        backoff_ms: retry.and_then(|retry| number(retry, "backoffMs")),
        timeout_ms: number(data, "timeoutMs"),
        delay_ms: number(data, "delayMs"),
        set: pairs(data, "set"),
    }
}

fn flow_node(data: &Map<String, Value>) -> FlowNode {
    let variables = data.get("variables").and_then(Value::as_object).cloned().unwrap_or_default();
    FlowNode { flow: said(data, "flow"), variables }
}

/// A number that is not negative, rounded down.
fn whole(value: &Value) -> Option<u64> {
    let number = value.as_f64().filter(|number| (0.0..9.0e15).contains(number))?;
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within what a u64 holds, looked at above"
    )]
    let number = number as u64;
    Some(number)
}

/// An object's members as texts: what is no text is compact JSON.
fn pairs(data: &Map<String, Value>, key: &str) -> Vec<(String, String)> {
    let members = data.get(key).and_then(Value::as_object);
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    };
    members.into_iter().flatten().filter_map(|(name, value)| Some((name.clone(), text(value)?))).collect()
}

fn read_edges(flow: &Map<String, Value>) -> Vec<Edge> {
    let items = flow.get("edges").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    items
        .iter()
        .enumerate()
        .filter_map(|(index, item)| {
            let edge = item.as_object()?;
            let data = edge.get("data").and_then(Value::as_object);
            let named = |text: Option<&Value>| text.and_then(Value::as_str).and_then(EdgeKind::named);
            let mapping = data.and_then(|data| data.get("mapping")).and_then(Value::as_object);
            Some(Edge {
                id: said(edge, "id"),
                index,
                from: text(edge, "source")?,
                to: text(edge, "target")?,
                kind: named(data.and_then(|data| data.get("connectionType"))).or_else(|| named(edge.get("type"))),
                target_handle: said(edge, "targetHandle"),
                mapping: mapping
                    .map(|mapping| {
                        mapping
                            .iter()
                            .filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned())))
                            .collect()
                    })
                    .unwrap_or_default(),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::CatalogPath;

    fn read(text: &str) -> FlowFile {
        let path = CatalogPath::new("flows/sales/Tea.json").expect("fine");
        read_flows(&Document::parse(path, text.as_bytes()).expect("json"))
    }

    #[test]
    fn both_shapes_make_one_model() {
        let export = read(
            r#"{"metadata":{},"flows":[{"meta":{"id":"7","name":"Tea time","version":"1.0.0","created_at":"2026-01-05T09:00:00.000Z"},"nodes":[{"id":"n1","type":"template","data":{"template":"x"}}],"edges":[]}]}"#,
        );
        let flat = read(
            r#"{"metadata":{"name":"Tea time","version":1.10,"created":"2026-01-05"},"nodes":[{"id":"n1","type":"template","data":{"template":"x"}}],"edges":[]}"#,
        );
        let (export, flat) = (&export.flows[0], &flat.flows[0]);
        assert_eq!((export.name.as_str(), flat.name.as_str()), ("Tea", "Tea"));
        assert_eq!((export.given_name.as_deref(), flat.given_name.as_deref()), (Some("Tea time"), Some("Tea time")));
        assert_eq!((export.version.as_deref(), flat.version.as_deref()), (Some("1.0.0"), Some("1.10")));
        assert_eq!(export.category.as_deref(), Some("sales"));
        assert_eq!((export.node_pointer(0).as_str(), flat.node_pointer(0).as_str()), ("/flows/0/nodes/0", "/nodes/0"));
    }

    #[test]
    fn several_flows_of_a_file_are_named_by_their_meta() {
        let file = read(
            r#"{"flows":[{"meta":{"name":"First"},"nodes":[{"id":"a"}]},{"meta":{"name":"../Second"},"nodes":[{"id":"a"}]},{"nodes":[{"id":"a"}]}]}"#,
        );
        let names: Vec<_> = file.flows.iter().map(|flow| flow.name.as_str()).collect();
        assert_eq!(names, ["First", "__Second", "Tea 3"]);
        assert_eq!(file.unread.iter().filter(|(_, unread)| unread.what == UnreadKind::MissingName).count(), 2);
    }

    #[test]
    fn inputs_are_read_in_all_three_forms_and_zero_is_a_default() {
        for variables in [
            r#"["a",{"key":"b","value":0},{"name":"c","value":""},{"key":"d","value":false}]"#,
            r#"{"a":null,"b":0,"c":"","d":false}"#,
        ] {
            let file = read(&format!(
                r#"{{"metadata":{{"name":"x"}},"nodes":[{{"id":"i","type":"multi_input","data":{{"variables":{variables}}}}}]}}"#
            ));
            let NodeKind::Input(input) = &file.flows[0].nodes[0].kind else { panic!("input") };
            let read: Vec<_> = input
                .variables
                .iter()
                .map(|v| (v.name.as_str(), v.default.as_ref().map(ToString::to_string)))
                .collect();
            assert_eq!(read, [("a", None), ("b", Some("0".to_owned())), ("c", None), ("d", Some("false".to_owned()))]);
        }
    }

    #[test]
    fn an_edge_takes_its_kind_from_the_connection_and_never_from_drawing() {
        let file = read(
            r#"{"metadata":{"name":"x"},"nodes":[{"id":"a"}],"edges":[{"source":"a","target":"b","type":"smoothstep","data":{"connectionType":"chain"}},{"source":"a","target":"b","type":"data"},{"source":"a","target":"b","type":"default","data":{"mapping":{"x":"result"}}}]}"#,
        );
        let kinds: Vec<_> = file.flows[0].edges.iter().map(|edge| edge.kind).collect();
        assert_eq!(kinds, [Some(EdgeKind::Chain), Some(EdgeKind::Data), None]);
        assert_eq!(file.flows[0].edges[2].mapping, [("x".to_owned(), "result".to_owned())]);
    }

    #[test]
    fn versions_that_people_write_pass() {
        for fine in ["1.0.0", "10.2.33", "1.0.0-rc.1+5", "1.0.0-x-y", "2.0.0+01", "1.0.0-0a.-"] {
            assert!(is_version(fine), "{fine}");
        }
        for bad in
            ["v1", "one", "1.0", "1..2", "1.2.3.4", "1.0.0-", "1.0.0+", "01.0.0", "1.0.0-01", "1.0.0-a..b", "1.0.0 "]
        {
            assert!(!is_version(bad), "{bad}");
        }
    }
}
