//! What a call is made to: a fixed tool, or a flow that is one.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::arguments::Arguments;
use super::definition::Definition;
use super::exposed;
use super::parameter::parameter_named;
use super::tools::EXECUTE;
use crate::app::{Error, ExposedFlow};

/// What a call is made to.
pub(super) enum CallTarget {
    /// One of the fixed tools.
    Fixed(&'static Definition),
    /// A flow that is a tool.
    Flow(Arc<ExposedFlow>),
}

impl CallTarget {
    /// The tool that does the work.
    pub(super) fn tool(&self) -> &'static Definition {
        match self {
            Self::Fixed(tool) => tool,
            Self::Flow(_) => &EXECUTE,
        }
    }

    /// The name it is called by.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Fixed(tool) => tool.name,
            Self::Flow(flow) => &flow.tool,
        }
    }

    /// The flow that a call is about, also where its arguments can't be used.
    pub(super) fn flow(&self, sent: &Map<String, Value>) -> Option<String> {
        match self {
            Self::Fixed(tool) => flow_named(tool, sent),
            Self::Flow(flow) => Some(flow.flow.clone()),
        }
    }

    /// What was sent, as arguments of the tool that does the work.
    ///
    /// # Errors
    /// `INVALID_REQUEST`, with what would be right.
    pub(super) fn arguments(&self, sent: Map<String, Value>) -> Result<Arguments, Error> {
        match self {
            Self::Fixed(tool) => Arguments::read(tool.name, tool.parameters, sent),
            Self::Flow(flow) => Arguments::of_flow(flow, sent),
        }
    }

    /// An error in words that fit how the call was made.
    pub(super) fn said(&self, error: Error) -> Error {
        match self {
            Self::Fixed(_) => error,
            Self::Flow(flow) => exposed::in_its_words(flow, error),
        }
    }
}

/// The flow that a call is about, also where its arguments can't be used.
fn flow_named(tool: &Definition, sent: &Map<String, Value>) -> Option<String> {
    let about =
        |name: &str| parameter_named(tool.parameters, name).is_some_and(|parameter| parameter.name == "flowName");
    let named = sent.iter().find(|(name, _)| about(name)).and_then(|(_, value)| value.as_str());
    named.filter(|name| !name.is_empty()).map(str::to_owned)
}
