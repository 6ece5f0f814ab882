//! The labelled set, read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use flowy::internals::discover::{FlowInput, FlowRow};
use serde_json::Value;

/// The flows, by name, and the requests.
pub(crate) struct Set {
    pub(crate) flows: Vec<FlowRow>,
    pub(crate) requests: Vec<Request>,
}

/// Something a person wants done.
pub(crate) struct Request {
    pub(crate) text: String,
    pub(crate) language: String,
    /// The flow's place among the flows; none where nothing fits.
    pub(crate) flow: Option<usize>,
    /// The same in other words, as a model would put it.
    pub(crate) phrasings: Vec<String>,
    /// Whether it belongs to the third that nothing was tuned on.
    pub(crate) held_out: bool,
}

impl Request {
    /// What is asked.
    pub(crate) fn said(&self, asked: Asked) -> Vec<String> {
        let text = std::iter::once(&self.text);
        match asked {
            Asked::Text => text.cloned().collect(),
            Asked::First => self.phrasings.iter().take(1).cloned().collect(),
            Asked::Phrasings => self.phrasings.clone(),
            Asked::Both => text.chain(&self.phrasings).take(8).cloned().collect(),
        }
    }
}

/// Which words of a request are the query.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Phrasings,
    Both,
    First,
    Text,
}

impl Asked {
    pub(crate) const ALL: [Self; 4] = [Self::Phrasings, Self::Both, Self::First, Self::Text];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Phrasings => "a model's phrasings (four or five)",
            Self::Both => "the person's words and the phrasings",
            Self::First => "the first phrasing alone",
            Self::Text => "the person's words alone",
        }
    }
}

/// Reads the set in a folder.
pub(crate) fn read(folder: &Path) -> Set {
    let mut flows: Vec<FlowRow> = lines(&folder.join("flows")).iter().map(entry).collect();
    assert!(!flows.is_empty(), "no labelled set in {}", folder.display());
    flows.sort_by(|a, b| a.name.cmp(&b.name));
    let place: HashMap<&str, usize> = flows.iter().enumerate().map(|(at, flow)| (flow.name.as_str(), at)).collect();
    let request = |line: &Value| {
        let text = line["text"].as_str().unwrap().to_owned();
        let flow = line["flow"].as_str();
        Request {
            language: line["lang"].as_str().unwrap_or("en").to_owned(),
            flow: flow.map(|name| *place.get(name).unwrap_or_else(|| panic!("no flow {name}"))),
            phrasings: texts(&line["phrasings"]),
            held_out: held_out(flow.unwrap_or(&text)),
            text,
        }
    };
    let requests = lines(&folder.join("requests")).iter().map(request).collect();
    Set { flows, requests }
}

/// All requests for a flow are held out together, so that nothing is learnt of a flow from one of them; those that
/// nothing fits go by their text. FNV-1a.
fn held_out(key: &str) -> bool {
    let hash = key
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    (hash ^ (hash >> 32)).is_multiple_of(3)
}

fn lines(folder: &Path) -> Vec<Value> {
    let Ok(found) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = found.map(|file| file.unwrap().path()).collect();
    files.sort();
    let files = files.into_iter().filter(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
    let texts: Vec<String> = files.map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let lines = texts.iter().flat_map(|text| text.lines()).filter(|line| !line.trim().is_empty());
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

fn entry(flow: &Value) -> FlowRow {
    let text = |key: &str| flow[key].as_str().map(str::to_owned);
    let inputs = flow["inputs"].as_object().into_iter().flatten().map(|(name, input)| FlowInput {
        name: name.clone(),
        kind: input["type"].as_str().map(str::to_owned),
        description: input["description"].as_str().map(str::to_owned),
        required: input["required"].as_bool().unwrap_or(false),
        ..FlowInput::default()
    });
    FlowRow {
        name: text("name").unwrap(),
        description: text("description").unwrap_or_default(),
        tags: texts(&flow["tags"]),
        category: text("category"),
        inputs: inputs.collect(),
        examples: texts(&flow["examples"]),
        file: format!("flows/{}.json", text("name").unwrap()),
        ..FlowRow::default()
    }
}
