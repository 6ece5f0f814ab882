//! What is known of one step: its text or what it does instead, what it declares, and why it can't be done.

use std::sync::Arc;

use serde_json::Value;

use super::{Read, usable};
use crate::code::Code;
use crate::document::Pointer;
use crate::model::{Contract, KnownFlow, Lookup, Node, NodeKind, Persona, Template, ToolAddress, ValueType};
use crate::render::{Outline, Placeholder, Stencil};
use crate::validate::{Finding, doing};

/// What is known of one step's text, or of the texts it has instead of one.
#[derive(Debug, Clone)]
pub struct StepScope {
    /// The node's number.
    pub node: usize,
    /// Its text, or why there is none.
    pub body: Body,
    /// What node and template declare, the node first; names outside the alphabet are left out.
    pub declared: Vec<DeclaredName>,
    /// The brace groups of its text; shared by steps of one template.
    pub outline: Arc<Outline>,
    /// Where each brace group stands, for a step that has several texts; else empty.
    pub places: Vec<Pointer>,
    /// The distinct names its text reads, in order of appearance: one for each name of the outline.
    pub reads: Vec<Read>,
    /// The role it asks for, looked up.
    pub persona: Option<Lookup<Persona>>,
    /// What its output must meet, looked up or compiled.
    pub contract: Option<Lookup<Contract>>,
    /// What keeps a step that has no text from being done.
    pub(in crate::validate) fault: Option<doing::DoingFault>,
}

impl StepScope {
    pub(in crate::validate) fn without_text(node: usize, body: Body) -> Self {
        let outline = Arc::default();
        Self {
            node,
            body,
            declared: Vec::new(),
            outline,
            places: Vec::new(),
            reads: Vec::new(),
            persona: None,
            contract: None,
            fault: None,
        }
    }

    /// What the text reads under a name (in NFC), if it does.
    pub fn read(&self, name: &str) -> Option<&Read> {
        self.reads.get(self.outline.number(name)?)
    }

    /// The first brace group of a read.
    pub fn placeholder(&self, read: &Read) -> Option<&Placeholder> {
        self.outline.placeholders.get(read.placeholder)
    }
}

/// A step's text.
#[derive(Debug, Clone)]
pub enum Body {
    /// There is a text.
    Text {
        /// The text.
        text: Arc<str>,
        /// The template it comes from; none for inline text.
        template: Option<Arc<Template>>,
        /// How results name it: the template's name, or the node's caption for inline text.
        template_name: String,
    },
    /// There is an external tool to call.
    Call {
        /// Which.
        address: ToolAddress,
        /// With what.
        arguments: Arc<Stencil>,
    },
    /// There is another flow to go through.
    Link {
        /// Which.
        flow: Arc<KnownFlow>,
        /// What its inputs get.
        values: Arc<Stencil>,
    },
    /// The step fails when it is reached.
    Faulty {
        /// The error's code.
        code: Code,
        /// What is wrong.
        message: String,
        /// What it was to do.
        meant: Intent,
        /// What has to be fixed.
        mending: Mending,
    },
    /// A file is checked without its catalog: its template is somewhere else.
    Elsewhere,
}

/// What a step that can't be done was to do, as its node says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Intent {
    /// To fill a text.
    #[default]
    Text,
    /// To call a tool.
    Call(String),
    /// To go through another flow.
    Flow(String),
}

/// What has to be fixed so that a step can be done; the same as its finding says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mending {
    /// The files.
    pub files: Vec<String>,
    /// How.
    pub hints: Vec<String>,
}

impl Mending {
    /// What a finding says.
    pub fn of(finding: &Finding) -> Self {
        let own = || vec![finding.file.to_string()];
        let files = if finding.files.is_empty() { own() } else { finding.files.clone() };
        Self { files, hints: finding.hints.clone() }
    }
}

impl Intent {
    pub(in crate::validate) fn of(node: &Node) -> Self {
        match &node.kind {
            NodeKind::Tool(tool) => tool.call.clone().map_or(Self::Text, Self::Call),
            NodeKind::Flow(link) => link.flow.clone().map_or(Self::Text, Self::Flow),
            NodeKind::Template(_) | NodeKind::Input(_) | NodeKind::Result | NodeKind::Other(_) => Self::Text,
        }
    }
}

/// A name that a node or its template declares for the text.
#[derive(Debug, Clone)]
pub struct DeclaredName {
    /// The name in NFC.
    pub name: String,
    /// Whether the node says so, or the template.
    pub by_node: bool,
    /// `required`, where it is said.
    pub required: Option<bool>,
    /// The default, where there is one.
    pub default: Option<Arc<Value>>,
    /// The type, where it is said.
    pub kind: Option<ValueType>,
    /// The description, where there is one.
    pub description: Option<Arc<str>>,
    /// Where it is declared, in the file of node or template.
    pub pointer: Pointer,
}

/// What a node or a template declares, as far as these can be names.
pub(super) fn names_of(variables: &[crate::model::Declared], by_node: bool) -> Vec<DeclaredName> {
    variables
        .iter()
        .filter_map(|declared| {
            let name = usable(&declared.name)?;
            Some(DeclaredName {
                name: name.as_str().to_owned(),
                by_node,
                required: declared.required,
                default: declared.default.clone(),
                kind: declared.kind,
                description: declared.description.clone(),
                pointer: declared.pointer.clone(),
            })
        })
        .collect()
}
