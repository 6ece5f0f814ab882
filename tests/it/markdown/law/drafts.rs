//! Catalogs in JSON that are made up of bytes: with everything that a flow may hold, and texts that Markdown and YAML
//! have a hard time with.

use std::collections::{BTreeSet, HashMap};

use serde_json::{Map, Value, json};

use super::Files;

/// What decides, byte for byte; where it ends, the first of all choices is taken, so that less of it makes less of a
/// catalog.
pub(super) struct Tape<'t> {
    pub(super) bytes: std::slice::Iter<'t, u8>,
}

impl Tape<'_> {
    fn below(&mut self, count: usize) -> usize {
        usize::from(self.bytes.next().copied().unwrap_or(0)) % count
    }

    /// Whether one of so many cases is there.
    fn rarely(&mut self, of: usize) -> bool {
        self.below(of) == of - 1
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len())]
    }
}

const INPUTS: [&str; 5] = ["x", "topic", "ключ", "long-name", "_a1"];
const LABELS: [&str; 5] = ["Out", "Open questions", "Ключ: \"два\"", "a_b", "# no: comment"];
pub(super) const SETS: [&str; 2] = ["set one", "короткий"];
/// What texts are made of; Markdown and YAML have a hard time with some of it.
const PIECES: [&str; 22] = [
    "Plain words. ",
    "\n",
    "\n\n",
    "  indented\n",
    "## Heading {#like}\n",
    "## Heading\n",
    "```yaml\nafter: x\n```\n",
    "```json\n{\"template\": 1}\n```\n",
    "```\nnever closed ",
    "---\n",
    "- a: b # c\n",
    "אבג 😀\t",
    "a\r\nb",
    "{ x }",
    "{{x}}",
    "\\frac{1}{2} ${HOME} {0} ",
    "{\"a\": {\"b\": 1}} ",
    "e\u{301} ",
    "| a | b |\n|---|---|\n",
    "null",
    "true",
    "' \" \\ ",
];
const SAID: [&str; 8] = ["", "Plain", "a: b", "# c", "null", "- x", "é \"q\" 'r'", "two\nlines: yes"];

/// A flow in the making.
struct Draft<'d, 't> {
    tape: &'d mut Tape<'t>,
    /// The flows that it may go through, each with the labels of its results.
    inner: &'d [(String, Vec<String>)],
    ids: Vec<String>,
    /// The labels by which a step's output is read, where it goes through a flow of several results.
    labels: HashMap<String, Vec<String>>,
    edges: Vec<Value>,
}

impl Draft<'_, '_> {
    /// An earlier step, and an edge from it.
    fn earlier(&mut self, to: &str, carries: &Value) -> Option<String> {
        if self.ids.is_empty() {
            return None;
        }
        let from = self.ids[self.tape.below(self.ids.len())].clone();
        let mut edge = json!({"source": from, "target": to});
        edge.as_object_mut().unwrap().extend(carries.as_object().cloned().unwrap_or_default());
        self.edges.push(edge);
        Some(from)
    }

    /// A text that reads inputs, outputs, fields of outputs and what edges carry.
    fn text(&mut self, id: &str) -> String {
        let mut text = String::new();
        for _ in 0..=self.tape.below(5) {
            match self.tape.below(8) {
                0 | 1 => text.push_str(self.tape.one(&PIECES)),
                2 | 3 => text.extend(["{", self.tape.one(&INPUTS), "}"]),
                4 => {
                    if let Some(from) = self.earlier(id, &Value::Null) {
                        let plain = if self.tape.rarely(3) { from.clone() } else { from.replace('-', "") };
                        let label = self.labels.get(&from).and_then(|labels| labels.first().cloned());
                        let path = label.map(|label| format!(".{}", label.replace(' ', "_"))).unwrap_or_default();
                        text.extend(["{", &plain, "_result", &path, "} "]);
                    }
                }
                5 => {
                    let source = self.tape.one(&["result", "result.title", "result.rows.1", "title"]);
                    let name = format!("m{}", text.len());
                    if self.earlier(id, &json!({"data": {"mapping": {&name: source}}})).is_some() {
                        text.extend(["{", &name, "} "]);
                    }
                }
                6 => {
                    let name = format!("h{}", text.len());
                    if self.earlier(id, &json!({"targetHandle": name})).is_some() {
                        text.extend(["{", &name, "} "]);
                    }
                }
                _ => {
                    // Nobody gives it: it is asked for, or takes the output of the step before.
                    text.push_str("{open}");
                }
            }
        }
        if text.trim().is_empty() { format!("{text}.") } else { text }
    }

    fn sets(&mut self) -> Value {
        let count = self.tape.below(3);
        let sets = SETS.iter().take(count);
        sets.map(
            |name| json!({"name": name, "values": {"x": self.tape.one(&SAID), "topic": 1.50, "ключ": [true, "no"]}}),
        )
        .collect()
    }

    fn declared(&mut self, data: &mut Map<String, Value>) {
        let variables = match self.tape.below(6) {
            0 => json!(["x", "topic", "ключ", "long-name", "_a1", "open"]),
            1 => {
                json!([{"name": "x", "default": self.tape.one(&SAID)}, "topic", {"name": "ключ", "required": false}, "open"])
            }
            2 => json!({"x": "1", "topic": "", "ключ": null}),
            3 => json!([]),
            _ => return,
        };
        data.insert("variables".to_owned(), variables);
    }

    fn step(&mut self, number: usize) -> Value {
        let style = self.tape.one(&["s", "step-", "Ю", "a_b ", "17690000", "Node."]);
        let id = format!("{style}{number}");
        let label = self.tape.one(&["Label", "", " padded ", "1", "with {#x}", "a: b # c", "Длинное имя"]);
        let mut data = Map::new();
        if !label.is_empty() {
            data.insert("label".to_owned(), label.into());
        }
        let kind = match self.tape.below(9) {
            0..=4 => {
                let text = self.text(&id);
                data.insert("template".to_owned(), text.into());
                self.declared(&mut data);
                data.insert("variableValueSets".to_owned(), self.sets());
                "template"
            }
            5 | 6 => {
                data.insert("selectedTemplateId".to_owned(), self.tape.one(&["One", "Two words", "old shape"]).into());
                if self.tape.rarely(2) {
                    self.earlier(&id, &Value::Null);
                }
                "template"
            }
            7 if !self.inner.is_empty() => {
                let (flow, labels) = &self.inner[self.tape.below(self.inner.len())];
                let set = if self.tape.rarely(4) { json!({"_variableSet": SETS[0]}) } else { json!({}) };
                let mut variables = json!({"x": "{x}", "ключ": "say {topic}", "list": [1, {"k": null, "t": "{x}"}]});
                variables.as_object_mut().unwrap().extend(set.as_object().cloned().unwrap());
                if let Some(from) = self.earlier(&id, &Value::Null) {
                    variables["topic"] = format!("{{{}_result}}", from.replace('-', "")).into();
                }
                data.insert("flow".to_owned(), flow.as_str().into());
                data.insert("variables".to_owned(), variables);
                if labels.len() > 1 {
                    self.labels.insert(id.clone(), labels.clone());
                }
                "flow"
            }
            _ => {
                let mut args = json!({"q": "{{ x }}", "n": 1.50, "text": "a {{ topic | some words }}", "deep": {"yes": [true,
                    "false", "# no", ""], "s": self.tape.one(&SAID)}});
                if let Some(from) = self.earlier(&id, &Value::Null) {
                    args["of"] = format!("{{{{ {}_result.title }}}}", from.replace('-', "")).into();
                }
                data.insert("call".to_owned(), "srv:do".into());
                data.insert("args".to_owned(), args);
                let mut more = |key: &str, value: Value| {
                    if self.tape.rarely(2) {
                        data.insert(key.to_owned(), value);
                    }
                };
                more("requires", json!(["x", "ключ"]));
                more("onError", "continue".into());
                more("retry", json!({"times": 2, "backoffMs": 5}));
                more("timeoutMs", 900.into());
                more("delayMs", 1.into());
                more("set", json!({format!("got{number}"): "structuredContent.id"}));
                "tool"
            }
        };
        if kind == "template" {
            let mut more = |key: &str, value: Value| {
                if self.tape.rarely(8) {
                    data.insert(key.to_owned(), value);
                }
            };
            more("persona", "clerk".into());
            more(
                "contract",
                json!({"type": "object", "required": ["title"], "properties": {"title": {"type": "string"}}}),
            );
            more("optional", true.into());
            more("maxAttempts", 3.into());
            more("model", json!({"use": "writer", "temperature": 0.20}));
            more("onError", "continue".into());
            more("literal", json!(["_a1"]));
            more("description", "What it is for".into());
        }
        if self.tape.rarely(4) {
            self.earlier(&id, &Value::Null);
        }
        self.ids.push(id.clone());
        let mut node = json!({"id": id, "type": kind, "data": data});
        if self.tape.rarely(3) {
            node["position"] = json!({"x": 1, "y": 2});
        }
        node
    }
}

/// A flow, and the labels of its results.
fn flow(tape: &mut Tape<'_>, name: &str, inner: &[(String, Vec<String>)]) -> (Value, Vec<String>) {
    let count = 1 + tape.below(6);
    let mut nodes = Vec::new();
    let inputs = match tape.below(4) {
        0 => json!(INPUTS),
        1 => json!([{"key": "x", "value": tape.one(&["", "1.10", "true", "two # words: x"])}, "topic", "ключ"]),
        2 => json!({"x": "1", "topic": "", "long-name": "да"}),
        _ => Value::Null,
    };
    let (mut edges, mut draft) =
        (Vec::new(), Draft { tape, inner, ids: Vec::new(), labels: HashMap::new(), edges: Vec::new() });
    for number in 0..count {
        let step = draft.step(number);
        nodes.push(step);
    }
    let (ids, read) = (draft.ids, draft.edges);
    edges.extend(read);
    let mut labels = Vec::new();
    for number in 0..tape.below(3) {
        let (id, label) = (format!("out{number}"), LABELS[(tape.below(LABELS.len()) + number) % LABELS.len()]);
        if labels.iter().any(|other| other == label) {
            continue;
        }
        for feeder in
            [tape.below(ids.len()), ids.len() - 1].into_iter().take(1 + tape.below(2)).collect::<BTreeSet<_>>()
        {
            edges.push(json!({"source": ids[feeder], "target": id}));
        }
        nodes.push(json!({"id": id, "type": "result", "data": {"label": label}}));
        labels.push(label.to_owned());
    }
    if !inputs.is_null() {
        for id in &ids {
            if !tape.rarely(4) {
                edges.push(json!({"source": "in", "target": id}));
            }
        }
        nodes.insert(0, json!({"id": "in", "type": "multi_input", "data": {"label": "In", "variables": inputs}}));
    }
    if tape.rarely(6) {
        nodes.push(json!({"id": "note", "type": "note", "data": {"text": "for people"}}));
    }
    let mut meta = json!({"name": name, "version": "1.0.0", "description": tape.one(&SAID)});
    if tape.rarely(2) {
        meta["inputs"] = json!({"x": {"description": tape.one(&SAID)}, "topic": {"type": "string", "required": false},
            "ключ": {"default": tape.one(&SAID)}, "unused": {"enum": ["a", "b: c"], "default": "a"}});
    }
    if tape.rarely(3) {
        meta["tags"] = json!(["a b", "c: d", "1"]);
        meta["author"] = tape.one(&SAID).into();
    }
    (json!({"meta": meta, "nodes": nodes, "edges": edges}), labels)
}

/// A catalog in JSON.
pub(super) fn catalog(tape: &mut Tape<'_>) -> Files {
    let mut files = Files::new();
    let flat = |flow: &Value| json!({"metadata": flow["meta"], "nodes": flow["nodes"], "edges": flow["edges"]});
    let (innermost, labels) = flow(tape, "Innermost", &[]);
    let mut inner = vec![("Innermost".to_owned(), labels)];
    files.insert("flows/Innermost.json".to_owned(), flat(&innermost).to_string().into_bytes());
    let (middle, labels) = flow(tape, "Средний flow", &inner);
    inner.push(("Средний flow".to_owned(), labels));
    let (outer, _) = flow(tape, "Outer", &inner);
    if tape.rarely(2) {
        let export = json!({"metadata": {"version": "2.0"}, "flows": [middle, outer]});
        files.insert("flows/sub/export.json".to_owned(), export.to_string().into_bytes());
    } else {
        files.insert("flows/sub/Средний flow.json".to_owned(), flat(&middle).to_string().into_bytes());
        files.insert("flows/Outer.json".to_owned(), flat(&outer).to_string().into_bytes());
    }
    let mut text = |names: &[&str]| {
        let mut text = String::from("T ");
        for _ in 0..tape.below(4) {
            text.push_str(tape.one(&PIECES));
            text.extend(["{", tape.one(names), "}"]);
        }
        text
    };
    let names = ["x", "topic", "open"];
    let one = json!({"title": "One", "template": text(&names), "variables": ["x", {"name": "topic", "default": "d: e"}],
        "variableValueSets": [{"name": SETS[0], "values": {"x": "{no}", "topic": null}}]});
    files.insert("templates/One.json".to_owned(), one.to_string().into_bytes());
    let two = json!({"metadata": {"version": "2.0"}, "templates": [
        {"id": "1768208400901", "title": "Two words", "template": text(&names), "variables": []},
        {"id": "t3", "title": "Third: one", "template": text(&names)}]});
    files.insert("templates/export.json".to_owned(), two.to_string().into_bytes());
    let old = json!({"metadata": {"name": "old shape", "version": "1.0.0", "description": "d"},
        "variables": [{"name": "x", "type": "string", "required": true}, {"name": "topic", "required": false, "default": "t"}],
        "results": [{"section": "A", "content": "Of {{x}}.", "format": "text"}, {"section": "B", "content": "{{ topic }} {\"a\": 1}"}]});
    files.insert("templates/old shape.json".to_owned(), old.to_string().into_bytes());
    files.insert("personas/clerk.md".to_owned(), b"You are a clerk.".to_vec());
    files
}
