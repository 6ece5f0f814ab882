//! Warnings: what a caller should know although the answer stands, each with a code.
//!
//! Every code is named here and nowhere else; the reference is made from this table.

use serde_json::{Map, Value, json};

use crate::app::Origin;
use crate::run::{self, WarningKind};

macro_rules! codes {
    ($($name:ident = $word:literal, $place:literal, $meaning:literal;)*) => {
        /// Every warning code that callers see.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum WarningCode {
            $(#[doc = $meaning] $name,)*
        }

        impl WarningCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The code as it is written.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$name => $word,)* }
            }

            /// The tools that give it.
            pub const fn place(self) -> &'static str {
                match self { $(Self::$name => $place,)* }
            }

            /// What it says, in one sentence.
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)* }
            }
        }
    };
}

codes! {
    Deprecated = "DEPRECATED", "flows_list", "An argument will be removed; the message names what to use instead.";
    UnknownName = "UNKNOWN_NAME", "flows_list", "No flow goes by one of `names`.";
    MoreErrors = "MORE_ERRORS", "flows_list", "More files have errors than `errors` names.";
    RefIgnored = "REF_IGNORED", "flows_list, flows_show, flows_execute", "A ref was asked for, and a folder or the examples have none.";
    NotExposed = "NOT_EXPOSED", "flowy list --json", "A flow can't be the MCP tool of its own that the settings ask for.";
    Stale = "STALE", "flows_execute", "The newest state could not be had, and an older copy was used.";
    IgnoredVariable = "IGNORED_VARIABLE", "flows_execute", "A given value is not used, because an edge or a step's output has that name.";
    UnknownVariable = "UNKNOWN_VARIABLE", "flows_execute", "No step reads a name that was given.";
    AutoMapped = "AUTO_MAPPED", "flows_execute", "A variable that was not given took the output of the only step before.";
    TextHasNoFields = "TEXT_HAS_NO_FIELDS", "flows_execute", "A placeholder asks for a field of a text and stays as it is.";
    UnboundPlaceholder = "UNBOUND_PLACEHOLDER", "flows_execute", "A placeholder is declared and given by nobody and stays as it is.";
    MissingTemplate = "MISSING_TEMPLATE", "flows_execute", "A step's template is not there, and the step's own text was used.";
    DanglingEdge = "DANGLING_EDGE", "flows_execute", "An edge to a node that does not exist was left out (`lenient`).";
    WentOn = "WENT_ON", "flows_execute", "A call of an external tool failed, and the node says `onError: continue`.";
    LeftOut = "LEFT_OUT", "flows_execute", "A part of what an external tool gave can't be handed on; the rest of it was used.";
    UnknownNodeKind = "UNKNOWN_NODE_KIND", "flows_execute", "Nothing ran at a node, because its type is not known.";
}

impl From<WarningKind> for WarningCode {
    fn from(kind: WarningKind) -> Self {
        match kind {
            WarningKind::IgnoredVariable => Self::IgnoredVariable,
            WarningKind::UnknownVariable => Self::UnknownVariable,
            WarningKind::AutoMapped => Self::AutoMapped,
            WarningKind::TextHasNoFields => Self::TextHasNoFields,
            WarningKind::UnboundPlaceholder => Self::UnboundPlaceholder,
            WarningKind::WentOn => Self::WentOn,
            WarningKind::LeftOut => Self::LeftOut,
        }
    }
}

impl WarningCode {
    /// The code for a finding that changed how the flow ran; the rest is for the flow's author.
    pub(super) fn of_rule(rule: &str) -> Option<Self> {
        match rule {
            "missing-template" => Some(Self::MissingTemplate),
            "dangling-edge" => Some(Self::DanglingEdge),
            "unknown-node-kind" => Some(Self::UnknownNodeKind),
            _ => None,
        }
    }
}

/// A warning as it is written: `{code, message}`.
pub fn warning(code: WarningCode, message: &str) -> Value {
    json!({"code": code.word(), "message": message})
}

/// A warning of a run: `{code, message, nodeId?}`.
pub(super) fn of_run(warning: &run::Warning) -> Value {
    about(warning.kind.into(), &warning.message, warning.node.as_deref())
}

/// A warning about a node, where it is about one.
pub(super) fn about(code: WarningCode, message: &str, node: Option<&str>) -> Value {
    let mut object = Map::new();
    object.insert("code".to_owned(), json!(code.word()));
    object.insert("message".to_owned(), json!(message));
    if let Some(node) = node {
        object.insert("nodeId".to_owned(), json!(node));
    }
    Value::Object(object)
}

/// What there is to warn of in where an answer comes from, whatever the answer is.
pub(super) fn of_origin(origin: &Origin) -> Option<Value> {
    origin.ignored_ref.as_ref().map(|ignored| warning(WarningCode::RefIgnored, &ignored.to_string()))
}
