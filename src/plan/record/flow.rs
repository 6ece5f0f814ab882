//! The stored form of a flow as its file says it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{RecordError, kind_back};
use crate::model::{
    Declared, Edge, EdgeKind, Flow, FlowNode, InputNode, InputVariable, Node, NodeKind, Refinement, Shape,
    TemplateNode, ToolNode, VariableSet,
};
use crate::names::{CatalogPath, ItemName};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct FlowRecord {
    name: String,
    name_made_up: bool,
    file: String,
    base: String,
    place_in_file: usize,
    flows_in_file: usize,
    flat: bool,
    id: Option<String>,
    given_name: Option<String>,
    version: Option<String>,
    description: Option<String>,
    created: Option<String>,
    updated: Option<String>,
    author: Option<String>,
    category: Option<String>,
    complexity: Option<String>,
    estimated_duration: Option<String>,
    tags: Vec<String>,
    examples: Vec<String>,
    #[serde(default)]
    expose: bool,
    inputs: Vec<RefinementRecord>,
    outputs: Vec<(String, String)>,
    nodes: Vec<NodeRecord>,
    edges: Vec<EdgeRecord>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct NodeRecord {
    id: String,
    index: usize,
    kind: KindRecord,
    label: Option<String>,
    description: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindRecord {
    Input {
        variables: Vec<InputVariableRecord>,
    },
    Template(Box<TemplateRecord>),
    Tool(Box<ToolRecord>),
    Flow {
        flow: Option<String>,
        #[serde(default)]
        variables: Vec<(String, Value)>,
    },
    Result,
    Other {
        kind: String,
    },
}

/// Whatever stands beside `call` came later, so it may be missing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct ToolRecord {
    call: Option<String>,
    args: Map<String, Value>,
    requires: Vec<String>,
    goes_on: bool,
    retries: u32,
    backoff_ms: Option<u64>,
    timeout_ms: Option<u64>,
    delay_ms: Option<u64>,
    set: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct InputVariableRecord {
    name: String,
    default: Option<Value>,
    pointer: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TemplateRecord {
    selected: Option<String>,
    text: Option<String>,
    variables: Vec<DeclaredRecord>,
    sets: Vec<SetRecord>,
    persona: Option<String>,
    contract: Option<Value>,
    optional: bool,
    max_attempts: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct DeclaredRecord {
    name: String,
    required: Option<bool>,
    kind: Option<String>,
    default: Option<Value>,
    description: Option<String>,
    pointer: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct RefinementRecord {
    name: String,
    kind: Option<String>,
    description: Option<String>,
    required: Option<bool>,
    default: Option<Value>,
    choices: Vec<Value>,
    pointer: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct SetRecord {
    name: String,
    values: Vec<(String, Value)>,
    pointer: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct EdgeRecord {
    id: Option<String>,
    index: usize,
    from: String,
    to: String,
    kind: Option<String>,
    target_handle: Option<String>,
    mapping: Vec<(String, String)>,
}

impl FlowRecord {
    pub(super) fn of(flow: &Flow) -> Self {
        Self {
            name: flow.name.to_string(),
            name_made_up: flow.name_made_up,
            file: flow.file.to_string(),
            base: flow.base.to_string(),
            place_in_file: flow.place_in_file,
            flows_in_file: flow.flows_in_file,
            flat: flow.shape == Shape::Flat,
            id: flow.id.clone(),
            given_name: flow.given_name.clone(),
            version: flow.version.clone(),
            description: flow.description.clone(),
            created: flow.created.clone(),
            updated: flow.updated.clone(),
            author: flow.author.clone(),
            category: flow.category.clone(),
            complexity: flow.complexity.clone(),
            estimated_duration: flow.estimated_duration.clone(),
            tags: flow.tags.clone(),
            examples: flow.examples.clone(),
            expose: flow.expose,
            inputs: flow.inputs.iter().map(refinement_record).collect(),
            outputs: flow.outputs.clone(),
            nodes: flow.nodes.iter().map(node_record).collect(),
            edges: flow.edges.iter().map(edge_record).collect(),
        }
    }

    pub(super) fn back(self) -> Result<Flow, RecordError> {
        Ok(Flow {
            name: ItemName::new(&self.name)?,
            name_made_up: self.name_made_up,
            file: CatalogPath::new(&self.file)?,
            base: self.base.into(),
            place_in_file: self.place_in_file,
            flows_in_file: self.flows_in_file,
            shape: if self.flat { Shape::Flat } else { Shape::Export },
            id: self.id,
            given_name: self.given_name,
            version: self.version,
            description: self.description,
            created: self.created,
            updated: self.updated,
            author: self.author,
            category: self.category,
            complexity: self.complexity,
            estimated_duration: self.estimated_duration,
            tags: self.tags,
            examples: self.examples,
            expose: self.expose,
            inputs: self.inputs.into_iter().map(refinement_back).collect::<Result<_, _>>()?,
            outputs: self.outputs,
            nodes: self.nodes.into_iter().map(node_back).collect::<Result<_, _>>()?,
            edges: self.edges.into_iter().map(edge_back).collect::<Result<_, _>>()?,
        })
    }
}

impl SetRecord {
    pub(super) fn of(set: &VariableSet) -> Self {
        Self { name: set.name.clone(), values: set.values.clone(), pointer: set.pointer.to_string() }
    }

    pub(super) fn back(self) -> VariableSet {
        VariableSet { name: self.name, values: self.values, pointer: self.pointer.into() }
    }
}

fn refinement_record(input: &Refinement) -> RefinementRecord {
    RefinementRecord {
        name: input.name.clone(),
        kind: input.kind.map(|kind| kind.name().to_owned()),
        description: input.description.clone(),
        required: input.required,
        default: input.default.clone(),
        choices: input.choices.clone(),
        pointer: input.pointer.to_string(),
    }
}

fn refinement_back(record: RefinementRecord) -> Result<Refinement, RecordError> {
    Ok(Refinement {
        name: record.name,
        kind: kind_back(record.kind)?,
        description: record.description,
        required: record.required,
        default: record.default,
        choices: record.choices,
        pointer: record.pointer.into(),
    })
}

fn node_record(node: &Node) -> NodeRecord {
    let kind = match &node.kind {
        NodeKind::Input(input) => KindRecord::Input {
            variables: input
                .variables
                .iter()
                .map(|variable| InputVariableRecord {
                    name: variable.name.clone(),
                    default: variable.default.clone(),
                    pointer: variable.pointer.to_string(),
                })
                .collect(),
        },
        NodeKind::Template(step) => KindRecord::Template(Box::new(TemplateRecord {
            selected: step.selected.clone(),
            text: step.text.clone(),
            variables: step.variables.iter().map(declared_record).collect(),
            sets: step.sets.iter().map(SetRecord::of).collect(),
            persona: step.persona.clone(),
            contract: step.contract.clone(),
            optional: step.optional,
            max_attempts: step.max_attempts,
        })),
        NodeKind::Tool(tool) => KindRecord::Tool(Box::new(ToolRecord {
            call: tool.call.clone(),
            args: tool.args.clone(),
            requires: tool.requires.clone(),
            goes_on: tool.goes_on,
            retries: tool.retries,
            backoff_ms: tool.backoff_ms,
            timeout_ms: tool.timeout_ms,
            delay_ms: tool.delay_ms,
            set: tool.set.clone(),
        })),
        NodeKind::Flow(link) => KindRecord::Flow {
            flow: link.flow.clone(),
            variables: link.variables.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        },
        NodeKind::Result => KindRecord::Result,
        NodeKind::Other(kind) => KindRecord::Other { kind: kind.clone() },
    };
    NodeRecord {
        id: node.id.clone(),
        index: node.index,
        kind,
        label: node.label.clone(),
        description: node.description.clone(),
    }
}

fn node_back(record: NodeRecord) -> Result<Node, RecordError> {
    let kind = match record.kind {
        KindRecord::Input { variables } => NodeKind::Input(InputNode {
            variables: variables
                .into_iter()
                .map(|variable| InputVariable {
                    name: variable.name,
                    default: variable.default,
                    pointer: variable.pointer.into(),
                })
                .collect(),
        }),
        KindRecord::Template(step) => NodeKind::Template(Box::new(TemplateNode {
            selected: step.selected,
            text: step.text,
            variables: step.variables.into_iter().map(declared_back).collect::<Result<_, _>>()?,
            literal: Vec::new(),
            sets: step.sets.into_iter().map(SetRecord::back).collect(),
            persona: step.persona,
            contract: step.contract,
            optional: step.optional,
            max_attempts: step.max_attempts,
        })),
        KindRecord::Tool(tool) => NodeKind::Tool(Box::new(ToolNode {
            call: tool.call,
            args: tool.args,
            requires: tool.requires,
            goes_on: tool.goes_on,
            retries: tool.retries,
            backoff_ms: tool.backoff_ms,
            timeout_ms: tool.timeout_ms,
            delay_ms: tool.delay_ms,
            set: tool.set,
        })),
        KindRecord::Flow { flow, variables } => {
            NodeKind::Flow(Box::new(FlowNode { flow, variables: variables.into_iter().collect() }))
        }
        KindRecord::Result => NodeKind::Result,
        KindRecord::Other { kind } => NodeKind::Other(kind),
    };
    Ok(Node { id: record.id, index: record.index, kind, label: record.label, description: record.description })
}

fn declared_record(declared: &Declared) -> DeclaredRecord {
    DeclaredRecord {
        name: declared.name.clone(),
        required: declared.required,
        kind: declared.kind.map(|kind| kind.name().to_owned()),
        default: declared.default.clone(),
        description: declared.description.clone(),
        pointer: declared.pointer.to_string(),
    }
}

fn declared_back(record: DeclaredRecord) -> Result<Declared, RecordError> {
    Ok(Declared {
        name: record.name,
        required: record.required,
        kind: kind_back(record.kind)?,
        default: record.default,
        description: record.description,
        pointer: record.pointer.into(),
    })
}

fn edge_record(edge: &Edge) -> EdgeRecord {
    EdgeRecord {
        id: edge.id.clone(),
        index: edge.index,
        from: edge.from.clone(),
        to: edge.to.clone(),
        kind: edge.kind.map(|kind| kind.to_string()),
        target_handle: edge.target_handle.clone(),
        mapping: edge.mapping.clone(),
    }
}

fn edge_back(record: EdgeRecord) -> Result<Edge, RecordError> {
    let kind = match record.kind.as_deref() {
        None => None,
        Some("data") => Some(EdgeKind::Data),
        Some("chain") => Some(EdgeKind::Chain),
        Some("result") => Some(EdgeKind::Result),
        Some(other) => return Err(RecordError::UnknownWord(other.to_owned())),
    };
    Ok(Edge {
        id: record.id,
        index: record.index,
        from: record.from,
        to: record.to,
        kind,
        target_handle: record.target_handle,
        mapping: record.mapping,
    })
}
