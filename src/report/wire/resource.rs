//! What resources hold that no tool answers in the same shape.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::common::{Freshness, OriginAnswer, ReadAt};
use crate::app::{FlowEntry, FlowNames};

/// `flow://list`: names, and where they come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlowNamesAnswer {
    /// Names of the flows.
    flows: Vec<String>,
    /// How many there are.
    total: usize,
    /// How many are named here.
    returned: usize,
    /// The call that helps further.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_step: Option<&'static str>,
    #[serde(flatten)]
    origin: OriginAnswer,
}

/// `flow://metadata/{name}`: the entry of the detailed listing, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowEntryAnswer {
    #[serde(flatten)]
    entry: Value,
    #[serde(flatten)]
    read_at: ReadAt,
    #[serde(flatten)]
    freshness: Freshness,
}

/// `flow://list`. `fits` says how much may be shown; what is cut off is counted and says how to get it.
pub fn flow_names(found: &FlowNames, fits: &dyn Fn(&FlowNamesAnswer) -> bool) -> FlowNamesAnswer {
    let mut answer = FlowNamesAnswer {
        flows: found.names.clone(),
        total: found.names.len(),
        returned: found.names.len(),
        next_step: None,
        origin: (&found.origin).into(),
    };
    while answer.returned > 0 && !fits(&answer) {
        answer.flows.truncate(answer.returned / 2);
        answer.returned = answer.flows.len();
        answer.next_step = Some("flows_list pages them all, and narrows by category");
    }
    answer
}

/// `flow://metadata/{name}`.
pub fn flow_entry(found: &FlowEntry) -> FlowEntryAnswer {
    FlowEntryAnswer {
        entry: super::value(&found.entry),
        read_at: (&found.origin).into(),
        freshness: (&found.origin).into(),
    }
}
