//! Nodes: what stands in a flow's graph.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::model::{Declared, InputVariable, ModelWish, VariableSet};
use crate::names::nearest;

/// One node.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Its id, as written.
    pub id: String,
    /// Its place in the file's `nodes` list, from 0.
    pub index: usize,
    /// What kind it is, and what that kind carries.
    pub kind: NodeKind,
    /// `data.label`.
    pub label: Option<String>,
    /// `data.description`.
    pub description: Option<String>,
}

/// The kinds of nodes.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// `multi_input` or `input`: declares inputs; nothing runs.
    Input(InputNode),
    /// `template`: renders a template.
    Template(Box<TemplateNode>),
    /// `tool`: calls an external tool.
    Tool(Box<ToolNode>),
    /// `flow` or `flow-link`: another flow as one step.
    Flow(Box<FlowNode>),
    /// `result`: marks an output; nothing runs.
    Result,
    /// Anything else, by its type as written: notes, groups; nothing runs.
    Other(String),
}

/// What an input node declares.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct InputNode {
    /// Variables in file order.
    pub variables: Vec<InputVariable>,
}

/// What a template node carries.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TemplateNode {
    /// `selectedTemplateId`, when not empty.
    pub selected: Option<String>,
    /// `template`, the inline text.
    pub text: Option<String>,
    /// `variables`.
    pub variables: Vec<Declared>,
    /// `variableValueSets`.
    pub sets: Vec<VariableSet>,
    /// `literal`: names that stay text where they stand in braces.
    pub literal: Vec<String>,
    /// `persona`: the role a model should take on.
    pub persona: Option<String>,
    /// `contract`: a name or an inline schema.
    pub contract: Option<Arc<Value>>,
    /// `optional`: may be skipped in a guided execution.
    pub optional: bool,
    /// `maxAttempts`.
    pub max_attempts: Option<u32>,
    /// `model`: who answers.
    pub model: Option<ModelWish>,
    /// `onError: continue`: where a model fails to answer, that is an output like any other.
    pub goes_on: bool,
}

/// What a tool node carries.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolNode {
    /// `call`: `alias:tool`, as written.
    pub call: Option<String>,
    /// `args`: JSON whose texts may hold `{{ name }}`.
    pub args: Map<String, Value>,
    /// `requires`: names without which the step is left out.
    pub requires: Vec<String>,
    /// `onError: continue`: a failed call is an output like any other.
    pub goes_on: bool,
    /// `retry.times`: how often a failed call is tried again.
    pub retries: u32,
    /// `retry.backoffMs`: the pause before the first new try; it doubles with each.
    pub backoff_ms: Option<u64>,
    /// `timeoutMs`: the longest that one call may take.
    pub timeout_ms: Option<u64>,
    /// `delayMs`: a pause before the call.
    pub delay_ms: Option<u64>,
    /// `set`: names for parts of the result, each with its dot path.
    pub set: Vec<(String, String)>,
}

/// What a flow node carries.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FlowNode {
    /// `flow`: the other flow's name.
    pub flow: Option<String>,
    /// `variables`: what the other flow's inputs get; texts in it may hold placeholders.
    pub variables: Map<String, Value>,
}

/// What `type` of a node may be: what can be read in it, and whether it is a step.
const TYPES: [(&str, bool); 7] = [
    ("multi_input", false),
    ("input", false),
    ("template", true),
    ("tool", true),
    ("flow", true),
    ("flow-link", true),
    ("result", false),
];

/// What other programs call the types.
const OTHERWISE: [(&str, &[&str]); 5] = [
    ("template", &["text", "prompt", "llm", "step", "message", "completion", "chat", "ai", "model", "generate"]),
    ("tool", &["call", "function", "mcp", "http", "api", "action"]),
    ("flow", &["subflow", "workflow", "sub-flow"]),
    ("multi_input", &["inputs", "start", "form"]),
    ("result", &["output", "outputs", "end", "answer"]),
];

impl NodeKind {
    /// The known types of nodes, as they are written; of steps alone where `steps`.
    pub fn types(steps: bool) -> impl Iterator<Item = &'static str> {
        TYPES.into_iter().filter(move |(_, step)| *step || !steps).map(|(word, _)| word)
    }

    /// The type that one that is not known was to be: spelt alike, or what others call it.
    pub fn meant(kind: &str) -> Option<&'static str> {
        let called = || {
            let lower = kind.to_lowercase();
            OTHERWISE.into_iter().find(|(_, words)| words.contains(&&*lower)).map(|(meant, _)| meant)
        };
        nearest(kind, Self::types(false), 1).into_iter().next().or_else(called)
    }
}

impl Node {
    /// Whether the node is a step: something runs when it is reached.
    pub fn runnable(&self) -> bool {
        match self.kind {
            NodeKind::Template(_) | NodeKind::Tool(_) | NodeKind::Flow(_) => true,
            NodeKind::Input(_) | NodeKind::Result | NodeKind::Other(_) => false,
        }
    }

    /// The label, or the id where there is none.
    pub fn caption(&self) -> &str {
        match self.label.as_deref() {
            Some(label) if !label.trim().is_empty() => label,
            _ => &self.id,
        }
    }
}
